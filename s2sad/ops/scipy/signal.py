"""Rules of the filters of ``scipy.signal``, each adjoint by the same algorithm run backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, bilinear, constant, linear, operation, rule, sample
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.filters import (
    backwards,
    czt_adjoint,
    delayed_products,
    filtfilt_adjoint,
    hilbert_adjoint,
    lfilter_adjoint,
    lfilter_tangent,
    of_operand,
    response_adjoints,
    response_tangent,
    sosfilt_adjoints,
    sosfilt_tangent,
    sosfiltfilt_adjoint,
    zoom_adjoint,
)
from s2sad.runtime.scipy.sections import paired, poles_and_zeros, require_in_order, spectrum_weights, window_of

Array = Any

# --- filters


def _filters() -> Sequence[Sample]:
    b, a, x = numbers(3), np.array([2.0, -0.6, 0.3]), numbers(7)
    points = [sample(b, a, x), sample(b, [1.0], x), sample(np.array([0.5]), a, x), sample(b, a[:2], numbers(2, 6))]
    points += [sample(b, a, numbers(5, 2), 0), sample(b[:2], a, numbers(2, 5), axis=1), sample(b, a, numbers(2))]
    points += [sample(b, a, x, zi=numbers(2)), sample(b, a, numbers(5, 2), 0, numbers(2, 2))]
    points += [sample(b, a, numbers(1), zi=numbers(2)), sample(b[:1], a, numbers(2, 4), zi=numbers(2, 2))]
    points += [sample(numbers(4), a[:1], x, zi=numbers(3))]
    return [*points, sample(b, a, complexes(5)), sample(b.astype("f"), a.astype("f"), singles(5))]


def _lfilter_jvp(
    b_dot: Array,
    a_dot: Array,
    x_dot: Array,
    zi_dot: Array,
    z: Any,
    b: Array,
    a: Array,
    x: Array,
    axis: int = -1,
    zi: Array | None = None,
) -> Any:
    return lfilter_tangent(b_dot, a_dot, x_dot, zi_dot, z, b, a, x, axis, zi)


@rule(
    signal.lfilter,
    wrt=["b", "a", "x", "zi"],
    jvp=_lfilter_jvp,
    samples=_filters,
    infer=infer.scipy.filtered,
    gives=(tuple, np.ndarray),
)
def lfilter(
    z: Any, z_bar: Any, b: Array, a: Array, x: Array, axis: int = -1, zi: Array | None = None
) -> tuple[Array, Array, Array, Array | None]:
    if zi is None:
        v = backwards([1.0], a, z_bar, axis)
        x_bar = like(backwards(b, [1.0], v, axis), x)
        return delayed_products(v, x, b, axis), delayed_products(-v, z, a, axis), x_bar, None
    b_bar, a_bar, x_bar, zi_bar = lfilter_adjoint(z_bar, z, b, a, x, axis, zi)
    return b_bar, a_bar, x_bar, zi_bar


def _backward() -> Sequence[Sample]:
    b, a = numbers(3), np.array([2.0, -0.6, 0.3])
    return [sample(b, a, numbers(5)), sample(b[:1], a, numbers(4, 2), 0), sample(b, [1.0], numbers(2, 4), axis=1)]


def _backwards_jvp(
    b_dot: Array, a_dot: Array, x_dot: Array, z: Array, b: Array, a: Array, x: Array, axis: int = -1
) -> Array:
    moved = lfilter_tangent(
        b_dot, a_dot, np.flip(x_dot + np.zeros_like(x), axis), 0.0, np.flip(z, axis), b, a, np.flip(x, axis), axis
    )
    return np.flip(moved, axis)


@rule(backwards, wrt=["b", "a", "x"], jvp=_backwards_jvp, samples=_backward, infer=infer.scipy.filtered)
def backwards_rule(z: Array, z_bar: Array, b: Array, a: Array, x: Array, axis: int = -1) -> tuple[Array, Array, Array]:
    w = signal.lfilter([1.0], a, z_bar, axis)
    back, found = np.flip(x, axis), np.flip(z, axis)
    b_bar = delayed_products(np.flip(w, axis), back, b, axis)
    return b_bar, delayed_products(-np.flip(w, axis), found, a, axis), signal.lfilter(b, [1.0], w, axis)


def _delays() -> Sequence[Sample]:
    return [
        sample(numbers(5), numbers(5, seed=1), numbers(3)),
        sample(numbers(4, 2), numbers(4, 2, seed=1), numbers(2), 0),
        sample(complexes(4), numbers(4), complexes(2)),
        sample(numbers(2), numbers(2, seed=1), numbers(3)),
    ]


@bilinear(delayed_products, wrt=["v", "x"], steps={"b"}, samples=_delays, dtype="unknown")
def delayed_products_rule(z_bar: Array, v: Array, x: Array, b: Array, axis: int = -1) -> tuple[Array, Array]:
    weights = np.reshape(z_bar, -1)
    return like(signal.lfilter(weights, [1.0], x, axis), v), like(backwards(weights, [1.0], v, axis), x)


def _sections() -> Sequence[Sample]:
    # SciPy wants the fourth column to be 1, so that there are no differences by all: whole numbers are constant.
    sos = np.array([[1, 2, -3, 1, 0, 0], [1, 0, 1, 1, 0, 0]])
    states = sample(sos, numbers(6), zi=numbers(2, 2)), sample(sos, numbers(6, 3), 0, numbers(2, 2, 3))
    return [sample(sos, numbers(8)), sample(sos, numbers(2, 6), 1), sample(sos[:1], numbers(5, 2), axis=0), *states]


def _sosfilt_jvp(
    sos_dot: Array, x_dot: Array, zi_dot: Array, sos: Array, x: Array, axis: int = -1, zi: Array | None = None
) -> Any:
    return sosfilt_tangent(sos_dot, x_dot, zi_dot, sos, x, axis, zi)


@rule(
    signal.sosfilt,
    wrt=["sos", "x", "zi"],
    jvp=_sosfilt_jvp,
    samples=_sections,
    infer=infer.scipy.filtered,
    gives=(tuple, np.ndarray),
)
def sosfilt(
    z_bar: Any, sos: Array, x: Array, axis: int = -1, zi: Array | None = None
) -> tuple[Array, Array, Array | None]:
    if zi is None:
        x_bar = np.flip(signal.sosfilt(sos, np.flip(z_bar, axis), axis), axis)
        return sosfilt_adjoints(z_bar, sos, x, axis)[0], x_bar, None
    sos_bar, x_bar, zi_bar = sosfilt_adjoints(z_bar, sos, x, axis, zi)
    return sos_bar, x_bar, zi_bar


def _sections_both_ways() -> Sequence[Sample]:
    sos, x = signal.butter(3, 0.3, output="sos"), numbers(20)
    points = [sample(sos, x), sample(sos, x, padtype="even"), sample(sos, x, padtype="constant", padlen=4)]
    return [*points, sample(sos, x, padtype=None), sample(sos, numbers(20, 2), 0), sample(sos, numbers(2, 9), padlen=0)]


def _sosfiltfilt_jvp(
    x_dot: Array, sos: Array, x: Array, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    return signal.sosfiltfilt(sos, x_dot, axis, padtype, padlen)


@rule(signal.sosfiltfilt, wrt=["x"], jvp=_sosfiltfilt_jvp, samples=_sections_both_ways, infer=infer.scipy.filtered)
def sosfiltfilt(
    z_bar: Array, sos: Array, x: Array, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    return sosfiltfilt_adjoint(z_bar, sos, axis, padtype, padlen)


@linear(
    sosfiltfilt_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(20), signal.butter(3, 0.3, output="sos"))],
    dtype="unknown",
)
def sosfiltfilt_adjoint_rule(
    z_bar: Array, g: Array, sos: Array, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    return signal.sosfiltfilt(sos, z_bar, axis, padtype, padlen)


def _both_ways() -> Sequence[Sample]:
    b, a, x = np.array([0.2, 0.3]), np.array([1.0, -0.5]), numbers(12)
    points = [sample(b, a, x), sample(b, a, x, padtype="even"), sample(b, a, x, padtype="constant", padlen=4)]
    points += [sample(b, a, x, padtype=None), sample(b, a, numbers(2, 9), padlen=0), sample(b, a, numbers(9, 2), 0)]
    return [*points, sample(np.array([0.2, 0.3, 0.1]), np.array([2.0, -0.5]), numbers(20))]


def _filtfilt_jvp(
    x_dot: Array, b: Array, a: Array, x: Array, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    return signal.filtfilt(b, a, x_dot, axis, padtype, padlen)


@rule(signal.filtfilt, wrt=["x"], jvp=_filtfilt_jvp, samples=_both_ways, infer=infer.scipy.filtered)
def filtfilt(
    z_bar: Array, b: Array, a: Array, x: Array, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    return filtfilt_adjoint(z_bar, b, a, x, axis, padtype, padlen)


def _trends() -> Sequence[Sample]:
    points = [
        sample(numbers(6)),
        sample(numbers(6), type="constant"),
        sample(numbers(3, 4), 0),
        sample(numbers(8), bp=4),
    ]
    return [*points, sample(numbers(2, 6), -1, "constant"), sample(numbers(9), -1, "linear", [3, 6])]


# What is left after a projection: its own transpose.
@linear(signal.detrend, wrt=["data"], samples=_trends, infer=infer.scipy.same_shape)
def detrend(z_bar: Array, data: Array, axis: int = -1, type: str = "linear", bp: Any = 0) -> Array:
    return signal.detrend(z_bar, axis, type, bp)


def _signals() -> Sequence[Sample]:
    points = [sample(numbers(n)) for n in (1, 2, 5, 6)]
    return [
        *points,
        sample(numbers(6), 8),
        sample(numbers(6), 5),
        sample(numbers(4, 3), axis=0),
        sample(numbers(3), N=4),
    ]


@linear(signal.hilbert, wrt=["x"], samples=_signals, infer=infer.scipy.analytic, dtype="unknown")
def hilbert(z_bar: Array, x: Array, N: int | None = None, axis: int = -1) -> Array:
    return hilbert_adjoint(z_bar, x, N, axis)


# --- what a filter does to waves


def _responses() -> Sequence[Sample]:
    b, a = numbers(3), np.array([1.5, -0.4, 0.2, 0.1])
    points = [sample(b, a, 8), sample(b, worN=5), sample(b, a, [0.3, 1.1], fs=10.0), sample(b, a[:1], 8, True)]
    return [*points, sample(b, a[:1], worN=7), sample(complexes(2), a, 6), sample(b, a, 6, include_nyquist=True)]


def _freqz_jvp(b_dot: Array, a_dot: Array, z: Any, b: Array, a: Array = 1, *, fs: float = 2 * np.pi) -> Any:
    return np.zeros_like(z[0]), response_tangent(b_dot, a_dot, z, b, a, fs)


@rule(
    signal.freqz,
    wrt=["b", "a"],
    jvp=_freqz_jvp,
    samples=_responses,
    infer=infer.scipy.response,
    dtype="unknown",
    gives=(tuple,),
)
def freqz(
    z: Any,
    z_bar: Any,
    b: Array,
    a: Array = 1,
    worN: Any = 512,
    whole: bool = False,
    plot: None = None,
    fs: float = 2 * np.pi,
    include_nyquist: bool = False,
) -> tuple[Array, Array]:
    b_bar, a_bar = response_adjoints(z_bar, z, b, a, fs)
    return b_bar, a_bar


@linear(
    hilbert_adjoint,
    wrt=["g"],
    steps={"x"},
    samples=lambda: [sample(complexes(6), numbers(6)), sample(complexes(2, 5), numbers(2, 6), 5, 1)],
    dtype="unknown",
)
def hilbert_adjoint_rule(z_bar: Array, g: Array, x: Array, count: int | None = None, axis: int = -1) -> Array:
    return signal.hilbert(z_bar, count, axis)


@linear(
    of_operand,
    wrt=["g"],
    steps={"x"},
    samples=lambda: [sample(complexes(3), numbers(3)), sample(complexes(3), complexes(3)), sample(complexes(1), 0.5)],
    result="fresh",
    dtype="unknown",
)
def of_operand_rule(z_bar: Array, g: Array, x: Any) -> Array:
    return np.reshape(z_bar, np.shape(g))


_FILTER = "design the filter under stop_gradient(...), or write its coefficients out; lfilter has derivatives by them"
_STOP = "wrap the argument in stop_gradient(...) if no derivative should pass"

# --- transforms at points on a spiral


def _spirals() -> Sequence[Sample]:
    w, points = np.exp(-0.4j), [sample(numbers(5)), sample(numbers(3, 4), 6, axis=0), sample(complexes(4))]
    return [*points, sample(numbers(2, 4), 3, w, 1.1 * w, axis=-1), sample(singles(4), 5, 0.9 * w)]


@linear(signal.czt, wrt=["x"], samples=_spirals, infer=infer.scipy.analytic, dtype="unknown", complex_adjoints=True)
def czt(z_bar: Array, x: Array, m: Any = None, w: Any = None, a: Any = 1 + 0j, *, axis: int = -1) -> Array:
    return czt_adjoint(z_bar, np.shape(x)[axis], w, a, axis)


def _bands() -> Sequence[Sample]:
    points = [sample(numbers(5), 0.7), sample(numbers(3, 4), [0.2, 0.9], 6, axis=0), sample(complexes(4), [0.1, 0.5])]
    return [*points, sample(numbers(2, 4), [0.2, 0.7], 3, fs=3.0, endpoint=True), sample(singles(4), 0.5, 5)]


@linear(signal.zoom_fft, wrt=["x"], samples=_bands, infer=infer.scipy.analytic, dtype="unknown", complex_adjoints=True)
def zoom_fft(
    z_bar: Array, x: Array, fn: Any, m: Any = None, *, fs: Any = 2, endpoint: bool = False, axis: int = -1
) -> Array:
    return zoom_adjoint(z_bar, np.shape(x)[axis], fn, fs, endpoint, axis)


_STEPS = "use scipy.linalg.expm of the matrix of the system for a step, in a loop"
_FREQUENCIES = "use freqs or freqz of scipy.signal, or np.polyval of numerator and denominator at 1j * w"
#: What to do instead of differentiating a function of ``scipy.signal``.
REFUSED = {
    "hilbert2": "use np.fft.fft2",
    "deconvolve": "use scipy.signal.lfilter(signal, divisor, impulse)",
    "lfilter_zi": _FILTER,
    "lfiltic": _FILTER,
    "sosfilt_zi": _FILTER,
    "wiener": "use scipy.signal.convolve for the local means, and write the filter out",
    "sepfir2d": "use scipy.signal.convolve2d",
    "order_filter": "use np.sort over np.lib.stride_tricks.sliding_window_view",
    "find_peaks": "find positions under stop_gradient(...), and take x[peaks]",
    "lombscargle": "write it with np.sin and np.cos",
    "zpk2tf": _FILTER,
    "tf2zpk": _FILTER,
    "butter": _FILTER,
    "firwin": _FILTER,
    "bilinear": _FILTER,
    # What makes objects of the classes of systems is long Python.
    **dict.fromkeys(("lsim", "impulse", "step", "dlsim", "dimpulse", "dstep", "cont2discrete"), _STEPS),
    **dict.fromkeys(("freqresp", "bode", "dfreqresp", "dbode"), _FREQUENCIES),
}

for _name, _text in REFUSED.items():
    if hasattr(signal, _name):
        operation(getattr(signal, _name), remedy=_text)

# --- what is constant in the design of a filter ---

constant(paired, signature=lambda zeros, poles, pairing=None: None)
constant(spectrum_weights, signature=lambda spectrum, axes: None)
constant(require_in_order, signature=lambda frequencies, analog: None)
operation(
    poles_and_zeros,
    signature=lambda N, rp, rs, ftype: None,
    remedy="wrap the ripple and the attenuation in stop_gradient(...), and differentiate by the frequencies",
)
operation(
    window_of,
    signature=lambda window, count: None,
    remedy="multiply by a window of scipy.signal.windows that is written out",
)
