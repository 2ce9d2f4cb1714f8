"""Attributes of `functools.cached_property`, in blocks where it is not known at once whether they are there."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_every_way, check_right_or_refused

TEXT = """
import warnings
from functools import cached_property
NUMBER = [0]
class S:
    def __init__(self, r, b):
        self.r, self.b, self.calls = r, b, 0
    @cached_property
    def rate(self):
        self.calls += 1
        return self.r * np.exp(-self.b)
    @cached_property
    def twice(self):
        return 2.0 * self.rate
    def at(self, v):
        return self.b / (v + self.rate)
def f(x):
    s = S(x[0], x[1])
{program}
    return t * s.calls + x[2]
"""
BLOCKS = {
    "with": "    with np.errstate(all='ignore'):\n{body}",
    "a manager": "    with warnings.catch_warnings():\n        warnings.simplefilter('ignore')\n{body}",
    "try": "    try:\n{body}    except ValueError:\n        t = 0.0\n",
    "finally": "    try:\n{body}    finally:\n        s.b = x[2]\n",
    "for": "    for k in (1, 2):\n{body}",
    "for that has been": "    s.rate\n    for k in range(2):\n{body}",
    "if": "    t = 1.0\n    if x[2] > 0.0:\n{body}",
}
BODIES = {
    "read": "s.rate",
    "read twice": "s.rate * s.rate",
    "by a method": "s.at(9.0)",
    "by another": "s.twice * s.rate",
    "by a comprehension": "sum([s.at(v) for v in (9.0, 8.0)])",
}
X, WAY = np.array([1.2, 0.7, 0.4]), np.array([0.3, -0.8, 1.1])
LATER = "", "    s.r = 5.0\n    t = t + s.rate\n", "    del s.rate\n    s.r = x[2]\n    t = t + s.rate\n"


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("block", BLOCKS)
def test_right(block: str, body: str, later: str) -> None:
    program = BLOCKS[block].format(body=f"        t = {BODIES[body]}\n") + later
    f = function_of(TEXT.format(program=program))
    if block == "if" or "del" in later:
        check_right_or_refused(f, X, WAY)
    else:
        check_every_way(f, X)


SETTING = """
from functools import cached_property
class S:
    def __init__(self, r):
        object.__setattr__(self, "r", r)
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 3.0)
    @cached_property
    def rate(self):
        return self.r * self.r
def f(x):
    s = S(x[0] * x[1])
{program}
    return t * s.rate + x[2]
"""


@pytest.mark.parametrize("block", ["with", "try", "for", "for that has been", "if"])
def test_is_put_there_whatever_the_class_does(block: str) -> None:
    """It goes into the ``__dict__``, and not through the ``__setattr__`` of the class."""
    program = BLOCKS[block].format(body="        t = s.rate\n")
    f = function_of(SETTING.format(program=program))
    if block == "if":
        check_right_or_refused(f, X, WAY)
    else:
        check_every_way(f, X)
