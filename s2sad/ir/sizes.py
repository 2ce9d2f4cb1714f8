"""The sizes of axes: numbers, symbols, and expressions of these.

A size is 1, a symbol (``n0``: equal sizes have one symbol, and none of them is 1 or 0; ``k3``: the number 3), or an
expression (``n0-2``, ``k.1+1``, ``n0[k.1+1:]``) for the number that it gives for the values of the names in it.
"""

from __future__ import annotations

import re

Dim = int | str
Dims = tuple[Dim, ...]
#: The size of an axis without elements.
NOTHING = "k0"


class Sizes(dict[int, Dim]):
    """Symbols for the sizes of axes, in order of appearance; equal sizes get one symbol."""

    def __missing__(self, size: int) -> Dim:
        self[size] = symbol = literal_size(size) if size < 2 else f"n{len(self)}"
        return symbol


class LiteralSizes(Sizes):
    """Sizes of axes as they are."""

    def __missing__(self, size: int) -> Dim:
        return literal_size(size)


class LiteralNumbers(LiteralSizes):
    """Sizes of axes as they are, whole numbers that may be such, and texts."""

    #: The number after the largest of them.
    END = 65


def literal_size(size: int) -> Dim:
    """The symbol for a size that is known.

    Example:
        >>> literal_size(1), literal_size(3)
        (1, 'k3')
    """
    return 1 if size == 1 else f"k{size}"


_LITERAL = re.compile(r"k(\d+)(?:(//|[-+*])(\d+)|\[(-?\d*):(-?\d*)\])?")


def number_of(size: Dim | None) -> int | None:
    """The number that a size is, if it is known.

    Example:
        >>> number_of(1), number_of("k6"), number_of("k6-2"), number_of("k6[1:-1]"), number_of("n0")
        (1, 6, 4, 4, None)
    """
    found = _LITERAL.fullmatch(str(size)) if isinstance(size, str) else None
    if found is None:
        return size if isinstance(size, int) else None
    number, operator, other, start, end = found.groups()
    if operator is not None:
        a, b = int(number), int(other)
        if operator == "//":
            return a // b if b else None
        return max(a + b if operator == "+" else a * b if operator == "*" else a - b, 0)
    if start is not None:
        bounds = [int(bound) if bound not in ("", "-") else None for bound in (start, end)]
        return len(range(int(number))[slice(*bounds)])
    return int(number)


def broadcast_dims(parts: list[Dims | None]) -> Dims | None:
    """The sizes that result from broadcasting, or None where they depend on the run."""
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    different = {p for p in known if p}
    if len(different) < 2:
        return different.pop() if different else ()
    out: list[Dim] = []
    for position in range(1, max((len(p) for p in known), default=0) + 1):
        sizes = {p[-position] for p in known if len(p) >= position} - {1}
        certain = [s for s in sizes if str(s).isalnum()]
        if len(sizes) > 1 and not certain:
            return None
        out.append(min(certain, key=_preference) if certain else sizes.pop() if sizes else 1)
    return tuple(reversed(out))


def _preference(size: Dim) -> tuple[bool, str]:
    """The order of sizes that are equal: those of arguments, which loops carry, before numbers."""
    return str(size)[0] != "n", str(size)


#: How long the text of a size may be; what is longer is not followed.
_LONGEST = 48


def is_symbol(size: Dim) -> bool:
    """Whether a size is 1 or a symbol, of which it is known that it is not 1."""
    return str(size).isalnum()


def computed(symbol: str, a: Dim | None, b: Dim | None) -> Dim | None:
    """The size ``a + b``, ``a - b``, ``a * b`` or ``a // b``; None where it is not known."""
    if a is None or b is None or symbol not in ("+", "-", "*", "//"):
        return None
    left, right = (str(x) if is_symbol(x) else f"({x})" for x in (a, b))
    right = right[1:] if right[0] == "k" and right[1:].isdigit() else right
    text = f"{left}{symbol}{right}"
    return text if len(text) <= _LONGEST else None


def sliced(size: Dim, lower: Dim | None, upper: Dim | None, step: str) -> Dim | None:
    """The size of ``a[lower:upper:step]`` for an axis of ``size``."""
    text = f"{size}[{'' if lower is None else lower}:{'' if upper is None else upper}{step}]"
    return text if len(text) <= _LONGEST else None
