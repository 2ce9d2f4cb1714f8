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
from s2sad.ops import binding
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


#: Those of SciPy that are listed in the documentation.
_SCIPY = (
    "scipy.special", "scipy.linalg", "scipy.fft", "scipy.signal", "scipy.ndimage", "scipy.integrate",
    "scipy.interpolate", "scipy.optimize", "scipy.sparse", "scipy.sparse.linalg", "scipy.spatial.distance",
    "scipy.stats",
)  # fmt: skip
_METHODS = "Distributions, with the methods that are differentiated by the point and all parameters:"
_HEAD = """\
# What is differentiated of NumPy {numpy} and SciPy {scipy}

Made by `python -m s2sad.operations`; `s2sad operations scipy.special` says it of one module.
Functions without a rule are welcome wherever nothing that is differentiated goes in.

Every function that is differentiated is so in reverse and in forward mode, in double and in single precision, of
numbers, arrays without axes, empty ones, and lists where NumPy takes them; `c` says that its operands may be complex.
Universal functions take `dtype`, `where`, `out`, `casting` and `order` as well, and others `out` where NumPy has it.

"""


@dataclass(frozen=True)
class Row:
    """One function: its class, and by what it is differentiated, or what to do instead."""

    name: str
    kind: Kind
    text: str = ""
    #: The other parameters that a rule takes.
    options: str = ""
    #: Whether the rule is one for complex operands too.
    complex: bool = False


def rows(module: str) -> Iterator[Row]:
    """The table of one module, or of the methods and attributes of ``numpy.ndarray``.

    Example:
        >>> [(row.name, row.kind, row.text) for row in rows("cmath") if row.name in ("cmath.exp", "cmath.isnan")]
        [('cmath.exp', 'rule', 'x'), ('cmath.isnan', 'constant', '')]
    """
    if module == "numpy.ndarray":
        yield from _members()
        return
    home = importlib.import_module(module)
    ops.load_imported()
    if module == "scipy.stats":
        yield from _distributions()
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
        return _ruled(name, known)
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


def _ruled(name: str, rule: ops.Rule) -> Row:
    options = [p for p in rule.parameters if p not in rule.wrt]
    names = [p if binding.takes(rule.function, p) else binding.spelled(rule, p) for p in options]
    return Row(name, "rule", ", ".join(rule.wrt), ", ".join(names), _is_complex(rule))


def _is_complex(rule: ops.Rule) -> bool:
    """Whether a rule has a sample with a complex operand by which there is a derivative."""
    if rule.real_only:
        return False
    for point in rule.samples():
        places = [name in rule.wrt for name in rule.parameters[: len(point.args)]]
        given = [x for i, x in enumerate(point.args) if i >= len(places) or places[i]]
        if any(map(_holds_complex, [*given, *(x for name, x in point.kwargs.items() if name in rule.wrt)])):
            return True
    return False


def _holds_complex(x: Any) -> bool:
    return any(map(_holds_complex, x)) if isinstance(x, (list, tuple)) else np.iscomplexobj(x)


def _distributions() -> Iterator[Row]:
    """The methods of distributions of ``scipy.stats``, one row for each distribution."""
    methods: dict[str, list[str]] = {}
    for rule in ops.spec.rules():
        home, _, name = rule.name.removeprefix("scipy.stats.").partition(".")
        if rule.name.startswith("scipy.stats.") and name:
            methods.setdefault(home, []).append(name)
    for home in sorted(methods):
        yield Row(f"scipy.stats.{home}", "rule", ", ".join(methods[home]))


def _members() -> Iterator[Row]:
    for name in sorted(n for n in dir(np.ndarray) if n[:1] != "_"):
        is_method = callable(getattr(np.ndarray, name))
        known = ops.method(name) if is_method else ops.attribute(name)
        text = f"numpy.ndarray.{name}"
        if isinstance(known, ops.Rule):
            options = ", ".join([p for p in known.parameters if p not in known.wrt])
            yield Row(text, "rule", ", ".join(["itself", *known.wrt[1:]]), options, _is_complex(known))
        elif known is not None and known.constant:
            yield Row(text, "constant")
        elif known is not None and known.writes:
            yield Row(text, "writes", "itself")
        elif name in MEMBERS_REFUSED:
            yield Row(text, "refused", f"{MEMBERS_REFUSED[name][:1].upper()}{MEMBERS_REFUSED[name][1:]}")
        else:
            yield Row(text, "none")


_TITLES: dict[Kind, str] = {
    "rule": "Differentiated, by the parameters in brackets; behind the semicolon are others that are taken:",
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
                lines += [_METHODS if (module, kind) == ("scipy.stats", "rule") else title, ""]
                lines += [*_list(some, module, kind), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def counts(modules: Sequence[str]) -> str:
    """How many functions of each module are of each kind, as a table in Markdown."""
    kinds: list[Kind] = ["rule", "taken apart", "constant", "writes", "refused"]
    lines = ["| module | differentiated | taken apart | constant | write | refused |", "|---|---|---|---|---|---|"]
    for module in modules:
        table = list(rows(module))
        numbers = [sum(row.kind == kind for row in table) for kind in kinds]
        lines.append(f"| `{module}` | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines) + "\n"


def document() -> str:
    """The text of ``OPERATIONS.md``; SciPy's part is of the SciPy that is installed."""
    scipy = importlib.import_module("scipy")
    numbers, others = (".".join(m.__version__.split(".")[:2]) for m in (np, scipy))
    modules = (*MODULES, *_SCIPY)
    head = _HEAD.format(numpy=numbers, scipy=others) + counts(modules)
    return head + "\n" + text(modules)


def _list(table: Sequence[Row], module: str, kind: Kind) -> list[str]:
    names = {row: row.name.removeprefix(f"{module}.") for row in table}
    if kind == "refused":
        why: dict[str, list[str]] = {}
        for row in table:
            why.setdefault(row.text, []).append(f"`{names[row]}`")
        return [line for text, some in why.items() for line in _wrapped(f"- {', '.join(some)}: {text}.", "  ")]
    if module == "scipy.stats" and kind == "rule":
        methods: dict[str, list[str]] = {}
        for row in table:
            methods.setdefault(row.text, []).append(f"`{names[row]}`")
        return [line for text, some in methods.items() for line in _wrapped(f"- {text}: {', '.join(some)}.", "  ")]
    return _wrapped(f"{', '.join([_part(names[row], row) for row in table])}.", "")


def _part(name: str, row: Row) -> str:
    if row.kind != "rule" or not row.text:
        return f"`{name}`"
    given = f"{row.text}; {row.options}" if row.options else row.text
    return f"`{name}` ({given}){' c' if row.complex else ''}"


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
