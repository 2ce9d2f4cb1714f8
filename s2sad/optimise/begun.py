"""Let the first contribution to an array of zeros take the place of the zeros.

x_bar = np.zeros_like(x)         x_bar = np.zeros_like(x)
x_bar[:-1] += a            ->    x_bar[:-1] = a
x_bar[1:] += b                   x_bar[1:] += b

x_bar = np.zeros_like(x)    ->   x_bar = g.copy()
x_bar += g

x_bar = np.zeros_like(x)    ->   x_bar = np.ones_like(x)
x_bar += 1.0

g = np.zeros_like(y)             x_bar = np.zeros_like(y)
g[0] += a                   ->   x_bar[0] = a
x_bar = g.copy()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from s2sad.analysis.sharing import sharing
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Expr, Function, Op, Slice, Stmt, Store, Var
from s2sad.ir.traverse import blocks, map_stmt, names_in, reads, walk, with_names, writes
from s2sad.ir.types import Fact, same_dtype, same_shape
from s2sad.optimise.memory import Memory

_COPY = Op("method", "copy", np.copy)
_FULL = Op("runtime", "np.full", np.full)
_FULL_LIKE = Op("runtime", "np.full_like", np.full_like)
_ONES = Op("runtime", "np.ones", np.ones)
_ONES_LIKE = Op("runtime", "np.ones_like", np.ones_like)


def begin_with_contributions(function: Function, memory: Memory, loose: Set[str] = frozenset()) -> Function:
    """Apply the rewrite above to the reverse part of ``function``, block by block.

    The parameters that are ``loose`` may be given as what broadcasts to the arrays that their types say they are.
    """
    if function.reverse is None:
        return function
    whole = (*function.body, *function.reverse)
    made = Counter(n for s in walk(whole) for n in writes(s))
    read = Counter(names_in(function.result))
    for stmt in walk(whole):
        read.update(reads(stmt))
    known = {p.name for p in function.params if p.name not in loose} | made.keys()
    uses = {n: read[n] for n in made if made[n] == 1}
    return replace(function, reverse=_begun(function.reverse, memory, known, uses))


def _begun(block: Block, memory: Memory, known: Set[str], uses: Mapping[str, int]) -> Block:
    """A block with the rewrite; ``uses`` says how often names are read that are made once."""
    out = [map_stmt(s, lambda e: e, lambda b: _begun(b, memory, known, uses)) if blocks(s) else s for s in block]
    begun = [position for position, stmt in enumerate(out) if isinstance(stmt, Assign) and _is_zeros(stmt.value)]
    copies = [(position, *copied) for position, stmt in enumerate(out) if (copied := _copied(stmt)) is not None]
    if not begun and not copies:
        return tuple(out)
    first: dict[str, list[int]] = {}
    for position, stmt in enumerate(out):
        for name in {name for inner in walk((stmt,)) for name in (*reads(inner), *writes(inner))}:
            first.setdefault(name, []).append(position)
    own = {s.target: s.value for s in out if isinstance(s, Assign) and uses.get(s.target) == 1}
    done: set[int] = set()
    renamed: dict[str, str] = {}

    def goes_on(value: Expr, name: str, place: int) -> bool:
        before = _goes_on(value, name, out[: place + 1], memory, uses)
        if before is not None:
            renamed.update({old: name for old, new in renamed.items() if new == before} | {before: name})
        return before is not None

    done.update(place for place, name, value in copies if goes_on(value, name, place))
    for position in begun:
        (name,) = writes(out[position])
        # Nothing shares a new array before its name is read.
        place = next((i for i in first[name] if i > position), None)
        added = None if place is None else out[place]
        if place is None or not isinstance(added, Store) or added.base != Var(name) or added.op != "+" or added.call:
            continue
        whole = _whole(out[position], added, memory, own) if known >= set(names_in(added.value)) else None
        if whole is not None and goes_on(added.value, name, place):
            done |= {position, place}
        elif whole is not None:
            out[place] = Assign(name, whole, added.origin)
            done.add(position)
        elif _takes_place(added, memory):
            out[place] = replace(added, op=None)
    kept = tuple([stmt for position, stmt in enumerate(out) if position not in done])
    return with_names(kept, renamed) if renamed else kept


def _goes_on(value: Expr, name: str, before: Sequence[Stmt], memory: Memory, uses: Mapping[str, int]) -> str | None:
    """The name of a value, if that is a new array that nobody reads after these statements, so that it may be ``name``.

    The last of the statements adds it to zeros, or copies it.
    """
    if not isinstance(value, Var) or memory.fact(value).kind != "array" or memory.is_shared(value.name):
        return None
    if not {value.name, name} <= uses.keys():
        return None
    made = next((s.value for s in before if isinstance(s, Assign) and s.target == value.name), None)
    if not isinstance(made, Call) or sharing(made, memory.fact) != "fresh":
        return None
    inside = sum(reads(s).count(value.name) for s in walk(before))
    return value.name if inside == uses[value.name] else None


def _copied(stmt: Stmt) -> tuple[str, Expr] | None:
    """The name and the value of a copy."""
    match stmt:
        case Assign(target=target, value=Call(op=Op(function=function), args=(Var() as value,))) if function is np.copy:
            return target, value
    return None


def _is_zeros(value: Expr) -> bool:
    return isinstance(value, Call) and any(value.op.function is zeros for zeros in (np.zeros, np.zeros_like))


def _whole(begun: Stmt, added: Store, memory: Memory, own: Mapping[str, Expr]) -> Expr | None:
    """The array that zeros and what is added to all of them are, if that surely is of their shape and dtype.

    In ``own`` are the values of names that nobody else reads.

    The adjoint of a result, which a caller gives, may be what broadcasts to that.
    """
    assert isinstance(begun, Assign)
    zeros, base, value = begun.value, memory.fact(added.base), memory.fact(added.value)
    if added.index != Const(Ellipsis) or base.kind != "array" or base.precision != "double":
        return None
    if value.kind == "scalar":
        return _full(zeros, added.value, value) if isinstance(zeros, Call) and base.real else None
    if value.kind != "array" or not same_dtype(base, value) or not same_shape(base, value):
        return None
    if set(names_in(added.base)) & set(names_in(added.value)):
        return None
    made = own.get(added.value.name) if isinstance(added.value, Var) else added.value
    fresh = isinstance(made, Call) and sharing(made, memory.fact) == "fresh"
    return added.value if fresh else Call(_COPY, (added.value,))


def _full(zeros: Call, value: Expr, fact: Fact) -> Expr | None:
    """An array that has a number everywhere, in place of zeros."""
    if zeros.kwargs or len(zeros.args) != 1 or not fact.real or fact.boolean:
        return None
    like = zeros.op.function is np.zeros_like
    if value == Const(1.0):
        return Call(_ONES_LIKE if like else _ONES, zeros.args)
    if like:
        return Call(_FULL_LIKE, (*zeros.args, value))
    # The dtype of a new array is that of a number without one.
    return Call(_FULL, (*zeros.args, value)) if isinstance(value, Const) and type(value.value) is float else None


def _takes_place(stmt: Store, memory: Memory) -> bool:
    """Whether a store adds to a part of an array, and may write there what it adds to zeros."""
    base, value = memory.fact(stmt.base), memory.fact(stmt.value)
    is_negative = isinstance(stmt.value, Call) and stmt.value.op.kind == "operator" and len(stmt.value.args) == 1
    if is_negative and value.kind != "scalar":
        # It is subtracted, without another array for what has the other sign.
        return False
    same = base.kind == "array" and value.numeric and (value.real or not base.real)
    return same and _is_part(stmt.index, memory)


def _is_part(index: Expr, memory: Memory) -> bool:
    """Whether an index picks each element of a part once: there are no arrays in it, and no truth values."""
    if isinstance(index, Build):
        return all(_is_part(item, memory) for item in index.items)
    if isinstance(index, Slice):
        return True
    fact = memory.fact(index)
    return fact.kind == "scalar" and not fact.boolean and index != Const(None)
