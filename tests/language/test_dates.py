"""Dates, times and spans of time are constants: they are made, moved and asked, and handed to functions."""

from __future__ import annotations

import datetime
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

NOON = datetime.datetime(2020, 3, 4, 12)
EAST = datetime.timezone(timedelta(hours=2))


def declination(latitude: Any, when: Any) -> Any:
    day = when.timetuple().tm_yday
    return np.sin(2 * np.pi * (284 + day) / 365) * latitude**2


def days(latitude: Any, when: Any) -> Any:
    return latitude**2 * (when - datetime.datetime(when.year, 1, 1)).total_seconds() / 86400.0


def offset(latitude: Any, when: Any) -> Any:
    shift = when.utcoffset()
    return latitude**2 * shift.total_seconds()


class Place:
    def __init__(self, latitude: Any, when: Any) -> None:
        self.latitude, self.when = latitude, when

    @property
    def day(self) -> int:
        return int(self.when.timetuple().tm_yday)

    def later(self, hours: float) -> Place:
        return Place(self.latitude, self.when + timedelta(hours=hours))

    def angle(self) -> Any:
        return declination(self.latitude, self.when) * self.day


def moved(x: Any, when: Any) -> Any:
    total = 0.0
    for hour in range(5):
        total = total + declination(x, when + timedelta(hours=6 * hour))
    return total


def stepped(x: Any, when: Any) -> Any:
    total = 0.0
    for _ in range(5):
        total = total + declination(x, when) * when.day
        when = when + timedelta(days=1)
    return total


def made_here(x: Any, when: Any) -> Any:
    start = datetime.datetime(2020, 5, 1)
    return declination(x, start + (when - start) / 2) + days(x, start + timedelta(hours=2))


def asked_in_a_call(x: Any, when: Any) -> Any:
    return days(x, when.replace(month=5)) * declination(x, when) + x * when.timetuple().tm_yday


def handed_twice(x: Any, when: Any) -> Any:
    y = declination(x, when) * when.timetuple().tm_yday
    return days(y, when) * float(when.strftime("%H"))


def parsed(x: Any, when: Any) -> Any:
    first = datetime.datetime.strptime("2020-01-04", "%Y-%m-%d")
    joined = datetime.datetime.combine(when.date(), datetime.time(3))
    return x**2 * (when - first).days + days(x, joined)


def in_a_zone(x: Any, when: Any) -> Any:
    aware = when.replace(tzinfo=datetime.timezone.utc)
    return x**2 * aware.timestamp() / 1e9 + offset(x, aware.astimezone(EAST)) / 1e3


def of_objects(x: Any, when: Any) -> Any:
    return Place(x, when).later(30.0).angle()


def in_a_list(x: Any, when: Any) -> Any:
    return sum([days(x, t) for t in [when + timedelta(days=i) for i in range(3)]])


def written_at_weekdays(x: Any, when: Any) -> Any:
    y = np.array([x, 2 * x])
    for _ in range(3):
        y[when.weekday() % 2] *= x * when.day
        when += timedelta(days=1)
    return np.sum(y)


FUNCTIONS = [
    moved, stepped, made_here, asked_in_a_call, handed_twice, parsed, in_a_zone, of_objects, in_a_list,
    written_at_weekdays,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_dates_are_constants(function: Any) -> None:
    expected = numeric_gradient(lambda x: function(x, NOON), (0.7,))
    assert np.isclose(grad(function)(0.7, NOON), expected, rtol=1e-6)
    value, dot = jvp(function, (0.7, NOON), (1.0, None))
    assert value == function(0.7, NOON)
    assert np.isclose(dot, expected, rtol=1e-6)


def test_a_date_or_none_stays_undecided() -> None:
    def shifted(x: Any, when: Any) -> Any:
        return days(x, when) if when.utcoffset() is None else offset(x, when)

    for when in (NOON, NOON.replace(tzinfo=EAST)):
        expected = numeric_gradient(lambda x, when=when: shifted(x, when), (0.7,))
        assert np.isclose(grad(shifted)(0.7, when), expected, rtol=1e-6)


def test_a_ratio_of_spans_is_a_number() -> None:
    def ratio(x: Any, span: Any) -> Any:
        part = span / timedelta(hours=2)
        return x**2 * part

    assert np.isclose(grad(ratio)(0.7, timedelta(hours=3)), 2.1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: timedelta(seconds=x).total_seconds(),
        lambda x: (x * timedelta(hours=1)).total_seconds(),
        lambda x: (NOON + timedelta(seconds=x)).timestamp(),
    ],
)
def test_no_derivative_goes_through_a_date(function: Any) -> None:
    with pytest.raises(S2SADError):
        grad(function)(0.7)


def test_a_class_of_the_users_with_such_methods_is_its_own() -> None:
    class Clock:
        def __init__(self) -> None:
            self.asked: list[float] = []

        def total_seconds(self) -> float:
            self.asked.append(1.0)
            return 2.0 * len(self.asked)

    def timed(x: Any, clock: Any) -> Any:
        return x**2 * clock.total_seconds()

    assert np.isclose(grad(timed)(0.7, Clock()), 2.8)
