"""Derivatives of the solutions of Riccati equations, of real matrices.

At a solution ``X`` the equation that is differentiated is a Lyapunov equation with the matrix of the closed loop,
``A - B @ K``, where ``K`` is the gain.  SciPy takes symmetric ``Q`` and ``R`` alone, and makes ``X`` symmetric.

Reference: Kao and Hennequin, Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations, 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

Array = Any


def symmetric(g: Array) -> Array:
    """The symmetric part of a real matrix."""
    return (np.real(g) + np.real(g).T) / 2


def continuous_gain(x: Array, b: Array, r: Array) -> Array:
    """The gain of the continuous equation."""
    return np.linalg.solve(r, b.T @ x)


def discrete_gain(x: Array, a: Array, b: Array, r: Array) -> Array:
    """The gain of the discrete equation."""
    return np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)


def continuous_tangent(
    a_dot: Array, b_dot: Array, q_dot: Array, r_dot: Array, x: Array, a: Array, b: Array, r: Array
) -> Array:
    """The tangent of ``linalg.solve_continuous_are(a, b, q, r)``."""
    a_dot, b_dot, r_dot = a_dot + np.zeros_like(x), b_dot + np.zeros(np.shape(b)), r_dot + np.zeros(np.shape(r))
    gain = continuous_gain(x, b, r)
    half = x @ (a_dot - b_dot @ gain)
    right = half + half.T + q_dot + gain.T @ r_dot @ gain
    return symmetric(linalg.solve_continuous_lyapunov((a - b @ gain).T, -right))


def continuous_adjoints(g: Array, x: Array, a: Array, b: Array, r: Array) -> tuple[Array, Array, Array, Array]:
    """The adjoints of the four matrices in ``x = linalg.solve_continuous_are(a, b, q, r)``."""
    gain = continuous_gain(x, b, r)
    q_bar = -linalg.solve_continuous_lyapunov(a - b @ gain, symmetric(g))
    a_bar = 2 * x @ q_bar
    return a_bar, -a_bar @ gain.T, q_bar, gain @ q_bar @ gain.T


def discrete_tangent(
    a_dot: Array, b_dot: Array, q_dot: Array, r_dot: Array, x: Array, a: Array, b: Array, r: Array
) -> Array:
    """The tangent of ``linalg.solve_discrete_are(a, b, q, r)``."""
    a_dot, b_dot, r_dot = a_dot + np.zeros_like(x), b_dot + np.zeros(np.shape(b)), r_dot + np.zeros(np.shape(r))
    gain = discrete_gain(x, a, b, r)
    closed = a - b @ gain
    half = closed.T @ x @ (a_dot - b_dot @ gain)
    right = half + half.T + q_dot + gain.T @ r_dot @ gain
    return symmetric(linalg.solve_discrete_lyapunov(closed.T, right))


def discrete_adjoints(g: Array, x: Array, a: Array, b: Array, r: Array) -> tuple[Array, Array, Array, Array]:
    """The adjoints of the four matrices in ``x = linalg.solve_discrete_are(a, b, q, r)``."""
    gain = discrete_gain(x, a, b, r)
    closed = a - b @ gain
    q_bar = linalg.solve_discrete_lyapunov(closed, symmetric(g))
    a_bar = 2 * x @ closed @ q_bar
    return a_bar, -a_bar @ gain.T, q_bar, gain @ q_bar @ gain.T
