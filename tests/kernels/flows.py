"""Flows, particles and layers of a network: programs of several functions that write into their arguments."""

from __future__ import annotations

import numpy as np

from tests.kernels.kernel import Kernel, named, normal, uniform


def vertical_advection(u, w, dt, dz):
    """Advect columns of air implicitly (Crank-Nicolson): a tridiagonal system each, Thomas' algorithm on slices."""
    levels = u.shape[0]
    upper = np.zeros_like(u)
    right = np.zeros_like(u)
    factor = 0.25 * dt / dz

    # elimination, upwards
    above = factor * (w[1] + w[0])
    upper[0] = above / (1.0 - above)
    right[0] = (u[0] - above * (u[1] - u[0])) / (1.0 - above)
    for k in range(1, levels - 1):
        below = -factor * (w[k] + w[k - 1])
        above = factor * (w[k + 1] + w[k])
        diagonal = 1.0 - below - above
        explicit = u[k] - below * (u[k - 1] - u[k]) - above * (u[k + 1] - u[k])
        divisor = 1.0 / (diagonal - below * upper[k - 1])
        upper[k] = above * divisor
        right[k] = (explicit - below * right[k - 1]) * divisor
    below = -factor * (w[-1] + w[-2])
    explicit = u[-1] - below * (u[-2] - u[-1])
    right[-1] = (explicit - below * right[-2]) / (1.0 - below - below * upper[-2])

    # substitution, downwards
    u[-1] = right[-1]
    for k in range(levels - 2, -1, -1):
        u[k] = right[k] - upper[k] * u[k + 1]


def vertical_advection_loss(u, w, dt, dz, w_u):
    vertical_advection(u, w, dt, dz)
    return np.sum(w_u * u)


def vertical_advection_args(levels, rows, columns):
    u, w, w_u = normal(3, levels, rows, columns)
    return u, w, 0.1, 0.5, w_u


def pressure_source(b, u, v, rho, dt, dx, dy):
    """The right-hand side of the Poisson equation for the pressure."""
    u_x = (u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx)
    v_y = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dy)
    u_y = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2.0 * dy)
    v_x = (v[1:-1, 2:] - v[1:-1, :-2]) / (2.0 * dx)
    b[1:-1, 1:-1] = rho * ((u_x + v_y) / dt - u_x**2 - 2.0 * u_y * v_x - v_y**2)


def pressure_sweep(p, p_old, b, dx, dy):
    """One Jacobi iteration inside the box."""
    p[1:-1, 1:-1] = (
        (p_old[1:-1, 2:] + p_old[1:-1, :-2]) * dy**2
        + (p_old[2:, 1:-1] + p_old[:-2, 1:-1]) * dx**2
        - b[1:-1, 1:-1] * dx**2 * dy**2
    ) / (2.0 * (dx**2 + dy**2))


def pressure_poisson(p, b, dx, dy, iterations):
    p_old = np.empty_like(p)
    for _ in range(iterations):
        p_old[:] = p
        pressure_sweep(p, p_old, b, dx, dy)
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0


def momentum(new, old, u, v, pressure_gradient, nu, dt, dx, dy):
    """Advection by (u, v), upwind, pressure and friction for one component of the velocity inside the box."""
    new[1:-1, 1:-1] = (
        old[1:-1, 1:-1]
        - u[1:-1, 1:-1] * dt / dx * (old[1:-1, 1:-1] - old[1:-1, :-2])
        - v[1:-1, 1:-1] * dt / dy * (old[1:-1, 1:-1] - old[:-2, 1:-1])
        - dt * pressure_gradient
        + nu
        * dt
        * (
            (old[1:-1, 2:] - 2.0 * old[1:-1, 1:-1] + old[1:-1, :-2]) / dx**2
            + (old[2:, 1:-1] - 2.0 * old[1:-1, 1:-1] + old[:-2, 1:-1]) / dy**2
        )
    )


def cavity_walls(u, v, lid):
    u[0, :] = 0.0
    u[:, 0] = 0.0
    u[:, -1] = 0.0
    u[-1, :] = lid
    v[0, :] = 0.0
    v[-1, :] = 0.0
    v[:, 0] = 0.0
    v[:, -1] = 0.0


def cavity_flow(u, v, p, lid, rho, nu, dt, dx, dy, steps, iterations):
    """Flow in a box whose lid moves: the Navier-Stokes equations by projection on the pressure."""
    b = np.zeros_like(p)
    for _ in range(steps):
        u_old = u.copy()
        v_old = v.copy()
        pressure_source(b, u, v, rho, dt, dx, dy)
        pressure_poisson(p, b, dx, dy, iterations)
        momentum(u, u_old, u_old, v_old, (p[1:-1, 2:] - p[1:-1, :-2]) / (2.0 * rho * dx), nu, dt, dx, dy)
        momentum(v, v_old, u_old, v_old, (p[2:, 1:-1] - p[:-2, 1:-1]) / (2.0 * rho * dy), nu, dt, dx, dy)
        cavity_walls(u, v, lid)


def cavity_flow_loss(u, v, p, lid, rho, nu, dt, dx, dy, steps, iterations, w_u, w_v, w_p):
    cavity_flow(u, v, p, lid, rho, nu, dt, dx, dy, steps, iterations)
    return np.sum(w_u * u) + np.sum(w_v * v) + np.sum(w_p * p)


def cavity_flow_args(n, steps, iterations):
    u, v, p = 0.1 * normal(3, n, n)
    w_u, w_v, w_p = normal(3, n, n, seed=3)
    d = 2.0 / (n - 1)
    return u, v, p, 1.0, 1.2, 0.1, 0.1 * d * d / 0.4, d, d, steps, iterations, w_u, w_v, w_p


def periodic_source(b, u, v, rho, dt, dx, dy):
    """The source of the pressure in a channel whose ends are joined."""
    pressure_source(b, u, v, rho, dt, dx, dy)
    for j, left, right in ((-1, -2, 0), (0, -1, 1)):
        u_x = (u[1:-1, right] - u[1:-1, left]) / (2.0 * dx)
        v_y = (v[2:, j] - v[:-2, j]) / (2.0 * dy)
        u_y = (u[2:, j] - u[:-2, j]) / (2.0 * dy)
        v_x = (v[1:-1, right] - v[1:-1, left]) / (2.0 * dx)
        b[1:-1, j] = rho * ((u_x + v_y) / dt - u_x**2 - 2.0 * u_y * v_x - v_y**2)


def periodic_poisson(p, b, dx, dy, iterations):
    for _ in range(iterations):
        p_old = p.copy()
        pressure_sweep(p, p_old, b, dx, dy)
        for j, left, right in ((-1, -2, 0), (0, -1, 1)):
            p[1:-1, j] = (
                (p_old[1:-1, right] + p_old[1:-1, left]) * dy**2
                + (p_old[2:, j] + p_old[:-2, j]) * dx**2
                - b[1:-1, j] * dx**2 * dy**2
            ) / (2.0 * (dx**2 + dy**2))
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


def channel_flow(u, v, p, force, rho, nu, dt, dx, dy, iterations, tolerance):
    """Flow driven through a periodic channel by a force, until it hardly changes. Returns the number of steps."""
    b = np.zeros_like(u)
    change = 1.0
    steps = 0
    while change > tolerance:
        u_old = u.copy()
        v_old = v.copy()
        periodic_source(b, u, v, rho, dt, dx, dy)
        periodic_poisson(p, b, dx, dy, iterations)
        momentum(u, u_old, u_old, v_old, (p[1:-1, 2:] - p[1:-1, :-2]) / (2.0 * rho * dx) - force, nu, dt, dx, dy)
        momentum(v, v_old, u_old, v_old, (p[2:, 1:-1] - p[:-2, 1:-1]) / (2.0 * rho * dy), nu, dt, dx, dy)
        for new, old in ((u, u_old), (v, v_old)):
            new[:, 0] = old[:, -2]
            new[:, -1] = old[:, 1]
            new[0, :] = 0.0
            new[-1, :] = 0.0
        change = abs(np.sum(u) - np.sum(u_old)) / np.sum(u)
        steps += 1
    return steps


def channel_flow_loss(u, v, p, force, rho, nu, dt, dx, dy, iterations, tolerance, w_u, w_v, w_p):
    channel_flow(u, v, p, force, rho, nu, dt, dx, dy, iterations, tolerance)
    return np.sum(w_u * u) + np.sum(w_v * v) + np.sum(w_p * p)


def channel_flow_args(n, iterations, per_mille):
    u, v = 0.02 * normal(2, n, n)
    w_u, w_v, w_p = normal(3, n, n, seed=3)
    d = 2.0 / (n - 1)
    dt = 0.1 * d * d / 0.4
    return 0.05 + u, v, 0.1 * v, 1.0, 1.2, 0.1, dt, d, d, iterations, 1e-3 * per_mille, w_u, w_v, w_p


def accelerations(positions, masses, gravity, softening):
    """Of every body by every other one; where the distance is nothing, so is the force."""
    x = positions[:, 0:1]
    y = positions[:, 1:2]
    z = positions[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inverse = dx**2 + dy**2 + dz**2 + softening**2 * (1.0 - np.eye(len(positions)))
    inverse[inverse > 0.0] = inverse[inverse > 0.0] ** (-1.5)
    ax = gravity * (dx * inverse) @ masses
    ay = gravity * (dy * inverse) @ masses
    az = gravity * (dz * inverse) @ masses
    return np.hstack((ax, ay, az))


def energies(positions, velocities, masses, gravity):
    """Kinetic and potential energy."""
    kinetic = 0.5 * np.sum(masses * velocities**2)
    differences = positions[np.newaxis, :, :] - positions[:, np.newaxis, :]
    inverse = np.sum(differences**2, axis=2)
    mask = inverse > 0.0
    inverse[mask] = 1.0 / np.sqrt(inverse[mask])
    potential = -gravity * np.sum(np.triu(masses * masses.T * inverse, 1))
    return kinetic, potential


def n_body(masses, positions, velocities, gravity, softening, dt, steps):
    """Leapfrog (kick, drift, kick) in the frame of the centre of mass. Returns the energies over time."""
    velocities -= np.mean(masses * velocities, axis=0) / np.mean(masses)
    history = np.empty((2, steps + 1))
    history[0, 0], history[1, 0] = energies(positions, velocities, masses, gravity)
    acceleration = accelerations(positions, masses, gravity, softening)
    for i in range(steps):
        velocities += acceleration * dt / 2.0
        positions += velocities * dt
        acceleration[:] = accelerations(positions, masses, gravity, softening)
        velocities += acceleration * dt / 2.0
        history[:, i + 1] = energies(positions, velocities, masses, gravity)
    return history


def n_body_loss(masses, positions, velocities, gravity, softening, dt, steps, w_p, w_v, w_h):
    history = n_body(masses, positions, velocities, gravity, softening, dt, steps)
    return np.sum(w_p * positions) + np.sum(w_v * velocities) + np.sum(w_h * history)


def n_body_args(bodies, steps):
    positions, velocities, w_p, w_v = normal(4, bodies, 3)
    return uniform(bodies, 1), positions, velocities, 1.1, 0.6, 0.02, steps, w_p, w_v, normal(2, steps + 1)


def conv2d(x, weights, bias):
    """Valid convolution of images (batch, row, column, channel) with kernels (row, column, channel in, channel out)."""
    size = weights.shape[0]
    rows = x.shape[1] - size + 1
    columns = x.shape[2] - size + 1
    out = np.empty((x.shape[0], rows, columns, weights.shape[3]))
    for i in range(rows):
        for j in range(columns):
            patch = x[:, i : i + size, j : j + size, :, np.newaxis]
            out[:, i, j, :] = np.sum(patch * weights[np.newaxis], axis=(1, 2, 3))
    out += bias
    return out


def max_pool(x):
    """The largest of each two by two."""
    out = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]))
    for i in range(out.shape[1]):
        for j in range(out.shape[2]):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def convolution_layers(x, weights, bias):
    out = conv2d(x, weights, bias)
    out[out < 0.0] = 0.0
    return max_pool(out)


def convolution_layers_loss(x, weights, bias, w):
    return np.sum(w * convolution_layers(x, weights, bias))


def convolution_layers_args(batch, n, size, channels, features):
    pooled = (n - size + 1) // 2
    x = normal(batch, n, n, channels)
    weights = normal(size, size, channels, features, seed=3) / size
    return x, weights, normal(features), normal(batch, pooled, pooled, features)


KERNELS = named(
    Kernel(vertical_advection_loss, vertical_advection_args, (0, 1, 2, 3), small=(5, 2, 3), large=(60, 32, 32)),
    Kernel(cavity_flow_loss, cavity_flow_args, (0, 1, 2, 3, 4, 5, 6, 7, 8), small=(5, 2, 2), large=(41, 10, 20)),
    Kernel(channel_flow_loss, channel_flow_args, (0, 1, 2, 3, 4, 5, 6, 7, 8), small=(4, 2, 100), large=(31, 10, 15)),
    Kernel(n_body_loss, n_body_args, (0, 1, 2, 3, 4, 5), small=(4, 2), large=(60, 20)),
    Kernel(convolution_layers_loss, convolution_layers_args, (0, 1, 2), small=(2, 6, 3, 2, 2), large=(4, 24, 3, 3, 8)),
)
