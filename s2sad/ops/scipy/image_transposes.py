"""Rules of the transposes of the filters of ``scipy.ndimage``, so that their adjoints can be differentiated again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import ndimage

from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, linear, sample
from s2sad.runtime.scipy.image_splines import spline_adjoint, splines_adjoint
from s2sad.runtime.scipy.images import (
    correlate1d_adjoint,
    edges,
    edges_adjoint,
    gaussian1d_adjoint,
    gaussian_adjoint,
    laplace_adjoint,
    uniform1d_adjoint,
    uniform_adjoint,
)

Array = Any


def _rows() -> Sequence[Sample]:
    g, w = numbers(4, 6), numbers(3, seed=1)
    points = [sample(g, w, -1, mode) for mode in ("reflect", "constant", "nearest", "mirror", "wrap")]
    return [*points, sample(g, numbers(4), 0, "reflect", -1)]


@linear(correlate1d_adjoint, wrt=["g"], samples=_rows, dtype="unknown")
def correlate1d_adjoint_rule(
    z_bar: Array, g: Array, weights: Array, axis: int = -1, mode: str = "reflect", origin: int = 0
) -> Array:
    return ndimage.correlate1d(z_bar, weights, axis, None, mode, 0.0, origin)


@linear(
    gaussian1d_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(9), 1.2), sample(numbers(3, 7), 0.8, 1, 1, "wrap", 3.0)],
    dtype="unknown",
)
def gaussian1d_adjoint_rule(
    z_bar: Array,
    g: Array,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    mode: str = "reflect",
    truncate: float = 4.0,
    radius: int | None = None,
) -> Array:
    return ndimage.gaussian_filter1d(z_bar, sigma, axis, order, None, mode, 0.0, truncate, radius=radius)


@linear(
    gaussian_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(5, 6), 1.1), sample(numbers(4, 5), (0.7, 1.2), (1, 0), ["wrap", "mirror"], 3.0)],
    dtype="unknown",
)
def gaussian_adjoint_rule(
    z_bar: Array,
    g: Array,
    sigma: Any,
    order: Any = 0,
    mode: Any = "reflect",
    truncate: float = 4.0,
    radius: Any = None,
    axes: Any = None,
) -> Array:
    return ndimage.gaussian_filter(z_bar, sigma, order, None, mode, 0.0, truncate, radius=radius, axes=axes)


@linear(
    uniform1d_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(7), 3), sample(numbers(3, 6), 4, 1, "wrap", -1)],
    dtype="unknown",
)
def uniform1d_adjoint_rule(
    z_bar: Array, g: Array, size: int, axis: int = -1, mode: str = "reflect", origin: int = 0
) -> Array:
    return ndimage.uniform_filter1d(z_bar, size, axis, None, mode, 0.0, origin)


@linear(
    uniform_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(5, 6)), sample(numbers(4, 5), (2, 3), ["wrap", "mirror"], (0, 1))],
    dtype="unknown",
)
def uniform_adjoint_rule(
    z_bar: Array, g: Array, size: Any = 3, mode: Any = "reflect", origin: Any = 0, axes: Any = None
) -> Array:
    return ndimage.uniform_filter(z_bar, size, None, mode, 0.0, origin, axes=axes)


@linear(
    laplace_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(5, 6)), sample(numbers(4, 5), "wrap")],
    dtype="unknown",
)
def laplace_adjoint_rule(z_bar: Array, g: Array, mode: Any = "reflect", axes: Any = None) -> Array:
    return ndimage.laplace(z_bar, None, mode, 0.0, axes=axes)


@linear(
    edges_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(5, 6), s, 0, mode) for s in ([1, 2, 1], [1, 1, 1]) for mode in ("reflect", "wrap")],
    dtype="unknown",
)
def edges_adjoint_rule(z_bar: Array, g: Array, smoothing: Any, axis: int = -1, mode: Any = "reflect") -> Array:
    return edges(z_bar, smoothing, axis, mode)


@linear(
    edges,
    wrt=["x"],
    samples=lambda: [sample(numbers(5, 6), s, 0, "mirror") for s in ([1, 2, 1], [1, 1, 1])],
    dtype="unknown",
)
def edges_rule(z_bar: Array, x: Array, smoothing: Any, axis: int = -1, mode: Any = "reflect") -> Array:
    return edges_adjoint(z_bar, smoothing, axis, mode)


@linear(
    spline_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(3, 5), 3, 0), sample(numbers(6), 2, -1, "reflect")],
    dtype="unknown",
)
def spline_adjoint_rule(z_bar: Array, g: Array, order: int = 3, axis: int = -1, mode: str = "mirror") -> Array:
    return ndimage.spline_filter1d(z_bar, order, axis, z_bar.dtype, mode)


@linear(splines_adjoint, wrt=["g"], samples=lambda: [sample(numbers(3, 5), 3)], dtype="unknown")
def splines_adjoint_rule(z_bar: Array, g: Array, order: int = 3, mode: str = "mirror") -> Array:
    return ndimage.spline_filter(z_bar, order, z_bar.dtype, mode)
