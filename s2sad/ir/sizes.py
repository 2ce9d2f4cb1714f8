"""The sizes of axes, and whole numbers that are such: sums of symbols and a number.

A size is 1, a symbol (``n0``: equal sizes have one symbol, and none of them is 1 or 0; ``k3``: the number 3; ``k.1``:
the value of that name), or the text of a sum of such (``n0-2``, ``2*n0+k.1``).  What is no sum is in braces and is a
symbol of its own: ``{0|n0-4}`` is the larger of the two, ``{s|n0[k.1:]}`` what a slice leaves of an axis, and
``{(n0)*(n1)}`` and ``{(n0)//(k2)}`` are a product and a quotient.  Equal texts are equal sizes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

Dim = int | str
Dims = tuple[Dim, ...]
#: The size of an axis without elements.
NOTHING = "k0"
#: How long the text of a size may be; what is longer is not followed.
_LONGEST = 80
#: How many times another a size may be so that this is known, the most first; and what sizes may be known to reach.
_MULTIPLES = (4, 3, 2)
_FLOORS = (2, 3, 4, 5, 6, 8, 12)
_FEW = 4


class Sizes(dict[int, Dim]):
    """Symbols for the sizes of axes, in order of appearance; equal sizes get one symbol."""

    def __missing__(self, size: int) -> Dim:
        self[size] = symbol = literal_size(size) if size < 2 else f"n{len(self)}"
        return symbol

    def related(self) -> Sizes:
        """Symbols for the same sizes that say more of them, and are others where less would hold.

        What is two, three or four times another size is a multiple of its symbol.  A symbol like ``n0f6r1`` stands for
        a size of at least 6, which is more than those with ``r0``; four times ``n1f3r0x4r2`` is more than those with
        ``r1``.

        Example:
            >>> sizes = Sizes()
            >>> first = [sizes[n] for n in (12, 7, 3, 1)]
            >>> [sizes.related()[n] for n in (12, 7, 3, 1)]
            ['4*n1f3r0x4r2', 'n0f6r1', 'n1f3r0x4r2', 1]
        """
        multiples: dict[int, tuple[int, int]] = {}
        for size in sorted(size for size in self if size > 1):
            parts = ((times, size // times) for times in _MULTIPLES if not size % times)
            base = next(((times, part) for times, part in parts if part in self and part > 1), None)
            if base is not None:
                multiples[size] = base
        found = Sizes()
        bases = [size for size in self if size > 1 and size not in multiples]
        ranks = {size: f"r{rank}" for rank, size in enumerate(sorted(s for s in self if s > 1))}
        for number, size in enumerate(bases):
            floor = max(f for f in _FLOORS if f <= size)
            symbol = f"n{number}" + (f"f{floor}" if floor > _FLOORS[0] else "")
            if len(bases) > 1:
                symbol += ranks[size] + "".join(f"x{m // size}{ranks[m]}" for m in sorted(multiples) if not m % size)
            found[size] = symbol
        for size, (times, part) in multiples.items():
            found[size] = _Sum((), 0).plus(_sum(found[part]), times).text()
        return found


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


# --- sums


@dataclass(frozen=True, slots=True)
class _Sum:
    """Symbols, in order of their names, with the numbers of times that they occur; and a number."""

    terms: tuple[tuple[str, int], ...]
    number: int

    def plus(self, other: _Sum, times: int = 1) -> _Sum:
        counts = dict(self.terms)
        for symbol, count in other.terms:
            counts[symbol] = counts.get(symbol, 0) + times * count
        return _Sum(tuple(sorted((s, c) for s, c in counts.items() if c)), self.number + times * other.number)

    def least(self) -> int | None:
        """A number that the sum is not less than; None where none is known."""
        ranged = max((s for s, _ in self.terms if s.startswith("{r|")), key=len, default=None)
        if ranged is not None:
            # The longest first, since its bounds may be in terms of others.
            count = dict(self.terms)[ranged]
            bound = _bounds(ranged)[count < 0]
            rest = _Sum(tuple(t for t in self.terms if t[0] != ranged), self.number)
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

    def text(self) -> Dim:
        if not self.terms:
            return literal_size(self.number)
        out = ""
        for symbol, count in self.terms:
            out += ("-" if count < 0 else "+") + (f"{abs(count)}*" if abs(count) != 1 else "") + symbol
        return out.removeprefix("+") + (f"{self.number:+d}" if self.number else "")


_SYMBOL = r"(?:[~^@]|[^\W\d])[\w~^@]*(?:\.\d*'*)?"
_PLAIN = re.compile(_SYMBOL)
_TERM = re.compile(rf"([-+]?)(?:(\d+)\*)?({_SYMBOL}|\{{)|([-+]?\d+)$")
_ARGUMENT = re.compile(r"n\d+(?:f(\d+))?((?:x?\d*r\d+)*)")
_NUMBER = re.compile(r"k(-?\d+)")
#: The names in the text of a size.
_NAME = re.compile(r"[~^@\w]+\.\d*")


@functools.lru_cache(maxsize=4096)
def _sum(size: Dim) -> _Sum:
    """The sum that a text is."""
    if isinstance(size, int):
        return _Sum((), size)
    if (number := _NUMBER.fullmatch(size)) is not None:
        return _Sum((), int(number[1]))
    found, at = _Sum((), 0), 0
    while at < len(size):
        term = _TERM.match(size, at)
        if term is None:
            return _Sum(((str(named(size)), 1),), 0)
        sign, count, symbol, number_ = term.groups()
        at = term.end()
        if number_ is not None:
            found = found.plus(_Sum((), int(number_)))
            continue
        if symbol == "{":
            end = _closing(size, at)
            symbol, at = size[at - 1 : end], end
        times = int(count or 1) * (-1 if sign == "-" else 1)
        found = found.plus(_Sum(((symbol, 1),), 0), times)
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
    return None if known is None else int(known[1] or _FLOORS[0])


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
        >>> index, is_natural(index), is_natural(computed("-", "n0", index))
        ('{r|i.1|k0|n0-1}', True, True)
    """
    if lower is None and upper is None:
        return named(name)
    texts = ["?" if bound is None else str(bound) for bound in (lower, upper)]
    found = f"{{r|{name}|{texts[0]}|{texts[1]}}}"
    return found if _PLAIN.fullmatch(name) and len(found) <= _LONGEST // 2 else named(name)


@functools.lru_cache(maxsize=4096)
def _bounds(symbol: str) -> tuple[_Sum | None, _Sum | None]:
    """The bounds of what `ranged` gives."""
    parts, at = [""], 3
    while at < len(symbol) - 1:
        end = _closing(symbol, at + 1) if symbol[at] == "{" else at + 1
        if symbol[at] == "|":
            parts.append("")
        else:
            parts[-1] += symbol[at:end]
        at = end
    lower, upper = (None if part == "?" else _sum(part if part != "1" else 1) for part in parts[1:])
    return lower, upper


def _kept(size: Dim) -> Dim | None:
    return size if len(str(size)) <= _LONGEST else None


def named(name: str) -> Dim:
    """The size that the value of a name is.

    Example:
        >>> named("k.1"), named("k.1*")
        ('k.1', '{k.1*}')
    """
    return name if _PLAIN.fullmatch(name) else "{" + name.replace("{", "(").replace("}", ")") + "}"


# --- what is known of a size


def number_of(size: Dim | None) -> int | None:
    """The number that a size is, if it is known.

    Example:
        >>> number_of(1), number_of("k6"), number_of("n0")
        (1, 6, None)
    """
    if size is None:
        return None
    found = _sum(size)
    return None if found.terms else found.number


def is_symbol(size: Dim) -> bool:
    """Whether a size is 1 or a symbol, of which it is known that it is not 1."""
    return str(size).isalnum()


def is_certain(size: Dim) -> bool:
    """Whether it is known if a size is 1.

    Example:
        >>> is_certain("n0"), is_certain("n0+1"), is_certain("n0-1"), is_certain("k.1")
        (True, True, False, False)
    """
    return is_symbol(size) or (_sum(size).least() or 0) > 1


def is_natural(size: Dim) -> bool:
    """Whether a whole number surely is not negative."""
    return _is_natural(_sum(size))


def as_size(number: Dim) -> Dim:
    """The size of an axis with so many elements, or none where the number is negative.

    Example:
        >>> as_size("n0-2"), as_size("n0-4"), as_size("k-1")
        ('n0-2', '{0|n0-4}', 'k0')
    """
    return _at_least_none(_sum(number))


def is_of_arguments(size: Dim) -> bool:
    """Whether a size is 1, or computed from the sizes of arguments, which nothing changes.

    Example:
        >>> is_of_arguments("n0-2"), is_of_arguments("k3"), is_of_arguments("n0-k.1")
        (True, False, False)
    """
    return size == 1 or (str(size)[0] not in "k-" and not _NAME.search(str(size)))


def is_near_arguments(size: Dim) -> bool:
    """Whether a size is that of an argument, or a multiple, but for a few elements.

    Example:
        >>> is_near_arguments("2*n0f6-2"), is_near_arguments("n0-n1"), is_near_arguments("{0|n0-3}")
        (True, False, False)
    """
    found = _sum(size)
    is_one = len(found.terms) == 1 and _ARGUMENT.fullmatch(found.terms[0][0]) is not None
    return is_one and abs(found.number) <= _FEW


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
    return _sum(new).text() if "{" not in new else new


def agreed(a: Dims | None, b: Dims | None) -> Dims | None:
    """The sizes that two arrays have; None where they are not known to have the same.

    Example:
        >>> agreed(("k3", "n1"), ("n0f3", "n1")), agreed(("k6",), ("n0f6",))
        (('n0f3', 'n1'), None)
    """
    if a == b or a is None or b is None or len(a) != len(b):
        return a if a == b else None
    pairs = list(zip(a, b, strict=True))
    if not all(x == y or (_exactly(x) is not None and _exactly(x) == _exactly(y)) for x, y in pairs):
        return None
    return tuple([min(pair, key=_preference) for pair in pairs])


def _exactly(size: Dim) -> int | None:
    """The number that a size is: what is at least 3, and not 4, is 3."""
    found = _sum(size)
    number = found.number
    for symbol, count in found.terms:
        known = _ARGUMENT.fullmatch(symbol)
        floor = int(known[1] or _FLOORS[0]) if known is not None else 0
        if floor + 1 not in _FLOORS:
            return None
        number += count * floor
    return number


# --- sizes that are computed


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
        certain = [s for s in sizes if is_certain(s)]
        if len(sizes) > 1 and not certain:
            return None
        out.append(min(certain, key=_preference) if certain else sizes.pop() if sizes else 1)
    return tuple(reversed(out))


def _preference(size: Dim) -> tuple[bool, int, str]:
    """The order of sizes that are equal: those of arguments, which loops carry, before numbers."""
    return str(size)[0] != "n", len(str(size)), str(size)


def computed(symbol: str, a: Dim | None, b: Dim | None) -> Dim | None:
    """The number ``a + b``, ``a - b``, ``a * b`` or ``a // b``; None where it is not known.

    Example:
        >>> computed("-", "n0", "k2"), computed("+", "n0-2", "k2"), computed("*", "k2", "n0-1")
        ('n0-2', 'n0', '2*n0-2')
    """
    if a is None or b is None or symbol not in ("+", "-", "*", "//"):
        return None
    left, right = _sum(a), _sum(b)
    if symbol in "+-":
        return _kept(left.plus(right, 1 if symbol == "+" else -1).text())
    if symbol == "*":
        if left.terms and right.terms:
            return _kept("{" + "*".join(sorted((f"({a})", f"({b})"))) + "}")
        number, other = (right.number, left) if left.terms else (left.number, right)
        return _kept(_Sum((), 0).plus(other, number).text())
    if not right.terms and right.number:
        divisor = right.number
        if not any(count % divisor for _, count in left.terms):
            return _Sum(tuple((s, c // divisor) for s, c in left.terms), left.number // divisor).text()
    return _kept(f"{{({a})//({b})}}")


def product(sizes: Dims) -> Dim | None:
    """How many elements an array with axes of these sizes has."""
    found: Dim | None = 1
    for size in sorted(map(str, sizes)):
        found = computed("*", found, 1 if size == "1" else size)
    return found


def sliced(size: Dim, lower: Dim | None, upper: Dim | None, step: int = 1) -> Dim | None:
    """The size of ``a[lower:upper:step]`` for an axis of ``size``; bounds that are numbers may be negative.

    Example:
        >>> sliced("n0", 1, -1), sliced("n0", "k3", None), sliced("n0", None, "k.1"), sliced("n0-2", "k1", None)
        ('n0-2', '{0|n0-3}', '{s|n0[:k.1]}', '{0|n0-3}')
        >>> sliced("k6", 1, "k4"), sliced("2*n0", None, None, 2), sliced("n0", 0, None, -1), sliced("n0", None, 0, -1)
        ('k3', 'n0', 1, 'n0-1')
    """
    if lower is None and upper is None and step in (1, -1):
        return size
    whole, bounds = _sum(size), [None if b is None else _sum(b) for b in (lower, upper)]
    if not whole.terms and not any(b is not None and b.terms for b in bounds):
        start, end = (None if b is None else b.number for b in bounds)
        return literal_size(len(range(whole.number)[slice(start, end, step)]))
    left = _left(whole, *bounds) if step > 0 else _left_backwards(whole, *bounds)
    if left is not None:
        return computed("//", computed("+", left, literal_size(abs(step) - 1)), literal_size(abs(step)))
    texts = ["" if b is None else str(b.text()) for b in bounds]
    return _kept("{s|" + f"{size}[{texts[0]}:{texts[1]}{'' if step == 1 else f':{step}'}]" + "}")


def _from_front(whole: _Sum, bound: _Sum) -> _Sum | None:
    """A bound of a slice counted from the front; None where it is not known which end it counts from."""
    found = whole.plus(bound) if not bound.terms and bound.number < 0 else bound
    return found if _is_natural(found) else None


def _left(whole: _Sum, lower: _Sum | None, upper: _Sum | None) -> Dim | None:
    """What ``lower:upper`` leaves of an axis, as a sum; None where it is none."""
    start = _from_front(whole, lower or _Sum((), 0))
    if start is None:
        return None
    if upper is None:
        return _at_least_none(whole.plus(start, -1))
    if not upper.terms and upper.number < 0:
        return _at_least_none(whole.plus(upper).plus(start, -1))
    is_inside = _is_natural(upper) and _is_natural(whole.plus(upper, -1))
    return _at_least_none(upper.plus(start, -1)) if is_inside else None


def _left_backwards(whole: _Sum, lower: _Sum | None, upper: _Sum | None) -> Dim | None:
    """What ``lower:upper:-1`` leaves of an axis, as a sum; None where it is none."""
    last = whole.plus(_Sum((), -1))
    start = last if lower is None else _from_front(whole, lower)
    stop = _Sum((), -1) if upper is None else _from_front(whole, upper)
    if start is None or stop is None or not _is_natural(last.plus(start, -1)):
        return None
    return _at_least_none(start.plus(stop, -1))


def _is_natural(number: _Sum) -> bool:
    least = number.least()
    return least is not None and least >= 0


def _at_least_none(size: _Sum) -> Dim:
    """A size, or 0 where it is negative."""
    if _is_natural(size):
        return size.text()
    if not size.terms:
        return NOTHING
    inner = size.terms[0][0]
    if len(size.terms) == 1 and size.terms[0][1] == 1 and inner.startswith("{0|") and size.number <= 0:
        # max(0, max(0, a) - b) is max(0, a - b).
        return _at_least_none(_sum(inner[3:-1]).plus(_Sum((), size.number)))
    return "{0|" + str(size.text()) + "}"
