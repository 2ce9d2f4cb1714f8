"""Adjoints of arrays that are written in place.

An array that some statement writes, and every name that may share memory with it, is a *buffer*.  Its
adjoint is a *shadow*: an array of zeros that is made where the array is made, aliased where it is aliased
and viewed where it is viewed, so that names that share memory have adjoints that share memory.  (The split of adjoints
into values and buffers is Mooncake.jl's, of rdata and fdata.)

    A = x.copy()        A_bar = np.zeros_like(x)
    row = A[i]          row_bar = A_bar[i]
    A[j] = e            t_bar = A_bar[j].copy()
                        A_bar[j] = 0.0
                        e_bar += t_bar

Shadows are made in the forward part; those that only the reverse part uses sink into it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from s2sad import rules
from s2sad.differentiate.builder import COPY, INDEX, ZEROS_LIKE, Builder
from s2sad.differentiate.known import Known
from s2sad.ir.nodes import UNSET, Assign, Build, Call, Const, Copy, Expr, Op, Slice, Stmt, Store, Var
from s2sad.runtime import own, shadow, take_out

_SHADOW = Op("runtime", "shadow", shadow)
_TAKE_OUT = Op("runtime", "take_out", take_out, pure=False)
_ZEROS = Op("runtime", "np.zeros", np.zeros)
_CREATORS = (np.zeros, np.ones, np.empty, np.full)
ELLIPSIS = Const(...)


class Buffers(Builder):
    """The part of reverse mode that keeps the shadows of buffers."""

    def __init__(self, known: Known) -> None:
        super().__init__(known.function, known.facts)
        self.effects = known.effects
        self.mutable = known.effects.written | known.effects.exposed
        self.active = known.activity.active
        self.after: list[Stmt] = []
        self.shadows: dict[str, str] = {}

    def is_buffer(self, expr: Expr) -> bool:
        """Whether an operand is a name whose adjoint is a shadow."""
        if not isinstance(expr, Var):
            return False
        name = expr.name
        if name.startswith("~t.") and self.of[name].kind != "array":
            # An item that is read and used at once, be it a number or a row: a value.
            return False
        written = name in self.effects.written and name not in self.effects.private
        return written and name in self.active and self.of[name].kind != "scalar"

    def shadow(self, name: str) -> Var:
        """The shadow of a buffer, which its definition will make."""
        if name not in self.shadows:
            self.shadows[name] = new = self.bar(name)
            fact = self.of[name]
            self.of[new] = fact if fact.numeric else self.named(fact, new)
        return Var(self.shadows[name])

    def define(self, name: str, value: Expr) -> None:
        """Make the shadow of ``name`` right after the statement that makes ``name``."""
        self.after.append(Assign(self.shadows[name], value, self.origin))

    def made_zero(self, target: str, value: Expr) -> Expr:
        """The shadow of an array that has just been made."""
        if isinstance(value, Call) and value.op.function in _CREATORS and value.args:
            if not any(k == "dtype" for k, _ in value.kwargs) and len(value.args) <= (
                2 if value.op.function is np.full else 1
            ):
                return Call(_ZEROS, value.args[:1])
        if isinstance(value, Call) and value.op.function in (own, np.copy) and isinstance(value.args[0], Var):
            source = value.args[0]
            if self.is_buffer(source):
                return Call(ZEROS_LIKE, (self.shadow(source.name),))
            if source.name in {p.name for p in self.function.params} and self.of[source.name].kind == "array":
                return Call(ZEROS_LIKE, (source,)) if source.name in self.active else Call(_SHADOW, (source,))
        return Call(_SHADOW, (Var(target),))

    def viewed(self, value: Call) -> Expr | None:
        """The shadow of a view, as the same view of a shadow; None for what is not surely a view."""
        first, *rest = value.args
        if not self.is_buffer(first):
            return None
        assert isinstance(first, Var)
        of_shadow = (self.shadow(first.name), *rest)
        if value.op.kind == "index":
            return Call(INDEX, of_shadow) if self.is_view_index(rest[0]) else None
        if value.op.kind == "attribute" and value.op.name in ("T", "mT"):
            return replace(value, args=of_shadow)
        rule = rules.find(value.op.function)
        if rule is not None and rule.sharing == "view" and value.op.kind in ("function", "method"):
            op = replace(value.op, kind="method") if value.op.kind == "method" else _runtime(value.op)
            return Call(op, of_shadow, value.kwargs)
        return None

    def is_view_index(self, index: Expr) -> bool:
        """Whether indexing an array of several dimensions so surely gives a view."""
        parts = index.items if isinstance(index, Build) else (index,)
        return all(
            isinstance(p, Slice)
            or (isinstance(p, Const) and not isinstance(p.value, bool))
            or (self.fact(p).kind == "scalar" and not _boolean(p))
            for p in parts
        )

    def is_copy_index(self, index: Expr) -> bool:
        """Whether indexing an array so surely gives a copy."""
        parts = index.items if isinstance(index, Build) else (index,)
        return any(self.fact(p).kind == "array" and (self.fact(p).ndim or 0) > 0 for p in parts) or any(
            isinstance(p, Build) and p.kind == "list" for p in parts
        )

    def moved_shadows(self, stmt: Copy) -> Copy:
        """A move of buffers with the moves of their shadows."""
        targets, sources = list(stmt.targets), list(stmt.sources)
        for target, source in zip(stmt.targets, stmt.sources, strict=True):
            if not self.is_buffer(Var(target)):
                continue
            if self.of[target].kind != "array":
                self.refuse_buffer(stmt.origin.line)
                continue
            if source == UNSET:
                sources.append(UNSET)
            elif self.is_buffer(source):
                assert isinstance(source, Var)
                sources.append(self.shadow(source.name))
            else:
                self.refuse_buffer(stmt.origin.line)
                continue
            targets.append(self.shadow(target).name)
        return replace(stmt, targets=tuple(targets), sources=tuple(sources))

    def refuse_buffer(self, node: Any) -> None:
        """Note a use of an array that is written in place for which there is no adjoint."""
        raise NotImplementedError

    def taken(self, stmt: Store, bar: Var, index: Expr) -> Expr:
        """What ``base[index] = value`` takes out of the shadow: its part, which becomes zero."""
        if self.fact(stmt.base).kind == "array" and self.is_view_index(index):
            item = Call(INDEX, (bar, index))
            scalar = self.fact(item).kind == "scalar"
            name = self.fresh("~t_bar")
            g = self.let(name, item if scalar else Call(COPY, (item,)))
            self.emit(Store(bar, index, Const(0.0), None, stmt.origin))
            return g
        return self.let(self.fresh("~t_bar"), Call(_TAKE_OUT, (bar, index)))


def _boolean(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.op.kind in ("compare", "bool")


def _runtime(op: Op) -> Op:
    """An operation as the reverse part may call it: by NumPy's own name."""
    return op
