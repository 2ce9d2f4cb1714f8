"""Methods of texts that are known, as ``"{}2{}".format(a, b)``: what they give is known as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from s2sad.ir.code import UNSET, Constant, Operation, Value
from s2sad.transform.containers import items_of, run_through
from s2sad.transform.known import Abstract, Generator, Lazy, Row, Stream
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: Methods of texts that give texts, truth values, whole numbers, and lists and tuples of texts.
METHODS_OF_TEXTS = frozenset(
    "capitalize casefold count endswith find format isalpha isdigit islower isupper join lower lstrip partition "
    "replace rfind rpartition rsplit rstrip split splitlines startswith strip title upper".split()
)
#: So many parts of a text are known, one by one.
_MOST_PARTS = 64


def text_computed(function: Any, values: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a method of texts gives for constants; None if it is no such method, and where it raises."""
    name = getattr(function, "__name__", "")
    if name not in METHODS_OF_TEXTS or function is not getattr(str, name):
        return None
    given = [*values, *named.values()]
    if not all(type(v) in (str, int, bool, type(None)) or (type(v) is tuple and name == "join") for v in given):
        return None
    try:
        made = function(*values, **named)
    except (TypeError, ValueError, LookupError):
        return None
    return None if isinstance(made, list) and len(made) > _MOST_PARTS else made


def call(
    s: Specialiser, function: Any, values: list[Abstract], named: dict[str, Abstract], op: Operation, frame: Frame
) -> Done:
    """A call of a method of texts: what it gives for constants; ``join`` goes through what it is given at once."""
    is_run_through = function is str.join and len(values) == 2 and isinstance(values[1], (Generator, Lazy, Stream))
    if is_run_through:
        row = run_through(s, values[1])
        if row is None:
            return None
        values = [values[0], Row(row)]
    given = [*values, *named.values()]
    rows = [None if isinstance(v, (Constant, Value)) else s.row(v) for v in given]
    constants = [_constant(v if row is None else Row(row)) for v, row in zip(given, rows, strict=True)]
    if None in constants:
        place = frame.place or op.place
        called = s.get(op.operands[0], frame)
        return (s.emit("call", s.operands([called, values[1]], place), ("",), place=place),) if is_run_through else None
    known = [c.value for c in constants if c is not None]
    first = len(values)
    made = text_computed(function, known[:first], dict(zip(named, known[first:], strict=True)))
    if isinstance(made, list):
        return (items_of(s, list(map(Constant, made))),)
    if isinstance(made, tuple):
        return (Row(tuple(map(Constant, made))),)
    return None if made is None else (Constant(made),)


def _constant(value: Abstract) -> Constant | None:
    """A constant, or a tuple of constants as one."""
    if isinstance(value, Row) and value.cls is tuple and all(isinstance(item, Constant) for item in value.items):
        return Constant(tuple([item.value for item in value.items if isinstance(item, Constant)]))
    return value if isinstance(value, Constant) and value is not UNSET else None
