"""Variables of modules and classes that a program sets (``global``, ``Bar.count += 1``): a part of its state.

    global COUNT                    t = COUNT
    COUNT += 1                      remember(module, "COUNT", t + 1)
    return x * COUNT                return x * (t + 1)

Each is read once, at the start (`s2sad.transform.entered`), and is a value of the new program from then on; what it is
given there it is given in its module or class too, which prints as the assignment.  So derivatives go through it where
the program reads it again, as they go through a local variable.  Nothing that remains to run as it stands may read or
set it, which `s2sad.frontend.touched` says.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

import numpy as np

from s2sad.frontend.resolve import MISSING, Guard
from s2sad.frontend.touched import State, owner_of
from s2sad.ir.code import UNSET, Constant, Operand, Operation, Place, Value, inner
from s2sad.runtime.classes import own_class
from s2sad.runtime.contents import attributes_of, is_disguised
from s2sad.runtime.objects import array_of, remember, state_of
from s2sad.transform import presence
from s2sad.transform.existing import is_object
from s2sad.transform.found import ArrayHeld, ClassHeld, Held, kind_of
from s2sad.transform.iterators import Given
from s2sad.transform.known import (
    Abstract,
    Cell,
    InList,
    Kept,
    Known,
    NotSpecialisedError,
    Record,
    Unsure,
    is_plain,
    is_switch,
)
from s2sad.transform.relied import Named, Recorded
from s2sad.transform.specialiser import Done, Frame, Specialiser


def begin(s: Specialiser, state: State) -> None:
    """Let each variable be a value from the start of the program."""
    for key, space in state.variables.items():
        record = Record(types.ModuleType)
        record.kin.append(record)
        record.fields[""] = Cell(key[1], None, record)
        s.relied.variables[key] = named = Named(space, key[1], record)
        s.state[record.identity] = Constant(None)
        s.state[record.fields[""]] = _initial(s, named)


def _initial(s: Specialiser, named: Named) -> Abstract:
    """What a variable is at first: a constant that says what to do, or the value that is going to be read."""
    value = named.value
    if value is MISSING:
        return UNSET
    if is_plain(value) and is_switch(constant := Constant(value)):
        return constant
    named.operand = Value(named.name)
    s.needless.add(named.operand)
    if type(value) in (int, float, complex):
        s.numbers.add(named.operand)
    if type(value) is np.ndarray:
        s.arrays.add(named.operand)
    return named.operand


def read(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A variable that the program sets somewhere, by its name or as an attribute of its module."""
    named = _found(s, op, frame)
    if named is None:
        return None
    value = s.state[_cell(s, named)]
    if isinstance(value, Kept):
        return (s.emit("load", (), value.variable, named.name, frame.place or op.place),)
    return (presence.variable(s, value, named.name),)


def store(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """Set a variable, in its module too."""
    named = _found(s, op, frame)
    if named is None and op.kind == "store_global" and frame.place is not None:
        # A function that sets a variable which is not followed is called as it stands.
        raise NotSpecialisedError("elsewhere")
    if named is None:
        return None
    if s.expression:
        raise NotSpecialisedError("elsewhere")
    value, place = s.get(op.operands[-1], frame), frame.place or op.place
    parts = s.outside(remember, "remember"), _holder(s, named), Constant(named.name), value
    operands = s.operands(parts, place)
    s.write(Operation("call", operands, (Value(),), ("", "", ""), (), place))
    presence.assign(s, _cell(s, named), value, place)
    return (value,) * len(op.results)


def _found(s: Specialiser, op: Operation, frame: Frame) -> Named | None:
    """The variable that an operation reads or sets, if the program sets it."""
    if not s.relied.variables:
        return None
    resolver = frame.home.resolver
    space: Any = None if op.data in resolver.cells else resolver.globals
    if "attribute" in op.kind:
        space = _space(s, s.get(op.operands[0], frame), op.data, op.kind == "set_attribute")
    return _met(s, space, op.data)


def _met(s: Specialiser, space: Any, name: str) -> Named | None:
    """The variable of a module or class, if the program sets it."""
    named = s.relied.variables.get((id(space), name))
    if named is not None and not named.is_met:
        named.is_met = s.used = True
        _rest_on(s, named)
    return named


def of_module(given: Given) -> Done:
    """``globals()``, where no more is asked than whether names are there."""
    s, op = given.s, given.op
    if given.values or given.named or not op.results or not s.active:
        return None
    if not all(_asks(user) for user in inner(s.active[-1].body) if op.result in user.operands):
        return None
    home = given.frame.home
    return (Known(types.MappingProxyType(home.resolver.globals), home=home),)


def _asks(op: Operation) -> bool:
    """Whether an operation asks whether something has a name which no built-in function has."""
    name = op.operands[0].value if op.kind == "compare" and isinstance(op.operands[0], Constant) else None
    return op.data in ("in", "not in") and isinstance(name, str) and not hasattr(builtins, name)


def is_there(s: Specialiser, name: Abstract, names: Abstract) -> Operand | None:
    """Whether a module has a variable: ``"name" in globals()``; None for what else may be in something."""
    if not isinstance(names, Known) or type(names.value) is not types.MappingProxyType or names.home is None:
        return None
    if not isinstance(name, Constant) or not isinstance(name.value, str):
        return None
    space = names.home.resolver.globals
    named = _met(s, space, name.value)
    if named is None:
        s.used = True
        exists = name.value in space
        s.guard(Guard(space, name.value, True, _exists) if exists else Guard(space, name.value, MISSING))
        return Constant(exists)
    value = s.state[_cell(s, named)]
    if isinstance(value, (Kept, InList)) or (isinstance(value, Unsure) and value.given is None):
        raise NotSpecialisedError("unset")
    return value.given if isinstance(value, Unsure) else Constant(value is not UNSET)


def _exists(value: Any) -> bool:
    return value is not MISSING


def _space(s: Specialiser, base: Abstract, name: str, is_set: bool) -> Any:
    """What has the variable that is read or set as an attribute: a module or class, for an object its class."""
    value = base.value if isinstance(base, Known) else None
    if isinstance(value, types.ModuleType):
        return vars(value)
    if isinstance(value, type):
        return value if is_set else owner_of(value, name)
    if is_set:
        return None
    if isinstance(base, Record):
        has_own = base.fields.get(name) in s.state or (base.own is not None and name in base.own)
        return None if has_own or base.origin is not None else owner_of(base.cls, name)
    return owner_of(type(value), name) if is_object(value) and name not in attributes_of(value) else None


def _rest_on(s: Specialiser, named: Named) -> None:
    """Let the new program rest on what a variable is at first, as far as it is made for that."""
    value = named.value
    if is_disguised(value) or (own_class(value) is not None and value is not MISSING):
        raise NotSpecialisedError(named.name)
    if isinstance(named.space, type) and (hasattr(type(value), "__get__") or type(named.space) is not type):
        raise NotSpecialisedError(named.name)
    if value is MISSING:
        s.guard(Guard(named.space, named.name, MISSING))
    elif named.operand is None:
        s.guard(Guard(named.space, named.name, (True, value), Held(())))
    elif kind_of(value) is not None:
        s.guard(Guard(named.space, named.name, kind_of(value), ArrayHeld(())))
    else:
        s.guard(Guard(named.space, named.name, (True, type(value)), ClassHeld(())))


def _holder(s: Specialiser, named: Named) -> Known:
    """The module or class that has a variable."""
    if isinstance(named.space, type):
        return s.outside(named.space, named.space.__name__)
    module = sys.modules.get(str(named.space.get("__name__")))
    if module is None or vars(module) is not named.space:
        raise NotSpecialisedError("elsewhere")
    return s.outside(module, module.__name__.rpartition(".")[2])


def _cell(s: Specialiser, named: Named) -> Cell:
    for record in named.record.kin:
        if record.identity in s.state:
            return record.fields[""]
    raise NotSpecialisedError("elsewhere")


def read_at_start(s: Specialiser, named: Named, place: Place | None) -> None:
    """Read a variable from its module."""
    if named.operand is None:
        return
    value: Any = named.value
    resolver = s.making.home.resolver
    if id(value) in s.relied.reached:
        raise NotSpecialisedError("elsewhere")
    if resolver.globals is named.space and named.name not in resolver.cells:
        operand: Operand = s.emit("global", (), named.name, place=place)
    else:
        operand = s.emit("attribute", s.operands([_holder(s, named)], place), named.name, place=place)
        s.needless.discard(named.operand)
        named.is_attribute = True
    if kind_of(value) is not None:
        known = [Constant(value.ndim), Constant(value.dtype.char)]
        is_written = id(value) in s.relied.state
        read = s.outside(state_of, "state_of") if is_written else s.outside(array_of, "array_of")
        operands = s.operands([read, operand, *known], place)
        if is_written:
            if resolver.globals is not named.space:
                raise NotSpecialisedError("elsewhere")
            s.relied.entered[Recorded(named.name, ())] = None
    elif type(value) in (int, float, complex):
        operands = s.operands([s.outside(type(value), type(value).__name__), operand], place)
    else:
        s.write(Operation("copy", (operand,), (named.operand,), None, (), place))
        return
    s.write(Operation("call", operands, (named.operand,), ("",) * (len(operands) - 1), (), place))
