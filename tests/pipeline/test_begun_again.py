"""Runs that begin again where a number is met in place of an array: what they have done by then may be done twice."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

TABLE = {"a": {"n": 1.0}}
AXES = [None, 0]
X = np.array([[1.5, 0.5], [0.4, 1.2]])


class Tables:
    models = TABLE


def summed(x: Any, k: int) -> Any:
    s = np.sum(x, axis=AXES[k])
    s += x[0, 0]
    t = s
    t *= 2.0
    return np.sum(s * t)


def behind_a_check_of_a_key(x: Any, k: int) -> Any:
    Tables.models["a"]["n"]
    return summed(x, k)


def behind_filtered_warnings(x: Any, k: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.sin(x)
    return summed(y, k)


def behind_what_is_tried(x: Any, k: int) -> Any:
    try:
        y = np.linalg.cholesky(x @ x.T)
    except np.linalg.LinAlgError:
        y = x * x
    return summed(y, k)


def behind_all_of_them(x: Any, k: int) -> Any:
    return behind_a_check_of_a_key(x, k) + behind_filtered_warnings(x, k) + behind_what_is_tried(x, k)


PROGRAMS = [behind_a_check_of_a_key, behind_filtered_warnings, behind_what_is_tried, behind_all_of_them]


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any], k: int) -> None:
    filters = list(warnings.filters)
    wanted = numeric_gradient(lambda x: f(x, k), [X])
    np.testing.assert_allclose(grad(f)(X, k), wanted, rtol=1e-6, atol=1e-8)
    direction = np.array([[0.3, -0.2], [0.5, 0.7]])
    np.testing.assert_allclose(jvp(f, (X, k), (direction, None))[1], np.sum(direction * wanted), rtol=1e-6)
    assert warnings.filters == filters


def test_a_key_that_is_missing() -> None:
    df = grad(behind_a_check_of_a_key)
    df(X, 1)
    Tables.models = {}
    try:
        with pytest.raises(KeyError):
            df(X, 0)
    finally:
        Tables.models = TABLE
