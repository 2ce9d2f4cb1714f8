"""What is constant in the design of a filter: prototypes, and which poles and zeros share a section."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

Array = Any
_NORMS = {"bessel": "phase", "bessel_phase": "phase", "bessel_delay": "delay", "bessel_mag": "mag"}


def require_in_order(frequencies: Array, analog: bool) -> None:
    """Raise an error unless the frequencies of a filter are those of one."""
    w = np.ravel(frequencies)
    if np.any(w <= 0) or (np.size(w) > 1 and not w[0] < w[1]) or (not analog and np.any(w >= 1)):
        raise ValueError("the frequencies of a filter have to be in order, above 0 and below half of that of its steps")


def window_of(window: Any, count: int) -> Array:
    """The weights of a symmetric window."""
    return signal.get_window(window, count, fftbins=False)


def poles_and_zeros(N: int, rp: float | None, rs: float | None, ftype: str) -> tuple[Array, Array, float]:
    """The zeros, poles and gain of the low pass of which a filter is made.

    Example:
        >>> poles_and_zeros(1, None, None, "butter")
        (array([], dtype=complex128), array([-1.-0.j]), 1.0)
    """
    if ftype in ("butter", "butterworth"):
        z, p, k = signal.buttap(N)
    elif ftype in _NORMS:
        z, p, k = signal.besselap(N, norm=_NORMS[ftype])
    elif ftype in ("cheby1", "chebyshev1", "chebyshevi"):
        z, p, k = signal.cheb1ap(N, rp)
    elif ftype in ("cheby2", "chebyshev2", "chebyshevii"):
        z, p, k = signal.cheb2ap(N, rs)
    else:
        z, p, k = signal.ellipap(N, rp, rs)
    return np.asarray(z, complex), np.asarray(p, complex), float(k)


def paired(zeros: Array, poles: Array, pairing: str | None) -> tuple[Array, Array]:
    """Which two zeros, and which two poles, each of the sections has that `scipy.signal.zpk2sos` makes."""
    sections = signal.zpk2sos(zeros, poles, 1.0, pairing)
    return _places(zeros, sections[:, :3]), _places(poles, sections[:, 3:])


def _places(roots: Array, quadratics: Array) -> Array:
    left = np.array(roots, complex)
    places = np.zeros((len(quadratics), 2), int)
    for row, coefficients in enumerate(quadratics):
        found = np.roots(coefficients)
        for column, root in enumerate([*found, *[0.0] * (2 - len(found))]):
            place = int(np.argmin(np.abs(left - root)))
            places[row, column] = place
            left[place] = np.inf
    return places


def spectrum_weights(spectrum: Array, axes: tuple[int, int]) -> Array:
    """The weights of a spectrum by which `scipy.signal.hilbert2` leaves its positive frequencies."""
    weights = np.ones(np.shape(spectrum))
    for axis in axes:
        n = np.shape(spectrum)[axis]
        row = np.zeros(n)
        row[: (n + 1) // 2] = 2.0
        row[0] = 1.0
        weights = weights * np.expand_dims(row, tuple(i for i in range(weights.ndim) if i != axis % weights.ndim))
    return weights
