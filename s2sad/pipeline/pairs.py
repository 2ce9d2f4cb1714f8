"""Pairs of functions for calls: what goes over the border between a caller and the two halves.

    y, u_bar_of_y, saved = f_forward(u, v, u_bar=u_bar)
    v_bar = f_reverse(saved, v, y_bar, u_bar)

A value goes with its adjoint: that of an argument comes back from the reverse half, that of a result is given
to it.  An array that the callee writes goes with its shadow, which the caller makes, and a result that
may view such an array comes with the shadow that views its shadow.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

import numpy as np

from s2sad import ops
from s2sad.analysis.elementwise import works_by_element
from s2sad.analysis.infer import Facts
from s2sad.analysis.summaries import Context
from s2sad.differentiate.builder import Builder
from s2sad.differentiate.known import Pair, Reversed, Seeds
from s2sad.differentiate.recording import as_written, in_order
from s2sad.differentiate.remake import Remaker
from s2sad.differentiate.stores import ELLIPSIS
from s2sad.ir.nodes import (
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Expr,
    For,
    Function,
    If,
    Op,
    Param,
    Push,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import base, map_children, map_stmt, names_in, reads, rename, walk, writes
from s2sad.ir.types import OPEN, Fact
from s2sad.ir.unset import is_required, unset_of
from s2sad.optimise.dead import is_quiet, remove_dead
from s2sad.optimise.sink import makes_shadow
from s2sad.pipeline.analysed import Analysed
from s2sad.syntax import globals_read


@dataclass(frozen=True)
class Border:
    """What goes over the border, as far as it is known before the adjoint is written.

    ``items`` are the results that the forward half returns, ``seeds`` what the reverse part begins with, ``bars`` the
    names of the adjoints that the reverse half is given.
    """

    pair: Pair
    items: tuple[Expr, ...]
    seeds: Seeds
    bars: tuple[str, ...]


def border(
    a: Analysed,
    names: tuple[str, str],
    cells: tuple[types.CellType, types.CellType],
    wrt: tuple[str, ...],
    context: Context | None,
    fixed: bool,
) -> Border:
    """The border of a function; a caller, in a ``context``, passes shadows of what is written and of its buffers.

    The halves of a ``fixed`` pair return all results.
    """
    function, known = a.function, a.facts.of
    buffers = {
        n for n in a.activity.active & (a.effects.written - a.effects.private) if known.get(n, OPEN).kind != "scalar"
    }
    lent = {
        p.name
        for p in function.params
        if context is not None and (p.public in context.buffers or p.name in a.effects.modified)
    }
    shadowed = [p for p in function.params if p.public in wrt and p.name in buffers & lent]
    outer = {n for p in shadowed for n in a.effects.group.get(p.name, frozenset({p.name}))}
    result = function.result
    count: int | None = None
    items: tuple[Expr, ...] = (result,)
    if isinstance(result, Build):
        count, items = len(result.items), result.items
    elif result == Const(None):
        count, items = 0, ()
    taken = {p.public for p in function.params} | {"saved"} | globals_read(function)

    def unused(stem: str, other: str) -> str:
        while stem in taken:
            stem, other = other, f"{other}_"
        taken.add(stem)
        return stem

    same: dict[int, str] = {}
    if not fixed:
        passed_in = {p.name: p.public for p in shadowed if known[p.name].kind == "array"}
        origins = [_origin(function, known, v) for v in items]
        same = {i: passed_in[n] for i, n in enumerate(origins) if n is not None and n in passed_in}
    passed = {p.name: unused(f"{p.public}_bar", f"{p.public}_bar_") + ".0" for p in shadowed}
    views = [i for i, v in enumerate(items) if i not in same and isinstance(v, Var) and v.name in buffers & outer]
    unread = frozenset[int]() if context is None or count is None else context.unread
    seeded = [
        i
        for i, v in enumerate(items)
        if isinstance(v, Var) and v.name in a.activity.active and i not in (*views, *same, *unread)
    ]
    seeds = []
    seed_facts = {}
    for i in seeded:
        name = items[i].name  # type: ignore[union-attr]
        whole = f"result{i}_bar" if count is not None else "result_bar"
        plain = count is None or name.startswith("~")
        bar = unused(whole if plain else f"{base(name)}_bar", whole) + ".0"
        seeds.append((name, bar))
        seed_facts[bar] = known[name]
    forward = Op("runtime", names[0], cells[0], pure=False)  # type: ignore[arg-type]
    backward = Op("runtime", names[1], cells[1], pure=False)  # type: ignore[arg-type]
    publics = tuple((p.public, base(passed[p.name])) for p in shadowed)
    pair = Pair(
        forward,
        backward,
        tuple(w for w in wrt if w not in {p.public for p in shadowed}),
        publics,
        tuple(p.public for p in shadowed),
        count,
        tuple(same.items()),
        tuple(views),
        tuple(seeded),
        by_element=works_by_element(function, a.facts),
    )
    aliases = tuple(items[i].name for i in views)  # type: ignore[union-attr]
    begun = Seeds(tuple([(name, Var(bar)) for name, bar in seeds]), seed_facts, passed, aliases)
    returned = tuple([v for i, v in enumerate(items) if i not in same])
    return Border(pair, returned, begun, tuple([bar for _, bar in seeds]))


def _origin(function: Function, known: Mapping[str, Fact], value: Expr) -> str | None:
    """The parameter whose object a value surely is, through other names and augmented assignments of arrays."""
    made: dict[str, list[Expr | None]] = {}
    for stmt in walk(function.body):
        moves: Iterable[tuple[str, Expr | None]]
        match stmt:
            case Copy(targets=targets, sources=sources):
                moves = zip(targets, sources, strict=True)
            case Assign(target=target, value=Call(op=Op(kind="inplace"), args=(Var(name=name) as left, _))):
                moves = ((target, left if known[name].kind == "array" else None),)
            case Assign(target=target, value=assigned):
                moves = ((target, assigned),)
            case _:
                moves = [(name, None) for name in writes(stmt)]
        for name, origin in moves:
            made.setdefault(name, []).append(origin)
    params = {p.name for p in function.params}
    found: set[str] = set()
    seen: set[str] = set()
    pending: list[Expr | None] = [value]
    while pending:
        source = pending.pop()
        if not isinstance(source, Var) or not (source.name in params or source.name in made):
            return None
        if source.name in params:
            found.add(source.name)
        if source.name not in seen:
            pending += made.get(source.name, ())
        seen.add(source.name)
    return found.pop() if len(found) == 1 else None


def _on_shadows(block: Block, passed: Mapping[str, str]) -> Block:
    """A block that takes shapes of arguments from the shadows that are ``passed`` with them."""
    shadows: dict[str, Expr] = {name: Var(bar) for name, bar in passed.items()}

    def measured(expr: Expr) -> Expr:
        if isinstance(expr, Call) and not expr.kwargs and (ops.measures(expr.op) or expr.op.function is np.zeros_like):
            return replace(expr, args=tuple([rename(x, shadows) for x in expr.args]))
        return map_children(expr, measured)

    return tuple([map_stmt(s, measured, lambda b: _on_shadows(b, passed)) for s in block])


@dataclass(frozen=True)
class Again:
    """Computes in a reverse half what the forward half would save; ``unbound`` are names that may have no value."""

    remaker: Remaker
    unbound: frozenset[str]

    def of(
        self, body: Block, needed: dict[str, None], given: Set[str], there: Set[str]
    ) -> tuple[Block, list[Stmt], Set[str]]:
        """A body that copies what the rest rests on, the statements that make that again, and what these read.

        ``needed`` are the names to be saved, and become so; ``given`` are arguments that are there once more, ``there``
        other names that are.
        """
        plan = self.remaker.plan(
            body, needed, lambda name: name in given or name in needed or name in there, self.unbound
        )
        for name in plan.dropped:
            del needed[name]
        needed.update(dict.fromkeys((*plan.added, *(copy for copy, _, _ in plan.copies))))
        for copy, array, position in sorted(plan.copies, key=lambda c: -c[2]):
            body = (*body[:position], Assign(copy, Call(self.remaker.copying, (Var(array),))), *body[position:])
        made: list[Stmt] = [Assign(name, plan.made[name]) for name in in_order(plan.made)]
        return body, made, given & {n for s in made for n in reads(s)}


def assembled_pair(a: Analysed, made: Reversed, edge: Border, context: Context | None) -> Function:
    """A function with its adjoint, to be cut in two.

    Its result are three tuples: the results, the adjoints of values, and what must be there, with the shadows last that
    come with results.
    """
    written = [p.name for p in a.function.params if p.name in a.effects.modified] if context is not None else []
    kept = [*written, *edge.seeds.passed.values(), *made.outward]
    parts = (edge.items, tuple(map(_as_lists, made.adjoints)), tuple(Var(n) for n in kept))
    result = Build("tuple", tuple(Build("tuple", part) for part in parts))
    return replace(a.function, body=made.body, reverse=made.reverse, result=result)


def _as_lists(g: Expr) -> Expr:
    """An adjoint that is a display as a list, which whoever gets it may add to in place."""
    if not isinstance(g, Build) or g.kind != "tuple":
        return g
    return replace(g, kind="list", items=tuple(map(_as_lists, g.items)))


def again_of(a: Analysed, whole: Function, made: Reversed) -> Again:
    """How the reverse half of a function computes what the forward half would save."""
    known = Facts(made.facts, a.facts.globals)
    remaker = Remaker(lambda name: known.get(Var(name)), a.effects, Builder(whole, known).fresh, made.shadows)
    return Again(remaker, a.lowered.unbound | made.unbound)


def halves(
    a: Analysed,
    whole: Function,
    edge: Border,
    made: Reversed,
    given: Iterable[str],
    fixed: bool,
    titles: tuple[tuple[str, ...], tuple[str, ...]],
    computes: Again | None,
    passes: Callable[[Stmt, str], bool],
) -> tuple[Function, Function, Pair, bool]:
    """Cut a function with its adjoint in two; returns the halves, their pair, and whether shadows are saved.

    ``given`` are the parameters for which a call has an argument; unless the pair is ``fixed`` already, the
    reverse half is given those that it reads once more.  What would be saved is computed again where ``computes`` says
    how.  ``whole`` is as `assembled_pair` makes it; ``passes`` says of a statement that it hands an adjoint on to a
    reverse half that takes what broadcasts to it.
    """
    back, known, passed = whole.reverse, Facts(made.facts, a.facts.globals), edge.seeds.passed
    assert back is not None
    assert isinstance(whole.result, Build)
    items, adjoints, kept = (part.items for part in whole.result.items if isinstance(part, Build))
    views = kept[len(kept) - len(edge.seeds.views) :]
    back = _on_shadows(back, {n: bar for n, bar in passed.items() if a.facts.of[n].kind == "array"})
    gradients = display(adjoints)
    needed = _free_in(back, gradients)
    for bar in edge.bars:
        needed.pop(bar, None)
    start = [] if fixed else _measured(whole, needed, made, passed)
    read = {n for s in walk(whole.body) for n in reads(s)} | {n for v in views for n in names_in(v)}
    publics = {p.name: p.public for p in whole.params}
    ahead = [(publics[name], bar) for name, bar in passed.items() if fixed or bar in read]
    behind = [(publics[name], bar) for name, bar in passed.items() if fixed or bar in needed]
    for bar in passed.values():
        needed.pop(bar, None)
    once_more = {p.name for p in whole.params if p.public in given and not fixed}
    again = needed.keys() & once_more
    for name in again:
        del needed[name]
    if computes is not None:
        there = {*(n for s in start for n in writes(s)), *edge.bars, *(bar for _, bar in behind)}
        body, made_again, read_again = computes.of(whole.body, needed, once_more, there)
        left = Build("tuple", (*items, *kept, *map(Var, needed)))
        ahead_only = replace(whole, body=body, reverse=None, result=left)
        seen = sorted(a.effects.written & a.effects.module)
        whole = replace(whole, body=remove_dead(ahead_only, a.effects.objects(), seen).body)
        start += made_again
        again |= read_again
    needed = dict.fromkeys(as_written(needed, whole.body))
    saves = fixed or bool(needed)
    closed = not a.effects.written & a.effects.module
    pair = replace(
        edge.pair,
        forward_shadows=tuple((public, base(bar)) for public, bar in ahead),
        reverse_shadows=tuple(public for public, _ in behind),
        saves=saves,
        again=tuple(p.public for p in whole.params if p.name in again),
        quiet=closed and not fixed and is_quiet(whole.body) and not any(map(is_required, walk(a.function.body))),
        real=tuple([w for w, g in zip(edge.pair.wrt, made.adjoints, strict=True) if known.get(g).real]),
        complex=made.complex,
        spread=tuple(
            [i for i, bar in zip(edge.pair.seeded, edge.bars, strict=True) if _is_added(bar, back, gradients, passes)]
        ),
    )
    saved: Expr = Var(next(iter(needed))) if len(needed) == 1 else Build("tuple", tuple(Var(n) for n in needed))
    forward = replace(
        whole,
        name=pair.forward.name,
        params=(*whole.params, *(Param(bar, base(bar), keyword_only=True) for _, bar in ahead)),
        body=_with_starts(whole, needed, {bar for _, bar in ahead}),
        reverse=None,
        result=display((*items, *views, *((saved,) if saves else ()))),
        title=titles[0],
    )
    bars = [*edge.bars, *(bar for _, bar in behind)]
    held, unpacked = _saved(needed, {*pair.again, *map(base, bars), *globals_read(a.function)})
    params = (
        *((held,) if saves else ()),
        *(Param(p.name, p.public) for p in whole.params if p.name in again),
        *(Param(bar, base(bar)) for bar in bars),
    )
    body = (*unpacked, *start, *back)
    backward = Function(pair.reverse.name, params, (), gradients, whole.file, titles[1], body)
    shadows = made.shadows | _made_shadows(whole.body)
    return forward, backward, pair, not shadows.isdisjoint((*needed, *_pushed(whole.body)))


def _made_shadows(body: Block) -> set[str]:
    """The names of new shadows, whichever pass has put them there."""
    return {s.target for s in walk(body) if isinstance(s, Assign) and makes_shadow(s.value)}


def _pushed(body: Block) -> Iterator[str]:
    """The names of what is put on tapes."""
    return (name for stmt in walk(body) if isinstance(stmt, Push) for value in stmt.values for name in names_in(value))


def _is_added(bar: str, back: Block, gradients: Expr, passes: Callable[[Stmt, str], bool]) -> bool:
    """Whether a number will do for an adjoint: it is only added to whole arrays, written into them, or passed on."""

    def adds(stmt: Stmt) -> bool:
        whole = isinstance(stmt, Store) and stmt.value == Var(bar) and stmt.index == ELLIPSIS and not stmt.call
        return whole or passes(stmt, bar)

    return bar not in names_in(gradients) and all(adds(s) for s in walk(back) if bar in reads(s))


def _with_starts(whole: Function, needed: Iterable[str], given: Set[str]) -> Block:
    """The body of a forward half, in which all that is ``needed`` behind it has a value; it is ``given`` some."""
    settled = _settled(whole) | given
    loose = [n for n in needed if n not in settled]
    if not loose:
        return whole.body
    # What may have no value raises Python's own error where it is read.
    made_here = {n for s in walk(whole.body) for n in writes(s)}
    bare = {n for n in loose if not n.startswith("~") and (n in whole.unbound or n not in made_here)}
    starts = [unset_of(n) if n in bare else Const(0.0) for n in loose]
    return (Copy(tuple(loose), tuple(starts)), *whole.body)


def _saved(needed: Collection[str], others: Set[str]) -> tuple[Param, list[Stmt]]:
    """The parameter of a reverse half for what is saved, called as none of the ``others``, and what unpacks it."""
    called = "saved"
    while called in others:
        called += "_"
    if len(needed) == 1:
        (only,) = needed
        own = base(only)
        return Param(only, called if own.startswith("~") or own in others else own), []
    held = Param("saved.0", called)
    return held, [Unpack(tuple(needed), Var("saved.0"), None)] if needed else []


def _measured(whole: Function, needed: dict[str, None], made: Reversed, passed: Mapping[str, str]) -> list[Stmt]:
    """The statements that read shapes of arguments, to be run again; what they give is no longer ``needed``.

    An argument whose shadow is ``passed`` has the shape of that.
    """
    shadows: dict[str, Expr] = {name: Var(bar) for name, bar in passed.items()}
    params = {p.name for p in whole.params}
    numbers = {n for n in params if made.facts[n].kind == "scalar"}
    found: list[Stmt] = []
    for stmt in whole.body:
        if isinstance(stmt, (Assign, Unpack)) and _is_measure(stmt.value, params, numbers):
            found.append(stmt)
            numbers.update(writes(stmt))
    out: list[Stmt] = []
    for stmt in reversed(found):
        if any(name in needed for name in writes(stmt)):
            for name in writes(stmt):
                needed.pop(name, None)
            stmt = map_stmt(stmt, lambda e: rename(e, shadows), lambda b: b)
            out.append(stmt)
            needed.update(dict.fromkeys(reads(stmt)))
    return out[::-1]


def _is_measure(value: Expr, objects: set[str], numbers: set[str]) -> bool:
    """Whether an expression depends on the shapes of ``objects``, which no write changes, and on ``numbers`` alone."""
    if isinstance(value, Const):
        return True
    if isinstance(value, Var):
        return value.name in numbers
    if not isinstance(value, Call) or value.kwargs:
        return False
    if ops.measures(value.op):
        return all(isinstance(a, Var) and a.name in objects for a in value.args)
    arithmetic = value.op.kind == "operator" and value.op.name in ("+", "-", "*", "//")
    return (arithmetic or value.op.kind == "index") and all(_is_measure(a, objects, numbers) for a in value.args)


def display(items: tuple[Expr, ...]) -> Expr:
    """Several results as a tuple, one as it is, none as None."""
    return items[0] if len(items) == 1 else Build("tuple", items) if items else Const(None)


def _settled(function: Function) -> set[str]:
    """The names that surely have a value at the end of a function's body."""
    found = {p.name for p in function.params}
    for stmt in function.body:
        found.update(writes(stmt) if not isinstance(stmt, For) else ())
        if isinstance(stmt, If):
            # What both arms move may have no value either.
            arms = [{t for s in arm if isinstance(s, Copy) for t in s.targets} for arm in (stmt.then, stmt.orelse)]
            found |= (arms[0] & arms[1]) - function.unbound
    return found


def _free_in(block: tuple[Stmt, ...], result: Expr) -> dict[str, None]:
    own = {n for s in walk(block) for n in writes(s)}
    found = {n: None for s in walk(block) for n in reads(s) if n not in own}
    found.update({n: None for n in names_in(result) if n not in own})
    return found
