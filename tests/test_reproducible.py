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
