"""Functions that Numba compiles, called by others: derivatives go through the Python functions that it compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from tests.oracle import numeric_gradient

numba = pytest.importorskip("numba")
jit = numba.njit


@jit  # type: ignore[untyped-decorator]
def norm(v: Any) -> Any:
    return np.sqrt(np.sum(v * v))


@jit  # type: ignore[untyped-decorator]
def equation(e: Any, m: Any, ecc: Any) -> Any:
    return e - ecc * np.sin(e) - m


@jit  # type: ignore[untyped-decorator]
def solved(m: Any, ecc: Any, steps: Any) -> Any:
    e = m
    for _ in range(steps):
        e = e - equation(e, m, ecc) / (1.0 - ecc * np.cos(e))
    return e


@jit  # type: ignore[untyped-decorator]
def split(r: Any, v: Any, k: Any) -> Any:
    size = norm(r)
    h = r * v
    return h / size, size * k, norm(h)


@jit  # type: ignore[untyped-decorator]
def applied(f: Any, x: Any) -> Any:
    return f(x) * 2.0


class Holder:
    size = staticmethod(norm)


V = np.array([0.4, 0.7])
W = np.array([1.3, -0.2])


def nested(x: Any) -> Any:
    return solved(x[0], x[1] * 0.5, 6)


def several_results(x: Any) -> Any:
    a, b, c = split(x, W, 2.0)
    return np.sum(a) + b * c + np.sum(x)


def given_as_an_argument(x: Any) -> Any:
    return applied(norm, x) + x[0]


def of_a_class(x: Any) -> Any:
    return Holder.size(x) * x[1]


class Sized(Holder):
    """A class whose method is compiled, and reached from an object that the program makes, or that exists."""

    def __init__(self, scale: Any) -> None:
        self.scale = scale

    @staticmethod
    @jit  # type: ignore[untyped-decorator]
    def doubled(v: Any) -> Any:
        return 2.0 * v * v

    def value(self, x: Any) -> Any:
        return self.scale * self.size(x) * np.sum(self.doubled(x))


SIZED = Sized(1.3)


def of_objects(x: Any) -> Any:
    return Sized(x[1]).value(x) + SIZED.value(x * x)


def constant(x: Any) -> Any:
    return x[0] * norm(W) + norm(W * 2.0)


def in_a_comprehension(x: Any) -> Any:
    return sum([solved(m, 0.1, 3) for m in x])


@pytest.mark.parametrize(
    "f", [nested, several_results, given_as_an_argument, of_a_class, of_objects, constant, in_a_comprehension]
)
def test_derivatives(f: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(f)(V)
    # Numba gives numbers of Python's class where NumPy gives its own.
    assert value == f(V)
    np.testing.assert_allclose(gradient, numeric_gradient(f, (V,), 0), rtol=1e-7, atol=1e-9)
    dx = np.array([0.3, -0.7])
    assert np.isclose(jvp(f, (V,), (dx,))[1], grad(f)(V) @ dx, rtol=1e-12)


def test_known_when_compiled() -> None:
    """Such a call is one of a known function, not one that is found at run time."""
    text = grad(nested).source_for(V)
    assert "solved_forward" in text
    assert "calls import" not in text


def test_another_function_under_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    df = grad(several_results)
    first = df(V)
    monkeypatch.setitem(globals(), "split", jit(lambda r, v, k: (r * k, k, np.sum(v))))
    second = df(V)
    assert not np.allclose(first, second)
    np.testing.assert_allclose(second, numeric_gradient(several_results, (V,), 0), rtol=1e-7)
