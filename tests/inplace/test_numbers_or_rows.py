"""Items that are read or changed at once, where types do not say whether each is a number or a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UndefinedDerivativeError
from tests.language.support import from_file
from tests.oracle import numeric_gradient


def swapped_rows(a: Any) -> Any:
    a[0], a[1] = a[1], a[0]
    return np.sum(a[:, 0])


def first_with_second(a: Any) -> Any:
    s = a[0]
    t = s
    s += a[1]
    return np.sum(s * t)


def augmented_item(a: Any) -> Any:
    views = [a[:2], a[1:3]]
    views[1] *= 3.0
    return np.sum(a * a)


def test_rows_that_change_places() -> None:
    # Both are views: the second assignment reads what the first has written.
    got = grad(swapped_rows)(np.arange(9.0).reshape(3, 3))
    np.testing.assert_array_equal(got, [[0, 0, 0], [2, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(grad(augmented_item)(np.ones(3)), [2, 18, 18])


@pytest.mark.parametrize("f", [swapped_rows, augmented_item])
def test_a_general_text_does_not_take_rows_for_numbers(f: Any) -> None:
    rows = np.arange(9.0).reshape(3, 3)
    general = from_file(grad(f).source)
    np.testing.assert_array_equal(general(rows), grad(f)(rows))


def test_a_general_text_does_not_take_numbers_for_rows() -> None:
    general, rows = from_file(grad(first_with_second).source), np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(general(rows.copy()), numeric_gradient(first_with_second, (rows,)), atol=1e-9)
    with pytest.raises(UndefinedDerivativeError, match="types do not say whether it is an array"):
        general(np.ones(3))
