"""Partial derivatives of the distributions of ``scipy.stats`` that take more than a formula.

Imported only where SciPy is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg, special, stats

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.incomplete import betainc_da, betainc_db
from s2sad.runtime.scipy_special import beta_density

Array = Any

_quiet = np.errstate(all="ignore")


@_quiet
def exp_difference(a: Array, b: Array) -> Array:
    """exp(a - b), and 0 where ``a`` is minus infinity: the hazard rate of a density without mass."""
    return np.where(np.isneginf(a), 0, np.exp(a - b))


@_quiet
def truncation_rate(x: Array, a: Array, b: Array) -> Array:
    """The density at ``x`` of the normal distribution truncated to [a, b], also far in a tail; at infinity 0."""
    flipped = np.where(np.greater(a, 0), -1, 1)
    low, high = np.where(flipped < 0, -b, a), np.where(flipped < 0, -a, b)
    # log(ndtr(high) - ndtr(low)), on the side where the logarithms do not vanish.
    mass = special.log_ndtr(high) + np.log1p(-np.exp(special.log_ndtr(low) - special.log_ndtr(high)))
    return np.where(np.isinf(x), 0, np.exp(-0.5 * x**2 - mass) / math.sqrt(2 * math.pi))


def t_ddf(u: Array, df: Array) -> Array:
    """The derivative of the logarithm of Student's density at ``u`` by the degrees of freedom."""
    shift = special.digamma(0.5 * (df + 1)) - special.digamma(0.5 * df)
    return 0.5 * (shift - 1 / df - np.log1p(u**2 / df) + (df + 1) * u**2 / (df * (df + u**2)))


def t_rate(u: Array, df: Array) -> Array:
    """The derivative of Student's distribution function at ``u`` by the degrees of freedom."""
    u = np.where(np.isinf(u), 0 * df, u)
    share = u**2 / (df + u**2)
    moved = np.sqrt(share) * (df / (df + u**2)) ** (0.5 * df - 1) / (special.beta(0.5 + 0 * df, 0.5 * df) * (df + u**2))
    return np.sign(u) * (0.25 * betainc_db(0.5, 0.5 * df, share) - 0.5 * moved)


def vonmises_rate(u: Array, kappa: Array) -> Array:
    """The derivative of von Mises' distribution function at ``u`` by the concentration, from its Fourier series."""
    bottom = special.i0e(kappa)
    mean = special.i1e(kappa) / bottom
    total = 0 * u * kappa
    for j in range(1, 30 + int(10 * np.sqrt(np.max(kappa, initial=0.0)))):
        around = 0.5 * (special.ive(j - 1, kappa) + special.ive(j + 1, kappa))
        total = total + np.sin(j * u) / j * (around - mean * special.ive(j, kappa)) / bottom
    return total / math.pi


def f_rate_n(u: Array, dfn: Array, dfd: Array) -> Array:
    """The derivative of Fisher's distribution function at ``u`` by the first degrees of freedom."""
    share = dfn * u / (dfd + dfn * u)
    moved = beta_density(0.5 * dfn, 0.5 * dfd, share) * u * dfd / (dfd + dfn * u) ** 2
    return 0.5 * betainc_da(0.5 * dfn, 0.5 * dfd, share) + moved


def f_rate_d(u: Array, dfn: Array, dfd: Array) -> Array:
    """The derivative of Fisher's distribution function at ``u`` by the second degrees of freedom."""
    share = dfn * u / (dfd + dfn * u)
    moved = beta_density(0.5 * dfn, 0.5 * dfd, share) * u * dfn / (dfd + dfn * u) ** 2
    return 0.5 * betainc_db(0.5 * dfn, 0.5 * dfd, share) - moved


def f_ddfn(u: Array, dfn: Array, dfd: Array) -> Array:
    """The derivative of the logarithm of Fisher's density at ``u`` by the first degrees of freedom."""
    whole = dfd + dfn * u
    shift = special.digamma(0.5 * (dfn + dfd)) - special.digamma(0.5 * dfn)
    return 0.5 * (np.log(dfn * u / whole) + 1 - (dfn + dfd) * u / whole + shift)


def f_ddfd(u: Array, dfn: Array, dfd: Array) -> Array:
    """The derivative of the logarithm of Fisher's density at ``u`` by the second degrees of freedom."""
    whole = dfd + dfn * u
    shift = special.digamma(0.5 * (dfn + dfd)) - special.digamma(0.5 * dfd)
    return 0.5 * (np.log(dfd / whole) + 1 - (dfn + dfd) / whole + shift)


@_quiet
def genextreme_power(u: Array, c: Array) -> Array:
    """(1 - c u)^(1 / c), and its limit exp(-u) for c = 0."""
    zero = np.equal(c, 0)
    return np.exp(np.where(zero, -u, np.log1p(-c * u) / np.where(zero, 1, c)))


# --- the multivariate normal distribution ---


def _deviations(x: Array, mean: Array, cov: Array) -> tuple[Array, Array]:
    """The points less the mean, a row for each, and the symmetric matrix that SciPy makes of ``cov``."""
    if isinstance(cov, stats.Covariance):
        message = "the density of a normal distribution has no derivative by a point if the covariance is an object"
        raise UndefinedDerivativeError(message, "Give the covariance as a matrix.")
    x, cov = np.asarray(x, float), np.asarray(1.0 if cov is None else cov, float)
    n = np.size(mean) if mean is not None else cov.shape[0] if cov.ndim == 2 else 1
    rows = x[:, None] if x.ndim == 1 and n == 1 else np.atleast_1d(x)
    if cov.ndim == 2:
        # SciPy reads the lower triangle.
        matrix = np.tril(cov) + np.tril(cov, -1).T
    else:
        matrix = np.diag(np.broadcast_to(cov, (n,)))
    rows = np.broadcast_to(rows, (*rows.shape[:-1], n))  # a point of one number has it in all places
    return rows - (0.0 if mean is None else np.reshape(mean, n)), matrix


def _factored(matrix: Array) -> Array:
    """The Cholesky factor of a covariance matrix."""
    try:
        return linalg.cho_factor(matrix, lower=True)
    except np.linalg.LinAlgError:
        message = "the density of a normal distribution with a singular covariance has no derivative"
        raise UndefinedDerivativeError(message, "Add a small multiple of the unit matrix to the covariance.") from None


def normal_adjoints(g: Array, x: Array, mean: Array, cov: Array, df: float = math.inf) -> tuple[Array, Array, Array]:
    """The adjoints of the point, the mean and the covariance, given that of the logarithm of the normal density.

    With ``df`` it is the density of the t distribution.
    """
    d, matrix = _deviations(x, mean, cov)
    factor = _factored(matrix)
    n = len(matrix)
    g = np.reshape(g, (-1, 1))
    y = linalg.cho_solve(factor, d.reshape(-1, n).T).T
    y_bar = g * _weights(d, y, df) * y
    x_bar = np.reshape(-y_bar if np.size(x) == y_bar.size else -np.sum(y_bar, 1), np.shape(x))
    mean_bar = 0.0 if mean is None else np.reshape(np.sum(y_bar, 0), np.shape(mean))
    s = 0.5 * (y_bar.T @ y - np.sum(g) * linalg.cho_solve(factor, np.eye(n)))
    ndim = np.ndim(1.0 if cov is None else cov)
    cov_bar = np.tril(2 * s) - np.diag(np.diag(s)) if ndim == 2 else np.diag(s) if ndim == 1 else np.trace(s)
    return x_bar, mean_bar, cov_bar


def normal_tangent(
    x_dot: Array, mean_dot: Array, cov_dot: Array, z: Array, x: Array, mean: Array, cov: Array, df: float = math.inf
) -> Array:
    """The tangent of ``z``, the logarithm of the normal density; with ``df`` that of the t distribution."""
    d, matrix = _deviations(x, mean, cov)
    factor = _factored(matrix)
    n = len(matrix)
    d_dot, _ = _deviations(x_dot, None if mean is None else mean_dot, matrix)
    _, matrix_dot = _deviations(x, mean, cov_dot if cov is not None else 0.0)
    y = linalg.cho_solve(factor, d.reshape(-1, n).T).T
    weights = _weights(d, y, df)[:, 0]
    rate = weights * np.sum(y * (0.5 * y @ matrix_dot - d_dot.reshape(-1, n)), 1)
    return np.reshape(rate - 0.5 * np.trace(linalg.cho_solve(factor, matrix_dot)), np.shape(z))


def _weights(d: Array, y: Array, df: float) -> Array:
    """What the derivatives of the t distribution are beside those of the normal one with this covariance."""
    n = y.shape[1]
    distance = np.sum(d.reshape(-1, n) * y, axis=1, keepdims=True)
    return np.ones_like(distance) if math.isinf(df) else (df + n) / (df + distance)


def student_rate(x: Array, loc: Array, shape: Array, df: float) -> Array:
    """The derivative of the logarithm of the density of the multivariate t distribution by ``df``, for each point."""
    d, matrix = _deviations(x, loc, shape)
    n = len(matrix)
    y = linalg.cho_solve(_factored(matrix), d.reshape(-1, n).T).T
    if math.isinf(df):
        return np.zeros(len(y))
    distance = np.sum(d.reshape(-1, n) * y, axis=1)
    constant = special.digamma(0.5 * (df + n)) - special.digamma(0.5 * df) - n / df
    return 0.5 * (constant - np.log1p(distance / df) + (df + n) * distance / (df * (df + distance)))


def student_adjoints(g: Array, x: Array, loc: Array, shape: Array, df: float) -> tuple[Array, Array, Array, Array]:
    """The adjoints of the parameters, given that of the logarithm of the density of the multivariate t distribution."""
    rate = student_rate(x, loc, shape, df)
    return (*normal_adjoints(g, x, loc, shape, df), np.sum(np.reshape(g, -1) * rate))


def student_tangent(
    x_dot: Array,
    loc_dot: Array,
    shape_dot: Array,
    df_dot: Array,
    z: Array,
    x: Array,
    loc: Array,
    shape: Array,
    df: float,
) -> Array:
    """The tangent of ``z``, the logarithm of the density of the multivariate t distribution."""
    rate = np.reshape(student_rate(x, loc, shape, df), np.shape(z))
    return normal_tangent(x_dot, loc_dot, shape_dot, z, x, loc, shape, df) + df_dot * rate


# --- Dirichlet's distribution ---


def _simplex(x: Array, alpha: Array) -> tuple[Array, Array]:
    """All shares, of which the last may be left out, and the parameters less 1 over them, in columns."""
    x, alpha = np.asarray(x, float), np.asarray(alpha, float)
    shares = x if len(x) == len(alpha) else np.concatenate([x, 1 - np.sum(x, 0, keepdims=True)])
    excess = np.reshape(alpha - 1, (-1,) + (1,) * (x.ndim - 1))
    with np.errstate(all="ignore"):
        return shares, np.where(excess == 0, 0, excess / shares)


def dirichlet_adjoints(g: Array, x: Array, alpha: Array) -> tuple[Array, Array]:
    """The adjoints of the shares and the parameters, given that of the logarithm of the density."""
    shares, ratio = _simplex(x, alpha)
    x_bar = g * (ratio if len(x) == len(alpha) else ratio[:-1] - ratio[-1])
    alpha = np.asarray(alpha, float)
    constant = special.digamma(np.sum(alpha)) - special.digamma(alpha)
    logs = np.reshape(special.xlogy(g, shares), (len(alpha), -1))
    return x_bar, np.sum(logs, 1) + np.sum(g) * constant


def dirichlet_tangent(x_dot: Array, alpha_dot: Array, x: Array, alpha: Array) -> Array:
    """The tangent of the logarithm of the density."""
    shares, ratio = _simplex(x, alpha)
    rates = ratio if len(x) == len(alpha) else ratio[:-1] - ratio[-1]
    alpha = np.asarray(alpha, float)
    constant = special.digamma(np.sum(alpha)) - special.digamma(alpha)
    return np.sum(rates * x_dot, 0) + np.tensordot(alpha_dot, np.log(shares), (0, 0)) + np.sum(alpha_dot * constant)
