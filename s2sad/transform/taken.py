"""Objects that exist and whose attributes a function sets: taken apart as those that it makes, and set as well.

    self.h = np.tanh(x)                h = np.tanh(x)
    return self.h @ self.v             net.h = h
                                       return h @ net.v

What a layer remembers of its input, or a filter of its state, is set on the object where the program does so, for
whoever looks at it later.  Within the function it is read from no object: the attributes are values of the new program,
so that derivatives pass.  This holds as long as nothing else that runs reads or sets these attributes, and the object
is not known under another name; the names under which it is known are behind guards.

So it is with lists and dicts that exist and whose items a function sets: ``self.cache["h"] = np.tanh(x)``.  They keep
their items, or get others under keys that are known; which keys there are at first is behind guards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from s2sad.ir.code import UNSET, Constant, Operand, Operation, Place, Value
from s2sad.runtime.contents import attributes_of
from s2sad.runtime.objects import record as put_into
from s2sad.runtime.objects import remember
from s2sad.transform import presence
from s2sad.transform.existing import attribute, is_existing, known_array, rest_on
from s2sad.transform.found import ClassHeld, Held, Identity, Key, Same, found_at
from s2sad.transform.held import Structure, item_at
from s2sad.transform.keys import title_of
from s2sad.transform.known import Abstract, Cell, Container, Items, Known, NotSpecialisedError, Record, Row
from s2sad.transform.specialiser import Frame, Specialiser


class _Names(Held):
    """The names of the attributes of an object."""

    def asked(self, own: bool, found: Any) -> Any:
        return frozenset(attributes_of(found))


def take(s: Specialiser, wanted: Collection[Known], frame: Frame) -> None:
    """Take some objects, lists and dicts that exist apart."""
    place = place_of(frame.home.source.node.body)
    made = [_begun(s, known, place) for known in wanted]
    # That all attributes are read here says nothing of what the program reads.
    looked_up = set(s.relied.looked_up)
    for record, operand in made:
        assert record.origin is not None
        parts = _items if record.cls is Container else _attributes
        for name, content in parts(s, record.origin, operand, place, frame):
            record.fields[name] = Cell(name if isinstance(name, str) and name.isidentifier() else "", None, record)
            s.state[record.fields[name]] = content
    s.relied.looked_up = looked_up


def _attributes(
    s: Specialiser, origin: Known, operand: Value, place: Place | None, frame: Frame
) -> Iterator[tuple[str, Abstract]]:
    """The attributes of an object, as they are at first."""
    for name, member in attributes_of(origin.value).items():
        op = Operation("attribute", (operand,), (Value(),), name, (), place)
        done = attribute(s, origin, name, op, frame)
        if isinstance(done, tuple):
            content = done[0]
        else:
            content = s.emit("attribute", (operand,), name, place=place)
            s.needless.add(content)
            content = _known(s, content, origin, name, member, place)
        s.relied.attributes.add(name)
        yield name, content


def _items(
    s: Specialiser, origin: Known, operand: Value, place: Place | None, frame: Frame
) -> Iterator[tuple[Any, Abstract]]:
    """The items of a list or dict, as they are at first."""
    keys = origin.value if type(origin.value) is dict else range(len(origin.value))
    for key in keys:
        content = item_at(s, origin, operand, key)
        if isinstance(content, Value):
            content = _known(s, content, origin, Key(key), origin.value[key], place)
        yield key, content


def _known(s: Specialiser, read: Value, origin: Known, step: str | Key, member: Any, place: Place | None) -> Value:
    """An attribute or item that is read, with what is known of it where it is an array or a number."""
    if type(member) in (int, float, complex):
        rest_on(s, origin, (step,), ClassHeld, (True, type(member)))
        s.numbers.add(read)
    return known_array(s, read, origin, step, member, place)


def place_of(body: Sequence[Any]) -> Place | None:
    """Where the first statement of a body stands."""
    if not body:
        return None
    node = body[0]
    return Place(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _begun(s: Specialiser, known: Known, place: Place | None) -> tuple[Record, Value]:
    """What is going to be taken apart, and the operand that has it."""
    assert known.read is not None
    is_object = is_existing(known)
    if is_object and not type(known.value).__dictoffset__:
        raise NotSpecialisedError("slots")
    function, root, path = known.read[0].source.function, known.read[1], known.read[2]
    home = s.home(function)
    if not s.making.reads_alike(root, home) or home.resolver.is_rebound(root):
        raise NotSpecialisedError("elsewhere")
    if not is_object and s.relied.keeper is not None:
        # The check at entry reads it in the function itself.
        home = s.relied.keeper
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
    if is_object:
        rest_on(s, origin, (), _Names, frozenset(attributes_of(known.value)))
    else:
        rest_on(s, origin, (), Structure, Structure(())(known.value))
    record = Record(type(known.value) if is_object else Container, origin=origin)
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


def set_item_too(s: Specialiser, record: Record, key: Any, value: Abstract) -> None:
    """Set an item of the list or dict itself."""
    _call_too(s, record, "__setitem__", Constant(key), value)


def delete_too(s: Specialiser, record: Record, key: Any) -> None:
    """Remove a key of the dict itself."""
    _call_too(s, record, "pop", Constant(key))


def _call_too(s: Specialiser, record: Record, method: str, *args: Abstract) -> None:
    if record.cls is not Container or record.origin is None:
        return
    if s.expression or record.identity not in s.state:
        raise NotSpecialisedError("elsewhere")
    parts, place = [s.outside(put_into, "record"), whole(s, record.origin), Constant(method), *args], s.relied.at
    s.write(Operation("call", s.operands(parts, place), (Value(),), ("",) * (len(parts) - 1), (), place))
    s.used = True


def set_fields(s: Specialiser, record: Record, before: Collection[Any], slots: Mapping[Any, Cell]) -> None:
    """Let the ``__dict__`` of an object, or a list or dict that exists, have some keys, with what cells hold."""
    left_out = [key for key in before if key not in slots]
    if record.cls is not Container and (left_out or not all(isinstance(key, str) for key in slots)):
        raise NotSpecialisedError("__dict__")
    if is_list(record) and len(slots) != len(before):
        raise NotSpecialisedError("length")
    values = {key: s.state[cell] for key, cell in slots.items() if record.fields.get(key) is not (cell.of or cell)}
    for key in left_out:
        delete_too(s, record, key)
        s.state[record.fields[key]] = UNSET
    for key, value in values.items():
        set_field(s, record, key, value)


def set_field(s: Specialiser, record: Record, key: Any, value: Abstract) -> None:
    """Set an attribute of an object, or an item of a list or dict that exists, by its ``__dict__`` or items."""
    if record.cls is not Container and not isinstance(key, str):
        raise NotSpecialisedError("__dict__")
    if s.state.get(record.fields.get(key, record.identity)) is UNSET:
        # A key that has been there comes last, once it is there again.
        raise NotSpecialisedError("order")
    set_item_too(s, record, key, value)
    presence.assign(s, presence.cell_for(s.state, record, key, title_of(key)), value, s.relied.at)


def is_list(record: Record) -> bool:
    """Whether a record stands for a list that exists."""
    return record.cls is Container and record.origin is not None and type(record.origin.value) is list


def itself(s: Specialiser, value: Abstract) -> Abstract:
    """What has been taken apart, or is in a tuple, as the object that it is."""
    record = value.record if isinstance(value, Items) else value
    if isinstance(record, Record) and record.origin is not None:
        return whole(s, record.origin)
    return Row(tuple([itself(s, item) for item in value.items]), value.cls) if isinstance(value, Row) else value


def whole(s: Specialiser, origin: Known) -> Abstract:
    """What has been taken apart, read from its variable."""
    assert origin.read is not None
    home, root, path = origin.read
    is_alike = s.making.reads_alike(root, home)
    if is_existing(origin) and not (is_alike and all(isinstance(step, str) for step in path)):
        return s.outside(origin.value, root)
    if not is_alike:
        # A list or dict must not be known under another name.
        raise NotSpecialisedError("elsewhere")
    found: Operand = s.emit("global", (), root)
    cell = home.resolver.cells.get(root)
    value = home.resolver.globals[root] if cell is None else cell.cell_contents
    for step in path:
        kind, data = ("item", None) if isinstance(step, Key) else ("attribute", step)
        operands = (found, Constant(step.key)) if isinstance(step, Key) else (found,)
        found = s.emit(kind, operands, data)  # type: ignore[arg-type]
        value = _leads(s, value, step)
    return found


def _leads(s: Specialiser, value: Any, step: str | Key) -> Any:
    """What is found in something that exists, and is still to be found there."""
    part, record = found_at(value, step)[1], s.relied.taken.get(id(value))
    if record is not None:
        (now,) = [one for one in record.kin if one.identity in s.state] or [record]
        held = s.state.get(now.fields[step.key if isinstance(step, Key) else step])
        held = held.record if isinstance(held, Items) else held
        held = held.origin if isinstance(held, Record) else held
        if not isinstance(held, Known) or held.value is not part:
            raise NotSpecialisedError("elsewhere")
    elif isinstance(step, Key) and type(value) is not tuple:
        if not s.relied.constants:
            raise NotSpecialisedError("elsewhere")
        s.relied.containers.add(id(value))
    return part
