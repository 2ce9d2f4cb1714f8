"""Generator expressions that are unpacked at once: ``a, b = (f(x) for x in rows)``."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4, 1.1])


def parts_of_an_array(x: Any) -> Any:
    a, b = (np.sin(part) for part in np.split(x, 2))
    return np.sum(a * b)


def heads(x: Any) -> Any:
    q, k = (t.reshape(2, -1).T for t in np.split(np.outer(x, x), 2))
    return np.sum(q @ k.T)


def with_a_condition(x: Any) -> Any:
    a, b, c = (v * v for v in x if v > 0.0)
    return a * b + c


def nested(x: Any) -> Any:
    (a, b), c = (row * 2.0 for row in (x[:2], x[3]))
    return a * b * c


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        a, b = (part * k for part in (x[k], x[k + 1]))
        total += a * b
    return total


def too_many(x: Any) -> Any:
    a, b = (v * v for v in x)
    return a * b


def without_end(x: Any) -> Any:
    a, b = (x[k] for k in itertools.count())
    return a * b


COUNTING = itertools.count


def naturals() -> Any:
    k = 0
    while True:
        yield k
        k += 1


def without_end_by_another_name(x: Any) -> Any:
    a, b = (x[0] * k for k in COUNTING())
    return a * b


def without_end_by_a_generator(x: Any) -> Any:
    a, b = (x[0] * k for k in naturals())
    return a * b


def without_end_in_pairs(x: Any) -> Any:
    a, b = (x[0] * k * v for k, v in zip(COUNTING(), itertools.repeat(2.0), strict=False))
    return a * b


ENDLESS = [without_end, without_end_by_another_name, without_end_by_a_generator, without_end_in_pairs]
PROGRAMS = [parts_of_an_array, heads, with_a_condition, nested, in_a_loop]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    wanted = numeric_gradient(f, [X])
    np.testing.assert_allclose(grad(f)(X), wanted, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose([jvp(f, (X,), (e,))[1] for e in np.eye(4)], wanted, rtol=1e-6, atol=1e-9)


def test_more_items_than_variables() -> None:
    with pytest.raises(ValueError, match="too many values to unpack"):
        grad(too_many)(X)


@pytest.mark.parametrize("f", ENDLESS)
def test_what_has_no_end_is_asked_for_no_more(f: Callable[..., Any]) -> None:
    """Python asks for one item more than there are variables, and raises then."""
    with pytest.raises((IndexError, ValueError, S2SADError)):
        grad(f)(X)
