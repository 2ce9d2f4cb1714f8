"""Variables that may have no value where they are read: what is found, and that Python's own error is raised."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import pytest

from s2sad import grad, hvp, value_and_grad, vjp
from s2sad.frontend.definite import read_without_value
from tests.oracle import numeric_gradient

CASES = {
    "if x > 0: z = x\nreturn z": {"z"},
    "if x > 0: z = x\nelse: z = 1\nreturn z": set(),
    "if x > 0: z = x\nelse: raise ValueError\nreturn z": set(),
    "if x > 0: return x\nelif x < 0: z = 1\nreturn z": {"z"},
    "for k in range(3): z = k\nreturn z + k": {"z", "k"},
    "for k in x:\n    if k: z = k; break\nelse: z = 1\nreturn z": set(),
    "for k in x:\n    if k: break\n    z = k\nelse: z = 1\nreturn z": {"z"},
    "for k in x:\n    if k: continue\n    z = k\n    y = z\nreturn x": set(),
    "while True:\n    z = x\n    if z > 0: break\nreturn z": set(),
    "while x > 0: z = x\nreturn z": {"z"},
    "try: z = x()\nexcept ValueError as e: z = e\nreturn z": set(),
    "try: z = x()\nexcept ValueError: pass\nreturn z": {"z"},
    "try: z = x()\nfinally: y = z\nreturn z": {"z"},
    "with x as z: y = z\nreturn y": set(),
    "match x:\n    case [z]: pass\n    case _: z = 1\nreturn z": {"z"},
    "z = 1\ndel z\nreturn z": {"z"},
    "del x\nreturn x": {"x"},
    "z += 1\nreturn z": {"z"},
    "def g(): return z\nz = 1\nreturn g": set(),
    "import numpy as np\nreturn np": set(),
    "return [z for z in x]": set(),
}


@pytest.mark.parametrize("body", CASES)
def test_what_is_found(body: str) -> None:
    text = f"def f(x):\n{textwrap.indent(body, '    ')}"
    assert read_without_value(gast.parse(text).body[0]) == CASES[body]


def by_kind(x: Any, kind: str) -> Any:
    if kind == "double":
        z = 2.0 * x
    elif kind == "half":
        z = 0.5 * x
    return np.sum(z)


def in_a_loop(x: Any, count: int) -> Any:
    for _ in range(count):
        z = 3.0 * x
    return np.sum(z) + np.sum(x)


def in_every_turn(x: Any, count: int) -> Any:
    total = 0.0
    for i in range(count):
        if i > 0:
            z = 3.0 * x
        total = total + np.sum(z)
    return total


def in_a_callee(x: Any, kind: str) -> Any:
    return np.sum(x * x) + by_kind(x, kind)


def found(x: Any, limit: float) -> Any:
    for value in x:
        if value > limit:
            z = value
            break
    else:
        z = limit * x[0]
    return 2.0 * z


PROGRAMS: list[tuple[Callable[..., Any], Any, Any]] = [
    (by_kind, "half", "none"),
    (in_a_loop, 2, 0),
    (in_every_turn, 0, 2),
    (in_a_callee, "double", "none"),
]
X = np.array([0.5, 1.5, 2.5])


@pytest.mark.parametrize(("f", "good", "bad"), PROGRAMS, ids=lambda f: getattr(f, "__name__", ""))
def test_the_error_is_raised(f: Callable[..., Any], good: Any, bad: Any) -> None:
    """Also by derivatives for which the value of the variable is not needed."""
    np.testing.assert_allclose(grad(f)(X, good), numeric_gradient(lambda x: f(x, good), (X,)), rtol=1e-9)
    with pytest.raises(UnboundLocalError, match="'z'"):
        f(X, bad)
    np.testing.assert_array_equal(hvp(f, (X, good), (X, None)), 2.0 * X if f is in_a_callee else np.zeros(3))
    along = (lambda x, how: vjp(lambda x: f(x, how), x), lambda x, how: hvp(f, (x, how), (X, None)))
    for derive in (grad(f), value_and_grad(f), *along):
        with pytest.raises(UnboundLocalError, match="'z'"):
            derive(X, bad)


@pytest.mark.parametrize("limit", [1.0, 5.0])
def test_no_line_for_what_surely_has_a_value(limit: float) -> None:
    gradient = grad(found)
    np.testing.assert_allclose(gradient(X, limit), numeric_gradient(lambda x: found(x, limit), (X,)), rtol=1e-9)
    assert "require_value" not in gradient.source_for(X, limit)
