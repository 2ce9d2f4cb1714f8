"""The sizes of parts of an array that are picked by numbers, slices and rows of positions, against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad.analysis.evaluate import evaluate
from tests.ops.claims import INDEX, Operands, Point, wrong_claims

WHOLE = np.arange(60.0).reshape(4, 5, 3)
ROW, OTHER, MASK = np.array([0, 2]), np.array([1, 0]), np.array([True, False, True, False])
PARTS: list[Any] = [ROW, OTHER, [0, 1], 1, -1, slice(None), slice(1, None), MASK, None, Ellipsis, np.array([[0], [1]])]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_index_gives_what_is_not_claimed(count: int) -> None:
    """Numbers and rows that stand apart put their axis in front."""
    wrong = []
    for index in itertools.product(PARTS, repeat=count):
        wrong += wrong_claims(INDEX, Point((WHOLE, index if count > 1 else index[0])))
    assert not wrong


def test_axes_in_front_of_numbers_that_stand_apart() -> None:
    whole = np.arange(360.0).reshape(6, 4, 5, 3)
    wrong = []
    for index in itertools.product([ROW, 1, slice(None), slice(1, None)], repeat=4):
        wrong += wrong_claims(INDEX, Point((whole, index)))
    assert not wrong


@pytest.mark.parametrize("index", [ROW, (1, ROW), (ROW, 1), (ROW, OTHER), (slice(1, 3), ROW), (ROW, slice(None), 1)])
def test_the_sizes_of_what_is_picked_are_known(index: Any) -> None:
    operands = Operands()
    call = INDEX.call((operands(WHOLE), operands(index)), ())
    dims = evaluate(call, operands.of, {}).dims
    assert dims is not None
    assert tuple(map(operands.size, dims)) == WHOLE[index].shape
