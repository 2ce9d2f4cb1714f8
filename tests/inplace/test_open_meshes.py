"""Augmented assignments to the rows and columns that ``np.ix_`` picks, as in the assembly of finite elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4, 0.5])
A = np.array([[0.1, -0.3, 0.6], [0.1, -0.5, 0.4], [1.3, 0.9, -0.7]])
MASK = np.array([True, False, True, True, False])


def assembled(x: Any, a: Any) -> Any:
    k = np.zeros((5, 5))
    for i in range(3):
        places = [i, i + 1, i + 2]
        k[np.ix_(places, places)] += (0.1 + x[i] ** 3.0) * a
    return np.sum(k[np.ix_([1, 2], places)] ** 2)


def with_repeated_places(x: Any, a: Any) -> Any:
    k = np.ones((5, 5))
    for i in range(3):
        places = [i, i, i + 2]
        k[np.ix_(places, places)] *= (0.1 + x[i] ** 3.0) * a
    return np.sum(k**2)


def by_masks(x: Any, a: Any) -> Any:
    k = np.ones((5, 5))
    k[np.ix_(MASK, [0, 1, 2])] -= np.sin(x) * a
    k[np.ix_(MASK, MASK)] *= np.sin(x) * a
    return np.sum(k**2)


@pytest.mark.parametrize("a", [A, A[:1], A[:, :1], A[0], 2.0, A[:1, :1]], ids=lambda a: str(np.shape(a)))
@pytest.mark.parametrize("f", [assembled, with_repeated_places, by_masks])
def test_right_however_the_value_is_broadcast(f: Callable[..., Any], a: Any) -> None:
    for position in (0, 1):
        expected = numeric_gradient(f, (X, a), position)
        np.testing.assert_allclose(grad(f, position)(X, a), expected, rtol=1e-7, atol=1e-9)
        direction = np.ones_like(expected)
        tangents = tuple(np.ones_like(x) if i == position else None for i, x in enumerate((X, np.asarray(a))))
        slope = jvp(f, (X, np.asarray(a)), tangents)[1]
        np.testing.assert_allclose(slope, np.sum(expected * direction), rtol=1e-7, atol=1e-9)


def test_what_is_picked_is_not_saved_for_its_shape() -> None:
    text = grad(assembled).source_for(X, A)
    assert "unbroadcast" not in text
    assert "own" not in text
    assert "np.real" not in text
