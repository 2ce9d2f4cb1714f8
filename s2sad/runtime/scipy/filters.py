"""Derivatives of SciPy's recursive filters.

If ``a * y = b * x`` (convolutions), and ``v`` is the adjoint of ``y`` run backwards through ``1 / a``, then the adjoint
of ``x`` is the correlation of ``v`` with ``b``, that of ``b[k]`` is the product of ``v`` with ``x`` delayed by ``k``,
and that of ``a[k]`` minus its product with ``y`` delayed by ``k``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.convolutions import unextended


def _flipped(x: Any, b: Any, a: Any) -> Any:
    """Filter along the last axis, backwards."""
    return signal.lfilter(b, a, x[..., ::-1])[..., ::-1]


def _correlated(v: Any, b: Any, size: int) -> Any:
    """``sum(b[k] * v[t + k])`` for the first ``size`` of ``t``."""
    out = np.zeros((*v.shape[:-1], size), np.result_type(v, b))
    for k, factor in enumerate(b):
        part = v[..., k : k + size]
        out[..., : part.shape[-1]] += factor * part
    return out


def _delayed_products(v: Any, x: Any, count: int) -> Any:
    """The sums of ``v`` times ``x`` delayed by each of ``count`` steps."""
    size = x.shape[-1]
    ends = [min(size, v.shape[-1] - k) for k in range(count)]
    return np.array([np.sum(v[..., k : k + n] * x[..., : max(n, 0)]) for k, n in enumerate(ends)])


def delayed_products(v: Any, x: Any, b: Any, axis: int = -1) -> Any:
    """The sums of ``v`` times ``x`` delayed by each step of a filter: the adjoint of ``b`` in `signal.lfilter`.

    Example:
        >>> delayed_products(np.array([1.0, 10.0]), np.array([2.0, 3.0]), np.ones(2))
        array([32., 20.])
    """
    found = _delayed_products(np.moveaxis(v, axis, -1), np.moveaxis(np.asarray(x), axis, -1), np.size(b))
    return like(np.reshape(found, np.shape(b)), b)


def backwards(b: Any, a: Any, x: Any, axis: int = -1) -> Any:
    """`signal.lfilter` from the end to the beginning: the adjoint of what it filters."""
    found = np.flip(signal.lfilter(b, a, np.flip(x, axis), axis), axis)
    if np.result_type(x) in (np.float32, np.complex64):
        found = found.astype(np.complex64 if np.iscomplexobj(found) else np.float32)
    return found


def lfilter_adjoint(
    z_bar: Any, z: Any, b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None
) -> tuple[Any, Any, Any, Any]:
    """Adjoints of ``b``, ``a``, ``x`` and ``zi`` in ``z = signal.lfilter(b, a, x, axis, zi)``."""
    given = b, a, x
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.asarray(x)
    y, y_bar = (z, z_bar) if zi is None else (z[0], z_bar[0])
    x_last, y, y_bar = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1), np.moveaxis(y_bar, axis, -1)
    size, order = x_last.shape[-1], max(len(a), len(b)) - 1
    # Numbers of the filter of which the first of ``a`` is 1, as which it is computed.
    one_b, one_a = b / a[0], a / a[0]
    if zi is None:
        v = _flipped(y_bar, np.ones(1, one_a.dtype), one_a)
    else:
        end_bar = np.moveaxis(z_bar[1], axis, -1)
        ends = np.concatenate([np.zeros((*end_bar.shape[:-1], size), end_bar.dtype), end_bar], axis=-1)
        v = _flipped(y_bar - _correlated(ends, one_a, size), np.ones(1, one_a.dtype), one_a)
        v = np.concatenate([v, end_bar], axis=-1)
    x_bar = np.moveaxis(_correlated(v, one_b, size), -1, axis)
    b_bar = _delayed_products(v, x_last, len(b)) / a[0]
    a_bar = -_delayed_products(v, y, len(a)) / a[0]
    first = -(np.sum(a_bar[1:] * a[1:]) + np.sum(b_bar * b)) / a[0]
    a_bar = np.concatenate([np.reshape(first, 1), a_bar[1:]])
    zi_bar = None if zi is None else unbroadcast(np.moveaxis(v[..., :order], -1, axis), np.shape(zi))
    b_bar, a_bar = np.reshape(b_bar, np.shape(given[0])), np.reshape(a_bar, np.shape(given[1]))
    return like(b_bar, given[0]), like(a_bar, given[1]), like(x_bar, given[2]), zi_bar


def lfilter_tangent(
    b_dot: Any, a_dot: Any, x_dot: Any, zi_dot: Any, z: Any, b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None
) -> Any:
    """Tangent of ``z = signal.lfilter(b, a, x, axis, zi)``."""
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.asarray(x)
    one_b, one_a = b / a[0], a / a[0]
    a_dot, b_dot = a_dot + np.zeros(len(a)), b_dot + np.zeros(len(b))
    b_dot, a_dot = (b_dot - one_b * a_dot[0]) / a[0], (a_dot - one_a * a_dot[0]) / a[0]
    y = z if zi is None else z[0]
    x_last, y = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    x_dot = np.moveaxis(x_dot + np.zeros(x.shape), axis, -1)
    size, order = x_last.shape[-1], max(len(a), len(b)) - 1
    # The right-hand side, with what it leaves behind the end.
    wide = [(0, 0)] * (x.ndim - 1) + [(0, order)]
    x_last, x_dot, y_wide = np.pad(x_last, wide), np.pad(x_dot, wide), np.pad(y, wide)
    right = signal.lfilter(one_b, [1.0], x_dot) + signal.lfilter(b_dot, [1.0], x_last)
    right = right - signal.lfilter(a_dot, [1.0], y_wide)
    if zi is not None:
        right[..., :order] += np.moveaxis(zi_dot + np.zeros(np.shape(zi)), axis, -1)
    y_dot = signal.lfilter([1.0], one_a, right[..., :size])
    if zi is None:
        return np.moveaxis(y_dot, -1, axis)
    end_dot = right[..., size:] - signal.lfilter(one_a, [1.0], np.pad(y_dot, wide))[..., size:]
    return np.moveaxis(y_dot, -1, axis), np.moveaxis(end_dot, -1, axis)


# --- linear in the signal


def filtfilt_adjoint(
    z_bar: Any, b: Any, a: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Any:
    """Adjoint of ``x`` in ``signal.filtfilt(b, a, x, axis, padtype, padlen)``."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    size = np.shape(x)[axis]
    count = 3 * max(len(a), len(b)) if padlen is None else padlen
    if padtype is None:
        count = 0
    start = signal.lfilter_zi(b, a)
    g = np.moveaxis(z_bar, axis, -1)
    wide = np.zeros((*g.shape[:-1], size + 2 * count), g.dtype)
    wide[..., count : count + size] = g
    # Twice: forwards, then backwards, each from a state in proportion to the first value.
    for _ in range(2):
        wide = _from_steady_state(wide[..., ::-1], b, a, start)
    return np.moveaxis(unextended_signal(wide, size, count, padtype), -1, axis)


_EXTENSIONS = {"odd": "reflect", "even": "reflect", "constant": "edge", "zeros": "constant"}


def unextended_signal(wide: Any, size: int, count: int, kind: str | None) -> Any:
    """The adjoint of a signal of ``size``, given that of one with ``count`` numbers more at each end, of SciPy's kind.

    That is along the last axis: odd, even, constant or zeros.
    """
    if count == 0:
        return wide
    x_bar = unextended(_mirrored(wide, size, count, kind), size, count, count, _EXTENSIONS[str(kind)], wide.ndim - 1)
    if kind == "odd":
        # Twice the value at the edge, minus what is mirrored there.
        x_bar[..., 0] += 2 * np.sum(wide[..., :count], -1)
        x_bar[..., -1] += 2 * np.sum(wide[..., count + size :], -1)
    return x_bar


def _mirrored(wide: Any, size: int, count: int, kind: str | None) -> Any:
    """The same with the sign of what is outside that its values have."""
    if kind != "odd":
        return wide
    wide = wide.copy()
    wide[..., :count] *= -1
    wide[..., count + size :] *= -1
    return wide


def _from_steady_state(g: Any, b: Any, a: Any, start: Any) -> Any:
    """Transpose of ``lfilter(b, a, x, zi=start * x[..., :1])[0]``."""
    v = _flipped(g, [1.0], a / a[0])
    x_bar = _correlated(v, b / a[0], g.shape[-1])
    count = min(len(start), v.shape[-1])
    x_bar[..., 0] += v[..., :count] @ start[:count]
    return x_bar


def hilbert_adjoint(g: Any, x: Any, count: int | None = None, axis: int = -1) -> Any:
    """Adjoint of ``x``, which is real, in ``signal.hilbert(x, count, axis)``."""
    size = np.shape(x)[axis]
    count = size if count is None else count
    bins = np.moveaxis(np.fft.ifft(g, axis=axis), axis, -1)
    bins[..., 1 : (count + 1) // 2] *= 2
    bins[..., count // 2 + 1 :] = 0
    x_bar = np.real(np.fft.fft(bins))[..., :size]
    if count < size:
        x_bar = np.concatenate([x_bar, np.zeros((*x_bar.shape[:-1], size - count), x_bar.dtype)], axis=-1)
    return np.moveaxis(x_bar, -1, axis)


# --- sections of second order, one after the other


def sosfilt_adjoints(z_bar: Any, sos: Any, x: Any, axis: int = -1, zi: Any = None) -> tuple[Any, Any, Any]:
    """Adjoints of ``sos``, ``x`` and ``zi`` in ``signal.sosfilt(sos, x, axis, zi)``.

    The fourth number of a section is not read: it is one.
    """
    zi = None if zi is None else np.asarray(zi)
    signals, ends = [np.asarray(x)], []
    for i in range(len(sos)):
        state = np.zeros((*np.moveaxis(x, axis, -1).shape[:-1], 2)) if zi is None else np.moveaxis(zi[i], axis, -1)
        y, end = signal.lfilter(sos[i, :3], sos[i, 3:], np.moveaxis(signals[-1], axis, -1), zi=state)
        signals.append(np.moveaxis(y, -1, axis))
        ends.append(np.moveaxis(end, -1, axis))
    g = z_bar if zi is None else z_bar[0]
    sos_bar = np.zeros(np.shape(sos), np.result_type(g, sos))
    zi_bar = None if zi is None else np.zeros(np.shape(zi), np.result_type(g, zi))
    for i in reversed(range(len(sos))):
        given = sos[i, :3], sos[i, 3:], signals[i], axis
        if zi_bar is None:
            b_bar, a_bar, g, _ = lfilter_adjoint(g, signals[i + 1], *given)
        else:
            both = g, z_bar[1][i]
            b_bar, a_bar, g, zi_bar[i] = lfilter_adjoint(both, (signals[i + 1], ends[i]), *given, zi[i])
        sos_bar[i, :3], sos_bar[i, 4:] = b_bar, a_bar[1:]
    return sos_bar, g, zi_bar


def sosfilt_tangent(sos_dot: Any, x_dot: Any, zi_dot: Any, sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Tangent of ``signal.sosfilt(sos, x, axis, zi)``."""
    zi = None if zi is None else np.asarray(zi)
    x = np.asarray(x)
    sos_dot, x_dot = sos_dot + np.zeros(np.shape(sos)), x_dot + np.zeros(x.shape)
    zi_dot = None if zi is None else zi_dot + np.zeros(np.shape(zi))
    ends: list[Any] = []
    for i in range(len(sos)):
        b, a, b_dot, a_dot = sos[i, :3], sos[i, 3:], sos_dot[i, :3], np.append(0.0, sos_dot[i, 4:])
        state = None if zi is None else zi[i]
        found = signal.lfilter(b, a, x, axis, state)
        dots = lfilter_tangent(b_dot, a_dot, x_dot, 0.0 if zi is None else zi_dot[i], found, b, a, x, axis, state)
        x, x_dot = (found, dots) if zi is None else (found[0], dots[0])
        ends.append(None if zi is None else dots[1])
    return x_dot if zi is None else (x_dot, np.stack(ends))


def sosfiltfilt_adjoint(
    g: Any, sos: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Any:
    """Adjoint of ``x`` in ``signal.sosfiltfilt(sos, x, axis, padtype, padlen)``."""
    sos = np.atleast_2d(sos)
    taps = 2 * len(sos) + 1 - min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0))
    count = 3 * int(taps) if padlen is None else padlen
    if padtype is None:
        count = 0
    starts = signal.sosfilt_zi(sos)
    g = np.moveaxis(g, axis, -1)
    size = g.shape[-1]
    wide = np.zeros((*g.shape[:-1], size + 2 * count), g.dtype)
    wide[..., count : count + size] = g
    # Twice: forwards, then backwards, each from states in proportion to the first value.
    for _ in range(2):
        wide, first = wide[..., ::-1], 0.0
        for section, start in zip(sos[::-1], starts[::-1], strict=True):
            v = _flipped(wide, [1.0], section[3:])
            wide = _correlated(v, section[:3], wide.shape[-1])
            known = min(2, v.shape[-1])
            first = first + v[..., :known] @ start[:known]
        wide[..., 0] += first
    return np.moveaxis(unextended_signal(wide, size, count, padtype), -1, axis)


# --- what a filter does to waves


def response_adjoints(z_bar: Any, z: Any, b: Any, a: Any, fs: float) -> tuple[Any, Any]:
    """Adjoints of ``b`` and ``a`` in ``w, h = signal.freqz(b, a, ..., fs=fs)``."""
    waves = waves_of(z[0], max(np.size(b), np.size(a)), fs)
    below = waves[:, : np.size(a)] @ np.atleast_1d(a)
    g = z_bar[1] / below
    return of_operand(g @ waves[:, : np.size(b)], b), of_operand(-(g * z[1]) @ waves[:, : np.size(a)], a)


def of_operand(g: Any, x: Any) -> Any:
    """The adjoint of a list or array of coefficients, or of one, which is real if that is."""
    return like(np.array(np.reshape(g if np.iscomplexobj(x) else np.real(g), np.shape(x))), x)


def response_tangent(b_dot: Any, a_dot: Any, z: Any, b: Any, a: Any, fs: float) -> Any:
    """Tangent of the response in ``w, h = signal.freqz(b, a, ..., fs=fs)``."""
    waves = waves_of(z[0], max(np.size(b), np.size(a)), fs)
    b_dot, a_dot = b_dot + np.zeros(np.size(b)), a_dot + np.zeros(np.size(a))
    below = waves[:, : np.size(a)] @ np.atleast_1d(a)
    return (waves[:, : np.size(b)] @ b_dot - z[1] * (waves[:, : np.size(a)] @ a_dot)) / below


def waves_of(frequencies: Any, count: int, fs: float) -> Any:
    """The powers below ``count`` of what a delay by one step is at each frequency."""
    return np.exp(-1j * np.outer(2 * np.pi * np.asarray(frequencies) / fs, np.arange(count)))


# --- transforms at points on a spiral


def _turned(x: Any, factors: Any, axis: int) -> Any:
    """Numbers times a factor for each along an axis."""
    return np.moveaxis(np.moveaxis(x, axis, -1) * factors, -1, axis)


def czt_adjoint(g: Any, n: int, w: Any = None, a: Any = 1 + 0j, axis: int = -1) -> Any:
    """Adjoint of ``x``, with ``n`` numbers along the axis, in ``signal.czt(x, m, w, a, axis=axis)``."""
    w = np.exp(-2j * np.pi / np.shape(g)[axis]) if w is None else w
    return _turned(signal.czt(g, n, w, axis=axis), a ** -np.arange(1.0 * n), axis)


def zoom_adjoint(g: Any, n: int, fn: Any, fs: Any = 2, endpoint: bool = False, axis: int = -1) -> Any:
    """Adjoint of ``x``, with ``n`` numbers along the axis, in ``signal.zoom_fft(x, fn, m, fs=fs, axis=axis)``."""
    first, last = fn if np.size(fn) == 2 else (0.0, fn)
    step = (last - first) / (np.shape(g)[axis] - endpoint)
    turns = np.exp(-2j * np.pi * first / fs * np.arange(n))
    return _turned(signal.zoom_fft(g, [0.0, n * step], n, fs=fs, axis=axis), turns, axis)
