"""Gradients of norms of vectors and matrices, and of condition numbers.

Nothing is conjugated in an adjoint beyond what the function itself conjugates
(the transpose convention).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unreduce
from s2sad.runtime.matrices import ratio, transposed

Axes = int | tuple[int, ...] | None


def norm_gradient(z: Any, x: Any, ord: Any = None, axis: Axes = None, keepdims: bool = False) -> Any:
    """Gradient of ``z = np.linalg.norm(x, ord, axis, keepdims)``: the adjoint of ``x`` for ``z_bar = 1``.

    It has the shape of ``x``.  Where a norm has a kink the convention is that
    of the absolute value and the maximum: zero at zero, ties share equally.
    """
    if ord is None:
        return np.conj(x) * unreduce(ratio(1.0, z), np.shape(x), axis, keepdims)
    if axis is None:
        axis = tuple(range(np.ndim(x)))
    if isinstance(axis, tuple) and len(axis) == 2:
        return matrix_norm_gradient(z, x, ord, axis, keepdims)
    return vector_norm_gradient(z, x, ord, axis, keepdims)


def vector_norm_gradient(z: Any, x: Any, ord: Any = 2, axis: Axes = None, keepdims: bool = False) -> Any:
    """Gradient of ``z = np.linalg.vector_norm(x, ord=ord, axis=axis, keepdims=keepdims)``."""
    size = np.abs(x)
    direction = np.conj(np.sign(x))
    whole = unreduce(z, np.shape(x), axis, keepdims)
    if ord == 0:
        return np.zeros_like(direction)
    if abs(ord) == np.inf:
        return direction * _share(size, whole, axis)
    # A part that is zero has no slope here, also where the true one is infinite (ord < 1).
    flat = (size == 0) | (whole == 0)
    return np.where(flat, 0, direction * np.where(flat, 1, ratio(size, whole)) ** (ord - 1))


def matrix_norm_gradient(z: Any, x: Any, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False) -> Any:
    """Gradient of ``z = np.linalg.matrix_norm(x, ord=ord, keepdims=keepdims)``, of the matrices in ``axis``."""
    if ord is None or ord == "fro":
        return np.conj(x) * unreduce(ratio(1.0, z), np.shape(x), axis, keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        sums = np.sum(np.abs(x), axis=axis[0 if abs(ord) == 1 else 1], keepdims=True)
        best = np.max(sums, axis=axis, keepdims=True) if ord > 0 else np.min(sums, axis=axis, keepdims=True)
        return np.conj(np.sign(x)) * _share(sums, best, axis)
    a = np.moveaxis(x, axis, (-2, -1))
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    # Of numbers that are zero up to rounding the vectors are arbitrary.
    weights = (s > np.finfo(s.dtype).eps * max(a.shape[-2:]) * s[..., :1]).astype(s.dtype)
    if ord in (2, -2):
        weights = weights * _share(s, s[..., :1] if ord == 2 else s[..., -1:], -1)
    elif ord != "nuc":
        raise ValueError("Invalid norm order for matrices.")
    return np.moveaxis(np.conj((u * weights[..., np.newaxis, :]) @ vh), (-2, -1), axis)


def cond_gradient(z: Any, x: Any, p: Any = None) -> Any:
    """Gradient of ``z = np.linalg.cond(x, p)``; equal singular values share.

    Raises:
        UndefinedDerivativeError: ``x`` is singular.
    """
    if np.any(np.isinf(z)):
        raise UndefinedDerivativeError("the condition number of a singular matrix has no derivative")
    z = np.expand_dims(z, (-2, -1))
    if p is None or p in (2, -2):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        rates = (_share(s, s[..., :1], -1) - _share(s, s[..., -1:], -1)) / s
        if p == -2:
            rates = -rates
        return z * np.conj((u * np.expand_dims(rates, -2)) @ vh)
    inverse = np.linalg.inv(x)
    size = np.linalg.norm(x, p, axis=(-2, -1), keepdims=True)
    by_inverse = matrix_norm_gradient(z / size, inverse, p, keepdims=True)
    turned = transposed(inverse) @ by_inverse @ transposed(inverse)
    return z / size * matrix_norm_gradient(size, x, p, keepdims=True) - size * turned


def _share(values: Any, best: Any, axis: Axes) -> Any:
    """1 where ``values`` are the ``best`` along ``axis``, divided among equal ones."""
    hit = values == best
    return hit / np.sum(hit, axis=axis, keepdims=True, dtype=values.dtype)
