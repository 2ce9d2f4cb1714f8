"""Rules of ``scipy.interpolate``: smooth surfaces over a plane that are constants, at points and on grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, elementwise, operation, rule, sample
from s2sad.runtime.scipy.surfaces import basis_at, surface_adjoints, surface_at, surface_tangent

Array = Any

_ACROSS, _UP = np.arange(6.0), np.array([0.0, 0.7, 1.5, 2.6, 3.0])


def _surface() -> Any:
    return interpolate.RectBivariateSpline(_ACROSS, _UP, numbers(6, 5))


def _points() -> Sequence[Sample]:
    x, y = np.array([0.4, 2.3, 4.1]), np.array([0.3, 1.2, 2.8])
    return [sample(_surface(), x, y), sample(_surface(), 1.3, 0.4, 1), sample(_surface(), x, 0.9, 0, 1)]


@elementwise(
    interpolate.BivariateSpline.ev,
    name="scipy.interpolate.BivariateSpline.ev",
    wrt=["x", "y"],
    samples=_points,
    infer=infer.common.number_or_array,
    dtype="unknown",
    calls=(),
    aliases={"xi": "x", "yi": "y"},
)
def ev(self: Any, x: Array, y: Array, dx: int = 0, dy: int = 0) -> tuple[Array, Array]:
    return surface_at(self, x, y, dx, dy, 1, 0), surface_at(self, x, y, dx, dy, 0, 1)


@elementwise(surface_at, wrt=["x", "y"], samples=_points, infer=infer.common.number_or_array, dtype="unknown", calls=())
def surface_at_rule(
    surface: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, by_x: int = 0, by_y: int = 0
) -> tuple[Array, Array]:
    along_x, along_y = by_x + 1, by_y + 1
    return surface_at(surface, x, y, dx, dy, along_x, by_y), surface_at(surface, x, y, dx, dy, by_x, along_y)


def _grids() -> Sequence[Sample]:
    x, y = np.array([0.4, 2.3, 4.1]), np.array([0.3, 1.2])
    points = [sample(_surface(), x, y), sample(_surface(), 1.3, 0.4), sample(_surface(), x, 0.9, 1, 0)]
    return [*points, sample(_surface(), x, x / 2, grid=False), sample(_surface(), x, 0.6, 0, 1, False)]


def _call_jvp(
    x_dot: Array, y_dot: Array, self: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, grid: bool = True
) -> Array:
    return surface_tangent(x_dot, y_dot, self, x, y, dx, dy, grid)


@rule(
    interpolate.BivariateSpline.__call__,
    name="scipy.interpolate.BivariateSpline.__call__",
    wrt=["x", "y"],
    jvp=_call_jvp,
    samples=_grids,
    dtype="unknown",
    calls=(),
)
def call(
    z_bar: Array, self: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, grid: bool = True
) -> tuple[Array, Array]:
    x_bar, y_bar = surface_adjoints(z_bar, self, x, y, dx, dy, grid)
    return x_bar, y_bar


operation(surface_adjoints, surface_tangent, remedy="use .ev(x, y), which has derivatives of all orders")


def _bases() -> Sequence[Sample]:
    points = np.array([0.4, 2.3, 2.9])
    return [sample(_UP, 3, points), sample(_UP, 2, points.reshape(3, 1), 1), sample(_ACROSS, 3, 1.3)]


def _basis_jvp(points_dot: Array, places: Array, k: int, points: Array, order: int = 0, by: int = 0) -> Array:
    return basis_at(places, k, points, order, by + 1) * np.expand_dims(points_dot, -1)


@rule(basis_at, wrt=["points"], jvp=_basis_jvp, samples=_bases, dtype="unknown", calls=())
def basis_at_rule(z_bar: Array, places: Array, k: int, points: Array, order: int = 0, by: int = 0) -> Array:
    return np.sum(z_bar * basis_at(places, k, points, order, by + 1), axis=-1)
