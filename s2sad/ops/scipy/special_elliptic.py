"""Rules of elliptic integrals twice, of Carlson's R_D, the mean that they are found by, and a few others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from s2sad.ops import sampling
from s2sad.ops.scipy.points import between, both, of
from s2sad.ops.spec import elementwise
from s2sad.runtime.scipy.carlson import carlson, ellipeinc_dmm, ellipkinc_dmm
from s2sad.runtime.scipy_special import ellipeinc_dm, ellipkinc_dm

Array = Any

_SIDES = (0.3, 2.2)
_SOME = between(_SIDES, _SIDES, _SIDES)
_AMPLITUDES = both(between((-1.4, 1.5), (-0.8, 0.9)), between((2.0, 8.0), (0.1, 0.8)))


@elementwise(special.elliprd, samples=_SOME, real_only=True)
def elliprd(x: Array, y: Array, w: Array) -> tuple[Array, Array, Array]:
    return (
        -0.75 * carlson(1.5, 0.5, 1.5, x, y, w),
        -0.75 * carlson(0.5, 1.5, 1.5, x, y, w),
        -2.25 * carlson(0.5, 0.5, 2.5, x, y, w),
    )


@elementwise(
    carlson, wrt=["x", "y", "w"], samples=of([(0.5, 0.5, 1.5), (1.5, 0.5, 0.5), (0.5, 1.5, 2.5)], _SOME), real_only=True
)
def carlson_rule(a: float, b: float, c: float, x: Array, y: Array, w: Array) -> tuple[Array, Array, Array]:
    return (
        -a * carlson(a + 1.0, b, c, x, y, w),
        -b * carlson(a, b + 1.0, c, x, y, w),
        -c * carlson(a, b, c + 1.0, x, y, w),
    )


@elementwise(ellipkinc_dm, samples=_AMPLITUDES)
def ellipkinc_dm_rule(phi: Array, m: Array) -> tuple[Array, Array]:
    return 0.5 * np.sin(phi) ** 2 / (1 - m * np.sin(phi) ** 2) ** 1.5, ellipkinc_dmm(phi, m)


@elementwise(ellipeinc_dm, samples=_AMPLITUDES)
def ellipeinc_dm_rule(phi: Array, m: Array) -> tuple[Array, Array]:
    return -0.5 * np.sin(phi) ** 2 / np.sqrt(1 - m * np.sin(phi) ** 2), ellipeinc_dmm(phi, m)


# The mean is pi / 2 over the integral of 1 / sqrt(a**2 cos**2 + b**2 sin**2), a quarter of a turn.
@elementwise(special.agm, samples=between((0.4, 2.2), (0.5, 2.5)), real_only=True)
def agm(z: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return (
        2 / (3 * np.pi) * z**2 * a * special.elliprd(0, b**2, a**2),
        2 / (3 * np.pi) * z**2 * b * special.elliprd(0, a**2, b**2),
    )


@elementwise(special.powm1, samples=between((0.4, 2.2), (-1.5, 2.5)))
def powm1(z: Array, x: Array, y: Array) -> tuple[Array, Array]:
    return y * x ** (y - 1), (z + 1) * np.log(x + np.zeros_like(z))


# --- scaled Bessel functions of real numbers, of which the scale is one

_ORDERS = both(of([0, 1, 2], sampling.POSITIVE), of([0.5, 2.7], sampling.POSITIVE))


@elementwise(special.jve, wrt=["x"], samples=_ORDERS, real_only=True)
def jve(v: Array, x: Array) -> Array:
    return 0.5 * (special.jv(v - 1.0, x) - special.jv(v + 1, x))


@elementwise(special.yve, wrt=["x"], samples=_ORDERS, real_only=True)
def yve(v: Array, x: Array) -> Array:
    return 0.5 * (special.yv(v - 1.0, x) - special.yv(v + 1, x))
