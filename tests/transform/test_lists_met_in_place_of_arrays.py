"""Lists of objects of which it is not known which member is changed: loops are written out once the run meets one."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad import value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.2, 1.1, 0.8, 1.7, -0.4])


class Particle:
    def __init__(self, mass: float, pos: Any) -> None:
        self.mass, self.pos = mass, pos
        self.vel, self.acc = np.zeros(2), np.zeros(2)

    def kinetic(self) -> Any:
        return 0.5 * self.mass * np.sum(self.vel * self.vel)


class Spring:
    def __init__(self, a: int, b: int, k: Any) -> None:
        self.a, self.b, self.k = a, b, k

    def force(self, particles: list[Particle]) -> Any:
        d = particles[self.b].pos - particles[self.a].pos
        return self.k * d


class World:
    def __init__(self, particles: list[Particle], springs: list[Spring]) -> None:
        self.particles, self.springs = particles, springs
        self.history: list[Any] = []

    def accelerate(self) -> None:
        for p in self.particles:
            p.acc = np.array([0.0, -1.0]) / p.mass
        for s in self.springs:
            f = s.force(self.particles)
            a, b = self.particles[s.a], self.particles[s.b]
            a.acc = a.acc + f / a.mass
            b.acc = b.acc - f / b.mass

    def energy(self) -> Any:
        total = 0.0
        for p in self.particles:
            total = total + p.kinetic() + p.mass * p.pos[1]
        return total

    def step(self, h: float) -> None:
        self.accelerate()
        for p in self.particles:
            p.vel = p.vel + h * p.acc
            p.pos = p.pos + h * p.vel
        self.history.append(self.energy())


def world(x: Any) -> World:
    particles = [Particle(1.0 + 0.1 * i, x[2 * i : 2 * i + 2]) for i in range(3)]
    springs = [Spring(i, i + 1, x[0] + 2.0) for i in range(2)]
    springs.append(Spring(0, 2, 0.5 * x[1]))
    return World(particles, springs)


def swinging(x: Any, n: int) -> Any:
    made = world(x)
    for _ in range(n):
        made.step(0.1)
    drift = 0.0
    for e in made.history:
        drift = drift + e**2
    return drift + made.energy()


def test_springs_between_members_of_a_list() -> None:
    before = X.copy()
    for n in (2, 3):
        value, gradient = value_and_grad(swinging)(X, n)
        assert value == swinging(X, n)
        np.testing.assert_allclose(gradient, numeric_gradient(swinging, (X, n)), atol=1e-7)
    np.testing.assert_array_equal(X, before)
