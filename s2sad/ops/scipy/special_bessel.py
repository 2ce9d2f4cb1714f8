"""Rules of ``scipy.special``: Bessel functions and their like, by the argument; by the order there is no closed form.

The derivatives are those of Abramowitz and Stegun 9.1, 9.6, 10.1 and 10.2, and of the DLMF 11.4, in the forms that have
a value at 0 where the function is smooth there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from s2sad.ir.types import Fact
from s2sad.ops import sampling
from s2sad.ops.infer.common import Bound, Types
from s2sad.ops.scipy.points import at, between, both, of
from s2sad.ops.spec import Sample, elementwise, rule
from s2sad.runtime.scipy_special import divisor, expn_derivative, real_sign, sinhc, spherical, struve_term

Array = Any

_COMPLEX = at((0.7 + 0.4j,), ([1.5 + 0.2j, 0.3 - 0.9j],))
_ORDERS = [0, 1, 2, 3.5]
_ANY = both(of([0, 1, 2], sampling.REAL), of([0.5, 2.7], sampling.POSITIVE), of(_ORDERS, _COMPLEX), at((1, 0.0)))
_ABOVE_ZERO = both(of(_ORDERS, sampling.POSITIVE), of(_ORDERS, _COMPLEX))
_REAL_ORDERS = both(of([0, 1, 2], sampling.REAL), of([0.5, 2.7], sampling.POSITIVE))
_WHOLE = of([0, 1, 2, 4], between((0.4, 3.0)))


# --- of the first and second kind ---


@elementwise(special.j0, samples=sampling.REAL)
def j0(x: Array) -> Array:
    return -special.j1(x)


@elementwise(special.j1, samples=both(sampling.REAL, at((0.0,))))
def j1(x: Array) -> Array:
    return 0.5 * (special.j0(x) - special.jv(2, x))


@elementwise(special.jv, wrt=["x"], samples=_ANY)
def jv(v: Array, x: Array) -> Array:
    return 0.5 * (special.jv(v - 1.0, x) - special.jv(v + 1, x))


@elementwise(special.y0, samples=sampling.POSITIVE)
def y0(x: Array) -> Array:
    return -special.y1(x)


@elementwise(special.y1, samples=sampling.POSITIVE)
def y1(z: Array, x: Array) -> Array:
    return special.y0(x) - z / x


@elementwise(special.yn, wrt=["x"], samples=_WHOLE)
def yn(order: Array, x: Array) -> Array:
    whole = np.trunc(order)
    return 0.5 * (special.yn(whole - 1, x) - special.yn(whole + 1, x))


@elementwise(special.yv, wrt=["x"], samples=_ABOVE_ZERO)
def yv(z: Array, v: Array, x: Array) -> Array:
    return special.yv(v - 1.0, x) - v / x * z


@elementwise(special.hankel1, wrt=["x"], samples=_ABOVE_ZERO, complex_adjoints=True)
def hankel1(v: Array, x: Array) -> Array:
    return 0.5 * (special.hankel1(v - 1.0, x) - special.hankel1(v + 1, x))


@elementwise(special.hankel2, wrt=["x"], samples=_ABOVE_ZERO, complex_adjoints=True)
def hankel2(v: Array, x: Array) -> Array:
    return 0.5 * (special.hankel2(v - 1.0, x) - special.hankel2(v + 1, x))


# --- modified ---


@elementwise(special.i0, samples=sampling.REAL)
def i0(x: Array) -> Array:
    return special.i1(x)


@elementwise(special.i1, samples=both(sampling.REAL, at((0.0,))))
def i1(x: Array) -> Array:
    return 0.5 * (special.i0(x) + special.iv(2, x))


@elementwise(special.i0e, samples=sampling.REAL)
def i0e(z: Array, x: Array) -> Array:
    return special.i1e(x) - np.sign(x) * z


@elementwise(special.i1e, samples=sampling.REAL)
def i1e(z: Array, x: Array) -> Array:
    return 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * z


@elementwise(special.iv, wrt=["x"], samples=_ANY)
def iv(v: Array, x: Array) -> Array:
    return 0.5 * (special.iv(v - 1.0, x) + special.iv(v + 1, x))


@elementwise(special.ive, wrt=["x"], samples=_REAL_ORDERS)
def ive(z: Array, v: Array, x: Array) -> Array:
    return 0.5 * (special.ive(v - 1.0, x) + special.ive(v + 1, x)) - real_sign(x) * z


@elementwise(special.k0, samples=sampling.POSITIVE)
def k0(x: Array) -> Array:
    return -special.k1(x)


@elementwise(special.k1, samples=sampling.POSITIVE)
def k1(z: Array, x: Array) -> Array:
    return -special.k0(x) - z / x


@elementwise(special.k0e, samples=sampling.POSITIVE)
def k0e(z: Array, x: Array) -> Array:
    return z - special.k1e(x)


@elementwise(special.k1e, samples=sampling.POSITIVE)
def k1e(z: Array, x: Array) -> Array:
    return z - special.k0e(x) - z / x


@elementwise(special.kn, wrt=["x"], samples=_WHOLE)
def kn(order: Array, x: Array) -> Array:
    whole = np.trunc(order)
    return -0.5 * (special.kn(whole - 1, x) + special.kn(whole + 1, x))


@elementwise(special.kv, wrt=["x"], samples=_ABOVE_ZERO)
def kv(z: Array, v: Array, x: Array) -> Array:
    return -special.kv(v - 1.0, x) - v / x * z


@elementwise(special.kve, wrt=["x"], samples=_ABOVE_ZERO)
def kve(z: Array, v: Array, x: Array) -> Array:
    return z - special.kve(v - 1.0, x) - v / x * z


# --- spherical ---

_SPHERICAL = of([0, 1, 3], both(between((0.4, 3.0)), _COMPLEX))
_SPHERICAL_SLOPES = both(_SPHERICAL, at((1, [0.7, 1.9], True), (2, 1.3, True)))


@elementwise(special.spherical_jn, wrt=["x"], samples=_SPHERICAL_SLOPES, dtype="unknown", steps=frozenset({"n"}))
def spherical_jn(n: int, x: Array, derivative: bool = False) -> Array:
    return spherical("spherical_jn", n, x, 1 + derivative)


@elementwise(special.spherical_yn, wrt=["x"], samples=_SPHERICAL_SLOPES, dtype="unknown", steps=frozenset({"n"}))
def spherical_yn(n: int, x: Array, derivative: bool = False) -> Array:
    return spherical("spherical_yn", n, x, 1 + derivative)


@elementwise(special.spherical_in, wrt=["x"], samples=_SPHERICAL_SLOPES, dtype="unknown", steps=frozenset({"n"}))
def spherical_in(n: int, x: Array, derivative: bool = False) -> Array:
    return spherical("spherical_in", n, x, 1 + derivative)


@elementwise(special.spherical_kn, wrt=["x"], samples=_SPHERICAL_SLOPES, dtype="unknown", steps=frozenset({"n"}))
def spherical_kn(n: int, x: Array, derivative: bool = False) -> Array:
    return spherical("spherical_kn", n, x, 1 + derivative)


_SPHERICAL_ORDERS = at(
    ("spherical_jn", 1, [0.7, 1.9], 1), ("spherical_in", 2, 1.3, 2), ("spherical_kn", 0, [1.1, 0.6], 3),
    ("spherical_yn", 2, [1.4, 0.9], 2), ("spherical_jn", 3, 0.7 + 0.4j, 2),
)  # fmt: skip


@elementwise(spherical, wrt=["x"], samples=_SPHERICAL_ORDERS, dtype="unknown")
def spherical_rule(name: str, n: int, x: Array, order: int) -> Array:
    return spherical(name, n, x, order + 1)


# --- Struve functions ---


@elementwise(special.struve, wrt=["x"], samples=of([0, 1, 2.5], sampling.POSITIVE))
def struve(v: Array, x: Array) -> Array:
    # Of order 0 the recurrence begins with what has a pole at 0.
    w = np.where(np.equal(v, 0), 1.0, v)
    slope = 0.5 * (special.struve(w - 1.0, x) - special.struve(w + 1, x)) + struve_term(w, x)
    return np.where(np.equal(v, 0), 2 / math.pi - special.struve(1.0, x), slope)


@elementwise(special.modstruve, wrt=["x"], samples=of([0, 1, 2.5], sampling.POSITIVE))
def modstruve(v: Array, x: Array) -> Array:
    w = np.where(np.equal(v, 0), 1.0, v)
    slope = 0.5 * (special.modstruve(w - 1.0, x) + special.modstruve(w + 1, x)) + struve_term(w, x)
    return np.where(np.equal(v, 0), 2 / math.pi + special.modstruve(1.0, x), slope)


# --- integrals of exponentials ---


@elementwise(special.expi, samples=both(sampling.REAL, _COMPLEX))
def expi(x: Array) -> Array:
    return np.exp(x) / x


@elementwise(special.exp1, samples=both(sampling.POSITIVE, _COMPLEX))
def exp1(x: Array) -> Array:
    return -np.exp(-x) / x


@elementwise(special.expn, wrt=["x"], samples=of([0, 1, 2, 5], sampling.POSITIVE))
def expn(z: Array, order: Array, x: Array) -> Array:
    return expn_derivative(z, np.trunc(order), x)


# --- functions with several results ---


def _several(b: Bound, types: Types) -> Fact:
    return Fact("tuple")


def _numbers() -> Sequence[Sample]:
    return [*between((0.4, 2.5))(), *_COMPLEX()]


def _sici_jvp(x_dot: Array, x: Array) -> Any:
    return x_dot * np.sinc(x / math.pi), x_dot * np.cos(x) / x


@rule(special.sici, jvp=_sici_jvp, samples=_numbers, infer=_several, gives=(tuple,))
def sici(z_bar: Any, x: Array) -> Array:
    return z_bar[0] * np.sinc(x / math.pi) + z_bar[1] * np.cos(x) / divisor(x, z_bar[1])


def _shichi_jvp(x_dot: Array, x: Array) -> Any:
    return x_dot * sinhc(x), x_dot * np.cosh(x) / x


@rule(special.shichi, jvp=_shichi_jvp, samples=_numbers, infer=_several, gives=(tuple,))
def shichi(z_bar: Any, x: Array) -> Array:
    return z_bar[0] * sinhc(x) + z_bar[1] * np.cosh(x) / divisor(x, z_bar[1])


def _fresnel_jvp(x_dot: Array, x: Array) -> Any:
    return x_dot * np.sin(0.5 * math.pi * x**2), x_dot * np.cos(0.5 * math.pi * x**2)


@rule(special.fresnel, jvp=_fresnel_jvp, samples=_numbers, infer=_several, gives=(tuple,))
def fresnel(z_bar: Any, x: Array) -> Array:
    angle = 0.5 * math.pi * x**2
    return z_bar[0] * np.sin(angle) + z_bar[1] * np.cos(angle)


def _airy_jvp(x_dot: Array, z: Any, x: Array) -> Any:
    return z[1] * x_dot, x * z[0] * x_dot, z[3] * x_dot, x * z[2] * x_dot


@rule(special.airy, jvp=_airy_jvp, samples=_numbers, infer=_several, gives=(tuple,))
def airy(z: Any, z_bar: Any, x: Array) -> Array:
    return z_bar[0] * z[1] + z_bar[1] * (x * z[0]) + z_bar[2] * z[3] + z_bar[3] * (x * z[2])
