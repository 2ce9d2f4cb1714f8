"""The adjoint of a factor is the other factor: an array of the forward part, as it is where the product stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.2, 0.7])
K = np.array([0.8, 0.4, 0.6])


def fill(y: Any, x: Any) -> None:
    y[:, None].T.fill(np.sin(x[1]))


def store(y: Any, x: Any) -> None:
    y[0] = x[1]


def order(y: Any, _x: Any) -> None:
    y.sort()


def overwrite(y: Any, _x: Any) -> None:
    np.sin(y, out=y)


def scale(y: Any, x: Any) -> None:
    y *= x


MADE: list[Callable[[Any], Any]] = [
    np.cumsum,
    np.sqrt,
    abs,
    lambda x: abs(x + 1j * x),
    lambda x: x @ np.diag(K),
    lambda x: np.linalg.norm(np.outer(x, K), axis=0),
    lambda x: np.fft.fft(x).real,
    lambda x: np.maximum(x, K),
    lambda x: np.where(x > 0.6, x, K),
    lambda x: np.sum(np.outer(x, x), axis=0),
    lambda x: np.sin(x),
]


@pytest.mark.parametrize("write", [fill, store, order, overwrite, scale])
@pytest.mark.parametrize("made", MADE)
def test_an_array_that_is_written_before_the_product(made: Callable[..., Any], write: Callable[..., Any]) -> None:
    def f(x: Any) -> Any:
        y = x * x
        z = made(x)
        write(y, x)
        return np.dot(y, z)

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("made", MADE)
def test_in_loops_and_under_other_names(made: Callable[..., Any]) -> None:
    def f(x: Any) -> Any:
        y, total = x * x, 0.0
        for i in range(3):
            view = y[::-1]
            z = made(x * (i + 1))
            view[i] = x[1] * total + z[0]
            total = total + np.dot(z, y) + np.sum(view * z)
            y[0] *= x[2]
        return total

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)


def test_a_sum_that_only_one_of_both_is_read_of() -> None:
    def f(x: Any) -> Any:
        y, rows = x * x, np.outer(x, K)
        norms = np.linalg.norm(rows, axis=1)
        y[:] = [1.0, 2.0, 3.0] * x
        if x[0] > 0.0:
            norms = np.cumsum(norms)
            y += x
        return np.vdot(y, norms)

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)
