"""Integrals of Carlson's kind with any powers: all derivatives of elliptic integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime.scipy_special import narrowed

Array = Any
#: The trapezoidal rule in the logarithm converges exponentially: the nearest singularity is at a distance of pi.
_STEP, _FROM, _TO = 0.45, -95.0, 75.0


def carlson(a: float, b: float, c: float, x: Array, y: Array, w: Array) -> Array:
    """The integral over ``t`` from 0 to infinity of ``(t + x)**-a * (t + y)**-b * (t + w)**-c``.

    Example:
        >>> from scipy import special
        >>> float(carlson(0.5, 0.5, 1.5, 0.3, 1.2, 0.7) * 1.5 / special.elliprd(0.3, 1.2, 0.7)).__round__(12)
        1.0
    """
    places = [np.asarray(place, float) for place in (x, y, w)]
    powers = (a, b, c)
    with np.errstate(all="ignore"):
        logs = [np.log(np.where(place > 0, place, np.nan)) for place in places]
        shape = np.broadcast_shapes(*[np.shape(place) for place in places])
        centre = np.nanmean(np.stack([np.broadcast_to(log, shape) for log in logs]), axis=0)
        total = np.zeros(shape)
        for u in np.arange(_FROM, _TO, _STEP):
            t = np.exp(u + centre)
            parts = [np.log(t + place) * power for power, place in zip(powers, places, strict=True)]
            total = total + np.exp(u + centre - sum(parts))
        total = _STEP * total
        for power, place in zip(powers, places, strict=True):
            total = np.where(place < 0, np.nan, np.where((place == 0) & (power >= 1), np.inf, total))
    return narrowed(total, x, y, w)


def ellipkinc_dmm(phi: Array, m: Array) -> Array:
    """The second derivative of ``ellipkinc(phi, m)`` by ``m``."""
    turns, s, c = _turned(phi)
    part = 0.375 * s**5 * carlson(0.5, 0.5, 2.5, c**2, 1.0, 1 - m * s**2)
    return narrowed(part + _whole(turns, 0.75 * carlson(0.5, 0.5, 2.5, 0.0, 1.0, 1 - np.asarray(m))), phi, m)


def ellipeinc_dmm(phi: Array, m: Array) -> Array:
    """The second derivative of ``ellipeinc(phi, m)`` by ``m``."""
    turns, s, c = _turned(phi)
    part = -0.125 * s**5 * carlson(0.5, 1.5, 1.5, c**2, 1 - m * s**2, 1.0)
    return narrowed(part - _whole(turns, 0.25 * carlson(0.5, 1.5, 1.5, 0.0, 1 - np.asarray(m), 1.0)), phi, m)


def _turned(phi: Array) -> tuple[Array, Array, Array]:
    turns = np.round(np.asarray(phi) / np.pi)
    return turns, np.sin(phi - np.pi * turns), np.cos(phi - np.pi * turns)


def _whole(turns: Array, half: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(turns == 0, 0.0, turns * half)
