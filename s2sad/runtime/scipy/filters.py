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


def lfilter_adjoint(
    z_bar: Any, z: Any, b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None
) -> tuple[Any, Any, Any, Any]:
    """Adjoints of ``b``, ``a``, ``x`` and ``zi`` in ``z = signal.lfilter(b, a, x, axis, zi)``."""
    given = b, a, x
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.asarray(x)
    y, y_bar = (z, z_bar) if zi is None else (z[0], z_bar[0])
    x_last, y, y_bar = (np.moveaxis(part, axis, -1) for part in (x, y, y_bar))
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
    a_bar[0] = 0
    a_bar[0] = -(np.sum(a_bar * a) + np.sum(b_bar * b)) / a[0]
    zi_bar = None if zi is None else unbroadcast(np.moveaxis(v[..., :order], -1, axis), np.shape(zi))
    bars = [like(np.reshape(g, np.shape(v)), v) for g, v in zip((b_bar, a_bar, x_bar), given, strict=True)]
    return bars[0], bars[1], bars[2], zi_bar


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
    x_last, x_dot, y_wide = (np.pad(part, wide) for part in (x_last, x_dot, y))
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
    if count == 0:
        return np.moveaxis(wide, -1, axis)
    mode = {"odd": "reflect", "even": "reflect", "constant": "edge"}[str(padtype)]
    if padtype == "odd":
        # Twice the value at the edge, minus what is mirrored there.
        edges = 2 * np.sum(wide[..., :count], -1), 2 * np.sum(wide[..., count + size :], -1)
        wide = wide.copy()
        wide[..., :count] *= -1
        wide[..., count + size :] *= -1
    x_bar = unextended(wide, size, count, count, mode, wide.ndim - 1)
    if padtype == "odd":
        x_bar[..., 0] += edges[0]
        x_bar[..., -1] += edges[1]
    return np.moveaxis(x_bar, -1, axis)


def _from_steady_state(g: Any, b: Any, a: Any, start: Any) -> Any:
    """Transpose of ``lfilter(b, a, x, zi=start * x[..., :1])[0]``."""
    v = _flipped(g, [1.0], a / a[0])
    x_bar = _correlated(v, b / a[0], g.shape[-1])
    count = min(len(start), v.shape[-1])
    x_bar[..., 0] += v[..., :count] @ start[:count]
    return x_bar


def hilbert_adjoint(z_bar: Any, x: Any, count: int | None = None, axis: int = -1) -> Any:
    """Adjoint of ``x``, which is real, in ``signal.hilbert(x, count, axis)``."""
    size = np.shape(x)[axis]
    count = size if count is None else count
    bins = np.moveaxis(np.fft.ifft(z_bar, axis=axis), axis, -1)
    bins[..., 1 : (count + 1) // 2] *= 2
    bins[..., count // 2 + 1 :] = 0
    x_bar = np.real(np.fft.fft(bins))[..., :size]
    if count < size:
        x_bar = np.concatenate([x_bar, np.zeros((*x_bar.shape[:-1], size - count), x_bar.dtype)], axis=-1)
    return np.moveaxis(x_bar, -1, axis)
