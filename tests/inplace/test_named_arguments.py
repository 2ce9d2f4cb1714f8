"""Arguments of NumPy's functions given by name, in arrays that are then written and in others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import stop_gradient
from tests.language.support import Case, case, check_gradient, check_primal

X = np.array([0.3, 0.8, 0.43, 1.2, 0.55])


def sorted_by_name(x: Any) -> Any:
    y = np.sort(a=x)
    y[0] = x[1]
    return np.sum(y**2)


def product_with_one_by_name(x: Any) -> Any:
    y = np.dot(x, b=np.outer(x, x))
    y[0] = x[1]
    return np.sum(y**2)


def filled_by_name(x: Any) -> Any:
    y = np.full(3, fill_value=x[0])
    y[0] = x[1]
    return np.sum(y**2)


def object_by_name(x: Any) -> Any:
    y = np.array(object=[x[0], x[1]])
    y[0] *= x[1]
    return np.sum(y**2)


def zeros_by_shape(x: Any) -> Any:
    u = np.zeros(shape=(5,))
    u[1:] = x[1:] ** 2
    return np.sum(u * x)


def constant_filled_by_name(x: Any) -> Any:
    u = np.full(shape=(5,), fill_value=2.0)
    u[1:] *= x[1:] ** 2
    return np.sum(u * x)


def zeros_like_by_name(x: Any) -> Any:
    u = np.zeros_like(a=x)
    u[1:] = x[1:] ** 2
    return np.sum(u * x)


def empty_like_by_prototype(x: Any) -> Any:
    u = np.empty_like(prototype=x)
    u[:] = x**2
    return np.sum(u * x)


def full_like_by_name(x: Any) -> Any:
    u = np.full_like(a=x, fill_value=x[1])
    u[1:] *= x[1:] ** 2
    return np.sum(u * x)


def full_like_with_a_value(x: Any) -> Any:
    u = np.full_like(x, fill_value=2, dtype=float)
    u[1:] *= x[1:] ** 2
    return np.sum(u * x)


def eye_by_name(x: Any) -> Any:
    u = np.eye(N=5) * x
    u[1:] *= x**2
    return np.sum(u * x)


def range_by_name(x: Any) -> Any:
    u = np.arange(start=0.0, stop=5.0)
    u *= x**2
    return np.sum(u * x)


def repeated_by_name(x: Any) -> Any:
    u = np.repeat(a=x, repeats=2)
    u[::2] *= x**2
    return np.sum(u)


def rolled_by_name(x: Any) -> Any:
    u = np.roll(a=x, shift=1)
    u *= x**2
    return np.sum(u)


def interpolated_by_name(x: Any) -> Any:
    u = np.interp(x=x, xp=[0, 1, 2.0], fp=x[:3])
    u *= x**2
    return np.sum(u)


def clipped_by_name(x: Any) -> Any:
    u = np.clip(a=x, a_min=x[0], a_max=x[1] * 2)
    u *= x**2
    return np.sum(u)


def clipped_from_above(x: Any) -> Any:
    u = x.clip(max=x[1] * 2)
    u *= x**2
    return np.sum(u)


def clipped_by_the_method(x: Any) -> Any:
    u = x.clip(min=x[1] / 2, max=x[1] * 2)
    u *= x**2
    return np.sum(u)


def averaged_with_weights(x: Any) -> Any:
    u = np.average(np.outer(x, x), axis=0, weights=x)
    u *= x**2
    return np.sum(u)


def weights_before_the_axis(x: Any) -> Any:
    u = np.average(np.outer(x, x), weights=x, axis=1)
    u *= x**2
    return np.sum(u)


def solved_by_name(x: Any) -> Any:
    u = np.linalg.solve(a=np.diag(x), b=x[::-1])
    u *= x**2
    return np.sum(u)


def spaced_by_name(x: Any) -> Any:
    u = np.linspace(start=x[0], stop=x[1], num=5)
    u *= x**2
    return np.sum(u)


def spaced_by_start_and_name(x: Any) -> Any:
    u = np.linspace(x[0], num=5, stop=x[1])
    u *= x**2
    return np.sum(u)


def masked_into_a_sum(x: Any) -> Any:
    u = np.add(x, 1.0, where=x > 0, out=x * 2)
    u[1:] *= 2
    return np.sum(u**2)


def without_nan(x: Any) -> Any:
    u = np.nan_to_num(x, nan=3.0)
    u[1:] *= 2
    return np.sum(u**2)


def stopped_by_name(x: Any) -> Any:
    u = x * 1.0
    w = np.sum(stop_gradient(x=u) * u)
    u[0] = 3.0
    return w + u[0]


def appended_in_another_order(x: Any) -> Any:
    u = np.append(values=x, arr=x * 2)
    u[1:] *= 2
    return np.sum(u**2)


def contracted_by_name(x: Any) -> Any:
    u = np.tensordot(np.outer(x, x), b=x, axes=1)
    u[1:] *= 2
    return np.sum(u**2)


def tiled_in_another_order(x: Any) -> Any:
    u = np.tile(reps=2, A=x)
    u[1:] *= 2
    return np.sum(u**2)


def converted_by_name(x: Any) -> Any:
    u = np.asarray(a=x * 2, dtype=float)
    u[1:] *= 2
    return np.sum(u**2)


def ones_in_another_order(x: Any) -> Any:
    u = np.ones(dtype=float, shape=5)
    u[1:] *= x[0]
    return np.sum(u**2)


def filled_in_another_order(x: Any) -> Any:
    u = np.linspace(0, stop=x[0])
    return np.sum(np.full(fill_value=x[1], shape=(2,)) * u[1])


def clipped_in_another_order(x: Any) -> Any:
    u = np.where(x > 0, x, 0.0)
    return np.sum(np.clip(u, a_max=0.7, a_min=x[0] / 10)) + np.sum(a=x, axis=0)


def range_of_two_scaled(x: Any) -> Any:
    u = np.arange(0.0, 5.0)
    u *= x**2
    return np.sum(u * x)


def range_scaled(x: Any) -> Any:
    u = np.arange(5.0)
    u *= x**2
    return np.sum(u * x)


def range_of_two_written(x: Any) -> Any:
    u = np.arange(1.0, 6)
    u[0] = x[0]
    return np.sum(u * x)


def spaced_constants(x: Any) -> Any:
    u = np.linspace(0, 1, num=5)
    u[0] = x[0]
    return np.sum(u * x)


def even_numbers(x: Any) -> Any:
    u = np.arange(start=0, stop=10, step=2) * 1.0
    u[0] = x[0]
    return np.sum(u * x)


CASES = [
    case(f, X, expected=(X,) if f is stopped_by_name else None)
    for f in (
        sorted_by_name,
        product_with_one_by_name,
        filled_by_name,
        object_by_name,
        zeros_by_shape,
        constant_filled_by_name,
        zeros_like_by_name,
        empty_like_by_prototype,
        full_like_by_name,
        full_like_with_a_value,
        eye_by_name,
        range_by_name,
        repeated_by_name,
        rolled_by_name,
        interpolated_by_name,
        clipped_by_name,
        clipped_from_above,
        clipped_by_the_method,
        averaged_with_weights,
        weights_before_the_axis,
        solved_by_name,
        spaced_by_name,
        spaced_by_start_and_name,
        masked_into_a_sum,
        without_nan,
        stopped_by_name,
        appended_in_another_order,
        contracted_by_name,
        tiled_in_another_order,
        converted_by_name,
        ones_in_another_order,
        filled_in_another_order,
        clipped_in_another_order,
        range_of_two_scaled,
        range_scaled,
        range_of_two_written,
        spaced_constants,
        even_numbers,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
