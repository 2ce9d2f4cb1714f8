"""The methods of lists, queues, dicts and sets, and the functions that put items into an order."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Iterator
from typing import Any

from tests.shadows.containers import (
    SEQUENCES,
    by_index,
    changed,
    delete_item,
    item,
    items,
    iterate,
    mapping_of,
    missing,
    pack,
    set_item,
    stands_for,
    wired,
)
from tests.shadows.refs import NotSupported, Ref, is_number, isa
from tests.shadows.run import Run


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
        return stands_for(run, by_index(run, ref) if isa(x, SEQUENCES) else iterate(run, ref))
    if isa(x, (set, frozenset)):
        return of_set(run, ref, name, args)
    if name in ("index", "count", "__len__", "__contains__", "__eq__", "__ne__", "__lt__", "__repr__", "__sizeof__",
                "__hash__", "isdisjoint", "issubset", "issuperset", "__bool__", "__reversed__", "__init_subclass__",
                "__le__", "__gt__", "__ge__"):  # fmt: skip
        native = getattr(next(b for b in (list, tuple, dict, set, collections.deque) if isa(x, b)), name)
        return Ref(native(x, *raw, **{k: v.object for k, v in kwargs.items()}))
    if name in ("__add__", "__mul__", "__rmul__") and isa(x, SEQUENCES):
        return joined(run, name, ref, args[0])
    raise NotSupported(f"{type(x).__name__}.{name}")


def of_set(run: Run, ref: Ref, name: str, args: list[Ref]) -> Ref:
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
    return by_index(run, ref) if isa(ref.object, SEQUENCES) else iterate(run, ref)


def kind_of(x: Any) -> Any:
    return list if isa(x, list) else collections.deque


def _insert(run: Run, ref: Ref, index: Ref, value: Ref) -> Any:
    return changed(run, ref, lambda xs, given: kind_of(xs).insert(xs, index.object, given[0]), [value])


def _pop(run: Run, ref: Ref, *index: Ref) -> Any:
    return changed(run, ref, lambda xs, _: kind_of(xs).pop(xs, *[i.object for i in index]), [])


def _remove(run: Run, ref: Ref, value: Ref) -> None:
    place = kind_of(ref.object).index(ref.object, value.object)
    changed(run, ref, lambda xs, _: kind_of(xs).__delitem__(xs, place), [])


def extend(run: Run, ref: Ref, values: Ref) -> None:
    if values.object is ref.object:
        refs = list(iterate_raw(run, ref))
        changed(run, ref, lambda xs, given: kind_of(xs).extend(xs, given), refs)
        return
    # One by one: what the iterable raises leaves the items before it there.
    for value in iterate(run, values):
        changed(run, ref, lambda xs, given: kind_of(xs).append(xs, given[0]), [value])


def _iadd(run: Run, ref: Ref, values: Ref) -> Ref:
    extend(run, ref, values)
    return ref


def _imul(run: Run, ref: Ref, count: Ref) -> Ref:
    refs = list(iterate_raw(run, ref)) * max(operator.index(count.object) - 1, 0)
    if count.object <= 0:
        changed(run, ref, lambda xs, _: list.clear(xs), [])
    else:
        changed(run, ref, lambda xs, given: list.extend(xs, given), refs)
    return ref


def sorting(run: Run, refs: list[Ref], key: Ref | None, reverse: Any) -> list[int]:
    """The permutation that sorts; the key is called once for each item."""
    from tests.shadows.calls import call

    if key is not None and key.object is not None:
        keys = [call(run, key, [ref], {}) for ref in refs]
    else:
        keys = refs
    return sorted(range(len(refs)), key=lambda i: Key(run, keys[i]), reverse=bool(reverse))


class Key:
    """Compares as the program does."""

    def __init__(self, run: Run, ref: Ref) -> None:
        self.run, self.ref = run, ref

    def __lt__(self, other: Key) -> bool:
        from tests.shadows.operators import compare, truth

        return truth(self.run, compare(self.run, "<", self.ref, other.ref))

    def __gt__(self, other: Key) -> bool:
        from tests.shadows.operators import compare, truth

        return truth(self.run, compare(self.run, ">", self.ref, other.ref))


def _sort(run: Run, ref: Ref, key: Ref | None = None, reverse: Ref | None = None) -> None:
    x = ref.object
    refs = list(iterate_raw(run, ref))
    order = sorting(run, refs, key, reverse is not None and reverse.object)
    run.used.add("structural changes")
    list.__setitem__(x, slice(None), [refs[i].object for i in order])
    run.slots.rename(x, {old: new for new, old in enumerate(order)})


def _copy(run: Run, ref: Ref) -> Ref:
    refs = list(iterate_raw(run, ref))
    made = kind_of(ref.object).copy(ref.object)
    return wired(run, made, refs)


def _simple(name: str) -> Callable[..., Any]:
    def run_it(run: Run, ref: Ref, *args: Ref) -> Any:
        return changed(run, ref, lambda xs, _: getattr(kind_of(xs), name)(xs, *[a.object for a in args]), [])

    return run_it


def _element(name: str) -> Callable[..., Any]:
    return lambda run, ref, value: changed(
        run, ref, lambda xs, given: getattr(kind_of(xs), name)(xs, given[0]), [value]
    )


_LIST: dict[str, Callable[..., Any]] = {
    "append": _element("append"), "appendleft": _element("appendleft"), "insert": _insert, "pop": _pop,
    "popleft": _simple("popleft"), "remove": _remove, "extend": extend, "clear": _simple("clear"),
    "reverse": _simple("reverse"), "rotate": _simple("rotate"), "sort": _sort, "copy": _copy, "__iadd__": _iadd,
    "__imul__": _imul,
    "extendleft": lambda run, ref, values: [
        changed(run, ref, lambda xs, given: xs.appendleft(given[0]), [value]) for value in iterate(run, values)
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
    mapping_of(ref.object).clear(ref.object)
    run.slots.rename(ref.object, {})


def _view(name: str) -> Callable[..., Any]:
    def made(run: Run, ref: Ref) -> Ref:
        view = getattr(mapping_of(ref.object), name)(ref.object)
        run.through[id(view)] = (view, ref)
        return Ref(view)

    return made


def _dict_copy(run: Run, ref: Ref) -> Ref:
    made = ref.object.copy() if type(ref.object) is not dict else {}
    mapping_of(made).clear(made)
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
    "move_to_end": lambda run, ref, *args, **kwargs: ref.object.move_to_end(
        *[a.object for a in args], **{k: v.object for k, v in kwargs.items()}
    ),
    "__missing__": lambda run, ref, key: missing(run, ref, key.object),
}  # fmt: skip
