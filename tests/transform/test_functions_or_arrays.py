"""What may be a function, an array or None, as the program asks: ``isinstance(F, np.ndarray)``, ``callable(F)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient


class Filter:
    def __init__(self, state: Any, step: Any = None, slope: Any = None) -> None:
        self.state, self.step, self.slope = state, step, slope

    def predict(self, dt: Any = 1.0, **kwargs: Any) -> Any:
        step = kwargs.get("step", self.step)
        if step is None:
            raise ValueError("how it goes on is not given")
        self.state = step(self.state, dt)
        slope = kwargs.get("slope", self.slope)
        if isinstance(slope, np.ndarray):
            found = slope
        elif isinstance(slope, (list, tuple)) or not callable(slope):
            found = np.asarray(slope)
        else:
            found = slope(self.state, dt)
        return found @ self.state


def of_functions(x: Any) -> Any:
    f = Filter(x, lambda s, dt: s + dt * np.sin(s), lambda s, dt: np.diag(1 + dt * np.cos(s)))
    return sum(np.sum(f.predict(dt=0.1) ** 2) for _ in range(3))


def of_one_that_captures(x: Any) -> Any:
    def slope(s: Any, dt: Any) -> Any:
        return np.outer(s, x) * dt

    f = Filter(x, lambda s, dt: s * x * dt, slope)
    return np.sum(f.predict(0.5) * f.predict(0.3, slope=np.eye(2)))


def of_arrays(x: Any) -> Any:
    f = Filter(x, lambda s, dt: s + dt * s**2, np.array([[1.0, 0.2], [0.0, 1.0]]))
    return np.sum(f.predict(0.5) ** 2) + np.sum(f.predict(0.5, slope=[[1.0, 0.0], [2.0, 1.0]]))


X = np.array([0.4, 1.3])


@pytest.mark.parametrize("function", [of_functions, of_one_that_captures, of_arrays])
def test_what_is_asked_of_a_function(function: Callable[..., Any]) -> None:
    wanted = numeric_gradient(function, (X,))
    value, found = value_and_grad(function)(X)
    assert value == function(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_allclose(jvp(function, (X,), (np.array([1.0, -2.0]),))[1], wanted @ [1.0, -2.0], rtol=1e-6)
