"""Graphs and assignments of SciPy: Laplacians of weights that are differentiated, and what is found among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import csgraph

from s2sad import grad
from s2sad.errors import S2SADError
from tests.ops.test_modelled_functions import as_scipy_has_it

X = np.array([0.31, 0.77, 0.52])


def weights(x: Any) -> Any:
    return np.outer(x, x**2)


def with_one_alone(x: Any) -> Any:
    return np.array([[0.0, x[0], 0.0], [x[1], 0.0, 0.0], [0.0, 0.0, x[2]]])


LAPLACIANS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda x: csgraph.laplacian(weights(x)),
    "normed": lambda x: csgraph.laplacian(weights(x), normed=True),
    "out degrees": lambda x: csgraph.laplacian(weights(x), use_out_degree=True, symmetrized=True),
    "diagonal": lambda x: csgraph.laplacian(weights(x), normed=True, return_diag=True)[1],
    "alone": lambda x: csgraph.laplacian(with_one_alone(x), normed=True),
}


@pytest.mark.parametrize("name", LAPLACIANS)
def test_laplacians_of_graphs(name: str) -> None:
    as_scipy_has_it(LAPLACIANS[name], X)


def test_laplacians_that_are_no_arrays() -> None:
    with pytest.raises(S2SADError, match="laplacian with form"):
        grad(lambda x: np.sum(csgraph.laplacian(weights(x), copy=False) ** 2))(X)


def matched(x: Any) -> Any:
    costs = np.outer(x, np.array([3.0, 1.0, 2.0])) + np.sin(x)
    rows, columns = optimize.linear_sum_assignment(costs)
    return costs[rows, columns]


def of_the_largest(x: Any) -> Any:
    return weights(x)[optimize.linear_sum_assignment(weights(x), maximize=True)]


def in_components(x: Any) -> Any:
    count, labels = csgraph.connected_components(weights(x) > 0.2)
    return count * x + labels


@pytest.mark.parametrize("f", [matched, of_the_largest, in_components])
def test_what_is_found_among_weights_is_constant(f: Callable[[Any], Any]) -> None:
    as_scipy_has_it(f, X)
