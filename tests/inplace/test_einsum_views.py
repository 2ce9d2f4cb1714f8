"""Results of `np.einsum` of one array, which are views of it: written, and read after the array was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient, richardson_jvp

M = np.cos(np.arange(9.0)).reshape(3, 3)
DOT = np.sin(np.arange(9.0) + 0.3).reshape(3, 3)
W = np.arange(9.0).reshape(3, 3) - 3.3


def cleared_diagonal(m: Any) -> Any:
    a = m * m
    d = np.einsum("ii->i", a)
    d[...] = 0
    return np.sum(a * W * m)


def added_to_the_diagonal(m: Any) -> Any:
    a = m * m
    d = np.einsum("ii->i", a)
    d += m[0]
    return np.sum(a * W * a)


def stored_at_once(m: Any) -> Any:
    a = np.zeros((3, 3))
    np.einsum("ii->i", a)[:] = m[0] ** 2
    np.einsum("ij->ji", a)[0] *= m[1]
    np.einsum("ji", a)[1, 2:] = m[2, :1]
    return np.sum(a * W * m)


def scaled_in_a_loop(m: Any) -> Any:
    a = m * 2.0
    for k in range(3):
        d = np.einsum("ii->i", a)
        d[k] *= m[k, 0]
        a = a @ m
    return np.sum(a * W)


def batched(m: Any) -> Any:
    a = np.stack((m, m * m))
    d = np.einsum("kii->ki", a)
    d[0] = m[1]
    d[1, :2] *= m[0, 0]
    return np.sum(a * a)


def read_after_a_store(m: Any) -> Any:
    a = m * m
    d = np.einsum("ii->i", a)
    a[0, 0] = 3 * m[0, 1]
    return np.sum(a * d * W)


def sums_are_new(m: Any) -> Any:
    a = m * m
    d, t = np.einsum("ij->i", a), np.einsum("iij->j", np.stack((a, a, a)))
    d[0] = m[0, 0]
    t *= d
    a[1] = 2.0
    return np.sum(a * d * t)


_PROGRAMS: list[Callable[[Any], Any]] = [
    cleared_diagonal, added_to_the_diagonal, stored_at_once, scaled_in_a_loop, batched, read_after_a_store,
    sums_are_new,
]  # fmt: skip


@pytest.mark.parametrize("f", _PROGRAMS)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(M), numeric_gradient(f, (M,)), rtol=1e-6, atol=1e-8)
    value, tangent = jvp(f, (M,), (DOT,))
    np.testing.assert_allclose(value, f(M), rtol=1e-13)
    np.testing.assert_allclose(tangent, richardson_jvp(f, (M,), (DOT,)), rtol=1e-6)


@pytest.mark.parametrize("f", [added_to_the_diagonal, stored_at_once])
def test_second_derivatives(f: Callable[[Any], Any]) -> None:
    expected = richardson_jvp(lambda m: grad(f)(m), (M,), (DOT,))
    np.testing.assert_allclose(hvp(f, (M,), (DOT,)), expected, rtol=1e-6, atol=1e-9)
