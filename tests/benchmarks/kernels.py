"""Kernels that write into their arrays, as a textbook writes them, with adjoints written by hand.

Each `*_loss` gives the kernel a scalar result, a sum weighted by `w` of every element that the kernel wrote. The
hand-written adjoints copy what they would otherwise overwrite of the caller's, and no more: the linear kernels (Jacobi,
heat, Gauss-Seidel) run no forward sweep at all, the factorisations read everything from the finished factor.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .case import Case


def jacobi_1d(a, b, steps):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3.0


def jacobi_1d_loss(a, b, steps, w):
    jacobi_1d(a, b, steps)
    return np.sum(w * a)


def _jacobi_1d_half_reverse(new_bar, old_bar):
    g = new_bar[1:-1] / 3.0
    new_bar[1:-1] = 0.0
    old_bar[:-2] += g
    old_bar[1:-1] += g
    old_bar[2:] += g


def jacobi_1d_hand(a, b, steps, w):
    a_bar = w.copy()
    b_bar = np.zeros_like(b)
    for _ in range(steps):
        _jacobi_1d_half_reverse(a_bar, b_bar)
        _jacobi_1d_half_reverse(b_bar, a_bar)
    return a_bar, b_bar


def jacobi_2d(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def jacobi_2d_loss(a, b, steps, w):
    jacobi_2d(a, b, steps)
    return np.sum(w * a)


def _jacobi_2d_half_reverse(new_bar, old_bar):
    g = 0.2 * new_bar[1:-1, 1:-1]
    new_bar[1:-1, 1:-1] = 0.0
    old_bar[1:-1, 1:-1] += g
    old_bar[:-2, 1:-1] += g
    old_bar[2:, 1:-1] += g
    old_bar[1:-1, :-2] += g
    old_bar[1:-1, 2:] += g


def jacobi_2d_hand(a, b, steps, w):
    a_bar = w.copy()
    b_bar = np.zeros_like(b)
    for _ in range(steps):
        _jacobi_2d_half_reverse(a_bar, b_bar)
        _jacobi_2d_half_reverse(b_bar, a_bar)
    return a_bar, b_bar


def gauss_seidel(u, f, sweeps):
    """Poisson's equation, five points, lexicographic order; h**2 is contained in `f`."""
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


def gauss_seidel_loss(u, f, sweeps, w):
    gauss_seidel(u, f, sweeps)
    return np.sum(w * u)


def gauss_seidel_hand(u, f, sweeps, w):
    rows, columns = u.shape
    u_bar = w.copy()
    f_bar = np.zeros_like(f)
    for _ in range(sweeps):
        for i in reversed(range(1, rows - 1)):
            for j in reversed(range(1, columns - 1)):
                g = 0.25 * u_bar[i, j]
                u_bar[i, j] = 0.0
                u_bar[i - 1, j] += g
                u_bar[i + 1, j] += g
                u_bar[i, j - 1] += g
                u_bar[i, j + 1] += g
                f_bar[i, j] -= g
    return u_bar, f_bar


def heat_3d(a, b, r, steps):
    """Explicit Euler steps of the heat equation, two at a time between two arrays; `r` is dt / h**2."""
    inner = (slice(1, -1), slice(1, -1), slice(1, -1))
    for _ in range(steps):
        for old, new in ((a, b), (b, a)):
            c = old[inner]
            lap_x = old[2:, 1:-1, 1:-1] - 2.0 * c + old[:-2, 1:-1, 1:-1]
            lap_y = old[1:-1, 2:, 1:-1] - 2.0 * c + old[1:-1, :-2, 1:-1]
            lap_z = old[1:-1, 1:-1, 2:] - 2.0 * c + old[1:-1, 1:-1, :-2]
            new[inner] = c + r * (lap_x + lap_y + lap_z)


def heat_3d_loss(a, b, r, steps, w):
    heat_3d(a, b, r, steps)
    return np.sum(w * a)


def heat_3d_hand(a, b, r, steps, w):
    inner = (slice(1, -1), slice(1, -1), slice(1, -1))
    a_bar = w.copy()
    b_bar = np.zeros_like(b)
    for _ in range(steps):
        for new_bar, old_bar in ((a_bar, b_bar), (b_bar, a_bar)):
            c_bar = (1.0 - 6.0 * r) * new_bar[inner]
            g = r * new_bar[inner]
            new_bar[inner] = 0.0
            old_bar[inner] += c_bar
            old_bar[2:, 1:-1, 1:-1] += g
            old_bar[:-2, 1:-1, 1:-1] += g
            old_bar[1:-1, 2:, 1:-1] += g
            old_bar[1:-1, :-2, 1:-1] += g
            old_bar[1:-1, 1:-1, 2:] += g
            old_bar[1:-1, 1:-1, :-2] += g
    return a_bar, b_bar


def lu(A):
    """A becomes L and U, the unit diagonal of L not stored: right-looking, without pivoting (Golub & Van Loan, 3.2)."""
    n = len(A)
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


def lu_loss(A, w):
    lu(A)
    return np.sum(w * A)


def lu_hand(A, w):
    n = len(A)
    A = A.copy()
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    # what step k reads, row k of U and column k of L, no later step overwrites
    A_bar = w.copy()
    for k in reversed(range(n - 1)):
        rest_bar = A_bar[k + 1 :, k + 1 :]
        l_bar = A_bar[k + 1 :, k] - rest_bar @ A[k, k + 1 :]
        A_bar[k, k + 1 :] -= A[k + 1 :, k] @ rest_bar
        l_bar /= A[k, k]
        A_bar[k, k] -= l_bar @ A[k + 1 :, k]
        A_bar[k + 1 :, k] = l_bar
    return A_bar


def cholesky(A):
    """The lower triangle of A becomes its Cholesky factor, column by column (Golub & Van Loan, 4.2)."""
    n = len(A)
    for j in range(n):
        A[j, j] = math.sqrt(A[j, j] - A[j, :j] @ A[j, :j])
        A[j + 1 :, j] = (A[j + 1 :, j] - A[j + 1 :, :j] @ A[j, :j]) / A[j, j]


def cholesky_loss(A, w):
    cholesky(A)
    return np.sum(w * A)


def cholesky_hand(A, w):
    n = len(A)
    A = A.copy()
    for j in range(n):
        A[j, j] = math.sqrt(A[j, j] - A[j, :j] @ A[j, :j])
        A[j + 1 :, j] = (A[j + 1 :, j] - A[j + 1 :, :j] @ A[j, :j]) / A[j, j]
    # column j reads columns before it, which are final by then
    A_bar = w.copy()
    for j in reversed(range(n)):
        c_bar = A_bar[j + 1 :, j] / A[j, j]
        s_bar = 0.5 * (A_bar[j, j] - c_bar @ A[j + 1 :, j]) / A[j, j]
        A_bar[j + 1 :, j] = c_bar
        A_bar[j, j] = s_bar
        A_bar[j, :j] -= c_bar @ A[j + 1 :, :j] + 2.0 * s_bar * A[j, :j]
        A_bar[j + 1 :, :j] -= np.outer(c_bar, A[j, :j])
    return A_bar


def forward_substitution(L, x, b):
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def forward_substitution_loss(L, b, w):
    x = np.empty_like(b)
    forward_substitution(L, x, b)
    return w @ x


def forward_substitution_hand(L, b, w):
    n = len(b)
    x = np.empty_like(b)
    for i in range(n):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    x_bar = w.copy()
    L_bar = np.zeros_like(L)
    for i in reversed(range(n)):
        g = x_bar[i] / L[i, i]
        x_bar[:i] -= g * L[i, :i]
        L_bar[i, :i] = -g * x[:i]
        L_bar[i, i] = -g * x[i]
        x_bar[i] = g
    return L_bar, x_bar


def forward_substitution_expert(L, b, w):
    """L_bar is an outer product: one for all rows."""
    n = len(b)
    x = np.empty_like(b)
    for i in range(n):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    b_bar = w.copy()
    for i in reversed(range(n)):
        b_bar[i] /= L[i, i]
        b_bar[:i] -= b_bar[i] * L[i, :i]
    return np.tril(np.outer(-b_bar, x)), b_bar


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(8).standard_normal(shape)


def _jacobi(shape: tuple[int, ...], steps: int) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    a, b, w = _normal(3, *shape)
    return a, b, steps, w


def _heat(n: int, steps: int) -> tuple[np.ndarray, np.ndarray, float, int, np.ndarray]:
    a, b, w = _normal(3, n, n, n)
    return a, b, 0.125, steps, w


def _matrix(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric, positive definite and well conditioned, and the weights."""
    m, w = _normal(2, n, n)
    return m @ m.T / n + 2.0 * np.eye(n), w


def _triangular(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    b, w = _normal(2, n)
    return np.tril(_normal(n, n)) / n + 2.0 * np.eye(n), b, w


def _cases(n1: int, n2: int, n3: int, n_sweep: int, n_matrix: int, n_solve: int, steps: int) -> dict[str, Case]:
    sweeps = max(2, steps // 20)
    cases = [
        Case("jacobi_1d", jacobi_1d_loss, jacobi_1d_hand, lambda: _jacobi((n1,), steps), (0, 1)),
        Case("jacobi_2d", jacobi_2d_loss, jacobi_2d_hand, lambda: _jacobi((n2, n2), steps), (0, 1)),
        Case("gauss_seidel", gauss_seidel_loss, gauss_seidel_hand, lambda: _jacobi((n_sweep, n_sweep), sweeps), (0, 1)),
        Case("heat_3d", heat_3d_loss, heat_3d_hand, lambda: _heat(n3, steps), (0, 1)),
        Case("lu", lu_loss, lu_hand, lambda: _matrix(n_matrix)),
        Case("cholesky", cholesky_loss, cholesky_hand, lambda: _matrix(n_matrix)),
        Case(
            "forward_substitution",
            forward_substitution_loss,
            forward_substitution_hand,
            lambda: _triangular(n_solve),
            (0, 1),
            expert=forward_substitution_expert,
        ),
    ]
    return {case.name: replace(case, in_place=True) for case in cases}


SMALL = _cases(n1=9, n2=6, n3=5, n_sweep=6, n_matrix=6, n_solve=7, steps=3)
KERNELS = {
    name: replace(case, make_small_args=SMALL[name].make_args)
    for name, case in _cases(n1=4000, n2=150, n3=30, n_sweep=40, n_matrix=120, n_solve=400, steps=50).items()
}
