"""A function beside its derivative, and what became of each of its variables."""

from __future__ import annotations

import itertools
import pathlib
import re
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gast

from s2sad.errors import ArgumentError
from s2sad.frontend.source import read_source

_NAME = re.compile(r"(?<![\w.~])(~?)([^\W\d]\w*)\.\d+'*")
_RESULT = re.compile(r"result(_\d+)?$")


def side_by_side(function: types.FunctionType, derivative: str, gap: int = 4) -> str:
    """The text of ``function`` on the left, ``derivative`` on the right."""
    left = [line.expandtabs() for line in read_source(function).lines]
    right = derivative.rstrip().splitlines()
    width = max((len(line) for line in left), default=0) + gap
    rows = itertools.zip_longest(left, right, fillvalue="")
    return "\n".join(f"{a:<{width}}{b}".rstrip() for a, b in rows)


def write(text: str, path: Any) -> None:
    """Write emitted text to a file.

    Raises:
        ArgumentError: if a module that is loaded came from that file.
    """
    target = pathlib.Path(path)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and target.name == pathlib.Path(file).name and target.exists() and target.samefile(file):
            raise ArgumentError(f"{path} is the file of the module {name}, which is loaded\nName another file.")
    target.write_text(text, encoding="utf-8")


def table(function: types.FunctionType, wrt: Sequence[str], stages: Mapping[str, str]) -> str:
    """One line for each variable: whether it is active, what the reverse part keeps of it, and the first use of that.

    A variable is active if it depends on an argument of ``wrt`` and the result depends on it.

    Example:
        >>> def f(x, n):
        ...     y = x * n
        ...     return y * y
        >>> stages = {
        ...     "ir": "function f(x.1, n.1)\\n    y.1 = (x.1 * n.1)\\n    return (y.1 * y.1)",
        ...     "activity": "function f(x.1, n.1)\\n    y.1 = (x.1 * n.1)    # active: y.1",
        ...     "adjoint": "function g(x.1, n.1)\\n    y.1 = (x.1 * n.1)\\n    reverse\\n    y_bar.1 = (2 * y.1)\\n"
        ...     "    return (y_bar.1 * n.1)",
        ... }
        >>> print(table(f, ["x"], stages))
        variable  active  kept for the reverse part  read there by
        x         yes     -
        n         no      as it is                   return (y_bar * n)
        y         yes     as it is                   y_bar = (2 * y)
    """
    source = read_source(function)
    own = {node.id for node in gast.walk(source.node) if isinstance(node, gast.Name)}
    names = [n for n in dict.fromkeys(_names(stages["ir"])) if n in own and not _RESULT.match(n)]
    active = set(wrt)
    for line in stages["activity"].splitlines():
        if "# active: " in line:
            active.update(_names(line.partition("# active: ")[2]))
    forward, _, reverse = stages["adjoint"].partition("\n    reverse\n")
    pushed = {n for line in forward.splitlines() if line.strip().startswith("push ") for n in _names(line)}
    reads: dict[str, str] = {}
    for line in reverse.splitlines():
        text = line.strip()
        _, mark, value = text.partition(" in " if text.startswith("for ") else " = ")
        if not text.endswith(":") and " = pop " not in text and " <- " not in text:
            for name in _names(value if mark else text):
                reads.setdefault(name, _NAME.sub(r"\2", text))
    rows = [("variable", "active", "kept for the reverse part", "read there by")]
    for name in names:
        kept = "each time" if name in pushed else "as it is" if name in reads else "-"
        rows.append((name, "yes" if name in active else "no", kept, reads.get(name, "") if kept != "-" else ""))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return "\n".join(
        "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]]).rstrip() for row in rows
    )


def _names(text: str) -> Iterable[str]:
    """The variables in a line of IR, temporaries left out."""
    return [name for temporary, name in _NAME.findall(text) if not temporary]
