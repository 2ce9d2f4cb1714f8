"""Derivatives of ``scipy.spatial.distance``: of all pairs of rows of two matrices.

Where two points are the same, the distance has a kink, and the derivative of least norm is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import distance

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast, widened
from s2sad.runtime.matrices import ratio

_NAMES = {"euclid": "euclidean", "eu": "euclidean", "e": "euclidean", "sqeuclid": "sqeuclidean", "sqe": "sqeuclidean"}
_OTHERS = "Write it with operations of NumPy, on x[:, np.newaxis] - y."


def named(metric: Any) -> str:
    """The name of a metric in full."""
    if not isinstance(metric, str):
        raise UndefinedDerivativeError("a metric that is a function has no derivative rule", _OTHERS)
    return _NAMES.get(metric, metric)


def of_power(p: float) -> str:
    """The metric of ``spatial.distance_matrix`` with a power."""
    return {1: "cityblock", 2: "euclidean", np.inf: "chebyshev"}.get(p, "minkowski")


def cdist_adjoints(
    g: Any, z: Any, x: Any, y: Any, metric: Any = "euclidean", p: Any = None, V: Any = None, VI: Any = None
) -> tuple[Any, Any]:
    """Adjoints of ``x`` and ``y`` in ``z = distance.cdist(x, y, metric, p=p)``.

    Raises:
        UndefinedDerivativeError: for metrics other than those of the formulas here.
    """
    x, y = np.asarray(x), np.asarray(y)
    metric = named(metric)
    if metric in _BY_PAIRS:
        x_slope, y_slope = _slopes(metric, x[:, np.newaxis], y, z[..., np.newaxis], V if VI is None else VI)
        return np.sum(g[..., np.newaxis] * x_slope, axis=1), np.sum(g[..., np.newaxis] * y_slope, axis=0)
    if metric == "correlation":
        x_bar, y_bar = _by_angles(g, z, _centred(x), _centred(y))
        return _centred(x_bar), _centred(y_bar)
    if metric == "euclidean":
        return _by_products(ratio(g, z), x, y)
    if metric == "sqeuclidean":
        return _by_products(2 * g, x, y)
    if metric == "cosine":
        return _by_angles(g, z, x, y)
    # One coordinate after the other, so that nothing has three axes.
    x_bars, y_bars = [], []
    z, share = _farthest(x, y, z, metric)
    for k in range(np.shape(x)[1]):
        slope = g * _slope(x[:, k, np.newaxis] - y[:, k], z, metric, p, share)
        x_bars.append(np.sum(slope, axis=1))
        y_bars.append(-np.sum(slope, axis=0))
    return np.reshape(np.transpose(x_bars), np.shape(x)), np.reshape(np.transpose(y_bars), np.shape(y))


def _centred(x: Any) -> Any:
    return x - np.mean(x, axis=1, keepdims=True)


#: The metrics of which the slopes are found for all pairs at once.
_BY_PAIRS = ("canberra", "braycurtis", "jensenshannon", "seuclidean", "mahalanobis")


def _slopes(metric: str, x: Any, y: Any, z: Any, scale: Any) -> tuple[Any, Any]:
    """The slopes of a distance by the coordinates of both points, of all pairs."""
    d, total = x - y, x + y
    if metric == "canberra":
        size = np.abs(x) + np.abs(y)
        rise, fall = ratio(np.sign(d), size), ratio(np.abs(d), size**2)
        return rise - fall * np.sign(x), -rise - fall * np.sign(y)
    if metric == "braycurtis":
        size = np.sum(np.abs(total), axis=-1, keepdims=True)
        rise, fall = np.sign(d) / size, z / size * np.sign(total)
        return rise - fall, -rise - fall
    if metric == "jensenshannon":
        x_size, y_size = np.sum(x, axis=-1, keepdims=True), np.sum(y, axis=-1, keepdims=True)
        p, q = x / x_size, y / y_size
        return _divergence(p, q, z) / x_size, _divergence(q, p, z) / y_size
    # By variances, or by the inverse of covariances.
    if scale is None:
        raise UndefinedDerivativeError(
            "a metric whose scale is that of the points has no derivative rule",
            "Give the variances as V, or the inverse of their covariances as VI.",
        )
    scale = np.asarray(scale)
    slope = ratio(d / scale if scale.ndim == 1 else d @ (scale + scale.T) / 2, z)
    return slope, -slope


def _divergence(p: Any, q: Any, z: Any) -> Any:
    """The slope of the root of Jensen's and Shannon's divergence by the shares ``p``, of which the sum stays 1."""
    along = ratio(np.log(np.where(p > 0, ratio(2 * p, p + q), 1)), 4 * z)
    return along - np.sum(along * p, axis=-1, keepdims=True)


def _by_products(weights: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """``sum_j w_ij (x_i - y_j)`` and the same for ``y``, by products of matrices."""
    x_bar = np.sum(weights, axis=1)[:, np.newaxis] * x - weights @ y
    return x_bar, np.sum(weights, axis=0)[:, np.newaxis] * y - weights.T @ x


def _sizes(x: Any) -> Any:
    return np.sqrt(np.sum(x**2, axis=1, keepdims=True))


def _by_angles(g: Any, z: Any, x: Any, y: Any) -> tuple[Any, Any]:
    x_size, y_size = _sizes(x), _sizes(y)
    x_unit, y_unit, cosine = x / x_size, y / y_size, g * (1 - z)
    x_bar = (np.sum(cosine, axis=1)[:, np.newaxis] * x_unit - g @ y_unit) / x_size
    return x_bar, (np.sum(cosine, axis=0)[:, np.newaxis] * y_unit - g.T @ x_unit) / y_size


def _slope(d: Any, z: Any, metric: str, p: Any, share: Any) -> Any:
    """The derivative of the distance by one coordinate of the first points, whose differences are ``d``."""
    if metric == "cityblock":
        return np.sign(d)
    if metric == "chebyshev":
        return np.sign(d) * (np.abs(d) == z) * share
    if metric == "minkowski":
        p = 2 if p is None else p
        return np.sign(d) * ratio(np.abs(d), z) ** (p - 1) * (d != 0)
    raise UndefinedDerivativeError(f"the metric {metric!r} has no derivative rule", _OTHERS)


def _farthest(x: Any, y: Any, z: Any, metric: str) -> tuple[Any, Any]:
    """The largest of the differences, and one over the number of coordinates that have it; of other metrics ``z``.

    The differences are compared with one another: SciPy may have rounded ``z`` to another precision than theirs.
    """
    if metric != "chebyshev" or not np.shape(x)[1]:
        return z, None
    gaps = [np.abs(x[:, k, np.newaxis] - y[:, k]) for k in range(np.shape(x)[1])]
    largest = np.max(gaps, axis=0)
    hits = sum((gap == largest for gap in gaps), np.zeros(np.shape(largest)))
    return largest, 1 / np.maximum(hits, 1)


def cdist_tangent(
    x_dot: Any,
    y_dot: Any,
    z: Any,
    x: Any,
    y: Any,
    metric: Any = "euclidean",
    p: Any = None,
    V: Any = None,
    VI: Any = None,
) -> Any:
    """Tangent of ``z = distance.cdist(x, y, metric, p=p)``."""
    x, y = np.asarray(x), np.asarray(y)
    x_dot, y_dot = x_dot + np.zeros(x.shape), y_dot + np.zeros(y.shape)
    metric = named(metric)
    if metric in _BY_PAIRS:
        x_slope, y_slope = _slopes(metric, x[:, np.newaxis], y, z[..., np.newaxis], V if VI is None else VI)
        return np.sum(x_slope * x_dot[:, np.newaxis] + y_slope * y_dot, axis=-1)
    if metric == "correlation":
        x, y, x_dot, y_dot, metric = _centred(x), _centred(y), _centred(x_dot), _centred(y_dot), "cosine"
    if metric == "cosine":
        x_unit, y_unit = x / _sizes(x), y / _sizes(y)
        x_dot = (x_dot - x_unit * np.sum(x_unit * x_dot, axis=1, keepdims=True)) / _sizes(x)
        y_dot = (y_dot - y_unit * np.sum(y_unit * y_dot, axis=1, keepdims=True)) / _sizes(y)
        return -x_dot @ y_unit.T - x_unit @ y_dot.T
    z, share = _farthest(x, y, z, metric)
    total = 0 * z
    for k in range(np.shape(x)[1]):
        d, d_dot = x[:, k, np.newaxis] - y[:, k], x_dot[:, k, np.newaxis] - y_dot[:, k]
        if metric == "euclidean":
            total = total + ratio(d, z) * d_dot
        elif metric == "sqeuclidean":
            total = total + 2 * d * d_dot
        else:
            total = total + _slope(d, z, metric, p, share) * d_dot
    return total


# --- two vectors


def _row(u: Any, metric: str) -> Any:
    """A vector in double precision as a row.

    Raises:
        UndefinedDerivativeError: if its product with itself is not the sum of squares, in integers of few bits.
    """
    u = np.asarray(u)
    row = widened(np.reshape(u, (1, -1)))
    if metric == "cosine" and u.dtype.kind in "iu" and np.dot(u, u) != np.sum(row**2):
        raise UndefinedDerivativeError(
            f"SciPy computes the size of a vector in {u.dtype}, where its squares are too large",
            "Give the vector in floating-point numbers: v.astype(float).",
        )
    return row


def _scale(metric: str, p: Any, w: Any) -> Any:
    """What the coordinates are multiplied by in a distance with weights, to have one without."""
    if metric == "chebyshev":
        return np.where(w > 0, 1.0, 0.0)
    if metric in ("cityblock", "braycurtis"):
        return w
    return w ** (1 / p) if metric == "minkowski" else np.sqrt(w)


def pair_adjoints(
    g: Any, z: Any, u: Any, v: Any, metric: str, p: Any = None, V: Any = None, VI: Any = None, w: Any = None
) -> tuple[Any, Any]:
    """Adjoints of the vectors ``u`` and ``v`` in ``z = getattr(distance, metric)(u, v, w=w)``."""
    x, y = np.broadcast_arrays(_row(u, metric), _row(v, metric))  # SciPy subtracts a single number from a vector too
    share, scale = 0.0, 1.0
    if w is not None:
        w = np.asarray(w, float)
        if metric == "correlation":
            share, metric = w / np.sum(w), "cosine"
            x, y = x - np.sum(share * x), y - np.sum(share * y)
        scale = w if metric == "canberra" else _scale(metric, p, w)
        x, y = (x, y) if metric == "canberra" else (x * scale, y * scale)
    x_bar, y_bar = cdist_adjoints(np.reshape(g, (1, 1)), np.reshape(z, (1, 1)), x, y, metric, p, V, VI)
    bars = [bar[0] * scale - share * np.sum(bar * scale) for bar in (x_bar, y_bar)]
    return unbroadcast(bars[0], np.shape(u)), unbroadcast(bars[1], np.shape(v))


def pair_tangent(
    u_dot: Any,
    v_dot: Any,
    z: Any,
    u: Any,
    v: Any,
    metric: str,
    p: Any = None,
    V: Any = None,
    VI: Any = None,
    w: Any = None,
) -> Any:
    """Tangent of ``z = getattr(distance, metric)(u, v, w=w)``."""
    x_bar, y_bar = pair_adjoints(1.0, z, u, v, metric, p, V, VI, w)
    return np.sum(x_bar * u_dot) + np.sum(y_bar * v_dot)


# --- pairs of rows of one matrix


def pdist_adjoint(
    g: Any, z: Any, x: Any, metric: Any = "euclidean", p: Any = None, V: Any = None, VI: Any = None
) -> Any:
    """Adjoint of ``x`` in ``z = distance.pdist(x, metric, p=p)``."""
    x = np.asarray(x)
    left, right = cdist_adjoints(np.triu(_square(g, len(x))), _square(z, len(x)), x, x, metric, p, V, VI)
    return left + right


def pdist_tangent(
    x_dot: Any, z: Any, x: Any, metric: Any = "euclidean", p: Any = None, V: Any = None, VI: Any = None
) -> Any:
    """Tangent of ``z = distance.pdist(x, metric, p=p)``."""
    whole = cdist_tangent(x_dot, x_dot, _square(z, len(x)), x, x, metric, p, V, VI)
    return whole[np.triu_indices(len(x), 1)]


def _square(z: Any, count: int) -> Any:
    whole = np.zeros((count, count), np.result_type(z))
    whole[np.triu_indices(count, 1)] = z
    return whole + whole.T


def squareform_adjoint(g: Any, x: Any) -> Any:
    """Adjoint of ``X`` in ``distance.squareform(X)``, a vector or a matrix, of which the upper triangle is read."""
    if np.ndim(x) == 1:
        return distance.squareform(g + g.T, checks=False)
    count = np.shape(x)[0]
    whole = np.zeros((count, count), np.result_type(g))
    whole[np.triu_indices(count, 1)] = g
    return whole
