"""Running integrals over samples of ``scipy.integrate``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2sad.ops.models import model


def firsts(y: Any, h: Any) -> Any:
    """The integrals over the first of two neighbouring intervals, of the parabola through their three samples."""
    first, second = h[..., :-1], h[..., 1:]
    whole, ratio = first + second, first / second
    share = first / whole
    left, middle = (3 - share) * y[..., :-2], (3 + ratio * share + share) * y[..., 1:-1]
    return first / 6 * (left + middle - ratio * share * y[..., 2:])


@model(integrate.cumulative_simpson)
def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> Any:
    values = np.moveaxis(np.asarray(y), axis, -1)
    count = np.shape(values)[-1]
    if x is None:
        steps = np.moveaxis(np.broadcast_to(dx, np.shape(y)), axis, -1)[..., 1:]
    else:
        steps = np.diff(np.asarray(x) if np.ndim(x) == 1 else np.moveaxis(np.asarray(x), axis, -1))
        if np.any(steps <= 0):
            raise ValueError("Input x must be strictly increasing.")
        steps = np.broadcast_to(steps, np.shape(values[..., 1:]))
    if count < 3:
        parts = steps * (values[..., 1:] + values[..., :-1]) / 2
    else:
        forwards = firsts(values, steps)
        backwards = firsts(values[..., ::-1], steps[..., ::-1])[..., ::-1]
        parts = np.concatenate([forwards, backwards[..., -1:]], axis=-1)
        parts[..., 1::2] = backwards[..., ::2]
    sums = np.cumsum(parts, axis=-1)
    if initial is None:
        return np.moveaxis(sums, -1, axis)
    start = np.moveaxis(np.broadcast_to(initial, np.shape(y)), axis, -1)[..., :1]
    return np.moveaxis(np.concatenate([start, sums + start], axis=-1), -1, axis)
