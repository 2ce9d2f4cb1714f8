"""``super()``: the members that an object has from the classes after the one in whose body it stands."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from s2sad.effects.objects import NOTHING, Object, Objects
from s2sad.ir.code import Code, Operation, Value, codes, regions_in
from s2sad.runtime.classes import does_as, initialises_exception

if TYPE_CHECKING:
    from s2sad.effects.library import Arguments
    from s2sad.effects.points_to import Activation

_RECEIVER = "__self__"
#: What does nothing with an object of a class of Python.
_QUIET = (object.__init__,)


def made(a: Activation, op: Operation, args: Arguments) -> Objects:
    """What ``super()`` gives; where more is done with it than to read its attributes, that is not known."""
    found, cls = a.function.names("__class__")
    param = a.code.params[0] if a.code.params else None
    first = NOTHING if param is None else a.heap.param(0, param.name, a.shapes.get(0))
    is_plain = found and isinstance(cls, type) and type(cls).__getattribute__ is type.__getattribute__
    is_own = param is not None and isinstance(param.target, Value) and not _is_bound_again(a.code, param.target)
    if args.all() or args.positional or not (is_plain and is_own and _is_only_read(a.code, op)):
        a.unknown(op, args.all(), first)
        return a.site(op, super)
    whole = a.site(op, super, cls)
    a.store(whole, _RECEIVER, first)
    return whole


def attribute(a: Activation, op: Operation, o: Object, name: str) -> Objects:
    """An attribute of it."""
    return NOTHING.union(*(_of_receiver(a, op, receiver, o.value, name) for receiver in a.heap.load(o, _RECEIVER)))


def _of_receiver(a: Activation, op: Operation, o: Object, after: Any, name: str) -> Objects:
    cls = o.value if o.kind == "global" and isinstance(o.value, type) else o.cls
    order = cls.__mro__ if isinstance(cls, type) else ()
    later = order[order.index(after) + 1 :] if after in order else ()
    owner = next((base for base in later if name in vars(base)), None)
    if owner is None or any(a.heap.is_stored(base, name) for base in later):
        return a.unknown(op, [o])
    member = vars(owner)[name]
    if does_as(member, staticmethod) and isinstance(member.__func__, types.FunctionType):
        return a.heap.known(member.__func__)
    if does_as(member, classmethod) and isinstance(member.__func__, types.FunctionType):
        (first,) = a.heap.known(cls)
        return a.heap.method(first, f"{owner.__name__}.{name}", member.__func__)
    if o.cls is not cls:
        # Of a class functions are no methods.
        return a.heap.known(member) if isinstance(member, types.FunctionType) else a.unknown(op, [o])
    if isinstance(member, types.FunctionType):
        return a.heap.method(o, f"{owner.__name__}.{name}", member)
    if does_as(member, property) and isinstance(member.fget, types.FunctionType):
        return a.call(op, a.heap.known(member.fget), [frozenset((o,))])
    if initialises_exception(member) and a.only_calls(op):
        return a.heap.method(o, f"{owner.__name__}.{name}", member)
    if any(member is quiet for quiet in _QUIET) and a.only_calls(op):
        return NOTHING
    return a.unknown(op, [o])


def _is_only_read(code: Code, op: Operation) -> bool:
    """Whether nothing is done with the result of an operation but to read its attributes."""
    results = set(op.results)
    if any(value in results for part in codes(code) for value in part.seen):
        return False
    for region in regions_in(code.body):
        if not results.isdisjoint(region.exit.operands):
            return False
        for user in region.operations:
            if user.kind != "attribute" and not results.isdisjoint(user.operands):
                return False
    return True


def _is_bound_again(code: Code, target: Value) -> bool:
    """Whether the first parameter may be another object where ``super()`` asks for it."""
    return any(
        value is not target and value.name == target.name
        for region in regions_in(code.body)
        for value in (*region.params, *(result for op in region.operations for result in op.results))
    )
