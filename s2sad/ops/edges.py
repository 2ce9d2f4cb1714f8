"""Rules of the runtime's quotients and powers, which are zero at edges of a domain, and of special functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.spec import Sample, elementwise, literal, sample
from s2sad.runtime.arrays import power_derivative, power_dx, power_dy
from s2sad.runtime.edges import by_divisor, exponent_adjoint, power_adjoint, quotient, quotient_or_zero
from s2sad.runtime.special import polygamma, sinc_derivative

Array = Any
Samples = Sequence[Sample]
_array = sampling.spread

# --- quotients ---


def _quotient_samples() -> Samples:
    return [sample(_array((3,)), _array((2, 3), 0.3, 2.0)), sample(1.5, np.array([0.7, 2.0])), sample(1.5, 0.7)]


@elementwise(quotient, samples=_quotient_samples, dtype="python")
def quotient_rule(z: Array, z_bar: Array, a: Array, b: Array) -> Array:
    return quotient(z_bar, b), by_divisor(z_bar, z, b)


def _divisor_samples() -> Samples:
    b = _array((2, 3), 0.3, 2.0)
    return [sample(_array((3,)), _array((2, 1)), b), sample(1.5, np.array([0.7, 2.0]), 0.4), sample(1.5, 0.7, 0.4)]


@elementwise(by_divisor, samples=_divisor_samples, dtype="python")
def by_divisor_rule(z: Array, z_bar: Array, g: Array, q: Array, b: Array) -> Array:
    return by_divisor(z_bar, q, b), by_divisor(g, z_bar, b), by_divisor(z_bar, z, b)


@elementwise(quotient_or_zero, samples=_quotient_samples, dtype="python")
def quotient_or_zero_rule(z: Array, z_bar: Array, a: Array, b: Array) -> Array:
    return quotient_or_zero(z_bar, b), -quotient_or_zero(z_bar * z, b)


# --- powers ---


@elementwise(power_dx, samples=sampling.POSITIVE_PAIRS, infer=infer.common.number_or_array, dtype="python")
def power_dx_rule(z_bar: Array, x: Array, y: Array) -> Array:
    return power_adjoint(z_bar, x, y, 2), power_adjoint(z_bar, x, y, 1, 1)


def _power_derivative_samples() -> Samples:
    x, y = _array((3,), 0.3, 2.0), _array((2, 3), -1.0, 2.0)
    orders = ((1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 2))
    return [*(sample(x, y, n, m) for n, m in orders), sample(1.5, 0.7, 2, 1), sample(1.5, 1.0, 2, 0)]


@elementwise(
    power_derivative,
    steps=frozenset({"n", "m"}),
    wrt=["x", "y"],
    samples=_power_derivative_samples,
    infer=infer.common.number_or_array,
    dtype="python",
)
def power_derivative_rule(z_bar: Array, x: Array, y: Array, n: int, m: int) -> Array:
    return power_adjoint(z_bar, x, y, n + 1, m), power_adjoint(z_bar, x, y, n, m + 1)


def _power_adjoint_samples() -> Samples:
    x, y = _array((3,), 0.3, 2.0), _array((2, 3), -1.0, 2.0)
    several = [sample(g, x, y, n) for g in (0.7, _array((3,))) for n in (1, 2, 3)]
    return [*several, sample(0.7, x, y, 2, 1), sample(0.7, x, 0.4), sample(1.5, 0.7, 2.5), sample(1.5, 0.7, 2.5, 2)]


@elementwise(
    power_adjoint,
    steps=frozenset({"n", "m"}),
    wrt=["g", "x", "y"],
    samples=_power_adjoint_samples,
    dtype="python",
)
def power_adjoint_rule(z_bar: Array, g: Array, x: Array, y: Array, n: int = 1, m: int = 0) -> Array:
    x_bar = power_adjoint(z_bar * g, x, y, n + 1, m)
    y_bar = power_adjoint(z_bar * g, x, y, n, m + 1)
    if literal(n) and literal(m) and n == 1 and m == 0:
        return power_adjoint(z_bar, x, y), x_bar, y_bar
    return power_adjoint(z_bar, x, y, n, m), x_bar, y_bar


def _power_dy_samples() -> Samples:
    x, y = _array((3,), 0.3, 2.0), _array((2, 3))
    return [sample(x, y, x**y), sample(1.5, 2.5, 0.7)]


@elementwise(power_dy, steps=frozenset({"y"}), wrt=["x", "p"], samples=_power_dy_samples, dtype="python")
def power_dy_rule(x: Array, y: Array, p: Array) -> Array:
    return p / (x + (x == 0)), power_dy(x, y, 1.0)


@elementwise(
    exponent_adjoint,
    steps=frozenset({"y"}),
    wrt=["g", "x", "p"],
    samples=lambda: [sample(g, *s.args) for s in _power_dy_samples() for g in (0.7, _array((3,)))],
    dtype="python",
)
def exponent_adjoint_rule(z_bar: Array, g: Array, x: Array, y: Array, p: Array) -> Array:
    by_x = z_bar * g * p / (x + (x == 0))
    return exponent_adjoint(z_bar, x, y, p), by_x, exponent_adjoint(z_bar * g, x, y, 1.0)


# --- special functions ---


def _sinc_samples() -> Samples:
    x = np.array([-3.0, -1.1, -0.2, 0.0, 1e-6, 0.7, 1.4, 2.6, 8.0])
    return [sample(x, n) for n in (1, 2, 3)]


@elementwise(sinc_derivative, wrt=["x"], samples=_sinc_samples, dtype="python", steps=frozenset({"n"}))
def sinc_derivative_rule(x: Array, n: int) -> Array:
    return sinc_derivative(x, n + 1)


def _polygamma_samples() -> Samples:
    return [sample(0, 0.7), sample(0, -1.4), sample(1, 2.3), sample(2, 30.0), sample(1, -0.6)]


@elementwise(polygamma, wrt=["x"], samples=_polygamma_samples, dtype="python", steps=frozenset({"n"}))
def polygamma_rule(n: int, x: Array) -> Array:
    return polygamma(n + 1, x)
