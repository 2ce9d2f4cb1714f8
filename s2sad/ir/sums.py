"""Whole numbers as sums of symbols and a number, each with a text: the sizes of axes, and what is computed from them.

A symbol is that of the size of an argument (``n0``; ``n0f6r1``: at least 6, and larger than what has ``r0``), the name
of a value (``k.1``), or anything in braces, of which the texts here say what they are:

    {r|i.1|k0|n0-1}     the value of ``i.1``, which lies between two sums (``?``: not known)
    {0|n0-4}            the larger of the two
    {s|n0[k.1:]}        how many elements a slice leaves of an axis
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

Dim = int | str
#: How long a text may be; what is longer is not followed.
LONGEST = 80
#: What sizes of arguments may be known to reach.
FLOORS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16)
_SYMBOL = r"(?:[~^@]|[^\W\d])[\w~^@]*(?:\.\d*'*)?"
_PLAIN = re.compile(_SYMBOL)
_TERM = re.compile(rf"([-+]?)(?:(\d+)\*)?({_SYMBOL}|\{{)|([-+]?\d+)$")
_ARGUMENT = re.compile(r"n\d+(?:f(\d+))?((?:x?\d*r\d+)*)")
_NUMBER = re.compile(r"k(-?\d+)")
_NAME = re.compile(r"[~^@\w]+\.\d*")


def literal_size(size: int) -> Dim:
    """The symbol for a size that is known.

    Example:
        >>> literal_size(1), literal_size(3)
        (1, 'k3')
    """
    return 1 if size == 1 else f"k{size}"


@dataclass(frozen=True, slots=True)
class Sum:
    """Symbols, in order of their names, with the numbers of times that they occur; and a number."""

    terms: tuple[tuple[str, int], ...]
    number: int

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """The sum with another, that ``times``."""
        counts = dict(self.terms)
        for symbol, count in other.terms:
            counts[symbol] = counts.get(symbol, 0) + times * count
        return Sum(tuple(sorted((s, c) for s, c in counts.items() if c)), self.number + times * other.number)

    def least(self) -> int | None:
        """A number that the sum is not less than; None where none is known."""
        ranged = max((s for s, _ in self.terms if s.startswith("{r|")), key=len, default=None)
        if ranged is not None:
            # The longest first, since its bounds may be in terms of others.
            count = dict(self.terms)[ranged]
            bound = _bounds(ranged)[count < 0]
            rest = Sum(tuple(t for t in self.terms if t[0] != ranged), self.number)
            return None if bound is None else rest.plus(bound, count).least()
        found = self.number
        left = {s: c for s, c in self.terms if c > 0}
        for symbol, count in self.terms:
            while count < 0:
                times, rank = max(((t, r) for t, r in _ranks(symbol) if t <= -count), default=(0, 0))
                larger = [(r, s, t) for s, c in left.items() for t, r in _ranks(s) if r > rank and t <= c]
                if not times or not larger:
                    return None
                # The difference to a larger size is at least 1.
                _, other, taken = min(larger)
                left[other] -= taken
                count += times
                found += 1
        bounds = [(_least(s), c) for s, c in left.items() if c]
        return None if any(b is None for b, _ in bounds) else found + sum((b or 0) * c for b, c in bounds)

    @property
    def is_natural(self) -> bool:
        """Whether the sum surely is not negative."""
        least = self.least()
        return least is not None and least >= 0

    def text(self) -> Dim:
        """The text of the sum, 1 for that number."""
        if not self.terms:
            return literal_size(self.number)
        out = ""
        for symbol, count in self.terms:
            out += ("-" if count < 0 else "+") + (f"{abs(count)}*" if abs(count) != 1 else "") + symbol
        return out.removeprefix("+") + (f"{self.number:+d}" if self.number else "")


@functools.lru_cache(maxsize=4096)
def sum_of(size: Dim) -> Sum:
    """The sum that a text is.

    Example:
        >>> sum_of("2*n0-k.1+3")
        Sum(terms=(('k.1', -1), ('n0', 2)), number=3)
    """
    if isinstance(size, int):
        return Sum((), size)
    if (number := _NUMBER.fullmatch(size)) is not None:
        return Sum((), int(number[1]))
    found, at = Sum((), 0), 0
    while at < len(size):
        term = _TERM.match(size, at)
        if term is None:
            return Sum(((str(named(size)), 1),), 0)
        sign, count, symbol, number_ = term.groups()
        at = term.end()
        if number_ is not None:
            found = found.plus(Sum((), int(number_)))
            continue
        if symbol == "{":
            end = _closing(size, at)
            symbol, at = size[at - 1 : end], end
        times = int(count or 1) * (-1 if sign == "-" else 1)
        found = found.plus(Sum(((symbol, 1),), 0), times)
    return found


def _closing(text: str, at: int) -> int:
    """The place behind the brace that closes the one before ``at``."""
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def _least(symbol: str) -> int | None:
    """A number that a symbol is not less than: axes of arguments have 2 elements or more, numbers may be negative."""
    if symbol[0] == "{":
        return 0 if symbol[1:3] in ("0|", "s|") else None
    known = _ARGUMENT.fullmatch(symbol)
    return None if known is None else int(known[1] or FLOORS[0])


@functools.lru_cache(maxsize=4096)
def _ranks(symbol: str) -> tuple[tuple[int, int], ...]:
    """The places of the size of an argument, and of its multiples, among all sizes; none where they are not known."""
    known = _ARGUMENT.fullmatch(symbol)
    found = re.findall(r"(?:x(\d+))?r(\d+)", known[2]) if known is not None else []
    return tuple((int(times or 1), int(rank)) for times, rank in found)


def ranged(name: str, lower: Dim | None, upper: Dim | None) -> Dim:
    """The value of a name that lies between two numbers, as that of a loop over a range does.

    Example:
        >>> index = ranged("i.1", "k0", "n0-1")
        >>> index, sum_of("n0").plus(sum_of(index), -1).least()
        ('{r|i.1|k0|n0-1}', 1)
    """
    if lower is None and upper is None:
        return named(name)
    texts = ["?" if bound is None else str(bound) for bound in (lower, upper)]
    found = f"{{r|{name}|{texts[0]}|{texts[1]}}}"
    return found if _PLAIN.fullmatch(name) and len(found) <= LONGEST // 2 else named(name)


@functools.lru_cache(maxsize=4096)
def _bounds(symbol: str) -> tuple[Sum | None, Sum | None]:
    """The bounds of what `ranged` gives."""
    parts, at = [""], 3
    while at < len(symbol) - 1:
        end = _closing(symbol, at + 1) if symbol[at] == "{" else at + 1
        if symbol[at] == "|":
            parts.append("")
        else:
            parts[-1] += symbol[at:end]
        at = end
    lower, upper = (None if part == "?" else sum_of(part if part != "1" else 1) for part in parts[1:])
    return lower, upper


def named(name: str) -> Dim:
    """The size that the value of a name is.

    Example:
        >>> named("k.1"), named("k.1*")
        ('k.1', '{k.1*}')
    """
    return name if _PLAIN.fullmatch(name) else "{" + name.replace("{", "(").replace("}", ")") + "}"


def names_in_size(size: Dim) -> list[str]:
    """The names of values in a size."""
    return _NAME.findall(str(size))


def renamed(size: Dim, rename: Callable[[str], str]) -> Dim:
    """A size with other names of values in it.

    Example:
        >>> renamed("2*k.1+n0", lambda name: "a.2")
        '2*a.2+n0'
    """
    if isinstance(size, int) or not _NAME.search(size):
        return size
    new = _NAME.sub(lambda name: rename(name[0]), size)
    # The order of the names may be another.
    return sum_of(new).text() if "{" not in new else new


def exactly(size: Dim) -> int | None:
    """The number that a size is: what is at least 3, and not 4, is 3."""
    found = sum_of(size)
    number = found.number
    for symbol, count in found.terms:
        known = _ARGUMENT.fullmatch(symbol)
        floor = int(known[1] or FLOORS[0]) if known is not None else 0
        if floor + 1 not in FLOORS:
            return None
        number += count * floor
    return number


def is_argument(symbol: str) -> bool:
    """Whether a symbol is that of the size of an argument."""
    return _ARGUMENT.fullmatch(symbol) is not None
