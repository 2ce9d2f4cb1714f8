"""Variables that have a function or class, and are handed to functions together with what is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes, check_right_or_refused

X = np.array([0.3, 0.7, -0.4])
WAY = np.array([1.0, 0.5, -0.7])
KIND = np.float64


def chosen(value: Any, default: Any) -> Any:
    if value is None:
        return default
    return value


def as_array(a: Any, kind: Any) -> Any:
    return np.asarray(a, kind)


def converted(a: Any, kind: Any = None) -> Any:
    kind = chosen(kind, KIND)
    if isinstance(a, np.ndarray) and a.size == 1:
        return as_array(a, kind)
    return kind(a)


def applied(a: Any, function: Any) -> Any:
    return function(a) * 2.0


def of_functions(x: Any) -> Any:
    function = np.sin if len(x) > 2 else np.cos
    y = applied(x * 2.0, function)
    return np.sum(function(y * x))


def test_what_is_handed_on_stays_what_it_is() -> None:
    check_both_modes(of_functions, X, WAY)


def put(box: Any, value: Any) -> None:
    box.append(value)


def put_later(boxes: Any, value: Any) -> None:
    for box in boxes:
        put(box, value)


def taken_out(x: Any) -> Any:
    box: list[Any] = []
    put(box, x[0] ** 2)
    return box[0] * x[1]


def taken_out_of_several(x: Any) -> Any:
    one: list[Any] = []
    two: list[Any] = []
    put_later([one, two], x[0] ** 2)
    return one[0] * two[0]


@pytest.mark.parametrize("f", [taken_out, taken_out_of_several])
def test_what_a_function_puts_into_what_it_is_given_depends_on_the_rest(f: Callable[..., Any]) -> None:
    check_right_or_refused(f, X, WAY)
