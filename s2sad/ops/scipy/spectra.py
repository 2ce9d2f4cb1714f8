"""Rules of the spectral estimates of ``scipy.signal``, of real signals, and of short-time Fourier transforms.

The frequencies and times that they return have no derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.spec import Sample, constant, linear, rule, sample
from s2sad.runtime.fourier import resized
from s2sad.runtime.scipy.spectra import (
    bins,
    bins_adjoint,
    coherence_adjoints,
    coherence_tangent,
    csd_adjoints,
    csd_tangent,
    mean_only,
    periodogram_options,
    plan,
    powers_adjoint,
    powers_tangent,
    spectrogram_options,
    weights,
    welch_adjoint,
    welch_tangent,
)

Array = Any
Window = Any
Detrend = Any

constant(plan, signature=lambda size, window, nperseg, noverlap, nfft: None, calls=())
constant(weights, signature=lambda win, fs, nfft, scaling, onesided: None)
constant(mean_only, signature=lambda average: None)
constant(periodogram_options, signature=lambda size, window, nfft: None)
constant(spectrogram_options, signature=lambda size, window, nperseg, noverlap: None)


def _segments() -> Sequence[Sample]:
    win = signal.get_window("hann", 4)
    x = numbers(2, 11)
    given = [(3, 4, False, True), (2, 7, "constant", True), (4, 4, "linear", False)]
    return [*(sample(x, win, *options) for options in given), sample(complexes(9), win, 2, 4, False, False)]


@linear(bins, wrt=["x"], samples=_segments, infer=infer.scipy.complex_numbers, dtype="unknown")
def bins_rule(z_bar: Array, x: Array, win: Array, step: int, nfft: int, detrend: Detrend, onesided: bool) -> Array:
    return bins_adjoint(z_bar, x, win, step, nfft, detrend, onesided)


def _segment_adjoints() -> Sequence[Sample]:
    win = signal.get_window("hann", 4)
    x = numbers(2, 10)
    given = [(complexes(2, 3, 3), x, win, 3, 4, False, True), (complexes(2, 4, 4), x, win, 2, 7, "constant", True)]
    given += [(complexes(2, 2, 4), x, win, 4, 4, "linear", False)]
    return [*(sample(*options) for options in given), sample(complexes(3, 4), complexes(9), win, 2, 4, False, False)]


@linear(bins_adjoint, wrt=["g"], steps={"x"}, samples=_segment_adjoints, dtype="unknown")
def bins_adjoint_rule(
    z_bar: Array, g: Array, x: Array, win: Array, step: int, nfft: int, detrend: Detrend, onesided: bool
) -> Array:
    return bins(z_bar, win, step, nfft, detrend, onesided)


# --- powers


def _signals() -> Sequence[Sample]:
    x, win = numbers(20), signal.get_window("hamming", 6)
    return [
        sample(x, nperseg=8),
        sample(x, 2.5, "boxcar", 7, 3, 10),
        sample(x, window=win, detrend=False),
        sample(numbers(9), nperseg=9),
        sample(numbers(2, 12), nperseg=6, detrend="linear", scaling="spectrum"),
        sample(numbers(12, 2), nperseg=5, axis=0, return_onesided=False),
    ]


def _welch_jvp(
    x_dot: Array,
    z: Any,
    x: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    return np.zeros_like(z[0]), welch_tangent(
        x_dot, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


@rule(
    signal.welch,
    wrt=["x"],
    jvp=_welch_jvp,
    samples=_signals,
    infer=infer.scipy.spectrum,
    dtype="unknown",
    gives=(tuple,),
    real_only=True,
)
def welch(
    z_bar: Any,
    x: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Array:
    return welch_adjoint(
        z_bar[1], x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


def _whole_signals() -> Sequence[Sample]:
    x = numbers(9)
    points = [sample(x), sample(x, 2.5, "hann", 12), sample(x, nfft=7), sample(x, nfft=9, detrend="linear")]
    points += [sample(numbers(6, 2), axis=0, scaling="spectrum", return_onesided=False), sample(x, window=None)]
    return [*points, sample(numbers(2, 5), detrend=False)]


def _periodogram_jvp(
    x_dot: Array,
    z: Any,
    x: Array,
    fs: float = 1.0,
    window: Window = "boxcar",
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> Any:
    win, length = periodogram_options(np.shape(x)[axis], window, nfft)
    x, x_dot = resized(x, length, axis), resized(x_dot, length, axis)
    return np.zeros_like(z[0]), welch_tangent(
        x_dot, x, fs, win, length, 0, nfft, detrend, return_onesided, scaling, axis
    )


@rule(
    signal.periodogram,
    wrt=["x"],
    jvp=_periodogram_jvp,
    samples=_whole_signals,
    infer=infer.scipy.spectrum,
    dtype="unknown",
    gives=(tuple,),
    real_only=True,
)
def periodogram(
    z_bar: Any,
    x: Array,
    fs: float = 1.0,
    window: Window = "boxcar",
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> Array:
    win, length = periodogram_options(np.shape(x)[axis], window, nfft)
    part = resized(x, length, axis)
    x_bar = welch_adjoint(z_bar[1], part, fs, win, length, 0, nfft, detrend, return_onesided, scaling, axis)
    return resized(x_bar, np.shape(x)[axis], axis)


def _pairs_of_signals() -> Sequence[Sample]:
    x, y = numbers(16), numbers(16, seed=1)
    return [
        sample(x, y, nperseg=6),
        sample(x, y[:13], 2.0, "boxcar", 6, 2, 9),
        sample(x[:12], y, nperseg=8, detrend="linear", return_onesided=False),
        sample(numbers(2, 12), y[:12], nperseg=6, scaling="spectrum"),
        sample(numbers(12, 2), numbers(12, 2, seed=1), nperseg=5, axis=0, detrend=False),
    ]


def _csd_jvp(
    x_dot: Array,
    y_dot: Array,
    z: Any,
    x: Array,
    y: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    return np.zeros_like(z[0]), csd_tangent(
        x_dot, y_dot, x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


@rule(
    signal.csd,
    wrt=["x", "y"],
    jvp=_csd_jvp,
    samples=_pairs_of_signals,
    infer=infer.scipy.spectrum,
    dtype="unknown",
    gives=(tuple,),
    real_only=True,
)
def csd(
    z_bar: Any,
    x: Array,
    y: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    x_bar, y_bar = csd_adjoints(
        z_bar[1], x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )
    return x_bar, y_bar


def _coherent() -> Sequence[Sample]:
    x, y = numbers(24), numbers(24, seed=1)
    return [
        sample(x, y, nperseg=6),
        sample(x, y, 2.0, "hamming", 6, 2, 9),
        sample(numbers(2, 18), y[:18], nperseg=6, detrend="linear"),
        sample(numbers(16, 2), numbers(16, 2, seed=1), nperseg=5, axis=0, detrend=False),
    ]


def _coherence_jvp(
    x_dot: Array,
    y_dot: Array,
    z: Any,
    x: Array,
    y: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    axis: int = -1,
) -> Any:
    found = coherence_tangent(x_dot, y_dot, x, y, fs, window, nperseg, noverlap, nfft, detrend, axis)
    return np.zeros_like(z[0]), found


@rule(
    signal.coherence,
    wrt=["x", "y"],
    jvp=_coherence_jvp,
    samples=_coherent,
    infer=infer.scipy.spectrum,
    dtype="unknown",
    gives=(tuple,),
    real_only=True,
)
def coherence(
    z_bar: Any,
    x: Array,
    y: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    axis: int = -1,
) -> tuple[Array, Array]:
    x_bar, y_bar = coherence_adjoints(z_bar[1], x, y, fs, window, nperseg, noverlap, nfft, detrend, axis)
    return x_bar, y_bar


def _segmented() -> Sequence[Sample]:
    x = numbers(20)
    return [
        sample(x, nperseg=8),
        sample(x, 2.5, "boxcar", 7, 3, 10),
        sample(x, window=signal.get_window("hamming", 6), detrend=False, scaling="spectrum"),
        sample(numbers(2, 12), nperseg=6, detrend="linear"),
        sample(numbers(12, 2), nperseg=5, axis=0, return_onesided=False),
    ]


def _spectrogram_jvp(
    x_dot: Array,
    z: Any,
    x: Array,
    fs: float = 1.0,
    window: Window = ("tukey_periodic", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> Any:
    win, length, overlap = spectrogram_options(np.shape(x)[axis], window, nperseg, noverlap)
    powers = powers_tangent(x_dot, x, fs, win, length, overlap, nfft, detrend, return_onesided, scaling, axis)
    return np.zeros_like(z[0]), np.zeros_like(z[1]), np.moveaxis(powers, -1, axis - 1 if axis < 0 else axis)


@rule(
    signal.spectrogram,
    wrt=["x"],
    jvp=_spectrogram_jvp,
    samples=_segmented,
    infer=infer.scipy.spectra,
    dtype="unknown",
    gives=(tuple,),
    real_only=True,
)
def spectrogram(
    z_bar: Any,
    x: Array,
    fs: float = 1.0,
    window: Window = ("tukey_periodic", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> Array:
    win, length, overlap = spectrogram_options(np.shape(x)[axis], window, nperseg, noverlap)
    g = np.moveaxis(z_bar[2], axis - 1 if axis < 0 else axis, -1)
    return powers_adjoint(g, x, fs, win, length, overlap, nfft, detrend, return_onesided, scaling, axis)
