"""Deques and dicts with default values that loops over many items change: lists and dicts stand for them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient
from tests.sources import function_of

#: More than are written out.
X = np.linspace(0.4, 1.1, 70)
LABELS = [number % 3 for number in range(70)]


def check(text: str, *args: Any) -> None:
    f = function_of(f"from collections import OrderedDict, defaultdict, deque\n{text}")
    wanted = numeric_gradient(f, (X, *args))
    assert np.allclose(grad(f)(X, *args), wanted, rtol=1e-6, atol=1e-8)
    found = jvp(f, (X, *args), (np.cos(X), *[None] * len(args)))[1]
    assert np.isclose(found, np.sum(np.cos(X) * wanted), rtol=1e-6, atol=1e-8)


DEQUES = {
    "bounded": "deque([1.0], maxlen=3)",
    "empty": "deque(maxlen=3)",
    "of one": "deque([0.5], 1)",
    "any length": "deque([0.5, 2.0])",
}
PUTS = {
    "append": "q.append(v * t)",
    "appendleft": "q.appendleft(v + t)",
    "pop": "q.append(v)\n        if len(q) > 2:\n            t = t + q.pop()",
    "popleft": "q.append(v * v)\n        if len(q) > 1:\n            t = 0.5 * t + q.popleft()",
}
READS = {
    "items": "t = 0.3 * t + (0.3 * np.tanh(q[0] * q[-1]) if q else 1.0)",
    "loop": "for item in reversed(q):\n            t = 0.9 * t + 0.1 * item",
    "sum": "t = 0.5 * t + sum(q) / (1 + len(q))",
    "set": "if q:\n            q[0] = q[0] * 0.5\n            t = 0.5 * t + q[0]",
}


@pytest.mark.parametrize(
    ("made", "put", "read"),
    [case for number, case in enumerate(itertools.product(DEQUES, PUTS, READS)) if number % 3 == 0],
)
def test_deques(made: str, put: str, read: str) -> None:
    body = f"    for v in x:\n        {PUTS[put]}\n        {READS[read]}\n"
    check(f"def f(x):\n    q, t = {DEQUES[made]}, 0.2\n{body}    return t + sum(q) + len(q)\n")


DICTS = {
    "numbers": ("defaultdict(float)", "d[k] += v * v", "d[0] * d[1] + d[7]"),
    "lists": ("defaultdict(list)", "d[k].append(v * v)", "sum([sum(held) ** 2 for held in d.values()]) + len(d[9])"),
    "function": ("defaultdict(lambda: x[3])", "d[k] = 0.9 * d[k] + v", "d[0] + d[5] * d[1]"),
    "given": ("defaultdict(float, {0: x[1]})", "d[k] = d[k] + v", "d[0] * d[2] + (1 if 5 in d else 2)"),
    "none": ("defaultdict(None, {0: x[1], 1: x[2]})", "d[min(k, 1)] *= 0.99 + 0.01 * v", "d[0] * d[1]"),
    "ordered": ("OrderedDict()", "d[k] = d.get(k, 0.1) + v * v", "sum([(k + 1) * v for k, v in d.items()])"),
}


@pytest.mark.parametrize("which", DICTS)
def test_dicts(which: str) -> None:
    made, put, read = DICTS[which]
    check(f"def f(x, ks):\n    d = {made}\n    for k, v in zip(ks, x):\n        {put}\n    return {read}\n", LABELS)


def test_a_history_of_pairs() -> None:
    """The two loops of L-BFGS."""
    check(
        """
def slope(x):
    return np.array([4 * x[0] ** 3 + x[1], 2 * x[1] + x[0]])
def direction(g, history):
    q, alphas = g.copy(), []
    for s, y, rho in reversed(history):
        alpha = rho * np.dot(s, q)
        q -= alpha * y
        alphas.append(alpha)
    if history:
        s, y, _ = history[-1]
        q *= np.dot(s, y) / np.dot(y, y)
    for (s, y, rho), alpha in zip(history, alphas[::-1]):
        q += (alpha - rho * np.dot(y, q)) * s
    return q
def f(x):
    history, p = deque(maxlen=2), x[:2]
    g = slope(p)
    for k in range(len(x) // 14):
        new = p - 0.05 * direction(g, history)
        s, y = new - p, slope(new) - g
        if np.dot(s, y) > 1e-12:
            history.append((s, y, 1.0 / np.dot(s, y)))
        p, g = new, slope(new)
    return p @ p
"""
    )


#: What sees more of a deque than its items: its class, its greatest length, itself.
SEEING = (
    "    p = (q, 1.0)\n    for v in x:\n        p[0].append(v)\n    return sum(p[0])",
    "    for v in x:\n        q.append(v)\n        r = q if v > 1 else []\n        r.append(v)\n    return sum(q)",
    "    for v in x:\n        q.append(v)\n    r = copy.copy(q)\n    r.append(x[0])\n    return sum(r)",
    "    for v in x:\n        q.append(v)\n        put(q, v)\n    return sum(q)",
    "    h = {'q': q}\n    for v in x:\n        h['q'].append(v)\n        h['q'].append(2 * v)\n    return sum(q)",
    "    for v in x:\n        q.append(v)\n    return sum(q) + q.maxlen",
    "    for v in x:\n        q.append(v)\n    return sum(q) * isinstance(q, list) + (3 if q == list(q) else x[0])",
)


SEEN = """
import copy
from collections import deque
def put(d, v):
    d.append(v)
    d.append(3 * v)
def f(x):
    q = deque(maxlen=2)
"""


@pytest.mark.parametrize("body", SEEING)
def test_what_sees_more_of_a_deque_sees_no_list(body: str) -> None:
    """It is right or refused."""
    f = function_of(f"{SEEN}{body}\n")
    try:
        found = grad(f)(X)
    except UnsupportedError:
        return
    assert np.allclose(found, numeric_gradient(f, (X,)))
