"""Filters of ``scipy.signal`` by their frequencies, poles and zeros, and filters that are made of others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, ndimage, signal
from scipy.signal import convolve, lfilter

from s2sad.ops.models import model
from s2sad.runtime.scipy.sections import paired, poles_and_zeros, require_in_order, spectrum_weights, window_of
from s2sad.runtime.undefined import require_rule

_LOW = ("low", "lowpass", "lp", "l")
_HIGH = ("high", "highpass", "hp", "h")
_BAND = ("band", "bandpass", "pass", "bp")


# --- from poles and zeros to coefficients, and back ---


def prewarped(z: Any, p: Any, k: Any) -> Any:
    """Zeros, poles and gain of a filter in time steps by the bilinear transform, as `iirfilter` makes it."""
    more = np.shape(p)[0] - np.shape(z)[0]
    gain = k * np.real(np.prod(4.0 - z) / np.prod(4.0 - p))
    return np.concatenate(((4.0 + z) / (4.0 - z), -np.ones(more))), (4.0 + p) / (4.0 - p), gain


def low_pass(z: Any, p: Any, k: Any, w: Any) -> Any:
    return w * z, w * p, k * w ** (np.shape(p)[0] - np.shape(z)[0])


def high_pass(z: Any, p: Any, k: Any, w: Any) -> Any:
    at_zero = np.zeros(np.shape(p)[0] - np.shape(z)[0])
    return np.concatenate((w / z, at_zero)), w / p, k * np.real(np.prod(-z) / np.prod(-p))


def both_sides(r: Any, w: Any) -> Any:
    """The roots to which a band of frequencies around ``w`` takes those of a low pass."""
    root = np.sqrt(r**2 - w**2 + 0j)
    return np.concatenate((r + root, r - root))


def band_pass(z: Any, p: Any, k: Any, w: Any, width: Any) -> Any:
    more = np.shape(p)[0] - np.shape(z)[0]
    zeros = np.concatenate((both_sides(z * (width / 2), w), np.zeros(more)))
    return zeros, both_sides(p * (width / 2), w), k * width**more


def band_stop(z: Any, p: Any, k: Any, w: Any, width: Any) -> Any:
    centre = w * np.ones(np.shape(p)[0] - np.shape(z)[0])
    zeros = np.concatenate((both_sides((width / 2) / z, w), 1j * centre, -1j * centre))
    return zeros, both_sides((width / 2) / p, w), k * np.real(np.prod(-z) / np.prod(-p))


@model(signal.iirfilter)
def iirfilter(
    N: Any, Wn: Any, rp: Any = None, rs: Any = None, btype: Any = "band", analog: Any = False, ftype: Any = "butter",
    output: Any = "ba", fs: Any = None,
) -> Any:  # fmt: skip
    frequencies = np.asarray(Wn, float) if fs is None else np.asarray(Wn, float) / (fs / 2)
    warped = frequencies if analog else 4.0 * np.tan(np.pi * frequencies / 2.0)
    require_in_order(frequencies, analog)
    z, p, k = poles_and_zeros(N, rp, rs, ftype)
    if btype in _LOW:
        z, p, k = low_pass(z, p, k, np.sum(warped))
    elif btype in _HIGH:
        z, p, k = high_pass(z, p, k, np.sum(warped))
    elif btype in _BAND:
        z, p, k = band_pass(z, p, k, np.sqrt(warped[0] * warped[1]), warped[1] - warped[0])
    else:
        z, p, k = band_stop(z, p, k, np.sqrt(warped[0] * warped[1]), warped[1] - warped[0])
    if not analog:
        z, p, k = prewarped(z, p, k)
    if output == "zpk":
        return z, p, k
    return zpk2sos(z, p, k, analog=analog) if output == "sos" else zpk2tf(z, p, k)


@model(signal.butter)
def butter(N: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None) -> Any:
    return iirfilter(N, Wn, None, None, btype, analog, "butter", output, fs)


@model(signal.cheby1)
def cheby1(
    N: Any, rp: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None
) -> Any:
    return iirfilter(N, Wn, rp, None, btype, analog, "cheby1", output, fs)


@model(signal.cheby2)
def cheby2(
    N: Any, rs: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None
) -> Any:
    return iirfilter(N, Wn, None, rs, btype, analog, "cheby2", output, fs)


@model(signal.ellip)
def ellip(
    N: Any, rp: Any, rs: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", fs: Any = None
) -> Any:
    return iirfilter(N, Wn, rp, rs, btype, analog, "ellip", output, fs)


@model(signal.bessel)
def bessel(
    N: Any, Wn: Any, btype: Any = "low", analog: Any = False, output: Any = "ba", norm: Any = "phase", fs: Any = None
) -> Any:
    return iirfilter(N, Wn, None, None, btype, analog, "bessel_" + norm, output, fs)


@model(signal.zpk2tf)
def zpk2tf(z: Any, p: Any, k: Any) -> Any:
    require_rule(np.ndim(z) < 2, "zpk2tf of rows of zeros has no rule", "Call it for each row.")
    return k * np.poly(z), np.poly(p)


@model(signal.tf2zpk)
def tf2zpk(b: Any, a: Any) -> Any:
    above, below = np.trim_zeros(np.atleast_1d(b), "f"), np.trim_zeros(np.atleast_1d(a), "f")
    return np.roots(above), np.roots(below), above[0] / below[0]


def quadratic(r: Any, s: Any) -> Any:
    """The coefficients of a polynomial with two roots that are real, or one the conjugate of the other."""
    return np.stack((1.0 + 0.0 * np.real(r), -np.real(r + s), np.real(r * s)), axis=-1)


@model(signal.zpk2sos)
def zpk2sos(z: Any, p: Any, k: Any, pairing: Any = None, *, analog: Any = False) -> Any:
    require_rule(not analog, "Sections of an analog filter have no rule", "Use output='zpk' or 'ba'.")
    count = max(np.shape(z)[0], np.shape(p)[0])
    size = count + count % 2
    zeros = np.concatenate((np.asarray(z, complex), np.zeros(size - np.shape(z)[0])))
    poles = np.concatenate((np.asarray(p, complex), np.zeros(size - np.shape(p)[0])))
    at_zeros, at_poles = paired(zeros, poles, pairing)
    above = quadratic(zeros[at_zeros[:, 0]], zeros[at_zeros[:, 1]])
    below = quadratic(poles[at_poles[:, 0]], poles[at_poles[:, 1]])
    above = np.concatenate((k * above[:1], above[1:]))
    return np.concatenate((above, below), axis=1)


@model(signal.tf2sos)
def tf2sos(b: Any, a: Any, pairing: Any = None, *, analog: Any = False) -> Any:
    z, p, k = tf2zpk(b, a)
    return zpk2sos(z, p, k, pairing, analog=analog)


# --- filters of few coefficients ---


def narrow(w0: Any, Q: Any, fs: Any) -> Any:
    """The gain and the middle coefficient of a filter of one frequency."""
    w = 2 * np.pi * w0 / fs
    gain = 1.0 / (1.0 + np.tan(w / Q / 2.0))
    return gain, -2.0 * np.cos(w)


@model(signal.iirnotch)
def iirnotch(w0: Any, Q: Any, fs: Any = 2.0) -> Any:
    gain, middle = narrow(w0, Q, fs)
    return gain * np.array([1.0, middle, 1.0]), np.array([1.0, gain * middle, 2.0 * gain - 1.0])


@model(signal.iirpeak)
def iirpeak(w0: Any, Q: Any, fs: Any = 2.0) -> Any:
    gain, middle = narrow(w0, Q, fs)
    return (1.0 - gain) * np.array([1.0, 0.0, -1.0]), np.array([1.0, gain * middle, 2.0 * gain - 1.0])


@model(signal.firwin)
def firwin(
    numtaps: Any, cutoff: Any, *, window: Any = "hamming", pass_zero: Any = True, scale: Any = True, fs: Any = None
) -> Any:
    edges = np.atleast_1d(cutoff) if fs is None else np.atleast_1d(cutoff) / (0.5 * fs)
    first = pass_zero in (True, "bandstop", "lowpass")
    last = (np.size(edges) % 2 == 0) == first
    edges = np.concatenate((np.zeros(int(first)), edges, np.ones(int(last))))
    m = np.arange(numtaps) - 0.5 * (numtaps - 1)
    bands = np.reshape(edges, (-1, 2, 1))
    h = np.sum(bands[:, 1] * np.sinc(bands[:, 1] * m) - bands[:, 0] * np.sinc(bands[:, 0] * m), axis=0)
    h = h * window_of(window, numtaps)
    if not scale:
        return h
    if first:
        return h / np.sum(h)
    middle = 1.0 if np.size(edges) == 2 and last else 0.5 * (edges[0] + edges[1])
    return h / np.sum(h * np.cos(np.pi * m * middle))


# --- filters that are applied ---


@model(signal.lfilter_zi)
def lfilter_zi(b: Any, a: Any) -> Any:
    above, below = np.atleast_1d(b), np.trim_zeros(np.atleast_1d(a), "f")
    n = max(np.shape(above)[0], np.shape(below)[0])
    scale = below[0]
    above = np.concatenate((above / scale, np.zeros(n - np.shape(above)[0])))
    below = np.concatenate((below / scale, np.zeros(n - np.shape(below)[0])))
    return np.linalg.solve(np.eye(n - 1) - np.transpose(linalg.companion(below)), above[1:] - below[1:] * above[0])


@model(signal.deconvolve)
def deconvolve(signal: Any, divisor: Any) -> Any:
    above, below = np.atleast_1d(signal), np.atleast_1d(divisor)
    count = np.shape(above)[0] - np.shape(below)[0] + 1
    if count < 1:
        return [], above
    pulse = np.concatenate((np.ones(1), np.zeros(count - 1)))
    found = lfilter(above, below, pulse)
    return found, above - convolve(below, found)


@model(signal.order_filter)
def order_filter(a: Any, domain: Any, rank: Any) -> Any:
    return ndimage.rank_filter(a, rank, footprint=domain, mode="constant")


@model(signal.wiener)
def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Any:
    image = np.asarray(im)
    sizes = (3,) * np.ndim(image) if mysize is None else tuple(np.broadcast_to(mysize, (np.ndim(image),)))
    ones = np.ones(sizes) / np.prod(sizes)
    mean = signal.correlate(image, ones, "same")
    spread = signal.correlate(image**2, ones, "same") - mean**2
    level = np.mean(spread) if noise is None else noise
    return np.where(spread < level, mean, mean + (image - mean) * (1 - level / spread))


@model(signal.hilbert2)
def hilbert2(x: Any, N: Any = None, axes: Any = (-2, -1)) -> Any:
    spectrum = np.fft.fft2(np.asarray(x), None if N is None else tuple(np.broadcast_to(N, (2,))), axes=axes)
    return np.fft.ifft2(spectrum * spectrum_weights(spectrum, axes), axes=axes)


@model(signal.vectorstrength)
def vectorstrength(events: Any, period: Any) -> Any:
    angles = 2 * np.pi / np.expand_dims(np.asarray(period), -1) * np.asarray(events)
    sines, cosines = np.mean(np.sin(angles), axis=-1), np.mean(np.cos(angles), axis=-1)
    return np.hypot(sines, cosines), np.arctan2(sines, cosines)


@model(signal.lombscargle)
def lombscargle(
    x: Any, y: Any, freqs: Any, *, normalize: Any = False, weights: Any = None, floating_mean: Any = False
) -> Any:
    t, values = np.asarray(x, float), np.expand_dims(np.asarray(y, float), -1)
    w = np.ones(np.shape(t)) if weights is None else np.asarray(weights, float)
    w = np.expand_dims(w / np.sum(w), -1)
    angles = np.outer(t, np.asarray(freqs, float))
    sine, cosine = moments(w, np.cos(angles), np.sin(angles), floating_mean)
    shift = 0.5 * np.arctan2(sine, cosine)
    c, s = np.cos(angles - shift), np.sin(angles - shift)
    if floating_mean:
        mean = np.sum(w * values)
        first, second = np.sum(w * c, axis=0), np.sum(w * s, axis=0)
        by_c, by_s = np.sum(w * values * c, axis=0) - mean * first, np.sum(w * values * s, axis=0) - mean * second
        of_c = np.sum(w * c * c, axis=0) - first**2
        of_s = 1.0 - np.sum(w * c * c, axis=0) - second**2
        power = np.sum(w * values * values) - mean**2
    else:
        by_c, by_s = np.sum(w * values * c, axis=0), np.sum(w * values * s, axis=0)
        of_c = np.sum(w * c * c, axis=0)
        of_s = 1.0 - of_c
        power = np.sum(w * values * values)
    of_c, of_s = np.maximum(of_c, _LEAST), np.maximum(of_s, _LEAST)
    if normalize == "amplitude":
        return np.squeeze((by_c / of_c + 1j * (by_s / of_s)) * np.exp(1j * shift))
    found = np.squeeze(2.0 * (by_c * by_c / of_c + by_s * by_s / of_s))
    if normalize in (True, "normalize"):
        return found * (0.5 / power)
    return found * (np.shape(t)[0] / 4.0)


_LEAST = 1.1102230246251565e-16


def moments(w: Any, c: Any, s: Any, floating_mean: Any) -> Any:
    """What twice the sine and the cosine of twice the phase of a period are in proportion to."""
    both, squares = np.sum(w * c * s, axis=0), np.sum(w * c * c, axis=0)
    if floating_mean:
        first, second = np.sum(w * c, axis=0), np.sum(w * s, axis=0)
        return 2.0 * (both - first * second), 2 * squares - 1.0 - first**2 + second**2
    return 2.0 * both, 2 * squares - 1.0
