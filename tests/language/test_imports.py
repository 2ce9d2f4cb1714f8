"""Imports inside functions, at any place in them."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, 1.2, 2.5])


def module(x: Any) -> Any:
    import math

    return math.sin(x) * x


def renamed_module(v: Any) -> Any:
    import numpy as xp

    return xp.sum(xp.tanh(v) * v)


def names_of_module(v: Any) -> Any:
    from numpy import cos
    from numpy import exp as e

    return np.sum(cos(v) * e(v))


def submodule(v: Any) -> Any:
    import numpy.linalg

    return numpy.linalg.norm(v)


def submodule_of_a_branch(v: Any, own: bool) -> Any:
    if own:
        import numpy.linalg

        return numpy.linalg.norm(v)
    return np.sum(v)


class Table:
    """Its method becomes a function of the attributes of the object."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def at(self, x: float) -> Any:
        import bisect

        return self.values[bisect.bisect([0.0, 1.0], x) - 1] * x


def in_a_method(v: Any) -> Any:
    table = Table(v)
    return table.at(0.3) * table.at(1.5)


def submodule_of_scipy(v: Any) -> Any:
    from scipy import special

    return np.sum(special.gammaln(v))


def function_of_scipy(v: Any) -> Any:
    from scipy.special import erf

    return np.sum(erf(v) * v)


def in_branch(x: Any, how: str) -> Any:
    if how == "sine":
        from math import sin as f
    else:
        from math import cos as f
    return f(x) * x


def of_a_branch_not_taken(x: Any, plot: bool) -> Any:
    if plot:
        import matplotlib.pyplot as plt

        plt.plot(x)
    return x * x


def tried(x: Any) -> Any:
    try:
        from math import tanh
    except ImportError:
        tanh = None
    return tanh(x) * x


def tried_in_vain(x: Any) -> Any:
    try:
        import nowhere_to_be_found

        y = nowhere_to_be_found.f(x)
    except ImportError:
        y = x * x
    return y


def in_a_loop(x: Any) -> Any:
    for _ in range(3):
        import math

        x = math.sin(x) + x
    return x


def in_a_function_inside(x: Any) -> Any:
    import math

    def f(t: Any) -> Any:
        return math.exp(-t) * t

    return f(x) + f(2.0 * x)


def _imports(x: Any) -> Any:
    from math import sinh

    return sinh(x)


def by_a_callee(x: Any) -> Any:
    return _imports(x) * _imports(2.0 * x)


def from_here(x: Any) -> Any:
    from .other_module import helper

    return helper(x) * x


def named_in_the_signature(v: np.ndarray[Any, Any], scale: Any = sys.maxsize * 0.0) -> Any:
    import sys

    import numpy as np  # noqa: I001

    if isinstance(v, sys.__class__):
        v = v.opened()
    return np.sum(v * v) * (1.0 if scale else len(sys.byteorder))


def shadowing(x: Any) -> Any:
    from math import pi as V  # noqa: N811

    return V * x * x


CASES = [
    case(module, 1.5),
    case(renamed_module, V),
    case(names_of_module, V),
    case(submodule, V),
    case(submodule_of_a_branch, V, True, wrt=0),
    case(submodule_of_scipy, V),
    case(function_of_scipy, V),
    case(in_branch, 1.5, "sine", wrt=0),
    case(in_branch, 1.5, "cosine", wrt=0),
    case(of_a_branch_not_taken, 1.5, False, wrt=0),
    case(tried, 1.5),
    case(tried_in_vain, 1.5),
    case(in_a_loop, 1.5),
    case(in_a_function_inside, 1.5),
    case(by_a_callee, 0.5),
    case(in_a_method, V),
    case(from_here, 1.5),
    case(named_in_the_signature, V),
    case(shadowing, 1.5),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def test_what_is_imported_may_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of a module that is replaced there is noticed at the next call."""
    (tmp_path / "tools_of_test.py").write_text("def f(x):\n    return x * x\n\n\ndef g(x):\n    return x * x * x\n")
    (tmp_path / "user_of_test.py").write_text(
        textwrap.dedent(
            """
            def h(x):
                from tools_of_test import f
                return f(x)
            """
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    import tools_of_test
    import user_of_test

    df = grad(user_of_test.h)
    assert df(2.0) == 4.0
    monkeypatch.setattr(tools_of_test, "f", tools_of_test.g)
    assert df(2.0) == 12.0
    for name in ("tools_of_test", "user_of_test"):
        sys.modules.pop(name)


def test_what_is_not_there() -> None:
    def f(x: Any) -> Any:
        from math import no_such_function

        return no_such_function(x)

    with pytest.raises(ImportError, match="no_such_function"):
        grad(f)(1.0)
