"""Derivatives of covariances, correlations and weighted histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import mean_ties, share_ties, undiff


def _rows(m: Any, rowvar: bool) -> Any:
    """The variables as rows of a matrix."""
    rows = np.array(m, ndmin=2)
    return rows.T if not rowvar and np.ndim(m) > 1 else rows


def _weighted(x: Any, bias: bool, ddof: Any, fweights: Any, aweights: Any) -> tuple[Any, Any, Any, Any]:
    """The deviations, their weights (or 1), the divisor, and its derivative by each weight in ``aweights``."""
    ddof = (0 if bias else 1) if ddof is None else ddof
    n = x.shape[1]
    w: Any = 1.0
    total: Any = np.float64(n)  # by which zero divides as it does in NumPy
    if aweights is not None:
        # NumPy takes their real parts.
        aweights = np.real(aweights)
    if fweights is not None or aweights is not None:
        f = np.ones(n) if fweights is None else np.asarray(fweights)
        w = f * (1.0 if aweights is None else aweights)
        total = np.sum(w)
    centred = x - np.reshape(np.sum(x * w, axis=1) / total, (-1, 1))
    rise: Any = 0.0
    divisor = total - ddof
    if aweights is not None:
        squares = np.sum(w * aweights)
        divisor = total - ddof * squares / total
        rise = f - ddof * (2 * w * total - squares * f) / total**2
    return centred, w, np.maximum(divisor, 0.0), rise


def cov_adjoint(
    g: Any,
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
) -> tuple[Any, Any, Any]:
    """Return the adjoints of ``m``, ``y`` and ``aweights``, given ``g``, that of ``np.cov`` of these.

    The means drop out: the weighted deviations add up to zero.

    >>> cov_adjoint(1.0, np.array([1.0, 2.0, 6.0]))[0]
    array([-2., -1.,  3.])
    """
    if not np.size(g):
        # Without variables in ``m`` there is no covariance, nor one of those in ``y``.
        return np.zeros(np.shape(m)), 0.0 if y is None else np.zeros(np.shape(y)), 0.0
    first = _rows(m, rowvar)
    x = first if y is None else np.concatenate((first, _rows(y, rowvar)))
    d, w, divisor, rise = _weighted(x, bias, ddof, fweights, aweights)
    g = np.reshape(g, (len(x), len(x)))
    x_bar = (g + np.conj(g.T)) @ np.conj(d) * (w / divisor)
    a_bar: Any = 0.0
    if aweights is not None:
        f = 1.0 if fweights is None else fweights
        each = np.real(np.sum((g.T @ d) * np.conj(d), axis=0))
        a_bar = (each * f - np.sum(each * w) / divisor * rise) / divisor
    k = len(first)
    return _back(x_bar[:k], m, rowvar), 0.0 if y is None else _back(x_bar[k:], y, rowvar), a_bar


def _back(rows_bar: Any, m: Any, rowvar: bool) -> Any:
    return np.reshape(rows_bar.T if not rowvar and np.ndim(m) > 1 else rows_bar, np.shape(m))


def cov_tangent(
    m_dot: Any,
    y_dot: Any,
    a_dot: Any,
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """Return the tangent of ``np.cov``.

    >>> cov_tangent(np.array([1.0, 0.0, 0.0]), None, None, np.array([1.0, 2.0, 6.0]))
    np.float64(-2.0)
    """
    x, t = _rows(m, rowvar), _rows(m_dot, rowvar)
    if y is not None:
        x, t = np.concatenate((x, _rows(y, rowvar))), np.concatenate((t, _rows(y_dot, rowvar)))
    d, w, divisor, rise = _weighted(x, bias, ddof, fweights, aweights)
    half = t @ np.conj(d * w).T
    c_dot = (half + np.conj(half).T) / divisor
    if aweights is not None:
        f, a_dot = 1.0 if fweights is None else fweights, np.real(a_dot)
        c = d @ np.conj(d * w).T / divisor
        c_dot = c_dot + (d @ np.conj(d * (f * a_dot)).T - c * np.sum(rise * a_dot)) / divisor
    return np.squeeze(c_dot)[()]


def corrcoef_adjoint(g: Any, z: Any, x: Any, y: Any = None, rowvar: bool = True) -> tuple[Any, Any]:
    """Return the adjoints of ``x`` and ``y``, given ``g``, that of ``z = np.corrcoef(x, y, rowvar)``.

    >>> corrcoef_adjoint(np.array([[0.0, 1.0], [0.0, 0.0]]), np.eye(2), np.array([[1.0, -1, 0], [1.0, 1, -2]]))[0][0]
    array([ 0.28867513,  0.28867513, -0.57735027])
    """
    c = np.cov(x, y, rowvar, bias=True)
    if np.ndim(c) == 0:
        return np.zeros_like(x), np.zeros_like(x)
    if not np.size(g):
        return cov_adjoint(g, x, y)[:2]
    variances = np.real(np.diagonal(c))
    d = np.sqrt(variances)
    c_bar = g / np.multiply.outer(d, d)
    both = np.real(g * z)
    np.fill_diagonal(c_bar, np.diagonal(c_bar) - (np.sum(both, axis=0) + np.sum(both, axis=1)) / (2 * variances))
    return cov_adjoint(c_bar, x, y, rowvar, True)[:2]


def corrcoef_tangent(x_dot: Any, y_dot: Any, z: Any, x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """Return the tangent of ``z = np.corrcoef(x, y, rowvar)``.

    >>> corrcoef_tangent(np.ones(3), None, 1.0, np.array([1.0, 2.0, 4.0]))
    0.0
    """
    c = np.cov(x, y, rowvar, bias=True)
    if np.ndim(c) == 0:
        return 0.0
    c_dot = cov_tangent(x_dot, y_dot, None, x, y, rowvar, True)
    variances = np.real(np.diagonal(c))
    d, rate = np.sqrt(variances), np.real(np.diagonal(c_dot)) / (2 * variances)
    return c_dot / np.multiply.outer(d, d) - z * np.add.outer(rate, rate)


# --- histograms ---


def _bins(a: Any, edges: Any) -> tuple[Any, Any]:
    """The bin of each element, the last of which has its right edge, and whether it is in one."""
    if np.iscomplexobj(a) or np.iscomplexobj(edges):
        raise UndefinedDerivativeError("np.histogram has no derivative by complex numbers", "Use their real parts.")
    place = np.searchsorted(edges, a, side="right") - 1
    place = np.where(np.equal(a, edges[-1]), len(edges) - 2, place)
    inside = (place >= 0) & (place < len(edges) - 1)
    return np.where(inside, place, 0), inside


def histogram_adjoint(g: Any, z: Any, a: Any, bins: Any, weights: Any, density: Any, whole: Any) -> tuple[Any, ...]:
    """Return the adjoints of ``a``, ``bins`` and ``weights``, given ``g``, that of ``z``, the heights and edges.

    A count has no derivative by the data, but edges from its extremes have (unless ``whole``, the range, is given).

    >>> h = np.histogram([0.5, 1.5, 1.7], [0.0, 1.0, 2.0], weights=[1.0, 2.0, 3.0])
    >>> histogram_adjoint((np.array([1.0, 2.0]), np.zeros(3)), h, [0.5, 1.5, 1.7], None, 1.0, False, None)[2]
    array([1., 2., 2.])
    """
    heights_bar, edges_bar = g
    heights, edges = z
    if not len(heights):  # without bins
        return np.zeros(np.shape(a)), edges_bar, np.zeros(np.shape(weights))
    place, inside = _bins(np.asarray(a), edges)
    if density:
        widths = np.diff(edges)
        total = np.sum(np.where(inside, 1.0 if weights is None else weights, 0))
        rise = heights_bar * heights
        edges_bar = edges_bar - undiff(rise / widths, np.shape(edges))
        heights_bar = (heights_bar / widths - np.sum(rise)) / total
    weights_bar = np.where(inside, np.take(heights_bar, place), 0)
    if np.ndim(bins):
        return np.zeros(np.shape(a)), edges_bar, weights_bar
    a_bar = np.zeros(np.shape(a))
    if whole is None and np.size(a):
        rising = np.linspace(0, 1, len(edges))
        a_bar = share_ties(np.sum(edges_bar * rising), a, np.max(a))
        a_bar = a_bar + share_ties(np.sum(edges_bar * (1 - rising)), a, np.min(a))
    return a_bar, 0.0, weights_bar


def _counted(places: Any, weights: Any, length: int) -> Any:
    """``np.bincount``, also with complex weights."""
    real = np.bincount(places, np.real(weights), length)
    return real + 1j * np.bincount(places, np.imag(weights), length) if np.iscomplexobj(weights) else real


def histogram_tangent(
    a_dot: Any, bins_dot: Any, weights_dot: Any, z: Any, a: Any, bins: Any, weights: Any, density: Any, whole: Any
) -> tuple[Any, Any]:
    """Return the tangents of ``z``, the heights and edges of ``np.histogram``.

    >>> h = np.histogram([0.5, 1.5], [0.0, 1.0, 2.0], weights=[1.0, 2.0])
    >>> histogram_tangent(0, 0, [1.0, 4.0], h, [0.5, 1.5], [0.0, 1.0, 2.0], [1.0, 2.0], False, None)[0]
    array([1., 4.])
    """
    heights, edges = z
    if not len(heights):  # without bins
        return 0.0, bins_dot
    place, inside = _bins(np.asarray(a), edges)
    edges_dot = np.zeros(len(edges))
    if np.ndim(bins):
        edges_dot = np.broadcast_to(bins_dot, np.shape(edges))
    elif whole is None and np.size(a):
        rising = np.linspace(0, 1, len(edges))
        edges_dot = mean_ties(a_dot, a, np.max(a)) * rising + mean_ties(a_dot, a, np.min(a)) * (1 - rising)
    moved: Any = 0.0
    if weights is not None:
        moved = _counted(np.ravel(place), np.ravel(np.where(inside, weights_dot, 0)), len(heights))
    if density:
        widths = np.diff(edges)
        total = np.sum(np.where(inside, 1.0 if weights is None else weights, 0))
        moved = moved / widths / total - heights * np.sum(moved) / total - heights * np.diff(edges_dot) / widths
    return moved, edges_dot


# --- histograms over several variables, by the weights


def box_places(points: Any, edges: Any) -> tuple[Any, Any]:
    """The flat places of the boxes that hold some points, and which points are in one at all, as NumPy counts them.

    >>> box_places(np.array([[0.5, 0.5], [1.0, 2.0], [3.0, 0.0]]), ([0.0, 1.0], [0.0, 1.0, 2.0]))
    (array([0, 1, 0]), array([ True,  True, False]))
    """
    columns = np.transpose(points)
    found, inside = np.zeros(columns.shape[1], int), np.ones(columns.shape[1], bool)
    for column, ends in zip(columns, edges, strict=True):
        place = np.searchsorted(ends, column, "right") - (column == ends[-1]) - 1
        here = (place >= 0) & (place < len(ends) - 1)
        found, inside = found * (len(ends) - 1) + np.where(here, place, 0), inside & here
    return np.where(inside, found, 0), inside


def as_points(sample: Any) -> Any:
    """The rows that ``np.histogramdd`` takes a sample for: an array of rows, or a list of columns."""
    return np.asarray(sample) if np.ndim(sample) == 2 and hasattr(sample, "shape") else np.atleast_2d(sample).T


def _volumes(edges: Any) -> Any:
    whole = np.ones(())
    for ends in edges:
        whole = np.multiply.outer(whole, np.diff(ends))
    return whole


def boxes_adjoint(g: Any, heights: Any, edges: Any, points: Any, weights: Any, density: Any) -> Any:
    """The adjoint of the weights in the ``heights`` of a histogram over several variables."""
    places, inside = box_places(points, edges)
    if density:
        total = np.sum(np.where(inside, weights, 0))
        g = (g / _volumes(edges) - np.sum(g * heights)) / total
    return np.where(inside, np.ravel(g)[places], 0)


def boxes_tangent(weights_dot: Any, heights: Any, edges: Any, points: Any, weights: Any, density: Any) -> Any:
    """The tangent of the ``heights`` of a histogram over several variables."""
    places, inside = box_places(points, edges)
    moved = np.where(inside, weights_dot, 0)
    found = _counted(places, moved, heights.size).reshape(heights.shape)
    if not density:
        return found
    total = np.sum(np.where(inside, weights, 0))
    return (found / _volumes(edges) - heights * np.sum(moved)) / total


def no_motion(edges: Any) -> Any:
    """The tangent of edges that stay where they are, in their form."""
    return type(edges)([np.zeros(np.shape(ends)) for ends in edges])
