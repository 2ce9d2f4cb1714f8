"""Derivatives of ``scipy.ndimage`` where it interpolates images by splines: in the images and in the coordinates.

The value at a point is a sum over the nearest coefficients of the spline, which are found of the image by a filter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import ndimage, special

Array = Any
#: The modes whose filter goes on as in a mirror at the middle of the last elements.
_MIRRORED = ("constant", "grid-constant", "mirror", "wrap")
#: How many elements SciPy puts around an image before it is filtered.
_PADS = {"nearest": 12, "grid-constant": 12}
#: From how many elements on the filter is symmetric to rounding.
_LONG = 80
#: What is beyond the edges, along one axis.
_FAR = 1 << 48


# --- coefficients of splines


def spline_adjoint(g: Array, order: int = 3, axis: int = -1, mode: str = "mirror") -> Array:
    """The adjoint of ``input`` in ``ndimage.spline_filter1d(input, order, axis, mode=mode)``.

    The filter is its own transpose, but for a mirror in the middle of the last elements: they are counted once, all
    others twice; and but for short rows, of which SciPy's filter is not quite the inverse of interpolation.
    """
    size = g.shape[axis]
    if order < 2 or size < 2:
        return g
    if mode not in _MIRRORED:
        if size > _LONG:
            return ndimage.spline_filter1d(g, order, axis, g.dtype, mode)
        rows = ndimage.spline_filter1d(np.eye(size, dtype=g.real.dtype), order, 0, g.real.dtype, mode)
        return np.moveaxis(np.tensordot(rows, g, (0, axis)), 0, axis)
    weights = np.ones(size, g.real.dtype)
    weights[[0, -1]] = 0.5
    weights = np.expand_dims(weights, tuple(range(1, g.ndim - axis % g.ndim)))
    return weights * ndimage.spline_filter1d(g / weights, order, axis, g.dtype, mode)


def splines_adjoint(g: Array, order: int = 3, mode: str = "mirror") -> Array:
    """The adjoint of ``input`` in ``ndimage.spline_filter(input, order, mode=mode)``."""
    for axis in reversed(range(g.ndim)):
        g = spline_adjoint(g, order, axis, mode)
    return g


class _Spline:
    """The coefficients of an image at which ``map_coordinates`` interpolates, and where they are."""

    def __init__(self, shape: tuple[int, ...], order: int, mode: str, prefilter: Any) -> None:
        self.order, self.filtered = order, prefilter and order > 1
        self.mode = {"grid-mirror": "reflect"}.get(mode, mode)
        self.pad = _PADS.get(mode, 0) if self.filtered else 0
        self.shape = tuple([n + 2 * self.pad for n in shape])
        self.beyond = math.prod(self.shape)

    def coefficients(self, image: Array, cval: float) -> Array:
        """The coefficients in a row, and one more for what is beyond the edges."""
        found = np.asarray(image, float)
        if self.pad and self.mode == "nearest":
            found = np.pad(found, self.pad, "edge")
        elif self.pad:
            found = np.pad(found, self.pad, constant_values=cval)
        if self.filtered:
            found = ndimage.spline_filter(found, self.order, mode=self.mode)
        return np.append(found, cval)

    def image_adjoint(self, g: Array) -> Array:
        """The adjoint of the image, in that of the coefficients."""
        g = g.reshape(self.shape)
        if self.filtered:
            g = splines_adjoint(g, self.order, self.mode)
        for axis in range(g.ndim if self.pad else 0):
            g = np.moveaxis(g, axis, 0)
            inner = g[self.pad : -self.pad].copy()
            if self.mode == "nearest":
                inner[0] += np.sum(g[: self.pad], axis=0)
                inner[-1] += np.sum(g[-self.pad :], axis=0)
            g = np.moveaxis(inner, 0, axis)
        return g

    def taps(self, coordinates: Array, slopes: bool = False) -> Iterator[tuple[Array, list[Array]]]:
        """For each of the nearest coefficients: where it is, and its weight at the points.

        With ``slopes`` these are the derivatives of the weight in each coordinate.
        """
        axes = [_nearest(c + self.pad, n, self.order, self.mode) for c, n in zip(coordinates, self.shape, strict=True)]
        strides = np.cumprod((1, *self.shape[:0:-1]))[::-1]
        wanted = range(len(axes)) if slopes else (-1,)

        def further(k: int, at: Any, factors: list[Any]) -> Iterator[tuple[Array, list[Array]]]:
            if k == len(axes):
                yield at, factors
                return
            for place, weight, rise in zip(*axes[k], strict=True):
                more = [f * (rise if k == axis else weight) for f, axis in zip(factors, wanted, strict=True)]
                yield from further(k + 1, at + place * strides[k], more)

        for at, weights in further(0, 0, [1.0] * len(wanted)):
            yield np.minimum(at, self.beyond) if self.mode == "grid-constant" else at, weights


def _nearest(c: Array, n: int, order: int, mode: str) -> tuple[Array, Array, Array]:
    """Along one axis of ``n`` coefficients, the places of the nearest to each coordinate, their weights and the
    derivatives of these."""
    c, turned, inside = _mapped(c, n, mode)
    middle = np.floor(c if order % 2 else c + 0.5)
    share = (c if order % 2 else c + 0.5) - middle
    none = np.zeros((1, *c.shape))
    weights, rises = np.broadcast_to(inside, none.shape), none
    for degree in range(1, order + 1):
        left, right = np.concatenate([none, weights]), np.concatenate([weights, none])
        j = np.arange(degree + 1.0).reshape(-1, *(1,) * c.ndim)
        rises = left - right
        weights = ((share + degree - j) * left + (j + 1.0 - share) * right) / degree
    places = middle.astype(int) - order // 2 + np.arange(order + 1).reshape(-1, *(1,) * c.ndim)
    return _continued(places, n, mode), weights, rises * turned


def _mapped(c: Array, n: int, mode: str) -> tuple[Array, Array, Array]:
    """Coordinates as SciPy maps them into the image, the derivative of that, and 1 where they are in it, else 0."""
    # SciPy takes NaN for a point outside.
    ones = np.where(np.isnan(c), 0.0, 1.0)
    c = np.where(np.isnan(c), 0.0, c)
    low, high = c < 0, c > n - 1
    if mode in ("nearest", "grid-constant"):
        return c, ones, ones
    if mode == "constant":
        return np.clip(c, 0, n - 1), ones, np.where(low | high, 0.0, ones)
    if n <= 1:
        return 0.0 * c, 0.0 * c, ones
    back = np.zeros(c.shape, bool)
    if mode == "wrap":
        down, up = c + (n - 1) * (np.trunc(-c / (n - 1)) + 1), c - (n - 1) * np.trunc(c / (n - 1))
    elif mode == "grid-wrap":
        down, up = c + n * (np.trunc((-1 - c) / n) + 1), c - n * np.trunc(c / n)
    else:
        apart = 0 if mode == "mirror" else 1
        period = 2 * n - 2 + 2 * apart
        down, up = c + period * np.trunc(-c / period), c - period * np.trunc(c / period)
        far = down <= 1 - n if mode == "mirror" else down < -n
        back = (low & ~far) | (high & (up >= n))
        down = np.where(far, down + period, -down - apart)
        up = np.where(up >= n, period - up - apart, up)
    return np.where(low, down, np.where(high, up, c)), np.where(back, -1.0, 1.0), ones


def _continued(places: Array, n: int, mode: str) -> Array:
    """The places of coefficients in an axis that goes on beyond its edges, or one that is in no image."""
    if mode == "grid-constant":
        return np.where((places < 0) | (places >= n), _FAR, places)
    if mode == "nearest" or n == 1:
        return np.clip(places, 0, n - 1)
    # The remainders of a few: all places are in the image or near it.
    near = np.arange(-8, n + 8)
    if mode == "grid-wrap":
        return np.take(near % n, places + 8)
    apart = 1 if mode == "reflect" else 0
    period = 2 * n - 2 + 2 * apart
    near = near % period
    return np.take(np.where(near >= n, period - apart - near, near), places + 8)


# --- images at points


def _short(g: Array, x: Any) -> Array:
    """An adjoint of ``x``, in single precision if that is."""
    return g.astype(np.float32) if getattr(x, "dtype", None) == np.float32 else g


def _parts(g: Array, of: Any) -> Array:
    """What is real or linear in ``g`` for its real and imaginary part."""
    return of(g.real) + 1j * of(g.imag) if np.iscomplexobj(g) else of(g)


def sampled_adjoint(
    g: Array, image: Array, points: Array, order: int = 3, mode: str = "constant", prefilter: Any = True
) -> Array:
    """The adjoint of ``image`` in ``ndimage.map_coordinates(image, points, order=..., mode=..., prefilter=...)``."""
    spline, points = _Spline(np.shape(image), order, mode, prefilter), np.asarray(points, float)

    def gathered(g: Array) -> Array:
        total = np.zeros(spline.beyond + 1)
        for at, (weight,) in spline.taps(points):
            total += np.bincount(np.ravel(at), np.ravel(weight * g), len(total))
        return spline.image_adjoint(total[:-1])

    return _parts(g, gathered).astype(g.dtype)


def slopes(image: Array, points: Array, order: int, mode: str, cval: Any, prefilter: Any) -> Array:
    """The derivatives of ``ndimage.map_coordinates(image, points, ...)`` in each coordinate, in a first axis."""
    image, points = np.asarray(image), np.asarray(points, float)
    if np.iscomplexobj(image):
        real = slopes(image.real, points, order, mode, np.real(cval), prefilter)
        return real + 1j * slopes(image.imag, points, order, mode, np.imag(cval), prefilter)
    spline, found = _Spline(image.shape, order, mode, prefilter), np.zeros(points.shape)
    coefficients = spline.coefficients(image, cval)
    for at, weights in spline.taps(points, slopes=True) if order else ():
        for k, weight in enumerate(weights):
            found[k] += weight * coefficients[at]
    return found


def points_adjoint(
    g: Array,
    image: Array,
    points: Array,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: Any = True,
) -> Array:
    """The adjoint of ``points`` in ``ndimage.map_coordinates(image, points, ...)``."""
    return _short(np.real(slopes(image, points, order, mode, cval, prefilter) * g), points)


def sampled_tangent(
    image_dot: Array,
    points_dot: Array,
    z: Array,
    image: Array,
    points: Array,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: Any = True,
) -> Array:
    """The tangent of ``z = ndimage.map_coordinates(image, points, ...)``."""
    if z.dtype.kind not in "fc":
        return 0.0
    image, points = np.asarray(image), np.asarray(points, float)
    found = np.sum(slopes(image, points, order, mode, cval, prefilter) * points_dot, axis=0)
    image_dot = image_dot + np.zeros(image.shape, image.dtype)
    found = found + ndimage.map_coordinates(image_dot, points, order=order, mode=mode, prefilter=prefilter)
    return found.astype(z.dtype)


# --- images that are moved, turned and stretched


def shifted_points(image: Array, shift: Any) -> Array:
    """The points at which ``ndimage.shift(image, shift)`` reads the image."""
    return np.indices(np.shape(image)) - _column(shift, np.ndim(image))


def _column(values: Any, count: int) -> Array:
    """Numbers, one for each axis or one for all, in the first axis."""
    found = np.broadcast_to(np.asarray(values, float), (count,))
    return found.reshape(count, *(1,) * count)


def shift_adjoint(points_bar: Array, shift: Any) -> Array:
    """The adjoint of the shift in `shifted_points`."""
    found = -np.sum(points_bar, axis=tuple(range(1, points_bar.ndim)))
    return _short(found if np.ndim(shift) else np.sum(found), shift)


def zoomed_points(image: Array, z: Array, zoom: Any, grid_mode: Any = False) -> Array:
    """The points at which ``z = ndimage.zoom(image, zoom, grid_mode=grid_mode)`` reads the image."""
    apart = 0 if grid_mode else 1
    sizes = [(n - apart, m - apart) for n, m in zip(np.shape(image), z.shape, strict=True)]
    ratio = _column([n / m if m else 1.0 for n, m in sizes], z.ndim)
    places = np.indices(z.shape)
    return (places + 0.5) * ratio - 0.5 if grid_mode else places * ratio


def zoomed_adjoint(
    g: Array, image: Array, zoom: Any, order: int, mode: str, prefilter: Any, grid_mode: Any = False
) -> Array:
    """The adjoint of the image in ``ndimage.zoom(image, zoom, ...)``, which returns it as it is where ``zoom`` is 1."""
    if prefilter and np.all(np.equal(zoom, 1)):
        return g
    return sampled_adjoint(g, image, zoomed_points(image, g, zoom, grid_mode), order, mode, prefilter)


def _affine(matrix: Any, offset: Any, ndim: int) -> tuple[Array, Array]:
    """The matrix and offset that ``ndimage.affine_transform`` reads from its arguments."""
    matrix = np.asarray(matrix, float)
    if matrix.ndim == 2 and matrix.shape[1] == ndim + 1:
        return matrix[:ndim, :ndim], matrix[:ndim, ndim]
    return matrix, np.broadcast_to(np.asarray(offset, float), (ndim,))


def affine_points(image: Array, z: Array, matrix: Any, offset: Any = 0.0) -> Array:
    """The points at which ``z = ndimage.affine_transform(image, matrix, offset)`` reads the image."""
    matrix, offset = _affine(matrix, offset, np.ndim(image))
    places = np.indices(z.shape)
    if matrix.ndim == 1:
        return (places + _column(offset / matrix, len(matrix))) * _column(matrix, len(matrix))
    return np.stack([sum(row[k] * places[k] for k in range(z.ndim)) + o for row, o in zip(matrix, offset, strict=True)])


def matrix_adjoint(points_bar: Array, matrix: Any) -> Array:
    """The adjoint of the matrix in `affine_points`."""
    shape, places = np.shape(matrix), np.indices(points_bar.shape[1:])
    if len(shape) == 1:
        return _short(np.sum(points_bar * places, axis=tuple(range(1, points_bar.ndim))), matrix)
    found = np.zeros(shape)
    count = len(points_bar)
    found[:count, : len(places)] = points_bar.reshape(count, -1) @ places.reshape(len(places), -1).T
    if shape[1] == count + 1:
        found[:count, count] = np.sum(points_bar, axis=tuple(range(1, points_bar.ndim)))
    return _short(found, matrix)


def offset_adjoint(points_bar: Array, matrix: Any, offset: Any) -> Array:
    """The adjoint of the offset in `affine_points`, which is not read where the matrix holds one."""
    if np.ndim(matrix) == 2 and np.shape(matrix)[1] == len(points_bar) + 1:
        return np.zeros(np.shape(offset))
    return -shift_adjoint(points_bar, offset)


def affine_tangent(matrix_dot: Any, offset_dot: Any, z: Array, image: Array, matrix: Any) -> Array:
    """The tangent of `affine_points`."""
    ndim = np.ndim(image)
    matrix_dot, offset_dot = _affine(matrix_dot + np.zeros(np.shape(matrix)), offset_dot, ndim)
    if np.ndim(matrix) == 1:
        return np.indices(z.shape) * _column(matrix_dot, ndim) + _column(offset_dot, ndim)
    return np.tensordot(matrix_dot, np.indices(z.shape), 1) + offset_dot.reshape(ndim, *(1,) * z.ndim)


# --- images that are turned


def _planes(x: Array, axes: Any) -> Array:
    """The planes in which an array is turned, the last two axes of a stack of them."""
    x = np.moveaxis(x, sorted(a % x.ndim for a in axes), (-2, -1))
    return x.reshape(-1, *x.shape[-2:])


def _turned(image: Array, z: Array, angle: Any) -> tuple[Array, Array]:
    """The points at which a plane is read that is turned to ``z``, and their derivatives in the angle."""
    cosine, sine = special.cosdg(angle), special.sindg(angle)
    matrix = np.array([[cosine, sine], [-sine, cosine]])
    middle = (np.array(z.shape) - 1) / 2
    offset = (np.array(image.shape) - 1) / 2 - matrix @ middle
    rise = np.pi / 180 * np.array([[-sine, cosine], [-cosine, -sine]])
    return affine_points(image, z, matrix, offset), np.tensordot(rise, np.indices(z.shape) - _column(middle, 2), 1)


def rotated_adjoint(g: Array, image: Array, angle: Any, axes: Any, order: int, mode: str, prefilter: Any) -> Array:
    """The adjoint of the image in ``ndimage.rotate(image, angle, axes, ...)``."""
    image = np.asarray(image)
    planes, bars = _planes(image, axes), _planes(g, axes)
    found = np.empty(planes.shape, g.dtype)
    for k in range(len(planes)):
        points, _ = _turned(planes[k], bars[k], angle)
        found[k] = sampled_adjoint(bars[k], planes[k], points, order, mode, prefilter)
    places = sorted(a % image.ndim for a in axes)
    return np.moveaxis(found.reshape(np.moveaxis(image, places, (-2, -1)).shape), (-2, -1), places)


def angle_slope(
    z: Array, image: Array, angle: Any, axes: Any, order: int, mode: str, cval: float, prefilter: Any
) -> Array:
    """The derivative of ``z = ndimage.rotate(image, angle, axes, ...)`` in the angle."""
    planes, places = _planes(np.asarray(image), axes), sorted(a % z.ndim for a in axes)
    found = np.zeros_like(_planes(z, axes), np.result_type(z, np.float32))
    for k in range(len(planes) if z.dtype.kind in "fc" else 0):
        points, rise = _turned(planes[k], found[k], angle)
        found[k] = np.sum(slopes(planes[k], points, order, mode, cval, prefilter) * rise, axis=0)
    return np.moveaxis(found.reshape(np.moveaxis(z, places, (-2, -1)).shape), (-2, -1), places)
