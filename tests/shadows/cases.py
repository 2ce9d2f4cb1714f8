"""Small programs about one thing each: objects that change, names for one object, exceptions, generators, cells."""

from __future__ import annotations

import pathlib

from tests.matrix.build import Program

_ARGUMENTS = """

def arguments():
    x = np.array([0.5, 1.2, -0.7])
    k = np.array([0.8, -0.4, 1.5])
    return x, k
"""


def cases() -> dict[str, Program]:
    """The programs of `cases.txt` by their names."""
    text = (pathlib.Path(__file__).parent / "cases.txt").read_text()
    found = {}
    for number, part in enumerate(f"\n{text}".split("\n== ")[1:]):
        name, _, source = part.partition("\n")
        found[name] = Program(number, "shadows", (), f"import numpy as np\n{source}{_ARGUMENTS}")
    return found
