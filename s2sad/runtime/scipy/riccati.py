"""Derivatives of the solutions of Riccati equations, of real matrices.

At a solution ``X`` the equation that is differentiated is a Lyapunov equation with the matrix of the closed loop,
``A - B @ K``, where ``K`` is the gain.  SciPy takes symmetric ``Q`` and ``R`` alone, and makes ``X`` symmetric.
It takes numbers for matrices, and stacks of them.

Reference: Kao and Hennequin, Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations, 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import transposed

Array = Any


def symmetric(g: Array) -> Array:
    """The symmetric part of a real matrix."""
    return (np.real(g) + transposed(np.real(g))) / 2


def must_be_plain(e: Any, s: Any) -> None:
    """Refuse equations of descriptor systems and with cross weights."""
    if e is not None or s is not None:
        raise UndefinedDerivativeError(
            "a Riccati equation with e or s has no derivative rule",
            "In place of s give a - b @ inv(r) @ s.T for a and q - s @ inv(r) @ s.T for q. With inv(e) @ a and "
            "inv(e) @ b the solution is x, and inv(e).T @ x @ inv(e) that with e.",
        )


def continuous_gain(x: Array, b: Array, r: Array) -> Array:
    """The gain of the continuous equation."""
    return np.linalg.solve(r, transposed(b) @ x)


def discrete_gain(x: Array, a: Array, b: Array, r: Array) -> Array:
    """The gain of the discrete equation."""
    return np.linalg.solve(r + transposed(b) @ x @ b, transposed(b) @ x @ a)


def continuous_tangent(
    a_dot: Array, b_dot: Array, q_dot: Array, r_dot: Array, x: Array, a: Array, b: Array, r: Array, e: Any, s: Any
) -> Array:
    """The tangent of ``linalg.solve_continuous_are(a, b, q, r, e, s)``."""
    must_be_plain(e, s)
    a, b, r = np.atleast_2d(a), np.atleast_2d(b), np.atleast_2d(r)
    a_dot, b_dot, r_dot = a_dot + np.zeros_like(a), b_dot + np.zeros_like(b), r_dot + np.zeros(np.shape(r))
    gain = continuous_gain(x, b, r)
    half = x @ (a_dot - b_dot @ gain)
    right = half + transposed(half) + q_dot + transposed(gain) @ r_dot @ gain
    return symmetric(linalg.solve_continuous_lyapunov(transposed(a - b @ gain), -right))


def continuous_adjoints(
    g: Array, x: Array, a: Array, b: Array, q: Array, r: Array, e: Any, s: Any
) -> tuple[Array, Array, Array, Array]:
    """The adjoints of the first four matrices in ``x = linalg.solve_continuous_are(a, b, q, r, e, s)``."""
    must_be_plain(e, s)
    columns = np.atleast_2d(b)
    gain = continuous_gain(x, columns, np.atleast_2d(r))
    q_bar = -linalg.solve_continuous_lyapunov(a - columns @ gain, symmetric(g))
    return _adjoints(2 * x @ q_bar, gain, q_bar, a, b, q, r)


def _adjoints(
    a_bar: Array, gain: Array, q_bar: Array, a: Array, b: Array, q: Array, r: Array
) -> tuple[Array, Array, Array, Array]:
    """The adjoints of all four matrices, given those of the first and third."""
    return (
        unbroadcast(a_bar, np.shape(a)),
        unbroadcast(-a_bar @ transposed(gain), np.shape(b)),
        unbroadcast(q_bar, np.shape(q)),
        unbroadcast(gain @ q_bar @ transposed(gain), np.shape(r)),
    )


def discrete_tangent(
    a_dot: Array, b_dot: Array, q_dot: Array, r_dot: Array, x: Array, a: Array, b: Array, r: Array, e: Any, s: Any
) -> Array:
    """The tangent of ``linalg.solve_discrete_are(a, b, q, r, e, s)``."""
    must_be_plain(e, s)
    a, b, r = np.atleast_2d(a), np.atleast_2d(b), np.atleast_2d(r)
    a_dot, b_dot, r_dot = a_dot + np.zeros_like(a), b_dot + np.zeros_like(b), r_dot + np.zeros(np.shape(r))
    gain = discrete_gain(x, a, b, r)
    closed = a - b @ gain
    half = transposed(closed) @ x @ (a_dot - b_dot @ gain)
    right = half + transposed(half) + q_dot + transposed(gain) @ r_dot @ gain
    return symmetric(linalg.solve_discrete_lyapunov(transposed(closed), right))


def discrete_adjoints(
    g: Array, x: Array, a: Array, b: Array, q: Array, r: Array, e: Any, s: Any
) -> tuple[Array, Array, Array, Array]:
    """The adjoints of the first four matrices in ``x = linalg.solve_discrete_are(a, b, q, r, e, s)``."""
    must_be_plain(e, s)
    columns = np.atleast_2d(b)
    gain = discrete_gain(x, np.atleast_2d(a), columns, np.atleast_2d(r))
    closed = a - columns @ gain
    q_bar = linalg.solve_discrete_lyapunov(closed, symmetric(g))
    return _adjoints(2 * x @ closed @ q_bar, gain, q_bar, a, b, q, r)
