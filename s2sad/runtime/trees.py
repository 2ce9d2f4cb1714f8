"""Adjoints of containers, and of values of which only the run knows what they are.

The adjoint of a list, tuple, dict, named tuple or dataclass is a *shadow*: lists for sequences,
dicts for dicts and for the fields of dataclasses, floats and arrays at the leaves.  Shadows
are mutable so that the adjoint of one item can be added in place.
"""

from __future__ import annotations

import copy as copying
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sad.errors import ArgumentError, NonScalarError, UndefinedDerivativeError
from s2sad.runtime.arrays import in_memory, unbroadcast
from s2sad.runtime.classes import own_class
from s2sad.runtime.copies import apart_like, dict_like
from s2sad.runtime.objects import Unset
from s2sad.runtime.undefined import PartlyUndefined, Undefined


def scalar_seed(loss: Any) -> float:
    """Return 1.0, the adjoint of a real scalar ``loss``.

    Raises:
        NonScalarError: if ``loss`` is not a real scalar.
        ArgumentError: if it is an integer or boolean of NumPy's.
    """
    if isinstance(loss, float):
        return 1.0
    if isinstance(loss, bool):
        raise _no_float(loss)
    if isinstance(loss, int):
        return 1.0
    kind = getattr(loss, "dtype", None)
    if kind is None and not isinstance(loss, complex):
        raise NonScalarError(
            f"the function returned {_describe(loss)}, but grad needs a scalar\n"
            "Return one float, or use has_aux=True for a pair (loss, anything)."
        )
    shape = np.shape(loss)
    if shape != ():
        raise NonScalarError(
            f"the function returned an array of shape {shape}, but grad needs a scalar\n"
            "Reduce it (np.sum, np.mean), or use vjp."
        )
    if isinstance(loss, complex) or (kind is not None and kind.kind == "c"):
        raise NonScalarError(
            "the function returned a complex number, but grad needs a real scalar\nTake its real part, or use vjp."
        )
    if kind is not None and kind.kind != "f":
        raise _no_float(loss)
    return 1.0


def constant_loss(loss: Any) -> float:
    """Return 0.0 for a real scalar ``loss`` that no derivative passes into.

    Raises:
        NonScalarError: if ``loss`` is not a real scalar.
        ArgumentError: if it is an integer or boolean, which is surely not meant.
    """
    scalar_seed(loss)
    if isinstance(loss, int):
        raise _no_float(loss)
    return 0.0


def _no_float(loss: Any) -> ArgumentError:
    what = f"dtype {loss.dtype}" if hasattr(loss, "dtype") else f"type {type(loss).__name__}"
    return ArgumentError(
        f"the function returned a number of {what}, which has no derivative, but grad needs a float\n"
        "Return a float; if the result is constant on purpose, convert it with float(...)."
    )


def as_pair(result: Any) -> Any:
    """Return ``result`` if it is a pair ``(loss, aux)``.

    Raises:
        ArgumentError: if it is anything else.
    """
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return result
    what = f"{type(result).__name__} of {len(result)} items" if isinstance(result, (tuple, list)) else _describe(result)
    raise ArgumentError(
        f"has_aux=True needs a function that returns a pair (loss, aux), but it returned {what}\n"
        "Return two values, or leave has_aux out."
    )


def _describe(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def dataclass_fields(x: Any) -> tuple[str, ...] | None:
    """The field names of a dataclass instance, else None."""
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return tuple(f.name for f in dataclasses.fields(x))
    return None


def sequence_like(x: Any, items: Any) -> Any:
    """``items`` in a list or tuple of the class of ``x``, a named tuple made without running what its class does."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        new = tuple.__new__(type(x), items)
        if hasattr(x, "__dict__"):
            vars(new).update(vars(x))
        return new
    return type(x)(items)


def with_fields(x: Any, values: dict[str, Any]) -> Any:
    """A dataclass instance with other values, made without running what its class does when one is made."""
    new = copying.copy(x)
    for name, value in values.items():
        object.__setattr__(new, name, value)
    return new


def is_array_like(x: Any) -> bool:
    """Whether an object of another library does what arrays do: NumPy asks its class, and so runs no ``__getattr__``.

    Example:
        >>> is_array_like(np.ma.masked_array([1.0])), is_array_like({1.0})
        (True, False)
    """
    return hasattr(type(x), "__array_function__") and not isinstance(x, (str, bytes, set, frozenset))


def zeros(x: Any) -> Any:
    """The zero adjoint of ``x``: 0.0, an array of zeros, or a shadow of them."""
    if isinstance(x, np.ndarray):
        return np.zeros_like(x) if x.dtype.kind in "fc" else np.zeros(x.shape)
    if isinstance(x, (float, int, complex, np.number)):
        return 0.0
    if isinstance(x, (list, tuple, range)):
        return [zeros(item) for item in x]
    if isinstance(x, dict):
        return {key: zeros(item) for key, item in dict.items(x)}
    fields = dataclass_fields(x)
    if fields is not None:
        return {name: zeros(getattr(x, name)) for name in fields}
    # What stands for a variable without a value, or for a tangent that there is not, raises whatever is done with it.
    if isinstance(x, PartlyUndefined):
        return np.zeros_like(x.values)
    return np.zeros_like(x) if is_array_like(x) and type(x) not in (Unset, Undefined) else 0.0


def is_zero(x: Any) -> bool:
    """Whether an adjoint is zero in all that it holds."""
    held = x.values() if isinstance(x, dict) else x
    return all(map(is_zero, held)) if isinstance(x, (list, tuple, dict)) else not np.any(x)


def add(a: Any, b: Any) -> Any:
    """The sum of two adjoints of one value; neither is changed."""
    if isinstance(a, float) and isinstance(b, float):
        return a + b
    if isinstance(a, (list, tuple, dict)) and isinstance(b, float) and b == 0.0:
        return a
    if isinstance(a, (list, tuple)):
        # What a list got later has no adjoint from before.
        grown = isinstance(b, (list, tuple)) and len(b) > len(a) and all(map(is_zero, b[len(a) :]))
        if isinstance(b, (list, tuple, np.ndarray)) and (grown or len(a) == len(b)):
            return [add(p, q) for p, q in zip(a, b, strict=False)]
        raise _apart(a, b)
    if isinstance(a, dict):
        if isinstance(b, dict):
            return {key: add(value, b[key]) for key, value in dict.items(a)}
        raise _apart(a, b)
    if isinstance(b, (list, tuple, dict)):
        if isinstance(a, (np.ndarray, float)) and (isinstance(b, dict) or np.ndim(a) == 0):
            return b
        return add(b, a)
    return a + b


def unadd(z_bar: Any, a: Any) -> Any:
    """The adjoint of ``a`` for that of ``add(a, b)``, where ``a`` may be the number 0.0 and ``b`` anything.

    Example:
        >>> unadd(np.ones(2), 0.5)
        2.0
    """
    if isinstance(a, np.ndarray):
        return unbroadcast(z_bar, a.shape)
    if isinstance(a, (list, tuple, dict)):
        return z_bar
    if isinstance(z_bar, (list, tuple, dict)):
        return 0.0
    return float(np.sum(z_bar)) if np.isrealobj(z_bar) else np.sum(z_bar)


def _apart(a: Any, b: Any) -> UndefinedDerivativeError:
    return UndefinedDerivativeError(
        f"two uses of one value give it adjoints of different structure: {a!r} and {b!r}",
        "Convert lists and tuples with np.array(...) before they are used as arrays.",
    )


def repeats(index: Any) -> bool:
    """Whether an index may name one element twice.

    Example:
        >>> repeats(((0, 0),)), repeats((0, slice(2))), repeats(np.array([True, False]))
        (True, False, False)
    """
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, np.ndarray):
            if part.dtype.kind != "b" and part.ndim > 0:
                return True
        elif isinstance(part, (list, tuple)):
            return True
    return False


def in_slice(x: Any, place: slice, g: Any) -> Any:
    """The adjoint of the list or tuple ``x`` for ``g``, that of ``x[place]``: zeros elsewhere.

    >>> in_slice([1.0, 2.0, 3.0], slice(1, None), [5.0, 7.0])
    [0.0, 5.0, 7.0]
    """
    x_bar = zeros(x)
    add_at(x_bar, place, g)
    return x_bar


def add_at(x_bar: Any, index: Any, g: Any) -> None:
    """Add ``g`` to ``x_bar[index]`` in place, as often as the index repeats an element."""
    if isinstance(x_bar, np.ndarray):
        g = real_like(g, x_bar)
        if repeats(index):
            np.add.at(x_bar, index, g)
        else:
            x_bar[index] += g
    elif isinstance(index, slice) or isinstance(x_bar, (list, dict)):
        x_bar[index] = add(x_bar[index], g)
    elif hasattr(x_bar, "__array_function__"):
        np.add.at(x_bar, index, g)
    else:
        raise UndefinedDerivativeError(
            "an item is taken here of what turns out to be a number",
            "Make it an array with np.atleast_1d(...) before, or leave the index out.",
        )


def in_item(x: Any, index: Any, g: Any) -> Any:
    """The adjoint of ``x`` for that of ``x[index]``: zeros with ``g`` there.

    Example:
        >>> in_item(np.ones(3), 1, 5.0)
        array([0., 5., 0.])
    """
    # Numbers have items by what is no place: a[()], a[...], a[None].
    made = np.zeros((), np.result_type(x, 0.0)) if np.isscalar(x) else zeros(x)
    add_at(made, index, g)
    return made[()] if np.isscalar(x) else made


def add_field(x_bar: Any, x: Any, name: str, g: Any) -> None:
    """Add ``g`` to the adjoint of the field ``x.name`` in place."""
    names = getattr(x, "_fields", None)
    key: Any = names.index(name) if isinstance(x, tuple) and names is not None else name
    if not isinstance(x_bar, (list, dict)) or (isinstance(x_bar, dict) and key not in x_bar):
        raise UndefinedDerivativeError(
            f"the attribute .{name} of {type(x).__name__} has no derivative",
            "Pass its value as an argument of its own, or wrap it in stop_gradient(...).",
        )
    x_bar[key] = add(x_bar[key], g)


def add_into(x_bar: Any, g: Any) -> None:
    """Add ``g`` to the shadow ``x_bar`` of a container in place, item by item."""
    if isinstance(x_bar, np.ndarray):
        x_bar += real_like(g, x_bar)
        return
    for key in x_bar if isinstance(x_bar, dict) else range(len(x_bar)):
        _add_at(x_bar, key, g[key])


def _add_at(x_bar: Any, key: Any, g: Any) -> None:
    if isinstance(x_bar[key], (np.ndarray, list, dict)):
        add_into(x_bar[key], g)
    else:
        x_bar[key] = add(x_bar[key], g)


def real_like(g: Any, x_bar: Any) -> Any:
    """The real part of ``g`` where ``x_bar``, to which it is added or whose adjoint it is, is real."""
    real = x_bar.dtype.kind == "f" if isinstance(x_bar, (np.ndarray, np.generic)) else type(x_bar) is float
    return np.real(g) if real and isinstance(g, (np.ndarray, np.complexfloating, complex)) else g


def add_into_item(x_bar: Any, key: Any, g: Any) -> None:
    """Add ``g`` to an item of the shadow ``x_bar`` of a container, or to those of a slice.

    That is in place, as an item may have other names.
    """
    if isinstance(key, slice):
        for place, part in zip(range(*key.indices(len(x_bar))), g, strict=True):
            _add_at(x_bar, place, part)
    else:
        _add_at(x_bar, key, g)


def add_copy(x_bar: Any, z_bar: Any, order: Any = "C") -> None:
    """Add the shadow of ``z``, which has the elements of ``x`` in their order, to that of ``x``, if ``z`` was a copy.

    A shadow has the layout of its array, so that it is viewed where the array is viewed and copied
    where the array is copied.
    """
    if not np.may_share_memory(x_bar, z_bar):
        if order == "K":
            x_bar += real_like(np.take(z_bar, in_memory(x_bar)).reshape(x_bar.shape), x_bar)
        else:
            x_bar += real_like(z_bar.copy(order="K").reshape(x_bar.shape, order=order), x_bar)


def diagonal_view(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of a shadow as a view that may be written."""
    view = np.diagonal(a, offset, axis1, axis2)
    view.flags.writeable = True
    return view


def imaginary_view(x_bar: Any) -> Any:
    """The imaginary part of a shadow as a view; one of a real array has none, and the view is of nothing."""
    return np.imag(x_bar) if np.iscomplexobj(x_bar) else np.zeros_like(x_bar)


def orderly(into: Any, values: Any) -> None:
    """Refuse to copy one row of an array into another that overlaps it and has other strides.

    NumPy copies in the order of the elements there, and so may read what it has written already.

    Raises:
        UndefinedDerivativeError: if it may.
    """
    rows = isinstance(into, np.ndarray) and isinstance(values, np.ndarray) and into.ndim == 1 <= values.ndim
    if rows and into.strides[0] != values.strides[-1] and np.may_share_memory(into, values):
        if into.strides[0] * values.strides[-1] > 0 and np.shares_memory(into, values):
            raise UndefinedDerivativeError(
                "this copies a row of an array into another that overlaps it, in an order that is NumPy's own",
                "Copy it first: x.copy().",
            )


def arrays_in(x: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays in a value."""
    if isinstance(x, np.ndarray):
        return [x]
    if isinstance(x, dict):
        x = list(dict.values(x))
    elif dataclass_fields(x) is not None:
        x = [getattr(x, name) for name in dataclass_fields(x) or ()]
    return [a for item in in_order(x) for a in arrays_in(item)] if isinstance(x, (list, tuple)) else []


def in_order(x: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
    """The items of a list or tuple, whatever the ``__iter__`` of its class does."""
    return list.__iter__(x) if isinstance(x, list) else tuple.__iter__(x)


def fresh(g: Any) -> Any:
    """A copy of an adjoint that shares no memory with anything."""
    if isinstance(g, (list, tuple)):
        return [fresh(item) for item in g]
    if isinstance(g, dict):
        return {key: fresh(item) for key, item in dict.items(g)}
    return g.copy() if hasattr(g, "copy") else g


def own(x: Any) -> Any:
    """A number itself; of an array a copy, which may then be written in place; of a container a copy of all inside.

    A copy has the strides of the array, so that NumPy views and copies it where it would view and copy the array, but
    its elements are apart in memory.
    A dataclass instance is a container of its fields.
    """
    if isinstance(x, np.ndarray):
        if x.flags.c_contiguous:
            return x.copy()
        copy = apart_like(x)
        copy[...] = x
        return copy
    if isinstance(x, (list, tuple)):
        items = [own(item) for item in x]
        return sequence_like(x, items)
    if isinstance(x, dict):
        copied = {key: own(item) for key, item in dict.items(x)}
        return copied if type(x) is dict else dict_like(x, copied)
    fields = dataclass_fields(x)
    if fields is not None:
        return with_fields(x, {name: own(getattr(x, name)) for name in fields})
    if isinstance(x, np.flatiter):
        return x.copy()
    if isinstance(x, memoryview):
        return np.array(x)
    return x


def packed(x: Any, bars: Any) -> Any:
    """The adjoint of an unpacked ``x`` from the adjoints of its items."""
    if isinstance(x, np.ndarray):
        x_bar = np.zeros_like(x)
        for row, bar in enumerate(bars):
            x_bar[row] = real_like(bar, x_bar)
        return x_bar
    if isinstance(x, (list, tuple)) and len(x) == len(bars):
        return [real_like(bar, item) for bar, item in zip(bars, x, strict=True)]
    return list(bars)


def joined(z_bar: Any, part: str, first: Any) -> Any:
    """The adjoint of the first (``"head"``) or second (``"tail"``) operand of a ``first + second`` of lists."""
    return list(z_bar[: len(first)] if part == "head" else z_bar[len(first) :])


def starred(bars: Any, position: int, count: int) -> Any:
    """The adjoints ``bars`` of ``a, *b, c`` with the list at ``position`` of ``count`` laid flat."""
    after = count - position - 1
    middle = bars[position]
    return [*bars[:position], *middle, *(bars[len(bars) - after :] if after else [])]


def conform(g: Any, x: Any) -> Any:
    """Give the adjoint ``g`` the structure, shape and dtype of ``x``."""
    if isinstance(x, np.ndarray):
        if type(g) is np.ndarray and g.dtype == x.dtype and g.shape == x.shape:
            return g
        if x.dtype.kind not in "fc":
            return np.zeros(x.shape)
        if np.iscomplexobj(g) and x.dtype.kind == "f":
            g = np.real(g)
        out = np.empty_like(x, subok=False)
        out[...] = g
        return out
    if isinstance(x, np.inexact):
        return x.dtype.type(np.real(g) if x.dtype.kind == "f" else g)
    if isinstance(x, complex):
        return complex(g)
    if isinstance(x, (float, int)) and not isinstance(x, bool):
        return float(np.real(g)) if not isinstance(g, float) else float(g)
    if isinstance(x, tuple):
        items = [conform(a, b) for a, b in zip(g, x, strict=True)] if not _is_zero(g) else [conform(0.0, b) for b in x]
        return sequence_like(x, items)
    if isinstance(x, list):
        return [conform(0.0, b) for b in x] if _is_zero(g) else [conform(a, b) for a, b in zip(g, x, strict=True)]
    if isinstance(x, dict):
        return {key: conform(0.0 if _is_zero(g) else g[key], value) for key, value in dict.items(x)}
    fields = dataclass_fields(x)
    if fields is not None:
        values = {name: conform(0.0 if _is_zero(g) else g[name], getattr(x, name)) for name in fields}
        return with_fields(x, values)
    return None if x is None or is_constant_field(x) else g


def is_constant_field(x: Any) -> bool:
    """Whether what an object has as a field says what to do: text, a truth value, a function or class.

    Example:
        >>> is_constant_field("tanh"), is_constant_field(np.tanh), is_constant_field(1)
        (True, True, False)
    """
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "iub"
    return isinstance(x, (str, bytes, bool, np.bool_, type)) or (callable(x) and own_class(x) is None)


def fields_apart(g: Any) -> Any:
    """An adjoint with dicts for dataclasses, as the reverse part has them.

    Example:
        >>> fields_apart([1.0, (2.0,)])
        [1.0, (2.0,)]
    """
    if isinstance(g, (list, tuple)):
        return sequence_like(g, [fields_apart(item) for item in g])
    if isinstance(g, dict):
        return {key: fields_apart(item) for key, item in dict.items(g)}
    fields = dataclass_fields(g)
    return g if fields is None else {name: fields_apart(getattr(g, name)) for name in fields}


def conformed(g: Any, x: Any) -> Any:
    """As :func:`conform`, an object of its own.

    Example:
        >>> conformed(np.array([1.0 + 2.0j]), np.zeros(1))
        array([1.])
    """
    return own(conform(g, x))


def _is_zero(g: Any) -> bool:
    return isinstance(g, float)
