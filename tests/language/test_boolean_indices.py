"""Single booleans as indices, which add an axis and select all or nothing, wherever they come from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.language.support import Case, case, check_gradient
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.3, 0.4])


W = np.arange(6.0).reshape(2, 3) + 0.5


def chosen_by_a_boolean(x: Any, flag: Any) -> Any:
    y = x[flag]
    return np.mean(y * y)


def chosen_by_a_comparison(x: Any) -> Any:
    flag = x[0] > 0
    return np.sum(x[flag] * W)


def chosen_by_a_function(x: Any, w: Any) -> Any:
    return np.sum(x[np.any(x > 0) and x.sum() > 0] * w)


MASK = np.array([True, False])


def _both(x: Any) -> Any:
    return np.sum(x[(x[0] > 0) & (x[1] > 0)] * W)


def _of_a_mask(x: Any) -> Any:
    m = x > 0
    return np.sum(x[m[0]] * W)


def _over_a_mask(x: Any) -> Any:
    s = 0.0
    for m in x > 0:
        s = s + np.sum(x[m] * W)
    return s


def _of_the_module(x: Any) -> Any:
    return np.sum(x[MASK[0]] * W)


def _of_zeros(x: Any) -> Any:
    m = np.zeros(3, bool)
    m[1] = True
    return np.sum(x[m[1]] * W)


def _of_an_array(x: Any) -> Any:
    m = np.array([True, False])
    return np.sum(x[m[0]] * W)


def _of_a_ufunc(x: Any) -> Any:
    return np.sum(x[np.logical_and(x[0] > 0, np.greater(x[1], 0))] * W)


def _of_a_copy(x: Any) -> Any:
    m = (x > 0).astype(bool).copy()
    return np.sum(x[m[-1] | False] * W)


def _of_a_choice(x: Any) -> Any:
    m = np.where(x > 0, True, False)
    return np.sum(x[m[0]] * W)


def _of_a_product(x: Any) -> Any:
    m = (x > 0) * (x < 5)
    return np.sum(x[m[0]] * W) + np.sum(x[np.full(2, True)[0]] * W)


BOOLEANS = [
    _both,
    _of_a_mask,
    _over_a_mask,
    _of_the_module,
    _of_zeros,
    _of_an_array,
    _of_a_ufunc,
    _of_a_copy,
    _of_a_choice,
    _of_a_product,
]


def written_by_a_boolean(x: Any) -> Any:
    flag = True
    y = x * 1.0
    y[flag] = x[0]
    return np.sum(y * x)


CASES = [
    *[case(f, X) for f in (chosen_by_a_comparison, written_by_a_boolean)],
    *[case(f, X) for f in BOOLEANS],
    case(chosen_by_a_boolean, X, True, wrt=0),
    case(chosen_by_a_boolean, X, np.True_, wrt=0, name="chosen_by_a_boolean_of_numpy"),
    case(chosen_by_a_boolean, X, 1, wrt=0, name="chosen_by_an_integer"),
    case(chosen_by_a_function, X, 2.0),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def test_one_function_for_booleans_and_integers() -> None:
    df = grad(chosen_by_a_boolean)
    for flag in (1, True, 2, np.True_):
        expected = numeric_gradient(lambda x, i=flag: chosen_by_a_boolean(x, i), (X,), 0)
        np.testing.assert_allclose(df(X, flag), expected, rtol=1e-8, atol=1e-12)
