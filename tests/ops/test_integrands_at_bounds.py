"""Integrands that have no value at a bound of the integral, where quadratures do not ask for one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from s2sad import grad, jvp, stop_gradient
from s2sad.errors import UndefinedDerivativeError
from tests.transform.remaining import check_every_way

X = np.array([0.8, 0.5])


def height(t, r):
    return math.sqrt(r * r - t * t - 1e-17)


def with_a_value(t, r):
    return math.sqrt(max(r * r - t * t - 1e-17, 0.0))


def test_an_integrand_that_raises_at_a_bound_is_refused_with_what_to_do():
    def f(x):
        return quad(height, 0.0, x[0], args=(0.8,))[0] * x[1]

    assert math.isfinite(f(X))
    for run in (lambda: grad(f)(X), lambda: jvp(f, (X,), (np.ones(2),))):
        with pytest.raises(UndefinedDerivativeError, match="is the integrand there, which raises Val") as refused:
            run()
        assert "sqrt(max(y, 0.0))" in str(refused.value)


def test_what_is_said_to_do_helps():
    def f(x):
        return quad(with_a_value, 0.0, x[0], args=(0.8,))[0] * x[1]

    np.testing.assert_allclose(grad(f)(X), [0.0, quad(with_a_value, 0.0, 0.8, args=(0.8,))[0]], atol=1e-6)

    def stopped(x):
        return quad(height, 0.0, stop_gradient(x[0]), args=(0.8,))[0] * x[1]

    np.testing.assert_allclose(grad(stopped)(X), [0.0, quad(height, 0.0, 0.8, args=(0.8,))[0]])


def test_inside_of_the_domain_the_bound_counts():
    check_every_way(lambda x: quad(height, 0.0, x[0] * x[1], args=(0.8,))[0], X)
