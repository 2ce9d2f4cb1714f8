"""Dates and times: what makes them of constants is computed like any other constant."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from s2sad.ops import infer
from s2sad.ops.spec import operation
from s2sad.runtime.moments import MAKERS, MOMENTS

_MADE: dict[type, Callable[..., Any]] = {
    datetime.date: lambda year, month, day: None,
    datetime.datetime: (
        lambda year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0: None
    ),
    datetime.time: lambda hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0: None,
    datetime.timedelta: (lambda days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0: None),
    datetime.timezone: lambda offset, name=None: None,
}
_GIVEN: dict[str, Callable[..., Any]] = {
    "strptime": lambda date_string, format: None,
    "fromtimestamp": lambda timestamp, tz=None: None,
    "combine": lambda date, time, tzinfo=None: None,
    "fromisocalendar": lambda year, week, day: None,
}

for _cls in MOMENTS:
    for _name in ("", *sorted(MAKERS)):
        if not _name or hasattr(_cls, _name):
            operation(
                getattr(_cls, _name) if _name else _cls,
                signature=_GIVEN.get(_name, lambda value: None) if _name else _MADE[_cls],
                infer=infer.moments.makes(_cls), dtype="inferred", result="fresh", makes=_cls, calls=(),
                remedy="Compute with numbers of seconds or days; make dates of constants alone",
            )  # fmt: skip
