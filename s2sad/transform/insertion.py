"""``bisect`` and ``insort`` of lists of known items: where a value goes, if what is compared on the way is known."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from s2sad.ir.code import NONE, Constant
from s2sad.runtime.classes import static_member
from s2sad.transform.classes import is_generated
from s2sad.transform.containers import change, slot
from s2sad.transform.copies import fields_of
from s2sad.transform.iterators import Given
from s2sad.transform.known import Abstract, Items, NotSpecialisedError, Record, Row
from s2sad.transform.ordering import as_row, less
from s2sad.transform.simple import is_structure, truth
from s2sad.transform.specialiser import Done


def searching(is_right: bool, inserts: bool) -> Callable[[Given], Done]:
    """``bisect_left(items, value)`` and its kin: behind what is equal if it ``is_right``; one of them ``inserts``."""

    def run(given: Given) -> Done:
        s, key = given.s, given.named.get("key", NONE)
        items = given.values[0] if len(given.values) == 2 else None
        content = s.content(items) if isinstance(items, Items) and items.cls is list else None
        if content is None or not isinstance(items, Items) or content.keys is not None:
            return None
        value = given.values[1]
        before, used, lifted = s.mark(), s.used, dict(s.lifted)
        asked = _asked(given, key, value) if inserts else as_row(s, value)
        low, high = 0, len(content.slots)
        while low < high:
            middle = (low + high) // 2
            held = _asked(given, key, s.state[content.slots[middle]])
            found = _is_less(given, asked, held) if is_right else _is_less(given, held, asked)
            if found is None and not any(map(is_structure, (asked, held))):
                # It is found when the program runs.
                s.back(before)
                s.used, s.lifted = used, lifted
                return None
            if found is None:
                raise NotSpecialisedError("condition")
            low, high = (low, middle) if found == is_right else (middle + 1, high)
        s.used = True
        if not inserts:
            return (Constant(low),)
        change(s, items, (*content.slots[:low], slot(s, value), *content.slots[low:]))
        return (NONE,)

    return run


def _asked(given: Given, key: Abstract, value: Abstract) -> Abstract:
    """By what a value is compared."""
    return as_row(given.s, value if isinstance(key, Constant) else given.call(key, value))


def _is_less(given: Given, a: Abstract, b: Abstract) -> bool | None:
    """Whether a value is less than another one, if that is known."""
    rows = [_fields(given, value) for value in (a, b)]
    first, second = rows if isinstance(a, Record) and isinstance(b, Record) and a.cls is b.cls else (a, b)
    return truth(given.s, less(given.s, first, second, given.op, given.frame))


def _fields(given: Given, value: Abstract) -> Abstract:
    """The fields by which an object of a dataclass is compared; another value itself."""
    is_record = isinstance(value, Record) and dataclasses.is_dataclass(value.cls)
    if not isinstance(value, Record) or not is_record or not is_generated(static_member(value.cls, "__lt__")):
        return value
    held = fields_of(given.s, value)
    return Row(tuple([held[f.name] for f in dataclasses.fields(value.cls) if f.compare]))
