"""Collect the contributions to one part of a shadow, and put minus signs where they cost nothing.

row_bar = A_bar[k]               A_bar[k] += g
row_bar += g                ->

t_bar = A_bar.T                  A_bar += np.outer(y, x)
t_bar += np.outer(x, y)     ->

t_bar_2 = -t_bar / s                  t_bar_3 = t_bar / s
A_bar[:, k] += np.outer(t_bar_2, x)   ->   A_bar[:, k] -= np.outer(t_bar_3, x)

A_bar[i] += a                    A_bar[j] += c
A_bar[j] += c               ->   A_bar[i] += a + b
A_bar[i] += b

A_bar[i] -= 2.0 * a              A_bar[i] += b - 4.0 * a
A_bar[i] += b               ->
A_bar[i] -= 2.0 * a
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from s2sad import ops
from s2sad.analysis.sharing import sharing
from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Block, Call, Const, Expr, Function, Op, Origin, Stmt, Store, Var
from s2sad.ir.traverse import blocks, map_stmt, names_in, reads, walk, writes
from s2sad.optimise.memory import Memory, is_view
from s2sad.runtime import own

_WHOLE = Const(Ellipsis)
_COPY = Op("method", "copy", np.copy)
_OWN = Op("runtime", "own", own)


def collect(function: Function, memory: Memory, fresh: Callable[[str], str]) -> Function:
    """Apply the rewrites above to the reverse part, block by block; ``fresh`` makes a new version of a variable."""
    if function.reverse is None:
        return function
    # Shadows, and views of them, are made beside what they are the shadows of.
    made = {s.target: s.value for s in function.body if isinstance(s, Assign) and s.target.startswith("~t_bar")}
    views = {name: value for name, value in made.items() if isinstance(value, Call) and is_view(memory, value)}
    reverse = _direct(function.reverse, memory, views)
    uses = Counter(names_in(function.result))
    for stmt in walk((*function.body, *reverse)):
        uses.update(reads(stmt))
    return replace(function, reverse=_collected(_Signs(memory, uses, fresh).block(reverse), memory))


def _direct(block: Block, memory: Memory, known: dict[str, Call]) -> Block:
    """Write into an array itself rather than into a view of it that a name of ours stands for."""
    known = dict(known)
    out: list[Stmt] = []
    for stmt in block:
        changed = {n for s in walk((stmt,)) for n in writes(s)}
        known = {n: e for n, e in known.items() if changed.isdisjoint(names_in(e))}
        if blocks(stmt):
            stmt = map_stmt(stmt, lambda e: e, partial(_direct, memory=memory, known=known))
        elif isinstance(stmt, Store) and isinstance(stmt.base, Var) and stmt.index == _WHOLE and stmt.call is None:
            view = known.get(stmt.base.name)
            if view is not None and view.op.kind == "attribute" and isinstance(view.args[0], Var):
                turned = algebra.transposed_product(stmt.value) if _is_outer(stmt.value) else None
                if turned is not None:
                    stmt = replace(stmt, base=view.args[0], value=turned)
                    view = known.get(view.args[0].name)
            if view is not None and view.op.kind == "index":
                stmt = replace(stmt, base=view.args[0], index=view.args[1])
        elif isinstance(stmt, Assign) and stmt.target.startswith("~t") and isinstance(stmt.value, Call):
            if is_view(memory, stmt.value) or _is_transpose_of_matrix(stmt.value, memory):
                known[stmt.target] = stmt.value
        out.append(stmt)
    return tuple(out)


def _is_outer(value: Expr) -> bool:
    return isinstance(value, Call) and value.op.function is np.outer


def _is_transpose_of_matrix(value: Call, memory: Memory) -> bool:
    if value.op.kind != "attribute" or value.op.name != "T":
        return False
    whole = memory.fact(value.args[0])
    return whole.kind == "array" and whole.ndim == 2


# --- signs


class _Signs:
    """Moves minus signs from temporaries into the contributions that read them, where all are linear in them."""

    def __init__(self, memory: Memory, uses: Counter[str], fresh: Callable[[str], str]) -> None:
        self.memory = memory
        self.uses = uses
        self.fresh = fresh

    def block(self, block: Block) -> Block:
        """``block`` with the signs moved, and the blocks in it."""
        out = [map_stmt(s, lambda e: e, self.block) if blocks(s) else s for s in block]
        read_at: dict[str, list[int]] = {}
        for i, stmt in enumerate(out):
            for name in set(reads(stmt)):
                read_at.setdefault(name, []).append(i)
        for position, stmt in enumerate(out):
            if not (isinstance(stmt, Assign) and stmt.target.startswith("~t") and isinstance(stmt.value, Call)):
                continue
            if stmt.value.op != algebra.NEGATE:
                continue
            inner = stmt.value.args[0]
            plain = inner if isinstance(inner, Var) else None
            if plain is not None and not self.memory.is_fixed(plain.name):
                continue
            changed = self._without(out, position, plain, read_at)
            if changed is None:
                continue
            for i, other in changed.items():
                out[i] = other
            out[position] = self._with(changed[position], inner)
            if plain is not None:
                readers = read_at[stmt.target]
                self.uses[plain.name] += len(readers)
                read_at[plain.name] = sorted({*read_at[plain.name], *readers})
        return tuple(out)

    def _without(
        self, out: list[Stmt], position: int, inner: Expr | None, read_at: Mapping[str, list[int]]
    ) -> dict[int, Assign | Store] | None:
        """The statements that are others where the name that one assigns has the other sign; None if more would be.

        What has the other sign is the adjoint of nothing, and so has another name; its readers read ``inner`` if given.
        """
        stmt = out[position]
        assert isinstance(stmt, Assign)
        name = stmt.target
        readers = [i for i in read_at.get(name, ()) if i > position]
        if not readers or self.uses[name] != len(readers):
            return None
        renamed = stmt if inner is not None else replace(stmt, target=self._other(name))
        other: Expr = Var(renamed.target) if inner is None else inner
        changed: dict[int, Assign | Store] = {position: renamed}
        for i in readers:
            reader = out[i]
            if not isinstance(reader, (Assign, Store)):
                return None
            value = _negated(reader.value, name, other)
            if value is None:
                return None
            if isinstance(reader, Store):
                if reader.op != "+" or reader.call is not None:
                    return None
                changed[i] = replace(reader, value=algebra.negate(value))
                continue
            if not self._is_own(reader):
                return None
            turned = algebra.negate(value)
            if not (isinstance(turned, Call) and turned.op == algebra.NEGATE):
                changed[i] = self._with(reader, turned)
                continue
            further = self._without(out, i, None, read_at)
            if further is None:
                return None
            changed.update(further)
            changed[i] = replace(further[i], value=value)
        return changed

    def _is_own(self, stmt: Assign) -> bool:
        """Whether a temporary is a new object that nothing writes."""
        value = stmt.value
        fresh = self.memory.fact(value).kind == "scalar" or (isinstance(value, Call) and sharing(value) == "fresh")
        return stmt.target.startswith("~t") and fresh and self.memory.is_fixed(stmt.target)

    def _other(self, name: str) -> str:
        other = self.fresh("~t_bar")
        self.memory.of[other] = self.memory.fact(Var(name))
        self.memory.join(other, name)
        return other

    def _with(self, stmt: Assign | Store, value: Expr) -> Assign | Store:
        """A statement with the value that it has without a sign, which may be an object that has a name."""
        if isinstance(stmt, Assign) and isinstance(value, Var):
            self.memory.join(stmt.target, value.name)
        return replace(stmt, value=self._apart(value))

    def _apart(self, expr: Expr) -> Expr:
        """What was an array of its own for its sign, and may share memory without it, as an array of its own."""
        kind = self.memory.fact(expr).kind
        if isinstance(expr, Var) or kind == "scalar" or (isinstance(expr, Call) and sharing(expr) == "fresh"):
            return expr
        return Call(_COPY if kind == "array" else _OWN, (expr,))


def _negated(expr: Expr, name: str, new: Expr) -> Expr | None:
    """``expr`` with ``new`` for ``name``, of which it is a linear function; None where that is not plain."""
    if expr == Var(name):
        return new
    if not isinstance(expr, Call) or expr.kwargs:
        return None
    holding = [i for i, a in enumerate(expr.args) if name in names_in(a)]
    if len(holding) != 1:
        return None
    (i,) = holding
    spec = ops.spec_of(expr.op.function)
    linear = 0 if spec is None else spec.odd
    if expr.op.kind == "operator":
        linear = {"*": 2, "@": 2, "/": 1}.get(expr.op.name, 0)
        linear = 1 if expr.op == algebra.NEGATE else linear
    elif expr.op.kind == "attribute":
        linear = int(expr.op.name == "T")
    if i >= linear:
        return None
    inner = _negated(expr.args[i], name, new)
    return None if inner is None else replace(expr, args=(*expr.args[:i], inner, *expr.args[i + 1 :]))


# --- sums


def _collected(block: Block, memory: Memory) -> Block:
    out: list[Stmt | None] = []
    #: Where each part of an array is added to last, and where each object is read or written last by what adds nothing.
    added: dict[tuple[Expr, Expr, Origin], int] = {}
    touched: dict[str, int] = {}
    for stmt in block:
        if blocks(stmt):
            stmt = map_stmt(stmt, lambda e: e, lambda b: _collected(b, memory))
        adds = isinstance(stmt, Store) and _adds(stmt, memory)
        if adds:
            assert isinstance(stmt, Store)
            assert isinstance(stmt.base, Var)
            position = added.get((stmt.base, stmt.index, stmt.origin), -1)
            before = out[position] if position > touched.get(memory.find(stmt.base.name), -1) else None
            if isinstance(before, Store):
                between = [s for s in out[position + 1 :] if s is not None]
                stays = _stays((before.value, before.index), between, memory)
                merged = _sum(before.value, stmt.value, stmt.index != _WHOLE) if stays else None
                if merged is not None:
                    out[position] = None
                    stmt = replace(stmt, value=merged)
                    adds = _adds(stmt, memory)
        if isinstance(stmt, Store) and adds:
            added[stmt.base, stmt.index, stmt.origin] = len(out)
        else:
            touched.update(dict.fromkeys(memory.touches(stmt), len(out)))
        out.append(stmt)
    return tuple([stmt for stmt in out if stmt is not None])


def _adds(stmt: Store, memory: Memory) -> bool:
    """Whether a store adds numbers to a part of an array that it does not read otherwise."""
    if stmt.op != "+" or stmt.call is not None or not isinstance(stmt.base, Var):
        return False
    if memory.fact(stmt.base).kind != "array" or memory.fact(stmt.value).kind not in ("scalar", "array"):
        return False
    read = {memory.find(n) for n in (*names_in(stmt.value), *names_in(stmt.index))}
    return memory.find(stmt.base.name) not in read


def _stays(read: tuple[Expr, ...], between: list[Stmt], memory: Memory) -> bool:
    """Whether statements leave what expressions read as it is."""
    names = {n for e in read for n in names_in(e)}
    held = {memory.find(n) for n in names}
    for stmt in between:
        if not held.isdisjoint(memory.writes(stmt)):
            return False
        if blocks(stmt) and not names.isdisjoint(n for s in walk((stmt,)) for n in writes(s)):
            return False
    return True


def _sum(a: Expr, b: Expr, always: bool) -> Expr | None:
    """``a + b`` with multiples of one expression added up; None where that is no shorter."""
    factors: dict[Expr, float] = {}
    parts = [*_terms(a, 1), *_terms(b, 1)]
    for factor, core in parts:
        factors[core] = factors.get(core, 0) + factor
    if not always and len(factors) == len(parts):
        return None
    if 0 in factors.values():
        # The difference of two infinite numbers is none.
        return None
    sign = -1 if all(factor < 0 for factor in factors.values()) else 1
    total: Expr | None = None
    for core, factor in sorted(factors.items(), key=lambda item: item[1] < 0):
        term = _scaled(core, sign * factor)
        total = term if total is None else algebra.add(total, term)
    return total if sign == 1 or total is None else algebra.negate(total)


def _terms(expr: Expr, factor: float) -> list[tuple[float, Expr]]:
    if isinstance(expr, Call) and expr.op in (algebra.ADD, algebra.SUBTRACT):
        second = -factor if expr.op == algebra.SUBTRACT else factor
        return [*_terms(expr.args[0], factor), *_terms(expr.args[1], second)]
    if isinstance(expr, Call) and expr.op == algebra.NEGATE:
        return _terms(expr.args[0], -factor)
    number, core = _split(expr)
    return [(factor * number, core)]


def _split(expr: Expr) -> tuple[float, Expr]:
    """The number in front of a product or quotient, and the rest."""
    if isinstance(expr, Call) and expr.op in (algebra.MULTIPLY, algebra.DIVIDE, algebra.QUOTIENT):
        first, second = expr.args
        if expr.op == algebra.MULTIPLY and isinstance(first, Const) and type(first.value) in (int, float):
            number, core = _split(second)
            return first.value * number, core
        number, core = _split(first)
        if number != 1:
            return number, Call(expr.op, (core, second))
    elif isinstance(expr, Call) and expr.op == algebra.NEGATE:
        number, core = _split(expr.args[0])
        return -number, core
    return 1, expr


def _scaled(core: Expr, factor: float) -> Expr:
    """A multiple, with its number in front."""
    if factor == 1:
        return core
    if factor == -1:
        return algebra.negate(core)
    if isinstance(core, Call) and core.op in (algebra.MULTIPLY, algebra.DIVIDE, algebra.QUOTIENT):
        return Call(core.op, (_scaled(core.args[0], factor), core.args[1]))
    return algebra.multiply(Const(factor), core)
