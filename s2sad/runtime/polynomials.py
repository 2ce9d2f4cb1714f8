"""Derivatives of values, coefficients, roots and fits of polynomials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.contractions import convolve_left


def polyval_coefficients(g: Any, x: Any, p: Any) -> Any:
    """Return the adjoint of the coefficients ``p`` of ``np.polyval(p, x)``: the sums of ``g`` times powers of ``x``.

    The coefficients may have axes of their own, which are broadcast with ``x``.

    >>> polyval_coefficients(1.0, 2.0, [3.0, 4.0, 5.0])
    array([4., 2., 1.])
    """
    sums, shape = [], np.shape(p)[1:]
    for _ in range(len(p)):
        sums.append(unbroadcast(g, shape))
        g = g * x
    return np.array(sums[::-1])


def derived(p: Any) -> Any:
    """Return ``np.polyder(p)`` in the precision of ``p``.

    >>> derived([3.0, 4.0, 5.0])
    array([6., 4.])
    """
    p = np.asarray(p)
    powers = np.arange(len(p) - 1, 0, -1).astype(np.result_type(p.real))
    return p[:-1] * np.reshape(powers, (-1,) + (1,) * (p.ndim - 1))


def power_row(c: Any) -> Any:
    """Return the coefficients that are given to a function of polynomials, which may be an object of ``np.poly1d``.

    >>> power_row(np.poly1d([1.0, 2.0])), power_row(3.0)
    (array([1., 2.]), array([3.]))
    """
    return c.coeffs if isinstance(c, np.poly1d) else np.atleast_1d(c)


def power_slope(p: Any, x: Any, m: int) -> Any:
    """Return the m-th derivative of an object of ``np.poly1d`` at some points.

    >>> power_slope(np.poly1d([3.0, 2.0, 1.0]), 2.0, 1)
    np.float64(14.0)
    """
    return p.deriv(m)(x)


def dividing_number(x: Any) -> Any:
    """Return a number by which a polynomial is divided, as it is.

    >>> dividing_number(2.0)
    2.0

    Raises:
        UndefinedDerivativeError: if it is an array or another object, by which NumPy divides with a remainder.
    """
    if not np.isscalar(x):
        raise UndefinedDerivativeError(
            "a polynomial with coefficients that are differentiated is divided by numbers alone here",
            "Divide by an object of np.poly1d that is made in this function.",
        )
    return x


def points(x: Any) -> Any:
    """Return the points at which a polynomial is evaluated, as they are.

    >>> points(2.0)
    2.0

    Raises:
        UndefinedDerivativeError: if they are another polynomial, which exists.
    """
    if isinstance(x, np.poly1d):
        raise UndefinedDerivativeError(
            "a polynomial with coefficients that are differentiated is evaluated at numbers and arrays here",
            "Make the inner polynomial in this function: np.poly1d(p.coeffs).",
        )
    return x


def deferring_operand(x: Any) -> Any:
    """Return what stands on the left of an operator and an object of ``np.poly1d``, as it is.

    >>> deferring_operand(2.0)
    2.0

    Raises:
        UndefinedDerivativeError: if it is NumPy's own, which makes an array of the polynomial.
    """
    if isinstance(x, (np.ndarray, np.generic)):
        raise UndefinedDerivativeError(
            "an array or number of NumPy's on the left of an operator makes an array of a polynomial on its right",
            "Write the polynomial first, or use its array of coefficients.",
        )
    return x


def polyint_constants(g: Any, m: int, k: Any) -> Any:
    """Return the adjoint of the constants ``k``, given ``g``, that of ``np.polyint(p, m, k)``.

    >>> polyint_constants(np.array([1.0, 2.0, 3.0]), 2, [0.5, 1.5])
    array([2., 3.])
    """
    bars = np.array([g[i - m] / math.factorial(m - 1 - i) for i in range(m)])
    if np.size(k) == 1:
        return np.reshape(np.sum(bars), np.shape(k))
    # Of more constants than needed the last ones are not read.
    return np.append(bars, np.zeros_like(bars, shape=np.size(k) - m))


def series_coefficients(g: Any, v: Any, x: Any, c: Any, tensor: bool = True) -> Any:
    """Return the adjoint of the coefficients ``c`` of a series such as ``chebval(x, c, tensor)``.

    ``v`` are the values of the basis at ``x``, those of one point along the last axis (as ``chebvander`` has them).

    >>> series_coefficients(np.array([1.0, 2.0]), np.array([[1.0, 3.0], [1.0, 4.0]]), np.array([3.0, 4.0]), np.zeros(2))
    array([ 3., 11.])
    """
    count, *own = np.shape(c) or (1,)
    v = np.reshape(v, (*np.shape(x), count))
    if tensor:
        ndim = np.ndim(x)
        where = tuple(range(np.ndim(g) - ndim, np.ndim(g)))
        c_bar = np.moveaxis(np.tensordot(g, v, (where, tuple(range(ndim)))), -1, 0)
    else:
        terms = np.moveaxis(np.expand_dims(g, -1) * v, -1, 0)
        # The axes of the coefficients behind the first are broadcast with those of `x`, from the last one on.
        c_bar = unbroadcast(terms, (count, *(1,) * (np.ndim(g) - len(own)), *own))
    return np.reshape(c_bar, np.shape(c))


def vander_adjoint(g: Any, z: Any, increasing: bool = False) -> Any:
    """Return the adjoint of ``x``, given ``g``, that of ``z = np.vander(x, ...)``.

    >>> vander_adjoint(np.ones((1, 3)), np.vander([2.0], 3))
    array([5.])
    """
    if not increasing:
        g, z = g[:, ::-1], z[:, ::-1]
    return np.sum(g[:, 1:] * np.arange(1, np.shape(g)[1]) * z[:, :-1], axis=1, dtype=np.result_type(g, z))


def vander_tangent(t: Any, z: Any, increasing: bool = False) -> Any:
    """Return the tangent of ``z = np.vander(x, ...)``, given ``t``, that of ``x``.

    >>> vander_tangent(np.ones(1), np.vander([2.0], 3))
    array([[4., 1., 0.]])
    """
    z = z if increasing else z[:, ::-1]
    rising = np.zeros(np.shape(z), np.result_type(t, z))
    rising[:, 1:] = np.arange(1, np.shape(z)[1]) * z[:, :-1] * np.reshape(t, (-1, 1))
    return rising if increasing else rising[:, ::-1]


# --- arithmetic of coefficients ---


def last_items(g: Any, a: Any, other: Any) -> Any:
    """Return the adjoint of ``a``, given ``g``, that of ``np.polyadd(a, other)``: the last items, as many as ``a`` has.

    What zeros are put in front of may be broadcast then, where the other has rows.

    >>> last_items(np.array([1.0, 2.0, 3.0]), np.zeros(2), np.zeros(3))
    array([2., 3.])
    """
    shape, (size, *_) = np.shape(a) or (1,), np.shape(other) or (1,)
    padded = unbroadcast(g, (max(shape[0], size), *shape[1:]))
    return np.reshape(padded[len(padded) - shape[0] :], np.shape(a))


def polymul_left(g: Any, a1: Any, a2: Any) -> Any:
    """Return the adjoint of ``a1``, given ``g``, that of ``np.polymul(a1, a2)``, which drops leading zeros.

    >>> polymul_left(np.array([1.0, 0.0, 0.0]), np.zeros(2), np.array([3.0, 4.0]))
    array([3., 0.])
    """
    if not (np.size(a1) and np.size(a2)):
        return np.zeros_like(g, shape=np.shape(a1))
    missing = np.size(a1) + np.size(a2) - 1 - np.size(g)
    return convolve_left(np.pad(g, (missing, 0)), a1, a2)


def unpolyder(g: Any, size: int, m: int = 1) -> Any:
    """Return the adjoint of ``p`` of ``size`` coefficients, given ``g``, that of ``np.polyder(p, m)``.

    >>> unpolyder(np.array([1.0, 1.0]), 3)
    array([2., 1., 0.])
    """
    if m >= size:
        return np.zeros_like(g, shape=size)
    for _ in range(m):
        g = np.append(g * np.arange(np.size(g), 0, -1, dtype=np.real(g).dtype), g.dtype.type(0))
    return g


def unpolyint(g: Any, size: int, m: int = 1) -> Any:
    """Return the adjoint of ``p`` of ``size`` coefficients, given ``g``, that of ``np.polyint(p, m)``.

    >>> unpolyint(np.array([2.0, 3.0, 5.0]), 2)
    array([1., 3.])
    """
    for left in range(m, 0, -1):
        g = g[:-1] / np.arange(size + left - 1, 0, -1, dtype=np.real(g).dtype)
    return g


# --- roots ---


def roots_adjoint(g: Any, z: Any, p: Any) -> Any:
    """Return the adjoint of ``p``, given ``g``, that of its simple roots ``z``: ``-g * z ** k / p'(z)`` for each power.

    >>> roots_adjoint(np.array([1.0]), np.array([3.0]), np.array([2.0, -6.0]))
    array([-1.5, -0.5])
    """
    return polyval_coefficients(-g / np.polyval(derived(p), z), z, p)


def poly_adjoint(g: Any, z: Any, roots: Any) -> Any:
    """Return the adjoint of ``roots`` or a matrix, given ``g``, that of the coefficients ``z = np.poly(roots)``.

    The derivative by one root is minus the polynomial of the others, found by synthetic division.

    >>> poly_adjoint(np.array([0.0, 1.0, 0.0]), np.array([1.0, -5.0, 6.0]), np.array([2.0, 3.0]))
    array([-1., -1.])
    """
    if np.ndim(roots) == 2:
        return _matrix_adjoint(g, z, roots)
    others = np.ones_like(roots, dtype=np.result_type(roots, z))
    total = g[1] * others if np.size(roots) else others
    for j in range(1, np.size(roots)):
        others = z[j] + roots * others
        total = total + g[j + 1] * others
    return -total


def poly_tangent(t: Any, z: Any, roots: Any) -> Any:
    """Return the tangent of ``z = np.poly(roots)``, given ``t``, that of the roots or of a matrix.

    >>> poly_tangent(np.array([1.0, 0.0]), np.array([1.0, -5.0, 6.0]), np.array([2.0, 3.0]))
    array([ 0., -1.,  3.])
    """
    if np.ndim(roots) == 2:
        return _matrix_tangent(t, z, roots)
    others = np.ones_like(roots, dtype=np.result_type(roots, z))
    moved = [np.zeros((), others.dtype)]
    for j in range(np.size(roots)):
        others = others if j == 0 else z[j] + roots * others
        moved.append(-np.sum(t * others))
    # Without roots it is the number 1.
    found = np.reshape(moved, np.shape(z))
    return found if np.iscomplexobj(z) else np.real_if_close(found)


def _adjugates(z: Any, a: Any) -> Any:
    """The coefficients of the adjugate of ``x - a``, highest first, given those of its determinant.

    By the recurrence of Faddeev and LeVerrier.  The derivative of the determinant by the matrix is minus the adjugate,
    transposed.
    """
    unit = np.eye(len(a))
    found = [unit]
    for k in range(1, len(a)):
        found.append(a @ found[-1] + z[k] * unit)
    return found


def _matrix_adjoint(g: Any, z: Any, a: Any) -> Any:
    total = np.zeros(np.shape(a), np.result_type(g, z, a))
    for k, part in enumerate(_adjugates(z, a)):
        total = total - g[k + 1] * part.T
    return total


def _matrix_tangent(t: Any, z: Any, a: Any) -> Any:
    return np.array([np.zeros((), np.result_type(t, z)), *[-np.sum(part.T * t) for part in _adjugates(z, a)]])


# --- division ---


def polydiv_adjoint(q_bar: Any, r_bar: Any, q: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """Return the adjoints of ``u`` and ``v``, given those of ``q, r = np.polydiv(u, v)``.

    Quotient and remainder of ``du - q * dv`` by ``v`` are their differentials, so that the adjoint of this, from that
    of a division of which only the dividend moves, is the one of ``u``.

    >>> polydiv_adjoint(np.array([1.0]), np.zeros(1), np.array([3.0]), np.array([6.0, 1.0]), np.array([2.0, 1.0]))[0]
    array([0.5, 0. ])
    """
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    # Of the remainder leading zeros are dropped.
    w_bar = np.concatenate([np.zeros_like(u[: len(u) - len(r_bar)]), r_bar])
    if len(u) < len(v):
        return w_bar, np.zeros_like(v)
    # The adjoint of the quotient, of which the remainder is made too, and then of the triangular system for it.
    rest = q_bar - np.correlate(w_bar, np.conj(v))
    solved = np.zeros_like(rest)
    for k in range(len(q) - 1, -1, -1):
        last = min(len(v), len(q) - k)
        solved[k] = (rest[k] - np.sum(v[1:last] * solved[k + 1 : k + last])) / v[0]
    w_bar = w_bar + np.concatenate([solved, np.zeros_like(w_bar[len(q) :])])
    return w_bar, -np.correlate(w_bar, np.conj(q))


def polydiv_tangent(u_dot: Any, v_dot: Any, z: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """Return the tangents of ``z = np.polydiv(u, v)``.

    >>> u, v = np.array([6.0, 1.0]), np.array([2.0, 1.0])
    >>> polydiv_tangent(np.array([1.0, 0.0]), np.zeros(2), np.polydiv(u, v), u, v)
    (array([0.5]), array([-0.5]))
    """
    q, r = z
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    moved = np.broadcast_to(u_dot, np.shape(u))
    if len(u) >= len(v):
        moved = moved - np.convolve(q, np.broadcast_to(v_dot, np.shape(v)))
    quotient = np.zeros_like(q, dtype=np.result_type(moved, q))
    left = np.array(moved, np.result_type(moved, q))
    for k in range(len(u) - len(v) + 1):
        quotient[k] = left[k] / v[0]
        left[k : k + len(v)] -= quotient[k] * v
    return quotient, left[len(u) - len(r) :]
