"""Rules of ``scipy.ndimage`` for images that are read between their elements: by the image and by the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.scipy.ndimage import OUTPUT
from s2sad.ops.spec import Sample, linear, rule, sample
from s2sad.runtime.scipy.image_splines import spline_adjoint, splines_adjoint
from s2sad.runtime.scipy.images import unrounded
from s2sad.runtime.scipy.warps import (
    affine_points,
    affine_tangent,
    angle_slope,
    matrix_adjoint,
    offset_adjoint,
    points_adjoint,
    rotated_adjoint,
    sampled_adjoint,
    sampled_tangent,
    shift_adjoint,
    shifted_points,
    zoomed_adjoint,
)

Array = Any
_MODES = (
    "reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap",
)  # fmt: skip


# --- coefficients of splines


def _rows() -> Sequence[Sample]:
    x = numbers(3, 5)
    points = [sample(x, order, mode=m) for order in (2, 3, 4, 5) for m in ("mirror", "reflect", "grid-wrap")]
    return [*points, sample(x, 3, 0), sample(numbers(90, 2), 5, 0, mode="reflect"), sample(singles(4)), sample(x, 1)]


@linear(
    ndimage.spline_filter1d, wrt=["input"], samples=_rows, infer=infer.scipy.same_shape, dtype="double", aliases=OUTPUT
)
def spline_filter1d(z_bar: Array, input: Array, order: int = 3, axis: int = -1, mode: str = "mirror") -> Array:
    return spline_adjoint(z_bar, order, axis, mode)


def _images() -> Sequence[Sample]:
    return [sample(numbers(3, 5), 4, mode=m) for m in ("mirror", "reflect")] + [sample(numbers(6)), sample(numbers(2))]


@linear(
    ndimage.spline_filter, wrt=["input"], samples=_images, infer=infer.scipy.same_shape, dtype="double", aliases=OUTPUT
)
def spline_filter(z_bar: Array, input: Array, order: int = 3, mode: str = "mirror") -> Array:
    return splines_adjoint(z_bar, order, mode)


# --- points


def inside(*shape: int) -> Any:
    """Points in an image and beyond its edges, not where two pieces of a spline meet."""
    generator = np.random.default_rng([7, *shape])
    points = np.stack([generator.uniform(0.1, n - 1.1, 6) for n in shape])
    far = np.stack([generator.uniform(-2.4 * n, 3.4 * n, 4) for n in shape])
    found = np.concatenate([points, far], axis=1)
    return np.where(np.abs(2 * found - np.round(2 * found)) < 0.1, found + 0.07, found)


def _sampled() -> Sequence[Sample]:
    x, p = numbers(4, 5), inside(4, 5)
    points = [sample(x, p, order=k, mode=m, cval=0.4) for k in range(6) for m in _MODES]
    points += [sample(x, p, order=3, mode=m, prefilter=False) for m in _MODES]
    points += [sample(numbers(6), inside(6)), sample(numbers(2, 3, 2), inside(2, 3, 2), mode="mirror")]
    points += [sample(complexes(4, 5), p, mode="nearest"), sample(x, p.reshape(2, 5, 2)), sample(x[:1], p, mode="wrap")]
    return [*points, sample(singles(4, 5), p.astype(np.float32)), sample(np.arange(20).reshape(4, 5), p)]


def _map_coordinates_jvp(
    input_dot: Array,
    coordinates_dot: Array,
    z: Array,
    input: Array,
    coordinates: Array,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> Array:
    return sampled_tangent(input_dot, coordinates_dot, z, input, coordinates, order, mode, cval, prefilter)


@rule(
    ndimage.map_coordinates,
    wrt=["input", "coordinates"],
    jvp=_map_coordinates_jvp,
    samples=_sampled,
    infer=infer.scipy.at_points,
    dtype="array",
    aliases=OUTPUT,
)
def map_coordinates(
    z: Array,
    z_bar: Array,
    input: Array,
    coordinates: Array,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> tuple[Array, Array]:
    return (
        sampled_adjoint(z_bar, input, coordinates, order, mode, prefilter),
        unrounded(points_adjoint(z_bar, input, coordinates, order, mode, cval, prefilter), z),
    )


# --- images that are moved and stretched


def _shifted() -> Sequence[Sample]:
    x = numbers(4, 5)
    points = [sample(x, np.array([1.3, -0.6]), mode=m, cval=0.4) for m in _MODES] + [
        sample(x, 0.7, order=k) for k in (1, 2, 5)
    ]
    return [*points, sample(x, np.array([0.2, 1.3])), sample(complexes(6), 0.4), sample(singles(5), 0.3)]


def _shift_jvp(
    input_dot: Array,
    shift_dot: Array,
    z: Array,
    input: Array,
    shift: Any,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> Array:
    points, points_dot = shifted_points(input, shift), shifted_points(input, shift_dot) - shifted_points(input, 0.0)
    return sampled_tangent(input_dot, points_dot, z, input, points, order, mode, cval, prefilter)


@rule(
    ndimage.shift,
    wrt=["input", "shift"],
    jvp=_shift_jvp,
    samples=_shifted,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
    wide_only=("shift",),
)
def shift(
    z: Array,
    z_bar: Array,
    input: Array,
    shift: Any,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> tuple[Array, Array]:
    points = shifted_points(input, shift)
    points_bar = unrounded(points_adjoint(z_bar, input, points, order, mode, cval, prefilter), z)
    return sampled_adjoint(z_bar, input, points, order, mode, prefilter), shift_adjoint(points_bar, shift)


def _zoomed() -> Sequence[Sample]:
    x = numbers(4, 5)
    points = [sample(x, 1.6, mode=m, cval=0.4) for m in _MODES] + [sample(x, (0.8, 2), order=k) for k in (0, 1, 2)]
    points += [sample(x, 2.1, mode="grid-constant", grid_mode=True), sample(x, 1, mode="reflect", order=5)]
    return [*points, sample(x, (0.3, 1.0)), sample(complexes(5), 1.7), sample(singles(5), 1.4)]


@linear(
    ndimage.zoom,
    wrt=["input"],
    steps=frozenset({"zoom"}),
    samples=_zoomed,
    infer=infer.scipy.same_axes,
    dtype="array",
    offsets=frozenset({"cval"}),
    aliases=OUTPUT,
)
def zoom(
    z_bar: Array,
    input: Array,
    zoom: Any,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Array:
    return zoomed_adjoint(z_bar, input, zoom, order, mode, prefilter, grid_mode)


def _mapped() -> Sequence[Sample]:
    x = numbers(4, 5)
    turn = np.array([[0.8, 0.31], [-0.27, 0.9]])
    points = [sample(x, turn, np.array([0.4, -0.3]), mode=m, cval=0.4) for m in _MODES]
    points += [sample(x, turn, 0.3, (3, 7)), sample(x, np.array([0.7, 1.2]), 0.23), sample(x, turn, order=1)]
    points += [sample(x, np.column_stack([turn, [0.2, 0.3]])), sample(complexes(4, 5), turn, np.array([0.4, 0.3]))]
    points += [sample(x, np.array([[0.8, 0.31, 0.2], [-0.27, 0.9, 0.3], [0, 0, 1]])[:2], order=2)]
    return [*points, sample(x, np.array([[0.5], [0.7]]), 0.1, (6,)), sample(singles(4, 5), turn, 0.3)]


def _affine_transform_jvp(
    input_dot: Array,
    matrix_dot: Array,
    offset_dot: Any,
    z: Array,
    input: Array,
    matrix: Array,
    offset: Any = 0.0,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> Array:
    points, points_dot = (
        affine_points(input, z, matrix, offset),
        affine_tangent(matrix_dot, offset_dot, z, input, matrix),
    )
    return sampled_tangent(input_dot, points_dot, z, input, points, order, mode, cval, prefilter)


@rule(
    ndimage.affine_transform,
    wrt=["input", "matrix", "offset"],
    jvp=_affine_transform_jvp,
    samples=_mapped,
    infer=infer.scipy.transformed_image,
    dtype="array",
    aliases=OUTPUT,
)
def affine_transform(
    z: Array,
    z_bar: Array,
    input: Array,
    matrix: Array,
    offset: Any = 0.0,
    output_shape: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> tuple[Array, Array, Array]:
    points = affine_points(input, z, matrix, offset)
    return (
        sampled_adjoint(z_bar, input, points, order, mode, prefilter),
        unrounded(matrix_adjoint(points_adjoint(z_bar, input, points, order, mode, cval, prefilter), matrix), z),
        unrounded(
            offset_adjoint(points_adjoint(z_bar, input, points, order, mode, cval, prefilter), matrix, offset), z
        ),
    )


def _rotated() -> Sequence[Sample]:
    x = numbers(4, 5)
    points = [sample(x, 31.0, mode=m, cval=0.4) for m in _MODES] + [sample(x, -71.0, reshape=False, order=1)]
    points += [sample(numbers(3, 4, 3), 17.0, (2, 0)), sample(numbers(2, 4, 3), 17.0, (-1, 1), False)]
    return [*points, sample(complexes(4, 5), 31.0, (0, 1)), sample(singles(4, 5), 12.0)]


def _rotate_jvp(
    input_dot: Array,
    angle_dot: Array,
    z: Array,
    input: Array,
    angle: Any,
    axes: Any = (1, 0),
    reshape: bool = True,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> Array:
    # The image's tangent may be a number.
    image_dot = input_dot + np.zeros_like(input)
    turned = ndimage.rotate(image_dot, angle, axes, reshape, order=order, mode=mode, prefilter=prefilter)
    return turned + angle_dot * angle_slope(z, input, angle, axes, order, mode, cval, prefilter)


@rule(
    ndimage.rotate,
    wrt=["input", "angle"],
    jvp=_rotate_jvp,
    samples=_rotated,
    infer=infer.scipy.same_axes,
    dtype="array",
    aliases=OUTPUT,
)
def rotate(
    z: Array,
    z_bar: Array,
    input: Array,
    angle: Any,
    axes: Any = (1, 0),
    reshape: bool = True,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
) -> tuple[Array, Array]:
    return (
        rotated_adjoint(z_bar, input, angle, axes, order, mode, prefilter),
        np.sum(np.real(z_bar * angle_slope(z, input, angle, axes, order, mode, cval, prefilter))),
    )
