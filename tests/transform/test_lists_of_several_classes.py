"""Lists that get objects of several classes as the run decides: a generated cross of how they are filled and read."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.sources import function_of
from tests.transform.remaining import check_both_modes

CLASSES = """
import numpy as np

class Sphere:
    def __init__(self, c, r):
        self.c, self.r = c, r
    def hit(self, s):
        d = s - self.c
        return None if d < 0 else d * self.r
    def shade(self, t):
        return np.sin(t) * self.r
    def grow(self, k):
        self.r = self.r * k

class Plane:
    def __init__(self, h):
        self.h = h
    def hit(self, s):
        return s * self.h if self.h < 5 else None
    def shade(self, t):
        return t * self.h + 1.0
    def grow(self, k):
        self.h += k
"""

START = """
def f(x):
    a, b, c = Sphere(x[0], x[1]), Plane(x[2]), Sphere(x[1] - 3, 2.0)
    total = 0.0
"""

#: How the list comes to its objects.
FILLED = {
    "chosen": "rows = [o for o in (a, b, c) if o.shade(0.4) > 0.3]",
    "taken": """
    rows = [a, b, c]
    if x[0] > 0.5:
        rows.pop(0)
""",
    "appended": """
    rows = []
    for o in (c, b, a, b):
        if o.shade(0.4) > 0.3:
            rows.append(o)
""",
    "hit": """
    hits = [(o.hit(1.0), o) for o in (a, b, c)]
    rows = [o for t, o in hits if t is not None]
""",
    "rounds": """
    rows = []
    for v in x:
        rows.append(a if v > 0.65 else b)
""",
    "put": """
    rows = [a, a, a]
    for k in range(int(x[0] * 6)):
        rows[k % 3] = c if k == 1 else b
""",
    "one of an arm": """
    rows = [a]
    if x[0] > 0.5:
        p = Plane(x[1])
    else:
        p = Sphere(x[2], x[0])
    rows.append(p)
""",
    "made in an arm": """
    rows = [a]
    if x[0] > 0.5:
        rows.append(Plane(x[1] * x[0]))
""",
    "made in rounds": """
    rows = [a]
    for k in range(int(x[0] * 6)):
        p = Plane(x[k % 3])
        rows.append(p)
""",
    "made in rounds and read": """
    rows = []
    for k in range(int(x[0] * 6)):
        p = Plane(x[k % 3])
        rows.append(p)
        for o in rows:
            total += o.shade(0.1)
        rows.append(a)
""",
    "several made in rounds": """
    rows = []
    for k in range(int(x[0] * 6)):
        v = x[k % 3]
        rows.append(Plane(v) if v > 0.65 else Sphere(v, v * v))
""",
    "by a function": """
    def choose(items):
        found = []
        for o in items:
            if o.shade(0.4) > 0.3:
                found.append(o)
        return found
    rows = choose([a, b, c])
""",
    "into the caller's": """
    rows = [a]
    def more(k):
        p = Plane(x[k])
        if x[k] > 0.65:
            rows.append(p)
    for k in range(3):
        more(k)
""",
    "copied": """
    first = [o for o in (a, b, c) if o.shade(0.4) > 0.3]
    rows = list(first)
    if x[0] > 0.5:
        rows.append(c)
    total += len(first)
""",
    "joined": """
    rows = [o for o in (a, b) if o.shade(0.4) > 0.3] + [o for o in (c, b) if o.shade(0.1) > 0.1]
""",
    "removed": """
    rows = [a, b, c]
    for o in list(rows):
        if o.shade(0.5) < 0.5:
            rows.remove(o)
""",
    "of a loop": """
    rows, near = [], None
    for k in range(int(x[0] * 6)):
        o = c if k == 1 else a if k % 2 else b
        if near is None or near.shade(0.2) < o.shade(0.2):
            near = o
    rows = [near, c if near is a else b]
""",
    "replaced in rounds": """
    rows, p = [], Sphere(x[0], x[1])
    for k in range(int(x[0] * 6)):
        v = x[k % 3]
        if v > 0.65:
            rows.append(p)
            p = Sphere(p.c + v, p.r)
        else:
            rows.append(b)
""",
}

#: What is done with the list.
READ = {
    "each": "total += sum(o.shade(0.7) for o in rows)",
    "by place": "total += rows[0].shade(0.3) * rows[-1].shade(0.2) + len(rows)",
    "least": """
    best = min(rows, key=lambda o: o.shade(0.9))
    total += best.shade(0.2)
""",
    "sorted": """
    for k, o in enumerate(sorted(rows, key=lambda o: -o.shade(0.9))):
        total += k * o.shade(0.2)
""",
    "changed": """
    for o in rows:
        o.grow(1.5)
        total += o.shade(0.1) * a.shade(0.2)
    total += b.shade(0.3) + c.shade(0.1)
""",
    "asked": """
    for o in rows:
        if isinstance(o, Sphere):
            total += o.r * o.c
        elif o is b:
            total += o.h * 3
        else:
            total += o.h
""",
    "popped": """
    while rows:
        o = rows.pop()
        total = total * 1.5 + o.shade(total)
        if o is a and len(rows) < 2 and total < 3:
            rows.append(b)
""",
    "kept": """
    last = a
    for o in rows:
        total += last.shade(0.1) * o.shade(0.4)
        last = o
    total += last.shade(0.9)
""",
    "found": """
    total += 2.0 * (b in rows) + (rows.index(b) if b in rows else 0.5) * x[0]
    for o in rows:
        if o not in (a, c):
            total += o.shade(0.4)
""",
}

X = np.array([0.6, 0.9, 0.7])
WAY = np.array([0.3, -0.5, 0.8])

#: Objects of several classes that a branch or each round of a loop makes have no numbers, and lists with numbers of
#: their own are not joined.
WITHOUT_NUMBERS = {
    "made in an arm",
    "made in rounds",
    "made in rounds and read",
    "several made in rounds",
    "joined",
    "replaced in rounds",
}
#: What asks a list for objects that is known but for one of its items.
PARTLY_KNOWN = {
    ("one of an arm", "sorted"),
    ("one of an arm", "found"),
    ("of a loop", "sorted"),
    ("of a loop", "found"),
    ("of a loop", "popped"),
}
REFUSED = {*itertools.product(WITHOUT_NUMBERS, READ), *PARTLY_KNOWN}


def program(filled: str, read: str) -> str:
    """The text of a function that fills a list and reads it."""
    parts = [text if text.startswith("\n") else f"\n    {text}\n" for text in (FILLED[filled], READ[read])]
    return CLASSES + START + "".join(parts) + "    return total\n"


@pytest.mark.parametrize(("filled", "read"), list(itertools.product(FILLED, READ)))
def test_objects_of_several_classes(filled: str, read: str) -> None:
    f = function_of(program(filled, read))
    if (filled, read) in REFUSED:
        with pytest.raises(S2SADError):
            check_both_modes(f, X, WAY)
        return
    check_both_modes(f, X, WAY)


SCHEDULED = """
class Task:
    def __init__(self, cost, prio):
        self.cost, self.prio, self.left = cost, prio, 3

def f(x):
    jobs = [Task(x[0], 2), Task(x[1], 5), Task(x[2], 1)]
    t, out = 0.0, 0.0
    while any(j.left > 0 for j in jobs) and t < 20:
        ready = [j for j in jobs if j.left > 0]
        j = max(ready, key=lambda j: j.prio - 0.5 * t * j.cost)
        j.left -= 1
        t += j.cost
        out += t * j.prio
    return out
"""


def test_objects_of_one_class_that_are_changed_where_they_are_chosen() -> None:
    check_both_modes(function_of(SCHEDULED), X, WAY)


WALKED = """
class Node:
    def __init__(self, key, w, left=None, right=None):
        self.key, self.w, self.left, self.right = key, w, left, right

def f(x):
    node = Node(0.5, x[0], Node(0.2, x[1]), Node(0.8, x[2], Node(0.6, x[0] * 2)))
    total = 0.0
    while node is not None:
        total += node.w
        node = node.left if x[0] < node.key else node.right
    return total
"""


def test_what_a_loop_asks_is_known_in_its_body() -> None:
    f = function_of(WALKED)
    check_both_modes(f, X + 0.03, WAY)
    g = grad(f)
    g(X + 0.03)
    assert "AttributeError" not in str(g.source)


EQUAL = """
class Plain:
    def __init__(self, v):
        self.v = v

class Like(Plain):
    def __eq__(self, other):
        return other.v > 0

def f(x):
    a, b, c = Plain(x[0]), Like(x[1]), Plain(x[2])
    total = 0.0
    for o in [o for o in (a, b, c) if o.v > 0.65]:
        total += o.v * (3.0 if o in (a, c) else 1.0)
    return total
"""


def test_what_says_itself_what_equals_it_is_not_searched_by_number() -> None:
    with pytest.raises(S2SADError):
        check_both_modes(function_of(EQUAL), X, WAY)
