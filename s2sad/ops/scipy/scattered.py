"""Rule of ``scipy.interpolate.griddata``: interpolation between scattered points, by points, values and places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, operation, rule, sample
from s2sad.runtime.scipy.scattered import corners, scattered_adjoints, scattered_tangent

Array = Any

constant(corners, signature=lambda points, xi, method, rescale: None)


def _fields() -> Sequence[Sample]:
    points = np.array([[0.0, 0.1], [1.0, 0.0], [0.1, 1.2], [1.1, 0.9], [0.45, 0.6]])
    places = np.array([[0.3, 0.25], [0.75, 0.8], [0.4, 0.41]])
    space = np.array([[0.0, 0.0, 0.1], [1.0, 0.1, 0.0], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0], [1.1, 0.9, 1.0]])
    return [
        sample(points, numbers(5), places),
        sample(points, numbers(5, 2), np.concatenate([places, [[3.0, 3.0]]]), fill_value=0.0),
        sample(points, numbers(5), (np.array([[0.3], [0.6]]), np.array([0.25, 0.4, 0.7]))),
        sample(points * np.array([10.0, 1.0]), numbers(5), places * np.array([10.0, 1.0]), rescale=True),
        sample(points, numbers(5), places, "nearest"),
        sample(space, numbers(5), np.array([[0.2, 0.2, 0.3], [0.4, 0.4, 0.4]])),
    ]


def _griddata_jvp(
    points_dot: Any,
    values_dot: Any,
    xi_dot: Any,
    points: Array,
    values: Array,
    xi: Any,
    method: str = "linear",
    rescale: bool = False,
) -> Array:
    return scattered_tangent(points_dot, values_dot, xi_dot, points, values, xi, method, rescale)


@rule(
    interpolate.griddata,
    wrt=["points", "values", "xi"],
    jvp=_griddata_jvp,
    samples=_fields,
    dtype="unknown",
    real_only=True,
)
def griddata(
    z_bar: Array,
    points: Array,
    values: Array,
    xi: Any,
    method: str = "linear",
    fill_value: float = np.nan,
    rescale: bool = False,
) -> tuple[Array, Array, Any]:
    points_bar, values_bar, xi_bar = scattered_adjoints(z_bar, points, values, xi, method, rescale)
    return points_bar, values_bar, xi_bar


_PLANES = "use griddata(points, values, xi), which has derivatives by all three"

operation(
    interpolate.LinearNDInterpolator,
    interpolate.NearestNDInterpolator,
    interpolate.CloughTocher2DInterpolator,
    result="fresh",
    remedy=_PLANES,
)
