"""Runge-Kutta methods by tables: a dataclass tableau, and a solver that keeps what it has done."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Tableau:
    a: list
    b: list
    c: list
    name: str = ""

    @property
    def stages(self):
        return len(self.b)


HEUN = Tableau([[], [1.0]], [0.5, 0.5], [0.0, 1.0], "Heun")
RK4 = Tableau([[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0.0, 0.5, 0.5, 1.0], "RK4")


@dataclass
class Solution:
    times: list = field(default_factory=list)
    states: list = field(default_factory=list)

    def record(self, t, y):
        self.times.append(t)
        self.states.append(y)

    @property
    def last(self):
        return self.states[-1]


class Solver:
    def __init__(self, rhs, tableau=RK4):
        self.rhs = rhs
        self.tableau = tableau
        self.evaluations = 0

    def f(self, t, y):
        self.evaluations += 1
        return self.rhs(t, y)

    def step(self, t, y, h):
        k = []
        for i in range(self.tableau.stages):
            yi = y
            for j, aij in enumerate(self.tableau.a[i]):
                yi = yi + h * aij * k[j]
            k.append(self.f(t + self.tableau.c[i] * h, yi))
        for bi, ki in zip(self.tableau.b, k):
            y = y + h * bi * ki
        return y

    def solve(self, y0, t0, t1, n):
        h = (t1 - t0) / n
        solution = Solution()
        solution.record(t0, y0)
        y = y0
        for i in range(n):
            y = self.step(t0 + i * h, y, h)
            solution.record(t0 + (i + 1) * h, y)
        return solution


def loss(params, y0):
    alpha, beta, delta, gamma = params

    def lotka_volterra(t, y):
        prey, predator = y
        return np.array([alpha * prey - beta * prey * predator, delta * prey * predator - gamma * predator])

    solver = Solver(lotka_volterra)
    solution = solver.solve(y0, 0.0, 1.0, 6)
    coarse = Solver(lotka_volterra, HEUN).solve(y0, 0.0, 1.0, 6)
    drift = sum(np.sum((a - b) ** 2) for a, b in zip(solution.states, coarse.states))
    return np.sum(solution.last**2) + drift + 0.0 * solver.evaluations


ARGUMENTS = (np.array([1.1, 0.4, 0.1, 0.4]), np.array([2.0, 1.0]))
