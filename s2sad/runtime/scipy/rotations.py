"""Rotations as unit quaternions, the real part last, and functions that are smooth where nothing is turned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = Any
#: Up to here the series are summed.
_NEAR = 1.0
_TERMS = 14


def half_sine(s: Array, order: int = 0) -> Array:
    """The derivative of an order of ``sin(sqrt(s) / 2) / sqrt(s)`` by ``s``, also at 0.

    Example:
        >>> float(half_sine(0.0)), round(float(half_sine(np.pi**2)), 6)
        (0.5, 0.31831)
    """
    near = np.asarray(s) < _NEAR
    u = np.where(near, s, 0.0)
    series = 0.0 * u
    for n in range(_TERMS + order, order - 1, -1):
        falling = math.prod(range(n - order + 1, n + 1))
        series = series * u + (-1) ** n * falling / (2 ** (2 * n + 1) * math.factorial(2 * n + 1))
    v = np.where(near, 1.0, s)
    root = np.sqrt(v)
    before, found = None, np.sin(root / 2) / root
    for k in range(order):
        # 4 s h'' + 6 h' + h / 4 = 0, differentiated k - 1 times.
        after = (
            (np.cos(root / 2) / 2 - found) / (2 * v)
            if before is None
            else -((4 * k + 2) * found + before / 4) / (4 * v)
        )
        before, found = found, after
    return np.where(near, series, found)[()]


def half_cosine(s: Array) -> Array:
    """``cos(sqrt(s) / 2)``."""
    return np.cos(np.sqrt(s) / 2)


def turn_scale(s: Array, w: Array) -> Array:
    """``2 arctan2(sqrt(s), w) / sqrt(s)``: the length of a rotation vector beside that of a quaternion."""
    return _by_series(s, w, 0, lambda v, w: 2 * np.arctan2(np.sqrt(v), w) / np.sqrt(v))


def turn_slope(s: Array, w: Array) -> Array:
    """The derivative of `turn_scale` by ``s``."""
    return _by_series(s, w, 1, lambda v, w: (w / (v + w**2) - turn_scale(v, w) / 2) / v)


def turn_curvature(s: Array, w: Array) -> Array:
    """The second derivative of `turn_scale` by ``s``."""
    return _by_series(s, w, 2, lambda v, w: -(w / (v + w**2) ** 2 + 1.5 * turn_slope(v, w)) / v)


def _by_series(s: Array, w: Array, order: int, otherwise: Any) -> Array:
    """A derivative of `turn_scale` by ``s``: by its power series where that is small beside ``w``."""
    s, w = np.asarray(s), np.asarray(w)
    near = s < 0.05 * w**2
    u, by = np.where(near, s, 0.0), np.where(near, w, 1.0)
    x = u / by**2
    series = 0.0 * x
    for n in range(_TERMS + order, order - 1, -1):
        series = series * x + (-1) ** n * math.prod(range(n - order + 1, n + 1)) / (2 * n + 1)
    found = otherwise(np.where(near, 1.0, s), np.where(near, 1.0, w))
    return np.where(near, 2 * series / by ** (2 * order + 1), found)[()]


# --- angles about axes


def _axes(seq: str) -> tuple[list[int], bool]:
    """The axes of a sequence, and whether they turn with what is rotated."""
    return ["xyz".index(axis) for axis in seq.lower()], seq.isupper()


def euler_units(seq: str) -> Array:
    """The axes of a sequence of rotations as rows, in the order in which their quaternions are multiplied."""
    axes, turning = _axes(seq)
    rows = np.zeros((3, 3))
    rows[np.arange(len(axes)), axes if turning else axes[::-1]] = 1.0
    return rows


def euler_angles(seq: str, angles: Array, degrees: bool = False) -> Array:
    """The angles that belong to `euler_units`, in radians, with zeros for rotations that are not there."""
    axes, turning = _axes(seq)
    angles = np.asarray(angles, float) * (math.pi / 180 if degrees else 1.0)
    if len(axes) == 1 and angles.ndim == 0:
        angles = angles[np.newaxis]
    if angles.shape[-1:] != (len(axes),):
        raise ValueError(f"the last axis of the angles of {seq!r} does not have {len(axes)} of them")
    found = np.zeros((*angles.shape[:-1], 3))
    found[..., : len(axes)] = angles if turning else angles[..., ::-1]
    return found


def euler_angles_adjoint(g: Array, seq: str, angles: Array, degrees: bool = False) -> Array:
    """The adjoint of the angles in `euler_angles`."""
    axes, turning = _axes(seq)
    g = g[..., : len(axes)] * (math.pi / 180 if degrees else 1.0)
    return np.reshape(g if turning else g[..., ::-1], np.shape(angles))


def euler_places(seq: str) -> tuple[Array, Array, float, float]:
    """What `euler_of` needs of a sequence: a matrix and a vector by which four numbers are made of a quaternion.

    Source: E. Bernardes and S. Viollet, "Quaternion to Euler angles conversion: A direct, general and computationally
    efficient method", PLoS ONE 17 (2022).
    """
    axes, turning = _axes(seq)
    i, j, k = axes[::-1] if turning else axes
    symmetric = i == k
    if symmetric:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) / 2
    rows = np.zeros((4, 4))
    rows[0, 3] = rows[1, i] = rows[2, j] = 1.0
    rows[3, k] = sign
    if not symmetric:
        rows = np.array([rows[0] - rows[2], rows[1] + rows[3], rows[2] + rows[0], rows[3] - rows[1]])
    # The angles of half the sum and half the difference, in the order of the sequence.
    order = np.array([[1.0, -1.0], [1.0, 1.0]]) * np.array([[1.0], [1.0 if symmetric else sign]])
    return rows, order[::-1] if turning else order, 0.0 if symmetric else math.pi / 2, 1.0


def wrapped(angles: Array) -> Array:
    """Angles between minus and plus half a turn."""
    return angles - 2 * math.pi * ((angles > math.pi) * 1.0 - (angles < -math.pi) * 1.0)


def quaternions_of(rotation: Any) -> Array:
    """The quaternions of rotations that exist."""
    return rotation.as_quat()


# --- rotations that are constants


def rotated_back(g: Array, rotation: Any, vectors: Array, inverse: bool = False) -> Array:
    """The adjoint of the vectors in ``rotation.apply(vectors, inverse)``."""
    found = rotation.apply(g, not inverse)
    while found.ndim > np.ndim(vectors):
        found = np.sum(found, axis=0)
    for axis, size in enumerate(np.shape(vectors)):
        if size == 1 and found.shape[axis] > 1:
            found = np.sum(found, axis=axis, keepdims=True)
    return found


def polar_steps(matrix: Array) -> int:
    """How often Newton's iteration is to be done for the orthogonal matrices next to some.

    An orthogonal one stays what it is: two steps are for derivatives up to the third.

    Example:
        >>> polar_steps(np.eye(3)), polar_steps(np.diag([1.0, 2.0, 1.0]))
        (2, 7)
    """
    m, steps = np.asarray(matrix, float), 2
    if np.any(np.linalg.det(m) <= 0):
        raise ValueError("the determinant of a matrix that is to be a rotation has to be positive")
    while np.any(np.abs(m @ np.swapaxes(m, -1, -2) - np.eye(3)) > 1e-12):
        m, steps = 0.5 * (m + np.swapaxes(np.linalg.inv(m), -1, -2)), steps + 1
    return steps


def quaternion_rows(matrix: Array) -> Array:
    """Which of the numbers of a quaternion is the largest, the real one last: a place along the axis before the last.

    Example:
        >>> quaternion_rows(np.eye(3))
        array([[3]])
    """
    m = np.asarray(matrix)
    sizes = np.stack((m[..., 0, 0], m[..., 1, 1], m[..., 2, 2], np.trace(m, axis1=-2, axis2=-1)), axis=-1)
    return np.argmax(sizes, axis=-1)[..., None, None]
