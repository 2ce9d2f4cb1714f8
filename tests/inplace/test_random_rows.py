"""Random programs over lists of lists, arrays or dicts, whose members and items change by the run."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import is_smooth_at, numeric_gradient
from tests.sources import function_of

X = np.array([0.8, 1.3, 0.6, 1.7, 0.4])
WAY = np.array([0.3, -0.2, 0.5, 0.1, 0.7])
PROGRAMS = 60
#: Those that are refused, in one mode or both; all others have to be right.
REFUSED = frozenset({0, 2, 8, 18, 26, 28, 38, 44, 47, 51, 55, 57, 58, 59})


class Writer:
    """Writes a program of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kind = self.random.choice(["list", "list", "array", "dict"])

    def choice(self, *options: Any) -> Any:
        return self.random.choice(options)

    def item(self) -> str:
        i, j = self.random.randrange(5), self.random.randrange(5)
        if self.kind == "list":
            return f"[x[{i}] * {self.choice(1.0, 2.0)}, x[{j}] + {self.choice(0.5, 1.0)}]"
        if self.kind == "array":
            return self.choice(f"np.array([x[{i}], x[{j}] * 2.0])", f"x[{i % 3}:{i % 3 + 2}] * 1.5")
        return f"{{0: x[{i}] * 1.5, 1: x[{j}]}}"

    def use(self, p: str) -> str:
        return self.choice(f"{p}[0] * {p}[1]", f"{p}[0] ** 2", f"np.sin({p}[1]) * {p}[0]")

    def statement(self, depth: int = 0) -> list[str]:
        at = self.choice
        simple = [
            ["for p in t:", f"    p[{at(0, 1)}] = {self.use('p')}"],
            ["for p in t:", f"    out = out + {self.use('p')}"],
            [f"out = out + sum({self.use('p')} for p in t)"],
            ["if len(t) > 1:", f"    q = t.pop({at('', '0', '-1', '1')})", f"    out = out + {self.use('q')}"],
            [f"if len(t) > 1: t.pop({at('', '0')})"],
            [f"t.append({self.item()})"],
            [f"t.insert({at(0, 1)}, {self.item()})"],
            ["t.reverse()"],
            [f"if len(t) > 1: del t[{at(0, -1)}]"],
            [f"t[0] = {self.item()}"],
            ["t = t[1:] + [t[0]]"],
            ["t = [p for p in t if p[0] > 0.5] or t"],
            [f"t[0][1] = {self.use('t[-1]')}"],
        ]
        if depth > 1 or self.random.random() < 0.8:
            return at(*simple)
        inner = [f"    {line}" for line in self.statement(depth + 1)]
        if at(True, False):
            return [f"for k in range({at(2, 3)}):", *inner]
        test = at(f"x[{self.random.randrange(5)}] > {at(0.1, 0.7, 1.5)}", "t[0][0] > 1.0", "len(t) > 2", "out < 2.0")
        return [f"if {test}:", *inner]

    def text(self) -> str:
        lines = [f"t = [{', '.join(self.item() for _ in range(self.choice(2, 3, 4)))}]", "out = 0.0"]
        for _ in range(self.choice(3, 4, 5, 6)):
            lines += self.statement()
        lines.append(f"return out + sum({self.use('p')} for p in t)")
        return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_rows(seed: int) -> None:
    f = function_of(Writer(seed).text())
    gradient = numeric_gradient(f, [X.copy()])
    if not is_smooth_at(f, X, gradient):
        return
    try:
        np.testing.assert_allclose(grad(f)(X.copy()), gradient, rtol=1e-5, atol=1e-7)
    except S2SADError:
        assert seed in REFUSED
    try:
        np.testing.assert_allclose(jvp(f, (X.copy(),), (WAY,))[1], gradient @ WAY, rtol=1e-5, atol=1e-7)
    except S2SADError:
        assert seed in REFUSED
