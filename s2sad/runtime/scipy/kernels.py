"""Radial basis functions, and interpolants of them that are constants."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError

Array = Any

_SCALE_INVARIANT = ("linear", "thin_plate_spline", "cubic", "quintic")
_DEGREES = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}


def radial(s: Array, kernel: str, order: int = 0) -> Array:
    """A derivative of a radial basis function by the square of the distance.

    It is zero at no distance where it is not finite: there stands the distance of a point to itself.

    Example:
        >>> radial(np.array([0.0, 4.0]), "linear")
        array([-0., -2.])
    """
    s = np.asarray(s, float)
    if kernel in ("linear", "cubic", "quintic"):
        power = {"linear": 0.5, "cubic": 1.5, "quintic": 2.5}[kernel]
        factor = math.prod([power - k for k in range(order)]) * (1.0 if kernel == "cubic" else -1.0)
        return factor * _power(s, power - order)
    if kernel == "thin_plate_spline":
        log = np.log(np.where(s > 0, s, 1.0))
        if order < 2:
            return np.where(s > 0, 0.5 * (s * log if order == 0 else log + 1), 0.0)
        return 0.5 * (-1) ** order * math.factorial(order - 2) * _power(s, 1.0 - order)
    if kernel == "gaussian":
        return (-1.0) ** order * np.exp(-s)
    power = {"multiquadric": 0.5, "inverse_multiquadric": -0.5, "inverse_quadratic": -1.0}[kernel]
    factor = math.prod([power - k for k in range(order)]) * (-1.0 if kernel == "multiquadric" else 1.0)
    return factor * (1 + s) ** (power - order)


def _power(s: Array, power: float) -> Array:
    return np.where(s > 0, np.where(s > 0, s, 1.0) ** power, 1.0 if power == 0 else 0.0)


def rbf_powers(places: Array, kernel: str, epsilon: Any, degree: Any, neighbors: Any) -> Array:
    """The exponents of the monomials of an interpolant, after what SciPy says of its options."""
    if neighbors is not None:
        raise UndefinedDerivativeError(
            "RBFInterpolator with neighbors has no derivative rule", "Leave neighbors out, or choose the points before."
        )
    if np.ndim(places) != 2:
        raise ValueError("`y` must be a 2-dimensional array.")
    if epsilon is None and kernel not in _SCALE_INVARIANT:
        raise ValueError(f"`epsilon` must be specified if `kernel` is not one of {set(_SCALE_INVARIANT)}.")
    dimensions = np.shape(places)[1]
    highest = max(_DEGREES.get(kernel, -1), 0) if degree is None else int(degree)
    rows = [
        np.bincount(which, minlength=dimensions)
        for total in range(highest + 1)
        for which in map(list, itertools.combinations_with_replacement(range(dimensions), total))
    ]
    return np.array(rows, int).reshape(len(rows), dimensions)


def distinct_places(xi: Array) -> Array:
    """The places of a polynomial through all points, of which none may stand twice: there derivatives are given."""
    if len(np.unique(xi)) < len(xi):
        raise UndefinedDerivativeError(
            "a polynomial through values and derivatives at one place has no derivative rule", "Use CubicHermiteSpline."
        )
    return xi


def rbf_frame(places: Array) -> tuple[Array, Array]:
    """The middle and half the extent of points: the interpolant is the same whatever these are."""
    low, high = np.min(places, axis=0), np.max(places, axis=0)
    scale = (high - low) / 2
    return (low + high) / 2, np.where(scale == 0, 1.0, scale)


def rbf_adjoint(g: Array, interpolant: Any, x: Array) -> Array:
    """Adjoint of ``x`` in ``interpolant(x)``, an ``RBFInterpolator`` that is constant."""
    slopes = rbf_slopes(interpolant, x).reshape(*np.shape(x), -1)
    return np.real(np.sum(np.reshape(g, (len(slopes), 1, -1)) * slopes, axis=-1))


def rbf_slopes(interpolant: Any, x: Array) -> Array:
    """The derivatives of ``interpolant(x)`` by the coordinates of each point."""
    if interpolant.neighbors is not None:
        raise UndefinedDerivativeError(
            "RBFInterpolator with neighbors has no derivative rule", "Leave neighbors out, or choose the points before."
        )
    x, count = np.asarray(x, float), len(interpolant.y)
    coefficients = np.asarray(interpolant._coeffs)
    apart = x[:, np.newaxis] - interpolant.y
    scale = interpolant.epsilon**2
    by_square = radial(scale * np.sum(apart**2, axis=-1), interpolant.kernel, 1)
    found = np.einsum("pn,pnd,ns->pds", 2 * scale * by_square, apart, coefficients[:count])
    moved = (x - interpolant._shift) / interpolant._scale
    powers = np.asarray(interpolant.powers)
    for axis in range(x.shape[1]):
        lower = powers.copy()
        lower[:, axis] = np.maximum(lower[:, axis] - 1, 0)
        slopes = powers[:, axis] * np.prod(moved[:, np.newaxis] ** lower, axis=-1) / interpolant._scale[axis]
        found[:, axis] += slopes @ coefficients[count:]
    if interpolant.d_dtype == np.complex128:
        found = found.view(complex)
    return found.reshape(*x.shape, *interpolant.d_shape)


def rbf_tangent(x_dot: Array, interpolant: Any, x: Array) -> Array:
    """Tangent of ``interpolant(x)``."""
    return np.einsum("pd,pd...->p...", np.broadcast_to(x_dot, np.shape(x)), rbf_slopes(interpolant, x))
