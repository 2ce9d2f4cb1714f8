"""Filters, spectra and transforms of SciPy in whole programs: both modes and second derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.fftpack
from scipy import signal

from s2sad import grad, hvp, jvp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

RNG = np.random.default_rng(7)
X = RNG.normal(size=24)
Y = RNG.normal(size=24)
SOS = signal.butter(4, 0.3, output="sos")
FREQUENCIES = np.linspace(0.1, 3.0, 6)


def spectral_distance(x: Any) -> Any:
    return np.sum((np.log(signal.welch(x, 2.0, nperseg=8)[1]) - 1) ** 2)


def line(x: Any) -> Any:
    f, p = signal.periodogram(x, detrend=False)
    return np.sum(f * p) / np.sum(p)


def common(x: Any) -> Any:
    return np.sum(signal.coherence(x, Y, nperseg=8)[1]) + np.sum(np.abs(signal.csd(x, Y, nperseg=6)[1]) ** 2)


def there_and_back(x: Any) -> Any:
    _, _, z = signal.stft(x, nperseg=8)
    _, y = signal.istft(z**2, nperseg=8)
    return np.sum(y**2)


def loudness(x: Any) -> Any:
    return np.sum(np.sqrt(signal.spectrogram(x, nperseg=8)[2] + 0.1))


def equaliser(x: Any) -> Any:
    head, tail = np.array([0.5, 0.2, 0.1]), np.ones(1)
    sos = np.stack([np.concatenate([head * x[0], tail, 0.2 * x[1:3]]), np.concatenate([x[3:6], tail, 0.1 * x[6:8]])])
    return np.sum(signal.sosfilt(sos, Y) ** 2)


def states(x: Any) -> Any:
    y, end = signal.sosfilt(SOS, x, zi=np.reshape(x[:4], (2, 2)))
    return np.sum(y**2) + np.sum(end**3)


def both_ways(x: Any) -> Any:
    return np.sum(signal.sosfiltfilt(SOS, x) ** 2) + np.sum(signal.decimate(x, 2, 4) ** 2)


def smoothed(x: Any) -> Any:
    return np.sum(signal.savgol_filter(x, 7, 2) ** 2) + np.sum(signal.savgol_filter(x, 5, 1, deriv=1) ** 2)


def rates(x: Any) -> Any:
    return np.sum(signal.resample(x, 16) ** 3) + np.sum(signal.resample_poly(x, 3, 2) ** 2)


def response(x: Any) -> Any:
    _, h = signal.freqz(x[:4], np.concatenate([np.ones(1), 0.1 * x[4:7]]), worN=FREQUENCIES)
    return np.sum(np.abs(h) ** 2)


def despiked(x: Any) -> Any:
    return np.sum(signal.medfilt(x + 3, 5) ** 2) + np.sum(signal.medfilt2d(np.reshape(x, (4, 6)) + 3) ** 3)


def cosines(x: Any) -> Any:
    image = np.outer(x[:4], x[4:8])
    return np.sum(scipy.fft.dctn(image, norm="ortho") ** 4) + np.sum(scipy.fft.idst(x, 3) ** 2)


def planes(x: Any) -> Any:
    bins = scipy.fft.rfft2(np.reshape(x, (4, 6)), workers=1)
    return np.sum(np.abs(bins) ** 3) + np.sum(scipy.fft.irfft2(bins * np.abs(bins)) ** 2)


def legacy(x: Any) -> Any:
    parts = scipy.fftpack.rfft(x)
    return np.sum(parts**4) + np.sum(np.abs(scipy.fftpack.fft2(np.reshape(x, (4, 6)))) ** 3)


def resonator(x: Any) -> Any:
    """All coefficients and the signal depend on ``x``, and the first coefficient is not one."""
    rows = signal.lfilter(x[:2], np.stack([2.0 + x[0], 0.3 * x[2]]), np.reshape(x, (4, 6)), axis=0)
    return np.sum(rows**3) + np.sum(signal.lfilter([x[0], 0.2], [1.0, 0.1 * x[1]], x) ** 2)


TWICE = [
    resonator,
    spectral_distance,
    line,
    there_and_back,
    loudness,
    both_ways,
    smoothed,
    rates,
    despiked,
    cosines,
    planes,
]
ONCE = [common, equaliser, states, response, legacy]


@pytest.mark.parametrize("f", [*TWICE, *ONCE])
def test_gradients(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-6)
    dot = np.cos(np.arange(24.0))
    np.testing.assert_allclose(jvp(f, (X,), (dot,))[1], np.sum(expected * dot), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", TWICE)
def test_second_derivatives(f: Callable[..., Any]) -> None:
    dot = np.cos(np.arange(24.0))
    expected = richardson_jvp(grad(f), (X,), (dot,))
    np.testing.assert_allclose(hvp(f, (X,), (dot,)), expected, rtol=1e-5, atol=1e-5)


def by_median(x: Any) -> Any:
    return np.sum(signal.welch(x, nperseg=8, average="median")[1])


def less_the_median(x: Any) -> Any:
    return np.sum(signal.resample_poly(x, 2, 1, padtype="median"))


@pytest.mark.parametrize("f", [by_median, less_the_median])
def test_what_is_refused_as_it_runs(f: Callable[..., Any]) -> None:
    with pytest.raises(UndefinedDerivativeError, match="has no derivative rule"):
        grad(f)(X)
    with pytest.raises(UndefinedDerivativeError, match="has no derivative rule"):
        jvp(f, (X,), (X,))


def overwriting(x: Any) -> Any:
    return np.sum(np.abs(scipy.fft.fft(x, overwrite_x=True)))


def test_operands_are_no_working_space() -> None:
    with pytest.raises(UnsupportedError):
        grad(overwriting)(X + 0j)


def at_knots(x: Any) -> Any:
    return np.sum(signal.cspline1d_eval(x, np.array([0.5])))


def test_values_of_splines() -> None:
    x = np.arange(1.0, 7.0)
    np.testing.assert_allclose(grad(at_knots)(x), numeric_gradient(at_knots, (x,)), rtol=1e-6, atol=1e-9)


def coefficients(x: Any) -> Any:
    return np.sum(signal.cspline1d(x, 1.0))


def test_what_the_source_of_a_library_is_refused_for_is_said_of_the_function_that_was_called() -> None:
    with pytest.raises(UnsupportedError, match="cspline1d has no derivative rule, and its source can") as refused:
        grad(coefficients)(np.arange(1.0, 7.0))
    (found,) = refused.value.violations
    assert found.place is not None
    assert found.place.file == __file__


@pytest.mark.filterwarnings("ignore:kernel_size exceeds")
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_medians_of_nothing(shape: tuple[int, ...]) -> None:
    x = np.ones(shape)
    np.testing.assert_array_equal(grad(lambda x: np.sum(signal.medfilt(x, 3)))(x), x)
