"""Stars of displays and calls, and what stands behind them and changes what they run through."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_every_way

TEXT = """
class V:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z
    def __iter__(self):
        yield self.x
        yield self.y
        yield self.z
    def shift(self):
        self.x, self.y, self.z = self.y, self.z, self.x * 2.0
        return self.x
def g(a, b, c, d=1.0):
    return a * a * b + c * c * c * d
def turned(h, q):
    h.reverse()
    return q
def f(x):
    {made}
    return {result}
"""
LIST, OBJECT, DICT = "h = [x[0], x[1] * 2.0]", "v = V(*x)", "d = dict(a=x[0])"
CASES = [
    (LIST, "weighed([*h, turned(h, x[2])])"),
    (LIST, "weighed([turned(h, x[2]), *h])"),
    (LIST, "weighed([*h, turned(h, x[2]), *h])"),
    (LIST, "weighed((*h, h.reverse(), x[2]))"),
    (LIST, "weighed([*h, h.pop()])"),
    (LIST, "weighed((*h, [h.pop(0), h.insert(0, x[2])]))"),
    (LIST, "weighed([*h, (h := [x[2]])[0], *h])"),
    (LIST, "len({*h, h.append(x[2])}) * x[0]"),
    (LIST, "g(*h, turned(h, x[2]))"),
    (LIST, "g(x[2], *h, d=turned(h, x[1]))"),
    # Alone, it is run through when the call is made.
    (LIST, "g(*h, c=turned(h, x[2]))"),
    (LIST, "g(*h, turned(h, x[2]), d=turned(h, x[1]))"),
    (OBJECT, "weighed([*v, v.shift()])"),
    (OBJECT, "weighed((*v, v.shift(), *v))"),
    (OBJECT, "g(*v, d=v.shift())"),
    (DICT, "sum({**d, 'b': d.pop('a') * 2.0}.values()) * x[1]"),
    (DICT, "g(**d, b=d.setdefault('b', x[1]), c=x[2])"),
    (DICT, "g(**d, b=turned([], x[1]) * d.pop('a'), c=x[2])"),
    ("a = x * 1.0", "weighed([*a, a.fill(2.0), *a])"),
]
WEIGHED = """
def weighed(items):
    total = 0.0
    for k, item in enumerate(items):
        if isinstance(item, list):
            item = item[0]
        if item is not None:
            total = total + (k + 1.0) * item * item
    return total
"""


@pytest.mark.parametrize(("made", "result"), CASES)
def test_right(made: str, result: str) -> None:
    check_every_way(function_of(WEIGHED + TEXT.format(made=made, result=result)), np.array([1.2, 0.7, 0.4]))
