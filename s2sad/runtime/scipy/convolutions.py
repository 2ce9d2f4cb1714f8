"""Transposes of SciPy's convolutions: correlations with the other operand.

A convolution is a part of the full one.  In the adjoint of an operand that part is put back where it was in zeros, and
correlated with the other operand; what remains is the part in which they overlap completely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from s2sad.runtime.arrays import unbroadcast


def _full(g: Any, shape: tuple[int, ...], mode: str, first: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """The adjoint of the full convolution, of ``shape``, given that of the part which ``mode`` keeps."""
    if mode == "full" or g.shape == shape:
        return g
    where = [slice(None)] * len(shape)
    for axis in axes:
        start = (shape[axis] - g.shape[axis]) // 2
        where[axis] = slice(start, start + g.shape[axis])
    whole = np.zeros(shape, g.dtype)
    whole[tuple(where)] = g
    return whole


def _axes(ndim: int, axes: Any) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(ndim))
    return tuple(axis % ndim for axis in np.atleast_1d(axes))


def convolve_adjoint(g: Any, x: Any, y: Any, mode: str = "full", method: str = "auto", axes: Any = None) -> Any:
    """Adjoint of ``x`` in ``signal.convolve(x, y, mode, method)``, or in ``signal.fftconvolve(x, y, mode, axes)``."""
    x, y = np.asarray(x), np.asarray(y)
    if x.size == 0 or y.size == 0:
        return np.zeros_like(g, shape=x.shape)
    if x.ndim == 0:
        return g * y
    along = _axes(x.ndim, axes)
    shape = [max(a, b) for a, b in zip(x.shape, y.shape, strict=True)]
    for axis in along:
        shape[axis] = x.shape[axis] + y.shape[axis] - 1
    whole = _full(g, tuple(shape), mode, x.shape, along)
    flipped = np.flip(y, along)
    if method == "fft" or axes is not None:
        x_bar = signal.fftconvolve(whole, flipped, "valid", axes)
    else:
        x_bar = signal.convolve(whole, flipped, "valid", method)
    return unbroadcast(x_bar, x.shape)


def _whole(g: Any, x: Any, y: Any, mode: str, axes: Any) -> tuple[Any, str]:
    """The adjoint of the full convolution given that of the same, which is in the middle, of the size of ``x``."""
    if mode != "same" or x.ndim == 0 or x.size == 0 or y.size == 0:
        return g, mode
    along = _axes(x.ndim, axes)
    shape = [max(a, b) for a, b in zip(x.shape, y.shape, strict=True)]
    for axis in along:
        shape[axis] = x.shape[axis] + y.shape[axis] - 1
    return _full(g, tuple(shape), mode, x.shape, along), "full"


def first_adjoint(g: Any, x: Any, y: Any, mode: str = "full", method: str = "auto", axes: Any = None) -> Any:
    """Adjoint of ``x``, of which the shape alone is read, in `convolved`."""
    x, y = np.asarray(x), np.asarray(y)
    g, mode = _whole(g, x, y, mode, axes)
    return convolve_adjoint(g, x, y, mode, method, axes)


def second_adjoint(g: Any, x: Any, y: Any, mode: str = "full", method: str = "auto", axes: Any = None) -> Any:
    """Adjoint of ``y``, of which the shape alone is read, in `convolved`."""
    x, y = np.asarray(x), np.asarray(y)
    g, mode = _whole(g, x, y, mode, axes)
    return convolve_adjoint(g, y, x, mode, method, axes)


def convolved(x: Any, y: Any, mode: str = "full", method: str = "auto", axes: Any = None) -> Any:
    """``signal.convolve(x, y, mode, method)``, or ``signal.fftconvolve(x, y, mode, axes)`` along some axes."""
    return signal.convolve(x, y, mode, method) if axes is None else signal.fftconvolve(x, y, mode, axes)


# --- in two dimensions, with boundaries

_PADDING = {"wrap": "wrap", "circular": "wrap", "symm": "symmetric", "symmetric": "symmetric"}


def first2d_adjoint(g: Any, x: Any, y: Any, mode: str = "full", boundary: str = "fill") -> Any:
    """Adjoint of ``x``, of which the shape alone is read, in ``signal.convolve2d(x, y, mode, boundary)``."""
    x, y = np.asarray(x), np.asarray(y)
    if mode == "valid" or x.size == 0 or y.size == 0:
        return convolve_adjoint(g, x, y, mode)
    # Outside of ``x`` stands what the boundary says: a larger array, of which the valid part is the full result.
    widths = [(n - 1, n - 1) for n in y.shape]
    whole = _full(g, tuple(a + b - 1 for a, b in zip(x.shape, y.shape, strict=True)), mode, x.shape, (0, 1))
    return _unpadded(signal.convolve(whole, np.flip(y), "full"), x.shape, widths, boundary)


def second2d_adjoint(g: Any, x: Any, y: Any, mode: str = "full", boundary: str = "fill", fillvalue: float = 0) -> Any:
    """Adjoint of ``y``, of which the shape alone is read, in ``signal.convolve2d(x, y, mode, boundary, fillvalue)``."""
    x, y = np.asarray(x), np.asarray(y)
    if mode == "valid" or x.size == 0 or y.size == 0:
        return convolve_adjoint(g, y, x, mode)
    widths = [(n - 1, n - 1) for n in y.shape]
    whole = _full(g, tuple(a + b - 1 for a, b in zip(x.shape, y.shape, strict=True)), mode, x.shape, (0, 1))
    return convolve_adjoint(whole, y, _padded(x, widths, boundary, fillvalue), "valid")


def _padded(x: Any, widths: Any, boundary: str, fillvalue: float) -> Any:
    if boundary in _PADDING:
        return np.pad(x, widths, mode=_PADDING[boundary])  # type: ignore[call-overload]
    return np.pad(x, widths, constant_values=fillvalue)


def _unpadded(g: Any, shape: tuple[int, ...], widths: Any, boundary: str) -> Any:
    """Transpose of `_padded`."""
    for axis, (before, after) in enumerate(widths):
        g = unextended(g, shape[axis], before, after, _PADDING.get(boundary, "constant"), axis)
    return g


def unextended(g: Any, size: int, before: int, after: int, mode: str, axis: int) -> Any:
    """Transpose of ``np.pad`` along one axis of ``size``: what is outside is added to where it was copied from."""
    g = np.moveaxis(g, axis, 0)
    inside = np.array(g[before : before + size])
    if mode != "constant" and before + after:
        places = np.pad(np.arange(size), (before, after), mode=mode)  # type: ignore[call-overload]
        for i in (*range(before), *range(before + size, before + size + after)):
            inside[places[i]] += g[i]
    return np.moveaxis(inside, 0, axis)


def placed2d(g: Any, x: Any, y: Any) -> Any:
    """The adjoint of the full correlation of matrices given that of the same.

    Of an even number of rows or columns the middle is the other one than in a convolution.
    """
    rows, columns = np.shape(y)
    whole = np.zeros((np.shape(x)[0] + rows - 1, np.shape(x)[1] + columns - 1), g.dtype)
    whole[rows // 2 : rows // 2 + np.shape(x)[0], columns // 2 : columns // 2 + np.shape(x)[1]] = g
    return whole


def correlate2d_adjoints(
    g: Any, x: Any, y: Any, mode: str = "full", boundary: str = "fill", fillvalue: float = 0
) -> tuple[Any, Any]:
    """Adjoints of both operands of ``signal.correlate2d(x, y, mode, boundary, fillvalue)``, which conjugates ``y``."""
    if mode == "valid" and (np.shape(x)[0] < np.shape(y)[0] or np.shape(x)[1] < np.shape(y)[1]):
        # It correlates the other way round then, and turns that.
        y_bar, x_bar = correlate2d_adjoints(np.flip(g), y, x, mode, boundary, fillvalue)
        return x_bar, y_bar
    if mode == "same":
        g, mode = placed2d(g, x, y), "full"
    turned = np.conj(np.flip(y))
    x_bar = first2d_adjoint(g, x, turned, mode, boundary)
    return x_bar, np.conj(np.flip(second2d_adjoint(g, x, turned, mode, boundary, fillvalue)))
