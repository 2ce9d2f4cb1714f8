"""Adjoints and tangents of ``np.pad`` in all its modes.

NumPy pads one axis after the other, and what it puts at the ends of a later axis is made of what it has put at the ends
of the earlier ones.  So one axis is undone after the other here, the last one first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import mean_ties, share_ties, unbroadcast
from s2sad.runtime.linear import Shape, like, uncast
from s2sad.runtime.quantiles import quantile_adjoint, quantile_tangent

Array = Any
Mode: TypeAlias = Literal["edge", "reflect", "symmetric", "wrap", "mean", "linear_ramp", "maximum", "minimum", "median"]

_COPYING = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = ("mean", "maximum", "minimum", "median")


def unpad(g: Any, shape: Shape, pad_width: Any, mode: str = "constant") -> Array:
    """Transpose of ``np.pad`` for the modes that copy elements (and of ``"constant"``, whose border has no adjoint)."""
    if mode in ("constant", "empty"):
        kept: Array = g[
            tuple([slice(b, b + n) for (b, _), n in zip(_pairs(pad_width, len(shape)), shape, strict=True)])
        ]
        return kept
    own = False
    for axis, (before, after) in enumerate(_pairs(pad_width, len(shape))):
        if before or after:
            part = _cut(g, axis, slice(before, before + shape[axis]))
            middle = part if own else np.array(part)
            _add_ends(middle, g, axis, before, after, mode)
            g, own = middle, True
    return cast(Array, g)


def _add_ends(middle: Array, g: Array, axis: int, before: int, after: int, mode: str) -> None:
    """Add the adjoints of elements that are copied to the ends of an axis to those of what they are copied from."""
    n = middle.shape[axis]
    ends = _cut(g, axis, slice(0, before)), _cut(g, axis, slice(before + n, None))
    if mode == "edge":
        for place, end in zip((slice(0, 1), slice(n - 1, n)), ends, strict=True):
            _cut(middle, axis, place)[...] += np.sum(end, axis=axis, keepdims=True)
    elif max(before, after) > n - (mode == "reflect"):  # some elements are copied several times
        origin = np.pad(np.arange(n), (before, after), cast(Mode, mode))
        for places, end in zip((origin[:before], origin[before + n :]), ends, strict=True):
            np.add.at(np.moveaxis(middle, axis, 0), places, np.moveaxis(end, axis, 0))
    else:
        # Where they are copied from, and how.
        starts = {"wrap": (n - before, 0), "symmetric": (0, n - after), "reflect": (1, n - 1 - after)}[mode]
        for start, end in zip(starts, ends, strict=True):
            copied = end if mode == "wrap" else np.flip(end, axis)
            _cut(middle, axis, slice(start, start + end.shape[axis]))[...] += copied


def pad_adjoint(
    g: Any, a: Any, pad_width: Any, mode: str = "constant", stat_length: Any = None, reflect_type: str = "even"
) -> Any:
    """Return the adjoint of ``a``, given ``g``, that of ``np.pad(a, ...)``.

    Example:
        >>> pad_adjoint(np.array([4.0, 1.0, 1.0]), np.array([2.0, 6.0]), (1, 0), "mean")
        array([3., 3.])
        >>> pad_adjoint(np.array([4.0, 1.0, 1.0]), np.array([2.0, 6.0]), (1, 0), "maximum")
        array([1., 5.])
    """
    _check(mode)
    if mode in ("constant", "empty") or (mode in _COPYING and reflect_type == "even"):
        return unpad(g, np.shape(a), pad_width, mode)
    pairs = _pairs(pad_width, np.ndim(a))
    stages = [np.asarray(a)]
    for axis in range(np.ndim(a) - 1):
        # What the statistics of the next axis are taken of.
        stages.append(_pad_axis(stages[-1], axis, pairs[axis], mode, stat_length, reflect_type))
    for axis in reversed(range(np.ndim(a))):
        g = _unpad_axis(g, stages[axis], axis, pairs[axis], mode, stat_length, reflect_type)
    return g


def pad_tangent(
    t: Any,
    a: Any,
    pad_width: Any,
    mode: str = "constant",
    stat_length: Any = None,
    reflect_type: str = "even",
    ends: tuple[Any, Any] = (0.0, 0.0),
) -> Any:
    """Return the tangent of ``np.pad(a, ...)``, given ``t``, that of ``a``; the transpose of `pad_adjoint`.

    ``ends`` are the tangents of ``constant_values`` and ``end_values``.
    """
    _check(mode)
    if mode in ("constant", "empty"):
        return np.pad(t, pad_width, constant_values=ends[0] if mode == "constant" else 0.0)
    if mode == "linear_ramp":
        return np.pad(t, pad_width, "linear_ramp", end_values=ends[1])
    if mode not in _STATISTICS or mode == "mean":
        for axis, pair in enumerate(_pairs(pad_width, np.ndim(a))):
            t = _pad_axis(t, axis, pair, mode, stat_length, reflect_type)
        return t
    a = np.asarray(a)
    for axis, pair in enumerate(_pairs(pad_width, a.ndim)):
        sides = []
        for part, length in _statistics_of(a.shape[axis], _of_axis(stat_length, axis), pair):
            x, x_dot = _cut(a, axis, part), _cut(t, axis, part)
            sides.append(np.repeat(_statistic_tangent(x_dot, x, axis, mode), length, axis))
        t = np.concatenate((sides[0], t, sides[1]), axis)
        a = _pad_axis(a, axis, pair, mode, stat_length, reflect_type)
    return t


def pad_ends(g: Any, dtype: Any, pad_width: Any, mode: str = "constant", values: Any = 0) -> Any:
    """Return the adjoint of the ``values`` at the ends: ``constant_values``, or ``end_values`` of a linear ramp.

    They are converted to the ``dtype`` of the array.

    Example:
        >>> pad_ends(np.array([1.0, 2.0, 4.0, 8.0]), float, 1, "constant", 0.5)
        np.float64(9.0)
        >>> pad_ends(np.array([1.0, 2.0, 4.0, 8.0]), float, 1, "constant", (0.5, 1.5))
        (np.float64(1.0), np.float64(8.0))
    """
    ndim = np.ndim(g)
    pairs = _pairs(pad_width, ndim)
    found = np.zeros((ndim, 2), np.result_type(g))
    for axis in reversed(range(ndim)):
        left, _, right = _thirds(g, axis, pairs[axis])
        for side, part in enumerate((left, np.flip(right, axis))):
            length = pairs[axis][side]
            weights = 1 - np.arange(length) / length if mode == "linear_ramp" and length else np.ones(length)
            found[axis, side] = np.sum(np.moveaxis(part, axis, -1) * weights)
        g = _unpad_axis(g, None, axis, pairs[axis], mode, None, "even")
    return like(uncast(unbroadcast(found, np.shape(values)), dtype, values), values)


def padded_ends(ends: Any, g: Any, dtype: Any, pad_width: Any, mode: str = "constant") -> Any:
    """Return the adjoint of ``g`` in `pad_ends`: zeros in the middle, between what the ends have.

    Of an array of integers all is zero.

    Example:
        >>> padded_ends(2.0, np.ones(5), float, 2, "linear_ramp")
        array([2., 1., 0., 1., 2.])
    """
    if np.dtype(dtype).kind not in "fc":
        return np.zeros_like(g)
    pairs = _pairs(pad_width, np.ndim(g))
    middle = np.zeros([n - sum(pair) for n, pair in zip(np.shape(g), pairs, strict=True)], np.result_type(g))
    if mode == "linear_ramp":
        return np.pad(middle, pad_width, "linear_ramp", end_values=ends)
    return np.pad(middle, pad_width, constant_values=ends)


# --- one axis


def _pad_axis(a: Array, axis: int, pair: tuple[int, int], mode: str, stat_length: Any, reflect_type: str) -> Array:
    """``np.pad`` along one axis, with ends of zero."""
    widths = [(0, 0)] * np.ndim(a)
    widths[axis] = pair
    further: dict[str, Any] = {}
    if mode in _STATISTICS and stat_length is not None:
        further["stat_length"] = _of_axis(stat_length, axis)
    if mode in ("reflect", "symmetric"):
        further["reflect_type"] = reflect_type
    padded: Array = np.pad(a, widths, cast(Mode, mode), **further)
    return padded


def _unpad_axis(
    g: Any, a: Any, axis: int, pair: tuple[int, int], mode: str, stat_length: Any, reflect_type: str
) -> Any:
    """The adjoint of `_pad_axis`."""
    left, middle, right = _thirds(g, axis, pair)
    if mode == "constant" or not sum(pair):
        return middle
    n = middle.shape[axis]
    if mode in ("reflect", "symmetric"):
        matrix = _pad_axis(np.eye(n, dtype=np.result_type(g)), 0, pair, mode, None, reflect_type)
        return np.moveaxis(np.moveaxis(g, axis, -1) @ matrix, -1, axis)
    middle = np.array(middle)
    if mode == "linear_ramp":
        for edge, part, length in ((0, left, pair[0]), (-1, np.flip(right, axis), pair[1])):
            weights = (np.arange(length) / max(length, 1)).astype(np.result_type(g))
            np.moveaxis(middle, axis, -1)[..., edge] += np.moveaxis(part, axis, -1) @ weights
        return middle
    for (part, _), whole in zip(_statistics_of(n, _of_axis(stat_length, axis), pair), (left, right), strict=True):
        if whole.shape[axis]:
            target, total = _cut(middle, axis, part), np.sum(whole, axis, keepdims=True)
            target += _statistic_adjoint(total, target if a is None else _cut(a, axis, part), axis, mode)
    return middle


def _statistic_adjoint(g: Any, x: Any, axis: int, mode: str) -> Any:
    """The adjoint of a statistic along an axis, which is kept."""
    if mode == "mean":
        return g / x.shape[axis]
    if mode == "median":
        return quantile_adjoint(g, x, 0.5, axis)
    z = np.max(x, axis, keepdims=True) if mode == "maximum" else np.min(x, axis, keepdims=True)
    return share_ties(g, x, z, axis, keepdims=True)


def _statistic_tangent(t: Any, x: Any, axis: int, mode: str) -> Any:
    if mode == "median":
        return quantile_tangent(t, x, 0.5, axis, keepdims=True)
    z = np.max(x, axis, keepdims=True) if mode == "maximum" else np.min(x, axis, keepdims=True)
    return mean_ties(t, x, z, axis, keepdims=True)


def _statistics_of(n: int, lengths: tuple[Any, Any], pair: tuple[int, int]) -> Iterator[tuple[slice, int]]:
    """Of which part of an axis the statistic on each side is taken, and how wide the side is."""
    for side, (length, width) in enumerate(zip(lengths, pair, strict=True)):
        length = n if length is None else min(int(length), n)
        yield (slice(n - length, n) if side else slice(0, length)), width


# --- parts


def _cut(a: Any, axis: int, part: slice) -> Any:
    return a[(*[slice(None)] * axis, part)]


def _thirds(g: Any, axis: int, pair: tuple[int, int]) -> tuple[Any, Any, Any]:
    """What stands before, in the middle and after."""
    end = g.shape[axis] - pair[1]
    return _cut(g, axis, slice(0, pair[0])), _cut(g, axis, slice(pair[0], end)), _cut(g, axis, slice(end, None))


def _pairs(pad_width: Any, ndim: int) -> Sequence[tuple[int, int]]:
    """How much is put before and after each axis."""
    if isinstance(pad_width, dict):
        found = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            before, after = np.broadcast_to(width, (2,))
            found[axis] = int(before), int(after)
        return found
    return [(int(a), int(b)) for a, b in np.broadcast_to(pad_width, (ndim, 2))]


def _of_axis(lengths: Any, axis: int) -> tuple[Any, Any]:
    """The ``stat_length`` of both sides of an axis."""
    if lengths is None:
        return None, None
    given = np.asarray(lengths)
    return tuple(given[axis if given.shape[0] > 1 else 0]) if given.ndim == 2 else tuple(np.broadcast_to(given, (2,)))


def _check(mode: Any) -> None:
    if mode not in ("constant", "empty", "linear_ramp", *_COPYING, *_STATISTICS):
        what = f"np.pad with mode={mode!r} has no derivative"
        raise UndefinedDerivativeError(what, "Fill the ends in yourself, in an array made by np.empty.")
