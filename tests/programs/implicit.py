"""Implicit time steps of a stiff reaction, each solved by a Newton helper."""

from __future__ import annotations

import numpy as np


class DidNotConverge(RuntimeError):
    pass


def newton(residual, jacobian, x0, tol=1e-10, max_iter=20, damping=1.0):
    x = x0
    for iteration in range(max_iter):
        r = residual(x)
        if np.max(np.abs(r)) < tol:
            return x, iteration
        x = x - damping * np.linalg.solve(jacobian(x), r)
    raise DidNotConverge(f"residual {np.max(np.abs(residual(x)))} after {max_iter} iterations")


class Reaction:
    def __init__(self, k1, k2, k3):
        self.k = k1, k2, k3

    def rate(self, y):
        k1, k2, k3 = self.k
        a, b, c = y
        return np.array([-k1 * a + k3 * b * c, k1 * a - k3 * b * c - k2 * b * b, k2 * b * b])

    def jacobian(self, y):
        k1, k2, k3 = self.k
        _, b, c = y
        return np.array(
            [
                [-k1, k3 * c, k3 * b],
                [k1, -k3 * c - 2 * k2 * b, -k3 * b],
                [0.0, 2 * k2 * b, 0.0],
            ]
        )


class BackwardEuler:
    order = 1

    def __init__(self, system):
        self.system = system
        self.iterations = 0

    def advance(self, y, dt):
        start = y

        def residual(z):
            return z - start - dt * self.system.rate(z)

        def jacobian(z):
            return np.eye(len(z)) - dt * self.system.jacobian(z)

        y, count = newton(residual, jacobian, start)
        self.iterations += count
        return y

    def run(self, y, t_end, n):
        history = [y]
        for _ in range(n):
            y = self.advance(y, t_end / n)
            history.append(y)
        return np.array(history)


def loss(log_k, y0):
    reaction = Reaction(*np.exp(log_k))
    path = BackwardEuler(reaction).run(y0, 2.0, 4)
    return np.sum(path[:, 1] * 10.0) + path[-1, 2]


ARGUMENTS = (np.array([-1.0, 1.5, 0.5]), np.array([1.0, 0.1, 0.2]))
