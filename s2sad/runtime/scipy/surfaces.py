"""Derivatives of values of smooth surfaces of SciPy's that are constants, at points and on grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime.arrays import unbroadcast

Array = Any


def surface_at(surface: Any, x: Array, y: Array, dx: int = 0, dy: int = 0) -> Array:
    """``surface.ev(x, y, dx, dy)``."""
    return surface.ev(x, y, dx, dy)


def surface_adjoints(
    g: Array, surface: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, grid: bool = True
) -> tuple[Array, Array]:
    """The adjoints of the points in ``surface(x, y, dx, dy, grid)``."""
    by_x, by_y = g * surface(x, y, dx + 1, dy, grid), g * surface(x, y, dx, dy + 1, grid)
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
    return x_dot * surface(x, y, dx + 1, dy, grid) + y_dot * surface(x, y, dx, dy + 1, grid)
