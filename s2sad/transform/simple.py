"""Specialisation of names, displays, subscripts, arithmetic and truth."""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad import ops
from s2sad.frontend.parameters import default_values
from s2sad.frontend.resolve import Guard
from s2sad.ir.code import NONE, UNSET, Constant, Definition, Operand, Operation, Value, Variable
from s2sad.ir.sizes import LiteralSizes
from s2sad.ir.types import describe
from s2sad.ops import spec_of
from s2sad.ops.models import ObjectModel
from s2sad.runtime.classes import module_of, own_class, static_member
from s2sad.transform import array_objects, arrays, presence, sizes, state
from s2sad.transform.choices import asked, is_object_or_none
from s2sad.transform.classes import is_followed_class
from s2sad.transform.constants import computed, real_computed
from s2sad.transform.containers import (
    MOST_ITEMS,
    change,
    displayed,
    items_of,
    key_of,
    run_through,
    slot,
)
from s2sad.transform.existing import is_container, now
from s2sad.transform.found import ClassHeld, ShapeHeld, kind_of, shape_of
from s2sad.transform.held import held_items, is_held_dict
from s2sad.transform.known import (
    WRAPPING,
    Abstract,
    Cell,
    Choice,
    Closure,
    Items,
    Kept,
    Known,
    Method,
    NotSpecialisedError,
    Partial,
    Record,
    Row,
    is_callable,
    is_static,
)
from s2sad.transform.patterns import is_match
from s2sad.transform.set_operators import merged
from s2sad.transform.specialiser import Done, Frame, Specialiser

# --- names


def global_name(s: Specialiser, op: Operation, frame: Frame) -> Done:
    found, value = s.lookup(frame, op.data)
    if not found:
        return None
    if value is NotImplemented:
        return (Known(value),)
    written = state.variable(s, value, frame.home, op.data)
    if written is not None:
        return (written,)
    of_users = own_class(value) is not None and not isinstance(value, (type, types.ModuleType))
    of_users = of_users or is_container(value)
    if type(value) in (int, str) and s.relied.writes_out:
        return _constant_of_module(s, op.data, frame, value)
    if not (callable(value) or isinstance(value, types.ModuleType) or of_users):
        if (model := ops.object_model_of(type(value))) is not None:
            return _foreign(s, op, frame, value, model)
        if not s.making.reads_alike(op.data, frame.home):
            return _of_other_module(s, op, frame)
        return _array_of_module(s, op, frame, value) if s.sized and kind_of(value) is not None else None
    if not of_users:
        return (Known(value, (op.data,), home=frame.home),)
    if not s.making.reads_alike(op.data, frame.home):
        raise NotSpecialisedError(op.data)
    operand = s.emit("global", (), op.data, place=frame.place or op.place)
    s.needless.add(operand)
    if not frame.home.resolver.is_rebound(op.data):
        s.relied.rereads[operand] = Known(value, (op.data,))
    return (now(s, Known(value, (), operand, (frame.home, op.data, ()))),)


def _constant_of_module(s: Specialiser, name: str, frame: Frame, value: Any) -> Done:
    """An integer or text of a variable of a module or closure: how often a loop runs, which item is meant, a key."""
    resolver = frame.home.resolver
    if resolver.is_rebound(name):
        return None
    s.guard(Guard(resolver.cells.get(name, resolver.globals), name, value))
    return (Constant(value),)


def _of_other_module(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A number or array of the module of another function, which goes on to be read there."""
    function = frame.home.source.function
    module = sys.modules.get(module_of(function))
    if module is None or vars(module) is not function.__globals__ or op.data not in vars(module):
        return None
    if op.data in function.__code__.co_freevars or frame.home.resolver.is_rebound(op.data):
        return None
    whole = s.dynamic(s.outside(module, module.__name__.rpartition(".")[2]))
    return (s.emit("attribute", (whole,), op.data, op.result.name, frame.place or op.place),)


def _foreign(s: Specialiser, op: Operation, frame: Frame, value: Any, model: ObjectModel) -> Done:
    """An object of a library that a variable of a module or closure has, and for which a model stands."""
    resolver = frame.home.resolver
    if resolver.is_rebound(op.data) or not s.making.reads_alike(op.data, frame.home):
        return None
    s.guard(Guard(resolver.cells.get(op.data, resolver.globals), op.data, (True, type(value)), ClassHeld(())))
    operand = s.emit("global", (), op.data, op.result.name, frame.place or op.place)
    s.foreign[operand] = model
    s.relied.invariant.add(operand)
    return (operand,)


def _array_of_module(s: Specialiser, op: Operation, frame: Frame, array: np.ndarray[Any, Any]) -> Done:
    """An array of a variable of a module or closure, of which the sizes are known as those of arguments are."""
    resolver = frame.home.resolver
    if array.dtype.kind not in "fiub" or resolver.is_rebound(op.data) or not s.making.reads_alike(op.data, frame.home):
        return None
    space = resolver.cells.get(op.data, resolver.globals)
    s.guard(Guard(space, op.data, shape_of(array), ShapeHeld(())))
    operand = s.emit("global", (), op.data, op.result.name, frame.place or op.place)
    sizes.note(s, operand, describe(array, op.data, LiteralSizes()))
    return (operand,)


def load(s: Specialiser, op: Operation, frame: Frame) -> Done:
    cell = frame.env.get(op.data)
    if isinstance(cell, Variable):
        return (s.emit("load", (), cell, op.result.name, frame.place or op.place),)
    if op.data in s.making.caught:
        found = s.emit("load", (), op.data, op.result.name, frame.place or op.place)
        s.caught.add(found)
        return (found,)
    if not isinstance(cell, Cell):
        return None
    value = s.state.get(cell, UNSET)
    if isinstance(value, Kept):
        return (s.emit("load", (), value.variable, cell.name, frame.place or op.place),)
    return (presence.variable(s, value, cell.name),)


def store(s: Specialiser, op: Operation, frame: Frame) -> Done:
    cell = frame.env.get(op.data)
    value = s.get(op.operands[0], frame) if isinstance(cell, (Cell, Variable)) else NONE
    if isinstance(cell, Variable):
        operand = s.dynamic(value)
        s.write(Operation("store", (operand,), (), cell, (), frame.place or op.place))
        return (operand,) * len(op.results)
    if not isinstance(cell, Cell):
        return None
    value = s.named(value, cell.name, frame.place or op.place)
    presence.assign(s, cell, value, frame.place or op.place)
    return (value,) * len(op.results)


def copy(s: Specialiser, op: Operation, frame: Frame) -> Done:
    value = s.get(op.operands[0], frame)
    known = is_static(value) or isinstance(s.plain(value), Constant) or value in s.rows or value in s.foreign
    # What is called by another name is called by its own.
    s.used |= is_function(value)
    return (s.named(value, op.result.name, frame.place or op.place),) if known else None


def function(s: Specialiser, op: Operation, frame: Frame) -> Done:
    definition: Definition = op.data
    if definition.code.awaits or any(s.get(o, frame) is not WRAPPING for o in op.operands[: definition.decorators]):
        return None
    return (closure(s, op, frame),)


def closure(s: Specialiser, op: Operation, frame: Frame) -> Closure:
    """A function that the program makes, without its decorators."""
    definition: Definition = op.data
    count = definition.decorators
    values = [s.get(o, frame) for o in op.operands[count : count + len(definition.defaults)]]
    defaults = dict(zip(definition.defaults, values, strict=True))
    made = Closure(definition, op.kind == "lambda", frame.env, defaults, frame.home, frame.owner, op.place)
    made.identity.whole, s.state[made.identity] = made, NONE
    return made


# --- displays


def is_structure(value: Abstract) -> bool:
    """Whether a value is static, and more than an object that exists."""
    return is_static(value) and (not isinstance(value, Known) or is_function(value) or is_own_class(value))


def is_function(value: Abstract) -> bool:
    """Whether a value is a function that exists."""
    if not isinstance(value, Known) or isinstance(value.value, (type, types.ModuleType)):
        return False
    return callable(value.value) and own_class(value.value) is None


def leaves_functions(function: types.FunctionType, kinds: Sequence[str]) -> bool:
    """Whether a call with arguments of these kinds leaves a parameter at a default value that is a function."""
    passed = {*function.__code__.co_varnames[: kinds.count("")], *kinds}
    defaults = default_values(function).items()
    return any(name not in passed and is_function(Known(default.value)) for name, default in defaults)


def is_own_class(value: Abstract) -> bool:
    """Whether a value is a class of which objects are taken apart."""
    return isinstance(value, Known) and isinstance(value.value, type) and is_followed_class(value.value)


def _items(s: Specialiser, op: Operation, frame: Frame) -> list[Abstract] | None:
    """The items of a display, where it is known which these are."""
    items: list[Abstract] = []
    for operand, star in zip(op.operands, op.data, strict=True):
        value = s.get(operand, frame)
        if star and isinstance(value, Record) and array_objects.is_array(value):
            row = arrays.items(s, value, op, frame)
        else:
            row = run_through(s, value) if star else (value,)
        if row is None:
            return None
        items += row
    return items


def tuple_display(s: Specialiser, op: Operation, frame: Frame) -> Done:
    items = _items(s, op, frame)
    if items is None:
        return None
    if any(map(is_structure, items)):
        return (Row(tuple(items)),)
    place = frame.place or op.place
    made = s.emit("tuple", s.operands(items, place), (False,) * len(items), op.result.name, place)
    s.rows[made] = tuple(items)
    return (made,)


def list_display(s: Specialiser, op: Operation, frame: Frame) -> Done:
    items = _items(s, op, frame)
    if items is None or len(items) > MOST_ITEMS:
        return None
    return (displayed(s, items_of(s, items), "list", op.result.name, frame.place or op.place),)


def dict_display(s: Specialiser, op: Operation, frame: Frame) -> Done:
    found: dict[Any, Abstract] = {}
    for key, value, star in zip(op.operands[::2], op.operands[1::2], op.data, strict=True):
        other = s.get(value, frame)
        if star:
            content = s.content(other) if isinstance(other, Items) else None
            held = held_items(s, other) if is_held_dict(other) and isinstance(other, Known) else None
            if content is not None and content.keys is not None:
                held = dict(zip(content.keys, [s.state[cell] for cell in content.slots], strict=True))
            if held is None:
                return None
            s.used |= isinstance(other, Known) and type(other.value) is types.MappingProxyType
            found.update(held)
            continue
        name = key_of(s, s.get(key, frame))
        if name is None:
            return None
        found[name.value] = other
    made = items_of(s, list(found.values()), tuple(found)) if len(found) <= MOST_ITEMS else None
    return None if made is None else (displayed(s, made, "dict", op.result.name, frame.place or op.place),)


def set_display(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A set of constants."""
    keys = [key_of(s, s.get(o, frame)) for o in op.operands]
    if any(op.data) or None in keys:
        return None
    return (items_of(s, [], tuple(dict.fromkeys(key.value for key in keys if key is not None)), set),)


# --- truth


def truth(s: Specialiser, value: Abstract) -> bool | None:
    """Whether a value counts as true, where that is known."""
    value = s.plain(value)
    if isinstance(value, Constant):
        return None if value is UNSET else bool(value.value)
    if (
        is_match(value)
        or isinstance(value, (Closure, Method, Partial))
        or (isinstance(value, Choice) and is_callable(value))
    ):
        return True
    if (
        isinstance(value, Record)
        and static_member(value.cls, "__bool__") is static_member(value.cls, "__len__") is None
    ):
        return True
    if is_function(value):
        cls = type(value.value)  # type: ignore[union-attr]
        return None if hasattr(cls, "__bool__") or hasattr(cls, "__len__") else True
    if isinstance(value, Items):
        content = s.content(value)
        return None if content is None else bool(content.slots if content.keys is None else content.keys)
    row = None if isinstance(value, Value) else s.row(value)
    return None if row is None else bool(row)


#: Operators by which numbers give numbers.
_OF_NUMBERS = frozenset("+ - * / // % **".split())


def negation(s: Specialiser, op: Operation, frame: Frame) -> Done:
    if op.data == "-":
        value = s.plain(s.get(op.operands[0], frame))
        is_real = isinstance(value, Constant) and type(value.value) in (int, float)
        return (Constant(-value.value),) if is_real else None  # type: ignore[union-attr, operator]
    if op.data != "not":
        return None
    value = s.get(op.operands[0], frame)
    if isinstance(value, Choice) and is_object_or_none(value):
        return (asked(s, value, lambda side: not truth(s, side), frame.place or op.place),)
    known = truth(s, value)
    return None if known is None else (Constant(not known),)


def arithmetic(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An operator of two constants, or of lists and tuples of known items."""
    given = [s.get(o, frame) for o in op.operands]
    left, right = map(s.plain, given)
    known = computed(op.data, left, right)
    if known is not None:
        return (s.named(known, op.result.name, frame.place or op.place),)
    if (number := real_computed(op.data, left, right)) is not None:
        # What is no whole number is not written in its digits.
        given = [k if type(k.value) is int else v for k, v in zip((left, right), given, strict=True)]  # type: ignore[union-attr]
        made = s.emit("binary", s.operands(given, None), op.data, op.result.name, frame.place or op.place)
        s.numbers.add(made)
        sizes.note_number(s, made, number)
        return (made,)
    are_numbers = op.data in _OF_NUMBERS and is_number(s, left) and is_number(s, right)
    if are_numbers or (op.kind == "inplace" and left in s.numbers and not is_structure(right)):
        made = s.emit("binary", s.operands([left, right], None), op.data, op.result.name, frame.place or op.place)
        if are_numbers:
            s.numbers.add(made)
        return (made,)
    if op.data == "*" and op.kind == "binary":
        return _repeated(s, left, right) or _repeated(s, right, left)
    if not is_structure(left) and not is_structure(right):
        return None
    contents = [s.content(v) if isinstance(v, Items) else None for v in (left, right)]
    if op.data == "|" and isinstance(left, Items) and left.cls is dict:
        return merged(s, left, right, op.kind == "inplace")
    if op.kind == "inplace" and op.data == "+" and isinstance(left, Items) and left.cls is list and contents[0]:
        more = run_through(s, right)
        if more is None:
            return None
        change(s, left, (*contents[0].slots, *(slot(s, v) for v in more)))
        return (left,)
    rows = s.row(left), s.row(right)
    if op.data != "+" or rows[0] is None or rows[1] is None or isinstance(left, Items) != isinstance(right, Items):
        return None
    both = [*rows[0], *rows[1]]
    if not isinstance(left, Items) or not isinstance(right, Items):
        return (Row(tuple(both)),)
    return (items_of(s, both),) if left.cls is right.cls is list else None


def is_number(s: Specialiser, value: Abstract) -> bool:
    """Whether a value is known to be a number."""
    return value in s.numbers or (isinstance(value, Constant) and type(value.value) in (int, float, complex))


def _repeated(s: Specialiser, value: Abstract, times: Abstract) -> Done:
    """``[a, b] * n``."""
    row = None if isinstance(value, Value) or (isinstance(value, Items) and value.cls is not list) else s.row(value)
    if (
        row is None
        or not isinstance(times, Constant)
        or type(times.value) is not int
        or times.value * len(row) > MOST_ITEMS
    ):
        return None
    items = list(row) * times.value
    return (items_of(s, items),) if isinstance(value, Items) else (Row(tuple(items)),)


def is_text(value: Abstract) -> bool:
    """Whether a value is a text that is known."""
    return isinstance(value, Constant) and type(value.value) is str


def has_rule(value: Any) -> bool:
    """Whether a callable is in the operation table."""
    return spec_of(value) is not None


def operand_of(value: Abstract) -> Operand | None:
    """The operand of the new program that a value has already."""
    if not is_static(value):
        return value  # type: ignore[return-value]
    return value.operand if isinstance(value, (Known, Method)) else None
