"""Containers of constants that a ``try`` has changed when it raises, against differences in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.45, 0.62, 0.81])


def stored(x: Any) -> Any:
    """The handler reads the list as it is when the body raises."""
    c = [1.0, 2.0]
    try:
        c[0] = 5.0
        c[7]
    except IndexError:
        x = x * c[0]
    return np.sum(x**2) * c[0]


def swapped(x: Any) -> Any:
    c = [1.0, 3.0]
    try:
        c[0], c[1] = c[1], c[0]
        c[7]
    except IndexError:
        pass
    return np.sum(x**2) * c[0]


def by_a_function(x: Any) -> Any:
    c = [1.0, 2.0]

    def change() -> float:
        c[0] = 5.0
        return c[7]

    try:
        change()
    except IndexError:
        x = x * c[0]
    return np.sum(x**2) + sum(c)


def grown(x: Any) -> Any:
    c = [1.0, 2.0]
    d = {"a": 1.0}
    try:
        c.append(3.0)
        d["b"] = 4.0
        c.pop(0)
        d["a"] += 2.0
        c[7]
    except IndexError:
        x = x * d["a"] + c[0]
    return np.sum(x**2) * sum(c) * sum(d.values()) * len(c)


def raised_again(x: Any) -> Any:
    """A handler that raises, and what catches that, read it as it is by then."""
    c = [1.0, 2.0]
    try:
        try:
            c[0] = 5.0
            c[7]
        except IndexError:
            raise ValueError from None
        finally:
            c[1] = c[0]
    except ValueError:
        x = x * c[1]
    return np.sum(x**2) + sum(c)


def nested(x: Any) -> Any:
    c = [1.0, 2.0]
    k = 1.0
    try:
        c[1] = c[0] * 2.0
        try:
            c[0] = 9.0
            c[7]
        except KeyError:
            k = 5.0
    except IndexError:
        k = c[0]
    return np.sum(x**2) * k * c[1]


@pytest.mark.parametrize("f", [stored, swapped, by_a_function, grown, raised_again, nested], ids=lambda f: f.__name__)
def test_changed_when_it_raises(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,))
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    assert np.allclose(gradient, expected, rtol=1e-7)
    value, tangent = jvp(f, (X,), (np.arange(4.0),))
    assert value == f(X)
    assert np.allclose(tangent, expected @ np.arange(4.0), rtol=1e-7)
