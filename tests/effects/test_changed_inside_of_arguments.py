"""Callees that change a list, dict or array that an argument holds: by its place, by a name of its own, in a loop.

Whoever reads it afterwards, by whatever name, sees the change; where one object or another is changed, the program may
be refused.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_both_modes, check_right_or_refused

X = np.array([0.3, 0.5])

#: How an argument holds the object, and where it is found there.
HOLDERS = {
    "tuple": ("({},)", "t[0]"),
    "tuples": ("(({},),)", "t[0][0]"),
    "beside a number": ("({}, 1.0)", "t[0]"),
    "list": ("[{}]", "t[0]"),
    "dict": ("dict(k={})", 't["k"]'),
    "named tuple": ("Named({})", "t.held"),
    "object": ("Held({})", "t.held"),
}
#: What it is at first, how it is changed, and where the change is read.
CHANGES = {
    "append": ("[]", "{}.append(v)", "{}[0]"),
    "set": ("[0.0, 1.0]", "{}[1] = v", "{}[1]"),
    "extend": ("[]", "{}.extend([v, v])", "{}[1]"),
    "add": ("[]", "{} += [v]", "{}[0]"),
    "insert": ("[1.0]", "{}.insert(0, v)", "{}[0]"),
    "key": ("dict()", '{}["z"] = v', '{}["z"]'),
    "default": ("dict()", '{}.setdefault("z", v)', '{}["z"]'),
    "element": ("np.zeros(2)", "{}[1] = v[0]", "{}"),
    "whole": ("np.zeros(2)", "{}[...] = v", "{}"),
}
#: What the callee calls the object.
NAMES = {
    "place": ("", "{}"),
    "name": ("    held = {}\n", "held"),
    "in a branch": ("    held = {} if v[0] > 0.0 else t\n", "held"),
    "in a loop": ("    for held in [{}]:\n        ", "held"),
    "unpacked": ("    (held,) = ({},)\n", "held"),
}
HEAD = """
import numpy as np
from collections import namedtuple
Named = namedtuple("Named", "held")
class Held:
    def __init__(self, held):
        self.held = held
"""


def program(holder: str, change: str, name: str, by_itself: bool) -> str:
    make, place = HOLDERS[holder]
    start, what, read = CHANGES[change]
    before, called = NAMES[name]
    inside = what.format(called.format(place))
    body = before.format(place) + (inside if before.endswith(" ") else f"    {inside}") + "\n"
    made = f"    m = {start}\n    t = {make.format('m')}\n    g(t, x)\n"
    result = f"    return np.sum({read.format('m' if by_itself else place)} ** 2)\n"
    return f"{HEAD}\ndef g(t, v):\n{body}\ndef f(x):\n{made}{result}"


#: Python raises where an item of a tuple is assigned, if to itself.
RAISING = {(h, "add", "place") for h in ("tuple", "tuples", "beside a number", "named tuple")}
CASES = [case for case in itertools.product(HOLDERS, CHANGES, NAMES) if case not in RAISING]


WAY = np.array([0.4, -1.0])
BY_ITSELF = pytest.mark.parametrize("by_itself", [False, True], ids=["inside", "by itself"])


@BY_ITSELF
@pytest.mark.parametrize(("holder", "change", "name"), [case for case in CASES if case[2] != "in a branch"])
def test_changed_inside(holder: str, change: str, name: str, by_itself: bool) -> None:
    check_both_modes(function_of(program(holder, change, name, by_itself)), X, WAY)


@BY_ITSELF
@pytest.mark.parametrize(("holder", "change", "name"), [case for case in CASES if case[2] == "in a branch"])
def test_one_or_the_other_is_changed(holder: str, change: str, name: str, by_itself: bool) -> None:
    check_right_or_refused(function_of(program(holder, change, name, by_itself)), X, WAY)


@pytest.mark.parametrize("change", CHANGES)
def test_changed_in_the_function_itself(change: str) -> None:
    start, what, read = CHANGES[change]
    text = f"def f(x):\n    t = ({start}, 1.0)\n    held = t[0]\n    v = x * 2.0\n    {what.format('held')}\n"
    check_both_modes(function_of(f"{HEAD}{text}    return np.sum({read.format('t[0]')} ** 2)\n"), X, WAY)


@pytest.mark.parametrize("change", ["set", "add", "key"])
def test_changed_in_a_try(change: str) -> None:
    start, what, read = CHANGES[change]
    body = f"    try:\n        held = t[0]\n        {what.format('held')}\n    except KeyError:\n        pass\n"
    text = f"def g(t, v):\n{body}def f(x):\n    t = ({start}, 1.0)\n    g(t, x)\n"
    check_both_modes(function_of(f"{HEAD}{text}    return np.sum({read.format('t[0]')} ** 2)\n"), X, WAY)
