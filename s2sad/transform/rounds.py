"""Rewrite the iterations of a comprehension or generator expression as a loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from s2sad.ir.code import UNSET, Code, Constant, Definition, Exit, Operand, Operation, Place, Region, Value, Variable
from s2sad.transform.foldable import captured, folded, is_comprehension
from s2sad.transform.iterables import Nest, is_pairs, nest_of, takes_apart
from s2sad.transform.unfolding import NotUnfoldedError, Writer


def comprehension(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write a list or dict comprehension as a loop, where something varied goes through it or it can't be written."""
    (region,) = op.regions
    if op.data == "set" or op.awaits or not (writer.whole.goes_through(op) or not is_comprehension(region)):
        return False
    later = writer.read_later(out, op.operands)
    collect(writer, op.operands[0], region, op.result, out, loops, op.place, is_dict=op.data == "dict")
    out += later
    return True


def collect(
    writer: Writer,
    iterable: Operand,
    region: Region,
    result: Value,
    out: list[Operation],
    loops: int,
    place: Place | None,
    *,
    is_dict: bool = False,
) -> None:
    """Write a list (or dict) of what the rounds of a comprehension make; what makes its iterable stands before."""
    # What makes the iterable comes after the list, to stand in the head of the loop.
    at = folded(iterable, out, writer.whole.uses)
    reading = {iterable.name} if isinstance(iterable, Value) else set[str]()
    reading = reading.union(_names(region), *map(_names_of, out[at:]))
    listed = Value() if result.name and result.name in reading else result
    out.insert(at, Operation("dict" if is_dict else "list", (), (listed,), (), (), place))
    # It is not folded into what uses it.
    writer.whole.uses[listed] += 2
    add(writer, iterable, region, listed, out, loops, place, is_dict=is_dict)
    if listed is not result:
        out.append(Operation("copy", (listed,), (result,), None, (), place))


def add(
    writer: Writer,
    iterable: Operand,
    region: Region,
    container: Value,
    out: list[Operation],
    loops: int,
    place: Place | None,
    *,
    is_dict: bool = False,
) -> None:
    """Write a loop that puts what the rounds of a comprehension make into a list or dict."""
    _Collecting(writer, place, result=container, is_dict=is_dict).loop(iterable, region, out, loops)


def search(
    writer: Writer,
    iterable: Operand,
    region: Region,
    found: bool,
    flag: Value,
    out: list[Operation],
    loops: int,
    place: Place | None,
) -> None:
    """Write a loop that ends at an element whose truth is ``found``; ``flag`` is that then, and the opposite else."""
    _Searching(writer, place, (Constant(not found),), flag.name, found=found, flag=flag).loop(
        iterable, region, out, loops
    )


def first(
    writer: Writer,
    iterable: Operand,
    region: Region,
    default: Operand | None,
    result: Value,
    out: list[Operation],
    loops: int,
    place: Place | None,
) -> None:
    """Write a loop that ends at the first element, which ``result`` is then; else that is ``default``.

    Without a default value it raises ``StopIteration`` then.

    Raises:
        NotUnfoldedError: if it takes loops in each other.
    """
    state = (UNSET if default is None else default,)
    _First(writer, place, state, result.name, result=result, raises=default is None).loop(iterable, region, out, loops)


@dataclass
class _Rounds:
    """Writes the rounds of a comprehension."""

    writer: Writer
    place: Place | None
    #: What the loops carry, and its name.
    state: tuple[Operand, ...] = ()
    name: str = ""

    def loop(self, iterable: Operand, region: Region, out: list[Operation], loops: int) -> None:
        """A ``for`` of the comprehension, and what is inside."""
        nest = None
        if not takes_apart(region) or not is_pairs(self.writer, iterable):
            nest = nest_of(self.writer, iterable, out)
        if nest is not None:
            self.entered(nest)
            for op in nest.levels[0].before:
                self.writer.operation(op, out, loops)
            iterable, region = nest.levels[0].iterable, nest.region(self.writer, region)
        known = {*self.writer.code.variables, *self.writer.code.captures, *self.writer.variables}
        own = [v for v in dict.fromkeys(_stored(region)) if v not in known]
        self.writer.variables += own
        before, carried, results = self.state, *self.begun()
        inside: list[Operation] = []
        self.state = carried
        self.round(region, inside, loops + 1)
        body = Region((*region.params, *carried), tuple(inside), self.end("continue"))
        self.state = results
        # Functions that are made inside see one variable for all rounds, but another one each time the loop is run.
        if loops and captured(body).intersection(own):
            raise NotUnfoldedError("captured")
        last = tuple([Value(value.name) for value in carried])
        regions = body, self.exhausted(last)
        out.append(Operation("for", (iterable, *before), results, None, regions, self.place))

    def end(self, exit: Literal["continue", "yield"]) -> Exit:
        """How a round, or a part of one, ends."""
        return Exit(exit, self.state)

    def exhausted(self, carried: tuple[Value, ...]) -> Region:
        """What is done after the last round."""
        return Region(carried, (), Exit("yield", carried))

    def round(self, region: Region, out: list[Operation], loops: int) -> None:
        """What one round does."""
        start = max((at + 1 for at, op in enumerate(region.operations) if self.is_target(op)), default=0)
        for at, op in enumerate(region.operations):
            if at == start:
                self.begin(region, out)
            if op.awaits or op.kind == "await":
                raise NotUnfoldedError("await")
            if op.kind == "only":
                inside: list[Operation] = []
                before = self.state
                self.round(op.regions[0], inside, loops)
                then = Region((), tuple(inside), self.end("yield"))
                left = tuple([Value(self.name) for _ in before])
                out.append(_if(op.operands[0], then, op.place, left, before))
                self.state = left
            elif op.kind == "each":
                self.loop(op.operands[0], op.regions[0], out, loops)
                self.ended(out)
            else:
                self.writer.operation(op, out, loops)
        if start == len(region.operations):
            self.begin(region, out)
        if region.exit.operands:
            self.element(region.exit.operands, out)

    def is_target(self, op: Operation) -> bool:
        """Whether an operation is a statement: it assigns the item of a comprehension."""
        by = self.writer.whole.by
        if op.kind in ("unpack", "copy") or any(by.get(result, result).name for result in op.results):
            return True
        return op.kind in ("store", "store_global", "set_item", "set_attribute") and not op.results

    def begun(self) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """What a loop carries and leaves, where it begins."""
        return (), ()

    def entered(self, nest: Nest) -> None:
        """Look at what stands for an iterable like ``map(...)``."""

    def begin(self, region: Region, out: list[Operation]) -> None:
        """What stands before an element is computed."""

    def element(self, operands: tuple[Operand, ...], out: list[Operation]) -> None:
        """What is done with an element, or with a key and its value."""

    def ended(self, out: list[Operation]) -> None:
        """What stands after a loop inside."""


@dataclass
class _Collecting(_Rounds):
    """Puts elements into a list or dict."""

    result: Value = field(kw_only=True)
    is_dict: bool = field(kw_only=True)
    append: tuple[Operand, ...] = ()

    def begin(self, region: Region, out: list[Operation]) -> None:
        if region.exit.operands and not self.is_dict:
            read = self.writer.whole.new("attribute", (self.result,), "append", self.place)
            self.append = (read.result,)
            out.append(read)

    def element(self, operands: tuple[Operand, ...], out: list[Operation]) -> None:
        if self.is_dict:
            out.append(Operation("set_item", (self.result, *operands), (), None, (), self.place))
        else:
            out.append(Operation("call", (*self.append, *operands), (Value(),), ("",), (), self.place))


@dataclass
class _Searching(_Rounds):
    """Ends the loops when an element is found; ``flag`` says whether one is, and is what the outermost loop leaves."""

    found: bool = field(kw_only=True)
    flag: Value = field(kw_only=True)
    is_inside: bool = False

    def is_target(self, op: Operation) -> bool:
        """Whether an operation is a statement: it assigns the item of a comprehension."""
        by = self.writer.whole.by
        if op.kind in ("unpack", "copy") or any(by.get(result, result).name for result in op.results):
            return True
        return op.kind in ("store", "store_global", "set_item", "set_attribute") and not op.results

    def begun(self) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        left = Value(self.name) if self.is_inside else self.flag
        self.is_inside = True
        return (Value(self.name),), (left,)

    def element(self, operands: tuple[Operand, ...], out: list[Operation]) -> None:
        self.leave(operands[0], (Constant(self.found),), out)

    def ended(self, out: list[Operation]) -> None:
        self.leave(self.state[0], self.state, out)

    def leave(self, test: Operand, left: tuple[Operand, ...], out: list[Operation]) -> None:
        """Leave the loop if the truth of something is what is sought."""
        if not self.found:
            negated = self.writer.whole.new("unary", (test,), "not", self.place)
            out.append(negated)
            test = negated.result
        out.append(_if(test, Region((), (), Exit("break", left)), self.place))


@dataclass
class _First(_Rounds):
    """Ends the loop at the first element; ``found`` is that where a round, or the branch at hand, has one."""

    result: Value = field(kw_only=True)
    raises: bool = field(kw_only=True)
    is_inside: bool = False
    found: tuple[Operand, ...] = ()

    def entered(self, nest: Nest) -> None:
        if nest.levels[0].before:
            # Lists would be made of what may have no end.
            raise NotUnfoldedError("listed")

    def begun(self) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        if self.is_inside:
            # To leave one loop would not leave the other.
            raise NotUnfoldedError("nested")
        self.is_inside = True
        return (Value(self.name),), (self.result,)

    def element(self, operands: tuple[Operand, ...], out: list[Operation]) -> None:
        if out and out[-1].results == operands and not out[-1].result.name:
            self.writer.whole.by[out[-1].result] = Value(self.name)
        self.found = operands

    def end(self, exit: Literal["continue", "yield"]) -> Exit:
        found, self.found = self.found, ()
        return Exit("break", found) if found else super().end(exit)

    def exhausted(self, carried: tuple[Value, ...]) -> Region:
        if not self.raises:
            return super().exhausted(carried)
        error = self.writer.whole.builtin("StopIteration", self.place)
        return Region(carried, (error,), Exit("raise", (error.result,), self.place))


def _if(
    test: Operand,
    then: Region,
    place: Place | None,
    results: tuple[Value, ...] = (),
    otherwise: tuple[Operand, ...] = (),
) -> Operation:
    return Operation("if", (test,), results, None, (then, Region((), (), Exit("yield", otherwise))), place)


def _stored(region: Region) -> Iterator[Variable]:
    """The variables that a comprehension stores in, those of comprehensions inside aside."""
    for op in region.operations:
        if op.kind == "store":
            yield op.data
        if op.kind != "comprehension":
            for part in op.regions:
                yield from _stored(part)


def _names(region: Region) -> set[str]:
    """The names of the values that are read in a region."""
    found = {o.name for o in region.exit.operands if isinstance(o, Value)}
    return found.union(*map(_names_of, region.operations))


def _names_of(op: Operation) -> set[str]:
    """The names of the values that an operation reads."""
    found = {o.name for o in op.operands if isinstance(o, Value)}
    data = op.data.code if isinstance(op.data, Definition) else op.data
    if isinstance(data, Code):
        found |= {v.name for v in data.seen}
    return found.union(*map(_names, op.regions))
