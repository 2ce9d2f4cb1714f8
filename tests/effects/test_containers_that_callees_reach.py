"""Lists, dicts and arrays inside of others that callees reach otherwise: two calls deep, returned, stored elsewhere."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.effects.test_changed_inside_of_arguments import CHANGES, HEAD, HOLDERS
from tests.sources import function_of
from tests.transform.remaining import check_right_or_refused

X = np.array([0.3, 0.5])
#: Programs: ``NEW`` makes the holder, ``PLACE`` is where the object is, ``CHANGE`` changes it as ``held`` by ``v``,
#: ``READ`` is where the change is read.
PROGRAMS = {
    "two calls deep": """
def inner(t, v):
    held = PLACE
    CHANGE
def g(t, v):
    inner(t, v * 2.0)
def f(x):
    t = NEW
    g(t, x)
    return np.sum(READ ** 2)
""",
    "returned": """
def g(t):
    return PLACE
def f(x):
    t = NEW
    held, v = g(t), x
    CHANGE
    return np.sum(READ ** 2)
""",
    "stored elsewhere": """
def g(others, t):
    others.append(PLACE)
def f(x):
    t, others, v = NEW, [], x
    g(others, t)
    held = others[0]
    CHANGE
    return np.sum(READ ** 2)
""",
    "stored and changed": """
def g(others, t, v):
    others.append(PLACE)
    held = others[0]
    CHANGE
def f(x):
    t = NEW
    g([], t, x)
    return np.sum(READ ** 2)
""",
    "in a branch": """
def g(t, v):
    held = PLACE
    if v[0] > 0.0:
        CHANGE
    else:
        held = None
def f(x):
    t = NEW
    g(t, x)
    return np.sum(READ ** 2)
""",
    "one of two": """
def g(t, other, v):
    held = PLACE if v[0] > 0.0 else other
    CHANGE
def f(x):
    t = NEW
    g(t, START, x)
    return np.sum(READ ** 2)
""",
    "by a function inside": """
def g(t, v):
    def inner(held):
        CHANGE
    inner(PLACE)
def f(x):
    t = NEW
    g(t, x)
    return np.sum(READ ** 2)
""",
    "by a closure": """
def f(x):
    t = NEW
    def inner(v):
        held = PLACE
        CHANGE
    inner(x)
    return np.sum(READ ** 2)
""",
    "beside a result": """
def g(t, v):
    held = PLACE
    CHANGE
    return np.sum(v)
def f(x):
    t = NEW
    s = g(t, x)
    return s + np.sum(READ ** 2)
""",
    "handed back": """
def g(t, v):
    held = PLACE
    CHANGE
    return t
def f(x):
    t = g(NEW, x)
    return np.sum(READ ** 2)
""",
    "given twice": """
def g(t, same, v):
    held = PLACE
    CHANGE
    return same
def f(x):
    t = NEW
    t = g(t, t, x)
    return np.sum(READ ** 2)
""",
    "in a try": """
def g(t, v):
    try:
        held = PLACE
        CHANGE
    except KeyError:
        pass
def f(x):
    t = NEW
    g(t, x)
    return np.sum(READ ** 2)
""",
    "behind a star": """
def g(*all, v):
    t = all[0]
    held = PLACE
    CHANGE
def f(x):
    t = NEW
    g(t, v=x)
    return np.sum(READ ** 2)
""",
    "among others in a loop": """
def g(t, v):
    for held, factor in zip([PLACE, PLACE], [1.0, 2.0]):
        v = v * factor
        CHANGE
def f(x):
    t = NEW
    g(t, x)
    return np.sum(READ ** 2)
""",
}
CASES = list(itertools.product(PROGRAMS, [name for name in HOLDERS if name != "tuples"], CHANGES))


def program(way: str, holder: str, change: str) -> str:
    make, place = HOLDERS[holder]
    start, what, read = CHANGES[change]
    parts = {"NEW": make.format(start), "PLACE": place, "CHANGE": what.format("held")}
    parts |= {"READ": read.format(place), "START": start}
    text = HEAD + PROGRAMS[way]
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


@pytest.mark.parametrize(("way", "holder", "change"), CASES)
def test_right_or_refused(way: str, holder: str, change: str) -> None:
    check_right_or_refused(function_of(program(way, holder, change)), X, np.array([0.4, -1.0]))
