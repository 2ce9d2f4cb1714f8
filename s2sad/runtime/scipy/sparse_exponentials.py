"""Exponentials of a sparse matrix times vectors, by the entries of the matrix.

The derivative of ``exp(A) @ b`` along ``E`` is the integral of ``exp((1 - s) A) @ E @ exp(s A) @ b`` over ``s`` from 0
to 1: its tangent is a product with the exponential of a larger matrix, and its adjoint is found by Gauss's quadrature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.entries import Pattern, outer_entries

Array = Any


def exponential(values: Array, pattern: Pattern, b: Array, trace: Any = None) -> Array:
    """``linalg.expm_multiply(A, b, traceA=trace)``."""
    return linalg.expm_multiply(pattern.matrix(values), np.asarray(b), traceA=trace)


def exponential_tangent(values_dot: Array, b_dot: Array, values: Array, pattern: Pattern, b: Array) -> Array:
    """The tangent of `exponential`."""
    matrix = _with_tangent(pattern.matrix(values), pattern.make(values_dot))
    return linalg.expm_multiply(matrix, np.concatenate([b_dot + np.zeros_like(b), b]))[: len(b)]


def _with_tangent(matrix: Any, dot: Any) -> Any:
    return sparse.block_array([[sparse.csr_array(matrix), sparse.csr_array(dot)], [None, matrix]], format="csr")


def entries_adjoint(g: Array, values: Array, pattern: Pattern, b: Array) -> Array:
    """The adjoint of the values in `exponential`."""
    matrix = pattern.matrix(values)

    def at(count: int) -> Array:
        nodes, weights = _nodes(count)
        left, right = _along(matrix.T, g, nodes), _along(matrix, b, 1.0 - nodes)
        pairs = zip(weights, left, right, strict=True)
        return sum([w * outer_entries(u, v, pattern, values) for w, u, v in pairs])

    return _converged(at)


def entries_adjoint_tangent(
    g_dot: Array, values_dot: Array, b_dot: Array, g: Array, values: Array, pattern: Pattern, b: Array
) -> Array:
    """The tangent of `entries_adjoint`."""
    matrix, dot, n = pattern.matrix(values), pattern.make(values_dot + np.zeros_like(values)), len(b)
    starts = [np.concatenate([x_dot + np.zeros_like(x), x]) for x_dot, x in ((g_dot, g), (b_dot, b))]

    def at(count: int) -> Array:
        nodes, weights = _nodes(count)
        left = _along(_with_tangent(matrix.T, dot.T), starts[0], nodes)
        right = _along(_with_tangent(matrix, dot), starts[1], 1.0 - nodes)
        return sum(
            [
                w * (outer_entries(u[:n], v[n:], pattern, values) + outer_entries(u[n:], v[:n], pattern, values))
                for w, u, v in zip(weights, left, right, strict=True)
            ]
        )

    return _converged(at)


def _nodes(count: int) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1.0) / 2.0, weights / 2.0


def _along(matrix: Any, start: Array, times: Array) -> list[Array]:
    """``exp(t A) @ start`` for several times, each from the one before it."""
    order, found, last, at = np.argsort(times), {}, start, 0.0
    for k in order:
        last, at = linalg.expm_multiply((times[k] - at) * matrix, last), times[k]
        found[k] = last
    return [found[k] for k in range(len(times))]


def _converged(at: Any) -> Array:
    """An integral by as many nodes as it takes."""
    found, count = at(8), 16
    while count <= 256:
        last, found = found, at(count)
        if np.linalg.norm(found - last) <= 1e-11 * np.linalg.norm(found):
            return found
        count *= 2
    raise UndefinedDerivativeError(
        "the derivative of an exponential by the entries of its matrix is not found: the matrix is too large",
        "Take smaller steps: apply expm_multiply(A / n, b) n times.",
    )


def whole_step(start: Any, stop: Any, num: Any, endpoint: Any) -> None:
    """Raise unless an exponential is asked for at one time."""
    if not start is stop is num is endpoint is None:
        raise UndefinedDerivativeError(
            "expm_multiply at several times has no derivative rule by the entries of the matrix",
            "Call expm_multiply(t * A, b) for each time.",
        )
