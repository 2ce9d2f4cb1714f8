"""Rules of ``scipy.special``: the logistic function and its relatives, the error function, the gamma function."""

from __future__ import annotations

from typing import Any

from scipy import special

from s2sad.ops import sampling
from s2sad.ops.spec import elementwise

Array = Any


@elementwise(special.expit, samples=sampling.REAL)
def expit(z: Array, x: Array) -> Array:
    return z * (1 - z)


@elementwise(special.log_expit, samples=sampling.REAL)
def log_expit(x: Array) -> Array:
    return special.expit(-x)


@elementwise(special.gammaln, samples=sampling.POSITIVE)
def gammaln(x: Array) -> Array:
    return special.digamma(x)
