"""Arrays whose dtype is given in any of the ways that NumPy knows, and written with other numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.language.support import Case, case, check_gradient

V = np.array([0.7, 1.3, 0.4, 0.9])
KIND = np.complex128

MAKERS: dict[str, Callable[[Any], Any]] = {}


def maker(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    MAKERS[make.__name__] = make
    return make


@maker
def zeros_second(x: Any) -> Any:
    return np.zeros(4, complex)


@maker
def ones_named(x: Any) -> Any:
    return np.ones(4, "complex")


@maker
def empty_of_another(x: Any) -> Any:
    return np.empty(4, (x * 1j).dtype)


@maker
def zeros_of_the_module(x: Any) -> Any:
    return np.zeros(4, KIND)


@maker
def zeros_of_a_variable(x: Any) -> Any:
    kind = np.result_type(x, 1j)
    return np.zeros(4, kind)


@maker
def zeros_ordered(x: Any) -> Any:
    return np.zeros(4, complex, "F")


@maker
def zeros_like_second(x: Any) -> Any:
    return np.zeros_like(x, complex)


@maker
def full_like_third(x: Any) -> Any:
    return np.full_like(x, 0.0, complex)


@maker
def full_of_a_complex(x: Any) -> Any:
    return np.full(4, 0j)


@maker
def full_by_name(x: Any) -> Any:
    return np.full(4, fill_value=1j)


@maker
def array_second(x: Any) -> Any:
    return np.array(x, complex)


@maker
def array_of_numbers(x: Any) -> Any:
    return np.array([0.0, 0, 0, 0], complex)


@maker
def copy_of_one(x: Any) -> Any:
    return np.copy(np.zeros(4, complex))


@maker
def joined(x: Any) -> Any:
    return np.concatenate((np.zeros(2, complex), np.zeros(2)))


@maker
def row(x: Any) -> Any:
    return np.zeros((2, 4), complex)[0]


@maker
def reshaped(x: Any) -> Any:
    return np.zeros((2, 2), complex).reshape(4)


@maker
def summed(x: Any) -> Any:
    return np.sum(np.zeros((2, 4)), 0, complex)


@maker
def real_float(x: Any) -> Any:
    return np.zeros(4, float) + 0j


def _written(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        a = make(x)
        a[:] = x
        a *= 1j + 1
        return np.sum(np.abs(a) ** 2)

    return f


@pytest.mark.parametrize("name", MAKERS)
def test_complex(name: str) -> None:
    """|(1 + i) x|^2 = 2 x^2."""
    np.testing.assert_allclose(grad(_written(MAKERS[name]))(V), 4.0 * V, rtol=1e-13)


def state(x: Any) -> Any:
    psi = np.zeros((3, 4), np.complex128)
    psi[0] = x
    for n in range(2):
        psi[n + 1] = psi[n] * np.exp(1j * 0.3) + 0.1j * np.roll(psi[n], 1)
    return np.sum(np.abs(psi[2]) ** 4)


def real_by_second(x: Any) -> Any:
    a = np.zeros(4, x.dtype)
    a[:] = x
    a *= 3.0
    return np.sum(a**2)


@pytest.mark.parametrize("c", [case(state, V), case(real_by_second, V)], ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def test_what_is_known_to_be_real_is_written_so() -> None:
    def f(x: Any) -> Any:
        a = np.zeros(4, float)
        a[1:] = x[:-1] * x[1:]
        return np.sum(a * x)

    assert "np.real" not in grad(f).source_for(V)
