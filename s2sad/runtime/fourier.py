"""Transposes of the discrete Fourier transforms: each is a transform of the same kind.

The matrix of a transform is symmetric, so that of ``fft`` and ``ifft`` is the
transform itself, with zeros cut off or appended.  A half transform leaves out the
bins that are conjugates of others; those that stand for two, the interior ones,
count twice where it is turned back: the transpose of ``rfft`` is ``hfft`` of the
halved bins, that of ``irfft`` doubles the bins of ``ihfft``.  Nothing is conjugated
beyond what the function itself conjugates (the transpose convention).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

Shape = tuple[int, ...]
Norm = Literal["backward", "ortho", "forward"] | None


def resized(a: Any, n: int, axis: int = -1) -> Any:
    """The first ``n`` elements along ``axis``, with zeros behind where there are not so many; a view if it can.

    >>> resized(np.array([1.0, 2.0]), 3)
    array([1., 2., 0.])
    """
    have = a.shape[axis]
    if n == have:
        return a
    where: list[Any] = [slice(None)] * a.ndim
    where[axis] = slice(min(n, have))
    part = a[tuple(where)]
    if n < have:
        return part
    whole = np.zeros((*a.shape[:axis], n, *a.shape[axis:][1:]), a.dtype)
    whole[tuple(where)] = part
    return whole


def weighted_bins(bins: Any, n: int, weight: float, axis: int = -1) -> Any:
    """Of the half transform of ``n`` real numbers, ``weight`` times the bins that stand for two of the whole one.

    These are all but the first and, for even ``n``, the last.  ``bins`` may be cut off.

    >>> weighted_bins(np.ones(3), 4, 2.0), weighted_bins(np.ones(3), 5, 2.0)
    (array([1., 2., 1.]), array([1., 2., 2.]))
    """
    where: list[Any] = [slice(None)] * bins.ndim
    where[axis] = slice(1, (n + 1) // 2)
    bins = np.array(bins)
    bins[tuple(where)] *= weight
    return bins


# --- along one axis ---


def rfft_adjoint(g: Any, shape: Shape, n: int | None = None, axis: int = -1, norm: Norm = None) -> Any:
    """Adjoint of ``a``, real and of ``shape``, given ``g``, that of ``np.fft.rfft(a, n, axis, norm)``."""
    n = shape[axis] if n is None else n
    return resized(np.fft.hfft(weighted_bins(g, n, 0.5, axis), n, axis, norm), shape[axis], axis)


def ihfft_adjoint(g: Any, shape: Shape, n: int | None = None, axis: int = -1, norm: Norm = None) -> Any:
    """Adjoint of ``a``, real and of ``shape``, given ``g``, that of ``np.fft.ihfft(a, n, axis, norm)``."""
    n = shape[axis] if n is None else n
    return resized(np.fft.irfft(weighted_bins(g, n, 0.5, axis), n, axis, norm), shape[axis], axis)


def irfft_adjoint(g: Any, shape: Shape, axis: int = -1, norm: Norm = None) -> Any:
    """Adjoint of ``a``, of ``shape``, given ``g``, that of ``np.fft.irfft(a, n, axis, norm)``."""
    bins = np.fft.ihfft(np.real(g), axis=axis, norm=norm)
    return resized(weighted_bins(bins, g.shape[axis], 2.0, axis), shape[axis], axis)


def hfft_adjoint(g: Any, shape: Shape, axis: int = -1, norm: Norm = None) -> Any:
    """Adjoint of ``a``, of ``shape``, given ``g``, that of ``np.fft.hfft(a, n, axis, norm)``."""
    bins = np.fft.rfft(np.real(g), axis=axis, norm=norm)
    return resized(weighted_bins(bins, g.shape[axis], 2.0, axis), shape[axis], axis)


# --- along several axes ---


def _axes(shape: Shape, s: Sequence[int] | None, axes: Sequence[int] | None) -> list[int]:
    """The axes of a transform, counted from the first."""
    if axes is None:
        axes = range(-len(shape if s is None else s), 0)
    return [i % len(shape) for i in axes]


def _sizes(shape: Shape, s: Sequence[int] | None, axes: list[int]) -> list[int]:
    """How many elements a transform takes along each of its axes; -1 stands for all that there are."""
    if s is None:
        return [shape[i] for i in axes]
    return [shape[i] if n in (-1, None) else n for n, i in zip(s, axes, strict=True)]


def _undone(transform: Callable[..., Any], g: Any, shape: Shape, n: list[int], axes: list[int], norm: Norm) -> Any:
    """Transpose of ``transform`` along ``axes`` in this order, taking ``n`` elements each of what had ``shape``."""
    lengths = list(shape)
    before = []
    for size, axis in zip(n, axes, strict=True):
        before.append(lengths[axis])
        lengths[axis] = size
    for length, axis in zip(reversed(before), reversed(axes), strict=True):
        g = resized(transform(g, axis=axis, norm=norm), length, axis)
    return g


def fftn_adjoint(g: Any, shape: Shape, s: Any = None, axes: Any = None, norm: Norm = None) -> Any:
    """Adjoint of ``a``, of ``shape``, given ``g``, that of ``np.fft.fftn(a, s, axes, norm)``."""
    axes = _axes(shape, s, axes)
    return _undone(np.fft.fft, g, shape, _sizes(shape, s, axes)[::-1], axes[::-1], norm)


def ifftn_adjoint(g: Any, shape: Shape, s: Any = None, axes: Any = None, norm: Norm = None) -> Any:
    """Adjoint of ``a``, of ``shape``, given ``g``, that of ``np.fft.ifftn(a, s, axes, norm)``."""
    axes = _axes(shape, s, axes)
    return _undone(np.fft.ifft, g, shape, _sizes(shape, s, axes)[::-1], axes[::-1], norm)


def rfftn_adjoint(g: Any, shape: Shape, s: Any = None, axes: Any = None, norm: Norm = None) -> Any:
    """Adjoint of ``a``, real and of ``shape``, given ``g``, that of ``np.fft.rfftn(a, s, axes, norm)``."""
    axes = _axes(shape, s, axes)
    *rest, n = _sizes(shape, s, axes)
    last = axes.pop()
    half = (*shape[:last], n // 2 + 1, *shape[last + 1 :])
    return rfft_adjoint(_undone(np.fft.fft, g, half, rest[::-1], axes[::-1], norm), shape, n, last, norm)


def irfftn_adjoint(g: Any, shape: Shape, s: Any = None, axes: Any = None, norm: Norm = None) -> Any:
    """Adjoint of ``a``, of ``shape``, given ``g``, that of ``np.fft.irfftn(a, s, axes, norm)``."""
    axes = _axes(shape, s, axes)
    rest = _sizes(shape, s, axes)[:-1]
    last = axes.pop()
    lengths = list(shape)
    for size, axis in zip(rest, axes, strict=True):
        lengths[axis] = size
    return _undone(np.fft.ifft, irfft_adjoint(g, tuple(lengths), last, norm), shape, rest, axes, norm)
