"""Methods of objects that exist: they fill arrays that they make, and change numbers as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes

X = np.array([0.8, 1.3, 0.6, 1.7, 0.4])
WAY = np.array([0.3, -0.7, 0.2, 0.5, -0.1])


@dataclass
class Reaction:
    left: dict[str, int]
    right: dict[str, int]
    k: int

    def rate(self, conc, ks):
        r = ks[self.k]
        for s, n in self.left.items():
            r *= conc[s] ** n
        return r


def _side(text):
    found: dict[str, int] = {}
    for term in text.split("+"):
        n, s = re.match(r"\s*(\d*)\s*(\w+)\s*", term).groups()
        found[s] = found.get(s, 0) + (int(n) if n else 1)
    return found


def parsed(text):
    reactions = []
    for line in text.strip().splitlines():
        equation, k = line.split(";")
        left, right = equation.split("->")
        reactions.append(Reaction(_side(left), _side(right), int(k)))
    return reactions


class Mechanism:
    def __init__(self, text):
        self.reactions = parsed(text)
        self.species = sorted({s for r in self.reactions for s in (*r.left, *r.right)})
        self.index = {s: i for i, s in enumerate(self.species)}

    def rhs(self, y, ks):
        conc = {s: y[i] for s, i in self.index.items()}
        dy = np.zeros(len(self.species))
        for r in self.reactions:
            v = r.rate(conc, ks)
            for s, n in r.left.items():
                dy[self.index[s]] -= n * v
            for s, n in r.right.items():
                dy[self.index[s]] += n * v
        return dy


TEXT = """
A + B -> C ; 0
C -> A + B ; 1
2 C -> D   ; 2
"""
MECHANISM = Mechanism(TEXT)


def made_inside(x):
    mechanism = Mechanism(TEXT)
    y = np.array([x[3], x[4] + 1, 0.1, 0.0])
    for _ in range(5):
        y = y + 0.02 * mechanism.rhs(y, x[:3])
    return np.sum(y * np.arange(1, 5))


def of_the_module(x):
    y = np.array([x[3], x[4] + 1, 0.1, 0.0])
    for _ in range(5):
        y = y + 0.02 * MECHANISM.rhs(y, x[:3])
    return np.sum(y * np.arange(1, 5))


def one_of_its_reactions(x):
    return MECHANISM.reactions[0].rate({"A": x[3], "B": x[4]}, x[:3])


@pytest.mark.parametrize("f", [made_inside, of_the_module, one_of_its_reactions])
def test_reactions(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


class Weights:
    def __init__(self):
        self.w = np.array([1.0, 2.0, 3.0, 4.0, 5.0])

    def scaled(self, x):
        w = self.w
        w[0] += 1.0
        return np.sum(w * x**2)


WEIGHTS = Weights()


def test_an_array_that_exists_is_no_new_one() -> None:
    """It is changed once for each call, as Python does."""
    from s2sad import value_and_grad

    def f(x):
        return WEIGHTS.scaled(x)

    WEIGHTS.w[0] = 1.0
    expected, after = f(X), WEIGHTS.w.copy()
    WEIGHTS.w[0] = 1.0
    value, gradient = value_and_grad(f)(X)
    assert value == expected
    np.testing.assert_array_equal(WEIGHTS.w, after)
    np.testing.assert_allclose(gradient, 2 * after * X)
