"""Which names of a reverse part may share memory, which objects it writes, and which parts of an array are disjoint.

row = A_bar[k]             A_bar and row share memory
A_bar[k, k + 1:] += g      A_bar is written, and row with it; A_bar[k, k] stays as it is
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from s2sad.analysis.evaluate import evaluate
from s2sad.analysis.sharing import keeps_items, sharing
from s2sad.ir.nodes import (
    Assign,
    Build,
    Call,
    Const,
    Copy,
    Effect,
    Evaluate,
    Expr,
    For,
    Function,
    Op,
    Opaque,
    Pop,
    Push,
    Slice,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import expressions, names_in, reads, subexpressions, walk, writes
from s2sad.ir.types import OPEN, Fact
from s2sad.optimise.dead import is_pure, writes_into

#: An integer as a sum of names and a number.
_Linear = tuple[tuple[str, ...], int]


class Memory:
    """What is known of the memory behind the names of a differentiated function.

    ``facts`` are those about its names, ``shared`` has sets of names that may share an object.
    """

    def __init__(
        self,
        function: Function,
        facts: Mapping[str, Fact],
        global_facts: Mapping[str, Fact],
        shared: Iterable[Iterable[str]],
    ) -> None:
        self.of = dict(facts)
        self.global_facts = global_facts
        self.parent: dict[str, str] = {}
        #: The least numbers that counters of loops may be.
        self.counters: dict[str, int | None] = {}
        reverse = function.reverse or ()
        for names in shared:
            self.join(*names)
        pushed: dict[str, list[tuple[Expr, ...]]] = {}
        for stmt in walk((*function.body, *reverse)):
            self._note(stmt, pushed)
        self.returned = {self.find(n) for n in names_in(function.result)}
        self.written = {n for s in reverse for n in self.writes(s)}

    def fact(self, expr: Expr) -> Fact:
        """The fact about an expression."""
        return evaluate(expr, self.of, self.global_facts)

    def find(self, name: str) -> str:
        """The name that stands for all that may share the object of ``name``."""
        found = name
        while found in self.parent:
            found = self.parent[found]
        if found != name:
            self.parent[name] = found
        return found

    def join(self, *names: str) -> None:
        """Note that names may share an object; numbers do not."""
        held = [self.find(n) for n in names if self.of.get(n, OPEN).kind != "scalar"]
        for name in held[1:]:
            first, other = self.find(held[0]), self.find(name)
            if first != other:
                self.parent[other] = first

    def is_shared(self, name: str) -> bool:
        """Whether another name may share the object of ``name``."""
        return name in self.parent or name in self.parent.values()

    def is_fixed(self, name: str) -> bool:
        """Whether the reverse part never writes the object of ``name``."""
        return self.of.get(name, OPEN).kind == "scalar" or self.find(name) not in self.written

    def writes(self, stmt: Stmt) -> set[str]:
        """What a statement and those in it write, as :meth:`find` gives it."""
        return {self.find(n) for s in walk((stmt,)) for n in written_by(s)}

    def touches(self, stmt: Stmt) -> set[str]:
        """What a statement and those in it read or write, as :meth:`find` gives it."""
        return {self.find(n) for s in walk((stmt,)) for n in (*reads(s), *writes(s))}

    def _note(self, stmt: Stmt, pushed: dict[str, list[tuple[Expr, ...]]]) -> None:
        match stmt:
            case Assign(target=target, value=value):
                if target not in self.of:
                    self.of[target] = self._known(target, value)
                self.join(target, *self._held(value))
            case Copy(targets=targets, sources=sources):
                for name, source in zip(targets, sources, strict=True):
                    self.join(name, *names_in(source))
            case Unpack(targets=targets, value=value):
                for name in targets:
                    self.join(name, *names_in(value))
            case Push(tape=tape, values=values):
                pushed.setdefault(tape, []).append(values)
            case Pop(tape=tape, targets=targets):
                entries = pushed.get(tape, [])
                for i, name in enumerate(targets):
                    # What is tried has a tape of its own, which is on that of the loop.
                    inner = [n for entry in entries for e in entry[i : i + 1] for n in names_in(e)]
                    inside = [saved for n in inner for saved in pushed.get(n, [])]
                    if inside:
                        pushed.setdefault(name, inside)
                    if len(entries) == 1 and len(entries[0]) == len(targets):
                        self.of.setdefault(name, self.fact(entries[0][i]))
                        self.join(name, *names_in(entries[0][i]))
                    else:
                        self.join(name, *[n for entry in entries for e in entry for n in names_in(e)])
            case For(targets=targets, iters=iters):
                if len(targets) == len(iters) == 1:
                    least = self._least_of_range(iters[0])
                    others = self.counters.get(targets[0], least)
                    self.counters[targets[0]] = None if least is None or others is None else min(least, others)
                for name in targets:
                    self.join(name, *[n for e in iters for n in names_in(e)])
            case Store(base=held, value=value) if self.fact(held).kind != "array":
                self.join(*names_in(held), *names_in(value))
            case Evaluate(value=Call(args=(Var() as into, *_)) as call) if self.fact(into).kind != "array":
                self.join(*names_in(call))
            case _:
                pass

    def _held(self, value: Expr) -> tuple[str, ...]:
        """The names whose objects the value of an expression may be, or be a part of, or hold."""
        if isinstance(value, Call):
            if not is_pure(value):
                return names_in(value)
            if sharing(value) == "fresh":
                return names_in(value) if keeps_items(value, self.fact) else ()
            if value.op.kind == "change":
                return names_in(value)
            if value.op.kind in ("index", "inplace"):
                return self._held(value.args[0])
        return names_in(value)

    def _known(self, target: str, value: Expr) -> Fact:
        plain = target.rstrip("'")
        return self.of[plain] if plain in self.of else self.fact(value)

    # --- parts of an array

    def _least_of_range(self, runs: Expr) -> int | None:
        """A number that no item of a range is below; None where it may have negative ones."""
        if not isinstance(runs, Call):
            return None
        if runs.op.function is reversed:
            return self._least_of_range(runs.args[0])
        if runs.op.function is not range or runs.kwargs:
            return None
        if len(runs.args) < 2:
            return 0
        step = runs.args[2] if len(runs.args) == 3 else Const(1)
        if not (isinstance(step, Const) and isinstance(step.value, int)):
            return None
        if step.value > 0:
            return self._least(runs.args[0])
        if runs.args[1] == Const(-1):
            return 0
        stop = self._least(runs.args[1])
        return None if stop is None else stop + 1

    def is_natural(self, expr: Expr) -> bool:
        """Whether an integer is surely not negative."""
        return self._least(expr) is not None

    def _least(self, expr: Expr) -> int | None:
        """A number that an integer is surely not below, if it is surely not negative."""
        least: int | None = None
        match expr:
            case Const(value=int(number)) if type(number) is int:
                least = number
            case Var(name=name):
                least = self.counters.get(name)
            case Call(op=Op(name="+"), args=(first, second)):
                parts = self._least(first), self._least(second)
                least = None if None in parts else sum(p for p in parts if p is not None)
            case Call(op=Op(name="-"), args=(first, Const(value=int(number)))) if type(number) is int:
                known = self._least(first)
                least = None if known is None else known - number
        return least if least is not None and least >= 0 else None

    def are_disjoint(self, a: Expr, b: Expr) -> bool:
        """Whether two indices surely are of parts of an array that have no element in common."""
        mine, others = (index.items if isinstance(index, Build) else (index,) for index in (a, b))
        for one, other in zip(mine, others, strict=False):
            if not (self._is_axis(one) and self._is_axis(other)):
                return False
            if self._ends_before(one, other) or self._ends_before(other, one):
                return True
        return False

    def _is_axis(self, part: Expr) -> bool:
        """Whether a part of an index is an integer, or a slice in steps forward."""
        if isinstance(part, Slice):
            step = part.step or Const(1)
            return isinstance(step, Const) and type(step.value) is int and step.value > 0
        if isinstance(part, Const):
            return type(part.value) is int
        known = self.fact(part)
        return known.kind == "scalar" and not known.boolean

    def _ends_before(self, a: Expr, b: Expr) -> bool:
        """Whether all places that ``a`` stands for come before those of ``b``."""
        end = a.upper if isinstance(a, Slice) else a
        start = b.lower if isinstance(b, Slice) else b
        if end is None or start is None:
            return False
        (names, last), (others, first) = _linear(end), _linear(start)
        if names != others or first < last + (not isinstance(a, Slice)):
            return False
        # Numbers below zero count from the other end.
        return (self.is_natural(end) and self.is_natural(start)) or (not names and last < 0 and first < 0)


def is_view(memory: Memory, value: Expr) -> bool:
    """Whether an expression is a view of a part of an array, whose index has slices and integers alone."""
    if not (isinstance(value, Call) and value.op.kind == "index" and isinstance(value.args[0], Var)):
        return False
    whole, index = value.args
    parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
    plain = (Const(Ellipsis), Const(None))
    basic = all(isinstance(p, Slice) or p in plain or memory.fact(p).kind == "scalar" for p in parts)
    return basic and memory.fact(whole).kind == "array" and memory.fact(value).kind == "array"


def _linear(expr: Expr) -> _Linear:
    if isinstance(expr, Const) and type(expr.value) is int:
        return (), expr.value
    if isinstance(expr, Call) and expr.op.kind == "operator" and expr.op.name in ("+", "-") and len(expr.args) == 2:
        (names, number), (others, more) = map(_linear, expr.args)
        if expr.op.name == "+":
            return tuple(sorted(names + others)), number + more
        if not others:
            return names, number - more
    return (repr(expr),), 0


def written_by(stmt: Stmt) -> Iterator[str]:
    """The names of objects that a statement itself may write, as far as that shows without what they share."""
    into = writes_into(stmt)
    if into is not None and not (isinstance(stmt, Store) and stmt.call is not None):
        yield into
        return
    if isinstance(stmt, (Store, Effect)) or (isinstance(stmt, Evaluate) and isinstance(stmt.value, Opaque)):
        yield from reads(stmt)
    for expr in expressions(stmt):
        for inner in subexpressions(expr):
            if isinstance(inner, Call) and not inner.op.pure:
                yield from names_in(inner)
            elif isinstance(inner, Call) and inner.op.kind in ("inplace", "change"):
                yield from names_in(inner.args[0])
    if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind in ("inplace", "change"):
        yield stmt.target
