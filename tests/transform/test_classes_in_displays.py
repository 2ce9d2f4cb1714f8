"""Classes that are items of displays and arguments of functions: what is made of them is taken apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient, richardson_jvp


class Filter:
    def __init__(self, n: int, mu: Any = 0.1) -> None:
        self.n, self.mu = n, mu
        self.w = np.zeros(n)

    def gain(self, e: Any, x: Any) -> Any:
        return e * x

    def run(self, d: Any, x: Any) -> Any:
        for k in range(len(d)):
            self.w = self.w + self.mu * self.gain(d[k] - self.w @ x[k], x[k])
        return np.sum(self.w**2)


class Normalised(Filter):
    def gain(self, e: Any, x: Any) -> Any:
        return e * x / (0.1 + x @ x)


class Cubic(Filter):
    def gain(self, e: Any, x: Any) -> Any:
        return e**3 * x


FILTERS = {"lms": Filter, "nlms": Normalised, "cubic": Cubic}
ROWS = np.array([[0.3, -0.5], [1.1, 0.4], [-0.2, 0.8]])


def each(mu: Any, d: Any) -> Any:
    s = 0.0
    for made in (Filter, Normalised, Cubic):
        s += made(n=2, mu=mu).run(d, ROWS)
    return s


def each_with_a_number(mu: Any, d: Any) -> Any:
    s = 0.0
    for made, k in ((Filter, 1.0), (Normalised, 2.0)):
        f = made(2, mu)
        s += k * f.run(d, ROWS)
    return s


def summed(mu: Any, d: Any) -> Any:
    return sum(made(2, mu).run(d, ROWS) for made in [Filter, Cubic])


def _ran(kind: Any, mu: Any, d: Any) -> Any:
    return kind(2, mu).run(d, ROWS)


def as_arguments(mu: Any, d: Any) -> Any:
    return _ran(Normalised, mu, d) * _ran(Cubic, mu, d)


def by_names(mu: Any, d: Any) -> Any:
    s = 0.0
    for name in ("cubic", "nlms"):
        f = FILTERS[name](2, mu)
        s += f.run(d, ROWS)
    return s


@pytest.mark.parametrize("f", [each, each_with_a_number, summed, as_arguments, by_names], ids=lambda f: f.__name__)
def test_classes_in_displays(f: Callable[..., Any]) -> None:
    args = (0.3, np.array([0.5, -0.4, 0.9]))
    value, gradients = value_and_grad(f, argnums=(0, 1))(*args)
    assert value == f(*args)
    for i, found in enumerate(gradients):
        assert np.allclose(found, numeric_gradient(f, args, i), rtol=1e-7)
    dots = (1.0, np.array([0.2, -0.7, 0.4]))
    assert np.isclose(jvp(f, args, dots)[1], richardson_jvp(f, args, dots), rtol=1e-7)
