"""Kolmogorov's limit of the distribution of the largest distance of two distribution functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from s2sad.runtime.scipy_special import narrowed

Array = Any
_TERMS = 60
#: Below, the function is 1 in double precision.
_LEAST = 0.12


def kolmogorov_derivative(y: Array, order: int) -> Array:
    """The derivative of an order, 1 or more, of `scipy.special.kolmogorov`.

    It is that of ``2 * sum((-1) ** (k - 1) * exp(-2 * k**2 * y**2))``, whose terms have Hermite polynomials.

    Example:
        >>> round(float(kolmogorov_derivative(1.0, 1)), 8)
        -1.07194856
    """
    above = np.asarray(y) > _LEAST
    points = np.where(above, y, 1.0)
    found = np.zeros(np.shape(points))
    for k in range(_TERMS, 0, -1):
        term = special.eval_hermitenorm(order, 2 * k * points) * np.exp(-2 * (k * points) ** 2)
        found = found + 2 * (-1) ** (k - 1) * (-2 * k) ** order * term
    return narrowed(np.where(above, found, 0.0), y)
