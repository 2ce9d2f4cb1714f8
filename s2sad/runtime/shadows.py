"""Shadows of arrays that are written in place, and of containers that change: how they are made, and taken out of."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.copies import apart_like, require_apart
from s2sad.runtime.items import TakenOtherwiseError
from s2sad.runtime.trees import arrays_in, dataclass_fields, in_order, is_array_like, repeats, zeros


def shadow(x: Any, made: dict[int, Any] | None = None) -> Any:
    """The shadow of an array that is written in place: zeros of its shape, layout and dtype, or containers of these.

    A list that stands in a container twice has one shadow; ``made`` are those that there are, by the list's identity.

    Raises:
        UndefinedDerivativeError: for an array that cannot hold floats or whose elements share memory, what is no array,
            or a container of arrays that share memory.
        TakenOtherwiseError: for a number.
    """
    if not isinstance(x, np.ndarray):
        if isinstance(x, (list, tuple, dict)) and _overlap(arrays_in(x)):
            raise UndefinedDerivativeError(
                "two arrays of a container that is written in place share memory",
                "Take a copy of one of them (x.copy()).",
            )
        made = {} if made is None else made
        if id(x) in made:
            return made[id(x)]
        if isinstance(x, (list, tuple)):
            made[id(x)] = items = []
            items += [part_shadow(item, made) for item in in_order(x)]
            return items
        if isinstance(x, dict):
            made[id(x)] = entries = {}
            entries.update({key: part_shadow(item, made) for key, item in dict.items(x)})
            return entries
        fields = dataclass_fields(x)
        if fields is not None:
            return {name: part_shadow(getattr(x, name), made) for name in fields}
        if is_array_like(x) and not isinstance(x, np.generic):
            return np.zeros_like(x)
        raise (TakenOtherwiseError if isinstance(x, (np.generic, float, int, complex)) else UndefinedDerivativeError)(
            f"an object of type {type(x).__name__} is written in place where an array was expected",
            "Convert it with np.array(...) first.",
        )
    require_floats(x)
    require_apart(x)
    return apart_like(x)


def _overlap(arrays: list[np.ndarray[Any, Any]]) -> bool:
    """Whether two of some arrays may share memory."""
    end = 0
    for low, high in sorted(map(np.lib.array_utils.byte_bounds, arrays)):
        if low < end:
            return True
        end = high
    return False


def require_floats(x: Any) -> None:
    """Refuse to write a float that is differentiated into an array of integers, or of objects.

    Raises:
        UndefinedDerivativeError: if ``x`` is one.
    """
    if isinstance(x, np.ndarray) and x.dtype.names:
        raise UndefinedDerivativeError(
            "a float that is differentiated is written into a structured array", "Make an array for each field."
        )
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        raise UndefinedDerivativeError(
            "what is differentiated is written into an array of objects", "Make a list of what it holds."
        )
    if isinstance(x, np.ndarray) and x.dtype.kind not in "fc":
        raise UndefinedDerivativeError(
            f"a float that is differentiated is written into an array of dtype {x.dtype}, which truncates it",
            "Make the array with dtype=float.",
        )


def part_shadow(x: Any, made: dict[int, Any] | None = None) -> Any:
    """What stands in the shadow of a container for an item ``x``: its shadow, or 0.0 for what is no array."""
    if isinstance(x, np.ndarray):
        return shadow(x) if x.dtype.kind in "fc" else np.zeros(x.shape)
    return shadow(x, made) if isinstance(x, (list, tuple, dict)) or dataclass_fields(x) is not None else 0.0


def take_out(x_bar: Any, index: Any) -> Any:
    """Take ``x_bar[index]`` out of a shadow, leaving zeros: the adjoint of ``x[index] = value``.

    Where the index repeats an element the last write has won, so only its position gets the adjoint.
    """
    g = np.array(x_bar[index])
    if repeats(index) and g.size:
        places = np.arange(x_bar.size).reshape(x_bar.shape)
        written = np.broadcast_to(places[index], g.shape).ravel()
        last = np.full(x_bar.size, -1)
        last[written] = np.arange(written.size)
        g = np.where((last[written] == np.arange(written.size)).reshape(g.shape), g, 0.0)
    x_bar[index] = 0.0
    return g


def each_once(x_bar: Any, like: Any = None) -> Any:
    """A shadow as adjoints of single items: of a list or dict that stands in it twice, the second is zeros.

    Where another shadow is given, these are the places of its lists.

    Example:
        >>> row = [1.0, 2.0]
        >>> each_once([row, row])
        [[1.0, 2.0], [0.0, 0.0]]
    """
    return _each_once(x_bar, x_bar if like is None else like, set())


def _each_once(x_bar: Any, like: Any, met: set[int]) -> Any:
    if not (isinstance(like, (list, tuple, dict)) and isinstance(x_bar, (list, tuple, dict))):
        return x_bar
    if id(like) in met:
        return zeros(x_bar)
    met.add(id(like))
    if isinstance(like, dict):
        return {key: _each_once(x_bar[key], part, met) for key, part in like.items()}
    return [_each_once(part, of, met) for part, of in zip(x_bar, like, strict=True)]


def require_shared_alike(x_dot: Any, x: Any) -> None:
    """Refuse tangents of a container in which one list or array stands twice, if they are two there.

    Raises:
        UndefinedDerivativeError: if the tangent of one object is another one in each place.
    """
    met: dict[int, Any] = {}
    pending = [(x_dot, x)]
    while pending:
        dot, of = pending.pop()
        if not isinstance(of, (list, tuple, dict, np.ndarray)):
            continue
        if met.setdefault(id(of), dot) is not dot and not isinstance(of, tuple):
            raise UndefinedDerivativeError(
                "what is copied holds one list or array in two places, and its tangent has another one in each",
                "Copy the items one by one.",
            )
        if isinstance(of, dict) and isinstance(dot, dict):
            pending += [(dot[key], part) for key, part in dict.items(of)]
        elif isinstance(of, (list, tuple)) and isinstance(dot, (list, tuple)):
            pending += zip(dot, of, strict=True)
