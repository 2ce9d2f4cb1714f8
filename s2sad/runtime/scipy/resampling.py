"""Transposes of the resampling filters of ``scipy.signal``, and of its smoothing filter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import signal

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.fourier import irfft_adjoint, resized, rfft_adjoint
from s2sad.runtime.scipy.filters import sosfiltfilt_adjoint
from s2sad.runtime.scipy.images import correlate1d_adjoint

Shape = tuple[int, ...]

# --- by Fourier transforms


def _folded(window: Any, size: int, half: bool) -> Any:
    """The factor of each bin of a signal of ``size``, or of those of the half transform."""
    if callable(window):
        factors = window(np.fft.fftfreq(size))
    elif hasattr(window, "shape"):
        factors = np.array(window)
    else:
        factors = np.fft.fftshift(signal.get_window(window, size))
    if not half:
        return factors
    count = size // 2 + 1
    folded = np.array(factors[:count])
    folded[1:] = (factors[1:count] + np.flip(factors[-count + 1 :])) / 2 if count > 1 else factors[1:count]
    return folded


def _must_have_no_times(t: Any) -> None:
    if t is not None:
        raise UndefinedDerivativeError(
            "resample with t, which returns times as well, has no derivative rule",
            "Leave it out, and compute the times: t[0] + (t[1] - t[0]) * len(x) / num * np.arange(num).",
        )


def resample_tangent(x_dot: Any, num: int, t: Any = None, axis: int = 0, window: Any = None) -> Any:
    """The tangent of ``signal.resample(x, num, t, axis, window)``."""
    _must_have_no_times(t)
    return signal.resample(x_dot, num, None, axis, window)


def resample_adjoint(g: Any, x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None) -> Any:
    """The adjoint of ``x`` in ``signal.resample(x, num, t, axis, window)``."""
    _must_have_no_times(t)
    # Of a signal with one axis SciPy does not read which it is.
    axis = axis if np.ndim(x) > 1 else 0
    g = np.moveaxis(g, axis, -1)
    size = np.shape(x)[axis]
    m = min(num, size)
    if np.iscomplexobj(x):
        spread = np.fft.ifft(g) * (num / size)
        bins = np.zeros((*g.shape[:-1], size), spread.dtype)
        bins[..., : m // 2 + 1] = spread[..., : m // 2 + 1]
        if m // 2 + 1 < m:
            bins[..., m // 2 + 1 - m :] = spread[..., m // 2 + 1 - m :]
        if m % 2 == 0 and num < size:
            bins[..., size - m // 2] += spread[..., num - m // 2]
        elif m % 2 == 0 and size < num:
            bins[..., m // 2] = (spread[..., m // 2] + spread[..., num - m // 2]) / 2
        if window is not None:
            bins = bins * _folded(window, size, False)
        return np.moveaxis(np.fft.fft(bins), -1, axis)
    bins = irfft_adjoint(np.real(g), (*g.shape[:-1], m // 2 + 1)) * (num / size)
    if m % 2 == 0 and num != size:
        bins[..., m // 2] *= 2 if num < size else 0.5
    bins = resized(bins, size // 2 + 1)
    if window is not None:
        bins = bins * _folded(window, size, True)
    return np.moveaxis(rfft_adjoint(bins, (*g.shape[:-1], size)), -1, axis)


# --- by filters between inserted zeros and a selection


def upfirdn_adjoint(g: Any, h: Any, up: int, down: int, shape: Shape, axis: int = -1) -> Any:
    """The adjoint of ``x``, of ``shape``, in ``signal.upfirdn(h, x, up, down, axis)``.

    That is ``sum(g[k] * h[k * down - i * up])``, the same filter backwards with the steps exchanged.
    """
    h = np.asarray(h)
    size, last = shape[axis], len(h) - 1
    before = -last % up
    backwards = np.concatenate([np.zeros(before, h.dtype), h[::-1]])
    found = np.moveaxis(signal.upfirdn(backwards, g, down, up, axis), axis, -1)
    start = (last + before) // up
    return np.moveaxis(resized(found[..., start : start + size], size), -1, axis)


def filter_adjoint(g: Any, x: Any, up: int, down: int, count: int, axis: int = -1) -> Any:
    """The adjoint of the ``count`` numbers of ``h`` in ``signal.upfirdn(h, x, up, down, axis)``."""
    x, g = np.moveaxis(x, axis, -1), np.moveaxis(g, axis, -1)
    wide = np.zeros((*x.shape[:-1], (x.shape[-1] - 1) * up + 1), x.dtype)
    wide[..., ::up] = x
    h_bar = np.zeros(count, np.result_type(g, x))
    for row in np.ndindex(x.shape[:-1]):
        h_bar += upfirdn_adjoint(g[row], wide[row], 1, down, (count,))
    return h_bar


def polyphase(size: int, up: int, down: int, window: Any) -> tuple[Any, int, int, int, int]:
    """The filter of ``resample_poly`` for ``size`` numbers, both steps, and which part of the result is kept."""
    common = math.gcd(int(up), int(down))
    up, down = int(up) // common, int(down) // common
    count = -(-size * up // down)
    if isinstance(window, (str, tuple)):
        half = 10 * max(up, down)
        h = signal.firwin(2 * half + 1, 1.0 / max(up, down), window=window)
    else:
        h = np.array(window, float)
        half = (len(h) - 1) // 2
    before = down - half % down
    start = (half + before) // down
    h = np.concatenate([np.zeros(before), h * up])
    # As many numbers as are kept have to come out.
    need = (start + count - 1) * down - (size - 1) * up + 1
    return resized(h, max(need, len(h))), up, down, start, count


def _must_be_linear(padtype: Any) -> None:
    if padtype not in ("constant", "mean"):
        raise UndefinedDerivativeError(
            f"resample_poly with padtype={padtype!r} has no derivative rule", "Use padtype='constant' or 'mean'."
        )


def resample_poly_tangent(x_dot: Any, up: int, down: int, axis: int, window: Any, padtype: Any) -> Any:
    """The tangent of ``signal.resample_poly(x, up, down, axis, window, padtype)``."""
    _must_be_linear(padtype)
    return signal.resample_poly(x_dot, up, down, axis, window, padtype)


def resample_poly_adjoint(
    g: Any, shape: Shape, up: int, down: int, axis: int = 0, window: Any = ("kaiser", 5.0), padtype: Any = "constant"
) -> Any:
    """The adjoint of ``x``, of ``shape``, in ``signal.resample_poly(x, up, down, axis, window, padtype)``."""
    _must_be_linear(padtype)
    if int(up) == int(down):
        return g.copy()
    h, up, down, start, count = polyphase(shape[axis], up, down, window)
    g = np.moveaxis(g, axis, -1)
    length = -(-((shape[axis] - 1) * up + len(h)) // down)
    wide = np.zeros((*g.shape[:-1], length), g.dtype)
    wide[..., start : start + count] = g
    x_bar = upfirdn_adjoint(wide, h, up, down, (*g.shape[:-1], shape[axis]))
    if padtype == "mean":
        x_bar = x_bar + (np.sum(g, -1, keepdims=True) - np.sum(x_bar, -1, keepdims=True)) / shape[axis]
    return np.moveaxis(x_bar, -1, axis)


def decimate_adjoint(
    g: Any, shape: Shape, q: int, n: int | None = None, ftype: Any = "iir", axis: int = -1, zero_phase: bool = True
) -> Any:
    """The adjoint of ``x``, of ``shape``, in ``signal.decimate(x, q, n, ftype, axis, zero_phase)``."""
    if ftype == "fir":
        b = signal.firwin((20 * q if n is None else n) + 1, 1.0 / q, window="hamming")
        if zero_phase:
            return resample_poly_adjoint(g, shape, 1, q, axis, b)
        length = -(-(shape[axis] - 1 + len(b)) // q)
        return upfirdn_adjoint(resized(g, length, axis), b, 1, q, shape, axis)
    if ftype != "iir":
        raise UndefinedDerivativeError(
            "decimate by a filter of one's own has no derivative rule", "Use 'iir' or 'fir'."
        )
    sos = signal.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")
    g = np.moveaxis(g, axis, -1)
    wide = np.zeros((*g.shape[:-1], shape[axis]), g.dtype)
    wide[..., ::q] = g
    x_bar = sosfiltfilt_adjoint(wide, sos) if zero_phase else signal.sosfilt(sos, wide[..., ::-1])[..., ::-1]
    return np.moveaxis(x_bar, -1, axis)


# --- by polynomials that are fitted to what is around


def savgol_adjoint(
    g: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
) -> Any:
    """The adjoint of ``x`` in ``signal.savgol_filter(x, window_length, polyorder, deriv, delta, axis, mode)``."""
    weights = signal.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)
    # A convolution is a correlation with the weights turned round, which are centred at the other middle if even.
    origin = 0 if window_length % 2 else -1
    if mode != "interp":
        return correlate1d_adjoint(g, weights[::-1], axis, mode, origin)
    g = np.moveaxis(g, axis, -1)
    half = window_length // 2
    inner = np.array(g)
    inner[..., :half] = 0
    inner[..., g.shape[-1] - half :] = 0
    x_bar = correlate1d_adjoint(inner, weights[::-1], -1, "constant", origin)
    if half:
        # At the ends stand values of the polynomial that is fitted to the first and the last numbers.
        fitted = signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, delta, 0)
        x_bar[..., :window_length] += g[..., :half] @ fitted[:half]
        x_bar[..., g.shape[-1] - window_length :] += g[..., g.shape[-1] - half :] @ fitted[window_length - half :]
    return np.moveaxis(x_bar, -1, axis)


# --- by the middle of what is around


def median_places(x: Any, kernel_size: Any) -> Any:
    """Where in ``x``, flat and with a zero behind, the values of ``signal.medfilt(x, kernel_size)`` come from."""
    x = np.atleast_1d(x)
    if not x.size:
        return np.zeros(x.shape, int)
    sizes = np.broadcast_to(3 if kernel_size is None else kernel_size, x.ndim)
    widths = [(int(n) // 2, int(n) // 2) for n in sizes]
    places = np.pad(np.arange(x.size).reshape(x.shape), widths, constant_values=x.size)
    axes = tuple(range(x.ndim))
    places = np.lib.stride_tricks.sliding_window_view(places, tuple(int(n) for n in sizes), axes)
    places = places.reshape(*x.shape, -1)
    order = np.argsort(np.append(x, 0.0)[places], axis=-1, kind="stable")
    middle = places.shape[-1] // 2
    return np.take_along_axis(places, order[..., middle : middle + 1], -1)[..., 0]


def picked_values(x: Any, places: Any) -> Any:
    """What stands at flat places of ``x``, with a zero behind."""
    return np.append(x, np.zeros(1, np.asarray(x).dtype))[places]


def put_back(g: Any, places: Any, shape: Shape) -> Any:
    """The adjoint of ``x``, of ``shape``, in `picked_values`."""
    size = math.prod(shape)
    g = np.asarray(np.real(g))
    return np.bincount(places.ravel(), g.ravel(), size + 1)[:size].reshape(shape).astype(g.dtype)
