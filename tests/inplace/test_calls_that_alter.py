"""Calls that may write into arrays of the module, beside names that may be such arrays and carry no derivative."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

FILTER = """
Q = np.eye(2)
X0 = np.array([[0.1], [0.2]])
def spread(x, P):
    sigma = x
    for i in range(2):
        sigma = np.hstack((sigma, x + P[:, i:i+1]))
    return sigma
def move(sigma, u):
    for i in range(sigma.shape[1]):
        sigma[:, i:i+1] = np.array([[sigma[0, i] * u], [sigma[1, i]]])
    return sigma
def covariance(x, sigma, start):
    d, P = sigma - x, start
    for i in range(sigma.shape[1]):
        P = P + d[:, i:i+1] @ d[:, i:i+1].T
    return P
def estimate(x, P, u):
    sigma = move(spread(x, P), u)
    mean = np.mean(sigma, axis=1, keepdims=True)
    P = covariance(mean, sigma, Q)
    return mean + np.mean(move(spread(mean, P), u)), P
def f(u):
    x, P = X0, Q
    {body}
    return np.sum(x)
"""


@pytest.mark.parametrize(
    "body",
    [
        "for _ in range(2): x, P = estimate(x, P, u)",
        "x, P = estimate(x, P, u)\n    x, P = estimate(x, P, u)",
        "x, _ = estimate(x, P, u)\n    x, P = estimate(x, P, 2 * u)\n    x = x @ P[:1]",
    ],
)
def test_results_that_nobody_reads(body: str) -> None:
    f = function_of(FILTER.format(body=body))
    expected = numeric_gradient(f, [1.5])
    np.testing.assert_allclose(grad(f)(1.5), expected, rtol=1e-7)
    value, tangent = jvp(f, (1.5,), (1.0,))
    assert value == f(1.5)
    np.testing.assert_allclose(tangent, expected, rtol=1e-7)
