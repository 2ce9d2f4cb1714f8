"""A list that gets another name as its last use under the first: the second name is the list's own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_both_modes, check_right_or_refused

MADE = {
    "grown": "a = []\n    for i in range(n): a.append(x[i] * (i + 1))",
    "comprehension": "a = [x[i] * np.cos(x[0]) for i in range(n)]",
    "changed": "a = list(x)\n    for i in range(n): a[i] = a[i] * x[0]",
    "arrays": "a = [x * i for i in range(n)]",
}
RENAMED = {
    "at once": "b = a",
    "twice": "c = a\n    c.append(x[2])\n    b = c",
    "in an arm": "if x[0] > bound:\n        a = [2.0 * v for v in a]\n    b = a",
    "or another": "if x[0] > bound:\n        b = a\n    else:\n        b = [x[1]]",
    "unknown items": "if np.ndim(a[0]) > 3: a = [np.moveaxis(v, 2, 0) for v in a]\n    b = a",
}
CHANGED = {
    "appended": "for i in range(n): b.append(x[0] * i)",
    "set": "for i in range(len(b)): b[i] = b[i] * x[1]",
    "taken": "b.pop()\n    b.append(x[1])",
}
#: What reads the list under its first name, or has it elsewhere, so that a change is seen there.
SEEN = {
    "after": ("", "s = s + np.sum(a[0])"),
    "by another list": ("rows = [a]", "s = s + np.sum(rows[0][0]) * len(rows[0])"),
    "in a loop": ("", "for k in range(2):\n        b = a\n        b.append(x[1])\n    s = s + len(a) * x[0]"),
}
HEAD = "import numpy as np\ndef f(x):\n    n, bound = 3, {}\n    "
X = np.array([0.7, -0.4, 1.2, 0.3])
WAY = np.array([0.3, 0.8, -0.5, 1.1])


def program(bound: float, *lines: str) -> object:
    steps = [line for line in lines if line]
    return function_of(HEAD.format(bound) + "\n    ".join(steps) + "\n    return s")


@pytest.mark.parametrize(("made", "renamed", "changed"), list(itertools.product(MADE, RENAMED, CHANGED)))
def test_the_second_name_is_changed(made, renamed, changed):
    read = "s = sum(np.sum(v * v) * (k + 1) for k, v in enumerate(b))"
    for bound in (0.0, 5.0):
        check_both_modes(program(bound, MADE[made], RENAMED[renamed], CHANGED[changed], read), X, WAY)


@pytest.mark.parametrize(("made", "seen", "changed"), list(itertools.product(MADE, SEEN, CHANGED)))
def test_a_change_that_is_seen_elsewhere(made, seen, changed):
    before, after = SEEN[seen]
    f = program(0.0, MADE[made], before, "b = a", CHANGED[changed], "s = sum(np.sum(v * v) for v in b)", after)
    check_right_or_refused(f, X, WAY)
