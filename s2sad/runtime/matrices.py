"""What the derivatives of linear algebra share: transposes, triangles, quotients, triangular systems.

All of them take stacks of matrices in the last two axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def ratio(a: Any, b: Any) -> Any:
    """Return ``a / b``, and zero where ``b`` is zero.

    Example:
        >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
        array([0.5, 0. ])
    """
    return np.where(b == 0, 0, a / np.where(b == 0, 1, b))


def identity(size: int, like: Any) -> Any:
    """Return the identity matrix in the dtype of ``like``."""
    return np.eye(size, dtype=np.result_type(like))


def transposed(a: Any) -> Any:
    """Return the transpose of each matrix in a stack."""
    return np.swapaxes(a, -1, -2)


def adjoint(a: Any) -> Any:
    """Return the conjugate transpose of each matrix in a stack; a view of real ones."""
    a = np.swapaxes(a, -1, -2)
    return np.conj(a) if np.iscomplexobj(a) else a


def hermitian_part(a: Any) -> Any:
    """Return the mean of each matrix and its conjugate transpose."""
    return (a + adjoint(a)) / 2


def blocks_of_rows(a: Any, count: int) -> Any:
    """Return the rows of each matrix in a stack in this many blocks of as many rows.

    >>> blocks_of_rows(np.ones((6, 3)), 2).shape
    (2, 3, 3)
    """
    *stack, rows, columns = np.shape(a)
    return np.reshape(a, (*stack, count, rows // max(count, 1), columns))


def doubled_triangle(a: Any, upper: bool) -> Any:
    """Return one triangle of each matrix, its entries off the diagonal twice; the other triangle is zero.

    A function that reads one triangle takes each of these entries for two of a Hermitian matrix.

    Example:
        >>> doubled_triangle(np.array([[1.0, 2.0], [3.0, 4.0]]), upper=False)
        array([[1., 0.],
               [6., 4.]])
    """
    return np.triu(a) + np.triu(a, 1) if upper else np.tril(a) + np.tril(a, -1)


def halved_triangle(a: Any, upper: bool) -> Any:
    """Return one triangle of each matrix, with half the diagonal; the other triangle is zero.

    Example:
        >>> halved_triangle(np.array([[1.0, 2.0], [3.0, 4.0]]), upper=False)
        array([[0.5, 0. ],
               [3. , 2. ]])
    """
    half = np.triu(a) if upper else np.tril(a)
    diagonal = np.einsum("...ii->...i", half)
    diagonal /= 2
    return half


def folded_triangle(a: Any, upper: bool) -> Any:
    """Return one triangle of the sum of each matrix and its conjugate transpose, with half the diagonal.

    If ``a`` is the conjugate adjoint of Hermitian matrices, that of the triangle that they are read from.

    >>> folded_triangle(np.array([[1.0, 2.0], [4.0, 3.0]]), upper=False)
    array([[1., 0.],
           [6., 3.]])
    """
    return halved_triangle(a + adjoint(a), upper)


#: The size of the blocks on the diagonal that are solved as they are.
BLOCK = 48


def solve_triangular(t: Any, b: Any, lower: bool = False) -> Any:
    """Solve ``t @ x = b`` with triangular matrices ``t``, for matrices ``b``: by halves, mostly in products.

    NumPy has no solver of its own for these; its general one does three times the work.  Small blocks on the diagonal
    are inverted where there are many columns, as in J. Du Croz, N. Higham, IMA Journal of Numerical Analysis 12 (1992).

    >>> solve_triangular(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([[3.0], [4.0]]))
    array([[1.],
           [1.]])
    """
    n = t.shape[-1]
    if n <= BLOCK:
        return np.linalg.inv(t) @ b if b.shape[-1] > BLOCK else np.linalg.solve(t, b)
    k = n // 2
    if lower:
        first = solve_triangular(t[..., :k, :k], b[..., :k, :], lower)
        second = solve_triangular(t[..., k:, k:], b[..., k:, :] - t[..., k:, :k] @ first, lower)
    else:
        second = solve_triangular(t[..., k:, k:], b[..., k:, :], lower)
        first = solve_triangular(t[..., :k, :k], b[..., :k, :] - t[..., :k, k:] @ second, lower)
    return np.concatenate([first, second], axis=-2)


def lower_inverse(low: Any) -> Any:
    """Return the inverses of lower triangular matrices, by halves: NumPy's own makes no use of the zeros.

    >>> lower_inverse(np.array([[2.0, 0.0], [1.0, 4.0]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    n = low.shape[-1]
    if n <= 32:
        return np.linalg.inv(low)
    k = n // 2
    inverse = np.zeros_like(low)
    inverse[..., :k, :k] = first = lower_inverse(low[..., :k, :k])
    inverse[..., k:, k:] = last = lower_inverse(low[..., k:, k:])
    inverse[..., k:, :k] = -last @ (low[..., k:, :k] @ first)
    return inverse


def negligible(part: Any, whole: Any) -> bool:
    """Whether each of the matrices in ``part`` is rounding errors beside that in ``whole``."""
    epsilon = np.finfo(np.result_type(part, np.float32)).eps
    sizes = np.max(np.abs(whole), axis=(-2, -1), keepdims=True, initial=0.0)
    return bool(np.all(np.abs(part) <= np.sqrt(epsilon) * sizes))
