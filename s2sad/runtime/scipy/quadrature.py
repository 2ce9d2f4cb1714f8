"""Derivatives of the sums over samples in ``scipy.integrate``."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import integrate

from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import ratio


def _distances(y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The distances between neighbours along the last axis; one number where there are no positions."""
    if x is None:
        single = getattr(y, "dtype", None) in (np.float32, np.complex64) and isinstance(dx, (int, float))
        return np.asarray(dx, np.float32 if single else None)
    x = np.asarray(x)
    steps = np.diff(x) if x.ndim == 1 else np.diff(np.moveaxis(x, axis, -1))
    # SciPy subtracts integers as they are, too.
    return steps.astype(float) if steps.dtype.kind in "biu" else steps


# --- Simpson's rule


def simpson_weights(h: Any, count: int) -> Any:
    """The weights of ``count`` values at distances ``h`` in ``integrate.simpson``, along the last axis.

    Source: K. V. Cartwright, "Simpson's rule cumulative integration with MS Excel and irregularly-spaced data", Journal
    of Mathematical Sciences and Mathematics Education 12 (2017), for the last interval of an odd number of them.
    """
    h = np.broadcast_to(h, (*np.shape(h)[:-1], count - 1))
    weights = np.zeros((*h.shape[:-1], count), np.result_type(h, np.float32) if h.dtype.kind == "f" else float)
    if count == 2:
        return weights + h / 2
    end = count - 1 if count % 2 else count - 2
    first, second = h[..., 0:end:2], h[..., 1:end:2]
    both = first + second
    weights[..., 0:end:2] += both / 6 * (2 - ratio(second, first))
    weights[..., 1:end:2] += ratio(both**3, 6 * first * second)
    weights[..., 2 : end + 1 : 2] += both / 6 * (2 - ratio(first, second))
    if count % 2 == 0:
        before, last = h[..., -2], h[..., -1]
        weights[..., -1] += (2 * last**2 + 3 * before * last) / (6 * (before + last))
        weights[..., -2] += (last**2 + 3 * before * last) / (6 * before)
        weights[..., -3] -= last**3 / (6 * before * (before + last))
    return weights


def simpson_adjoint(g: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Adjoint of ``y`` in ``integrate.simpson(y, x, dx=dx, axis=axis)``."""
    weights = simpson_weights(_distances(y, x, dx, axis), np.shape(y)[axis])
    return np.moveaxis(np.expand_dims(g, -1) * weights, -1, axis)


def _parabola_slopes(y: Any, h: Any) -> Any:
    """The derivatives by the distances ``h`` of Simpson's rule over pairs of them; ``y`` has one column more."""
    y0, y1, y2, h0, h1 = y[..., :-1:2], y[..., 1::2], y[..., 2::2], h[..., ::2], h[..., 1::2]
    s = h0 + h1
    left, middle, right = 2 - h1 / h0, s**2 / (h0 * h1), 2 - h0 / h1
    whole = (y0 * left + y1 * middle + y2 * right) / 6
    found = np.empty(np.broadcast_shapes(y[..., 1:].shape, h.shape), np.result_type(y, h, 1.0))
    found[..., ::2] = whole + s / 6 * (y0 * h1 / h0**2 + y1 * middle * (2 / s - 1 / h0) - y2 / h1)
    found[..., 1::2] = whole + s / 6 * (-y0 / h0 + y1 * middle * (2 / s - 1 / h1) + y2 * h0 / h1**2)
    return found


def _last_slopes(y: Any, h0: Any, h1: Any) -> tuple[Any, Any]:
    """The derivatives by the last two distances of the part between the last two samples."""
    y0, y1, y2, s = y[..., -3], y[..., -2], y[..., -1], h0 + h1
    first = y2 * h1**2 / s**2 - y1 * h1**2 / h0**2 + y0 * h1**3 * (s + h0) / (h0 * s) ** 2
    second = y2 * ((4 * h1 + 3 * h0) / s - h1 * (2 * h1 + 3 * h0) / s**2)
    second = second + y1 * (2 * h1 + 3 * h0) / h0 - y0 * h1**2 * (3 * s - h1) / (h0 * s**2)
    return first / 6, second / 6


def simpson_slopes(y: Any, x: Any, axis: int) -> Any:
    """The derivatives of ``integrate.simpson(y, x, axis=axis)`` by the points, in the shape of ``y``."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    h = np.diff(np.asarray(x, float) if np.ndim(x) == 1 else np.moveaxis(np.asarray(x, float), axis, -1))
    count = y.shape[-1]
    slopes = np.zeros(y[..., 1:].shape, np.result_type(y, h))
    if count == 2:
        slopes[..., 0] = (y[..., 0] + y[..., 1]) / 2
    elif count > 2:
        pairs = count - 1 - (count + 1) % 2
        slopes[..., :pairs] = _parabola_slopes(y[..., : pairs + 1], h[..., :pairs])
        if count % 2 == 0:
            first, second = _last_slopes(y, h[..., -2], h[..., -1])
            slopes[..., -2] += first
            slopes[..., -1] += second
    found = np.zeros(y.shape, slopes.dtype)
    found[..., 1:] = slopes
    found[..., :-1] -= slopes
    return np.moveaxis(found, -1, axis)


def simpson_by_points(z_bar: Any, y: Any, x: Any, axis: int) -> Any:
    """Adjoint of ``x`` in ``integrate.simpson(y, x, axis=axis)``, or None where there are no points."""
    if x is None:
        return None
    whole = np.moveaxis(np.expand_dims(z_bar, axis) * simpson_slopes(y, x, axis), axis, -1)
    return unbroadcast(whole, np.shape(x)) if np.ndim(x) == 1 else np.moveaxis(whole, -1, axis)


def simpson_tangent(y_dot: Any, x_dot: Any, dx_dot: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Tangent of ``integrate.simpson(y, x, dx=dx, axis=axis)``."""
    z_dot = integrate.simpson(y_dot + np.zeros(np.shape(y)), x, dx=dx, axis=axis)
    if x is None:
        return z_dot + dx_dot * integrate.simpson(y, dx=1.0, axis=axis)
    with np.errstate(divide="ignore", invalid="ignore"):  # of points that are given twice
        moved = np.moveaxis(simpson_slopes(y, x, axis), axis, -1)
    x_dot = np.broadcast_to(x_dot, np.shape(x))
    x_dot = x_dot if np.ndim(x) == 1 else np.moveaxis(x_dot, axis, -1)
    return z_dot + np.sum(np.where(x_dot == 0, 0, moved) * x_dot, axis=-1)


# --- running sums of trapezoids


def cumulative_trapezoid_adjoints(
    z_bar: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: float | None = None
) -> tuple[Any, Any, Any]:
    """Adjoints of ``y``, ``x`` and ``dx`` in ``integrate.cumulative_trapezoid(y, x, dx, axis, initial)``."""
    values, g = np.moveaxis(np.asarray(y), axis, -1), np.moveaxis(z_bar, axis, -1)
    # The adjoint of each trapezoid: it is in its sum and in all that follow.
    each = np.cumsum(g[..., :0:-1] if initial is not None else g[..., ::-1], axis=-1)[..., ::-1]
    half = each * _distances(y, x, dx, axis) / 2
    y_bar = np.zeros(values.shape, half.dtype)
    y_bar[..., 1:] = half
    y_bar[..., :-1] += half
    h_bar = each * (values[..., 1:] + values[..., :-1]) / 2
    y_bar = np.moveaxis(y_bar, -1, axis)
    if x is None:
        return y_bar, None, unbroadcast(h_bar, np.shape(dx))
    x_bar = np.zeros(values.shape, h_bar.dtype)
    x_bar[..., 1:] = h_bar
    x_bar[..., :-1] -= h_bar
    if np.ndim(x) > 1:
        x_bar = np.moveaxis(x_bar, -1, axis)
    return y_bar, unbroadcast(x_bar, np.shape(x)), 0.0


def cumulative_trapezoid_tangent(
    y_dot: Any,
    x_dot: Any,
    dx_dot: Any,
    y: Any,
    x: Any = None,
    dx: Any = 1.0,
    axis: int = -1,
    initial: float | None = None,
) -> Any:
    """Tangent of ``integrate.cumulative_trapezoid(y, x, dx, axis, initial)``."""
    z_dot = integrate.cumulative_trapezoid(y_dot + np.zeros(np.shape(y)), x, dx, axis, initial)
    if x is None:
        return z_dot + integrate.cumulative_trapezoid(y, None, dx_dot, axis, initial)
    return z_dot + integrate.cumulative_trapezoid(y, x_dot + np.zeros(np.shape(x)), dx, axis, initial)


# --- Romberg's rule


@functools.lru_cache(maxsize=16)
def _romb_weights(count: int) -> Any:
    weights = integrate.romb(np.eye(count), axis=0)
    weights.setflags(write=False)
    return weights


def romb_weights(count: int) -> Any:
    """The weights of ``count`` values at distance 1 in ``integrate.romb``.

    >>> romb_weights(3)
    array([0.33333333, 1.33333333, 0.33333333])
    """
    return _romb_weights(count)
