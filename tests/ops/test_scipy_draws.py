"""What distributions of ``scipy.stats`` draw, their moments, and statistics of groups, in whole programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from s2sad import grad, hvp, jvp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.7, 1.3, 0.4, 1.9, 1.1])


def drawn(x: Any) -> Any:
    return np.sum(stats.norm.rvs(x, x**2, random_state=3) ** 2) + np.sum(
        stats.expon.rvs(scale=x[1], size=4, random_state=1)
    )


def drawn_of_fixed(x: Any) -> Any:
    first = stats.norm(x[0], scale=x[1]).rvs((2, 3), random_state=3)
    second = stats.multivariate_normal(x[:2], np.eye(2)).rvs(size=3, random_state=2)
    return np.sum(first**2) + np.sum(second**3)


def of_a_generator(x: Any) -> Any:
    rng = np.random.default_rng(5)
    a = stats.laplace.rvs(x[0], x[1], size=3, random_state=rng)
    return np.sum(a * stats.uniform.rvs(x[2], x[3], size=3, random_state=rng))


def moments(x: Any) -> Any:
    d = stats.gamma(x[0], scale=x[1])
    return (
        d.mean() * d.std() + d.entropy() + d.logpdf(x[2]) + stats.beta.var(x[3], x[4]) + stats.norm.entropy(x[0], x[1])
    )


def fixed(x: Any) -> Any:
    known = stats.norm(0.5, 2.0)
    return known.interval(0.9)[1] * x[0] + known.moment(3) * x[1] + known.expect(np.cos) * x[2] + known.mean() * x[3]


def groups(x: Any) -> Any:
    found = stats.f_oneway(x, x[:3] ** 2, np.array([1.0, 2.0, 0.5]))
    return found.statistic + found.pvalue


def robust(x: Any) -> Any:
    return stats.iqr(x) ** 2 + stats.median_abs_deviation(x**2) ** 2


def transformed(x: Any) -> Any:
    both = np.sum(stats.yeojohnson(x - 1, 0.3) ** 2) + np.sum(stats.yeojohnson(x, lmbda=x[0]))
    return both + np.sum(stats.boxcox(x, 0.3) ** 2) + np.sum(stats.boxcox(x + 1, lmbda=x[0]))


CASES = [drawn, drawn_of_fixed, of_a_generator, moments, fixed, groups, robust, transformed]


@pytest.mark.parametrize("f", CASES)
def test_gradients(f: Callable[..., Any]) -> None:
    expected, dot = numeric_gradient(f, (X,)), np.array([0.3, -0.5, 0.2, 0.8, -0.4])
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (dot,))[1], expected @ dot, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [drawn, moments, groups, transformed])
def test_second_derivatives(f: Callable[..., Any]) -> None:
    dot = np.array([0.3, -0.5, 0.2, 0.8, -0.4])
    expected = richardson_jvp(grad(f), (X,), (dot,))
    np.testing.assert_allclose(hvp(f, (X,), (dot,)), expected, rtol=1e-5, atol=1e-6)


def by_shape(x: Any) -> Any:
    return np.sum(stats.gamma.rvs(x[0], size=4, random_state=3))


def likelihood(x: Any) -> Any:
    return stats.norm.nnlf((x[0], x[1]), x)


@pytest.mark.parametrize(("f", "said"), [(by_shape, "'a'"), (likelihood, r"-np\.sum\(stats\.norm\.logpdf")])
def test_refusals(f: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        grad(f)(X)


def fitted(x: Any) -> Any:
    return np.sum(stats.yeojohnson(x)[0])


def fitted_positive(x: Any) -> Any:
    return np.sum(stats.boxcox(x)[0])


@pytest.mark.parametrize("f", [fitted, fitted_positive])
def test_a_power_that_is_fitted_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises((UndefinedDerivativeError, UnsupportedError)) as raised:
        grad(f)(X)
    assert f is fitted or "Give it lmbda" in str(raised.value)
