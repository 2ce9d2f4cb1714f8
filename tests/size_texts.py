"""The numbers that the texts of sizes stand for (`s2sad.ir.sizes`), read apart from the compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping

from s2sad.ir.sums import Dim


def value_of(size: Dim, names: Mapping[str, int]) -> int:
    """What the text of a size says, for values of its symbols."""
    text = str(size)
    while (inner := re.search(r"\{([^{}]*)\}", text)) is not None:
        held = inner[1]
        if held.startswith("0|"):
            found = max(0, value_of(held[2:], names))
        elif held.startswith("r|"):
            found = names[held.split("|")[1]]
        elif held in names:
            found = names[held]
        elif held.startswith("s|"):
            whole, bounds = re.fullmatch(r"s\|(.*)\[(.*)\]", held).groups()
            parts = [None if part == "" else value_of(part, names) for part in bounds.split(":")]
            found = len(range(value_of(whole, names))[slice(*parts)])
        else:
            left, sign, right = re.fullmatch(r"\((.*)\)(\*|//)\((.*)\)", held).groups()
            a, b = value_of(left, names), value_of(right, names)
            found = a * b if sign == "*" else a // b
        text = text.replace(inner[0], f"({found})")
    text = re.sub(r"\bk(-?\d+)", r"(\1)", text)
    return eval(re.sub(r"[A-Za-z_][\w.]*", lambda name: str(names[name[0]]), text))  # type: ignore[no-any-return]
