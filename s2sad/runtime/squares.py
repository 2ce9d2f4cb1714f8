"""Squares of absolute values and norms, which are smooth where these vanish."""

from __future__ import annotations

from typing import Any

import numpy as np


def squared_modulus(x: Any) -> Any:
    """Return the square of the absolute value of a complex number.

    >>> float(squared_modulus(3.0 + 4.0j))
    25.0
    """
    return abs(x) ** 2


def squared_hypot(x: Any, y: Any) -> Any:
    """Return the sum of two squares.

    >>> squared_hypot(3.0, 4.0)
    25.0
    """
    return x**2 + y**2


def squared_norm(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the sum of the squares of absolute values, along an axis or two.

    >>> squared_norm(np.array([[3.0, 4.0], [1.0, 2.0]]), axis=1)
    array([25.,  5.])
    """
    return np.sum(abs(x) ** 2, axis=axis, keepdims=keepdims)
