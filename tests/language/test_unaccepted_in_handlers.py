"""What is not accepted in a handler, where the types say that what is tried does not raise."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient


def degrees(value: Any, limit: Any = None) -> Any:
    try:
        found = float(value)
    except (ValueError, TypeError) as error:
        parts = re.match(r"(\d+)d(\d+)'", str(value))
        if parts:
            found = float(parts.group(1)) + float(parts.group(2)) / 60
        else:
            raise ValueError(f"no angle: {value}") from error
    if limit is not None:
        if found > limit:
            found = limit
        elif found < -limit:
            found = -limit
    return found


def in_a_callee(x: Any) -> Any:
    return degrees(x[0]) * degrees(x[1], 0.5)


def in_the_function(x: Any) -> Any:
    y = x[0] * x[1]
    try:
        z = y + 2.0
    except ValueError:
        z = float(re.sub("a", "", str(y)))
    return z * z


class Position:
    def __init__(self, latitude: Any) -> None:
        self.latitude = latitude

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, degrees(value, 90.0))


def in_a_setter(x: Any) -> Any:
    return Position(x[0] * 40.0).latitude * Position(x[1] * 400.0).latitude


@pytest.mark.parametrize("f", [in_a_callee, in_the_function, in_a_setter])
def test_derivatives(f: Callable[..., Any]) -> None:
    x = np.array([0.3, 0.7])
    wanted = numeric_gradient(f, [x])
    np.testing.assert_allclose(grad(f)(x), wanted, rtol=1e-6)
    np.testing.assert_allclose([jvp(f, (x,), (e,))[1] for e in np.eye(2)], wanted, rtol=1e-6)


def of_a_matrix(x: Any) -> Any:
    A = np.outer(x, x) + x[0] * np.eye(2)
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        L = A * float(re.sub("a", "", "a2"))
    return np.sum(L)


def of_what_is_converted(x: Any) -> Any:
    total = 0.0
    for row in (x, [x[0], "3d30'"]):
        for value in row:
            total = total + degrees(value)
    return total


def raised_itself(x: Any) -> Any:
    try:
        if x[0] > 0.1:
            raise ValueError("large")
        y = x[0]
    except ValueError:
        y = x[0] * float(re.sub("a", "", "a2"))
    return y


@pytest.mark.parametrize("f", [of_a_matrix, of_what_is_converted, raised_itself])
def test_a_handler_that_may_run_is_right_or_refused(f: Callable[..., Any]) -> None:
    x = np.array([0.3, 0.7])
    for derivative in (lambda: grad(f)(x), lambda: [jvp(f, (x,), (e,))[1] for e in np.eye(2)]):
        try:
            got = derivative()
        except S2SADError:
            continue
        np.testing.assert_allclose(got, numeric_gradient(f, [x]), rtol=1e-6)
