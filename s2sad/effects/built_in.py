"""What Python's own functions do that make containers and iterators, or work on their items."""

from __future__ import annotations

import builtins
import collections
import copy
import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sad.effects import items, library, operators, supers
from s2sad.effects.library import Arguments
from s2sad.effects.objects import (
    ARRAY,
    CONSTANT,
    CONTAINERS,
    ITEMS,
    ITERATORS,
    KEYS,
    NOTHING,
    SLICE,
    Objects,
    Plain,
    item_field,
)
from s2sad.ir.code import Operation, inner, regions_in
from s2sad.runtime.objects import remember, still

if TYPE_CHECKING:
    from s2sad.effects.points_to import Activation

# --- what makes containers and iterators


def _collected(cls: type) -> Callable[[Activation, Operation, Arguments], Objects]:
    def make(a: Activation, op: Operation, args: Arguments) -> Objects:
        made = a.site(op, cls)
        held = a.iterate(op, args.at(0, "iterable"))
        a.store(made, ITEMS, held)
        if cls in (set, frozenset):
            operators.hashed(a, op, held)
        return made

    return make


def _dict(a: Activation, op: Operation, args: Arguments) -> Objects:
    made = a.site(op, dict)
    updated(a, op, made, args)
    return made


def _of_collections(cls: type) -> Callable[[Activation, Operation, Arguments], Objects]:
    """A container of Python's library, where one of which nothing is known is taken to be like the built-in ones."""

    def make(a: Activation, op: Operation, args: Arguments) -> Objects:
        if not a.heap.plain or args.open:
            return a.unknown(op, args.all())
        made = a.site(op, Plain)
        if cls is collections.deque:
            a.store(made, ITEMS, a.iterate(op, args.at(0, "iterable")))
        elif cls is collections.OrderedDict:
            updated(a, op, made, args)
        else:
            # What is missing is made when it is asked for.
            a.store(made, ITEMS, a.call(op, args.at(0), []))
            updated(a, op, made, Arguments(args.positional[1:], args.named))
        return made

    return make


def updated(a: Activation, op: Operation, into: Objects, args: Arguments) -> None:
    """``into.update(*others, **named)``"""
    for objects in (*args.positional, args.spread):
        whole = frozenset(o for o in objects if o.cls is dict)
        items.copied(a, op, into, whole)
        pairs = a.iterate(op, objects - whole)
        operators.hashed(a, op, a.load(pairs, "[0]"))
        a.store(into, KEYS, a.load([p for p in pairs if p.is_row], "[0]") | _loose(a, op, pairs))
        a.store(into, ITEMS, a.load([p for p in pairs if p.is_row], "[1]") | _loose(a, op, pairs))
    for name, objects in args.named.items():
        a.store(into, f"[{name!r}]", objects)
    a.store(into, ITEMS, args.spread_named)


def _loose(a: Activation, op: Operation, pairs: Objects) -> Objects:
    rest = frozenset(p for p in pairs if not p.is_row)
    return a.iterate(op, rest) if rest else NOTHING


def _lazy(cls: type) -> Callable[[Activation, Operation, Arguments], Objects]:
    """What runs through its arguments when it is asked for the next item."""

    def make(a: Activation, op: Operation, args: Arguments) -> Objects:
        made = a.site(op, cls)
        given = [*args.positional, args.spread]
        if cls in (map, filter):
            a.store(made, "function", given.pop(0))
        for i, objects in enumerate([*given, *args.named.values()]):
            own = frozenset(o for o in objects if not o.is_safe)
            a.store(made, f"{items.SOURCE} {i}", objects | (a.unknown(op, own) if own else NOTHING))
        return made

    return make


def _sorted(a: Activation, op: Operation, args: Arguments) -> Objects:
    made = a.site(op, list)
    held = a.iterate(op, args.at(0, "iterable"))
    a.store(made, ITEMS, held | ordered_by(a, op, held, args))
    return made


def ordered_by(a: Activation, op: Operation, held: Objects, args: Arguments) -> Objects:
    """Compare items, or what ``key`` gives of them."""
    keys = held
    if "key" in args.named or args.open:
        keys = a.call(op, args.named.get("key", args.spread_named), [held]) if args.all() else held
    return NOTHING if operators.is_plain(a, keys) else a.unknown(op, held, keys)


def _extreme(a: Activation, op: Operation, args: Arguments) -> Objects:
    single = len(args.positional) == 1 and not args.spread
    held = a.iterate(op, args.positional[0]) if single else NOTHING.union(*args.positional, args.spread)
    return held | args.named.get("default", NOTHING) | ordered_by(a, op, held, args)


def _next(a: Activation, op: Operation, args: Arguments) -> Objects:
    return a.iterate(op, args.at(0)) | args.at(1)


def _iter(a: Activation, op: Operation, args: Arguments) -> Objects:
    if len(args.positional) != 1 or args.open:
        return a.unknown(op, args.all())
    kept = frozenset(o for o in args.positional[0] if o.cls in (*ITERATORS, types.GeneratorType))
    return kept | _lazy(type(iter([])))(a, op, args) if args.positional[0] else NOTHING


def _sum(a: Activation, op: Operation, args: Arguments) -> Objects:
    held = a.iterate(op, args.at(0, "iterable"))
    everything = held | args.at(1, "start")
    if not operators.is_plain(a, everything):
        return a.unknown(op, everything)
    found = everything
    for o in everything:
        made = a.site(op, o.cls)
        a.store(made, ITEMS, a.load(everything, ITEMS) if o.cls is not ARRAY else NOTHING)
        found |= made
    return found


def _reduce(a: Activation, op: Operation, args: Arguments) -> Objects:
    found = a.iterate(op, args.at(1, "iterable")) | args.at(2, "initial")
    made = NOTHING
    while True:
        more = a.call(op, args.at(0, "function"), [found | made, found])
        if more <= made:
            return found | made
        made |= more


def _copy(a: Activation, op: Operation, args: Arguments) -> Objects:
    found = NOTHING
    for o in args.at(0, "x"):
        if o.cls is ARRAY or o.cls in CONTAINERS:
            made = a.site(op, o.cls)
            a.ref(op, [o], ITEMS)
            for name in a.heap.names(o) if o.cls is not ARRAY else ():
                a.store(made, name, a.heap.load(o, name))
            found |= made
        else:
            found |= frozenset((o,)) if isinstance(o.value, CONSTANT) else a.unknown(op, [o])
    return found


def _deepcopy(a: Activation, op: Operation, args: Arguments) -> Objects:
    reached = a.heap.reach(args.at(0, "x"))
    if not all(o.cls in (ARRAY, *CONTAINERS) for o in reached) or args.at(1, "memo"):
        return a.unknown(op, args.all())
    a.ref(op, reached, ITEMS)
    for o in reached:
        for name in a.heap.names(o) if o.cls is not ARRAY else ():
            held = a.heap.load(o, name)
            a.store(a.site(op, o.cls), name, NOTHING.union(*(a.site(op, h.cls) for h in held)))
    return NOTHING.union(*(a.site(op, o.cls) for o in args.at(0, "x")))


def _still(a: Activation, op: Operation, args: Arguments) -> Objects:
    """``still(x, known)``: ``x`` itself, which has the items of ``known`` that nothing changes."""
    a.ref(op, args.at(0) | args.at(1), ITEMS)
    values = [o.value for o in args.at(1) if o.kind == "global"]
    if not _only_gives_items(a, op) or not values or not all(type(value) in (list, dict) for value in values):
        return args.at(0)
    made = NOTHING
    for value in values:
        cls = tuple if type(value) is list else dict
        made |= a.site(op, cls)
        for key, held in value.items() if isinstance(value, dict) else enumerate(value):
            a.store(a.site(op, cls), item_field(key, cls), a.heap.known(held))
    return made


def _only_gives_items(a: Activation, op: Operation) -> bool:
    """Whether nothing is done with the result of an operation but to read items of it."""
    (result,) = op.results
    users = [user for user in inner(a.code.body) if result in user.operands]
    ends = [region.exit for region in regions_in(a.code.body) if result in region.exit.operands]
    return not ends and all(user.kind == "item" and user.operands[0] is result for user in users)


def _print(a: Activation, op: Operation, args: Arguments) -> Objects:
    a.effect(op).ordered.add("prints")
    operators.formatted(a, op, args.all())
    return NOTHING


def _range(a: Activation, op: Operation, args: Arguments) -> Objects:
    return NOTHING if operators.is_plain(a, args.all()) else a.unknown(op, args.all())


def _slice(a: Activation, op: Operation, args: Arguments) -> Objects:
    held = args.all()
    if not held:
        return frozenset((SLICE,))
    made = a.site(op, slice)
    a.store(made, ITEMS, held)
    return made


def _named(a: Activation, op: Operation, args: Arguments, what: Callable[..., Objects], count: int) -> Objects:
    """``getattr``, ``setattr`` and ``delattr`` of a constant name."""
    name = args.constants.get(1)
    if not isinstance(name, str) or args.open or len(args.positional) < 2:
        return a.unknown(op, args.all())
    return what(a, op, name, args)


def _getattr(a: Activation, op: Operation, args: Arguments) -> Objects:
    def read(a: Activation, op: Operation, name: str, args: Arguments) -> Objects:
        found = args.at(2)
        for o in args.positional[0]:
            found |= operators.attribute_of(a, op, o, name)
        return found if args.positional[0] else found | a.heap.method(None, name, name)

    return _named(a, op, args, read, 2)


def _setattr(a: Activation, op: Operation, args: Arguments) -> Objects:
    def write(a: Activation, op: Operation, name: str, args: Arguments) -> Objects:
        operators.set_attribute_of(a, op, args.positional[0], name, args.at(2))
        return NOTHING

    return _named(a, op, args, write, 3)


def _hasattr(a: Activation, op: Operation, args: Arguments) -> Objects:
    _getattr(a, op, args)
    return NOTHING


def _error_state(a: Activation, op: Operation, args: Arguments) -> Objects:
    """``np.seterr(...)`` and ``np.geterr()``: a new dict of texts."""
    return a.site(op, dict) if operators.is_plain(a, args.all()) else a.unknown(op, args.all())


#: The functions for which the table's words are too few.
FUNCTIONS: dict[int, Callable[[Activation, Operation, Arguments], Objects]] = {
    id(builtins.list): _collected(list), id(builtins.tuple): _collected(tuple), id(builtins.set): _collected(set),
    id(builtins.frozenset): _collected(frozenset), id(builtins.dict): _dict, id(builtins.sorted): _sorted,
    id(builtins.enumerate): _lazy(enumerate), id(builtins.zip): _lazy(zip), id(builtins.map): _lazy(map),
    id(builtins.filter): _lazy(filter), id(builtins.reversed): _lazy(reversed), id(builtins.next): _next,
    id(builtins.iter): _iter, id(builtins.max): _extreme, id(builtins.min): _extreme, id(builtins.sum): _sum,
    id(functools.reduce): _reduce, id(copy.copy): _copy, id(copy.deepcopy): _deepcopy, id(builtins.print): _print,
    id(builtins.range): _range, id(builtins.slice): _slice, id(builtins.getattr): _getattr,
    **{id(cls): _of_collections(cls) for cls in (collections.deque, collections.OrderedDict, collections.defaultdict)},
    id(remember): _setattr, id(still): _still, id(builtins.super): supers.made,
    id(builtins.setattr): _setattr, id(builtins.hasattr): _hasattr,
    id(np.seterr): _error_state, id(np.geterr): _error_state,
}  # fmt: skip


def makes_tangents(original: Any) -> None:
    """Declare a function of ``(f, primals, tangents)`` that calls ``f`` with the primals, and not with the tangents."""
    FUNCTIONS[id(original)] = _along


def _along(a: Activation, op: Operation, args: Arguments) -> Objects:
    """A call of such a function: its result may be one of the arguments, or a part of one."""
    if args.open or len(args.positional) < 3:
        return library.trusted(a, op, args)
    tangents = a.heap.reach(args.positional[2])
    a.ref(op, tangents, ITEMS)
    return library.trusted(a, op, Arguments(args.positional[:2], args.named)) | tangents
