"""The order of known items: ``sorted``, ``min`` and ``max`` by keys that are known."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from s2sad.ir.code import NONE, Constant, Exit, Operation, Region, Value
from s2sad.runtime.classes import static_member
from s2sad.transform.branches import fork
from s2sad.transform.coded import is_object
from s2sad.transform.containers import (
    called,
    computed,
    items_of,
    key_of,
    may_be_none,
    run_through,
)
from s2sad.transform.iterators import Given, plainly
from s2sad.transform.keys import key_operand
from s2sad.transform.known import (
    Abstract,
    Choice,
    Items,
    NotSpecialisedError,
    Record,
    Row,
    is_static,
    same,
)
from s2sad.transform.regions import is_expression
from s2sad.transform.simple import truth
from s2sad.transform.specialiser import Done, End, Frame, Specialiser


def in_order(
    s: Specialiser, row: Sequence[Abstract], named: Mapping[str, Abstract], op: Operation, frame: Frame
) -> list[int] | None:
    """Where the items of a list are in order, if that is known."""
    reverse, key = named.get("reverse", Constant(False)), named.get("key", NONE)
    if not isinstance(reverse, Constant):
        return None
    keys = _sort_keys(s, row, key, op, frame)
    return None if keys is None else sorted(range(len(row)), key=keys.__getitem__, reverse=bool(reverse.value))


def _sort_keys(s: Specialiser, row: Sequence[Abstract], key: Abstract, op: Operation, frame: Frame) -> list[Any] | None:
    """Known keys of items that can be compared with each other; None where they are not known."""
    if same(key, NONE):
        found = [key_of(s, item) for item in row]
    elif may_be_none(key):
        return None
    else:
        before, used, lifted = s.mark(), s.used, dict(s.lifted)
        found = [key_of(s, called(s, key, [item], op, frame)) for item in row]
        if None in found:
            s.back(before)
            s.used, s.lifted = used, lifted
    if any(f is None for f in found):
        return None
    keys = [f.value for f in found if f is not None]
    try:
        sorted(keys)
    except TypeError:
        return None
    return keys


#: How many items there are at most of which each two are compared when the program runs.
MOST_COMPARED = 8
#: How many of these may be objects.
MOST_OBJECTS = 4


def put_in_order(
    s: Specialiser, row: Sequence[Abstract], named: Mapping[str, Abstract], op: Operation, frame: Frame
) -> list[Abstract] | None:
    """Items in the order that is found when the program runs, by exchanges of two that stand side by side."""
    reverse = named.get("reverse", Constant(False))
    if len(row) > MOST_COMPARED or not isinstance(reverse, Constant) or _is_long(row):
        return None
    keys = _keys(s, row, named, op, frame)
    if keys is None:
        return None
    pairs = _pairs(s, keys, row)
    for end in range(1, len(row)):
        for at in range(end, 0, -1):
            before, after = pairs[at - 1][0], pairs[at][0]
            test = less(s, before, after, op, frame) if reverse.value else less(s, after, before, op, frame)
            (one, other), width = pairs[at - 1 : at + 1], len(pairs[at])
            found = _chosen(s, test, ((*other, *one), (*one, *other)), op, frame)
            pairs[at - 1 : at + 1] = [tuple(found[:width]), tuple(found[width:])]
    s.used = True
    return [pair[-1] for pair in pairs]


def _is_long(row: Sequence[Abstract]) -> bool:
    """Whether each place would be that of so many objects, by conditions in conditions, that a list is shorter."""
    return any(map(is_object, row)) and (len(row) > MOST_OBJECTS or any(isinstance(item, Choice) for item in row))


def _pairs(s: Specialiser, keys: Sequence[Abstract], row: Sequence[Abstract]) -> list[tuple[Abstract, ...]]:
    """Keys with their items; one that is its own key stands alone."""
    items = map(functools.partial(as_row, s), row)
    return [(key,) if same(key, item) else (key, item) for key, item in zip(keys, items, strict=True)]


def _chosen(
    s: Specialiser, test: Abstract, sides: Sequence[Sequence[Abstract]], op: Operation, frame: Frame
) -> Sequence[Abstract]:
    """The first of two rows of values if something is true when the program runs, else the second; tuples by items."""
    known = truth(s, test)
    if known is not None:
        return sides[0 if known else 1]
    leaves: list[list[Abstract]] = [[], []]
    shapes = [_leaves(one, other, leaves) for one, other in zip(*sides, strict=True)]
    arms = [functools.partial(End, "yield", tuple(side)) for side in leaves]
    done = fork(s, s.dynamic(test), arms, [""] * len(leaves[0]), frame.place or op.place)
    assert isinstance(done, tuple)
    found = iter(done)
    return [shape(found) for shape in shapes]


def _leaves(one: Abstract, other: Abstract, leaves: list[list[Abstract]]) -> Callable[[Iterator[Abstract]], Abstract]:
    """Add the parts of two values that differ to lists; what makes a value again of those that are chosen."""
    if is_tuple(one) and is_tuple(other) and len(one.items) == len(other.items):  # type: ignore[union-attr]
        parts = [_leaves(*pair, leaves) for pair in zip(one.items, other.items, strict=True)]  # type: ignore[union-attr]
        return lambda found: Row(tuple([part(found) for part in parts]))
    if same(one, other):
        return lambda found: one
    leaves[0].append(one)
    leaves[1].append(other)
    return next


def _keys(
    s: Specialiser, row: Sequence[Abstract], named: Mapping[str, Abstract], op: Operation, frame: Frame
) -> list[Abstract] | None:
    """By what items are compared: numbers, tuples of as many, objects of a class; None for anything else."""
    key = named.get("key", NONE)
    found = [as_row(s, _key_of(s, key, item, op, frame)) for item in row]
    return found if s.expression is False and all(_are_comparable(found[0], other) for other in found) else None


def _key_of(s: Specialiser, key: Abstract, item: Abstract, op: Operation, frame: Frame) -> Abstract:
    """What an item is compared by: what a function gives for it, or the item itself if that is None."""
    if not may_be_none(key):
        return called(s, key, [item], op, frame)
    test = computed(s, "compare", "is", (key, NONE), op, frame)
    if (known := truth(s, test)) is not None:
        return item if known else called(s, key, [item], op, frame)
    arms = [lambda: End("yield", (item,)), lambda: End("yield", (called(s, key, [item], op, frame),))]
    done = fork(s, s.dynamic(test), arms, [""], frame.place or op.place)
    assert isinstance(done, tuple)
    return done[0]


def _are_comparable(a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Row) and isinstance(b, Row):
        return is_tuple(a) and is_tuple(b) and len(a.items) == len(b.items) > 0
    if classes := {*_classes(a), *_classes(b)}:
        return len(classes) == 1 and all(isinstance(static_member(c, "__lt__"), types.FunctionType) for c in classes)
    return not is_static(a) and not is_static(b)


def _classes(value: Abstract) -> set[type]:
    """The classes of an object that the program makes, or of those of which a value is one; empty for anything else."""
    if isinstance(value, Choice):
        return _classes(value.then) | _classes(value.orelse)
    return {value.cls} if isinstance(value, Record) else set()


def less(s: Specialiser, a: Abstract, b: Abstract, op: Operation, frame: Frame) -> Abstract:
    """Whether a value is less than another one: tuples are so by the first items that differ."""
    if not (isinstance(a, Row) and isinstance(b, Row)):
        return computed(s, "compare", "<", (a, b), op, frame)
    first = less(s, a.items[0], b.items[0], op, frame)
    if len(a.items) == 1 or truth(s, first):
        return first
    return _joined(s, "or", first, lambda: _both(s, a, b, op, frame))


def _both(s: Specialiser, a: Row, b: Row, op: Operation, frame: Frame) -> Abstract:
    """Whether the first items of two tuples are equal, and the others of one less than those of the other."""
    alike = computed(s, "compare", "==", (a.items[0], b.items[0]), op, frame)
    return _joined(s, "and", alike, lambda: less(s, Row(a.items[1:]), Row(b.items[1:]), op, frame))


def _joined(s: Specialiser, kind: Literal["and", "or"], first: Abstract, rest: Callable[[], Abstract]) -> Abstract:
    """``first and rest()``, or with ``or``."""
    known = truth(s, first)
    if known is not None:
        return first if known == (kind == "or") else rest()
    with s.apart() as out, s.writing(True):
        value = rest()
        operand = s.dynamic(value)
    exit = Exit("yield", (operand,))
    if not is_expression(out, exit):
        raise NotSpecialisedError("expression")
    made = Value()
    s.write(Operation(kind, (s.dynamic(first),), (made,), None, (Region((), tuple(out), exit),)))
    return made


def sorted_(given: Given) -> Done:
    if len(given.values) != 1:
        return None
    row: Sequence[Abstract] | None = run_through(given.s, given.values[0])
    row = _set_of(given) if row is None else row
    if row is None:
        return None
    order = in_order(given.s, row, given.named, given.op, given.frame)
    if order is None and any(_classes(v) or is_tuple(as_row(given.s, v)) for v in row):
        items = put_in_order(given.s, row, given.named, given.op, given.frame)
        return plainly(given, row) if items is None else (items_of(given.s, items),)
    if order is None:
        return plainly(given, row)
    given.s.used = True
    return (items_of(given.s, [row[at] for at in order]),)


def _set_of(given: Given) -> Sequence[Abstract] | None:
    """The elements of a set of constants, in any order."""
    value = given.values[0]
    content = given.s.content(value) if isinstance(value, Items) else None
    return None if content is None or content.keys is None else [key_operand(key) for key in content.keys]


def min_(given: Given) -> Done:
    return _extreme(given, min)


def max_(given: Given) -> Done:
    return _extreme(given, max)


def _extreme(given: Given, choose: Callable[..., Any]) -> Done:
    if not given.values:
        return None
    row = run_through(given.s, given.values[0]) if len(given.values) == 1 else tuple(given.values)
    if not row:
        return None
    keys = _sort_keys(given.s, row, given.named.get("key", NONE), given.op, given.frame)
    if keys is None:
        return _extreme_of_tuples(given, row, choose is min) or (
            plainly(given, row) if len(given.values) == 1 else None
        )
    given.s.used = True
    return (row[choose(range(len(row)), key=keys.__getitem__)],)


def _extreme_of_tuples(given: Given, row: Sequence[Abstract], is_least: bool) -> Done:
    """The least or greatest of some tuples, or of objects by their keys, of which it is found when the program runs."""
    s, op, frame = given.s, given.op, given.frame
    has_tuples = any(is_static(item) or is_tuple(as_row(s, item)) for item in row)
    keys = _keys(s, row, given.named, op, frame) if has_tuples and given.named.keys() <= {"key"} else None
    if keys is None:
        return None
    s.used = True
    best, *others = _pairs(s, keys, row)
    for other in others:
        if is_least:
            test = less(s, other[0], best[0], op, frame)
        elif _classes(other[0]):
            test = computed(s, "compare", ">", (other[0], best[0]), op, frame)
        else:
            test = less(s, best[0], other[0], op, frame)
        best = tuple(_chosen(s, test, (other, best), op, frame))
    return (best[-1],)


def is_tuple(value: Abstract) -> bool:
    """Whether a value is a tuple of known items."""
    return isinstance(value, Row) and value.cls is tuple


def as_row(s: Specialiser, value: Abstract) -> Abstract:
    """A tuple of the new program as one of known items, where these are known."""
    return Row(s.rows[value]) if isinstance(value, Value) and value in s.rows else value
