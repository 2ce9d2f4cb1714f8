"""Programs of a few array operations: losses and test functions on vectors of 10 to 1,000,000 elements."""

from __future__ import annotations

import numpy as np

from s2sad import stop_gradient

from .case import Case


def logsumexp(x):
    m = stop_gradient(np.max(x))
    return m + np.log(np.sum(np.exp(x - m)))


def logsumexp_hand(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def logistic_regression(w, b, X, y):
    margin = y * (X @ w + b)
    return np.mean(np.log1p(np.exp(-margin)))


def logistic_regression_hand(w, b, X, y):
    e = np.exp(-y * (X @ w + b))
    z_bar = e / (1.0 + e) * y / -len(y)
    return X.T @ z_bar, np.sum(z_bar)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_hand(x):
    head = x[:-1]
    r_bar = 200.0 * (x[1:] - head**2)
    x_bar = np.zeros_like(x)
    x_bar[1:] = r_bar
    x_bar[:-1] -= 2.0 * (r_bar * head + 1.0 - head)
    return x_bar


def elementwise(x):
    a = x * np.sin(x)
    b = np.exp(-0.5 * a**2)
    c = np.tanh(a + b)
    return np.sum(c / (1.0 + x**2))


def elementwise_hand(x):
    s = np.sin(x)
    a = x * s
    b = np.exp(-0.5 * a**2)
    c = np.tanh(a + b)
    q = 1.0 + x**2
    u_bar = (1.0 - c**2) / q
    a_bar = u_bar - u_bar * b * a
    return a_bar * (s + x * np.cos(x)) - 2.0 * c * x / q**2


def _vector(n: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(3).standard_normal(n),)


def _regression() -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    return rng.standard_normal(10), 0.3, rng.standard_normal((100, 10)), rng.choice([-1.0, 1.0], 100)


CASES = [
    Case("logsumexp_1000", logsumexp, logsumexp_hand, lambda: _vector(1000)),
    Case("logistic_100x10", logistic_regression, logistic_regression_hand, _regression, (0, 1)),
    Case("rosenbrock_100", rosenbrock, rosenbrock_hand, lambda: _vector(100)),
    Case("elementwise_10", elementwise, elementwise_hand, lambda: _vector(10)),
    Case("elementwise_1e3", elementwise, elementwise_hand, lambda: _vector(1_000)),
    Case(
        "elementwise_1e6",
        elementwise,
        elementwise_hand,
        lambda: _vector(1_000_000),
        make_small_args=lambda: _vector(10),
    ),
]
