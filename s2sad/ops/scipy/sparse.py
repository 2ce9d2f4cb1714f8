"""Rules of ``scipy.sparse.linalg``: systems with a constant matrix, solved with its transpose for the adjoint.

Iterative solvers are differentiated by the implicit function theorem: the adjoint is found by the same solver to the
same tolerance, whatever steps that took.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as solvers

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.spec import Sample, bilinear, constant, linear, operation, rule, sample
from s2sad.runtime.scipy.solvers import (
    found,
    matrix_adjoint,
    moved,
    moved_by_transpose,
    relative_tolerance,
    spsolve_adjoint,
    spsolve_tangent,
    triangular_adjoint,
    turned_matrix,
    turned_preconditioner,
)

Array = Any


def _matrix(symmetric: bool = False) -> Any:
    a = np.diag([4.0, 5.0, 6.0, 7.0]) + np.diag([1.0, -0.5, 0.7], 1)
    return sparse.csc_matrix(a + a.T if symmetric else a + np.diag([0.2, 0.3], -2))


def _direct() -> Sequence[Sample]:
    a = _matrix()
    whole = [sample(a.toarray(), b) for b in (numbers(4), numbers(4, 2), numbers(4, 1), complexes(4))]
    sides = [sample(a, numbers(4)), sample(a, numbers(4, 2)), sample(a.tocsr(), complexes(4)), sample(a, numbers(4, 1))]
    return [*sides, *whole, sample(a.toarray() + 0.3j, complexes(4))]


def _spsolve_jvp(A_dot: Array, b_dot: Array, z: Array, A: Any, b: Array) -> Array:
    return spsolve_tangent(A_dot, b_dot, z, A)


# SciPy takes arrays for matrices too.
@rule(
    solvers.spsolve,
    wrt=["A", "b"],
    jvp=_spsolve_jvp,
    samples=_direct,
    infer=infer.scipy.sparse_solution,
    dtype="unknown",
)
def spsolve(
    z: Array, z_bar: Array, A: Any, b: Array, permc_spec: str | None = None, use_umfpack: bool = True
) -> tuple[Array, Array]:
    b_bar = spsolve_adjoint(z_bar, A, b)
    return matrix_adjoint(b_bar, z), b_bar


def _adjoints() -> Sequence[Sample]:
    return [sample(numbers(4), _matrix(), numbers(4)), sample(numbers(4, 2), _matrix().toarray(), numbers(4, 2))]


def _spsolve_adjoint_jvp(g_dot: Array, a_dot: Array, z: Array, g: Array, a: Any, b: Array) -> Array:
    return spsolve_adjoint(g_dot + np.zeros_like(g) - moved_by_transpose(a_dot, z, g), a, b)


@rule(
    spsolve_adjoint,
    wrt=["g", "a"],
    steps=frozenset({"b"}),
    jvp=_spsolve_adjoint_jvp,
    samples=_adjoints,
    dtype="unknown",
)
def spsolve_adjoint_rule(z: Array, z_bar: Array, g: Array, a: Any, b: Array) -> tuple[Array, Array]:
    g_bar = spsolve_adjoint(np.reshape(z_bar, np.shape(g)), turned_matrix(a), g)
    return g_bar, matrix_adjoint(z, g_bar)


@bilinear(
    matrix_adjoint,
    wrt=["b_bar", "x"],
    samples=lambda: [sample(numbers(3), numbers(3, seed=1)), sample(numbers(3, 2), numbers(3, 2, seed=1))],
)
def matrix_adjoint_rule(z_bar: Array, b_bar: Array, x: Array) -> tuple[Array, Array]:
    left = -z_bar @ np.reshape(x, (len(x), -1))
    right = -np.transpose(z_bar) @ np.reshape(b_bar, (len(x), -1))
    return np.reshape(left, np.shape(b_bar)), np.reshape(right, np.shape(x))


def _triangular() -> Sequence[Sample]:
    low = sparse.csr_matrix(np.tril(_matrix().toarray()))
    points = [sample(low, numbers(4)), sample(low, numbers(4, 2)), sample(low.T.tocsr(), numbers(4), False)]
    return [*points, sample(low, numbers(4), unit_diagonal=True)]


@linear(solvers.spsolve_triangular, wrt=["b"], samples=_triangular, infer=infer.scipy.of_vector, dtype="unknown")
def spsolve_triangular(z_bar: Array, A: Any, b: Array, lower: bool = True, *, unit_diagonal: bool = False) -> Array:
    return triangular_adjoint(z_bar, A, b, lower, unit_diagonal)


def _triangular_adjoints() -> Sequence[Sample]:
    low = sparse.csr_matrix(np.tril(_matrix().toarray()))
    return [sample(numbers(4), low, numbers(4), True, False), sample(numbers(4, 2), low, numbers(4, 2), True, True)]


@linear(triangular_adjoint, wrt=["g"], steps={"b"}, samples=_triangular_adjoints, dtype="unknown")
def triangular_adjoint_rule(z_bar: Array, g: Array, a: Any, b: Array, lower: bool, unit_diagonal: bool) -> Array:
    return solvers.spsolve_triangular(a, z_bar, lower, unit_diagonal=unit_diagonal)


constant(turned_preconditioner, signature=lambda m: None)
constant(relative_tolerance, signature=lambda rtol, atol, b: None)


@linear(
    turned_matrix,
    wrt=["a"],
    result="maybe_view",
    samples=lambda: [sample(numbers(3, 3)), sample(complexes(2, 2))],
    dtype="unknown",
)
def turned_matrix_rule(z_bar: Array, a: Array) -> Array:
    return np.transpose(z_bar)


def _systems(symmetric: bool) -> Callable[[], Sequence[Sample]]:
    def samples() -> Sequence[Sample]:
        a = _matrix(symmetric)
        return [sample(a, numbers(4), rtol=1e-13), sample(a.toarray(), numbers(4), rtol=1e-13, atol=1e-14)]

    return samples


def _cg_jvp(
    A_dot: Array,
    b_dot: Array,
    z: Any,
    A: Any,
    b: Array,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> Any:
    tolerance = relative_tolerance(rtol, atol, b)
    change = b_dot - moved(A_dot, found(z, A, b))
    return found(solvers.cg(A, change, M=M, rtol=tolerance, maxiter=maxiter), A, change), 0


@rule(
    solvers.cg,
    wrt=["A", "b"],
    steps=frozenset({"x0"}),
    jvp=_cg_jvp,
    samples=_systems(symmetric=True),
    infer=infer.scipy.iterated_solution,
    dtype="unknown",
    result="unknown",
    calls=(),
    gives=(tuple,),
    integers=(1,),
)
def cg(
    z: Any,
    z_bar: Any,
    A: Any,
    b: Array,
    x0: Array | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Array, Array]:
    m = turned_preconditioner(M)
    tolerance = relative_tolerance(rtol, atol, b)
    turned = turned_matrix(A)
    b_bar = found(solvers.cg(turned, z_bar[0], M=m, rtol=tolerance, maxiter=maxiter), turned, z_bar[0])
    return matrix_adjoint(b_bar, found(z, A, b)), np.reshape(b_bar, np.shape(b))


def _gmres_jvp(
    A_dot: Array,
    b_dot: Array,
    z: Any,
    A: Any,
    b: Array,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Any = None,
) -> Any:
    tolerance = relative_tolerance(rtol, atol, b)
    change = b_dot - moved(A_dot, found(z, A, b))
    return found(solvers.gmres(A, change, M=M, rtol=tolerance, maxiter=maxiter, restart=restart), A, change), 0


@rule(
    solvers.gmres,
    wrt=["A", "b"],
    steps=frozenset({"x0"}),
    jvp=_gmres_jvp,
    samples=_systems(symmetric=False),
    infer=infer.scipy.iterated_solution,
    dtype="unknown",
    result="unknown",
    calls=(),
    gives=(tuple,),
    integers=(1,),
)
def gmres(
    z: Any,
    z_bar: Any,
    A: Any,
    b: Array,
    x0: Array | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Array, Array]:
    m = turned_preconditioner(M)
    tolerance = relative_tolerance(rtol, atol, b)
    turned = turned_matrix(A)
    b_bar = found(
        solvers.gmres(turned, z_bar[0], M=m, rtol=tolerance, maxiter=maxiter, restart=restart), turned, z_bar[0]
    )
    return matrix_adjoint(b_bar, found(z, A, b)), np.reshape(b_bar, np.shape(b))


def _bicgstab_jvp(
    A_dot: Array,
    b_dot: Array,
    z: Any,
    A: Any,
    b: Array,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> Any:
    tolerance = relative_tolerance(rtol, atol, b)
    change = b_dot - moved(A_dot, found(z, A, b))
    return found(solvers.bicgstab(A, change, M=M, rtol=tolerance, maxiter=maxiter), A, change), 0


@rule(
    solvers.bicgstab,
    wrt=["A", "b"],
    steps=frozenset({"x0"}),
    jvp=_bicgstab_jvp,
    samples=_systems(symmetric=False),
    infer=infer.scipy.iterated_solution,
    dtype="unknown",
    result="unknown",
    calls=(),
    gives=(tuple,),
    integers=(1,),
)
def bicgstab(
    z: Any,
    z_bar: Any,
    A: Any,
    b: Array,
    x0: Array | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Array, Array]:
    m = turned_preconditioner(M)
    tolerance = relative_tolerance(rtol, atol, b)
    turned = turned_matrix(A)
    b_bar = found(solvers.bicgstab(turned, z_bar[0], M=m, rtol=tolerance, maxiter=maxiter), turned, z_bar[0])
    return matrix_adjoint(b_bar, found(z, A, b)), np.reshape(b_bar, np.shape(b))


# --- the others

_FACTORS = "use splu(A).solve(b), in the function in which it is made or in one that it calls"
_ENTRIES = (
    "derivatives pass through the entries of csr_matrix((data, (rows, columns)), shape), csc_, coo_, diags in A @ x, "
    "A[rows][:, columns], A[i, j], A.T, A.toarray(), A.diagonal(), A.sum(), c * A, A + B, hstack, vstack, bmat, kron, "
    "spsolve(A, b), splu(A).solve(b), cg, gmres and bicgstab"
)
_WHOLE = "use NumPy or scipy.linalg with the whole matrix"


def _pairs(vectors: str) -> Callable[[], Sequence[Sample]]:
    """Two eigenvalues or singular values, with vectors and without them."""

    def samples() -> Sequence[Sample]:
        matrix = sparse.diags_array(np.arange(1.0, 7.0), format="csc")
        return [sample(matrix, 2), sample(matrix, 2, **{vectors: False})]

    return samples


operation(solvers.factorized, solvers.splu, solvers.spilu, remedy=_FACTORS)
operation(
    solvers.minres,
    solvers.bicg,
    solvers.qmr,
    solvers.cgs,
    solvers.tfqmr,
    solvers.lgmres,
    samples=_systems(symmetric=True),
    gives=(tuple,),
    remedy="use cg, gmres or bicgstab",
)
for _solver, _vectors in ((solvers.eigsh, "return_eigenvectors"), (solvers.svds, "return_singular_vectors")):
    operation(_solver, samples=_pairs(_vectors), gives=(tuple, np.ndarray), remedy=_WHOLE)
operation(solvers.eigs, solvers.lobpcg, remedy=_WHOLE)
operation(solvers.expm, solvers.inv, remedy=_WHOLE)
operation(sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.dia_matrix, remedy=_ENTRIES)
operation(sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.dia_array, remedy=_ENTRIES)
operation(sparse.diags, sparse.kron, sparse.vstack, sparse.hstack, remedy=_ENTRIES)

constant(sparse.eye, sparse.eye_array, sparse.identity)
