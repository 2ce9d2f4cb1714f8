"""Constants of NumPy's integers, booleans and short floats: the adjoint is of floats all the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from s2sad import grad, vjp
from s2sad.errors import ArgumentError, UndefinedDerivativeError
from tests.language.support import Case, case, check_gradient

V = np.array([1.3, 2.6, 0.4])
WEIGHTS = {
    "int64": np.array([1, 2, 3]),
    "int32": np.array([50000, 100000, 3], np.int32),
    "uint8": np.array([200, 100, 1], np.uint8),
    "int8": np.array([-128, 100, 1], np.int8),
    "bool": np.array([True, False, True]),
    "float16": np.array([300.0, 0.1, 2.0], np.float16),
    "float32": np.array([3e5, 0.1, 2.0], np.float32),
}


def item_first(x: Any, k: Any) -> Any:
    s = x[0] * x[1]
    return s + np.sum(x * k)


def item_and_dot(x: Any, k: Any) -> Any:
    y = np.sin(x)
    w = y[0] * 0.3
    return w + np.dot(y, k) + k @ (x + 1)


def slice_first(x: Any, k: Any) -> Any:
    s = x[:1] * x[1:2]
    return s[0] + np.sum(x * k)


def over_items(x: Any, k: Any) -> Any:
    r = 0.0
    for v in x:
        r += v * v * 0.5
    return r + np.sum(k * x)


def negative(x: Any, k: Any) -> Any:
    return -np.sum(x * k)


def twice(x: Any, k: Any) -> Any:
    return np.sum(x * k) + np.sum(x * k)


def squared(x: Any, k: Any) -> Any:
    y = x * k
    return np.sum(y * k) * 1e-6


def difference(x: Any, k: Any) -> Any:
    return np.sum(k - x) - np.sum(-(k - x) * k)


def logistic(x: Any, k: Any) -> Any:
    return np.sum(np.logaddexp(0, x) - k * x)


def quotient(x: Any, k: Any) -> Any:
    return np.sum(x / (k + 1.5)) + np.sum((k + 2.0) / x)


def angle(x: Any, k: Any) -> Any:
    return np.sum(np.arctan2(k, x)) + math.atan2(k[0], x[0])


def hypotenuse(x: Any, k: Any) -> Any:
    return np.sum(np.hypot(k, x)) * 1e-4


def of_items(x: Any, k: Any) -> Any:
    s = x[0] * k[0] + x[0] * k[2]
    return s * 1e-3


def outer(x: Any, k: Any) -> Any:
    return np.sum(np.outer(x, k)) + np.sum(np.inner(k, x))


def selected(x: Any, k: Any) -> Any:
    return np.where(x > 2, x, -x) @ k


def written(x: Any, k: Any) -> Any:
    a = np.zeros(3)
    a[:] = k
    a *= x
    a += k * x[0]
    return np.sum(a * k) * 1e-4


def filled_by_rows(x: Any, k: Any) -> Any:
    a = np.empty((2, 3))
    a[0] = x * k
    a[1] = x
    return np.sum(a[0]) + np.sum(a[1] * k)


FUNCTIONS = [
    *(item_first, item_and_dot, slice_first, over_items, negative, twice, squared, difference, logistic, quotient),
    *(angle, hypotenuse, of_items, outer, selected, written, filled_by_rows),
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", WEIGHTS)
def test_constants_of_any_dtype(f: Any, dtype: str) -> None:
    if dtype == "bool" and f is difference:
        pytest.skip("NumPy has no difference of booleans")
    k = WEIGHTS[dtype]
    computed, exact = grad(f)(V, k), grad(f)(V, k.astype(float))
    np.testing.assert_allclose(computed, exact, rtol=2e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("c", [case(f, V, WEIGHTS["int64"], wrt=0) for f in FUNCTIONS], ids=str)
def test_integers_against_differences(c: Case) -> None:
    check_gradient(c)


def masks(x: Any) -> Any:
    return np.sum(x * (x > 0)) + np.sum(x * (x > 1)) - np.sum((x > 2) * x * x)


def a_mask_and_an_item(x: Any) -> Any:
    mask = x > 1
    return np.sum(x * mask) + 0.5 * x[1] * x[0]


def rounded(x: Any) -> Any:
    return np.sum(np.round(x).astype(int) * x) + x[0] * 0.5


def flags(x: Any) -> Any:
    b = x[0] > x[2]
    return x[1] * b + x[1] * b


def powers_of_a_byte(x: Any) -> Any:
    k = np.array([2, 3, 4], np.uint8)
    return np.sum(k**x) + np.sum(np.power(k, x)) + math.pow(k[0], x[0]) + np.sum(x ** np.array([0, 1, 2], np.uint8))


def interpolated(x: Any) -> Any:
    return np.interp(1.3 * x[0], np.array([0, 1, 3]), np.array([10, 200, 100], np.uint8))


def absolute_first(z: Any) -> Any:
    s = np.abs(z[0])
    return s + np.sum(z.real)


def part_first(z: Any) -> Any:
    s = z[1].imag
    return np.sum(z.real**2) * s


MASKED = [masks, a_mask_and_an_item, rounded, flags, powers_of_a_byte, interpolated]


@pytest.mark.parametrize("c", [case(f, V) for f in MASKED], ids=str)
def test_masks_and_the_like(c: Case) -> None:
    check_gradient(c)


def test_a_complex_adjoint_whose_first_part_is_real() -> None:
    np.testing.assert_allclose(grad(absolute_first)(1j * np.ones(3)), [1 - 1j, 1, 1])
    np.testing.assert_allclose(grad(part_first)(np.array([1 + 2j, 3 + 4j])), [8, 24 - 10j])


def augmented_after_a_store(x: Any) -> Any:
    a = np.zeros(3)
    a[:] = x
    a += x
    return np.sum(a * a)


def augmented_after_an_element(x: Any) -> Any:
    a = np.zeros(3)
    a[0] = 2 * x[0]
    y = np.sin(x)
    a += y
    a[1] *= a[0]
    a += x
    return np.sum(a * a)


@pytest.mark.parametrize("c", [case(f, V) for f in (augmented_after_a_store, augmented_after_an_element)], ids=str)
def test_what_is_added_to_a_whole_array_is_read_before_the_shadow_changes(c: Case) -> None:
    check_gradient(c)


def filled_with_an_integer(x: Any) -> Any:
    y = np.full(3, 0)
    for i in range(3):
        y[i] = x[i]
    return np.sum(y * x)


def in_a_dict(x: Any) -> Any:
    d = {"n": np.zeros(3, int)}
    d["n"][0] = x[0]
    return np.sum(d["n"] * x)


def in_a_list(x: Any) -> Any:
    arrays = [np.zeros(3, int), np.zeros(3)]
    arrays[1][:] = x
    arrays[0][:] = x
    return np.sum(arrays[0] * arrays[1])


@pytest.mark.parametrize("f", [filled_with_an_integer, in_a_dict, in_a_list])
def test_floats_written_into_integers_are_refused(f: Any) -> None:
    with pytest.raises(UndefinedDerivativeError, match="written into an array of dtype int"):
        grad(f)(V)


def as_complex(x: Any) -> Any:
    y = np.asarray(x, dtype=complex)
    y[0] = 1j * x[1]
    y *= 1 + 1j
    return np.sum(np.abs(y) ** 2)


def of_a_list(p: Any) -> Any:
    y = np.asarray(p)
    y[0] = y[1] * 2.0
    return np.sum(y * y)


@pytest.mark.parametrize("c", [case(as_complex, V), case(of_a_list, [1.0, 2.0])], ids=str)
def test_asarray_that_copies(c: Case) -> None:
    check_gradient(c)


def half_of_the_first(x: Any) -> Any:
    y = x[0] * 0.5
    return x + y


def test_adjoints_given_as_integers_or_lists() -> None:
    _, pullback = vjp(half_of_the_first, V)
    for ones in (np.ones(3), np.ones(3, int), np.ones(3, bool), [1, 1, 1]):
        np.testing.assert_array_equal(pullback(ones)[0], [2.5, 1.0, 1.0])
    with pytest.raises(ArgumentError, match="complex"):
        pullback(1j * np.ones(3))
