"""Lists, tuples, dicts, sets and queues: their slots as items are read, stored, and change their places."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tests.shadows import arrays
from tests.shadows.refs import NotSupported, Ref, is_number, isa
from tests.shadows.run import Run

SEQUENCES = (list, tuple, collections.deque)
_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))


def special(run: Run, x: Any, name: str) -> Any:
    """The method of a class that is written in Python, or None."""
    for base in type(x).__mro__:
        if name in vars(base):
            found = vars(base)[name]
            return found if base.__module__ not in ("builtins", "numpy", "collections") and callable(found) else None
    return None


def method(run: Run, ref: Ref, name: str, *args: Ref) -> Ref:
    """Call a special method."""
    from tests.shadows.calls import call

    return call(run, Ref(special(run, ref.object, name)), [ref, *args], {})


def stands_for(run: Run, running: Iterator[Ref], name: str = "") -> Ref:
    """A Python generator that stands for a generator of references."""

    def outer() -> Iterator[Any]:
        for ref in running:
            yield run.out_of_program(ref)

    made = outer()
    if not isa(running, Generator):
        running = _as_generator(running)
    run.running[id(made)] = (made, running)
    return Ref(made)


def _as_generator(items: Iterable[Ref]) -> Generator[Ref, Any, None]:
    yield from items


def pack(run: Run, kind: Any, refs: Iterable[Ref]) -> Ref:
    """A new list, tuple, set or queue; it takes the references into its slots."""
    refs = list(refs)
    made = kind([r.object for r in refs])
    return wired(run, made, refs)


def wired(run: Run, made: Any, refs: Iterable[Ref]) -> Ref:
    """The slots of a new container."""
    if isa(made, (set, frozenset)):
        for ref in refs:
            run.slots.store(made, ref.object, ref)
    else:
        for i, ref in enumerate(refs):
            run.slots.store(made, i, ref)
    return Ref(made)


def pack_dict(run: Run, pairs: Mapping[Any, tuple[Ref, Ref]], kind: Any = dict) -> Ref:
    made = kind()
    for key, (_, value) in pairs.items():
        dict.__setitem__(made, key, value.object)
        run.slots.store(made, key, value)
    return Ref(made)


def items(run: Run, ref: Ref) -> dict[Any, Ref]:
    """What a mapping holds, by its keys."""
    x = ref.object
    if isa(x, dict):
        return {k: run.slots.load(x, k, v, ref.stop) for k, v in dict.items(x)}
    if run.is_active(ref):
        raise NotSupported(f"the items of a mapping of class {type(x).__name__}")
    return {k: Ref(x[k]) for k in x.keys()}  # noqa: SIM118


def iterate(run: Run, ref: Ref) -> Iterator[Ref]:
    """What Python's iteration gives, item by item."""
    x = ref.object
    if id(x) in run.running and run.running[id(x)][0] is x:
        return iter(run.running[id(x)][1])
    if special(run, x, "__iter__") is not None:
        return _by_protocol(run, method(run, ref, "__iter__"))
    if isa(x, SEQUENCES):
        return _by_index(run, ref)
    if isa(x, dict):
        return (Ref(key) for key in dict.__iter__(x))
    if isa(x, (set, frozenset)):
        return (run.slots.load(x, item, item, ref.stop) for item in x)
    if isa(x, _VIEWS):
        return _of_view(run, ref)
    if isa(x, np.ndarray):
        if x.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return _rows(run, ref)
    if isa(x, np.flatiter):
        return (arrays.selected(run, Ref(x.base, ref.mark), x[i], np.unravel_index(i, x.base.shape))
                for i in range(len(x)))  # fmt: skip
    if special(run, x, "__getitem__") is not None:
        return _by_getitem(run, ref)
    if special(run, x, "__next__") is not None:
        return _by_protocol(run, ref)
    if not isa(x, (str, bytes, range, bytearray)) and run.is_active(ref):
        raise NotSupported(f"iteration over an active object of class {type(x).__name__}")
    return map(_inactive, iter(x))


def _inactive(item: Any) -> Ref:
    if is_number(item):
        return Ref(item)
    return Ref(item)


def _rows(run: Run, ref: Ref) -> Iterator[Ref]:
    i = 0
    while i < len(ref.object):
        yield arrays.load(run, ref, i)
        i += 1


def _by_index(run: Run, ref: Ref) -> Iterator[Ref]:
    x = ref.object
    kind = next(base for base in SEQUENCES if isa(x, base))
    for i, item in enumerate(kind.__iter__(x)):
        yield run.slots.load(x, i, item, ref.stop)


def _by_protocol(run: Run, ref: Ref) -> Iterator[Ref]:
    if special(run, ref.object, "__next__") is None:
        yield from iterate(run, ref)
        return
    while True:
        try:
            item = method(run, ref, "__next__")
        except StopIteration:
            return
        yield item


def _by_getitem(run: Run, ref: Ref) -> Iterator[Ref]:
    i = 0
    while True:
        try:
            item = method(run, ref, "__getitem__", Ref(i))
        except IndexError:
            return
        yield item
        i += 1


def _of_view(run: Run, ref: Ref) -> Iterator[Ref]:
    view = ref.object
    if id(view) not in run.through:
        if isa(view, _VIEWS[0]):
            return (Ref(k) for k in view)
        raise NotSupported("a view of a dict that is not known")
    owner = run.through[id(view)][1]

    def found() -> Iterator[Ref]:
        x = owner.object
        for key in view if isa(view, _VIEWS[0]) else dict.__iter__(x):
            if isa(view, _VIEWS[0]):
                yield Ref(key)
                continue
            value = run.slots.load(x, key, dict.__getitem__(x, key), owner.stop)
            yield value if isa(view, _VIEWS[1]) else pack(run, tuple, [Ref(key), value])

    return found()


# --- items ---


def item(run: Run, ref: Ref, index: Any) -> Ref:
    """``x[index]`` for a built-in container or array."""
    x = ref.object
    if isa(x, np.ndarray):
        return arrays.load(run, ref, index)
    if isa(x, SEQUENCES):
        kind = next(base for base in SEQUENCES if isa(x, base))
        found = kind.__getitem__(x, index)  # type: ignore[attr-defined]
        places = range(len(x))[index]
        if isa(index, slice):
            parts = [run.slots.load(x, i, v, ref.stop) for i, v in zip(places, found, strict=True)]
            return wired(run, found, parts)
        return run.slots.load(x, places, found, ref.stop)
    if isa(x, dict):
        if not dict.__contains__(x, index):
            return _missing(run, ref, index)
        return run.slots.load(x, index, dict.__getitem__(x, index), ref.stop)
    if isa(x, np.flatiter):
        owner = Ref(x.base, ref.mark)
        place = np.arange(x.base.size).reshape(x.base.shape).flat[index]
        return arrays.selected(run, owner, x[index], np.unravel_index(place, x.base.shape))
    if run.is_active(ref):
        raise NotSupported(f"an item of an object of class {type(x).__name__}")
    return Ref(x[index], ref.stop)


def _missing(run: Run, ref: Ref, key: Any) -> Ref:
    from tests.shadows.calls import call

    x = ref.object
    if special(run, x, "__missing__") is not None:
        return method(run, ref, "__missing__", Ref(key))
    if isa(x, collections.defaultdict) and x.default_factory is not None:
        value = call(run, Ref(x.default_factory), [], {})
        set_item(run, ref, key, value)
        return value
    raise KeyError(key)


def set_item(run: Run, ref: Ref, index: Any, value: Ref) -> None:
    """``x[index] = value`` for a built-in container or array."""
    x = ref.object
    if isa(x, np.ndarray):
        arrays.store(run, ref, index, value)
    elif isa(x, dict):
        dict.__setitem__(x, index, value.object)
        run.used.add("slots")
        run.slots.store(x, index, value)
    elif isa(x, (list, collections.deque)) and not isa(index, slice):
        kind: Any = list if isa(x, list) else collections.deque
        kind.__setitem__(x, index, value.object)
        run.used.add("slots")
        run.slots.store(x, range(len(x))[index], value)
    elif isa(x, list):
        refs = list(iterate(run, value))
        changed(run, ref, lambda l, given: list.__setitem__(l, index, given), refs)
    elif isa(x, np.flatiter):
        base = Ref(x.base, ref.mark)
        place = np.unravel_index(np.arange(x.base.size).reshape(x.base.shape).flat[index], x.base.shape)
        arrays.store(run, base, place, value)
    elif run.is_active(value) or run.is_active(ref):
        raise NotSupported(f"a store into an object of class {type(x).__name__}")
    else:
        x[index] = value.object


def delete_item(run: Run, ref: Ref, index: Any) -> None:
    x = ref.object
    if isa(x, dict):
        dict.__delitem__(x, index)
        run.slots.store(x, index, Ref(None))
    elif isa(x, (list, collections.deque)):
        kind: Any = list if isa(x, list) else collections.deque
        changed(run, ref, lambda l, _: kind.__delitem__(l, index), [])
    else:
        del x[index]


def changed(run: Run, ref: Ref, change: Callable[[Any, list[Any]], Any], refs: list[Ref]) -> Any:
    """A structural change of a list or queue, with some new items.

    The same change of a list of codes says which slot became which.
    """
    x = ref.object
    run.used.add("structure")
    kind: Any = list if isa(x, list) else collections.deque
    count = len(x)
    codes = kind(range(count)) if kind is list else kind(range(count), x.maxlen)
    found = change(x, [r.object for r in refs])
    code = change(codes, [count + i for i in range(len(refs))])
    if isa(code, int) and found is not None:
        found = run.slots.load(x, code, found, ref.stop)
    renamed(run, x, list(codes), count, refs)
    return found


def renamed(run: Run, x: Any, codes: list[Any], count: int, refs: list[Ref]) -> None:
    """Slots got other keys: ``codes`` says for each which it was, or (from ``count`` on) which of the new items."""
    run.slots.rename(x, {code: i for i, code in enumerate(codes) if code < count})
    for i, code in enumerate(codes):
        if code >= count:
            run.slots.store(x, i, refs[code - count])


# --- methods ---


def call_method(run: Run, ref: Ref, name: str, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """A method of a built-in container."""
    x = ref.object
    raw = [a.object for a in args]
    table = _DICT if isa(x, dict) else _LIST if isa(x, (list, collections.deque)) else {}
    if name in table:
        found = table[name](run, ref, *args, **kwargs)
        return found if isa(found, Ref) else Ref(found)
    if name == "__getitem__":
        return item(run, ref, raw[0])
    if name == "__iter__":
        return stands_for(run, _as_generator(_by_index(run, ref)) if isa(x, SEQUENCES) else iterate(run, ref))
    if isa(x, (set, frozenset)):
        return _of_set(run, ref, name, args)
    if name in ("index", "count", "__len__", "__contains__", "__eq__", "__ne__", "__lt__", "__repr__", "__sizeof__",
                "__hash__", "isdisjoint", "issubset", "issuperset", "__bool__", "__reversed__", "__init_subclass__",
                "__le__", "__gt__", "__ge__"):  # fmt: skip
        native = getattr(next(b for b in (list, tuple, dict, set, collections.deque) if isa(x, b)), name)
        return Ref(native(x, *raw, **{k: v.object for k, v in kwargs.items()}))
    if name in ("__add__", "__mul__", "__rmul__") and isa(x, SEQUENCES):
        return joined(run, name, ref, args[0])
    raise NotSupported(f"{type(x).__name__}.{name}")


def _of_set(run: Run, ref: Ref, name: str, args: list[Ref]) -> Ref:
    x = ref.object
    if name == "add":
        if args[0].object not in x:
            x.add(args[0].object)
            run.slots.store(x, args[0].object, args[0])
        return Ref(None)
    if run.is_active(ref) or any(run.is_active(a) for a in args):
        if not any(is_number(i) for i in x):
            given = [a.object if isa(a.object, (set, frozenset)) or name in ("discard", "remove")
                     else [r.object for r in iterate(run, a)] for a in args]  # fmt: skip
            return Ref(getattr(x, name)(*given))
        raise NotSupported(f"set.{name} with active numbers")
    given = [a.object if name in ("discard", "remove") or isa(a.object, (set, frozenset))
             else [r.object for r in iterate(run, a)] for a in args]  # fmt: skip
    return Ref(getattr(x, name)(*given))


def joined(run: Run, name: str, left: Ref, right: Ref) -> Ref:
    """``x + y`` and ``x * n`` of sequences."""
    x, y = left.object, right.object
    kind = next(base for base in SEQUENCES if isa(x, base))
    made = getattr(kind, name)(x, y)
    if made is NotImplemented:
        return Ref(made)
    parts = list(iterate_raw(run, left))
    if name == "__add__":
        parts += iterate_raw(run, right)
    else:
        parts = parts * max(operator.index(y), 0)
    return wired(run, made, parts)


def iterate_raw(run: Run, ref: Ref) -> Iterator[Ref]:
    """The items of a sequence, whatever ``__iter__`` its class has."""
    return _by_index(run, ref) if isa(ref.object, SEQUENCES) else iterate(run, ref)


def _kind(x: Any) -> Any:
    return list if isa(x, list) else collections.deque


def _insert(run: Run, ref: Ref, index: Ref, value: Ref) -> Any:
    return changed(run, ref, lambda l, given: _kind(l).insert(l, index.object, given[0]), [value])


def _pop(run: Run, ref: Ref, *index: Ref) -> Any:
    return changed(run, ref, lambda l, _: _kind(l).pop(l, *[i.object for i in index]), [])


def _remove(run: Run, ref: Ref, value: Ref) -> None:
    place = _kind(ref.object).index(ref.object, value.object)
    changed(run, ref, lambda l, _: _kind(l).__delitem__(l, place), [])


def _extend(run: Run, ref: Ref, values: Ref) -> None:
    if values.object is ref.object:
        refs = list(iterate_raw(run, ref))
        changed(run, ref, lambda l, given: _kind(l).extend(l, given), refs)
        return
    # One by one: what the iterable raises leaves the items before it there.
    for value in iterate(run, values):
        changed(run, ref, lambda l, given: _kind(l).append(l, given[0]), [value])


def _iadd(run: Run, ref: Ref, values: Ref) -> Ref:
    _extend(run, ref, values)
    return ref


def _imul(run: Run, ref: Ref, count: Ref) -> Ref:
    refs = list(iterate_raw(run, ref)) * max(operator.index(count.object) - 1, 0)
    if count.object <= 0:
        changed(run, ref, lambda l, _: list.clear(l), [])
    else:
        changed(run, ref, lambda l, given: list.extend(l, given), refs)
    return ref


def sorting(run: Run, refs: list[Ref], key: Ref | None, reverse: Any) -> list[int]:
    """The permutation that sorts; the key is called once for each item."""
    from tests.shadows.calls import call

    if key is not None and key.object is not None:
        keys = [call(run, key, [ref], {}) for ref in refs]
    else:
        keys = refs
    return sorted(range(len(refs)), key=lambda i: _Key(run, keys[i]), reverse=bool(reverse))


class _Key:
    """Compares as the program does."""

    def __init__(self, run: Run, ref: Ref) -> None:
        self.run, self.ref = run, ref

    def __lt__(self, other: _Key) -> bool:
        from tests.shadows.operators import compare, truth

        return truth(self.run, compare(self.run, "<", self.ref, other.ref))

    def __gt__(self, other: _Key) -> bool:
        from tests.shadows.operators import compare, truth

        return truth(self.run, compare(self.run, ">", self.ref, other.ref))


def _sort(run: Run, ref: Ref, key: Ref | None = None, reverse: Ref | None = None) -> None:
    x = ref.object
    refs = list(iterate_raw(run, ref))
    order = sorting(run, refs, key, reverse is not None and reverse.object)
    run.used.add("structure")
    list.__setitem__(x, slice(None), [refs[i].object for i in order])
    run.slots.rename(x, {old: new for new, old in enumerate(order)})


def _copy(run: Run, ref: Ref) -> Ref:
    refs = list(iterate_raw(run, ref))
    made = _kind(ref.object).copy(ref.object)
    return wired(run, made, refs)


def _simple(name: str) -> Callable[..., Any]:
    def run_it(run: Run, ref: Ref, *args: Ref) -> Any:
        return changed(run, ref, lambda l, _: getattr(_kind(l), name)(l, *[a.object for a in args]), [])

    return run_it


def _element(name: str) -> Callable[..., Any]:
    return lambda run, ref, value: changed(run, ref, lambda l, given: getattr(_kind(l), name)(l, given[0]), [value])


_LIST: dict[str, Callable[..., Any]] = {
    "append": _element("append"), "appendleft": _element("appendleft"), "insert": _insert, "pop": _pop,
    "popleft": _simple("popleft"), "remove": _remove, "extend": _extend, "clear": _simple("clear"),
    "reverse": _simple("reverse"), "rotate": _simple("rotate"), "sort": _sort, "copy": _copy, "__iadd__": _iadd,
    "__imul__": _imul,
    "extendleft": lambda run, ref, values: [
        changed(run, ref, lambda l, given: l.appendleft(given[0]), [value]) for value in iterate(run, values)
    ] and None,
    "__setitem__": lambda run, ref, index, value: set_item(run, ref, index.object, value),
    "__delitem__": lambda run, ref, index: delete_item(run, ref, index.object),
}  # fmt: skip


def _get(run: Run, ref: Ref, key: Ref, default: Ref = Ref(None)) -> Ref:  # noqa: B008
    return item(run, ref, key.object) if dict.__contains__(ref.object, key.object) else default


def _dict_pop(run: Run, ref: Ref, key: Ref, *default: Ref) -> Ref:
    x = ref.object
    if not dict.__contains__(x, key.object):
        if default:
            return default[0]
        raise KeyError(key.object)
    found = item(run, ref, key.object)
    delete_item(run, ref, key.object)
    return found


def _popitem(run: Run, ref: Ref, *last: Ref, **named: Ref) -> Ref:
    x = ref.object
    if not x:
        return Ref(dict.popitem(x))
    is_last = bool([*last, *named.values(), Ref(True)][0].object)
    key = next(reversed(x)) if is_last else next(iter(x))
    value = item(run, ref, key)
    type(x).popitem(x) if is_last else type(x).popitem(x, last=False)
    run.slots.store(x, key, Ref(None))
    return pack(run, tuple, [Ref(key), value])


def _setdefault(run: Run, ref: Ref, key: Ref, default: Ref = Ref(None)) -> Ref:  # noqa: B008
    if not dict.__contains__(ref.object, key.object):
        set_item(run, ref, key.object, default)
    return item(run, ref, key.object)


def update(run: Run, ref: Ref, *others: Ref, **named: Ref) -> None:
    for other in others:
        x = other.object
        if isa(x, dict) or hasattr(x, "keys"):
            for key, value in items(run, other).items():
                set_item(run, ref, key, value)
        else:
            for pair in iterate(run, other):
                key_ref, value = iterate(run, pair)
                set_item(run, ref, key_ref.object, value)
    for key, value in named.items():
        set_item(run, ref, key, value)


def _clear(run: Run, ref: Ref) -> None:
    dict.clear(ref.object)
    run.slots.rename(ref.object, {})


def _view(name: str) -> Callable[..., Any]:
    def made(run: Run, ref: Ref) -> Ref:
        view = getattr(dict, name)(ref.object)
        run.through[id(view)] = (view, ref)
        return Ref(view)

    return made


def _dict_copy(run: Run, ref: Ref) -> Ref:
    made = ref.object.copy() if type(ref.object) is not dict else {}
    dict.clear(made)
    update(run, Ref(made), ref)
    return Ref(made)


def _ior(run: Run, ref: Ref, other: Ref) -> Ref:
    update(run, ref, other)
    return ref


_DICT: dict[str, Callable[..., Any]] = {
    "get": _get, "pop": _dict_pop, "popitem": _popitem, "setdefault": _setdefault, "update": update, "clear": _clear,
    "keys": _view("keys"), "values": _view("values"), "items": _view("items"), "copy": _dict_copy, "__ior__": _ior,
    "__setitem__": lambda run, ref, index, value: set_item(run, ref, index.object, value),
    "__delitem__": lambda run, ref, index: delete_item(run, ref, index.object),
    "__missing__": lambda run, ref, key: _missing(run, ref, key.object),
}  # fmt: skip
