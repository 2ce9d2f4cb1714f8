"""A list that changes while a loop runs over it: Python goes by position and asks for the length each time.

Generated: {items constant or differentiated x how the loop runs over them x what changes them x under which name}.
Each is right, or refused before it runs; the oracles are Python itself and differences.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from s2sad.errors import UnsupportedError


def grow(items: Any, value: Any) -> None:
    items.append(value)


class Box:
    def __init__(self, items: Any) -> None:
        self.items = items

    def add(self, value: Any) -> None:
        self.items.append(value)


ITEMS = {
    "constant": "h = [1.0, 2.0, 4.0]",
    "differentiated": "h = [x[0], x[1], 2.0 * x[2]]",
    "mixed": "h = [1.0, x[1], 4.0]",
    "arrays": "h = [np.array([1.0, 2.0]), np.array([0.5, 3.0])]",
}
NAMES = {
    "its own": ("", "h", "h"),
    "another": ("g = h", "h", "g"),
    "one in a dict": ("d = {'h': h}", "h", "d['h']"),
    "the dict's": ("d = {'h': h}", "d['h']", "h"),
    "an object's": ("box = Box(h)", "box.items", "h"),
}
LOOPS = {
    "plain": "for v in RUN:",
    "enumerate": "for i, v in enumerate(RUN):",
    "zip": "for v, w in zip(RUN, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]):",
    "reversed": "for v in reversed(RUN):",
    "counted in reverse": "for i, v in enumerate(reversed(RUN)):",
    "iterator": "for v in iter(RUN):",
    "copy": "for v in RUN[:]:",
}
CHANGES = {
    "append": "if len(CHANGED) < 6: CHANGED.append(v * 2.0)",
    "append of x": "if len(CHANGED) < 6: CHANGED.append(x[1] * v)",
    "extend": "if len(CHANGED) < 6: CHANGED.extend([v, v])",
    "augment": "if len(CHANGED) < 6: CHANGED += [v]",
    "insert": "if len(CHANGED) < 6: CHANGED.insert(0, v * 0.5)",
    "pop": "CHANGED.pop()",
    "pop first": "CHANGED.pop(0)",
    "last item": "CHANGED[-1] = v * 0.5",
    "first item": "CHANGED[0] = v * 0.5",
    "item of x": "CHANGED[len(CHANGED) - 1] = x[0] * v",
    "reverse": "CHANGED.reverse()",
    "clear": "CHANGED.clear()",
    "callee": "if len(CHANGED) < 6: grow(CHANGED, v)",
    "method": "if len(CHANGED) < 6: Box(CHANGED).add(v)",
}


@dataclass(frozen=True)
class Program:
    items: str
    name: str
    loop: str
    change: str
    read: bool

    def __str__(self) -> str:
        return "-".join((self.items, self.name, self.loop, self.change, *(["read"] if self.read else [])))

    def function(self) -> Callable[..., Any]:
        other, run, changed = NAMES[self.name]
        number = "v[0]" if self.items == "arrays" else "v"
        body = [
            ITEMS[self.items],
            *([other] if other else []),
            "t = 0.5",
            LOOPS[self.loop].replace("RUN", run),
            f"    t = t + {number} * t * x[0] + {number} * x[1]",
            f"    {CHANGES[self.change].replace('CHANGED', changed)}",
            "return t + len(h)" if self.read else "return t",
        ]
        text = "def f(x):\n" + "".join(f"    {line}\n" for line in body)
        name = f"<changed {self}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space: dict[str, Any] = {"np": np, "grow": grow, "Box": Box}
        exec(compile(text, name, "exec"), space)
        return space["f"]  # type: ignore[no-any-return]


X = np.array([0.5, 1.25, 0.75])
EVERY = [Program(*cell) for cell in itertools.product(ITEMS, NAMES, LOOPS, CHANGES, (False, True))]


def outcome(program: Program) -> str:
    f = program.function()
    try:
        expected = f(X.copy())
    except (IndexError, TypeError):
        return "an error in Python"
    try:
        value, gradient = value_and_grad(f)(X.copy())
    except UnsupportedError as error:
        return f"refused: {str(error).splitlines()[0].partition('error: ')[2]}"
    assert value == expected, "the value is not Python's"
    differences = np.zeros(3)
    for i in range(3):
        for step, weight in ((1.0, 45.0), (2.0, -9.0), (3.0, 1.0)):
            for sign in (1.0, -1.0):
                moved = X.copy()
                moved[i] += sign * step * 1e-3
                differences[i] += sign * weight * f(moved) / 60e-3
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-7)
    return "right"


#: Some of the cells, in which each value of each axis meets each of any other.
@pytest.mark.parametrize("program", EVERY[::29], ids=str)
def test_a_list_that_changes_while_a_loop_runs_over_it_is_followed_or_refused(program: Program) -> None:
    assert outcome(program)


CONSTANT = [
    p
    for p in EVERY
    if p.items == "constant" and p.loop in ("plain", "enumerate", "iterator") and " x" not in p.change and not p.read
]


@pytest.mark.parametrize("program", CONSTANT[::5], ids=str)
def test_a_list_of_constants_that_changes_while_a_loop_runs_over_it_is_followed(program: Program) -> None:
    found = outcome(program)
    assert not found.startswith("refused") or "another name" in found
