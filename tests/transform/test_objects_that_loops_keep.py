"""Variables that loops set to objects, or that are None at first: a generated cross of objects, ways and questions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.sources import function_of
from tests.transform.remaining import check_both_modes

PROGRAM = """
import numpy as np

class Sphere:
    def __init__(self, c, r):
        self.c, self.r = c, r
    def shade(self, t):
        return np.sin(t) * self.r + self.c

class Plane:
    def __init__(self, h):
        self.h = h
    def shade(self, t):
        return t * self.h + 1.0

def f(x):
    a, b, c = Sphere(x[0], x[1]), Plane(x[2]), Sphere(x[1] - 3, 2.0)
    total = 0.0
    {start}
    for k in range(int(x[0] * 8)):
        o = {made}
        {asked}
        {kept}
    {last}
    return total
"""

STARTS = {"none": "kept = None", "object": "kept = a", "by a condition": "kept = a if x[2] > 0.5 else None"}

MADE = {
    "one class": "a if k % 2 else c",
    "two classes": "a if k % 2 else b",
    "new": "Sphere(x[k % 3], x[1] * k)",
    "new or not": "a if k == 1 else Sphere(x[k % 3], x[1] * k)",
    "new of two classes": "Sphere(x[k % 3], x[1] * k) if k % 2 else Plane(x[k % 3])",
}

ASKED = {
    "before": "total += 0.0 if kept is None else kept.shade(0.1 * k) * o.shade(0.3)",
    "in a branch": """if kept is not None and kept.shade(0.1) > 0.5:
            total += kept.shade(0.1 * k) * o.shade(0.3)""",
    "who it is": """if kept is a:
            total += x[0]
        elif kept is not None:
            total += x[1] * kept.shade(0.4)""",
    "not at all": "total += o.shade(0.3)",
}

KEPT = {
    "always": "kept = o",
    "at times": """if o.shade(0.1) > 0.7:
            kept = o""",
    "or not": "kept = None if k == 2 else o",
    "least": """if kept is None or o.shade(0.1) < kept.shade(0.1):
            kept = o""",
}

LAST = {
    "read": """if kept is not None:
        total += kept.shade(0.9)""",
    "not read": "total *= 1.5",
}

X = np.array([0.63, 0.9, 0.7])
WAY = np.array([0.3, -0.5, 0.8])


def is_refused(start: str, made: str, asked: str, kept: str, last: str) -> bool:
    """Whether objects of several classes are new in each round, or a copy would have to be asked which object it is."""
    is_carried = asked != "not at all" or kept == "least" or last == "read"
    if made == "new of two classes" and is_carried:
        return True
    return made in ("new", "new or not") and asked == "who it is"


CASES = list(itertools.product(STARTS, MADE, ASKED, KEPT, LAST))


@pytest.mark.parametrize(("start", "made", "asked", "kept", "last"), CASES)
def test_objects_that_loops_keep(start: str, made: str, asked: str, kept: str, last: str) -> None:
    text = PROGRAM.format(start=STARTS[start], made=MADE[made], asked=ASKED[asked], kept=KEPT[kept], last=LAST[last])
    f = function_of(text)
    if is_refused(start, made, asked, kept, last):
        with pytest.raises(S2SADError):
            check_both_modes(f, X, WAY)
        return
    check_both_modes(f, X, WAY)


UNSET = list(
    itertools.product(MADE, ["always", "at times"], ["kept.shade(0.9)", "kept.shade(0.9) if total < 9 else 0.0"])
)


@pytest.mark.parametrize(("made", "kept", "last"), UNSET)
def test_objects_that_only_a_loop_gives_a_variable(made: str, kept: str, last: str) -> None:
    f = function_of(
        PROGRAM.format(start="pass", made=MADE[made], asked="pass", kept=KEPT[kept], last=f"total += {last}")
    )
    if made == "new of two classes":
        with pytest.raises(S2SADError):
            check_both_modes(f, X, WAY)
        return
    check_both_modes(f, X, WAY)
    none = np.array([0.01, 0.9, 0.7])
    for derivative in (grad(f), lambda x: jvp(f, (x,), (WAY,))):
        with pytest.raises(UnboundLocalError, match="'kept'"):
            derivative(none)
