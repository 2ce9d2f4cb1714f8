"""Rows of tables of which it is not known that they are lists, and into which numbers are written in loops."""

import copy

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from s2sad.runtime.zero_tangents import viewed_tangent
from tests.oracle import numeric_gradient
from tests.sources import function_of

TABLES = {
    "comprehensions": "[[0.0 for _ in range(n)] for _ in range(m)]",
    "a list": "[[0.0] * 3, [0.0] * 3, [0.0] * 3]",
    "dicts": "{0: {0: 0.0, 1: 0.0, 2: 0.0}, 1: {0: 0.0, 1: 0.0, 2: 0.0}}",
    "arrays": "[np.zeros(3), np.zeros(3), np.zeros(3)]",
}
WRITES = {
    "in one loop": "for j in range(n):\n        t[0][j] = w[j] * p[j] * p[0]",
    "in loops": "for i in range(m):\n        for j in range(n):\n            t[i][j] = w[i] * p[j] * p[i] + t[0][j]",
    "of changing rows": (
        "s1, s2 = 0, 1\n    for j in range(1, n):\n        t[s2][j] = w[j] * p[j] + t[s1][0]\n        s1, s2 = s2, s1"
    ),
    "by a name": (
        "for i in range(m):\n        row = t[i]\n        for j in range(n):\n            row[j] = w[j] * p[j] * p[i]"
    ),
}
TEXT = """
def weights():
    # Of what this returns no type is known.
    return eval("[1.0, 2.0, 3.0]")

def table(p, n, m):
    w = weights()
    t = {table}
    {write}
    return t

def f(p, scale):
    n = int(np.ceil(scale * 3))
    t = table(p, n, 2)
    return t[0][1] * t[0][2] + t[1][0] * 2.0 + t[1][1]
"""


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", [float, np.float64])
def test_tangents_are_written_into_the_rows(kind, table, write):
    f = function_of(TEXT.format(table=TABLES[table], write=WRITES[write]))
    p, scale = [kind(0.7), kind(-1.2), kind(0.4)], np.array(0.9)
    expected = numeric_gradient(lambda p: f(list(p), scale), (np.array(p),))
    for derivative in (
        lambda: grad(f)(p, scale),
        lambda: [jvp(f, (p, scale), (list(unit), None))[1] for unit in np.eye(3)],
    ):
        try:
            found = derivative()
        except S2SADError:
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


HELD = {
    "itself": ([1.0, 2.0], lambda t: t),
    "a row": ([[1.0, 2.0], [3.0]], lambda t: t[1]),
    "a row of a dict": ({"a": [1.0], "b": [2.0, 3.0]}, lambda t: t["b"]),
    "a dict in a list": ([{"a": 1.0}, {"a": 2.0}], lambda t: t[1]),
    "a new list of rows": ([[1.0], [2.0]], lambda t: [t[1], t[0]]),
}


@pytest.mark.parametrize(("whole", "part"), HELD.values(), ids=HELD)
def test_the_tangent_of_a_container_is_in_that_of_what_holds_it(whole, part):
    whole_dot = copy.deepcopy(whole)
    x = part(whole)
    found = viewed_tangent(x, whole, whole_dot, copy.deepcopy(x))
    (row, dot) = (x[0], found[0]) if isinstance(x, list) and isinstance(x[0], list) else (x, found)
    key = "a" if isinstance(row, dict) else 0
    row[key] = dot[key] = 7.0
    assert whole_dot == whole
