"""Arrays in other orders of memory than that of rows: copies, shadows and results have the layout that NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad


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


MATRIX = np.linspace(-1.0, 1.3, 12).reshape(3, 4)


@pytest.mark.parametrize(
    "f",
    [reshaped_by_a_callee, reshaped_here, reshaped_in_fortran_order, copied_shadow_in_a_pair],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize(
    "y",
    [MATRIX, np.asfortranarray(MATRIX), MATRIX[::-1], np.repeat(MATRIX, 2, axis=1)[:, ::2]],
    ids=["C", "F", "reversed", "strided"],
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
