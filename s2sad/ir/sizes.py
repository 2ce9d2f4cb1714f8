"""The sizes of axes, and whole numbers that are such: sums of symbols and a number.

A size is 1, a symbol (``n0``: equal sizes have one symbol, and none of them is 1 or 0; ``k3``: the number 3; ``k.1``:
the value of that name), or the text of a sum of such (``n0-2``, ``2*n0+k.1``; `s2sad.ir.sums`).  What is no sum is a
symbol of its own, in braces: ``{(n0)*(n1)}`` and ``{(n0)//(k2)}`` are a product and a quotient.  Equal texts are equal
sizes.
"""

from __future__ import annotations

from s2sad.ir.sums import FLOORS, LONGEST, Dim, Sum, exactly, is_argument, literal_size, names_in_size, sum_of

Dims = tuple[Dim, ...]
#: The size of an axis without elements.
NOTHING = "k0"
#: How many times another a size may be so that this is known, the most first.
_MULTIPLES = (4, 3, 2)
#: How many elements more or less than an argument an axis may have so that callees are compiled for that.
_FEW = 4


class Sizes(dict[int, Dim]):
    """Symbols for the sizes of axes, in order of appearance; equal sizes get one symbol."""

    def __missing__(self, size: int) -> Dim:
        self[size] = symbol = literal_size(size) if size < 2 else f"n{len(self)}"
        return symbol

    def related(self) -> Sizes:
        """Symbols for the same sizes that say more of them, and are others where less would hold.

        What is two, three or four times another size is a multiple of its symbol.  A symbol like ``n0f7r1`` stands for
        a size of at least 7, which is more than those with ``r0``; four times ``n1f3r0x4r2`` is more than those with
        ``r1``.

        Example:
            >>> sizes = Sizes()
            >>> first = [sizes[n] for n in (12, 7, 3, 1)]
            >>> [sizes.related()[n] for n in (12, 7, 3, 1)]
            ['4*n1f3r0x4r2', 'n0f7r1', 'n1f3r0x4r2', 1]
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
            floor = max(f for f in FLOORS if f <= size)
            symbol = f"n{number}" + (f"f{floor}" if floor > FLOORS[0] else "")
            if len(bases) > 1:
                symbol += ranks[size] + "".join(f"x{m // size}{ranks[m]}" for m in sorted(multiples) if not m % size)
            found[size] = symbol
        for size, (times, part) in multiples.items():
            found[size] = Sum((), 0).plus(sum_of(found[part]), times).text()
        return found


class LiteralSizes(Sizes):
    """Sizes of axes as they are."""

    def __missing__(self, size: int) -> Dim:
        return literal_size(size)


class LiteralNumbers(LiteralSizes):
    """Sizes of axes as they are, whole numbers that may be such, and texts."""

    #: The number after the largest of them.
    END = 65


# --- what is known of a size


def number_of(size: Dim | None) -> int | None:
    """The number that a size is, if it is known.

    Example:
        >>> number_of(1), number_of("k6"), number_of("n0")
        (1, 6, None)
    """
    if size is None:
        return None
    found = sum_of(size)
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
    return is_symbol(size) or (sum_of(size).least() or 0) > 1


def is_natural(size: Dim) -> bool:
    """Whether a whole number surely is not negative."""
    return sum_of(size).is_natural


def as_size(number: Dim) -> Dim:
    """The size of an axis with so many elements, or none where the number is negative.

    Example:
        >>> as_size("n0-2"), as_size("n0-4"), as_size("k-1")
        ('n0-2', '{0|n0-4}', 'k0')
    """
    return _at_least_none(sum_of(number))


def is_of_arguments(size: Dim) -> bool:
    """Whether a size is 1, or computed from the sizes of arguments, which nothing changes.

    Example:
        >>> is_of_arguments("n0-2"), is_of_arguments("k3"), is_of_arguments("n0-k.1")
        (True, False, False)
    """
    return size == 1 or (str(size)[0] not in "k-" and not names_in_size(size))


def is_near_arguments(size: Dim) -> bool:
    """Whether a size is that of an argument, or a multiple, but for a few elements.

    Example:
        >>> is_near_arguments("2*n0f6-2"), is_near_arguments("n0-n1"), is_near_arguments("{0|n0-3}")
        (True, False, False)
    """
    found = sum_of(size)
    is_one = len(found.terms) == 1 and is_argument(found.terms[0][0])
    return is_one and abs(found.number) <= _FEW


def agreed(a: Dims | None, b: Dims | None) -> Dims | None:
    """The sizes that two arrays have; None where they are not known to have the same.

    Example:
        >>> agreed(("k3", "n1"), ("n0f3", "n1")), agreed(("k10",), ("n0f10",))
        (('n0f3', 'n1'), None)
    """
    if a == b or a is None or b is None or len(a) != len(b):
        return a if a == b else None
    pairs = list(zip(a, b, strict=True))
    if not all(x == y or (exactly(x) is not None and exactly(x) == exactly(y)) for x, y in pairs):
        return None
    return tuple([min(pair, key=_preference) for pair in pairs])


# --- sizes that are computed


def _kept(size: Dim) -> Dim | None:
    return size if len(str(size)) <= LONGEST else None


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
    left, right = sum_of(a), sum_of(b)
    if symbol in "+-":
        return _kept(left.plus(right, 1 if symbol == "+" else -1).text())
    if symbol == "*":
        if left.terms and right.terms:
            return _kept("{" + "*".join(sorted((f"({a})", f"({b})"))) + "}")
        number, other = (right.number, left) if left.terms else (left.number, right)
        return _kept(Sum((), 0).plus(other, number).text())
    if not right.terms and right.number:
        divisor = right.number
        if not any(count % divisor for _, count in left.terms):
            return Sum(tuple((s, c // divisor) for s, c in left.terms), left.number // divisor).text()
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
    whole, bounds = sum_of(size), [None if b is None else sum_of(b) for b in (lower, upper)]
    if not whole.terms and not any(b is not None and b.terms for b in bounds):
        start, end = (None if b is None else b.number for b in bounds)
        return literal_size(len(range(whole.number)[slice(start, end, step)]))
    left = _left(whole, *bounds) if step > 0 else _left_backwards(whole, *bounds)
    if left is not None:
        return computed("//", computed("+", left, literal_size(abs(step) - 1)), literal_size(abs(step)))
    texts = ["" if b is None else str(b.text()) for b in bounds]
    return _kept("{s|" + f"{size}[{texts[0]}:{texts[1]}{'' if step == 1 else f':{step}'}]" + "}")


def _from_front(whole: Sum, bound: Sum) -> Sum | None:
    """A bound of a slice counted from the front; None where it is not known which end it counts from."""
    found = whole.plus(bound) if not bound.terms and bound.number < 0 else bound
    return found if found.is_natural else None


def _left(whole: Sum, lower: Sum | None, upper: Sum | None) -> Dim | None:
    """What ``lower:upper`` leaves of an axis, as a sum; None where it is none."""
    start = _from_front(whole, lower or Sum((), 0))
    if start is None:
        return None
    if upper is None:
        return _at_least_none(whole.plus(start, -1))
    if not upper.terms and upper.number < 0:
        return _at_least_none(whole.plus(upper).plus(start, -1))
    is_inside = upper.is_natural and whole.plus(upper, -1).is_natural
    return _at_least_none(upper.plus(start, -1)) if is_inside else None


def _left_backwards(whole: Sum, lower: Sum | None, upper: Sum | None) -> Dim | None:
    """What ``lower:upper:-1`` leaves of an axis, as a sum; None where it is none."""
    last = whole.plus(Sum((), -1))
    start = last if lower is None else _from_front(whole, lower)
    stop = Sum((), -1) if upper is None else _from_front(whole, upper)
    if start is None or stop is None or not last.plus(start, -1).is_natural:
        return None
    return _at_least_none(start.plus(stop, -1))


def _at_least_none(size: Sum) -> Dim:
    """A size, or 0 where it is negative."""
    if size.is_natural:
        return size.text()
    if not size.terms:
        return NOTHING
    inner = size.terms[0][0]
    if len(size.terms) == 1 and size.terms[0][1] == 1 and inner.startswith("{0|") and size.number <= 0:
        # max(0, max(0, a) - b) is max(0, a - b).
        return _at_least_none(sum_of(inner[3:-1]).plus(Sum((), size.number)))
    return "{0|" + str(size.text()) + "}"
