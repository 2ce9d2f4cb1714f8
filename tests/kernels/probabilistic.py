"""Sampling, alignment, decoding and filtering: recursions that fill tables and histories."""

from __future__ import annotations

import numpy as np

from s2sad import stop_gradient
from tests.kernels.kernel import Kernel, named, normal, positive_definite, uniform


def log_density(x, mean, scale):
    return -0.5 * np.sum(((x - mean) / scale) ** 2) - len(x) * np.log(scale)


def metropolis(x, mean, scale, step, noise, log_uniforms):
    """A random walk that is drawn beforehand; whether a step is accepted is a constant to every derivative."""
    steps = len(noise)
    samples = np.empty((steps, len(x)))
    log_densities = np.empty(steps)
    log_p = log_density(x, mean, scale)
    for t in range(steps):
        proposal = x + step * noise[t]
        log_q = log_density(proposal, mean, scale)
        if stop_gradient(log_uniforms[t] < log_q - log_p):
            x = proposal
            log_p = log_q
        samples[t] = x
        log_densities[t] = log_p
    return samples, log_densities


def metropolis_loss(x, mean, scale, step, noise, log_uniforms, w_samples, w_log):
    samples, log_densities = metropolis(x, mean, scale, step, noise, log_uniforms)
    return np.sum(w_samples * samples) + w_log @ log_densities


def metropolis_args(dimensions, steps):
    x, mean = normal(2, dimensions)
    log_uniforms = np.log(uniform(steps, low=0.0, high=1.0))
    w_log = normal(steps, seed=3)
    return x, mean, 1.3, 0.8, normal(steps, dimensions), log_uniforms, normal(steps, dimensions, seed=4), w_log


def needleman_wunsch(a, b, substitution, gap, temperature):
    """The table of scores of global alignments, the maximum over the three moves softened by a temperature."""
    rows, columns = len(a) + 1, len(b) + 1
    score = np.zeros((rows, columns))
    for i in range(1, rows):
        score[i, 0] = score[i - 1, 0] - gap
    for j in range(1, columns):
        score[0, j] = score[0, j - 1] - gap
    for i in range(1, rows):
        for j in range(1, columns):
            match = score[i - 1, j - 1] + substitution[a[i - 1], b[j - 1]]
            delete = score[i - 1, j] - gap
            insert = score[i, j - 1] - gap
            top = max(match, delete, insert)
            score[i, j] = top + temperature * np.log(
                np.exp((match - top) / temperature)
                + np.exp((delete - top) / temperature)
                + np.exp((insert - top) / temperature)
            )
    return score


def needleman_wunsch_loss(a, b, substitution, gap, temperature, w):
    return np.sum(w * needleman_wunsch(a, b, substitution, gap, temperature))


def needleman_wunsch_args(rows, columns):
    rng = np.random.default_rng(8)
    a = rng.integers(0, 4, rows)
    b = rng.integers(0, 4, columns)
    return a, b, normal(4, 4), 0.7, 0.5, normal(rows + 1, columns + 1)


def viterbi(log_start, log_transition, log_emission, observations):
    """The likeliest path of a hidden Markov chain and the table of log probabilities that it was found with."""
    steps, states = len(observations), len(log_start)
    best = np.empty((steps, states))
    origin = np.zeros((steps, states), dtype=int)
    best[0] = log_start + log_emission[:, observations[0]]
    for t in range(1, steps):
        for j in range(states):
            through = best[t - 1] + log_transition[:, j]
            origin[t, j] = np.argmax(through)
            best[t, j] = through[origin[t, j]] + log_emission[j, observations[t]]
    path = np.empty(steps, dtype=int)
    path[-1] = np.argmax(best[-1])
    for t in range(steps - 2, -1, -1):
        path[t] = origin[t + 1, path[t + 1]]
    return path, best


def viterbi_loss(log_start, log_transition, log_emission, observations, w):
    path, best = viterbi(log_start, log_transition, log_emission, observations)
    along = best[np.arange(len(path)), path]
    return np.sum(w * best) + np.sum(along)


def viterbi_args(states, symbols, steps):
    observations = np.random.default_rng(8).integers(0, symbols, steps)
    log_start = np.log(uniform(states))
    return (
        log_start,
        normal(states, states),
        normal(states, symbols, seed=5),
        observations,
        normal(steps, states, seed=3),
    )


def kalman_filter(x, P, F, Q, H, R, measurements, means, covariances):
    """Predict and update for each measurement; the histories of state and covariance are written. Returns -log p."""
    n = len(x)
    nll = 0.0
    for t in range(len(measurements)):
        x = F @ x
        P = F @ P @ F.T + Q
        residual = measurements[t] - H @ x
        S = H @ P @ H.T + R
        K = np.linalg.solve(S, H @ P).T
        x = x + K @ residual
        P = (np.eye(n) - K @ H) @ P
        means[t] = x
        covariances[t, :, :] = P
        nll += 0.5 * (residual @ np.linalg.solve(S, residual) + np.log(np.linalg.det(2.0 * np.pi * S)))
    return nll


def kalman_filter_loss(x, P, F, Q, H, R, measurements, w_means, w_covariances):
    means = np.empty((len(measurements), len(x)))
    covariances = np.empty((len(measurements), len(x), len(x)))
    nll = kalman_filter(x, P, F, Q, H, R, measurements, means, covariances)
    return nll + np.sum(w_means * means) + np.sum(w_covariances * covariances)


def kalman_filter_args(states, outputs, steps):
    F = np.eye(states) + 0.1 * normal(states, states)
    H = normal(outputs, states)
    R = 0.5 * positive_definite(outputs)
    weights = normal(steps, states, seed=3), normal(steps, states, states, seed=4)
    return (
        normal(states), positive_definite(states), F, 0.1 * positive_definite(states), H, R,
        normal(steps, outputs, seed=5), *weights,
    )  # fmt: skip


KERNELS = named(
    Kernel(metropolis_loss, metropolis_args, (0, 1, 2, 3, 4), small=(3, 6), large=(10, 500)),
    Kernel(needleman_wunsch_loss, needleman_wunsch_args, (2, 3, 4), small=(4, 5), large=(30, 36)),
    Kernel(viterbi_loss, viterbi_args, (0, 1, 2), small=(3, 2, 5), large=(12, 8, 60)),
    Kernel(kalman_filter_loss, kalman_filter_args, tuple(range(7)), small=(3, 2, 3), large=(6, 3, 60)),
)
