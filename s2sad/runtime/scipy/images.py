"""Derivatives of ``scipy.ndimage``: correlations of an array that is continued beyond its edges, and interpolation.

Where a filter goes over several axes, its transpose goes over them in the opposite order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from s2sad.runtime.scipy.convolutions import unextended

#: What ``np.pad`` calls the ways to continue an array.
_MODES = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "constant": "constant",
    "grid-constant": "constant",
}


def _each(value: Any, count: int) -> Sequence[Any]:
    """An option for each of some axes."""
    return [value] * count if isinstance(value, str) or np.ndim(value) == 0 else list(value)


def extended(x: Any, before: int, after: int, mode: str, cval: float, axis: int) -> Any:
    """``x`` continued along one axis."""
    widths = [(0, 0)] * x.ndim
    widths[axis] = (before, after)
    if _MODES[mode] == "constant":
        return np.pad(x.astype(np.result_type(x, cval), copy=False), widths, constant_values=cval)
    return np.pad(x, widths, mode=_MODES[mode])  # type: ignore[call-overload]


def correlate1d_adjoint(g: Any, weights: Any, axis: int = -1, mode: str = "reflect", origin: int = 0) -> Any:
    """Adjoint of ``input`` in ``ndimage.correlate1d(input, weights, axis, mode=mode, origin=origin)``."""
    if not g.size:
        return g
    weights, axis = np.asarray(weights), axis % g.ndim
    before = len(weights) // 2 + origin
    after = len(weights) - 1 - before
    widths = [(0, 0)] * g.ndim
    widths[axis] = (before, after)
    wide = ndimage.correlate1d(
        np.pad(g, widths), weights[::-1], axis, mode="constant", origin=after - len(weights) // 2
    )
    return unextended(wide, g.shape[axis], before, after, _MODES[mode], axis)


def weights1d_adjoint(
    g: Any, x: Any, weights: Any, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Any:
    """Adjoint of ``weights`` in ``ndimage.correlate1d(x, weights, axis, None, mode, cval, origin)``.

    SciPy conjugates complex weights.
    """
    x, weights = np.asarray(x), np.asarray(weights)
    sums = np.zeros(weights.shape, np.result_type(g, x))
    if x.size:
        size, axis = len(weights), axis % x.ndim
        before = size // 2 + origin
        wide = np.moveaxis(extended(x, before, size - 1 - before, mode, cval, axis), axis, 0)
        g = np.moveaxis(g, axis, 0)
        sums[:] = [np.sum(g * wide[k : k + len(g)]) for k in range(size)]
    return np.conj(sums)


def unrounded(g: Any, result: Any) -> Any:
    """``g``, the adjoint of weights; zeros where the result is rounded: an image of whole numbers has one such.

    >>> unrounded(np.ones(2), np.array([1, 2]))
    array([0., 0.])
    """
    return g if np.result_type(result).kind in "fc" else np.zeros_like(g)


def correlation_tangent(
    name: str, input_dot: Any, weights_dot: Any, z: Any, x: Any, weights: Any, *, cval: Any, **options: Any
) -> Any:
    """Tangent of ``z = correlate(x, weights, cval=cval, **options)``, one of the four correlations and convolutions.

    ``name`` is that of the function.
    """
    correlate = getattr(ndimage, name)
    if np.result_type(z).kind not in "fc":
        return 0.0
    z_dot = correlate(input_dot + np.zeros(np.shape(x)), weights, cval=0.0, **options)
    return z_dot + correlate(x, weights_dot + np.zeros(np.shape(weights)), cval=cval, **options)


def mirrored(origin: Any, size: Any) -> Any:
    """The origin of the correlation with reversed weights that is a convolution."""
    return -origin - 1 + np.asarray(size) % 2


def correlate_adjoints(
    g: Any, x: Any, weights: Any, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0
) -> tuple[Any, Any]:
    """Adjoints of both operands of ``ndimage.correlate(x, weights, None, mode, cval, origin)``."""
    x, weights = np.asarray(x), np.asarray(weights)
    sums = np.zeros(weights.shape, np.result_type(g, x))
    if not x.size:
        return np.zeros_like(g), sums
    modes, origins = _each(mode, x.ndim), _each(origin, x.ndim)
    before = [n // 2 + o for n, o in zip(weights.shape, origins, strict=True)]
    widths = [(b, n - 1 - b) for n, b in zip(weights.shape, before, strict=True)]
    wide = x
    for axis, (low, high) in enumerate(widths):
        wide = extended(wide, low, high, modes[axis], cval, axis)
    for place in np.ndindex(*weights.shape):
        part = wide[tuple(slice(k, k + n) for k, n in zip(place, x.shape, strict=True))]
        sums[place] = np.sum(g * part)
    back = [b - n // 2 for (_, b), n in zip(widths, weights.shape, strict=True)]
    wide = np.pad(g, widths) if widths else g  # np.pad takes no number
    x_bar = ndimage.correlate(wide, np.flip(weights), mode="constant", origin=back)
    for axis, (low, high) in enumerate(widths):
        x_bar = unextended(x_bar, x.shape[axis], low, high, _MODES[modes[axis]], axis)
    return x_bar, np.conj(sums)


# --- filters with weights of their own


def gaussian1d_adjoint(
    g: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    mode: str = "reflect",
    truncate: float = 4.0,
    radius: int | None = None,
) -> Any:
    """Adjoint of ``input`` in ``ndimage.gaussian_filter1d``."""
    size = int(truncate * float(sigma) + 0.5) if radius is None else int(radius)
    impulse = np.zeros(2 * size + 1)
    impulse[size] = 1.0
    response = ndimage.gaussian_filter1d(impulse, sigma, order=order, mode="constant", truncate=truncate, radius=radius)
    return correlate1d_adjoint(g, response[::-1].astype(g.real.dtype), axis, mode)


def gaussian_adjoint(
    g: Any,
    sigma: Any,
    order: Any = 0,
    mode: Any = "reflect",
    truncate: float = 4.0,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """Adjoint of ``input`` in ``ndimage.gaussian_filter``."""
    along = _along(g.ndim, axes)
    options = [_each(option, len(along)) for option in (sigma, order, mode, radius)]
    for axis, one_sigma, one_order, one_mode, one_radius in reversed(list(zip(along, *options, strict=True))):
        if one_sigma > 1e-15:
            g = gaussian1d_adjoint(g, one_sigma, axis, one_order, one_mode, truncate, one_radius)
    return g


def _kernel(sigma: Any, order: int, radius: int) -> Any:
    """The weights of ``ndimage.gaussian_filter1d``, for a complex width too."""
    x = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 / sigma**2 * x**2)
    weights = weights / np.sum(weights)
    if order:
        # The polynomial by which a derivative of a Gaussian function is multiplied.
        step = np.diag(np.arange(1.0, order + 1), 1) + np.diag(np.full(order, -1.0), -1) / sigma**2
        factors = np.zeros(order + 1, step.dtype)
        factors[0] = 1.0
        for _ in range(order):
            factors = step @ factors
        weights = weights * (x[:, np.newaxis] ** np.arange(order + 1) @ factors)
    return weights


def gaussian1d_slope(
    x: Any, sigma: float, axis: int, order: int, mode: str, cval: float, truncate: float, radius: int | None
) -> Any:
    """The derivative of ``ndimage.gaussian_filter1d`` by the width, as far as the kernel does not become longer."""
    size = int(truncate * float(sigma) + 0.5) if radius is None else int(radius)
    rising = np.imag(_kernel(sigma + 1e-30j, order, size)) / 1e-30
    return ndimage.correlate1d(x, rising[::-1], axis, mode=mode, cval=cval)


def gaussian_slopes(
    x: Any, sigma: Any, order: Any, mode: Any, cval: float, truncate: float, radius: Any, axes: Any
) -> list[Any]:
    """The derivatives of ``ndimage.gaussian_filter`` by the width along each axis."""
    along = _along(np.ndim(x), axes)
    each = list(zip(along, *[_each(option, len(along)) for option in (sigma, order, mode, radius)], strict=True))
    found = []
    for number, (_, width, *_) in enumerate(each):
        part = np.asarray(x)
        for place, (axis, s, o, m, r) in enumerate(each):
            if s <= 1e-15:
                continue
            # What is beyond the edges is constant, and so it is nothing once a derivative was taken.
            beyond = cval if place <= number else 0.0
            if place == number:
                part = gaussian1d_slope(part, s, axis, o, m, beyond, truncate, r)
            else:
                part = ndimage.gaussian_filter1d(part, s, axis, o, None, m, beyond, truncate, radius=r)
        found.append(part if width > 1e-15 else np.zeros_like(part))
    return found


def widths_adjoint(g: Any, slopes: list[Any], sigma: Any) -> Any:
    """The adjoint of the widths of a filter, of the derivatives by each."""
    bars = [np.sum(g * slope) for slope in slopes]
    if np.ndim(sigma) == 0:
        return sum(bars)
    return np.array(bars) if isinstance(sigma, np.ndarray) else bars


def widths_tangent(sigma_dot: Any, x: Any, sigma: Any, *options: Any) -> Any:
    """The tangent of ``ndimage.gaussian_filter(x, sigma, ...)`` by its widths; ``options`` as in `gaussian_slopes`."""
    if not np.any(sigma_dot):
        return 0.0
    slopes = gaussian_slopes(x, sigma, *options)
    return sum([s_dot * slope for s_dot, slope in zip(_each(sigma_dot, len(slopes)), slopes, strict=True)])


def _directions(ndim: int, order: int, mode: Any, axes: Any) -> list[tuple[list[int], str]]:
    """The orders by axes, and the mode, of each part of a sum of derivatives."""
    along = _along(ndim, axes)
    orders = [[order * (i == axis) for i in range(ndim)] for axis in along]
    return list(zip(orders, _each(mode, len(along)), strict=True))


def _on_all_axes(sigma: Any, ndim: int, axes: Any) -> Any:
    """The widths for all axes, zero for those that are not filtered."""
    along = _along(ndim, axes)
    if len(along) == ndim:
        return _each(sigma, ndim)  # SciPy takes them in the order of the image's axes then
    widths = [0.0] * ndim
    for axis, width in zip(along, _each(sigma, len(along)), strict=True):
        widths[axis] = width
    return widths


def laplacian_adjoint(g: Any, sigma: Any, mode: Any = "reflect", truncate: float = 4.0, axes: Any = None) -> Any:
    """Adjoint of ``input`` in ``ndimage.gaussian_laplace``."""
    if not _along(np.ndim(g), axes):
        return g  # without axes it is the image itself
    widths = _on_all_axes(sigma, g.ndim, axes)
    parts = [gaussian_adjoint(g, widths, order, m, truncate) for order, m in _directions(g.ndim, 2, mode, axes)]
    return sum(parts[1:], parts[0])


def _slopes(x: Any, sigma: Any, mode: Any, cval: float, truncate: float, axes: Any) -> list[Any]:
    directions = _directions(np.ndim(x), 1, mode, axes)
    return [ndimage.gaussian_filter(x, sigma, o, mode=m, cval=cval, truncate=truncate) for o, m in directions]


def gradient_magnitude_adjoint(
    g: Any,
    z: Any,
    x: Any,
    sigma: Any,
    mode: Any = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    axes: Any = None,
) -> Any:
    """Adjoint of ``input`` in ``z = ndimage.gaussian_gradient_magnitude(input, sigma, ...)``; zero where ``z`` is."""
    if not _along(np.ndim(x), axes):
        return g  # without axes it is the image itself
    ratio = np.divide(g, z, out=np.zeros_like(g), where=z != 0)
    slopes = _slopes(x, sigma, mode, cval, truncate, axes)
    directions = _directions(np.ndim(x), 1, mode, axes)
    parts = [gaussian_adjoint(ratio * s, sigma, o, m, truncate) for s, (o, m) in zip(slopes, directions, strict=True)]
    return sum(parts[1:], parts[0])


def gradient_magnitude_tangent(
    x_dot: Any, z: Any, x: Any, sigma: Any, mode: Any, cval: float, truncate: float, axes: Any
) -> Any:
    """Tangent of ``z = ndimage.gaussian_gradient_magnitude(input, sigma, ...)``."""
    if not _along(np.ndim(x), axes):
        return x_dot + np.zeros_like(z)
    pairs = zip(
        _slopes(x, sigma, mode, cval, truncate, axes), _slopes(x_dot, sigma, mode, 0.0, truncate, axes), strict=True
    )
    moved = sum([s * s_dot for s, s_dot in pairs])
    return np.divide(moved, z, out=np.zeros_like(moved), where=z != 0)


def _along(ndim: int, axes: Any) -> list[int]:
    return list(range(ndim)) if axes is None else [int(axis) % ndim for axis in np.atleast_1d(axes)]


def uniform1d_adjoint(g: Any, size: int, axis: int = -1, mode: str = "reflect", origin: int = 0) -> Any:
    """Adjoint of ``input`` in ``ndimage.uniform_filter1d``."""
    return correlate1d_adjoint(g, np.full(size, 1 / size, g.real.dtype), axis, mode, origin)


def uniform_adjoint(g: Any, size: Any = 3, mode: Any = "reflect", origin: Any = 0, axes: Any = None) -> Any:
    """Adjoint of ``input`` in ``ndimage.uniform_filter``."""
    along = _along(g.ndim, axes)
    options = [_each(option, len(along)) for option in (size, mode, origin)]
    for axis, one_size, one_mode, one_origin in reversed(list(zip(along, *options, strict=True))):
        if one_size > 1:
            g = uniform1d_adjoint(g, one_size, axis, one_mode, one_origin)
    return g


def laplace_adjoint(g: Any, mode: Any = "reflect", axes: Any = None) -> Any:
    """Adjoint of ``input`` in ``ndimage.laplace``."""
    along = _along(np.ndim(g), axes)
    if not along:
        return g  # without axes it is the image itself
    weights = np.array([1.0, -2.0, 1.0], g.real.dtype)
    parts = [correlate1d_adjoint(g, weights, axis, m) for axis, m in zip(along, _each(mode, len(along)), strict=True)]
    return sum(parts[1:], parts[0])


def edges(x: Any, smoothing: Any, axis: int = -1, mode: Any = "reflect") -> Any:
    """``ndimage.sobel`` or ``ndimage.prewitt``, as it smooths along the other axes."""
    return (ndimage.sobel if smoothing[1] == 2 else ndimage.prewitt)(x, axis, mode=mode)


def edges_adjoint(g: Any, smoothing: Any, axis: int = -1, mode: Any = "reflect") -> Any:
    """Adjoint of ``input`` in ``ndimage.sobel`` or ``ndimage.prewitt``, which smooth along the other axes."""
    axis, modes = axis % g.ndim, _each(mode, g.ndim)
    for other in reversed([i for i in range(g.ndim) if i != axis]):
        g = correlate1d_adjoint(g, np.array(smoothing, g.real.dtype), other, modes[other])
    return correlate1d_adjoint(g, np.array([-1.0, 0.0, 1.0], g.real.dtype), axis, modes[axis])
