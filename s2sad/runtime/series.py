"""Derivatives of the functions of series in `numpy.polynomial`, given the functions of their kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.linear import like

Function = Callable[..., Any]
#: The modules by how the names of their functions begin.
KINDS = {
    "poly": "polynomial", "cheb": "chebyshev", "leg": "legendre", "herm": "hermite", "herme": "hermite_e",
    "lag": "laguerre",
}  # fmt: skip


def of_kind(kind: str, name: str) -> Any:
    """The function of this name for one kind of series.

    >>> of_kind("cheb", "val").__name__
    'chebval'
    """
    return getattr(getattr(np.polynomial, KINDS[kind]), kind + name)


# --- coefficients


def first_items(g: Any, c: Any) -> Any:
    """Return the first items of ``g`` in the shape of ``c``, zero where there are fewer: trailing zeros were dropped.

    >>> first_items(np.array([1.0, 2.0]), np.zeros(3))
    array([1., 2., 0.])
    """
    n = np.size(c)
    g = np.append(g, np.zeros_like(g, shape=max(n - np.size(g), 0)))[:n]
    return like(np.reshape(g, np.shape(c)), c)


def _applied(f: Function, n: int, rows: int) -> Any:
    """The matrix of a linear function of ``n`` coefficients, of which each gives at most so many."""
    matrix = np.zeros((rows, n))
    for i, unit in enumerate(np.eye(n)):
        column = f(unit)
        matrix[: len(column), i] = column
    return matrix


def unapplied(g: Any, kind: str, name: str, c: Any) -> Any:
    """Return the adjoint of ``c``, given ``g``, that of a linear function of it that drops trailing zeros.

    >>> unapplied(np.array([1.0, 2.0]), "poly", "polymulx", np.array([3.0]))
    array([2.])
    """
    n, f = np.size(c), getattr(getattr(np.polynomial, KINDS[kind]), name)
    matrix = _applied(f, n, max(2 * n + 2, np.size(g))).astype(np.result_type(g), copy=False)
    return like(np.reshape(g @ matrix[: np.size(g)], np.shape(c)), c)


def series_product(g: Any, kind: str, c: Any, other: Any) -> Any:
    """Return the adjoint of ``c``, given ``g``, that of the product of both series.

    >>> series_product(np.array([1.0, 0.0, 0.0]), "poly", np.zeros(2), np.array([3.0, 4.0]))
    array([3., 0.])
    """
    n, other, mul = np.size(c), np.atleast_1d(other), of_kind(kind, "mul")
    bars = []
    for unit in np.eye(n, dtype=np.result_type(other)):
        column = mul(unit, other)[: np.size(g)]
        bars.append(np.sum(g[: len(column)] * column))
    # Products of some kinds are made in double precision.
    found = np.array(bars, np.result_type(np.asarray(c), other, np.float32))
    # A tangent is added to it, and a sum of lists would be a longer list.
    return like(np.reshape(found, np.shape(c)), np.asarray(c))


def product_of(kind: str, c: Any, other: Any) -> Any:
    """Return the product of both series.

    >>> product_of("poly", np.array([1.0, 2.0]), np.array([3.0]))
    array([3., 6.])
    """
    return of_kind(kind, "mul")(c, other)


def slope_at(series: Any, x: Any, m: int) -> Any:
    """Return the m-th derivative of an object of `numpy.polynomial` at some points.

    >>> slope_at(np.polynomial.Polynomial([1.0, 2.0, 3.0]), 2.0, 1)
    np.float64(14.0)
    """
    return series.deriv(m)(x)


def padded_to(c: Any, z: Any) -> Any:
    """Return the coefficients ``c`` as many as ``z`` has: zeros behind, or without those that are too many.

    >>> padded_to(np.array([1.0]), np.zeros(2))
    array([1., 0.])
    """
    n = len(z)
    return np.append(c, np.zeros_like(c, shape=max(n - len(c), 0)))[:n]


def along(g: Any, matrix: Any, axis: int = 0) -> Any:
    """Return the product of a transposed matrix and the coefficients along an axis.

    >>> along(np.array([1.0, 2.0]), np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]))
    array([0., 1., 4.])
    """
    matrix = matrix.astype(np.result_type(g), copy=False)
    return np.moveaxis(np.tensordot(g, matrix, (axis, 0)), -1, axis)


# --- values of the basis


def basis_slopes(kind: str, x: Any, deg: Any, order: int = 1) -> Any:
    """Return derivatives of the values of the basis by ``x``: up to a degree, or of some degrees.

    >>> basis_slopes("poly", np.array([3.0]), 2)
    array([[0., 1., 6.]])
    >>> basis_slopes("poly", np.array([3.0]), [0, 2], 0)
    array([[1., 9.]])
    """
    slopes = of_kind(kind, "der")(np.eye(int(np.max(deg)) + 1), order)
    values = of_kind(kind, "vander")(x, len(slopes) - 1)
    values = values @ slopes.astype(values.dtype, copy=False)
    return values[..., np.asarray(deg)] if np.ndim(deg) else values


def unvander(g: Any, kind: str, x: Any, deg: Any) -> Any:
    """Return the adjoint of ``x``, given ``g``, that of the values of the basis.

    >>> unvander(np.ones((1, 3)), "poly", 3.0, 2)
    np.float64(7.0)
    """
    return like(np.reshape(np.sum(g * basis_slopes(kind, x, deg), axis=-1), np.shape(x)), x)


def point_adjoint(g: Any, index: int, kind: str, name: str, c: Any, points: Sequence[Any]) -> Any:
    """Return the adjoint of one of the points of a series of several variables, given ``g``, that of its values.

    Where each variable has points of its own, on a grid, it is summed over the others.

    >>> point_adjoint(np.float64(1.0), 0, "poly", "val2d", np.ones((2, 2)), (2.0, 3.0))
    np.float64(4.0)
    """
    _check_axes(c, points)
    terms = g * of_kind(kind, name)(*points, of_kind(kind, "der")(np.asarray(c), axis=index))
    ndims = [np.ndim(p) for p in points]
    if np.ndim(terms) == sum(ndims):
        before = sum(ndims[:index])
        own = range(before, before + ndims[index])
        terms = np.sum(terms, axis=tuple([k for k in range(sum(ndims)) if k not in own]))
    return like(terms, points[index])


def several_values(c: Any, kind: str, g: Any, points: Sequence[Any]) -> Any:
    """Return the values of a series of several variables where those of ``g`` are: on a grid, or point by point.

    >>> several_values(np.ones((1, 2)), "poly", np.float64(1.0), (2.0, 3.0))
    np.float64(4.0)
    """
    grid = np.ndim(g) == sum(np.ndim(p) for p in points)
    return of_kind(kind, f"{'grid' if grid else 'val'}{len(points)}d")(*points, c)


def coefficient_adjoint(g: Any, kind: str, c: Any, points: Sequence[Any]) -> Any:
    """Return the adjoint of the coefficients of a series of several variables, given ``g``, that of its values.

    >>> coefficient_adjoint(np.float64(1.0), "poly", np.ones((1, 2)), (2.0, 3.0))
    array([[1., 3.]])
    """
    _check_axes(c, points)
    ndims = [np.ndim(p) for p in points]
    vander = of_kind(kind, "vander")
    values = [np.reshape(vander(p, n - 1), (-1, n)) for p, n in zip(points, np.shape(c), strict=True)]
    if np.ndim(g) == sum(ndims):
        names, shape = "xyz"[: len(points)], [len(v) for v in values]
    else:
        names, shape = "x" * len(points), [-1]
    places = names if len(shape) > 1 or len(points) == 1 else "x"
    if sum(ndims) == 0:
        places, shape = names, [1] * len(points)
    terms = [name + k for name, k in zip(names, "ijk", strict=False)]
    return np.einsum(f"{','.join([places, *terms])}->{'ijk'[: len(points)]}", np.reshape(g, shape), *values)


def several_tangent(dots: Sequence[Any], c_dot: Any, kind: str, name: str, c: Any, points: Sequence[Any]) -> Any:
    """Return the tangent of such values; the transpose of `point_adjoint` and `coefficient_adjoint`.

    >>> several_tangent((1.0, 0.0), np.zeros((2, 2)), "poly", "val2d", np.ones((2, 2)), (2.0, 3.0))
    np.float64(4.0)
    """
    _check_axes(c, points)
    ndims, val, der = [np.ndim(p) for p in points], of_kind(kind, name), of_kind(kind, "der")
    total = val(*points, np.broadcast_to(c_dot, np.shape(c)))
    for k, (dot, point) in enumerate(zip(dots, points, strict=True)):
        part = val(*points, der(np.asarray(c), axis=k))
        after = sum(ndims[k + 1 :]) if np.ndim(part) == sum(ndims) else 0
        total = total + part * np.reshape(np.broadcast_to(dot, np.shape(point)), (*np.shape(point), *[1] * after))
    return total


def _check_axes(c: Any, points: Sequence[Any]) -> None:
    if np.ndim(c) != len(points):
        raise UndefinedDerivativeError(
            "several series of several variables have no derivative at once", "Evaluate one after the other."
        )


# --- roots


def root_adjoint(g: Any, z: Any, kind: str, c: Any) -> Any:
    """Return the adjoint of the coefficients ``c``, given ``g``, that of the simple roots ``z`` of their series.

    >>> root_adjoint(np.array([1.0]), np.array([3.0]), "poly", np.array([-6.0, 2.0]))
    array([-0.5, -1.5])
    """
    slope = of_kind(kind, "val")(z, of_kind(kind, "der")(np.asarray(c)))
    found = (-g / slope) @ of_kind(kind, "vander")(z, np.size(c) - 1)
    return like(found, c)


def of_roots_adjoint(g: Any, kind: str, roots: Any) -> Any:
    """Return the adjoint of the roots, given ``g``, that of the coefficients.

    >>> of_roots_adjoint(np.array([0.0, 1.0, 0.0]), "poly", np.array([2.0, 3.0]))
    array([-1., -1.])
    """
    others = [of_kind(kind, "fromroots")(np.delete(roots, i)) for i in range(np.size(roots))]
    return like(np.array([-np.sum(g[: len(o)] * o) for o in others], np.result_type(g)), roots)


def of_roots_tangent(t: Any, kind: str, roots: Any) -> Any:
    """Return the tangent of the coefficients, given ``t``, that of the roots.

    >>> of_roots_tangent(np.array([1.0, 0.0]), "poly", np.array([2.0, 3.0]))
    array([ 3., -1.,  0.])
    """
    others = np.array([of_kind(kind, "fromroots")(np.delete(roots, i)) for i in range(np.size(roots))])
    if not others.size:
        return np.zeros(1)
    return np.append(-(np.asarray(t) @ others), 0)


# --- fits


def _system(v: Any, w: Any) -> tuple[Any, Any, Any]:
    if np.iscomplexobj(v) or np.iscomplexobj(w):
        what = "the fit of a series at complex points has no derivative"
        raise UndefinedDerivativeError(what, "Solve for the coefficients, with np.linalg.lstsq.")
    if len(v) < np.shape(v)[1]:
        what = "the fit of more coefficients than there are points has no derivative rule"
        raise UndefinedDerivativeError(what, "Fit fewer coefficients, or use np.linalg.lstsq.")
    column = np.ones((len(v), 1)) if w is None else np.reshape(w, (-1, 1))
    q, r = np.linalg.qr(column * v)
    return column, q, r


def _fitted(p: Any, deg: Any) -> Any:
    """The coefficients that are fitted, a row for each."""
    return np.reshape(p if np.ndim(deg) == 0 else np.asarray(p)[np.asarray(deg)], (-1, *np.shape(p)[1:], 1)[:2])


def fit_adjoints(g: Any, p: Any, kind: str, x: Any, y: Any, deg: Any, w: Any = None) -> tuple[Any, Any, Any]:
    """Return the adjoints of ``x``, ``y`` and ``w``, given ``g``, that of the fitted coefficients ``p``.

    From the normal equations.

    >>> x, y, p = np.array([0.0, 1.0]), np.array([1.0, 3.0]), np.array([1.0, 2.0])
    >>> fit_adjoints(np.array([0.0, 1.0]), p, "poly", x, y, 1)[1].round(12)
    array([-1.,  1.])
    """
    v, slopes = basis_slopes(kind, x, deg, 0), basis_slopes(kind, x, deg)
    column, q, r = _system(v, w)
    rows, ps = _fitted(g, deg), _fitted(p, deg)
    ys = np.reshape(y, (np.shape(y)[0], -1))
    solved = np.linalg.solve(r.T, rows)
    step, into_b = np.linalg.solve(r, solved), q @ solved
    residual = column * (ys - v @ ps)
    a_bar = residual @ step.T - into_b @ ps.T
    x_bar = np.sum(column * a_bar * slopes, axis=1)
    w_bar = np.sum(a_bar * v, axis=1) + np.sum(into_b * ys, axis=1)
    return like(x_bar, x), like(np.reshape(column * into_b, np.shape(y)), y), 0.0 if w is None else like(w_bar, w)


def fit_tangent(x_dot: Any, y_dot: Any, w_dot: Any, p: Any, kind: str, x: Any, y: Any, deg: Any, w: Any = None) -> Any:
    """Return the tangent of the fitted coefficients ``p``; the transpose of `fit_adjoints`.

    >>> x, y, p = np.array([0.0, 1.0]), np.array([1.0, 3.0]), np.array([1.0, 2.0])
    >>> fit_tangent(np.zeros(2), np.ones(2), 0.0, p, "poly", x, y, 1).round(12) + 0.0
    array([1., 0.])
    """
    v, slopes = basis_slopes(kind, x, deg, 0), basis_slopes(kind, x, deg)
    column, q, r = _system(v, w)
    ys, ps = np.reshape(y, (np.shape(y)[0], -1)), _fitted(p, deg)
    weight = 0.0 if w is None else np.reshape(w_dot, (-1, 1))
    a_dot = column * slopes * np.reshape(x_dot, (-1, 1)) + weight * v
    b_dot = column * np.reshape(y_dot, np.shape(ys)) + weight * ys
    moved = np.linalg.solve(r.T, a_dot.T @ (column * (ys - v @ ps))) + q.T @ (b_dot - a_dot @ ps)
    fitted_dot = np.linalg.solve(r, moved)
    if not np.ndim(deg):
        return np.reshape(fitted_dot, np.shape(p))
    p_dot = np.zeros((np.shape(p)[0], np.shape(ps)[1]), fitted_dot.dtype)
    p_dot[np.asarray(deg)] = fitted_dot
    return np.reshape(p_dot, np.shape(p))
