"""Helpers for the adjoints of functions that take several numbers, or one sequence of them.

The adjoint of a list is a list, of a tuple a tuple, of an array an array.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast, unreduce
from s2sad.runtime.objects import viewed
from s2sad.runtime.trees import add, add_at, real_like, zeros


def items_like(xs: Any, values: Sequence[Any]) -> Any:
    """Return ``values`` as a sequence of the kind of ``xs``: a tuple, a list, or an array of its type.

    Of a dict these belong to the keys, which carry no derivative: its values have none of them.

    Raises `UndefinedDerivativeError` for any other kind.

    >>> items_like((1.0, 2.0), [3.0, 4.0])
    (3.0, 4.0)
    """
    if isinstance(xs, tuple):
        return tuple(values)
    if isinstance(xs, list):
        return list(values)
    if isinstance(xs, dict):
        return zeros(xs)
    if isinstance(xs, np.ndarray):
        return np.array(values, dtype=np.result_type(xs.dtype, *values)) if len(values) else np.zeros_like(xs)
    raise UndefinedDerivativeError(
        f"the items of a {type(xs).__name__} have no derivative", "Use a list, a tuple or an array."
    )


def share_items(g: Any, z: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the adjoints of the arguments of Python's ``max`` or ``min``, given ``g``, that of the result ``z``.

    ``args`` are several numbers or one sequence.  Those equal to ``z`` share equally.

    >>> share_items(1.0, 2.0, ([2.0, 1.0, 2.0],))
    ([0.5, 0.0, 0.5],)
    """
    if len(args) == 1:
        return (items_like(args[0], _shares(g, z, args[0])),)
    return tuple(_shares(g, z, args))


def unsorted(g: Any, z: Any, xs: Any) -> Any:
    """Return the adjoint of ``xs``, given ``g``, that of the list ``z = sorted(xs, ...)`` of numbers.

    >>> unsorted([1.0, 2.0], [0.5, 3.0], [3.0, 0.5])
    [2.0, 1.0]
    """
    return items_like(xs, [g[i] for i in np.argsort(_places(z, xs))])


def sorted_tangent(t: Any, z: Any, xs: Any) -> Any:
    """Return the tangent of the list ``z = sorted(xs, ...)``, given ``t``, that of ``xs``.

    >>> sorted_tangent([1.0, 2.0], [0.5, 3.0], [3.0, 0.5])
    [2.0, 1.0]
    """
    return [t[place] for place in _places(z, xs)]


def _places(z: Any, xs: Any) -> list[int]:
    """Where the items of ``z`` stand in ``xs``; those that are equal in their order."""
    if not all(isinstance(x, (int, float, np.generic)) or (isinstance(x, np.ndarray) and not x.ndim) for x in z):
        raise UndefinedDerivativeError(
            "sorted(...) of other than numbers has no derivative", "Sort the numbers, or take items by index."
        )
    if any(x != x for x in z):
        raise UndefinedDerivativeError("sorted(...) of NaN has no derivative", "Use np.sort.")
    places: dict[Any, list[int]] = {}
    for i, x in reversed(list(enumerate(xs))):
        places.setdefault(float(x), []).append(i)
    return [places[float(x)].pop() for x in z]


def _hits(z: Any, xs: Sequence[Any]) -> list[bool]:
    if isinstance(z, (list, tuple)):
        raise UndefinedDerivativeError(
            "max or min of lists or tuples has no derivative rule", "Compare numbers, and take items by index."
        )
    return [x is z or bool(x == z) for x in xs]  # a NaN is not equal to itself


def _shares(g: Any, z: Any, xs: Sequence[Any]) -> list[Any]:
    hits = _hits(z, xs)
    share = g / max(sum(hits), 1)
    return [share if hit else 0.0 for hit in hits]


def mean_items(t: tuple[Any, ...], z: Any, args: tuple[Any, ...]) -> Any:
    """Return the mean of the tangents ``t`` of those arguments that equal ``z``; the transpose of `share_items`.

    >>> mean_items(([1.0, 5.0, 2.0],), 2.0, ([2.0, 1.0, 2.0],))
    1.5
    """
    if len(args) == 1:
        t, args = tuple(t[0]), tuple(args[0])
    hits = _hits(z, args)
    return sum(x for x, hit in zip(t, hits, strict=True) if hit) / max(sum(hits), 1)


def repeat_items(g: Any, xs: Any) -> Any:
    """Return the adjoint of the sequence ``xs``, given ``g``, that of its sum.

    >>> repeat_items(2.0, [1.0, 5.0])
    [2.0, 2.0]
    """
    if isinstance(g, (list, tuple)):
        raise UndefinedDerivativeError("sum(...) of lists or tuples has no derivative rule", "Join them with +.")
    if isinstance(xs, (list, tuple)):
        of_number = isinstance(g, float)
        alike = [g if of_number and isinstance(x, float) else real_like(unbroadcast(g, np.shape(x)), x) for x in xs]
        return items_like(xs, alike)
    if isinstance(xs, np.ndarray):
        return unreduce(g, np.shape(xs), 0)
    return items_like(xs, ())


def scale_items(g: Any, values: Sequence[Any], xs: Any) -> Any:
    """Return ``g`` times each of ``values``, as a sequence of the kind of ``xs``.

    >>> scale_items(2.0, [1.0, 3.0], (0.0, 0.0))
    (2.0, 6.0)
    """
    if np.ndim(values) > 1:
        raise UndefinedDerivativeError("math.prod of arrays has no derivative rule", "Multiply them one by one.")
    return items_like(xs, [g * x for x in values])


def weigh_items(t: Any, values: Sequence[Any]) -> Any:
    """Return the sum of the products of ``t`` and ``values``; the transpose of `scale_items`.

    >>> weigh_items((1.0, 2.0), [3.0, 4.0])
    11.0
    """
    return sum(x * y for x, y in zip(t, values, strict=True))


def add_items(a: Any, b: Any) -> Any:
    """Return the item by item sum of two sequences of one length, of the kind of ``a``.

    >>> add_items([1.0, 2.0], [3.0, 4.0])
    [4.0, 6.0]
    """
    return items_like(a, [x + y for x, y in zip(a, b, strict=True)])


def add_row(x_bar: Any, i: int, g: Any) -> None:
    """Add ``g`` to item ``i`` of the adjoint of what a loop runs through; the keys of a dict have none.

    >>> x_bar = [0.0, 1.0]
    >>> add_row(x_bar, 1, 2.0)
    >>> x_bar
    [0.0, 3.0]
    """
    if not isinstance(x_bar, dict):
        add_at(x_bar, i, g)


def require_real(z: Any) -> None:
    """Raise `UndefinedDerivativeError` for a power that is complex though its operands are real.

    >>> require_real(2.0**0.5)
    """
    if type(z) is complex:
        raise UndefinedDerivativeError(
            "a negative number to a fractional power is complex here, of a real base", "Make the base complex(...)."
        )


def require_real_operand(x: Any, function: str) -> None:
    """Raise `UndefinedDerivativeError` for a complex operand of a function that has a rule for real ones alone.

    >>> require_real_operand(2.0, "stats.norm.pdf")
    """
    if np.iscomplexobj(x):
        message = f"{function} has a derivative rule for real numbers alone, and not for complex ones"
        raise UndefinedDerivativeError(message, "Take the real part: x.real.")


def unrepeated(g: Any, xs: Any) -> Any:
    """Return the adjoint of the sequence ``xs``, given ``g``, that of ``xs * n``.

    >>> unrepeated([1.0, 2.0, 3.0, 4.0], (0.0, 0.0))
    [4.0, 6.0]
    """
    n = len(xs)
    total = list(g[:n]) if len(g) else zeros(list(xs))
    for start in range(n, len(g), n):
        total = [add(a, b) for a, b in zip(total, g[start : start + n], strict=True)]
    return total


def require_arithmetic(a: Any, b: Any) -> None:
    """Raise `UndefinedDerivativeError` where ``+`` would join two sequences, or ``*`` repeat one.

    >>> require_arithmetic(np.ones(2), [1.0, 2.0])
    """
    if not any(isinstance(x, np.ndarray) for x in (a, b)):
        for x in (a, b):
            if isinstance(x, (list, tuple)):
                raise UndefinedDerivativeError(
                    f"a {type(x).__name__} that is differentiated is joined or repeated where it might be an array",
                    "To repeat it, write * int(n). To compute with it, convert it with np.array(...) first.",
                )


def is_function(x: Any) -> bool:
    """Whether ``x`` is called; in programs that are compiled, whether it is known to be a function."""
    return callable(x)


def is_place(index: Any) -> bool:
    """Whether an index is of one element; in programs that are compiled, whether it is known to be a tuple of numbers.

    >>> is_place((2, 1)), is_place((2, slice(None)))
    (True, False)
    """
    return isinstance(index, tuple) and all(isinstance(i, (int, np.integer)) for i in index)


def is_array(x: Any) -> bool:
    """Whether ``x`` is an array with axes; in programs that are compiled, whether it is known to be one.

    >>> is_array(np.ones(2)), is_array(1.0)
    (True, False)
    """
    return isinstance(x, np.ndarray) and x.ndim > 0


def key_among(key: Any, keys: tuple[Any, ...]) -> Any:
    """``key``, if it is one of the ``keys`` of a dict.

    >>> key_among("a", ("a", "b"))
    'a'

    Raises:
        KeyError: if it is not.
    """
    return dict(zip(keys, keys, strict=True))[key]


def place_among(index: Any, count: int) -> Any:
    """The place from the front of an ``index`` into a list or tuple of ``count`` items.

    >>> place_among(-1, 3)
    2

    Raises:
        IndexError: if there is no such place.
    """
    return range(count)[index]


def with_keywords(function: Any, keywords: Any, others: tuple[str, ...] = ()) -> Any:
    """``function`` with arguments that a dict has by name; ``others`` are the names that its call has beside these.

    >>> with_keywords(dict, {"a": 1})(b=2)
    {'a': 1, 'b': 2}

    Raises:
        TypeError: if an argument would be given twice.
    """
    for name in others:
        if name in keywords:
            raise TypeError(
                f"{getattr(function, '__qualname__', function)}() got multiple values for keyword argument {name!r}"
            )
    return functools.partial(function, **keywords)


def no_function(x: Any) -> Any:
    """``x``, which stands where a function may stand as well.

    >>> no_function(2.0)
    2.0

    Raises:
        UndefinedDerivativeError: if it is one, of which it is not known what it captures.
    """
    if callable(x):
        raise UndefinedDerivativeError(
            "a function that is known only at run time has no derivative here",
            "Write it out in the call: lambda t: f(t).",
        )
    return x


#: What is changed by getting another value.
_NUMBERS = (int, float, complex, np.generic)


class TakenOtherwiseError(UndefinedDerivativeError):
    """What is changed is a number, and the derivative was made for an array, or the other way round.

    The types do not say which it is; a derivative that is made for the other one may do.
    """


class ContainerMetError(TakenOtherwiseError):
    """What is changed is a list, say, or an object, and the derivative was made for an array.

    One for which loops are written out, so that it is known what lists hold, may do.
    """


def require_number(x: Any) -> None:
    """Raise `UndefinedDerivativeError` unless ``x`` is a number.

    The derivative was made for one, where the types do not say what it is.

    Raises:
        TakenOtherwiseError: if it is none.

    >>> require_number(2.5)
    """
    if not isinstance(x, _NUMBERS):
        raise TakenOtherwiseError(
            f"a {type(x).__name__} is changed here by what changes numbers in the same call",
            "Write x = x + y for x += y.",
        )


def require_ndarray(x: Any) -> None:
    """Raise `UndefinedDerivativeError` unless ``x`` is an array of NumPy's own class, of numbers.

    The adjoint of what is written in place is that of an array, where the types do not say what it is.

    Raises:
        TakenOtherwiseError: if it is a number.
        ContainerMetError: if it is neither.

    >>> require_ndarray(np.ones(2))
    """
    if type(x) is not np.ndarray or x.dtype.hasobject:
        error = TakenOtherwiseError if isinstance(x, _NUMBERS) else ContainerMetError
        what = "an array of objects" if isinstance(x, np.ndarray) and x.dtype.hasobject else f"a {type(x).__name__}"
        raise error(
            f"{what} is changed here, or read from what is changed, where the types do not say whether it is an array",
            "If it is a number, write x = x + y for x += y, and 1.0 * a[i] for a[i]. "
            "Convert what has another class with np.array(...).",
        )


def require_as_long(made: Any, array: Any) -> None:
    """Raise `UndefinedDerivativeError` unless an array for the result of an accumulation has its size.

    NumPy takes one that shares memory with the operand, and reads beyond that.

    >>> require_as_long(np.zeros(2), np.ones(2))
    """
    if np.size(made) != np.size(array):
        what = f"an accumulation of {np.size(made)} numbers is written into an array of {np.size(array)}"
        raise UndefinedDerivativeError(what, "Give it the part that the result is for: out=x[:n].")


def require_layout(x: Any, dtype: str = "", ndim: int = -1) -> None:
    """Raise `UndefinedDerivativeError` unless the elements of ``x`` stand in order, in a dtype, or with so many axes.

    >>> require_layout(np.ones(2), "d", 1)
    """
    if (dtype and not (x.dtype.char == dtype and x.flags.c_contiguous)) or ndim not in (-1, x.ndim):
        raise UndefinedDerivativeError(
            "what an object of a subclass of arrays is made of has another dtype, order or number of axes",
            "Make an array of it: np.array(x, dtype=float, order='C').",
        )


def require_same_numbers(a: Any, kind: Any = None) -> None:
    """Raise `UndefinedDerivativeError` where the elements of ``a.view(kind)`` are other numbers than those of ``a``.

    >>> require_same_numbers(np.ones(2), np.ndarray)
    """
    if isinstance(a, np.ndarray):
        viewed(a, kind)


def require_unswallowed(result: Any) -> None:
    """Raise `UndefinedDerivativeError` where the ``__exit__`` of a context manager keeps an exception back.

    >>> require_unswallowed(None)
    """
    if result:
        raise UndefinedDerivativeError(
            "a context manager keeps an exception back: its __exit__ returns true",
            "Catch the exception with try and except, or use contextlib.suppress.",
        )


def store_item(x: Any, *evaluated: Any) -> None:
    """Set an item of a number, which raises as in Python; index and value have been ``evaluated`` before.

    Raises:
        TypeError: since numbers have no items that may be set.

    >>> store_item(np.float64(2.5), 0, 1.0)
    Traceback (most recent call last):
        ...
    TypeError: 'numpy.float64' object does not support item assignment
    """
    x[()] = None


def require_unwritten() -> None:
    """Refuse the handler of an exception that NumPy raises when it has already written.

    That is what its floating-point errors and warnings are (`numpy.errstate`): they come at the end of an operation.

    Raises:
        UndefinedDerivativeError: if the exception that is handled is one of these.

    Example:
        >>> require_unwritten()
    """
    error = sys.exc_info()[1]
    if isinstance(error, (FloatingPointError, Warning)):
        raise UndefinedDerivativeError(
            f"a {type(error).__name__} is caught, and the array that is written here may have been written before it",
            "Compute what is written by itself: t = y / v, then y[:] = t after the try.",
        )


def require_nothing_left(left: bool, name: str, remedy: str) -> None:
    """Refuse the handler of an exception that a statement has raised when it had done a part of what it does.

    Raises:
        UndefinedDerivativeError: if ``left``: the variable ``name`` may have been assigned or its object been written.

    Example:
        >>> require_nothing_left(False, "x", "Try it by itself.")
    """
    if left:
        error = type(sys.exc_info()[1]).__name__
        raise UndefinedDerivativeError(
            f"a {error} is caught, which was raised when {name} may have been assigned or written already", remedy
        )


def require_convertible(value: Any) -> None:
    """Refuse to store a sequence of which some items are no numbers: NumPy writes those before the first such one.

    Raises:
        UndefinedDerivativeError: if ``value`` is a list, a tuple or an array of objects that holds what is no number.

    Example:
        >>> require_convertible([1.0, 2])
    """
    if not isinstance(value, (float, int)) and np.asarray(value).dtype.kind not in "biufc":
        raise UndefinedDerivativeError(
            "what is stored in an array here, and tried, has items that are no numbers",
            "Make an array of numbers of it first.",
        )


def require_replaceable(x: Any, key: Any) -> None:
    """Refuse ``x[key] += y``, tried, where the item changes in place and then cannot be assigned.

    Raises:
        UndefinedDerivativeError: if ``x`` is a tuple whose item is an array or a list.

    Example:
        >>> require_replaceable((1.0, [2.0]), 0)
    """
    if isinstance(x, tuple) and isinstance(x[key], (np.ndarray, list)):
        raise UndefinedDerivativeError(
            "an item of a tuple is changed in place here, and the TypeError that follows may be caught",
            "Give the item a name first: a = t[0], then a += y.",
        )


def require_sequence(x: Any) -> None:
    """Refuse ``list(x)`` or ``iter(x)`` of what is differentiated, where it is no array, list or tuple.

    Raises:
        UndefinedDerivativeError: if ``x`` is none.

    Example:
        >>> require_sequence(np.ones(2))
    """
    if not isinstance(x, (np.ndarray, list, tuple)):
        raise UndefinedDerivativeError(
            f"a list or iterator is made of a {type(x).__name__} that is differentiated",
            "Make it of an array, list or tuple.",
        )
