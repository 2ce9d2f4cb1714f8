"""Dicts of the module with pairs as keys: bonds between atoms, flows from one compartment to another."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import names_of

X, WAY = np.array([0.3, 0.5, 0.7]), np.array([1.0, -0.5, 2.0])
PROGRAMS = {
    "functions": """
R = {('a', 'b'): lambda x: x ** 2, ('b', 'c'): np.sin}
def f(x):
    s = 0.0
    for (i, j), g in R.items():
        s = s + g(x[0]) * len(i) + x[1]
    return s
""",
    "pairs": """
K = {(0, 1): 2.0, (1, 2): 0.5, (0, 2): 1.5}
def f(x):
    e = 0.0
    for (i, j), k in K.items():
        e += k * (x[i] - x[j]) ** 2
    return e
""",
    "items": """
K = {(0, 1): 2.0, (1, 2): 0.5, (0, 2): 1.5}
def f(x):
    return sum(K[i, j] * (x[i] - x[j]) ** 2 for i in range(3) for j in range(i + 1, 3))
""",
    "get": """
K = {('a', 'b'): 2.0}
def f(x):
    return x[0] * K.get(('a', 'b'), 1.0) + x[1] * K.get(('b', 'a'), 3.0)
""",
    "objects": """
class O:
    def __init__(self, k): self.k = k
    def e(self, x): return self.k * x ** 2
K = {(0, 1): O(2.0), (1, 2): O(0.5)}
def f(x):
    return sum(o.e(x[i] - x[j]) for (i, j), o in K.items())
""",
    "set": """
K = {(0, 1): 2.0, (1, 2): 0.5}
def f(x):
    K[0, 1] = x[0]
    K[(1, 2)] = K[0, 1] * x[1]
    return K[1, 2] ** 2
""",
    "states": """
import collections
State = collections.namedtuple("State", "S I R")
RATES = {("S", "I"): lambda s, p: p["beta"] * s.S * s.I, ("I", "R"): lambda s, p: p["gamma"] * s.I}
def step(s, p, dt):
    d = dict.fromkeys(State._fields, 0.0)
    for (source, target), rate in RATES.items():
        flow = rate(s, p) * dt
        d[source] -= flow; d[target] += flow
    return State(**{k: getattr(s, k) + v for k, v in d.items()})
def f(x):
    s = State(0.99, 0.01, x[2])
    for _ in range(10):
        s = step(s, dict(beta=x[0], gamma=x[1]), 0.2)
    return s.I + s.R ** 2
""",
    "keys": """
K = {(0, 1): 2.0, (1, 2): 0.5}
def f(x):
    return sum(x[i] * x[j] for i, j in K)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    expected = numeric_gradient(lambda x: names_of(PROGRAMS[name])["f"](x), (X,))
    np.testing.assert_allclose(grad(names_of(PROGRAMS[name])["f"])(X), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(names_of(PROGRAMS[name])["f"], (X,), (WAY,))[1], expected @ WAY, rtol=1e-7)


def test_another_pair_is_noticed() -> None:
    module = names_of(PROGRAMS["pairs"])
    derivative = grad(module["f"])
    before = derivative(X)
    module["K"][2, 0] = 1.0
    np.testing.assert_allclose(derivative(X), before + 2.0 * (X[2] - X[0]) * np.array([-1.0, 0.0, 1.0]))
