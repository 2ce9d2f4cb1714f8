"""Derivatives of SciPy's spectral estimates: windowed segments of a signal, their transforms, and mean products.

`bins` is linear in the signal, and all else is written with it: the cross spectrum is the mean of ``conj(X) * Y``
over the segments.  Adjoints of complex numbers follow the transpose convention: of ``P = conj(X) * Y`` that of ``Y`` is
``g * conj(X)``, and that of ``X`` the conjugate of ``g * Y``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.fourier import irfft_adjoint, resized, rfft_adjoint
from s2sad.runtime.scipy.filters import unextended_signal

# --- segments


def plan(size: int, window: Any, nperseg: Any, noverlap: Any, nfft: Any) -> tuple[Any, int, int]:
    """The window, the step between segments, and how many numbers are transformed, for a signal of ``size``."""
    if isinstance(window, (str, tuple)):
        length = min(256 if nperseg is None else int(nperseg), size)
        win = signal.get_window(window, length)
    else:
        win = np.asarray(window)
        length = len(win)
    overlap = length // 2 if noverlap is None else int(noverlap)
    return win, length - overlap, length if nfft is None else int(nfft)


def weights(win: Any, fs: float, nfft: int, scaling: str, onesided: bool) -> Any:
    """The factor of each bin of a spectrum; of real signals most bins stand for two.

    SciPy adds up windows of integers in their own dtype.
    """
    summed = win * win if scaling == "density" else win
    total = np.sum(summed, dtype=None if summed.dtype.kind == "b" else summed.dtype) * 1.0
    scale = 1.0 / (fs * total) if scaling == "density" else 1.0 / total**2
    if not onesided:
        return np.full(nfft, scale)
    found = np.full(nfft // 2 + 1, 2 * scale)
    found[0] = scale
    if nfft % 2 == 0:
        found[-1] = scale
    return found


def bins(x: Any, win: Any, step: int, nfft: int, detrend: Any, onesided: bool) -> Any:
    """The transforms of windowed segments of ``x`` along its last axis, in the last two axes: segments and bins."""
    parts = np.lib.stride_tricks.sliding_window_view(x, len(win), -1)[..., ::step, :]
    parts = _levelled(parts, detrend) * win
    return np.fft.rfft(parts, nfft) if onesided else np.fft.fft(parts, nfft)


def bins_adjoint(g: Any, x: Any, win: Any, step: int, nfft: int, detrend: Any, onesided: bool) -> Any:
    """The adjoint of ``x`` in `bins`."""
    size = len(win)
    if onesided:
        parts = rfft_adjoint(g, (*g.shape[:-1], size), nfft)
    else:
        parts = resized(np.fft.fft(g), size)
        parts = parts if np.iscomplexobj(x) else np.real(parts)
    parts = _levelled(parts * win, detrend)
    x_bar = np.zeros(np.shape(x), parts.dtype)
    for i in range(parts.shape[-2]):
        x_bar[..., i * step : i * step + size] += parts[..., i, :]
    return x_bar


def _levelled(parts: Any, detrend: Any) -> Any:
    """What is left without the mean or the trend: a projection."""
    if callable(detrend):
        raise UndefinedDerivativeError("a function for detrend has no derivative rule", "Use 'constant' or 'linear'.")
    return signal.detrend(parts, type=detrend) if detrend else parts


# --- spectra


def _matched(x: Any, y: Any, axis: int) -> tuple[Any, Any]:
    """Both signals with their times in the last axis, of one length."""
    x, y = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    size = max(x.shape[-1], y.shape[-1])
    return resized(x, size), resized(y, size)


def mean_only(average: str) -> None:
    """Refuse averages of segments that are no means."""
    if average != "mean":
        raise UndefinedDerivativeError(
            f"an average of segments by {average!r} has no derivative rule", "Use average='mean'."
        )


def csd_tangent(
    x_dot: Any,
    y_dot: Any,
    x: Any,
    y: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    average: str = "mean",
) -> Any:
    """The tangent of the spectrum that ``signal.csd`` gives, of real signals."""
    mean_only(average)
    x_dot, y_dot = x_dot + np.zeros(np.shape(x)), y_dot + np.zeros(np.shape(y))
    (x, y), (x_dot, y_dot) = _matched(x, y, axis), _matched(x_dot, y_dot, axis)
    win, step, nfft = plan(x.shape[-1], window, nperseg, noverlap, nfft)
    left = np.conj(bins(x_dot, win, step, nfft, detrend, onesided)) * bins(y, win, step, nfft, detrend, onesided)
    right = np.conj(bins(x, win, step, nfft, detrend, onesided)) * bins(y_dot, win, step, nfft, detrend, onesided)
    return np.moveaxis(np.mean(left + right, axis=-2) * weights(win, fs, nfft, scaling, onesided), -1, axis)


def csd_adjoints(
    g: Any,
    x: Any,
    y: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    average: str = "mean",
) -> tuple[Any, Any]:
    """The adjoints of both signals given that of the spectrum that ``signal.csd`` gives."""
    mean_only(average)
    long_x, long_y = _matched(x, y, axis)
    win, step, nfft = plan(long_x.shape[-1], window, nperseg, noverlap, nfft)
    x_bins = bins(long_x, win, step, nfft, detrend, onesided)
    y_bins = bins(long_y, win, step, nfft, detrend, onesided)
    both = np.broadcast_shapes(x_bins.shape, y_bins.shape)
    g = np.moveaxis(g, axis, -1) * weights(win, fs, nfft, scaling, onesided) / both[-2]
    g = np.expand_dims(g, -2)
    x_bar = unbroadcast(np.conj(g * y_bins), x_bins.shape)
    y_bar = unbroadcast(g * np.conj(x_bins), y_bins.shape)
    x_bar = bins_adjoint(x_bar, long_x, win, step, nfft, detrend, onesided)
    y_bar = bins_adjoint(y_bar, long_y, win, step, nfft, detrend, onesided)
    x_bar, y_bar = resized(x_bar, np.shape(x)[axis]), resized(y_bar, np.shape(y)[axis])
    return np.moveaxis(x_bar, -1, axis), np.moveaxis(y_bar, -1, axis)


def periodogram_options(size: int, window: Any, nfft: Any) -> tuple[Any, int]:
    """The window of a periodogram, and of how many numbers it is."""
    return "boxcar" if window is None else window, size if nfft is None else min(nfft, size)


def spectrogram_options(size: int, window: Any, nperseg: Any, noverlap: Any) -> tuple[Any, int, int]:
    """The window of a spectrogram, its length, and how far segments overlap."""
    win = plan(size, window, nperseg, 0, None)[0]
    return win * 1.0, len(win), len(win) // 8 if noverlap is None else noverlap


def powers_tangent(
    x_dot: Any,
    x: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
) -> Any:
    """The tangent of the powers of the segments of a real signal, segments and bins in the last two axes."""
    x, x_dot = np.moveaxis(x, axis, -1), np.moveaxis(x_dot, axis, -1)
    win, step, nfft = plan(x.shape[-1], window, nperseg, noverlap, nfft)
    found = np.conj(bins(x, win, step, nfft, detrend, onesided)) * bins(x_dot, win, step, nfft, detrend, onesided)
    return 2 * np.real(found) * weights(win, fs, nfft, scaling, onesided)


def powers_adjoint(
    g: Any,
    x: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
) -> Any:
    """The adjoint of a real signal given that of the powers of its segments, segments and bins in the last two axes."""
    x = np.moveaxis(x, axis, -1)
    win, step, nfft = plan(x.shape[-1], window, nperseg, noverlap, nfft)
    parts = bins(x, win, step, nfft, detrend, onesided)
    found = 2 * np.real(g) * weights(win, fs, nfft, scaling, onesided) * np.conj(parts)
    return np.moveaxis(bins_adjoint(found, x, win, step, nfft, detrend, onesided), -1, axis)


def welch_tangent(
    x_dot: Any,
    x: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    average: str = "mean",
) -> Any:
    """The tangent of the spectrum that ``signal.welch`` gives, of a real signal."""
    mean_only(average)
    powers = powers_tangent(x_dot, x, fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling, axis)
    return np.moveaxis(np.mean(powers, axis=-2), -1, axis)


def welch_adjoint(
    g: Any,
    x: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    average: str = "mean",
) -> Any:
    """The adjoint of a real signal given that of the spectrum that ``signal.welch`` gives."""
    mean_only(average)
    size = np.shape(x)[axis]
    win, step, _ = plan(size, window, nperseg, noverlap, nfft)
    g = np.expand_dims(np.moveaxis(g, axis, -1), -2) / ((size - len(win)) // step + 1)
    return powers_adjoint(g, x, fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling, axis)


# --- short-time transforms, which are linear


def stft_adjoint(
    g: Any,
    x: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    boundary: str | None,
    padded: bool,
    axis: int,
    scaling: str,
) -> Any:
    """The adjoint of ``x`` given that of the transforms that ``signal.stft`` gives."""
    onesided = onesided and not np.iscomplexobj(x)
    x = np.moveaxis(x, axis, -1)
    size = x.shape[-1]
    win, step, nfft = plan(size, window, nperseg, noverlap, nfft)
    scale = np.sqrt(weights(win * 1.0, fs, nfft, "spectrum" if scaling == "spectrum" else "density", False)[0])
    edge = len(win) // 2 if boundary is not None else 0
    wide = size + 2 * edge
    more = (-(wide - len(win)) % step) % len(win) if padded else 0
    g = np.moveaxis(g, axis - 1 if axis < 0 else axis, -1) * scale
    long_x = np.zeros((*x.shape[:-1], wide + more), x.dtype)
    x_bar = bins_adjoint(g, long_x, win, step, nfft, detrend, onesided)[..., :wide]
    return np.moveaxis(unextended_signal(x_bar, size, edge, boundary), -1, axis)


def istft_adjoint(
    g: Any,
    transforms: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    onesided: bool,
    boundary: bool,
    time_axis: int,
    freq_axis: int,
    scaling: str,
) -> Any:
    """The adjoint of the transforms given that of the signal that ``signal.istft`` gives."""
    ndim = np.ndim(transforms)
    time_axis, freq_axis = time_axis % ndim, freq_axis % ndim
    # The signal has its times where the transforms had theirs, without the axis of frequencies.
    g = np.moveaxis(g, time_axis - (1 if freq_axis < time_axis else 0), -1)
    shape, segments = np.shape(transforms), np.shape(transforms)[time_axis]
    count = shape[freq_axis]
    usual = 2 * (count - 1) if onesided else count
    length = usual if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = length if onesided and length == usual + 1 else usual
    win = signal.get_window(window, length) if isinstance(window, (str, tuple)) else np.asarray(window)
    step = length - (length // 2 if noverlap is None else int(noverlap))
    total = length + (segments - 1) * step
    norm = np.zeros(total)
    for i in range(segments):
        norm[i * step : i * step + length] += win**2
    edge = length // 2 if boundary else 0
    wide = np.zeros((*g.shape[:-1], total), g.dtype)
    wide[..., edge : total - edge] = g
    wide /= np.where(norm > 1e-10, norm, 1.0)
    factor = np.sum(win) if scaling == "spectrum" else np.sqrt(fs * np.sum(win**2))
    parts = np.lib.stride_tricks.sliding_window_view(wide, length, -1)[..., ::step, :] * (win * factor)
    parts = resized(parts, nfft)
    if onesided:
        found = irfft_adjoint(np.real(parts), (*parts.shape[:-1], count))
    else:
        found = resized(np.fft.ifft(parts), count)
    # From (..., segments, bins) to the places of both axes.
    return np.moveaxis(found, (-2, -1), (time_axis, freq_axis))


# --- coherence


def coherence_adjoints(
    g: Any,
    x: Any,
    y: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    axis: int,
) -> tuple[Any, Any]:
    """The adjoints of both signals given that of the coherence, ``abs(Pxy) ** 2 / Pxx / Pyy``."""
    given = fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis
    pxx = signal.welch(x, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    pyy = signal.welch(y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    pxy = signal.csd(x, y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    g = np.real(g)
    of_cross = 2 * g * np.conj(pxy) / (pxx * pyy)
    share = g * (np.real(pxy) ** 2 + np.imag(pxy) ** 2) / (pxx * pyy)
    x_bar, y_bar = csd_adjoints(of_cross, x, y, *given)
    left, right = csd_adjoints(-unbroadcast(share, np.shape(pxx)) / pxx, x, x, *given)
    x_bar = x_bar + left + right
    left, right = csd_adjoints(-unbroadcast(share, np.shape(pyy)) / pyy, y, y, *given)
    return x_bar, y_bar + left + right


def coherence_tangent(
    x_dot: Any,
    y_dot: Any,
    x: Any,
    y: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    axis: int,
) -> Any:
    """The tangent of the coherence."""
    given = fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis
    pxx = signal.welch(x, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    pyy = signal.welch(y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    pxy = signal.csd(x, y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)[1]
    pxx_dot = np.real(csd_tangent(x_dot, x_dot, x, x, *given))
    pyy_dot = np.real(csd_tangent(y_dot, y_dot, y, y, *given))
    pxy_dot = csd_tangent(x_dot, y_dot, x, y, *given)
    found = (np.real(pxy) ** 2 + np.imag(pxy) ** 2) / (pxx * pyy)
    return 2 * np.real(np.conj(pxy) * pxy_dot) / (pxx * pyy) - found * (pxx_dot / pxx + pyy_dot / pyy)
