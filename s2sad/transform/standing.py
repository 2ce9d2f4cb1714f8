"""The lists and dicts of the new program that stand for deques and dicts of other classes, and what may see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from s2sad.ir.code import Operation, Value
from s2sad.runtime.classes import package_of
from s2sad.transform.known import Abstract, Items, Known, Late, NotSpecialisedError

#: The methods of dicts of other classes that do what those of dicts do.
OF_DICTS = ("get", "items", "keys", "values", "pop", "setdefault", "update", "clear")
#: Operations that do to the first operand whatever its class is.
_ON_FIRST = frozenset({"item", "set_item", "delete_item", "for", "comprehension", "generator", "unpack"})
#: Functions of Python's own that make something else of what they are given; so do those of NumPy.
_FUNCTIONS = (len, sum, min, max, any, all, list, tuple, set, sorted, reversed, enumerate, zip, iter, map, filter)


class StandIns(dict[Value, "Abstract | None"]):
    """The stand-ins, with the greatest length of those of deques, and what makes default values of those of dicts."""

    reads = False

    @contextmanager
    def reading(self, reads: bool = True) -> Iterator[None]:
        """Whether what is written in the ``with`` may see them."""
        around, self.reads = self.reads, self.reads or reads
        try:
            yield
        finally:
            self.reads = around

    def check(self, operands: Sequence[object]) -> None:
        """Check that nothing sees them as whole objects.

        Raises:
            NotSpecialisedError: if something does.
        """
        if self and not self.reads and any(operand in self for operand in operands if isinstance(operand, Value)):
            raise NotSpecialisedError("stand-in")


def is_reading(op: Operation, called: Abstract | None, values: Sequence[Abstract]) -> bool:
    """Whether an operation only goes through the items of what it is given, or changes them in its place."""
    if op.kind == "call":
        if isinstance(called, Late):
            return called.name in OF_DICTS and not any(isinstance(v, Items) for v in values[1:])
        known = called.value if isinstance(called, Known) else None
        return known is not None and (any(known is f for f in _FUNCTIONS) or package_of(known) == "numpy")
    if op.kind == "compare":
        return op.data in ("in", "not in") and not _is_other(values[0])
    if op.kind == "unary":
        return bool(op.data == "not")
    return op.kind in _ON_FIRST and not any(map(_is_other, values[1:]))


def _is_other(value: Abstract) -> bool:
    return isinstance(value, Items) and value.cls not in (list, dict, set)
