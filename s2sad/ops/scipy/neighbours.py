"""Rules of ``scipy.spatial``: distances to the nearest points of a tree that is a constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import spatial

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, rule, sample
from s2sad.runtime.scipy.neighbours import query_adjoint, query_tangent

Array = Any


def _queries(cls: Any) -> Sequence[Sample]:
    tree, x = cls(numbers(7, 3)), numbers(4, 3, seed=2)
    points = [sample(tree, x), sample(tree, x[0]), sample(tree, x, 2), sample(tree, x[1], k=3), sample(tree, x, [1, 3])]
    # What is not found is infinitely far away, and stays so.
    return [*points, sample(tree, x.reshape(2, 2, 3), 2)]


def _query(cls: Any, name: str) -> None:
    def jvp(x_dot: Array, z: Any, self: Any, x: Array, p: float = 2.0) -> Any:
        return query_tangent(x_dot, z, self, x, p)

    @rule(
        cls.query,
        name=f"scipy.spatial.{name}.query",
        wrt=["x"],
        jvp=jvp,
        samples=lambda: _queries(cls),
        infer=infer.scipy.solution_with(1),
        dtype="unknown",
        calls=(),
        integers=(1,),
        gives=(tuple,),
    )
    def query(
        z: Any,
        z_bar: Any,
        self: Any,
        x: Array,
        k: Any = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: int = 1,
    ) -> Array:
        return query_adjoint(z_bar, z, self, x, p)


_query(spatial.cKDTree, "cKDTree")
_query(spatial.KDTree, "KDTree")
