"""Rotations of SciPy in programs of a user's: gradients against differences, values as SciPy has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient, richardson_jvp

RNG = np.random.default_rng(8)
POINTS = RNG.normal(size=(5, 3))
FIXED = Rotation.from_euler("xyz", [0.3, -0.4, 1.1])
BACK = FIXED.inv()
SEVERAL = Rotation.from_rotvec(POINTS)
V = np.array([0.4, -0.7, 0.5])
WEIGHTS = RNG.normal(size=(4, 4))


def by_vector(v: Any) -> Any:
    turned = Rotation.from_rotvec(v)
    return np.sum((turned.apply(POINTS) - POINTS) ** 3) + np.sum(turned.apply(v**2, inverse=True) ** 2)


def in_degrees(v: Any) -> Any:
    turned = Rotation.from_rotvec(40 * v, degrees=True)
    return np.sum(turned.as_rotvec(degrees=True) * V) + turned.magnitude()


def by_quaternion(v: Any) -> Any:
    q = np.concatenate((v, np.array([0.7])))
    turned = Rotation.from_quat(q)
    first = Rotation.from_quat(q, scalar_first=True)
    return np.sum(turned.as_matrix() * WEIGHTS[:3, :3]) + np.sum(first.as_quat(scalar_first=True) * WEIGHTS[0])


def composed(v: Any) -> Any:
    turned = Rotation.from_rotvec(v)
    both = FIXED * turned * Rotation.from_rotvec(v[::-1]) * BACK
    return np.sum((both.inv() * FIXED).as_rotvec() ** 3) + np.sum(both.as_quat(canonical=True) * WEIGHTS[1])


def of_several(v: Any) -> Any:
    turned = Rotation.from_rotvec(np.outer(POINTS[:, 0], v))
    moved = turned.apply(POINTS) + turned.apply(v)
    return (
        np.sum(moved**3) + np.sum((turned * SEVERAL).as_quat() ** 3) + np.sum(turned[1].as_matrix() * WEIGHTS[1:, 1:])
    )


def of_constants(v: Any) -> Any:
    columns = np.stack([v, v**2])
    return np.sum(FIXED.apply(columns) ** 3) + np.sum(SEVERAL.apply(v, inverse=True) ** 3)


def by_matrix(v: Any) -> Any:
    turned = Rotation.from_matrix(Rotation.from_rotvec(2 * v).as_matrix())
    return np.sum(turned.as_rotvec() ** 3) + np.sum((turned * FIXED).as_quat() * WEIGHTS[0])


def by_matrix_that_is_not_orthogonal(v: Any) -> Any:
    moved = Rotation.from_matrix(np.eye(3) + np.outer(v, POINTS[0]))
    return np.sum(moved.as_quat() ** 3) + moved.magnitude()


def by_matrices(v: Any) -> Any:
    turned = Rotation.from_matrix(Rotation.from_rotvec(4 * np.outer(POINTS[:, 0], v)).as_matrix())
    return np.sum(turned.as_quat() ** 3) + np.sum(turned.apply(v) ** 3)


def by_matrix_taken_as_it_is(v: Any) -> Any:
    return np.sum(Rotation.from_matrix(Rotation.from_rotvec(v).as_matrix(), assume_valid=True).apply(v + 1) ** 3)


def by_parameters(v: Any) -> Any:
    turned = Rotation.from_mrp(v) * FIXED
    return np.sum(turned.as_mrp() ** 3) + np.sum((turned ** v[0] * turned**-1).as_rotvec() * V)


def averaged(v: Any) -> Any:
    turned = Rotation.concatenate([Rotation.from_rotvec(np.outer(POINTS[:, 0], v)), FIXED])
    return turned.mean().magnitude() + np.sum(turned.mean(weights=np.arange(6.0) + v[0]).as_matrix() * WEIGHTS[1:, 1:])


def aligned(v: Any) -> Any:
    turned, rest = Rotation.align_vectors(POINTS * v, POINTS[::-1] + v)
    mirrored, _ = Rotation.align_vectors(POINTS * v, POINTS * [0.4, -0.6, -0.5] + 0.1, weights=np.arange(1.0, 6.0))
    return np.sum(turned.as_matrix() * WEIGHTS[1:, 1:]) + rest + mirrored.magnitude()


def on_the_way(v: Any) -> Any:
    way = Slerp([0.0, 1.0 + v[0], 3.0], Rotation.from_rotvec(np.stack([v, v**2, v + 1])))
    return way(0.7).magnitude() + np.sum(way(np.abs(v)).as_rotvec() ** 3) + np.sum(way([0.0, 3.0]).as_quat() ** 3)


FURTHER = [by_parameters, averaged, aligned, on_the_way]


BY_MATRIX = [by_matrix, by_matrix_that_is_not_orthogonal, by_matrices, by_matrix_taken_as_it_is]


def test_what_has_no_rule_of_rotations() -> None:
    with pytest.raises(S2SADError, match="one pair"):
        grad(lambda v: Rotation.align_vectors(v, POINTS[0])[1])(V)
    with pytest.raises(S2SADError, match="times before"):
        grad(lambda t: Slerp([0.0, 1.0], SEVERAL[:2])(t).magnitude())(1.5)


def test_the_matrix_itself_is_made_orthogonal() -> None:
    def f(m: Any) -> Any:
        return np.sum(Rotation.from_matrix(m).as_rotvec() ** 3)

    m = Rotation.from_rotvec(V).as_matrix()
    np.testing.assert_allclose(grad(f)(m), numeric_gradient(f, (m,)), rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="determinant"):
        grad(f)(-m)


@pytest.mark.parametrize(
    "f", [by_vector, in_degrees, by_quaternion, composed, of_several, of_constants, *BY_MATRIX, *FURTHER]
)
def test_rotations(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f)(V)
    assert value == pytest.approx(f(V), rel=1e-12)
    np.testing.assert_allclose(found, numeric_gradient(f, (V,)), rtol=1e-7, atol=1e-8)
    dot = RNG.normal(size=3)
    np.testing.assert_allclose(jvp(f, (V,), (dot,))[1], found @ dot, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("seq", ["xyz", "ZYX", "zxz", "XZX", "yzx", "YXZ"])
def test_angles(seq: str) -> None:
    def of_angles(v: Any) -> Any:
        return np.sum(Rotation.from_euler(seq, v).as_matrix() * WEIGHTS[:3, :3])

    def to_angles(v: Any) -> Any:
        return np.sum(Rotation.from_rotvec(v).as_euler(seq, degrees=True) * V)

    for f in (of_angles, to_angles):
        value, found = value_and_grad(f)(V)
        assert value == pytest.approx(f(V), rel=1e-12)
        np.testing.assert_allclose(found, numeric_gradient(f, (V,)), rtol=1e-7, atol=1e-8)


def test_angles_about_one_axis_and_two() -> None:
    def f(v: Any) -> Any:
        one = Rotation.from_euler("y", v[0]) * Rotation.from_euler("ZX", v[1:], degrees=True)
        return np.sum(one.apply(POINTS) ** 3)

    np.testing.assert_allclose(grad(f)(V), numeric_gradient(f, (V,)), rtol=1e-7, atol=1e-8)


def test_where_nothing_is_turned() -> None:
    """The length of a vector has no derivative at 0; a rotation and its vector have."""
    zero, dot = np.zeros(3), RNG.normal(size=3)

    def there(v: Any) -> Any:
        return np.sum(Rotation.from_rotvec(v).apply(POINTS) ** 3)

    def and_back(v: Any) -> Any:
        return np.sum(np.exp((Rotation.from_rotvec(v) * Rotation.from_rotvec(2 * v)).as_rotvec() * V))

    for f in (there, and_back):
        np.testing.assert_allclose(grad(f)(zero), numeric_gradient(f, (zero,)), rtol=1e-7, atol=1e-8)
        second = richardson_jvp(grad(f), (zero,), (dot,))
        np.testing.assert_allclose(hvp(f, (zero,), (dot,)), second, rtol=1e-6, atol=1e-7)


def test_a_wrong_number_of_angles_is_an_error_as_in_scipy() -> None:
    with pytest.raises(ValueError, match="angles"):
        grad(lambda v: Rotation.from_euler("xy", v).as_matrix()[0, 1])(V)


def turned_by_a_quaternion(v: Any) -> Any:
    turned = Rotation.from_quat(np.append(v, np.float32(0.7)))
    return turned.magnitude() + np.sum(turned.as_quat() ** 3)


def turned_by_a_vector(v: Any) -> Any:
    turned = Rotation.from_rotvec(v)
    return turned.magnitude() + np.sum(Rotation.from_rotvec(v, degrees=True).as_quat() ** 3)


def turned_by_angles(v: Any) -> Any:
    return Rotation.from_euler("zyx", v).magnitude()


@pytest.mark.parametrize("f", [turned_by_a_quaternion, turned_by_a_vector, turned_by_angles], ids=lambda f: f.__name__)
def test_rotations_of_single_precision_are_computed_in_double(f: Callable[[Any], Any]) -> None:
    v = V.astype(np.float32)
    value, found = value_and_grad(f)(v)
    assert value.dtype == np.float64
    np.testing.assert_allclose(value, f(v), rtol=1e-12)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, numeric_gradient(f, [v.astype(float)]), rtol=1e-5)
