"""Rules of the short-time Fourier transforms of ``scipy.signal``, which are linear.

The frequencies and times that they return have no derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.spec import Sample, linear, rule, sample
from s2sad.runtime.scipy.spectra import istft_adjoint, stft_adjoint

Array = Any
Window = Any
Detrend = Any


def _signals() -> Sequence[Sample]:
    x = numbers(20)
    points = [sample(x, nperseg=8), sample(x, 2.5, "hamming", 7, 3, 10), sample(x, nperseg=6, scaling="psd")]
    points += [sample(x, nperseg=5, boundary=b, padded=False) for b in ("even", "odd", "constant", None)]
    points += [
        sample(numbers(2, 12), nperseg=6, detrend="linear"),
        sample(complexes(12), nperseg=4, return_onesided=False),
    ]
    return [*points, sample(numbers(12, 2), nperseg=5, axis=0, return_onesided=False)]


def _stft_jvp(
    x_dot: Array,
    z: Any,
    x: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> Any:
    found = signal.stft(
        x_dot, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary, padded, axis, scaling
    )
    return np.zeros_like(z[0]), np.zeros_like(z[1]), found[2]


@rule(
    signal.stft,
    wrt=["x"],
    jvp=_stft_jvp,
    samples=_signals,
    infer=infer.scipy.complex_spectra,
    dtype="unknown",
    gives=(tuple,),
)
def stft(
    z_bar: Any,
    x: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> Array:
    return stft_adjoint(
        z_bar[2], x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary, padded, axis, scaling
    )


def _given(detrend: Detrend, boundary: str | None, axis: int) -> tuple[Any, ...]:
    return 2.5, "hamming", 6, 2, 7, detrend, True, boundary, True, axis, "psd"


def _transforms() -> Sequence[Sample]:
    x, y = numbers(14), numbers(14, 2)
    points = []
    for signals, given in ((x, _given(False, "odd", -1)), (y, _given("constant", "zeros", 0))):
        shape = signal.stft(signals, *given)[2].shape
        points.append(sample(complexes(*shape), signals, *given))
    return points


@linear(stft_adjoint, wrt=["g"], steps={"x"}, samples=_transforms, dtype="unknown")
def stft_adjoint_rule(
    z_bar: Array,
    g: Array,
    x: Array,
    fs: float,
    window: Window,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    boundary: str | None,
    padded: bool,
    axis: int,
    scaling: str,
) -> Array:
    return signal.stft(z_bar, fs, window, nperseg, noverlap, nfft, detrend, onesided, boundary, padded, axis, scaling)[
        2
    ]


def _spectra() -> Sequence[Sample]:
    t = complexes(5, 4)
    points = [sample(t), sample(t, 2.5, "hamming", scaling="psd"), sample(t, nperseg=6, noverlap=4, nfft=8)]
    points += [sample(t, input_onesided=False), sample(complexes(2, 4, 5), time_axis=0, freq_axis=-1)]
    return [*points, sample(t, boundary=False, window="boxcar"), sample(complexes(4, 3), nperseg=7)]


def _istft_jvp(
    Zxx_dot: Array,
    z: Any,
    Zxx: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> Any:
    found = signal.istft(
        Zxx_dot, fs, window, nperseg, noverlap, nfft, input_onesided, boundary, time_axis, freq_axis, scaling
    )
    return np.zeros_like(z[0]), found[1]


@rule(
    signal.istft,
    wrt=["Zxx"],
    jvp=_istft_jvp,
    samples=_spectra,
    infer=infer.scipy.signal_of_spectra,
    dtype="unknown",
    gives=(tuple,),
    complex_adjoints=True,
)
def istft(
    z_bar: Any,
    Zxx: Array,
    fs: float = 1.0,
    window: Window = "hann_periodic",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> Array:
    return istft_adjoint(
        z_bar[1], Zxx, fs, window, nperseg, noverlap, nfft, input_onesided, boundary, time_axis, freq_axis, scaling
    )


def _signals_of_spectra() -> Sequence[Sample]:
    given = 1.0, "hann_periodic", None, None, None, True, True, -1, -2, "spectrum"
    t = complexes(5, 4)
    return [sample(numbers(*signal.istft(t, *given)[1].shape), t, *given)]


@linear(istft_adjoint, wrt=["g"], steps={"transforms"}, samples=_signals_of_spectra, dtype="unknown")
def istft_adjoint_rule(
    z_bar: Array,
    g: Array,
    transforms: Array,
    fs: float,
    window: Window,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    onesided: bool,
    boundary: bool,
    time_axis: int,
    freq_axis: int,
    scaling: str,
) -> Array:
    return signal.istft(z_bar, fs, window, nperseg, noverlap, nfft, onesided, boundary, time_axis, freq_axis, scaling)[
        1
    ]
