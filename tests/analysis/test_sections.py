"""What the analysis of array sections says will not be written, against the places that a run writes."""

from __future__ import annotations

import contextlib
import linecache
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from s2sad.analysis.sections import sections
from s2sad.ir.nodes import Stmt, Store
from s2sad.ir.sizes import Sizes
from s2sad.ir.traverse import walk
from s2sad.ir.types import describe
from s2sad.pipeline.analysed import Asked, analysed
from s2sad.pipeline.program import Program

SIZE = 5


class Writer:
    """Writes a nest of loops over one array, with items and parts of it read and written in turn."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = ["def f(A, n, m):", "    s = 0.0"]
        self.reads = self.writes = 0
        self.names: list[str] = []

    def text(self) -> str:
        self.block(1, 0)
        return "\n".join([*self.lines, "    return s", ""])

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def integer(self) -> str:
        pick = self.random.choice
        if not self.names:
            return str(pick(["0", "1", "n - 1", "-1", "m"]))
        name = pick(self.names[-3:])
        near = [name, name, name, f"{name} + 1", f"{name} - 1", f"{name} + 2"]
        return str(pick(near if self.random.random() < 0.8 else [f"n - 1 - {name}", f"2 * {name}", "0", "-1", "m"]))

    def part(self) -> str:
        pick = self.random.choice
        forms = [
            *[self.integer] * 9,
            *[lambda: f"{self.integer()}:"] * 3,
            *[lambda: f":{self.integer()}"] * 3,
            lambda: f"{self.integer()}:{self.integer()}",
            lambda: ":",
            lambda: "1:-1",
            lambda: f"{self.integer()}::2",
            lambda: "[0, 1]",
            lambda: "...",
        ]
        return str(pick(forms)())

    def index(self) -> str:
        return ", ".join(self.part() for _ in range(self.random.choice([1, 2, 2, 2])))

    def block(self, depth: int, loops: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            kind = self.random.randrange(12)
            if (kind < 5 or not self.names) and loops < 3 and len(self.lines) < 25:
                name = f"i{depth}{len(self.lines)}"
                bound = self.integer() if self.names else "0"
                runs = self.random.choice(
                    ["range(n)", "range(1, n)", f"range({bound}, n)", f"range(n - 1, {bound}, -1)", "range(0, n, 2)",
                     f"reversed(range({bound}, n - 1))", "range(n - 2)", "range(n - 1, -1, -1)"]
                )  # fmt: skip
                self.emit(depth, f"for {name} in {runs}:")
                self.names.append(name)
                self.block(depth + 1, loops + 1)
                if self.random.random() < 0.7:
                    self.names.remove(name)
                else:
                    self.lines.insert(2, f"    {name} = 0")
            elif kind < 6 and loops and depth < 5:
                self.emit(depth, f"if {self.integer()} < {self.integer()}:")
                self.block(depth + 1, loops)
            elif kind < 7:
                name = f"j{len(self.lines)}"
                self.emit(depth, f"{name} = {self.integer()}")
                self.lines.insert(2, f"    {name} = 0")
                self.names.append(name)
            elif kind < 9 or self.writes == 3:
                self.reads += 1
                self.emit(depth, f"r{self.reads} = A[{self.index()}]")
                self.emit(depth, f"s = s + np.sum(np.sin(r{self.reads}))")
            else:
                self.writes += 1
                self.emit(depth, f"A[{self.index()}] {self.random.choice(['=', '*=', '+='])} 0.5")


class Traced(np.ndarray):
    """An array that notes which of its elements are read and written when."""

    log: list[tuple[str, int, frozenset[int]]]

    def __getitem__(self, index: Any) -> Any:
        places = np.arange(self.size).reshape(self.shape)[index]
        self.log.append(("read", line(), frozenset(np.ravel(places).tolist())))
        return np.asarray(self)[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        places = np.arange(self.size).reshape(self.shape)[index]
        self.log.append(("write", line(), frozenset(np.ravel(places).tolist())))
        np.asarray(self)[index] = value


def line() -> int:
    """The line of the program that reads or writes."""
    return sys._getframe(2).f_lineno


def origins(block: tuple[Stmt, ...]) -> Iterator[tuple[str, Stmt]]:
    for stmt in walk(block):
        for name in [stmt.target] if hasattr(stmt, "target") else []:
            yield name, stmt


def claims(text: str, key: str, A: Any, n: int, m: int) -> tuple[set[int], set[int]]:
    """The lines of which the analysis says that the part they read, or store, is never written later."""
    filename = f"<sections {key}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"np": np, "__name__": __name__}
    exec(compile(text, filename, "exec"), space)
    sizes = Sizes()
    facts = {k: describe(v, k, sizes) for k, v in (("A", A), ("n", n), ("m", m))}
    a = analysed(Program(), Asked(space["f"], ("A",), facts))
    found = sections(a.function, a.facts, a.effects)
    reads = {stmt.origin.line for name, stmt in origins(a.function.body) if name in found.names}
    stores = {s.origin.line for s in walk(a.function.body) if isinstance(s, Store) and id(s) in found.stores}
    return reads, stores


def run(text: str, A: Any, n: int, m: int) -> list[tuple[str, int, frozenset[int]]]:
    space: dict[str, Any] = {"np": np}
    exec(compile(text, "<traced>", "exec"), space)
    traced = A.copy().view(Traced)
    traced.log = []
    # What ran until an index is out of bounds counts.
    with contextlib.suppress(IndexError, ValueError):
        space["f"](traced, n, m)
    return traced.log


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_what_stays_is_not_written(start: int) -> None:
    stays = 0
    for seed in range(start, start + 40):
        text = Writer(seed).text()
        A = np.arange(1.0, SIZE * SIZE + 1).reshape(SIZE, SIZE)
        reads, stores = claims(text, str(seed), A, SIZE, 2)
        for n, m in ((SIZE, 2), (SIZE - 1, 0)):
            log = run(text, A, n, m)
            written: set[int] = set()
            for kind, where, places in reversed(log):
                if where in (reads if kind == "read" else stores):
                    stays += 1
                    # An augmented store reads first; it is its write that counts.
                    assert not places & written, f"line {where} of\n{text}"
                if kind == "write":
                    written |= places
    assert stays


# A body, and whether what `r = A[...]` reads is known to stay as it is.
BODIES = [
    ("for k in range(1, n):\n    A[k] = 0.5\n    r = A[k - 1]", True),
    ("for k in range(1, n):\n    r = A[k]\n    A[k - 1] = 0.5", False),
    ("for k in range(n - 1, 0, -1):\n    r = A[k]\n    A[k - 1] = 0.5", True),
    ("for k in range(n - 1, 0, -1):\n    A[k - 1] = 0.5\n    r = A[k]", True),
    ("for k in reversed(range(1, n)):\n    A[k - 1] = 0.5\n    r = A[k]", True),
    ("for k in reversed(range(1, n)):\n    A[k] = 0.5\n    r = A[k - 1]", False),
    ("for k in reversed(range(n - 1, 0, -1)):\n    A[k] = 0.5\n    r = A[k - 1]", True),
    ("for k in range(n - 2):\n    A[k] = 0.5\n    r = A[k + 2]", False),
    ("for k in range(0, n - 2, 2):\n    A[k] = 0.5\n    r = A[k + 1]", True),
    ("for k in range(0, n - 2, 2):\n    A[k] = 0.5\n    r = A[k + 2]", False),
    ("for k in range(1, n):\n    r = A[k]\nA[k - 1] = 0.5", False),
    ("for k in range(1, n):\n    r = A[0]\nA[k] = 0.5", False),
    ("for k in range(1, n):\n    for i in range(k):\n        A[k, i] = 0.5\n        r = A[i, i]", True),
    ("for k in range(1, n):\n    for i in range(k):\n        A[k, i] = 0.5\n        r = A[i, k]", True),
    ("for k in range(1, n):\n    for i in range(k):\n        A[i, k] = 0.5\n        r = A[k, i]", True),
    ("for k in range(1, n):\n    for i in range(k):\n        A[k, i] = 0.5\n        r = A[k, i]", True),
    ("for k in range(1, n):\n    for i in range(n):\n        A[k, i] = 0.5\n        r = A[i, k]", False),
    ("for t in range(2):\n    for k in range(1, n):\n        A[k] = 0.5\n        r = A[k - 1]", False),
    ("for k in range(n - 1):\n    A[k + 1:, k] = 0.5\n    r = A[k, k + 1:]", True),
    ("for k in range(n - 1):\n    A[k + 1:, k] = 0.5\n    r = A[k + 1:, k + 1:]", False),
    ("for k in range(n - 1):\n    j = k + 1\n    A[j] = 0.5\n    r = A[j - 1]", True),
    ("for k in range(n - 1):\n    j = n - 1 - k\n    A[j] = 0.5\n    r = A[j - 1]", False),
    ("k = 0\nwhile k < n - 1:\n    A[k] = 0.5\n    r = A[k + 1]\n    k = k + 1", False),
    ("r = A[0]\nA[-1] = 0.5", False),
    ("r = A[0]\nA[1:-1] = 0.5", True),
    ("r = A[-1]\nA[1:-1] = 0.5", True),
    ("r = A[-2:]\nA[1:-1] = 0.5", False),
    ("r = A[:, 0]\nA[:, 1:] = 0.5", True),
    ("r = A[0]\nA[m] = 0.5", False),
    ("r = A[m]\nA[m + 1] = 0.5", False),
    ("B = A[1:]\nr = A[0]\nB[0] = 0.5", False),
    ("for k, a in enumerate(A):\n    A[k] = 0.5\n    if k > 0:\n        r = A[k]", True),
    ("for i in range(n):\n    B = A[i]\n    B[0] = 0.5\n    r = B[1]", False),
    ("for k in range(1, n):\n    if k < 3:\n        r = A[k]\n    else:\n        A[k] = 0.5", True),
]


@pytest.mark.parametrize(("body", "stays"), BODIES)
def test_body(body: str, stays: bool) -> None:
    """What is claimed is what is expected, and what stays does so in a run."""
    lines = [
        "def f(A, n, m):",
        "    s = 0.0",
        *(f"    {text}" for text in body.splitlines()),
        "    return s + np.sum(A)",
        "",
    ]
    where = next(i for i, text in enumerate(lines, 1) if "r = A" in text or "r = B" in text)
    lines[where - 1] += "; s = s + np.sum(np.sin(r))"
    text = "\n".join(lines)
    A = np.arange(1.0, SIZE * SIZE + 1).reshape(SIZE, SIZE)
    reads, _ = claims(text, f"body {body}", A, SIZE, 2)
    assert (where in reads) == stays
    written: set[int] = set()
    for kind, line_, places in reversed(run(text, A, SIZE, 2)):
        if kind == "read" and line_ == where and stays:
            assert not places & written
        if kind == "write":
            written |= places
