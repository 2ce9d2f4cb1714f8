"""Multivariate distributions of ``scipy.stats``: densities, and moments, by points and by all parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.ops.test_modelled_functions import as_scipy_has_it, total
from tests.oracle import numeric_gradient, richardson_jvp

Function = Callable[[Any], Any]
X = np.array([[0.31, 0.77], [0.95, 0.52]])
E = np.eye(2)
P = np.array([[2.0, 0.3], [0.3, 1.0]])


def positive(x: Any) -> Any:
    return x @ x.T + E


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x)


def shares(x: Any) -> Any:
    return x / np.sum(x, axis=-1, keepdims=True)


WISHART: dict[str, Function] = {
    "scale": lambda x: stats.wishart.logpdf(P, 4.5, positive(x)),
    "freedom": lambda x: stats.wishart.logpdf(P, df=x[0, 0] + 4, scale=x[0]),
    "several": lambda x: stats.wishart.logpdf(np.stack([positive(x), P, E], axis=-1), 4.5, positive(x)),
    "one number": lambda x: stats.wishart.logpdf(x[0, 0], 4.5, x[1]),
    "fixed": lambda x: stats.wishart(df=4, scale=positive(x)).logpdf(E),
    "entropy": lambda x: stats.wishart.entropy(x[0, 0] + 3, positive(x)),
    "inverse at points": lambda x: stats.invwishart.logpdf(np.stack([positive(x), P], axis=-1), 4.5, positive(x)),
    "inverse fixed": lambda x: stats.invwishart(4, positive(x)).pdf(E),
    "mean of the inverse": lambda x: stats.invwishart.mean(4.5, positive(x)),
}
OTHERS: dict[str, Function] = {
    "covariances of matrices": lambda x: stats.matrix_normal.logpdf(E, x, positive(x), positive(x.T)),
    "several matrices": lambda x: stats.matrix_normal.logpdf(np.stack([x, x * x]), mean=x, colcov=positive(x)),
    "counts": lambda x: stats.multinomial.logpmf([1, 2], 3, shares(x[0])),
    "several counts": lambda x: stats.multinomial.pmf([[1, 2], [0, 3]], n=3, p=shares(x[0])),
    "fixed chances": lambda x: stats.multinomial(3, shares(x[0])).logpmf([1, 2]),
    "mixed": lambda x: stats.dirichlet_multinomial.logpmf([1, 2], x, [3, 3]),
    "variance of mixed": lambda x: stats.dirichlet_multinomial.var(x, [2, 3]),
    "directions": lambda x: stats.vonmises_fisher.logpdf([[1.0, 0.0], [0.0, 1.0]], unit(x[0]), 2.0),
    "concentration": lambda x: stats.vonmises_fisher([0.0, 1.0], x[0, 0]).pdf([1.0, 0.0]),
    "means and variances": lambda x: stats.normal_inverse_gamma.logpdf(x[0], x[1], 0.5, 0.6, 2.0, 1.0),
    "entropy of normals": lambda x: stats.multivariate_normal.entropy(x[0], positive(x)),
    "entropy of shares": lambda x: stats.dirichlet.entropy(x[0]),
    "moments of shares": lambda x: np.stack([stats.dirichlet.mean(x[0]), stats.dirichlet.var(x[1])]),
    "their parameters": lambda x: stats.normal_inverse_gamma.pdf(0.4, 0.5, 0.6, x[0], 2.0, x[1, 0]),
    "their fixed parameters": lambda x: stats.normal_inverse_gamma(0.6, x[0, 0], x[0, 1]).logpdf(0.4, 0.5),
}


@pytest.mark.parametrize("name", WISHART)
def test_wisharts_distribution_and_its_inverse(name: str) -> None:
    as_scipy_has_it(WISHART[name], X)


@pytest.mark.parametrize("name", OTHERS)
def test_other_multivariate_distributions(name: str) -> None:
    as_scipy_has_it(OTHERS[name], X)


@pytest.mark.parametrize("f", [WISHART["scale"], OTHERS["counts"], OTHERS["covariances of matrices"]])
def test_second_derivatives_of_multivariate_distributions(f: Function) -> None:
    direction = np.cos(np.arange(4.0)).reshape(2, 2)
    found = jvp(grad(total(f)), (X,), (direction,))[1]
    np.testing.assert_allclose(found, richardson_jvp(grad(total(f)), (X,), (direction,)), rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore:Some rows of `p` do not sum")
def test_chances_whose_sum_is_not_one() -> None:
    """Older versions of SciPy take the last one for what is left of one."""
    f = total(lambda x: stats.multinomial.logpmf([1, 2], 3, 0.3 * x[0]))
    if np.isfinite(f(X)):
        np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6)


def test_counts_that_cannot_be() -> None:
    f = total(lambda x: np.exp(stats.multinomial.logpmf([1, 1], 3, shares(x[0]))))
    np.testing.assert_array_equal(grad(f)(X), np.zeros((2, 2)))


def test_matrices_of_another_size_than_the_scale() -> None:
    with pytest.raises(S2SADError, match="another size"):
        grad(lambda x: stats.wishart.logpdf(np.eye(3), 4.0, positive(x)))(X)
    with pytest.raises(S2SADError, match="degenerate normal"):
        grad(lambda x: stats.multivariate_normal.entropy(None, np.outer(x[0], x[0])))(X)
