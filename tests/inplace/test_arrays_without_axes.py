"""Arrays without axes, which are written in place as no number is, and the numbers that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, hvp, jvp
from tests.language.support import Case, case, check_gradient, check_primal
from tests.number_and_constants import MODES, check_as_python

RIGHT: list[Callable[..., Any]] = []


def right(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT.append(f)
    return f


@right
def sum_with_an_array_without_axes(x: Any, k: Any, *_: Any) -> Any:
    z = np.array(0.6)
    z += x
    n = k + z
    z[()] = 0.0
    z += x * x
    return n * z


@right
def array_without_axes_is_overwritten(x: Any, k: Any, *_: Any) -> Any:
    z = np.array(0.6)
    z += x
    n = z - np.ones(())
    z[...] = k
    return n


@right
def zeros_like_a_number_under_two_names(x: Any, k: Any, *_: Any) -> Any:
    z = np.zeros_like(x)
    u = z
    z += x
    u *= k
    return z * u


@right
def zeros_like_a_list_under_two_names(x: Any, k: Any, *_: Any) -> Any:
    z = np.zeros_like([x, 1.0])
    u = [z]
    z += x
    return np.sum(u[0] * z) * k


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any], mode: str) -> None:
    check_as_python(f, mode)


class Box:
    def __init__(self, v: Any, w: Any = 0.4) -> None:
        self.v = v
        self.w = w

    def scaled(self) -> Any:
        return self.v * 3.0


def linear(x: Any) -> Any:
    n = x[0]
    d = {"p": n}
    z = np.array(Box(x, 0.6).w)
    z[()] = z * n
    z += n
    return z + sum(d.values())


def test_second_derivative_of_an_array_without_axes() -> None:
    x = np.array([0.5, 1.2])
    np.testing.assert_array_equal(hvp(linear, (x,), (np.ones(2),)), 0.0)


# --- beside arrays with axes


V = np.array([0.7, 1.3])


W = np.array([0.5, -0.2])


def factor_without_axes(x: Any) -> Any:
    t = x * 1.0
    total = np.mean(t < 0.9)
    factor = np.array(total)
    factor[...] = np.mean(t)
    t[:] *= factor
    return np.mean(t)


def transpose_without_axes(x: Any) -> Any:
    a = np.array(x[0] * x[1])
    b = a.T
    a *= x[0]
    return b * x[1]


def row_without_axes(x: Any) -> Any:
    a = x * x
    y = a[1, ...]
    y *= 2
    y += x[0]
    a[0, ...] = x[1] * y
    return np.sum(a)


FUNCTIONS = [factor_without_axes, transpose_without_axes, row_without_axes]
CASES = [case(f, x, name=f"{f.__name__}_{n}") for f in FUNCTIONS for n, x in enumerate((V, W))]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def _fills_a_number(x: Any) -> Any:
    q = x[0]
    q.fill(x[1])
    return np.sin(q)


def _fills_a_number_or_an_array(x: Any) -> Any:
    q = np.array(x[1]) if x[0] > 1.0 else x[0]
    q.fill(3.0 * x[1])
    return np.sin(q)


@pytest.mark.parametrize("f", [_fills_a_number, _fills_a_number_or_an_array])
def test_methods_of_numpys_numbers_write_nothing(f: Callable[..., Any]) -> None:
    """That is refused where it is met; an array is filled."""
    x = np.array([0.5, 1.2])
    for derivative in (lambda x: grad(f)(x), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(S2SADError, match=r".py:\d+:\d+: error: "):
            derivative(x)
    if f is _fills_a_number_or_an_array:
        y = x + 1.0
        np.testing.assert_allclose(grad(f)(y), [0.0, 3.0 * np.cos(3.0 * y[1])])
        assert jvp(f, (y,), (x,))[1] == pytest.approx(3.0 * np.cos(3.0 * y[1]) * x[1])
