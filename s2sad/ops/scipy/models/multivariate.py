"""Multivariate distributions of ``scipy.stats``, each a class of its parameters with the methods that have derivatives.

    wishart.logpdf(x, df, scale)      is      wishart(df, scale).logpdf(x)

SciPy reads the lower triangle of a matrix that it factors, so the gradient is zero above the diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, special, stats

from s2sad.ops.models import model
from s2sad.runtime.undefined import require_rule

_LOG_2 = np.log(2)
_LOG_PI = np.log(np.pi)


def square(a: Any, size: Any = 1) -> Any:
    """A matrix of the numbers on its diagonal, of one number for all of them, or of all its elements."""
    made = np.asarray(a, dtype=float)
    if np.ndim(made) == 0:
        return made * np.eye(size)
    return np.diag(made) if np.ndim(made) == 1 else made


def log_det(factor: Any) -> Any:
    """The logarithm of the determinant of a symmetric matrix, from its triangular factor."""
    return 2 * np.sum(np.log(np.diagonal(factor, 0, -2, -1)), axis=-1)


def points_of(x: Any, size: Any) -> Any:
    """The matrices at which a density is asked for, along the first axis; in SciPy they are along the last one."""
    made = np.asarray(x, dtype=float)
    if np.ndim(made) == 0:
        return np.expand_dims(made * np.eye(size), 0)
    if np.ndim(made) == 1:
        return np.reshape(made, (-1, 1, 1)) if size == 1 else np.expand_dims(np.diag(made), 0)
    require_rule(
        np.shape(made)[:2] == (size, size), "a matrix of another size than the scale has no density", "Mend its shape."
    )
    return np.expand_dims(made, 0) if np.ndim(made) == 2 else np.moveaxis(made, -1, 0)


class OfScale:
    """A distribution of matrices with degrees of freedom and a scale."""

    def __init__(self, df: Any, scale: Any, seed: Any = None) -> None:
        self.scale = square(1.0 if scale is None else scale)
        self.dim = np.shape(self.scale)[0]
        self.df = self.dim if df is None else df
        self.C = np.linalg.cholesky(self.scale)
        self.log_det_scale = log_det(self.C)

    def logpdf(self, x: Any) -> Any:
        raise NotImplementedError

    def pdf(self, x: Any) -> Any:
        return np.exp(self.logpdf(x))


class Wishart(OfScale):
    def logpdf(self, x: Any) -> Any:
        factors = np.linalg.cholesky(points_of(x, self.dim))
        parts = linalg.solve_triangular(self.C, np.concatenate(tuple(factors), axis=1), lower=True)
        traces = np.sum(np.reshape(parts**2, (self.dim, -1, self.dim)), axis=(0, 2))
        normal = 0.5 * self.df * (self.dim * _LOG_2 + self.log_det_scale) + special.multigammaln(
            0.5 * self.df, self.dim
        )
        return np.squeeze(0.5 * (self.df - self.dim - 1) * log_det(factors) - 0.5 * traces - normal)[()]

    def mean(self) -> Any:
        return np.squeeze(self.df * self.scale)[()]

    def entropy(self) -> Any:
        rows = np.arange(1.0, self.dim + 1)
        mixed = (self.df - self.dim - 1) * np.sum(special.psi(0.5 * (self.df + 1 - rows)))
        sizes = (self.dim + 1) * (self.log_det_scale + self.dim * _LOG_2)
        return 0.5 * (sizes - mixed + self.df * self.dim) + special.multigammaln(0.5 * self.df, self.dim)


class InverseWishart(OfScale):
    def logpdf(self, x: Any) -> Any:
        factors = np.linalg.cholesky(points_of(x, self.dim))
        traces = np.sum(np.linalg.solve(factors, np.broadcast_to(self.C, np.shape(factors))) ** 2, axis=(1, 2))
        normal = 0.5 * self.df * (self.dim * _LOG_2 - self.log_det_scale) + special.multigammaln(
            0.5 * self.df, self.dim
        )
        return np.squeeze(-0.5 * (self.df + self.dim + 1) * log_det(factors) - 0.5 * traces - normal)[()]

    def mean(self) -> Any:
        require_rule(self.df > self.dim + 1, "with so few degrees of freedom there is no mean", "Raise df.")
        return np.squeeze(self.scale / (self.df - self.dim - 1))[()]

    def entropy(self) -> Any:
        mixed = (self.df + self.dim + 1) * np.sum(special.psi(0.5 * (self.df - self.dim + np.arange(1, self.dim + 1))))
        sizes = (self.dim + 1) * (self.log_det_scale - _LOG_2)
        return special.multigammaln(0.5 * self.df, self.dim) + 0.5 * (self.dim * self.df + sizes - mixed)


class MatrixNormal:
    def __init__(self, mean: Any = None, rowcov: Any = 1, colcov: Any = 1, seed: Any = None) -> None:
        size = (1, 1) if mean is None else np.shape(mean)
        self.rowcov, self.colcov = square(rowcov, size[0]), square(colcov, size[1])
        self.dims = np.shape(self.rowcov)[0], np.shape(self.colcov)[0]
        self.mean = np.zeros(self.dims) if mean is None else np.asarray(mean, dtype=float)
        self.rows, self.columns = np.linalg.cholesky(self.rowcov), np.linalg.cholesky(self.colcov)

    def log_size(self) -> Any:
        """The logarithm of the determinant of the covariance of all elements."""
        return self.dims[1] * log_det(self.rows) + self.dims[0] * log_det(self.columns)

    def logpdf(self, X: Any) -> Any:
        shifted = np.asarray(X, dtype=float) - self.mean
        by_rows = np.linalg.solve(self.rows, shifted)
        whole = np.linalg.solve(self.columns, np.swapaxes(by_rows, -1, -2))
        count = self.dims[0] * self.dims[1]
        squares = np.sum(whole**2, axis=(-2, -1))
        return np.squeeze(-0.5 * (count * (_LOG_2 + _LOG_PI) + self.log_size() + squares))[()]

    def pdf(self, X: Any) -> Any:
        return np.exp(self.logpdf(X))


class Multinomial:
    def __init__(self, n: Any, p: Any, seed: Any = None) -> None:
        self.n = n
        chances = np.asarray(p, dtype=float)
        first = chances[..., :-1]
        last = chances[..., -1:]
        eps = np.where(np.result_type(chances, np.float32) == np.float32, 1.1920929e-06, 2.220446049250313e-15)
        off = np.abs(1 - np.sum(chances, axis=-1, keepdims=True)) > eps
        self.p = np.concatenate((first, np.where(off, 1.0 - np.sum(first, axis=-1, keepdims=True), last)), axis=-1)

    def logpmf(self, x: Any) -> Any:
        counts = np.asarray(x)
        whole = np.sum(special.xlogy(counts, self.p) - special.gammaln(counts + 1), axis=-1)
        there = (np.sum(counts, axis=-1) == self.n) & np.all((counts >= 0) & (counts == np.floor(counts)), axis=-1)
        known = np.all((self.p >= 0) & (self.p <= 1), axis=-1) & (np.asarray(self.n) >= 0)
        found = np.where(there, special.gammaln(np.asarray(self.n) + 1) + whole, -np.inf)
        return np.where(known, found, np.nan)[()]

    def pmf(self, x: Any) -> Any:
        return np.exp(self.logpmf(x))


class DirichletMultinomial:
    def __init__(self, alpha: Any, n: Any, seed: Any = None) -> None:
        self.alpha, self.n = np.asarray(alpha), np.asarray(n)
        self.total = np.sum(self.alpha, axis=-1)

    def logpmf(self, x: Any) -> Any:
        counts = np.asarray(x)
        ends = special.gammaln(self.total) + special.gammaln(self.n + 1) - special.gammaln(self.n + self.total)
        parts = special.gammaln(counts + self.alpha) - special.gammaln(self.alpha) - special.gammaln(counts + 1.0)
        return np.where(self.n == np.sum(counts, axis=-1), ends + np.sum(parts, axis=-1), -np.inf)[()]

    def pmf(self, x: Any) -> Any:
        return np.exp(self.logpmf(x))

    def mean(self) -> Any:
        return np.expand_dims(self.n, -1) * self.alpha / np.expand_dims(self.total, -1)

    def var(self) -> Any:
        n, total = np.expand_dims(self.n, -1), np.expand_dims(self.total, -1)
        return n * self.alpha / total * (1 - self.alpha / total) * (n + total) / (1 + total)


class VonMisesFisher:
    def __init__(self, mu: Any = None, kappa: Any = 1, seed: Any = None) -> None:
        self.mu, self.kappa = np.asarray(mu), kappa

    def logpdf(self, x: Any) -> Any:
        half = 0.5 * np.size(self.mu)
        normal = (half - 1) * np.log(self.kappa) - half * (_LOG_2 + _LOG_PI)
        normal = normal - np.log(special.ive(half - 1, self.kappa)) - self.kappa
        return normal + self.kappa * np.sum(self.mu * np.asarray(x), axis=-1)

    def pdf(self, x: Any) -> Any:
        return np.exp(self.logpdf(x))


class NormalInverseGamma:
    def __init__(self, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1, seed: Any = None) -> None:
        self.mu, self.lmbda, self.a, self.b = np.asarray(mu), np.asarray(lmbda), np.asarray(a), np.asarray(b)

    def logpdf(self, x: Any, s2: Any) -> Any:
        normal = 0.5 * (np.log(self.lmbda) - np.log(2 * np.pi * np.asarray(s2)))
        gamma = self.a * np.log(self.b) - special.gammaln(self.a) - (self.a + 1) * np.log(s2)
        found = normal + gamma - (2 * self.b + self.lmbda * (np.asarray(x) - self.mu) ** 2) / (2 * np.asarray(s2))
        known = (self.lmbda > 0) & (self.a > 0) & (self.b > 0)
        return np.where(known, np.where(np.asarray(s2) <= 0, -np.inf, found), np.nan)[()]

    def pdf(self, x: Any, s2: Any) -> Any:
        return np.exp(self.logpdf(x, s2))


@model(stats.multivariate_normal.entropy)
def normal_entropy(mean: Any = None, cov: Any = 1) -> Any:
    whole = square(1.0 if cov is None else cov, 1 if mean is None else np.size(mean))
    size = np.shape(whole)[0]
    regular: Any = np.linalg.matrix_rank(whole) == size
    require_rule(regular, "the entropy of a degenerate normal distribution has no rule", "Leave out what is fixed.")
    return 0.5 * (size * (_LOG_2 + _LOG_PI + 1) + log_det(np.linalg.cholesky(whole)))


@model(stats.dirichlet.mean)
def dirichlet_mean(alpha: Any) -> Any:
    return np.asarray(alpha) / np.sum(alpha)


@model(stats.dirichlet.var)
def dirichlet_var(alpha: Any) -> Any:
    total = np.sum(alpha)
    return np.asarray(alpha) * (total - np.asarray(alpha)) / (total**2 * (total + 1))


@model(stats.dirichlet.entropy)
def dirichlet_entropy(alpha: Any) -> Any:
    a, total = np.asarray(alpha), np.sum(alpha)
    normal = np.sum(special.gammaln(a)) - special.gammaln(total)
    return normal + (total - np.size(a)) * special.psi(total) - np.sum((a - 1) * special.psi(a))


def _at_point(made: Any, method: Any) -> Any:
    def at_point(x: Any, *args: Any, **kwds: Any) -> Any:
        return method(made(*args, **kwds), x)

    def at_matrix(X: Any, *args: Any, **kwds: Any) -> Any:
        return method(made(*args, **kwds), X)

    def at_two(x: Any, s2: Any, *args: Any, **kwds: Any) -> Any:
        return method(made(*args, **kwds), x, s2)

    return {MatrixNormal: at_matrix, NormalInverseGamma: at_two}.get(made, at_point)


def _of_parameters(made: Any, method: Any) -> Any:
    def of_parameters(*args: Any, **kwds: Any) -> Any:
        return method(made(*args, **kwds))

    return of_parameters


def _declare(distribution: Any, made: Any, densities: str, moments: str = "") -> None:
    """Models of a distribution with parameters, and of its methods, by the class that has them."""
    model(distribution, given="anything")(made)
    for name in densities.split():
        model(getattr(distribution, name))(_at_point(made, getattr(made, name)))
    for name in moments.split():
        model(getattr(distribution, name))(_of_parameters(made, getattr(made, name)))


_declare(stats.wishart, Wishart, "logpdf pdf", "mean entropy")
_declare(stats.invwishart, InverseWishart, "logpdf pdf", "mean entropy")
_declare(stats.matrix_normal, MatrixNormal, "logpdf pdf")
_declare(stats.multinomial, Multinomial, "logpmf pmf")
_declare(stats.dirichlet_multinomial, DirichletMultinomial, "logpmf pmf", "mean var")
_declare(stats.vonmises_fisher, VonMisesFisher, "logpdf pdf")
_declare(stats.normal_inverse_gamma, NormalInverseGamma, "logpdf pdf")
