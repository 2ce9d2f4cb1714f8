"""The reverse halves that a compilation has written, and those that are written anew for numbers as adjoints."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

from s2sad.ir.nodes import Assign, Block, Call, Const, Evaluate, Expr, Function, Stmt, Unpack, Var
from s2sad.ir.traverse import expressions, map_children, map_stmt, names_in, subexpressions, walk
from s2sad.optimise import Memory, fold, with_constant_seeds
from s2sad.pipeline.analysed import Asked
from s2sad.pipeline.writer import Writer

#: Emits a function that is made of the one that is asked about; the names are those in its other half.
Write = Callable[[Function, Asked, Mapping[str, str]], object]


@dataclass(frozen=True)
class ReverseHalf:
    """The reverse half of a pair before its temporaries are folded, and with what it is written.

    ``cell`` is where its callers find it.  The parameters ``bars`` are adjoints that are added to whole arrays, where a
    number does as well.
    """

    function: Function
    cell: types.CellType
    memory: Memory
    bars: Set[str]
    asked: Asked
    other: Mapping[str, str]


class ReverseHalves:
    """The reverse halves that a compilation has written, and how often each is called."""

    def __init__(self, writer: Writer, write: Write) -> None:
        self._writer, self._write = writer, write
        self._halves: dict[str, ReverseHalf] = {}
        self._calls: Counter[str] = Counter()

    def add(self, half: ReverseHalf) -> None:
        """Note a half that has been written."""
        self._halves[half.function.name] = half

    def note(self, function: Function) -> None:
        """Count the calls in a function that is written."""
        self._calls.update(_called((*function.body, *(function.reverse or ()))))

    def passes(self, stmt: Stmt, adjoint: str) -> bool:
        """Whether all that a statement does with an adjoint is to hand it to a half that adds it to whole arrays."""
        call = stmt.value if isinstance(stmt, (Assign, Unpack, Evaluate)) else None
        half = self._halves.get(call.op.name) if isinstance(call, Call) else None
        if not isinstance(call, Call) or half is None:
            return False
        given = zip(half.function.params, call.args, strict=True)
        return all(arg == Var(adjoint) and p.name in half.bars for p, arg in given if adjoint in names_in(arg))

    def with_constant_seeds(self, function: Function) -> Function:
        """A function, not written yet, in which calls of halves that are called once hand over no numbers as adjoints.

        Such a half is written anew, for these numbers.
        """
        own = Counter(_called(function.reverse or ()))
        self._calls.update(own)

        def in_expr(expr: Expr) -> Expr:
            half = self._halves.get(expr.op.name) if isinstance(expr, Call) else None
            if isinstance(expr, Call) and half is not None and self._calls[expr.op.name] == 1:
                return self._with_seeds(half, expr)
            return map_children(expr, in_expr)

        def in_block(block: Block) -> Block:
            return tuple([map_stmt(s, in_expr, in_block) for s in block])

        made = replace(function, reverse=in_block(function.reverse or ())) if self._halves else function
        # They are counted again where the function is written.
        self._calls.subtract(own)
        return made

    def _with_seeds(self, half: ReverseHalf, call: Call) -> Call:
        function, name = half.function, half.function.name
        given = dict(zip([p.name for p in function.params], call.args, strict=True))
        seeds = {bar: arg for bar, arg in given.items() if bar in half.bars and isinstance(arg, Const)}
        if not seeds:
            return call
        self._calls.subtract(_called(function.reverse or ()))
        self._writer.forget((name,))
        shorter = fold(with_constant_seeds(function, seeds, half.bars, half.memory), half.memory)
        self._write(self.with_constant_seeds(shorter), half.asked, half.other)
        half.cell.cell_contents = self._writer.functions[name]
        return replace(call, args=tuple([arg for bar, arg in given.items() if bar not in seeds]))


def _called(block: Block) -> Iterator[str]:
    """The names of the functions of ours that a block calls, each time."""
    for stmt in walk(block):
        for expr in expressions(stmt):
            yield from (e.op.name for e in subexpressions(expr) if isinstance(e, Call) and e.op.kind == "runtime")
