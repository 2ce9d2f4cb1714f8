"""The signs that SciPy gives to vectors that are determined up to numbers of modulus one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

Array = Any


def row_signs(a: Array, q: Array) -> Array:
    """Numbers by which the rows of ``q`` are those of `scipy.linalg.rq`.

    >>> q = linalg.rq(np.eye(2) + 1.0)[1]
    >>> row_signs(np.eye(2) + 1.0, np.array([[1.0], [-1.0]]) * q)
    array([ 1., -1.])
    """
    return np.sign(np.sum(np.conj(q) * linalg.rq(a, mode="economic")[1], axis=1))


def column_signs(a_band: Array, v: Array, lower: bool = False) -> Array:
    """Numbers by which the columns of ``v`` are those of `scipy.linalg.eig_banded`."""
    return np.sign(np.sum(np.conj(v) * linalg.eig_banded(a_band, lower)[1], axis=0))
