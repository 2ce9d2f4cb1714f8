"""Rules of ``scipy.linalg``: Riccati equations, polar factors, tridiagonal eigenvalues, and products by columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, bilinear, constant, ndim, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import blocks_of_rows
from s2sad.runtime.scipy.polar import (
    polar_adjoint,
    polar_tangent,
    procrustes_adjoints,
    procrustes_tangent,
    tridiagonal_adjoints,
    tridiagonal_tangent,
)
from s2sad.runtime.scipy.riccati import (
    continuous_adjoints,
    continuous_tangent,
    discrete_adjoints,
    discrete_tangent,
    must_be_plain,
)

Array = Any

# --- Riccati equations

constant(must_be_plain, signature=lambda e, s: None)


def _plants() -> Sequence[Sample]:
    # SciPy wants the last two to be symmetric, so that there are no differences by all: whole numbers are constant.
    q, r = np.diag([2, 1, 3]), np.array([[2, 1], [1, 3]])
    return [
        sample(numbers(3, 3), numbers(3, 2), q, r),
        sample(numbers(3, 3) / 2, numbers(3, 1), np.array([[2, 1, 0], [1, 3, 0], [0, 0, 1]]), np.eye(1, dtype=int)),
        sample(numbers(1, 1), numbers(1, 1), np.eye(1, dtype=int), np.eye(1, dtype=int)),
        sample(0.3, 1.2, 2, 1),
        sample(numbers(2, 3, 3) / 2, numbers(3, 2), q, r),
        sample(numbers(3, 3) / 2, numbers(2, 3, 2), q, r),
    ]


def _continuous_jvp(
    a_dot: Array,
    b_dot: Array,
    q_dot: Array,
    r_dot: Array,
    z: Array,
    a: Array,
    b: Array,
    q: Array,
    r: Array,
    e: Any = None,
    s: Any = None,
) -> Array:
    return continuous_tangent(a_dot, b_dot, q_dot, r_dot, z, a, b, r, e, s)


@rule(
    linalg.solve_continuous_are,
    wrt=["a", "b", "q", "r"],
    jvp=_continuous_jvp,
    samples=_plants,
    infer=infer.scipy.of_matrix("q", "a", "b", "r"),
    dtype="unknown",
    wide_only=("a", "b", "q", "r"),
    real_only=True,
)
def solve_continuous_are(
    z: Array,
    z_bar: Array,
    a: Array,
    b: Array,
    q: Array,
    r: Array,
    e: None = None,
    s: None = None,
    balanced: bool = True,
) -> tuple[Array, Array, Array, Array]:
    a_bar, b_bar, q_bar, r_bar = continuous_adjoints(z_bar, z, a, b, q, r, e, s)
    return a_bar, b_bar, q_bar, r_bar


def _discrete_jvp(
    a_dot: Array,
    b_dot: Array,
    q_dot: Array,
    r_dot: Array,
    z: Array,
    a: Array,
    b: Array,
    q: Array,
    r: Array,
    e: Any = None,
    s: Any = None,
) -> Array:
    return discrete_tangent(a_dot, b_dot, q_dot, r_dot, z, a, b, r, e, s)


@rule(
    linalg.solve_discrete_are,
    wrt=["a", "b", "q", "r"],
    jvp=_discrete_jvp,
    samples=_plants,
    infer=infer.scipy.of_matrix("q", "a", "b", "r"),
    dtype="unknown",
    wide_only=("a", "b", "q", "r"),
    real_only=True,
)
def solve_discrete_are(
    z: Array,
    z_bar: Array,
    a: Array,
    b: Array,
    q: Array,
    r: Array,
    e: None = None,
    s: None = None,
    balanced: bool = True,
) -> tuple[Array, Array, Array, Array]:
    a_bar, b_bar, q_bar, r_bar = discrete_adjoints(z_bar, z, a, b, q, r, e, s)
    return a_bar, b_bar, q_bar, r_bar


# --- polar factors


def _factored() -> Sequence[Sample]:
    points = [sample(a) for a in (numbers(3, 3), numbers(4, 2), numbers(1, 1), singles(3, 2))]
    return [*points, sample(numbers(3, 3), "left"), sample(numbers(2, 4), side="left"), sample(numbers(2, 3, 2))]


def _polar_jvp(a_dot: Array, a: Array, side: str = "right") -> Any:
    return polar_tangent(a_dot, a, side)


@rule(
    linalg.polar,
    wrt=["a"],
    jvp=_polar_jvp,
    samples=_factored,
    infer=infer.scipy.arrays(2),
    gives=(tuple, list),
    real_only=True,
)
def polar(z_bar: Any, a: Array, side: str = "right") -> Array:
    return polar_adjoint(z_bar[0], z_bar[1], a, side)


def _pairs() -> Sequence[Sample]:
    return [
        sample(numbers(4, 3), numbers(4, 3, seed=1)),
        sample(numbers(2, 2), numbers(2, 2, seed=1)),
        sample(numbers(2, 3, 3), numbers(3, 3, seed=1)),
    ]


def _procrustes_jvp(A_dot: Array, B_dot: Array, z: Any, A: Array, B: Array) -> Any:
    return procrustes_tangent(A_dot, B_dot, z, A, B)


@rule(
    linalg.orthogonal_procrustes,
    wrt=["A", "B"],
    jvp=_procrustes_jvp,
    samples=_pairs,
    infer=infer.scipy.rotation,
    dtype="unknown",
    gives=(tuple, list),
    real_only=True,
)
def orthogonal_procrustes(z: Any, z_bar: Any, A: Array, B: Array, check_finite: bool = True) -> tuple[Array, Array]:
    A_bar, B_bar = procrustes_adjoints(z_bar, z, A, B)
    return A_bar, B_bar


# --- symmetric tridiagonal matrices


def _chains() -> Sequence[Sample]:
    d, e = numbers(5), 0.5 + np.abs(numbers(4))
    points = [sample(d, e), sample(d, e, True), sample(d, e, select="i", select_range=(1, 3)), sample(d[:2], e[:1])]
    return [
        *points,
        sample(d, e, False, "v", (-1.0, 2.0)),
        sample(d, e, eigvals_only=True, select="i", select_range=(0, 1)),
        sample(np.stack([d, d + d**2]), e, select="i", select_range=(1, 3)),
        sample(d, np.stack([e, 2 * e])),
    ]


def _chain_jvp(
    d_dot: Array,
    e_dot: Array,
    z: Any,
    d: Array,
    e: Array,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: Any = None,
) -> Any:
    return tridiagonal_tangent(d_dot, e_dot, z, d, e, eigvals_only, select, select_range)


@rule(
    linalg.eigh_tridiagonal,
    wrt=["d", "e"],
    jvp=_chain_jvp,
    samples=_chains,
    infer=infer.scipy.of_chain,
    dtype="unknown",
    gives=(tuple, list, np.ndarray),
    real_only=True,
)
def eigh_tridiagonal(
    z: Any,
    z_bar: Any,
    d: Array,
    e: Array,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> tuple[Array, Array]:
    d_bar, e_bar = tridiagonal_adjoints(z_bar, z, d, e, eigvals_only, select, select_range)
    return d_bar, e_bar


def _values() -> Sequence[Sample]:
    d, e = numbers(5), 0.5 + np.abs(numbers(4))
    points = [sample(d, e), sample(d, e, "i", (1, 3)), sample(d[:1], e[:0]), sample(singles(4), e[:3].astype("f"))]
    return [*points, sample(np.stack([d, d + d**2]), e), sample(d, np.stack([e, 2 * e]), "i", (1, 3))]


def _values_jvp(
    d_dot: Array, e_dot: Array, z: Any, d: Array, e: Array, select: str = "a", select_range: Any = None
) -> Any:
    return tridiagonal_tangent(d_dot, e_dot, z, d, e, True, select, select_range)


@rule(
    linalg.eigvalsh_tridiagonal,
    wrt=["d", "e"],
    jvp=_values_jvp,
    samples=_values,
    infer=infer.scipy.values_of_chain,
    dtype="unknown",
    real_only=True,
)
def eigvalsh_tridiagonal(
    z: Any,
    z_bar: Any,
    d: Array,
    e: Array,
    select: str = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> tuple[Array, Array]:
    d_bar, e_bar = tridiagonal_adjoints(z_bar, z, d, e, True, select, select_range)
    return d_bar, e_bar


# --- products by columns, and matrices of polynomials


def _columns() -> Sequence[Sample]:
    pairs = [(numbers(2, 3), numbers(4, 3)), (numbers(1, 1), numbers(2, 1)), (complexes(2, 2), numbers(3, 2))]
    pairs += [(numbers(2, 2, 3), numbers(4, 3)), (numbers(2, 3), numbers(2, 1, 3))]
    return [*(sample(*pair) for pair in pairs), sample(singles(2, 2), singles(2, 2))]


@bilinear(linalg.khatri_rao, wrt=["a", "b"], samples=_columns, infer=infer.scipy.from_matrices("a", "b"))
def khatri_rao(z_bar: Array, a: Array, b: Array) -> tuple[Array, Array]:
    if ndim(a) == 2 and ndim(b) == 2:
        g = np.reshape(z_bar, (np.shape(a)[0], np.shape(b)[0], np.shape(b)[1]))
        return np.einsum("ijk,jk->ik", g, b), np.einsum("ijk,ik->jk", g, a)
    g = blocks_of_rows(z_bar, np.shape(a)[-2])
    return (
        unbroadcast(np.einsum("...ijk,...jk->...ik", g, b), np.shape(a)),
        unbroadcast(np.einsum("...ijk,...ik->...jk", g, a), np.shape(b)),
    )


def _polynomials() -> Sequence[Sample]:
    return [sample(a) for a in (numbers(4), numbers(2), complexes(3), singles(3), numbers(2, 3))]


def _companion_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    row = -(a_dot[..., 1:] + z[..., 0, :] * a_dot[..., :1]) / a[..., :1]
    return np.concatenate([np.expand_dims(row, -2), np.zeros_like(z[..., 1:, :])], axis=-2)


@rule(linalg.companion, wrt=["a"], jvp=_companion_jvp, samples=_polynomials, infer=infer.scipy.from_vectors("a"))
def companion(z: Array, z_bar: Array, a: Array) -> Array:
    row_bar = z_bar[..., 0, :] / a[..., :1]
    return np.concatenate([-np.sum(row_bar * z[..., 0, :], axis=-1, keepdims=True), -row_bar], axis=-1)
