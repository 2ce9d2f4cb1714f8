"""Objects that a loop gives a variable, attribute or item, and that are changed by their other name afterwards."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_both_modes, check_right_or_refused

PROGRAM = """
class Pair:
    def __init__(self, v, w):
        self.v, self.w = v, w
    def raised(self, k):
        self.v = self.v * k

def f(x):
    a, c = Pair(x[0], x[1]), Pair(x[1], x[2])
    {start}
    {loop}
    {changed}
    return {kept}.v * a.w + a.v * c.v
"""
#: Where the object is kept, and what is there before the loop.
STARTS = {
    "none": ("b = None", "b"),
    "no value": ("pass", "b"),
    "another": ("b = Pair(x[2], x[0])", "b"),
    "an attribute": ("h = Pair(None, 1.0)", "h.v"),
    "an attribute with another": ("h = Pair(c, 1.0)", "h.v"),
    "an item": ("h = [None]", "h[0]"),
    "an item of a dict": ('h = {"k": c}', 'h["k"]'),
}
LOOPS = {
    "range": "for i in range(3):\n        {kept} = a",
    "array": "for u in x:\n        {kept} = a",
    "one of two": "for u in x:\n        {kept} = a if u > 0.5 else c",
    "in a branch": "for u in x:\n        if u > 0.5:\n            {kept} = a\n        else:\n            {kept} = c",
    "broken off": "for u in x:\n        {kept} = a\n        if u > 0.5:\n            break",
    "while": "i = 0\n    while x[i] > 0.0:\n        {kept}, i = a, i + 1",
}
CHANGES = {
    "attribute": "a.v = x[2] * x[1]",
    "method": "a.raised(x[2])",
    "in a loop": "for i in range(2):\n        a.v = a.v * x[2]",
    "by the kept name": "{kept}.v = x[2] * a.v",
    "both": "a.v, c.v = c.v, a.v",
}


@pytest.mark.parametrize(("start", "loop", "changed"), list(itertools.product(STARTS, LOOPS, CHANGES)))
def test_an_object_that_a_loop_gives_a_name_is_changed_under_each(start: str, loop: str, changed: str) -> None:
    first, kept = STARTS[start]
    parts = {"start": first, "loop": LOOPS[loop].format(kept=kept), "changed": CHANGES[changed].format(kept=kept)}
    f = function_of(PROGRAM.format(kept=kept, **parts))
    check = check_right_or_refused if (start, loop) == ("an attribute", "while") else check_both_modes
    check(f, np.array([0.8, 0.7, -0.4]), np.array([0.3, -0.5, 0.8]))


LIST_PROGRAM = """
import copy

def f(x):
    a, c = [x[0], x[1], x[2]], [x[1], x[2], x[0]]
    {start}
    {loop}
    {changed}
    return {kept}[0] * a[1] + {kept}[1] * c[0] + {kept}[-1] * len(a)
"""
LIST_STARTS = {
    "none": ("b = None", "b"),
    "no value": ("pass", "b"),
    "another": ("b = [x[2], x[0]]", "b"),
    "an item": ("h = [None]", "h[0]"),
}
LIST_CHANGES = {
    "item": "a[0] = x[2] * x[1]",
    "append": "a.append(x[0] * x[2])",
    "sort": "a.sort()",
    "reverse": "a.reverse()",
    "deletion": "del a[0]",
    "slice": "a[1:] = [x[0] * x[2]]",
    "by the kept name": "{kept}.insert(0, x[2] * a[1])",
    "extended": "a += [x[0] * x[2]]",
}


@pytest.mark.parametrize(("start", "loop", "changed"), list(itertools.product(LIST_STARTS, LOOPS, LIST_CHANGES)))
def test_a_list_that_a_loop_gives_a_name_is_changed_under_each(start: str, loop: str, changed: str) -> None:
    first, kept = LIST_STARTS[start]
    parts = {"start": first, "loop": LOOPS[loop].format(kept=kept), "changed": LIST_CHANGES[changed].format(kept=kept)}
    f = function_of(LIST_PROGRAM.format(kept=kept, **parts))
    check_right_or_refused(f, np.array([0.8, 0.7, -0.4]), np.array([0.3, -0.5, 0.8]))


@pytest.mark.parametrize("changed", LIST_CHANGES)
@pytest.mark.parametrize("copied", ["copy.copy(whole)", "whole[:]", "[*whole]", "list(whole)"])
def test_a_list_in_a_copied_list_is_changed_where_a_loop_ends(copied: str, changed: str) -> None:
    f = function_of(
        f"""
        import copy

        def f(x):
            whole = [[x[0], x[1], x[2]], [x[1], x[2]]]
            other = {copied}
            for i in range(2):
                if i == 5:
                    break
            else:
                a = whole[0]
                {LIST_CHANGES[changed].format(kept="a")}
                whole[0] = whole[1]
            return other[0][0] * other[1][1] + other[0][-1] + whole[0][0] * len(other[0])
        """
    )
    check_right_or_refused(f, np.array([0.8, 0.7, -0.4]), np.array([0.3, -0.5, 0.8]))


@pytest.mark.parametrize("rows", ["[a, a]", "[c, a]", "(a,)", "enumerate([a, a])", "zip([a, c], [a, a])"])
@pytest.mark.parametrize("changed", ["b.reverse()", "a.reverse()", "del b[0]", "b.insert(0, [x[2]])", "b += [[x[0]]]"])
def test_a_list_that_a_loop_runs_over_is_changed_after_it(rows: str, changed: str) -> None:
    targets = "_, b" if "(" in rows[1:] else "b"
    f = function_of(
        f"""
        import functools

        def f(x):
            a, c = [[x[0]], [x[1]], [x[2]]], [[x[2]], [x[0]]]
            for {targets} in {rows}:
                pass
            kept = functools.reduce(lambda p, q: q, [None, a])
            first = b[0][0] * x[1]
            {changed}
            return first + b[0][0] * a[1][0] * 2.0 + kept[0][0] * x[2] + len(a)
        """
    )
    check_right_or_refused(f, np.array([0.8, 0.7, -0.4]), np.array([0.3, -0.5, 0.8]))
