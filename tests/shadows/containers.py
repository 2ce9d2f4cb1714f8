"""Lists, tuples, dicts, sets and queues: their slots as items are read, stored, and change their places."""

from __future__ import annotations

import collections
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tests.shadows import arrays
from tests.shadows.refs import Node, NotSupported, Ref, isa
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

    run.used.add("special methods")
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


def mapping_of(x: Any) -> Any:
    """The built-in class whose methods change a dictionary: an ordered one has its order apart."""
    return collections.OrderedDict if isa(x, collections.OrderedDict) else dict


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
        mapping_of(made).__setitem__(made, key, value.object)
        run.slots.store(made, key, value)
    return Ref(made)


def items(run: Run, ref: Ref) -> dict[Any, Ref]:
    """What a mapping holds, by its keys."""
    x = ref.object
    if isa(x, dict):
        return {k: run.slots.load(x, k, v, ref.stop) for k, v in mapping_of(x).items(x)}
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
        return by_index(run, ref)
    if isa(x, dict):
        return (Ref(key) for key in mapping_of(x).__iter__(x))
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
    return map(Ref, iter(x))


def _rows(run: Run, ref: Ref) -> Iterator[Ref]:
    i = 0
    while i < len(ref.object):
        yield arrays.load(run, ref, i)
        i += 1


def by_index(run: Run, ref: Ref) -> Iterator[Ref]:
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
        for key in view if isa(view, _VIEWS[0]) else mapping_of(x).__iter__(x):
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
            return missing(run, ref, index)
        return run.slots.load(x, index, dict.__getitem__(x, index), ref.stop)
    if isa(x, np.flatiter):
        owner = Ref(x.base, ref.mark)
        place = np.arange(x.base.size).reshape(x.base.shape).flat[index]
        return arrays.selected(run, owner, x[index], np.unravel_index(place, x.base.shape))
    if isa(x, np.generic):
        return _of_number(run, ref, index)
    if isa(x, memoryview):
        found = arrays.load(run, Ref(np.asarray(x), ref.mark), index)
        return Ref(x[index], found.mark)
    if run.is_active(ref):
        raise NotSupported(f"an item of an object of class {type(x).__name__}")
    return Ref(x[index], ref.stop)


def _of_number(run: Run, ref: Ref, index: Any) -> Ref:
    """``x[()]`` and ``x[None]`` of a number of NumPy's."""
    z = ref.object[index]
    node = ref.mark
    if not isa(node, Node) or not isa(z, np.ndarray):
        return Ref(z, node)
    token = run.activate(z)

    def back() -> None:
        if not token.is_zero:
            node.add(np.sum(token.take()))
            token.release()

    run.log(back)
    return Ref(z)


def missing(run: Run, ref: Ref, key: Any) -> Ref:
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
        mapping_of(x).__setitem__(x, index, value.object)
        run.slots.store(x, index, value)
    elif isa(x, (list, collections.deque)) and not isa(index, slice):
        kind: Any = list if isa(x, list) else collections.deque
        kind.__setitem__(x, index, value.object)
        run.slots.store(x, range(len(x))[index], value)
    elif isa(x, list):
        refs = list(iterate(run, value))
        changed(run, ref, lambda xs, given: list.__setitem__(xs, index, given), refs)
    elif isa(x, np.flatiter):
        base = Ref(x.base, ref.mark)
        place = np.unravel_index(np.arange(x.base.size).reshape(x.base.shape).flat[index], x.base.shape)
        arrays.store(run, base, place, value)
    elif isa(x, memoryview):
        arrays.store(run, Ref(np.asarray(x), ref.mark), index, value)
    elif run.is_active(value) or run.is_active(ref):
        raise NotSupported(f"a store into an object of class {type(x).__name__}")
    elif not isa(x, np.generic) and run.memory.foreign:
        raise NotSupported("a store that is not one into an array, where arrays have memory of other objects")
    else:
        x[index] = value.object


def delete_item(run: Run, ref: Ref, index: Any) -> None:
    x = ref.object
    if isa(x, dict):
        mapping_of(x).__delitem__(x, index)
        run.slots.store(x, index, Ref(None))
    elif isa(x, (list, collections.deque)):
        kind: Any = list if isa(x, list) else collections.deque
        changed(run, ref, lambda xs, _: kind.__delitem__(xs, index), [])
    else:
        del x[index]


def changed(run: Run, ref: Ref, change: Callable[[Any, list[Any]], Any], refs: list[Ref]) -> Any:
    """A structural change of a list or queue, with some new items.

    The same change of a list of codes says which slot became which.
    """
    x = ref.object
    run.used.add("structural changes")
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
