"""Whether a program reads the arrays, lists and dicts of its state otherwise than it is written to do.

An object that leads to one of them may be handed on, and parts of it may be read; whatever else is done with one, as a
copy or a loop, may read it.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable

from s2sad.effects.mod_ref import Context
from s2sad.effects.objects import ARRAY, CONSTANT, ITEMS, KEYS, Object, Objects
from s2sad.effects.points_to import Activation
from s2sad.ir.code import Code, Constant, Operand, Operation, inner, regions_in
from s2sad.runtime.copies import Reach
from s2sad.runtime.objects import record, remember, state_of, still
from s2sad.runtime.parts import led_to
from s2sad.runtime.sharing import in_one_place

#: What is called with objects that lead to arrays, lists and dicts of the state, and reads none for the program.
_HARMLESS = (state_of, remember, record, still, in_one_place, type, isinstance, id)
#: What hands a value on under another name.
_HANDING_ON = ("copy", "store", "load")


def is_read(
    contexts: Iterable[Context], kept: Collection[int], made: Code | None = None, recorded: Collection[int] = ()
) -> bool:
    """Whether something reads one of some arrays, lists and dicts, or may do so by an object that leads there.

    They are known by identity.  `state_of` and `record` do not count, nor what the function that was ``made`` reads
    along attributes and items of variables: that is what it does at its start, or to record there.  A function that is
    followed may read items of those in which it has ``recorded``: who reads the attributes is known by their names.
    """
    leading: dict[int, bool] = {}

    def leads(o: Object) -> bool:
        if o.kind != "global" or o.cls is None or isinstance(o.value, CONSTANT):
            return False
        if id(o.value) not in leading:
            leading[id(o.value)] = not Reach([o.value], led_to).objects.keys().isdisjoint(kept)
        return leading[id(o.value)]

    for context in contexts:
        a, body = context.activation, context.activation.code.body
        checked, along = _checked(a), _read_along(a) if a.code is made else frozenset()
        for op in inner(body):
            if op in along or (op.kind == "tuple" and op.result in checked):
                continue
            for operand in op.operands:
                objects = a.of(operand)
                bound = {x for o in objects if o.cls is types.MethodType for x in a.load((o,), "__self__")}
                if any(map(leads, objects | bound)) and not is_harmless(a, op, objects, kept, recorded):
                    return True
        if any(leads(o) for region in regions_in(body) for operand in region.exit.operands for o in a.of(operand)):
            return True
    return False


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


def _read_along(a: Activation) -> frozenset[Operation]:
    """The operations that read attributes of variables of modules, and items of them by constants."""
    along: set[Operand] = set()
    found: set[Operation] = set()
    for op in inner(a.code.body):
        is_step = op.kind in ("attribute", "copy") or (op.kind == "item" and isinstance(op.operands[1], Constant))
        if op.kind == "call" and any(o.value is still for o in a.of(op.operands[0])):
            along.update(op.results if op.operands[1] in along else ())
        if op.kind == "global" or (is_step and op.operands[0] in along):
            along.update(op.results)
            found.add(op)
    return frozenset(found)


def _checked(a: Activation) -> frozenset[Operand]:
    """What is given to the check of what leads to lists and dicts."""
    calls = [op for op in inner(a.code.body) if op.kind == "call"]
    checks = [op for op in calls if any(o.value is in_one_place for o in a.of(op.operands[0]))]
    return frozenset(operand for op in checks for operand in op.operands)


def is_array(o: Object) -> bool:
    """Whether an abstract object is an array of numbers that exists."""
    return o.kind == "global" and o.cls is ARRAY and o.value.dtype.kind in "fiubc"
