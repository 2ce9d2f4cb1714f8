"""Functions of functions, NumPy's and ``sorted``, written in Python.

Where a function that is known goes into one of them, the specialiser takes one of these apart in its place, like any
function of the user's.  They do what these do: call by call, in the same order, with arguments of the same classes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2sad.runtime.moves import in_order, moved
from s2sad.runtime.reductions import column, reduceat_places
from s2sad.runtime.selecting import key_order, piece_conditions, result_dtype
from s2sad.runtime.ufunc_loops import accumulated_by, element_places, reduced_between, reduced_by
from s2sad.runtime.undefined import require_rule

Array = Any

# --- in order


def sorted_by(iterable: Any, *, key: Any, reverse: bool = False) -> Any:
    """``sorted`` by keys that are not known."""
    items = list(iterable)
    order = key_order([item if key is None else key(item) for item in items], reverse)
    return [items[place] for place in order]


def sort_by(items: Any, *, key: Any, reverse: bool = False) -> None:
    """``items.sort`` by keys that are not known."""
    moved(items, in_order([item if key is None else key(item) for item in items], reverse))


def max_by(iterable: Any, *, key: Any) -> Any:
    """``max`` by keys that are not known."""
    items = list(iterable)
    if not items:
        raise ValueError("max() arg is an empty sequence")
    keys = [item if key is None else key(item) for item in items]
    best = 0
    for i in range(1, len(items)):
        if keys[i] > keys[best]:
            best = i
    return items[best]


def min_by(iterable: Any, *, key: Any) -> Any:
    """``min`` by keys that are not known."""
    items = list(iterable)
    if not items:
        raise ValueError("min() arg is an empty sequence")
    keys = [item if key is None else key(item) for item in items]
    best = 0
    for i in range(1, len(items)):
        if keys[i] < keys[best]:
            best = i
    return items[best]


# --- some items of a generator, which may have no end


def first_of(items: Any, stop: Any) -> Any:
    """``islice(items, stop)`` of one item or more."""
    left = stop
    for item in items:
        yield item
        left -= 1
        if left == 0:
            break


def first_if_any(items: Any, stop: Any) -> Any:
    """``islice(items, stop)``."""
    if stop > 0:
        yield from first_of(items, stop)


def some_of(items: Any, start: Any, stop: Any) -> Any:
    """``islice(items, start, stop)``, where ``stop`` is more than ``start``."""
    for place, item in enumerate(items):
        if place >= start:
            yield item
        if place + 1 == stop:
            break


def taken_while(predicate: Any, items: Any) -> Any:
    """``takewhile(predicate, items)``."""
    for item in items:
        if not predicate(item):
            break
        yield item


def with_others(items: Any, others: Any) -> Any:
    """``zip(items, others)`` of a sequence of others."""
    for place, item in enumerate(items):
        if place == len(others):
            break
        yield item, others[place]


def beside_others(others: Any, items: Any) -> Any:
    """``zip(others, items)`` of a sequence of others, of which there is one or more."""
    for place, item in enumerate(items):
        yield others[place], item
        if place + 1 == len(others):
            break


def padded(first: Any, second: Any, fill: Any) -> Any:
    """``zip_longest(first, second, fillvalue=fill)`` of two sequences."""
    place = 0
    while place < len(first) or place < len(second):
        yield first[place] if place < len(first) else fill, second[place] if place < len(second) else fill
        place += 1


# --- what is remembered


def remembering(function: Any) -> Any:
    """``functools.cache(function)``."""
    held: Any = {}

    def cached(*args: Any) -> Any:
        if args not in held:
            held[args] = function(*args)
        return held[args]

    return cached


# --- along axes


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """``np.apply_along_axis``, of a result for each slice along one axis."""
    last = np.moveaxis(np.asanyarray(arr), axis, -1)
    if axis < 0:
        axis = axis + last.ndim
    results = [np.asanyarray(func1d(last[index], *args, **kwargs)) for index in np.ndindex(last.shape[:-1])]
    if not results:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = results[0]
    whole = np.reshape(np.array(results, first.dtype), last.shape[:-1] + first.shape)
    return np.moveaxis(whole, range(last.ndim - 1, whole.ndim), range(axis, axis + first.ndim))


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """``np.apply_over_axes``."""
    value = np.asarray(a)
    ndim = value.ndim
    for axis in np.atleast_1d(axes).tolist():
        if axis < 0:
            axis = ndim + axis
        reduced = func(value, axis)
        if reduced.ndim != value.ndim:
            reduced = np.expand_dims(reduced, axis)
            if reduced.ndim != value.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        value = reduced
    return value


# --- pieces


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """``np.piecewise``, of a list whose items are known."""
    x = np.asanyarray(x)
    conditions = piece_conditions(x, condlist, len(funclist))
    y = np.zeros_like(x)
    for number, function in enumerate(funclist):
        if callable(function):
            values = x[conditions[number]]
            if values.size > 0:
                y[conditions[number]] = function(values, *args, **kw)
        else:
            y[conditions[number]] = function
    return y


# --- grids


def fromfunction_1(function: Any, shape: Any, dtype: Any, **kwargs: Any) -> Any:
    """``np.fromfunction`` with one axis."""
    grid = np.indices(shape, dtype)
    return function(grid[0], **kwargs)


def fromfunction_2(function: Any, shape: Any, dtype: Any, **kwargs: Any) -> Any:
    """``np.fromfunction`` with two axes."""
    grid = np.indices(shape, dtype)
    return function(grid[0], grid[1], **kwargs)


def fromfunction_3(function: Any, shape: Any, dtype: Any, **kwargs: Any) -> Any:
    """``np.fromfunction`` with three axes."""
    grid = np.indices(shape, dtype)
    return function(grid[0], grid[1], grid[2], **kwargs)


# --- element by element

_NOTHING = "cannot call `vectorize` on size 0 inputs unless `otypes` is set"


def vectorized(pyfunc: Any, *args: Any) -> Any:
    """A function ``np.vectorize(pyfunc)``."""
    raise NotImplementedError


def typed(pyfunc: Any, otypes: Any, *args: Any) -> Any:
    """A function ``np.vectorize(pyfunc, otypes)``."""
    raise NotImplementedError


def excluding(pyfunc: Any, otypes: Any, excluded: Any, *args: Any) -> Any:
    """A function ``np.vectorize(pyfunc, otypes, excluded=excluded)``."""
    raise NotImplementedError


def looped(pyfunc: Any, signature: str, *args: Any) -> Any:
    """A function ``np.vectorize(pyfunc, signature=signature)``."""
    raise NotImplementedError


def vectorized_1(pyfunc: Any, a: Any) -> Any:
    """``np.vectorize(pyfunc)(a)``: the first call says of which dtype the result is."""
    a = np.asarray(a)
    if a.size == 0:
        raise ValueError(_NOTHING)
    dtype = result_dtype(pyfunc(np.ravel(a)[0]))
    values = [pyfunc(x) for x in np.ravel(a).tolist()]
    return np.reshape(np.array(values, dtype), a.shape)


def vectorized_2(pyfunc: Any, a: Any, b: Any) -> Any:
    """``np.vectorize(pyfunc)(a, b)``."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    a, b = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
    if a.size == 0:
        raise ValueError(_NOTHING)
    dtype = result_dtype(pyfunc(np.ravel(a)[0], np.ravel(b)[0]))
    values = [pyfunc(x, y) for x, y in zip(np.ravel(a).tolist(), np.ravel(b).tolist(), strict=True)]
    return np.reshape(np.array(values, dtype), shape)


def vectorized_3(pyfunc: Any, a: Any, b: Any, c: Any) -> Any:
    """``np.vectorize(pyfunc)(a, b, c)``."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(c))
    a, b, c = np.broadcast_to(a, shape), np.broadcast_to(b, shape), np.broadcast_to(c, shape)
    if a.size == 0:
        raise ValueError(_NOTHING)
    dtype = result_dtype(pyfunc(np.ravel(a)[0], np.ravel(b)[0], np.ravel(c)[0]))
    xs, ys, zs = np.ravel(a).tolist(), np.ravel(b).tolist(), np.ravel(c).tolist()
    values = [pyfunc(x, y, z) for x, y, z in zip(xs, ys, zs, strict=True)]
    return np.reshape(np.array(values, dtype), shape)


def typed_1(pyfunc: Any, otypes: Any, a: Any) -> Any:
    """``np.vectorize(pyfunc, otypes)(a)``."""
    a = np.asarray(a)
    values = [pyfunc(x) for x in np.ravel(a).tolist()]
    return np.reshape(np.array(values, otypes[0]), a.shape)


def typed_2(pyfunc: Any, otypes: Any, a: Any, b: Any) -> Any:
    """``np.vectorize(pyfunc, otypes)(a, b)``."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    a, b = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
    values = [pyfunc(x, y) for x, y in zip(np.ravel(a).tolist(), np.ravel(b).tolist(), strict=True)]
    return np.reshape(np.array(values, otypes[0]), shape)


def typed_3(pyfunc: Any, otypes: Any, a: Any, b: Any, c: Any) -> Any:
    """``np.vectorize(pyfunc, otypes)(a, b, c)``."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(c))
    a, b, c = np.broadcast_to(a, shape), np.broadcast_to(b, shape), np.broadcast_to(c, shape)
    xs, ys, zs = np.ravel(a).tolist(), np.ravel(b).tolist(), np.ravel(c).tolist()
    values = [pyfunc(x, y, z) for x, y, z in zip(xs, ys, zs, strict=True)]
    return np.reshape(np.array(values, otypes[0]), shape)


def vectorized_any(pyfunc: Any, otypes: Any, is_excluded: Any, *args: Any) -> Any:
    """``np.vectorize(pyfunc, otypes, excluded=...)(*args)``; of each argument whether it ``is_excluded``."""
    shape = np.broadcast_shapes(*[np.shape(args[n]) for n in range(len(args)) if not is_excluded[n]])
    flat = [args[n] if is_excluded[n] else np.ravel(np.broadcast_to(args[n], shape)) for n in range(len(args))]
    size = math.prod(shape)
    if otypes is None:
        if size == 0:
            raise ValueError(_NOTHING)
        dtype = result_dtype(pyfunc(*[flat[n] if is_excluded[n] else flat[n][0] for n in range(len(args))]))
    else:
        dtype = otypes[0]
    rows = [flat[n] if is_excluded[n] else flat[n].tolist() for n in range(len(args))]
    values = []
    for i in range(size):  # no comprehension, in which the branches of what is called may not stand
        values.append(pyfunc(*[rows[n] if is_excluded[n] else rows[n][i] for n in range(len(args))]))  # noqa: PERF401
    return np.reshape(np.array(values, dtype), shape)


def looped_1(pyfunc: Any, core: Any, a: Any) -> Any:
    """``np.vectorize(pyfunc, signature=...)(a)``, where the last ``core`` axes go into each call."""
    a = np.asanyarray(a)
    shape = a.shape[: a.ndim - core]
    values = [np.asarray(pyfunc(a[index])) for index in np.ndindex(shape)]
    if not values:
        raise ValueError(_NOTHING)
    return np.reshape(np.array(values, values[0].dtype), shape + values[0].shape)


def looped_2(pyfunc: Any, core_a: Any, core_b: Any, a: Any, b: Any) -> Any:
    """``np.vectorize(pyfunc, signature=...)(a, b)``."""
    a, b = np.asanyarray(a), np.asanyarray(b)
    shape = np.broadcast_shapes(a.shape[: a.ndim - core_a], b.shape[: b.ndim - core_b])
    a = np.broadcast_to(a, shape + a.shape[a.ndim - core_a :])
    b = np.broadcast_to(b, shape + b.shape[b.ndim - core_b :])
    values = [np.asarray(pyfunc(a[index], b[index])) for index in np.ndindex(shape)]
    if not values:
        raise ValueError(_NOTHING)
    return np.reshape(np.array(values, values[0].dtype), shape + values[0].shape)


# --- methods of universal functions


def reduce(
    function: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
) -> Any:
    """``function.reduce`` along one axis; what it begins with is one more operand."""
    require_rule(
        dtype is None and out is None, "a reduction with dtype or out has no rule", "Convert the array before."
    )
    if initial is None:
        return reduced_by(array, function, axis, keepdims)
    require_rule(isinstance(axis, int), "a reduction of several axes with initial has no rule", "Reduce one by one.")
    if np.ndim(initial):
        raise ValueError("setting an array element with a sequence.")
    operands = np.moveaxis(np.asanyarray(array), axis, 0)
    first = np.broadcast_to(np.asanyarray(initial, operands.dtype), (1, *np.shape(operands)[1:]))
    whole = np.moveaxis(np.concatenate((first, operands)), 0, axis)
    return reduced_by(whole, function, axis, keepdims)


def accumulate(function: Any, array: Any, axis: Any = 0) -> Any:
    """``function.accumulate``."""
    return accumulated_by(array, function, axis)


def reduceat(function: Any, array: Any, indices: Any, axis: Any = 0) -> Any:
    """``function.reduceat``."""
    return reduced_between(array, function, indices, axis)


def products_between(function: Any, array: Any, indices: Any, axis: Any = 0) -> Any:
    """``np.multiply.reduceat``."""
    array = np.asanyarray(array)
    places, owners = reduceat_places(indices, array.shape[axis])
    parts = np.split(np.take(array, places, axis), np.flatnonzero(np.diff(owners)) + 1, axis)
    return np.stack([np.prod(part, axis=axis) for part in parts], axis)


def outer(function: Any, A: Any, B: Any) -> Any:
    """``function.outer``."""
    return function(column(A, B), B)


def at_1(function: Any, a: Any, indices: Any) -> None:
    """``function.at`` of a function of one operand: element by element, what is taken twice one after the other."""
    for place, _ in element_places(np.shape(a), indices):
        a[place] = function(a[place])


def at_2(function: Any, a: Any, indices: Any, b: Any) -> None:
    """``function.at`` of a function of two operands, of which the second may be a part of what is written."""
    values = np.broadcast_to(np.copy(b), np.shape(a[indices]))
    for place, source in element_places(np.shape(a), indices):
        a[place] = function(a[place], values[source])


# --- iterators


def mapped(function: Any, iterable: Any) -> Any:
    """``map(function, iterable)``, where the items are not known one by one."""
    return (function(item) for item in iterable)


def mapped_pairs(function: Any, first: Any, second: Any) -> Any:
    """``map(function, first, second)``, where the items are not known one by one."""
    return (function(one, other) for one, other in zip(first, second, strict=False))


def filtered(function: Any, iterable: Any) -> Any:
    """``filter(function, iterable)``, where the items are not known one by one."""
    return (item for item in iterable if function(item))


def rounds_of(iterator: Any) -> Any:
    """What runs through an iterator: an object with ``__next__``."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            break
        yield item


def items_by_place(sequence: Any) -> Any:
    """What runs through an object that has ``__getitem__``, and no ``__iter__``."""
    place = 0
    while True:
        try:
            item = sequence[place]
        except (IndexError, StopIteration):
            break
        yield item
        place += 1


def first_item(items: Any) -> Any:
    """``next(items)`` of a generator that has not begun."""
    begun = False
    for item in items:  # noqa: B007
        begun = True
        break
    if not begun:
        raise StopIteration
    return item


def first_item_or(items: Any, default: Any) -> Any:
    """``next(items, default)`` of a generator that has not begun."""
    found = default
    for item in items:
        found = item
        break
    return found


def computed_once(owner: Any, name: str, is_there: bool, kept: Any, function: Any) -> Any:
    """A `functools.cached_property` of an object, which it has if ``is_there``."""
    if is_there:
        found = kept
    else:
        found = function(owner)
        object.__setattr__(owner, name, found)  # as it is put there, whatever the class does with attributes
    return found


def next_or(iterator: Any, default: Any) -> Any:
    """``next(iterator, default)``."""
    try:
        item = iterator.__next__()
    except StopIteration:
        item = default
    return item


def reduced_from(function: Any, iterable: Any, start: Any) -> Any:
    """``functools.reduce(function, iterable, start)``."""
    total = start
    for item in iterable:
        total = function(total, item)
    return total


def reduced(function: Any, iterable: Any) -> Any:
    """``functools.reduce(function, iterable)``."""
    total = None
    is_empty = True
    for item in iterable:
        total = item if is_empty else function(total, item)
        is_empty = False
    if is_empty:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total
