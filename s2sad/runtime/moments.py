"""Dates, times and spans of time, which never change."""

from __future__ import annotations

import datetime

#: The classes of objects that are points in time, or spans between them.
MOMENTS: tuple[type, ...] = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone)
#: The class methods that make one of what they are given alone: what time it is they do not ask.
MAKERS = frozenset("strptime fromisoformat fromtimestamp fromordinal fromisocalendar combine".split())


def is_moment(value: object) -> bool:
    """Whether a value is a date, time or span of time, with a time zone of Python's own if it has one.

    Example:
        >>> is_moment(datetime.timedelta(1)), is_moment(3.0)
        (True, False)
    """
    if type(value) not in MOMENTS:
        return False
    zone = getattr(value, "tzinfo", None)
    return zone is None or type(zone) is datetime.timezone
