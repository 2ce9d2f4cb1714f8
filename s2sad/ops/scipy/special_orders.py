"""Rules of ``scipy.special``: derivatives of Bessel functions, Kelvin functions, and functions in degrees.

Sources: Abramowitz and Stegun 9.9 and 8.5; for elliptic integrals in Carlson's form the DLMF 19.18.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2sad.ops import infer, sampling
from s2sad.ops.scipy.points import at, between, both, of
from s2sad.ops.spec import Function, elementwise
from s2sad.runtime.edges import quotient

Array = Any

_COMPLEX = at((0.7 + 0.4j,), ([1.5 + 0.2j, 0.3 - 0.9j],))
_ORDERS = [0, 1, 2, 3.5]
_INSIDE = between((-0.9, 0.9))

# --- Bessel functions: derivatives of any order, and those that are scaled


def _derivative(function: Function, is_complex: bool) -> None:
    # SciPy calls the point z, and a rule the result.
    @elementwise(
        function,
        wrt=["x"],
        samples=both(of(_ORDERS, sampling.POSITIVE), at((1, [0.7, 1.9], 2), (2.5, 1.3, 0), (1, [0.4 + 0.3j, 1.2], 3))),
        aliases={"z": "x"},
        infer=infer.scipy.complex_numbers if is_complex else infer.common.unknown,
        dtype="unknown",
        complex_adjoints=True,
    )
    def derivative(v: Array, x: Array, n: int = 1) -> Array:
        return function(v, x, n + 1)


for _name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"):
    _derivative(getattr(special, _name), _name in ("h1vp", "h2vp"))


@elementwise(special.hankel1e, wrt=["x"], samples=of(_ORDERS, both(sampling.POSITIVE, _COMPLEX)), complex_adjoints=True)
def hankel1e(z: Array, v: Array, x: Array) -> Array:
    return 0.5 * (special.hankel1e(v - 1.0, x) - special.hankel1e(v + 1, x)) - 1j * z


@elementwise(special.hankel2e, wrt=["x"], samples=of(_ORDERS, both(sampling.POSITIVE, _COMPLEX)), complex_adjoints=True)
def hankel2e(z: Array, v: Array, x: Array) -> Array:
    return 0.5 * (special.hankel2e(v - 1.0, x) - special.hankel2e(v + 1, x)) + 1j * z


@elementwise(special.wright_bessel, wrt=["x"], samples=of([(1.0, 1.1), (0.5, 2.0)], between((0.2, 3.0))))
def wright_bessel(a: Array, b: Array, x: Array) -> Array:
    return special.wright_bessel(a, a + b, x)


# --- Kelvin functions: the real and the imaginary parts of Bessel functions on a diagonal


@elementwise(special.ber, samples=sampling.REAL)
def ber(x: Array) -> Array:
    return special.berp(x)


@elementwise(special.bei, samples=sampling.REAL)
def bei(x: Array) -> Array:
    return special.beip(x)


@elementwise(special.ker, samples=sampling.POSITIVE)
def ker(x: Array) -> Array:
    return special.kerp(x)


@elementwise(special.kei, samples=sampling.POSITIVE)
def kei(x: Array) -> Array:
    return special.keip(x)


@elementwise(special.berp, samples=sampling.REAL)
def berp(z: Array, x: Array) -> Array:
    return -special.bei(x) - quotient(z, x)


@elementwise(special.beip, samples=sampling.REAL)
def beip(z: Array, x: Array) -> Array:
    return special.ber(x) - np.where(np.equal(x, 0), 0.5, quotient(z, x))


@elementwise(special.kerp, samples=sampling.POSITIVE)
def kerp(z: Array, x: Array) -> Array:
    return -special.kei(x) - z / x


@elementwise(special.keip, samples=sampling.POSITIVE)
def keip(z: Array, x: Array) -> Array:
    return special.ker(x) - z / x


# --- associated Legendre functions


@elementwise(special.lpmv, wrt=["x"], samples=of([(0, 1.0), (1, 3.0), (2, 2.0), (1, 2.5)], _INSIDE))
def lpmv(z: Array, m: Array, v: Array, x: Array) -> Array:
    return (v * x * z - (v + m) * special.lpmv(m, v - 1.0, x)) / (x**2 - 1)


# --- symmetric elliptic integrals

_SIDES = (0.4, 2.5)


@elementwise(special.elliprf, samples=between(_SIDES, _SIDES, _SIDES))
def elliprf(x: Array, y: Array, w: Array) -> Array:
    return (
        -special.elliprd(y, w, x) / 6,
        -special.elliprd(x, w, y) / 6,
        -special.elliprd(x, y, w) / 6,
    )


@elementwise(special.elliprc, samples=between(_SIDES, _SIDES))
def elliprc(x: Array, y: Array) -> Array:
    return -special.elliprd(y, y, x) / 6, -special.elliprd(x, y, y) / 3


# --- in degrees


@elementwise(special.sindg, samples=between((-200.0, 200.0)))
def sindg(x: Array) -> Array:
    return math.pi / 180 * special.cosdg(x)


@elementwise(special.cosdg, samples=between((-200.0, 200.0)))
def cosdg(x: Array) -> Array:
    return -math.pi / 180 * special.sindg(x)


@elementwise(special.tandg, samples=between((-80.0, 80.0)))
def tandg(z: Array, x: Array) -> Array:
    return math.pi / 180 * (1 + z**2)


@elementwise(special.cotdg, samples=between((10.0, 170.0)))
def cotdg(z: Array, x: Array) -> Array:
    return -math.pi / 180 * (1 + z**2)


# --- counts


@elementwise(
    special.perm,
    wrt=["N"],
    samples=at((5.5, 2), ([4.5, 6.0, 7.2], 2.0), ([[5.1], [6.3]], [1.0, 2.5, 3.0]), (np.float64(4.2), 1)),
    dtype="unknown",
)
def perm(z: Array, N: Array, k: Array, exact: bool = False) -> Array:
    return z * (special.digamma(N + 1) - special.digamma(N - k + 1))
