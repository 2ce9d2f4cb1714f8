"""Which variables carry derivatives from the arguments to the result: source in, names out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import stop_gradient
from s2sad.ir.sizes import Sizes
from s2sad.ir.traverse import base
from s2sad.ir.types import describe
from s2sad.pipeline.analysed import Asked, analysed
from s2sad.pipeline.program import Program
from tests.sources import function_of
from tests.transform.remaining import check_both_modes

X = np.array([0.7, -0.3, 0.45, 1.2])
WAY = np.array([0.3, -0.7, 1.1, 0.2])

HALVES = """
def halves(a, i):
    return a * a, i + 1
"""
PLACE = """
def place(a, low):
    i = low - 1
    for j in range(low, 3):
        if a[j] <= a[3]:
            i = i + 1
            a[i], a[j] = a[j], a[i]
    return i + 1
"""

CASES: dict[str, tuple[str, str]] = {
    "a place is found beside what is sorted": (
        PLACE
        + """
def f(x):
    y = x * 2.0
    p = place(y, 0)
    q = p + 1.5
    return np.sum(y) * q
""",
        "x y",
    ),
    "items of a result depend on different arguments": (
        HALVES
        + """
def f(x, n=0.5):
    u, k = halves(x, n)
    return np.sum(u) * k
""",
        "u x",
    ),
    "what is not taken apart depends on all": (
        HALVES
        + """
def f(x, n=0.5):
    both = halves(x, n)
    k = both[1]
    return np.sum(both[0]) * k
""",
        "both k x",
    ),
    "a recursive function": (
        """
def depth(a, n):
    return n if np.sum(a) > 1.0 else depth(a * 2.0, n + 0.5)

def f(x):
    d = depth(x, 0.5)
    return np.sum(x) * d
""",
        "x",
    ),
    "functions that call each other": (
        """
def down(a, n, s):
    return s if n == 0 else up(a, n - 1, s + a[0])

def up(a, n, s):
    return down(a, n, s)

def f(x):
    d = down(x, 3, 0.5)
    return np.sum(x) * d
""",
        "d x",
    ),
    "an argument is written, and returned": (
        """
def put(a, b):
    b[0] = a[0]
    return b

def f(x):
    z = np.zeros(2)
    w = put(x, z)
    return np.sum(w)
""",
        "w x z",
    ),
    "only a condition depends": (
        """
def sign(a, step):
    if a > 0.5:
        return step
    return -step

def f(x):
    s = sign(x[0], 0.25)
    t = sign(0.75, x[1])
    return np.sum(x) * s + t
""",
        "t x",
    ),
    "a constant is passed on": (
        """
def held(a, b):
    return stop_gradient(a) * b

def f(x):
    h = held(x, 2.0)
    g = held(2.0, x)
    return np.sum(x * h * g)
""",
        "g x",
    ),
}


@pytest.mark.parametrize("key", CASES)
def test_active_names(key: str) -> None:
    text, expected = CASES[key]
    function = function_of(text, {"stop_gradient": stop_gradient})
    a = analysed(Program(), Asked(function, ("x",), {"x": describe(X, "x", Sizes())}))
    active = {base(name) for name in a.activity.active if not name.startswith("~")} - {"result"}
    assert " ".join(sorted(active)) == expected


@pytest.mark.parametrize("key", CASES)
def test_derivatives_beside_names(key: str) -> None:
    if key != "a constant is passed on":
        check_both_modes(function_of(CASES[key][0]), X, WAY)


RESULTS: dict[str, str] = {
    "through what an object holds": """
class Cell:
    def __init__(self, v):
        self.v = v

def put(cell, a, n):
    cell.v = cell.v * a[0]
    return n

def read(cell, n):
    return cell.v * n

def f(x):
    cell = Cell(x[1])
    n = put(cell, x, 2.0)
    return read(cell, n) + n * x[2]
""",
    "through a list that the callee extends": """
def add(found, a):
    found.append(a[0] * a[1])
    return len(found)

def f(x):
    found = [0.5]
    n = add(found, x)
    n = n + add(found, x * 2.0)
    return sum(found) * n
""",
    "through a default value": """
def scaled(a, by=None):
    by = a[1] if by is None else by
    return by

def f(x):
    return scaled(x) * scaled(x, 3.0) + scaled(x, x[0])
""",
    "through a variable of a closure": """
def f(x):
    total = 0.0

    def add(a, n):
        nonlocal total
        total = total + a
        return n + 1

    n = 0
    for v in x:
        n = add(v * v, n)
    return total * n
""",
    "through an exception": """
def root(a, n):
    if a < 0.0:
        raise ValueError(a)
    return n

def f(x):
    total = 0.0
    for v in x:
        try:
            total = total + root(v, 1.5) * v
        except ValueError as error:
            total = total + 3.0 * v
    return total
""",
    "through a result that is an argument or not": """
def larger(a, b, n):
    return (a, n) if a[0] > b[0] else (b, n + 1.0)

def f(x):
    y = x * x
    best, n = larger(x, y, 1.0)
    best[1] = best[1] * n
    return np.sum(x * y) + np.sum(best)
""",
    "through rows that are swapped": """
def swap(rows, i, k):
    rows[i], rows[k] = rows[k], rows[i]
    return k

def f(x):
    rows = [x * 1.0, x * 2.0, x * x]
    k = swap(rows, 0, 2)
    k = swap(rows, k - 1, 0)
    return np.sum(rows[0] * X) + np.sum(rows[1]) * k
""",
    "through several results that trade places": """
def step(a, b, n):
    return b, a + b, n + 1

def f(x):
    a, b, n = x[0], x[1], 0
    while n < 5:
        a, b, n = step(a, b, n)
    return a * b + n * x[2]
""",
    "through stars": """
def last(*values, **options):
    return values[-1] * options["scale"], options["n"]

def f(x):
    y, n = last(x[0], x[1], scale=x[2], n=2.0)
    z, m = last(*x, scale=1.0, n=x[3])
    return y * n + z * m
""",
}


@pytest.mark.parametrize("key", RESULTS)
def test_derivatives_of_results(key: str) -> None:
    names: dict[str, Any] = {"X": X}
    check_both_modes(function_of(RESULTS[key], names), X, WAY)
