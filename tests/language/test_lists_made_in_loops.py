"""Lists and dicts of any number of items that a branch or a turn of a loop makes: their adjoints begin with zeros."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.random_objects import load

X, V = np.array([0.7, 0.4, 1.2, 0.9]), np.array([0.3, -0.2, 0.5, 0.1])
#: How a container is made, how it is changed then, and what is computed from it.
MADE = {
    "numbers": ("[x[0] * v for v in x]", "q[0] = q[0] * 3.0", "q[1] * q[-1] + sum(q)"),
    "joined": ("[x * k for k in range(n)] + [x]", "q[0] = q[0] * 3.0", "np.sum(q[0] * q[-1])"),
    "in_a_tuple": ("([x[0] * v for v in x], x * 2.0)", "q[0].append(x[1])", "q[0][1] * np.sum(q[1])"),
    "dict": ("{k: x[k] ** 2 for k in range(n)}", "q[1] = q[1] * 2.0", "q[1] * q[0] + sum(q.values())"),
    "in_a_list": ("[[x[k] * x[j] for j in range(k)] for k in range(n)]", "q[2].append(x[0])", "q[2][0] * q[1][0]"),
    "by_a_callee": ("fill(x, n)", "q.append(x[1])", "q[0] * q[1] + sum(v * v for v in q)"),
    "arrays": ("[x * v for v in x]", "q[1] = q[0] * 2.0", "np.sum(q[0] * q[1]) + np.sum(np.array(q))"),
}
#: Where that is: the changes stand for themselves or for ``pass``.
PLACES = {
    "in_a_branch": "if x[0] > 0: q = {made}\n{changed}\nreturn {used}",
    "in_two_branches": (
        "s = 0.0\nif x[0] > 0: q = {made}\nif n > 1:\n    {changed}\n    s = s + {used}\nreturn s * x[0]"
    ),
    "in_one_turn": (
        "s = 0.0\nfor k in range(n):\n    if k == 1: q = {made}\n    if k >= 1:\n        {changed}\n"
        "        s = s + {used} * (k + 1.0)\n    x = x * 1.1\nreturn s"
    ),
    "in_the_last_turn": (
        "for k in range(9):\n    x = x * 1.1\n    if k == n:\n        q = {made}\n        break\n{changed}\n"
        "return {used}"
    ),
    "returned_from_a_turn": "q = found(x, n)\n{changed}\nreturn {used}",
    "returned_with_others": "q, y = found_with_others(x, n)\n{changed}\nreturn {used} + np.sum(y)",
    "in_each_turn": "for k in range(n):\n    x = x * 1.1\n    q = {made}\n    {changed}\nreturn {used}",
    "for_the_next_turn": (
        "k = 0\ns = 0.0\nwhile k < n:\n    if k > 0: s = s + {used}\n    q = {made}\n    k = k + 1\n    x = x * 0.9\n"
        "return s + {used}"
    ),
}  # fmt: skip
TEXT = """import numpy as np

def fill(x, n):
    out = []
    for k in range(n):
        out.append(x[k] ** 2)
    return out

def found(x, n):
    for k in range(9):
        x = x * 1.1
        if k == n:
            return {made}
    raise ValueError

def found_with_others(x, n):
    for k in range(9):
        x = x * 1.1
        if k == n:
            q = {made}
            return q, x * {used}
    raise ValueError

def f(x, n):
"""
#: Refused: a container that a tuple holds and others changed, or that a callee made, may be found elsewhere.
REFUSED = {
    *itertools.product(["returned_with_others"], ["numbers", "in_a_tuple", "arrays"], [True]),
    *itertools.product(["for_the_next_turn"], ["dict", "by_a_callee"], [False, True]),
}
EVERY = [
    (place, made, is_changed)
    for n, (place, made) in enumerate(itertools.product(PLACES, MADE))
    for is_changed in ((False, True) if place in ("in_the_last_turn", "in_each_turn") else (n % 2 == 0,))
    if (place, made, is_changed) not in REFUSED
]


@pytest.mark.parametrize(("place", "made", "is_changed"), EVERY[::2])
def test_the_gradient_is_right(place: str, made: str, is_changed: bool) -> None:
    value, change, used = MADE[made]
    parts = {"made": value, "used": used, "changed": change if is_changed else "pass"}
    body = "".join(f"    {line}\n" for line in PLACES[place].format(**parts).split("\n"))
    module: dict[str, Any] = load(f"made_{place}_{made}_{is_changed}", TEXT.format(**parts) + body)
    f = module["f"]
    expected = numeric_gradient(lambda x: f(x, 3), (X,))
    np.testing.assert_allclose(grad(f)(X, 3), expected, rtol=1e-7, atol=1e-9)
    if not is_changed:
        np.testing.assert_allclose(jvp(lambda x: f(x, 3), (X,), (V,))[1], expected @ V, rtol=1e-7)


def test_what_a_loop_is_left_with_has_no_zeros_of_its_structure() -> None:
    def found(b, n):
        seen = []
        for k in range(9):
            b = b * 1.1
            seen.append(b)
            if k == n:
                return (b, k), seen
        raise ValueError

    def loss(b, n):
        (x, _), seen = found(b, n)
        return np.sum(x * seen[0])

    text = grad(loss).source_for(X, 3)
    assert "result_bar = [[0.0, 0.0], 0.0]" in text
    assert "zeros(result" not in text
