"""Dates, times and spans of time: what their operators, attributes and methods give."""

from __future__ import annotations

import datetime

from s2sad.ir.types import FLOAT, MOMENT, OPEN, SCALAR, TEXT, Fact
from s2sad.ops.infer.common import Bound, Infer, Look

_POINTS = (datetime.date, datetime.datetime)
#: What has the fields of ``time.struct_time``, which are whole numbers.
_FIELDS = Fact("other", text=True, each=SCALAR)
#: What methods give whatever the class.
_GIVEN: dict[str, Fact] = {
    **dict.fromkeys("timetuple utctimetuple".split(), _FIELDS),
    **dict.fromkeys("total_seconds timestamp".split(), FLOAT),
    **dict.fromkeys("toordinal weekday isoweekday".split(), SCALAR),
    **dict.fromkeys("strftime isoformat ctime".split(), TEXT),
    "date": MOMENT[datetime.date],
    "time": MOMENT[datetime.time],
    "timetz": MOMENT[datetime.time],
    "astimezone": MOMENT[datetime.datetime],
    # None where there is no time zone.
    **dict.fromkeys("utcoffset dst tzname".split(), OPEN.but(text=True)),
}
#: The names of attributes that are whole numbers.
ATTRIBUTES = frozenset(
    "year month day hour minute second microsecond days seconds microseconds tm_year tm_mon tm_mday tm_hour tm_min "
    "tm_sec tm_wday tm_yday tm_isdst".split()
)
#: The names of methods of which it is known what they give.
METHODS = frozenset((*_GIVEN, "replace"))


def makes(cls: type) -> Infer:
    """What calls of a class give, or of its class methods: an object of it."""
    made = MOMENT[cls]

    def infer(b: Bound, fact: Look) -> Fact:
        return made

    return infer


def of_operator(symbol: str, left: Fact, right: Fact) -> Fact | None:
    """What an operator makes of two operands, one of which is a moment; None where nothing is known."""
    a, b = left.plain, right.plain
    if a in _POINTS and b is datetime.timedelta and symbol in ("+", "-"):
        return MOMENT[a]
    if a is datetime.timedelta and b in _POINTS and symbol == "+":
        return MOMENT[b]
    if symbol == "-" and a in _POINTS and a is b:
        return MOMENT[datetime.timedelta]
    if datetime.timedelta not in (a, b):
        return None
    if a is b:
        sums = {"+": MOMENT[a], "-": MOMENT[a], "%": MOMENT[a], "/": FLOAT, "//": SCALAR} if a is not None else {}
        return sums.get(symbol)
    other = right if b is None else left
    scaled = symbol == "*" or (symbol in ("/", "//") and b is None)
    return MOMENT[datetime.timedelta] if scaled and other.kind == "scalar" else None


def of_attribute(name: str, whole: Fact) -> Fact:
    """An attribute of a moment, or of the fields of one."""
    return SCALAR if name in ATTRIBUTES and (whole.plain is None or hasattr(whole.plain, name)) else OPEN


def of_method(name: str, whole: Fact) -> Fact:
    """What a method of a moment gives."""
    if whole.plain is None:
        return OPEN
    if name == "replace" and whole.plain is not datetime.timedelta:
        return MOMENT[whole.plain]
    return _GIVEN.get(name, OPEN) if hasattr(whole.plain, name) else OPEN
