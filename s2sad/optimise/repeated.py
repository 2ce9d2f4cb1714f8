"""Compute once what a value and its tangent compute several times: value numbering.

y_dot = np.cos(x) * x_dot            t = np.cos(x)
y = np.sin(x)                        y_dot = t * x_dot
z = x * np.cos(x)               ->   y = np.sin(x)
                                     z = x * t

Reference: Cooper and Torczon, Engineering a Compiler, 2011, section 8.4.1.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Set
from dataclasses import replace

from s2sad import ops
from s2sad.analysis.sharing import sharing
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Enter, Expr, Function, Slice, Stmt, Store, Var
from s2sad.ir.traverse import (
    blocks,
    children,
    is_attempt,
    is_tangent,
    map_children,
    map_stmt,
    names_in,
    rename,
    subexpressions,
    walk,
    writes,
)
from s2sad.optimise.memory import Memory, is_view

#: What an expression has that gets a name: a function of NumPy's counts as two operators.
_LEAST = 2
#: The kinds of operations that evaluate all their operands.
_STRICT = ("operator", "function", "runtime", "method", "index", "compare")


def name_repeated(function: Function, memory: Memory, changing: Set[str]) -> Function:
    """Name the values that the body of ``function`` computes several times, without those of names that change."""
    if any(isinstance(s, Enter) or is_attempt(s) for s in walk(function.body)):
        # A name may have no value where what is tried has raised.
        return function
    numbers = _Numbers(function, memory, changing)
    numbers.block(function.body)
    namer = _Namer(function, numbers)
    if not namer.repeated:
        return function
    body = namer.block(function.body, {})
    return replace(function, body=body, result=rename(function.result, namer.merged))


class _Numbers:
    """The numbers of values: expressions with one number have one value.

    ``found`` has those of the calls in each statement, by its place and the identity of the expression.
    """

    def __init__(self, function: Function, memory: Memory, changing: Set[str]) -> None:
        self.memory = memory
        self.written = {*map(memory.find, changing), *(m for s in walk(function.body) for m in memory.writes(s))}
        self.found: dict[tuple[int, int], int] = {}
        self.counts: Counter[int] = Counter()
        self._place = 0
        self._next = itertools.count()
        self._of_names: dict[str, int] = {}
        self._of_values: dict[Hashable, int] = {}

    def block(self, block: Block) -> None:
        for stmt in block:
            self._place += 1
            if isinstance(stmt, Assign) or (isinstance(stmt, Store) and stmt.call is None):
                number = self.of(stmt.value)
                for call in _evaluated(stmt.value):
                    # An element of an array is as well read again.
                    is_element = call.op.kind == "index" and self.memory.fact(call).kind == "scalar"
                    if (self._place, id(call)) in self.found and not is_element:
                        self.counts[self.found[self._place, id(call)]] += 1
                if isinstance(stmt, Assign):
                    self._of_names[stmt.target] = number
                continue
            self.forget(stmt)
            for inner in blocks(stmt):
                self.block(inner)
            self.forget(stmt)

    def forget(self, stmt: Stmt) -> None:
        """Give other numbers to what a statement and those in it assign."""
        self._of_names.update((name, next(self._next)) for inner in walk((stmt,)) for name in writes(inner))

    def of(self, expr: Expr) -> int:
        """The number of a value."""
        if isinstance(expr, Var):
            return self._of_names.setdefault(expr.name, next(self._next))
        inside = [self.of(e) for e in children(expr)]
        what: Hashable
        match expr:
            case Const(value=value):
                what = type(value), repr(value)
            case Build(kind=kind):
                what = kind
            case Slice(lower=lower, upper=upper, step=step):
                what = "slice", lower is None, upper is None, step is None
            case Call(op=op) if self.is_value(expr):
                what = op.function or (op.kind, op.name), tuple([name for name, _ in expr.kwargs])
            case _:
                return next(self._next)
        number = self._of_values.setdefault((what, *inside), next(self._next))
        if isinstance(expr, Call):
            self.found[self._place, id(expr)] = number
        return number

    def is_value(self, call: Call) -> bool:
        """Whether a call computes a new number or array, or a view, of operands that nothing writes."""
        memory = self.memory
        if call.op.kind not in _STRICT or not call.op.pure:
            return False
        if not all(memory.fact(Var(n)).kind == "scalar" or memory.find(n) not in self.written for n in names_in(call)):
            return False
        if call.op.kind == "index":
            return is_view(memory, call) or memory.fact(call).kind == "scalar"
        spec = ops.spec_of(call.op.function)
        if call.op.kind != "operator" and (
            spec is None or spec.writes or any(name == "out" for name, _ in call.kwargs)
        ):
            return False
        return memory.fact(call).kind in ("scalar", "array") and sharing(call, memory.fact) == "fresh"


class _Namer:
    """Gives values that are ``repeated`` names where they are computed first, and reads these later."""

    def __init__(self, function: Function, numbers: _Numbers) -> None:
        self.numbers, self.memory = numbers, numbers.memory
        self.repeated = {number for number, count in numbers.counts.items() if count > 1}
        self.made = Counter(n for s in walk(function.body) for n in writes(s))
        #: Temporaries that have the value of another name.
        self.merged: dict[str, Expr] = {}
        self._place = 0
        versions = [name.partition(".")[2] for name in (*self.made, *self.memory.of)]
        self._version = itertools.count(1 + max((int(v) for v in versions if v.isdecimal()), default=0))

    def block(self, block: Block, known: dict[int, str]) -> Block:
        """``block``, where names have the values that are ``known``."""
        known = dict(known)
        out: list[Stmt] = []
        for stmt in block:
            self._place += 1
            if isinstance(stmt, Assign) or (isinstance(stmt, Store) and stmt.call is None):
                self.statement(stmt, known, out)
            else:
                out.append(map_stmt(stmt, lambda e: rename(e, self.merged), lambda b: self.block(b, known)))
        return tuple(out)

    def statement(self, stmt: Assign | Store, known: dict[int, str], out: list[Stmt]) -> None:
        number = self.numbers.found.get((self._place, id(stmt.value)))
        made: list[Stmt] = []
        held = self.memory.fact(stmt.base).kind != "array" if isinstance(stmt, Store) else not self.is_kept(stmt.target)
        value = self.named(stmt.value, known, made, stmt, held)
        if isinstance(stmt, Store):
            whole, index = rename(stmt.base, self.merged), rename(stmt.index, self.merged)
            out += [*made, replace(stmt, base=whole, index=index, value=value)]
            return
        single = self.made[stmt.target] == 1 and self.is_kept(stmt.target)
        if number in self.repeated and single:
            assert number is not None
            if number not in known:
                known[number] = stmt.target
            elif stmt.target.startswith("~"):
                self.merged[stmt.target] = Var(known[number])
                return
        out += made
        out.append(replace(stmt, value=value))

    def named(self, expr: Expr, known: dict[int, str], made: list[Stmt], stmt: Assign | Store, held: bool) -> Expr:
        """An expression with names for the repeated values in it; new ones are ``made`` before the statement.

        Where the value is ``held``, what it holds or views may be written, or others may have it: each array there is
        one of its own.
        """
        if isinstance(expr, Call) and expr.op.kind not in _STRICT:
            return rename(expr, self.merged)

        held = held and not (isinstance(expr, Call) and sharing(expr, self.memory.fact) == "fresh")

        def part(inner: Expr) -> Expr:
            if held and self.memory.fact(inner).kind != "scalar":
                return self.named(inner, known, made, stmt, True)
            number = self.numbers.found.get((self._place, id(inner)))
            if number in self.repeated and number in known:
                return Var(known[number])
            value = self.named(inner, known, made, stmt, False)
            if number not in self.repeated or _weight(inner) < _LEAST:
                return value
            assert number is not None
            tangents = any(map(is_tangent, names_in(value)))
            name = f"{'~t_dot' if tangents else '~t'}.{next(self._version)}"
            self.memory.of[name] = self.memory.fact(value)
            known[number] = name
            made.append(Assign(name, value, stmt.origin))
            return Var(name)

        return map_children(expr, part) if not isinstance(expr, Var) else rename(expr, self.merged)

    def is_kept(self, name: str) -> bool:
        """Whether the array that a name stands for is written by nothing, and not returned."""
        if self.memory.fact(Var(name)).kind == "scalar":
            return True
        found = self.memory.find(name)
        return found not in self.numbers.written and found not in self.memory.returned


def _evaluated(expr: Expr) -> Iterator[Call]:
    """The calls in an expression that are evaluated in any case."""
    if isinstance(expr, Call):
        yield expr
        if expr.op.kind not in _STRICT:
            return
    for inner in children(expr):
        yield from _evaluated(inner)


def _weight(expr: Expr) -> int:
    calls = [e for e in subexpressions(expr) if isinstance(e, Call) and e.op.kind != "index"]
    return sum(1 if call.op.kind == "operator" else _LEAST for call in calls)
