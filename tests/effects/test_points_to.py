"""What values point to, and what operations and functions write, keep and give back: source in, text out.

`effects.txt` has the programs with what is found of them; ``python -m tests.effects.test_points_to`` writes it anew.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from s2sad.effects.mod_ref import show_effects, show_summary
from tests.effects.programs import analysed

FILE = pathlib.Path(__file__).with_name("effects.txt")
#: Arguments of programs other than two arrays; None if nothing is known of them.
ARGUMENTS = {"unknown classes": None, "stored into arguments": ([np.ones(3)], np.ones(3))}


def cases() -> dict[str, tuple[str, str]]:
    """The programs by name, with what is expected of them."""
    found = {}
    for section in FILE.read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, expected = section.partition("\n---\n")
        name, _, source = head.partition("\n")
        found[name] = source.strip() + "\n", expected.strip()
    return found


def text(name: str, source: str) -> str:
    """What the analysis finds."""
    context = analysed(source, ARGUMENTS.get(name, (np.ones(3), np.ones(3))))
    return f"{show_summary(context)}\n\n{show_effects(context)}"


@pytest.mark.parametrize("name", cases())
def test_effects(name: str) -> None:
    source, expected = cases()[name]
    assert text(name, source) == expected


if __name__ == "__main__":
    parts = [f"=== {name}\n{source}\n---\n{text(name, source)}\n" for name, (source, _) in cases().items()]
    FILE.write_text("\n".join(parts), encoding="utf-8")
