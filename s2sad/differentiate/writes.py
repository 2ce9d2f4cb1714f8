"""The adjoints of statements that make, view or write arrays whose adjoints are shadows."""

from __future__ import annotations

import numpy as np

from s2sad import rules
from s2sad.analysis.activity import passes
from s2sad.differentiate.buffers import ELLIPSIS
from s2sad.differentiate.builder import COPY, INDEX, as_value
from s2sad.differentiate.calls import Calls
from s2sad.frontend import methods
from s2sad.ir import algebra
from s2sad.ir.nodes import (
    Assign,
    Call,
    Const,
    Evaluate,
    Expr,
    Op,
    Stmt,
    Store,
    Var,
)
from s2sad.ir.traverse import names_in, reads
from s2sad.runtime import add_at, own

_ADD_AT = Op("runtime", "add_at", add_at, pure=False)
_OWN = Op("runtime", "own", own)
_FUNCTIONS = dict(methods.BINARY.values())


class Writes(Calls):
    """The part of reverse mode that knows the adjoint of every write into an array."""

    def buffer_assign(self, stmt: Assign, target: str, value: Expr) -> Stmt:
        """The adjoint of a statement that makes, views or names a buffer."""
        made = target in self.shadows
        if self.of[target].kind != "array":
            self.refuse_buffer(getattr(value, "node", None) or stmt.origin.line)
            return stmt
        match value:
            case Var() if self.is_buffer(value):
                if made:
                    self.define(target, self.shadow(value.name))
            case Call(op=op) if op.kind == "inplace":
                self.augmented(value, target)
            case Call(op=op, args=(Var() as whole, index)) if op.kind == "index" and self.is_buffer(whole):
                view = self.viewed(value)
                if view is not None and made:
                    self.define(target, view)
                elif view is None and not self.is_copy_index(index):
                    self.refuse_buffer(value.node)
                elif view is None and made:
                    self.define(target, self.made_zero(target, value))
                    self.index(whole, index, self.shadow(target))
            case Call(args=(first, *_)) if self.is_buffer(first) and sharing(value) != "fresh":
                view = self.viewed(value)
                if view is None:
                    self.refuse_buffer(value.node)
                elif made:
                    self.define(target, view)
            case Call(op=op):
                if not made:
                    return stmt
                self.define(target, self.made_zero(target, value))
                bar = self.shadow(target)
                if passes(value) and any(self.is_active(a) for a in value.args):
                    if op.function is own or op.function is np.copy:
                        self.owned.add(bar.name)
                        self.contribute(value.args[0], bar, moved=True)
                    else:
                        self.ruled(value, Var(target), bar)
            case _:
                self.refuse_buffer(stmt.origin.line)
        return stmt

    def augmented(self, value: Call, target: str) -> None:
        """The adjoint of ``a op= e`` for an array."""
        left, right = value.args
        if not self.is_buffer(left) or self.of[target].kind != "array":
            self.refuse_buffer(value.node)
            return
        assert isinstance(left, Var)
        bar = self.shadow(left.name)
        if target in self.shadows:
            self.define(target, bar)
        if value.op.name in ("+", "-"):
            g = self.unbroadcast(bar, right) if self.is_active(right) else None
            if g is not None:
                self.contribute(right, algebra.negate(g) if value.op.name == "-" else self.apart(g))
            return
        g = self.let(self.fresh("~t_bar"), Call(COPY, (bar,)), self.of[bar.name])
        self.emit(Store(bar, ELLIPSIS, Const(0.0), None, self.origin))
        self.ruled(value, Var(target), g)

    def apart(self, g: Expr) -> Expr:
        """``g`` as a value: a shadow goes on changing."""
        return Call(COPY, (g,)) if isinstance(g, Var) and g.name in self.shadows.values() else g

    def store(self, stmt: Store) -> None:
        """The adjoint of ``base[index] = value`` and ``base[index] op= value``."""
        base_ = stmt.base
        if not self.is_active(base_):
            if self.is_active(stmt.value):
                self.refuse_buffer(stmt.origin.line)
            return
        if not self.is_buffer(base_) or self.fact(base_).kind not in ("array", "numeric"):
            self.refuse_buffer(stmt.origin.line)
            return
        assert isinstance(base_, Var)
        bar = self.shadow(base_.name)
        index = self.kept(stmt.index)
        if stmt.op in ("+", "-") and self.is_view_index(index) and self.fact(base_).kind == "array":
            if self.is_active(stmt.value):
                item = Call(INDEX, (bar, index))
                known = self.fact(item)
                scalar = known.kind == "scalar"
                g: Expr = self.let(self.fresh("~t_bar"), item if scalar else Call(COPY, (item,)))
                g = self.unbroadcast(g, stmt.value)
                self.contribute(stmt.value, algebra.negate(g) if stmt.op == "-" else g)
            return
        g = self.taken(stmt, bar, index)
        if stmt.op is None:
            if self.is_active(stmt.value):
                self.contribute(stmt.value, self.unbroadcast(g, stmt.value), moved=True)
            return
        self.store_operation(stmt, bar, index, g)

    def store_operation(self, stmt: Store, bar: Var, index: Expr, g: Expr) -> None:
        """The adjoint of ``base[index] op= value``: of the operation on the old elements."""
        old, new = self.fresh("~t"), self.fresh("~t")
        item = Call(INDEX, (stmt.base, stmt.index))
        self.of[old] = self.of[new] = self.named(self.fact(item), old)
        symbol = stmt.op
        assert symbol is not None
        call = Call(Op("operator", symbol, _FUNCTIONS[symbol]), (Var(old), stmt.value))
        start = len(self.out)
        self.active = self.active | {old}
        self.ruled(call, Var(new), g)
        read = {n for s in self.out[start:] for n in reads(s)} | set(names_in(self.adj.get(old, Const(0))))
        copied = Call(_OWN, (item,))
        if old in read:
            self.before.append(Assign(old, copied, stmt.origin))
        if new in read:
            self.after.append(Assign(new, copied, stmt.origin))
        bar_old = self.adj.pop(old, None)
        if bar_old is not None:
            if self.is_basic(index):
                self.emit(Store(bar, index, bar_old, "+", stmt.origin))
            else:
                self.emit(Evaluate(Call(_ADD_AT, (bar, as_value(index), bar_old)), stmt.origin))


def sharing(value: Call) -> str:
    """Whether the result of an operation is a fresh array, a view of its first operand, or maybe one."""
    if value.op.kind in ("operator", "compare") or isinstance(value.op.function, np.ufunc):
        return "fresh"
    if value.op.kind == "method" and value.op.name in ("copy", "flatten"):
        return "fresh"
    if value.op.kind == "attribute":
        return "view"
    rule = rules.find(value.op.function)
    return rule.sharing if rule is not None else "maybe"
