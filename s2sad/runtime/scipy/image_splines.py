"""Splines through images as ``scipy.ndimage`` finds them: their coefficients, and the weights of these at points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import ndimage

Array = Any
#: The modes whose filter goes on as in a mirror at the middle of the last elements.
_MIRRORED = ("constant", "grid-constant", "mirror", "wrap")
#: How many elements SciPy puts around an image before it is filtered.
_PADS = {"nearest": 12, "grid-constant": 12}
#: From how many elements on the filter is symmetric to rounding.
_LONG = 80
#: What is beyond the edges, along one axis.
_FAR = 1 << 48


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


class Spline:
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

    def taps(self, coordinates: Array, wanted: Sequence[tuple[int, ...]]) -> Iterator[tuple[Array, list[Array]]]:
        """For each of the nearest coefficients: where it is, and derivatives of its weight at the points.

        Each of ``wanted`` says how often in each coordinate; that of zeros is the weight itself.
        """
        axes = [_nearest(c + self.pad, n, self.order, self.mode) for c, n in zip(coordinates, self.shape, strict=True)]
        strides = np.cumprod((1, *self.shape[:0:-1]))[::-1]

        def further(k: int, at: Any, factors: list[Any]) -> Iterator[tuple[Array, list[Array]]]:
            if k == len(axes):
                yield at, factors
                return
            for place, *weights in zip(*axes[k], strict=True):
                more = [f * weights[times[k]] for f, times in zip(factors, wanted, strict=True)]
                yield from further(k + 1, at + place * strides[k], more)

        for at, weights in further(0, 0, [1.0] * len(wanted)):
            yield np.minimum(at, self.beyond) if self.mode == "grid-constant" else at, weights


def _nearest(c: Array, n: int, order: int, mode: str) -> tuple[Array, Array, Array, Array]:
    """Along one axis of ``n`` coefficients, the places of the nearest to each coordinate, their weights and the first
    and second derivatives of these."""
    c, turned, inside = _mapped(c, n, mode)
    middle = np.floor(c if order % 2 else c + 0.5)
    share = (c if order % 2 else c + 0.5) - middle
    none = np.zeros((1, *c.shape))
    weights, rises, bends = np.broadcast_to(inside, none.shape), none, none
    for degree in range(1, order + 1):
        bends = np.concatenate([none, rises]) - np.concatenate([rises, none])
        left, right = np.concatenate([none, weights]), np.concatenate([weights, none])
        j = np.arange(degree + 1.0).reshape(-1, *(1,) * c.ndim)
        rises = left - right
        weights = ((share + degree - j) * left + (j + 1.0 - share) * right) / degree
    places = middle.astype(int) - order // 2 + np.arange(order + 1).reshape(-1, *(1,) * c.ndim)
    return _continued(places, n, mode), weights, rises * turned, bends * turned**2


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
