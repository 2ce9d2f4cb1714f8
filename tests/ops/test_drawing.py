"""Numbers that a generator draws, by the parameters of their distribution: with the same seed, against differences."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([1.3, 0.7, 2.1])


def normal(x: Any, rng: Any) -> Any:
    total = 0.0
    for _ in range(3):
        total += np.sum(rng.normal(x, x[0] * x, size=(2, 3)) ** 2)
    return total


def positive(x: Any, rng: Any) -> Any:
    return np.sum(rng.exponential(x) * rng.rayleigh(x[0], 3)) + rng.lognormal(x[0], x[1]) + rng.weibull(x[1])


def of_other_shape(x: Any, rng: Any) -> Any:
    return np.sum(rng.uniform(-x, x[:1]) ** 2 + rng.laplace(0.0, x) * rng.gumbel(loc=x, scale=2.0))


def between(x: Any, rng: Any) -> Any:
    """What is drawn before and after without derivatives is drawn once, in its place."""
    before = rng.normal()
    drawn = rng.logistic(x[0], before**2)
    return drawn * rng.standard_normal() + rng.pareto(x[1] + 2) * rng.power(x[2])


def unused(x: Any, rng: Any) -> Any:
    """A number that nobody reads is drawn all the same, and one that is read twice once."""
    rng.normal(x[0], 1.0)
    drawn = rng.uniform(x[1], 3.0)
    if rng.normal(x[0], 2.0) > 100:
        drawn = drawn + rng.normal(x[2])
    return drawn * np.sin(drawn) + np.sum(rng.normal(x) * x)


PROGRAMS = [normal, positive, of_other_shape, between, unused]


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
@pytest.mark.parametrize("maker", [np.random.default_rng, np.random.RandomState])
def test_value_and_gradient(f: Callable[..., Any], maker: Callable[[int], Any]) -> None:
    rng, again = maker(5), maker(5)
    value, gradient = value_and_grad(f)(X, rng)
    assert value == f(X, again)
    assert rng.normal() == again.normal()
    np.testing.assert_allclose(gradient, numeric_gradient(lambda x: f(x, maker(5)), [X]), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    ("f", "remedy"),
    [
        (lambda x, rng: rng.gamma(x[0], 2.0), "standard numbers"),
        (lambda x, rng: np.sum(rng.permutation(x)), "indices"),
        (lambda x, rng: np.sum(rng.choice(x, 2)), "indices"),
    ],
)
def test_refused(f: Callable[..., Any], remedy: str) -> None:
    with pytest.raises(UnsupportedError, match=f"which draws, has no derivative rule(.|\n)*{remedy}"):
        grad(f)(X, np.random.default_rng(0))


def test_remedies() -> None:
    def standard(x: Any, rng: Any) -> Any:
        return np.sum(x[0] + x[1] * rng.normal(size=4)) + np.sum(x[rng.permutation(len(x))] * X)

    gradient = grad(standard)(X, np.random.default_rng(3))
    expected = numeric_gradient(lambda x: standard(x, np.random.default_rng(3)), [X])
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-9)


def module_draws(x: Any) -> Any:
    np.random.seed(4)  # noqa: NPY002
    drawn = np.random.normal(x[0], x[1], 5) * np.random.uniform(-x[2], high=x[0])  # noqa: NPY002
    return np.sum(drawn**2) + np.random.laplace(x[2])  # noqa: NPY002


def test_the_functions_of_the_module_are_methods_of_its_generator() -> None:
    expected = numeric_gradient(module_draws, [X])
    np.testing.assert_allclose(grad(module_draws)(X), expected, rtol=1e-7)
    value, tangent = jvp(module_draws, (X,), (X,))
    assert value == module_draws(X)
    np.testing.assert_allclose(tangent, expected @ X, rtol=1e-7)


def test_a_generator_of_python_draws_between_limits() -> None:
    def f(x: Any, rng: Any) -> Any:
        return rng.uniform(x, 2 * x) * rng.random() + rng.uniform(x**2, 5.0)

    found = grad(f)(0.7, random.Random(3))
    assert found == pytest.approx(numeric_gradient(lambda x: f(x, random.Random(3)), [0.7]), rel=1e-8)
