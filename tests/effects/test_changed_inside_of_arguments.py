"""Callees that change a list, dict or array that an argument holds: by its place, by a name of its own, in a loop.

Whoever reads it afterwards, by whatever name, sees the change; a mode that cannot follow it refuses the program.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient
from tests.sources import function_of
from tests.transform.remaining import check_right_or_refused

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


@pytest.mark.parametrize("by_itself", [False, True], ids=["inside", "by itself"])
@pytest.mark.parametrize(("holder", "change", "name"), CASES)
def test_right_or_refused(holder: str, change: str, name: str, by_itself: bool) -> None:
    check_right_or_refused(function_of(program(holder, change, name, by_itself)), X, np.array([0.4, -1.0]))


@pytest.mark.parametrize("holder", ["tuple", "tuples", "beside a number", "list", "dict", "object"])
@pytest.mark.parametrize("change", ["append", "element", "whole"])
def test_by_its_place_it_is_followed(holder: str, change: str) -> None:
    f = function_of(program(holder, change, "place", by_itself=False))
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)
