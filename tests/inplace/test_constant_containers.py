"""Constant arrays that are put into containers, read there, and then written with other constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

X = np.array([0.71, 1.32, 0.57, 1.81, 1.13])


def appended(x: Any) -> Any:
    a = np.ones(5)
    held: list[Any] = []
    for _ in range(2):
        held.append(a)
    y = held[1] * x
    a[0] = 5.0
    return np.sum(y * y)


def appended_in_turns(x: Any) -> Any:
    a = np.ones(5)
    held: list[Any] = [1.0]
    y = x
    for k in range(3):
        y = held[-1] * y
        held.append(a)
        a[0] = k + 2.0
    return np.sum(y * y)


def inserted(x: Any) -> Any:
    a = np.ones(5)
    held: list[Any] = []
    held.insert(0, a)
    y = held[0] * x
    a[0] = 5.0
    return np.sum(y * y)


def extended(x: Any) -> Any:
    a = np.ones((2, 5))
    held: list[Any] = []
    held.extend(a)
    y = held[0] * x
    a[0, 0] = 5.0
    return np.sum(y * y)


def extended_by_a_generator(x: Any) -> Any:
    a = np.ones((2, 5))
    held: list[Any] = []
    held.extend(r for r in a)
    y = held[0] * x
    a[0, 0] = 5.0
    return np.sum(y * y)


def rows(x: Any) -> Any:
    a = np.ones((2, 5))
    held = []
    for r in a:
        held.append(r)
    y = held[1] * x
    a[1, 0] = 5.0
    return np.sum(y * y)


def appended_in_a_comprehension(x: Any) -> Any:
    a = np.ones((2, 5))
    held: list[Any] = []
    [held.append(r) for r in a]  # type: ignore[func-returns-value]
    y = held[0] * x
    a[0, 0] = 5.0
    return np.sum(y * y)


def appended_by_a_map(x: Any) -> Any:
    a = np.ones((2, 5))
    held: list[Any] = []
    list(map(held.append, a))
    y = held[0] * x
    a[0, 0] = 5.0
    return np.sum(y * y)


def appended_by_a_name(x: Any) -> Any:
    a = np.ones(5)
    held: list[Any] = []
    append = held.append
    append(a)
    y = held[0] * x
    a[0] = 2.0
    return np.sum(y * y)


def appended_inside_an_item(x: Any) -> Any:
    a = np.ones(5)
    held = [[a]]
    held[0].append(a)
    y = held[0][1] * x
    a[0] = 5.0
    return np.sum(y * y)


def default_of_a_dict(x: Any) -> Any:
    a = np.ones(5)
    d: dict[str, Any] = {}
    d.setdefault("k", a)
    y = d["k"] * x
    a[0] = 5.0
    return np.sum(y * y)


def updated_dict(x: Any) -> Any:
    a = np.ones(5)
    d: dict[str, Any] = {}
    d.update(k=a)
    y = d["k"] * x
    a[0] = 5.0
    return np.sum(y * y)


def joined_dict(x: Any) -> Any:
    a = np.ones(5)
    d: dict[str, Any] = {}
    d |= {"k": a}
    y = d["k"] * x
    a[0] = 5.0
    return np.sum(y * y)


def array_of_objects(x: Any) -> Any:
    a = np.ones(5)
    held = np.empty(2, object)
    held[0] = a
    y = held[0] * x
    a[0] = 5.0
    return np.sum(y * y)


def array_of_objects_by_letter(x: Any) -> Any:
    a = np.ones(5)
    held = np.zeros((2, 1), dtype="O")
    held[0, 0] = a
    y = held[0, 0] * x
    a[0] = 5.0
    return np.sum(y * y)


def array_of_objects_by_what_fills_it(x: Any) -> Any:
    a = np.ones(5)
    held = np.full(3, None)
    held[1] = a
    y = x * held[1]
    a[0] = 4.0
    return np.sum(y * y * a)


def array_of_objects_by_a_cast(x: Any) -> Any:
    a = np.ones(5)
    held = np.zeros(3).astype(object)
    held[1] = a
    y = x * held[1]
    a[0] = 4.0
    return np.sum(y * y * a)


def array_of_objects_from_a_list(x: Any) -> Any:
    """What is written through the array of objects is not dead."""
    a = np.ones(5)
    y = a.copy() * x
    held: Any = np.array([a, None], dtype=object)
    held[0][0] = 4.0
    return np.sum(y * y * a)


CASES = [
    case(f, X)
    for f in (
        appended,
        appended_in_turns,
        inserted,
        extended,
        extended_by_a_generator,
        rows,
        appended_in_a_comprehension,
        appended_by_a_map,
        appended_by_a_name,
        appended_inside_an_item,
        default_of_a_dict,
        updated_dict,
        joined_dict,
        array_of_objects,
        array_of_objects_by_letter,
        array_of_objects_by_what_fills_it,
        array_of_objects_by_a_cast,
        array_of_objects_from_a_list,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
