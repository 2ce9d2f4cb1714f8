"""Rules of incomplete gamma and beta functions and of their inverses, by all of their arguments.

By the shape parameters there is no closed form: `s2sad.runtime.scipy.incomplete` has numbers, whose derivatives by the
shape parameters are refused.
"""

from __future__ import annotations

from typing import Any

from scipy import special

from s2sad.ops.scipy.points import between, both, of
from s2sad.ops.spec import elementwise
from s2sad.runtime.scipy.incomplete import (
    betainc_da,
    betainc_dadx,
    betainc_db,
    betainc_dbdx,
    gammainc_da,
    gammainc_dadx,
)
from s2sad.runtime.scipy_special import beta_density, gamma_density

Array = Any

_SHAPE = (0.6, 3.7)
_GAMMAS = both(of([0.7, 1.0, 3.5], between((0.2, 4.0))), between(_SHAPE, (0.2, 6.0)))
_GAMMA_QUANTILES = both(of([0.7, 1.0, 3.5], between((0.1, 0.9))), between(_SHAPE, (0.1, 0.9)))
_BETAS = both(of([(0.7, 1.3), (2.0, 1.0), (1.0, 3.5)], between((0.03, 0.97))), between(_SHAPE, _SHAPE, (0.05, 0.95)))
_BETA_QUANTILES = both(of([(0.7, 1.3), (2.0, 1.0)], between((0.2, 0.8))), between(_SHAPE, _SHAPE, (0.2, 0.8)))


@elementwise(special.gammainc, samples=_GAMMAS)
def gammainc(a: Array, x: Array) -> Array:
    return gammainc_da(a, x), gamma_density(a, x)


@elementwise(special.gammaincc, samples=_GAMMAS)
def gammaincc(a: Array, x: Array) -> Array:
    return -gammainc_da(a, x), -gamma_density(a, x)


@elementwise(special.gammaincinv, samples=_GAMMA_QUANTILES)
def gammaincinv(z: Array, a: Array, y: Array) -> Array:
    return -gammainc_da(a, z) / gamma_density(a, z), 1 / gamma_density(a, z)


@elementwise(special.gammainccinv, samples=_GAMMA_QUANTILES)
def gammainccinv(z: Array, a: Array, y: Array) -> Array:
    return -gammainc_da(a, z) / gamma_density(a, z), -1 / gamma_density(a, z)


@elementwise(special.betainc, samples=_BETAS)
def betainc(a: Array, b: Array, x: Array) -> Array:
    return betainc_da(a, b, x), betainc_db(a, b, x), beta_density(a, b, x)


@elementwise(special.betaincc, samples=_BETAS)
def betaincc(a: Array, b: Array, x: Array) -> Array:
    return -betainc_da(a, b, x), -betainc_db(a, b, x), -beta_density(a, b, x)


@elementwise(special.betaincinv, samples=_BETA_QUANTILES)
def betaincinv(z: Array, a: Array, b: Array, y: Array) -> Array:
    density = beta_density(a, b, z)
    return -betainc_da(a, b, z) / density, -betainc_db(a, b, z) / density, 1 / density


@elementwise(special.betainccinv, samples=_BETA_QUANTILES)
def betainccinv(z: Array, a: Array, b: Array, y: Array) -> Array:
    density = beta_density(a, b, z)
    return -betainc_da(a, b, z) / density, -betainc_db(a, b, z) / density, -1 / density


# --- their derivatives by shape parameters, by the other ones and by the point ---


@elementwise(gammainc_da, wrt=["x"], samples=of([0.7, 1.0, 3.5], between((0.2, 6.0))))
def gammainc_da_rule(a: Array, x: Array) -> Array:
    return gammainc_dadx(a, x)


@elementwise(betainc_da, wrt=["x"], samples=of([(0.7, 1.3), (2.0, 1.0), (1.0, 3.5)], between((0.05, 0.95))))
def betainc_da_rule(a: Array, b: Array, x: Array) -> Array:
    return betainc_dadx(a, b, x)


@elementwise(betainc_db, wrt=["x"], samples=of([(0.7, 1.3), (2.0, 1.0), (1.0, 3.5)], between((0.05, 0.95))))
def betainc_db_rule(a: Array, b: Array, x: Array) -> Array:
    return betainc_dbdx(a, b, x)
