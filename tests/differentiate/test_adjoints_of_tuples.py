"""Adjoints of tuples of parameters: lists that are made once, and added to where the items are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, vjp
from tests.oracle import numeric_gradient, richardson_jvp

RNG = np.random.default_rng(6)
P = (0.7, RNG.standard_normal((2, 3)), RNG.standard_normal(3))


def in_branches(p, c):
    y = p[1].mean() * p[0] if c > 0 else p[2][-1] * p[0]
    return y * np.mean(p[2]) + np.sin(y)


def before_a_loop(p, c):
    y = c
    for i in range(3):
        if y > 0.2 * i:
            y = np.cos(y) * p[0]
        else:
            y = y + p[2][i] * p[1][0, i]
    return np.sin(y) * p[0] + np.sum(p[1]) * 0.1


def left_early(p, c):
    y = c * p[0]
    for row in p[1]:
        y = np.tanh(y + row @ p[2])
        if y < 0.0:
            return y * p[2][0]
    return y * y + np.sum(p[2])


def swapped(p, c):
    a, b = p[1][0], p[2]
    q = (a, b) if c > 0 else (b, a * p[0])
    for i in range(2):
        q = (q[1], np.sin(q[0]) * p[0]) if i > c else (q[0] * q[1], q[1])
    return np.sum(q[0] * q[1])


FUNCTIONS = [in_branches, before_a_loop, left_early, swapped]


def moved(p: Any, way: Any, step: float) -> Any:
    return tuple([x + step * d for x, d in zip(p, way, strict=True)])


@pytest.mark.parametrize("c", [0.6, -0.4])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_first_and_second_derivatives(f: Callable[..., Any], c: float) -> None:
    ways = [tuple([RNG.standard_normal(np.shape(x)) for x in P]) for _ in range(2)]
    way = (float(ways[0][0]), *ways[0][1:])
    gradient = grad(f)(P, c)
    for n, part in enumerate(gradient):
        expected = numeric_gradient(lambda x, n=n: f((*P[:n], x, *P[n + 1 :]), c), (P[n],), 0)
        np.testing.assert_allclose(part, expected, rtol=1e-6, atol=1e-8)

    def slope(step: float) -> float:
        return sum(float(np.sum(g * d)) for g, d in zip(grad(f)(moved(P, ways[1], step), c), way, strict=True))

    (product,) = vjp(grad(f), P, c, argnums=(0,))[1](way)
    found = sum(float(np.sum(g * d)) for g, d in zip(product, ways[1], strict=True))
    np.testing.assert_allclose(found, richardson_jvp(slope, (0.0,), (1.0,)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [in_branches, before_a_loop], ids=lambda f: f.__name__)
def test_lists_are_made_once(f: Callable[..., Any]) -> None:
    text = grad(f).source_for(P, 0.6)
    assert "add(" not in text
    assert "fresh(" not in text
