"""The last stages: the passes over a function whose adjoint is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace

import numpy as np

from s2sad.analysis.containers import unsafe
from s2sad.analysis.evaluate import evaluate
from s2sad.analysis.infer import Facts
from s2sad.analysis.versions import changes, versions
from s2sad.differentiate.builder import Builder
from s2sad.differentiate.known import Reversed, Tangential
from s2sad.differentiate.recording import Recorder
from s2sad.differentiate.remake import Remaker
from s2sad.errors import UnsupportedError, Violation
from s2sad.ir.check import checked
from s2sad.ir.needed import Liveness
from s2sad.ir.nodes import Assign, Build, Call, Const, Expr, Function, Op, Push, Stmt, Store, Var
from s2sad.ir.traverse import base, is_light, is_tangent, map_children, map_stmt, names_in, reads, rename, walk, writes
from s2sad.ir.types import OPEN, Fact, same_shape
from s2sad.ir.unset import set_first, without_needless_reads
from s2sad.optimise import (
    Memory,
    begin_with_contributions,
    collect,
    fold,
    handed_back,
    name_repeated,
    read_in_place,
    remove_dead,
    remove_trivial_joins,
    share,
    shorten_stores,
    sunk,
    sunk_in_loops,
    tidy_loops,
    with_indices,
    with_joint_masks,
    with_one_name,
    with_single_items,
    without_unread_zeros,
)
from s2sad.pipeline.analysed import Analysed
from s2sad.pipeline.entry import COPIES, COPY_REACHABLE, OWN
from s2sad.pipeline.kept_rows import with_kept_rows


def finished(
    a: Analysed, function: Function, made: Reversed, again: bool, split: bool = False
) -> tuple[Function, Memory]:
    """The passes after the adjoint is written: joins, dead code, tapes, temporaries; and what shares memory.

    The halves of what is ``split`` become two functions; what is made ``again`` is differentiated itself.
    """
    function = checked(remove_trivial_joins(checked(function, "reverse")), "joins")
    groups = a.effects.objects()
    kept = sorted(a.effects.written & a.effects.module)
    groups.update(_shadow_group(function, made.shadows))
    function = function if kept else read_in_place(function)
    function = remove_dead(function, groups, kept)
    fresh = Builder(function, Facts(made.facts, a.facts.globals)).fresh
    shared = [{made.shadow_of[n] for n in group if n in made.shadow_of} for group in a.effects.group.values()]
    function, handed = handed_back(
        function, made.shadow_of, made.facts, made.outward, shared, a.effects.reshapes, fresh
    )
    of = {**made.facts, **{name: made.facts[like] for name, like in handed.items()}}
    made = replace(made, facts=of, shadow_of={**made.shadow_of, **{name: name for name in handed}})
    function = sunk_in_loops(function, made.shadows, made.outward)
    facts = Facts(made.facts, a.facts.globals)
    maker = Builder(function, facts)

    steady_items = frozenset(_steady_items(function, made.shadows, facts))

    def rebuildable(name: str, value: Expr) -> bool:
        if name in steady_items:
            return True
        changing = a.effects.unsteady | a.effects.versions.keys()
        if name not in made.stable and set(names_in(value)) & changing:
            return False
        if isinstance(value, Call) and value.op.kind == "index" and isinstance(value.args[0], Var):
            kind = facts.get(value.args[0]).kind
            is_number = kind in ("list", "tuple", "dict") and facts.get(value).kind == "scalar"
            return is_number or (kind == "array" and _is_basic(facts, value.args[1]))
        if isinstance(value, Call) and value.op.kind == "attribute" and value.op.name in ("T", "shape", "ndim"):
            return isinstance(value.args[0], Var) and facts.get(value.args[0]).kind == "array"
        return isinstance(value, Const) or (is_light(value) and facts.get(value).kind == "scalar")

    assert function.reverse is not None
    there = {s.value.name for s in walk(function.body) if isinstance(s, Store) and isinstance(s.value, Var)}
    stored = {name: item for name, item in made.stored.items() if name in there}
    remaker = Remaker(lambda name: facts.get(Var(name)), a.effects, maker.fresh, made.shadows)
    unbound = a.lowered.unbound | made.unbound
    constant = {n for s in walk(a.function.body) for n in writes(s)} - a.activity.varied

    def is_number(name: str) -> bool:
        return facts.get(Var(name)).kind == "scalar"

    sorts = frozenset(constant), is_number
    recorder = Recorder(maker.fresh, rebuildable, stored, remaker, unbound, *sorts, again, split)
    body, back = recorder.record(function.body, function.reverse)
    function = checked(replace(function, body=body, reverse=back), "recording")
    groups.update(_shadow_group(function, made.shadows))
    function = remove_dead(function, groups, kept)
    memory = Memory(function, made.facts, a.facts.globals, shared)
    function = with_joint_masks(without_unread_zeros(function, memory), memory, maker.fresh)
    function = shorten_stores(collect(share(function, memory), memory, maker.fresh), memory)
    function = remove_dead(tidy_loops(checked(function, "collecting"), again), groups, kept)
    function = with_one_name(_on_copies(sunk(function, made.shadows, made.outward)), maker.fresh)
    function = begin_with_contributions(function, memory)
    function = with_single_items(function, memory) if again else function
    if stale := list(unsafe(function)):
        function = with_kept_rows(function, stale, made.shadows, facts, maker.fresh)
    for name, stmt in unsafe(function) if stale else ():
        what = f"{base(name).removesuffix('_bar')} is changed, and the derivative needs it as it was before"
        where = a.lowered.source.place(stmt.origin.line)
        raise UnsupportedError([Violation(where, what, "Take a copy before (x.copy()).")])
    function = without_needless_reads(_in_place(a, function, made.facts))
    return replace(function, unbound=unbound), memory


def _steady_items(function: Function, shadows: frozenset[str], facts: Facts) -> Iterator[str]:
    """The shadows of lists in lists, taken out where the outer list keeps its items as long as the reverse part needs.

    That is, where neither the statement of the function in which this is nor one after it changes such a list.
    """
    held = versions(function)
    changed: set[str] = set()
    for outer in reversed(function.body):
        changed.update(m for target, _ in changes((outer,)) for m in held.get(target, (target,)))
        for stmt in walk((outer,)):
            match stmt:
                case Assign(target=target, value=Call(op=Op(kind="index"), args=(Var(name=whole), _)) as item):
                    of_lists = facts.get(item).kind == facts.get(Var(whole)).kind == "list"
                    if of_lists and {target, whole} <= shadows and whole not in changed:
                        yield target


def finished_forward(a: Analysed, function: Function, made: Tangential, seen: Iterable[str]) -> Function:
    """The passes after the tangents are written: joins, dead code, temporaries; others have what is ``seen``."""
    function = checked(remove_trivial_joins(checked(replace(function, reverse=()), "forward")), "joins")
    named = (*(p.name for p in function.params), *(n for s in walk(function.body) for n in writes(s)))
    tangents = frozenset(filter(is_tangent, named))
    groups = {**a.effects.objects(), **dict.fromkeys(tangents, tangents)}
    kept = [*sorted(a.effects.written & a.effects.module), *seen]
    function = remove_dead(read_in_place(function) if not kept else function, groups, kept)
    function = with_indices(function, Memory(function, made.facts, a.facts.globals, [tangents]))
    function = _in_place(a, remove_dead(tidy_loops(function), groups, kept), made.facts)
    memory = Memory(function, made.facts, a.facts.globals, [tangents, *a.effects.group.values()])
    changing = a.effects.written | a.effects.altered | a.effects.versions.keys()
    function = remove_dead(name_repeated(function, memory, changing), groups, kept)
    function = fold(replace(function, reverse=None), memory, tangents=True)
    unbound = a.lowered.unbound
    function = without_needless_reads(function)
    return replace(function, body=set_first(function.body, set(made.asked), unbound), unbound=unbound)


def _in_place(a: Analysed, function: Function, made: Mapping[str, Fact]) -> Function:
    """Decide each augmented assignment: of a number, of an array that is not read later, of a copy, or to a new one."""
    needed = {n for stmt in walk(function.reverse or ()) for n in reads(stmt)} | set(names_in(function.result))
    # What is on a tape, or was given, is never written; another array only if nobody reads it as it was.
    kept = {n for stmt in walk(function.body) if isinstance(stmt, Push) for n in reads(stmt)}
    kept.update(p.name for p in function.params)
    count = Counter(names_in(function.result))
    for stmt in walk((*function.body, *(function.reverse or ()))):
        count.update(reads(stmt))
    after: dict[str, set[str]] = {}
    #: Names for new arrays, which no other name stands for before the first time that they are read.
    new: set[str] = set()

    def note(name: str, live: Set[str], stmt: Stmt) -> None:
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace":
            after.setdefault(name, set()).update(live)

    Liveness(note).block((*function.body, *(function.reverse or ())), set(names_in(function.result)))

    def in_stmt(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace":
            call = stmt.value
            left = call.args[0]
            fact = made.get(left.name, OPEN) if isinstance(left, Var) else a.facts.get(left)
            plain = Call(Op("operator", call.op.name, call.op.function), call.args, (), call.node)
            if fact.kind == "scalar":
                return replace(stmt, value=plain)
            if isinstance(left, Var) and left.name in new and count[left.name] == 1:
                new.add(stmt.target)
                return stmt
            group = a.effects.group.get(stmt.target, frozenset({stmt.target}))
            private = stmt.target in a.effects.private
            same = group | set(names_in(left))
            if private and (same & kept or same & needed & (after[stmt.target] - {stmt.target})):
                new.add(stmt.target)
                if _makes_alike(fact, evaluate(call.args[1], made, a.facts.globals)):
                    return replace(stmt, value=replace(plain, node=None))
                own = OWN if fact.numeric else COPY_REACHABLE
                return replace(stmt, value=Call(call.op, (Call(own, (left,)), call.args[1]), (), call.node))
            return stmt
        return map_stmt(stmt, lambda e: e, lambda b: tuple([in_stmt(s) for s in b]))

    return replace(function, body=tuple([in_stmt(s) for s in function.body]))


def _makes_alike(left: Fact, right: Fact) -> bool:
    """Whether an operator makes a new array of the shape, dtype and layout of an array that is its left operand."""
    alike = left.kind == "array" and left.ndim == 1 and left.precision == "double" and left.real
    fits = right.kind == "scalar" or (right.kind == "array" and same_shape(left, right))
    return alike and fits and right.real and not right.extended


def _shadow_group(function: Function, shadows: frozenset[str]) -> dict[str, frozenset[str]]:
    """All shadows, and the copies of their names that the reverse part has made, as one group."""
    stems = {base(s) for s in shadows}
    names = {n for s in walk((*function.body, *(function.reverse or ()))) for n in writes(s) if base(n) in stems}
    whole = frozenset(names | shadows)
    return dict.fromkeys(whole, whole)


def _is_basic(facts: Facts, index: Expr) -> bool:
    """Whether an index makes a view or an item, by literals and numbers alone."""
    parts = index.items if isinstance(index, Build) else (index,)
    for part in parts:
        if isinstance(part, (Const, Var)) and facts.get(part).kind == "scalar":
            continue
        if isinstance(part, Const) and (part.value is None or part.value is Ellipsis):
            continue
        if not isinstance(part, (Const, Var, Call, Build)) or (is_light(part) and facts.get(part).kind == "scalar"):
            continue
        return False
    return True


def _on_copies(function: Function) -> Function:
    """Let the reverse part make its zeros like the copy of an argument, where there is one."""
    params = {p.name for p in function.params}
    copies: dict[str, Expr] = {}
    for stmt in function.body:
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op in COPIES:
            source = stmt.value.args[0]
            if isinstance(source, Var) and source.name in params and base(source.name) == base(stmt.target):
                copies[source.name] = Var(stmt.target)

    def renamed(expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.op.function in (np.zeros_like, np.shape) and not expr.kwargs:
            return Call(expr.op, tuple([rename(a, copies) for a in expr.args]))
        return map_children(expr, renamed)

    def in_block(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple([map_stmt(s, renamed, in_block) for s in block])

    return replace(function, reverse=in_block(function.reverse or ())) if copies else function
