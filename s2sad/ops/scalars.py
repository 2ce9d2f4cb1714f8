"""Rules of the ``math`` module and of Python's own numeric functions.

Their texts use ``math`` and not NumPy, so that scalar code stays quick.  As in
``math`` itself, a point where the derivative is infinite raises
`ZeroDivisionError`, unless it is at the edge of a domain and the adjoint is 0.
``abs`` and ``max`` accept arrays as Python's do.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.spec import (
    F,
    Function,
    RuleOptions,
    Sample,
    Samples,
    constant,
    elementwise,
    linear,
    literal,
    real,
    rule,
    sample,
)
from s2sad.runtime.arrays import power_dy, unbroadcast
from s2sad.runtime.edges import exponent_adjoint, power_adjoint, quotient, root_quotient
from s2sad.runtime.linear import like
from s2sad.runtime.special import polygamma

Array = Any
Number = Any


def _points(*values: float) -> Samples:
    def points() -> Sequence[Sample]:
        return [*(sample(x) for x in values), sample(np.float64(values[0]))]

    return points


def _pairs(*values: tuple[float, float]) -> Samples:
    def points() -> Sequence[Sample]:
        return [sample(x, y) for x, y in values]

    return points


_ANY = _points(0.7, -1.3, 2.4)
_POSITIVE = _points(0.3, 1.7)
_UNIT = _points(0.6, -0.4)
_TWO = _pairs((0.7, 1.9), (2.3, 0.4), (-1.2, 0.7), (1.1, -2.1), (-0.3, -0.8))


def _number(
    function: Function, *, samples: Samples, wrt: Sequence[str] | None = None, **options: Unpack[RuleOptions]
) -> Callable[[F], F]:
    """`elementwise`, of a function that gives a number whatever it takes: arrays without axes are numbers to it."""
    options = RuleOptions(infer=infer.common.a_number, broadcasts=False) | options
    return elementwise(function, samples=samples, wrt=wrt, **options)


# --- powers, exponentials and logarithms ---


@_number(math.sqrt, samples=_POSITIVE, lower_bound=infer.bounds.root)
def sqrt(z: Number, z_bar: Number, x: Number) -> Number:
    return root_quotient(0.5 * z_bar, z, x)


@_number(math.cbrt, samples=_ANY)
def cbrt(z: Number, x: Number) -> Number:
    return 1 / (3 * z**2)


@_number(math.exp, samples=_ANY, lower_bound=infer.bounds.not_negative)
def exp(z: Number, x: Number) -> Number:
    return z


@_number(math.exp2, samples=_ANY)
def exp2(z: Number, x: Number) -> Number:
    return math.log(2) * z


@_number(math.expm1, samples=_ANY)
def expm1(z: Number, x: Number) -> Number:
    return z + 1


def _log_samples() -> Sequence[Sample]:
    return [sample(0.4), sample(2.5), sample(2.5, 3.0), sample(0.4, 0.7), sample(2.5, 2)]


@_number(math.log, wrt=["x", "base"], samples=_log_samples)
def log(z: Number, x: Number, base: Number = None) -> Number:
    if base is None:
        return 1 / x, 0.0
    return 1 / (math.log(base) * x), -z / (math.log(base) * base)


@_number(math.log2, samples=_POSITIVE)
def log2(x: Number) -> Number:
    return 1 / (math.log(2) * x)


@_number(math.log10, samples=_POSITIVE)
def log10(x: Number) -> Number:
    return 1 / (math.log(10) * x)


@_number(math.log1p, samples=_POSITIVE)
def log1p(x: Number) -> Number:
    return 1 / (1 + x)


def _power_samples() -> Sequence[Sample]:
    pairs = [(1.7, 2.3), (0.4, -1.5), (-1.5, 2), (1.5, 0), (0.0, 2), (2, 1.5), (-0.7, 3), (1.3, -2)]
    return [sample(x, y) for x, y in pairs]


@_number(math.pow, samples=_power_samples, lower_bound=infer.bounds.raised)
def power(z: Number, z_bar: Number, x: Number, y: Number) -> Number:
    if literal(y) and y == 0.5:
        return root_quotient(y * z_bar, z, x), z_bar * power_dy(x, y, z)
    if literal(y) and y > 0 and y < 1:
        return root_quotient(y * z_bar, math.pow(x, 1 - y), x), z_bar * power_dy(x, y, z)
    if literal(y) and y != 0:
        return z_bar * (y * math.pow(x, y - 1)), z_bar * power_dy(x, y, z)
    if literal(x) and x > 0:
        return power_adjoint(z_bar, x, y), z_bar * power_dy(x, y, z)
    return power_adjoint(z_bar, x, y), exponent_adjoint(z_bar, x, y, z)


@elementwise(builtins.pow, samples=sampling.POWERS, dtype="python", lower_bound=infer.bounds.raised)
def python_power(z: Number, z_bar: Number, base: Number, exp: Number) -> Number:
    if literal(exp) and exp == 0.5:
        return root_quotient(exp * z_bar, z, base), z_bar * power_dy(base, exp, z)
    if literal(exp) and exp > 0 and exp < 1:
        return root_quotient(exp * z_bar, base ** (1 - exp), base), z_bar * power_dy(base, exp, z)
    if literal(exp) and exp != 0:
        return z_bar * (exp * base ** (exp - 1)), z_bar * power_dy(base, exp, z)
    if literal(base) and base > 0:
        return power_adjoint(z_bar, base, exp), z_bar * power_dy(base, exp, z)
    return power_adjoint(z_bar, base, exp), exponent_adjoint(z_bar, base, exp, z)


# --- trigonometry ---


@_number(math.sin, samples=_ANY)
def sin(x: Number) -> Number:
    return math.cos(x)


@_number(math.cos, samples=_ANY)
def cos(x: Number) -> Number:
    return -math.sin(x)


@_number(math.tan, samples=_UNIT)
def tan(z: Number, x: Number) -> Number:
    return 1 + z**2


@_number(math.asin, samples=_UNIT)
def asin(z_bar: Number, x: Number) -> Number:
    return quotient(z_bar, math.sqrt(1 - x**2))


@_number(math.acos, samples=_UNIT)
def acos(z_bar: Number, x: Number) -> Number:
    return -quotient(z_bar, math.sqrt(1 - x**2))


@_number(math.atan, samples=_ANY)
def atan(x: Number) -> Number:
    return 1 / (1 + x**2)


@_number(math.sinh, samples=_ANY)
def sinh(x: Number) -> Number:
    return math.cosh(x)


@_number(math.cosh, samples=_ANY)
def cosh(x: Number) -> Number:
    return math.sinh(x)


@_number(math.tanh, samples=_ANY)
def tanh(z: Number, x: Number) -> Number:
    return 1 - z**2


@_number(math.asinh, samples=_ANY)
def asinh(x: Number) -> Number:
    return 1 / math.sqrt(1 + x**2)


@_number(math.acosh, samples=_points(1.4, 3.0))
def acosh(z_bar: Number, x: Number) -> Number:
    return quotient(z_bar, math.sqrt(x**2 - 1))


@_number(math.atanh, samples=_UNIT)
def atanh(x: Number) -> Number:
    return 1 / (1 - x**2)


@_number(math.atan2, samples=_TWO)
def atan2(y: Number, x: Number) -> Number:
    return x / (x**2 + y**2), -y / (x**2 + y**2)


@_number(math.degrees, samples=_ANY)
def degrees(x: Number) -> Number:
    return 180 / math.pi


@_number(math.radians, samples=_ANY)
def radians(x: Number) -> Number:
    return math.pi / 180


# --- special functions ---


@_number(math.erf, samples=_ANY)
def erf(x: Number) -> Number:
    return 2 / math.sqrt(math.pi) * math.exp(-(x**2))


@_number(math.erfc, samples=_ANY)
def erfc(x: Number) -> Number:
    return -2 / math.sqrt(math.pi) * math.exp(-(x**2))


@_number(math.gamma, samples=_points(0.6, 3.4, -1.3))
def gamma(z: Number, x: Number) -> Number:
    return z * polygamma(0, x)


@_number(math.lgamma, samples=_points(0.6, 3.4, -1.3))
def lgamma(x: Number) -> Number:
    return polygamma(0, x)


# --- remainders and signs ---


@_number(math.fabs, samples=_ANY, lower_bound=infer.bounds.not_negative)
def fabs(x: Number) -> Number:
    return math.copysign(1.0, x) if x else 0.0


@_number(math.copysign, wrt=["x"], samples=_TWO, steps=frozenset({"y"}))
def copysign(z: Number, x: Number, y: Number) -> Number:
    return z / x if x else 0.0


@_number(math.fmod, samples=_TWO)
def fmod(z: Number, x: Number, y: Number) -> Number:
    return 1, (z - x) / y


@_number(math.remainder, samples=_TWO)
def remainder(z: Number, x: Number, y: Number) -> Number:
    return 1, (z - x) / y


def _ldexp_samples() -> Sequence[Sample]:
    return [sample(0.6, 3), sample(-1.5, -2)]


@_number(math.ldexp, wrt=["x"], samples=_ldexp_samples, steps=frozenset({"i"}))
def ldexp(x: Number, i: int) -> Number:
    return math.ldexp(1.0, i)


def _absolute_jvp(x_dot: Number, x: Number) -> Number:
    if real(x):
        return np.sign(x) * x_dot
    return np.real(np.conj(np.sign(x)) * x_dot)


@rule(
    builtins.abs, jvp=_absolute_jvp, samples=sampling.REAL_OR_COMPLEX, infer=infer.python.absolute, dtype="python",
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
def absolute(z_bar: Number, x: Number) -> Number:
    if real(x):
        return z_bar * np.sign(x)
    return np.real(z_bar) * np.conj(np.sign(x))


# --- conversions ---


def _float_samples() -> Sequence[Sample]:
    return [sample(0.7), sample(np.array(0.7)), sample(np.float32(0.5))]


@linear(
    builtins.float,
    wrt=["x"],
    samples=_float_samples,
    infer=infer.python.a_float,
    dtype="float",
    makes=float,
    real_only=True,
)
def to_float(z_bar: Number, x: Number) -> Number:
    return unbroadcast(z_bar, np.shape(x))


def _numpy_numbers() -> Sequence[Sample]:
    arrays = [np.array([0.7, -1.3]), np.array([[0.5, 0.25]], np.float32), np.zeros(0)]
    return [*_float_samples(), sample(-1.3), *map(sample, arrays), sample([0.5, 1.5])]


for _class in (np.float64, np.float32):

    @linear(
        _class,
        wrt=["x"],
        samples=_numpy_numbers,
        infer=infer.common.same_as_first,
        dtype="unknown",
        real_only=True,
        result="unknown",
    )
    def to_numpy(z_bar: Any, x: Array) -> Any:
        return like(z_bar, x)


def _complex_numbers() -> Sequence[Sample]:
    return [*_numpy_numbers(), sample(0.5 - 1.5j), sample(np.array([0.7 + 1j, -1.3]))]


for _complex in (np.complex128, np.complex64):

    @linear(
        _complex,
        wrt=["x"],
        samples=_complex_numbers,
        infer=infer.python.complex_numbers,
        dtype="unknown",
        result="unknown",
    )
    def to_numpy_complex(z_bar: Any, x: Array) -> Any:
        return like(z_bar, x)


@linear(
    builtins.complex,
    wrt=["real", "imag"],
    samples=_pairs((0.7, 1.9), (-1.0, 0.3)),
    infer=infer.python.a_complex,
    dtype="float",
    makes=complex,
    complex_adjoints=True,
)
def to_complex(z_bar: Number, real: Number, imag: Number = 0.0) -> Number:
    return z_bar, 1j * z_bar


# --- integers, tests and questions about objects ---
#
# Not among them is what makes text (str, repr, format, ...): a number can be read back from it.

constant(math.floor, dtype="whole", special=frozenset({"__floor__", "__float__", "__index__"}))
constant(math.ceil, dtype="whole", special=frozenset({"__ceil__", "__float__", "__index__"}))
constant(math.trunc, dtype="whole", special=frozenset({"__trunc__"}))
constant(math.isqrt, math.comb, math.perm, math.factorial, dtype="whole")
constant(math.gcd, math.lcm, dtype="whole")
constant(math.isnan, math.isinf, math.isfinite, math.isclose, dtype="truth")
constant(builtins.any, builtins.all, signature=lambda iterable: None, dtype="truth", consumes=("iterable",), makes=bool)
constant(builtins.bool, signature=lambda x=None: None, infer=infer.common.a_number, dtype="truth", makes=bool)
constant(
    builtins.int, signature=lambda x=None, base=None: None, infer=infer.common.a_number, dtype="inferred", makes=int
)
constant(
    builtins.round, signature=lambda number, ndigits=None: None, infer=infer.common.a_number, dtype="inferred",
    special=frozenset({"__round__"}),
)  # fmt: skip
constant(builtins.range, signature=lambda *args: None, infer=infer.python.numbers, dtype="inferred")
