"""Whether a program reads the arrays, lists and dicts of its state otherwise than it is written to do.

An object that leads to one of them may be handed on, and parts of it may be read; whatever else is done with one, as a
copy or a loop, may read it.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable
from typing import Any

from s2sad.effects.mod_ref import Context
from s2sad.effects.objects import ARRAY, CONSTANT, ITEMS, KEYS, Object, Objects
from s2sad.effects.points_to import Activation
from s2sad.ir.code import Code, Constant, Operand, Operation, inner, regions_in
from s2sad.runtime.classes import is_of_library, own_class
from s2sad.runtime.copies import Reach
from s2sad.runtime.objects import record, remember, state_of, still
from s2sad.runtime.parts import led_to
from s2sad.runtime.sharing import in_one_place

#: What is called with objects that lead to arrays, lists and dicts of the state, and reads none for the program.
_HARMLESS = (state_of, remember, record, still, in_one_place, type, isinstance, id)
#: What hands a value on under another name.
_HANDING_ON = ("copy", "store", "load")


#: A variable of a module, and the attributes and items that lead on from there; whether each step is an item.
Path = tuple[str, tuple[tuple[bool, Any], ...]]


def is_read(
    contexts: Iterable[Context],
    kept: Collection[int],
    along: tuple[Code | None, Collection[Path]] = (None, ()),
    recorded: Collection[int] = (),
) -> bool:
    """Whether something reads one of some arrays, lists and dicts, or may do so by an object that leads there.

    `state_of` and `record` do not count.

    Args:
        contexts: What the functions of the program do.
        kept: The arrays, lists and dicts, by identity.
        along: The function that reads lists and dicts at its start, or to record in them, and the ways there.
        recorded: Those in which is recorded.  A function that is followed may read items of these: who reads the
            attributes that lead there is known by their names.
    """
    leading: dict[int, bool] = {}

    def leads(o: Object) -> bool:
        if o.kind != "global" or o.cls is None:
            return False
        if id(o.value) not in leading:
            leading[id(o.value)] = not Reach(_held_by(o.value), led_to).objects.keys().isdisjoint(kept)
        return leading[id(o.value)]

    for context in contexts:
        a, body = context.activation, context.activation.code.body
        checked, own = _checked(a), _read_along(a, along[1]) if a.code is along[0] else frozenset()
        for op in inner(body):
            if op in own or (op.kind == "tuple" and op.result in checked):
                continue
            for at, operand in enumerate(op.operands):
                objects = a.of(operand)
                if op.kind == "call" and at == 0:
                    # To make an object of a class reads nothing of what the class has.
                    objects = frozenset(o for o in objects if not isinstance(o.value, type))
                bound = {x for o in objects if o.cls is types.MethodType for x in a.load((o,), "__self__")}
                if any(map(leads, objects | bound)) and not is_harmless(a, op, objects, kept, recorded):
                    return True
        if any(leads(o) for region in regions_in(body) for operand in region.exit.operands for o in a.of(operand)):
            return True
    return False


def _held_by(value: Any) -> list[Any]:
    """An object, or what a class of the user's or a module of the user's has."""
    if isinstance(value, types.ModuleType):
        return [] if is_of_library(value.__name__) else list(vars(value).values())
    if isinstance(value, type):
        return [] if own_class(value) is None else [x for base in value.__mro__[:-1] for x in vars(base).values()]
    return [] if isinstance(value, CONSTANT) else [value]


def is_harmless(
    a: Activation, op: Operation, objects: Objects, kept: Collection[int] = (), recorded: Collection[int] = ()
) -> bool:
    """Whether an operation with an object that leads to the ``kept`` gives a part of it, sets one, or is followed."""
    if op.kind == "call":
        called, effect = a.of(op.operands[0]), a.effect(op)
        found = [(id(o.value), name) for o, name in (*effect.ref, *effect.mod)]
        touched = any(n in kept and (n not in recorded or name in (ITEMS, KEYS)) for n, name in found)
        return any(o.value is f for o in called for f in _HARMLESS) or (bool(effect.contexts) and not touched)
    if op.kind in _HANDING_ON:
        return True
    is_item = op.kind == "item" and isinstance(op.operands[1], Constant)
    own = frozenset(kept) - (frozenset(recorded) if is_item else frozenset())
    if any(is_array(o) or id(o.value) in own for o in objects):
        return False
    return is_item or (op.kind == "attribute" and op.data != "__dict__")


def _read_along(a: Activation, ways: Collection[Path]) -> frozenset[Operation]:
    """The operations that read along some ways, and items by constants of what is there; the first that copies that."""
    paths: dict[Operand, Path] = {}
    found: set[Operation] = set()
    left: set[Path | None] = set(ways)
    for op in inner(a.code.body):
        before = paths.get(op.operands[0]) if op.operands else None
        path: Path | None = None
        if op.kind == "global":
            path = op.data, ()
        elif op.kind == "call" and any(o.value is still for o in a.of(op.operands[0])):
            path = paths.get(op.operands[1])
        elif before is not None and op.kind == "attribute":
            path = before[0], (*before[1], (False, op.data))
        elif before is not None and op.kind == "item" and isinstance(op.operands[1], Constant):
            path = before[0], (*before[1], (True, op.operands[1].value))
        elif op.kind == "copy":
            path = before
        elif op.kind == "call" and len(op.operands) == 2 and (whole := paths.get(op.operands[1])) in left:
            if all(o.value in (list, dict) for o in a.of(op.operands[0])):
                left.discard(whole)
                found.add(op)
        if path is not None:
            paths[op.result] = path
            leads = any(way[0] == path[0] and way[1][: len(path[1])] == path[1] for way in ways)
            found.update([op] if leads or (op.kind == "item" and before in ways) else [])
    return frozenset(found)


def _checked(a: Activation) -> frozenset[Operand]:
    """What is given to the check of what leads to lists and dicts."""
    calls = [op for op in inner(a.code.body) if op.kind == "call"]
    checks = [op for op in calls if any(o.value is in_one_place for o in a.of(op.operands[0]))]
    return frozenset(operand for op in checks for operand in op.operands)


def is_array(o: Object) -> bool:
    """Whether an abstract object is an array of numbers that exists."""
    return o.kind == "global" and o.cls is ARRAY and o.value.dtype.kind in "fiubc"
