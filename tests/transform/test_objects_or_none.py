"""Variables, attributes and items that are an object on some ways and None on others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

W = np.array([1.0, 4.1, 2.3, 6.0, 3.0])


class Sphere:
    def __init__(self, center: Any, radius: Any) -> None:
        self.center, self.radius = center, radius

    def hit(self, way: Any) -> Any:
        b = self.center @ way
        inside = b * b - self.center @ self.center + self.radius**2
        return None if inside < 0 else b - np.sqrt(inside)


def traced(p: Any) -> Any:
    scene = [Sphere(p[:3], 1.3), Sphere(np.array([1.0, 0.0, 5.0]), p[3] / 4)]
    light = 0.0
    for dx in (-0.3, 0.0, 0.3, 3.0):
        way = np.array([dx, 0.0, 1.0])
        way = way / np.linalg.norm(way)
        nearest, hit = None, None
        for sphere in scene:
            t = sphere.hit(way)
            if t is not None and (nearest is None or t < nearest):
                nearest, hit = t, sphere
        if hit is not None:
            light += max(0.0, -((nearest * way - hit.center) @ way) / hit.radius)
    return light


class Body:
    def __init__(self, m: Any, x: Any) -> None:
        self.m, self.x = m, x

    def energy(self, k: Any) -> Any:
        return 0.5 * k * self.m * self.x**2


class Wall:
    def __init__(self, d: Any) -> None:
        self.d = d

    def energy(self, k: Any) -> Any:
        return k * self.d


def changed_by_either_name(w: Any) -> Any:
    bodies = [Body(w[i], w[i + 1]) for i in range(4)]
    best = None
    for b in bodies:
        if best is None or b.m > best.m:
            best = b
    for b in bodies:
        b.x = b.x * 2
    best.x += 1.0  # type: ignore[union-attr]
    return best.energy(2.0) + bodies[0].x * bodies[3].x  # type: ignore[union-attr]


def asked_in_every_way(w: Any) -> Any:
    b, c = (Body(w[0], w[1]) if w[2] > 1 else None), (Body(w[1], w[2]) if w[2] > 10 else None)
    total = 0.0
    if not (b is None):  # noqa: E714
        total += b.energy(1.0)
    if not b:
        total += 100 * w[0]
    if b is not None and c is None:
        total += b.m * 3
    if b is None or c is None:
        total += w[3]
    if b and b.m > 0.5:
        total += b.x
    return total + (c.x if c else w[4] ** 2)


def of_two_classes(w: Any) -> Any:
    thing: Any = None
    if w[0] > 0.5:
        thing = Wall(w[1])
    if w[2] > 5:
        thing = Body(w[0], w[1])
    return 0.0 if thing is None else thing.energy(w[3])


def in_a_list(w: Any) -> Any:
    items: list[Any] = [Body(w[k], w[k + 1]) if w[k] > 2 else None for k in range(3)]
    total = 0.0
    for b in items:
        if b is not None:
            b.x *= 2
            total += b.energy(1.0)
    return total + (items[1].x if items[1] is not None else 0.0)


def replaced_in_a_loop(w: Any) -> Any:
    b, total = None, 0.0
    for i in range(4):
        if w[i] > 2:
            b = Body(w[i], w[i + 1])
        if b is not None:
            total += b.energy(i + 1)
            b.x = b.x * 0.5
    return total


def read_of_none(w: Any) -> Any:
    b = Body(w[0], w[1]) if w[2] > 3 else None
    try:
        total = b.m * 2  # type: ignore[union-attr]
    except AttributeError:
        total = w[0] * 7
    return total


@pytest.mark.parametrize(
    "f",
    [traced, changed_by_either_name, asked_in_every_way, of_two_classes, in_a_list, replaced_in_a_loop, read_of_none],
    ids=lambda f: f.__name__,
)
def test_both_modes(f: Callable[[Any], Any]) -> None:
    x = np.array([0.1, 0.2, 3.0, 6.0]) if f is traced else W
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-8)
    if f is not read_of_none:  # which branches in a try
        np.testing.assert_allclose(jvp(f, (x,), (np.ones_like(x),))[1], np.sum(expected), rtol=1e-6)


def under_two_names(w: Any) -> Any:
    holder, one = Body(w[0], None), None
    if w[1] > 2:
        one = Body(w[1], w[2])
        holder.x = one
    if one is not None:
        one.x = one.x * 3
    return 0.0 if holder.x is None else holder.x.energy(w[0])


def test_what_is_made_on_one_way_and_has_two_names() -> None:
    with pytest.raises(UnsupportedError, match="one function or object on one way, and another"):
        grad(under_two_names)(W)
