"""Rules of the ``cmath`` module, whose functions give complex numbers of Python's.

Adjoints are transposes without conjugation, as of the universal functions; a phase has none at 0.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.spec import Function, Sample, constant, elementwise, rule, sample
from s2sad.runtime.edges import quotient

Number = Any


def _numbers() -> Sequence[Sample]:
    return [sample(0.7 + 0.4j), sample(-0.3 + 0.8j), sample(0.6 - 0.5j), sample(0.4)]


def _elementwise(function: Function) -> Function:
    return elementwise(
        function, samples=_numbers, infer=infer.python.a_complex, dtype="float", broadcasts=False, complex_adjoints=True
    )


# --- powers, exponentials and logarithms ---


@_elementwise(cmath.sqrt)
def sqrt(z: Number, z_bar: Number, x: Number) -> Number:
    return quotient(0.5 * z_bar, z)


@_elementwise(cmath.exp)
def exp(z: Number, x: Number) -> Number:
    return z


def _logarithms() -> Sequence[Sample]:
    return [*_numbers(), sample(0.7 + 0.4j, 1.3 - 0.2j), sample(2.5 + 0j, 3.0)]


@elementwise(
    cmath.log,
    wrt=["x", "base"],
    samples=_logarithms,
    infer=infer.python.a_complex,
    dtype="float",
    broadcasts=False,
    complex_adjoints=True,
)
def log(z: Number, x: Number, base: Number = None) -> Number:
    if base is None:
        return 1 / x, 0.0
    return 1 / (cmath.log(base) * x), -z / (cmath.log(base) * base)


@_elementwise(cmath.log10)
def log10(x: Number) -> Number:
    return 1 / (math.log(10) * x)


# --- trigonometry ---


@_elementwise(cmath.sin)
def sin(x: Number) -> Number:
    return cmath.cos(x)


@_elementwise(cmath.cos)
def cos(x: Number) -> Number:
    return -cmath.sin(x)


@_elementwise(cmath.tan)
def tan(z: Number, x: Number) -> Number:
    return 1 + z**2


# Roots of polynomials in ``x`` would not tell on which side of a cut it is.


@_elementwise(cmath.asin)
def asin(z: Number, z_bar: Number, x: Number) -> Number:
    return quotient(z_bar, cmath.cos(z))


@_elementwise(cmath.acos)
def acos(z: Number, z_bar: Number, x: Number) -> Number:
    return -quotient(z_bar, cmath.sin(z))


@_elementwise(cmath.atan)
def atan(x: Number) -> Number:
    return 1 / (1 + x**2)


@_elementwise(cmath.sinh)
def sinh(x: Number) -> Number:
    return cmath.cosh(x)


@_elementwise(cmath.cosh)
def cosh(x: Number) -> Number:
    return cmath.sinh(x)


@_elementwise(cmath.tanh)
def tanh(z: Number, x: Number) -> Number:
    return 1 - z**2


@_elementwise(cmath.asinh)
def asinh(z: Number, x: Number) -> Number:
    return 1 / cmath.cosh(z)


@_elementwise(cmath.acosh)
def acosh(z: Number, z_bar: Number, x: Number) -> Number:
    return quotient(z_bar, cmath.sinh(z))


@_elementwise(cmath.atanh)
def atanh(x: Number) -> Number:
    return 1 / (1 - x**2)


# --- size and direction ---


def _complex_numbers() -> Sequence[Sample]:
    return _numbers()[:3]


def _phase_jvp(x_dot: Number, x: Number) -> Number:
    return np.imag(x_dot / x)


@rule(
    cmath.phase,
    jvp=_phase_jvp,
    samples=_complex_numbers,
    infer=infer.common.a_number,
    dtype="float",
    complex_adjoints=True,
)
def phase(z_bar: Number, x: Number) -> Number:
    return -1j * np.real(z_bar) / x


def _polar_jvp(x_dot: Number, z: Number, x: Number) -> Number:
    turned = x_dot / x
    return z[0] * np.real(turned), np.imag(turned)


@rule(
    cmath.polar,
    jvp=_polar_jvp,
    samples=_complex_numbers,
    infer=infer.python.two_numbers,
    dtype="unknown",
    complex_adjoints=True,
    gives=(tuple,),
)
def polar(z: Number, z_bar: Number, x: Number) -> Number:
    return (z[0] * np.real(z_bar[0]) - 1j * np.real(z_bar[1])) / x


def _directions() -> Sequence[Sample]:
    return [sample(0.7, 1.9), sample(1.3, -0.4)]


def _rect_jvp(r_dot: Number, phi_dot: Number, z: Number, phi: Number) -> Number:
    return cmath.rect(1.0, phi) * r_dot + 1j * z * phi_dot


@rule(
    cmath.rect, jvp=_rect_jvp, samples=_directions, infer=infer.python.a_complex, dtype="float", complex_adjoints=True
)
def rect(z: Number, z_bar: Number, r: Number, phi: Number) -> Number:
    return z_bar * cmath.rect(1.0, phi), z_bar * 1j * z


constant(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan, dtype="truth")
