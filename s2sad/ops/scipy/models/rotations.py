"""Rotations of ``scipy.spatial.transform`` that carry derivatives: their quaternions, with the real part last."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from s2sad.ops.models import model
from s2sad.runtime.scipy.rotations import (
    euler_angles,
    euler_places,
    euler_units,
    half_cosine,
    half_sine,
    polar_steps,
    quaternion_rows,
    quaternions_of,
    turn_scale,
    wrapped,
)
from s2sad.runtime.undefined import require_rule

_DEGREES = 180 / np.pi


class Turned:
    """One rotation or several."""

    def __init__(self, q: Any) -> None:
        self.q = q

    def as_quat(self, canonical: Any = False, *, scalar_first: Any = False) -> Any:
        q = canonical_of(self.q) if canonical else self.q
        return np.roll(q, 1, axis=-1) if scalar_first else np.array(q)

    def as_matrix(self) -> Any:
        return matrix_of(self.q)

    def as_rotvec(self, degrees: Any = False) -> Any:
        q = canonical_of(self.q)
        v = q[..., :3]
        scale = turn_scale(np.sum(v * v, axis=-1), q[..., 3])
        return np.expand_dims(scale * _DEGREES if degrees else scale, -1) * v

    def as_euler(self, seq: Any, degrees: Any = False, *, suppress_warnings: Any = False) -> Any:
        rows, order, middle, _ = euler_places(seq)
        n = self.q @ np.transpose(rows)
        second = 2 * np.arctan2(np.hypot(n[..., 2], n[..., 3]), np.hypot(n[..., 0], n[..., 1])) - middle
        halves = np.stack((np.arctan2(n[..., 1], n[..., 0]), np.arctan2(n[..., 3], n[..., 2])), axis=-1)
        outer = halves @ np.transpose(order)
        angles = wrapped(np.stack((outer[..., 0], second, outer[..., 1]), axis=-1))
        return angles * _DEGREES if degrees else angles

    def as_mrp(self) -> Any:
        q = canonical_of(self.q)
        return q[..., :3] / (1.0 + q[..., 3:])

    def magnitude(self) -> Any:
        return 2 * np.arctan2(np.linalg.norm(self.q[..., :3], axis=-1), np.abs(self.q[..., 3]))

    def inv(self) -> Any:
        return Turned(self.q * np.array([-1.0, -1.0, -1.0, 1.0]))

    def apply(self, vectors: Any, inverse: Any = False) -> Any:
        m = matrix_of(self.q)
        if inverse:
            return np.einsum("...ji,...j->...i", m, vectors)
        return np.einsum("...ij,...j->...i", m, vectors)

    def approx_equal(self, other: Any, atol: Any = None, degrees: Any = False) -> Any:
        bound = 1e-8 if atol is None else atol / _DEGREES if degrees else atol
        return (turned_of(other) * self.inv()).magnitude() < bound

    def mean(self, weights: Any = None) -> Any:
        q = np.atleast_2d(self.q)
        weighted = q if weights is None else np.expand_dims(weights, -1) * q
        return Turned(np.linalg.eigh(np.transpose(weighted) @ q)[1][:, -1])

    def __getitem__(self, index: Any) -> Any:
        return Turned(self.q[index])

    def __len__(self) -> Any:
        return len(self.q)

    def __mul__(self, other: Any) -> Any:
        return Turned(product_of(self.q, turned_of(other).q))

    def __rmul__(self, other: Any) -> Any:
        return Turned(product_of(turned_of(other).q, self.q))

    def __pow__(self, n: Any) -> Any:
        return from_rotvec(n * self.as_rotvec())


def turned_of(rotation: Any) -> Any:
    """A rotation, or one that is constant."""
    return rotation if isinstance(rotation, Turned) else Turned(quaternions_of(rotation))


def canonical_of(q: Any) -> Any:
    """The quaternion of those of a rotation of which the real part is not negative."""
    return q * np.expand_dims(np.where(q[..., 3] < 0, -1.0, 1.0), -1)


def product_of(p: Any, q: Any) -> Any:
    """The quaternion of a rotation after another."""
    u, a, v, b = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    real = a * b - np.sum(u * v, axis=-1, keepdims=True)
    return np.concatenate((a * v + b * u + np.cross(u, v), real), axis=-1)


def matrix_of(q: Any) -> Any:
    """The matrix of a rotation."""
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    first = np.stack((x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)), axis=-1)
    second = np.stack((2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)), axis=-1)
    third = np.stack((2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w), axis=-1)
    return np.stack((first, second, third), axis=-2)


@model(Rotation.from_quat)
def from_quat(quat: Any, *, scalar_first: Any = False) -> Any:
    q = np.array(quat, float)
    if scalar_first:
        q = np.roll(q, -1, axis=-1)
    return Turned(q / np.linalg.norm(q, axis=-1, keepdims=True))


@model(Rotation.from_rotvec)
def from_rotvec(rotvec: Any, degrees: Any = False) -> Any:
    v = np.asarray(rotvec, float) / _DEGREES if degrees else np.array(rotvec, float)
    s = np.sum(v * v, axis=-1, keepdims=True)
    return Turned(np.concatenate((half_sine(s) * v, half_cosine(s)), axis=-1))


@model(Rotation.from_mrp)
def from_mrp(mrp: Any) -> Any:
    v = np.asarray(mrp, float)
    s = np.sum(v * v, axis=-1, keepdims=True)
    return Turned(np.concatenate((2 * v, 1 - s), axis=-1) / (1 + s))


@model(Rotation.concatenate, given="anything")
def concatenate(rotations: Any) -> Any:
    return Turned(np.concatenate([np.atleast_2d(turned_of(rotation).q) for rotation in rotations]))


@model(Rotation.align_vectors)
def align_vectors(a: Any, b: Any, weights: Any = None, return_sensitivity: Any = False) -> Any:
    first, second = np.atleast_2d(np.asarray(a, float)), np.atleast_2d(np.asarray(b, float))
    shares = np.ones(np.shape(first)[0]) if weights is None else np.asarray(weights, float)
    plain: Any = np.shape(first)[0] > 1 and not return_sensitivity and np.all(np.isfinite(shares))
    message = "align_vectors of one pair, with an infinite weight or of its sensitivity has no rule"
    require_rule(plain, message, "Give it two pairs or more.")
    left, s, right = np.linalg.svd(np.transpose(np.expand_dims(shares, 1) * first) @ second)
    signs = np.where(np.linalg.det(left @ right) < 0, np.array([1.0, 1.0, -1.0]), np.ones(3))
    rest = np.sum(shares * np.sum(first**2 + second**2, axis=1)) - 2 * np.sum(signs * s)
    return from_matrix((left * signs) @ right, assume_valid=True), np.sqrt(np.maximum(rest, 0.0))


@model(Slerp, given="anything")
class Path:
    """Rotations at times, and between them at a constant rate."""

    def __init__(self, times: Any, rotations: Any) -> None:
        self.times = np.asarray(times, float)
        self.q = turned_of(rotations).q
        self.rotvecs = (Turned(self.q[:-1]).inv() * Turned(self.q[1:])).as_rotvec()

    def __call__(self, times: Any) -> Any:
        at = np.asarray(times, float)
        inside: Any = np.all((at >= self.times[0]) & (at <= self.times[-1]))
        require_rule(inside, "Slerp has no rotation at times before its first, or after its last", "Take others.")
        i = np.clip(np.searchsorted(self.times, at) - 1, 0, None)
        part = (at - self.times[i]) / (self.times[i + 1] - self.times[i])
        return Turned(self.q[i]) * from_rotvec(self.rotvecs[i] * np.expand_dims(part, -1))


@model(Rotation.from_euler)
def from_euler(seq: Any, angles: Any, degrees: Any = False) -> Any:
    half = 0.5 * euler_angles(seq, angles, degrees)
    units = euler_units(seq)
    sines = np.expand_dims(np.sin(half), -1) * units
    q = np.concatenate((sines, np.expand_dims(np.cos(half), -1)), axis=-1)
    return Turned(product_of(product_of(q[..., 0, :], q[..., 1, :]), q[..., 2, :]))


@model(Rotation.from_matrix)
def from_matrix(matrix: Any, *, assume_valid: Any = False) -> Any:
    m = np.asarray(matrix, float)
    # Newton's iteration for the nearest orthogonal matrix, of which SciPy makes the quaternion.
    for _ in range(0 if assume_valid else polar_steps(m)):
        m = 0.5 * (m + np.swapaxes(np.linalg.inv(m), -1, -2))
    a, b, c = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    ab, bc, ca = m[..., 1, 0] + m[..., 0, 1], m[..., 2, 1] + m[..., 1, 2], m[..., 0, 2] + m[..., 2, 0]
    x, y, z = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    first = np.stack((1 + a - b - c, ab, ca, x), axis=-1)
    second = np.stack((ab, 1 - a + b - c, bc, y), axis=-1)
    third = np.stack((ca, bc, 1 - a - b + c, z), axis=-1)
    fourth = np.stack((x, y, z, 1 + a + b + c), axis=-1)
    # Each row is a multiple of the quaternion; SciPy takes the longest.
    rows = np.stack((first, second, third, fourth), axis=-2)
    q = np.take_along_axis(rows, quaternion_rows(m), axis=-2)[..., 0, :]
    return Turned(q / np.linalg.norm(q, axis=-1, keepdims=True))
