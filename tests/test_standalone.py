"""An emitted text, saved to a file, runs there by itself: its head imports what the text reads."""

from __future__ import annotations

import ast
import importlib
import itertools
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.pipeline.imports import Import, head
from tests.kernels.catalogue import KERNELS
from tests.kernels.kernel import Kernel
from tests.language.support import assert_close, from_file
from tests.oracle import numeric_gradient

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = np.array([1.0, 2.0, 4.0])

Make = Callable[[str, str], ModuleType]


@pytest.fixture
def make(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Writes and imports modules; they are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def module(name: str, text: str) -> ModuleType:
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, name, raising=False)
        made.append(name)
        return importlib.import_module(name)

    yield module
    for name in made:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernels(kernel: Kernel) -> None:
    args = kernel.make_args(*kernel.small)
    df = grad(kernel.loss, kernel.argnums)
    text = df.source_for(*args)
    assert "# To be defined" not in text
    assert_close(from_file(text)(*args), df(*args), 1e-12)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernels_of_which_nothing_is_known(kernel: Kernel) -> None:
    """What parameters are is seen from their use, here and in the functions that they are handed to."""
    df = grad(kernel.loss, kernel.argnums)
    args = kernel.make_args(*kernel.small)
    if any(np.iscomplexobj(a) for a in args):
        assert "# for real " in df.source
        return
    assert_close(from_file(df.source)(*kernel.make_args(*kernel.small)), df(*args), 1e-12)


def test_a_saved_file_runs_in_another_process(make: Make, tmp_path: pathlib.Path) -> None:
    model = make(
        "model",
        "import math\nimport numpy as np\nfrom math import sqrt as root\nfrom s2sad import stop_gradient as stop\n"
        "SCALE = 3.0\n"
        "def inner(x):\n    return SCALE * np.sin(x) * root(2.0)\n"
        "def count(x):\n    return len(str(x))\n"
        "def loss(x, k=2.0):\n    return np.sum(inner(x) * k) * stop(math.exp(count(1.5)) + inner(0.5))\n",
    )
    grad(model.loss).save(tmp_path / "saved.py")
    program = "import numpy as np, saved; print(saved.loss_grad_x(np.array([0.5, 2.0])).tolist())"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    factor = 3.0 * np.sqrt(2.0)
    stopped = np.exp(3.0) + factor * np.sin(0.5)
    expected = factor * 2.0 * np.cos([0.5, 2.0]) * stopped
    np.testing.assert_allclose(np.array(eval(done.stdout)), expected, rtol=1e-13)


def test_a_script_is_imported_by_the_name_of_its_file(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import s2sad\nK = 3.0\ndef loss(x):\n    return K * x * x\n"
        "if __name__ == '__main__':\n    s2sad.grad(loss).save('saved.py')\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in ([str(script)], ["-c", "import saved; assert saved.loss_grad_x(2.0) == 12.0"]):
        subprocess.run([sys.executable, *command], check=True, cwd=tmp_path, env=environment)


def test_one_name_of_two_modules(make: Make) -> None:
    make("pkg.one", "K = 2.0\ndef helper(x):\n    return x * K\ndef weight():\n    return 10.0\n")
    make(
        "pkg.two",
        "K = 5.0\ndef helper(x):\n    return x * x * K + sum([K for K in (1.0, 2.0)])\ndef weight():\n    return 20.0\n"
        "def both(x):\n    return helper(x) * weight() + K * x\n",
    )
    model = make(
        "model",
        "from pkg import two\nfrom pkg.one import helper, weight, K\ndef sum(items):\n    return 7.0\n"
        "def loss(x):\n    return helper(x) * weight() * sum([1.0]) + two.both(x) * K\n",
    )

    def expected(x: float) -> float:
        return 2.0 * 10.0 * 7.0 + (2.0 * x * 5.0 * 20.0 + 5.0) * 2.0

    df = grad(model.loss)
    assert df(3.0) == pytest.approx(expected(3.0))
    text = df.source_for(3.0)
    assert "# To be defined" not in text
    assert from_file(text)(3.0) == pytest.approx(expected(3.0))
    # What is read as an attribute of its module is read live, as a name is.
    sys.modules["pkg.two"].K = 6.0  # type: ignore[attr-defined]
    assert df(3.0) == pytest.approx(2.0 * 10.0 * 7.0 + (6.0 * 6.0 * 20.0 + 6.0) * 2.0)


def test_what_no_import_gives_is_said() -> None:
    def scaled(scale: float) -> Callable[..., Any]:
        def loss(x: Any) -> Any:
            return np.sum(x * x) * scale

        return loss

    df = grad(scaled(3.0))
    assert "# To be defined here, since no import gives it: scale\n" in df.source
    space: dict[str, Any] = {"scale": 4.0}
    exec(df.source, space)
    assert space["loss_grad_x"](2.0) == 16.0
    assert df(2.0) == 12.0


def test_variables_of_closures_of_one_definition_are_told_apart() -> None:
    def scaled(k: float) -> Callable[..., Any]:
        def inner(v: Any) -> Any:
            for n in range(2):
                v = v * k if n else v * v * sum([k * 1.0 for k in (1.0, 2.0)])
            return v

        return inner

    double, triple, again = scaled(2.0), scaled(3.0), scaled(2.0)

    def loss(x: Any) -> Any:
        return double(x[0]) * triple(x[1]) + again(x[1]) + double(x[2])

    df, x = grad(loss), np.array([0.7, 1.3, 2.1])
    expected = numeric_gradient(loss, (x,))
    for text in (df.source, df.source_for(x)):
        named = text.partition("# To be defined here, since no import gives them: ")[2].partition("\n")[0].split(", ")
        assert named == ["k", "k_2", "k_3"]
        right = []
        for values in {*itertools.permutations((2.0, 2.0, 3.0))}:
            space: dict[str, Any] = dict(zip(named, values, strict=True))
            exec(text, space)
            if np.allclose(space["loss_grad_x"](x), expected):
                right.append(values)
        assert len(right) == 1


def test_a_variable_of_a_closure_is_told_apart_from_what_is_imported(make: Make) -> None:
    make("one_k", "k = 5.0\ndef scaled(v):\n    w = v\n    for n in range(2):\n        w = w * v * k\n    return w\n")
    two = make(
        "two_k",
        "import one_k\ndef of(k):\n    def loss(x):\n        return one_k.scaled(x[0]) * k + one_k.scaled(x[1])\n"
        "    return loss\n",
    )
    loss, x = two.of(3.0), np.array([0.7, 1.3])
    text = grad(loss).source_for(x)
    (named,) = text.partition("# To be defined here, since no import gives it: ")[2].partition("\n")[0].split(", ")
    space: dict[str, Any] = {named: 3.0}
    exec(text, space)
    np.testing.assert_allclose(space["loss_grad_x"](x), numeric_gradient(loss, (x,)), rtol=1e-7)


def with_an_object_as_default(
    x: Any, scale: Any = 2.0, weights: Any = TABLE, power: Any = 2, *, more: Any = None
) -> Any:
    """A default that is no literal."""
    return np.sum(weights * x**power) * scale + (0.0 if more is None else more)


def test_a_default_that_is_an_object_of_the_module_is_imported() -> None:
    df = value_and_grad(with_an_object_as_default)
    x = np.array([1.0, 2.0, 3.0])
    value, gradient = df(x)
    assert value == with_an_object_as_default(x)
    np.testing.assert_allclose(gradient, 4.0 * TABLE * x)
    assert "scale=2.0, weights=TABLE, power=2, *, more=None" in df.source
    alone = from_file(df.source)
    np.testing.assert_allclose(alone(x)[1], gradient)
    np.testing.assert_allclose(alone(x, 2.0, TABLE)[1], gradient)


DEFAULTS = """
import math
import numpy as np
TABLE = np.array([1.0, 2.0, 4.0])
SETTINGS = {"rate": 0.5}
RATE = 1.5
class Mode:
    soft = object()
    def loss(self, x, w=np.array([2.0, 3.0, 4.0])):
        return np.sum(x * w)
def double(v):
    return 2 * v
def literals(x, k=-2.0, name="a", t=(1, (2.0,)), n=None, b=b"a", e=..., z=-1j, rate=RATE, *, flag=True):
    return np.sum(x) * k
def numbers(x, k=math.inf, low=-np.inf, odd=np.nan, w=np.float64(2.0), i=np.int64(3), s=np.float32(0.5)):
    return np.sum(x) * w * i
def named(x, table=TABLE, dtype=np.float64, g=double, mode=Mode.soft, f=len, *, h=np.sin, s=SETTINGS):
    return np.sum(x.astype(dtype) * table) * g(3.0) * h(1.0) * s["rate"] * f("ab")
def displayed(x, sizes=[1, 2], d={"a": 1.0}, kinds={"b"}):
    return np.sum(x) * sizes[1] * d["a"]
def changed(x, seen=[]):
    return np.sum(x) * len(seen)
changed.__defaults__[0].append(1)
def made(x, w=np.array([1.0, 2.0, 3.0]), r=range(3), s=slice(None), t=(TABLE, 2.0), *, f=lambda v: v, o=[TABLE]):
    return np.sum(x[s] * w) * len(r) * t[1]
def callee(x, table=TABLE, w=np.ones(3), *, k=[2.0]):
    return np.sum(x * table * w) * k[0]
def calls(x):
    return callee(x) * callee(x, 3.0)
def factory():
    local = np.array([3.0, 1.0, 1.0])
    def inner(x, w=local, q=2.0):
        return np.sum(x * w) * q
    return inner
inner = factory()
short = lambda x, k=3.0, table=TABLE: np.sum(x * table) * k
method = Mode.loss
"""

#: The head of each function, as a person would have written it.
HEADS = {
    "literals": "x, k=-2.0, name='a', t=(1, (2.0,)), n=None, b=b'a', e=..., z=-1j, rate=1.5, *, flag=True",
    "numbers": "x, k=math.inf, low=float('-inf'), odd=np.nan, w=np.float64(2.0), i=np.int64(3), s=np.float32(0.5)",
    "named": "x, table=TABLE, dtype=np.float64, g=double, mode=Mode.soft, f=len, *, h=np.sin, s=SETTINGS",
    "displayed": "x, sizes=[1, 2], d={'a': 1.0}, kinds={'b'}",
    "changed": "x, seen=changed.__defaults__[0]",
    "made": (
        "x, w=made.__defaults__[0], r=made.__defaults__[1], s=made.__defaults__[2], t=made.__defaults__[3], *, "
        "f=made.__kwdefaults__['f'], o=made.__kwdefaults__['o']"
    ),
    "calls": "x",
    "inner": "x, w=inner.__defaults__[0], q=2.0",
    "short": "x, k=3.0, table=TABLE",
    "method": "self, x, w=Mode.loss.__defaults__[0]",
}


@pytest.mark.parametrize("name", HEADS)
def test_default_values_stand_in_the_file(make: Make, tmp_path: pathlib.Path, name: str) -> None:
    f = getattr(make("model", DEFAULTS), name)
    x = np.array([0.5, 2.0, 3.0])
    args = (None, x) if name == "method" else (x,)
    df = grad(f, len(args) - 1)
    expected = numeric_gradient(f, args, len(args) - 1)
    np.testing.assert_allclose(df(*args), expected, rtol=1e-8)
    for number, text in enumerate((df.source, df.source_for(*args))):
        heads = [node.args for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        assert ast.unparse(heads[-1]) == HEADS[name]
        assert "# To be defined" not in text
        (tmp_path / f"saved{number}.py").write_text(text, encoding="utf-8")
    last = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)][-1]
    call = f"{last}({'None, ' * (len(args) - 1)}np.array([0.5, 2.0, 3.0])).tolist()"
    program = f"import numpy as np, saved0, saved1; print([saved0.{call}, saved1.{call}])"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    np.testing.assert_allclose(eval(done.stdout), [expected, expected], rtol=1e-8)


def test_the_command_line_keeps_default_values(make: Make, tmp_path: pathlib.Path) -> None:
    make("model", DEFAULTS)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    show = [sys.executable, "-m", "s2sad", "show", "model.py:named", "-o", "saved.py"]
    check = "import numpy as np, saved; print(saved.named_grad_x(np.ones(3)).tolist())"
    subprocess.run(show, check=True, cwd=tmp_path, env=environment, capture_output=True)
    command = [sys.executable, "-c", check]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    np.testing.assert_allclose(eval(done.stdout), 6.0 * np.sin(1.0) * TABLE)


def test_a_default_that_was_given_another_name_is_taken_from_the_function(make: Make) -> None:
    model = make("model", DEFAULTS + "TABLE = TABLE * 2.0\n")
    x = np.array([0.5, 2.0, 3.0])
    df = grad(model.short)
    assert "table=short.__defaults__[1]" in df.source
    np.testing.assert_array_equal(df(x), 3.0 * TABLE)
    np.testing.assert_array_equal(from_file(df.source)(x), 3.0 * TABLE)


def test_a_default_out_of_reach_is_said() -> None:
    def made(weights: Any) -> Callable[..., Any]:
        def loss(x: Any, w: Any = weights, k: float = 2.0) -> Any:
            return np.sum(x * w) * k

        return loss

    df = grad(made(TABLE))
    np.testing.assert_array_equal(df(TABLE), 2.0 * TABLE)
    assert "# To be defined here, since no import gives it: loss_w\n" in df.source
    space: dict[str, Any] = {"loss_w": 3.0 * TABLE}
    exec(df.source, space)
    np.testing.assert_array_equal(space["loss_grad_x"](TABLE), 6.0 * TABLE)


def test_a_default_in_a_module_with_another_np(make: Make) -> None:
    make("other", "import numpy\nTABLE = numpy.array([1.0, 2.0, 4.0])\ndef sum(x):\n    return numpy.sum(x) * 5.0\n")
    model = make(
        "model",
        "import other as np\nimport numpy\n"
        "def loss(x, table=np.TABLE, w=numpy.float64(3.0)):\n    return numpy.sum(x * table) * np.sum(1.0) * w\n",
    )
    df = grad(model.loss)
    text = df.source
    assert "table=np.TABLE, w=loss.__defaults__[1]" in text
    np.testing.assert_allclose(from_file(text)(TABLE), 15.0 * TABLE)


def test_names_that_the_user_has(make: Make) -> None:
    model = make(
        "model",
        "def f_forward(x):\n    return x * 2.0\n"
        "def f(x):\n    y = 1.0\n    for i in range(2):\n        y = y * x\n    return y + 0.0 * f_forward(1.0)\n"
        "def loss(x):\n    return f(x) * f(x) * f_forward(3.0)\n",
    )
    df = grad(model.loss)
    assert df(1.5) == pytest.approx(4 * 1.5**3 * 6.0)
    assert from_file(df.source)(1.5) == pytest.approx(4 * 1.5**3 * 6.0)


def test_a_name_that_means_two_things_is_not_imported() -> None:
    first, second = Import("one", "K", "K"), Import("two", "K", "K")
    assert head({first}, ()) == "from one import K"
    assert head({first, second}, ()) == head({first}, {"K"}) == "# To be defined here, since no import gives it: K"


def sweeps(v: np.ndarray, p: np.ndarray, steps: int) -> Any:
    """Its general text keeps views of what is written for their shapes, and copies for what they show."""
    for _ in range(steps):
        for j in range(v.shape[0] - 2, 0, -1):
            p[:, j] = p[:, j - 1] * v[j, :]
        for j in range(v.shape[0] - 2, 0, -1):
            v[j, :] = p[:, j] * v[j + 1, :]
    return np.sum(v * v)


def test_views_that_are_kept_for_their_shape() -> None:
    v, p = np.linspace(0.5, 1.5, 20).reshape(5, 4), np.linspace(0.3, 0.9, 20).reshape(4, 5)
    gradients = from_file(grad(sweeps, (0, 1)).source)(v.copy(), p.copy(), 3)
    for position, gradient in enumerate(gradients):

        def loss(v: np.ndarray, p: np.ndarray) -> Any:
            return sweeps(v.copy(), p.copy(), 3)

        np.testing.assert_allclose(gradient, numeric_gradient(loss, (v, p), position), rtol=1e-7, atol=1e-8)
