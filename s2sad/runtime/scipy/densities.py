"""Densities of kernels: what models of ``gaussian_kde`` compute with, and those that are constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg

from s2sad.errors import UndefinedDerivativeError

Array = Any


def kde_points(points: Array, dimensions: int) -> Array:
    """Points as columns, in the forms that SciPy takes."""
    found = np.atleast_2d(points)
    if found.shape[0] != dimensions and found.shape != (1, dimensions):
        raise ValueError(f"points have dimension {found.shape[0]}, dataset has dimension {dimensions}")
    return np.reshape(found, (dimensions, -1))


def kde_factor(method: Any, size: Any, dimensions: int) -> Any:
    """The width of the kernels beside that of the data, for an effective number of these."""
    if method is None or method == "scott":
        return np.power(size, -1.0 / (dimensions + 4))
    if method == "silverman":
        return np.power(size * (dimensions + 2.0) / 4.0, -1.0 / (dimensions + 4))
    if isinstance(method, str) or callable(method):
        raise UndefinedDerivativeError(
            "gaussian_kde with a function for its bandwidth has no derivative rule", "Give it a number, or a name."
        )
    return method


def density_slopes(kde: Any, points: Array, logarithmic: bool) -> Array:
    """The derivatives by the coordinates of points of the density of a constant ``gaussian_kde``, as columns."""
    columns = kde_points(points, kde.d)
    triangle = linalg.cholesky(kde.covariance, lower=True)
    apart = columns[:, np.newaxis] - kde.dataset[:, :, np.newaxis]
    white = linalg.solve_triangular(triangle, apart.reshape(kde.d, -1), lower=True)
    energy = 0.5 * np.sum(white**2, axis=0).reshape(apart.shape[1:])
    least = np.min(energy, axis=0)
    shares = kde.weights[:, np.newaxis] * np.exp(least - energy)
    shares = shares / np.sum(shares, axis=0) if logarithmic else shares * np.exp(-least)
    pull = linalg.solve_triangular(triangle.T, white, lower=False).reshape(apart.shape)
    slopes = -np.sum(shares * pull, axis=1)
    if logarithmic:
        return slopes
    return slopes / (np.prod(np.diag(triangle)) * (2 * math.pi) ** (kde.d / 2))


def density_adjoint(g: Array, kde: Any, points: Array, logarithmic: bool) -> Array:
    """Adjoint of the points in ``kde.pdf(points)`` or ``kde.logpdf(points)``."""
    return np.reshape(g * density_slopes(kde, points, logarithmic), np.shape(points))


def density_tangent(points_dot: Array, kde: Any, points: Array, logarithmic: bool) -> Array:
    """Tangent of ``kde.pdf(points)`` or ``kde.logpdf(points)``."""
    dots = np.reshape(np.broadcast_to(points_dot, np.shape(points)), (kde.d, -1))
    return np.sum(dots * density_slopes(kde, points, logarithmic), axis=0)
