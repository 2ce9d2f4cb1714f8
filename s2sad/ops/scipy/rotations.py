"""Rules of ``scipy.spatial.transform``: rotations that are constants, and what models of others compute with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from s2sad.ops.points import numbers
from s2sad.ops.scipy.points import at, between, both
from s2sad.ops.spec import Sample, constant, elementwise, linear, sample
from s2sad.runtime.scipy.rotations import (
    euler_angles,
    euler_angles_adjoint,
    euler_places,
    euler_units,
    half_cosine,
    half_sine,
    polar_steps,
    quaternion_rows,
    quaternions_of,
    rotated_back,
    turn_curvature,
    turn_scale,
    turn_slope,
    wrapped,
)

Array = Any

constant(euler_units, euler_places, signature=lambda seq: None)
constant(polar_steps, quaternion_rows, signature=lambda matrix: None)
constant(quaternions_of, signature=lambda rotation: None, calls=())

_SQUARES = both(at((0.0,), ([1e-9, 0.3, 2.5, 20.0],)), at(([0.9, 1.1],)))
_TURNS = both(at((0.0, 1.0), ([1e-6, 0.3, 0.02], [0.9, 0.4, 0.7]), ([0.5, 1.1], [0.1, 0.0])))


@elementwise(half_sine, wrt=["s"], samples=_SQUARES, dtype="unknown", real_only=True)
def half_sine_rule(s: Array, order: int = 0) -> Array:
    return half_sine(s, order + 1)


@elementwise(half_cosine, samples=at(([0.1, 0.3, 2.5, 20.0],), (0.4,)), dtype="unknown", real_only=True)
def half_cosine_rule(s: Array) -> Array:
    return -0.25 * half_sine(s)


@elementwise(turn_scale, samples=_TURNS, dtype="unknown", real_only=True)
def turn_scale_rule(s: Array, w: Array) -> Array:
    return turn_slope(s, w), -2 / (s + w**2)


@elementwise(turn_slope, samples=_TURNS, dtype="unknown", real_only=True)
def turn_slope_rule(s: Array, w: Array) -> Array:
    return turn_curvature(s, w), 2 / (s + w**2) ** 2


@elementwise(wrapped, samples=both(between((-3.0, 3.0)), at(([3.5, -4.0, 0.2],))), dtype="unknown", real_only=True)
def wrapped_rule(angles: Array) -> Array:
    return 1.0


def _sequences() -> Sequence[Sample]:
    points = [sample("xyz", numbers(3)), sample("ZXZ", numbers(2, 3), True), sample("zy", numbers(2)), sample("y", 0.3)]
    return [*points, sample("X", numbers(4, 1), True), sample("YZ", numbers(3, 2))]


@linear(euler_angles, wrt=["angles"], samples=_sequences, dtype="unknown")
def euler_angles_rule(z_bar: Array, seq: str, angles: Array, degrees: bool = False) -> Array:
    return euler_angles_adjoint(z_bar, seq, angles, degrees)


@linear(
    euler_angles_adjoint,
    wrt=["g"],
    steps={"angles"},
    samples=lambda: [sample(numbers(2, 3), "ZXZ", numbers(2, 3), True), sample(numbers(3), "zy", numbers(2))],
    dtype="unknown",
)
def euler_angles_adjoint_rule(z_bar: Array, g: Array, seq: str, angles: Array, degrees: bool = False) -> Array:
    return euler_angles(seq, z_bar, degrees)


def _applied() -> Sequence[Sample]:
    one, several = Rotation.from_rotvec(numbers(3)), Rotation.from_rotvec(numbers(4, 3))
    points = [sample(one, numbers(3)), sample(one, numbers(5, 3)), sample(several, numbers(3), True)]
    return [*points, sample(several, numbers(4, 3)), sample(several, numbers(1, 3), inverse=True)]


@linear(
    Rotation.apply,
    name="scipy.spatial.transform.Rotation.apply",
    wrt=["vectors"],
    samples=_applied,
    dtype="unknown",
    calls=(),
)
def apply(z_bar: Array, self: Any, vectors: Array, inverse: bool = False) -> Array:
    return rotated_back(z_bar, self, vectors, inverse)


@linear(
    rotated_back,
    wrt=["g"],
    steps={"vectors"},
    samples=lambda: [sample(numbers(4, 3), Rotation.from_rotvec(numbers(4, 3)), numbers(3))],
    dtype="unknown",
    calls=(),
)
def rotated_back_rule(z_bar: Array, g: Array, rotation: Any, vectors: Array, inverse: bool = False) -> Array:
    return rotation.apply(z_bar + np.zeros_like(vectors), inverse)
