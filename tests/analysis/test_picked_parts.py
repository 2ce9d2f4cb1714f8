"""The sizes of parts of an array that are picked by numbers, slices and rows of positions, against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad.analysis.evaluate import evaluate
from tests.ops.claims import INDEX, Operands, Point, function_form, wrong_claims

WHOLE = np.arange(60.0).reshape(4, 5, 3)
ROW, OTHER, MASK = np.array([0, 2]), np.array([1, 0]), np.array([True, False, True, False])
PARTS: list[Any] = [ROW, OTHER, [0, 1], 1, -1, slice(None), slice(1, None), MASK, None, Ellipsis, np.array([[0], [1]])]
COLUMN, PLANE = np.array([[0], [1], [2]]), np.array([[0, 1], [2, 0]])


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


def test_positions_with_several_axes() -> None:
    wrong = []
    for index in itertools.product([ROW, COLUMN, PLANE, [0, 1], 1, slice(1, None), MASK[:3]], repeat=3):
        wrong += wrong_claims(INDEX, Point((WHOLE[:3, :3], index)))
    for index in (PLANE, (PLANE, PLANE), PLANE > 0, (PLANE > 0, ROW), np.ix_([0, 1], ROW), np.ix_(MASK, [1, 0], [2])):
        wrong += wrong_claims(INDEX, Point((WHOLE[:2, :2] if isinstance(index, np.ndarray) else WHOLE, index)))
    assert not wrong


@pytest.mark.parametrize("rows", [([0, 2], ROW), (ROW, [1, 2, 3], OTHER), (MASK, [True, False]), ([0], MASK), (ROW,)])
def test_the_sizes_of_open_meshes(rows: Any) -> None:
    operands = Operands()
    call = function_form(np.ix_).call(tuple(map(operands, rows)), ())
    assert not wrong_claims(function_form(np.ix_), Point(rows))
    known = evaluate(call, operands.of, {})
    assert known.items is not None
    for (_, fact), row in zip(known.items, np.ix_(*rows), strict=True):
        assert (fact.kind, fact.ndim, fact.boolean) == ("array", row.ndim, False)
        if fact.dims is not None:
            assert tuple(map(operands.size, fact.dims)) == row.shape
    sure = [f.dims is not None for _, f in known.items]
    assert sure == [not any(isinstance(x, (bool, np.bool_)) for x in row) for row in rows]


AROUND: list[Any] = [(slice(1, 3), ROW), (ROW, slice(None), 1), COLUMN, (ROW, COLUMN), (COLUMN, 1), np.ix_([0, 2], ROW)]


@pytest.mark.parametrize("index", [ROW, (1, ROW), (ROW, 1), (ROW, OTHER), *AROUND])
def test_the_sizes_of_what_is_picked_are_known(index: Any) -> None:
    operands = Operands()
    call = INDEX.call((operands(WHOLE), operands(index)), ())
    dims = evaluate(call, operands.of, {}).dims
    assert dims is not None
    assert tuple(map(operands.size, dims)) == WHOLE[index].shape
