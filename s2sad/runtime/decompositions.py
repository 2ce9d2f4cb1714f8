"""Derivatives of linear algebra that take more than one line.

Nothing is conjugated in an adjoint beyond what the function itself conjugates
(the transpose convention).  A derivative that does not exist raises
``UndefinedDerivativeError`` rather than giving infinities.

Source of the formulas: M. B. Giles, "Collected matrix derivative results for
forward and reverse mode algorithmic differentiation" (2008); I. Murray,
"Differentiation of the Cholesky decomposition", arXiv:1602.07527; J. Townsend,
"Differentiating the singular value decomposition" (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast, unreduce

Axes = int | tuple[int, ...] | None


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
    """Return the conjugate transpose of each matrix in a stack."""
    return np.conj(np.swapaxes(a, -1, -2))


def hermitian_part(a: Any) -> Any:
    """Return the mean of each matrix and its conjugate transpose."""
    return (a + adjoint(a)) / 2


def doubled_triangle(a: Any, upper: bool) -> Any:
    """Return one triangle of each matrix, its entries off the diagonal twice; the other triangle is zero.

    A function that reads one triangle takes each of these entries for two of a Hermitian matrix.

    Example:
        >>> doubled_triangle(np.array([[1.0, 2.0], [3.0, 4.0]]), upper=False)
        array([[1., 0.],
               [6., 4.]])
    """
    return np.triu(a) + np.triu(a, 1) if upper else np.tril(a) + np.tril(a, -1)


# --- norms ---


def norm_gradient(z: Any, x: Any, ord: Any = None, axis: Axes = None, keepdims: bool = False) -> Any:
    """Gradient of ``z = np.linalg.norm(x, ord, axis, keepdims)``: the adjoint of ``x`` for ``z_bar = 1``.

    It has the shape of ``x``.  Where a norm has a kink the convention is that
    of the absolute value and the maximum: zero at zero, ties share equally.
    """
    if ord is None:
        return np.conj(x) * ratio(1.0, unreduce(z, np.shape(x), axis, keepdims))
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
        hit = size == whole
        return direction * hit / np.sum(hit, axis=axis, keepdims=True)
    # A part that is zero has no slope here, also where the true one is infinite (ord < 1).
    flat = (size == 0) | (whole == 0)
    return np.where(flat, 0, direction * np.where(flat, 1, ratio(size, whole)) ** (ord - 1))


def matrix_norm_gradient(z: Any, x: Any, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False) -> Any:
    """Gradient of ``z = np.linalg.matrix_norm(x, ord=ord, keepdims=keepdims)``, of the matrices in ``axis``."""
    if ord is None or ord == "fro":
        return np.conj(x) * ratio(1.0, unreduce(z, np.shape(x), axis, keepdims))
    a = np.moveaxis(x, axis, (-2, -1))
    if ord in (1, -1, np.inf, -np.inf):
        along = -2 if abs(ord) == 1 else -1
        sums = np.sum(np.abs(a), axis=along, keepdims=True)
        best = np.max if ord > 0 else np.min
        gradient = np.conj(np.sign(a)) * _share(sums, best(sums, axis=(-2, -1), keepdims=True), (-2, -1))
    else:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        if ord == "nuc":
            weights = np.ones_like(s)
        elif ord in (2, -2):
            extreme = s[..., :1] if ord == 2 else s[..., -1:]
            weights = _share(s, extreme, -1)
        else:
            raise ValueError("Invalid norm order for matrices.")
        gradient = np.conj((u * weights[..., np.newaxis, :]) @ vh)
    return np.moveaxis(gradient, (-2, -1), axis)


def _share(values: Any, best: Any, axis: Axes) -> Any:
    hit = values == best
    return hit / np.sum(hit, axis=axis, keepdims=True)


# --- solving ---


def solve_transposed(g: Any, a: Any, b: Any) -> Any:
    """Solve with the transpose of ``a`` for ``g``, which has the shape of ``np.linalg.solve(a, b)``."""
    if np.ndim(b) == 1:
        return np.linalg.solve(transposed(a), np.expand_dims(g, -1))[..., 0]
    return np.linalg.solve(transposed(a), g)


def solve_matrix(b_bar: Any, z: Any, a: Any, b: Any) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.solve(a, b)``, from what `solve_transposed` returned."""
    if np.ndim(b) == 1:
        return unbroadcast(-np.expand_dims(b_bar, -1) * np.expand_dims(z, -2), np.shape(a))
    return unbroadcast(-b_bar @ transposed(z), np.shape(a))


def solve_tangent(a_dot: Any, b_dot: Any, z: Any, a: Any, b: Any) -> Any:
    """Tangent of ``z = np.linalg.solve(a, b)``."""
    if np.ndim(b) == 1:
        return np.linalg.solve(a, np.expand_dims(b_dot - (a_dot @ np.expand_dims(z, -1))[..., 0], -1))[..., 0]
    return np.linalg.solve(a, b_dot - a_dot @ z)


def pinv_adjoint(g: Any, z: Any, a: Any) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.pinv(a)``, while the rank of ``a`` stays the same.

    Source: G. H. Golub, V. Pereyra, SIAM Journal on Numerical Analysis 10 (1973), equation 4.12.
    """
    zh, gt = adjoint(z), transposed(g)
    left = identity(np.shape(a)[-2], a) - a @ z
    right = identity(np.shape(a)[-1], a) - z @ a
    return np.conj(left @ gt @ z @ zh + zh @ z @ gt @ right) - transposed(z @ gt @ z)


def pinv_tangent(a_dot: Any, z: Any, a: Any) -> Any:
    """Tangent of ``z = np.linalg.pinv(a)``, while the rank of ``a`` stays the same."""
    zh, ah_dot = adjoint(z), adjoint(a_dot)
    left = identity(np.shape(a)[-2], a) - a @ z
    right = identity(np.shape(a)[-1], a) - z @ a
    return z @ zh @ ah_dot @ left + right @ ah_dot @ zh @ z - z @ a_dot @ z


def matrix_power_adjoint(g: Any, z: Any, a: Any, n: int) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.matrix_power(a, n)``, ``n`` of either sign."""
    if n < 0:
        inverse = transposed(np.linalg.inv(a))
        g_inverse = matrix_power_adjoint(g, z, transposed(inverse), -n)
        return -inverse @ g_inverse @ inverse
    at = transposed(a)
    powers = [np.linalg.matrix_power(at, k) for k in range(n)]
    terms = [powers[k] @ g @ powers[n - 1 - k] for k in range(n)]
    return sum(terms, np.zeros_like(g))


def matrix_power_tangent(a_dot: Any, a: Any, n: int) -> Any:
    """Tangent of ``np.linalg.matrix_power(a, n)``, ``n`` of either sign."""
    if n < 0:
        inverse = np.linalg.inv(a)
        return matrix_power_tangent(-inverse @ a_dot @ inverse, inverse, -n)
    powers = [np.linalg.matrix_power(a, k) for k in range(n)]
    terms = [powers[k] @ a_dot @ powers[n - 1 - k] for k in range(n)]
    return sum(terms, np.zeros_like(a_dot))


# --- determinants ---


def cofactor(a: Any) -> Any:
    """Cofactors of ``a``: the gradient of its determinant, exact for any rank.

    Where the determinant is zero, ``det(a) * inv(a).T`` is found from the singular
    values, whose products without one of them stay finite.

    Example:
        >>> cofactor(np.array([[1.0, 0.0], [0.0, 0.0]]))
        array([[0., 0.],
               [0., 1.]])
    """
    determinant = np.linalg.det(a)
    if np.all(determinant != 0):
        return np.expand_dims(determinant, (-2, -1)) * transposed(np.linalg.inv(a))
    u, s, vh = np.linalg.svd(a)
    same = identity(s.shape[-1], s)
    sizes = np.expand_dims(s, -2) * (1 - same) + same
    others = np.prod(sizes, axis=-1) * np.expand_dims(np.linalg.det(u) * np.linalg.det(vh), -1)
    return (np.conj(u) * np.expand_dims(others, -2)) @ np.conj(vh)


def cofactor_derivative(t: Any, c: Any, a: Any) -> Any:
    """Derivative of ``c = cofactor(a)`` along ``t``; it is its own transpose.

    Raises:
        UndefinedDerivativeError: ``a`` is singular.
    """
    determinant = np.linalg.det(a)
    if np.any(determinant == 0):
        raise UndefinedDerivativeError("the second derivative of the determinant of a singular matrix is not available")
    total = np.sum(t * c, axis=(-2, -1), keepdims=True)
    return (total * c - c @ transposed(t) @ c) / np.expand_dims(determinant, (-2, -1))


# --- factorisations ---


def cholesky_adjoint(g: Any, z: Any, upper: bool = False) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.cholesky(a, upper=upper)``; zero in the triangle that is not read."""
    # In terms of the lower factor and of plain conjugate adjoints, so that the formula is the usual one.
    low, low_bar = (adjoint(z), transposed(g)) if upper else (z, np.conj(g))
    middle = np.tril(adjoint(low) @ low_bar)
    middle = middle - middle * identity(middle.shape[-1], middle) / 2
    inner = np.linalg.solve(adjoint(low), middle)
    a_bar = adjoint(np.linalg.solve(adjoint(low), adjoint(inner)))
    return doubled_triangle(np.conj(hermitian_part(a_bar)), upper)


def cholesky_tangent(a_dot: Any, z: Any, upper: bool = False) -> Any:
    """Tangent of ``z = np.linalg.cholesky(a, upper=upper)``, which reads one triangle of ``a``."""
    low = adjoint(z) if upper else z
    a_dot = hermitian_part(doubled_triangle(a_dot, upper))
    inner = adjoint(np.linalg.solve(low, adjoint(np.linalg.solve(low, a_dot))))
    inner = np.tril(inner)
    low_dot = low @ (inner - inner * identity(inner.shape[-1], inner) / 2)
    return adjoint(low_dot) if upper else low_dot


def eigh_adjoint(w_bar: Any, v_bar: Any, w: Any, v: Any, UPLO: str = "L") -> Any:
    """Adjoint of ``a`` in ``w, v = np.linalg.eigh(a, UPLO)``; zero in the triangle that is not read.

    The vectors' adjoint must not depend on the factor of modulus one that each
    complex eigenvector is free up to: a loss that does has no derivative.

    Raises:
        UndefinedDerivativeError: the loss depends on how the vectors of a repeated eigenvalue are chosen.
    """
    middle = np.expand_dims(np.real(w_bar), -2) * identity(w.shape[-1], w)
    if np.any(v_bar != 0):
        turn = transposed(v) @ v_bar
        middle = middle + _over_gaps((turn - adjoint(turn)) / 2, w)
    a_bar = np.conj(hermitian_part(v @ np.conj(middle) @ adjoint(v)))
    return doubled_triangle(a_bar, UPLO.upper() == "U")


def eigh_tangent(a_dot: Any, w: Any, v: Any, UPLO: str = "L") -> tuple[Any, Any]:
    """Tangents of ``w, v = np.linalg.eigh(a, UPLO)``, which reads one triangle of ``a``."""
    a_dot = hermitian_part(doubled_triangle(a_dot, UPLO.upper() == "U"))
    inner = adjoint(v) @ a_dot @ v
    return np.real(np.diagonal(inner, axis1=-2, axis2=-1)), v @ _over_gaps(inner, w)


def _over_gaps(matrix: Any, values: Any) -> Any:
    """Divide entry (i, j) of ``matrix`` by ``values[j] - values[i]``; the diagonal becomes zero."""
    gaps = np.expand_dims(values, -2) - np.expand_dims(values, -1)
    off = 1 - identity(values.shape[-1], values)
    loose = (gaps == 0) & (off == 1)
    if np.any(loose & (np.abs(matrix) > 1e-8 * (1 + np.max(np.abs(matrix), initial=0.0)))):
        raise UndefinedDerivativeError(
            "the vectors of a repeated eigenvalue or singular value have no derivative",
            "Let the result depend on the values alone, or on what does not depend on the choice of the vectors.",
        )
    return ratio(matrix * off, gaps)


def svd_adjoint(z_bar: Any, a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Adjoint of ``a`` in ``np.linalg.svd(a, full_matrices, compute_uv)``.

    Raises:
        UndefinedDerivativeError: the loss depends on singular vectors of complex matrices, or on
            those that ``full_matrices=True`` adds.
        UndefinedDerivativeError: it depends on the vectors of a repeated singular value, or on those
            of a non-square matrix with a singular value of zero.
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    if not compute_uv:
        return np.conj((u * np.expand_dims(np.real(z_bar), -2)) @ vh)
    u_bar, s_bar, vh_bar = z_bar
    middle = np.expand_dims(np.real(s_bar), -2) * identity(s.shape[-1], s)
    if not (np.any(u_bar != 0) or np.any(vh_bar != 0)):
        return np.conj(u @ middle @ vh)
    _check_vectors(a, s, u_bar, vh_bar)
    v, v_bar = transposed(vh), transposed(vh_bar)
    wide = np.expand_dims(s, -2)
    u_turn, v_turn = transposed(u) @ u_bar, transposed(v) @ v_bar
    middle = middle + _over_gaps(u_turn - transposed(u_turn), s**2) * wide
    middle = middle + np.expand_dims(s, -1) * _over_gaps(v_turn - transposed(v_turn), s**2)
    a_bar = u @ middle @ vh
    if a.shape[-2] > s.shape[-1]:
        a_bar = a_bar + ((u_bar - u @ u_turn) / wide) @ vh
    if a.shape[-1] > s.shape[-1]:
        a_bar = a_bar + (u / wide) @ transposed(v_bar - v @ v_turn)
    return a_bar


def svd_tangent(a_dot: Any, a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Tangent of ``np.linalg.svd(a, full_matrices, compute_uv)``; raises what `svd_adjoint` raises."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    inner = adjoint(u) @ a_dot @ adjoint(vh)
    s_dot = np.real(np.diagonal(inner, axis1=-2, axis2=-1))
    if not compute_uv:
        return s_dot
    if full_matrices and a.shape[-2] != a.shape[-1]:
        raise UndefinedDerivativeError(
            "all singular vectors of a matrix that is not square have no derivative", "Pass full_matrices=False."
        )
    _check_vectors(a, s, u, vh)
    v, wide = transposed(vh), np.expand_dims(s, -2)
    scaled, scaled_t = inner * wide, np.expand_dims(s, -1) * inner
    u_dot = u @ _over_gaps(scaled + transposed(scaled), s**2)
    v_dot = v @ _over_gaps(scaled_t + transposed(scaled_t), s**2)
    if a.shape[-2] > s.shape[-1]:
        u_dot = u_dot + (a_dot @ v - u @ inner) / wide
    if a.shape[-1] > s.shape[-1]:
        v_dot = v_dot + (transposed(a_dot) @ u - v @ transposed(inner)) / wide
    return u_dot, s_dot, transposed(v_dot)


def _check_vectors(a: Any, s: Any, u_bar: Any, vh_bar: Any) -> None:
    if np.iscomplexobj(a):
        raise UndefinedDerivativeError(
            "singular vectors of complex matrices have no derivative", "Use the singular values alone, which have."
        )
    if u_bar.shape[-1] > s.shape[-1] or vh_bar.shape[-2] > s.shape[-1]:
        raise UndefinedDerivativeError(
            "all singular vectors of a matrix that is not square have no derivative", "Pass full_matrices=False."
        )
    if a.shape[-2] != a.shape[-1] and np.any(s == 0):
        raise UndefinedDerivativeError(
            "the singular vectors of a non-square matrix of deficient rank have no derivative"
        )


def qr_adjoint(q_bar: Any, r_bar: Any, q: Any, r: Any) -> Any:
    """Adjoint of ``a`` in ``q, r = np.linalg.qr(a)``, for real matrices with no fewer rows than columns.

    Source: H.-J. Liao et al., "Differentiable programming tensor networks", Physical Review X 9 (2019), appendix A.
    """
    _check_qr(q, r)
    middle = r @ transposed(r_bar) - transposed(q_bar) @ q
    symmetric = np.tril(middle) + transposed(np.tril(middle, -1))
    return transposed(np.linalg.solve(r, transposed(q_bar + q @ symmetric)))


def qr_tangent(a_dot: Any, q: Any, r: Any) -> tuple[Any, Any]:
    """Tangents of ``q, r = np.linalg.qr(a)``, for real matrices with no fewer rows than columns."""
    _check_qr(q, r)
    scaled = transposed(np.linalg.solve(transposed(r), transposed(a_dot)))
    inner = transposed(q) @ scaled
    low = np.tril(inner, -1)
    turn = low - transposed(low)
    return q @ (turn - inner) + scaled, (inner - turn) @ r


def _check_qr(q: Any, r: Any) -> None:
    if np.iscomplexobj(r) or r.shape[-2] != r.shape[-1] or q.shape[-1] != r.shape[-1]:
        raise UndefinedDerivativeError(
            "np.linalg.qr has no derivative here",
            "It has for real matrices with no fewer rows than columns and mode='reduced'.",
        )
