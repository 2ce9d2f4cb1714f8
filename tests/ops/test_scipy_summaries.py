"""Summary statistics, correlations and t-tests of ``scipy.stats`` in programs: results by name, item and unpacking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from s2sad import check_grads, grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.3, 1.2, 2.2, 2.9, 4.5])
Y = np.array([1.0, 0.4, 2.5, 1.7, 3.3])


def unpacked(x: Any, y: Any) -> Any:
    r, p = stats.pearsonr(x, y)
    return r + 2 * p


def by_name(x: Any, y: Any) -> Any:
    found = stats.pearsonr(x, y, alternative="less")
    return found.statistic + 2 * found.pvalue


def by_item(x: Any, y: Any) -> Any:
    found = stats.ttest_ind(x, y)
    return found[0] * found[1]


def line(x: Any, y: Any) -> Any:
    fit = stats.linregress(x, y)
    return fit.slope + 2 * fit.intercept + 3 * fit.rvalue + 4 * fit.pvalue + 5 * fit.stderr


def residuals(x: Any, y: Any) -> Any:
    slope, intercept, _, _, _ = stats.linregress(x, y)
    return np.sum(np.abs(y - slope * x - intercept) ** 1.5)


def mean_that_depends(x: Any, y: Any) -> Any:
    return stats.ttest_1samp(x, y[0]).pvalue + stats.ttest_rel(x, y).statistic


def scores(x: Any, y: Any) -> Any:
    return np.sum(stats.zscore(x, ddof=1) * y) + np.sum(stats.zmap(y, x) ** 3)


def weighted(x: Any, y: Any) -> Any:
    return stats.gmean(x, weights=y) * stats.hmean(x, weights=y) + stats.pmean(x, y[0], weights=y)


def moments(x: Any, y: Any) -> Any:
    return stats.skew(x) + stats.kurtosis(y, bias=False) + stats.moment(x * y, 3) + stats.sem(x) * stats.variation(y)


def entropies(x: Any, y: Any) -> Any:
    return stats.entropy(x, y) + stats.entropy(x, base=y[1] + 2)


def trimmed(x: Any, y: Any) -> Any:
    return stats.trim_mean(x * y, 0.25) + stats.tmean(x, (0.5, 4.0)) * stats.tstd(y, (0.0, 3.0))


PROGRAMS = [
    unpacked,
    by_name,
    by_item,
    line,
    residuals,
    mean_that_depends,
    scores,
    weighted,
    moments,
    entropies,
    trimmed,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients_in_both_modes(f: Callable[..., Any]) -> None:
    for i, found in enumerate(grad(f, (0, 1))(X, Y)):
        np.testing.assert_allclose(found, numeric_gradient(f, (X, Y), i), rtol=1e-6, atol=1e-7)
    check_grads(f, (X, Y))


@pytest.mark.parametrize("f", [unpacked, by_name, line, residuals, scores, moments, entropies, trimmed])
def test_gradients_at_second_order(f: Callable[..., Any]) -> None:
    check_grads(f, (X, Y), order=2)


def test_along_axes_that_are_several_or_none() -> None:
    a = 1 + np.arange(24.0).reshape(2, 3, 4) ** 1.3 % 5

    def f(a: Any) -> Any:
        first = stats.trim_mean(a, 0.2, axis=(0, 2)) * stats.gmean(a, axis=(2, 0))
        return np.sum(first) + stats.skew(a, axis=None) + np.sum(stats.sem(a, axis=1, keepdims=True))

    np.testing.assert_allclose(grad(f)(a), numeric_gradient(f, (a,), 0), rtol=1e-6, atol=1e-8)


def test_single_precision_is_kept() -> None:
    for f in (stats.sem, stats.skew, stats.gmean, stats.variation):
        assert grad(f)(X.astype(np.float32)).dtype == np.float32


def test_what_has_no_rule_is_refused() -> None:
    def unequal(x: Any) -> Any:
        return stats.ttest_ind(x, Y, equal_var=False).pvalue

    def freedom(x: Any) -> Any:
        return stats.ttest_ind(x, Y).df

    def without(x: Any) -> Any:
        return np.sum(stats.zscore(x, nan_policy="omit"))

    for f, what in ((unequal, "'equal_var' of stats.ttest_ind"), (freedom, r"\.df"), (without, "'nan_policy'")):
        with pytest.raises(UnsupportedError, match=what):
            grad(f)(X)
