"""Derivatives of values of smooth surfaces of SciPy's that are constants, at points and on grids."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.runtime.arrays import unbroadcast

Array = Any


def surface_at(surface: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, by_x: int = 0, by_y: int = 0) -> Array:
    """``surface.ev(x, y, dx, dy)``, differentiated ``by_x`` and ``by_y``, to orders that FITPACK refuses too.

    Outside of its rectangle a surface has the values of its edge, so it does not change with what is outside.
    """
    return _inside(_values(surface, x, y, dx + by_x, dy + by_y), surface, x, y, by_x, by_y)[()]


def surface_on(surface: Any, x: Array, y: Array, dx: int, dy: int, grid: bool, by_x: int = 0, by_y: int = 0) -> Array:
    """``surface(x, y, dx, dy, grid)``, likewise."""
    if grid:
        x, y = np.reshape(x, (-1, 1)), np.reshape(y, (1, -1))
    return surface_at(surface, x, y, dx, dy, by_x, by_y)


def _values(surface: Any, x: Array, y: Array, dx: int, dy: int) -> Array:
    """The values of a surface or of its derivatives, at the edge for points outside."""
    if dx < surface.degrees[0] and dy < surface.degrees[1]:
        return np.asarray(surface.ev(x, y, dx, dy))
    x, y = np.broadcast_arrays(x, y)
    across, up = (
        interpolate.BSpline(t, np.eye(len(t) - k - 1), k)(np.clip(np.ravel(at), t[0], t[-1]), order)
        for t, k, at, order in zip(surface.tck[:2], surface.degrees, (x, y), (dx, dy), strict=True)
    )
    heights = np.reshape(surface.tck[2], (across.shape[1], up.shape[1]))
    return np.reshape(np.sum(across @ heights * up, axis=1), x.shape)


def _inside(values: Array, surface: Any, x: Array, y: Array, by_x: int, by_y: int) -> Array:
    """``values``, or zero for points outside, in a direction by which they were differentiated."""
    for t, at, order in zip(surface.tck[:2], (x, y), (by_x, by_y), strict=True):
        if order:
            values = np.where(np.less(at, t[0]) | np.greater(at, t[-1]), 0.0, values)
    return values


def surface_adjoints(
    g: Array, surface: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, grid: bool = True
) -> tuple[Array, Array]:
    """The adjoints of the points in ``surface(x, y, dx, dy, grid)``."""
    by_x, by_y = (g * surface_on(surface, x, y, dx, dy, grid, *by) for by in ((1, 0), (0, 1)))
    if grid:
        return np.reshape(np.sum(by_x, axis=1), np.shape(x)), np.reshape(np.sum(by_y, axis=0), np.shape(y))
    return unbroadcast(by_x, np.shape(x)), unbroadcast(by_y, np.shape(y))


def surface_tangent(
    x_dot: Array, y_dot: Array, surface: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, grid: bool = True
) -> Array:
    """The tangent of ``surface(x, y, dx, dy, grid)``."""
    x_dot, y_dot = np.broadcast_to(x_dot, np.shape(x)), np.broadcast_to(y_dot, np.shape(y))
    if grid:
        x_dot, y_dot = np.reshape(x_dot, (-1, 1)), np.reshape(y_dot, (1, -1))
    by_x, by_y = (surface_on(surface, x, y, dx, dy, grid, *by) for by in ((1, 0), (0, 1)))
    return x_dot * by_x + y_dot * by_y


def basis_at(places: Array, k: int, points: Array, order: int = 0, by: int = 0) -> Array:
    """The weights of the values at ``places`` in a spline of degree ``k`` through them, along a new last axis.

    They are those of its derivative of an ``order``, differentiated ``by`` the points: outside of the places it has
    the values of its ends, and does not change.

    Example:
        >>> basis_at(np.arange(3.0), 1, np.array([0.25, 4.0]))
        array([[0.75, 0.25, 0.  ],
               [0.  , 0.  , 1.  ]])
    """
    spline = interpolate.make_interp_spline(places, np.eye(len(places)), k)
    values = spline(np.clip(points, places[0], places[-1]), order + by)
    if not by:
        return values
    inside = np.greater_equal(points, places[0]) & np.less_equal(points, places[-1])
    return values * np.expand_dims(inside, -1)
