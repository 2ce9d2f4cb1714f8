"""Rules of ``scipy.special``: integrals of Bessel and Struve functions, scaled Airy functions, Carlson's R_G.

Sources: Abramowitz and Stegun 11.1 and 12.1; the DLMF 9.2 and 19.18.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from s2sad.ir.types import Fact
from s2sad.ops.infer.common import Bound, Types
from s2sad.ops.scipy.points import between
from s2sad.ops.spec import elementwise, rule
from s2sad.runtime.edges import quotient
from s2sad.runtime.scipy_special import divisor

Array = Any
_POSITIVE = between((0.4, 2.5))


def _several(b: Bound, types: Types) -> Fact:
    return Fact("tuple")


def _itj0y0_jvp(x_dot: Array, x: Array) -> Any:
    return x_dot * special.j0(x), x_dot * special.y0(x)


@rule(special.itj0y0, jvp=_itj0y0_jvp, samples=_POSITIVE, infer=_several, gives=(tuple,), real_only=True)
def itj0y0(z_bar: Any, x: Array) -> Array:
    return z_bar[0] * special.j0(x) + z_bar[1] * special.y0(divisor(x, z_bar[1]))


def _iti0k0_jvp(x_dot: Array, x: Array) -> Any:
    return x_dot * special.i0(x), x_dot * special.k0(x)


@rule(special.iti0k0, jvp=_iti0k0_jvp, samples=_POSITIVE, infer=_several, gives=(tuple,), real_only=True)
def iti0k0(z_bar: Any, x: Array) -> Array:
    return z_bar[0] * special.i0(x) + z_bar[1] * special.k0(divisor(x, z_bar[1]))


def _it2j0y0_jvp(x_dot: Array, x: Array) -> Any:
    return quotient(x_dot * (1 - special.j0(x)), x), x_dot * (-special.y0(x) / x)


@rule(special.it2j0y0, jvp=_it2j0y0_jvp, samples=_POSITIVE, infer=_several, gives=(tuple,), real_only=True)
def it2j0y0(z_bar: Any, x: Array) -> Array:
    u = divisor(x, z_bar[1])
    return quotient(z_bar[0] * (1 - special.j0(x)), x) - z_bar[1] * special.y0(u) / u


def _it2i0k0_jvp(x_dot: Array, x: Array) -> Any:
    return quotient(x_dot * (special.i0(x) - 1), x), x_dot * (-special.k0(x) / x)


@rule(special.it2i0k0, jvp=_it2i0k0_jvp, samples=_POSITIVE, infer=_several, gives=(tuple,), real_only=True)
def it2i0k0(z_bar: Any, x: Array) -> Array:
    u = divisor(x, z_bar[1])
    return quotient(z_bar[0] * (special.i0(x) - 1), x) - z_bar[1] * special.k0(u) / u


@elementwise(special.itstruve0, samples=_POSITIVE, real_only=True)
def itstruve0(x: Array) -> Array:
    return special.struve(np.zeros_like(x), x)


@elementwise(special.itmodstruve0, samples=_POSITIVE, real_only=True)
def itmodstruve0(x: Array) -> Array:
    return special.modstruve(np.zeros_like(x), x)


@elementwise(special.it2struve0, samples=_POSITIVE, real_only=True)
def it2struve0(x: Array) -> Array:
    return -special.struve(np.zeros_like(x), x) / x


def _airye_jvp(x_dot: Array, z: Any, x: Array) -> Any:
    root = np.sqrt(np.maximum(x, 0))
    first, second = z[1] + root * z[0], x * z[0] + root * z[1]
    return first * x_dot, second * x_dot, (z[3] - root * z[2]) * x_dot, (x * z[2] - root * z[3]) * x_dot


# Of negative numbers there are no scaled Ai.
@rule(special.airye, jvp=_airye_jvp, samples=_POSITIVE, infer=_several, gives=(tuple,), real_only=True)
def airye(z: Any, z_bar: Any, x: Array) -> Array:
    root = np.sqrt(np.maximum(x, 0))
    first, second = np.where(np.less(x, 0), 0, z[0])[()], np.where(np.less(x, 0), 0, z[1])[()]
    of_ai = z_bar[0] * (second + root * first) + z_bar[1] * (x * first + root * second)
    return of_ai + z_bar[2] * (z[3] - root * z[2]) + z_bar[3] * (x * z[2] - root * z[3])


@elementwise(special.elliprg, samples=between((0.3, 2.2), (0.3, 2.2), (0.3, 2.2)), real_only=True)
def elliprg(x: Array, y: Array, w: Array) -> tuple[Array, Array, Array]:
    return (
        0.25 * special.elliprf(x, y, w) - x * special.elliprd(y, w, x + np.equal(x, 0)) / 12,
        0.25 * special.elliprf(x, y, w) - y * special.elliprd(x, w, y + np.equal(y, 0)) / 12,
        0.25 * special.elliprf(x, y, w) - w * special.elliprd(x, y, w + np.equal(w, 0)) / 12,
    )
