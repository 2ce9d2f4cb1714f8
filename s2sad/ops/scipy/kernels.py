"""Rules of radial basis functions, and of interpolants of them that are constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, elementwise, linear, rule, sample
from s2sad.runtime.scipy.kernels import (
    distinct_places,
    radial,
    rbf_adjoint,
    rbf_frame,
    rbf_powers,
    rbf_tangent,
)

Array = Any

constant(rbf_powers, signature=lambda places, kernel, epsilon, degree, neighbors: None)
# The interpolant is the same whatever the frame of its polynomial is.
constant(rbf_frame, signature=lambda places: None)

_KERNELS = (
    "linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "inverse_multiquadric", "inverse_quadratic",
    "gaussian",
)  # fmt: skip


def _distances() -> Sequence[Sample]:
    some = np.array([[0.3, 1.7], [0.9, 2.4]])
    return [s for k in _KERNELS for s in (sample(some, k), sample(some[0], k, 1), sample(0.7, k, 2))]


@elementwise(radial, wrt=["s"], samples=_distances, dtype="unknown", real_only=True)
def radial_rule(s: Array, kernel: str, order: int = 0) -> Array:
    return radial(s, kernel, order + 1)


@linear(distinct_places, wrt=["xi"], result="element", samples=lambda: [sample(numbers(4))], dtype="unknown")
def distinct_places_rule(z_bar: Array, xi: Array) -> Array:
    return z_bar


# --- constants


def _interpolants() -> Sequence[Sample]:
    y, x = numbers(9, 2), numbers(4, 2, seed=3)
    values = [np.sin(y[:, 0]) + y[:, 1], np.stack([y[:, 0] ** 2, np.cos(y[:, 1])], axis=1)]
    made = [interpolate.RBFInterpolator(y, values[i % 2], kernel=k, epsilon=0.8) for i, k in enumerate(_KERNELS)]
    made.append(interpolate.RBFInterpolator(y, values[0], smoothing=0.3, degree=2))
    return [sample(f, x) for f in made]


def _rbf_jvp(x_dot: Array, self: Any, x: Array) -> Array:
    return rbf_tangent(x_dot, self, x)


@rule(
    interpolate.RBFInterpolator.__call__,
    name="scipy.interpolate.RBFInterpolator.__call__",
    wrt=["x"],
    jvp=_rbf_jvp,
    samples=_interpolants,
    dtype="unknown",
    calls=(),
)
def rbf_at(z_bar: Array, self: Any, x: Array) -> Array:
    return rbf_adjoint(z_bar, self, x)
