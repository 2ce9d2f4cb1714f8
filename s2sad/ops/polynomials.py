"""Rules of polynomials: values, coefficients, roots and fits.

A multiple root has an infinite derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, elementwise, linear, ndim, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.linear import like
from s2sad.runtime.polynomial_fits import polyfit_parts_adjoint, polyfit_parts_tangent
from s2sad.runtime.polynomials import (
    deferring_operand,
    derived,
    dividing_number,
    last_items,
    points,
    poly_adjoint,
    poly_tangent,
    polydiv_adjoint,
    polydiv_tangent,
    polyint_constants,
    polymul_left,
    polyval_coefficients,
    power_row,
    power_slope,
    roots_adjoint,
    unpolyder,
    unpolyint,
    vander_adjoint,
    vander_tangent,
)

Array = Any
_ROW = infer.axes.with_axes(infer.axes.always(1))
_SUM = infer.axes.with_axes(infer.axes.most("a1", "a2", least=1))

# --- values ---


def _values() -> Sequence[Sample]:
    p = numbers(4)
    return [
        sample(p, 0.7),
        sample(p, numbers(3)),
        sample(p, numbers(2, 3)),
        sample([1.5, -0.5, 2.0], numbers(3)),
        sample([1.5, 0.5], 0.7),
        sample(numbers(1), numbers(3)),
        sample(p, np.zeros(0)),
        sample(complexes(3), complexes(2)),
        sample(p, complexes(2)),
        sample(singles(3), singles(2)),
    ]


def _polyval_jvp(p_dot: Array, x_dot: Array, p: Array, x: Array) -> Array:
    return np.polyval(p_dot, x) + np.polyval(derived(p), x) * x_dot


@rule(np.polyval, wrt=["p", "x"], jvp=_polyval_jvp, samples=_values, infer=infer.axes.polynomial)
def polyval(z_bar: Array, p: Array, x: Array) -> tuple[Array, Array]:
    if ndim(p) == 1:
        return like(polyval_coefficients(z_bar, x, p), p), z_bar * np.polyval(derived(p), x)
    x_bar = unbroadcast(z_bar * np.polyval(derived(p), x), np.shape(x))
    return like(polyval_coefficients(z_bar, x, p), p), x_bar


def _vanders() -> Sequence[Sample]:
    x = numbers(4)
    return [
        sample(x),
        sample(x, 3),
        sample(x, 3, increasing=True),
        sample(x, 1),
        sample(complexes(3), 4),
        sample(singles(3)),
    ]


def _vander_jvp(x_dot: Array, z: Array, increasing: bool = False) -> Array:
    return vander_tangent(x_dot, z, increasing)


@rule(
    np.vander,
    wrt=["x"],
    jvp=_vander_jvp,
    samples=_vanders,
    infer=infer.axes.with_axes(infer.axes.always(2)),
    steps=frozenset({"N"}),
)
def vander(z: Array, z_bar: Array, x: Array, N: int | None = None, increasing: bool = False) -> Array:
    return vander_adjoint(z_bar, z, increasing)


# --- coefficients ---


def _pairs() -> Sequence[Sample]:
    return [
        sample(numbers(3), numbers(3, seed=1)),
        sample(numbers(4), numbers(2, seed=1)),
        sample(numbers(2), numbers(4, seed=1)),
        sample(numbers(2), 1.5),
        sample([1.5, 2.5], numbers(3)),
        sample(complexes(2), numbers(3)),
        sample(singles(2), singles(3)),
    ]


@linear(np.polyadd, wrt=["a1", "a2"], samples=_pairs, infer=_SUM)
def polyadd(z_bar: Array, a1: Array, a2: Array) -> tuple[Array, Array]:
    return like(last_items(z_bar, a1, a2), a1), like(last_items(z_bar, a2, a1), a2)


@linear(np.polysub, wrt=["a1", "a2"], samples=_pairs, infer=_SUM)
def polysub(z_bar: Array, a1: Array, a2: Array) -> tuple[Array, Array]:
    return like(last_items(z_bar, a1, a2), a1), like(last_items(-z_bar, a2, a1), a2)


def _products() -> Sequence[Sample]:
    return [
        *_pairs()[:5],
        sample(np.array([0, 1, 2]), numbers(2)),
        sample(complexes(2), complexes(3)),
        sample(np.zeros(0), 1.5),
    ]


def _polymul_jvp(a1_dot: Array, a2_dot: Array, z: Array, a1: Array, a2: Array) -> Array:
    # A zero in front, so that none of them is empty.
    whole = np.convolve(np.append(0, a1_dot), np.append(0, a2)) + np.convolve(np.append(0, a1), np.append(0, a2_dot))
    return whole[np.size(whole) - np.size(z) :]


@rule(np.polymul, wrt=["a1", "a2"], jvp=_polymul_jvp, samples=_products, infer=_ROW)
def polymul(z_bar: Array, a1: Array, a2: Array) -> tuple[Array, Array]:
    return like(polymul_left(z_bar, a1, a2), a1), like(polymul_left(z_bar, a2, a1), a2)


def _derivatives() -> Sequence[Sample]:
    return [
        sample(numbers(4)),
        sample(numbers(4), 2),
        sample(numbers(4), m=0),
        sample(numbers(2), 3),
        sample([1.5, 2.5, 3.5]),
        sample(complexes(3)),
        sample(singles(3)),
    ]


# No derivative at all (`m` 0) gives the argument itself.
@linear(
    np.polyder, wrt=["p"], samples=_derivatives, infer=infer.axes.row_if_taken, result="unknown", steps=frozenset({"m"})
)
def polyder(z_bar: Array, p: Array, m: int = 1) -> Array:
    return like(unpolyder(z_bar, np.size(p), m), p)


def _integrals() -> Sequence[Sample]:
    return [*_derivatives(), sample(numbers(3), 1, 2.5), sample(numbers(3), 2, k=[1.5, 2.5])]


@linear(
    np.polyint,
    wrt=["p", "k"],
    samples=_integrals,
    infer=infer.axes.row_if_taken,
    result="unknown",
    steps=frozenset({"m"}),
)
def polyint(z_bar: Array, p: Array, m: int = 1, k: Any = None) -> tuple[Array, Any]:
    return like(unpolyint(z_bar, np.size(p), m), p), like(polyint_constants(z_bar, m, k), k)


# --- roots ---


def _polynomials() -> Sequence[Sample]:
    return [
        sample(np.array([1.0, -6.1, 11.3, -6.0])),
        sample(np.array([0.7, 0.3, 2.0])),
        sample(np.array([2.0, 3.0])),
        sample([0, 1.5, 2.0, -3.0]),
        sample([1.5, 0.5, -2.0]),
        sample(complexes(4)),
    ]


def _roots_jvp(p_dot: Array, z: Array, p: Array) -> Array:
    return -np.polyval(p_dot, z) / np.polyval(np.polyder(p), z)


@rule(np.roots, wrt=["p"], jvp=_roots_jvp, samples=_polynomials, infer=infer.axes.complex_row)
def roots(z: Array, z_bar: Array, p: Array) -> Array:
    return like(roots_adjoint(z_bar, z, p), p)


def _root_sets() -> Sequence[Sample]:
    rows = [sample(numbers(3)), sample([0.5, 1.5]), sample(numbers(1)), sample(complexes(3)), sample(singles(3))]
    return [
        *rows,
        sample(np.zeros(0)),
        sample(numbers(3, 3)),
        sample(numbers(1, 1)),
        sample(complexes(2, 2)),
        sample([[0.5, 1.5], [0.3, 2.0]]),
    ]


def _poly_jvp(seq_of_zeros_dot: Array, z: Array, seq_of_zeros: Array) -> Array:
    return poly_tangent(np.asarray(seq_of_zeros_dot), z, np.asarray(seq_of_zeros))


@rule(
    np.poly, wrt=["seq_of_zeros"], jvp=_poly_jvp, samples=_root_sets, infer=infer.axes.complex_numbers, dtype="unknown"
)
def poly(z: Array, z_bar: Array, seq_of_zeros: Array) -> Array:
    return like(poly_adjoint(z_bar, z, np.asarray(seq_of_zeros)), seq_of_zeros)


# --- division ---


def _quotients() -> Sequence[Sample]:
    u, v = numbers(5), np.array([1.5, -0.5, 0.7])
    return [
        sample(u, v),
        sample(v, u),
        sample(u, v[:1]),
        sample(u, np.array([0.7, 0.3, -1.2, 0.5, 2.0])),
        sample([1.0, 0.5, 2.0], [2.0, 0.3]),
        sample(u, complexes(2)),
        sample(singles(4), np.array([2.0, 0.3], np.float32)),
    ]


def _polydiv_jvp(u_dot: Array, v_dot: Array, z: Any, u: Array, v: Array) -> tuple[Array, Array]:
    quotient, remainder = polydiv_tangent(u_dot, v_dot, z, u, v)
    return quotient, remainder


@rule(np.polydiv, jvp=_polydiv_jvp, samples=_quotients, infer=infer.axes.divided, dtype="unknown", gives=(tuple,))
def polydiv(z: Any, z_bar: Any, u: Array, v: Array) -> tuple[Array, Array]:
    bars = polydiv_adjoint(z_bar[0], z_bar[1], z[0], u, v)
    return like(bars[0], u), like(bars[1], v)


# --- fits ---


def _fits() -> Sequence[Sample]:
    x, y, w = np.array([0.0, 0.7, 1.1, 2.3, 2.9]), numbers(5), np.array([0.5, 1.5, 1.0, 0.7, 2.0])
    return [
        sample(x, y, 1),
        sample(x, y, 2),
        sample(x, y, 0),
        sample(x, y, 4),
        sample(x, y, 2, w=w),
        sample(x, numbers(5, 2), 1, w=w),
        sample(x, numbers(5, 2), 2),
        *(
            sample(x, y, 2, **more)
            for more in ({"full": True}, {"cov": True}, {"cov": "unscaled"}, {"w": w, "cov": True})
        ),
        sample(x, numbers(5, 2), 1, w=w, full=True),
        sample(x, numbers(5, 2), 1, w=w, cov=True),
        sample(x, numbers(5, 2), 1, cov="unscaled"),
        sample(x, y, 4, full=True),
        sample(x[:3], numbers(3, 2), 4, full=True),
        sample(x, complexes(5), 1, full=True),
        sample(x, complexes(5, 2), 1, w=w, cov=True),
    ]


def _polyfit_jvp(
    x_dot: Array,
    y_dot: Array,
    w_dot: Array,
    z: Any,
    x: Array,
    y: Array,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Array = None,
    cov: Any = False,
) -> Any:
    return polyfit_parts_tangent(x_dot, y_dot, w_dot, z, x, y, deg, w, full, cov, rcond)


@rule(
    np.polyfit,
    wrt=["x", "y", "w"],
    jvp=_polyfit_jvp,
    samples=_fits,
    infer=infer.axes.fitted,
    dtype="unknown",
    steps=frozenset({"deg", "rcond"}),
    gives=(tuple, np.ndarray),
)
def polyfit(
    z: Any,
    z_bar: Any,
    x: Array,
    y: Array,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Array = None,
    cov: Any = False,
) -> tuple[Array, Array, Array]:
    bars = polyfit_parts_adjoint(z_bar, z, x, y, deg, w, full, cov, rcond)
    return like(bars[0], x), like(bars[1], y), like(bars[2], w)


# --- objects of np.poly1d


# One that exists is constant.
@elementwise(
    np.poly1d.__call__,
    name="numpy.poly1d.__call__",
    wrt=["val"],
    samples=lambda: [sample(np.poly1d([1.0, -2.0, 0.5]), numbers(3)), sample(np.poly1d([1.0, 0.3]), 0.7)],
    dtype="unknown",
    broadcasts=False,
)
def power_value(self: Any, val: Array) -> Array:
    return power_slope(self, val, 1)


@elementwise(
    power_slope,
    wrt=["x"],
    samples=lambda: [sample(np.poly1d([1.0, -2.0, 0.5]), numbers(3), 1), sample(np.poly1d([1.0, 0.3]), 0.7, 1)],
    dtype="unknown",
    broadcasts=False,
)
def slope(p: Any, x: Array, m: int) -> Array:
    return power_slope(p, x, m + 1)


@linear(
    power_row,
    wrt=["c"],
    samples=lambda: [sample(numbers(3)), sample(1.5), sample([0.5, 1.5]), sample(complexes(2)), sample(singles(2))],
    infer=infer.axes.with_axes(infer.axes.same("c")),
    result="maybe_view",
    closer=infer.memory.of_list,
)
def row(z_bar: Array, c: Any) -> Array:
    return like(np.reshape(z_bar, np.shape(c)), c)


for _function in (deferring_operand, dividing_number, points):

    @linear(
        _function,
        wrt=["x"],
        samples=lambda: [sample(0.7), sample(0.5 + 0.3j)],
        infer=infer.common.first,
        dtype="inferred",
        result="element",
    )
    def operand(z_bar: Any, x: Any) -> Any:
        return z_bar
