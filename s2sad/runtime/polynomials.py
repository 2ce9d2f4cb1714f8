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


def last_items(g: Any, a: Any) -> Any:
    """Return the last items of ``g``, as many as ``a`` has, in its shape: the transpose of zeros in front of ``a``.

    >>> last_items(np.array([1.0, 2.0, 3.0]), np.zeros(2))
    array([2., 3.])
    """
    return np.reshape(g[np.size(g) - np.size(a) :], np.shape(a))


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
    """Return the adjoint of ``roots``, given ``g``, that of the coefficients ``z = np.poly(roots)``.

    The derivative by one root is minus the polynomial of the others, found by synthetic division.

    >>> poly_adjoint(np.array([0.0, 1.0, 0.0]), np.array([1.0, -5.0, 6.0]), np.array([2.0, 3.0]))
    array([-1., -1.])
    """
    if np.ndim(roots) != 1:
        raise UndefinedDerivativeError("np.poly of a matrix has no derivative", "Use np.poly(np.linalg.eigvals(a)).")
    others = np.ones_like(roots, dtype=np.result_type(roots, z))
    total = g[1] * others if np.size(roots) else others
    for j in range(1, np.size(roots)):
        others = z[j] + roots * others
        total = total + g[j + 1] * others
    return -total


def poly_tangent(t: Any, z: Any, roots: Any) -> Any:
    """Return the tangent of ``z = np.poly(roots)``, given ``t``, that of the roots; the transpose of `poly_adjoint`.

    >>> poly_tangent(np.array([1.0, 0.0]), np.array([1.0, -5.0, 6.0]), np.array([2.0, 3.0]))
    array([ 0., -1.,  3.])
    """
    others = np.ones_like(roots, dtype=np.result_type(roots, z))
    moved = [np.zeros((), others.dtype)]
    for j in range(np.size(roots)):
        others = others if j == 0 else z[j] + roots * others
        moved.append(-np.sum(t * others))
    return np.real_if_close(np.array(moved)) if not np.iscomplexobj(z) else np.array(moved)


# --- fits ---


def _system(x: Any, deg: int, w: Any) -> tuple[Any, Any, Any, Any]:
    """The powers of ``x``, the weights as a column, and the factors of the weighted powers."""
    if np.iscomplexobj(x) or np.iscomplexobj(w):
        # The least squares are those of the conjugate system, which is no analytic function of these.
        message = "np.polyfit has no derivative at complex points or with complex weights"
        raise UndefinedDerivativeError(message, "Solve for the coefficients, with np.linalg.lstsq(np.vander(x, n), y).")
    if np.ndim(deg):
        raise UndefinedDerivativeError("np.polyfit of a list of degrees has no derivative", "Give one degree.")
    if np.size(x) <= deg:
        message = "the fit of more coefficients than there are points has no derivative rule"
        raise UndefinedDerivativeError(message, "Fit fewer coefficients, or use np.linalg.lstsq.")
    v = np.vander(x, deg + 1)
    column = np.ones((np.size(x), 1)) if w is None else np.reshape(w, (-1, 1))
    # Columns of one length, as in np.polyfit, for the sake of the factors.
    scale = np.sqrt(np.sum((column * v) ** 2, axis=0))
    q, r = np.linalg.qr(column * v / scale)
    return v, column, q, r * scale


def polyfit_adjoint(g: Any, p: Any, x: Any, y: Any, deg: int, w: Any = None) -> tuple[Any, Any, Any]:
    """Return the adjoints of ``x``, ``y`` and ``w``, given ``g``, that of ``p = np.polyfit(x, y, deg, w=w)``.

    From the normal equations ``a.T @ (a @ p - b) = 0`` of the weighted powers ``a``, solved by their QR factors.

    >>> polyfit_adjoint(np.array([1.0, 0.0]), np.array([2.0, 1.0]), [0.0, 1.0], [1.0, 3.0], 1)[1]
    array([-1.,  1.])
    """
    v, column, q, r = _system(x, deg, w)
    rows, ys, ps = (np.reshape(k, (np.shape(k)[0], -1)) for k in (g, y, p))
    solved = np.linalg.solve(r.T, rows)
    step, into_b = np.linalg.solve(r, solved), q @ solved
    residual = column * (ys - v @ ps)
    a_bar = residual @ step.T - into_b @ ps.T
    powers = np.arange(deg, 0, -1) * v[:, 1:]
    x_bar = np.sum(column * a_bar[:, :-1] * powers, axis=1)
    w_bar = np.sum(a_bar * v, axis=1) + np.sum(into_b * ys, axis=1)
    return x_bar, np.reshape(column * into_b, np.shape(y)), w_bar


def polyfit_tangent(x_dot: Any, y_dot: Any, w_dot: Any, p: Any, x: Any, y: Any, deg: int, w: Any = None) -> Any:
    """Return the tangent of ``p = np.polyfit(x, y, deg, w=w)``.

    >>> polyfit_tangent(np.zeros(2), np.ones(2), 0.0, np.array([2.0, 1.0]), [0.0, 1.0], [1.0, 3.0], 1).round(12) + 0.0
    array([0., 1.])
    """
    v, column, q, r = _system(x, deg, w)
    ys, ps = np.reshape(y, (np.shape(y)[0], -1)), np.reshape(p, (np.shape(p)[0], -1))
    weight = 0.0 if w is None else np.reshape(w_dot, (-1, 1))
    a_dot = np.zeros_like(v)
    a_dot[:, :-1] = column * np.arange(deg, 0, -1) * v[:, 1:] * np.reshape(x_dot, (-1, 1))
    a_dot = a_dot + weight * v
    b_dot = column * np.reshape(y_dot, np.shape(ys)) + weight * ys
    moved = np.linalg.solve(r.T, a_dot.T @ (column * (ys - v @ ps))) + q.T @ (b_dot - a_dot @ ps)
    return np.reshape(np.linalg.solve(r, moved), np.shape(p))
