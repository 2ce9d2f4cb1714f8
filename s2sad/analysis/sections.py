"""Which parts of an array stay as they are read until the function ends.

    for k in range(n):
        L[k, k] = np.sqrt(A[k, k])
        for i in range(k + 1, n):
            L[i, k] = A[i, k] / L[k, k]       L[k, k] is never written again

What is so needs no copy for the reverse part, nor is it saved in each iteration.  A part is an interval of integers
along each axis, whose ends are sums of the variables of loops, sizes and numbers; whether a later store may touch
it is decided by the bounds of these (array section analysis: Havlak and Kennedy, "An implementation of
interprocedural bounded regular section analysis", 1991).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from s2sad.analysis.effects import Effects
from s2sad.analysis.infer import Facts
from s2sad.analysis.sharing import sharing
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Expr, For, Function, If, Slice, Stmt, Store, Var, While
from s2sad.ir.traverse import blocks, names_in, walk, writes

#: The names in the text of a size.
_NAME = re.compile(r"~?\w+\.\d+")
#: How many pairs of a read and a write are looked at.
_LIMIT = 20_000


@dataclass(frozen=True)
class Sections:
    """The names that are read from a part of an array that nothing writes later, and the stores (by ``id``) whose part
    of an array nothing writes later."""

    names: frozenset[str] = frozenset()
    stores: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Sum:
    """A number plus multiples of atoms, which are integers."""

    number: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        """``self + factor * other``."""
        found = dict(self.terms)
        for atom, count in other.terms:
            found[atom] = found.get(atom, 0) + factor * count
        return Sum(self.number + factor * other.number, tuple(sorted((a, c) for a, c in found.items() if c)))

    def without(self, atom: str) -> Sum:
        """The sum without its multiple of an atom."""
        return Sum(self.number, tuple([term for term in self.terms if term[0] != atom]))


_NONE, _ONE = Sum(), Sum(1)


@dataclass
class Bounds:
    """What is known of atoms: sums that are at most (``lower``) or at least (``upper``) as large.

    Each bound has atoms of a lower ``rank`` alone.
    """

    lower: dict[str, list[Sum]] = field(default_factory=dict)
    upper: dict[str, list[Sum]] = field(default_factory=dict)
    rank: dict[str, int] = field(default_factory=dict)

    def is_natural(self, total: Sum) -> bool:
        """Whether a sum is surely not negative."""
        if not total.terms:
            return total.number >= 0
        atom, count = max(total.terms, key=lambda term: self.rank.get(term[0], -1))
        rest = total.without(atom)
        known = (self.lower if count > 0 else self.upper).get(atom, ())
        return any(self.is_natural(rest.plus(bound, count)) for bound in known)


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a statement stands: its number in the order of the text, and what is around it, from outside in."""

    number: int
    around: tuple[tuple[For | While | If, int], ...]

    @property
    def loops(self) -> tuple[For | While, ...]:
        return tuple([s for s, _ in self.around if not isinstance(s, If)])


@dataclass(frozen=True, slots=True)
class _Access:
    """A part of an array that a statement reads or writes; ``base`` is None where the part is not known."""

    site: _Site
    base: str | None
    index: Expr


def sections(function: Function, facts: Facts, effects: Effects) -> Sections:
    """Find the reads and the stores of ``function`` whose part of an array stays as it is."""
    if not effects.written - effects.private:
        return Sections()
    return _Finder(function, facts, effects).run()


class _Finder:
    def __init__(self, function: Function, facts: Facts, effects: Effects) -> None:
        self.function = function
        self.facts = facts
        self.effects = effects
        self.definitions = {s.target: s.value for s in walk(function.body) if isinstance(s, Assign)}
        self.inside: dict[int, set[str]] = {}
        self.asked = 0

    def run(self) -> Sections:
        reads: list[tuple[str, _Access]] = []
        views: list[tuple[str, str]] = []
        stores: list[tuple[int, _Access]] = []
        written: list[tuple[set[str], _Access]] = []
        for stmt, site in _sites(self.function.body, [0], ()):
            names = self.effects.written_by(stmt)
            if names:
                known = isinstance(stmt, Store) and isinstance(stmt.base, Var)
                access = _Access(site, stmt.base.name, stmt.index) if known else _Access(site, None, Const(None))  # type: ignore[union-attr]
                written.append((names, access))
                if known and self.is_candidate(stmt.base):  # type: ignore[union-attr]
                    stores.append((id(stmt), access))
            if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "index":
                base, index = stmt.value.args
                if isinstance(base, Var) and self.is_candidate(base):
                    reads.append((stmt.target, _Access(site, base.name, index)))
            if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and sharing(stmt.value) == "view":
                views += [(stmt.target, part.name) for part in stmt.value.args[:1] if isinstance(part, Var)]
        if (len(reads) + len(stores)) * len(written) > _LIMIT:
            return Sections()

        def stays(access: _Access, name: str) -> bool:
            # What is read may be a copy, an object of its own.
            group = self.group(access.base or "") | self.group(name)
            return all(self.misses(access, w) for names, w in written if not group.isdisjoint(names))

        names = {name for name, access in reads if stays(access, name)}
        # Each after what it is a view of.
        for name, part in views:
            if part in names:
                names.add(name)
        return Sections(
            frozenset(names),
            frozenset(key for key, access in stores if stays(access, access.base or "")),
        )

    def group(self, name: str) -> frozenset[str]:
        """The names that may share the object of ``name``."""
        return self.effects.group.get(name, frozenset({name}))

    def is_candidate(self, base: Expr) -> bool:
        """Whether an array is written by this function, and by nobody once the function is over."""
        if not isinstance(base, Var) or self.facts.get(base).kind != "array":
            return False
        effects = self.effects
        if base.name not in effects.written or base.name in effects.private:
            return False
        group = self.group(base.name)
        return group.isdisjoint(effects.exposed) and group.isdisjoint(effects.module)

    def misses(self, read: _Access, write: _Access) -> bool:
        """Whether a write surely leaves a part as it was read, or has been before."""
        common: list[For | While] = []
        for one, other in zip(read.site.around, write.site.around, strict=False):
            if one[0] is not other[0]:
                break
            if not isinstance(one[0], If):
                common.append(one[0])
            elif one[1] != other[1]:
                break
        if write.site.number > read.site.number and not _exclude(read.site, write.site):
            # A variable of a loop that one of them is in alone has other values elsewhere.
            apart = [s for s in (*read.site.loops, *write.site.loops) if all(s is not c for c in common)]
            if not self.are_disjoint(read, write, {n for s in apart for n in self.varying(s)}, None):
                return False
        return all(self.are_disjoint(read, write, self.varying(loop), loop) for loop in common)

    def varying(self, loop: For | While) -> set[str]:
        """The names that have another value in each iteration of a loop."""
        if id(loop) not in self.inside:
            names = {n for s in walk(loop.body) for n in writes(s)} | set(writes(loop))
            self.inside[id(loop)] = names
        return self.inside[id(loop)]

    def are_disjoint(self, read: _Access, write: _Access, varying: set[str], later: For | While | None) -> bool:
        """Whether a write misses what was read in the same iteration of all loops, or in an earlier one of ``later``.

        The names ``varying`` may have another value at the write.
        """
        if write.base != read.base or read.base in varying:
            return False
        bounds = Bounds()
        for depth, loop in enumerate(read.site.loops):
            self.bound(bounds, loop, depth, set(), None)
        for depth, loop in enumerate(write.site.loops):
            self.bound(bounds, loop, 1000 + depth, varying, later)
        mine = self.intervals(read, set(), bounds)
        others = self.intervals(write, varying, bounds)
        for one, other in zip(mine, others, strict=False):
            if one is None or other is None:
                continue
            (low, high), (start, end) = one, other
            if high is not None and bounds.is_natural(start.plus(high, -1).plus(_ONE, -1)):
                return True
            if end is not None and bounds.is_natural(low.plus(end, -1).plus(_ONE, -1)):
                return True
        return False

    def bound(self, bounds: Bounds, loop: For | While, rank: int, varying: set[str], later: For | While | None) -> None:
        """Note the bounds of the variables of a loop."""
        if not isinstance(loop, For):
            return
        if loop.counter is not None:
            atom = _atom(loop.counter, varying)
            bounds.rank.setdefault(atom, rank)
            lowest = [_NONE]
            if loop is later:
                lowest.append(_ONE.plus(Sum(0, ((loop.counter, 1),))))
            bounds.lower.setdefault(atom, []).extend(lowest)
        if len(loop.targets) != 1 or len(loop.iters) != 1 or loop.unpacked:
            return
        runs, forward = loop.iters[0], True
        if isinstance(runs, Call) and runs.op.function is reversed and len(runs.args) == 1:
            runs, forward = runs.args[0], False
        if not (isinstance(runs, Call) and runs.op.function is range and not runs.kwargs):
            return
        step = runs.args[2] if len(runs.args) == 3 else Const(1)
        if not (isinstance(step, Const) and type(step.value) is int and step.value != 0):
            return
        first = self.sum(runs.args[0], varying, bounds) if len(runs.args) > 1 else _NONE
        last = self.sum(runs.args[1 if len(runs.args) > 1 else 0], varying, bounds)
        name = loop.targets[0]
        atom = _atom(name, varying)
        if atom in bounds.rank:
            return
        bounds.rank[atom] = rank
        rises = step.value > 0
        lower, upper = (first, last.plus(_ONE, -1)) if rises else (last.plus(_ONE), first)
        bounds.lower.setdefault(atom, []).append(lower)
        bounds.upper.setdefault(atom, []).append(upper)
        if loop is later:
            before = Sum(0, ((name, 1),))
            if rises is forward:
                bounds.lower[atom].append(before.plus(Sum(abs(step.value))))
            else:
                bounds.upper[atom].append(before.plus(Sum(abs(step.value)), -1))

    def sum(self, expr: Expr, varying: set[str], bounds: Bounds) -> Sum:
        """An integer as a sum of atoms; what is not one is an atom itself."""
        match expr:
            case Const(value=value) if type(value) is int:
                return Sum(value)
            case Var(name=name) if name in self.definitions:
                value = self.definitions[name]
                if isinstance(value, (Var, Const)) or (isinstance(value, Call) and _is_integral(value)):
                    return self.sum(value, varying, bounds)
            case Call(op=op, args=(a, b)) if op.kind == "operator" and op.name in ("+", "-"):
                return self.sum(a, varying, bounds).plus(self.sum(b, varying, bounds), 1 if op.name == "+" else -1)
            case Call(op=op, args=(a, b)) if op.kind == "operator" and op.name == "*":
                for one, other in ((a, b), (b, a)):
                    if isinstance(one, Const) and type(one.value) is int:
                        return _NONE.plus(self.sum(other, varying, bounds), one.value)
            case Call(op=op, args=(Var() as whole,)) if op.function is len:
                return self.size(whole, 0, varying, bounds)
            case Call(op=op, args=(Call(op=shape, args=(Var() as whole,)), Const(value=axis))) if op.kind == "index":
                if shape.kind == "attribute" and shape.name == "shape" and type(axis) is int:
                    return self.size(whole, axis, varying, bounds)
        if isinstance(expr, Var):
            return Sum(0, ((_atom(expr.name, varying), 1),))
        effects, names = self.effects, set(names_in(expr))
        if not names.isdisjoint(effects.unsteady | effects.versions.keys()):
            # It may be another number each time that it is asked.
            self.asked += 1
            return Sum(0, ((f"value {self.asked}", 1),))
        prime = "'" if not varying.isdisjoint(names) else ""
        return Sum(0, ((f"{expr!r}{prime}", 1),))

    def size(self, whole: Var, axis: int, varying: set[str], bounds: Bounds) -> Sum:
        """The size of an axis of an array."""
        known = self.facts.get(whole)
        if known.kind != "array":
            # A list may have another length each time that it is asked.
            self.asked += 1
            return Sum(0, ((f"length {self.asked}", 1),))
        if known.dims is not None and -len(known.dims) <= axis < len(known.dims):
            size = known.dims[axis]
            prime = "'" if not varying.isdisjoint(_NAME.findall(str(size))) else ""
            atom = f"size {size}{prime}"
        else:
            atom = f"size {axis} of {_atom(whole.name, varying)}"
        bounds.lower.setdefault(atom, [_NONE])
        return Sum(0, ((atom, 1),))

    def intervals(self, access: _Access, varying: set[str], bounds: Bounds) -> Iterator[tuple[Sum, Sum | None] | None]:
        """The first and the last place along each axis (None: its end), as far as the parts of the index tell axes."""
        assert access.base is not None
        index = access.index
        parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
        whole = Var(access.base)
        for axis, part in enumerate(parts):
            if isinstance(part, Slice):
                yield self.interval(part, whole, axis, varying, bounds)
                continue
            place = self.sum(part, varying, bounds)
            if place.terms == () and place.number < 0 and isinstance(part, Const):
                place = place.plus(self.size(whole, axis, varying, bounds))
                yield place, place
            elif isinstance(part, (Const, Var, Call)) and bounds.is_natural(place):
                yield place, place
            else:
                return

    def interval(
        self, part: Slice, whole: Var, axis: int, varying: set[str], bounds: Bounds
    ) -> tuple[Sum, Sum | None] | None:
        """The first and the last place of a slice in steps forward, or further out."""
        if part.step is not None and not (
            isinstance(part.step, Const) and type(part.step.value) is int and part.step.value > 0
        ):
            return None

        def end(bound: Expr) -> Sum | None:
            place = self.sum(bound, varying, bounds)
            if not place.terms and place.number < 0:
                return place.plus(self.size(whole, axis, varying, bounds))
            return place if bounds.is_natural(place) else None

        low = _NONE if part.lower is None else end(part.lower)
        high = None if part.upper is None else end(part.upper)
        if low is None or (part.upper is not None and high is None):
            return None
        return low, None if high is None else high.plus(_ONE, -1)


def _sites(
    block: Block, count: list[int], around: tuple[tuple[For | While | If, int], ...]
) -> Iterator[tuple[Stmt, _Site]]:
    """All statements with where they stand; ``count`` holds how many have been seen.

    The condition of a ``while`` loop is evaluated in each iteration.
    """
    for stmt in block:
        count[0] += 1
        yield stmt, _Site(count[0], (*around, (stmt, 0)) if isinstance(stmt, While) else around)
        if isinstance(stmt, (For, While, If)):
            for arm, inner in enumerate(blocks(stmt)):
                yield from _sites(inner, count, (*around, (stmt, arm)))


def _exclude(one: _Site, other: _Site) -> bool:
    """Whether two statements are in different arms of one branch."""
    for (stmt, arm), (another, its) in zip(one.around, other.around, strict=False):
        if stmt is not another:
            return False
        if arm != its:
            return True
    return False


def _is_integral(value: Call) -> bool:
    if value.op.kind == "index":
        whole = value.args[0]
        return isinstance(whole, Call) and whole.op.kind == "attribute" and whole.op.name == "shape"
    return (value.op.kind == "operator" and value.op.name in ("+", "-", "*")) or value.op.function is len


def _atom(name: str, varying: set[str]) -> str:
    return f"{name}'" if name in varying else name
