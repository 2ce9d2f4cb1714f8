"""Results that are found before a ``finally`` runs, which then changes them: Python's value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.number_and_constants import MODES, check_as_python

RIGHT: list[Callable[..., Any]] = []


def right(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT.append(f)
    return f


def adds_afterwards(q: Any, items: list[Any]) -> Any:
    try:
        return q
    finally:
        items.append(q)


@right
def list_that_a_callee_changes_after_its_return(x: Any, k: Any, *_: Any) -> Any:
    items = [x, k]
    adds_afterwards(k, items)
    return sum(items)


def makes_and_adds(q: Any, k: Any) -> list[Any]:
    items = [q, k]
    try:
        return items
    finally:
        items.append(q)


@right
def list_that_changes_after_it_is_returned(x: Any, k: Any, *_: Any) -> Any:
    return sum(makes_and_adds(x, k))


def makes_and_adds_to_one_of_two(q: Any, k: Any) -> Any:
    items = [q, k]
    try:
        return k, items
    finally:
        items.append(q)


@right
def list_in_a_tuple_that_changes_after_it_is_returned(x: Any, k: Any, *_: Any) -> Any:
    r, items = makes_and_adds_to_one_of_two(x, k)
    return r * sum(items)


def writes_afterwards(a: Any, t: Any) -> Any:
    try:
        return a
    finally:
        a[0] = t


@right
def array_that_changes_after_it_is_returned(x: Any, k: Any, *_: Any) -> Any:
    return np.sum(writes_afterwards(np.array([k, k]), x) * k)


@right
def number_that_is_returned_before_its_list_changes(x: Any, k: Any, *_: Any) -> Any:
    items = [x, k]
    try:
        return items[0] * items[1]
    finally:
        items.append(k)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any], mode: str) -> None:
    check_as_python(f, mode)
