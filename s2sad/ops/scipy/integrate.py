"""Rules of ``scipy.integrate``: sums over samples.  Integrals of functions are refused, with what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import integrate

from s2sad.ops import infer
from s2sad.ops.differences import trapezoid
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, constant, linear, rule, sample
from s2sad.runtime.differences import trapezoid_weights
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.quadrature import (
    cumulative_trapezoid_adjoints,
    cumulative_trapezoid_tangent,
    romb_weights,
    simpson_adjoint,
    simpson_by_points,
    simpson_tangent,
)

Array = Any


def grid(*shape: int) -> Any:
    """Positions that are not equally spaced, in order along the last axis."""
    return np.cumsum(0.3 + np.abs(numbers(*shape, seed=5)), axis=-1)


def _integrands() -> Sequence[Sample]:
    y = numbers(3, 5)
    points = [sample(numbers(n)) for n in (2, 3, 4, 5, 6, 7)]
    points += [sample(numbers(n), x=grid(n)) for n in (2, 3, 4, 5, 6, 7)]
    points += [sample(y, dx=0.3), sample(y, dx=0.3, axis=0), sample(y, x=grid(5)), sample(y, x=grid(3), axis=0)]
    points += [sample(y, x=grid(3, 5)), sample(numbers(3, 4), x=grid(3, 4), axis=-1), sample(complexes(5))]
    return [*points, sample(complexes(4), x=grid(4)), sample(singles(5))]


def _trapezoid_jvp(
    y_dot: Array, x_dot: Array, dx_dot: Array, y: Array, x: Array | None = None, dx: Array = 1.0, axis: int = -1
) -> Array:
    rising = trapezoid_weights(x if x is None else x_dot, dx_dot, y, axis)
    return np.sum(y_dot * trapezoid_weights(x, dx, y, axis) + y * rising, axis=axis)


rule(
    integrate.trapezoid,
    wrt=["y", "x", "dx"],
    jvp=_trapezoid_jvp,
    samples=_integrands,
    infer=infer.scipy.integrated("y"),  # SciPy casts the points to the type of the samples
    dtype="unknown",
    as_given=frozenset({"x"}),
)(trapezoid)


def _simpson_jvp(
    y_dot: Array, x_dot: Array, dx_dot: Array, y: Array, x: Array | None = None, *, dx: Array = 1.0, axis: int = -1
) -> Array:
    return simpson_tangent(y_dot, x_dot, dx_dot, y, x, dx, axis)


@rule(
    integrate.simpson,
    wrt=["y", "x", "dx"],
    jvp=_simpson_jvp,
    samples=_integrands,
    infer=infer.scipy.integrated("y", "x", "dx"),
    dtype="unknown",
    as_given=frozenset({"x"}),
)
def simpson(
    z: Array, z_bar: Array, y: Array, x: Array | None = None, *, dx: Array = 1.0, axis: int = -1
) -> tuple[Array, Array | None, Array]:
    return simpson_adjoint(z_bar, y, x, dx, axis), simpson_by_points(z_bar, y, x, axis), np.sum(z_bar * z) / dx


@linear(
    simpson_adjoint,
    wrt=["g"],
    steps=frozenset({"y"}),
    samples=lambda: [sample(1.3, numbers(6)), sample(numbers(3), numbers(3, 5), np.array([0.0, 0.7, 1.1, 2.3, 2.9]))],
    infer=infer.adjoints.adjoint_of("y"),
)
def simpson_adjoint_rule(z_bar: Array, g: Array, y: Array, x: Array = None, dx: Array = 1.0, axis: int = -1) -> Array:
    return integrate.simpson(z_bar, x=x, dx=dx, axis=axis)


def _running() -> Sequence[Sample]:
    y = numbers(3, 5)
    return [*_integrands(), sample(y, initial=0), sample(y, grid(3), axis=0, initial=0), sample(y, None, 0.7, 1, 0)]


def _cumulative_trapezoid_jvp(
    y_dot: Array,
    x_dot: Array,
    dx_dot: Array,
    y: Array,
    x: Array | None = None,
    dx: Array = 1.0,
    axis: int = -1,
    initial: float | None = None,
) -> Array:
    return cumulative_trapezoid_tangent(y_dot, x_dot, dx_dot, y, x, dx, axis, initial)


@rule(
    integrate.cumulative_trapezoid,
    wrt=["y", "x", "dx"],
    jvp=_cumulative_trapezoid_jvp,
    samples=_running,
    infer=infer.scipy.cumulated,
    dtype="unknown",
    as_given=frozenset({"x"}),
)
def cumulative_trapezoid(
    z_bar: Array, y: Array, x: Array | None = None, dx: Array = 1.0, axis: int = -1, initial: float | None = None
) -> tuple[Array, Array | None, Array]:
    y_bar, x_bar, dx_bar = cumulative_trapezoid_adjoints(z_bar, y, x, dx, axis, initial)
    return y_bar, x_bar, dx_bar


# --- Romberg's rule

constant(romb_weights, signature=lambda count: None)


def _dyadic() -> Sequence[Sample]:
    points = [sample(numbers(n)) for n in (2, 3, 5, 9)] + [
        sample(numbers(5, 2), 0.3, 0),
        sample(numbers(2, 3), axis=-1),
    ]
    return [*points, sample(numbers(5), dx=0.7), sample(complexes(5)), sample(singles(3))]


def _romb_jvp(y_dot: Array, dx_dot: Array, z: Array, y: Array, dx: Array = 1.0, axis: int = -1) -> Array:
    weights = romb_weights(np.shape(y)[axis])
    return np.moveaxis(dx * y_dot + dx_dot * y, axis, -1) @ weights


@rule(
    integrate.romb,
    wrt=["y", "dx"],
    jvp=_romb_jvp,
    samples=_dyadic,
    dtype="unknown",
)
def romb(z_bar: Array, y: Array, dx: Array = 1.0, axis: int = -1, show: bool = False) -> tuple[Array, Array]:
    weights = romb_weights(np.shape(y)[axis])
    y_bar = np.moveaxis(np.multiply.outer(z_bar * dx, weights), -1, axis)
    return like(y_bar, y), np.sum(z_bar * (np.moveaxis(y, axis, -1) @ weights))
