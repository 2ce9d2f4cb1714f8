"""What a ``try`` keeps for tangents that come after it, so that no handler sees what they raise.

try: y[i:] *= v                 try:
except E: ...                       t = y[i:].copy()
                                    y[i:] *= v
                                except E: ...
                                else: y_dot[i:] = y_dot[i:] * v + t * v_dot
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from s2sad.differentiate.builder import COPY
from s2sad.differentiate.tangent_state import State
from s2sad.ir.nodes import Assign, Build, Call, Expr, Op, Slice, Stmt, Var
from s2sad.ir.traverse import base, is_light, map_stmt, reads, rename, writes
from s2sad.ir.types import Fact
from s2sad.runtime import own

_OWN = Op("runtime", "own", own)


def kept(state: State, stmt: Stmt, late: Iterable[Stmt]) -> tuple[list[Stmt], list[Stmt]]:
    """Let tangents that come later read what a tried statement writes as it was before.

    Args:
        state: What is known of the function, with the tangent of ``stmt``.
        stmt: The statement, of which the tangent comes later as well.
        late: The tangents of what is tried before it.

    Returns:
        The statements that keep it, which come before ``stmt``, and the tangents, that of ``stmt`` among them, which
        read what these keep.
    """
    make, effects = state.make, state.effects
    late = list(late)
    tangents = {*state.dots.values(), *(n for s in (*late, *make.before) for n in writes(s))}
    out: list[Stmt] = []
    for made in make.before:
        if isinstance(made, Assign) and is_item(made) and tangents.isdisjoint(reads(made)):
            # The part that is written, and no more of the array.
            out.append(replace(made, value=_copy(made.value, make.of[made.target])))
        else:
            late.append(made)
    changed = {m for n in effects.written_by(stmt) for m in effects.group.get(n, (n,))}
    copies: dict[str, Expr] = {}
    for name in sorted({n for s in late for n in reads(s)} & changed):
        fact = make.of[name]
        if fact.kind == "scalar":
            continue
        if not fact.numeric:
            what = f"{base(name)} changes in what is tried here, and forward mode needs it as it was"
            state.refusals.refuse(make.origin.line, what, "Compute what is put into it before the try.")
        copy = make.fresh(base(name))
        make.of[copy] = fact
        out.append(Assign(copy, _copy(Var(name), fact), make.origin))
        copies[name] = Var(copy)
    late = [map_stmt(s, lambda e: rename(e, copies), lambda block: block) for s in late]
    return out, [*late, *make.after]


def _copy(value: Expr, fact: Fact) -> Expr:
    """A value as an object that nobody writes."""
    if fact.kind == "scalar":
        return value
    return Call(COPY if fact.kind == "array" else _OWN, (value,))


def is_item(stmt: Stmt) -> bool:
    """Whether a statement gives a name to an item, or a part, of something."""
    match stmt:
        case Assign(value=Call(op=Op(kind="index"), args=(Var(), index))):
            return is_light_index(index)
        case _:
            return False


def is_light_index(index: Expr) -> bool:
    """Whether an index takes no longer to evaluate than to read."""
    if isinstance(index, Slice):
        return all(part is None or is_light(part) for part in (index.lower, index.upper, index.step))
    if isinstance(index, Build):
        return all(map(is_light_index, index.items))
    return is_light(index)
