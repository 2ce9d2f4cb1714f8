"""Specialisation: functions and objects that a program makes and uses itself become plain functions and values.

The program is run once at compile time over abstract values (:mod:`s2sad.transform.known`), and what cannot be done
then is written down as a new program (online partial evaluation; Jones, Gomard and Sestoft 1993, chapters 4 and 10).
Calls of functions that the program makes are inlined, or become calls of functions of their own that get what they
capture as further arguments; so do functions that get a function as an argument.  Attributes of objects that the
program makes become values.

What the specialiser does not know stays as it is.  Where that is not possible, since what would have to exist at run
time has been taken apart, the function stays as a whole as it is.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, replace

from s2sad.errors import SourceError
from s2sad.frontend.called import is_followed
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Source
from s2sad.ir.code import UNSET, Code, Value, Variable, inner
from s2sad.transform import branches, calls, comprehensions, existing, loops, objects, operators, simple
from s2sad.transform.functions import same_function
from s2sad.transform.known import Cell, Home, Known, NotSpecialisedError
from s2sad.transform.making import Making
from s2sad.transform.regions import names_taken, pruned, settled, shared_variables
from s2sad.transform.specialiser import Done, Frame, Handler, Returned, Specialiser


def _either(*handlers: Handler) -> Handler:
    """The first of some handlers that knows what an operation does."""

    def handler(s: Specialiser, op: object, frame: Frame) -> Done:
        for one in handlers:
            done = one(s, op, frame)  # type: ignore[arg-type]
            if done is not None:
                return done
        return None

    return handler


HANDLERS: dict[str, Handler] = {
    "global": simple.global_name,
    "load": simple.load,
    "store": simple.store,
    "copy": simple.copy,
    "function": simple.function,
    "lambda": simple.function,
    "tuple": simple.tuple_display,
    "list": simple.list_display,
    "dict": simple.dict_display,
    "item": _either(simple.item, operators.operator),
    "unpack": simple.unpack,
    "compare": _either(simple.compare, operators.operator),
    "unary": _either(simple.negation, operators.operator),
    "binary": _either(simple.arithmetic, operators.operator),
    "inplace": _either(simple.arithmetic, operators.operator),
    "attribute": objects.attribute,
    "set_attribute": _either(objects.set_attribute, existing.changes),
    "set_item": existing.changes,
    "delete_item": existing.changes,
    "delete_attribute": existing.changes,
    "store_global": existing.changes,
    "delete_global": existing.changes,
    "call": calls.call,
    "comprehension": comprehensions.comprehension,
    "generator": comprehensions.generator,
    "if": branches.branch,
    "choose": branches.branch,
    "and": branches.connected,
    "or": branches.connected,
    "for": loops.for_loop,
    "while": loops.while_loop,
}


@dataclass(frozen=True)
class Specialised:
    """A function that has been specialised: its source, those of the functions that it calls, and guards."""

    source: Source
    sources: dict[types.FunctionType, Source]
    guards: tuple[Guard, ...]


def specialised(source: Source, read: Callable[[types.FunctionType], Source]) -> Specialised | None:
    """A function without the functions and objects that it makes and uses itself; None if it stays as it is.

    Args:
        source: The function.
        read: What reads the source of a function that it calls.
    """
    s = Specialiser(read, HANDLERS, calls.call_function)
    function = source.function
    home = s.homes[function] = Home(source, Resolver(function, frozenset()))
    try:
        code = s.code(function)
        if not _is_worth_it(s, code, home):
            return None
        made = _whole(s, code, home)
        if made is None:
            return None
        whole = same_function(made, home, s.making.cells, s.reads)
    except (NotSpecialisedError, SourceError, RecursionError):
        return None
    guards = [*s.guards.values(), *(g for h in s.homes.values() for g in h.resolver.guards.values())]
    return Specialised(whole, s.sources, tuple(guards))


def _is_worth_it(s: Specialiser, code: Code, home: Home) -> bool:
    """Whether a function makes functions or objects, passes functions, or calls what may return one."""
    frame = Frame({}, home)
    values: dict[Value, object] = {}
    for op in inner(code.body):
        if op.kind in ("function", "lambda"):
            return True
        if op.kind == "global":
            found, value = s.lookup(frame, op.data)
            if found and (callable(value) or existing.is_object(value)):
                values[op.result] = value
        elif op.kind == "attribute" and isinstance(op.operands[0], Value):
            if existing.is_object(values.get(op.operands[0])):
                return True
        elif op.kind == "call":
            if any("*" in kind for kind in op.data):
                return True
            first = op.operands[0]
            if any(simple.is_function(Known(values.get(o))) for o in op.operands[1:]):  # type: ignore[arg-type]
                return True
            if any(existing.is_object(values.get(o)) for o in op.operands):  # type: ignore[arg-type]
                return True
            value = values.get(first) if isinstance(first, Value) else None
            if isinstance(value, type) and objects.is_simple(value):
                return True
            if isinstance(value, types.FunctionType) and is_followed(value) and _makes_functions(value):
                return True
    return False


def _makes_functions(function: types.FunctionType) -> bool:
    """Whether a function makes others."""
    inside = [c for c in function.__code__.co_consts if isinstance(c, types.CodeType)]
    return any(c.co_name[:1] != "<" or c.co_name == "<lambda>" for c in inside)


def _whole(s: Specialiser, code: Code, home: Home) -> Code | None:
    """A function specialised; None if there is nothing to do."""
    function = home.source.function
    shared = shared_variables(code)
    memory = frozenset(code.variables) - shared
    s.making = Making(home, names_taken(function, code), memory)
    returns: list[Returned] = []
    frame = Frame({}, home, None, None, returns)
    for variable in shared:
        cell = frame.env[variable] = Cell(variable.name)
        s.state[cell] = UNSET
    params = []
    for param in code.params:
        value = Value(param.name)
        if isinstance(param.target, Variable) and param.target in shared:
            s.state[frame.env[param.target]] = value  # type: ignore[index]
            params.append(replace(param, target=value))
        elif isinstance(param.target, Value):
            frame.env[param.target] = value
            params.append(replace(param, target=value))
        else:
            params.append(param)
    s.active.append(code)
    region = s.region_of(code.body, frame)
    if not s.used:
        return None
    body = settled(region, {r.token: s.settle(r, lambda r: (s.dynamic(r.value),)) for r in returns})
    made = replace(code, params=tuple(params), body=body, variables=tuple([v for v in code.variables if v in memory]))
    made = pruned(made, s.needless)
    if any(o.kind in ("function", "class") for o in inner(made.body)) and not any(
        o.kind in ("function", "class") for o in inner(code.body)
    ):
        raise NotSpecialisedError("function")
    return made
