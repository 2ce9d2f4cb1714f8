"""Dormand and Prince's method with step rejection; the right side is an argument."""

from __future__ import annotations

import numpy as np

C = [0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]
A = [
    [],
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
B5 = [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0]
B4 = [5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]


def rk45_step(f, t, y, h):
    k = []
    for c, row in zip(C, A):
        dy = np.zeros_like(y)
        for a, ki in zip(row, k):
            dy = dy + a * ki
        k.append(f(t + c * h, y + h * dy))
    high = y + h * sum(b * ki for b, ki in zip(B5, k))
    low = y + h * sum(b * ki for b, ki in zip(B4, k))
    return high, high - low


def integrate(f, y0, t0, t1, rtol=1e-4, h=0.1, max_steps=200):
    t, y = t0, y0
    rejected = 0
    for _ in range(max_steps):
        if t >= t1:
            break
        h = min(h, t1 - t)
        new, error = rk45_step(f, t, y, h)
        # The step size is no part of the derivative that one wants, but of the program's.
        scale = rtol * (1.0 + np.abs(y))
        norm = np.sqrt(np.mean((error / scale) ** 2))
        if norm <= 1.0:
            t, y = t + h, new
        else:
            rejected += 1
        h = h * min(3.0, max(0.3, 0.9 * (norm + 1e-12) ** -0.2))
    else:
        raise RuntimeError("too many steps")
    return y


def loss(x, mu):
    def van_der_pol(t, y):
        return np.array([y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]])

    end = integrate(van_der_pol, x, 0.0, 1.5)
    return np.sum((end - np.array([1.0, 0.0])) ** 2)


ARGUMENTS = (np.array([1.2, 0.3]), 1.4)
