"""Save one array from which the reverse part computes several again.

    t = u[2:] - 2.0 * u[1:-1] + u[:-2]          u_2 = u.copy()
    t_2 = 1.0 - u[1:-1]                         saved.append(u_2)
    saved.append((t, t_2))               ->     ...
    ...                                         u_2 = saved.pop()
    t, t_2 = saved.pop()                        t = u_2[2:] - 2.0 * u_2[1:-1] + u_2[:-2]
                                                t_2 = 1.0 - u_2[1:-1]

Sums, differences, products and quotients of elements are computed again where that keeps less
(rematerialisation: Briggs, Cooper and Torczon 1992; for adjoints, Naumann, "The Art of Differentiating Computer
Programs", 2012, section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from s2sad import ops
from s2sad.analysis.effects import Effects
from s2sad.differentiate.builder import COPY, COPY_IN_LAYOUT
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Expr, For, Global, Opaque, Slice, Stmt, Var, While
from s2sad.ir.traverse import expressions, loop_heads, names_in, subexpressions, walk, writes
from s2sad.ir.types import Fact
from s2sad.runtime import own

#: How far from the ends of its axis a slice that has about as many elements may begin and end.
_MARGIN = 4
#: How many operations are done again for one array.
_LIMIT = 8


@dataclass(frozen=True)
class Plan:
    """The arrays to be copied (name for the copy, array, position in the block), what is saved no longer, what is
    saved instead, and how the former is made again."""

    copies: tuple[tuple[str, str, int], ...] = ()
    dropped: frozenset[str] = frozenset()
    added: tuple[str, ...] = ()
    made: dict[str, Expr] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """What is to be saved: a name, or an array that is written, as it is after so many writes into it."""

    name: str
    version: int | None = None


class _Costly(Exception):
    """A value that is not made again."""


class Remaker:
    """Decides what of the values that a block saves is made again; ``fact`` is what is known of names.

    ``shadows`` are names of adjoints, which the reverse part writes.
    """

    def __init__(
        self, fact: Callable[[str], Fact], effects: Effects, fresh: Callable[[str], str], shadows: frozenset[str]
    ) -> None:
        self.fact = fact
        self.effects = effects
        #: What copies an array that is kept: with its layout where the adjoint may ask for that.
        self.copying = COPY_IN_LAYOUT if effects.reshapes else COPY
        self.fresh = fresh
        self.shadows = shadows

    def plan(self, body: Block, saved: Iterable[str], there: Callable[[str], bool], unbound: frozenset[str]) -> Plan:
        """What to do about the names ``saved`` of a block; ``there`` says which names have a value in its reverse."""
        arrays = [n for n in saved if self.fact(n).kind == "array"]
        if not arrays:
            return Plan()
        block = _Block(self, body, there, unbound, frozenset(arrays))
        found: dict[str, set[_Leaf]] = {}
        for name in arrays:
            try:
                found[name] = block.leaves(name)
            except _Costly:
                found[name] = {_Leaf(name)}
        leaves = set[_Leaf]().union(*found.values())
        if self.size(leaf.name for leaf in leaves) >= self.size(arrays):
            return Plan()
        kept = {leaf.name for leaf in leaves if leaf.version is None}
        for name in dict.fromkeys((*arrays, *block.definitions)):
            # A copy that is there is as good as one of ours.
            leaf = block.copied(name)
            if leaf in leaves and leaf not in block.copies:
                block.copies[leaf] = name
                kept.add(name)
        for name in arrays:
            if name not in kept:
                block.make(name, kept)
        made = [(copy, leaf) for leaf, copy in block.copies.items() if copy not in kept]
        copies = tuple([(copy, leaf.name, block.first[leaf]) for copy, leaf in made])
        added = sorted(kept.difference(arrays), key=lambda n: (block.definitions.get(n, (-1,))[0], n))
        return Plan(copies, frozenset(arrays) - kept, tuple(added), block.made)

    def lasting(self, loop: For | While, unbound: frozenset[str], arrays: bool) -> frozenset[str]:
        """The names that get the same value whenever a loop, or one in it, gives them one: the last that they got.

        With ``arrays`` only these: a number is made again for less than it costs to hand it on.
        """
        varying = {n for s in walk((loop,)) for n in writes(s)}
        same: set[str] = set()
        found: set[str] = set()
        for stmt in walk(loop.body):
            if not isinstance(stmt, Assign) or stmt.target in unbound or self.is_changing(stmt.target):
                continue
            changes = any(self.is_changing(n) or (n in varying and n not in same) for n in names_in(stmt.value))
            if not changes and _is_repeatable(stmt.value):
                same.add(stmt.target)
                if not self.is_taken(stmt) and (self.fact(stmt.target).has_axes or not arrays):
                    found.add(stmt.target)
        return frozenset(found)

    def is_taken(self, stmt: Assign) -> bool:
        """Whether an array is another, or taken out of one, which costs nothing."""
        taken = isinstance(stmt.value, Var) or (
            isinstance(stmt.value, Call) and stmt.value.op.kind in ("index", "attribute")
        )
        return taken and self.fact(stmt.target).kind != "scalar"

    def is_changing(self, name: str) -> bool:
        return name in self.effects.unsteady or name in self.effects.versions or name in self.shadows

    def is_arithmetic(self, value: Expr) -> bool:
        """Whether a value is computed by one operation on two numbers."""
        if not (isinstance(value, Call) and value.op.kind == "operator" and value.op.name in ("+", "-", "*", "/")):
            return False
        numbers = (
            isinstance(a, Const) or (isinstance(a, Var) and self.fact(a.name).kind == "scalar") for a in value.args
        )
        return all(numbers)

    def size(self, names: Iterable[str]) -> int:
        """About how much some arrays keep."""
        dims = [self.fact(n).ndim for n in names]
        return sum(1000 ** (2 if d is None else d) for d in dims)


class _Block:
    def __init__(
        self, maker: Remaker, body: Block, there: Callable[[str], bool], unbound: frozenset[str], arrays: frozenset[str]
    ) -> None:
        self.maker = maker
        self.there = there
        self.arrays = arrays
        self.definitions = {
            s.target: (i, s.value) for i, s in enumerate(body) if isinstance(s, Assign) and s.target not in unbound
        }
        self.writes = [self.written(s) for s in body]
        self.inside = {n for s in walk(body) for n in writes(s)}
        self.heads = set(loop_heads(body))
        self.unbound = unbound
        self.first: dict[_Leaf, int] = {}
        self.copies: dict[_Leaf, str] = {}
        self.made: dict[str, Expr] = {}

    def written(self, stmt: Stmt) -> set[str]:
        """The names whose objects a statement, or one in it, may write; the halves of a pair are no longer calls of
        functions that have source."""
        found: set[str] = set()
        for s in walk((stmt,)):
            found |= self.maker.effects.written_by(s)
            for expr in expressions(s):
                found.update(
                    n for e in subexpressions(expr) if isinstance(e, Call) and not e.op.pure for n in names_in(e)
                )
        return found

    def is_written(self, name: str) -> bool:
        return name in self.maker.effects.unsteady

    def version(self, name: str, position: int) -> _Leaf:
        """An array that is written, as it is at a position of the block."""
        if name in self.unbound or self.maker.fact(name).kind != "array":
            raise _Costly
        group = self.maker.effects.group.get(name, frozenset({name}))
        if self.stays(group, position):
            return _Leaf(name)
        leaf = _Leaf(name, sum(not group.isdisjoint(names) for names in self.writes[:position]))
        made = self.definitions.get(name, (-1, None))[0]
        if made >= position:
            raise _Costly
        self.first[leaf] = min(self.first.get(leaf, position), position)
        return leaf

    def stays(self, group: frozenset[str], position: int) -> bool:
        """Whether an array stays as it is at a position: the block, which makes it anew each time, alone writes it."""
        if any(not group.isdisjoint(names) for names in self.writes[position:]):
            return False
        effects = self.maker.effects
        return group <= self.inside and group.isdisjoint(
            self.heads | effects.module | effects.exposed | effects.altered
        )

    def copied(self, name: str) -> _Leaf | None:
        """What a name is a copy of: a whole array that is written."""
        position, value = self.definitions.get(name, (0, Const(None)))
        whole = _uncopied(value)
        if whole == value or self.is_written(name) or not isinstance(whole, Var) or not self.is_written(whole.name):
            return None
        try:
            leaf = None if self.viewed(whole.name) is not None else self.version(whole.name, position)
        except _Costly:
            return None
        return None if leaf is None or leaf.version is None else leaf

    # --- what a value rests on

    def leaves(self, name: str) -> set[_Leaf]:
        """What must be saved for the value of an array to be made again; the array itself if that is costly."""
        if self.is_written(name):
            # It is read as the iteration leaves it.
            return {_Leaf(name)}
        if name not in self.definitions:
            return {_Leaf(name)} if not self.there(name) or name in self.arrays else set()
        position, value = self.definitions[name]
        count = [0]
        found = self.rests_on(_uncopied(value), position, count)
        if count[0] > _LIMIT:
            raise _Costly
        return found

    def rests_on(self, expr: Expr, position: int, count: list[int]) -> set[_Leaf]:
        match expr:
            case Const():
                return set()
            case Var(name=name):
                if self.maker.fact(name).kind == "scalar":
                    if not self.there(name):
                        raise _Costly
                    return set()
                if self.maker.fact(name).kind != "array":
                    raise _Costly
                if self.is_written(name):
                    viewed = self.viewed(name)
                    if viewed is not None:
                        return self.rests_on(viewed, position, count)
                    return {self.version(name, position)}
                if name in self.definitions:
                    at, value = self.definitions[name]
                    try:
                        inner = [0]
                        found = self.rests_on(_uncopied(value), at, inner)
                        count[0] += inner[0]
                        return found
                    except _Costly:
                        pass
                if self.there(name) and name not in self.arrays:
                    return set()
                if name in self.unbound:
                    raise _Costly
                return {_Leaf(name)}
            case Call(op=op, args=(Var() as whole, index)) if op.kind == "index" and _is_most(index):
                return self.rests_on(whole, position, count)
            case Call(op=op, args=args) if op.kind == "operator" and op.name in ("+", "-", "*", "/"):
                count[0] += 1
                return set[_Leaf]().union(*[self.rests_on(a, position, count) for a in args])
        raise _Costly

    def viewed(self, name: str) -> Expr | None:
        """The view of an array that a name stands for."""
        _, value = self.definitions.get(name, (0, None))
        whole_view = isinstance(value, Call) and value.op.kind == "index" and _is_most(value.args[1])
        return value if whole_view else None

    # --- how it is made again

    def make(self, name: str, kept: set[str]) -> None:
        """Note how a value is made again, after those that it rests on."""
        if name in self.made:
            return
        position, value = self.definitions[name]
        self.made[name] = self.again(_uncopied(value), position, kept)
        # In the order of their making.
        self.made[name] = self.made.pop(name)

    def again(self, expr: Expr, position: int, kept: set[str]) -> Expr:
        match expr:
            case Var(name=name):
                if self.maker.fact(name).kind == "scalar":
                    return expr
                if self.is_written(name):
                    # Also where its name is saved, for its shape: it is the contents that would be others.
                    viewed = self.viewed(name)
                    if viewed is not None:
                        return self.again(viewed, position, kept)
                    leaf = self.version(name, position)
                    if leaf.version is None:
                        return expr
                    if leaf not in self.copies:
                        self.copies[leaf] = self.maker.fresh(name.partition(".")[0])
                    return Var(self.copies[leaf])
                if name not in kept and name in self.definitions and (name in self.arrays or not self.there(name)):
                    self.make(name, kept)
                return expr
            case Call(op=op, args=(whole, index)) if op.kind == "index":
                return Call(op, (self.again(whole, position, kept), index), (), expr.node)
            case Call(op=op, args=args):
                return Call(op, tuple([self.again(a, position, kept) for a in args]), (), expr.node)
        return expr


def _is_repeatable(value: Expr) -> bool:
    """Whether a value is computed by operations that give the same for the same operands, and by nothing else."""
    for expr in subexpressions(value):
        if isinstance(expr, (Opaque, Global)):
            return False
        if isinstance(expr, Call) and expr.op.kind not in ("operator", "compare", "index"):
            rule = ops.find(expr.op.function)
            sizes = expr.op.kind == "attribute" and expr.op.name in ("shape", "ndim", "size")
            if not sizes and expr.op.function is not len and (rule is None or rule.ordered or not expr.op.pure):
                return False
    return isinstance(value, (Call, Var))


def _uncopied(value: Expr) -> Expr:
    if isinstance(value, Call) and (value.op.function is own or value.op == COPY) and len(value.args) == 1:
        return value.args[0]
    return value


def _is_most(index: Expr) -> bool:
    """Whether an index gives a view with about as many elements as the array has."""
    parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
    return all(
        isinstance(p, Slice) and p.step is None and _is_near(p.lower, 1) and _is_near(p.upper, -1) for p in parts
    )


def _is_near(bound: Expr | None, sign: int) -> bool:
    if bound is None:
        return True
    number = bound.value if isinstance(bound, Const) else None
    return type(number) is int and 0 <= sign * number <= _MARGIN and (sign > 0 or number != 0)
