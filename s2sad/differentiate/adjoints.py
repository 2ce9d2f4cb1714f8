"""The adjoints of names: contributions to them, who owns them, and copies of what is written before it is read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from s2sad import ops
from s2sad.analysis.activity import carriers
from s2sad.analysis.summaries import MODULE, written_unseen
from s2sad.differentiate.buffers import CONTAINERS, ELLIPSIS, Buffers
from s2sad.differentiate.builder import ADD, COPY, INDEX
from s2sad.differentiate.known import Known
from s2sad.errors import Violation
from s2sad.ir import algebra
from s2sad.ir.nodes import (
    Assign,
    Build,
    Call,
    Const,
    Effect,
    Evaluate,
    Expr,
    For,
    Op,
    Opaque,
    Stmt,
    Store,
    Var,
    While,
)
from s2sad.ir.traverse import base, expressions, loop_heads, map_children, names_in, reads, subexpressions, walk, writes
from s2sad.ir.types import Fact
from s2sad.runtime import add_into, fresh, in_dtype, own, real_like, stop_gradient

#: Before or after a statement, or at the beginning of each iteration of a loop.
When = Literal["before", "after", "inside"]
_ADD_IN_PLACE = Op("inplace", "+", np.add)
_SUBTRACT_IN_PLACE = Op("inplace", "-", np.subtract)
_OWN = Op("runtime", "own", own)
_REAL = Op("runtime", "np.real", np.real)
_REAL_LIKE = Op("runtime", "real_like", real_like)
_ADD_INTO = Op("runtime", "add_into", add_into, pure=False)
_AS_TYPE = Op("method", "astype", np.ndarray.astype)
_DTYPE = Op("attribute", "dtype")
_IN_DTYPE = Op("runtime", "in_dtype", in_dtype)
_FRESH = Op("runtime", "fresh", fresh)
_ONES_LIKE = Op("runtime", "np.ones_like", np.ones_like)
_FULL_LIKE = Op("runtime", "np.full_like", np.full_like)


class Adjoints(Buffers):
    """The part of reverse mode that keeps the adjoint of every name."""

    def __init__(self, known: Known) -> None:
        super().__init__(known)
        self.place = known.place
        self.unbound = known.unbound
        self.violations: list[Violation] = []
        #: The names that have a value somewhere, now that what is dead is gone.
        self.present = {p.name for p in self.function.params} | {n for s in walk(self.function.body) for n in writes(s)}
        #: Refused uses of buffers.
        self.misused: list[Violation] = []
        self.unknown: set[str] = set()
        self.adj: dict[str, Expr] = {}
        self.owned: set[str] = set()
        #: The adjoints of arrays that may be the number 0.0, since the array may have no value.
        self.loose: set[str] = set()
        #: Whether they are the consequences of something else that is refused.
        self.explained = False
        #: The line of the statement at hand.
        self.line = 0
        self.before: list[Stmt] = []
        self.later: set[str] = set(known.effects.exposed)
        self.changed_later: set[str] = set()
        #: Whether objects of the module may be written after the statement at hand.
        self.altered_later = MODULE in known.context.overwritten
        #: Whether the adjoint of what is not known to be real may be complex.
        self.complex = any(
            (isinstance(part, Const) and isinstance(part.value, complex))
            or (isinstance(part, Call) and (part.op.kind == "met" or _has_complex_adjoints(part)))
            for stmt in walk(known.function.body)
            for expr in expressions(stmt)
            for part in subexpressions(expr)
        )

    def violation(self, node: Any, message: str, remedy: str) -> None:
        """Note a place through which no derivative can pass."""
        self.violations.append(Violation(self.place(node or self.line), message, remedy))

    def is_active(self, expr: Expr) -> bool:
        """Whether a derivative passes through an operand."""
        return any(name in self.active for name in carriers(expr))

    def bar(self, name: str) -> str:
        """A new name for an adjoint of ``name``; who reads the text again tells lists from numbers by their names."""
        if self.again and name.startswith("~") and self.of[name].kind in ("list", "tuple", "dict"):
            return self.fresh("~items_bar")
        return super().bar(name)

    def contribute(self, x: Expr, g: Expr, owned: bool = False, moved: bool = False) -> None:
        """Add ``g`` to the adjoint of the operand ``x``.

        ``owned`` says that nothing else refers to the object ``g``, ``moved`` that its only other
        holder is the name whose adjoint it was until now.
        """
        if isinstance(x, Build):
            step = 2 if x.kind == "dict" else 1
            if isinstance(g, Call):  # computed once for all items
                g = self.let(self.fresh("~t_bar"), g)
            for i, item in enumerate(x.items[step - 1 :: step]):
                if self.is_active(item):
                    self.contribute(item, self.item(g, x.items[2 * i] if step == 2 else Const(i)))
            return
        if not isinstance(x, Var):
            if self.is_active(x):
                # It was taken for a constant while its names were not known to share what is written.
                self.refuse_buffer(self.origin.line)
            return
        if x.name in self.stopped:
            return
        if self.is_buffer(x):
            g = self.lowered(g)
            if self.of[x.name].kind == "array":
                g = self.lazy.get(g.name, g) if isinstance(g, Var) else g
                if isinstance(g, Call) and g.op.function is np.broadcast_to:
                    g = g.args[0]
                bar, fact = self.shadow(x.name), self.of[x.name]
                real = self.real_as(bar, self.realised(g, fact), fact)
                self.emit(Store(bar, ELLIPSIS, real, "-" if self.is_turned(x) else "+", self.origin))
            elif self.is_turned(x):
                self.refuse_buffer(self.origin.line)
            else:
                self.emit(Evaluate(Call(_ADD_INTO, (self.settled(x.name, self.before), g)), self.origin))
            return
        if x.name not in self.active or self.of[x.name].kind in ("none", "other"):
            return
        old = self.adj.get(x.name)
        g = self.lowered(g)
        loose = False
        if old is not None:
            loose = self.is_loose(old) and self.is_loose(g)
            g = self.added(old, g, x)
            owned = True
        if isinstance(g, Call):
            name = self.bar(x.name)
            fact = self.of[x.name]
            inner = g
            known = self.fact(g)
            g = self.let(name, g, replace(fact, real=known.real) if fact.numeric else self.named(known, name))
            if inner.op.function is np.broadcast_to:
                self.lazy[name] = inner.args[0]
                self.broadcasts[name] = inner.args[1]
            elif owned or makes_fresh(inner):
                self.owned.add(name)
            if loose:
                self.loose.add(name)
        elif not moved:
            self.owned.difference_update(names_in(g))
        self.adj[x.name] = g

    def realised(self, g: Expr, like: Fact) -> Expr:
        """The adjoint of a real ``like``, which is real."""
        known = self.fact(g)
        if not like.real or known.real:
            return g
        # Where nothing is complex, what is not known to be real is so.
        return Call(_REAL, (g,)) if known.kind in ("scalar", "array") or (self.complex and like.numeric) else g

    def real_as(self, whole: Expr, g: Expr, like: Fact) -> Expr:
        """An adjoint that is real where ``whole``, of which that may not be known, is real."""
        unsure = self.complex and not like.real and not self.fact(g).real
        return Call(_REAL_LIKE, (g, whole)) if unsure else g

    def added(self, old: Expr, g: Expr, x: Var) -> Expr:
        """The sum of two adjoints of ``x``: in place where the first is an array that is ours alone."""
        fact = self.of[x.name]
        ours = isinstance(old, Var) and old.name in self.owned and not self.again
        if ours and fact.kind == "array" and fact.ndim != 0 and fact.real:
            g = self.plain(g, fact)
            if self.fact(g).real:
                subtracted = isinstance(g, Call) and g.op == algebra.NEGATE
                if subtracted:
                    assert isinstance(g, Call)
                    return Call(_SUBTRACT_IN_PLACE, (old, g.args[0]))
                return Call(_ADD_IN_PLACE, (old, g))
        return self.plus(old, g, x)

    def item(self, g: Expr, key: Expr) -> Expr:
        """The part ``g[key]`` of a container's adjoint."""
        if isinstance(g, Build) and isinstance(key, Const):
            if g.kind == "dict":
                for k, v in zip(g.items[::2], g.items[1::2], strict=True):
                    if k == key:
                        return v
            elif key.value < len(g.items):
                part: Expr = g.items[key.value]
                return part
        held = g if isinstance(g, Var) else self.let(self.fresh("~t_bar"), g)
        part_bar = self.let(self.fresh("~t_bar"), Call(INDEX, (held, key)))
        if self.is_loose(held):
            self.loose.add(part_bar.name)
        return part_bar

    def take(self, name: str) -> Expr | None:
        """The adjoint of a name at its definition, after which the name has none."""
        return self.adj.pop(name, None)

    def zero(self, name: str, when: When = "after") -> Expr:
        """A zero adjoint of a name as it is ``when`` the statement at hand runs."""
        if name in self.unbound:
            return self.zero_unset(name, self.of[name])
        value = self.zeros(Var(name))
        if isinstance(value, Const):
            return value
        fresh = self.let(self.bar(name), value, self.of[name] if self.of[name].numeric else None)
        self.owned.add(fresh.name)
        return fresh

    def zero_unset(self, name: str, fact: Fact) -> Expr:
        """A zero adjoint of a name that may have no value: the number 0.0, in a container for each of its items."""
        if fact.kind not in CONTAINERS:
            return Const(0.0)
        if fact.items is None:
            what = f"{name.partition('.')[0]} may have no value here, and how many items it has cannot be known"
            if all(v.message != what for v in self.violations):
                self.violation(self.origin.line, what, "Give it a value before the loop or branch.")
            return Const(0.0)
        parts = [(Const(key), self.zero_unset(name, item)) for key, item in fact.items]
        if fact.kind in ("dict", "dataclass"):
            return Build("dict", tuple(part for pair in parts for part in pair))
        return Build("list", tuple(zero for _, zero in parts))

    def writable(self, x: Var) -> Var:
        """The adjoint of ``x`` as an object of its own, of the dtype of ``x``, that may be written in place."""
        old = self.adj.get(x.name)
        fact = self.of[x.name]
        # A complex array may have a real adjoint so far, which has no room for what comes.
        if isinstance(old, Var) and old.name in self.owned and (fact.real or not self.fact(old).real):
            return old
        shape_fact = fact if fact.numeric else None
        if old is None:
            zero = self.zeros(x)
            new = self.let(self.bar(x.name), zero, shape_fact)
        elif fact.kind == "array" and x.name not in self.unbound and not self.is_loose(old):
            real = self.realised(old, fact)
            held = real if isinstance(real, Var) else self.let(self.bar(x.name), real, fact)
            alike = self.fact(real).real == fact.real and self.fact(real).precision == fact.precision != ""
            if alike:
                made = Call(COPY, (held,))
            elif fact.precision in ("single", "double"):
                made = Call(_AS_TYPE, (held, Call(_DTYPE, (x,))))
            else:
                made = Call(_IN_DTYPE, (held, x))
            new = self.let(self.bar(x.name), made, fact)
        else:
            known = fact.kind == "array"
            total = algebra.add(self.zeros(x), old) if known else Call(ADD, (self.zeros(x), old))
            new = self.let(self.bar(x.name), total, fact if known else None)
        self.owned.add(new.name)
        self.adj[x.name] = new
        return new

    def joined(self, name: str, *bars: Expr) -> str:
        """A new name in which adjoints of ``name`` meet."""
        join, fact = self.bar(name), self.of[name]
        real = fact.real and all(self.fact(bar).real for bar in bars)
        self.of[join] = replace(fact, real=real) if fact.numeric else self.named(Fact("open"), join)
        if name in self.unbound or any(map(self.is_loose, bars)):
            self.loose.add(join)
        return join

    def is_loose(self, g: Expr) -> bool:
        """Whether the adjoint of an array may be the number 0.0."""
        return isinstance(g, Var) and g.name in self.loose

    def firm(self, name: str, g: Expr) -> Expr:
        """The adjoint of a name that has a value: an array where that is one."""
        if not self.is_loose(g) or self.of[name].kind == "scalar":
            return g
        if self.of[name].kind != "array":
            return self.let(self.bar(name), Call(ADD, (self.zeros(Var(name)), g)))
        whole = algebra.add(self.zeros(Var(name)), g)
        return self.let(self.bar(name), whole, replace(self.of[name], real=self.fact(g).real))

    def result(self, name: str, given: set[str]) -> Expr:
        """The adjoint of a parameter as an object that nothing else refers to."""
        g = self.adj.get(name)
        fact = self.of[name]
        if g is None:
            return self.zeros(Var(name))
        if fact.kind == "scalar":
            return g
        if isinstance(g, Var) and g.name in self.lazy:
            inner = self.lazy[g.name]
            if self.fact(inner).kind == "scalar" and fact.kind == "array":
                if inner == Const(1.0):
                    return Call(_ONES_LIKE, (Var(name),))
                return Call(_FULL_LIKE, (Var(name), self.realised(inner, fact)))
        if isinstance(g, Var) and g.name in self.owned and g.name not in given:
            given.add(g.name)
            return g
        if fact.kind == "array" and fact.ndim != 0 and isinstance(g, Var):
            return Call(COPY, (g,))
        return Call(_FRESH, (g,))

    def is_owned(self, bar: Expr) -> bool:
        """Whether nothing else refers to the object of an adjoint."""
        return isinstance(bar, Var) and bar.name in self.owned

    def refuse_buffer(self, node: Any, name: str = "") -> None:
        """Note a use of an array that is written in place for which there is no adjoint; ``name`` should be one.

        It is where the ``node`` or line is; without one, at the statement at hand, or where the name is used first.
        """
        what = "an array that is written in place is used here in a way that is not supported"
        remedy = "Take a copy (x.copy()), or make a new array instead of writing into this one."
        if name and self.of[name].kind in ("open", "numeric"):
            # One mistake, however many names and statements it shows in: where it is written.
            group = self.effects.group.get(name, frozenset({name}))
            if not self.unknown.isdisjoint(group):
                return
            self.unknown |= group
            for stmt in walk(self.function.body):
                if stmt.origin.line and not group.isdisjoint(into := self.effects.written_by(stmt)):
                    name, node = next((n for n in writes(stmt) if n in into), name), stmt.origin.line
                    break
            called = "this" if name.startswith("~") else base(name)
            what = f"{called} may be written in place, and it is not known here whether it is an array"
            remedy = (
                "If it is a number, write x = x + y for x += y. Annotate parameters that are arrays (x: np.ndarray),\n"
                "or look at one call (source_for, s2sad show --at). In a call: take a copy, or make a new one."
            )
        used = [s.origin.line for s in walk(self.function.body) if name in (*writes(s), *reads(s))]
        self.misused.append(Violation(self.place(node or self.line or next(filter(None, used), 0)), what, remedy))

    def refuse_wholes(self, stmt: Stmt) -> None:
        """Note what in a statement is not taken apart, and makes or writes a buffer."""
        # A call that may write into a buffer has no adjoint, whatever becomes of its result.
        unseen = any(self.is_buffer(Var(n)) for n in written_unseen(stmt))
        if unseen or (isinstance(stmt, Assign) and stmt.target in self.effects.written & self.active):
            parts = [e for whole in expressions(stmt) for e in subexpressions(whole) if isinstance(e, Opaque)]
            for refusal in [e.refusal for e in parts if e.refusal is not None]:
                self.violation(refusal.node, refusal.message, refusal.remedy)
                self.explained = True
        if unseen:
            self.refuse_unseen(stmt)

    def refuse_unseen(self, stmt: Stmt) -> None:
        """Note a statement in which calls that are not taken apart may write into an array that is differentiated."""
        wholes: list[Opaque | Effect] = [stmt] if isinstance(stmt, Effect) else []
        wholes += [e for whole in expressions(stmt) for e in subexpressions(whole) if isinstance(e, Opaque)]
        for whole in wholes:
            user = next((u for u, n in whole.names if n in whole.writes and self.is_buffer(Var(n))), "")
            if not user:
                continue
            calls = [n for n in ast.walk(whole.node) if isinstance(n, ast.Call)]
            calls = [c for c in calls if any(isinstance(n, ast.Name) and n.id == user for n in ast.walk(c))]
            calls = [c for c in calls if not ast.unparse(c.func).endswith(stop_gradient.__name__)]
            who = f"{ast.unparse(calls[0].func)}(...)" if len(calls) == 1 else "a call here"
            what = f"{who} may write into {user}, which is differentiated"
            remedy = f"Give it a copy: np.copy({user})."
            self.misused.append(Violation(self.place(calls[0] if len(calls) == 1 else stmt.origin.line), what, remedy))

    def refuse_stopped(self, node: Any) -> None:
        """Note a use of an array after ``stop_gradient`` that makes it one with an array that is differentiated."""
        if not (self.effects.stops or self.stopped):
            # What holds it is a constant although nothing is stopped.
            self.refuse_buffer(node)
            return
        what = "stop_gradient(...) of an array that is written in place is a constant here, and not elsewhere"
        self.violation(node, what, "Take a copy of its result (stop_gradient(x).copy()).")

    def kept(self, expr: Expr) -> Expr:
        """An index as the reverse part can read it, whatever is written meanwhile."""
        return self.snapshots()(expr)

    def snapshots(self, target: str = "") -> Callable[[Expr], Expr]:
        """A renaming that makes expressions read copies of what is written in place elsewhere.

        ``target`` is the name that the statement assigns.
        """
        changing = self.effects.versions
        passing = self.effects.passing | changing.keys()
        names: dict[str, Expr] = {}

        def renamed(expr: Expr) -> Expr:
            if isinstance(expr, Call) and (expr.op.function is np.shape or expr.op.name == "shape"):
                # A container changes its shape.
                if changing.keys().isdisjoint(names_in(expr)):
                    return expr
            if isinstance(expr, Var) and expr.name in passing and self.is_overwritten(expr.name):
                if expr.name not in names:
                    copy = self.fresh(base(expr.name))
                    self.of[copy] = self.of[expr.name]
                    whole = self.of[expr.name].kind == "array" or expr.name not in self.effects.passing
                    made = Call(COPY if whole else _OWN, (expr,))
                    # The result of the statement itself can be copied only once it is there.
                    (self.after if expr.name == target else self.before).append(Assign(copy, made, self.origin))
                    names[expr.name] = Var(copy)
                return names[expr.name]
            return map_children(expr, renamed)

        if not passing:
            return lambda expr: expr
        return renamed

    def with_fixed_range(self, loop: For) -> For:
        """A loop over a range whose ends are what they were when it began, whatever is written meanwhile."""
        runs = loop.iters[0]
        if not (isinstance(runs, Call) and any(map(self.changes, runs.args))):
            return loop
        ends: list[Expr] = []
        for end in runs.args:
            if self.changes(end):
                name = self.fresh("~end")
                self.of[name] = self.fact(end)
                self.before.append(Assign(name, end, loop.origin))
                end = Var(name)
            ends.append(end)
        return replace(loop, iters=(replace(runs, args=tuple(ends)),))

    def is_overwritten(self, name: str) -> bool:
        """Whether the object of ``name`` may be written after the statement at hand."""
        if name in self.stable or self.of[name].kind == "scalar":
            return False
        return bool(self.effects.group.get(name, frozenset({name})) & self.later)

    def note_writes(self, loop: For | While) -> None:
        """Note what a loop writes, for all that runs before it and, in the iteration before, after it.

        An array that an iteration makes and no other sees is written by that iteration alone.
        """
        inside = {n for s in walk(loop.body) for n in writes(s)}
        heads = set(loop_heads(loop.body))
        for stmt in walk((loop,)):
            for name in self.effects.written_by(stmt):
                group = self.effects.group.get(name, frozenset({name})) & self.present
                if not (group <= inside and group.isdisjoint(heads | self.effects.module | self.effects.exposed)):
                    self.later.add(name)
            self.changed_later |= self.effects.changed_by(stmt)
            self.altered_later |= self.effects.alters(stmt)


def _has_complex_adjoints(call: Call) -> bool:
    """Whether the adjoints of real operands may be complex."""
    spec = ops.spec_of(call.op.function)
    return spec is not None and spec.complex_adjoints


def makes_fresh(call: Call) -> bool:
    """Whether a call surely returns an array that nothing else refers to."""
    if call.op.kind == "operator":
        return True
    rule = ops.find(call.op.function)
    return (
        rule is not None and rule.result == "fresh" and (rule.kind == "elementwise" or rule.name.startswith("numpy."))
    )
