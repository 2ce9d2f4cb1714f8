"""Functions of Python's ``statistics``, whatever they go through."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.3, 0.4, 0.9])


def of_arrays(x: Any) -> Any:
    return statistics.mean(x) * statistics.stdev(x) + statistics.pvariance(x) + statistics.median(x)


def of_lists(x: Any) -> Any:
    squares = [v**2 for v in x]
    return statistics.fmean(squares) + statistics.variance(squares) * statistics.pstdev(squares)


def of_iterators(x: Any) -> Any:
    held = {"a": x[0], "b": x[1] ** 2}
    return statistics.mean(v**2 for v in x) + statistics.mean(held.values()) + statistics.mean([1, 2, 3])


def of_positive_numbers(x: Any) -> Any:
    return statistics.geometric_mean(x) * statistics.harmonic_mean([x[0], x[1] + 1]) + statistics.fmean(x, [1, 2, 3, 1])


def of_two(x: Any) -> Any:
    centre = statistics.mean(x)
    both = statistics.covariance(list(x), [1.0, 2.0, 4.0, 3.0]) * statistics.correlation([v**2 for v in x], list(x))
    return both + statistics.stdev(x, centre) + statistics.pvariance(list(x), centre)


@pytest.mark.parametrize("f", [of_arrays, of_lists, of_iterators, of_positive_numbers, of_two])
def test_statistics(f: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(f)(X)
    assert np.isclose(float(value), float(f(X)), rtol=1e-14)
    wanted = numeric_gradient(f, (X,))
    assert np.allclose(gradient, wanted)
    assert np.isclose(jvp(f, (X,), (np.cos(X),))[1], np.sum(np.cos(X) * wanted))


def of_numbers(x: Any) -> Any:
    return statistics.fmean([float(v) for v in x]) * statistics.fmean(x)


def test_means_of_floats_are_rounded_once() -> None:
    for seed in range(20):
        x = np.random.default_rng(seed).uniform(-1.0, 1.0, 5)
        assert value_and_grad(of_numbers)(x)[0] == of_numbers(x) == jvp(of_numbers, (x,), (x,))[0]
