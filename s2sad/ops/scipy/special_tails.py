"""Rules of ``scipy.special``: distribution functions, their complements and their inverses.

They are the incomplete gamma and beta functions in other variables.  Counts are rounded down, as SciPy does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from s2sad.ops import sampling
from s2sad.ops.scipy.points import at, between, both, of
from s2sad.ops.spec import elementwise
from s2sad.runtime.scipy.incomplete import gammainc_da
from s2sad.runtime.scipy_special import beta_density, f_density, gamma_density, line_slopes, t_density
from s2sad.runtime.scipy_stats import f_rate_d, f_rate_n, t_rate

Array = Any

_PROBABILITY = (0.1, 0.9)
_T = both(of([1.0, 4.0, 2.5], between((-2.0, 2.0))), both(between((0.8, 5.0), (-2.0, 2.0)), of([3], sampling.REAL)))
_T_QUANTILES = both(of([1.0, 4.0, 2.5], between(_PROBABILITY)), between((0.8, 5.0), _PROBABILITY))
_CHI = both(of([1.0, 3.0, 4.5], between((0.3, 6.0))), between((0.8, 5.0), (0.3, 6.0)))
_CHI_QUANTILES = both(of([1.0, 4.5], between(_PROBABILITY)), between((0.8, 5.0), _PROBABILITY))
_F = both(of([(2.0, 5.0), (1.5, 7.0)], between((0.3, 3.0))), between((1.2, 4.0), (2.0, 7.0), (0.3, 3.0)))
_F_QUANTILES = both(of([(3.0, 4.0), (1.5, 7.0)], between(_PROBABILITY)), between((1.2, 4.0), (2.0, 7.0), _PROBABILITY))
_GAMMAS = between((0.5, 2.0), (0.7, 3.0), (0.3, 4.0))
_GAMMA_QUANTILES = between((0.5, 2.0), (0.7, 3.0), _PROBABILITY)
# In single precision SciPy warns of whole numbers, which it has as floats there.
_DOUBLES = at((0.3,), ([0.2, 0.6, 0.85],), ([[0.4], [0.7]],), (np.float64(0.55),))
_COUNTS = of([0.0, 2.0, 5.0], at((1.3,), ([0.7, 1.6, 4.5],), ([[2.4], [0.7]],), (np.float64(1.55),)))
_COUNT_QUANTILES = of([1, 4], _DOUBLES)
_SUCCESSES = of([(0.0, 4), (3.0, 7), (2.0, 5)], _DOUBLES)
_FAILURES = of([(0, 4), (3, 7), (2, 5)], between((0.1, 0.9)))


# --- Student's distribution


@elementwise(special.stdtr, samples=_T)
def stdtr(df: Array, t: Array) -> Array:
    return t_rate(t, df), t_density(df, t)


@elementwise(special.stdtrit, samples=_T_QUANTILES)
def stdtrit(z: Array, df: Array, p: Array) -> Array:
    density = t_density(df, z)
    return -t_rate(z, df) / density, 1 / density


# --- sums of squares, and their quotients


@elementwise(special.chdtr, samples=_CHI)
def chdtr(v: Array, x: Array) -> Array:
    return 0.5 * gammainc_da(0.5 * v, 0.5 * x), 0.5 * gamma_density(0.5 * v, 0.5 * x)


@elementwise(special.chdtrc, samples=_CHI)
def chdtrc(v: Array, x: Array) -> Array:
    return -0.5 * gammainc_da(0.5 * v, 0.5 * x), -0.5 * gamma_density(0.5 * v, 0.5 * x)


@elementwise(special.chdtri, samples=_CHI_QUANTILES)
def chdtri(z: Array, v: Array, p: Array) -> Array:
    density = gamma_density(0.5 * v, 0.5 * z)
    return -gammainc_da(0.5 * v, 0.5 * z) / density, -2 / density


@elementwise(special.fdtr, samples=_F)
def fdtr(dfn: Array, dfd: Array, x: Array) -> Array:
    return f_rate_n(x, dfn, dfd), f_rate_d(x, dfn, dfd), f_density(dfn, dfd, x)


@elementwise(special.fdtrc, samples=_F)
def fdtrc(dfn: Array, dfd: Array, x: Array) -> Array:
    return -f_rate_n(x, dfn, dfd), -f_rate_d(x, dfn, dfd), -f_density(dfn, dfd, x)


@elementwise(special.fdtri, samples=_F_QUANTILES)
def fdtri(z: Array, dfn: Array, dfd: Array, p: Array) -> Array:
    density = f_density(dfn, dfd, z)
    return -f_rate_n(z, dfn, dfd) / density, -f_rate_d(z, dfn, dfd) / density, 1 / density


# --- the gamma distribution


@elementwise(special.gdtr, samples=_GAMMAS)
def gdtr(a: Array, b: Array, x: Array) -> Array:
    density = gamma_density(b, a * x)
    return x * density, gammainc_da(b, a * x), a * density


@elementwise(special.gdtrc, samples=_GAMMAS)
def gdtrc(a: Array, b: Array, x: Array) -> Array:
    density = gamma_density(b, a * x)
    return -x * density, -gammainc_da(b, a * x), -a * density


@elementwise(special.gdtrix, samples=_GAMMA_QUANTILES)
def gdtrix(z: Array, a: Array, b: Array, p: Array) -> Array:
    density = a * gamma_density(b, a * z)
    return -z / a, -gammainc_da(b, a * z) / density, 1 / density


# --- counts


@elementwise(special.pdtr, wrt=["m"], samples=_COUNTS, steps={"k"})
def pdtr(k: Array, m: Array) -> Array:
    return -gamma_density(np.floor(k) + 1, m)


@elementwise(special.pdtrc, wrt=["m"], samples=_COUNTS, steps={"k"})
def pdtrc(k: Array, m: Array) -> Array:
    return gamma_density(np.floor(k) + 1, m)


@elementwise(special.pdtri, wrt=["y"], samples=_COUNT_QUANTILES)
def pdtri(z: Array, k: Array, y: Array) -> Array:
    return -1 / gamma_density(np.floor(k) + 1, z)


@elementwise(special.bdtr, wrt=["p"], samples=_SUCCESSES, steps={"k"})
def bdtr(k: Array, n: Array, p: Array) -> Array:
    return -beta_density(np.trunc(n) - np.floor(k), np.floor(k) + 1, 1 - p)


@elementwise(special.bdtrc, wrt=["p"], samples=_SUCCESSES, steps={"k"})
def bdtrc(k: Array, n: Array, p: Array) -> Array:
    return beta_density(np.trunc(n) - np.floor(k), np.floor(k) + 1, 1 - p)


@elementwise(special.bdtri, wrt=["y"], samples=_SUCCESSES)
def bdtri(z: Array, k: Array, n: Array, y: Array) -> Array:
    return -1 / beta_density(np.trunc(n) - np.floor(k), np.floor(k) + 1, 1 - z)


@elementwise(special.nbdtr, wrt=["p"], samples=_FAILURES)
def nbdtr(k: Array, n: Array, p: Array) -> Array:
    return beta_density(np.trunc(n), np.trunc(k) + 1, p)


@elementwise(special.nbdtrc, wrt=["p"], samples=_FAILURES)
def nbdtrc(k: Array, n: Array, p: Array) -> Array:
    return -beta_density(np.trunc(n), np.trunc(k) + 1, p)


@elementwise(special.nbdtri, wrt=["y"], samples=_FAILURES)
def nbdtri(z: Array, k: Array, n: Array, y: Array) -> Array:
    return 1 / beta_density(np.trunc(n), np.trunc(k) + 1, z)


# --- lines of spectra

_LINES = between((-1.5, 1.5), (0.5, 1.5), (0.3, 1.2))


@elementwise(special.voigt_profile, samples=_LINES)
def voigt_profile(x: Array, sigma: Array, gamma: Array) -> Array:
    slope, by_sigma = line_slopes(x, sigma, gamma)
    return np.real(slope), by_sigma, -np.imag(slope)
