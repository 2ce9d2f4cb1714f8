"""The machine that writes comprehensions and calls as statements; see :mod:`s2sad.transform.unfold`.

What single kinds of operations do stands in `handlers`: a function of the writer of a function, the operation and the
operations written so far, which says whether it has written something instead.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from s2sad.ir.code import Code, Definition, Kind, Operand, Operation, Place, Region, Value, Variable, codes
from s2sad.transform.objects_read import Lookup, may_be_read_later, object_of
from s2sad.transform.varied import Node

#: What may write something instead of an operation; the operations before it, in so many loops.
Handler = Callable[["Writer", Operation, list[Operation], int], bool]


class NotUnfoldedError(Exception):
    """Something stays as it is."""


class Unfolding:
    """What is known of a whole code.

    ``made`` is the operation that makes each value, ``used`` how often it was used and ``uses`` how often it is by now,
    and ``by`` what stands for what in the end.
    """

    def __init__(self, code: Code, varied: Collection[Node], lookup: Lookup, handlers: Mapping[str, Handler]) -> None:
        self.varied = set(varied)
        self.lookup = lookup
        self.handlers = handlers
        self.made: dict[Value, Operation] = {}
        self.uses: Counter[Value] = Counter()
        self.by: dict[Value, Value] = {}
        for part in codes(code):
            self.uses.update(part.seen)
            self._count(part.body)
        self.used = Counter(self.uses)

    def _count(self, region: Region) -> None:
        self.uses.update(o for o in region.exit.operands if isinstance(o, Value))
        for op in region.operations:
            self.made.update(dict.fromkeys(op.results, op))
            self.uses.update(o for o in op.operands if isinstance(o, Value))
            for part in op.regions:
                self._count(part)

    def code(self, code: Code) -> Code:
        """A function, and the functions in it; the same object if nothing changes."""
        # What is unfolded in the body of a class would leave attributes.
        writer = Writer(self, code, {} if code.kind == "class" else self.handlers)
        body = writer.region(code.body, 0)
        if body is code.body:
            return code
        return dataclasses.replace(code, body=body, variables=(*code.variables, *writer.variables))

    def object_of(self, operand: Operand) -> Any:
        """The object that an operand is; None if it isn't known."""
        return object_of(operand, self.made, self.lookup)

    def is_varied(self, region: Region) -> bool:
        """Whether a varied value is used or made in a region."""
        values = [o for o in (*region.params, *region.exit.operands) if isinstance(o, Value)]
        return any(v in self.varied for v in values) or any(map(self.goes_through, region.operations))

    def goes_through(self, op: Operation) -> bool:
        """Whether an operation uses or makes a varied value."""
        given = (*op.operands, *op.results, op.data)
        if any(o in self.varied for o in given if isinstance(o, (Value, Variable))):
            return True
        data = op.data.code if isinstance(op.data, Definition) else op.data
        if isinstance(data, Code) and (any(v in self.varied for v in (*data.seen, *data.captures))):
            return True
        return any(map(self.is_varied, op.regions))

    def standing(self) -> dict[Value, Value]:
        """What stands for what in the end, where what stands for something may itself be replaced."""
        found = {}
        for value, other in self.by.items():
            while other in self.by:
                other = self.by[other]
            found[value] = other
        return found

    def new(
        self,
        kind: Kind,
        operands: tuple[Operand, ...] = (),
        data: Any = None,
        place: Place | None = None,
        name: str = "",
    ) -> Operation:
        """An operation with one result, which is used once."""
        op = Operation(kind, operands, (Value(name),), data, (), place)
        self.made[op.result] = op
        self.uses[op.result] = 1
        return op

    def builtin(self, name: str, place: Place | None) -> Operation:
        """The read of a builtin function.

        Raises:
            NotUnfoldedError: if its name means something else.
        """
        op = self.new("global", (), name, place)
        if self.lookup(name) is not _BUILTINS[name]:
            raise NotUnfoldedError(name)
        return op


_BUILTINS: dict[str, Any] = {
    made.__name__: made for made in (list, tuple, zip, enumerate, range, len, min, TypeError, ValueError, StopIteration)
}


#: What may be evaluated between the making of something lazy and its use.
_QUIET = frozenset(("load", "item", "slice", "unary", "binary", "compare", "tuple"))


@dataclass
class Writer:
    """Writes one function; ``variables`` are those that it gets from what is unfolded."""

    whole: Unfolding
    code: Code
    handlers: Mapping[str, Handler]
    variables: list[Variable] = field(default_factory=list)

    def region(self, region: Region, loops: int) -> Region:
        """A region of statements in so many loops; the same object if nothing changes in it."""
        out: list[Operation] = []
        for op in region.operations:
            self.operation(op, out, loops)
        if len(out) == len(region.operations) and all(a is b for a, b in zip(out, region.operations, strict=True)):
            return region
        return dataclasses.replace(region, operations=tuple(out))

    def operation(self, op: Operation, out: list[Operation], loops: int) -> None:
        """Write an operation, or what does the same."""
        handler = self.handlers.get(op.kind)
        if handler is not None and self.tried(handler, op, out, loops):
            return
        if op.kind in ("function", "class"):
            code = self.whole.code(op.data.code)
            if code is not op.data.code:
                op = dataclasses.replace(op, data=dataclasses.replace(op.data, code=code))
        elif op.kind in ("if", "for", "while", "try", "with", "match"):
            op = self.with_regions(op, loops)
        out.append(op)

    def tried(self, handler: Handler, op: Operation, out: list[Operation], loops: int) -> bool:
        """Let a handler write something; whether it has."""
        before, variables, by = list(out), list(self.variables), dict(self.whole.by)
        try:
            return handler(self, op, out, loops)
        except NotUnfoldedError:
            out[:], self.variables, self.whole.by = before, variables, by
            return False

    def with_regions(self, op: Operation, loops: int) -> Operation:
        """A statement, with its regions rewritten; the same object if nothing changes."""
        inside = loops + (op.kind in ("for", "while"))
        bare = _expressions(op)
        regions = [r if at in bare else self.region(r, inside) for at, r in enumerate(op.regions)]
        if all(a is b for a, b in zip(regions, op.regions, strict=True)):
            return op
        return dataclasses.replace(op, regions=tuple(regions))

    # --- what stands before

    def read_later(self, out: list[Operation], now: Iterable[Operand]) -> list[Operation]:
        """Take away what may as well be read after statements that come now: the functions that are called then.

        The operands ``now`` are used by the statements.
        """
        later: list[Operation] = []
        used: set[Operand] = set(now)
        for op in reversed(list(out)):
            movable = may_be_read_later(op, self.whole.made, self.whole.lookup)
            if movable and self.whole.uses[op.result] == 1 and op.result not in used:
                later.insert(0, op)
                out.remove(op)
            else:
                used.update(_operands(op))
        return later

    def place_of(self, operand: Operand, out: list[Operation]) -> int | None:
        """Where the operation stands that makes an operand, if nobody else uses that and nothing happens after it.

        Only a generator expression may have a name: nothing is left of it.
        """
        if not isinstance(operand, Value) or self.whole.uses[operand] != 1:
            return None
        at = next((i for i, op in enumerate(out) if op.results == (operand,)), None)
        if at is None or (operand.name and out[at].kind != "generator"):
            return None
        for op in out[at + 1 :]:
            if op.kind not in _QUIET and not may_be_read_later(op, self.whole.made, self.whole.lookup):
                return None
        return at

    def taken(self, operand: Operand, out: list[Operation]) -> Operation | None:
        """Take away the operation that makes an operand; see `place_of`."""
        at = self.place_of(operand, out)
        return None if at is None else out.pop(at)


def _expressions(op: Operation) -> frozenset[int]:
    """Which regions of a statement are expressions: guards, and the classes of exceptions."""
    found = []
    at = 1
    if op.kind == "try":
        for has_class in op.data.classes:
            found += [at] if has_class else []
            at += 1 + has_class
    elif op.kind == "match":
        at = 0
        for guarded in op.data.guards:
            found += [at] if guarded else []
            at += 1 + guarded
    return frozenset(found)


def _operands(op: Operation) -> Iterator[Operand]:
    """All that an operation uses, also in its regions and in code that it makes."""
    yield from op.operands
    data = op.data.code if isinstance(op.data, Definition) else op.data
    if isinstance(data, Code):
        yield from data.seen
    for region in op.regions:
        yield from region.exit.operands
        for inside in region.operations:
            yield from _operands(inside)
