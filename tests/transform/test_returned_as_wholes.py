"""Functions that return one sort of thing at one exit, and another at another: operands of the new program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, jvp, value_and_grad
from tests.language.support import case, check_gradient

X = np.array([0.3, 0.7])
NAN = float("nan")
FAILED = (NAN, NAN, NAN)


class Orbit:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b, self.error, self.message = a, b, 0, None


def propagated(orbit: Any, t: Any) -> Any:
    """Too long to be inlined."""
    orbit.t = t
    a = orbit.a * t
    if a > 100:
        orbit.error, orbit.message = 1, "too far"
        return FAILED, FAILED
    if a < 0:
        orbit.error, orbit.message, orbit.last = 2, None, a
        return (NAN, NAN, NAN), FAILED
    n = 0
    while n < 3:
        a = a + np.sin(a) * orbit.b
        n += 1
    if a > 0.5:
        orbit.last = a * orbit.b
    orbit.message = None
    return (a, a * a, a**3), (np.cos(a), a, 1.0)


def two_orbits(x: Any) -> Any:
    s = Orbit(x[0], x[1])
    r, v = propagated(s, 2.0)
    q, w = propagated(s, 3.0)
    return r[0] + r[1] * v[0] + q[2] + w[1] + s.t * s.last


def failing(x: Any) -> Any:
    s = Orbit(x[0] * 100.0, x[1])
    r, _ = propagated(s, 2.0)
    p, _ = propagated(Orbit(-x[0], x[1]), 2.0)
    return x[0] * s.error if r[0] != r[0] and p[0] != p[0] else x[1] * 1.0


def in_a_loop(x: Any) -> Any:
    s = Orbit(x[0], x[1])
    total = 0.0
    for k in range(1, 4):
        r, _ = propagated(s, k * 0.5)
        total = total + r[0] * s.t
    return total


def pieces(x: Any, kind: int) -> Any:
    """Too long to be inlined."""
    scaled = [v * 2.0 for v in (x[0], x[1])]
    s = 0.0
    for v in scaled:
        s = s + np.sin(v) * v
    if kind == 0:
        return scaled
    if s > 100.0:
        return None
    if s > 0.1:
        return s, scaled[0]
    return [s, s]


def of_lists_and_tuples(x: Any) -> Any:
    a, b = pieces(x, 1)
    c, d = pieces(x * 0.01, 2)
    e = pieces(x, 0)
    return a * b + c + d * 2.0 + e[1]


def functions(x: Any, k: int) -> Any:
    """Too long to be inlined, and of functions that are made nothing is an operand."""
    s = 0.0
    for v in (x[0], x[1]):
        s = s + np.sin(v) * v
    if s > k:
        return lambda v: v * s
    return 2.0


def of_functions(x: Any) -> Any:
    f = functions(x, 0)
    return f(x[0]) if callable(f) else f * x[0]


PROGRAMS = [two_orbits, failing, in_a_loop, of_lists_and_tuples]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_gradient(case(f, X))
    _, gradient = value_and_grad(f)(X)
    for direction in np.eye(2):
        assert abs(jvp(f, (X,), (direction,))[1] - gradient @ direction) < 1e-9


def test_a_function_at_one_exit_is_refused() -> None:
    with pytest.raises(S2SADError, match="depend"):
        value_and_grad(of_functions)(X)
