"""Arrays in other orders of memory than that of rows: copies, shadows and results have the layout that NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient


def _flattened(w: Any) -> Any:
    b = w.reshape(-1)
    b[1] *= 2.0
    return np.mean(b * w.ravel())


def reshaped_by_a_callee(y: Any) -> Any:
    """The copy of an argument and its shadow have its layout, so that a reshape views or copies all three alike."""
    y[0] = y[1] ** 2
    return _flattened(y) + np.sum(y**2)


def reshaped_here(y: Any) -> Any:
    """Whether ``b`` is a view depends on the layout of the caller's array."""
    y[0] = y[1] ** 2
    b = y.reshape(-1)
    b[1] *= 2.0
    return np.sum(y * y) + b[1]


def reshaped_in_fortran_order(y: Any) -> Any:
    """``np.zeros(..., order="F")`` has a shadow in that order."""
    a = np.zeros((3, 4), order="F")
    a[...] = y
    b = a.reshape(-1)
    b[1] *= 3.0
    return np.sum(a * a) + b[1]


def _of_a_transpose(w: Any) -> Any:
    w[0] = 0.3
    return np.mean(w.T.reshape(3, 4))


def copied_shadow_in_a_pair(y: Any) -> Any:
    """What a callee copies of a shadow is zeros, whatever the caller has in it by the time of the reverse part."""
    total = 0.0
    for _ in range(2):
        total = _of_a_transpose(y)
    return total + np.sum(y)


def flattened_as_it_lies(y: Any) -> Any:
    """What is written later is not copied for its layout, which the copy would not have."""
    b = y.T.flatten("A")
    y[0, 0] = 3.0 * b[1]
    return np.sum(b * b * np.arange(12.0)) + np.sum(y * y)


def flattened_in_a_loop(y: Any) -> Any:
    total = 0.0
    for k in range(2):
        y = y.T * 1.5
        b = (y * y).flatten("K")
        y[0, 0] = b[1] * y[1, k]
        total += np.sum(b * np.arange(12.0))
    return total + np.sum(y * y)


def raveled_as_it_lies(y: Any) -> Any:
    b = y.ravel("A")
    y[0, 0] = 3.0 * b[1]
    return np.sum(b * b * np.arange(12.0)) + np.sum(y * y)


MATRIX = np.linspace(-1.0, 1.3, 12).reshape(3, 4)


@pytest.mark.parametrize(
    "f",
    [
        *(reshaped_by_a_callee, reshaped_here, reshaped_in_fortran_order, copied_shadow_in_a_pair),
        *(flattened_as_it_lies, flattened_in_a_loop, raveled_as_it_lies),
    ],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize(
    "y",
    [
        *(MATRIX, np.asfortranarray(MATRIX), MATRIX[::-1], np.repeat(MATRIX, 2, axis=1)[:, ::2]),
        np.asfortranarray(np.repeat(MATRIX, 2, axis=0))[::2],
    ],
    ids=["C", "F", "reversed", "strided", "strided F"],
)
def test_layouts(f: Callable[[Any], Any], y: Any) -> None:
    def copied(change: float = 0.0, place: tuple[int, ...] = (0, 0)) -> Any:
        """A copy with the strides of ``y``."""
        memory = np.empty(y.size * 4)
        start = memory.size // 2 * 8
        copy = np.ndarray(y.shape, y.dtype, memory, start, y.strides)
        copy[...] = y
        copy[place] += change
        return copy

    assert copied().strides == y.strides
    value, gradient = value_and_grad(f)(y)
    assert value == f(copied())
    for place in np.ndindex(y.shape):
        slope = (f(copied(1e-5, place)) - f(copied(-1e-5, place))) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-6), place


def written_in_columns(A: Any) -> Any:
    A[0] *= 0.1
    return np.sum(np.sin(A) * A)


def test_the_value_of_an_array_in_the_order_of_columns() -> None:
    """NumPy adds up in the order of memory: a copy that is laid out otherwise gives another last bit."""
    A = np.asfortranarray(np.random.default_rng(3).standard_normal((37, 23)))
    value, _ = value_and_grad(written_in_columns)(A)
    assert value == written_in_columns(A.copy(order="K"))


def product_of_rows(A: Any) -> Any:
    A += 1.0
    return A[0] @ A[1]


def product_with_a_part(A: Any) -> Any:
    B = A[1:]
    A[0] = 2.0 * B[0]
    return np.einsum("ij,ij->", B, B) + np.dot(A, A[0]) @ A[:, 1]


SQUARE = np.random.default_rng(4).standard_normal((31, 31))


@pytest.mark.parametrize("f", [product_of_rows, product_with_a_part])
@pytest.mark.parametrize(
    "made",
    [
        lambda: SQUARE.copy(),
        lambda: np.repeat(SQUARE, 2, axis=1)[:, ::2],
        lambda: SQUARE.copy()[::-1, ::-1],
        lambda: np.repeat(SQUARE.T, 3, axis=0)[::3].T,
    ],
    ids=["dense", "gaps", "reversed", "gaps in columns"],
)
def test_the_value_of_an_array_with_gaps(f: Callable[[Any], Any], made: Callable[[], Any]) -> None:
    """Products add up in another order where rows are dense: a dense copy of another array gives another last bit."""
    derivative = value_and_grad(f)
    derivative(SQUARE.copy())
    for _ in range(2):
        assert derivative(made())[0] == f(made())
    assert jvp(f, (made(),), (np.ones((31, 31)),))[0] == f(made())
    assert derivative(SQUARE.copy())[0] == f(SQUARE.copy())


class Holder:
    def __init__(self, A: Any) -> None:
        self.A = A


def held_by_an_object(h: Any, x: Any) -> Any:
    v = h.A.ravel()
    v *= x[0]
    h.A[0] += v[1] * x
    return np.sum(h.A * v.reshape(2, 2))


@pytest.mark.parametrize(
    "made",
    [
        lambda: MATRIX[:2, :2].copy(),
        lambda: np.asfortranarray(MATRIX[:2, :2]),
        lambda: MATRIX.copy()[:2, :2],
        lambda: MATRIX[:2, :2].copy()[::-1],
    ],
    ids=["C", "F", "gaps", "reversed"],
)
def test_an_attribute_that_is_written_through_a_view_or_copy(made: Callable[[], Any]) -> None:
    x = np.array([0.3, 0.7])
    value, slope = value_and_grad(held_by_an_object, argnums=1)(Holder(made()), x)
    assert value == held_by_an_object(Holder(made()), x)
    assert jvp(held_by_an_object, (Holder(made()), x), (None, x))[0] == value
    np.testing.assert_allclose(slope, numeric_gradient(lambda x: held_by_an_object(Holder(made()), x), [x]))


# --- results of functions that NumPy lays out


M = np.arange(6.0).reshape(2, 3) * 0.3 + 0.1


def laplacian(u: Any) -> Any:
    p = np.pad(u, 1, mode="edge")
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u


def of_the_transpose(im: Any) -> Any:
    return np.sum(laplacian(im.T) ** 2)


def padded(x: Any) -> Any:
    return np.sum(np.pad(x, 1, "reflect") ** 2)


def taken(x: Any) -> Any:
    return np.sum(np.take(x, np.array([[0, 3], [3, 5]])).T * np.arange(4.0).reshape(2, 2))


def taken_flat(x: Any) -> Any:
    return np.sum(np.take_along_axis(x, np.array([0, 3, 3]), None) * np.arange(3.0))


def raveled_by_columns(x: Any) -> Any:
    a = x * 1.0
    b = a.ravel("F")
    b[0] = 0.0
    return np.sum(b * np.arange(6.0)) + np.sum(a)


def raveled_by_columns_of_a_function(x: Any) -> Any:
    a = x * 1.0
    b = np.ravel(a, "F")
    a[0, 1] = 5.0
    return np.sum(b * np.arange(6.0)) + np.sum(a * a)


@pytest.mark.parametrize(
    "f",
    [of_the_transpose, padded, taken, taken_flat, raveled_by_columns, raveled_by_columns_of_a_function],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_order_of_memory(f: Callable[[Any], Any], order: Any) -> None:
    x = np.array(M, order=order)
    value, gradient = value_and_grad(f)(x)
    assert value == f(x.copy(order="K"))
    np.testing.assert_allclose(gradient, numeric_gradient(f, (x,), 0), rtol=1e-8, atol=1e-10)
