"""SciPy's operations: loaded once the program has imported SciPy, found by any name, in texts that stand alone."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.special
import scipy.special as sc
from scipy import special
from scipy.special import expit
from scipy.special import gammaln as lg

import s2sad
from s2sad import grad, ops
from tests.oracle import richardson_jvp

ROOT = str(pathlib.Path(s2sad.__file__).parents[1])
X = np.array([0.3, 1.7, -0.4])


def python(code: str, folder: str = ROOT) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env={"PYTHONPATH": f"{ROOT}:{folder}"}
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_nothing_of_scipy_is_loaded_before_the_program_loads_it() -> None:
    out = python(
        "import sys, numpy as np, s2sad\n"
        "loaded = lambda: sorted(m for m in sys.modules if m.startswith(('scipy', 's2sad.ops.scipy.s')))\n"
        "from s2sad import ops\n"
        "assert ops.spec_of(np.sin) is not None and ops.spec_of(open) is None and ops.find(len) is None\n"
        "print(loaded())\n"
        "from scipy import special\n"
        "print('s2sad.ops.scipy.special' in loaded(), ops.find(special.expit) is not None)\n"
        "print('s2sad.ops.scipy.special' in loaded())\n"
    )
    assert out.split("\n")[:3] == ["[]", "False True", "True"]


def test_without_scipy_the_rest_works() -> None:
    out = python(
        "import sys\n"
        "sys.modules['scipy'] = None\n"
        "import numpy as np, s2sad.ops\n"
        "s2sad.ops.load_all()\n"
        "print(s2sad.ops.find(np.sin).name, s2sad.ops.spec_of(open))\n"
    )
    assert out == "numpy.sin None\n"


def by_name(x: Any) -> Any:
    return np.sum(expit(x) * x)


def by_alias(x: Any) -> Any:
    return np.sum(sc.expit(x) * lg(x**2 + 1))


def by_module(x: Any) -> Any:
    return np.sum(special.expit(x) * x)


def by_package(x: Any) -> Any:
    return np.sum(scipy.special.expit(x) * x)


def by_local_alias(x: Any) -> Any:
    f = special.expit
    return np.sum(f(x) * x)


def by_a_parameter_called_as_the_module(x: Any, special: Any) -> Any:
    return np.sum(lg(x**2 + 1)) * special


def by_a_variable_called_as_the_module(x: Any) -> Any:
    special = np.sum(lg(x**2 + 1))
    special = special * lg(special**2 + 1)
    return special


FORMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (by_name, ()),
    (by_alias, ()),
    (by_module, ()),
    (by_package, ()),
    (by_local_alias, ()),
    (by_a_parameter_called_as_the_module, (2.0,)),
    (by_a_variable_called_as_the_module, ()),
]


@pytest.mark.parametrize(("f", "more"), FORMS, ids=[f.__name__ for f, _ in FORMS])
def test_a_function_is_found_by_any_name_and_its_gradient_stands_alone(
    f: Callable[..., Any], more: tuple[Any, ...], tmp_path: pathlib.Path
) -> None:
    df = grad(f)
    gradient = df(X, *more)
    for i, unit in enumerate(np.eye(3)):
        np.testing.assert_allclose(gradient[i], richardson_jvp(lambda x: f(x, *more), [X], [unit]), rtol=1e-9)
    path = tmp_path / "derivative.py"
    df.save(path)
    name = df.source_for(X, *more).partition("def ")[2].partition("(")[0]
    out = python(
        f"import numpy as np\nfrom derivative import {name}\n"
        f"print({name}(np.array([0.3, 1.7, -0.4]){''.join(f', {m}' for m in more)}).tolist())",
        str(tmp_path),
    )
    np.testing.assert_array_equal(eval(out), gradient)


def test_modules_of_scipy_are_imported_as_a_person_would() -> None:
    df = grad(by_alias)
    df(X)
    head = df.source.partition("\n\n")[0].split("\n")
    assert head == [
        "import scipy.special as sc",
        "from scipy import special",
        "from scipy.special import gammaln as lg",
    ]


def test_names_of_rules_say_where_functions_are_from() -> None:
    found = ops.find(special.expit)
    assert found is not None
    assert found.name == "scipy.special.expit"


def test_modules_of_the_users_may_have_the_names_of_scipys(tmp_path: pathlib.Path) -> None:
    (tmp_path / "stats.py").write_text(
        "import numpy as np\nfrom scipy.stats import norm\nfrom scipy.special import gammaln\n"
        "scale = 1.5\n"
        "def set_scale(s):\n    global scale\n    scale = s\n"
        "def helper(x):\n    return norm.cdf(x, 0.1, scale)\n"
        "def loss(x):\n"
        "    special = x * scale\n"
        "    return np.sum(helper(special)) + np.sum(gammaln(special**2 + 1))\n"
    )
    first = python(
        "import numpy as np, stats\nfrom s2sad import grad\ndf = grad(stats.loss)\nx = np.array([0.3, 0.8])\n"
        "print(df(x).tolist())\ndf.save('out.py')\n",
        str(tmp_path),
    )
    second = python("import numpy as np, out\nprint(out.loss_grad_x(np.array([0.3, 0.8])).tolist())", str(tmp_path))
    h = 1e-6
    differences = python(
        "import numpy as np, stats\nx, e = np.array([0.3, 0.8]), np.eye(2)\n"
        f"print([float(stats.loss(x + {h} * d) - stats.loss(x - {h} * d)) / {2 * h} for d in e])",
        str(tmp_path),
    )
    np.testing.assert_allclose(eval(first), eval(differences), rtol=1e-6, atol=1e-8)
    assert first == second


def test_old_names_that_a_program_gives_functions_of_numpy_are_these_functions() -> None:
    out = python(
        "import numpy as np\n"
        "for old, new in (('trapz', 'trapezoid'), ('in1d', 'isin'), ('product', 'prod'), ('row_stack', 'vstack')):\n"
        "    setattr(np, old, getattr(np, new, getattr(np, old, None)))\n"
        "from s2sad import ops\n"
        "print([ops.spec_of(f) is not None for f in (np.trapz, np.in1d, np.product)])\n"
    )
    assert out == "[True, True, True]\n"
