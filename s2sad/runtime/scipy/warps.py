"""Derivatives of ``scipy.ndimage`` where it interpolates images by splines: in the images and in the coordinates.

The value at a point is a sum over the nearest coefficients of the spline, which are found of the image by a filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage, special

from s2sad.runtime.scipy.image_splines import Spline

Array = Any


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
    none = (0,) * np.ndim(image)
    return _spread(g, image, points, order, mode, prefilter, [(none, 1.0)])


def _spread(
    g: Array, image: Array, points: Array, order: int, mode: str, prefilter: Any, parts: list[tuple[Any, Any]]
) -> Array:
    """The adjoint of ``image`` in a sum of derivatives at the points, each with a factor."""
    spline, points = Spline(np.shape(image), order, mode, prefilter), np.asarray(points, float)
    wanted = [times for times, _ in parts]

    def gathered(g: Array) -> Array:
        total = np.zeros(spline.beyond + 1)
        for at, weights in spline.taps(points, wanted):
            weight = sum(w * factor for w, (_, factor) in zip(weights, parts, strict=True))
            total += np.bincount(np.ravel(at), np.ravel(weight * g), len(total))
        return spline.image_adjoint(total[:-1])

    return _parts(g, gathered).astype(g.dtype)


def _units(ndim: int) -> list[tuple[int, ...]]:
    """Once in each coordinate."""
    return [tuple(row) for row in np.eye(ndim, dtype=int).tolist()]


def _derivatives(
    image: Array, points: Array, order: int, mode: str, cval: Any, prefilter: Any, wanted: Sequence[tuple[int, ...]]
) -> Array:
    """Derivatives of ``ndimage.map_coordinates(image, points, ...)``, in a first axis."""
    image, points = np.asarray(image), np.asarray(points, float)
    if np.iscomplexobj(image):
        real = _derivatives(image.real, points, order, mode, np.real(cval), prefilter, wanted)
        return real + 1j * _derivatives(image.imag, points, order, mode, np.imag(cval), prefilter, wanted)
    spline, found = Spline(image.shape, order, mode, prefilter), np.zeros((len(wanted), *points.shape[1:]))
    coefficients = spline.coefficients(image, cval)
    for at, weights in spline.taps(points, wanted) if order else ():
        for k, weight in enumerate(weights):
            found[k] += weight * coefficients[at]
    return found


def slopes(image: Array, points: Array, order: int, mode: str, cval: Any, prefilter: Any) -> Array:
    """The derivatives of ``ndimage.map_coordinates(image, points, ...)`` in each coordinate, in a first axis."""
    return _derivatives(image, points, order, mode, cval, prefilter, _units(np.ndim(image)))


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
    """The tangent of ``result = map_coordinates(image, points, ...)``, of those of the image and of the points."""
    if result.dtype.kind not in "fc":
        return 0.0
    image, points = np.asarray(image), np.asarray(points, float)
    found = np.sum(slopes(image, points, order, mode, cval, prefilter) * way, axis=0)
    moves = moves + np.zeros(image.shape, image.dtype)
    found = found + ndimage.map_coordinates(moves, points, order=order, mode=mode, prefilter=prefilter)
    return found.astype(result.dtype)


# --- second derivatives in the points


def bent_adjoint(
    g: Array, way: Array, image: Array, points: Array, order: int, mode: str, cval: float, prefilter: Any
) -> Array:
    """The adjoint of ``points`` in the derivative of ``map_coordinates`` along ``way``, a direction for each point."""
    units = _units(np.ndim(image))
    pairs = [(j, k) for j in range(len(units)) for k in range(j + 1)]
    wanted = [tuple(map(sum, zip(units[j], units[k], strict=True))) for j, k in pairs]
    found, total = _derivatives(image, points, order, mode, cval, prefilter, wanted), np.zeros(np.shape(points))
    for (j, k), bend in zip(pairs, np.real(found * g), strict=True):
        total[j] += bend * way[k]
        total[k] += bend * way[j] if j != k else 0.0
    return _short(total, points)


def slid_adjoint(g: Array, way: Array, image: Array, points: Array, order: int, mode: str, prefilter: Any) -> Array:
    """The adjoint of ``image`` in the derivative of ``map_coordinates`` along ``way``, a direction for each point."""
    parts = list(zip(_units(np.ndim(image)), way, strict=True)) if order else []
    return _spread(g, image, points, order, mode, prefilter, parts) if parts else np.zeros(np.shape(image), g.dtype)


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
