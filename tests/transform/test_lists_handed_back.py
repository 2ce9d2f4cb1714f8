"""Functions that change lists and dicts of their callers, too large to be inlined or calling themselves."""

import math

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_both_modes, check_right_or_refused

WAY = np.array([1.0, -2.0, 0.5])
X = np.array([0.3, 0.7, -0.4])

CHANGES = {
    "set": "c[k] = x * c[k] + k",
    "add": "c[k] += x",
    "append": "c.append(x * c[k])",
    "insert": "c.insert(0, x * c[k])",
    "pop": "c.append(c.pop() * x); c.append(x)",
    "swap": "c[k], c[0] = c[0], x * c[k]",
    "both": "c[k] = x; c.append(c[0] * c[k])",
    "sort": "c[k] = x * c[k]; c.sort()",
    "reverse": "c[k] = x * c[k]; c.reverse()",
}
#: How often it calls itself is known when it runs.
RECURSIVE = """
def change(c, x, k):
    if k <= 0:
        return {result}
    {change}
    change(c, x + 0.1, k - 1)
    {middle}
    {last}
"""
CALLS = {
    "statement": "change(c, x[0], n)",
    "keyword": "change(x=x[0], k=n, c=c)",
    "twice": "change(c, x[0], n); change(c, x[1], n - 1)",
    "loop": """
        for i in range(n):
            change(c, x[i], n - i)""",
    "branch": """
        if c[0] > 0.0:
            change(c, x[0], n)
        else:
            change(c, x[1], 1)""",
    "through": "through(c, x[0] * x[1], n)",
}
GIVING = {
    "assigned": "t = change(c, x[0], n); c.append(t * x[1])",
    "part": "t = [0.0, change(c, x[0], n)]; c.append(t[1] * x[1])",
    "sum": "t = change(c, x[0], n) * c[0] + change(c, x[1], n); c.append(t)",
    "test": """
        if change(c, x[0], n) > 0.0:
            c.append(x[1])""",
    "not": """
        if not change(c, x[0], n):
            c.append(x[1])""",
    "while": """
        while change(c, x[0], n) < 1.0 and len(c) < 20:
            c.append(x[1])""",
    "item": "t = [0.0]; t[0] = change(c, x[0], n); c.append(t[0] * x[2])",
    "argument": "c.append(math.sin(change(c, x[0], n)))",
    "added": "t = x[2]; t += change(c, x[0], n); c.append(t)",
}
PROGRAM = """
import math
{function}
def through(c, x, n):
    c.append(x)
    change(c, x, n)
    return c[0]

def g(x, n):
    c = {made}
    {call}
    return sum((i + 1) * v for i, v in enumerate(c))

def f(x):
    return g(x, {n}) * g(x * 2.0, {n} - 1)
"""


def program(change, call, made="[x[0], 2.0 * x[1], x[2] * x[2]]", gives=False, n="2"):
    call = call.replace("\n        ", "\n    ").strip()
    function = RECURSIVE.format(
        change=CHANGES[change],
        result="c[0] * x" if gives else "",
        middle="c[0] = c[0] * x",
        last="return c[0] * x" if gives else "",
    )
    return function_of(PROGRAM.format(function=function, made=made, call=call, n=n))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", CALLS)
def test_changes_in_a_function_that_calls_itself(change, call):
    check_both_modes(program(change, CALLS[call], n="int(x[0] > -9.0) + 1"), X, WAY)


@pytest.mark.parametrize("change", ["set", "append", "swap"])
@pytest.mark.parametrize("call", GIVING)
def test_changes_with_a_result(change, call):
    check_both_modes(program(change, GIVING[call], gives=True, n="int(x[0] > -9.0) + 1"), X, WAY)


@pytest.mark.parametrize("change", ["set", "append", "swap"])
@pytest.mark.parametrize("made", ["list(x)", "[v * x[0] for v in x]", "[1.0] * 3", "[x[0]] + [1.0, x[1]]"])
def test_lists_that_are_made_in_other_ways(change, made):
    check_both_modes(program(change, CALLS["statement"], made=made, n="int(x[0] > -9.0) + 1"), X, WAY)


HELD = {
    "name": "d = c; change(c, x[0], n); c = d",
    "tuple": "t = (c, 1.0); change(c, x[0], n); c = t[0]",
    "closure": "last = lambda: c[-1]; change(c, x[0], n); c = [last()]",
    "returned": "d = same(c); change(c, x[0], n); c = d",
    "kept": "KEPT.append(c); change(c, x[0], n); c = KEPT.pop()",
    "caught": """
        try:
            change(c, x[0], n)
            c[99]
        except IndexError:
            c.append(x[1])""",
    "raised": """
        try:
            failing(c, x[0])
        except ValueError:
            c.append(x[1])""",
    "two arguments": "both(c, c, x[0])",
    "running": """
        for v in c:
            if len(c) < 9: change(c, v, n)""",
    "view": "d = reversed(c); change(c, x[0], n); c = list(d)",
    "rows": "rows = [c]; change(rows[0], x[0], n)",
    "given again": "d = again(c, x[0]); change(c, x[1], n); c.append(d[0])",
    "put away": "b = Box([x[0]]); put(c, x[0], b); change(c, x[1], n); c.append(b.c[0])",
    "array": "change(c, x[1], n); a = [0.0, 0.0, 0.0] + x; v = a[:2]; change(a, x[2], n); c.append(v[0] * v[1])",
    "object": "b = Box(c); change(c, x[0], n); c = b.c",
    "default": "change_default(x[0]); change_default(x[1]); c = list(change_default(x[2]))",
}
HOLDING = """
KEPT = []
class Box:
    def __init__(self, c):
        self.c = c
def same(c):
    return c
def failing(c, x):
    c[0] = x * x
    raise ValueError
def both(c, d, x):
    c[0] = d[1] * x
    d.append(c[0])
    c.append(d[0] * d[-1])
def again(c, x):
    for v in c:
        if v > 50.0: return [x, x]
    c[0] = c[0] * x
    return c
def put(c, x, box):
    for v in c:
        if v > 50.0: return
    c[0] = c[0] * x
    box.c = c
def change_default(x, c=[]):
    if len(c) > 2: c.clear()
    c.append(x)
    return c
"""


@pytest.mark.parametrize("change", ["set", "append"])
@pytest.mark.parametrize("call", HELD)
def test_lists_that_others_hold_are_right_or_refused(change, call):
    if (call, change) == ("array", "append"):
        pytest.skip("an array has no append")
    text = HELD[call].replace("\n        ", "\n    ").strip()
    function = HOLDING + RECURSIVE.format(change=CHANGES[change], result="", middle="c[0] = c[0] * x", last="")
    f = function_of(PROGRAM.format(function=function, made="[x[0], 2.0 * x[1], x[2] * x[2]]", call=text, n="2"))
    check_right_or_refused(f, X, WAY)


REBOUND = [
    "c = c + [x * c[1]]",
    "c = [x * c[1], 1.0, 2.0]",
    "c = list(c)",
    "c, x = [x, c[0], 1.0], x * c[1]",
    "c += [x * c[1]]",
    "c *= 2",
    "del c[1:]",
    "c[:] = [x, x * c[1]]",
    "c.clear(); c.extend([x, 2.0 * x])",
]


@pytest.mark.parametrize("first", ["pass", "c[0] = c[0] * x", "c.append(c[0] * x)"])
@pytest.mark.parametrize("rebound", REBOUND)
def test_parameters_that_get_other_lists_are_right_or_refused(rebound, first):
    change = f"""
        def change(c, x, k):
            if k <= 0:
                return
            {first}
            {rebound}
            c[0] = c[0] * x
            change(c, x + 0.1, k - 1)

        def f(x):
            c = [x[0], 2.0 * x[1], x[2] * x[2]]
            change(c, x[1], 2 + int(x[0] < -5.0))
            return sum((i + 1) * v for i, v in enumerate(c))
        """
    check_right_or_refused(function_of(change), X, WAY)


def quicksort(a, low, high):
    if low >= high:
        return
    pivot, place = a[high], low
    for k in range(low, high):
        if a[k] < pivot:
            a[place], a[k] = a[k], a[place]
            place += 1
    a[place], a[high] = a[high], a[place]
    quicksort(a, low, place - 1)
    quicksort(a, place + 1, high)


def of_sorted(x):
    a = list(x)
    quicksort(a, 0, len(a) - 1)
    return sum((k + 1) * v * v for k, v in enumerate(a))


def halved(f, a, b, tolerance, parts):
    """Adaptive integration by the midpoint rule."""
    m = (a + b) / 2
    whole, halves = (b - a) * f(m), (b - a) / 2 * (f((a + m) / 2) + f((m + b) / 2))
    if abs(whole - halves) < tolerance:
        parts.append(halves)
    else:
        halved(f, a, m, tolerance / 2, parts)
        halved(f, m, b, tolerance / 2, parts)


def integral(x):
    parts = []
    halved(lambda t: math.sin(x[0] * t) + x[1] * t, 0.0, 1.0, 1e-3, parts)
    return sum(parts) * x[2]


def relaxed(x):
    rows = {0: x[0], 1: x[1]}

    def fill(n, found):
        if n not in found:
            found[n] = fill(n - 1, found) * x[2] + fill(n - 2, found)
        return found[n]

    return fill(5, rows) + rows[3]


@pytest.mark.parametrize("f", [of_sorted, integral, relaxed])
def test_programs(f):
    check_both_modes(f, X, WAY)
