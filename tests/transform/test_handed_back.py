"""What a function of its own is given and hands back as it is: its caller has that, with all that is known of it."""
# ruff: noqa: UP031

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([[1.0, 2.0], [0.5, 1.0], [0.3, 0.2]])


class Model:
    """With a constructor that is too long to be inlined."""

    def __init__(self, rate: Any, rounds: Any = 3, shown: Any = 0) -> None:
        self.started = 0
        for k in range(2):
            self.started = k
        self.rate = rate
        self.rounds = rounds
        self.shown = shown
        if not rounds > 0:
            raise ValueError("how often?")

    def show(self, round_: Any, cost: Any) -> None:
        if self.shown > 0:
            text = "round %d %.2f" % (round_, cost)
            if self.shown > 1:
                if not hasattr(self, "title"):
                    self.title = "first"
                text = text + self.title
                self.title = "again"
            print(text)

    def fit(self, x: Any) -> Model:
        self.w = np.zeros(2)
        for i in range(self.rounds):
            self.w += self.rate * x.T.dot(1.0 - x @ self.w)
            cost = np.sum((x @ self.w) ** 2)
            if self.shown:
                self.show(i + 1, cost)
        return self


def quiet(p: Any) -> Any:
    model = Model(p[0])
    model.fit(X * p[1])
    return np.sum(model.w**2)


def loud(p: Any) -> Any:
    return np.sum(Model(p[0] * 0.5, 2, 2).fit(X * p[1]).w ** 2)


class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        for _ in range(2):
            a = a + 0.0
        self.a, self.b = a, b

    def swapped(self, twice: Any) -> Pair:
        for _ in range(1):
            self.count = 1
        self.a, self.b = self.b, self.a
        if twice:
            self.a, self.b = self.b, self.a
        return self


def exchanged(p: Any) -> Any:
    """Hands back one parameter or the other, by a condition."""
    pair = Pair(p[0], p[1]).swapped(p[0] > 5.0)
    return pair.a * pair.b**2


def one_of(a: Any, b: Any, c: Any) -> Any:
    for _ in range(2):
        c = c + 1
    if c > 3:
        return a, b, c
    return b, a, c


def chosen(p: Any) -> Any:
    a, b, c = one_of(p[0], p[1], 0.5)
    d, e, f = one_of(p[0], p[1], 5)
    return a * b**2 * c + d * e**3 * f


def same(a: Any, more: Any) -> Any:
    for _ in range(2):
        more = more + 1
    return a


def in_an_expression(p: Any) -> Any:
    model = Model(p[0])
    return sum(same(x, model.rate) * model.rate for x in (p[0], p[1], 2.0))


def written_later(p: Any) -> Any:
    y = p * 2.0
    z = same(y, 1)
    y[0] = p[1]
    return np.sum(z * y)


CASES = [quiet, loud, exchanged, chosen, in_an_expression, written_later]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_what_is_handed_back_is_what_was_given(f: Any) -> None:
    p = np.array([0.1, 0.4])
    expected = numeric_gradient(f, (p,))
    np.testing.assert_allclose(grad(f)(p), expected, rtol=1e-6)
    value, dot = jvp(f, (p,), (np.array([1.0, 0.0]),))
    assert value == f(p)
    np.testing.assert_allclose(dot, expected[0], rtol=1e-6)


def test_constants_that_a_constructor_is_given_stay_known() -> None:
    text = grad(quiet).source_for(np.array([0.1, 0.4]))
    assert "shown = " not in text
    assert "rounds = " not in text
