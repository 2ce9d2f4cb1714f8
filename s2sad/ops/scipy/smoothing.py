"""Rules of what models of splines that are fitted to data compute with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, linear, rule, sample
from s2sad.runtime.scipy.smoothing import (
    closest_adjoint,
    closest_adjoints,
    closest_coefficients,
    closest_tangent,
    smoothing_adjoint,
    smoothing_adjoints,
    smoothing_coefficients,
    smoothing_knots,
    smoothing_tangent,
    spline_integral,
    spline_integrals,
    spline_value,
)

Array = Any

constant(smoothing_knots, signature=lambda x, w, lam: None)

_PLACES = np.array([0.0, 0.7, 1.5, 2.1, 3.2, 4.0, 4.6])
_KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 2.3, 4.6, 4.6, 4.6, 4.6])


def _smoothed() -> Sequence[Sample]:
    weights = np.arange(1.0, 8.0)
    wide = sample(numbers(7, 2), _PLACES, weights, 0.2)
    return [sample(numbers(7), _PLACES, None, 0.3), sample(numbers(7), _PLACES, weights, 0.1), wide]


def _smoothed_jvp(y_dot: Array, w_dot: Array, lam_dot: Array, z: Array, y: Array, x: Array, w: Any, lam: Any) -> Array:
    return smoothing_tangent(y_dot, w_dot, lam_dot, z, y, x, w, lam)


@rule(smoothing_coefficients, wrt=["y", "w", "lam"], jvp=_smoothed_jvp, samples=_smoothed, dtype="unknown")
def smoothing_rule(z: Array, z_bar: Array, y: Array, x: Array, w: Any, lam: Any) -> tuple[Array, Array, Array]:
    y_bar, w_bar, lam_bar = smoothing_adjoints(z_bar, z, y, x, w, lam)
    return y_bar, w_bar, lam_bar


@linear(
    smoothing_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(9), _PLACES, None, 0.3)],
    dtype="unknown",
)
def smoothing_adjoint_rule(z_bar: Array, g: Array, x: Array, w: Any, lam: Any) -> Array:
    return smoothing_coefficients(z_bar, x, w, lam)


def _closest() -> Sequence[Sample]:
    weights = np.arange(1.0, 8.0)
    points = [sample(numbers(7), _PLACES, _KNOTS, 3, None), sample(numbers(7, 2), _PLACES, _KNOTS, 3, weights)]
    return [*points, sample(numbers(7), _PLACES, _KNOTS, 3, weights)]


def _closest_jvp(y_dot: Array, w_dot: Array, z: Array, y: Array, x: Array, t: Array, k: int, w: Any) -> Array:
    return closest_tangent(y_dot, w_dot, z, y, x, t, k, w)


@rule(closest_coefficients, wrt=["y", "w"], jvp=_closest_jvp, samples=_closest, dtype="unknown")
def closest_rule(z: Array, z_bar: Array, y: Array, x: Array, t: Array, k: int, w: Any) -> tuple[Array, Array]:
    y_bar, w_bar = closest_adjoints(z_bar, z, y, x, t, k, w)
    return y_bar, w_bar


@linear(
    closest_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(5), _PLACES, _KNOTS, 3, None), sample(numbers(5, 2), _PLACES, _KNOTS, 3, None)],
    dtype="unknown",
)
def closest_adjoint_rule(z_bar: Array, g: Array, x: Array, t: Array, k: int, w: Any) -> Array:
    return closest_coefficients(z_bar, x, t, k, w)


def _integrals() -> Sequence[Sample]:
    t, c, k = interpolate.splrep(_PLACES, numbers(7))
    return [sample(0.4, 3.1, t, c, k), sample(-1.0, 2.0, t, c, k), sample(3.0, 1.0, t, c, k)]


def _integral_jvp(a_dot: Array, b_dot: Array, c_dot: Array, a: Array, b: Array, t: Array, c: Array, k: int) -> Array:
    bounds = b_dot * spline_value(b, t, c, k) - a_dot * spline_value(a, t, c, k)
    return bounds + np.sum(c_dot * spline_integrals(a, b, t, c, k))


@rule(spline_integral, wrt=["a", "b", "c"], jvp=_integral_jvp, samples=_integrals, dtype="unknown")
def integral_rule(z_bar: Array, a: Array, b: Array, t: Array, c: Array, k: int) -> tuple[Array, Array, Array]:
    return (
        -z_bar * spline_value(a, t, c, k),
        z_bar * spline_value(b, t, c, k),
        z_bar * spline_integrals(a, b, t, c, k),
    )
