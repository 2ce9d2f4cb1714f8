"""Rules of the multivariate distributions of ``scipy.stats``: the normal and the t distribution, and Dirichlet's.

SciPy reads the lower triangle of a covariance matrix, so the gradient is zero above the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from s2sad.ops.sampling import spread
from s2sad.ops.spec import Sample, rule, sample
from s2sad.runtime.scipy_stats import (
    dirichlet_adjoints,
    dirichlet_tangent,
    normal_adjoints,
    normal_tangent,
    student_adjoints,
    student_tangent,
)

Array = Any


def _normal_samples() -> Sequence[Sample]:
    x, mean = spread((4, 3)), spread((3,), -0.5, 0.5)
    cov = spread((3, 3), -0.4, 0.4) + 2 * np.eye(3)
    return [
        sample(x[0]),
        sample(x, mean),
        sample(x[0], cov=np.array([[1.7]])),
        sample(x, mean, cov),
        sample(x[0], mean, cov),
        sample(x.reshape(2, 2, 3), mean=mean, cov=cov),
        sample(x, cov=cov),
        sample(x, mean, 1.7),
        sample(x, mean, np.array([1.3, 0.8, 2.1])),
        sample(x, None, cov),
        sample(spread((4,)), 0.3, 1.7),
        sample(0.7, 0.3, 1.7),
        sample(x, mean, cov, allow_singular=False),
    ]


def _log_normal_jvp(
    x_dot: Array, mean_dot: Array, cov_dot: Array, z: Array, x: Array, mean: Array, cov: Array
) -> Array:
    return normal_tangent(x_dot, mean_dot, cov_dot, z, x, mean, cov)


@rule(
    stats.multivariate_normal.logpdf,
    wrt=["x", "mean", "cov"],
    jvp=_log_normal_jvp,
    samples=_normal_samples,
    dtype="double",
    real_only=True,
)
def logpdf(z_bar: Array, x: Array, mean: Array = None, cov: Array = 1, allow_singular: bool = False) -> Array:
    x_bar, mean_bar, cov_bar = normal_adjoints(z_bar, x, mean, cov)
    return x_bar, mean_bar, cov_bar


def _normal_jvp(x_dot: Array, mean_dot: Array, cov_dot: Array, z: Array, x: Array, mean: Array, cov: Array) -> Array:
    return z * normal_tangent(x_dot, mean_dot, cov_dot, z, x, mean, cov)


@rule(
    stats.multivariate_normal.pdf,
    wrt=["x", "mean", "cov"],
    jvp=_normal_jvp,
    samples=_normal_samples,
    dtype="double",
    real_only=True,
)
def pdf(z: Array, z_bar: Array, x: Array, mean: Array = None, cov: Array = 1, allow_singular: bool = False) -> Array:
    x_bar, mean_bar, cov_bar = normal_adjoints(z_bar * z, x, mean, cov)
    return x_bar, mean_bar, cov_bar


def _student_samples() -> Sequence[Sample]:
    x, loc = spread((4, 3)), spread((3,), -0.5, 0.5)
    shape = spread((3, 3), -0.4, 0.4) + 2 * np.eye(3)
    return [
        sample(x, loc, shape, 2.5),
        sample(x[0], loc, shape, df=1.3),
        sample(x, loc, 1.7),
        sample(x[0], loc, np.array([1.3, 0.8, 2.1]), 4.0),
        sample(x, None, shape, 4.0),
        sample(spread((4,)), 0.3, 1.7, 2.5),
    ]


def _log_student_samples() -> Sequence[Sample]:
    x, loc = spread((4, 3)), spread((3,), -0.5, 0.5)
    return [*_student_samples(), sample(x, loc, 1.7, np.inf)]


def _log_student_jvp(
    x_dot: Array,
    loc_dot: Array,
    shape_dot: Array,
    df_dot: Array,
    z: Array,
    x: Array,
    loc: Array,
    shape: Array,
    df: Array,
) -> Array:
    return student_tangent(x_dot, loc_dot, shape_dot, df_dot, z, x, loc, shape, df)


@rule(
    stats.multivariate_t.logpdf,
    wrt=["x", "loc", "shape", "df"],
    jvp=_log_student_jvp,
    samples=_log_student_samples,
    dtype="double",
    real_only=True,
)
def student_logpdf(z_bar: Array, x: Array, loc: Array = None, shape: Array = 1, df: Array = 1) -> Array:
    x_bar, loc_bar, shape_bar, df_bar = student_adjoints(z_bar, x, loc, shape, df)
    return x_bar, loc_bar, shape_bar, df_bar


def _student_jvp(
    x_dot: Array,
    loc_dot: Array,
    shape_dot: Array,
    df_dot: Array,
    z: Array,
    x: Array,
    loc: Array,
    shape: Array,
    df: Array,
) -> Array:
    return z * student_tangent(x_dot, loc_dot, shape_dot, df_dot, z, x, loc, shape, df)


@rule(
    stats.multivariate_t.pdf,
    wrt=["x", "loc", "shape", "df"],
    jvp=_student_jvp,
    samples=_student_samples,
    dtype="double",
    real_only=True,
)
def student_pdf(
    z: Array, z_bar: Array, x: Array, loc: Array = None, shape: Array = 1, df: Array = 1, allow_singular: bool = False
) -> Array:
    x_bar, loc_bar, shape_bar, df_bar = student_adjoints(z_bar * z, x, loc, shape, df)
    return x_bar, loc_bar, shape_bar, df_bar


def _dirichlet_samples() -> Sequence[Sample]:
    x = np.array([[0.2, 0.5, 0.1], [0.3, 0.1, 0.25]])
    alpha = np.array([1.7, 0.8, 2.4])
    return [sample(x, alpha), sample(x[:, 0], alpha), sample(np.array([0.35]), alpha[:2])]


def _log_dirichlet_jvp(x_dot: Array, alpha_dot: Array, x: Array, alpha: Array) -> Array:
    return dirichlet_tangent(x_dot, alpha_dot, x, alpha)


@rule(
    stats.dirichlet.logpdf,
    wrt=["x", "alpha"],
    jvp=_log_dirichlet_jvp,
    samples=_dirichlet_samples,
    dtype="double",
    real_only=True,
)
def dirichlet_logpdf(z_bar: Array, x: Array, alpha: Array) -> Array:
    x_bar, alpha_bar = dirichlet_adjoints(z_bar, x, alpha)
    return x_bar, alpha_bar


def _dirichlet_jvp(x_dot: Array, alpha_dot: Array, z: Array, x: Array, alpha: Array) -> Array:
    return z * dirichlet_tangent(x_dot, alpha_dot, x, alpha)


@rule(
    stats.dirichlet.pdf,
    wrt=["x", "alpha"],
    jvp=_dirichlet_jvp,
    samples=_dirichlet_samples,
    dtype="double",
    real_only=True,
)
def dirichlet_pdf(z: Array, z_bar: Array, x: Array, alpha: Array) -> Array:
    x_bar, alpha_bar = dirichlet_adjoints(z_bar * z, x, alpha)
    return x_bar, alpha_bar
