"""Rules of ``scipy.linalg``: factorisations, eigenvalues, least squares and norms.

Functions that read one triangle of a matrix have derivative zero by the other.  A derivative that does not exist raises
``UndefinedDerivativeError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg

from s2sad.ir.nodes import Const
from s2sad.ir.types import Fact
from s2sad.ops import infer
from s2sad.ops.infer.common import Bound, Types, literal
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.scipy.linalg import regular, regular_complex
from s2sad.ops.spec import Sample, constant, ndim, rule, sample
from s2sad.runtime.decompositions import (
    cholesky_adjoint,
    cholesky_tangent,
    svd_or_values_adjoint,
    svd_tangent,
    svdvals_adjoint,
)
from s2sad.runtime.norms import norm_gradient
from s2sad.runtime.qr import qr_adjoint
from s2sad.runtime.scipy.factors import (
    cho_factor_adjoint,
    cho_factor_tangent,
    eigh_adjoint,
    eigh_or_values_adjoint,
    eigh_or_values_tangent,
    eigh_tangent,
    least_ratio,
    lstsq_adjoint,
    lstsq_tangent,
    lu_adjoint,
    lu_factor_adjoint,
    lu_factor_tangent,
    lu_tangent,
    norm_adjoint,
    qr_in_mode_adjoint,
    qr_in_mode_tangent,
)
from s2sad.runtime.scipy.functions import in_shape
from s2sad.runtime.systems import (
    cofactor,
    pinv_adjoint,
    pinv_tangent,
    truncated_pinv_adjoint,
    truncated_pinv_tangent,
)

Array = Any

constant(least_ratio)

# --- Cholesky


def _definite() -> list[Array]:
    """Matrices of which one triangle is read and makes a positive definite one."""
    return [
        regular(3, 3),
        regular(1, 1),
        regular_complex(3, 3),
        regular(2, 3, 3),
        regular(3, 3).astype(np.float32),
    ]


def _choleskys() -> Sequence[Sample]:
    return [sample(a, *lower) for a in (*_definite(), 2.5) for lower in ((), (True,))]


def _cholesky_jvp(a_dot: Array, z: Array, a: Array, lower: bool = False) -> Array:
    return cholesky_tangent(np.atleast_2d(a_dot), z, not lower)


@rule(linalg.cholesky, wrt=["a"], jvp=_cholesky_jvp, samples=_choleskys, infer=infer.scipy.matrix)
def cholesky(z: Array, z_bar: Array, a: Array, lower: bool = False, check_finite: bool = True) -> Array:
    return in_shape(cholesky_adjoint(z_bar, z, not lower), a)


def _cho_factors() -> Sequence[Sample]:
    return [sample(a, *lower) for a in (*_definite(), 2.5) for lower in ((), (True,))]


def _cho_factor_jvp(a_dot: Array, z: Any, a: Array, lower: bool = False) -> Any:
    return cho_factor_tangent(np.atleast_2d(a_dot), z[0], lower), 0.0


@rule(
    linalg.cho_factor,
    wrt=["a"],
    jvp=_cho_factor_jvp,
    samples=_cho_factors,
    infer=infer.scipy.factor_and_order,
    gives=(tuple, list),
)
def cho_factor(z: Any, z_bar: Any, a: Array, lower: bool = False, check_finite: bool = True) -> Array:
    return in_shape(cho_factor_adjoint(z_bar[0], z[0], lower), a)


# --- LU


def _any_shape() -> Sequence[Sample]:
    shapes = [(3, 3), (1, 1), (4, 2), (2, 4), (3, 1), (1, 3)]
    points = [sample(numbers(*shape)) for shape in shapes]
    return [*points, sample(complexes(3, 3)), sample(complexes(3, 2)), sample(singles(3, 3)), sample(numbers(2, 3, 3))]


def _lus() -> Sequence[Sample]:
    options: list[dict[str, Any]] = [{"permute_l": True}, {"p_indices": True}, {"permute_l": True, "p_indices": True}]
    others = [sample(numbers(*shape), **given) for shape in ((3, 3), (4, 2), (2, 3, 3)) for given in options]
    return [*_any_shape(), *others]


def _factors(b: Bound, fact: Types) -> Fact | None:
    """Two matrices or three; where one may be a row of indices, nothing is known."""
    permuted, indices = (literal(b.get(name, Const(False))) for name in ("permute_l", "p_indices"))
    if permuted is True:
        return infer.scipy.arrays(2, "tuple")(b, fact)
    return infer.scipy.arrays(3, "tuple")(b, fact) if permuted is indices is False else infer.common.unknown(b, fact)


def _lu_jvp(a_dot: Array, z: Any, a: Array, permute_l: bool = False, p_indices: bool = False) -> Any:
    return lu_tangent(a_dot, z, a, permute_l, p_indices)


@rule(linalg.lu, wrt=["a"], jvp=_lu_jvp, samples=_lus, infer=_factors, gives=(tuple,))
def lu(
    z: Any, z_bar: Any, a: Array, permute_l: bool = False, *, check_finite: bool = True, p_indices: bool = False
) -> Array:
    return lu_adjoint(z_bar, z, a, permute_l, p_indices)


def _lu_factor_jvp(a_dot: Array, z: Any, a: Array) -> Any:
    return lu_factor_tangent(a_dot, z[0], z[1]), 0.0


@rule(
    linalg.lu_factor,
    wrt=["a"],
    jvp=_lu_factor_jvp,
    samples=_any_shape,
    infer=infer.scipy.factor_and_order,
    integers=(1,),
    gives=(tuple, list),
)
def lu_factor(z: Any, z_bar: Any, a: Array, check_finite: bool = True) -> Array:
    return lu_factor_adjoint(z_bar[0], z[0], z[1])


# --- determinants, inverses of any matrix, least squares


def _determinants() -> Sequence[Sample]:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    points = [regular(3, 3), numbers(4, 4), regular(1, 1), singular, np.zeros((2, 2)), regular(2, 3, 3)]
    return [sample(a) for a in (*points, regular_complex(3, 3), regular(2, 2).astype(np.float32))]


def _det_jvp(a_dot: Array, a: Array) -> Array:
    return np.sum(cofactor(a) * a_dot, axis=(-2, -1))


@rule(
    linalg.det,
    wrt=["a"],
    jvp=_det_jvp,
    samples=_determinants,
    infer=infer.linalg.determinant,
    dtype="unknown",
    result="unknown",
)
def det(z_bar: Array, a: Array, check_finite: bool = True) -> Array:
    if ndim(a) == 2:
        return z_bar * cofactor(a)
    return np.expand_dims(z_bar, (-2, -1)) * cofactor(a)


def _rectangles() -> Sequence[Sample]:
    points = [numbers(3, 3), numbers(4, 2), numbers(2, 4), numbers(2, 3, 2), complexes(3, 2), singles(3, 2)]
    small = np.array([[2.0, 0.3], [0.1, 0.2], [0.4, 0.1]])
    return [
        *[sample(a) for a in points],
        sample(small, rtol=0.4),
        sample(small.T, atol=0.7),
        sample(1j * small, rtol=0.4),
    ]


def _pinv_jvp(a_dot: Array, z: Array, a: Array, *, atol: Any = None, rtol: Any = None) -> Array:
    if atol is None and rtol is None:
        return pinv_tangent(a_dot, z, a)
    return truncated_pinv_tangent(a_dot, a, least_ratio(a, atol, rtol))


@rule(linalg.pinv, wrt=["a"], jvp=_pinv_jvp, samples=_rectangles, infer=infer.axes.with_axes(infer.axes.same("a", 2)))
def pinv(z: Array, z_bar: Array, a: Array, *, atol: Any = None, rtol: Any = None, check_finite: bool = True) -> Array:
    if atol is None and rtol is None:
        return pinv_adjoint(z_bar, z, a)
    return truncated_pinv_adjoint(z_bar, a, least_ratio(a, atol, rtol))


def _least_squares() -> Sequence[Sample]:
    a, short = numbers(4, 2), numbers(2, 4)
    return [
        sample(a, numbers(4)),
        sample(a, numbers(4, 3)),
        sample(regular(3, 3), numbers(3)),
        sample(short, numbers(2)),
        sample(short, numbers(2, 2)),
        sample(complexes(4, 2), complexes(4)),
        sample(singles(4, 2), singles(4)),
    ]


def _lstsq_jvp(a_dot: Array, b_dot: Array, z: Any, a: Array, b: Array, cond: Any = None) -> Any:
    return lstsq_tangent(a_dot, b_dot, z, a, b)


@rule(
    linalg.lstsq,
    wrt=["a", "b"],
    jvp=_lstsq_jvp,
    samples=_least_squares,
    infer=infer.common.unknown,
    dtype="unknown",
    gives=(tuple,),
)
def lstsq(z: Any, z_bar: Any, a: Array, b: Array, cond: Any = None, check_finite: bool = True) -> tuple[Array, Array]:
    a_bar, b_bar = lstsq_adjoint(z_bar, z, a, b)
    return a_bar, b_bar


# --- eigenvalues


def _pairs() -> list[tuple[Array, ...]]:
    """Matrices of which one triangle is read, alone and with a positive definite one."""
    a, metric = numbers(3, 3) / 2 + np.diag([1.0, 3.0, 6.0]), regular(3, 3, seed=1)
    return [(a,), (a, metric), (a.astype(np.float32),), (np.eye(1) * 2.0, np.eye(1) * 3.0)]


def _pairs_complex() -> list[tuple[Array, ...]]:
    a = complexes(3, 3) / 3 + np.diag([1.0, 3.0, 6.0])
    return [(a,), (a, regular_complex(3, 3)), (a, regular(3, 3))]


# The factor of modulus one that each complex vector is free up to has no derivative: complex ones have their own tests.
def _eighs() -> Sequence[Sample]:
    points = [sample(*pair, lower=lower) for pair in _pairs() for lower in (True, False)]
    points += [sample(*pair) for pair in _pairs()]
    points += [sample(*pair, subset_by_index=[1, 2]) for pair in _pairs()[:2]]
    points += [sample(*pair, eigvals_only=True) for pair in [*_pairs(), *_pairs_complex()]]
    points.append(sample(*_pairs()[1], lower=False, eigvals_only=True, subset_by_index=[1, 2]))
    a, b = _pairs()[1]
    points += [sample(np.stack([a, 2 * a]), b, subset_by_index=[1, 2]), sample(a, np.stack([b, 3 * b]))]
    return [*points, sample(a, subset_by_index=(0, 0), lower=False), sample(a, b, driver="gv")]


def _eigh_jvp(
    a_dot: Array,
    b_dot: Array,
    z: Any,
    a: Array,
    b: Array | None = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    subset_by_index: Any = None,
) -> Any:
    if eigvals_only is False:
        return eigh_tangent(a_dot, b_dot, z[0], z[1], a, b, lower)
    return eigh_or_values_tangent(a_dot, b_dot, z, a, b, lower, eigvals_only, subset_by_index)


@rule(
    linalg.eigh,
    wrt=["a", "b"],
    jvp=_eigh_jvp,
    samples=_eighs,
    infer=infer.scipy.generalised_eigensystem,
    gives=(tuple, list, np.ndarray),
)
def eigh(
    z: Any,
    z_bar: Any,
    a: Array,
    b: Array | None = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    check_finite: bool = True,
    subset_by_index: Any = None,
    driver: str | None = None,
) -> tuple[Array, Array | None]:
    if eigvals_only is False:
        a_bar, b_bar = eigh_adjoint(z_bar[0], z_bar[1], z[0], z[1], a, b, lower)
        return a_bar, b_bar
    bars = eigh_or_values_adjoint(z_bar, z, a, b, lower, eigvals_only, subset_by_index)
    return bars[0], bars[1]


def _eigvalshs() -> Sequence[Sample]:
    pairs = [*_pairs(), *_pairs_complex()]
    points = [sample(*pair, lower=lower) for pair in pairs for lower in (True, False)]
    a, b = pairs[1]
    points += [sample(np.stack([a, 2 * a]), b), sample(a, b)]
    return [*points, *[sample(*pair, subset_by_index=[1, 2]) for pair in pairs[:2]]]


def _eigvalsh_jvp(
    a_dot: Array,
    b_dot: Array,
    a: Array,
    b: Array | None = None,
    *,
    lower: bool = True,
    subset_by_index: Any = None,
) -> Array:
    w, v = linalg.eigh(a, b, lower=lower, subset_by_index=subset_by_index)
    return eigh_tangent(a_dot, b_dot, w, v, a, b, lower, vectors=False)[0]


@rule(linalg.eigvalsh, wrt=["a", "b"], jvp=_eigvalsh_jvp, samples=_eigvalshs, infer=infer.scipy.generalised_eigenvalues)
def eigvalsh(
    z: Array,
    z_bar: Array,
    a: Array,
    b: Array | None = None,
    *,
    lower: bool = True,
    check_finite: bool = True,
    subset_by_index: Any = None,
    driver: str | None = None,
) -> tuple[Array, Array | None]:
    v = linalg.eigh(a, b, lower=lower, subset_by_index=subset_by_index)[1]
    a_bar, b_bar = eigh_adjoint(z_bar, np.zeros_like(v), z, v, a, b, lower)
    return a_bar, b_bar


# --- singular values, QR


def _factored() -> Sequence[Sample]:
    return [
        sample(numbers(3, 3)),
        sample(numbers(1, 1)),
        sample(numbers(3, 3), True),
        sample(numbers(4, 2), False),
        sample(numbers(2, 4), full_matrices=False),
        sample(numbers(4, 2), compute_uv=False),
        sample(complexes(3, 2), compute_uv=False),
        sample(numbers(3, 2)),  # one vector more, unique but for its sign
        sample(singles(3, 2), full_matrices=False),
        sample(numbers(4, 2), False, lapack_driver="gesvd"),
        sample(numbers(2, 4, 2), False),
    ]


def _svd_jvp(a_dot: Array, z: Any, a: Array, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return svd_tangent(a_dot, z, a, compute_uv)


@rule(linalg.svd, wrt=["a"], jvp=_svd_jvp, samples=_factored, infer=infer.scipy.svd, gives=(tuple, list, np.ndarray))
def svd(
    z: Any,
    z_bar: Any,
    a: Array,
    full_matrices: bool = True,
    compute_uv: bool = True,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Array:
    return svd_or_values_adjoint(z_bar, z, a, compute_uv, False)


def _svdvals_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    return svd_tangent(a_dot, z, a, compute_uv=False)


def _valued() -> Sequence[Sample]:
    return [sample(numbers(3, 2)), sample(numbers(2, 3)), sample(complexes(2, 2)), sample(numbers(2, 2, 3))]


@rule(linalg.svdvals, wrt=["a"], jvp=_svdvals_jvp, samples=_valued, infer=infer.scipy.singular_values)
def svdvals(z_bar: Array, a: Array, check_finite: bool = True) -> Array:
    return svdvals_adjoint(z_bar, a)


def _orthogonalised() -> Sequence[Sample]:
    shapes = [(3, 3), (4, 2), (2, 4), (1, 1), (3, 1), (1, 3)]
    points = [sample(numbers(*shape), mode=mode) for shape in shapes for mode in ("economic", "r")]
    # How two further columns turn into each other has no derivative.
    points += [sample(numbers(*shape)) for shape in ((3, 3), (3, 2), (2, 4))]
    points += [sample(complexes(*shape), mode=mode) for shape in shapes[:3] for mode in ("economic", "r")]
    points += [sample(numbers(2, 3, 2), mode=mode) for mode in ("economic", "r")]
    return [*points, sample(singles(3, 2), mode="economic")]


def _qr_jvp(a_dot: Array, z: Any, a: Array, mode: str = "full") -> Any:
    return qr_in_mode_tangent(mode, a_dot, z, a)


@rule(linalg.qr, wrt=["a"], jvp=_qr_jvp, samples=_orthogonalised, infer=infer.scipy.qr, gives=(tuple, list, np.ndarray))
def qr(z: Any, z_bar: Any, a: Array, mode: str = "full", check_finite: bool = True) -> Array:
    if mode in ("full", "economic"):
        return qr_adjoint(z_bar[0], z_bar[1], z[0], z[1], a)
    return qr_in_mode_adjoint(mode, z_bar, z, a)


# --- norms


def _norms() -> Sequence[Sample]:
    x, a = numbers(4), numbers(3, 4)
    points = [sample(x), sample(a), sample(a, axis=0, keepdims=True), sample(complexes(3)), sample(singles(3))]
    points += [sample(x, p) for p in (1, 2, 3, np.inf)]
    points += [sample(a, p) for p in (1, 2, np.inf, "fro", "nuc")]
    return [*points, sample(a, 2, 1), sample(numbers(2, 3), "fro")]


def _norm_jvp(a_dot: Array, z: Array, a: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    return np.sum(np.real(norm_gradient(z, a, ord, axis, keepdims) * a_dot), axis=axis, keepdims=keepdims)


@rule(linalg.norm, wrt=["a"], jvp=_norm_jvp, samples=_norms, infer=infer.axes.reduced, dtype="unknown")
def norm(
    z: Array,
    z_bar: Array,
    a: Array,
    ord: Any = None,
    axis: Any = None,
    keepdims: bool = False,
    check_finite: bool = True,
) -> Array:
    return norm_adjoint(z_bar, z, a, ord, axis, keepdims)
