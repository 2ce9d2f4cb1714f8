"""Adjoints of kernels that write in place, written by hand.

They copy what they would otherwise overwrite of the caller's, and no more: the linear kernels (Jacobi, heat,
Gauss-Seidel) run no forward sweep at all, the factorisations read everything from the finished factor.
"""

from __future__ import annotations

import numpy as np

from tests.kernels import factorisations


def _jacobi_1d_half_reverse(new_bar, old_bar):
    g = new_bar[1:-1] / 3.0
    new_bar[1:-1] = 0.0
    old_bar[:-2] += g
    old_bar[1:-1] += g
    old_bar[2:] += g


def jacobi_1d(a, b, steps, w_a, w_b):
    a_bar = w_a.copy()
    b_bar = w_b.copy()
    for _ in range(steps):
        _jacobi_1d_half_reverse(a_bar, b_bar)
        _jacobi_1d_half_reverse(b_bar, a_bar)
    return a_bar, b_bar


def _jacobi_2d_half_reverse(new_bar, old_bar):
    g = 0.2 * new_bar[1:-1, 1:-1]
    new_bar[1:-1, 1:-1] = 0.0
    old_bar[1:-1, 1:-1] += g
    old_bar[:-2, 1:-1] += g
    old_bar[2:, 1:-1] += g
    old_bar[1:-1, :-2] += g
    old_bar[1:-1, 2:] += g


def jacobi_2d(a, b, steps, w_a, w_b):
    a_bar = w_a.copy()
    b_bar = w_b.copy()
    for _ in range(steps):
        _jacobi_2d_half_reverse(a_bar, b_bar)
        _jacobi_2d_half_reverse(b_bar, a_bar)
    return a_bar, b_bar


def diffusion_steps(u, k, steps, w):
    differences = []
    for _ in range(steps):
        d = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        differences.append(d)
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + k[1:-1, 1:-1] * d
        u = new
    u_bar = w.copy()
    k_bar = np.zeros_like(k)
    while differences:
        g = u_bar[1:-1, 1:-1].copy()
        k_bar[1:-1, 1:-1] += g * differences.pop()
        g *= k[1:-1, 1:-1]
        u_bar[1:-1, 1:-1] -= 4.0 * g
        u_bar[:-2, 1:-1] += g
        u_bar[2:, 1:-1] += g
        u_bar[1:-1, :-2] += g
        u_bar[1:-1, 2:] += g
    return u_bar, k_bar


def gauss_seidel(u, f, sweeps, w):
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


def gauss_seidel_expert(u, f, sweeps, w):
    """A row at a time: only its recurrence is a loop, and that over Python floats."""
    rows, columns = u.shape
    u_bar = w.copy()
    f_bar = np.zeros_like(f)
    g = [0.0] * columns
    for _ in range(sweeps):
        for i in reversed(range(1, rows - 1)):
            row_bar = u_bar[i].tolist()
            for j in reversed(range(1, columns - 1)):
                g[j] = 0.25 * (row_bar[j] + g[j + 1])
            inner = np.array(g[1:-1])
            u_bar[i, 1] = 0.0
            u_bar[i, 2:-1] = inner[:-1]
            u_bar[i, 0] += g[1]
            u_bar[i, -1] += g[-2]
            u_bar[i - 1, 1:-1] += inner
            u_bar[i + 1, 1:-1] += inner
            f_bar[i, 1:-1] -= inner
    return u_bar, f_bar


def heat_3d(a, b, r, steps, w_a, w_b):
    inner = (slice(1, -1), slice(1, -1), slice(1, -1))
    a_bar = w_a.copy()
    b_bar = w_b.copy()
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


def lu(A, w):
    n = len(A)
    A = A.copy()
    factorisations.lu(A)
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


def cholesky(A, w):
    n = len(A)
    A = A.copy()
    factorisations.cholesky(A)
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


def forward_substitution(L, b, w):
    n = len(b)
    x = np.empty_like(b)
    factorisations.forward_substitution(L, x, b)
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
    factorisations.forward_substitution(L, x, b)
    b_bar = w.copy()
    for i in reversed(range(n)):
        b_bar[i] /= L[i, i]
        b_bar[:i] -= b_bar[i] * L[i, :i]
    return np.tril(np.outer(-b_bar, x)), b_bar
