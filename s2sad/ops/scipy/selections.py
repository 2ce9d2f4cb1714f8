"""Rules of ``scipy.ndimage``: filters that select elements by their order, and Gaussian derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from s2sad.ops import infer
from s2sad.ops.points import numbers, singles
from s2sad.ops.sampling import spread
from s2sad.ops.scipy.ndimage import OUTPUT
from s2sad.ops.spec import Function, Sample, constant, linear, rule, sample
from s2sad.runtime.scipy.images import (
    gradient_magnitude_adjoint,
    gradient_magnitude_tangent,
    laplacian_adjoint,
)
from s2sad.runtime.scipy.resampling import picked_values, put_back
from s2sad.runtime.scipy.selections import (
    filter_places,
)

Array = Any

constant(filter_places, signature=lambda x, name, options: None)

_MODES = ("reflect", "constant", "nearest", "mirror", "wrap")

# --- filters that select


def _windows(*before: Any) -> Sequence[Sample]:
    x, corner = spread((4, 5)), np.array([[1, 1], [0, 1]])
    points = [sample(x, *before, 3, mode=m) for m in _MODES] + [sample(x, *before, size=(2, 3))]
    points += [sample(x, *before, footprint=corner), sample(x, *before, 3, mode="constant", cval=0.6)]
    points += [
        sample(x, *before, 3, origin=(1, -1)),
        sample(spread((7,)), *before, 4),
        sample(x, *before, 3, axes=(1,)),
    ]
    return [*points, sample(spread((3, 4)).astype(np.float32), *before, 2)]


def _selecting(function: Function) -> None:
    name = function.__name__

    def jvp(
        input_dot: Array, input: Array, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any
    ) -> Array:
        return picked_values(input_dot, filter_places(input, name, None, size, footprint, mode, cval, origin, axes))

    @rule(
        function,
        wrt=["input"],
        jvp=jvp,
        samples=_windows,
        infer=infer.scipy.same_shape,
        dtype="array",
        aliases=OUTPUT,
        real_only=True,
    )
    def selecting(
        z_bar: Array,
        input: Array,
        size: Any = None,
        footprint: Any = None,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Array:
        places = filter_places(input, name, None, size, footprint, mode, cval, origin, axes)
        return put_back(z_bar, places, np.shape(input))


for _name in ("maximum_filter", "minimum_filter", "median_filter"):
    _selecting(getattr(ndimage, _name))


def _selecting_at(function: Function, parameter: str, places: Sequence[Any]) -> None:
    """The rule of a filter that takes the element of a window at one of some places, which ``parameter`` says."""
    name = function.__name__

    def jvp(
        input_dot: Array,
        input: Array,
        place: Any,
        size: Any = None,
        footprint: Any = None,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: Any = 0,
        axes: Any = None,
    ) -> Array:
        return picked_values(input_dot, filter_places(input, name, place, size, footprint, mode, cval, origin, axes))

    @rule(
        function,
        wrt=["input"],
        jvp=jvp,
        samples=lambda: [point for place in places for point in _windows(place)],
        infer=infer.scipy.same_shape,
        dtype="array",
        aliases={**OUTPUT, parameter: "place"},
        real_only=True,
    )
    def selecting(
        z_bar: Array,
        input: Array,
        place: Any,
        size: Any = None,
        footprint: Any = None,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Array:
        places = filter_places(input, name, place, size, footprint, mode, cval, origin, axes)
        return put_back(z_bar, places, np.shape(input))


_selecting_at(ndimage.percentile_filter, "percentile", [30, -20])
_selecting_at(ndimage.rank_filter, "rank", [1, -1])


def _rows() -> Sequence[Sample]:
    x = spread((4, 6))
    points = [sample(x, 3, mode=m) for m in _MODES] + [sample(x, 4, 0), sample(x, 3, origin=1)]
    return [*points, sample(x, 3, mode="constant", cval=0.6), sample(spread((5,)).astype(np.float32), 2)]


def _selecting_rows(function: Function) -> None:
    name = function.__name__

    def jvp(input_dot: Array, input: Array, size: Any, axis: Any, mode: Any, cval: Any, origin: Any) -> Array:
        return picked_values(input_dot, filter_places(input, name, None, size, None, mode, cval, origin, axis))

    @rule(
        function,
        wrt=["input"],
        jvp=jvp,
        samples=_rows,
        infer=infer.scipy.same_shape,
        dtype="array",
        aliases=OUTPUT,
        real_only=True,
    )
    def selecting(
        z_bar: Array,
        input: Array,
        size: int,
        axis: int = -1,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: int = 0,
    ) -> Array:
        return put_back(z_bar, filter_places(input, name, None, size, None, mode, cval, origin, axis), np.shape(input))


for _name in ("maximum_filter1d", "minimum_filter1d"):
    _selecting_rows(getattr(ndimage, _name))

# --- morphology with flat structures


def _structures() -> Sequence[Sample]:
    # As with the other filters, but for windows with a middle, by which elements are not compared with themselves.
    return [s for s in _windows() if "axes" not in s.kwargs]


def _morphological(function: Function) -> None:
    name = function.__name__

    def jvp(
        input_dot: Array,
        input: Array,
        size: Any,
        footprint: Any,
        structure: Any,
        mode: Any,
        cval: Any,
        origin: Any,
        axes: Any,
    ) -> Array:
        places = filter_places(input, name, None, size, footprint, mode, cval, origin, axes, structure)
        return picked_values(input_dot, places)

    @rule(
        function,
        wrt=["input"],
        jvp=jvp,
        samples=_structures,
        infer=infer.scipy.same_shape,
        dtype="array",
        aliases=OUTPUT,
        real_only=True,
    )
    def selecting(
        z_bar: Array,
        input: Array,
        size: Any = None,
        footprint: Any = None,
        structure: Any = None,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Array:
        places = filter_places(input, name, None, size, footprint, mode, cval, origin, axes, structure)
        return put_back(z_bar, places, np.shape(input))


for _name in ("grey_dilation", "grey_erosion", "grey_opening", "grey_closing"):
    _morphological(getattr(ndimage, _name))

# --- Gaussian derivatives


def _blurred() -> Sequence[Sample]:
    x = numbers(5, 6)
    points = [sample(x, 0.8, mode=m) for m in _MODES] + [sample(x, (0.7, 1.2)), sample(x, 0.8, truncate=2.0)]
    points += [sample(x, 0.7, mode="constant", cval=2.0), sample(x, 0.8, mode=("wrap", "mirror"))]
    return [*points, sample(x, 0.9, axes=(1,)), sample(numbers(7), 1.0), sample(singles(4, 4), 0.6)]


@linear(
    ndimage.gaussian_laplace,
    wrt=["input"],
    samples=_blurred,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
    offsets=frozenset({"cval"}),
)
def gaussian_laplace(
    z_bar: Array,
    input: Array,
    sigma: Any,
    mode: Any = "reflect",
    cval: float = 0.0,
    *,
    axes: Any = None,
    truncate: float = 4.0,
) -> Array:
    return laplacian_adjoint(z_bar, sigma, mode, truncate, axes)


@linear(
    laplacian_adjoint,
    wrt=["g"],
    samples=lambda: [sample(numbers(5, 6), 0.8), sample(numbers(7), 0.8, "wrap")],
    dtype="unknown",
)
def laplacian_adjoint_rule(
    z_bar: Array, g: Array, sigma: Any, mode: Any = "reflect", truncate: float = 4.0, axes: Any = None
) -> Array:
    return ndimage.gaussian_laplace(z_bar, sigma, mode=mode, axes=axes, truncate=truncate)


def _magnitude_jvp(
    input_dot: Array,
    z: Array,
    input: Array,
    sigma: Any,
    mode: Any = "reflect",
    cval: float = 0.0,
    axes: Any = None,
    truncate: float = 4.0,
) -> Array:
    return gradient_magnitude_tangent(input_dot, z, input, sigma, mode, cval, truncate, axes)


@rule(
    ndimage.gaussian_gradient_magnitude,
    wrt=["input"],
    jvp=_magnitude_jvp,
    samples=_blurred,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
    real_only=True,
)
def gaussian_gradient_magnitude(
    z: Array,
    z_bar: Array,
    input: Array,
    sigma: Any,
    mode: Any = "reflect",
    cval: float = 0.0,
    *,
    axes: Any = None,
    truncate: float = 4.0,
) -> Array:
    return gradient_magnitude_adjoint(z_bar, z, input, sigma, mode, cval, truncate, axes)
