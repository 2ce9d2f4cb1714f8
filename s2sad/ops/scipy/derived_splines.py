"""Rules of what models of derivatives and integrals of splines compute with, and of products of splines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, linear, operation, rule, sample
from s2sad.runtime.scipy.derived import (
    derived_adjoint,
    derived_bspline_coefficients,
    derived_knots,
    fitted_between,
    fitted_between_adjoints,
    fitted_between_tangent,
    integral,
    integral_shares,
    integrand,
    knots_between,
    padded,
    product_adjoints,
    product_spline,
    product_tangent,
)

Array = Any
_PLACES = np.array([0.0, 0.7, 1.5, 2.1, 3.2, 4.0, 4.6])
_ORDERS = (1, 2, -1)

constant(derived_knots, signature=lambda t, c, k, n: None)
constant(knots_between, signature=lambda x, inner, k: None)


def _derivatives() -> Sequence[Sample]:
    t, c, k = interpolate.splrep(_PLACES, numbers(7))
    wide = np.stack([c, c**2], axis=1)
    return [sample(c, t, k, n) for n in _ORDERS] + [sample(wide, t, k, 1)]


@linear(derived_bspline_coefficients, wrt=["c"], samples=_derivatives, dtype="unknown")
def derived_rule(z_bar: Array, c: Array, t: Array, k: int, n: int) -> Array:
    return derived_adjoint(z_bar, c, t, k, n)


def _derived_adjoints() -> Sequence[Sample]:
    t, c, k = interpolate.splrep(_PLACES, numbers(7))
    return [sample(derived_bspline_coefficients(c, t, k, n), c, t, k, n) for n in _ORDERS]


@linear(derived_adjoint, wrt=["g"], steps={"c"}, samples=_derived_adjoints, dtype="unknown")
def derived_adjoint_rule(z_bar: Array, g: Array, c: Array, t: Array, k: int, n: int) -> Array:
    return derived_bspline_coefficients(z_bar, t, k, n)


@linear(padded, wrt=["c"], samples=lambda: [sample(numbers(7), np.arange(9.0)), sample(numbers(3, 2), np.arange(5.0))])
def padded_rule(z_bar: Array, c: Array, t: Array) -> Array:
    return z_bar[: len(c)]


def _integrals() -> Sequence[Sample]:
    t, c, k = interpolate.splrep(_PLACES, numbers(7))
    c = c[: len(t) - k - 1]
    bounds = ((0.4, 3.1, None), (-1.0, 2.0, None), (3.0, 1.0, False))
    return [sample(a, b, t, c, k, extrapolate) for a, b, extrapolate in bounds]


def _integral_jvp(
    a_dot: Array, b_dot: Array, c_dot: Array, a: Array, b: Array, t: Array, c: Array, k: int, extrapolate: Any
) -> Array:
    bounds = b_dot * integrand(b, t, c, k, extrapolate) - a_dot * integrand(a, t, c, k, extrapolate)
    return bounds + np.tensordot(integral_shares(a, b, t, c, k, extrapolate), c_dot + np.zeros_like(c), (0, 0))


@rule(integral, wrt=["a", "b", "c"], jvp=_integral_jvp, samples=_integrals, dtype="unknown")
def integral_rule(
    z_bar: Array, a: Array, b: Array, t: Array, c: Array, k: int, extrapolate: Any
) -> tuple[Array, Array, Array]:
    return (
        -np.sum(z_bar * integrand(a, t, c, k, extrapolate)),
        np.sum(z_bar * integrand(b, t, c, k, extrapolate)),
        np.multiply.outer(integral_shares(a, b, t, c, k, extrapolate), z_bar),
    )


# --- least squares, with knots that are given


def _between() -> Sequence[Sample]:
    inner, weights = np.array([1.7, 2.9]), np.arange(1.0, 8.0)
    return [sample(numbers(7), _PLACES, inner, None, 3), sample(numbers(7), _PLACES, inner, weights, 2)]


def _between_jvp(y_dot: Array, w_dot: Array, z: Array, y: Array, x: Array, inner: Array, w: Any, k: int) -> Array:
    return fitted_between_tangent(y_dot, w_dot, z, y, x, inner, w, k)


@rule(fitted_between, wrt=["y", "w"], jvp=_between_jvp, samples=_between, dtype="unknown")
def between_rule(z: Array, z_bar: Array, y: Array, x: Array, inner: Array, w: Any, k: int) -> tuple[Array, Array]:
    y_bar, w_bar = fitted_between_adjoints(z_bar, z, y, x, inner, w, k)
    return y_bar, w_bar


# --- products of splines


def _products() -> Sequence[Sample]:
    tx, ty = np.array([0.0, 0, 0, 1.3, 2.9, 2.9, 2.9]), np.array([0.0, 0, 0, 0, 1.1, 3, 3, 3, 3])
    c, x, y = numbers(20), np.array([0.4, 1.9, 2.3]), np.array([0.3, 1.7])
    rest = (c, tx, ty, 2, 3)
    return [sample(x, y, *rest, 0, 0), sample(1.2, 0.7, *rest, 0, 0), sample(x, y, *rest, 1, 1)]


def _product_jvp(
    x_dot: Array,
    y_dot: Array,
    c_dot: Array,
    z: Array,
    x: Array,
    y: Array,
    c: Array,
    tx: Array,
    ty: Array,
    kx: int,
    ky: int,
    dx: int,
    dy: int,
) -> Array:
    return product_tangent((x_dot, y_dot, c_dot), z, x, y, c, tx, ty, kx, ky, dx, dy)


@rule(product_spline, wrt=["x", "y", "c"], jvp=_product_jvp, samples=_products, dtype="unknown")
def product_rule(
    z_bar: Array, x: Array, y: Array, c: Array, tx: Array, ty: Array, kx: int, ky: int, dx: int, dy: int
) -> tuple[Array, Array, Array]:
    x_bar, y_bar, c_bar = product_adjoints(z_bar, x, y, c, tx, ty, kx, ky, dx, dy)
    return x_bar, y_bar, c_bar


def _constant_products() -> Sequence[Sample]:
    x, y, c, tx, ty, kx, ky, *_ = _products()[0].args
    tck = [tx, ty, c, kx, ky]
    return [sample(x, y, tck), sample(1.2, 0.7, tck), sample(x, y, tck, 1, 1), sample(x, 0.7, tck, dy=1)]


def _bisplev_jvp(x_dot: Array, y_dot: Array, z: Array, x: Array, y: Array, tck: Any, dx: int = 0, dy: int = 0) -> Array:
    return product_tangent((x_dot, y_dot, 0.0), z, x, y, tck[2], tck[0], tck[1], tck[3], tck[4], dx, dy)


@rule(interpolate.bisplev, wrt=["x", "y"], jvp=_bisplev_jvp, samples=_constant_products, dtype="unknown")
def bisplev_rule(z_bar: Array, x: Array, y: Array, tck: Any, dx: int = 0, dy: int = 0) -> tuple[Array, Array]:
    x_bar, y_bar, _ = product_adjoints(z_bar, x, y, tck[2], tck[0], tck[1], tck[3], tck[4], dx, dy)
    return x_bar, y_bar


operation(
    fitted_between_adjoints,
    fitted_between_tangent,
    product_adjoints,
    product_tangent,
    remedy="take differences of the gradient",
)
