"""Random programs that leave functions and loops out of ``try`` and ``with``, and change what exists meanwhile."""

from __future__ import annotations

import random

import numpy as np
import pytest

from s2sad import S2SADError, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import names_of

X = np.array([0.8, 0.5, 1.3])
HEAD = """
import contextlib
import numpy as np

D = {"w": 2.0, "n": 0}

class Model:
    gain = 1.0

M = Model()
M.gain = 1.5

@contextlib.contextmanager
def changed(value):
    old = D["w"]
    D["w"] = value
    try:
        yield value
    finally:
        D["w"] = old

class Changed:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.old = M.gain
        M.gain = self.value
        return self

    def __exit__(self, *args):
        M.gain = self.old

def used(v):
    return np.tanh(np.sin(v) * D["w"]) + 0.3 * M.gain

def f(x):
    y = x[0]
"""
#: Statements, conditions and expressions; `y` is what is computed.
EXPRESSIONS = [
    "np.tanh(x[1] * y)",
    "0.5 * used(y)",
    "np.sin(y) + 0.3 * D['w'] * x[2]",
    "np.tanh(y * M.gain)",
    "0.5 * y + x[0]",
]
CONDITIONS = ["x[0] > 0.5", "i == 1", "y > 1.0", "D['w'] > 1.0", "x[1] > 0.6"]
SIMPLE = ["y = {e}", "D['w'] = {e}", "M.gain = {e}", "D['n'] += 1"]


class Program:
    """One program of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def expression(self) -> str:
        return self.random.choice(EXPRESSIONS)

    def block(self, depth: int, in_loop: bool, may_leave: bool) -> list[str]:
        lines = [line for _ in range(self.random.randint(1, 2)) for line in self.statement(depth, in_loop, may_leave)]
        if may_leave and depth and self.random.random() < 0.25:
            ways = [f"return y * {self.expression()}", *(["continue", "break"] if in_loop else [])]
            lines.append(self.random.choice(ways))
        return lines

    def statement(self, depth: int, in_loop: bool, may_leave: bool) -> list[str]:
        kinds = ["simple", "simple", *(["if", "finally", "manager", "class", "handler"] if depth < 3 else [])]
        kind = self.random.choice(kinds)

        def inside(leaves: bool = may_leave) -> list[str]:
            return ["    " + line for line in self.block(depth + 1, in_loop, leaves)]

        if kind == "if":
            condition = self.random.choice([c for c in CONDITIONS if in_loop or "i" not in c])
            return [f"if {condition}:", *inside(), *(["else:", *inside()] if self.random.random() < 0.5 else [])]
        if kind == "finally":
            return ["try:", *inside(), "finally:", *inside(False)]
        if kind == "manager":
            return [f"with changed({self.expression()}):", *inside()]
        if kind == "class":
            return [f"with Changed({self.expression()}):", *inside()]
        if kind == "handler":
            body = [f"    if {self.random.choice(['x[0]', 'x[1]', 'y'])} > 0.9:", "        raise ValueError"]
            caught = inside() if self.random.random() < 0.5 else ["    M.gain = 0.5", "    raise"]
            return ["try:", *inside(False), *body, "except ValueError:", *caught]
        return [self.random.choice(SIMPLE).format(e=self.expression())]

    def text(self) -> str:
        lines = self.block(0, False, True)
        lines += ["for i in range(3):", *("    " + line for line in self.block(1, True, True))]
        lines += self.block(0, False, True)
        return HEAD + "\n".join("    " + line for line in [*lines, "return y + used(x[2])"]) + "\n"


@pytest.mark.parametrize("seed", range(40))
def test_random(seed: int) -> None:
    check(seed)


def check(seed: int) -> str:
    """What comes of a program: right or refused."""
    text = Program(seed).text()
    plain, reverse = names_of(text), names_of(text)
    try:
        result = plain["f"](X)
    except ValueError:
        with pytest.raises((ValueError, S2SADError)):
            value_and_grad(reverse["f"])(X)
        return "raises"
    try:
        value, gradient = value_and_grad(reverse["f"])(X)
    except S2SADError as error:
        return "refused: " + str(error).split("error: ")[-1].splitlines()[0]
    np.testing.assert_allclose(value, result)
    expected = numeric_gradient(lambda x: names_of(text)["f"](x), (X,))
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9)
    assert (reverse["D"], vars(reverse["M"])) == (plain["D"], vars(plain["M"]))
    return "right"
