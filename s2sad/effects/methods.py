"""What the methods of lists, dicts, sets, arrays and the like do to abstract objects; their class is exactly known."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from s2sad import ops
from s2sad.effects import built_in, items, library, operators
from s2sad.effects.library import Arguments
from s2sad.effects.objects import ARRAY, DTYPE, ITEMS, ITERATORS, KEYS, NOTHING, Object, Objects, Plain, item_field
from s2sad.ir.code import Operation
from s2sad.ops.spec import form_of

if TYPE_CHECKING:
    from s2sad.effects.points_to import Activation

Method = Callable[["Activation", Operation, Object, Arguments], Objects]
_NUMBERS = (float, complex, int, bool, np.float64, np.float32, np.complex128, np.complex64, np.int64, np.ndarray)
_LISTS_OF_TEXT = frozenset("split rsplit splitlines partition rpartition".split())


def called(a: Activation, op: Operation, o: Object, name: str, args: Arguments) -> Objects:
    """Call a method of an object of a built-in class."""
    if name in operators.OF_WHOLE:
        return a.unknown(op, [o], args.all())
    own: Method | None = None
    if o.cls in (list, dict, set, frozenset, tuple):
        own = _METHODS.get((o.cls, name))
    if own is not None:
        return own(a, op, o, args)
    if o.cls is types.GeneratorType or o.cls in ITERATORS:
        found = a.iterate(op, frozenset((o,))) if name in ("__next__", "send", "__iter__") else a.unknown(op, [o])
        return found | (frozenset((o,)) if name == "__iter__" else NOTHING) | _given(a, op, args)
    receiver = args.after(frozenset((o,)))
    if o.cls is Plain:
        return library.of_plain(a, op, name, receiver)
    if o.cls is ARRAY:
        known = form_of("method", name)
        if known is not None and (not known[0].own or known[0].function is getattr(ARRAY, name, None)):
            return library.applied(a, op, known[0], receiver, name)
        known_own = ops.spec_of(getattr(ARRAY, name, None))
        if known_own is not None:
            return library.applied(a, op, known_own, receiver)
        return _of_array(a, op, o, name, args)
    spec = ops.spec_of(getattr(o.cls, name, None))
    if spec is not None:
        return library.applied(a, op, spec, receiver)
    return library.trusted(a, op, receiver) if a.trusts(o.cls) else a.unknown(op, receiver.all())


def recorded(a: Activation, op: Operation, args: Arguments) -> Objects:
    """``record(container, "append", value)``: a call of the method."""
    name = args.constants.get(1)
    if not isinstance(name, str) or args.open:
        return a.unknown(op, args.all())
    for o in args.at(0):
        called(a, op, o, name, Arguments(args.positional[2:]))
    return NOTHING


def of_immutable(a: Activation, op: Operation, name: str, args: Arguments) -> Objects:
    """Call a method of a number or text."""
    everything = args.all()
    if name == "join":
        a.iterate(op, everything)
        return NOTHING
    if not operators.is_plain(a, everything):
        return a.unknown(op, everything)
    written = a.heap.reach(args.named.get("out", NOTHING))
    a.mod(op, written, ITEMS)
    a.ref(op, everything, ITEMS)
    found = written
    if name in _LISTS_OF_TEXT:
        found |= a.site(op, list)
    # The arguments of methods of numbers are arrays or options.
    return found | a.site(op, ARRAY) if hasattr(np.generic, name) and not hasattr(str, name) else found


def _of_array(a: Activation, op: Operation, o: Object, name: str, args: Arguments) -> Objects:
    if not operators.is_plain(a, args.all()):
        return a.unknown(op, [o], args.all())
    a.ref(op, [o], ITEMS)
    if name == "tolist":
        made = a.site(op, list)
        a.store(made, ITEMS, made)
        return made
    if name == "view" and any(o is not DTYPE and not any(o.value is n for n in _NUMBERS) for o in args.all()):
        # Of another class, perhaps, in the same memory.
        return a.unknown(op, [o])
    if name in ("view", "__getitem__", "__array__", "__iter__", "getfield"):
        return frozenset((o,)) | a.site(op, ARRAY)
    if name in ("tobytes", "tostring", "__len__", "__float__", "__int__", "__bool__", "__contains__"):
        return NOTHING
    if name.startswith("__") and hasattr(np.ndarray, name):
        return a.site(op, ARRAY)
    return a.unknown(op, [o], args.all())


def _given(a: Activation, op: Operation, args: Arguments) -> Objects:
    return a.unknown(op, args.all()) if args.all() else NOTHING


def _changed(a: Activation, op: Operation, o: Object) -> None:
    a.mod(op, [o], ITEMS)
    if o.cls is dict:
        a.mod(op, [o], KEYS)


def _append(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    a.store([o], ITEMS, args.all())
    return NOTHING


def _insert(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    operators.indices(a, op, args.at(0))
    return _append(a, op, o, Arguments([args.at(1)]))


def _extend(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    return _append(a, op, o, Arguments([a.iterate(op, args.all())]))


def _pop(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    operators.indices(a, op, args.at(0)) if o.cls is list else operators.hashed(a, op, args.at(0))
    a.ref(op, [o], ITEMS)
    return a.heap.load(o, ITEMS) | (args.at(1) if o.cls is dict else NOTHING)


def _clear(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    return NOTHING


def _compared(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    """``index``, ``count``"""
    a.ref(op, [o], ITEMS)
    both = frozenset((o,)) | args.all()
    return NOTHING if operators.is_plain(a, both) else a.unknown(op, both)


def _remove(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    return _compared(a, op, o, args)


def _sort(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    a.ref(op, [o], ITEMS)
    built_in.ordered_by(a, op, a.heap.load(o, ITEMS), args)
    return NOTHING


def _copy(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    made = a.site(op, o.cls)
    a.ref(op, [o], ITEMS)
    for name in a.heap.names(o):
        a.store(made, name, a.heap.load(o, name))
    return made


def _get(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    operators.hashed(a, op, args.at(0))
    name = item_field(args.constants[0], dict) if 0 in args.constants else ITEMS
    a.ref(op, [o], name)
    return a.heap.load(o, name) | args.at(1, "default")


def _setdefault(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    found = _get(a, op, o, args)
    a.store([o], KEYS, args.at(0))
    a.store([o], ITEMS, args.at(1, "default"))
    return found


def _popitem(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    return items.row(a, op, [a.heap.load(o, KEYS), a.heap.load(o, ITEMS)])


def _update(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    built_in.updated(a, op, frozenset((o,)), args)
    return NOTHING


def _shown(cls: type) -> Method:
    """``keys()``, ``values()``, ``items()``: they show what the dict holds when they are read."""

    def make(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
        made = a.site(op, cls)
        a.store(made, f"{items.SOURCE} 0", frozenset((o,)))
        return made

    return make


def _add(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    _changed(a, op, o)
    operators.hashed(a, op, args.all())
    a.store([o], ITEMS, args.all())
    return NOTHING


def _set_update(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    held = a.iterate(op, args.all())
    return _add(a, op, o, Arguments([held]))


def _set_operation(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    held = a.iterate(op, args.all()) | a.heap.load(o, ITEMS)
    a.ref(op, [o], ITEMS)
    operators.hashed(a, op, held)
    made = a.site(op, o.cls)
    a.store(made, ITEMS, held)
    return made


def _asked(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    a.ref(op, [o], ITEMS)
    operators.hashed(a, op, a.iterate(op, args.all()) if args.all() else NOTHING)
    return NOTHING


_METHODS: dict[tuple[type, str], Method] = {
    (list, "append"): _append, (list, "insert"): _insert, (list, "extend"): _extend, (list, "pop"): _pop,
    (list, "clear"): _clear, (list, "reverse"): _clear, (list, "remove"): _remove, (list, "sort"): _sort,
    (list, "copy"): _copy, (dict, "copy"): _copy, (set, "copy"): _copy, (dict, "get"): _get, (dict, "pop"): _pop,
    (dict, "setdefault"): _setdefault, (dict, "popitem"): _popitem, (dict, "update"): _update, (dict, "clear"): _clear,
    (dict, "keys"): _shown(type({}.keys())), (dict, "values"): _shown(type({}.values())),
    (dict, "items"): _shown(type({}.items())), (set, "add"): _add, (set, "discard"): _add, (set, "remove"): _add,
    (set, "pop"): _pop, (set, "clear"): _clear, (set, "update"): _set_update,
    **{(set, f"{name}_update"): _set_update for name in ("intersection", "difference", "symmetric_difference")},
    **{(cls, name): _set_operation for cls in (set, frozenset) for name in
       ("union", "intersection", "difference", "symmetric_difference")},
    **{(cls, name): _asked for cls in (set, frozenset) for name in ("issubset", "issuperset", "isdisjoint")},
    **{(cls, name): _compared for cls in (list, tuple) for name in ("index", "count")},
}  # fmt: skip
