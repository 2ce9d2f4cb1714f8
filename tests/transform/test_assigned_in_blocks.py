"""Variables that are assigned in a ``with`` or ``try`` of methods and functions that are written out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([[0.7, 1.3, 0.4], [0.5, 0.9, 1.1]])


class Stage:
    def __init__(self, gain: Any) -> None:
        self.gain = gain

    def filtered(self, data: Any) -> Any:
        return self.gain * np.tanh(data)


class Meter:
    """Its loudness is computed by what ``with`` blocks assign, and later comprehensions read."""

    def __init__(self, gain: Any, clock: Any = None) -> None:
        if clock is not None:
            self.clock = clock
        else:
            try:
                self.clock = math.hypot
            except AttributeError:
                self.clock = time.monotonic
        self.stages = {"shelf": Stage(gain), "pass": Stage(1.2)}

    def loudness(self, data: Any) -> Any:
        data = data.copy()
        for stage in self.stages.values():
            for k in range(data.shape[0]):
                data[k] = stage.filtered(data[k])
        weights = [1.0, 1.41]
        with np.errstate(divide="ignore"):
            parts = [np.log10(np.sum([weights[i] * data[i, j] ** 2 for i in range(2)])) for j in range(3)]
        loud = [j for j, part in enumerate(parts) if part > -70.0]
        with np.errstate(divide="ignore"):
            means = [np.mean([data[i, j] for j in loud]) for i in range(2)]
        with np.errstate(divide="ignore"):
            total = self.clock(np.sum([weights[i] * means[i] for i in range(2)]), parts[0])
        return total


def of_a_meter(x: Any) -> Any:
    return Meter(x[1, 2]).loudness(x) + Meter(0.5, math.atan2).loudness(x * x)


def scaled(x: Any, scale: Any) -> Any:
    with np.errstate(all="ignore"):
        if scale > 1.0:
            scale = np.sqrt(scale)
        y = x * scale
    return y, lambda t: t * scale


def of_a_parameter_that_a_block_assigns(x: Any) -> Any:
    y, f = scaled(x, 1.0 + x[0, 0])
    z, g = scaled(y, x[0, 2])
    return np.sum(y * z) + f(g(x[1, 1]))


@pytest.mark.parametrize("f", [of_a_meter, of_a_parameter_that_a_block_assigns], ids=lambda f: f.__name__)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    value, found = value_and_grad(f)(X)
    expected = numeric_gradient(f, (X,))
    assert value == f(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], np.sum(expected * X), rtol=1e-6)
