"""Functions of ``scipy.linalg`` in terms of others: structured and banded matrices, and what is made of factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.ops.models import model
from s2sad.runtime.marks import stop_gradient
from s2sad.runtime.scipy.signs import column_signs, row_signs
from s2sad.runtime.undefined import require_rule

_PRECISION = 2.220446049250313e-16


@model(linalg.pinvh)
def pinvh(a: Any, *, rtol: Any = None, lower: Any = True) -> Any:
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    whole = half + np.conj(np.transpose(half)) + np.diag(np.real(np.diag(a)))
    return np.linalg.pinv(whole, np.shape(a)[0] * _PRECISION if rtol is None else rtol)


@model(linalg.matmul_toeplitz, given="varied parts")
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: Any = False, workers: Any = None) -> Any:
    if isinstance(c_or_cr, tuple):
        return linalg.toeplitz(c_or_cr[0], c_or_cr[1]) @ x
    return linalg.toeplitz(c_or_cr) @ x


def row_of(a: Any, what: str) -> Any:
    """A row of numbers; SciPy goes through the rows of what has more axes."""
    row = np.atleast_1d(a)
    require_rule(np.ndim(row) == 1, f"scipy.linalg.{what} of more than one row has no rule", "Call it for each row.")
    return row


def matrix(a: Any, what: str) -> Any:
    """A matrix; SciPy goes through the matrices of a stack."""
    require_rule(np.ndim(a) == 2, f"scipy.linalg.{what} of a stack has no rule", "Call it for each matrix.")
    return np.asarray(a)


@model(linalg.convolution_matrix)
def convolution_matrix(a: Any, n: Any, mode: Any = "full") -> Any:
    row = row_of(a, "convolution_matrix")
    ends = np.zeros(n - 1, row.dtype)
    whole = linalg.toeplitz(np.concatenate((row, ends)), np.concatenate((row[:1], ends)))
    if mode == "full":
        return whole
    out = min(n, len(row)) - 1
    first = out // 2 if mode == "same" else out
    return whole[first : len(whole) - (out - first if mode == "same" else out)]


@model(linalg.fiedler)
def fiedler(a: Any) -> Any:
    row = np.atleast_1d(a)
    return np.abs(np.expand_dims(row, -1) - np.expand_dims(row, -2))


@model(linalg.leslie)
def leslie(f: Any, s: Any) -> Any:
    births, rates = row_of(f, "leslie"), row_of(s, "leslie")
    below = np.concatenate((np.diag(rates), np.zeros((len(rates), 1), rates.dtype)), axis=1)
    return np.concatenate((np.expand_dims(births, 0), below))


@model(linalg.diagsvd)
def diagsvd(s: Any, M: Any, N: Any) -> Any:
    row = row_of(s, "diagsvd")
    if len(row) == M:
        return np.concatenate((np.diag(row), np.zeros((M, N - M), row.dtype)), axis=1)
    return np.concatenate((np.diag(row), np.zeros((M - N, N), row.dtype)))


@model(linalg.solve_circulant)
def solve_circulant(
    c: Any, b: Any, singular: Any = "raise", *, caxis: Any = -1, baxis: Any = 0, outaxis: Any = 0
) -> Any:
    of_matrix = np.fft.fft(np.moveaxis(np.atleast_1d(c), caxis, -1), axis=-1)
    size = np.abs(stop_gradient(of_matrix))
    if np.any(size <= np.max(size, axis=-1, keepdims=True) * np.shape(size)[-1] * _PRECISION):
        if singular == "raise":
            raise np.linalg.LinAlgError("near singular circulant matrix.")
        require_rule(False, "The solution of a singular system has no derivative", "Use np.linalg.lstsq.")
    found = np.fft.ifft(np.fft.fft(np.moveaxis(np.atleast_1d(b), baxis, -1), axis=-1) / of_matrix, axis=-1)
    return np.moveaxis(found if np.iscomplexobj(c) or np.iscomplexobj(b) else np.real(found), -1, outaxis)


@model(linalg.rq)
def rq(a: Any, *, mode: Any = "full", check_finite: Any = True) -> Any:
    rows = matrix(a, "rq")
    whole = mode == "economic" or np.shape(rows)[0] == np.shape(rows)[1]
    require_rule(whole, "scipy.linalg.rq of all rows has no rule", "Give it mode='economic'.")
    q, r = np.linalg.qr(np.conj(np.transpose(rows[::-1])))
    right, rest = np.conj(np.transpose(q))[::-1], np.conj(np.transpose(r))[::-1, ::-1]
    signs = row_signs(rows, right)
    rest = rest * np.conj(signs)
    return rest if mode == "r" else (rest, right * np.expand_dims(signs, -1))


def basis(a: Any) -> Any:
    """An orthonormal basis of what the columns of a matrix span."""
    columns = matrix(a, "subspace_angles")
    apart = np.linalg.matrix_rank(columns) == np.shape(columns)[1]
    require_rule(apart, "Angles of columns that depend on each other have no rule", "Leave some out.")
    return np.linalg.qr(columns)[0]


@model(linalg.subspace_angles)
def subspace_angles(A: Any, B: Any) -> Any:
    first, second = basis(A), basis(B)
    if np.shape(first)[1] < np.shape(second)[1]:
        first, second = second, first
    product = np.conj(np.transpose(first)) @ second
    cosines = linalg.svdvals(product)
    sines = linalg.svdvals(second - first @ product)
    return np.where(cosines**2 >= 0.5, np.arcsin(np.clip(sines, -1, 1)), np.arccos(np.clip(cosines[::-1], -1, 1)))


def of_bands(bands: Any, lower: Any) -> Any:
    """The triangle of a matrix, or the matrix, that is given by its diagonals in rows."""
    last, n = len(bands) - 1, np.shape(bands)[1]
    whole = np.diag(bands[0 if lower else last])
    for k in range(1, last + 1):
        whole = whole + (np.diag(bands[k, : n - k], -k) if lower else np.diag(bands[last - k, k:], k))
    return whole


@model(linalg.eigvals_banded)
def eigvals_banded(a_band: Any, lower: Any = False) -> Any:
    return linalg.eigvalsh(of_bands(matrix(a_band, "eigvals_banded"), lower), lower=lower)


@model(linalg.eig_banded)
def eig_banded(a_band: Any, lower: Any = False, *, eigvals_only: Any = False) -> Any:
    whole = of_bands(matrix(a_band, "eig_banded"), lower)
    if eigvals_only:
        return linalg.eigvalsh(whole, lower=lower)
    w, v = linalg.eigh(whole, lower=lower)
    return w, v * column_signs(a_band, v, lower)


@model(linalg.cholesky_banded)
def cholesky_banded(ab: Any, *, lower: Any = False, check_finite: Any = True) -> Any:
    bands = matrix(ab, "cholesky_banded")
    last, n = len(bands) - 1, np.shape(bands)[1]
    if lower:
        factor = linalg.cholesky(of_bands(bands, True), lower=True)
        rows = [np.concatenate((np.diag(factor, -k), bands[k, n - k :])) for k in range(last + 1)]
    else:
        factor = linalg.cholesky(of_bands(bands, False))
        rows = [np.concatenate((bands[last - k, :k], np.diag(factor, k))) for k in range(last, -1, -1)]
    return np.stack(rows)


@model(linalg.cho_solve_banded, given="varied parts")
def cho_solve_banded(cb_and_lower: Any, b: Any, *, check_finite: Any = True) -> Any:
    bands, lower = cb_and_lower
    factor = of_bands(matrix(bands, "cho_solve_banded"), lower)
    if lower:
        half = linalg.solve_triangular(factor, b, lower=True)
        return linalg.solve_triangular(factor, half, trans="C", lower=True)
    return linalg.solve_triangular(factor, linalg.solve_triangular(factor, b, trans="C"))
