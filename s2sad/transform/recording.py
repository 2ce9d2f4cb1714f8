"""Statements that only record, in lists, dicts and sets that attributes of existing objects lead to.

    self.losses.append(loss)                  record(t.losses, "append", loss)
    self.cache["z"] = z                       record(t.cache, "__setitem__", "z", z)

What is recorded is a constant to whoever reads it later, so that the statement has no adjoint.  This holds as long as
nothing that runs reads the attributes, and nothing else that the function reads leads to the containers, which is
checked at entry.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from s2sad.ir.code import Code, Constant, Operand, Operation, Value, inner, regions_in
from s2sad.runtime.classes import static_member
from s2sad.runtime.contents import attributes_of
from s2sad.runtime.objects import record, remember
from s2sad.runtime.sharing import in_one_place
from s2sad.transform.existing import guard_class, is_object, rest_on, use_known
from s2sad.transform.found import ClassHeld, Key
from s2sad.transform.known import Known, Late, Record
from s2sad.transform.relied import Recorded, Recording
from s2sad.transform.specialiser import Done, Frame, Specialiser
from s2sad.transform.taken import itself, whole

#: The methods by which something is put into a container.
ADDING: dict[type, tuple[str, ...]] = {
    list: ("append", "extend", "insert", "__setitem__"),
    dict: ("__setitem__",),
    deque: ("append", "appendleft", "extend"),
    set: ("add",),
}


def recordings(code: Code) -> dict[Operation, Recording]:
    """The statements of a code that only put something into a container, by the operation that reads the attribute."""
    made: dict[Operand, Operation] = {}
    uses: Counter[Operand] = Counter()
    for region in regions_in(code.body):
        uses.update(region.exit.operands)
        for op in region.operations:
            made.update(dict.fromkeys(op.results, op))
            uses.update(op.operands)
    found: dict[Operation, Recording] = {}
    for op in inner(code.body):
        method, container = _put_by(op, made, uses)
        keys: list[Any] = []
        while method and uses[container] == 1 and (held := made.get(container)) is not None:
            if held.kind == "attribute":
                found[held] = Recording(tuple(reversed(keys)), method, op)
                break
            if held.kind != "item" or not isinstance(held.operands[1], Constant):
                break
            keys.append(held.operands[1].value)
            container = held.operands[0]
    return found


def _put_by(op: Operation, made: dict[Operand, Operation], uses: Counter[Operand]) -> tuple[str, Operand]:
    """The method by which an operation puts something into a container, if it only does that, and the container."""
    if op.kind == "set_item":
        return "__setitem__", op.operands[0]
    called = made.get(op.operands[0]) if op.kind == "call" and not any(op.data) else None
    is_method = called is not None and called.kind == "attribute" and uses[called.result] == 1
    if called is None or not is_method or any(uses[result] for result in op.results):
        return "", op.operands[0] if op.operands else Constant(None)
    return called.data, called.operands[0]


def begun(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """Read an attribute of an object that exists, in whose container something is recorded."""
    if s.relied.home is None:
        return None
    code = s.active[-1]
    if code not in s.relied.recordings:
        s.relied.recordings[code] = recordings(code)
    found, base, name = s.relied.recordings[code].get(op), s.get(op.operands[0], frame), op.data
    if found is not None:
        # In another call of the function it may be a container of another object.
        s.relied.recording.discard((id(frame.env), found.by))
    taken = isinstance(base, Record)
    if isinstance(base, Record) and base.origin is not None:
        # Whether another container has been set there is asked in the end.
        base = base.origin
    if found is None or s.expression or not isinstance(base, Known) or not is_object(base.value):
        return None
    if base.read is None or static_member(type(base.value), name) is not None:
        return None
    home, root, path = base.read
    # The check at entry reads it in the function itself.
    if home is not s.relied.home or home.resolver.is_rebound(root):
        return None
    container: Any = attributes_of(base.value).get(name)
    for key in found.keys:
        is_there = type(container) is dict and key in container
        container = container[key] if is_there else None
    if found.method not in ADDING.get(type(container), ()):
        return None
    if id(container) in s.relied.state:
        return None
    way = (name, *map(Key, found.keys))
    use_known(s, base)
    guard_class(s, type(base.value))
    for end in range(1, len(way) + 1):
        held = dict if end < len(way) else type(container)
        rest_on(s, base, way[:end], ClassHeld, (True, held))
    s.relied.recorded[Recorded(root, (*path, *way))] = id(container)
    s.relied.recording.add((id(frame.env), found.by))
    s.used = True
    operand = s.emit("attribute", (s.dynamic(whole(s, base) if taken else base),), name, place=frame.place or op.place)
    s.needless.add(operand)
    s.relied.filled.add(operand)
    return (operand,)


def called(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """Record the arguments of a method, or an item."""
    first, *values = [s.get(o, frame) for o in op.operands]
    place = frame.place or op.place
    if (id(frame.env), op) in s.relied.recording:
        method, container = (first.name, first.receiver) if isinstance(first, Late) else ("__setitem__", first)
        operands = s.operands([s.outside(record, "record"), container, Constant(method), *values], place)
    elif isinstance(first, Known) and (first.value is record or first.value is remember):
        operands = s.operands([first, *values], place)
    elif isinstance(first, Known) and first.value is in_one_place and s.relied.taken:
        operands = s.operands([first, *(itself(s, value) for value in values)], place)
    else:
        return None
    s.write(Operation("call", operands, (Value(),), ("",) * (len(operands) - 1), (), place))
    return (Constant(None),) if op.results else ()
