"""Objects that methods of existing objects make, whose classes are attributes of these."""

from __future__ import annotations

import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import names_of

RATINGS = """
class Rating:
    def __init__(self, mu, sigma):
        self.mu, self.sigma = mu, sigma

    def ordinal(self):
        return self.mu - 3 * self.sigma


class Model:
    def __init__(self):
        self.mu, self.made = 25.0, Rating

    def rating(self, mu=None, sigma=2.0):
        return self.made(mu if mu is not None else self.mu, sigma)

    def total(self, ratings):
        return sum(r.ordinal() * r.mu for r in ratings)

    def best(self, ratings):
        first = sorted(ratings, key=lambda r: r.ordinal(), reverse=True)[0]
        return first.mu * first.sigma


MODEL = Model()
"""
PROGRAMS = {
    "class that is an attribute": "def f(x): return MODEL.total([MODEL.rating(x), MODEL.rating(2 * x, x)])",
    "beside one of default values": "def f(x): return MODEL.total([MODEL.rating(x), MODEL.rating()])",
    "in an order that depends on both": """
def f(x):
    return MODEL.best([MODEL.rating(x), MODEL.rating()]) + MODEL.best([MODEL.rating(30 * x), MODEL.rating(sigma=1.0)])
""",
    "changed": """
def f(x):
    pair = [MODEL.rating(), MODEL.rating(x)]
    for r in pair:
        r.mu = r.mu * x
    return MODEL.total(pair)
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_objects_made_by_methods_of_existing_objects(text: str) -> None:
    f = names_of(RATINGS + text)["f"]
    expected = numeric_gradient(f, (2.0,))
    assert grad(f)(2.0) == pytest.approx(expected)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(expected)


def test_a_class_that_is_another_one_later_is_followed() -> None:
    names = names_of(RATINGS + PROGRAMS["class that is an attribute"])
    df, model = grad(names["f"]), names["MODEL"]
    before = df(2.0)

    class Doubled(names["Rating"]):  # type: ignore[misc]
        def ordinal(self) -> float:
            return float(2 * self.mu)

    model.made = Doubled
    assert df(2.0) == pytest.approx(numeric_gradient(names["f"], (2.0,)))
    assert df(2.0) != before


def test_methods_of_existing_objects_in_functions_that_are_given_them() -> None:
    f = names_of("""
        import numpy as np, warnings
        class C:
            def __init__(self, per): self.per = per
            def amount(self): return len(self.per)
        COMP = C([2, 3])
        class P:
            def __init__(self, c, a): self.c = c; self.a = a
            def amount(self): return self.c.amount() * self.a
        class M:
            def __init__(self, p): self.p = p; self.v = 0.0; self.ok = False
            def w(self): return self.p.amount() * np.ones(3)
            def fit(self, y):
                w = self.w()
                u = np.zeros(3)
                with warnings.catch_warnings():
                    for t in range(3):
                        u[t] = w[t]*y[t]
                self.v = np.sum(u)
                return self
        def f(x):
            m = M(P(COMP, x)).fit(np.arange(3.0))
            return m.v * 2.0
        """)["f"]
    assert grad(f)(2.0) == pytest.approx(12.0)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(12.0)
