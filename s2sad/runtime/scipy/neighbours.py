"""Distances to the nearest points of a tree that is a constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError

Array = Any


def distance_slopes(z: Any, tree: Any, x: Array, p: float) -> Array:
    """The derivatives of the distances that ``tree.query(x, p=p)`` gives, by the coordinates of the points."""
    if p != 2:
        raise UndefinedDerivativeError(f"query with p={p} has no derivative rule", "Use p=2.")
    distances, places = np.asarray(z[0]), np.asarray(z[1])
    points = np.reshape(np.asarray(x, float), np.shape(x)[:-1] + (1,) * (distances.ndim - np.ndim(x) + 1) + (-1,))
    found = places < len(tree.data)
    apart = np.where(found[..., np.newaxis], points - tree.data[np.where(found, places, 0)], 0.0)
    whole = np.where(found & (distances > 0), distances, 1.0)
    return apart / whole[..., np.newaxis]


def query_adjoint(z_bar: Any, z: Any, tree: Any, x: Array, p: float) -> Array:
    """The adjoint of the points in ``tree.query(x, p=p)``."""
    moved = np.expand_dims(z_bar[0], -1) * distance_slopes(z, tree, x, p)
    return np.sum(moved, axis=-2) if moved.ndim > np.ndim(x) else moved


def query_tangent(x_dot: Array, z: Any, tree: Any, x: Array, p: float) -> tuple[Array, int]:
    """The tangent of ``tree.query(x, p=p)``."""
    slopes = distance_slopes(z, tree, x, p)
    x_dot = np.broadcast_to(x_dot, np.shape(x))
    x_dot = np.expand_dims(x_dot, -2) if slopes.ndim > np.ndim(x) else x_dot
    return np.sum(slopes * x_dot, axis=-1), 0
