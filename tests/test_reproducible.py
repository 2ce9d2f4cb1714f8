"""The emitted text is the same in every run: no order of a set shows in it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
_SEEDS = ("1", "2", "3")


def waves(x: np.ndarray, n: int) -> float:
    """A loop that saves three arrays, from which the reverse part computes the operands of four sines again."""
    for _ in range(n):
        a = np.sin(x)
        b = np.cos(x)
        c = np.tan(x)
        x = np.sin(a + b + c) * np.sin(a - b) * np.sin(a + 2.0 * b) * np.sin(b - 3.0 * c)
    return float(np.sum(x))


def test_the_text_does_not_depend_on_hashes() -> None:
    emitted = "print(grad(t.waves).source_for(np.ones(3), 2))"
    run = [sys.executable, "-c", f"import numpy as np; from s2sad import grad; import {__name__} as t; {emitted}"]
    found = {
        subprocess.run(
            run, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True, text=True
        ).stdout
        for seed in _SEEDS
    }
    assert len(found) == 1
    assert "saved.append" in found.pop()


class Cell:
    """What the methods compute has the name of a parameter of the function that calls them."""

    def __init__(self, a: float) -> None:
        self.a = a

    def up(self, y: np.ndarray) -> np.ndarray:
        T = np.sin(y) * self.a
        T = T * T + 1.0
        return T * np.exp(-T)

    def down(self, y: np.ndarray) -> np.ndarray:
        T = np.cos(y) + self.a
        return T / (1.0 + T * T)


def cells(T: np.ndarray, n: int) -> float:
    """Objects in loops, whose methods are chosen by what is differentiated."""
    made = [Cell(0.5 * i) for i in range(3)]
    total = 0.0
    for k in range(n):
        for c in made:
            a = c.up(T) if T[0] > k else c.down(T)
            c.a = c.a + 0.1 * np.sum(a)
            total = total + np.sum(a * T)
    return total + sum([c.a for c in made]) * T[1]


#: The identities of objects, and their hashes, are of no order that any run has again.
_SCRAMBLED = """
import builtins, random, sys
plain, factor = builtins.id, random.Random({seed}).randrange(1 << 60) | 1
def mixed(value):
    return (plain(value) >> 4) * factor % ((1 << 61) - 1)
builtins.id = mixed
import numpy as np
import tests.test_reproducible as t
from s2sad import grad
for module in [m for name, m in sys.modules.items() if name.startswith("s2sad.")]:
    for cls in [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]:
        if cls.__hash__ is object.__hash__ and cls.__eq__ is object.__eq__:
            cls.__hash__ = mixed
print(grad(t.cells).source_for(np.array([0.5, 1.5]), 2))
"""


def test_the_text_does_not_depend_on_addresses() -> None:
    """Names for what took the name of a parameter were exchanged: T_2 and T_3."""
    found = {
        subprocess.run(
            [sys.executable, "-c", _SCRAMBLED.format(seed=seed)], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1
    assert "T_3 = " in found.pop()
