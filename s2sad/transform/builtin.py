"""Specialisation of calls of Python's own functions that are given something static."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import math
import types
from collections import Counter, defaultdict, deque, namedtuple
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from s2sad.ir.code import NONE, Constant, Operation, Value
from s2sad.runtime.classes import own_class, static_member
from s2sad.runtime.items import is_array as is_array_operand
from s2sad.runtime.items import is_function, is_place, no_function
from s2sad.transform import dict_copies, generators, signatures, sizes, text_methods, variables
from s2sad.transform.array_objects import is_array
from s2sad.transform.branches import fork
from s2sad.transform.class_tests import class_test, instance_test
from s2sad.transform.classes import GETTER
from s2sad.transform.constants import class_seen, shown_constant
from s2sad.transform.containers import (
    MAPPINGS,
    MOST_ITEMS,
    computed,
    is_counted,
    items_of,
    key_of,
    keyed,
    member_of_set,
    numbered,
    one_by_one,
    performed,
    run_through,
)
from s2sad.transform.copies import (
    as_dict,
    as_tuple,
    class_of_tuples,
    copied,
    deeply_copied,
    fields_of_class,
    namespace,
    replaced,
)
from s2sad.transform.each import of_each, takes_each
from s2sad.transform.getters import GETTERS, getter_of, got
from s2sad.transform.held import held_items, is_held, is_held_dict
from s2sad.transform.iteration import iterated, iterator_of
from s2sad.transform.iterators import Given
from s2sad.transform.known import (
    WRAPPING,
    Abstract,
    Generator,
    Items,
    Known,
    Partial,
    Record,
    Row,
    is_callable,
)
from s2sad.transform.objects import has_attribute, member_call, set_on, shown
from s2sad.transform.simple import is_number, is_structure
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.stand_ins import bounded
from s2sad.transform.streams import ITERATING, NAMES

Args = Sequence[tuple[str, Abstract]]


#: Classes of which the objects are constants.
_OF_NOTHING = (float, int, complex, str, bool)
#: Functions of which it is known what they make of a number.
_OF_NUMBERS = (float, int, abs, round, math.floor, math.ceil, math.trunc)
#: The functions that run through what they are given.
_RUNNING = (
    enumerate, zip, list, tuple, sum, map, filter, sorted, any, all, iter, min, max, math.prod, functools.reduce,
)  # fmt: skip


def built_in(s: Specialiser, function: Any, args: Args, op: Operation, frame: Frame) -> Done:
    """What a function of Python's own gives for static arguments; None where that is not known."""
    if not isinstance(function, type) and own_class(function) is not None:
        return None  # nor is it compared with any
    if function is iter and len(args) == 1 and isinstance(args[0][1], Record) and not is_array(args[0][1]):
        return (iterator_of(s, args[0][1], op, frame),)
    if (run := _run_through(function, args)) != slice(0, 0):
        through = [(kind, iterated(s, value, op, frame)) for kind, value in args[run]]
        args = [*args[: run.start], *through, *args[run.stop :]]
        if s.relied.writes_out:
            args = [(kind, numbered(v) if isinstance(v, Constant) or function in _LISTED else v) for kind, v in args]
    values = [s.plain(value) for kind, value in args if not kind]
    named = {kind: s.plain(value) for kind, value in args if kind}
    if "*" in named or "**" in named:
        return None
    if function is functools.partial:
        return (Partial(values[0], tuple(values[1:]), tuple(named.items())),) if is_callable(values[0]) else None
    if function is range and not named:
        return _range(s, values, args, op, frame)
    if function is functools.wraps and len(args) == 1:
        return (WRAPPING,)
    if isinstance(function, GETTERS):
        return got(s, function, args, op, frame)
    if isinstance(function, types.MethodDescriptorType) and function.__objclass__ is str:
        return text_methods.call(s, function, values, named, op, frame)
    if any(function is cls for cls in _OF_NOTHING) and not args:
        return (Constant(function()),)
    if values and not named and any(function is f for f in _OF_NUMBERS):
        return _of_number(s, function, args, op, frame)
    try:
        iterating, making, of_objects = ITERATING.get(function), _FUNCTIONS.get(function), _OF_OBJECTS.get(function)
    except TypeError:
        return None
    if iterating is not None:
        return _iterating(Given(s, values, named, op, frame), function, iterating)
    if function in (list, tuple) and len(values) == 1 and isinstance(values[0], Generator):
        items = generators.listed(s, values[0], op, frame)
        if function is list:
            return (items,)
        return (computed(s, "call", ("",), (Known(tuple, ("tuple",)), items), op, frame),)
    if len(values) == 1 and not named and function in _SHOWING:
        if isinstance(values[0], Record) and len(args) == 1:
            return shown(s, values[0], _SHOWING[function], op, frame)
        if text := shown_constant(function, values[0]):
            return (text,)
    if of_objects is not None:
        given = Given(s, values, named, op, frame)
        return of_each(given, function) if takes_each(values, function) else of_objects(given)
    if function is len and len(values) == 1 and isinstance(values[0], Record):
        return member_call(s, values[0], "__len__", [], op, frame)
    if making is None:
        return None
    if function is deque:
        return _deque(s, values, named)
    if any(function is cls for cls in MAPPINGS):
        made = _mapping(s, function, values, named)
        if made is None and function is dict and named and len(values) == 1:
            made = dict_copies.filled(s, values[0], dict_copies.named(named), "", frame.place or op.place)
        return made
    if any(function is getter for getter in GETTERS):
        return None if named else getter_of(function, values)
    known = (
        not values
        or function in (isinstance, callable, np.isscalar, is_function, is_place, is_array_operand)
        or any(is_structure(v) or isinstance(v, Constant) for v in values)
    )
    known = known or any(v in s.rows or v in s.types or (s.relied.writes_out and is_held(v)) for v in values)
    return making(s, values) if not named and known else None


def _run_through(function: Any, args: Args) -> slice:
    """Which of its arguments a function runs through."""
    if not any(function is f for f in _RUNNING):
        return slice(0, 0)
    count = sum(not kind for kind, _ in args)
    if function in (min, max) and count != 1:
        return slice(0, 0)
    first = 1 if function in (map, filter, functools.reduce) else 0
    return slice(first, count if function in (zip, map) else first + 1)


def _of_number(s: Specialiser, function: Any, args: Args, op: Operation, frame: Frame) -> Done:
    """What a function of one number gives for a known one; of an object what its method gives."""
    value, converted = args[0][1], False
    if isinstance(value, Record) and not (function in (float, int) and is_array(value)):
        done = member_call(s, value, _BY_METHODS[function], args[1:], op, frame)
        if not isinstance(done, tuple) or function not in (float, int):
            return done
        # What is of this very class is converted once more, to itself.
        value, converted = done[0], True
    known, found = s.plain(value), math.nan
    is_text = isinstance(known, Constant) and type(known.value) is str and function in (int, float)
    if isinstance(known, Constant) and (is_text or type(known.value) in (int, float, bool)) and len(args) == 1:
        try:
            found = function(known.value)
        except (ArithmeticError, ValueError):
            return None
        if type(found) is int or (function is float and type(known.value) is int):
            s.used |= is_text
            return (Constant(found),)
    elif not converted:
        return None
    called = s.get(op.operands[0], frame)
    made = s.emit("call", s.operands([called, value], frame.place or op.place), ("",), place=frame.place or op.place)
    s.numbers.add(made)
    if math.isfinite(found):
        sizes.note_number(s, made, found)
    return (made,)


def _range(s: Specialiser, values: Sequence[Abstract], args: Args, op: Operation, frame: Frame) -> Done:
    if not values or not all(isinstance(v, Constant) and type(v.value) is int for v in values):
        return None
    numbers = [v.value for v in values if isinstance(v, Constant)]
    given = [s.get(op.operands[0], frame), *(v for _, v in args)]
    operand = s.emit("call", s.operands(given, frame.place or op.place), op.data, place=frame.place or op.place)
    s.needless.add(operand)
    try:
        return (Known(range(*numbers), (), operand),)
    except (TypeError, ValueError):
        return None


def _iterating(given: Given, function: Any, run: Callable[[Given], Done]) -> Done:
    """A function that runs through what it is given: what it gives, or its call with what was made for it."""
    if given.named.keys() - set(NAMES.get(function, ())):
        return None
    before = list(given.values)
    if function in _LISTING and before and isinstance(before[0], Generator):
        given.values[0] = generators.listed(given.s, before[0], given.op, given.frame)
    done = run(given)
    if done is not None or all(a is b for a, b in zip(before, given.values, strict=True)):
        return done
    s, place = given.s, given.frame.place or given.op.place
    called = s.outside(function, function.__name__)
    operands = s.operands([called, *given.values, *given.named.values()], place)
    return (s.emit("call", operands, (*[""] * len(before), *given.named), place=place),)


def _callable(s: Specialiser, values: list[Abstract]) -> Done:
    if len(values) != 1:
        return None
    is_number = isinstance(values[0], Constant) or values[0] in s.numbers or values[0] in s.arrays
    return (Constant(False),) if is_number else (Constant(True),) if is_callable(values[0]) else None


def _is_function(s: Specialiser, values: list[Abstract]) -> Done:
    return (Constant(len(values) == 1 and is_callable(values[0])),)


def _is_place(s: Specialiser, values: list[Abstract]) -> Done:
    (value,) = values
    if isinstance(value, Known) and type(value.value) is tuple:
        return (Constant(is_place(value.value)),)
    row = Row(s.rows[value]) if isinstance(value, Value) and value in s.rows else value
    return (Constant(isinstance(row, Row) and row.cls is tuple and all(is_number(s, v) for v in row.items)),)


def _is_array(s: Specialiser, values: list[Abstract]) -> Done:
    (value,) = values
    fact = s.types.get(value) if isinstance(value, Value) else None
    if fact is not None or not isinstance(value, Value) or is_number(s, value):
        return (Constant(fact is not None and fact.kind == "array" and fact.ndim != 0),)
    # Where it is not known, it may be as soon as the types of arguments are.
    s.relied.asks_sizes |= not s.sized
    return (Constant(value in s.arrays),)


def _len(s: Specialiser, values: list[Abstract]) -> Done:
    (value,) = values
    content = s.content(value) if isinstance(value, Items) else None
    if content is not None:
        return (Constant(len(content.slots if content.keys is None else content.keys)),)
    if isinstance(value, Known) and is_held(value) and (held := held_items(s, value)) is not None:
        return (Constant(len(held)),)
    row = s.row(value)
    return None if row is None else (Constant(len(row)),)


def _sequence(kind: Callable[[Specialiser, list[Abstract]], Abstract]) -> Callable[[Specialiser, list[Abstract]], Done]:
    def made(s: Specialiser, values: list[Abstract]) -> Done:
        if len(values) == 1 and is_counted(s, values[0]):
            return (kind(s, list(one_by_one(s, values[0]))),)
        row = run_through(s, values[0]) if len(values) == 1 else () if not values else None
        return None if row is None else (kind(s, list(row)),)

    return made


def _deque(s: Specialiser, values: list[Abstract], named: dict[str, Abstract]) -> Done:
    """``deque(items, maxlen=n)``."""
    most = named.get("maxlen", values[1] if len(values) == 2 else NONE)
    if not named.keys() <= {"maxlen"} or len(values) + len(named) > 2:
        return None
    if isinstance(most, Value):
        return bounded(s, most) if not values or s.row(values[0]) == () else None
    if not isinstance(most, Constant):
        return None
    if not (most.value is None or (type(most.value) is int and most.value >= 0)):
        return None

    def made(s: Specialiser, row: list[Abstract]) -> Abstract:
        if most.value is None:
            return items_of(s, row, None, deque)
        return items_of(s, row[max(len(row) - most.value, 0) :], None, deque, most)

    return _sequence(made)(s, values[:1])


def _set(s: Specialiser, values: list[Abstract]) -> Done:
    row = run_through(s, values[0]) if len(values) == 1 else () if not values else None
    keys = None if row is None else [member_of_set(s, value) for value in row]
    if keys is None or None in keys:
        return None
    return (items_of(s, [], tuple(dict.fromkeys([key.value for key in keys if key is not None])), set),)


def pairs_of(s: Specialiser, values: list[Abstract], named: dict[str, Abstract]) -> dict[Any, Abstract] | None:
    """The keys and items of ``dict(...)``."""
    found: list[tuple[Any, Abstract]] = []
    for value in values:
        content = s.content(value) if isinstance(value, Items) else None
        if content is not None and content.keys is not None:
            found += zip(content.keys, [s.state[cell] for cell in content.slots], strict=True)
            continue
        if isinstance(value, Known) and is_held_dict(value):
            held = held_items(s, value)
            pairs = None if held is None else list(held.items())
        else:
            pairs = keyed(s, run_through(s, value))
        if pairs is None:
            return None
        found += pairs
    return {**dict(found), **named}


def _mapping(s: Specialiser, cls: type, values: list[Abstract], named: dict[str, Abstract]) -> Done:
    """``dict(...)`` and the like."""
    factory: Abstract | None = None
    if cls is defaultdict and values:
        factory, values = values[0], values[1:]
        factory = None if factory == NONE else factory
    whole = pairs_of(s, values, named)
    counts = cls is Counter and bool(values) and not (isinstance(values[0], Items) and values[0].cls in MAPPINGS)
    if whole is None or len(values) > 1 or len(whole) > MOST_ITEMS or counts:
        return None
    s.used = s.used or cls is not dict or bool(values)
    return (items_of(s, list(whole.values()), tuple(whole), cls, factory),)


def _from_keys(given: Given) -> Done:
    """``dict.fromkeys(keys, value)``."""
    s, values = given.s, given.values
    if not 1 <= len(values) <= 2 or given.named:
        return None
    row = run_through(s, numbered(values[0]))
    keys = [key_of(s, key) for key in row or ()]
    if row is None or None in keys or len(keys) > MOST_ITEMS:
        return None
    names = tuple(dict.fromkeys([key.value for key in keys if key is not None]))
    s.used = True
    return (items_of(s, [values[1] if len(values) > 1 else NONE] * len(names), names),)


def _getattr(given: Given) -> Done:
    """``getattr(object, "name")``, with a default value where it is known what says whether there is the attribute."""
    name = given.values[1] if len(given.values) in (2, 3) else None
    if not isinstance(name, Constant) or not isinstance(name.value, str) or given.named:
        return None
    read = functools.partial(computed, given.s, "attribute", name.value, given.values[:1], given.op, given.frame)
    known = has_attribute(given.s, given.values[0], name.value) if len(given.values) == 3 else Constant(True)
    if known is None or isinstance(known, Constant):
        return None if known is None else (read() if known.value else given.values[2],)
    arms = [lambda: End("yield", (read(),)), lambda: End("yield", (given.values[2],))]
    return fork(given.s, known, arms, [name.value], given.frame.place or given.op.place)


def _getattribute(given: Given) -> Done:
    """``object.__getattribute__(object, "name")``."""
    base = given.values[0] if len(given.values) == 2 else None
    if base is None or (isinstance(base, Record) and static_member(base.cls, GETTER) is not None):
        # What the class gives instead of a missing attribute is not asked for.
        return None
    return _getattr(given)


def _hasattr(given: Given) -> Done:
    """``hasattr(object, "name")``."""
    name = given.values[1] if len(given.values) == 2 else None
    if not isinstance(name, Constant) or not isinstance(name.value, str):
        return None
    known = has_attribute(given.s, given.values[0], name.value)
    return None if known is None else (known,)


def _type(given: Given) -> Done:
    """``type(x)``."""
    inside = given.frame.home.source.function
    cls = class_seen(given.values[0], inside) if len(given.values) == 1 else None
    if cls is None:
        return None
    given.s.used = True
    return (given.s.outside(cls, cls.__name__),)


def _vars(given: Given) -> Done:
    """``vars(object)``."""
    if len(given.values) != 1 or given.named:
        return None
    return (computed(given.s, "attribute", "__dict__", given.values, given.op, given.frame),)


def _setattr(given: Given) -> Done:
    """``setattr(object, "name", value)``."""
    name = given.values[1] if len(given.values) == 3 else None
    if not isinstance(name, Constant) or not isinstance(name.value, str):
        return None
    performed(given.s, "set_attribute", name.value, (given.values[0], given.values[2]), given.op, given.frame)
    return (NONE,)


def _object_setattr(given: Given) -> Done:
    """``object.__setattr__(object, "name", value)``, which a frozen dataclass does not forbid."""
    record, name, *_ = given.values if len(given.values) == 3 else (None, None)
    if not isinstance(record, Record) or not isinstance(name, Constant) or not isinstance(name.value, str):
        return None
    op = replace(given.op, kind="set_attribute", data=name.value)
    done = set_on(given.s, record, given.values[2], op, given.frame)
    return done if isinstance(done, End) else (NONE,)


def _isscalar(s: Specialiser, values: list[Abstract]) -> Done:
    (value,) = values if len(values) == 1 else (None,)
    if isinstance(value, Constant):
        return (Constant(np.isscalar(value.value)),)
    if value in s.numbers:
        return (Constant(True),)
    is_other = isinstance(value, (Items, Row, Record)) or value in s.rows or value in s.arrays
    return (Constant(False),) if is_other else None


def _unused(s: Specialiser, values: list[Abstract]) -> Done:
    return None


#: Functions that run through all items before they give anything.
_LISTING = (sum, sorted, min, max, math.prod)
#: Functions that go through all numbers of a range, where lists and dicts stay known.
_LISTED = (list, tuple, zip, enumerate)
#: Functions that make texts of objects, with the special methods that do so, the first that a class has.
_SHOWING: dict[Any, tuple[str, ...]] = {str: ("__str__", "__repr__"), repr: ("__repr__",)}
#: Functions that call a special method of an object.
_BY_METHODS: dict[Any, str] = {
    abs: "__abs__", round: "__round__", math.floor: "__floor__", math.ceil: "__ceil__",
    math.trunc: "__trunc__", float: "__float__", int: "__int__",
}  # fmt: skip
_FUNCTIONS: dict[Any, Callable[[Specialiser, list[Abstract]], Done]] = {
    callable: _callable,
    no_function: lambda s, values: None if is_callable(values[0]) else (values[0],),
    is_function: _is_function,
    is_place: _is_place,
    is_array_operand: _is_array,
    isinstance: instance_test,
    inspect.isclass: class_test,
    np.isscalar: _isscalar,
    len: _len,
    list: _sequence(lambda s, row: items_of(s, row)),
    tuple: _sequence(lambda s, row: Row(tuple(row))),
    set: _set,
    **dict.fromkeys((deque, *MAPPINGS, *GETTERS), _unused),
}
_OF_OBJECTS: dict[Any, Callable[[Given], Done]] = {
    type: _type,
    getattr: _getattr,
    setattr: _setattr,
    hasattr: _hasattr,
    object.__getattribute__: _getattribute,
    object.__setattr__: _object_setattr,
    vars: _vars,
    globals: variables.of_module,
    vars(dict)["fromkeys"]: _from_keys,
    SimpleNamespace: namespace,
    namedtuple: class_of_tuples,
    dataclasses.replace: replaced,
    dataclasses.asdict: as_dict,
    dataclasses.astuple: as_tuple,
    dataclasses.fields: fields_of_class,
    copy.copy: copied,
    copy.deepcopy: deeply_copied,
    inspect.getfullargspec: signatures.argument_names,
}
