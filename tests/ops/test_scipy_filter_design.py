"""Filters of scipy.signal by their frequencies, and what scipy.signal and scipy.ndimage make of other filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage, signal

from s2sad import S2SADError, grad, hvp, stop_gradient
from tests.ops.test_modelled_functions import as_scipy_has_it, total
from tests.oracle import richardson_jvp

Function = Callable[[Any], Any]
W = np.array([0.21, 0.43])
X = np.array([[0.7, 1.3, 0.4, 0.9, -0.3], [0.2, -0.9, 1.1, 0.5, 0.8]])

DESIGNS: dict[str, Function] = {
    "butter": lambda w: np.concatenate(signal.butter(3, w[0])),
    "butter high": lambda w: np.concatenate(signal.butter(2, w[0] * 50, btype="highpass", fs=100.0)),
    "butter band": lambda w: np.concatenate(signal.butter(2, w, "bandpass")),
    "butter stop": lambda w: np.concatenate(signal.butter(3, [w[0], w[1]], "bandstop")),
    "butter sections": lambda w: signal.butter(5, w[0], output="sos"),
    "butter sections of a band": lambda w: signal.butter(2, w, "band", output="sos"),
    "butter analog": lambda w: signal.butter(3, w[0] * 9, analog=True)[1],
    "butter gain": lambda w: signal.butter(3, w[0], output="zpk")[2],
    "butter poles": lambda w: np.abs(signal.butter(3, w[0], "high", output="zpk")[1] - 0.3),
    "cheby1": lambda w: signal.cheby1(4, 1.0, w[0])[0],
    "cheby1 sections": lambda w: signal.cheby1(4, 1.0, w[0], "high", output="sos"),
    "cheby2": lambda w: signal.cheby2(3, 30.0, w[0], output="sos"),
    "ellip": lambda w: signal.ellip(4, 1.0, 30.0, w[0], output="sos"),
    "bessel": lambda w: signal.bessel(3, w[0] * 9, analog=True, norm="mag")[1],
    "iirfilter": lambda w: signal.iirfilter(3, w, rs=40, ftype="cheby2")[1],
    "iirpeak": lambda w: np.concatenate(signal.iirpeak(w[0], 10 * w[1])),
    "iirnotch": lambda w: np.concatenate(signal.iirnotch(w[0], 10 * w[1], fs=5.0)),
    "firwin": lambda w: signal.firwin(5, w[0]),
    "firwin high": lambda w: signal.firwin(5, w[0], pass_zero=False),
    "firwin band": lambda w: signal.firwin(6, w, pass_zero="bandpass", window=("kaiser", 3.0)),
    "firwin unscaled": lambda w: signal.firwin(7, w, scale=False, fs=2.5),
    "filtered": lambda w: signal.sosfilt(signal.butter(2, w[0], output="sos"), X[0]),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_filters_by_their_frequencies(name: str) -> None:
    as_scipy_has_it(DESIGNS[name], W)


@pytest.mark.parametrize("name", ["butter", "butter band", "firwin"])
def test_second_derivatives_by_frequencies(name: str) -> None:
    f, way = total(DESIGNS[name]), np.array([1.0, -0.7])
    np.testing.assert_allclose(hvp(f, (W,), (way,)), richardson_jvp(grad(f), [W], [way]), rtol=1e-5, atol=1e-7)


def test_a_filter_of_frequencies_that_are_none_is_an_error() -> None:
    for f in (lambda w: signal.butter(3, -w[0])[0], lambda w: signal.butter(3, w[::-1], "band")[0]):
        with pytest.raises(ValueError, match="in order"):
            grad(total(f))(W)


def test_ripple_and_windows_have_no_derivative() -> None:
    with pytest.raises(S2SADError, match="poles_and_zeros has no derivative rule"):
        grad(total(lambda w: signal.cheby1(3, w[0], 0.3)[0]))(W)
    as_scipy_has_it(lambda w: signal.cheby1(3, stop_gradient(0.5), w[0])[0], W)


MADE: dict[str, Function] = {
    "coefficients": lambda x: np.concatenate(signal.zpk2tf(x[0, :2], x[1, :2], 2.0 * x[0, 0])),
    "roots": lambda x: signal.tf2zpk(x[0, [0, 1, 3]], x[1, [1, 4, 2]])[1].real,
    "gain": lambda x: signal.tf2zpk(np.concatenate([np.zeros(1), x[0]]), x[1])[2],
    "steady with a zero in front": lambda x: signal.lfilter_zi(x[0, :3], np.concatenate([np.zeros(1), x[1, :2] + 1])),
    "sections": lambda x: signal.tf2sos(x[0], np.array([1, 0.2, 0.1, 0.03, 0.01]) * x[1, 0]),
    "steady": lambda x: signal.lfilter_zi(x[0, :3], x[1, 2] * np.array([1, 0.2, 0.1])),
    "steady of two": lambda x: signal.lfilter_zi(x[0, :3], [1, 0.2]),
    "quotient": lambda x: signal.deconvolve(x[0], x[1, :2] + 2)[0],
    "rest": lambda x: signal.deconvolve(signal=x[0], divisor=x[1, :2] + 2)[1],
    "order": lambda x: signal.order_filter(x, np.ones((1, 3)), 1),
    "wiener": lambda x: signal.wiener(x, 3),
    "wiener of noise": lambda x: signal.wiener(x, (1, 3), 0.1 * x[0, 0]),
    "hilbert2": lambda x: signal.hilbert2(x).imag,
    "hilbert2 of four": lambda x: np.abs(signal.hilbert2(x, N=4)),
    "strength": lambda x: np.array(signal.vectorstrength(x[0], 2.0 + x[1, 0])),
    "strengths": lambda x: signal.vectorstrength(x[0], [2.0, 1.5] + x[1, :2] ** 2)[0],
    "lombscargle": lambda x: signal.lombscargle(np.cumsum(x[0] ** 2), x[1], [0.5, 1.5]),
    "lombscargle mean": lambda x: signal.lombscargle(
        np.arange(5.0), x[1], x[0] + 1, normalize=True, floating_mean=True
    ),
    "lombscargle weights": lambda x: signal.lombscargle(np.arange(5.0), x[1], x[0] + 1, weights=x[0] ** 2),
    "lombscargle amplitude": lambda x: np.abs(
        signal.lombscargle(np.arange(5.0), x[1], x[0] + 1, normalize="amplitude")
    ),
    "white tophat": lambda x: ndimage.white_tophat(x, 3),
    "black tophat": lambda x: ndimage.black_tophat(x, (1, 3), mode="nearest"),
    "morphological gradient": lambda x: ndimage.morphological_gradient(x, 3),
    "morphological laplace": lambda x: ndimage.morphological_laplace(x, size=(1, 3), mode="constant", cval=0.6),
    "footprint": lambda x: ndimage.morphological_gradient(x, footprint=[[1, 0, 1]]),
}


@pytest.mark.filterwarnings("ignore:Badly conditioned")
@pytest.mark.parametrize("name", MADE)
def test_filters_made_of_others(name: str) -> None:
    as_scipy_has_it(MADE[name], X)
