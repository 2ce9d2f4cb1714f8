"""Rules of the derivatives of ``ndimage.map_coordinates``, so that they can be differentiated again.

The derivative along a direction ``way`` of each point is linear in the image; its adjoints are those of the image
(`slid_adjoint`) and of the points (`bent_adjoint`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.scipy.warps import inside
from s2sad.ops.spec import Sample, linear, rule, sample
from s2sad.runtime.scipy.images import unrounded
from s2sad.runtime.scipy.warps import bent_adjoint, points_adjoint, sampled_adjoint, sampled_tangent, slid_adjoint

Array = Any


def _adjoints() -> Sequence[Sample]:
    x, p = numbers(4, 5), inside(4, 5)
    g = numbers(p.shape[1])
    points = [sample(g, x, p, order=k) for k in (0, 1, 2, 5)] + [sample(g, x, p, 3, m) for m in ("mirror", "nearest")]
    return [*points, sample(numbers(10), numbers(6), inside(6), prefilter=False), sample(complexes(10), x + 0j, p)]


def _sampled_adjoint_jvp(
    g_dot: Array,
    points_dot: Array,
    g: Array,
    image: Array,
    points: Array,
    order: int = 3,
    mode: str = "constant",
    prefilter: Any = True,
) -> Array:
    slid = slid_adjoint(g, points_dot + np.zeros_like(points), image, points, order, mode, prefilter)
    return sampled_adjoint(g_dot + np.zeros_like(g), image, points, order, mode, prefilter) + slid


@rule(
    sampled_adjoint,
    wrt=["g", "points"],
    steps=frozenset({"image"}),
    jvp=_sampled_adjoint_jvp,
    samples=_adjoints,
    infer=infer.adjoints.adjoint_of("image"),
)
def sampled_adjoint_rule(
    z_bar: Array,
    g: Array,
    image: Array,
    points: Array,
    order: int = 3,
    mode: str = "constant",
    prefilter: Any = True,
) -> tuple[Array, Array]:
    return (
        ndimage.map_coordinates(z_bar, points, None, order, mode, 0.0, prefilter),
        points_adjoint(g, z_bar, points, order, mode, 0.0, prefilter),
    )


def _slopes() -> Sequence[Sample]:
    x, p = numbers(4, 5), inside(4, 5)
    g = numbers(p.shape[1])
    points = [sample(g, x, p, k, cval=0.4) for k in (1, 2, 3, 5)]
    points += [sample(g, x, p, 3, m) for m in ("mirror", "nearest", "grid-constant")]
    return [*points, sample(numbers(10), numbers(6), inside(6)), sample(complexes(10), complexes(4, 5), p)]


def _points_adjoint_jvp(
    g_dot: Array,
    image_dot: Array,
    points_dot: Array,
    g: Array,
    image: Array,
    points: Array,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: Any = True,
) -> Array:
    return (
        points_adjoint(g_dot, image, points, order, mode, cval, prefilter)
        + points_adjoint(g, image_dot + np.zeros_like(image), points, order, mode, 0.0, prefilter)
        + bent_adjoint(g, points_dot + np.zeros_like(points), image, points, order, mode, cval, prefilter)
    )


@rule(
    points_adjoint,
    wrt=["g", "image", "points"],
    jvp=_points_adjoint_jvp,
    samples=_slopes,
    infer=infer.adjoints.adjoint_of("points"),
)
def points_adjoint_rule(
    z_bar: Array,
    g: Array,
    image: Array,
    points: Array,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: Any = True,
) -> tuple[Array, Array, Array]:
    return (
        sampled_tangent(0.0, z_bar, g, image, points, order, mode, cval, prefilter),
        slid_adjoint(g, z_bar, image, points, order, mode, prefilter),
        bent_adjoint(g, z_bar, image, points, order, mode, cval, prefilter),
    )


def _tangents() -> Sequence[Sample]:
    x, p = numbers(4, 5), inside(4, 5)
    z = np.zeros(p.shape[1])
    points = [sample(2 * x, np.cos(p), z, x, p, k, cval=0.4) for k in (1, 3)]
    return [*points, sample(numbers(6), inside(6) / 3, z, numbers(6), inside(6), mode="mirror")]


def _sampled_tangent_jvp(
    moves_dot: Array,
    way_dot: Array,
    image_dot: Array,
    points_dot: Array,
    moves: Array,
    way: Array,
    result: Array,
    image: Array,
    points: Array,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: Any = True,
) -> Array:
    bends = bent_adjoint(np.ones_like(result), way + np.zeros_like(points), image, points, order, mode, cval, prefilter)
    return (
        sampled_tangent(moves_dot, way_dot, result, image, points, order, mode, cval, prefilter)
        + sampled_tangent(0.0, way, result, image_dot + np.zeros_like(image), points, order, mode, 0.0, prefilter)
        + sampled_tangent(0.0, points_dot, result, moves + np.zeros_like(image), points, order, mode, 0.0, prefilter)
        + np.sum(bends * points_dot, axis=0)
    )


@rule(
    sampled_tangent,
    wrt=["moves", "way", "image", "points"],
    steps=frozenset({"result"}),
    jvp=_sampled_tangent_jvp,
    samples=_tangents,
)
def sampled_tangent_rule(
    z_bar: Array,
    moves: Array,
    way: Array,
    result: Array,
    image: Array,
    points: Array,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: Any = True,
) -> tuple[Array, Array, Array, Array]:
    whole = way + np.zeros_like(points)
    return (
        sampled_adjoint(z_bar, image, points, order, mode, prefilter),
        points_adjoint(z_bar, image, points, order, mode, cval, prefilter),
        slid_adjoint(z_bar, whole, image, points, order, mode, prefilter),
        bent_adjoint(z_bar, whole, image, points, order, mode, cval, prefilter)
        + points_adjoint(z_bar, moves + np.zeros_like(image), points, order, mode, 0.0, prefilter),
    )


@linear(
    unrounded,
    wrt=["g"],
    steps=frozenset({"result"}),
    samples=lambda: [sample(numbers(2, 3), numbers(3)), sample(singles(3), singles(3))],
    infer=infer.common.same_array,
    result="unknown",
)
def unrounded_rule(z_bar: Array, g: Array, result: Array) -> Array:
    return unrounded(z_bar, result)
