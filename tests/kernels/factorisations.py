"""Factorisations and solvers, in place as in Golub & Van Loan, or with loops as in PolyBench."""

from __future__ import annotations

import math

import numpy as np

from tests.kernels.kernel import Kernel, named, normal, positive_definite


def matrix_args(n):
    return positive_definite(n), normal(n, n, seed=3)


def lu(A):
    """A becomes L and U, the unit diagonal of L not stored: right-looking, without pivoting (Golub & Van Loan, 3.2)."""
    n = len(A)
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


def lu_loss(A, w):
    lu(A)
    return np.sum(w * A)


def lu_by_element(A):
    """The same by inner products, an element at a time (Crout's order)."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def lu_by_element_loss(A, w):
    lu_by_element(A)
    return np.sum(w * A)


def lu_solve(A, b, x, y):
    """Solve A x = b: A becomes L and U, y is what is between the two substitutions."""
    n = len(b)
    for i in range(n):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]


def lu_solve_loss(A, b, x, y, w_A, w_x, w_y):
    lu_solve(A, b, x, y)
    return np.sum(w_A * A) + w_x @ x + w_y @ y


def lu_solve_args(n):
    b, x, y, w_x, w_y = normal(5, n)
    return positive_definite(n), b, x, y, normal(n, n, seed=3), w_x, w_y


def cholesky(A):
    """The lower triangle of A becomes its Cholesky factor, column by column (Golub & Van Loan, 4.2)."""
    n = len(A)
    for j in range(n):
        A[j, j] = math.sqrt(A[j, j] - A[j, :j] @ A[j, :j])
        A[j + 1 :, j] = (A[j + 1 :, j] - A[j + 1 :, :j] @ A[j, :j]) / A[j, j]


def cholesky_loss(A, w):
    cholesky(A)
    return np.sum(w * A)


def cholesky_by_row(A):
    n = A.shape[0]
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, n):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def cholesky_by_row_loss(A, w):
    cholesky_by_row(A)
    return np.sum(w * A)


def cholesky_by_element(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = np.sqrt(A[i, i])


def cholesky_by_element_loss(A, w):
    cholesky_by_element(A)
    return np.sum(w * A)


def forward_substitution(L, x, b):
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def forward_substitution_loss(L, b, w):
    x = np.empty_like(b)
    forward_substitution(L, x, b)
    return w @ x


def forward_substitution_args(n):
    b, w = normal(2, n)
    return np.tril(normal(n, n)) / n + 2.0 * np.eye(n), b, w


def durbin(r):
    """The Yule-Walker equations of a Toeplitz matrix with first column (1, r) (Golub & Van Loan, 4.7.3)."""
    n = len(r)
    y = np.empty_like(r)
    y[0] = -r[0]
    alpha = -r[0]
    beta = 1.0
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        alpha = -(r[k] + np.dot(r[k - 1 :: -1], y[:k])) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
    return y


def durbin_loss(r, w):
    return w @ durbin(r)


def durbin_args(n):
    lags = np.arange(1.0, n + 1.0)
    return 0.5 * 0.9**lags * np.cos(lags), normal(n)


def gram_schmidt(A, Q, R):
    """Modified: A = Q R, and what is left of A is orthogonal to Q (Golub & Van Loan, 5.2.8)."""
    n = A.shape[1]
    for k in range(n):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]


def gram_schmidt_loss(A, w_A, w_Q, w_R):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]))
    gram_schmidt(A, Q, R)
    return np.sum(w_A * A) + np.sum(w_Q * Q) + np.sum(w_R * R)


def gram_schmidt_args(m, n):
    A, w_A, w_Q = normal(3, m, n)
    return A, w_A, w_Q, normal(n, n)


KERNELS = named(
    Kernel(lu_loss, matrix_args, (0,), small=(6,), large=(120,)),
    Kernel(lu_by_element_loss, matrix_args, (0,), small=(5,), large=(24,)),
    Kernel(lu_solve_loss, lu_solve_args, (0, 1, 2, 3), small=(5,), large=(60,)),
    Kernel(cholesky_loss, matrix_args, (0,), small=(6,), large=(120,)),
    Kernel(cholesky_by_row_loss, matrix_args, (0,), small=(5,), large=(60,)),
    Kernel(cholesky_by_element_loss, matrix_args, (0,), small=(5,), large=(30,)),
    Kernel(forward_substitution_loss, forward_substitution_args, (0, 1), small=(6,), large=(400,)),
    Kernel(durbin_loss, durbin_args, (0,), small=(7,), large=(800,)),
    Kernel(gram_schmidt_loss, gram_schmidt_args, (0,), small=(6, 4), large=(60, 40)),
)
