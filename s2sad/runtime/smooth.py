"""Functions that are smooth where what they are made of is not: squares of norms, and a part of the logistic loss."""

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


def softplus_rest(x: Any) -> Any:
    """Return ``log1p(exp(-abs(x)))``, which is ``log(1 + exp(x))`` without the positive part of ``x``.

    >>> float(softplus_rest(0.0)) == float(np.log(2.0))
    True
    """
    return np.log1p(np.exp(-np.abs(x)))


def softplus_rest_slope(x: Any) -> Any:
    """Return the derivative of `softplus_rest`: 0 at 0, where it jumps from 1/2 to -1/2.

    >>> softplus_rest_slope(np.array([0.0, np.inf]))
    array([-0., -0.])
    """
    e = np.exp(-np.abs(x))
    return -np.sign(x) * e / (1 + e)


def logistic_density(x: Any) -> Any:
    """Return the derivative of the logistic function, which is that of `softplus_rest_slope` on both sides of 0.

    >>> float(logistic_density(0.0))
    0.25
    """
    e = np.exp(-np.abs(x))
    return e / (1 + e) ** 2


def modulus_from_right(x: Any) -> Any:
    """Return the absolute values of an array, of which the derivative at 0 is 1.

    >>> modulus_from_right(np.array([-2.0, 0.0]))
    array([2., 0.])
    """
    return abs(x)


def modulus_from_left(x: Any) -> Any:
    """Return the absolute values of an array, of which the derivative at 0 is -1.

    >>> modulus_from_left(np.array([-2.0, 0.0]))
    array([2., 0.])
    """
    return abs(x)


def number_from_right(x: Any) -> Any:
    """Return the absolute value of a number, of which the derivative at 0 is 1.

    >>> number_from_right(-2.0)
    2.0
    """
    return abs(x)


def number_from_left(x: Any) -> Any:
    """Return the absolute value of a number, of which the derivative at 0 is -1.

    >>> number_from_left(-2.0)
    2.0
    """
    return abs(x)
