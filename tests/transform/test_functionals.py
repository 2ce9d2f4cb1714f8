"""NumPy's functions of functions and its objects that are called: values are NumPy's own, gradients agree with
differences."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient

M = np.array([[0.37, 1.45, 0.92, 2.11], [1.73, 0.28, 1.19, 0.66], [0.51, 2.43, 1.87, 0.79]])
W = np.cos(np.arange(12.0)).reshape(3, 4)
CALLS: list[int] = []

square = np.vectorize(lambda a: a * a)
typed = np.vectorize(lambda a: 1 if a < 0.3 else a, otypes=[float])
whole = np.vectorize(lambda a: 1 if a < 0.4 else a)


@np.vectorize
def leaky(a: Any) -> Any:
    if a > 1:
        return a
    return 0.1 * a


def noted(a: Any) -> Any:
    CALLS.append(1)
    return a * a


# --- element by element


def of_module(x: Any) -> Any:
    return np.sum(square(x) * W)


def decorated(x: Any) -> Any:
    return np.sum(leaky(x) * W)


def with_types(x: Any) -> Any:
    return np.sum(typed(x) * W)


def with_types_inside(x: Any) -> Any:
    return np.sum(np.vectorize(lambda a: 2 if a < 0.3 else a * a, otypes="d")(x) * W)


def truncated(x: Any) -> Any:
    """The first result is an integer, so that all are."""
    return np.sum(whole(x) * W)


def with_effects(x: Any) -> Any:
    return np.sum(np.vectorize(noted)(x) * W)


def capturing(x: Any) -> Any:
    k = x[0, 0]
    return np.sum(np.vectorize(lambda a: a * k)(x) * W)


def of_two(x: Any) -> Any:
    return np.sum(np.vectorize(math.atan2)(x, 2.0) * W)


def of_three(x: Any) -> Any:
    f = np.vectorize(lambda a, b, c: a * b + c)
    return np.sum(f(x, x[0], x[:, :1]) * W)


def of_four(x: Any) -> Any:
    f = np.vectorize(lambda a, b, c, d=2.0: a * b + c * d if a > 0.5 else a - d)
    return np.sum(f(x, x[0], 3.0, x[:, :1]) * W) + np.sum(f(x, 2.0, c=x[0]))


def of_four_by_names(x: Any) -> Any:
    f = np.vectorize(lambda a, b, c, d: a * b / c**d, otypes=[float])
    return np.sum(f(x, d=2, c=x[0], b=0.5) * W)


def horner(p: Any, x: Any, s: Any = 1.0) -> Any:
    r = 0.0
    for c in p:
        r = r * x + c
    return r * s


horner_at = np.vectorize(horner, excluded=["p"])


def excluding(x: Any) -> Any:
    return np.sum(horner_at(p=x[0], x=x) * W) + np.sum(np.vectorize(horner, excluded={0})(x[0], x[1], x[:, :1]))


def excluding_with_types(x: Any) -> Any:
    f = np.vectorize(lambda p, a: np.sum(p * a), excluded=[0], otypes="d")
    return np.sum(f(x[0], x) * W) + np.sum(f(x, 2.0))


def of_a_number(x: Any) -> Any:
    return np.vectorize(lambda a: a * a)(x[0, 1]) * 2.0


def in_a_variable(x: Any) -> Any:
    def inner(a: Any, b: Any = 3.0) -> Any:
        return a * b

    f = np.vectorize(inner)
    return np.sum(f(x) * f(x, x[0]))


def by_signature(x: Any) -> Any:
    norms = np.vectorize(lambda r: np.sum(r * r), signature="(n)->()")
    dots = np.vectorize(lambda r, s: np.dot(r, s), signature="(n), (n) -> ()")
    return np.sum(norms(x) * dots(x, x[0]))


# --- along axes


def along(x: Any) -> Any:
    return np.sum(np.apply_along_axis(lambda r: r / np.sum(r), 0, x) * W)


def along_with_further(x: Any) -> Any:
    k = x[0, 0]
    return np.sum(np.apply_along_axis(lambda r, p: np.sum(r**p) * k, -1, x, p=3) * W[:, 0])


def along_to_matrices(x: Any) -> Any:
    return np.sum(np.apply_along_axis(np.outer, 1, x, np.array([1.0, 2.0])) * 0.3)


def along_function_of_numpy(x: Any) -> Any:
    return np.sum(np.apply_along_axis(np.median, 1, x) * W[:, 0])


def along_to_lists(x: Any) -> Any:
    return np.sum(np.apply_along_axis(sorted, 0, x) * W)


def over(x: Any) -> Any:
    return np.sum(np.apply_over_axes(np.sum, x, [0, -1]) * 2.0) + np.sum(np.apply_over_axes(np.max, x, 1) * W[:, :1])


# --- pieces and grids


def pieces(x: Any) -> Any:
    return np.sum(np.piecewise(x, [x < 0.5, x < 1], [lambda u: u**2, 0.5, lambda u: 3 * u]) * W)


def pieces_of_functions(x: Any) -> Any:
    k = x[0, 0]
    return np.sum(np.piecewise(x, [x < 1, x >= 1], [lambda u: u * k, np.exp]) * W)


def pieces_with_further(x: Any) -> Any:
    return np.sum(np.piecewise(x, [x < 1], [lambda u, s: u * s, lambda u, s: u - s], 2.0) * W)


def piece_of_a_number(x: Any) -> Any:
    a = x[0, 0]
    return np.piecewise(a, [a < 1, a >= 1], [lambda u: u * u, 1.0]) * 2.0


def pieces_of_computed_numbers(x: Any) -> Any:
    sill, nugget = float(x[0, 0]), float(x[0, 1])
    width = math.sqrt(sill * sill + 1.0)
    return np.sum(np.piecewise(x, [x < width, x >= width], [lambda u: sill * u**2 + nugget, sill + nugget]) * W)


def pieces_nowhere(x: Any) -> Any:
    return np.sum(np.piecewise(x, [x > 99], [lambda u: u * u, 0.0]) * W)


def one_condition(x: Any) -> Any:
    return np.sum(np.piecewise(x[0], x[0] < 1, [lambda u: u * u, lambda u: 2 * u]) * W[0])


def grid(x: Any) -> Any:
    return np.sum(np.fromfunction(lambda i, j: np.exp(-i * x[0, 0]) * j, (3, 4)) * W)


def whole_grid(x: Any) -> Any:
    return np.sum(np.fromfunction(lambda i: x[0] * i, (4,), dtype=int))


def iterated(x: Any) -> Any:
    return np.sum(np.fromiter((a * b for a, b in zip(x[0], x[1], strict=True)), float) * W[0])


# --- polynomials as objects


def power_series(x: Any) -> Any:
    p = np.poly1d(x[0])
    return p(0.5) * p(x[1, 1])


def orthogonal_series(x: Any) -> Any:
    p, q = np.polynomial.Legendre(x[0]), np.polynomial.Hermite([1.0, 0.5, 2.0])
    return np.sum(p(x[1]) * q(x[2]))


def series_of_changed(x: Any) -> Any:
    p = np.polynomial.Polynomial(x[0])
    x[0] *= 2
    return p(0.5) * x[0, 0]


def without_zeros(x: Any) -> Any:
    row = np.concatenate((np.zeros(2), x[0], np.zeros(1)))
    return np.sum(np.trim_zeros(row) * W[0]) + np.sum(np.trim_zeros(row, "b")[2:] * W[1])


# --- loops and sorting


def numbered(x: Any) -> Any:
    total = 0.0
    for (i, j), a in np.ndenumerate(x):
        total += (i + 2 * j) * a * a
    return total


def numbered_stores(x: Any) -> Any:
    y = np.zeros_like(x)
    for place, a in np.ndenumerate(x):
        y[place] = a * a
    return np.sum(y * W)


def numbered_in_a_sum(x: Any) -> Any:
    return sum(a * a * (k[0] + 1) for k, a in np.ndenumerate(x))


def keys(x: Any) -> Any:
    return max(x[0], key=lambda a: -a) * 2 + min([x[0, 0], x[1, 1]], key=abs, default=3.0)


def in_order(x: Any) -> Any:
    return sorted(x[0])[1] + 3 * sorted([x[0, 0], x[0, 1], x[2, 1]], reverse=True)[0]


def operators(x: Any) -> Any:
    return np.sum(operator.mul(x, operator.neg(W)))


PROGRAMS = [
    of_module, decorated, with_types, with_types_inside, with_effects, capturing, of_two, of_three, of_four,
    of_four_by_names, excluding, excluding_with_types, of_a_number,
    in_a_variable, by_signature, along, along_with_further, along_to_matrices, along_function_of_numpy, along_to_lists,
    over, pieces, pieces_of_functions, pieces_with_further, piece_of_a_number,
    pieces_of_computed_numbers, pieces_nowhere, one_condition, grid,
    whole_grid, iterated, power_series, orthogonal_series, series_of_changed, without_zeros, numbered, numbered_stores,
    numbered_in_a_sum, keys, in_order, operators,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_value_and_gradient(f: Callable[..., Any]) -> None:
    CALLS.clear()
    expected = f(M.copy())
    number = len(CALLS)
    CALLS.clear()
    value, gradient = value_and_grad(f)(M.copy())
    assert len(CALLS) == number
    assert value == expected
    assert type(value) is type(expected)
    np.testing.assert_allclose(gradient, numeric_gradient(lambda x: f(x.copy()), [M]), rtol=0, atol=1e-7)


def test_results_are_converted_to_the_dtype_of_the_first() -> None:
    value, gradient = value_and_grad(truncated)(M.copy())
    assert value == truncated(M)
    assert not gradient.any()


def test_results_of_single_precision() -> None:
    x = M.astype(np.float32)
    for f in (of_module, along, pieces):
        assert grad(f)(x.copy()).dtype == np.float32


def test_nothing_at_all() -> None:
    def empty(x: Any) -> Any:
        return np.sum(np.vectorize(lambda a: a * a)(x[:0]))

    def empty_slices(x: Any) -> Any:
        return np.sum(np.apply_along_axis(np.sum, 1, x[:0]))

    for f in (empty, empty_slices):
        with pytest.raises(ValueError, match=r"^c|^C") as expected:
            f(M)
        with pytest.raises(ValueError, match=r"^c|^C") as found:
            grad(f)(M)
        assert str(found.value) == str(expected.value)


def test_a_vectorized_function_that_changes_is_noticed() -> None:
    factor = np.vectorize(lambda a: 2 * a)

    def f(x: Any) -> Any:
        return np.sum(factor(x))

    df = grad(f)
    assert df(M)[0, 0] == 2
    factor.pyfunc = lambda a: 3 * a
    assert df(M)[0, 0] == 3


def several(x: Any) -> Any:
    return np.sum(np.vectorize(lambda a: (a, 2 * a))(x)[0])


def wrapped(x: Any) -> Any:
    return np.sum(np.frompyfunc(lambda a: a * a, 1, 1)(x).astype(float))


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (several, UndefinedDerivativeError),
        (wrapped, UnsupportedError),
    ],
)
def test_refused(f: Callable[..., Any], error: type[S2SADError]) -> None:
    with pytest.raises(error):
        grad(f)(M)
