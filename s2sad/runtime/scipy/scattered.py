"""Derivatives of interpolation between scattered points, linear on simplices or that of the nearest point.

On a simplex with corners ``p_i`` and values ``v_i`` the interpolant is ``sum(w_i * v_i)``, with the barycentric
coordinates ``w`` of the place.  Its gradient by the place is that of the plane through the corners, and by the corner
``p_i`` it is ``-w_i`` times that.  Outside of all simplices it is constant.  At an edge between two of them it has a
kink.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator

from s2sad.errors import UndefinedDerivativeError

Array = Any


def places_of(xi: Any) -> Array:
    """The places as rows, given as an array of them or as a tuple of their coordinates."""
    if isinstance(xi, tuple):
        return np.stack([np.ravel(part) for part in np.broadcast_arrays(*xi)], axis=-1)
    return np.reshape(xi, (-1, np.shape(xi)[-1]))


def corners(points: Any, xi: Any, method: str, rescale: bool) -> tuple[Array, Array]:
    """The numbers of the points whose values each place is made of, and ones for places that are inside of some."""
    points, places = np.asarray(points, float), np.asarray(places_of(xi), float)
    if points.ndim != 2 or points.shape[1] < 2:
        raise UndefinedDerivativeError(
            "griddata of points on a line has no derivative rule", "Use np.interp, or CubicSpline of scipy.interpolate."
        )
    if method == "nearest":
        found = NearestNDInterpolator(points, np.arange(len(points)), rescale=rescale)(places)
        return found.astype(int)[:, np.newaxis], np.ones(len(places))
    if method != "linear":
        raise UndefinedDerivativeError(
            f"griddata with method={method!r} has no derivative rule", "Use method='linear' or 'nearest'."
        )
    made = LinearNDInterpolator(points, np.zeros(len(points)), rescale=rescale)
    scaled = (places - points.mean(axis=0)) / np.ptp(points, axis=0) if rescale else places
    simplex = made.tri.find_simplex(scaled)
    return made.tri.simplices[simplex], np.where(simplex >= 0, 1.0, 0.0)


def _coordinates(points: Array, places: Array, vertices: Array) -> tuple[Array, Array]:
    """The barycentric coordinates of the places, and the edges of each simplex from its last corner."""
    at = points[vertices]
    edges = at[:, :-1] - at[:, -1:]
    first = np.linalg.solve(np.swapaxes(edges, 1, 2), (places - at[:, -1])[:, :, np.newaxis])[:, :, 0]
    return np.concatenate([first, 1 - np.sum(first, axis=1, keepdims=True)], axis=1), edges


def scattered_adjoints(
    z_bar: Array, points: Array, values: Array, xi: Any, method: str, rescale: bool
) -> tuple[Array, Array, Any]:
    """The adjoints of points, values and places in ``griddata(points, values, xi, method, rescale=rescale)``."""
    vertices, inside = corners(points, xi, method, rescale)
    points, places = np.asarray(points), places_of(xi)
    flat = np.reshape(values, (len(values), -1))
    g = np.where(inside[:, np.newaxis] > 0, np.reshape(np.real(z_bar), (len(places), -1)), 0.0)
    if method == "nearest":
        values_bar = _gathered(g[:, np.newaxis, :], vertices, len(flat))
        return np.zeros(points.shape), np.reshape(values_bar, np.shape(values)), _of_places(np.zeros(places.shape), xi)
    w, edges = _coordinates(points, places, vertices)
    values_bar = _gathered(w[:, :, np.newaxis] * g[:, np.newaxis, :], vertices, len(flat))
    rises = np.sum((flat[vertices[:, :-1]] - flat[vertices[:, -1:]]) * g[:, np.newaxis, :], axis=2)
    xi_bar = np.linalg.solve(edges, rises[:, :, np.newaxis])[:, :, 0]
    points_bar = _gathered(-w[:, :, np.newaxis] * xi_bar[:, np.newaxis, :], vertices, len(points))
    return points_bar, np.reshape(values_bar, np.shape(values)), _of_places(xi_bar, xi)


def _gathered(parts: Array, vertices: Array, count: int) -> Array:
    """The sums of the parts, of each place and corner, for each point."""
    whole = np.zeros((count, parts.shape[2]))
    np.add.at(whole, vertices, parts)
    return whole


def _of_places(xi_bar: Array, xi: Any) -> Any:
    """The adjoint of the places in the form in which they are given."""
    if not isinstance(xi, tuple):
        return np.reshape(xi_bar, np.shape(xi))
    shape = np.broadcast_shapes(*[np.shape(part) for part in xi])
    return [_summed(np.reshape(xi_bar[:, i], shape), np.shape(part)) for i, part in enumerate(xi)]


def _summed(g: Array, shape: tuple[int, ...]) -> Array:
    """The adjoint of what was broadcast."""
    g = np.sum(g, axis=tuple(range(g.ndim - len(shape))))
    return np.sum(g, axis=tuple([i for i, n in enumerate(shape) if n == 1 and g.shape[i] > 1]), keepdims=True)


def scattered_tangent(
    points_dot: Any, values_dot: Any, xi_dot: Any, points: Array, values: Array, xi: Any, method: str, rescale: bool
) -> Array:
    """The tangent of ``griddata(points, values, xi, method, rescale=rescale)``."""
    vertices, inside = corners(points, xi, method, rescale)
    points, places = np.asarray(points), places_of(xi)
    flat = np.reshape(values, (len(values), -1))
    moved = np.reshape(values_dot + np.zeros(np.shape(values)), flat.shape)
    if method == "nearest":
        found = moved[vertices[:, 0]]
    else:
        w, edges = _coordinates(points, places, vertices)
        going = places_of(xi_dot) if isinstance(xi_dot, tuple) else xi_dot + np.zeros(np.shape(places))
        going = np.reshape(going, places.shape)
        shifts = (points_dot + np.zeros(points.shape))[vertices]
        going = going - np.sum(w[:, :, np.newaxis] * shifts, axis=1)
        along = np.linalg.solve(edges, flat[vertices[:, :-1]] - flat[vertices[:, -1:]])
        found = np.sum(w[:, :, np.newaxis] * moved[vertices], axis=1) + np.sum(going[:, :, np.newaxis] * along, axis=1)
    found = np.where(inside[:, np.newaxis] > 0, found, 0.0)
    ahead = np.shape(xi)[:-1] if not isinstance(xi, tuple) else np.broadcast_shapes(*[np.shape(part) for part in xi])
    return np.reshape(found, (*ahead, *np.shape(values)[1:]))
