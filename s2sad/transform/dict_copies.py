"""Dicts that are made of one whose items are not known, and of others.

{**options, "k": v}            t = dict(options)
dict(options, k=v)             t["k"] = v
"""

from __future__ import annotations

from collections.abc import Sequence

from s2sad.ir.code import Constant, Operation, Place, Value
from s2sad.transform.keys import key_operand
from s2sad.transform.known import Abstract, Items
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: A key and a value.
Entry = tuple[Abstract, Abstract]


def display(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``{**first, key: value, **others}``, where it is known what the others hold."""
    pairs = list(zip(op.operands[::2], op.operands[1::2], op.data, strict=True))
    if not pairs or not pairs[0][2]:
        return None
    entries: list[Entry] = []
    for key, operand, star in pairs[1:]:
        value = s.get(operand, frame)
        content = s.content(value) if star and isinstance(value, Items) else None
        if star and (content is None or content.keys is None):
            return None
        if content is None:
            entries.append((s.get(key, frame), value))
        else:
            entries += zip(map(key_operand, content.keys or ()), [s.state[c] for c in content.slots], strict=True)
    return filled(s, s.get(pairs[0][1], frame), entries, op.result.name, frame.place or op.place)


def filled(s: Specialiser, first: Abstract, entries: Sequence[Entry], name: str, place: Place | None) -> Done:
    """A copy of a dict of the new program, with more items; None where no statement can stand."""
    if not isinstance(first, Value) or s.expression:
        return None
    made = s.emit("call", s.operands([s.outside(dict, "dict"), first], place), ("",), name, place)
    for key, value in entries:
        s.write(Operation("set_item", s.operands([made, key, value], place), (), None, (), place))
    s.used = True
    return (made,)


def named(names: dict[str, Abstract]) -> list[Entry]:
    """The entries of ``dict(first, name=value)``."""
    return [(Constant(name), value) for name, value in names.items()]
