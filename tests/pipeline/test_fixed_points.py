"""What is found of functions is found once for calls that are alike, and again only where it rests on what changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.pipeline.typed import Types
from tests.oracle import numeric_gradient


def hermite(i: Any, j: Any, t: Any, distance: Any, a: Any, b: Any) -> Any:
    """Coefficients of products of Gaussians in Hermite functions (McMurchie and Davidson 1978)."""
    p = a + b
    q = a * b / p
    if (t < 0) or (t > (i + j)):
        return 0.0
    if i == j == t == 0:
        return np.exp(-q * distance * distance)
    if j == 0:
        return (
            (1 / (2 * p)) * hermite(i - 1, j, t - 1, distance, a, b)
            - (q * distance / a) * hermite(i - 1, j, t, distance, a, b)
            + (t + 1) * hermite(i - 1, j, t + 1, distance, a, b)
        )
    return (
        (1 / (2 * p)) * hermite(i, j - 1, t - 1, distance, a, b)
        + (q * distance / b) * hermite(i, j - 1, t, distance, a, b)
        + (t + 1) * hermite(i, j - 1, t + 1, distance, a, b)
    )


def overlap(x: Any) -> Any:
    total = 1.0
    for first, second in (((1, 0, 1), (0, 1, 1)), ((2, 1, 0), (1, 1, 0))):
        for axis in range(3):
            total = total * hermite(first[axis], second[axis], 0, x[axis] - 0.3, 0.5, 0.7)
    return total


def scaled(v: Any, w: Any) -> Any:
    total = v * 0.0
    for i in range(2):
        total = total + np.sin(v * w[i])
        total = total * total
    for i in range(2):
        total = np.cos(total) + i
    return total


WEIGHTS = [np.array([0.5, 1.5]), np.array([-0.3, 0.8])]


def chained(x: Any) -> Any:
    y = x[:2]
    for a in WEIGHTS:
        for b in WEIGHTS:
            y = scaled(y, a) * scaled(y + a, b)
    for a in WEIGHTS:
        y = scaled(y, a) + scaled(scaled(y, a), a)
    return np.sum(y)


def even(x: Any, n: int) -> Any:
    return np.sum(x) if n == 0 else odd(helper(x), n - 1) * x[0]


def odd(x: Any, n: int) -> Any:
    return np.sum(x) if n == 0 else even(helper(x) * 0.5, n - 1)


def helper(x: Any) -> Any:
    total = x
    for i in range(3):
        total = np.sin(total) + i
        total = total * 0.5
    return total


def mutual(x: Any) -> Any:
    return even(x, 3) + odd(x, 3)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each function is typed."""
    found: Counter[str] = Counter()
    original = Types.typed

    def counting(self: Types, function: Any, *args: Any, **kwargs: Any) -> Any:
        found[function.__name__] += 1
        return original(self, function, *args, **kwargs)

    monkeypatch.setattr(Types, "typed", counting)
    return found


X = np.array([0.4, -0.2, 0.9])


@pytest.mark.parametrize(
    ("f", "name", "most"),
    # The recursive one is typed for each of the few integers that are written in calls.
    [(overlap, "hermite", 12), (chained, "scaled", 6), (mutual, "helper", 2)],
    ids=["recursive", "alike", "beside recursive ones"],
)
def test_functions_are_typed_a_few_times(f: Callable[[Any], Any], name: str, most: int, typed: Counter[str]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,), 0), rtol=1e-6, atol=1e-9)
    assert 0 < typed[name] <= most
