"""Rules of densities of kernels: what models of them compute with, and those that are constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from s2sad.ops.points import numbers
from s2sad.ops.spec import Function, Sample, linear, rule, sample
from s2sad.runtime.scipy.densities import density_adjoint, density_tangent, kde_points

Array = Any


@linear(
    kde_points,
    wrt=["points"],
    result="maybe_view",
    samples=lambda: [sample(numbers(2, 3), 2), sample(numbers(4), 1), sample(numbers(3), 3), sample(0.4, 1)],
    dtype="unknown",
)
def kde_points_rule(z_bar: Array, points: Array, dimensions: int) -> Array:
    return np.reshape(z_bar, np.shape(points))


def _densities() -> Sequence[Sample]:
    row, columns = stats.gaussian_kde(numbers(7)), stats.gaussian_kde(numbers(2, 9), 0.6, np.arange(1.0, 10.0))
    return [
        sample(row, numbers(4, seed=2)),
        sample(row, 0.3),
        sample(columns, numbers(2, 3)),
        sample(columns, numbers(2)),
    ]


def _density(function: Function, name: str, logarithmic: bool) -> None:
    def log_jvp(x_dot: Array, self: Any, x: Array) -> Array:
        return density_tangent(x_dot, self, x, True)

    def plain_jvp(x_dot: Array, self: Any, x: Array) -> Array:
        return density_tangent(x_dot, self, x, False)

    def logarithm(z_bar: Array, self: Any, x: Array) -> Array:
        return density_adjoint(z_bar, self, x, True)

    def plain(z_bar: Array, self: Any, x: Array) -> Array:
        return density_adjoint(z_bar, self, x, False)

    rule(
        function,
        name=f"scipy.stats.gaussian_kde.{name}",
        wrt=["x"],
        jvp=log_jvp if logarithmic else plain_jvp,
        samples=_densities,
        dtype="unknown",
        calls=(),
        aliases={"points": "x"},
    )(logarithm if logarithmic else plain)


_density(stats.gaussian_kde.evaluate, "evaluate", False)
_density(stats.gaussian_kde.pdf, "pdf", False)
_density(stats.gaussian_kde.logpdf, "logpdf", True)
