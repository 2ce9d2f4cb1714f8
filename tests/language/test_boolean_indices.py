"""Single booleans as indices, which add an axis and select all or nothing, wherever they come from."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import S2SADError
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


# --- a mask selects a copy, however many axes it has; an integer, a view


def taken_before_a_write(x: Any, index: Any) -> Any:
    y = 2 * x
    taken = y[index]
    y[1] = 7 * x[0]
    return np.sum(3 * np.sin(taken)) + np.sum(np.cos(taken)) + np.sum(y * y)


def _by_a_comparison(x: Any) -> Any:
    return taken_before_a_write(x, x[0, 0] > 0)


def _by_the_opposite(x: Any) -> Any:
    return taken_before_a_write(x, ~(x[0, 0] > 5))


def _by_a_logical_ufunc(x: Any) -> Any:
    return taken_before_a_write(x, np.logical_not(x[0, 0] > 5) | np.isnan(x[0, 0]))


def _by_a_mask_and_more(x: Any) -> Any:
    return taken_before_a_write(x, (x[0, 0] > 0, ...)) + taken_before_a_write(x, (x[:, 0] > 0.5, 0))


def projected(u: Any, v: Any) -> Any:
    if u.ndim == 1:
        u = np.atleast_2d(u)
    if v.ndim == 1:
        v = np.atleast_2d(v)
    p = np.dot(np.atleast_2d(np.sum(u * v, axis=1)), v)
    return p.ravel() if u.shape[0] == 1 else p


def normalised(v: Any) -> Any:
    v = np.atleast_2d(v).copy()
    length = np.sqrt(np.sum(v * v, axis=1))
    v[length != 0] = (v[length != 0].T / length[length != 0]).T
    return v


def _by_rows_of_unknown_axes(x: Any) -> Any:
    return np.sum(normalised(x[0] - projected(x[0], x[1])) * np.array([2.0, 3.0]))


SURE = [
    _by_a_comparison, _by_the_opposite, _by_a_logical_ufunc, _by_a_mask_and_more, _by_rows_of_unknown_axes,
]  # fmt: skip
X_2 = np.array([[0.3, 0.6], [0.9, 1.2], [0.8, 0.7]])


@pytest.mark.parametrize("f", SURE, ids=lambda f: f.__name__)
def test_a_mask_gives_a_copy(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(X_2), numeric_gradient(f, (X_2,), 0), rtol=1e-8)


def _first_a_mask(x: Any) -> Any:
    index, total = x[0, 0] > 0, 0.0
    for _ in range(3):
        total = total + taken_before_a_write(x, index)
        index = 1
    return total


def _else_an_integer(x: Any) -> Any:
    index = x[0, 0] > 0
    index = index if x[0, 0] > 1 else 1
    return taken_before_a_write(x, index)


def _added_in_place(x: Any) -> Any:
    index = x[0, 0] > 0
    index |= 1
    return taken_before_a_write(x, index)


INDICES: dict[str, Callable[[Any], Any]] = {
    "Python's boolean turned": lambda x: taken_before_a_write(x, ~(math.sqrt(x[0, 0]) > 0.1)),
    "of a float": lambda x: taken_before_a_write(x, ~(float(x[0, 0]) > 0.0)),
    "item turned": lambda x: taken_before_a_write(x, ~(x > 0).item(0)),
    "of a list turned": lambda x: taken_before_a_write(x, ~(x > 0).tolist()[0][0]),
    "sum": lambda x: taken_before_a_write(x, np.sum(x > 0) - 5),
    "method": lambda x: taken_before_a_write(x, (x > 0).sum() - 5),
    "builtin": lambda x: taken_before_a_write(x, sum(x[0] > 0) - 1),
    "count": lambda x: taken_before_a_write(x, np.count_nonzero(x > 0) - 5),
    "running": lambda x: taken_before_a_write(x, np.cumsum(x > 0)[0]),
    "product": lambda x: taken_before_a_write(x, np.prod(x > 0)),
    "times": lambda x: taken_before_a_write(x, (x[0, 0] > 0) * 1),
    "multiply": lambda x: taken_before_a_write(x, np.multiply(x[0, 0] > 0, 1)),
    "or": lambda x: taken_before_a_write(x, (x[0, 0] > 0) | 1),
    "bitwise": lambda x: taken_before_a_write(x, np.bitwise_or(x[0, 0] > 0, 1)),
    "reduced": lambda x: taken_before_a_write(x, np.add.reduce(x > 0)[0] - 1),
    "maximum": lambda x: taken_before_a_write(x, np.maximum(x[0, 0] > 0, 0)),
    "converted": lambda x: taken_before_a_write(x, (x > 0).astype(int)[0, 0]),
    "number converted": lambda x: taken_before_a_write(x, (x[0, 0] > 0).astype(int)),
    "viewed": lambda x: taken_before_a_write(x, np.array([x[0, 0] > 0, True]).view(np.int8)[0]),
    "chosen": lambda x: taken_before_a_write(x, np.where(x > 0, 1, 0)[0, 0]),
    "matrix": lambda x: taken_before_a_write(x, (x[0] > 0).dot(np.array([1, 0]))),
    "objects": lambda x: taken_before_a_write(x, np.not_equal(x[0, 0], 0, dtype=object)),
}
UNSURE = [_first_a_mask, _else_an_integer, _added_in_place, *INDICES.values()]


@pytest.mark.parametrize("f", UNSURE, ids=["first a mask", "else", "in place", *INDICES])
def test_what_is_made_of_a_mask_is_none(f: Callable[[Any], Any]) -> None:
    """Integers give views, into which a later write is seen: it may be refused, but never taken for a copy."""
    try:
        found = grad(f)(X_2)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (X_2,), 0), rtol=1e-8)
