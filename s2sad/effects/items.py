"""What subscripts, loops and unpacking do to abstract objects."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import TYPE_CHECKING

from s2sad.effects import operators
from s2sad.effects.objects import ARRAY, ITEMS, ITERATORS, KEYS, NOTHING, SLICE, Object, Objects, Plain, item_field
from s2sad.ir.code import Constant, Operand, Operation
from s2sad.runtime.classes import static_member

if TYPE_CHECKING:
    from s2sad.effects.points_to import Activation

_SEQUENCES = (list, tuple, set, frozenset, Plain)
#: The field of an iterator for what it runs through, by position.
SOURCE = "source"


def iterated(a: Activation, op: Operation, objects: Objects) -> Objects:
    """What a loop over a value gives, one item after the other."""
    found: set[Object] = set()
    for o in objects:
        if o.cls is ARRAY:
            a.ref(op, [o], ITEMS)
            found.add(o)
        elif o.cls in _SEQUENCES or o.is_row:
            a.ref(op, [o], ITEMS)
            found |= a.heap.load(o, ITEMS)
        elif o.cls is dict:
            a.ref(op, [o], KEYS)
            found |= a.heap.load(o, KEYS)
        elif o.cls is types.GeneratorType and o.value is not None:
            a.mod(op, [o], ITEMS)
            found |= a.resume(op, o)
        elif o.cls in ITERATORS:
            a.mod(op, [o], ITEMS)
            if o not in a.busy:
                # Of the iterators that one operation makes, one may run through another.
                a.busy.add(o)
                found |= _advanced(a, op, o)
                a.busy.discard(o)
        elif o.cls in (slice, range) or (o.kind == "global" and isinstance(o.value, types.ModuleType)):
            continue
        else:
            found |= _of_class(a, op, o)
    return frozenset(found)


def _of_class(a: Activation, op: Operation, o: Object) -> Objects:
    """What a loop over an object gives: the items of what its method ``__iter__`` returns."""
    member = None if o.cls is None else static_member(o.cls, "__iter__")
    if not isinstance(member, types.FunctionType):
        return a.unknown(op, [o])
    given = a.call(op, a.heap.known(member), [frozenset((o,))])
    own = [held for held in given if held.cls is not None and not held.is_safe]
    return iterated(a, op, given - frozenset(own)) | (a.unknown(op, own) if own else NOTHING)


def _advanced(a: Activation, op: Operation, o: Object) -> Objects:
    """What the next step of an iterator gives, which steps through those that it was made of."""
    if o.kind == "param" and o.shape.fields is None:
        return a.unknown(op, [o])
    if o.cls in (type({}.keys()), type({}.values()), type({}.items())):
        parts = (KEYS, ITEMS) if o.cls is type({}.items()) else ((KEYS,) if o.cls is type({}.keys()) else (ITEMS,))
        sources = a.heap.load(o, f"{SOURCE} 0")
        for name in parts:
            a.ref(op, sources, name)
        given = [a.load(sources, name) for name in parts]
        return row(a, op, given, o.cls) if len(given) > 1 else given[0]
    names = sorted(name for name in a.heap.names(o) if name.startswith(SOURCE))
    given = [iterated(a, op, a.heap.load(o, name)) for name in names]
    if o.cls is zip:
        return row(a, op, given, zip)
    if o.cls is enumerate:
        return row(a, op, [NOTHING, *given], enumerate)
    if o.cls in (map, filter):
        result = a.call(op, a.heap.load(o, "function"), given)
        return result if o.cls is map else NOTHING.union(*given)
    return NOTHING.union(*given)


def row(a: Activation, op: Operation, given: Sequence[Objects], of: type | None = None) -> Objects:
    """A tuple of values, that iterators of a class make; nothing if all are immutable."""
    if not any(given):
        return NOTHING
    made = a.site(op, tuple, of)
    for i, objects in enumerate(given):
        a.store(made, f"[{i}]", objects)
    return made


def unpacked(a: Activation, op: Operation) -> None:
    """The results of an ``unpack``."""
    objects = a.of(op.operands[0])
    count, star = op.data
    others = frozenset(o for o in objects if not o.is_row)
    rest = iterated(a, op, others) if others else NOTHING
    rows = objects - others
    a.ref(op, rows, ITEMS)
    for i, result in enumerate(op.results):
        found = rest
        if star is None:
            found |= a.load(rows, f"[{i}]")
        else:
            found |= a.load(rows, ITEMS)
        if i == star:
            held, found = found, a.site(op, list)
            a.store(found, ITEMS, held)
        a.give(result, found)
    assert count == len(op.results)


def _is_slice(a: Activation, index: Operand) -> bool:
    return any(o.cls in (slice, None, Plain) for o in a.of(index))


def _is_only_slice(a: Activation, index: Operand) -> bool:
    return bool(a.of(index)) and all(o.cls is slice for o in a.of(index))


def _field(o: Object, index: Operand) -> str:
    return item_field(index.value, tuple if o.is_row else o.cls) if isinstance(index, Constant) else ITEMS


def item(a: Activation, op: Operation) -> Objects:
    """``object[index]``"""
    whole, index = op.operands
    found: set[Object] = set()
    for o in a.of(whole):
        if o.cls is ARRAY:
            if not operators.is_plain(a, a.of(index)):
                found |= a.unknown(op, a.all(op.operands))
            a.ref(op, [o], ITEMS)
            found.add(o)
        elif o.cls in (list, Plain) or o.is_row:
            a.ref(op, [o], ITEMS)
            held = a.heap.load(o, _field(o, index))
            if _is_slice(a, index):
                part = a.site(op, tuple if o.is_row else o.cls)
                a.store(part, ITEMS, a.heap.load(o, ITEMS))
                found |= part
            found |= operators.indices(a, op, a.of(index))
            found |= held if not _is_only_slice(a, index) else NOTHING
        elif o.cls is dict:
            name = _field(o, index)
            found |= operators.hashed(a, op, a.of(index))
            a.ref(op, [o], name)
            found |= a.heap.load(o, name)
        elif o.cls is type:
            found |= a.unknown(op, [o], a.of(index))
        elif operators.makes_arrays(o):
            found |= operators.joined_arrays(a, op, a.of(index))
        else:
            found |= operators.special(a, op, o, ("__getitem__",), [a.of(index)])
    if not a.of(whole):
        # A text or a tuple of numbers; its index may be an object that has a number.
        found |= operators.indices(a, op, a.of(index))
    return frozenset(found)


def set_item(a: Activation, op: Operation) -> Objects:
    """``object[index] = value``"""
    whole, index, value = op.operands
    held = a.of(value)
    for o in a.of(whole):
        if o.cls is ARRAY:
            if not operators.is_plain(a, a.of(index) | held):
                a.unknown(op, a.all(op.operands))
            a.ref(op, held, ITEMS)
            a.mod(op, [o], ITEMS)
        elif o.cls in (list, Plain):
            a.mod(op, [o], ITEMS)
            if o.cls is Plain:
                a.mod(op, [o], KEYS)
                a.heap.store(o, KEYS, a.of(index))
            operators.indices(a, op, a.of(index))
            if _is_slice(a, index):
                held |= iterated(a, op, held)
            a.heap.store(o, ITEMS, held)
        elif o.cls is dict:
            name = _field(o, index)
            operators.hashed(a, op, a.of(index))
            a.mod(op, [o], name)
            a.mod(op, [o], KEYS)
            a.heap.store(o, name, held)
            a.heap.store(o, KEYS, a.of(index))
        elif o.cls is not tuple:
            operators.special(a, op, o, ("__setitem__",), [a.of(index), held])
    return NOTHING


def delete_item(a: Activation, op: Operation) -> Objects:
    """``del object[index]``"""
    whole, index = op.operands
    for o in a.of(whole):
        if o.cls in (list, dict, Plain):
            a.mod(op, [o], ITEMS)
            a.mod(op, [o], KEYS)
            operators.hashed(a, op, a.of(index))
        elif o.cls not in (ARRAY, tuple):
            operators.special(a, op, o, ("__delitem__",), [a.of(index)])
    return NOTHING


def display(a: Activation, op: Operation) -> Objects:
    """``[a, *b]``, ``(a, b)``, ``{a, b}``"""
    cls = {"tuple": tuple, "list": list, "set": set}[op.kind]
    given = [
        iterated(a, op, a.of(o)) if star else a.of(o) for o, star in zip(op.operands, op.data, strict=True)
    ]  # fmt: skip
    if cls is tuple and all(o is SLICE for objects in given for o in objects):
        return NOTHING.union(*given)
    made = a.site(op, cls)
    exact = cls is tuple and not any(op.data)
    for i, objects in enumerate(given):
        a.store(made, f"[{i}]" if exact else ITEMS, objects)
        if cls is set:
            operators.hashed(a, op, objects)
    return made


def dict_display(a: Activation, op: Operation) -> Objects:
    """``{key: value, **other}``"""
    made = a.site(op, dict)
    for key, value, spread in zip(op.operands[::2], op.operands[1::2], op.data, strict=True):
        if spread:
            copied(a, op, made, a.of(value))
        else:
            operators.hashed(a, op, a.of(key))
            name = item_field(key.value, dict) if isinstance(key, Constant) else ITEMS
            a.store(made, KEYS, a.of(key))
            a.store(made, name, a.of(value))
    return made


def copied(a: Activation, op: Operation, into: Objects, mappings: Objects) -> None:
    """Store the items of dicts into others."""
    for o in mappings:
        if o.cls in (dict, Plain):
            a.ref(op, [o], ITEMS)
            for name in a.heap.names(o):
                a.store(into, name, a.heap.load(o, name))
        else:
            found = a.unknown(op, [o])
            a.store(into, KEYS, found)
            a.store(into, ITEMS, found)
