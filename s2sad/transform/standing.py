"""The lists and dicts of the new program that stand for deques and dicts of other classes, and what may see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from s2sad.ir.code import Operation, Value
from s2sad.runtime.classes import package_of
from s2sad.transform.cells import State
from s2sad.transform.known import Abstract, Choice, Items, Known, Late, NotSpecialisedError, Referred

#: The methods of dicts of other classes that do what those of dicts do.
OF_DICTS = ("get", "items", "keys", "values", "pop", "setdefault", "update", "clear")
#: Operations that do to the first operand whatever its class is.
_ON_FIRST = frozenset({"item", "set_item", "delete_item", "for", "comprehension", "generator", "unpack"})
#: Functions of Python's own that make something else of what they are given; so do those of NumPy.
_FUNCTIONS = (len, sum, min, max, any, all, list, tuple, set, sorted, reversed, enumerate, zip, iter, map, filter)


@dataclass(frozen=True, eq=False)
class Table:
    """What is known of a list of tuples that stands for one of objects: equal keys are equal shapes of these.

    Where the tuples have numbers of objects, these are ``references`` (`s2sad.transform.references`).
    """

    key: Any
    references: Any = field(default=None, kw_only=True)


class StandIns(dict[Value, "Abstract | Table | None"]):
    """The stand-ins, with the greatest length of those of deques, and what makes default values of those of dicts.

    ``unseen`` are empty lists to which nothing has been done, that may come to stand for lists of objects, ``chosen``
    objects that were read of lists with references to them.
    """

    reads = False

    def __init__(self) -> None:
        super().__init__()
        self.unseen: set[Value] = set()
        self.chosen: dict[Choice, Referred] = {}

    @contextmanager
    def reading(self, reads: bool = True) -> Iterator[None]:
        """Whether what is written in the ``with`` may see them."""
        around, self.reads = self.reads, self.reads or reads
        try:
            yield
        finally:
            self.reads = around

    @property
    def has_tables(self) -> bool:
        """Whether there are lists of objects."""
        return any(isinstance(held, Table) for held in self.values())

    def has_table(self, state: State, values: Sequence[Abstract]) -> bool:
        """Whether one of some values is a list of objects."""
        held = [state.get(v.cell) if isinstance(v, Items) else v.receiver if isinstance(v, Late) else v for v in values]
        return any(isinstance(self.get(v), Table) for v in held if isinstance(v, Value))

    def saw(self, op: Operation) -> None:
        """Take notice of an operation of the new program, and check that it may see what it is given."""
        self.check(op.operands)
        self.unseen.difference_update([operand for operand in op.operands if isinstance(operand, Value)])
        if op.kind == "list" and not op.operands:
            self.unseen.update(op.results)

    def check(self, operands: Sequence[object]) -> None:
        """Check that nothing sees them as whole objects.

        Raises:
            NotSpecialisedError: if something does.
        """
        if self and not self.reads:
            for operand in operands:
                if isinstance(operand, Value) and operand in self:
                    raise NotSpecialisedError("Record" if isinstance(self[operand], Table) else "stand-in")

    def check_others(self, operands: Sequence[object]) -> None:
        """Check that nothing sees those that are no lists of objects."""
        self.check([o for o in operands if not (isinstance(o, Value) and isinstance(self.get(o), Table))])


def is_reading(op: Operation, called: Abstract | None, values: Sequence[Abstract], has_table: bool) -> bool:
    """Whether an operation only goes through the items of what it is given, or changes them in its place.

    With those of a table it does so where its rounds make the objects again.
    """
    if has_table:
        return op.kind in ("for", "comprehension", "generator", "each") or (op.kind == "unary" and op.data == "not")
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
