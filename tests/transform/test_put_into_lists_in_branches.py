"""Objects from before a branch, which puts them into a list on one way only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp


class Ray:
    def __init__(self, y: Any = 0.0, theta: Any = 0.0) -> None:
        self.y = y
        self.theta = theta
        self.is_blocked = False


class Element:
    def __init__(self, a: Any, b: Any, c: Any, d: Any, length: Any, opening: float = 1.5) -> None:
        self.a, self.b, self.c, self.d = a, b, c, d
        self.length = length
        self.opening = opening

    def __mul__(self, ray: Ray) -> Ray:
        out = Ray()
        out.y = self.a * ray.y + self.b * ray.theta
        out.theta = self.c * ray.y + self.d * ray.theta
        return out

    def trace(self, ray: Ray) -> list[Ray]:
        found = []
        if self.length > 0:
            if abs(ray.y) > self.opening / 2:
                ray.is_blocked = True
            found.append(ray)
        found.append(self * ray)
        return found


def last(d: Any) -> Any:
    return Element(1.0, d, 0.2, 1.0, d).trace(Ray(0.5, 0.1))[-1].y ** 2


def all_of_them(d: Any) -> Any:
    rays = Element(1.0, d, 0.2, 1.0, d).trace(Ray(0.5 * d, 0.1))
    return sum(r.y**2 + r.theta if not r.is_blocked else r.y**3 for r in rays)


def changed_later(x: Any) -> Any:
    found = []
    ray = Ray(x, 1.0)
    if x > 0:
        found.append(ray)
    ray.y = ray.y * x
    return sum(r.y * r.theta for r in found) + ray.y**2


def changed_on_the_other_way(x: Any) -> Any:
    found = []
    ray = Ray(x, 1.0)
    if x > 0:
        ray.theta = x * x
        found.append(ray)
    else:
        ray.theta = 3.0 * x
    ray.y = ray.y * ray.theta
    return sum(r.y * r.theta for r in found) + ray.y**2 + ray.theta


@pytest.mark.parametrize("at", [-1.5, 0.7, 3.0])
@pytest.mark.parametrize("f", [last, all_of_them, changed_later, changed_on_the_other_way])
def test_derivatives(f: Callable[..., Any], at: float) -> None:
    h = 1e-5
    expected = (f(at + h) - f(at - h)) / (2 * h)
    np.testing.assert_allclose(grad(f)(at), expected, rtol=1e-7)
    value, tangent = jvp(f, (at,), (1.0,))
    assert value == f(at)
    np.testing.assert_allclose(tangent, expected, rtol=1e-7)
