"""Products of matrices and statistics in place, sparse rows, a Fourier transform, and sums over index arrays."""

from __future__ import annotations

import cmath
import math

import numpy as np

from tests.kernels.kernel import Kernel, complex_normal, named, normal


def symm(alpha, beta, A, B, C):
    """C = alpha A B + beta C, of the symmetric A only the lower triangle is read."""
    m, n = C.shape
    for i in range(m):
        for j in range(n):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            below = B[:i, j] @ A[i, :i]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * below


def symm_loss(alpha, beta, A, B, C, w):
    symm(alpha, beta, A, B, C)
    return np.sum(w * C)


def symm_args(m, n):
    B, C, w = normal(3, m, n)
    return 1.5, 1.2, normal(m, m), B, C, w


def syrk(alpha, beta, A, C):
    """The lower triangle of C = alpha A A^T + beta C."""
    n, m = A.shape
    for i in range(n):
        C[i, : i + 1] *= beta
        for k in range(m):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def syrk_loss(alpha, beta, A, C, w):
    syrk(alpha, beta, A, C)
    return np.sum(w * C)


def syrk_args(n, m):
    C, w = normal(2, n, n)
    return 1.5, 1.2, normal(n, m), C, w


def syr2k(alpha, beta, A, B, C):
    """The lower triangle of C = alpha (A B^T + B A^T) + beta C."""
    n, m = A.shape
    for i in range(n):
        C[i, : i + 1] *= beta
        for k in range(m):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]


def syr2k_loss(alpha, beta, A, B, C, w):
    syr2k(alpha, beta, A, B, C)
    return np.sum(w * C)


def syr2k_args(n, m):
    A, B = normal(2, n, m)
    C, w = normal(2, n, n)
    return 1.5, 1.2, A, B, C, w


def trmm(alpha, A, B):
    """B = alpha A^T B with A lower triangular with a unit diagonal."""
    m, n = B.shape
    for i in range(m):
        for j in range(n):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


def trmm_loss(alpha, A, B, w):
    trmm(alpha, A, B)
    return np.sum(w * B)


def trmm_args(m, n):
    B, w = normal(2, m, n)
    return 1.5, normal(m, m), B, w


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def gemver_loss(alpha, beta, A, u1, v1, u2, v2, w, x, y, z, w_A, w_w, w_x):
    gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z)
    return np.sum(w_A * A) + w_w @ w + w_x @ x


def gemver_args(n):
    A, w_A = normal(2, n, n)
    u1, v1, u2, v2, w, x, y, z, w_w, w_x = normal(10, n)
    return 1.5 / n, 1.2 / n, A, u1, v1, u2, v2, w, x, y, z, w_A, w_w, w_x


def covariance(data):
    """The covariance matrix of the columns; `data` is centred on the way."""
    samples, variables = data.shape
    data -= np.mean(data, axis=0)
    cov = np.zeros((variables, variables))
    for i in range(variables):
        for j in range(i, variables):
            cov[i, j] = data[:, i] @ data[:, j] / (samples - 1.0)
            cov[j, i] = cov[i, j]
    return cov


def covariance_loss(data, w_data, w_cov):
    cov = covariance(data)
    return np.sum(w_data * data) + np.sum(w_cov * cov)


def correlation(data):
    """The correlation matrix of the columns; `data` is standardised on the way, a constant column only centred."""
    samples, variables = data.shape
    stddev = data.std(axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= data.mean(axis=0)
    data /= math.sqrt(samples) * stddev
    corr = np.eye(variables)
    for i in range(variables - 1):
        corr[i, i + 1 :] = corr[i + 1 :, i] = data[:, i] @ data[:, i + 1 :]
    return corr


def correlation_loss(data, w_data, w_corr):
    corr = correlation(data)
    return np.sum(w_data * data) + np.sum(w_corr * corr)


def statistics_args(samples, variables):
    data, w_data = normal(2, samples, variables)
    data[:, 0] = 0.5 + 0.01 * data[:, 0]
    return data, w_data, normal(variables, variables)


def doitgen(A, C4):
    """Multiresolution analysis: every row of the last axis is replaced by its product with C4."""
    nr, nq, np_ = A.shape
    total = np.empty(np_)
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                total[p] = A[r, q, :] @ C4[:, p]
            A[r, q, :] = total


def doitgen_loss(A, C4, w):
    doitgen(A, C4)
    return np.sum(w * A)


def doitgen_args(nr, nq, np_):
    A, w = normal(2, nr, nq, np_)
    return A, normal(np_, np_), w


def sparse_rows(values, columns, starts, x):
    """The product of a matrix in compressed rows with x."""
    y = np.empty(len(starts) - 1)
    for i in range(len(y)):
        row = slice(starts[i], starts[i + 1])
        y[i] = values[row] @ x[columns[row]]
    return y


def sparse_rows_loss(values, columns, starts, x, w):
    return w @ sparse_rows(values, columns, starts, x)


def sparse_rows_args(rows, columns, per_row):
    rng = np.random.default_rng(8)
    lengths = rng.integers(0, 2 * per_row, rows)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return normal(starts[-1]), rng.integers(0, columns, starts[-1]), starts, normal(columns), normal(rows)


def stockham_fft(x):
    """The discrete Fourier transform of a power of two of numbers, sorted on the way from one array to the other."""
    n = len(x)
    y = np.empty_like(x)
    stride = 1
    while n > 1:
        half = n // 2
        for p in range(half):
            twiddle = cmath.exp(-2j * cmath.pi * p / n)
            a = x[stride * p : stride * (p + 1)]
            b = x[stride * (p + half) : stride * (p + half + 1)]
            y[stride * 2 * p : stride * (2 * p + 1)] = a + b
            y[stride * (2 * p + 1) : stride * (2 * p + 2)] = (a - b) * twiddle
        n = half
        stride *= 2
        x, y = y, x
    return x


def stockham_fft_loss(x, w_real, w_imag):
    z = stockham_fft(x)
    return np.sum(w_real * z.real) + np.sum(w_imag * z.imag)


def stockham_fft_args(log2_n):
    w_real, w_imag = normal(2, 2**log2_n, seed=3)
    return complex_normal(2**log2_n), w_real, w_imag


def scattering_self_energies(neighbours, dH, G, D, sigma):
    """Electron self-energies from phonon scattering: sums over neighbours, directions, momenta and phonon energies."""
    momenta, energies, atoms = G.shape[:3]
    q_momenta, frequencies = D.shape[:2]
    for k in range(momenta):
        for e in range(energies):
            for q in range(q_momenta):
                for w in range(frequencies):
                    if e - w < 0:
                        continue
                    for a in range(atoms):
                        for n, b in enumerate(neighbours[a]):
                            for i in range(3):
                                left = dH[a, n, i] @ G[k - q, e - w, b]
                                for j in range(3):
                                    sigma[k, e, a] += left @ dH[a, n, j] * D[q, w, a, n, i, j]


def scattering_self_energies_loss(neighbours, dH, G, D, w_real, w_imag):
    sigma = np.zeros_like(G)
    scattering_self_energies(neighbours, dH, G, D, sigma)
    return np.sum(w_real * sigma.real) + np.sum(w_imag * sigma.imag)


def scattering_self_energies_args(momenta, energies, frequencies, atoms, per_atom, orbitals):
    neighbours = np.random.default_rng(8).integers(0, atoms, (atoms, per_atom))
    dH = complex_normal(atoms, per_atom, 3, orbitals, orbitals)
    G = complex_normal(momenta, energies, atoms, orbitals, orbitals)
    D = complex_normal(momenta, frequencies, atoms, per_atom, 3, 3)
    w_real, w_imag = normal(2, *G.shape, seed=3)
    return neighbours, dH, G, D, w_real, w_imag


KERNELS = named(
    Kernel(symm_loss, symm_args, (0, 1, 2, 3, 4), small=(4, 5), large=(30, 36)),
    Kernel(syrk_loss, syrk_args, (0, 1, 2, 3), small=(4, 5), large=(40, 30)),
    Kernel(syr2k_loss, syr2k_args, (0, 1, 2, 3, 4), small=(4, 5), large=(40, 30)),
    Kernel(trmm_loss, trmm_args, (0, 1, 2), small=(4, 5), large=(40, 50)),
    Kernel(gemver_loss, gemver_args, tuple(range(11)), small=(4,), large=(400,)),
    Kernel(covariance_loss, statistics_args, (0,), small=(7, 4), large=(200, 50)),
    Kernel(correlation_loss, statistics_args, (0,), small=(7, 4), large=(400, 200)),
    Kernel(doitgen_loss, doitgen_args, (0, 1), small=(2, 3, 4), large=(10, 10, 20)),
    Kernel(sparse_rows_loss, sparse_rows_args, (0, 3), small=(6, 5, 3), large=(1000, 1000, 20)),
    Kernel(stockham_fft_loss, stockham_fft_args, (0,), small=(3,), large=(9,)),
    Kernel(
        scattering_self_energies_loss,
        scattering_self_energies_args,
        (1, 2, 3),
        small=(2, 2, 2, 2, 1, 2),
        large=(2, 4, 3, 4, 3, 4),
    ),
)
