"""A run that met a number where an array was awaited begins again if it has only computed, or raised, until then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

SEEN: list[float] = []


def month_of(month: Any) -> Any:  # noqa: RET503
    if isinstance(month, (int, float)):
        month = int(month)
        if 1 <= month <= 12:
            return month
        raise ValueError("invalid month")
    elif month is None:  # noqa: RET506
        return 1


def checked(*args: Any) -> Any:
    lengths = [31, 28, 31, 30]
    hours = 0.0
    year, month, day = args[0], args[1], args[2]
    if len(args) >= 4:
        hours = args[3]
    month = month_of(month)
    if day >= lengths[month - 1] + 1:
        raise ValueError("invalid day")
    return year, month, day, hours


def number_of_day(y: Any, m: Any, d: Any) -> Any:
    if m <= 2:
        y -= 1
        m += 12
    return int(365.25 * (y + 4716)) + int(30.6 * (m + 1.0)) + d


def of_a_number(d: Any) -> Any:
    year, month, day, hours = checked(2020, 2, d)
    day += hours / 24
    return number_of_day(year, month, day) / 1e3 * d


def of_none(d: Any) -> Any:
    year, month, day, hours = checked(2020, None, d, d)
    day += hours / 24
    return number_of_day(year, month, day) / 1e3 * d


@pytest.mark.parametrize("function", [of_a_number, of_none], ids=lambda f: f.__name__)
def test_what_may_be_none_is_computed_again(function: Any) -> None:
    expected = numeric_gradient(function, (3.2,))
    value, dot = jvp(function, (3.2,), (1.0,))
    assert value == function(3.2)
    assert np.allclose([grad(function)(3.2), dot], expected, rtol=1e-6)


def seen_month(month: Any) -> Any:
    SEEN.append(1.0)
    return month_of(month)


def of_a_function_that_is_seen(d: Any) -> Any:
    month = seen_month(2)
    day = d * 1.0
    day += month
    return number_of_day(2020, month, day) / 1e3 * d


def test_what_is_seen_happens_once() -> None:
    SEEN.clear()
    try:
        grad(of_a_function_that_is_seen)(3.2)
    except S2SADError:
        return
    assert SEEN == [1.0]
