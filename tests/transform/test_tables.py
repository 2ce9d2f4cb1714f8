"""Long lists of objects of one shape: they are lists of tuples in the new program."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of

#: More than are written out.
X = np.linspace(0.5, 1.2, 70)
CLASSES = """
from collections import namedtuple
from dataclasses import dataclass, field
class Section:
    def __init__(self, r, c):
        self.r, self.c = r, c
    def force(self, v):
        return self.c ** 2 * v + self.r
    def __mul__(self, k):
        return type(self)(self.r, self.c * k)
@dataclass
class Data:
    r: float
    c: float
    scale: float = 2.0
    law: object = field(default_factory=lambda: np.tanh)
    @property
    def size(self):
        return self.law(self.c) * self.scale
    def force(self, v):
        return self.size * v + self.r
    def __mul__(self, k):
        return Data(self.r, self.c * k, self.scale)
class Named(namedtuple("Named", "r c")):
    def force(self, v):
        return self.c * v + self.r
    def __mul__(self, k):
        return Named(self.r, self.c * k)
class Inner:
    def __init__(self, c):
        self.c = c
class Outer:
    def __init__(self, r, c):
        self.inner, self.pair, self.one = Inner(c), [r, c], None
    @property
    def r(self):
        return self.pair[0]
    @property
    def c(self):
        return self.inner.c if self.one is None else 0.0
    def force(self, v):
        return self.inner.c * v * self.pair[1] + self.r
    def __mul__(self, k):
        return Outer(self.r, self.c * k)
class One:
    r = 0.5
    def __init__(self, r, c):
        self.c = c
    def force(self, v):
        return np.sin(self.c) * v
    def __mul__(self, k):
        return One(None, self.c * k)
class Holder:
    def __init__(self, rows):
        self.rows = rows
    def total(self):
        return sum(row.force(0.5) for row in self.rows)
def total(rows):
    found = 0.0
    for row in rows:
        if row.c > 0.79925:
            found = found + row.force(2.0)
    return found
"""
RECORDS = ("Section", "Data", "Named", "Outer", "One")
MAKERS = {
    "comprehension": "    rows = [{}(r, c) for r, c in zip(np.linspace(0.2, 1.0, len(x)), x)]",
    "some": "    rows = [{}(k, c) for k, c in enumerate(x) if c > 0.5964]",
    "append": "    rows = []\n    for k in range(len(x)):\n        rows.append({}(len(rows), x[k]))",
    "while": (
        "    rows, k = [], 0\n    while k < 69:\n        if x[k] < 1.1036:\n"
        "            rows.append({}(k, x[k]))\n        k += 1"
    ),
    "others": "    rows = [row * 2.0 for row in [{}(0.5, c) for c in x]]",
}
USES = {
    "loop": "t = 0.0\n    for row in rows:\n        t += row.c * (1 + row.r)\n    return t",
    "sum": "return sum(row.force(0.5) for row in rows) + len(rows)",
    "lists": "return np.trapezoid([row.c ** 2 for row in rows], [row.r * k for k, row in enumerate(rows)])",
    "pairs": "return sum(a.c * b.c for a, b in zip(rows, rows[1:])) + rows[-1].c",
    "counted": "return sum([rows[k].c * rows[k].r for k in range(1, 5)]) + rows[len(rows) // 2].force(1.0)",
    "reversed": "t = 0.3\n    for k, row in enumerate(reversed(rows)):\n        t = 0.9 * t + row.c * k\n    return t",
    "extreme": "row = max(rows, key=lambda row: row.c)\n    return row.c + min(rows, key=lambda row: row.c).force(1.0)",
    "sorted": "return sum([row.c * k for k, row in enumerate(sorted(rows, key=lambda row: -row.c))])",
    "function": "return total(rows) * total(rows[3:])",
    "held": "h = Holder(rows)\n    return h.total() * h.rows[2].c",
    "popped": "t = 0.0\n    while rows:\n        t = 0.5 * t + rows.pop().c\n    return t",
}


def check(f: Any) -> None:
    wanted = numeric_gradient(f, (X,))
    assert np.allclose(grad(f)(X), wanted, rtol=1e-6, atol=1e-8)
    assert np.isclose(jvp(f, (X,), (np.cos(X),))[1], np.sum(np.cos(X) * wanted), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("record", "maker", "use"),
    [case for number, case in enumerate(itertools.product(RECORDS, MAKERS, USES)) if number % 9 == 0],
)
def test_long_lists(record: str, maker: str, use: str) -> None:
    body = f"{MAKERS[maker].format(record)}\n    {USES[use]}"
    check(function_of(f"{CLASSES}\ndef f(x):\n{body}\n"))


@pytest.mark.parametrize("record", ["Section", "Data", "Outer"])
def test_second_derivatives_and_lists_of_any_length(record: str) -> None:
    body = f"{MAKERS['while'].replace('69', 'len(x)').format(record)}\n    {USES['sum'].replace('+ len(rows)', '** 2')}"
    f = function_of(f"{CLASSES}\ndef f(x):\n{body}\n")
    wanted = richardson_jvp(grad(f), [X], [np.cos(X)])
    assert np.allclose(hvp(f, (X,), (np.cos(X),)), wanted, rtol=1e-5, atol=1e-7)
    for x in (X[:0], X[:1], X[:5]):
        assert np.allclose(grad(f)(x), numeric_gradient(f, (x,)))


#: What does to objects in the list, or to the list, what tuples do not show.
OTHER = (
    "rows[0].c = 5.0\n    return sum(row.c for row in rows)",
    "for row in rows:\n        row.c = row.c * 2\n    return sum(row.c for row in rows)",
    "first = Section(1.0, x[0])\n    rows.append(first)\n    first.c = 3.0\n    return sum(row.c for row in rows)",
    "n = 0\n    for row in rows:\n        if row is rows[0]:\n            n += 1\n    return rows[1].c * n",
    "more = rows + [Section(1.0, x[0])]\n    return sum(row.c for row in more)",
    "d = {'rows': rows}\n    d['rows'].append(Section(1.0, x[1]))\n    return sum(row.c for row in rows)",
    "rows.append(x[0])\n    return rows[0].c + rows[-1]",
    "rows.append(Data(1.0, x[0]))\n    return sum(row.force(1.0) for row in rows)",
    "rows[1] = Section(1.0, x[0])\n    return sum(row.c for row in rows)",
    "for row in rows:\n        rows[0].c += row.c\n    return rows[0].c",
    "return sum(row.c for row in rows) + (1.0 if isinstance(rows[0], tuple) else x[0])",
    "return sum(row.c for row in rows) + len(rows[0].__dict__) + (rows[0] == rows[1])",
    "a, *b = rows\n    return a.c + sum(row.c for row in b)",
)


@pytest.mark.parametrize("use", OTHER)
def test_what_tuples_do_not_show(use: str) -> None:
    """It is right or refused."""
    f = function_of(f"{CLASSES}\ndef f(x):\n{MAKERS['comprehension'].format('Section')}\n    {use}\n")
    try:
        found = grad(f)(X)
    except UnsupportedError:
        return
    assert np.allclose(found, numeric_gradient(f, (X,)))
