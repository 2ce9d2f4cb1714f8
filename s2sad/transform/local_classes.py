"""Classes that a function defines: made when it is specialised, with methods that see the variables around them.

The body of such a class gives names to methods and constants, and what it evaluates besides are decorators and
annotations. So no run can see that it has no class of its own.
"""

from __future__ import annotations

import abc
import builtins
import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Any

from s2sad.ir.code import Code, Constant, Definition, Operation, Value
from s2sad.runtime.classes import inside, static_member
from s2sad.transform.classes import is_named_tuple, is_simple
from s2sad.transform.existing import guard_member, owner
from s2sad.transform.known import Abstract, Known, Method, NotSpecialisedError, Partial, is_plain
from s2sad.transform.regions import is_plain_class
from s2sad.transform.simple import closure
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: What may stand for a base beside classes that are followed themselves.
_BASES: tuple[Any, ...] = (object, abc.ABC, typing.NamedTuple)
_DECORATORS: tuple[Any, ...] = (staticmethod, classmethod, property)


def local_class(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A class that the function defines."""
    definition: Definition = op.data
    given = [s.get(o, frame) for o in op.operands]
    decorators = list(map(_dataclass, given[: definition.decorators]))
    bases = [
        value.value for value in given[definition.decorators :] if isinstance(value, Known) and _is_base(value.value)
    ]
    body = _body(frame.home.source.function.__code__, definition.code)
    if body is None or None in decorators or len(decorators) + len(bases) < len(given) or any(definition.arguments):
        raise NotSpecialisedError("class")
    if not (is_plain_class(definition.code) and _has_known_decorators(s, definition.code, frame)):
        raise NotSpecialisedError("class")
    # Methods are run by their texts, which see the variables themselves.
    cells = tuple([types.CellType() for _ in body.co_freevars])
    space = frame.home.source.function.__globals__
    cls: Any = builtins.__build_class__(types.FunctionType(body, space, closure=cells), body.co_name, *bases)
    for decorator in reversed(decorators):
        cls = dataclasses.dataclass(**decorator)(cls) if decorator is not None else cls
    if not (is_simple(cls) or is_named_tuple(cls)):
        raise NotSpecialisedError("class")
    made = [o for o in definition.code.body.operations if o.kind == "function"]
    texts = dict(zip(_functions(body), made, strict=True))
    s.local[cls] = None
    for function in _methods(cls):
        if (text := texts.get(function.__code__)) is not None:
            s.local[function] = closure(s, text, frame)
    return (Known(cls),)


def attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An attribute of a class that the function defines; None of anything else."""
    base = s.plain(s.get(op.operands[0], frame))
    if not (isinstance(base, Known) and isinstance(base.value, type) and base.value in s.local):
        return None
    member = static_member(base.value, op.data)
    guard_member(s, base.value, op.data)
    if op.data == "__name__":
        return (Constant(base.value.__name__),)
    if is_plain(member) and member is not None:
        return (Constant(member),)
    function = inside(member, "__func__") or member
    if not isinstance(function, types.FunctionType):
        raise NotSpecialisedError("class")
    is_of_class = isinstance(member, classmethod)
    return (Method(Known(function), base, owner(base.value, op.data)) if is_of_class else Known(function),)


def _dataclass(decorator: Abstract) -> dict[str, Any] | None:
    """What is given to the decorator that makes a dataclass; None of another."""
    match decorator:
        case Known(value=dataclasses.dataclass):
            return {}
        case Partial(function=Known(value=dataclasses.dataclass), keywords=keywords):
            return {name: value.value for name, value in keywords if isinstance(value, Constant)}
    return None


def _is_base(base: Any) -> bool:
    if not isinstance(base, type) or isinstance(static_member(base, "__init_subclass__"), classmethod):
        return base in _BASES
    return base in _BASES or is_simple(base) or is_named_tuple(base)


def _has_known_decorators(s: Specialiser, code: Code, frame: Frame) -> bool:
    """Whether the decorators of methods are those of Python."""
    read: dict[Value, Operation] = {r: o for o in code.body.operations for r in o.results}
    for op in code.body.operations:
        for operand in op.operands[: op.data.decorators] if op.kind == "function" else ():
            made = read.get(operand, op) if isinstance(operand, Value) else op
            of_python = made.kind == "global" and s.lookup(frame, made.data)[1] in _DECORATORS
            if not of_python and (made.kind != "attribute" or made.data != "setter"):
                return False
    return True


def _body(code: types.CodeType, wanted: Code) -> types.CodeType | None:
    """The code of the body of a class in that of the function around it; None where there are several of its name."""
    found = [c for c in _all_functions(code) if c.co_name == wanted.name and "__qualname__" in c.co_names]
    private = f"_{wanted.name.lstrip('_')}__"
    if len(found) != 1 or any(n.startswith(private) for c in _all_functions(found[0]) for n in c.co_names):
        return None
    return found[0]


def _functions(code: types.CodeType) -> list[types.CodeType]:
    return [c for c in code.co_consts if isinstance(c, types.CodeType)]


def _all_functions(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in _functions(code):
        yield from _all_functions(inner)


def _methods(cls: type) -> Iterator[types.FunctionType]:
    for member in vars(cls).values():
        for function in (member, *(inside(member, name) for name in ("__func__", "fget", "fset"))):
            if isinstance(function, types.FunctionType):
                yield function
