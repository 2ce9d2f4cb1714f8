"""Hand the shadows that the turns of a loop make from one turn to the next, in the reverse part alone.

u_bar = shadow(u)                            --- reverse ---
for ...:                                     u_bar = np.zeros_like(u)
    new_bar = np.zeros_like(u)               for ... in reversed(...):
    u_bar = new_bar                  ->          new_bar = u_bar
--- reverse ---                                  u_bar = np.zeros_like(new_bar)
for ... in reversed(...):                        new_bar[i] = 0.0
    new_bar[i] = 0.0                             u_bar += new_bar
    u_bar += new_bar

Each turn of ``new = u.copy(); new[i] = e; u = new`` makes an array, and its shadow with it.  The reverse part reads
that in two turns, so that at any time there need not be more than two, in place of one for each turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

import numpy as np

from s2sad.ir.nodes import (
    NOWHERE,
    Assign,
    Block,
    Break,
    Call,
    Const,
    Copy,
    Enter,
    Evaluate,
    Exit,
    Expr,
    For,
    Function,
    If,
    Op,
    Origin,
    Stmt,
    Store,
    Var,
    While,
)
from s2sad.ir.traverse import base, blocks, map_stmt, names_in, reads, rename, rename_in, walk, writes
from s2sad.ir.types import OPEN, Fact, same_shape
from s2sad.optimise.sink import makes_shadow
from s2sad.runtime import shadow
from s2sad.runtime.trees import add_at, add_into

_ZEROS_LIKE = Op("runtime", "np.zeros_like", np.zeros_like)
_SHADOW = Op("runtime", "shadow", shadow)


@dataclass(frozen=True)
class _Rotation:
    """The shadows that a loop hands on: of what a turn makes, and the join names that hold it in the turns after it.

    Of each join name ``arrays`` is the name of the array, and ``begins`` the shadow before the loop.  ``same`` are
    other names in a turn of the shadows; ``views`` are names of their views, ``parts`` the joins and views of these.
    """

    made: str
    joins: tuple[str, ...]
    arrays: tuple[str, ...]
    begins: tuple[str, ...]
    same: Mapping[str, Expr]
    views: frozenset[str]
    parts: frozenset[str]

    @property
    def names(self) -> set[str]:
        """All names of the shadows in a turn, and of their views."""
        return {self.made, *self.joins, *self.same, *self.views}


def handed_back(
    function: Function,
    shadow_of: Mapping[str, str],
    facts: Mapping[str, Fact],
    outward: Iterable[str],
    shared: Iterable[Set[str]],
    reshapes: bool,
    fresh: Callable[[str], str],
) -> tuple[Function, dict[str, str]]:
    """Apply the rewrite above to all loops.

    Args:
        function: The function with its reverse part.
        shadow_of: The shadow of each array that is written.
        facts: The types of names.
        outward: The shadows that a caller is given.
        shared: Sets of shadows that may be one array, or views of one.
        reshapes: Whether the layouts of arrays decide what is a view, so that shadows have these.
        fresh: Makes a new name from the stem of one.

    Returns:
        The function, and for each new name of a shadow one whose type it has.
    """
    new: dict[str, str] = {}
    while shadow_of and function.reverse is not None:
        handing = _Handing(function, shadow_of, facts, frozenset(outward), shared, reshapes, fresh)
        found = handing.in_blocks(function.body, function.reverse)
        if found is None:
            break
        body, back = (rename_in(block, handing.ends) for block in found)
        function = replace(function, body=body, reverse=back, result=rename(function.result, handing.ends))
        new |= handing.new
        facts = {**facts, **{name: facts[new[name]] for name in handing.new}}
        shadow_of = {**shadow_of, **{name: name for name in handing.new}}
        shared = [{*names, *(n for n, like in handing.new.items() if like in names)} for names in shared]
    return function, new


class _Handing:
    """The search for one loop to which the rewrite applies."""

    def __init__(
        self,
        function: Function,
        shadow_of: Mapping[str, str],
        facts: Mapping[str, Fact],
        outward: frozenset[str],
        shared: Iterable[Set[str]],
        reshapes: bool,
        fresh: Callable[[str], str],
    ) -> None:
        self.facts, self.outward, self.shared, self.fresh = facts, outward, list(shared), fresh
        self.shadow_of, self.shadows = shadow_of, frozenset(shadow_of.values())
        self.zeros = _SHADOW if reshapes else _ZEROS_LIKE
        assert function.reverse is not None
        self.uses = _uses((*function.body, *function.reverse)) + Counter(names_in(function.result))
        #: The new names, each with one whose type it has; and those that take the place of others everywhere.
        self.new: dict[str, str] = {}
        self.ends: dict[str, Expr] = {}

    def in_blocks(self, body: Block, back: Block) -> tuple[Block, Block] | None:
        """A block and its reverse with the rewrite of one loop, or None."""
        twins = {s.key: q for q, s in enumerate(back) if isinstance(s, (For, If)) and s.key}
        for p, stmt in enumerate(body):
            q = twins.get(stmt.key) if isinstance(stmt, (For, While, If)) else None
            if q is None:
                continue
            for i, (inner, behind) in enumerate(zip(blocks(stmt), blocks(back[q]), strict=False)):
                found = self.in_blocks(inner, behind)
                if found is not None:
                    ahead, reverse = (_with_block(s, i, b) for s, b in zip((stmt, back[q]), found, strict=True))
                    return (*body[:p], ahead, *body[p + 1 :]), (*back[:q], reverse, *back[q + 1 :])
            twin = back[q]
            if isinstance(stmt, (For, While)) and isinstance(twin, For):
                for rotation in self.rotations(body[:p], stmt):
                    if self.is_handed(rotation, (body, p), (back, q)):
                        return self.handed(rotation, (body, p), (back, q))
        return None

    def rotations(self, before: Block, loop: For | While) -> Iterator[_Rotation]:
        """What a loop hands on of what its turns make."""
        first, last = before[-1] if before else None, loop.body[-1] if loop.body else None
        if not isinstance(first, Copy) or not isinstance(last, Copy):
            return
        own = {s.target: s.value for s in loop.body if isinstance(s, Assign) and s.target in self.shadows}
        same = {n: _original(n, own) for n, value in own.items() if isinstance(value, Var)}
        begins = {t: s.name for t, s in zip(first.targets, first.sources, strict=True) if isinstance(s, Var)}
        arrays = {self.shadow_of[t]: t for t in first.targets if self.shadow_of.get(t, t) != t}
        holders: dict[str, list[str]] = {}
        for target, source in zip(last.targets, last.sources, strict=True):
            if isinstance(source, Var):
                holders.setdefault(_original(source.name, own), []).append(target)
        for made in [n for n, value in own.items() if makes_shadow(value)]:
            joins: list[str] = []
            name = made
            while len(held := holders.get(name, [])) == 1 and held[0] not in joins:
                name = held[0]
                joins.append(name)
            if joins and not held and all(begins.get(j) in self.shadows and j in arrays for j in joins):
                turn = {made, *joins}
                others: dict[str, Expr] = {n: Var(o) for n, o in same.items() if o in turn}
                views = self.views_of({*turn, *others}, loop.body)
                parts = {*joins, *(n for n, o in same.items() if o in joins)}
                parts |= self.views_of(parts, loop.body)
                starts, of = tuple(begins[j] for j in joins), tuple(arrays[j] for j in joins)
                yield _Rotation(made, tuple(joins), of, starts, others, frozenset(views), frozenset(parts))

    def views_of(self, names: set[str], block: Block) -> set[str]:
        """The names of the views of some shadows that a block makes."""
        found: set[str] = set()
        for stmt in walk(block):
            if isinstance(stmt, Assign) and stmt.target in self.shadows and _viewed(stmt.value) in names | found:
                found.add(stmt.target)
        return found

    def is_handed(self, r: _Rotation, ahead: tuple[Block, int], behind: tuple[Block, int]) -> bool:
        """Whether the forward part only makes and names the shadows, and each is used where it is at hand."""
        (body, p), (back, q) = ahead, behind
        loop, twin = body[p], back[q]
        assert isinstance(loop, (For, While))
        assert isinstance(twin, For)
        if self.outward & r.names or any(isinstance(s, (Break, Enter, Exit)) for s in walk(loop.body)):
            return False
        facts = [self.facts.get(n, OPEN) for n in (r.made, *r.joins)]
        if any(f.kind != "array" or f.precision != "double" or not same_shape(f, facts[0]) for f in facts):
            return False
        here, before = _uses((loop, twin)), _uses((*body[:p], *body[p + 1 :], *back[:q]))
        if any(self.uses[n] != here[n] + (before[n] if n in r.joins else 0) for n in r.names):
            return False
        *turn, last = loop.body
        assert isinstance(last, Copy)
        moves = zip(last.targets, last.sources, strict=True)
        if any((t in r.joins) != (not r.names.isdisjoint(names_in(s))) or t in r.names - {*r.joins} for t, s in moves):
            return False
        if not all(self.only_names(s, r) for s in walk(turn)):
            return False
        foreign = [(b, j) for b, j in zip(r.begins, r.joins, strict=True) if not self.is_own(b, r, body, back[: q + 1])]
        # What the first turn is given may have other names, by which it may be written.
        others = {n for begin, _ in foreign for names in self.shared if begin in names for n in names}
        others.update(begin for begin, _ in foreign)
        if not all(_only_adds(s, r.parts | (others - r.names)) for s in walk(twin.body)):
            return False
        # It is what the loop leaves, if there is no turn; the caller may write it by views that are returned.
        lent = self.outward & _led_to({*r.joins}, body[p + 1 :])
        return _surely_runs(loop) or (not lent and all(_only_adds(s, others) for s in walk(back[:q])))

    def only_names(self, stmt: Stmt, r: _Rotation) -> bool:
        """Whether a statement of the forward part does not read one of the shadows, but to name a view of it."""
        if r.names.isdisjoint(reads(stmt)) and (r.names - {r.made, *r.same, *r.views}).isdisjoint(writes(stmt)):
            return True
        return isinstance(stmt, Assign) and (stmt.target in r.views or stmt.target in r.same)

    def handed(self, r: _Rotation, ahead: tuple[Block, int], behind: tuple[Block, int]) -> tuple[Block, Block]:
        """The two blocks with the loops at two positions rewritten."""
        (body, p), (back, q) = ahead, behind
        loop, twin, first = body[p], back[q], body[p - 1]
        assert isinstance(loop, (For, While))
        assert isinstance(twin, For)
        assert isinstance(first, Copy)
        finals = {j: self.name(j) for j in r.joins}
        handed = {j: self.name(j) for j in r.joins}
        moved = [s for s in walk(loop.body) if isinstance(s, Assign) and s.target in r.names]
        # A turn gets the shadow of what it makes from the one that was run before: the next of the forward part.
        at_hand: list[Stmt] = [
            Assign(name, Var(handed[join]), _origin(moved, name))
            for name, join in zip((r.made, *r.joins[:-1]), r.joins, strict=True)
        ]
        inner = self.begun(r, rename_in(_with_views(loop.body, twin.body, r), r.same), _origin(moved, r.made))
        on = Copy(tuple(handed[j] for j in r.joins), tuple(map(Var, r.joins)), loop.body[-1].origin)
        twin = replace(twin, body=(*at_hand, *inner, on))
        begin = Copy(tuple(handed.values()), tuple(Var(finals[j]) for j in r.joins), first.origin)
        arrays = zip(r.arrays, finals.values(), strict=True)
        zeros = [Assign(final, Call(self.zeros, (Var(array),)), first.origin) for array, final in arrays]
        after: dict[str, Expr] = {j: Var(f) for j, f in finals.items()}
        rest, views = self.without_views(rename_in(body[p + 1 :], after), set(finals.values()))
        # They are made where all that is read there is at hand, in the reverse part if the forward part has no use.
        staying, sinking = (zeros, []) if _uses(rest).keys() & finals.values() else ([], zeros)
        loop = replace(loop, body=tuple(_emptied(loop.body, r)))
        new_body: Block = (*body[: p - 1], *_without(first, r.joins), loop, *staying, *rest)
        ends: list[Stmt] = []
        for start, join in zip(r.begins, r.joins, strict=True):
            if self.is_own(start, r, body, back[: q + 1]):
                self.ends[start] = Var(handed[join])
                new_body = tuple([s for s in new_body if not (isinstance(s, Assign) and s.target == start)])
            else:
                ends.append(Store(Var(start), Const(Ellipsis), Var(handed[join]), "+", twin.origin))
        return new_body, (*sinking, *views, *rename_in(back[:q], after), begin, twin, *ends, *back[q + 1 :])

    def begun(self, r: _Rotation, block: Block, origin: Origin) -> Block:
        """A turn of the reverse part that makes the last of the shadows, of what it adds to it if that is used no more.

        u_bar = np.zeros_like(new_bar)                   new_bar[i] = 0.0
        new_bar[i] = 0.0                                 u_bar = new_bar
        u_bar += new_bar                           ->
        """
        last = r.joins[-1]
        zeros = Assign(last, Call(self.zeros, (Var(r.made),)), origin)
        fact = self.facts.get
        taken = Store(Var(last), Const(Ellipsis), Var(r.made), "+")
        places = [i for i, s in enumerate(block) if isinstance(s, Store) and replace(s, origin=NOWHERE) == taken]
        if len(places) != 1 or fact(last, OPEN).real != fact(r.made, OPEN).real:
            return (zeros, *block)
        position = places[0]
        rest = (*block[:position], *block[position + 1 :])
        others = [i for i, s in enumerate(rest) if not (r.names - r.parts).isdisjoint(_uses((s,)))]
        first = others[-1] + 1 if others else 0
        views = [s for s in rest[:first] if isinstance(s, Assign) and s.target in r.parts]
        ahead = [s for s in rest[:first] if s not in views]
        if first > position or r.parts & _uses(ahead).keys():
            return (zeros, *block)
        return (*ahead, Assign(last, Var(r.made), block[position].origin), *views, *rest[first:])

    def without_views(self, block: Iterable[Stmt], names: set[str]) -> tuple[list[Stmt], list[Stmt]]:
        """A block without the views of some shadows that it makes, and these; with them if the forward part has use."""
        found = set(names)
        rest: list[Stmt] = []
        moving: list[Stmt] = []
        for stmt in block:
            is_view = isinstance(stmt, Assign) and stmt.target in self.shadows and _viewed(stmt.value) in found
            (moving if is_view else rest).append(stmt)
            found.update(writes(stmt) if is_view else ())
        used = (_uses(rest).keys() | self.outward) & found
        return ([*block], []) if used else (rest, moving)

    def name(self, join: str) -> str:
        """A new name for a shadow of the same array."""
        found = self.fresh(base(join))
        self.new[found] = join
        return found

    def is_own(self, start: str, r: _Rotation, body: Block, before: Block) -> bool:
        """Whether a shadow is made in a block for the loop alone, and what is handed on may take its place after it."""
        made = [s for s in body if isinstance(s, Assign) and s.target == start]
        if len(made) != 1 or not makes_shadow(made[0].value) or start in self.outward:
            return False
        if not same_shape(self.facts.get(start, OPEN), self.facts.get(r.made, OPEN)):
            return False
        return (_uses(body) + _uses(before))[start] == 1


def _led_to(names: Set[str], block: Block) -> set[str]:
    """The names to which a block may give some objects, parts of them, or what holds these."""
    found = set(names)
    for stmt in walk(block):
        if not found.isdisjoint(reads(stmt)):
            found.update(writes(stmt), names_in(stmt.base) if isinstance(stmt, Store) else ())
    return found


def _surely_runs(loop: For | While) -> bool:
    """Whether a loop has a turn at least."""
    if not isinstance(loop, For) or len(loop.iters) != 1:
        return False
    (runs,) = loop.iters
    if not isinstance(runs, Call) or runs.op.function is not range or len(runs.args) != 1:
        return False
    count = runs.args[0]
    return isinstance(count, Const) and isinstance(count.value, int) and count.value > 0


def _original(name: str, own: Mapping[str, Expr]) -> str:
    while isinstance(value := own.get(name), Var):
        name = value.name
    return name


def _viewed(value: Expr) -> str | None:
    """The name of which an expression is a part."""
    is_part = isinstance(value, Call) and value.op.kind in ("index", "attribute") and isinstance(value.args[0], Var)
    return value.args[0].name if is_part else None  # type: ignore[union-attr]


def _only_adds(stmt: Stmt, parts: Set[str]) -> bool:
    """Whether a statement uses some shadows only to add to them."""
    match stmt:
        case Store(base=Var(), index=index, value=value, op="+", call=None):
            return parts.isdisjoint((*names_in(index), *names_in(value)))
        case Evaluate(value=Call(op=Op(function=function), args=(Var(), *others))) if function in (add_at, add_into):
            return parts.isdisjoint(n for other in others for n in names_in(other))
    return parts.isdisjoint(reads(stmt))


def _uses(block: Iterable[Stmt]) -> Counter[str]:
    return Counter(n for s in walk(block) for n in reads(s))


def _origin(moved: Iterable[Assign], name: str) -> Origin:
    return next((s.origin for s in moved if s.target == name), NOWHERE)


def _without(copy: Copy, names: Iterable[str]) -> tuple[Copy, ...]:
    """A parallel move without some targets; none if there is no other."""
    kept = [(t, s) for t, s in zip(copy.targets, copy.sources, strict=True) if t not in names]
    return (replace(copy, targets=tuple(t for t, _ in kept), sources=tuple(s for _, s in kept)),) if kept else ()


def _emptied(block: Block, r: _Rotation) -> Iterator[Stmt]:
    """The statements of a turn that neither make nor name the shadows."""
    for stmt in block:
        if isinstance(stmt, Copy):
            yield from _without(stmt, r.names)
        elif not (isinstance(stmt, Assign) and stmt.target in r.names):
            yield map_stmt(stmt, lambda e: e, lambda b: tuple(_emptied(b, r)))


def _with_views(body: Block, back: Block, r: _Rotation) -> Block:
    """A block of the reverse part with the views that the block of the forward part makes."""
    moving = [s for s in body if isinstance(s, Assign) and s.target in r.views]
    twins = {s.key: s for s in body if isinstance(s, (For, While, If)) and s.key}
    out: list[Stmt] = []
    for stmt in back:
        twin = twins.get(stmt.key) if isinstance(stmt, (For, If)) else None
        if twin is not None:
            for i, inner in enumerate(blocks(stmt)):
                stmt = _with_block(stmt, i, _with_views(blocks(twin)[i], inner, r))
        out.append(stmt)
    return (*moving, *out)


def _with_block(stmt: Stmt, position: int, block: Block) -> Stmt:
    """A statement with another block at a position."""
    given = list(blocks(stmt))
    given[position] = block
    return map_stmt(stmt, lambda e: e, lambda _: given.pop(0))
