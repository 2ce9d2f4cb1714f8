"""Rules of ``scipy.special``: parameters of distributions at which a probability is reached, and limits of distances.

Each is the root of a distribution function by one of its parameters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2sad.ops.scipy.points import at, between, both
from s2sad.ops.spec import elementwise
from s2sad.runtime.scipy.distances import kolmogorov_derivative
from s2sad.runtime.scipy.incomplete import betainc_da, betainc_db, gammainc_da
from s2sad.runtime.scipy_special import beta_density, gamma_density

Array = Any

_PROBABILITY = (0.2, 0.8)
_SIDE = (0.7, 2.5)
_STATISTICS = both(between((0.4, 1.9)), at(([0.3, 0.55, 1.0, 2.4],)))


@elementwise(special.gdtria, samples=between(_PROBABILITY, _SIDE, _SIDE))
def gdtria(z: Array, p: Array, b: Array, x: Array) -> Array:
    density = x * gamma_density(b, z * x)
    return 1 / density, -gammainc_da(b, z * x) / density, -z / x


@elementwise(special.gdtrib, samples=between(_SIDE, _PROBABILITY, _SIDE))
def gdtrib(z: Array, a: Array, p: Array, x: Array) -> Array:
    rate, density = gammainc_da(z, a * x), gamma_density(z, a * x)
    return -x * density / rate, 1 / rate, -a * density / rate


@elementwise(special.chdtriv, samples=between(_PROBABILITY, _SIDE))
def chdtriv(z: Array, p: Array, x: Array) -> Array:
    rate = gammainc_da(0.5 * z, 0.5 * x)
    return 2 / rate, -gamma_density(0.5 * z, 0.5 * x) / rate


@elementwise(special.pdtrik, samples=between((0.3, 0.8), (1.5, 4.0)))
def pdtrik(z: Array, p: Array, m: Array) -> Array:
    rate = gammainc_da(z + 1, m)
    return -1 / rate, -gamma_density(z + 1, m) / rate


@elementwise(special.btdtria, samples=between(_PROBABILITY, _SIDE, _PROBABILITY))
def btdtria(z: Array, p: Array, b: Array, x: Array) -> Array:
    rate = betainc_da(z, b, x)
    return 1 / rate, -betainc_db(z, b, x) / rate, -beta_density(z, b, x) / rate


@elementwise(special.btdtrib, samples=between(_SIDE, _PROBABILITY, _PROBABILITY))
def btdtrib(z: Array, a: Array, p: Array, x: Array) -> Array:
    rate = betainc_db(a, z, x)
    return -betainc_da(a, z, x) / rate, 1 / rate, -beta_density(a, z, x) / rate


@elementwise(special.nrdtrimn, samples=between(_PROBABILITY, _SIDE, _SIDE))
def nrdtrimn(z: Array, p: Array, std: Array, x: Array) -> Array:
    place = special.ndtri(p + 0 * z)
    return -std * math.sqrt(2 * math.pi) * np.exp(0.5 * place**2), -place, 1


@elementwise(special.nrdtrisd, samples=between((0.1, 0.6), (0.6, 0.9), (0.9, 2.5)))
def nrdtrisd(z: Array, mn: Array, p: Array, x: Array) -> Array:
    place = special.ndtri(p + 0 * z)
    return -1 / place, -z * math.sqrt(2 * math.pi) * np.exp(0.5 * place**2) / place, 1 / place


# --- the largest distance of two distribution functions


@elementwise(special.kolmogorov, samples=_STATISTICS)
def kolmogorov(y: Array) -> Array:
    return kolmogorov_derivative(y, 1)


@elementwise(special.kolmogi, samples=between((0.05, 0.95)))
def kolmogi(z: Array, p: Array) -> Array:
    return 1 / kolmogorov_derivative(z, 1)


@elementwise(kolmogorov_derivative, wrt=["y"], steps={"order"}, samples=at(([0.4, 0.7, 1.2], 1), (1.1, 2)))
def kolmogorov_derivative_rule(y: Array, order: int) -> Array:
    return kolmogorov_derivative(y, order + 1)
