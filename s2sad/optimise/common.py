"""Compute once what the reverse part computes several times, and by the cheapest operation.

t_bar_2 = t_bar * r              t_bar_2 = t_bar * r
X_bar[i] += t_bar_2         ->   X_bar[i] += t_bar_2
t_bar_3 = t_bar * r              Y_bar[i] += t_bar_2
Y_bar[i] += t_bar_3

x_bar = z_bar / y                x_bar = z_bar / y
y_bar = -(z_bar * z / y)    ->   y_bar = -(x_bar * z)

y_bar = np.sum(z_bar * x)   ->   y_bar = z_bar @ x       (vectors)

A_bar[t:, j] with t = j + 1 ->   A_bar[j + 1:, j]
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from s2sad.analysis.sharing import keeps_items, sharing
from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Block, Build, Call, Const, Copy, Expr, Function, Slice, Stmt, Store, Var
from s2sad.ir.traverse import base, blocks, map_children, map_stmt, names_in, rename, subexpressions, walk, writes
from s2sad.optimise.finish import as_dot
from s2sad.optimise.memory import Memory

#: An expression with its literals as they are written (``2`` equals ``2.0``).
_Key = tuple[Expr, tuple[str, ...]]
#: The name that has the value of an expression, and all names that this rests on.
_Found = dict[_Key, tuple[str, set[str]]]


def share(function: Function, memory: Memory) -> Function:
    """Apply the rewrites above to the reverse part, block by block."""
    if function.reverse is None:
        return function
    merged: dict[str, Expr] = {}
    reverse = _shared(_written_out(function.reverse, memory, {}), memory, merged)
    return replace(function, reverse=reverse, result=rename(function.result, merged))


# --- indices


def with_indices(function: Function, memory: Memory) -> Function:
    """A function with sums of integers written where they are read as (parts of) an index."""
    return replace(function, body=_written_out(function.body, memory, {}))


def _written_out(block: Block, memory: Memory, known: dict[str, Expr]) -> Block:
    """Write sums of integers where they are read as (parts of) an index."""
    known = dict(known)
    out: list[Stmt] = []
    for stmt in block:
        changed = {n for s in walk((stmt,)) for n in writes(s)} if blocks(stmt) else set(writes(stmt))
        known = {n: e for n, e in known.items() if changed.isdisjoint(names_in(e))}
        names = known

        def in_expr(expr: Expr, names: dict[str, Expr] = names) -> Expr:
            expr = map_children(expr, in_expr)
            if isinstance(expr, Call) and expr.op.kind == "index":
                return replace(expr, args=(expr.args[0], _in_index(expr.args[1], names)))
            return expr

        if names:
            stmt = map_stmt(stmt, in_expr, partial(_written_out, memory=memory, known=names))
            if isinstance(stmt, Store):
                stmt = replace(stmt, index=_in_index(stmt.index, names))
        elif blocks(stmt):
            stmt = map_stmt(stmt, lambda e: e, lambda b: _written_out(b, memory, {}))
        if isinstance(stmt, Assign) and stmt.target.startswith("~t") and _is_sum(stmt.value, memory):
            known[stmt.target] = stmt.value
        out.append(stmt)
    return tuple(out)


def _is_sum(value: Expr, memory: Memory) -> bool:
    """Whether an expression is a name plus or minus an integer, and surely a number."""
    if not (isinstance(value, Call) and value.op.kind == "operator" and value.op.name in ("+", "-")):
        return False
    if len(value.args) != 2 or not isinstance(value.args[0], Var) or memory.fact(value).kind != "scalar":
        return False
    return isinstance(value.args[1], Const) and type(value.args[1].value) is int


def _in_index(index: Expr, names: dict[str, Expr]) -> Expr:
    """An index with ``names`` written out where they are parts of it, or bounds of a slice."""
    if isinstance(index, Var):
        return names.get(index.name, index)
    if isinstance(index, Slice) or (isinstance(index, Build) and index.kind == "tuple"):
        return map_children(index, lambda part: _in_index(part, names))
    return index


# --- common subexpressions


def _shared(block: Block, memory: Memory, merged: dict[str, Expr]) -> Block:
    found: _Found = {}
    passing: _Found = {}  # in names of arrays that are written later
    resting: dict[str, list[_Key]] = {}  # what rests on a name
    out: list[Stmt] = []

    def simpler(stmt: Stmt, known: _Found) -> Stmt:
        def in_expr(expr: Expr) -> Expr:
            return _simpler(map_children(expr, in_expr), known, memory)

        return map_stmt(stmt, in_expr, lambda b: _shared(b, memory, merged))

    for stmt in block:
        before = map_stmt(stmt, lambda e: rename(e, merged), lambda b: b)
        stmt = simpler(before, found)
        if stmt != before and _lends(stmt, memory):
            stmt = before
        if passing:
            with_passing = simpler(before, {**passing, **found}) if _only_reads(before, memory) else before
            if with_passing != before and _only_reads(with_passing, memory):
                stmt = with_passing
            written = memory.writes(stmt)
            passing = {key: of for key, of in passing.items() if memory.find(of[0]) not in written}
        changed = {n for s in walk((stmt,)) for n in writes(s)}
        for name in changed & resting.keys():
            for key in resting.pop(name):
                for known in (found, passing):
                    if key in known and name in known[key][1]:
                        del known[key]
        if isinstance(stmt, Assign) and _is_arithmetic(stmt.value, memory) and memory.is_fixed(stmt.target):
            name = stmt.target
            if isinstance(stmt.value, Var):
                # It was found in a name of ours.
                if name.startswith("~t") and memory.find(name) not in memory.returned:
                    merged[name] = stmt.value
                    continue
            elif (name.startswith("~t") or base(name).endswith("_bar")) and not _is_sum(stmt.value, memory):
                key = _key(stmt.value)
                if key not in found:
                    found[key] = name, {name, *names_in(stmt.value)}
                    for part in found[key][1]:
                        resting.setdefault(part, []).append(key)
        elif isinstance(stmt, Assign) and isinstance(stmt.value, Call) and _is_arithmetic(stmt.value, memory):
            key = _key(stmt.value)
            passing[key] = stmt.target, {stmt.target, *names_in(stmt.value)}
            for part in passing[key][1]:
                resting.setdefault(part, []).append(key)
        out.append(stmt)
    return tuple(out)


def _only_reads(stmt: Stmt, memory: Memory) -> bool:
    """Whether a statement reads elements of what it names at once, and nothing has any of these objects after it."""
    match stmt:
        case Assign(value=Call() as value):
            return sharing(value) == "fresh" and not keeps_items(value, memory.fact)
        case Store(base=held):
            return memory.fact(held).kind == "array"
    return False


def _lends(stmt: Stmt, memory: Memory) -> bool:
    """Whether what is written in place, or returned, may be an object that another name has as well."""
    match stmt:
        case Assign(target=target, value=value):
            moves = [(target, value)]
        case Copy(targets=targets, sources=sources):
            moves = list(zip(targets, sources, strict=True))
        case _:
            return False
    return any(
        not (isinstance(value, Call) and sharing(value) == "fresh")
        for target, value in moves
        if memory.fact(Var(target)).kind != "scalar"
        and (not memory.is_fixed(target) or memory.find(target) in memory.returned)
    )


def _key(expr: Expr) -> _Key:
    return expr, tuple([repr(e.value) for e in subexpressions(expr) if isinstance(e, Const)])


def _is_arithmetic(value: Expr, memory: Memory) -> bool:
    """Whether an expression is made by operators alone of what the reverse part does not write."""
    if not isinstance(value, (Call, Var)):
        return False
    for inner in subexpressions(value):
        if isinstance(inner, Call):
            if inner.op.kind != "operator":
                return False
        elif not isinstance(inner, Const) and not (isinstance(inner, Var) and memory.is_fixed(inner.name)):
            return False
    return True


def _simpler(expr: Expr, found: _Found, memory: Memory) -> Expr:
    """An expression whose parts are as simple as they get, from what is ``found`` in names."""
    if not isinstance(expr, Call):
        return expr
    known = found.get(_key(expr)) if found and expr.op.kind == "operator" else None
    if known is not None:
        return Var(known[0])
    if found and expr.op == algebra.DIVIDE and isinstance(expr.args[0], Call) and expr.args[0].op == algebra.MULTIPLY:
        (a, b), divisor = expr.args[0].args, expr.args[1]
        for one, other in ((a, b), (b, a)):
            quotient = found.get(_key(Call(algebra.DIVIDE, (one, divisor))))
            if quotient is not None:
                return Call(algebra.MULTIPLY, (Var(quotient[0]), other))
    return as_dot(expr, memory.fact)
