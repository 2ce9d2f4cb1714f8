"""Derivatives of the factorisations of matrices.

Nothing is conjugated in an adjoint beyond what the function itself conjugates
(the transpose convention).  A derivative that does not exist raises
``UndefinedDerivativeError`` rather than giving infinities.

Source of the formulas: M. B. Giles, "Collected matrix derivative results for
forward and reverse mode algorithmic differentiation" (2008); I. Murray,
"Differentiation of the Cholesky decomposition", arXiv:1602.07527; J. Townsend,
"Differentiating the singular value decomposition" (2016); C. Boeddeker et al.,
"On the computation of complex-valued gradients", arXiv:1701.00392 (2017); JAX.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.matrices import (
    adjoint,
    doubled_triangle,
    folded_triangle,
    halved_triangle,
    hermitian_part,
    identity,
    lower_inverse,
    negligible,
    ratio,
    solve_triangular,
    transposed,
)
from s2sad.runtime.qr import completing_tangent, undefined_choice, with_complement
from s2sad.runtime.undefined import Undefined


def cholesky_adjoint(g: Any, z: Any, upper: bool = False) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.cholesky(a, upper=upper)``; zero in the triangle that is not read."""
    # In terms of the lower factor and of plain conjugate adjoints, so that the formula is the usual one.
    low_bar = lower_cholesky_adjoint(transposed(g), adjoint(z)) if upper else lower_cholesky_adjoint(np.conj(g), z)
    return transposed(low_bar) if upper else np.conj(low_bar)


def lower_cholesky_adjoint(g: Any, low: Any) -> Any:
    """Conjugate adjoint of the lower triangle of a matrix, given ``g``, that of its factor ``low``: by halves.

    Mostly in products, with a fifth of the work of the closed formula, which is left for small blocks:
    I. Murray, "Differentiation of the Cholesky decomposition" (2016), sections 3 and 4.

    >>> lower_cholesky_adjoint(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[2.0, 0.0], [1.0, 3.0]]))
    array([[0.25, 0.  ],
           [0.  , 0.  ]])
    """
    n = low.shape[-1]
    if n <= 64:
        inverse = lower_inverse(low)
        inner = halved_triangle(adjoint(low) @ g, upper=False) @ inverse
        return folded_triangle(adjoint(inverse) @ inner, upper=False)
    k = n // 2
    first, below, last = low[..., :k, :k], low[..., k:, :k], low[..., k:, k:]
    rest = lower_cholesky_adjoint(g[..., k:, k:], last)
    turned = solve_triangular(adjoint(first), adjoint(g[..., k:, :k] - (rest + adjoint(rest)) @ below))
    start = lower_cholesky_adjoint(g[..., :k, :k] - turned @ below, first)
    return lower_blocks(start, adjoint(turned), rest)


def lower_blocks(start: Any, below: Any, rest: Any) -> Any:
    """A matrix of blocks, in which the one that stands above the diagonal is zero.

    >>> lower_blocks(np.ones((1, 1)), np.full((1, 1), 2.0), np.full((1, 1), 3.0))
    array([[1., 0.],
           [2., 3.]])
    """
    k, n = start.shape[-1], start.shape[-1] + rest.shape[-1]
    whole = np.zeros((*below.shape[:-2], n, n), np.result_type(start, below, rest))
    whole[..., :k, :k], whole[..., k:, :k], whole[..., k:, k:] = start, below, rest
    return whole


def cholesky_tangent(a_dot: Any, z: Any, upper: bool = False) -> Any:
    """Tangent of ``z = np.linalg.cholesky(a, upper=upper)``, which reads one triangle of ``a``."""
    low = adjoint(z) if upper else z
    a_dot = hermitian_part(doubled_triangle(a_dot, upper))
    inner = adjoint(solve_triangular(low, adjoint(solve_triangular(low, a_dot, lower=True)), lower=True))
    low_dot = low @ halved_triangle(inner, upper=False)
    return adjoint(low_dot) if upper else low_dot


def eigh_adjoint(w_bar: Any, v_bar: Any, w: Any, v: Any, UPLO: str = "L") -> Any:
    """Adjoint of ``a`` in ``w, v = np.linalg.eigh(a, UPLO)``; zero in the triangle that is not read.

    Raises:
        UndefinedDerivativeError: the loss depends on how the vectors of a repeated eigenvalue are chosen.
    """
    inner = v * np.expand_dims(np.real(w_bar), -2)
    if np.any(v_bar != 0):
        if np.iscomplexobj(v):
            v_bar = np.conj(phases_adjoint(np.conj(v_bar), v, anchor(UPLO)))
        turn = transposed(v) @ v_bar
        if np.iscomplexobj(v):
            check_phases(turn, v_bar)
        inner = inner + v @ np.conj(_over_gaps((turn - adjoint(turn)) / 2, w, turn))
    return np.conj(folded_triangle(inner @ adjoint(v), UPLO.upper() == "U"))


def eigh_tangent(a_dot: Any, w: Any, v: Any, UPLO: str = "L") -> tuple[Any, Any]:
    """Tangents of ``w, v = np.linalg.eigh(a, UPLO)``, which reads one triangle of ``a``."""
    inner = _turned_tangent(a_dot, v, UPLO)
    w_dot = np.real(np.diagonal(inner, axis1=-2, axis2=-1))
    try:
        v_dot = v @ _over_gaps(inner, w)
    except UndefinedDerivativeError as error:
        return w_dot, Undefined(error)
    if np.iscomplexobj(v):
        v_dot = v_dot - turning(v, v_dot, anchor(UPLO)) * v
    return w_dot, v_dot


def eigvalsh_tangent(a_dot: Any, v: Any, UPLO: str = "L") -> Any:
    """Tangent of ``np.linalg.eigvalsh(a, UPLO)``, of the vectors ``v``; repeated values have those of ``v^H a v``."""
    return np.real(np.diagonal(_turned_tangent(a_dot, v, UPLO), axis1=-2, axis2=-1))


def _turned_tangent(a_dot: Any, v: Any, UPLO: str) -> Any:
    return adjoint(v) @ hermitian_part(doubled_triangle(a_dot, UPLO.upper() == "U")) @ v


# A complex vector is free up to a factor of modulus one.  LAPACK reduces the matrix to a real one by reflections that
# leave the first axis alone, or the last one, so that this component of each vector is real, and stays real.  Where it
# vanishes the factor is arbitrary: tangents take it for constant, and adjoints refuse what depends on it.


def anchor(UPLO: str) -> int:
    """The row in which LAPACK's eigenvectors are real."""
    return -1 if UPLO.upper() == "U" else 0


def turning(v: Any, v_dot: Any, row: int, sizes: Any = None) -> Any:
    """By how much the tangents of vectors turn them in the plane, where the vectors stay real in a row.

    ``sizes`` say beside what a component of each vector is a rounding error, if not beside the greatest one.
    """
    here = _in_row(v, row)
    if not negligible(np.imag(here), v):
        return 0.0
    return 1j * ratio(np.imag(_in_row(v_dot, row)), _not_vanishing(here, v if sizes is None else sizes))


def _in_row(v: Any, row: int) -> Any:
    """The components of vectors in the first row or the last, with the axis; none of vectors without components."""
    return v[..., :1, :] if row == 0 else v[..., -1:, :]


def _not_vanishing(here: Any, v: Any) -> Any:
    """Real components of vectors, with zero for those that are rounding errors.

    There the factor of modulus one is arbitrary: no derivative goes through it.  Divided by what is smaller still, the
    rounding errors of what does not depend on the factor would be seen.
    """
    epsilon = np.finfo(np.result_type(v, np.float32)).eps
    sizes = np.max(np.abs(v), axis=-2, keepdims=True, initial=0.0)
    return np.where(np.abs(here) <= np.cbrt(epsilon) ** 2 * sizes, 0.0, np.real(here))


def phases_adjoint(v_bar: Any, v: Any, row: int, rest: Any = 0.0) -> Any:
    """The conjugate adjoint of vectors, with what it has through the turn that keeps them real in a row.

    ``rest`` is the product of other vectors that turn with them, and their adjoints.
    """
    here = _in_row(v, row)
    if not v.size or not negligible(np.imag(here), v):
        return v_bar
    product = np.imag(np.sum(np.conj(v_bar) * v, axis=-2) + rest)
    turn = 1j * ratio(product, _not_vanishing(here, v)[..., 0, :])
    return v_bar + np.expand_dims(turn, -2) * identity(v.shape[-2], v)[:, [row]]


def _over_gaps(matrix: Any, values: Any, turn: Any = None) -> Any:
    """Divide entry (i, j) of ``matrix`` by ``values[j] - values[i]``; the diagonal becomes zero.

    Where two values are equal, ``turn`` has to be zero too, which is ``matrix`` or has it for its skew part.  That the
    skew part alone is zero does not suffice: of a function of a matrix, made of its values and vectors, it is, and the
    derivative of the function by the value has been divided away.
    """
    gaps = np.expand_dims(values, -2) - np.expand_dims(values, -1)
    off = 1 - identity(values.shape[-1], values)
    loose = (gaps == 0) & (off == 1)
    if np.any(loose):
        turn = matrix if turn is None else turn
        _check_choice(turn * loose, turn)
    return ratio(matrix * off, gaps)


def _check_choice(part: Any, whole: Any) -> None:
    """Raise an error unless what belongs to the choice of vectors is negligible."""
    if not negligible(part, whole):
        raise UndefinedDerivativeError(
            "the vectors of a repeated eigenvalue or singular value have no derivative",
            "Let the result depend on the values alone, or keep the values apart.",
        )


# --- eigensystems ---


def eigvals_adjoint(w_bar: Any, w: Any, a: Any) -> Any:
    """Adjoint of ``a`` in ``w = np.linalg.eigvals(a)``.

    Raises:
        UndefinedDerivativeError: an eigenvalue that the loss depends on has no eigenvectors to move along.
    """
    values, v = np.linalg.eig(a)
    w_bar = np.take_along_axis(w_bar + 0 * w, _places(values, w), -1)
    return eig_adjoint(w_bar, np.zeros_like(v), values, v)


def eigvals_tangent(a_dot: Any, w: Any, a: Any) -> Any:
    """Tangent of ``w = np.linalg.eigvals(a)``."""
    values, v = np.linalg.eig(a)
    return np.take_along_axis(eig_tangent(a_dot, values, v)[0], _places(w, values), -1)


def _places(values: Any, others: Any) -> Any:
    """For each of ``values`` the place of the nearest among ``others``, each taken once."""
    distances = np.abs(np.expand_dims(values, -1) - np.expand_dims(others, -2))
    places = np.zeros(values.shape, int)
    for i in range(values.shape[-1]):
        places[..., i] = np.argmin(distances[..., i, :], axis=-1)
        np.put_along_axis(distances, places[..., np.newaxis, i : i + 1], np.inf, -1)
    return places


def eig_adjoint(w_bar: Any, v_bar: Any, w: Any, v: Any) -> Any:
    """Adjoint of ``a`` in ``w, v = np.linalg.eig(a)``.

    The vectors are those of LAPACK, of length one and with a largest component that is real, so that the derivative
    exists for any loss.

    Raises:
        UndefinedDerivativeError: the loss depends on how the vectors of a repeated eigenvalue are chosen, or on an
            eigenvalue that has fewer vectors than it is repeated.
    """
    middle = np.expand_dims(w_bar, -2) * identity(w.shape[-1], v)
    if np.any(v_bar != 0):
        v_bar = v_bar if np.iscomplexobj(v) else np.real(v_bar)
        along = np.sum(v_bar * v, axis=-2, keepdims=True)
        v_bar = v_bar - np.real(along) * np.conj(v)
        if np.iscomplexobj(v):
            largest, size = _largest(v)
            v_bar = v_bar - 1j * np.imag(along) / size * largest
        middle = middle + _over_gaps(transposed(v) @ v_bar, w)
    _require_vectors(w_bar, w, v)
    try:
        a_bar = np.linalg.solve(transposed(v), middle @ transposed(v))
    except np.linalg.LinAlgError:
        raise _defective() from None
    if not np.all(np.abs(a_bar) <= _worst(v) * np.max(np.abs(middle), initial=0.0)):
        raise _defective()
    return a_bar


def eig_tangent(a_dot: Any, w: Any, v: Any) -> tuple[Any, Any]:
    """Tangents of ``w, v = np.linalg.eig(a)``, the vectors as in `eig_adjoint`."""
    _require_vectors(1.0, w, v)
    inner = np.linalg.solve(v, a_dot @ v)
    w_dot = np.diagonal(inner, axis1=-2, axis2=-1)
    try:
        v_dot = v @ _over_gaps(inner, w)
    except UndefinedDerivativeError as error:
        return w_dot, Undefined(error)
    along = -np.real(np.sum(np.conj(v) * v_dot, axis=-2, keepdims=True))
    if np.iscomplexobj(v):
        largest, size = _largest(v)
        along = along - 1j * np.imag(np.sum(largest * v_dot, axis=-2, keepdims=True)) / size
    return w_dot, v_dot + v * along


def _largest(v: Any) -> tuple[Any, Any]:
    """Where the component of each column stands that is largest, 1 there and 0 elsewhere, and its real part."""
    if not v.size:
        return np.zeros(v.shape, v.real.dtype), np.zeros((*v.shape[:-2], 1, v.shape[-1]), v.real.dtype)
    place = np.expand_dims(np.argmax(np.abs(v), axis=-2), -2)
    where = np.arange(v.shape[-2])[:, np.newaxis] == place
    return where.astype(v.real.dtype), np.take_along_axis(np.real(v), place, -2)


def _worst(v: Any) -> Any:
    """The condition of an eigenvalue from which on its derivative has no correct digits."""
    return np.finfo(v.dtype).eps ** -0.75


def _defective() -> UndefinedDerivativeError:
    return UndefinedDerivativeError(
        "an eigenvalue of a defective matrix has no derivative",
        "Let the result depend on what has one: the trace, the determinant or powers of the matrix.",
    )


def _require_vectors(w_bar: Any, w: Any, v: Any) -> None:
    """Raise if a loss depends on an eigenvalue that is repeated and has too few vectors, whose condition is infinite.

    In a sum over equal eigenvalues what is infinite may cancel, and leave a number that is no derivative.
    """
    gaps = np.abs(np.expand_dims(w, -1) - np.expand_dims(w, -2)) + np.diag(np.full(w.shape[-1], np.inf))
    near = np.finfo(v.dtype).eps ** 0.5 * np.max(np.abs(w), axis=-1, initial=0.0)
    if not np.any(gaps <= near[..., np.newaxis, np.newaxis]):
        return
    try:
        conditions = np.max(np.abs(np.linalg.inv(v)), axis=-1)
    except np.linalg.LinAlgError:
        raise _defective() from None
    if np.any((conditions > _worst(v)) & (w_bar != 0)):
        raise _defective()


# --- singular values ---


def svdvals_adjoint(s_bar: Any, a: Any, hermitian: bool = False) -> Any:
    """Adjoint of ``a`` in ``np.linalg.svd(a, compute_uv=False, hermitian=hermitian)``."""
    if hermitian:
        w, v = np.linalg.eigh(a)
        return eigh_adjoint(_by_size(w, s_bar) * np.copysign(1, w), np.zeros_like(v), w, v)
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.conj((u * np.expand_dims(np.real(s_bar), -2)) @ vh)


def _by_size(w: Any, values: Any) -> Any:
    """What ``values`` are for the singular values, for the eigenvalues ``w``."""
    return np.take_along_axis(values, np.argsort(np.argsort(np.abs(w))[..., ::-1]), -1)


def svd_adjoint(z_bar: Any, z: Any, a: Any, hermitian: bool = False) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.svd(a)``, with all vectors or those that have a value.

    With ``full_matrices=True`` the further vectors span what is orthogonal to the others.

    Raises:
        UndefinedDerivativeError: the loss depends on how vectors are chosen: those of a repeated singular value, those
            that ``full_matrices=True`` adds; or on those of a non-square matrix with a singular value of zero.
    """
    (u_bar, s_bar, vh_bar), (u, s, vh), (m, n) = z_bar, z, np.shape(a)[-2:]
    if hermitian:
        return _hermitian_svd_adjoint(u_bar, s_bar, vh_bar, u, s, vh, a)
    # In terms of plain conjugate adjoints, so that the formula is the usual one.
    k, v, u_bar, v_bar = s.shape[-1], adjoint(vh), np.conj(u_bar), transposed(vh_bar)
    u, u_bar = with_complement(u[..., :k], u[..., k:], u_bar[..., :k], u_bar[..., k:])
    v, v_bar = with_complement(v[..., :k], v[..., k:], v_bar[..., :k], v_bar[..., k:])
    if np.iscomplexobj(u):
        if m < n:
            u_bar = phases_adjoint(u_bar, u, 0, np.sum(np.conj(v_bar) * v, axis=-2))
        else:
            v_bar = phases_adjoint(v_bar, v, 0, np.sum(np.conj(u_bar) * u, axis=-2))
    middle = np.expand_dims(np.real(s_bar), -2) * identity(k, s)
    if not (np.any(u_bar != 0) or np.any(v_bar != 0)):
        return np.conj(u @ middle @ adjoint(v))
    u_turn, v_turn = adjoint(u) @ u_bar, adjoint(v) @ v_bar
    wide = np.expand_dims(s, -2)
    both, apart = u_turn + v_turn, u_turn - v_turn
    if np.iscomplexobj(u):
        check_phases(both, u_bar, v_bar)
    # What turns both vectors is divided by differences of singular values, what turns them apart by sums.
    sums = np.expand_dims(s, -2) + np.expand_dims(s, -1)
    middle = middle + _over_gaps((both - adjoint(both)) / 2, s, both)
    skew = (apart - adjoint(apart)) / 2
    _check_choice(skew * (sums == 0), apart)
    middle = middle + ratio(skew, sums)
    a_bar = u @ middle @ adjoint(v)
    if m > k:
        a_bar = a_bar + _over_values(u_bar - u @ u_turn, wide, u_bar) @ adjoint(v)
    if n > k:
        a_bar = a_bar + u @ adjoint(_over_values(v_bar - v @ v_turn, wide, v_bar))
    return np.conj(a_bar)


def check_phases(turn: Any, *bars: Any) -> None:
    """Raise an error where a loss depends on the factor of modulus one that complex vectors are free up to.

    The imaginary part of the diagonal of ``turn`` is its derivative by these; ``bars`` are what it was made of.
    """
    phases = np.imag(turn) * identity(turn.shape[-1], turn.real)
    if not any(negligible(phases, bar) for bar in bars):
        raise UndefinedDerivativeError(
            "the factor of modulus one that complex vectors are free up to has no derivative",
            "Let the result depend on absolute values alone, or on products of a vector and its conjugate.",
        )


def _over_squares(matrix: Any, s: Any) -> Any:
    """Divide entry (i, j) of ``matrix`` by ``s[j]**2 - s[i]**2``; the diagonal becomes zero."""
    return ratio(_over_gaps(matrix, s), np.expand_dims(s, -2) + np.expand_dims(s, -1))


def _over_values(matrix: Any, s: Any, whole: Any) -> Any:
    """Divide the columns of ``matrix`` by singular values, none of which may be zero."""
    if np.any(s == 0) and not negligible(matrix * (s == 0), whole):
        raise UndefinedDerivativeError(
            "the singular vectors of a non-square matrix of deficient rank have no derivative"
        )
    return ratio(matrix, s)


def _hermitian_svd_adjoint(u_bar: Any, s_bar: Any, vh_bar: Any, u: Any, s: Any, vh: Any, a: Any) -> Any:
    """As `svd_adjoint`, of Hermitian matrices: the singular values are the absolute eigenvalues."""
    w, v = np.linalg.eigh(a)
    order = np.argsort(np.argsort(np.abs(w))[..., ::-1])
    sign = np.copysign(1, w)
    w_bar = np.take_along_axis(s_bar, order, -1) * sign
    places = np.expand_dims(order, -2)
    v_bar = np.take_along_axis(u_bar, places, -1)
    v_bar = v_bar + np.expand_dims(sign, -2) * np.take_along_axis(np.conj(transposed(vh_bar)), places, -1)
    return eigh_adjoint(w_bar, v_bar, w, v)


def svd_or_values_adjoint(z_bar: Any, z: Any, a: Any, compute_uv: bool, hermitian: bool) -> Any:
    """Adjoint of ``a`` in ``z = np.linalg.svd(a, compute_uv=compute_uv, hermitian=hermitian)``."""
    return svd_adjoint(z_bar, z, a, hermitian) if compute_uv else svdvals_adjoint(z_bar, a, hermitian)


def svd_tangent(a_dot: Any, z: Any, a: Any, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Tangent of ``z = np.linalg.svd(a)``, with vectors or without; those of repeated values are undefined.

    Those that ``full_matrices=True`` adds have the tangent of LAPACK's vectors, where that is known.
    """
    if hermitian:
        return _hermitian_svd_tangent(a_dot, a, compute_uv)
    a = np.asarray(a)
    u, s, vh = z if compute_uv else np.linalg.svd(a, full_matrices=False)
    k, v = s.shape[-1], adjoint(vh)
    u, u_rest, v, v_rest = u[..., :k], u[..., k:], v[..., :k], v[..., k:]
    inner = adjoint(u) @ a_dot @ v
    s_dot = np.real(np.diagonal(inner, axis1=-2, axis2=-1))
    if not compute_uv:
        return s_dot
    try:
        u_dot, vh_dot = _svd_vectors(inner, a_dot, a, (u, u_rest, s, v, v_rest))
    except UndefinedDerivativeError as error:
        return Undefined(error), s_dot, Undefined(error)
    return u_dot, s_dot, vh_dot


def _svd_vectors(inner: Any, a_dot: Any, a: Any, z: tuple[Any, ...]) -> tuple[Any, Any]:
    """The tangents of singular vectors."""
    u, u_rest, s, v, v_rest = z
    k = s.shape[-1]
    wide = np.expand_dims(s, -2)
    scaled, scaled_t = inner * wide, np.expand_dims(s, -1) * inner
    u_turn = _over_squares(scaled + adjoint(scaled), s)
    if np.iscomplexobj(a):
        u_turn = u_turn + 1j * np.imag(inner) * identity(k, s) * ratio(1.0, wide)
    u_dot, v_dot = u @ u_turn, v @ _over_squares(scaled_t + adjoint(scaled_t), s)
    if a.shape[-2] > k:
        u_dot = u_dot + _over_values(a_dot @ v - u @ inner, wide, a_dot)
    if a.shape[-1] > k:
        v_dot = v_dot + _over_values(adjoint(a_dot) @ u - v @ adjoint(inner), wide, a_dot)
    if np.iscomplexobj(a):
        turn = turning(u, u_dot, 0) if a.shape[-2] < a.shape[-1] else turning(v, v_dot, 0)
        u_dot, v_dot = u_dot - turn * u, v_dot - turn * v
    u_dot = np.concatenate([u_dot, _rest_tangent(a_dot, a, u_dot, u, u_rest)], -1)
    v_dot = np.concatenate([v_dot, _rest_tangent(adjoint(a_dot), adjoint(a), v_dot, v, v_rest)], -1)
    return u_dot, adjoint(v_dot)


def _rest_tangent(a_dot: Any, a: Any, u_dot: Any, u: Any, rest: Any) -> Any:
    """Tangent of the vectors ``rest`` that complete the left singular vectors ``u`` of ``a``.

    One real vector that is orthogonal to all others cannot but follow them.  How several turn among themselves is up to
    LAPACK, which has those of the QR decomposition where a matrix has at least twice as many rows as columns.
    """
    (m, n), k, added = a.shape[-2:], u.shape[-1], rest.shape[-1]
    if k == 0 or added == 0 or (added == 1 and not np.iscomplexobj(u)):
        return -u @ (adjoint(u_dot) @ rest)
    if m >= 2 * n:
        q, r = np.linalg.qr(a, "complete")
        if negligible(q[..., k:] - rest, rest):
            return completing_tangent(a_dot, q, r, a)
    raise undefined_choice()


def _hermitian_svd_tangent(a_dot: Any, a: Any, compute_uv: bool) -> Any:
    w, v = np.linalg.eigh(a)
    order, sign = np.argsort(np.abs(w))[..., ::-1], np.copysign(1, w)
    w_dot, v_dot = eigh_tangent(a_dot, w, v)
    s_dot = np.take_along_axis(sign * w_dot, order, -1)
    if isinstance(v_dot, Undefined):
        return (v_dot, s_dot, v_dot) if compute_uv else s_dot
    u_dot = np.take_along_axis(v_dot, np.expand_dims(order, -2), -1)
    sign = np.take_along_axis(sign, order, -1)
    return (u_dot, s_dot, adjoint(u_dot * np.expand_dims(sign, -2))) if compute_uv else s_dot
