"""Objects that exist and whose attributes a function sets: taken apart as those that it makes, and set as well.

What a layer remembers of its input, or a filter of its state, is set on the object where the program does so, for
whoever looks at it later.  Within the function it is read from no object: the attributes are values of the new program,
so that derivatives pass.  This holds as long as nothing else that runs reads or sets these attributes, and the object
is not known under another name; the names under which it is known are behind guards.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from s2sad.ir.code import Constant, Operand, Operation, Place, Value
from s2sad.runtime.contents import attributes_of
from s2sad.runtime.objects import remember
from s2sad.transform.existing import attribute, known_array, rest_on
from s2sad.transform.found import ClassHeld, Held, Identity, Key, Same
from s2sad.transform.known import Abstract, Cell, Known, NotSpecialisedError, Record
from s2sad.transform.specialiser import Frame, Specialiser


class _Names(Held):
    """The names of the attributes of an object."""

    def __call__(self, value: Any) -> Any:
        return frozenset(attributes_of(super().__call__(value)[1]))


def take(s: Specialiser, wanted: Collection[Known], frame: Frame) -> None:
    """Take some objects that exist apart."""
    place = place_of(frame.home.source.node.body)
    made = [_begun(s, known, place) for known in wanted]
    # That all attributes are read here says nothing of what the program reads.
    looked_up = set(s.relied.looked_up)
    for record, operand in made:
        assert record.origin is not None
        for name, member in attributes_of(record.origin.value).items():
            op = Operation("attribute", (operand,), (Value(),), name, (), place)
            done = attribute(s, record.origin, name, op, frame)
            if isinstance(done, tuple):
                content = done[0]
            else:
                content = s.emit("attribute", (operand,), name, place=place)
                s.needless.add(content)
                content = known_array(s, content, record.origin, name, member, place)
                if type(member) in (int, float, complex):
                    rest_on(s, record.origin, (name,), ClassHeld, (True, type(member)))
                    s.numbers.add(content)
            s.relied.attributes.add(name)
            record.fields[name] = Cell(name, None, record)
            s.state[record.fields[name]] = content
    s.relied.looked_up = looked_up


def place_of(body: Sequence[Any]) -> Place | None:
    """Where the first statement of a body stands."""
    if not body:
        return None
    node = body[0]
    return Place(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _begun(s: Specialiser, known: Known, place: Place | None) -> tuple[Record, Value]:
    """An object that is going to be taken apart, and the operand that has it."""
    assert known.read is not None
    if not type(known.value).__dictoffset__:
        raise NotSpecialisedError("slots")
    function, root, path = known.read[0].source.function, known.read[1], known.read[2]
    home = s.home(function)
    if not s.making.reads_alike(root, home) or home.resolver.is_rebound(root):
        raise NotSpecialisedError("elsewhere")
    operand = s.emit("global", (), root, place=place)
    s.needless.add(operand)
    s.reads.add(operand)
    for step in path:
        if isinstance(step, Key):
            operand = s.emit("item", (operand, Constant(step.key)), place=place)
        else:
            operand = s.emit("attribute", (operand,), step, place=place)
            s.relied.attributes.add(step)
        s.needless.add(operand)
        s.reads.add(operand)
    origin = Known(known.value, (), operand, (home, root, path))
    rest_on(s, origin, (), Identity, Same(known.value))
    rest_on(s, origin, (), _Names, frozenset(attributes_of(known.value)))
    record = Record(type(known.value), origin=origin)
    record.kin.append(record)
    s.state[record.identity] = Constant(None)
    s.relied.taken[id(known.value)] = record
    return record, operand


def set_too(s: Specialiser, record: Record, name: str, value: Abstract, place: Place | None) -> None:
    """Set an attribute of the object itself."""
    if record.origin is None:
        return
    if s.expression or record.identity not in s.state:
        raise NotSpecialisedError("elsewhere")
    s.relied.attributes.add(name)
    s.relied.remembered.add(name)
    function = s.outside(remember, "remember")
    operands = s.operands([function, whole(s, record.origin), Constant(name), value], place)
    s.write(Operation("call", operands, (Value(),), ("", "", ""), (), place))


def whole(s: Specialiser, origin: Known) -> Abstract:
    """An object that has been taken apart, read from its variable."""
    assert origin.read is not None
    home, root, path = origin.read
    if not all(isinstance(step, str) for step in path) or not s.making.reads_alike(root, home):
        return s.outside(origin.value, root)
    found: Operand = s.emit("global", (), root)
    for step in path:
        found = s.emit("attribute", (found,), step)
    return found
