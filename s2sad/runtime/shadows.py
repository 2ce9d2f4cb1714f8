"""Shadows of arrays that are written in place, and of containers that change: how they are made, and taken out of."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.copies import apart_like, require_apart
from s2sad.runtime.items import TakenOtherwiseError
from s2sad.runtime.trees import arrays_in, dataclass_fields, in_order, is_array_like, repeats


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
    """Refuse to write a float that is differentiated into an array of integers.

    Raises:
        UndefinedDerivativeError: if ``x`` is one.
    """
    if isinstance(x, np.ndarray) and x.dtype.names:
        raise UndefinedDerivativeError(
            "a float that is differentiated is written into a structured array", "Make an array for each field."
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
