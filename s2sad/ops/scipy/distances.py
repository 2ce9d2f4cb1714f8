"""Rules of ``scipy.spatial.distance``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import distance

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, linear, operation, rule, sample
from s2sad.runtime.scipy.metrics import (
    cdist_adjoints,
    cdist_tangent,
    pdist_adjoint,
    pdist_tangent,
    squareform_adjoint,
)

Array = Any
_METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine")


def _clouds() -> Sequence[Sample]:
    x, y = numbers(4, 3), numbers(2, 3, seed=1)
    points = [sample(x, y, m) for m in _METRICS]
    return [*points, sample(x, y), sample(x, y, "minkowski", p=3), sample(numbers(2, 1), numbers(3, 1))]


def _cdist_jvp(
    XA_dot: Array, XB_dot: Array, z: Array, XA: Array, XB: Array, metric: Any = "euclidean", *, p: Any = None
) -> Array:
    return cdist_tangent(XA_dot, XB_dot, z, XA, XB, metric, p)


@rule(
    distance.cdist,
    wrt=["XA", "XB"],
    jvp=_cdist_jvp,
    samples=_clouds,
    infer=infer.scipy.pairs,
    dtype="unknown",
    real_only=True,
)
def cdist(
    z: Array, z_bar: Array, XA: Array, XB: Array, metric: Any = "euclidean", *, p: Any = None
) -> tuple[Array, Array]:
    XA_bar, XB_bar = cdist_adjoints(z_bar, z, XA, XB, metric, p)
    return XA_bar, XB_bar


def _cloud() -> Sequence[Sample]:
    x = numbers(4, 3, seed=4)
    points = [sample(x, m) for m in _METRICS]
    return [*points, sample(x), sample(x, "minkowski", p=1.5), sample(numbers(1, 2)), sample(numbers(3, 1))]


def _pdist_jvp(X_dot: Array, z: Array, X: Array, metric: Any = "euclidean", *, p: Any = None) -> Array:
    return pdist_tangent(X_dot, z, X, metric, p)


@rule(
    distance.pdist,
    wrt=["X"],
    jvp=_pdist_jvp,
    samples=_cloud,
    infer=infer.scipy.condensed,
    dtype="unknown",
    real_only=True,
)
def pdist(z: Array, z_bar: Array, X: Array, metric: Any = "euclidean", *, p: Any = None) -> Array:
    return pdist_adjoint(z_bar, z, X, metric, p)


def _forms() -> Sequence[Sample]:
    a = numbers(4, 4)
    return [sample(numbers(6)), sample(numbers(1)), sample(np.triu(a, 1), "no", False), sample(a, checks=False)]


@linear(distance.squareform, wrt=["X"], samples=_forms, infer=infer.scipy.square_form, dtype="unknown")
def squareform(z_bar: Array, X: Array, force: str = "no", checks: bool = True) -> Array:
    return squareform_adjoint(z_bar, X)


#: What to do instead of differentiating a function of ``scipy.spatial.distance``.
REFUSED = {
    "euclidean": "use np.linalg.norm(u - v)",
    "sqeuclidean": "use np.sum((u - v) ** 2)",
    "cityblock": "use np.sum(np.abs(u - v))",
    "chebyshev": "use np.max(np.abs(u - v))",
    "minkowski": "use np.linalg.norm(u - v, p)",
    "cosine": "use 1 - u @ v / (np.linalg.norm(u) * np.linalg.norm(v))",
    "correlation": "subtract the means, then use 1 - u @ v / (np.linalg.norm(u) * np.linalg.norm(v))",
    "braycurtis": "use np.sum(np.abs(u - v)) / np.sum(np.abs(u + v))",
    "canberra": "use np.sum(np.abs(u - v) / (np.abs(u) + np.abs(v)))",
    "mahalanobis": "use np.sqrt((u - v) @ VI @ (u - v))",
    "seuclidean": "use np.sqrt(np.sum((u - v) ** 2 / V))",
    "jensenshannon": "write it with scipy.special.rel_entr",
    "directed_hausdorff": "use np.max(np.min(cdist(u, v), axis=1))",
}

for _name, _text in REFUSED.items():
    operation(getattr(distance, _name), remedy=_text)
