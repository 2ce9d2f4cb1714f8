"""``operator.itemgetter`` and ``operator.attrgetter``."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from s2sad.ir.code import Constant, Operation
from s2sad.transform.containers import computed
from s2sad.transform.known import Abstract, Known, Row
from s2sad.transform.specialiser import Done, Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]
GETTERS = (operator.itemgetter, operator.attrgetter)


def getter_of(function: Any, values: list[Abstract]) -> Done:
    """``operator.itemgetter(...)`` and the like."""
    if not values or not all(isinstance(v, Constant) for v in values):
        return None
    return (Known(function(*[v.value for v in values if isinstance(v, Constant)])),)


def got(s: Specialiser, getter: Any, args: Args, op: Operation, frame: Frame) -> Done:
    """What ``operator.itemgetter(...)`` and ``operator.attrgetter(...)`` give of an object."""
    if len(args) != 1 or args[0][0]:
        return None
    made, keys = getter.__reduce__()
    found = []
    for key in keys:
        value = args[0][1]
        if made is operator.itemgetter:
            value = computed(s, "item", None, (value, Constant(key)), op, frame)
        else:
            for name in key.split("."):
                value = computed(s, "attribute", name, (value,), op, frame)
        found.append(value)
    return (found[0] if len(found) == 1 else Row(tuple(found)),)
