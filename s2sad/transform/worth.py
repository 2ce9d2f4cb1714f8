"""Whether there is something for the specialiser to do in a function."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import re
import types
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import SimpleNamespace

import numpy as np

from s2sad import ops
from s2sad.frontend.called import is_followed
from s2sad.ir.code import Code, Operand, Operation, Value, inner, regions_in
from s2sad.ops.models import class_method_model_of, has_modelled_methods
from s2sad.runtime.classes import inside
from s2sad.transform import (
    classes,
    existing,
    foreign,
    objects,
    simple,
)
from s2sad.transform.containers import UNKNOWN
from s2sad.transform.dict_defaults import takes_default
from s2sad.transform.functionals import is_functional
from s2sad.transform.growing import is_followed_for_containers
from s2sad.transform.known import Home, Known
from s2sad.transform.patterns import MATCHING
from s2sad.transform.regions import (
    DISPLAYS,
    MAKING,
    changes_items,
    makes_containers,
)
from s2sad.transform.specialiser import Frame, Specialiser

#: Methods of lists and dicts, and functions, that the frontend leaves to the specialiser.
_METHODS = UNKNOWN | {"get", "pop", "copy", "index"}
_FUNCTIONS = (
    defaultdict, deque, OrderedDict, Counter, SimpleNamespace, dataclasses.replace, dataclasses.asdict,
    dataclasses.fields, iter, next,
    namedtuple, itertools.zip_longest, functools.reduce, map, filter, reversed, sorted, set, dict, getattr, setattr,
    *MATCHING,
)  # fmt: skip
_RUNNING = ("for", "comprehension", "generator", "unpack")


def is_worth_it(s: Specialiser, code: Code, home: Home) -> bool:
    """Whether a function makes functions or objects, passes functions, calls what may return one, or changes lists."""
    frame = Frame({}, home)
    values: dict[Value, object] = {}
    displays: set[object] = set()
    named: dict[Operand, str] = {}
    makes = makes_containers(code)
    if s.relied.writes_out and makes:
        return True
    for op in _all(code):
        if op.kind in DISPLAYS or (op.kind in ("copy", "binary", "tuple") and not displays.isdisjoint(op.operands)):
            displays.update(op.results)
        if op.kind == "call" and inside(values.get(op.operands[0]), "__name__") in MAKING:  # type: ignore[arg-type]
            displays.update(op.results)
        if op.kind == "copy" and op.operands[0] in values:
            values[op.result] = values[op.operands[0]]
            if simple.is_function(Known(values[op.result])):
                return True
        if op.kind in ("function", "lambda", "class") or (op.kind == "delete_item" and makes):
            return True
        if (op.kind == "dict" and any(op.data)) or (op.kind == "attribute" and op.data == "update"):
            return True
        if op.kind in ("binary", "inplace") and op.data == "|" and makes:
            return True
        if op.kind in _RUNNING and isinstance(op.operands[0], Value) and existing.is_object(values.get(op.operands[0])):
            return True
        if op.kind == "global":
            found, value = s.lookup(frame, op.data)
            if found and (callable(value) or existing.is_object(value) or isinstance(value, types.ModuleType)):
                values[op.result] = value
            if found and (
                _is_one_of(value, _FUNCTIONS)
                or isinstance(value, re.Pattern)
                or existing.holds_objects(value)
                or foreign.meets_model(value)
            ):
                return True
        elif op.kind in ("tuple", *DISPLAYS):
            held = [values.get(o) for o in op.operands]  # type: ignore[arg-type]
            stars = op.data if op.kind != "dict" else ()
            runs = any(star and existing.is_object(value) for star, value in zip(stars, held, strict=False))
            if runs or any(simple.is_structure(Known(value)) or existing.is_object(value) for value in held):
                return True
        elif op.kind == "attribute" and isinstance(op.operands[0], Value):
            base = values.get(op.operands[0])
            named[op.result] = op.data
            of_class = isinstance(base, type) and classes.is_followed_class(base)
            of_class = of_class or class_method_model_of(base, op.data) is not None
            is_passed = op.result not in s.called and ops.takes_operands(op.data)
            if of_class or is_passed or existing.is_object(base) or (makes and op.data in _METHODS):
                return True
            if isinstance(base, (types.ModuleType, np.ufunc, type)) or has_modelled_methods(base):
                values[op.result] = member = getattr(base, op.data, None)
                if _is_one_of(member, _FUNCTIONS) or existing.holds_objects(member) or foreign.meets_model(member):
                    return True
        elif op.kind == "call" and _is_call_worth_it(s, op, values, displays, named):
            return True
        if op.kind == "set_attribute" and existing.is_object(values.get(op.operands[0])):  # type: ignore[arg-type]
            return True
    # A variable may have one function or object or another.
    chosen = [values.get(o) for region in regions_in(code.body) for o in region.exit.operands]  # type: ignore[arg-type]
    return any(simple.is_function(Known(value)) or existing.is_object(value) for value in chosen)


def _all(code: Code) -> Iterator[Operation]:
    """The operations of a function, and of its generator expressions."""
    for op in inner(code.body):
        yield op
        if op.kind == "generator":
            yield from _all(op.data)


def _is_one_of(value: object, known: Sequence[object]) -> bool:
    return any(value is one for one in known)


def _is_call_worth_it(
    s: Specialiser,
    op: Operation,
    values: Mapping[Value, object],
    displays: Collection[object],
    named: Mapping[Operand, str],
) -> bool:
    """Whether a call makes an object, passes a function, may change a list that it is given, or has default values.

    The attributes that are called are ``named``.
    """
    first = op.operands[0]
    if any("*" in kind for kind in op.data) or takes_default(named.get(first, ""), op.data):
        return True
    if any(simple.is_function(Known(values.get(o))) for o in op.operands[1:]):  # type: ignore[arg-type]
        return True
    if any(existing.is_object(values.get(o)) for o in op.operands):  # type: ignore[arg-type]
        return True
    given = [values.get(o) for o in op.operands[1:] if isinstance(o, Value)]
    if named.get(first) == "view" and any(map(classes.is_quiet_array_class, given)):
        return True
    value = values.get(first) if isinstance(first, Value) else None
    if type(value) is functools.partial:
        value = value.func
    if is_functional(value) or ops.model_of(value) is not None:
        return True
    if isinstance(value, type) and (classes.is_followed_class(value) or classes.is_named_tuple(value)):
        return True
    if isinstance(value, types.FunctionType) and is_followed(value):
        if any(simple.is_own_class(Known(values.get(o))) for o in op.operands[1:]):  # type: ignore[arg-type]
            return True
        if (s.relied.writes_out or s.relied.inlines) and is_followed_for_containers(s, value):
            return True
        if value.__code__.co_flags & inspect.CO_GENERATOR:
            return True
        if objects.makes_something(value) or simple.leaves_functions(value, op.data):
            return True
        changes = not (_METHODS | {"append"}).isdisjoint(value.__code__.co_names)
        return any(o in displays for o in op.operands) and (changes or changes_items(s.code(value)))
    return False
