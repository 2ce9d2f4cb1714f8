"""Derivatives of ``scipy.spatial.distance``: of all pairs of rows of two matrices.

Where two points are the same, the distance has a kink, and the derivative of least norm is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import distance

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.matrices import ratio

_NAMES = {"euclid": "euclidean", "eu": "euclidean", "e": "euclidean", "sqeuclid": "sqeuclidean", "sqe": "sqeuclidean"}
_OTHERS = "Use 'euclidean', 'sqeuclidean', 'cityblock', 'chebyshev', 'minkowski' or 'cosine', or write it with NumPy."


def cdist_adjoints(g: Any, z: Any, x: Any, y: Any, metric: str = "euclidean", p: Any = None) -> tuple[Any, Any]:
    """Adjoints of ``x`` and ``y`` in ``z = distance.cdist(x, y, metric, p=p)``.

    Raises:
        UndefinedDerivativeError: for metrics other than those of the formulas here.
    """
    x, y = np.asarray(x), np.asarray(y)
    metric = _NAMES.get(metric, metric)
    if metric == "euclidean":
        return _by_products(ratio(g, z), x, y)
    if metric == "sqeuclidean":
        return _by_products(2 * g, x, y)
    if metric == "cosine":
        return _by_angles(g, z, x, y)
    # One coordinate after the other, so that nothing has three axes.
    x_bar, y_bar = np.zeros(np.shape(x)), np.zeros(np.shape(y))
    share = _share(x, y, z) if metric == "chebyshev" else None
    for k in range(np.shape(x)[1]):
        slope = g * _slope(x[:, k, np.newaxis] - y[:, k], z, metric, p, share)
        x_bar[:, k], y_bar[:, k] = np.sum(slope, axis=1), -np.sum(slope, axis=0)
    return x_bar, y_bar


def _by_products(weights: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """``sum_j w_ij (x_i - y_j)`` and the same for ``y``, by products of matrices."""
    x_bar = np.sum(weights, axis=1)[:, np.newaxis] * x - weights @ y
    return x_bar, np.sum(weights, axis=0)[:, np.newaxis] * y - weights.T @ x


def _by_angles(g: Any, z: Any, x: Any, y: Any) -> tuple[Any, Any]:
    x_size, y_size = (np.sqrt(np.sum(v**2, axis=1, keepdims=True)) for v in (x, y))
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


def _share(x: Any, y: Any, z: Any) -> Any:
    """One over the number of coordinates that are farthest apart."""
    hits = sum((np.abs(x[:, k, np.newaxis] - y[:, k]) == z).astype(float) for k in range(np.shape(x)[1]))
    return 1 / np.maximum(hits, 1)


def cdist_tangent(x_dot: Any, y_dot: Any, z: Any, x: Any, y: Any, metric: str = "euclidean", p: Any = None) -> Any:
    """Tangent of ``z = distance.cdist(x, y, metric, p=p)``."""
    x, y = np.asarray(x), np.asarray(y)
    x_dot, y_dot = x_dot + np.zeros(x.shape), y_dot + np.zeros(y.shape)
    metric = _NAMES.get(metric, metric)
    if metric == "cosine":
        sizes = [np.sqrt(np.sum(v**2, axis=1, keepdims=True)) for v in (x, y)]
        x_unit, y_unit = x / sizes[0], y / sizes[1]
        x_dot = (x_dot - x_unit * np.sum(x_unit * x_dot, axis=1, keepdims=True)) / sizes[0]
        y_dot = (y_dot - y_unit * np.sum(y_unit * y_dot, axis=1, keepdims=True)) / sizes[1]
        return -x_dot @ y_unit.T - x_unit @ y_dot.T
    share = _share(x, y, z) if metric == "chebyshev" else None
    total = np.zeros(np.shape(z))
    for k in range(np.shape(x)[1]):
        d, d_dot = x[:, k, np.newaxis] - y[:, k], x_dot[:, k, np.newaxis] - y_dot[:, k]
        if metric in ("euclidean", "sqeuclidean"):
            total += (ratio(d, z) if metric == "euclidean" else 2 * d) * d_dot
        else:
            total += _slope(d, z, metric, p, share) * d_dot
    return total


# --- pairs of rows of one matrix


def pdist_adjoint(g: Any, z: Any, x: Any, metric: str = "euclidean", p: Any = None) -> Any:
    """Adjoint of ``x`` in ``z = distance.pdist(x, metric, p=p)``."""
    x = np.asarray(x)
    left, right = cdist_adjoints(np.triu(_square(g, len(x))), _square(z, len(x)), x, x, metric, p)
    return left + right


def pdist_tangent(x_dot: Any, z: Any, x: Any, metric: str = "euclidean", p: Any = None) -> Any:
    """Tangent of ``z = distance.pdist(x, metric, p=p)``."""
    whole = cdist_tangent(x_dot, x_dot, _square(z, len(x)), x, x, metric, p)
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
