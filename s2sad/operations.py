"""What is known of each public function of NumPy, `math`, `cmath` and, where it is imported, SciPy, as a table.

Each is in one class: it has a *rule* (by the parameters named), is *constant*, *writes* into its argument, is *taken
apart* as the Python that it is, or is *refused*, with what to do instead.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from s2sad import ops
from s2sad.ops.classification import MEMBERS_REFUSED, remedy
from s2sad.runtime.series import KINDS
from s2sad.transform.functionals import is_functional

Kind = Literal["rule", "constant", "writes", "taken apart", "refused", "none"]
SERIES = tuple([f"numpy.polynomial.{name}" for name in KINDS.values()])
MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.lib.scimath", "numpy.lib.stride_tricks", *SERIES, "numpy.ndarray",
    "math", "cmath",
)  # fmt: skip
#: Of a module of SciPy only those are listed that are in the table.
_PARTIAL = "scipy."
#: What is taken apart where it is looped over.
_LOOPED = ("numpy.ndenumerate",)
#: The objects that are indexed.
_INDEXED: dict[str, tuple[Kind, str]] = {
    **dict.fromkeys(("r_", "c_"), ("rule", "items")),
    **dict.fromkeys(("s_", "index_exp", "mgrid", "ogrid"), ("constant", "")),
}


@dataclass(frozen=True)
class Row:
    """One function: its class, and by what it is differentiated, or what to do instead."""

    name: str
    kind: Kind
    text: str = ""


def rows(module: str) -> Iterator[Row]:
    """The table of one module, or of the methods and attributes of ``numpy.ndarray``.

    Example:
        >>> [row for row in rows("cmath") if row.name in ("cmath.exp", "cmath.isnan")]
        [Row(name='cmath.exp', kind='rule', text='x'), Row(name='cmath.isnan', kind='constant', text='')]
    """
    if module == "numpy.ndarray":
        yield from _members()
        return
    home = importlib.import_module(module)
    ops.load_imported()
    for name in sorted(n for n in dir(home) if n[:1] != "_"):
        value = getattr(home, name)
        if home is np and name in _INDEXED:
            yield Row(f"numpy.{name}", *_INDEXED[name])
        if _is_listed(value, home):
            row = _row(f"{module}.{name}", value)
            if row.kind != "none" or not module.startswith(_PARTIAL):
                yield row


def _is_listed(value: Any, home: types.ModuleType) -> bool:
    """Whether something is a function of a module, or a class that is called as one."""
    if isinstance(value, type):
        numbers = (np.generic, np.dtype, BaseException)
        own = home is np and not issubclass(value, numbers) and value.__module__ == "numpy"
        return own or ops.model_of(value) is not None
    if home.__name__ in SERIES:
        return callable(value) and getattr(value, "__module__", "") == home.__name__
    return callable(value) and not isinstance(value, types.ModuleType)


def _row(name: str, value: Any) -> Row:
    known = ops.spec_of(value)
    if isinstance(known, ops.Rule):
        return Row(name, "rule", ", ".join(known.wrt))
    if ops.model_of(value) is not None:
        return Row(name, "taken apart", "objects that are made and used in one program")
    if is_functional(value) or name in _LOOPED:
        return Row(name, "taken apart", "a function that is known" if is_functional(value) else "loops")
    if known is not None and known.constant:
        return Row(name, "constant")
    if known is not None and known.writes:
        return Row(name, "writes", ", ".join(known.writes))
    text = remedy(value)
    return Row(name, "none") if text is None else Row(name, "refused", text.rstrip("."))


def _members() -> Iterator[Row]:
    for name in sorted(n for n in dir(np.ndarray) if n[:1] != "_"):
        is_method = callable(getattr(np.ndarray, name))
        known = ops.method(name) if is_method else ops.attribute(name)
        text = f"numpy.ndarray.{name}"
        if isinstance(known, ops.Rule):
            yield Row(text, "rule", ", ".join(["itself", *known.wrt[1:]]))
        elif known is not None and known.constant:
            yield Row(text, "constant")
        elif known is not None and known.writes:
            yield Row(text, "writes", "itself")
        elif name in MEMBERS_REFUSED:
            yield Row(text, "refused", f"{MEMBERS_REFUSED[name][:1].upper()}{MEMBERS_REFUSED[name][1:]}")
        else:
            yield Row(text, "none")


_TITLES: dict[Kind, str] = {
    "rule": "Differentiated, by the parameters in brackets:",
    "taken apart": "Taken apart, as the Python that they are:",
    "constant": "Constant: their results have no derivative.",
    "writes": "Write into their arguments:",
    "refused": "Refused, where something that is differentiated goes in:",
}


def text(modules: Sequence[str] = ()) -> str:
    """The tables of some modules, those of `MODULES` by default, as Markdown."""
    lines: list[str] = []
    for module in modules or MODULES:
        table = list(rows(module))
        lines += [f"## {module}", ""]
        for kind, title in _TITLES.items():
            some = [row for row in table if row.kind == kind]
            if some:
                lines += [title, "", *_list(some, module, kind), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def document() -> str:
    """The text of ``OPERATIONS.md``."""
    version = ".".join(np.__version__.split(".")[:2])
    head = (
        f"# What is differentiated of NumPy {version}\n\nMade by `python -m s2sad.operations`; "
        "`s2sad operations scipy.special` says the same of another module.\nFunctions without a rule are welcome "
        "wherever nothing that is differentiated goes in.\n\n"
    )
    return head + text()


def _list(table: Sequence[Row], module: str, kind: Kind) -> list[str]:
    names = {row: row.name.removeprefix(f"{module}.") for row in table}
    if kind == "refused":
        why: dict[str, list[str]] = {}
        for row in table:
            why.setdefault(row.text, []).append(f"`{names[row]}`")
        return [line for text, some in why.items() for line in _wrapped(f"- {', '.join(some)}: {text}.", "  ")]
    parts = [f"`{names[row]}` ({row.text})" if row.text and kind == "rule" else f"`{names[row]}`" for row in table]
    return _wrapped(f"{', '.join(parts)}.", "")


def _wrapped(text: str, indent: str, width: int = 118) -> list[str]:
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


if __name__ == "__main__":
    sys.stdout.write(document())
