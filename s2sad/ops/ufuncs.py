"""Rules of NumPy's smooth universal functions, and the list of those that are steps.

``hypot`` has derivative 0 at 0; ``x ** 0`` is constant.  Complex adjoints are
transposes without conjugation: the adjoint of ``x`` in ``z = x * y`` is ``z_bar * y``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.forms import METHOD
from s2sad.ops.points import numbers
from s2sad.ops.spec import Function, Sample, constant, elementwise, linear, literal, real, rule, sample
from s2sad.runtime.arrays import power_dy, unbroadcast
from s2sad.runtime.edges import exponent_adjoint, power_adjoint, quotient, root_quotient
from s2sad.runtime.linear import uncast
from s2sad.runtime.special import sinc_derivative

Array = Any

# --- arithmetic ---


@elementwise(np.add, samples=sampling.PAIRS_OR_COMPLEX, lower_bound=infer.bounds.added)
def add(x: Array, y: Array) -> Array:
    return 1, 1


@elementwise(np.subtract, samples=sampling.PAIRS_OR_COMPLEX)
def subtract(x: Array, y: Array) -> Array:
    return 1, -1


@elementwise(np.multiply, samples=sampling.PAIRS_OR_COMPLEX, lower_bound=infer.bounds.multiplied)
def multiply(x: Array, y: Array) -> Array:
    return y, x


@elementwise(np.divide, samples=sampling.PAIRS_OR_COMPLEX, lower_bound=infer.bounds.divided)
def divide(z: Array, x: Array, y: Array) -> Array:
    return 1 / y, -z / y


@elementwise(np.power, samples=sampling.POWERS, lower_bound=infer.bounds.raised)
def power(z: Array, z_bar: Array, x: Array, y: Array) -> Array:
    if literal(y) and y == 0.5:
        return root_quotient(y * z_bar, z, x), z_bar * power_dy(x, y, z)
    if literal(y) and y > 0 and y < 1:
        return root_quotient(y * z_bar, x ** (1 - y), x), z_bar * power_dy(x, y, z)
    if literal(y) and y != 0:
        return z_bar * (y * x ** (y - 1)), z_bar * power_dy(x, y, z)
    if literal(x) and x > 0:
        return power_adjoint(z_bar, x, y), z_bar * power_dy(x, y, z)
    return power_adjoint(z_bar, x, y), exponent_adjoint(z_bar, x, y, z)


@elementwise(np.float_power, samples=sampling.POWERS)
def float_power(z: Array, z_bar: Array, x: Array, y: Array) -> Array:
    if literal(y) and y == 0.5:
        return root_quotient(y * z_bar, z, x), z_bar * power_dy(x, y, z)
    if literal(y) and y > 0 and y < 1:
        return root_quotient(y * z_bar, np.float_power(x, 1 - y), x), z_bar * power_dy(x, y, z)
    if literal(y) and y != 0:
        return z_bar * (y * np.float_power(x, y - 1)), z_bar * power_dy(x, y, z)
    if literal(x) and x > 0:
        return power_adjoint(z_bar, x, y), z_bar * power_dy(x, y, z)
    return power_adjoint(z_bar, x, y), exponent_adjoint(z_bar, x, y, z)


@elementwise(np.remainder, samples=sampling.REMAINDERS)
def remainder(x: Array, y: Array) -> Array:
    return 1, -(x // y)


@elementwise(np.fmod, samples=sampling.REMAINDERS)
def fmod(z: Array, x: Array, y: Array) -> Array:
    return 1, (z - x) / y


def _parts(samples: Function) -> Function:
    """Arguments, none of them in single precision."""
    return lambda: [s for s in samples() if not any(np.result_type(x) == np.float32 for x in s.args)]


def _divmod_jvp(x_dot: Array, y_dot: Array, z: Any) -> Any:
    return 0.0 * z[0], np.broadcast_to(x_dot - z[0] * y_dot, np.shape(z[1]))


@rule(np.divmod, jvp=_divmod_jvp, samples=sampling.REMAINDERS, gives=(tuple,))
def divmod(z: Any, z_bar: Any, x: Array, y: Array) -> tuple[Array, Array]:
    return unbroadcast(z_bar[1], np.shape(x)), unbroadcast(-z_bar[1] * z[0], np.shape(y))


def _modf_jvp(x_dot: Array, z: Any) -> Any:
    return x_dot, 0.0 * z[1]


@rule(np.modf, jvp=_modf_jvp, samples=sampling.UNIT, gives=(tuple,))
def modf(z_bar: Any, x: Array) -> Array:
    return z_bar[0]


def _mantissas() -> Sequence[Sample]:
    return [sample(np.array([[0.3, -5.2], [1.3, 3.1]])), sample(0.7), sample(np.float32(1.3)), sample(np.zeros(0))]


def _frexp_jvp(x_dot: Array, z: Any) -> Any:
    return np.ldexp(x_dot, -z[1]), 0.0


@rule(np.frexp, jvp=_frexp_jvp, samples=_mantissas, gives=(tuple,), integers=(1,))
def frexp(z: Any, z_bar: Any, x: Array) -> Array:
    return np.ldexp(z_bar[0], -z[1])


# The next number moves with `x`; towards which it lies is a step.
@elementwise(np.nextafter, wrt=["x"], samples=_parts(sampling.PAIRS), steps=frozenset({"y"}))
def nextafter(x: Array, y: Array) -> Array:
    return 1


@linear(np.negative, wrt=["x"], samples=sampling.REAL_OR_COMPLEX, infer=infer.common.same_as_first)
def negative(z_bar: Array, x: Array) -> Array:
    return -z_bar


def _converted() -> Sequence[Sample]:
    x = np.array([0.5, -1.5])
    typed = [sample(x, dtype=np.float32), sample(1.5, dtype=float), sample(x.astype(np.float32), dtype=float)]
    return [*sampling.REAL_OR_COMPLEX(), *typed, sample(x, dtype=complex)]


# In a dtype, any other universal function is what it is of operands that were converted by this one.
@linear(np.positive, wrt=["x"], samples=_converted, infer=infer.common.same_as_first)
def positive(z_bar: Array, x: Array, dtype: Any = None) -> Array:
    if dtype is None:
        return z_bar
    return uncast(z_bar, dtype, x)


@elementwise(np.reciprocal, samples=sampling.POSITIVE_OR_COMPLEX)
def reciprocal(z: Array, x: Array) -> Array:
    return -(z**2)


@elementwise(np.square, samples=sampling.REAL_OR_COMPLEX, lower_bound=infer.bounds.not_negative)
def square(x: Array) -> Array:
    return 2 * x


@elementwise(np.sqrt, samples=sampling.POSITIVE_OR_COMPLEX, lower_bound=infer.bounds.root)
def sqrt(z: Array, z_bar: Array, x: Array) -> Array:
    return root_quotient(0.5 * z_bar, z, x)


@elementwise(np.cbrt, samples=sampling.REAL)
def cbrt(z: Array, x: Array) -> Array:
    return 1 / (3 * z**2)


# --- exponentials and logarithms ---


@elementwise(np.exp, samples=sampling.REAL_OR_COMPLEX, lower_bound=infer.bounds.not_negative)
def exp(z: Array, x: Array) -> Array:
    return z


@elementwise(np.exp2, samples=sampling.REAL_OR_COMPLEX)
def exp2(z: Array, x: Array) -> Array:
    return math.log(2) * z


@elementwise(np.expm1, samples=sampling.REAL_OR_COMPLEX)
def expm1(z: Array, x: Array) -> Array:
    return z + 1


@elementwise(np.log, samples=sampling.POSITIVE_OR_COMPLEX)
def log(x: Array) -> Array:
    return 1 / x


@elementwise(np.log2, samples=sampling.POSITIVE_OR_COMPLEX)
def log2(x: Array) -> Array:
    return 1 / (math.log(2) * x)


@elementwise(np.log10, samples=sampling.POSITIVE_OR_COMPLEX)
def log10(x: Array) -> Array:
    return 1 / (math.log(10) * x)


@elementwise(np.log1p, samples=sampling.POSITIVE_OR_COMPLEX)
def log1p(x: Array) -> Array:
    return 1 / (1 + x)


@elementwise(np.logaddexp, samples=sampling.PAIRS)
def logaddexp(z: Array, x: Array, y: Array) -> Array:
    return np.exp(x - z), np.exp(y - z)


@elementwise(np.logaddexp2, samples=sampling.PAIRS)
def logaddexp2(z: Array, x: Array, y: Array) -> Array:
    return np.exp2(x - z), np.exp2(y - z)


# --- trigonometry ---


@elementwise(np.sin, samples=sampling.REAL_OR_COMPLEX)
def sin(x: Array) -> Array:
    return np.cos(x)


@elementwise(np.cos, samples=sampling.REAL_OR_COMPLEX)
def cos(x: Array) -> Array:
    return -np.sin(x)


@elementwise(np.tan, samples=sampling.UNIT_OR_COMPLEX)
def tan(z: Array, x: Array) -> Array:
    return 1 + z**2


@elementwise(np.arcsin, samples=sampling.UNIT_OR_COMPLEX)
def arcsin(z: Array, z_bar: Array, x: Array) -> Array:
    if real(x):
        return quotient(z_bar, np.sqrt(1 - x**2))
    # The square would not tell on which side of its cut a complex number is.
    return quotient(z_bar, np.cos(z))


@elementwise(np.arccos, samples=sampling.UNIT_OR_COMPLEX)
def arccos(z: Array, z_bar: Array, x: Array) -> Array:
    if real(x):
        return -quotient(z_bar, np.sqrt(1 - x**2))
    return -quotient(z_bar, np.sin(z))


@elementwise(np.arctan, samples=sampling.REAL_OR_COMPLEX)
def arctan(x: Array) -> Array:
    return 1 / (1 + x**2)


@elementwise(np.sinh, samples=sampling.REAL_OR_COMPLEX)
def sinh(x: Array) -> Array:
    return np.cosh(x)


@elementwise(np.cosh, samples=sampling.REAL_OR_COMPLEX)
def cosh(x: Array) -> Array:
    return np.sinh(x)


@elementwise(np.tanh, samples=sampling.REAL_OR_COMPLEX)
def tanh(z: Array, x: Array) -> Array:
    return 1 - z**2


@elementwise(np.arcsinh, samples=sampling.REAL_OR_COMPLEX)
def arcsinh(z: Array, x: Array) -> Array:
    if real(x):
        return 1 / np.sqrt(1 + x**2)
    return 1 / np.cosh(z)


@elementwise(np.arccosh, samples=sampling.ABOVE_ONE_OR_COMPLEX)
def arccosh(z: Array, z_bar: Array, x: Array) -> Array:
    if real(x):
        return quotient(z_bar, np.sqrt(x - 1) * np.sqrt(x + 1))
    return quotient(z_bar, np.sinh(z))


@elementwise(np.arctanh, samples=sampling.UNIT_OR_COMPLEX)
def arctanh(x: Array) -> Array:
    return 1 / (1 - x**2)


@elementwise(np.arctan2, samples=sampling.PAIRS)
def arctan2(x: Array, y: Array) -> Array:
    return y / (x**2 + y**2), -x / (x**2 + y**2)


@elementwise(np.hypot, samples=sampling.PAIRS)
def hypot(z: Array, x: Array, y: Array) -> Array:
    r = z + (z == 0)
    return x / r, y / r


@elementwise(np.deg2rad, samples=sampling.REAL)
def deg2rad(x: Array) -> Array:
    return math.pi / 180


@elementwise(np.radians, samples=sampling.REAL)
def radians(x: Array) -> Array:
    return math.pi / 180


@elementwise(np.rad2deg, samples=sampling.REAL)
def rad2deg(x: Array) -> Array:
    return 180 / math.pi


@elementwise(np.degrees, samples=sampling.REAL)
def degrees(x: Array) -> Array:
    return 180 / math.pi


@elementwise(np.sinc, samples=sampling.REAL)
def sinc(x: Array) -> Array:
    return sinc_derivative(x, 1)


# --- steps and tests ---


def _rounded() -> Sequence[Sample]:
    return [sample(numbers(3), 1), sample(numbers(2, 3)), sample(1.25, 1), sample([0.25, 1.5])]


constant(
    np.round, signature=lambda a, decimals=0, out=None: None, infer=infer.common.same_as_first, dtype="array",
    samples=_rounded, forms=METHOD, reads_first=True,
)  # fmt: skip
constant(
    np.around, signature=lambda a, decimals=0, out=None: None, infer=infer.common.same_as_first, dtype="array",
    samples=_rounded,
)  # fmt: skip
constant(
    np.floor, np.ceil, np.trunc, np.rint, np.fix, np.floor_divide,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.isnan, np.isinf, np.isfinite, np.signbit,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.gcd, np.lcm,
)  # fmt: skip
constant(np.isclose, np.allclose, np.array_equal, dtype="truth")
