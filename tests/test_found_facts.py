"""Defects of what was believed about values: keys, booleans, complex powers, sizes of the iteration before."""

# ruff: noqa: F841 (a variable that is read in the next iteration)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UndefinedDerivativeError
from tests.language.support import Case, case, check_gradient
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.3, 0.4])
W = np.arange(6.0).reshape(2, 3) + 0.5


def keys(x: Any) -> Any:
    d = {0: x[0], 1: x[1]}
    s = 0.0
    for k in d:
        s = s + d[k] * k
    return s


def keys_of_the_argument(d: Any) -> Any:
    s = 0.0
    for k in d:
        s = s + d[k] * k
    return s


def keys_and_values(d: Any) -> Any:
    s = 0.0
    for k, v in d.items():
        s = s + np.sum(v) * k
    return s


def keys_counted(x: Any) -> Any:
    d = {}
    for i in range(3):
        d[i] = x * i
    s = 0.0
    for i, k in enumerate(d):
        s = s + np.sum(d[k] ** 2) * k * i
    return s


def keys_beside_values(x: Any) -> Any:
    d = {5: x[0], 7: x[1]}
    s = 0.0
    for k, v in zip(d, x):  # noqa: B905
        s = s + d[k] * k * v
    return s


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


def size_of_the_iteration_before(x: Any) -> Any:
    s = 0.0
    for i in range(1, 4):
        if i > 1:
            a = np.ones((m, 3)) * x  # type: ignore[has-type]  # noqa: F821
            c = np.concatenate([a, a + np.ones((i, 3))]) if i == 2 else a
            z = np.exp(x * np.ones(m))  # type: ignore[has-type]  # noqa: F821
            s = s + np.sum(c) + np.sum(np.outer(z + np.arange(m), z))  # type: ignore[has-type]  # noqa: F821
        m = i
    return s


def sum_from_a_complex_number(x: Any) -> Any:
    q = sum([x, 2.0 * x], 1j)
    return abs(q * q * x)


def product_of_numbers(x: Any) -> Any:
    return math.prod([x, 2.0 * x, 3.0]) + abs(math.prod([x, x + 1j]))


def grown_if_a_number(w: Any, v: Any, flag: Any) -> Any:
    y = w * v[0] if flag else w * v
    y = y * 2.0
    y += v
    return np.sum(y * y)


def reduced_along(x: Any, v: Any, axis: Any) -> Any:
    y = np.sum(x, axis=axis)
    y += v
    return np.sum(y * y)


def shaped_by_a_variable(x: Any, y: Any) -> Any:
    m = -1
    return np.sum(x.reshape(m, 3) * y.reshape(m, 3))


def root(x: Any) -> Any:
    return abs(x**0.5 + 1.0)


CASES = [
    *[case(f, X) for f in (keys, keys_counted, keys_beside_values, chosen_by_a_comparison, written_by_a_boolean)],
    *[case(keys_of_the_argument, d, name=f"keys_{min(d)}") for d in ({0: 0.3, 1: 0.5}, {5: 0.3, 7: 0.5})],
    *[case(f, X) for f in BOOLEANS],
    case(keys_and_values, {0: 0.3, 1: 0.5}),
    case(chosen_by_a_boolean, X, True, wrt=0),
    case(chosen_by_a_boolean, X, np.True_, wrt=0, name="chosen_by_a_boolean_of_numpy"),
    case(chosen_by_a_boolean, X, 1, wrt=0, name="chosen_by_an_integer"),
    case(chosen_by_a_function, X, 2.0),
    *[case(f, 0.7) for f in (size_of_the_iteration_before, sum_from_a_complex_number, product_of_numbers, root)],
    *[case(grown_if_a_number, 0.5, X, flag, wrt=(0, 1), name=f"grown_if_{flag}") for flag in (True, False)],
    case(reduced_along, X, 2.0 * X, 0, wrt=(0, 1)),
    case(reduced_along, W, 2.0 * X, 0, wrt=(0, 1), name="reduced_along_rows"),
    case(shaped_by_a_variable, X, W.ravel()),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def test_one_function_for_booleans_and_integers() -> None:
    df = grad(chosen_by_a_boolean)
    for flag in (1, True, 2, np.True_):
        expected = numeric_gradient(lambda x, i=flag: chosen_by_a_boolean(x, i), (X,), 0)
        np.testing.assert_allclose(df(X, flag), expected, rtol=1e-8, atol=1e-12)


def power_of_two(x: Any, y: Any) -> Any:
    return abs(x**y)


def test_a_power_that_turns_complex_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match=r":\d+:\d+: error: .* is complex here"):
        grad(root)(-2.0)
    with pytest.raises(UndefinedDerivativeError, match="is complex here"):
        grad(power_of_two, (0, 1))(-2.0, 1.5)
    with pytest.raises(UndefinedDerivativeError, match="is complex here"):
        grad(lambda x: abs(pow(x, 0.5)))(-2.0)
    assert grad(root)(-2.0 + 0j).real == pytest.approx(-0.28867513459, rel=1e-8)


def test_products_of_arrays_are_refused() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(math.prod([x, y]))

    with pytest.raises(UndefinedDerivativeError, match=r"math.prod of arrays"):
        grad(f)(X, X)


def oscillating(x: float) -> Any:
    return abs(np.exp(1j * x) + x)


def complex_power(x: Any) -> Any:
    return np.sum(np.abs((x + 1j) ** (2 + 1j)))


@pytest.mark.parametrize(("f", "x"), [(oscillating, 0.3), (complex_power, X)])
def test_texts_give_real_gradients_of_real_arguments(f: Callable[[Any], Any], x: Any) -> None:
    for text in (grad(f).source, grad(f).source_for(x)):
        space: dict[str, Any] = {}
        exec(text, space)
        gradient = space[f"{f.__name__}_grad_x"](x)
        assert not np.iscomplexobj(gradient)
        np.testing.assert_allclose(gradient, grad(f)(x), rtol=1e-13)
