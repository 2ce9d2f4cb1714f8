"""``np.r_`` and ``np.c_`` of what is differentiated, and the other objects of NumPy that are indexed."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime import indexed
from tests.oracle import numeric_gradient

X = np.array([0.83, 1.27, 0.41, 2.19])
W = np.cos(np.arange(20.0))

PROGRAMS: list[Callable[..., Any]] = [
    lambda x: np.sum(np.r_[x, x[:2] ** 2] * W[:6]),
    lambda x: np.sum(np.r_[0, x, 1.0, 2:4] * W[:8]),
    lambda x: np.sum(np.r_[1:4:5j, x[0], [x[1], 2.0]] * W[:8]),
    lambda x: np.sum(np.r_[x[0] : x[1] : 4j, x[2] : 2.0 : 0.6, :2] * W[:9]),
    lambda x: np.sum(np.c_[x[2] : x[1] : 4j, x, :4] * W[:12].reshape(4, 3)),
    lambda x: np.sum(np.atleast_2d(x[:2], x[1] ** 2)[0] * np.atleast_1d(np.sin(x[0]), x[2:])[1]),
    lambda x: np.sum(np.r_["0,2", x, x**2] * W[:8].reshape(2, 4)),
    lambda x: np.sum(np.r_["1,2,0", x, 0:4] * W[:8].reshape(4, 2)),
    lambda x: np.sum(np.r_["-1", x.reshape(2, 2), x.reshape(2, 2)] * W[:8].reshape(2, 4)),
    lambda x: np.sum(np.r_[x] ** 2),
    lambda x: np.sum(np.c_[x, x**2, np.ones(4)] * W[:12].reshape(4, 3)),
    lambda x: np.sum(np.c_[np.arange(4), x] @ np.array([x[0], 2.0])),
    lambda x: np.sum(np.c_[x.reshape(2, 2), x[:2], 0:2] * W[:8].reshape(2, 4)),
    lambda x: np.sum(x[np.s_[1:3]] * np.mgrid[0:2] * np.ogrid[1:3]) + np.sum(x[np.index_exp[::2]]),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_value_and_gradient(number: int) -> None:
    f = PROGRAMS[number]
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, numeric_gradient(f, [X]), rtol=0, atol=1e-9)


def test_single_precision_stays() -> None:
    x = X.astype(np.float32)
    assert grad(lambda x: np.sum(np.r_[x, 1.0] ** 2))(x).dtype == np.float32


def test_a_matrix_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match=r"np.r_\['c', ...\] makes a matrix"):
        grad(lambda x: np.sum(np.r_["c", x]))(X)


def test_examples() -> None:
    assert doctest.testmod(indexed).failed == 0
