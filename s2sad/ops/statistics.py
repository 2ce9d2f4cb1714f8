"""Rules of covariances, correlations, and histograms with weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, constant, rule, sample
from s2sad.runtime.linear import like
from s2sad.runtime.statistics import (
    as_points,
    boxes_adjoint,
    boxes_tangent,
    corrcoef_adjoint,
    corrcoef_tangent,
    cov_adjoint,
    cov_tangent,
    histogram_adjoint,
    histogram_tangent,
    no_motion,
)

Array = Any

constant(no_motion)

# --- covariances ---


def _covariances() -> Sequence[Sample]:
    m, w, f = numbers(3, 5), sampling.spread((5,), 0.2, 1.5), np.array([1, 2, 1, 3, 2])
    return [
        sample(m),
        sample(numbers(5)),
        sample(numbers(5), numbers(5, seed=1)),
        sample(m, numbers(2, 5)),
        sample(m, rowvar=False),
        sample(m.T, numbers(5, 2), False),
        sample(m, bias=True),
        sample(m, ddof=2),
        sample(m, fweights=f),
        sample(m, dtype=np.float64),
        sample(singles(2, 4), dtype=np.float64),
        sample(m, dtype=complex),
        sample(m, aweights=w),
        sample(m, aweights=w, ddof=0),
        sample(m, fweights=f, aweights=w, ddof=2),
        sample(complexes(2, 4)),
        sample(singles(2, 4)),
    ]


def _cov_jvp(
    m_dot: Array,
    y_dot: Array,
    aweights_dot: Array,
    m: Array,
    y: Array = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Array = None,
    *,
    dtype: Any = None,
) -> Array:
    return cov_tangent(m_dot, y_dot, aweights_dot, m, y, rowvar, bias, ddof, fweights, aweights)


@rule(
    np.cov,
    wrt=["m", "y", "aweights"],
    jvp=_cov_jvp,
    samples=_covariances,
    infer=infer.axes.covariances,
    dtype="double",
    steps=frozenset({"fweights"}),
)
def cov(
    z_bar: Array,
    m: Array,
    y: Array = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Array = None,
    *,
    dtype: Any = None,
) -> tuple[Array, Array, Array]:
    if y is None and fweights is None and aweights is None:
        alone = cov_adjoint(z_bar, m, None, rowvar, bias, ddof)
        return like(alone[0], m), 0.0, 0.0
    bars = cov_adjoint(z_bar, m, y, rowvar, bias, ddof, fweights, aweights)
    return like(bars[0], m), like(bars[1], y), like(bars[2], aweights)


def _correlations() -> Sequence[Sample]:
    m = numbers(3, 5)
    return [
        sample(m),
        sample(numbers(5), numbers(5, seed=1)),
        sample(m, numbers(2, 5)),
        sample(m, rowvar=False),
        sample(m, dtype=float),
        sample(numbers(5)),
        sample(complexes(2, 4)),
        sample(singles(2, 4)),
    ]


def _corrcoef_jvp(
    x_dot: Array, y_dot: Array, z: Array, x: Array, y: Array = None, rowvar: bool = True, *, dtype: Any = None
) -> Array:
    return corrcoef_tangent(x_dot, y_dot, z, x, y, rowvar)


@rule(
    np.corrcoef,
    wrt=["x", "y"],
    jvp=_corrcoef_jvp,
    samples=_correlations,
    infer=infer.axes.covariances,
    dtype="double",
)
def corrcoef(
    z: Array, z_bar: Array, x: Array, y: Array = None, rowvar: bool = True, *, dtype: Any = None
) -> tuple[Array, Array]:
    bars = corrcoef_adjoint(z_bar, z, x, y, rowvar)
    return like(bars[0], x), like(bars[1], y)


# --- histograms ---


def _histograms() -> Sequence[Sample]:
    a, w = np.array([0.3, 1.9, 0.8, 2.4, 1.1]), numbers(5)
    edges = np.array([0.0, 0.5, 1.0, 2.2])
    return [
        sample(a, 3),
        sample(a, edges, weights=w),
        sample(a, 3, weights=w),
        sample(a, 3, (0.0, 2.0), weights=w),
        sample(a, 3, weights=np.abs(w), density=True),
        sample(a, edges, density=True),
        sample(a, edges, density=True, weights=np.abs(w)),
        sample(a, [0.0, 1.0, 2.0]),
    ]


def _histogram_jvp(
    a_dot: Array,
    bins_dot: Array,
    weights_dot: Array,
    z: Any,
    a: Array,
    bins: Any,
    range: Any,
    density: Any,
    weights: Array,
) -> Any:
    return histogram_tangent(a_dot, bins_dot, weights_dot, z, a, bins, weights, density, range)


@rule(
    np.histogram,
    wrt=["a", "bins", "weights"],
    jvp=_histogram_jvp,
    samples=_histograms,
    infer=infer.several.histogram,
    dtype="unknown",
    result="unknown",
    gives=(tuple,),
)
def histogram(
    z: Any, z_bar: Any, a: Array, bins: Any = 10, range: Any = None, density: Any = None, weights: Array = None
) -> tuple[Array, Array, Array]:
    bars = histogram_adjoint(z_bar, z, a, bins, weights, density, range)
    return like(bars[0], a), like(bars[1], bins), like(bars[2], weights)


def _planes() -> Sequence[Sample]:
    x, y, w = np.array([0.3, 1.9, 0.8, 2.4, 1.1]), np.array([0.1, 0.9, 1.4, 2.0, 0.6]), numbers(5)
    edges = np.array([0.0, 0.5, 1.4, 2.0])
    return [
        sample(x, y, 3, weights=w),
        sample(x, y, [edges, 2], None, None, w),
        sample(x, y, (3, 2), [[0.0, 2.0], [0.0, 1.5]], weights=w),
        sample(x, y, 3, density=True, weights=np.abs(w)),
        sample(x, y, [edges, edges], density=True, weights=np.abs(w)),
    ]


def _plane_jvp(weights_dot: Array, z: Any, x: Array, y: Array, density: Any, weights: Array) -> Any:
    moved = boxes_tangent(weights_dot, z[0], z[1:], np.stack((x, y), axis=1), weights, density)
    return moved, np.zeros_like(z[1]), np.zeros_like(z[2])


@rule(
    np.histogram2d,
    wrt=["weights"],
    jvp=_plane_jvp,
    samples=_planes,
    infer=infer.several.plane,
    dtype="unknown",
    result="unknown",
    gives=(tuple,),
)
def histogram2d(
    z: Any,
    z_bar: Any,
    x: Array,
    y: Array,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Array = None,
) -> Array:
    return like(boxes_adjoint(z_bar[0], z[0], z[1:], np.stack((x, y), axis=1), weights, density), weights)


def _boxes() -> Sequence[Sample]:
    rows, w = np.abs(numbers(6, 3)), numbers(6, seed=1)
    columns = [rows[:, 0], rows[:, 1]]
    return [
        sample(rows, 2, weights=w),
        sample(columns, (2, 3), weights=w),
        sample(rows, [np.array([0.0, 0.5, 1.0])] * 3, density=True, weights=np.abs(w)),
    ]


def _boxes_jvp(weights_dot: Array, z: Any, sample: Any, density: Any, weights: Array) -> Any:
    moved = boxes_tangent(weights_dot, z[0], z[1], as_points(sample), weights, density)
    return moved, no_motion(z[1])


@rule(
    np.histogramdd,
    wrt=["weights"],
    jvp=_boxes_jvp,
    samples=_boxes,
    dtype="unknown",
    result="unknown",
    gives=(tuple,),
)
def histogramdd(
    z: Any, z_bar: Any, sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Array = None
) -> Array:
    return like(boxes_adjoint(z_bar[0], z[0], z[1], as_points(sample), weights, density), weights)
