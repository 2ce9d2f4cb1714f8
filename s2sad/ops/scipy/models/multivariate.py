"""The multivariate t-distribution, and intervals of univariate distributions, of ``scipy.stats``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from s2sad.ops.models import model
from s2sad.ops.scipy.distributions import CONTINUOUS


@model(stats.multivariate_t.logpdf)
def logpdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
    matrix = np.asarray(1.0 if shape is None else shape)
    if loc is None:
        centre = np.zeros(np.shape(matrix)[0] if np.ndim(matrix) == 2 else 1)
    else:
        centre = np.reshape(loc, -1)
    n = np.size(centre)
    if np.ndim(matrix) < 2:
        matrix = np.broadcast_to(matrix, (n,)) * np.eye(n)
    points = np.asarray(x)
    if np.ndim(points) == 0 or (np.ndim(points) == 1 and n == 1):
        points = np.expand_dims(points, -1)
    factor = np.linalg.cholesky(matrix)
    rows = np.linalg.solve(factor, np.reshape(points - centre, (-1, n)).T)
    square = np.reshape(np.sum(rows**2, axis=0), np.shape(points)[:-1])
    if df == np.inf:
        scale, falling = -0.5 * n * np.log(2 * np.pi), 0.5 * square
    else:
        half = 0.5 * (df + n)
        scale = special.gammaln(half) - special.gammaln(0.5 * df) - 0.5 * n * np.log(df * np.pi)
        falling = half * np.log1p(square / df)
    return 1.0 * np.squeeze(scale - np.sum(np.log(np.diag(factor))) - falling)


@model(stats.multivariate_t.pdf)
def pdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: Any = False) -> Any:
    return np.exp(stats.multivariate_t.logpdf(x, loc, shape, df))


def _declare(name: str) -> None:
    distribution = getattr(stats, name)

    @model(distribution.interval)
    def interval(confidence: Any, *args: Any, **kwds: Any) -> Any:
        tail = (1.0 - np.asarray(confidence)) / 2
        return distribution.ppf(tail, *args, **kwds), distribution.ppf(1 - tail, *args, **kwds)


for _name in CONTINUOUS:
    _declare(_name)
