"""A list that a branch gives another name is one object: what changes it later is seen by both names, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient
from tests.sources import function_of

X = np.array([0.8, 0.5, -1.2])
HEAD = """
def put(q, v):
    q.append(v)

def pick(u, v, s):
    return u if s > 0.0 else v

def early(u, s):
    if s > 0.0:
        return u
    return [1.0]

def f(x):
    s = x[0] * x[1]
    h = [x[0], x[1], s]
    c = [x[2]]
"""
#: What gives `h` another name where nobody knows it when the program is compiled.
NAMES = {
    "expression": "g = h if s > 0.0 else []",
    "of one length": "g = h if s > 0.0 else [s, s, 1.0]",
    "statement": "if s > 0.0:\n        g = h\n    else:\n        g = [s]",
    "or": "g = (h if s > 0.0 else None) or []",
    "and": "g = s > 0.0 and h or [s]",
    "nested": "g = (h if s > 0.0 else []) if x[2] < 0.0 else [s]",
    "held": "g = ([h] if s > 0.0 else [c, c])[0]",
    "of two lists": "g = h if s > 0.0 else c",
    "of a call": "g = pick(h, [], s)",
    "of an early return": "g = early(h, s)",
    "of a comprehension": "g = [q for q in ([h] if s > 0.0 else [])][0]",
}
CHANGES = {
    "appended": "h.append(s)",
    "set": "h[0] = 2 * s",
    "loop": "for i in range(3):\n        h.append(0.3)",
    "popped": "h.pop()",
    "other name": "g.append(s * s)",
    "lambda": "(lambda: h.append(x[0]))()",
    "call": "put(h, s)",
    "augmented": "h += [s]",
    "branch": "if x[2] < 0.0:\n        h.append(s)",
}


@pytest.mark.parametrize("named", NAMES)
def test_changes_are_seen(named: str) -> None:
    for number, (change, line) in enumerate(CHANGES.items()):
        f = function_of(f"{HEAD}    {NAMES[named]}\n    {line}\n    return sum(g) + 2.0 * sum(h) * len(h)")
        expected = numeric_gradient(f, (X,))
        try:
            if number % 2:
                value, dot = jvp(f, (X,), (np.ones(3),))
                np.testing.assert_allclose([value, dot], [f(X), expected.sum()], rtol=1e-7, err_msg=change)
            else:
                np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7, err_msg=change)
        except UnsupportedError as error:
            refused = ("another name", "not surely a list", "written in place", "may change or return it")
            assert any(part in str(error) for part in refused), error  # noqa: PT017


@pytest.mark.parametrize("named", ["expression", "statement", "of two lists", "of an early return"])
def test_lists_that_stay_as_they_are(named: str) -> None:
    f = function_of(f"{HEAD}    {NAMES[named]}\n    return sum(v * v for v in g) + 2.0 * sum(h) * len(h)")
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)
    rebound = function_of(f"{HEAD}    {NAMES[named]}\n    h = h + [s]\n    return sum(v * v for v in g) + sum(h)")
    np.testing.assert_allclose(grad(rebound)(X), numeric_gradient(rebound, (X,)), rtol=1e-7)
