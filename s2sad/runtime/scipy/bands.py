"""Derivatives of solvers of systems with banded matrices, in the time and memory that the bands take.

Band storage: ``ab[u + i - j, j] == a[i, j]``.  There may be stacks of matrices; right-hand sides are columns here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.scipy.systems import columns, like_side


def transposed_bands(ab: Any, low: int, up: int) -> Any:
    """The band storage of the transpose, which has ``up`` diagonals below and ``low`` above the main one.

    Example:
        >>> transposed_bands(np.array([[0.0, 1.0], [2.0, 3.0]]), 0, 1)
        array([[2., 3.],
               [1., 0.]])
    """
    ab = np.asarray(ab)
    size = ab.shape[-1]
    flipped = np.zeros_like(ab)
    for k in range(-low, up + 1):  # the diagonal on which j - i == k
        flipped[..., low + k, max(-k, 0) : size - max(k, 0)] = ab[..., up - k, max(k, 0) : size - max(-k, 0)]
    return flipped


def outer_bands(x: Any, y: Any, low: int, up: int) -> Any:
    """The bands of ``x @ y.T`` in band storage."""
    *stack, size, _ = x.shape
    bands = np.zeros((*stack, low + up + 1, size), np.result_type(x, y))
    for k in range(-low, up + 1):
        product = x[..., max(-k, 0) : size - max(k, 0), :] * y[..., max(k, 0) : size - max(-k, 0), :]
        bands[..., up - k, max(k, 0) : size - max(-k, 0)] = np.sum(product, axis=-1)
    return bands


def banded_product(ab: Any, x: Any, low: int, up: int) -> Any:
    """The banded matrix ``ab`` times ``x``."""
    size = x.shape[-2]
    result = np.zeros(x.shape, np.result_type(ab, x))
    for k in range(-low, up + 1):
        band = ab[..., up - k, max(k, 0) : size - max(-k, 0)]
        part = x[..., max(k, 0) : size - max(-k, 0), :]
        result[..., max(-k, 0) : size - max(k, 0), :] += np.expand_dims(band, -1) * part
    return result


def solve_banded_adjoint(z_bar: Any, z: Any, l_and_u: Any, ab: Any, b: Any) -> tuple[Any, Any]:
    """Adjoints of ``ab`` and ``b`` in ``z = linalg.solve_banded(l_and_u, ab, b)``."""
    low, up = l_and_u
    b_bar = linalg.solve_banded((up, low), transposed_bands(ab, low, up), columns(z_bar, b))
    ab_bar = -outer_bands(b_bar, columns(z, b), low, up)
    return unbroadcast(ab_bar, np.shape(ab)), unbroadcast(like_side(b_bar, b), np.shape(b))


def solve_banded_tangent(ab_dot: Any, b_dot: Any, z: Any, l_and_u: Any, ab: Any, b: Any) -> Any:
    """Tangent of ``z = linalg.solve_banded(l_and_u, ab, b)``."""
    right = columns(b_dot, b) - banded_product(ab_dot, columns(z, b), *l_and_u)
    return like_side(linalg.solve_banded(l_and_u, ab, right), b)


def hermitian_bands_adjoint(z_bar: Any, z: Any, ab: Any, b: Any, lower: bool = False) -> tuple[Any, Any]:
    """Adjoints of ``ab`` and ``b`` in ``z = linalg.solveh_banded(ab, b, lower=lower)``."""
    b_bar = np.conj(linalg.solveh_banded(ab, np.conj(columns(z_bar, b)), lower=lower))
    z = columns(z, b)
    count = np.shape(ab)[-2] - 1
    low, up = (count, 0) if lower else (0, count)
    ab_bar = -outer_bands(b_bar, z, low, up)
    # Each band stands for its conjugate on the other side too.
    other = -np.conj(outer_bands(z, b_bar, low, up))
    if lower:
        ab_bar[..., 1:, :] += other[..., 1:, :]
    else:
        ab_bar[..., :-1, :] += other[..., :-1, :]
    diagonal = 0 if lower else -1
    ab_bar[..., diagonal, :] = np.real(ab_bar[..., diagonal, :])
    return unbroadcast(ab_bar, np.shape(ab)), unbroadcast(like_side(b_bar, b), np.shape(b))


def hermitian_bands_tangent(ab_dot: Any, b_dot: Any, z: Any, ab: Any, b: Any, lower: bool = False) -> Any:
    """Tangent of ``z = linalg.solveh_banded(ab, b, lower=lower)``."""
    count = np.shape(ab)[-2] - 1
    low, up = (count, 0) if lower else (0, count)
    z = columns(z, b)
    product = banded_product(_with_real_diagonal(ab_dot, lower), z, low, up)
    other = np.conj(transposed_bands(ab_dot, low, up))
    other[..., -1 if lower else 0, :] = 0
    product = product + banded_product(other, z, up, low)
    return like_side(linalg.solveh_banded(ab, columns(b_dot, b) - product, lower=lower), b)


def _with_real_diagonal(ab: Any, lower: bool) -> Any:
    ab = np.array(ab)
    diagonal = 0 if lower else -1
    ab[..., diagonal, :] = np.real(ab[..., diagonal, :])
    return ab
