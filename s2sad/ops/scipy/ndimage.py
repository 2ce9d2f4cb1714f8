"""Rules of ``scipy.ndimage``: filters, each adjoint the filter with its weights reversed, folded back at the edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Function, Sample, Samples, constant, linear, operation, rule, sample
from s2sad.runtime.scipy.images import (
    correlate1d_adjoint,
    correlate_adjoints,
    correlation_tangent,
    edges_adjoint,
    gaussian1d_adjoint,
    gaussian1d_slope,
    gaussian_adjoint,
    gaussian_slopes,
    laplace_adjoint,
    mirrored,
    uniform1d_adjoint,
    uniform_adjoint,
    unrounded,
    weights1d_adjoint,
    widths_adjoint,
    widths_tangent,
)

Array = Any
#: All functions of this module have ``output`` for ``out``; it may also be a dtype, which changes the result.
OUTPUT = {"output": "out"}
_MODES = ("reflect", "constant", "nearest", "mirror", "wrap")

# --- correlations


def _jvp_of_rows(name: str) -> Callable[..., Any]:
    def jvp(
        input_dot: Array,
        weights_dot: Array,
        z: Array,
        input: Array,
        weights: Array,
        axis: Any,
        mode: Any,
        cval: Any,
        origin: Any,
    ) -> Any:
        return correlation_tangent(
            name, input_dot, weights_dot, z, input, weights, axis=axis, mode=mode, cval=cval, origin=origin
        )

    return jvp


def _jvp_of_images(name: str) -> Callable[..., Any]:
    def jvp(
        input_dot: Array, weights_dot: Array, z: Array, input: Array, weights: Array, mode: Any, cval: Any, origin: Any
    ) -> Any:
        return correlation_tangent(name, input_dot, weights_dot, z, input, weights, mode=mode, cval=cval, origin=origin)

    return jvp


def _rows() -> Sequence[Sample]:
    x, w = numbers(4, 6), numbers(3, seed=1)
    points = [sample(x, w, mode=m) for m in _MODES] + [sample(x, w, 0), sample(numbers(7), numbers(4, seed=1))]
    points += [sample(x, numbers(5), mode=m, cval=0.7) for m in ("constant", "grid-constant", "grid-wrap")]
    points += [sample(x, numbers(n, seed=1), 1, origin=o) for n, o in ((3, 1), (3, -1), (4, -2), (4, 1), (2, 0))]
    points += [sample(numbers(3), numbers(6), mode=m) for m in _MODES]  # weights beyond both edges
    points += [sample(singles(5), singles(3)), sample(complexes(5), numbers(3)), sample(x, complexes(3))]
    points += [sample(complexes(2, 5), complexes(4), mode="constant", cval=0.5 + 0.3j)]
    return [*points, sample(np.arange(6), w), sample(np.arange(6), complexes(3), mode="constant", cval=0.5)]


@rule(
    ndimage.correlate1d,
    wrt=["input", "weights"],
    jvp=_jvp_of_rows("correlate1d"),
    samples=_rows,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
)
def correlate1d(
    z: Array,
    z_bar: Array,
    input: Array,
    weights: Array,
    axis: int = -1,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> tuple[Array, Array]:
    return (
        correlate1d_adjoint(z_bar, weights, axis, mode, origin),
        unrounded(weights1d_adjoint(z_bar, input, weights, axis, mode, cval, origin), z),
    )


@rule(
    ndimage.convolve1d,
    wrt=["input", "weights"],
    jvp=_jvp_of_rows("convolve1d"),
    samples=_rows,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
)
def convolve1d(
    z: Array,
    z_bar: Array,
    input: Array,
    weights: Array,
    axis: int = -1,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> tuple[Array, Array]:
    origin = mirrored(origin, len(weights))
    return (
        correlate1d_adjoint(z_bar, np.conj(np.flip(weights)), axis, mode, origin),
        unrounded(np.conj(np.flip(weights1d_adjoint(z_bar, input, weights, axis, mode, cval, origin))), z),
    )


def _images() -> Sequence[Sample]:
    x, w = numbers(4, 5), numbers(3, 3, seed=1)
    points = [sample(x, w, mode=m) for m in _MODES]
    points += [sample(x, numbers(2, 3, seed=1), mode=m, cval=0.4) for m in ("constant", "reflect")]
    points += [sample(x, w, origin=(1, -1)), sample(x, numbers(2, 4, seed=1), origin=[0, -1]), sample(x, w, origin=1)]
    points += [sample(numbers(6), numbers(3)), sample(numbers(2, 3, 3), numbers(1, 2, 2), mode="mirror")]
    points += [sample(x, complexes(2, 3)), sample(complexes(3, 3), complexes(2, 2), mode="constant", cval=0.5 + 0.3j)]
    points += [sample(np.arange(6).reshape(2, 3), w)]  # SciPy rounds
    return [*points, sample(singles(3, 3), singles(2, 2))]


@rule(
    ndimage.correlate,
    wrt=["input", "weights"],
    jvp=_jvp_of_images("correlate"),
    samples=_images,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
)
def correlate(
    z: Array,
    z_bar: Array,
    input: Array,
    weights: Array,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
) -> tuple[Array, Array]:
    input_bar, weights_bar = correlate_adjoints(z_bar, input, weights, mode, cval, origin)
    return input_bar, unrounded(weights_bar, z)


@rule(
    ndimage.convolve,
    wrt=["input", "weights"],
    jvp=_jvp_of_images("convolve"),
    samples=_images,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
)
def convolve(
    z: Array,
    z_bar: Array,
    input: Array,
    weights: Array,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
) -> tuple[Array, Array]:
    origin = mirrored(np.asarray(origin), np.shape(weights))
    input_bar, flipped_bar = correlate_adjoints(z_bar, input, np.conj(np.flip(weights)), mode, cval, origin)
    return input_bar, unrounded(np.conj(np.flip(flipped_bar)), z)


# --- filters with weights of their own


def _filter(function: Function, samples: Samples) -> Callable[[Function], Function]:
    """Declare a filter, which is linear but for ``cval``, the value beyond the edges."""
    offsets = frozenset({"cval"})
    return linear(
        function,
        wrt=["input"],
        samples=samples,
        infer=infer.scipy.same_shape,
        dtype="array",
        aliases=OUTPUT,
        offsets=offsets,
    )


def _blurred_rows() -> Sequence[Sample]:
    x = numbers(4, 9)
    points = [sample(x, 0.8, mode=m) for m in _MODES] + [
        sample(x, 1.5, 0),
        sample(x, 0.7, order=1),
        sample(x, 0.6, 1, 2),
    ]
    points += [sample(x, 1.0, truncate=2.0), sample(x, 1.2, radius=2), sample(x, 1.0, mode="constant", cval=2.0)]
    return [*points, sample(singles(6), 0.9)]


def _rows_jvp(
    input_dot: Array,
    sigma_dot: Array,
    input: Array,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    radius: int | None = None,
) -> Array:
    moved = ndimage.gaussian_filter1d(
        input_dot + np.zeros_like(input), sigma, axis, order, None, mode, 0.0, truncate, radius=radius
    )
    return moved + sigma_dot * gaussian1d_slope(input, sigma, axis, order, mode, cval, truncate, radius)


@rule(
    ndimage.gaussian_filter1d,
    wrt=["input", "sigma"],
    jvp=_rows_jvp,
    samples=_blurred_rows,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
)
def gaussian_filter1d(
    z_bar: Array,
    input: Array,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> tuple[Array, Array]:
    return (
        gaussian1d_adjoint(z_bar, sigma, axis, order, mode, truncate, radius),
        np.sum(z_bar * gaussian1d_slope(input, sigma, axis, order, mode, cval, truncate, radius)),
    )


def _blurred() -> Sequence[Sample]:
    x = numbers(5, 6)
    points = [sample(x, 0.8, mode=m) for m in _MODES]
    points += [
        sample(x, (0.7, 1.2)),
        sample(x, (0, 1.0)),
        sample(x, 0.6, (1, 0)),
        sample(x, 1.0, mode=("wrap", "mirror")),
    ]
    points += [
        sample(x, 1.0, radius=2),
        sample(x, 1.0, axes=(1,)),
        sample(x, 0.7, 0, mode="constant", cval=3.0, truncate=2.0),
    ]
    return [*points, sample(numbers(2, 3, 4), 0.5), sample(numbers(7), 1.0), sample(singles(4, 4), 0.6)]


def _image_jvp(
    input_dot: Array,
    sigma_dot: Any,
    input: Array,
    sigma: Any,
    order: Any = 0,
    mode: Any = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    radius: Any = None,
    axes: Any = None,
) -> Array:
    moved = ndimage.gaussian_filter(
        input_dot + np.zeros_like(input), sigma, order, None, mode, 0.0, truncate, radius=radius, axes=axes
    )
    return moved + widths_tangent(sigma_dot, input, sigma, order, mode, cval, truncate, radius, axes)


@rule(
    ndimage.gaussian_filter,
    wrt=["input", "sigma"],
    jvp=_image_jvp,
    samples=_blurred,
    infer=infer.scipy.same_shape,
    dtype="array",
    aliases=OUTPUT,
)
def gaussian_filter(
    z_bar: Array,
    input: Array,
    sigma: Any,
    order: Any = 0,
    mode: Any = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> tuple[Array, Any]:
    return (
        gaussian_adjoint(z_bar, sigma, order, mode, truncate, radius, axes),
        widths_adjoint(z_bar, gaussian_slopes(input, sigma, order, mode, cval, truncate, radius, axes), sigma),
    )


def _averaged_rows() -> Sequence[Sample]:
    x = numbers(4, 6)
    points = [sample(x, 3, mode=m) for m in _MODES] + [sample(x, 4, 0), sample(x, 2, origin=-1), sample(x, 1)]
    return [*points, sample(x, 3, mode="constant", cval=2.0), sample(singles(5), 3)]


@_filter(ndimage.uniform_filter1d, samples=_averaged_rows)
def uniform_filter1d(
    z_bar: Array,
    input: Array,
    size: int,
    axis: int = -1,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> Array:
    return uniform1d_adjoint(z_bar, size, axis, mode, origin)


def _averaged() -> Sequence[Sample]:
    x = numbers(4, 6)
    points = [sample(x, 3, mode=m) for m in _MODES] + [sample(x), sample(x, (2, 5)), sample(x, 3, origin=(1, -1))]
    return [*points, sample(x, 3, mode="constant", cval=1.5), sample(x, 3, axes=(0,)), sample(singles(5, 4), 2)]


@_filter(ndimage.uniform_filter, samples=_averaged)
def uniform_filter(
    z_bar: Array,
    input: Array,
    size: Any = 3,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    return uniform_adjoint(z_bar, size, mode, origin, axes)


def _curved() -> Sequence[Sample]:
    x = numbers(4, 5)
    points = [sample(x, mode=m) for m in _MODES] + [sample(numbers(6)), sample(x, mode=("wrap", "nearest"))]
    return [*points, sample(x, mode="constant", cval=1.5), sample(numbers(3, 3, 2)), sample(singles(4, 4))]


@_filter(ndimage.laplace, samples=_curved)
def laplace(z_bar: Array, input: Array, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None) -> Array:
    return laplace_adjoint(z_bar, mode, axes)


def _edged() -> Sequence[Sample]:
    x = numbers(4, 5)
    points = [sample(x, mode=m) for m in _MODES] + [
        sample(x, 0),
        sample(numbers(6)),
        sample(x, 0, mode=("wrap", "mirror")),
    ]
    return [*points, sample(x, 1, mode="constant", cval=1.5), sample(numbers(3, 3, 2), 1), sample(singles(4, 4))]


@_filter(ndimage.sobel, samples=_edged)
def sobel(z_bar: Array, input: Array, axis: int = -1, mode: Any = "reflect", cval: float = 0.0) -> Array:
    return edges_adjoint(z_bar, (1.0, 2.0, 1.0), axis, mode)


@_filter(ndimage.prewitt, samples=_edged)
def prewitt(z_bar: Array, input: Array, axis: int = -1, mode: Any = "reflect", cval: float = 0.0) -> Array:
    return edges_adjoint(z_bar, (1.0, 1.0, 1.0), axis, mode)


# --- the others

_WINDOWS = "use np.lib.stride_tricks.sliding_window_view of np.pad(x, ...), and np.median, np.max or np.min over it"

#: What to do instead of differentiating a function of ``scipy.ndimage``.
REFUSED = {
    "geometric_transform": "use map_coordinates, with the coordinates of all points in one array",
    **dict.fromkeys(("white_tophat", "black_tophat", "morphological_gradient", "morphological_laplace"),
                    "use grey_dilation, grey_erosion, grey_opening and grey_closing, of which it is made"),
    **dict.fromkeys(("generic_filter", "generic_filter1d", "vectorized_filter"), _WINDOWS),
    "generic_laplace": "use laplace",
    "generic_gradient_magnitude": "use np.sqrt of the squares of sobel along each axis",
    "median": "loop over the labels with x[labels == i]",
}  # fmt: skip

for _name, _text in REFUSED.items():
    if hasattr(ndimage, _name):
        operation(getattr(ndimage, _name), remedy=_text, aliases=OUTPUT)

#: Functions of images whose elements count as zero or not, or are labels.
CONSTANT = (
    "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss", "binary_opening",
    "binary_propagation", "label", "watershed_ift",
)  # fmt: skip

for _name in CONSTANT:
    constant(getattr(ndimage, _name), aliases=OUTPUT)
