"""``itertools.tee`` and ``groupby``: an item is what it is when it is first asked for, whoever asks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_both_modes

PROGRAM = """
import itertools

def f(x):
    seen, s = [x[1]], 1.0
    rows = [[0, x[0]], [0, x[1]], [1, x[2]], [1, x[0] * x[1]]]
    def asked(row):
        seen.append(row[1] * len(seen))
        return row
    def key(row):
        seen.append(row[1])
        return row[0]
    {asks}
    return s * x[2] + sum(seen) * len(seen)
"""
SOURCES = {
    "list": "rows",
    "tuple": "tuple(rows)",
    "iterator": "iter(rows)",
    "generator expression": "(asked(row) for row in rows)",
    "map": "map(asked, rows)",
    "new items": "[[row[0], row[1] * 2] for row in rows]",
    "new items later": "([row[0], row[1] * s] for row in rows)",
}
CHANGES = {"no change": "pass", "an item": "rows[3][1] = s * x[0]", "its place": "rows[2] = [0, s * x[1]]"}
ASKS = {
    "in turns": """a, b = itertools.tee({source})
    s = next(a)[1] * next(a)[1]
    {change}
    s = s * next(b)[1] + sum(row[1] for row in b)
    {change}
    s += sum(row[1] for row in a) * len(seen)""",
    "pairs": """a, b = itertools.tee({source})
    next(b, None)
    for p, q in zip(a, b):
        s += p[1] * q[1]
        {change}""",
    "three": """a, b, c = itertools.tee({source}, 3)
    for p, q in zip(c, a):
        s += p[1] * q[1] * len(seen)
        {change}
    s += sum(row[1] for row in b)""",
    "all of a group": """for k, group in itertools.groupby({source}, key):
        s += sum(row[1] for row in group) * (k + 1) * len(seen)
        {change}""",
    "the first of a group": """for k, group in itertools.groupby({source}, key=key):
        s += next(group)[1] * len(seen)
        {change}""",
    "no group": """for k, group in itertools.groupby({source}, key):
        {change}
        s = s * x[0] + len(seen)""",
    "groups that are past": """groups = list(itertools.groupby({source}, key))
    {change}
    s += sum(len(list(group)) + k for k, group in groups) * x[1]""",
    "one group": """k, group = next(itertools.groupby({source}, key))
    {change}
    s += next(group)[1] * x[0] + len(seen)
    s += sum(row[1] for row in group) * len(seen)""",
}


@pytest.mark.parametrize(("source", "change", "asks"), list(itertools.product(SOURCES, CHANGES, ASKS)))
def test_an_item_is_what_it_is_when_it_is_asked_for(source: str, change: str, asks: str) -> None:
    body = ASKS[asks].format(source=SOURCES[source], change=CHANGES[change])
    check_both_modes(function_of(PROGRAM.format(asks=body)), np.array([0.3, 0.7, -0.4]), np.array([0.3, -0.5, 0.8]))
