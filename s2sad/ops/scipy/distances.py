"""Rules of ``scipy.spatial.distance``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import spatial
from scipy.spatial import distance

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, linear, operation, rule, sample
from s2sad.runtime.scipy.metrics import (
    cdist_adjoints,
    cdist_tangent,
    of_power,
    pair_adjoints,
    pair_tangent,
    pdist_adjoint,
    pdist_tangent,
    squareform_adjoint,
)

Array = Any
_INVERSE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 1.5]])
_METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine")


def _clouds() -> Sequence[Sample]:
    x, y = numbers(4, 3), numbers(2, 3, seed=1)
    points = [sample(x, y, m) for m in _METRICS]
    a, b = np.abs(x) + 0.1, np.abs(y) + 0.2
    scaled = [sample(x, y, "seuclidean", V=np.array([1.0, 2.0, 0.5])), sample(x, y, "mahalanobis", VI=_INVERSE)]
    whole = [sample(x, y, "correlation"), sample(x, y, "canberra"), sample(a, b, "braycurtis")]
    points += [*scaled, *whole, sample(a, b, "jensenshannon")]
    return [*points, sample(x, y), sample(x, y, "minkowski", p=3), sample(numbers(2, 1), numbers(3, 1))]


def _cdist_jvp(
    XA_dot: Array,
    XB_dot: Array,
    z: Array,
    XA: Array,
    XB: Array,
    metric: Any = "euclidean",
    *,
    p: Any = None,
    V: Any = None,
    VI: Any = None,
) -> Array:
    return cdist_tangent(XA_dot, XB_dot, z, XA, XB, metric, p, V, VI)


@rule(
    distance.cdist,
    wrt=["XA", "XB"],
    jvp=_cdist_jvp,
    samples=_clouds,
    infer=infer.scipy.pairs,
    dtype="double",
    real_only=True,
)
def cdist(
    z: Array,
    z_bar: Array,
    XA: Array,
    XB: Array,
    metric: Any = "euclidean",
    *,
    p: Any = None,
    V: Any = None,
    VI: Any = None,
) -> tuple[Array, Array]:
    XA_bar, XB_bar = cdist_adjoints(z_bar, z, XA, XB, metric, p, V, VI)
    return XA_bar, XB_bar


def _matrices() -> Sequence[Sample]:
    x, y = numbers(4, 3), numbers(2, 3, seed=1)
    return [
        sample(x, y),
        sample(x, y, 1),
        sample(x, y, p=np.inf),
        sample(x, y, 3),
        sample(x, y, 2, 5),
        sample(y, x, 2, 1),
    ]


def _matrix_jvp(x_dot: Array, y_dot: Array, z: Array, x: Array, y: Array, p: Any = 2) -> Array:
    return cdist_tangent(x_dot, y_dot, z, x, y, of_power(p), p)


@rule(
    spatial.distance_matrix,
    wrt=["x", "y"],
    jvp=_matrix_jvp,
    samples=_matrices,
    dtype="unknown",
    real_only=True,
)
def distance_matrix(
    z: Array, z_bar: Array, x: Array, y: Array, p: Any = 2, threshold: Any = 1000000
) -> tuple[Array, Array]:
    x_bar, y_bar = cdist_adjoints(z_bar, z, x, y, of_power(p), p)
    return x_bar, y_bar


def _cloud() -> Sequence[Sample]:
    x = numbers(4, 3, seed=4)
    points = [sample(x, m) for m in _METRICS]
    points += [sample(x, "correlation"), sample(x, "canberra"), sample(x, "seuclidean", V=np.array([1.0, 2.0, 0.5]))]
    return [*points, sample(x), sample(x, "minkowski", p=1.5), sample(numbers(1, 2)), sample(numbers(3, 1))]


def _pdist_jvp(
    X_dot: Array, z: Array, X: Array, metric: Any = "euclidean", *, p: Any = None, V: Any = None, VI: Any = None
) -> Array:
    return pdist_tangent(X_dot, z, X, metric, p, V, VI)


@rule(
    distance.pdist,
    wrt=["X"],
    jvp=_pdist_jvp,
    samples=_cloud,
    infer=infer.scipy.condensed,
    dtype="double",
    real_only=True,
)
def pdist(
    z: Array, z_bar: Array, X: Array, metric: Any = "euclidean", *, p: Any = None, V: Any = None, VI: Any = None
) -> Array:
    return pdist_adjoint(z_bar, z, X, metric, p, V, VI)


def _forms() -> Sequence[Sample]:
    a = numbers(4, 4)
    return [sample(numbers(6)), sample(numbers(1)), sample(np.triu(a, 1), "no", False), sample(a, checks=False)]


@linear(distance.squareform, wrt=["X"], samples=_forms, infer=infer.scipy.square_form, dtype="unknown")
def squareform(z_bar: Array, X: Array, force: str = "no", checks: bool = True) -> Array:
    return squareform_adjoint(z_bar, X)


# --- two vectors


def _vectors(*options: Any) -> Callable[[], Sequence[Sample]]:
    def points() -> Sequence[Sample]:
        u, v = np.abs(numbers(3)) + 0.1, np.abs(numbers(3, seed=1)) + 0.2
        return [sample(u, v, *options), sample(u, -2 * v, *options)]

    return points


def _declare(metric: str) -> None:
    """Declare a distance of two vectors that has no parameters."""

    def jvp(u_dot: Array, v_dot: Array, z: Array, u: Array, v: Array, w: Any = None) -> Array:
        return pair_tangent(u_dot, v_dot, z, u, v, metric, w=w)

    def vjp(z: Array, z_bar: Array, u: Array, v: Array, w: Any = None) -> tuple[Array, Array]:
        u_bar, v_bar = pair_adjoints(z_bar, z, u, v, metric, w=w)
        return u_bar, v_bar

    declared = rule(
        getattr(distance, metric),
        wrt=["u", "v"],
        jvp=jvp,
        samples=lambda: [*_vectors()(), *_vectors(np.array([0.7, 0.0, 1.9]))()],
        dtype="unknown",
        real_only=True,
        as_given=frozenset({"u", "v"}),
    )
    declared(vjp)


for _metric in (*_METRICS, "correlation", "canberra", "braycurtis"):
    if _metric != "minkowski":
        _declare(_metric)


def _minkowski_jvp(u_dot: Array, v_dot: Array, z: Array, u: Array, v: Array, p: Any = 2, w: Any = None) -> Array:
    return pair_tangent(u_dot, v_dot, z, u, v, of_power(p), p, w=w)


def _powers() -> Sequence[Sample]:
    w = np.array([0.7, 0.0, 1.9])
    return [s for p in ((), (3,), (1,), (np.inf,), (1.5, w), (1, w), (2, w), (np.inf, w)) for s in _vectors(*p)()]


@rule(
    distance.minkowski,
    wrt=["u", "v"],
    jvp=_minkowski_jvp,
    samples=_powers,
    dtype="unknown",
    real_only=True,
)
def minkowski(z: Array, z_bar: Array, u: Array, v: Array, p: Any = 2, w: Any = None) -> tuple[Array, Array]:
    u_bar, v_bar = pair_adjoints(z_bar, z, u, v, of_power(p), p, w=w)
    return u_bar, v_bar


def _mahalanobis_jvp(u_dot: Array, v_dot: Array, z: Array, u: Array, v: Array, VI: Array) -> Array:
    return pair_tangent(u_dot, v_dot, z, u, v, "mahalanobis", None, None, VI)


@rule(
    distance.mahalanobis,
    wrt=["u", "v"],
    jvp=_mahalanobis_jvp,
    samples=_vectors(_INVERSE),
    dtype="unknown",
    real_only=True,
)
def mahalanobis(z: Array, z_bar: Array, u: Array, v: Array, VI: Array) -> tuple[Array, Array]:
    u_bar, v_bar = pair_adjoints(z_bar, z, u, v, "mahalanobis", None, None, VI)
    return u_bar, v_bar


def _seuclidean_jvp(u_dot: Array, v_dot: Array, z: Array, u: Array, v: Array, V: Array) -> Array:
    return pair_tangent(u_dot, v_dot, z, u, v, "seuclidean", None, V)


@rule(
    distance.seuclidean,
    wrt=["u", "v"],
    jvp=_seuclidean_jvp,
    samples=_vectors(np.array([1.0, 2.0, 0.5])),
    dtype="unknown",
    real_only=True,
)
def seuclidean(z: Array, z_bar: Array, u: Array, v: Array, V: Array) -> tuple[Array, Array]:
    u_bar, v_bar = pair_adjoints(z_bar, z, u, v, "seuclidean", None, V)
    return u_bar, v_bar


#: What to do instead of differentiating a function of ``scipy.spatial.distance``.
REFUSED = {
    "directed_hausdorff": "use np.max(np.min(cdist(u, v), axis=1))",
}

for _name, _text in REFUSED.items():
    operation(getattr(distance, _name), remedy=_text)
