"""Random programs that write into few arrays very often, through aliases, views and each other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.program_writer import Program

SIZE = 5
CALLEES = (
    ["a[1:] *= np.tanh(b[:-1] + np.mean(c))", "return b[0] * a[1]"],
    ["b[0] = a[1] * np.mean(c)", "b[1] = a[1] * np.mean(c)", "return np.sum(a * b) * 0.1"],
    ["for k in range(1, 4):", "    a[k] = np.tanh(a[k - 1] * b[k] + b[k + 1])", "return a[-1]"],
    ["a += np.tanh(a * b)", "v = a[1:3]", "v[:] = b[:2] * 0.5", "return np.mean(v * a[:2])"],
)


class AliasWriter:
    """Writes one function of two vectors, in which `A` and `B` may be one array, and `v0`, `v1` parts of it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.views: list[str] = []
        self.counters: list[str] = []

    def program(self, size: int) -> Program:
        """A program of about ``size`` statements."""
        start = ["A", "A[::-1]", "y * 1.0", "A.copy()", f"np.zeros({SIZE})", f"A.reshape({SIZE})"]
        self.emit(0, "A = x * 1.0", f"B = {self.pick(start)}")
        for k in range(self.random.randrange(3)):
            part = self.pick(["[1:4]", "[:3]", "[2:]", "[::2]", "[3:0:-1]"])
            self.emit(0, f"v{k} = {self.pick('AB')}{part}")
            self.views.append(f"v{k}")
        self.emit(0, "s = 0.3", "t = y[0]")
        for _ in range(size):
            self.statement(0)
        total = " + ".join(["np.sum(np.sin(A))", "np.sum(A * B)", "s", "t", *(f"np.sum({v})" for v in self.views)])
        self.emit(0, f"return {total}")
        callee = [f"    {line}" for line in self.pick(CALLEES)]
        lines = ["import numpy as np", "", "", "def h(a, b, c):", *callee, "", "", "def f(x, y):", *self.lines, ""]
        rng = np.random.default_rng(self.seed)
        args = (rng.uniform(-1, 1, SIZE), rng.uniform(-1, 1, SIZE))
        return Program(self.seed, "\n".join(lines), (), args, (0, 1), 4, size)

    def pick(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def emit(self, depth: int, *lines: str) -> None:
        self.lines += [f"    {'    ' * depth}{line}" for line in lines]

    def index(self, size: int = SIZE) -> str:
        if self.counters and self.random.random() < 0.6:
            i = self.pick(self.counters)
            return str(self.pick([i, f"{i} + 1", f"{i} - 1", f"{size - 1} - {i}"]))
        return str(self.random.randrange(-size, size))

    def element(self) -> str:
        kind = self.random.random()
        if kind < 0.5:
            return f"{self.pick('AB')}[{self.index()}]"
        if self.views and kind < 0.7:
            return f"{self.pick(self.views)}[{self.index(3)}]"
        return "s" if kind < 0.8 else "t" if kind < 0.9 else f"y[{self.index()}]"

    def number(self) -> str:
        a, b = self.element(), self.element()
        forms = [f"{a} * {b}", f"{a} * {b} + {a}", f"{a} - 0.5 * {b}", f"np.sin({a})", f"{a} * {a}", a]
        return str(self.pick([*forms, f"{a} / (2.0 + {b} ** 2)"]))

    def part(self) -> str:
        """Three elements."""
        name = self.pick("AB")
        return str(self.pick([*(f"{name}{p}" for p in ("[1:4]", "[:3]", "[2:]", "[::2]")), *self.views]))

    def statement(self, depth: int) -> None:
        operator = self.pick(["=", "=", "+=", "-=", "*="])
        kind = self.random.randrange(16)
        if kind < 3:
            self.emit(depth, f"{self.pick('AB')}[{self.index()}] {operator} np.tanh({self.number()})")
        elif kind < 5:
            target = self.part()
            target = target if "[" in target else f"{target}[:]"
            value = self.pick([self.part(), self.number(), f"{self.part()} * {self.part()}"])
            self.emit(depth, f"{target} {operator} np.tanh({value})")
        elif kind == 5 and self.views:
            self.emit(depth, f"{self.pick(self.views)}[{self.index(3)}] {operator} np.tanh({self.number()})")
        elif kind == 6:
            self.emit(depth, f"s {operator} np.tanh({self.number()})")
        elif kind == 7:
            self.emit(depth, f"t = np.tanh(t * {self.element()} + np.mean({self.part()} * {self.part()}))")
        elif kind == 8:
            value = self.pick(["A", "B", "s", "t", "A * B", "B * s"])
            self.emit(depth, f"{self.pick('AB')} {self.pick(['+=', '*=', '-='])} np.tanh({value})")
        elif kind == 9:
            self.emit(depth, "A, B = B, A")
        elif kind == 10:
            call = f"h({self.pick('AB')}, {self.pick('AB')}, {self.pick(['s', 't', 'y'])})"
            self.emit(depth, self.pick([call, f"s = {call}"]))
        elif kind == 11 and depth < 2:
            counter = f"i{len(self.lines)}"
            runs = self.pick(["range(1, 4)", "range(3, 0, -1)", "range(1, 3)", "reversed(range(1, 4))"])
            self.emit(depth, f"for {counter} in {runs}:")
            self.counters.append(counter)
            self.inner(depth + 1)
            self.counters.remove(counter)
        elif kind == 12 and depth < 2:
            self.emit(depth, f"if {self.element()} > 0.2:")
            self.inner(depth + 1)
            if self.random.random() < 0.5:
                self.emit(depth, "else:")
                self.inner(depth + 1)
        elif kind < 15:
            made = ["A = A * 1.0", "B = A", "B = np.tanh(A * B)", "A = np.tanh(B + s)", "B = A[::-1]"]
            self.emit(depth, self.pick(made))
        else:
            index = self.pick(["[0, 0, 2]", "[1, 3, 1]", "B > 0.1"])
            self.emit(depth, f"B[{index}] {self.pick(['=', '*=', '+='])} s")

    def inner(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth)
