"""Rules of the resampling filters of ``scipy.signal``, of its smoothing filter and of its median filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, bilinear, constant, linear, rule, sample
from s2sad.runtime.scipy.resampling import (
    decimate_adjoint,
    filter_adjoint,
    median_places,
    picked_values,
    put_back,
    resample_adjoint,
    resample_poly_adjoint,
    resample_poly_tangent,
    resample_tangent,
    savgol_adjoint,
    upfirdn_adjoint,
)

Array = Any


def _signals() -> Sequence[Sample]:
    points = [sample(draw(n), m) for draw in (numbers, complexes) for n in (5, 6) for m in (3, 4, 5, 6, 8, 9)]
    points += [sample(numbers(6, 2), 4), sample(numbers(2, 6), 9, None, 1), sample(numbers(6), 8, window="hamming")]
    return [*points, sample(numbers(7), 4, axis=-1, window=np.linspace(0.5, 1.5, 7)), sample(singles(6), 4)]


def _resample_jvp(x_dot: Array, x: Array, num: int, t: Any = None, axis: int = 0, window: Any = None) -> Array:
    return resample_tangent(x_dot, num, t, axis, window)


@rule(
    signal.resample,
    wrt=["x"],
    jvp=_resample_jvp,
    samples=_signals,
    infer=infer.scipy.resampled,
    steps=frozenset({"num"}),
)
def resample(z_bar: Array, x: Array, num: int, t: Any = None, axis: int = 0, window: Any = None) -> Array:
    return resample_adjoint(z_bar, x, num, t, axis, window)


def _resampled() -> Sequence[Sample]:
    points = [sample(numbers(m), numbers(n), m) for n in (5, 6) for m in (4, 5, 8)]
    return [
        *points,
        sample(complexes(4), complexes(6), 4),
        sample(numbers(8, 2), numbers(6, 2), 8, axis=0, window="hamming"),
    ]


@linear(resample_adjoint, wrt=["g"], steps={"x"}, samples=_resampled, dtype="unknown")
def resample_adjoint_rule(
    z_bar: Array, g: Array, x: Array, num: int, t: Any = None, axis: int = 0, window: Any = None
) -> Array:
    return resample_tangent(z_bar, num, t, axis, window)


# --- filters between inserted zeros and a selection


def _upfirdn() -> Sequence[Sample]:
    points = [
        sample(numbers(h), numbers(n, seed=1), up, down) for h in (1, 3, 4) for n in (1, 5) for up, down in _STEPS
    ]
    points += [sample(numbers(3), numbers(4, 2), 2, 3, 0), sample(numbers(2), complexes(4), 3)]
    return [*points, sample(numbers(3), numbers(2, 5), down=2), sample(singles(2), singles(4))]


_STEPS = ((1, 1), (3, 1), (1, 2), (3, 2), (2, 3))


@bilinear(signal.upfirdn, wrt=["h", "x"], samples=_upfirdn, infer=infer.scipy.filtered_by("h"))
def upfirdn(z_bar: Array, h: Array, x: Array, up: int = 1, down: int = 1, axis: int = -1) -> tuple[Array, Array]:
    return (
        filter_adjoint(z_bar, x, up, down, np.size(h), axis),
        upfirdn_adjoint(z_bar, h, up, down, np.shape(x), axis),
    )


def _upfirdn_adjoints() -> Sequence[Sample]:
    found = []
    for s in _upfirdn()[::4]:
        h, x, up, down = s.args[:4] if len(s.args) > 3 else (*s.args, 1, 1)
        z = signal.upfirdn(h, x, up, down)
        found.append(sample(numbers(*z.shape), np.real(h), up, down, x.shape))
    return found


@bilinear(upfirdn_adjoint, wrt=["g", "h"], samples=_upfirdn_adjoints, dtype="unknown")
def upfirdn_adjoint_rule(
    z_bar: Array, g: Array, h: Array, up: int, down: int, shape: Any, axis: int = -1
) -> tuple[Array, Array]:
    return signal.upfirdn(h, z_bar, up, down, axis), filter_adjoint(g, z_bar, up, down, np.size(h), axis)


@bilinear(filter_adjoint, wrt=["g", "x"], samples=lambda: _filters(), dtype="unknown")
def filter_adjoint_rule(
    z_bar: Array, g: Array, x: Array, up: int, down: int, count: int, axis: int = -1
) -> tuple[Array, Array]:
    return signal.upfirdn(z_bar, x, up, down, axis), upfirdn_adjoint(g, z_bar, up, down, np.shape(x), axis)


def _filters() -> Sequence[Sample]:
    h, found = numbers(3), []
    for x, up, down, axis in ((numbers(4), 2, 1, -1), (numbers(2, 5), 2, 3, -1), (numbers(5, 2), 1, 2, 0)):
        z = signal.upfirdn(h, x, up, down, axis)
        found.append(sample(numbers(*z.shape), x, up, down, 3, axis))
    return found


def _polyphase() -> Sequence[Sample]:
    points = [sample(numbers(n), up, down) for n in (5, 8) for up, down in ((1, 2), (3, 2), (2, 3), (4, 2), (2, 2))]
    points += [sample(numbers(5, 2), 3, 2), sample(numbers(2, 5), 2, 3, 1, "hamming"), sample(complexes(6), 2, 1)]
    return [
        *points,
        sample(numbers(6), 2, 3, window=np.array([0.5, 1.0, 0.2])),
        sample(numbers(7), 2, padtype="mean", down=3),
    ]


def _resample_poly_jvp(
    x_dot: Array,
    x: Array,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: Any = "constant",
) -> Array:
    return resample_poly_tangent(x_dot, up, down, axis, window, padtype)


@rule(signal.resample_poly, wrt=["x"], jvp=_resample_poly_jvp, samples=_polyphase, infer=infer.scipy.transformed)
def resample_poly(
    z_bar: Array,
    x: Array,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: Any = "constant",
) -> Array:
    return resample_poly_adjoint(z_bar, np.shape(x), up, down, axis, window, padtype)


@linear(
    resample_poly_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(8), (5,), 3, 2), sample(numbers(2, 4), (2, 5), 2, 3, 1, "hamming", "mean")],
    dtype="unknown",
)
def resample_poly_adjoint_rule(
    z_bar: Array,
    g: Array,
    shape: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: Any = "constant",
) -> Array:
    return resample_poly_tangent(z_bar, up, down, axis, window, padtype)


def _decimated() -> Sequence[Sample]:
    x = numbers(32)
    points = [sample(x, 2), sample(x, 3, ftype="fir"), sample(x, 2, 4, "iir", -1, False)]
    return [*points, sample(x, 2, 6, "fir", zero_phase=False), sample(numbers(30, 2), 2, axis=0)]


@linear(signal.decimate, wrt=["x"], samples=_decimated, infer=infer.scipy.transformed)
def decimate(
    z_bar: Array, x: Array, q: int, n: int | None = None, ftype: Any = "iir", axis: int = -1, zero_phase: bool = True
) -> Array:
    return decimate_adjoint(z_bar, np.shape(x), q, n, ftype, axis, zero_phase)


@linear(
    decimate_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(16), (32,), 2), sample(numbers(2, 11), (2, 32), 3, 8, "fir")],
    dtype="unknown",
)
def decimate_adjoint_rule(
    z_bar: Array,
    g: Array,
    shape: Any,
    q: int,
    n: int | None = None,
    ftype: Any = "iir",
    axis: int = -1,
    zero_phase: bool = True,
) -> Array:
    return signal.decimate(z_bar, q, n, ftype, axis, zero_phase)


# --- polynomials that are fitted to what is around


def _smoothed() -> Sequence[Sample]:
    x = numbers(9)
    points = [sample(x, n, p) for n, p in ((5, 2), (4, 2), (3, 0), (9, 3), (1, 0))]
    points += [
        sample(x, n, 3, 1, 0.5, mode=m) for n in (5, 6) for m in ("mirror", "nearest", "wrap", "constant", "interp")
    ]
    return [
        *points,
        sample(numbers(7, 2), 5, 2, axis=0),
        sample(numbers(2, 7), 5, 2),
        sample(x, 5, 2, mode="constant", cval=0.7),
    ]


def _savgol_jvp(
    x_dot: Array,
    x: Array,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
) -> Array:
    return signal.savgol_filter(x_dot, window_length, polyorder, deriv, delta, axis, mode)


@rule(signal.savgol_filter, wrt=["x"], jvp=_savgol_jvp, samples=_smoothed, infer=infer.scipy.transformed, dtype="array")
def savgol_filter(
    z_bar: Array,
    x: Array,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: float = 0.0,
) -> Array:
    return savgol_adjoint(z_bar, window_length, polyorder, deriv, delta, axis, mode)


def _unsmoothed() -> Sequence[Sample]:
    return [sample(numbers(9), 5, 2), sample(numbers(7, 2), 5, 3, 1, 0.5, 0, "mirror")]


@linear(savgol_adjoint, wrt=["g"], samples=_unsmoothed, dtype="unknown")
def savgol_adjoint_rule(
    z_bar: Array,
    g: Array,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
) -> Array:
    return signal.savgol_filter(z_bar, window_length, polyorder, deriv, delta, axis, mode)


# --- the middle of what is around

constant(median_places, signature=lambda x, kernel_size: None)


def _spots() -> Sequence[Sample]:
    points = [sample(numbers(7)), sample(numbers(7), 5), sample(numbers(3, 4)), sample(numbers(4, 5), [3, 1])]
    return [*points, sample(numbers(1), 1), sample(singles(5), 3)]


def _medfilt_jvp(volume_dot: Array, volume: Array, kernel_size: Any = None) -> Array:
    return picked_values(volume_dot, median_places(volume, kernel_size))


@rule(signal.medfilt, wrt=["volume"], jvp=_medfilt_jvp, samples=_spots, infer=infer.scipy.transformed)
def medfilt(z_bar: Array, volume: Array, kernel_size: Any = None) -> Array:
    return put_back(z_bar, median_places(volume, kernel_size), np.shape(volume))


def _images() -> Sequence[Sample]:
    return [sample(numbers(3, 4)), sample(numbers(5, 4), 5), sample(numbers(5, 4), [1, 3]), sample(singles(3, 3))]


def _medfilt2d_jvp(input_dot: Array, input: Array, kernel_size: Any = 3) -> Array:
    return picked_values(input_dot, median_places(input, kernel_size))


@rule(signal.medfilt2d, wrt=["input"], jvp=_medfilt2d_jvp, samples=_images, infer=infer.scipy.same_axes)
def medfilt2d(z_bar: Array, input: Array, kernel_size: Any = 3) -> Array:
    return put_back(z_bar, median_places(input, kernel_size), np.shape(input))


@linear(
    picked_values,
    wrt=["x"],
    samples=lambda: [sample(numbers(2, 3), np.array([0, 6, 3, 3]))],
    dtype="unknown",
)
def picked_values_rule(z_bar: Array, x: Array, places: Array) -> Array:
    return put_back(z_bar, places, np.shape(x))


@linear(
    put_back,
    wrt=["g"],
    samples=lambda: [sample(numbers(4), np.array([0, 6, 3, 3]), (2, 3))],
    dtype="unknown",
)
def put_back_rule(z_bar: Array, g: Array, places: Array, shape: Any) -> Array:
    return picked_values(z_bar, places)
