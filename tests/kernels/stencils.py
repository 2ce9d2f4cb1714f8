"""Stencils and time steppers on grids, most of which write into the arrays that they are given."""

from __future__ import annotations

import numpy as np

from tests.kernels.kernel import Kernel, named, normal, uniform


def jacobi_1d(a, b, steps):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3.0


def jacobi_1d_loss(a, b, steps, w_a, w_b):
    jacobi_1d(a, b, steps)
    return np.sum(w_a * a) + np.sum(w_b * b)


def jacobi_1d_args(n, steps):
    a, b, w_a, w_b = normal(4, n)
    return a, b, steps, w_a, w_b


def jacobi_2d(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def jacobi_2d_loss(a, b, steps, w_a, w_b):
    jacobi_2d(a, b, steps)
    return np.sum(w_a * a) + np.sum(w_b * b)


def jacobi_2d_args(n, steps):
    a, b, w_a, w_b = normal(4, n, n)
    return a, b, steps, w_a, w_b


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


def gauss_seidel_args(n, sweeps):
    u, f, w = normal(3, n, n)
    return u, f, sweeps, w


def seidel_2d(a, steps):
    """Nine points, all of them averaged in place."""
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1]
                    + a[i - 1, j]
                    + a[i - 1, j + 1]
                    + a[i, j - 1]
                    + a[i, j]
                    + a[i, j + 1]
                    + a[i + 1, j - 1]
                    + a[i + 1, j]
                    + a[i + 1, j + 1]
                ) / 9.0


def seidel_2d_loss(a, steps, w):
    seidel_2d(a, steps)
    return np.sum(w * a)


def seidel_2d_args(n, steps):
    a, w = normal(2, n, n)
    return a, steps, w


def heat_3d(a, b, r, steps):
    """Explicit Euler steps of the heat equation, two at a time between two arrays; `r` is dt / h**2."""
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = (
            a[1:-1, 1:-1, 1:-1]
            + r * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + r * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + r * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
        )
        a[1:-1, 1:-1, 1:-1] = (
            b[1:-1, 1:-1, 1:-1]
            + r * (b[2:, 1:-1, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[:-2, 1:-1, 1:-1])
            + r * (b[1:-1, 2:, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, :-2, 1:-1])
            + r * (b[1:-1, 1:-1, 2:] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, 1:-1, :-2])
        )


def heat_3d_loss(a, b, r, steps, w_a, w_b):
    heat_3d(a, b, r, steps)
    return np.sum(w_a * a) + np.sum(w_b * b)


def heat_3d_args(n, steps):
    a, b, w_a, w_b = normal(4, n, n, n)
    return a, b, 0.125, steps, w_a, w_b


def heat_3d_turns(a, b, r, steps):
    """The same steps, written once: the two arrays take turns as the old one and the new one."""
    inner = (slice(1, -1), slice(1, -1), slice(1, -1))
    for _ in range(steps):
        for old, new in ((a, b), (b, a)):
            c = old[inner]
            lap_x = old[2:, 1:-1, 1:-1] - 2.0 * c + old[:-2, 1:-1, 1:-1]
            lap_y = old[1:-1, 2:, 1:-1] - 2.0 * c + old[1:-1, :-2, 1:-1]
            lap_z = old[1:-1, 1:-1, 2:] - 2.0 * c + old[1:-1, 1:-1, :-2]
            new[inner] = c + r * (lap_x + lap_y + lap_z)


def heat_3d_turns_loss(a, b, r, steps, w_a, w_b):
    heat_3d_turns(a, b, r, steps)
    return np.sum(w_a * a) + np.sum(w_b * b)


def fdtd_2d(ex, ey, hz, source):
    """Maxwell's equations on a staggered grid, driven at one edge (Yee's scheme)."""
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def fdtd_2d_loss(ex, ey, hz, source, w_x, w_y, w_z):
    fdtd_2d(ex, ey, hz, source)
    return np.sum(w_x * ex) + np.sum(w_y * ey) + np.sum(w_z * hz)


def fdtd_2d_args(rows, columns, steps):
    ex, ey, hz, w_x, w_y, w_z = normal(6, rows, columns)
    return ex, ey, hz, normal(steps), w_x, w_y, w_z


def adi(u, v, p, q, b1, b2, steps):
    """Heat conduction by alternating directions, implicit along the columns and then along the rows."""
    n = u.shape[0]
    dx = 1.0 / n
    dt = 1.0 / steps
    mul1 = b1 * dt / (dx * dx)
    mul2 = b2 * dt / (dx * dx)
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -c / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (-d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:] - a * q[1:-1, j - 1]) / (
                a * p[1:-1, j - 1] + b
            )
        v[n - 1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]

        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = -f / (d * p[1:-1, j - 1] + e)
            q[1:-1, j] = (-a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - c * v[2:, j] - d * q[1:-1, j - 1]) / (
                d * p[1:-1, j - 1] + e
            )
        u[1:-1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


def adi_loss(u, v, p, q, b1, b2, steps, w_u, w_v, w_p, w_q):
    adi(u, v, p, q, b1, b2, steps)
    return np.sum(w_u * u) + np.sum(w_v * v) + np.sum(w_p * p) + np.sum(w_q * q)


def adi_args(n, steps):
    u, v, p, q, w_u, w_v, w_p, w_q = normal(8, n, n)
    return u, v, p, q, 0.02, 0.01, steps, w_u, w_v, w_p, w_q


def horizontal_diffusion(field, coefficient, out):
    """Fourth-order diffusion of an atmospheric field; fluxes up the gradient are limited to nothing."""
    lap = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    flux_x = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flux_x[flux_x * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0.0] = 0.0
    flux_y = lap[1:-1, 1:] - lap[1:-1, :-1]
    limited = flux_y * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0.0
    flux_y = np.where(limited, 0.0, flux_y)
    out[2:-2, 2:-2] = field[2:-2, 2:-2] - coefficient[2:-2, 2:-2] * (
        flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1]
    )


def horizontal_diffusion_loss(field, coefficient, out, w):
    horizontal_diffusion(field, coefficient, out)
    return np.sum(w * out)


def horizontal_diffusion_args(n, levels):
    field, out, w = normal(3, n, n, levels)
    return field, uniform(n, n, levels, low=0.01, high=0.1), out, w


def reaction_diffusion(u, diffusivity, rate, steps):
    """Fisher's equation on a row of cells between closed ends, from one buffer into the other and back."""
    v = np.empty_like(u)
    for _ in range(steps):
        v[1:-1] = u[1:-1] + diffusivity * (u[:-2] - 2.0 * u[1:-1] + u[2:]) + rate * u[1:-1] * (1.0 - u[1:-1])
        v[0] = v[1]
        v[-1] = v[-2]
        u, v = v, u
    return u


def reaction_diffusion_loss(u, diffusivity, rate, steps, w):
    return np.sum(w * reaction_diffusion(u, diffusivity, rate, steps))


def reaction_diffusion_args(n, steps):
    return uniform(n, low=0.1, high=0.9), 0.2, 0.3, steps, normal(n)


def diffusion_steps(u, k, steps):
    """Each step makes an array, which is the field of the next."""
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + k[1:-1, 1:-1] * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
        u = new
    return u


def diffusion_steps_loss(u, k, steps, w):
    return np.sum(w * diffusion_steps(u, k, steps))


def diffusion_steps_args(n, steps):
    u, k, w = normal(3, n, n)
    return u, 0.1 + 0.02 * k, steps, w


KERNELS = named(
    Kernel(jacobi_1d_loss, jacobi_1d_args, (0, 1), small=(9, 3), large=(4000, 100)),
    Kernel(jacobi_2d_loss, jacobi_2d_args, (0, 1), small=(6, 3), large=(150, 50)),
    Kernel(diffusion_steps_loss, diffusion_steps_args, (0, 1), small=(6, 3), large=(150, 50)),
    Kernel(gauss_seidel_loss, gauss_seidel_args, (0, 1), small=(6, 3), large=(40, 2)),
    Kernel(seidel_2d_loss, seidel_2d_args, (0,), small=(6, 2), large=(40, 2)),
    Kernel(heat_3d_loss, heat_3d_args, (0, 1, 2), small=(5, 2), large=(30, 20)),
    Kernel(heat_3d_turns_loss, heat_3d_args, (0, 1, 2), small=(4, 2), large=(30, 20)),
    Kernel(fdtd_2d_loss, fdtd_2d_args, (0, 1, 2, 3), small=(5, 6, 3), large=(120, 140, 50)),
    Kernel(adi_loss, adi_args, (0, 1, 2, 3, 4, 5), small=(5, 2), large=(60, 10)),
    Kernel(horizontal_diffusion_loss, horizontal_diffusion_args, (0, 1, 2), small=(7, 2), large=(64, 40)),
    Kernel(reaction_diffusion_loss, reaction_diffusion_args, (0, 1, 2), small=(8, 5), large=(4000, 101)),
)
