"""Systems with sparse matrices whose entries carry derivatives, some eigenvalues and singular values, and norms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import linalg

from s2sad.ops.models import model
from s2sad.ops.scipy.models.operators import solution_by
from s2sad.ops.scipy.models.sparse import sparse_of, system_of
from s2sad.runtime.marks import stop_gradient
from s2sad.runtime.scipy.entries import factors, solution, solved, triangular
from s2sad.runtime.scipy.sparse_data import require_frobenius
from s2sad.runtime.scipy.sparse_exponentials import exponential, whole_step
from s2sad.runtime.scipy.sparse_least import least, require_real
from s2sad.runtime.scipy.sparse_spectra import eigenpairs, eigenvalues, singular_triplets, singular_values


@model(linalg.norm, given="structured")
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    require_frobenius(ord, axis)
    return np.linalg.norm(sparse_of(x).data)


class Factors:
    """The factors of a matrix as it is now: the entries may change later."""

    def __init__(self, values: Any, pattern: Any, permc_spec: Any, diag_pivot_thresh: Any, relax: Any) -> None:
        self.values = values
        self.pattern = pattern
        self.lu = factors(values, pattern, permc_spec, diag_pivot_thresh, relax)

    def solve(self, rhs: Any, trans: Any = "N") -> Any:
        return solved(self.lu, self.values, self.pattern, rhs, trans)


@model(linalg.spsolve, given="structured")
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:
    A = sparse_of(A)
    return solution(A.values, A.pattern, b, permc_spec, use_umfpack)


@model(linalg.spsolve_triangular, given="structured")
def spsolve_triangular(A: Any, b: Any, lower: Any = True, *, unit_diagonal: Any = False) -> Any:
    A = sparse_of(A)
    return triangular(A.values, A.pattern, b, lower, unit_diagonal)


@model(linalg.splu, given="anything")
def splu(A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None) -> Any:
    A = sparse_of(A)
    return Factors(np.array(A.values), A.pattern, permc_spec, diag_pivot_thresh, relax)


@model(linalg.factorized, given="anything")
def factorized(A: Any) -> Any:
    A = sparse_of(A)
    return Factors(np.array(A.values), A.pattern, None, None, None).solve


@model(linalg.cg, given="structured")
def cg(A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None) -> Any:
    return solution_by("cg", A, b, x0, M, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


@model(linalg.bicgstab, given="structured")
def bicgstab(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None
) -> Any:
    options = {"rtol": rtol, "atol": atol, "maxiter": maxiter}
    return solution_by("bicgstab", A, b, x0, M, options)


@model(linalg.gmres, given="structured")
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    restart: Any = None,
    maxiter: Any = None,
    M: Any = None,
) -> Any:
    options = {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter}
    return solution_by("gmres", A, b, x0, M, options)


@model(linalg.minres)
def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    shift: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
) -> Any:
    options = {"rtol": rtol, "shift": shift, "maxiter": maxiter}
    return solution_by("minres", A, b, x0, M, options)


@model(linalg.cgs)
def cgs(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None
) -> Any:
    return solution_by("cgs", A, b, x0, M, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


@model(linalg.bicg)
def bicg(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None
) -> Any:
    return solution_by("bicg", A, b, x0, M, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


@model(linalg.qmr)
def qmr(A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None) -> Any:
    return solution_by("qmr", A, b, x0, None, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


@model(linalg.tfqmr)
def tfqmr(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None
) -> Any:
    return solution_by("tfqmr", A, b, x0, M, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


@model(linalg.lgmres)
def lgmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = 1000,
    M: Any = None,
    inner_m: Any = 30,
    outer_k: Any = 3,
) -> Any:
    options = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "inner_m": inner_m, "outer_k": outer_k}
    return solution_by("lgmres", A, b, x0, M, options)


# --- exponentials


@model(linalg.expm_multiply, given="structured")
def expm_multiply(
    A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None, endpoint: Any = None, traceA: Any = None
) -> Any:
    A = sparse_of(A)
    whole_step(start, stop, num, endpoint)
    return exponential(A.values, A.pattern, B, traceA)


# --- least squares


def least_of(name: Any, A: Any, b: Any, x0: Any, damp: Any, options: Any) -> Any:
    """The solution of least squares by one of SciPy's functions, and what that reports."""
    A = sparse_of(A)
    return least(A.values, A.pattern, require_real(A.values, b), name, damp, {"x0": stop_gradient(x0), **options})


@model(linalg.lsqr, given="structured")
def lsqr(
    A: Any,
    b: Any,
    damp: Any = 0.0,
    atol: Any = 1e-6,
    btol: Any = 1e-6,
    conlim: Any = 1e8,
    iter_lim: Any = None,
    show: Any = False,
    calc_var: Any = False,
    x0: Any = None,
) -> Any:
    options = {"atol": atol, "btol": btol, "conlim": conlim, "iter_lim": iter_lim, "calc_var": calc_var, "show": show}
    return least_of("lsqr", A, b, x0, damp, options)


@model(linalg.lsmr, given="structured")
def lsmr(
    A: Any,
    b: Any,
    damp: Any = 0.0,
    atol: Any = 1e-6,
    btol: Any = 1e-6,
    conlim: Any = 1e8,
    maxiter: Any = None,
    show: Any = False,
    x0: Any = None,
) -> Any:
    options = {"atol": atol, "btol": btol, "conlim": conlim, "maxiter": maxiter, "show": show}
    return least_of("lsmr", A, b, x0, damp, options)


# --- some eigenvalues and singular values


@model(linalg.eigsh)
def eigsh(
    A: Any,
    k: Any = 6,
    M: Any = None,
    sigma: Any = None,
    which: Any = "LM",
    v0: Any = None,
    ncv: Any = None,
    maxiter: Any = None,
    tol: Any = 0,
    return_eigenvectors: Any = True,
) -> Any:
    A = system_of(A)
    options = {"k": k, "M": M, "sigma": sigma, "which": which, "v0": v0, "ncv": ncv, "maxiter": maxiter, "tol": tol}
    if return_eigenvectors:
        return eigenpairs(A.values, A.pattern, options)
    return eigenvalues(A.values, A.pattern, options)


@model(linalg.svds)
def svds(
    A: Any,
    k: Any = 6,
    ncv: Any = None,
    tol: Any = 0,
    which: Any = "LM",
    v0: Any = None,
    maxiter: Any = None,
    return_singular_vectors: Any = True,
    solver: Any = "arpack",
) -> Any:
    A = system_of(A)
    options = {"k": k, "ncv": ncv, "tol": tol, "which": which, "v0": v0, "maxiter": maxiter, "solver": solver}
    if return_singular_vectors:
        return singular_triplets(A.values, A.pattern, options, return_singular_vectors)
    return singular_values(A.values, A.pattern, options)
