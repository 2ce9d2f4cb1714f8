"""Reverse mode: from a function to its adjoint.

``reverse`` walks the statements from the last to the first and writes down the
adjoint of each active one (Griewank and Walther, "Evaluating Derivatives", 2008,
section 6.1).  The reverse part reads the names of the forward part as if all of their
values were still there; :mod:`s2sad.differentiate.recording` sees to it that they
are.

    y = np.sin(x) * w        y_bar = ...
                             x_bar = y_bar * w * np.cos(x)

The adjoint of a name is defined by the first contribution to it (in reverse
order) and added to by the others.  Where branches or iterations meet, it moves into a join name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from s2sad import rules
from s2sad.analysis.activity import Activity, carriers, passes
from s2sad.analysis.effects import Effects, written_by, written_by_calls
from s2sad.analysis.facts import SCALAR, Fact
from s2sad.analysis.infer import Facts
from s2sad.differentiate.buffers import ELLIPSIS, Buffers
from s2sad.differentiate.builder import ADD, COPY, INDEX, as_value
from s2sad.differentiate.splice import UnknownLength, splice
from s2sad.errors import Place, UnsupportedError, Violation
from s2sad.frontend import methods
from s2sad.frontend.writing import may_write
from s2sad.ir import algebra
from s2sad.ir.nodes import (
    NOWHERE,
    Assign,
    Block,
    Break,
    Build,
    Call,
    Const,
    Copy,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Op,
    Opaque,
    Slice,
    Stmt,
    Store,
    Unpack,
    Var,
    While,
)
from s2sad.ir.traverse import base, loop_heads, map_children, names_in, reads, rename, walk, with_names, writes
from s2sad.rules.binding import BindingError, bind
from s2sad.runtime import add_at, add_field, fresh, joined, own, packed, starred

_ADD_IN_PLACE = Op("inplace", "+", np.add)
_SUBTRACT_IN_PLACE = Op("inplace", "-", np.subtract)
_LEN = Op("runtime", "len", len)
_ADD_AT = Op("runtime", "add_at", add_at, pure=False)
_ADD_FIELD = Op("runtime", "add_field", add_field, pure=False)
_PACKED = Op("runtime", "packed", packed)
_JOINED = Op("runtime", "joined", joined)
_STARRED = Op("runtime", "starred", starred)
_OWN = Op("runtime", "own", own)
_FRESH = Op("runtime", "fresh", fresh)
_ONES_LIKE = Op("runtime", "np.ones_like", np.ones_like)
_FULL_LIKE = Op("runtime", "np.full_like", np.full_like)
_RANGE = Op("runtime", "range", range)
_REVERSED = Op("runtime", "reversed", reversed)
_REMEDY = "Write it with supported operations, or wrap the argument in stop_gradient(...)."


@dataclass(frozen=True)
class Pair:
    """The two halves of a callee's derivative; ``wrt`` are the positions among the bound arguments."""

    forward: Op
    reverse: Op
    wrt: tuple[str, ...]
    result: Fact


class Callees(Protocol):
    """What :func:`reverse` asks of the pipeline about the functions that are called."""

    def bind(self, call: Call) -> dict[str, Expr]: ...

    def pair(self, call: Call, active: tuple[str, ...], facts: Mapping[str, Fact]) -> Pair: ...


@dataclass(frozen=True)
class Reversed:
    """The forward part, the reverse part and the adjoint of each name in ``wrt`` (an expression)."""

    body: Block
    reverse: Block
    adjoints: tuple[Expr, ...]
    facts: Mapping[str, Fact]
    shadows: frozenset[str]
    unbound: frozenset[str]


def reverse(
    function: Function,
    facts: Facts,
    effects: Effects,
    activity: Activity,
    seed: Mapping[str, Expr],
    wrt: Iterable[str],
    callees: Callees,
    place: Callable[[Any], Place],
    unbound: frozenset[str],
    seed_facts: Mapping[str, Fact],
) -> Reversed:
    """Differentiate ``function``.

    ``seed`` gives the adjoints of names at the end of the body, ``wrt`` the names whose
    adjoints at its beginning are wanted.

    Raises:
        UnsupportedError: with each place through which no derivative can pass.
    """
    return _Reverse(function, facts, effects, activity, callees, place, unbound).run(seed, tuple(wrt), seed_facts)


class _Reverse(Buffers):
    def __init__(
        self,
        function: Function,
        facts: Facts,
        effects: Effects,
        activity: Activity,
        callees: Callees,
        place: Callable[[Any], Place],
        unbound: frozenset[str],
    ) -> None:
        super().__init__(function, facts, effects, activity)
        self.callees = callees
        self.place = place
        self.unbound = unbound
        self.violations: list[Violation] = []
        self.adj: dict[str, Expr] = {}
        self.owned: set[str] = set()
        self.before: list[Stmt] = []
        self.later: set[str] = set()
        self.keys = 0
        self.depth = 0
        self.rebuilt: set[str] = set()
        self.heads: frozenset[str] = frozenset()

    def run(self, seed: Mapping[str, Expr], wrt: tuple[str, ...], seed_facts: Mapping[str, Fact]) -> Reversed:
        self.of.update(seed_facts)
        for name, g in seed.items():
            if self.is_buffer(Var(name)):
                self.contribute(Var(name), g)
            else:
                self.adj[name] = g
        for stmt in walk(self.function.body):
            # A call that may write into a buffer has no adjoint, whatever becomes of its result.
            if any(self.is_buffer(Var(n)) for n in written_by_calls(stmt)):
                self.refuse_buffer(stmt.origin.line)
        body = self.block(self.function.body)
        self.origin = NOWHERE
        given: set[str] = set()
        adjoints = tuple([self.result(name, given) for name in wrt])
        if self.violations:
            raise UnsupportedError(self.violations)
        # An adjoint that is returned is called after its argument.
        named: dict[str, str] = {}
        made = {n for s in walk(self.out) for n in writes(s)}
        for name, g in zip(wrt, adjoints, strict=True):
            if isinstance(g, Var) and g.name.startswith("~") and g.name not in named and g.name in made:
                named[g.name] = self.bar(name)
        if named:
            self.of.update({new: self.of[old] for old, new in named.items()})
            self.out = list(with_names(tuple(self.out), named))
            adjoints = tuple([rename(g, {o: Var(n) for o, n in named.items()}) for g in adjoints])
        loose = frozenset(self.shadows[n] for n in self.unbound if n in self.shadows)
        return Reversed(body, tuple(self.out), adjoints, self.of, frozenset(self.shadows.values()), loose)

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
                return Call(_FULL_LIKE, (Var(name), inner))
        if isinstance(g, Var) and g.name in self.owned and g.name not in given:
            given.add(g.name)
            return g
        if fact.kind == "array" and isinstance(g, Var):
            return Call(COPY, (g,))
        return Call(_FRESH, (g,))

    def violation(self, node: Any, message: str, remedy: str) -> None:
        where = self.place(node) if node is not None else None
        self.violations.append(Violation(where, message, remedy))

    # --- adjoints of names

    def is_active(self, expr: Expr) -> bool:
        return any(name in self.active for name in carriers(expr))

    def contribute(self, x: Expr, g: Expr, owned: bool = False, moved: bool = False) -> None:
        """Add ``g`` to the adjoint of the operand ``x``.

        ``owned`` says that nothing else refers to the object ``g``, ``moved`` that its only other
        holder is the name whose adjoint it was until now.
        """
        if isinstance(x, Build):
            step = 2 if x.kind == "dict" else 1
            for i, item in enumerate(x.items[step - 1 :: step]):
                if self.is_active(item):
                    self.contribute(item, self.item(g, x.items[2 * i] if step == 2 else Const(i)))
            return
        if not isinstance(x, Var):
            if self.is_active(x):
                # It was taken for a constant while its names were not known to share what is written.
                self.refuse_buffer(self.origin.line)
            return
        if self.is_buffer(x):
            g = self.lowered(g)
            g = self.lazy.get(g.name, g) if isinstance(g, Var) else g
            if isinstance(g, Call) and g.op.function is np.broadcast_to:
                g = g.args[0]
            self.emit(Store(self.shadow(x.name), ELLIPSIS, g, "+", self.origin))
            return
        if x.name not in self.active or self.of[x.name].kind == "other":
            return
        old = self.adj.get(x.name)
        g = self.lowered(g)
        if old is not None:
            g = self.added(old, g, x)
            owned = True
        if isinstance(g, Call):
            name = self.bar(x.name)
            fact = self.of[x.name]
            inner = g
            g = self.let(name, g, replace(fact, real=fact.real) if fact.numeric else self.named(self.fact(g), name))
            if isinstance(inner, Call) and inner.op.function is np.broadcast_to:
                self.lazy[name] = inner.args[0]
                self.broadcasts[name] = inner.args[1]
            elif owned or _makes_fresh(inner):
                self.owned.add(name)
        elif not moved:
            self.owned.difference_update(names_in(g))
        self.adj[x.name] = g

    def added(self, old: Expr, g: Expr, x: Var) -> Expr:
        """The sum of two adjoints of ``x``: in place where the first is an array that is ours alone."""
        fact = self.of[x.name]
        if fact.kind == "array" and fact.ndim != 0 and fact.real and isinstance(old, Var) and old.name in self.owned:
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
            else:
                return g.items[key.value]
        held = g if isinstance(g, Var) else self.let(self.fresh("~t_bar"), g)
        return self.let(self.fresh("~t_bar"), Call(INDEX, (held, key)))

    def take(self, name: str) -> Expr | None:
        """The adjoint of a name at its definition, after which the name has none."""
        return self.adj.pop(name, None)

    def zero(self, name: str) -> Expr:
        if name in self.unbound:
            return Const(0.0)
        value = self.zeros(Var(name))
        if isinstance(value, Const):
            return value
        fresh = self.let(self.bar(name), value, self.of[name] if self.of[name].numeric else None)
        self.owned.add(fresh.name)
        return fresh

    def writable(self, x: Var) -> Var:
        """The adjoint of ``x`` as an object of its own that may be written in place."""
        old = self.adj.get(x.name)
        if isinstance(old, Var) and old.name in self.owned:
            return old
        fact = self.of[x.name]
        shape_fact = fact if fact.numeric else None
        if old is None:
            zero = self.zeros(x)
            new = self.let(self.bar(x.name), zero, shape_fact)
        elif fact.kind == "array":
            held = old if isinstance(old, Var) else self.let(self.bar(x.name), old, fact)
            new = self.let(self.bar(x.name), Call(COPY, (held,)), fact)
        else:
            new = self.let(self.bar(x.name), Call(ADD, (self.zeros(x), old)))
        self.owned.add(new.name)
        self.adj[x.name] = new
        return new

    # --- blocks

    def block(self, block: Block) -> Block:
        """Reverse a block into ``out``; returns it with what the forward part must add."""
        forward: list[Stmt] = []
        for stmt in reversed(block):
            if isinstance(stmt, (For, While)):
                self.note_writes((stmt,))
            self.origin = getattr(stmt, "origin", self.origin)
            self.before, self.after = [], []
            written = written_by(stmt)
            if isinstance(stmt, Assign):
                # An augmented assignment reads its operands before it writes.
                self.later |= written
            stmt = self.statement(stmt)
            self.later |= written
            forward += self.after
            forward.append(stmt)
            forward += reversed(self.before)
        forward.reverse()
        return tuple(forward)

    def statement(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Assign(target=target, value=value):
                if self.is_buffer(Var(target)):
                    return self.buffer_assign(stmt, target, value)
                return self.assign(stmt, target, value)
            case Copy(targets=targets, sources=sources):
                stmt = self.moved_shadows(stmt)
                bars = [(s, self.take(t)) for t, s in zip(targets, sources, strict=True)]
                for source, z_bar in bars:
                    if z_bar is not None:
                        self.contribute(source, z_bar, moved=True)
            case Unpack(targets=targets, value=value):
                self.unpack(stmt, targets, value)
            case If():
                return self.branch(stmt)
            case For() | While():
                return self.loop(stmt)
            case Store():
                self.store(stmt)
            case Evaluate(value=Call(args=args)):
                if any(n in self.active and n in self.effects.written for a in args for n in names_in(a)):
                    what = "this call may write into an array that is differentiated"
                    self.violation(stmt.origin.line, what, "Let the function return a new array.")
            case _:
                pass
        return stmt

    def assign(self, stmt: Assign, target: str, value: Expr) -> Stmt:
        if target not in self.active:
            self.adj.pop(target, None)
            return stmt
        z_bar = self.take(target)
        if z_bar is None:
            return stmt
        match value:
            case Var():
                self.contribute(value, z_bar, moved=True)
            case Build():
                self.contribute(value, z_bar)
            case Opaque(refusal=refusal) if refusal is not None:
                self.violation(refusal.node, refusal.message, refusal.remedy)
            case Call(op=op) if op.kind == "user":
                return self.user_call(stmt, value, z_bar)
            case Call(op=op) if op.kind == "index":
                self.index(value.args[0], value.args[1], z_bar)
            case Call() if passes(value):
                self.ruled(value, Var(target), z_bar)
            case _:
                pass
        return stmt

    # --- buffers

    def refuse_buffer(self, node: Any) -> None:
        what = "an array that is written in place is used here in a way that is not supported"
        self.violation(node, what, "Take a copy (x.copy()), or make a new array instead of writing into this one.")

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
            case Call(op=op) if op.kind == "user" and any(self.is_buffer(a) for a in value.args):
                self.refuse_buffer(value.node)
            case Call(op=op):
                if not made:
                    return stmt
                self.define(target, self.made_zero(target, value))
                bar = self.shadow(target)
                if op.kind == "user":
                    return self.user_call(stmt, value, bar)
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

    def index(self, whole: Expr, index: Expr, z_bar: Expr) -> None:
        """The adjoint of ``z = whole[index]``."""
        if isinstance(whole, Build):
            whole = self.displayed(whole)
        if not isinstance(whole, Var):
            return
        index = self.kept(index)
        x_bar = self.shadow(whole.name) if self.is_buffer(whole) else self.writable(whole)
        fact = self.of[whole.name]
        g = self.lazy.get(z_bar.name, z_bar) if isinstance(z_bar, Var) else z_bar
        if fact.kind == "array" and self.is_basic(index):
            self.emit(Store(x_bar, index, g, "+", self.origin))
        else:
            self.emit(Evaluate(Call(_ADD_AT, (x_bar, as_value(index), g)), self.origin))

    def displayed(self, whole: Build) -> Var:
        raise NotImplementedError("an index of a display")

    def is_basic(self, index: Expr) -> bool:
        """Whether an index surely names no element twice."""
        parts = index.items if isinstance(index, Build) else (index,)
        return all(isinstance(p, (Slice, Const)) or self.fact(p).kind == "scalar" for p in parts)

    def unpack(self, stmt: Unpack, targets: tuple[str, ...], value: Expr) -> None:
        if any(self.is_buffer(Var(t)) for t in targets):
            self.refuse_buffer(stmt.origin.line)
            return
        bars = [self.take(t) for t in targets]
        if all(b is None for b in bars):
            return
        if not self.is_active(value):
            return
        parts = tuple(b if b is not None else self.zero(t) for b, t in zip(bars, targets, strict=True))
        whole: Expr = Build("tuple", parts)
        if stmt.star is not None:
            whole = Call(_STARRED, (whole, Const(stmt.star), Const(len(targets))))
        fact = self.fact(value)
        if stmt.star is not None or fact.kind not in ("tuple", "record"):
            whole = Call(_PACKED, (value, whole))
        for part in parts:
            self.owned.difference_update(names_in(part))
        if isinstance(value, Var):
            if isinstance(whole, Build):
                if value.name in self.adj:
                    whole = Call(ADD, (self.adj.pop(value.name), whole))
                else:
                    self.adj[value.name] = whole
                    return
            self.contribute(value, whole)
        else:
            self.contribute(value, whole if isinstance(whole, Build) else self.let(self.fresh("~t_bar"), whole))

    # --- operations

    def ruled(self, call: Call, z: Var, z_bar: Expr) -> None:
        """The adjoint of an operation with a rule."""
        op = call.op
        if (op.kind == "attribute" and op.function is None) or self.is_field(call):
            self.field(call, z_bar)
            return
        if op.name == "+" and op.kind == "operator" and self.fact(call).kind in ("tuple", "list"):
            for operand, part in zip(call.args, ("head", "tail"), strict=True):
                if self.is_active(operand):
                    self.contribute(operand, Call(_JOINED, (z_bar, Const(part), call.args[0])))
            return
        rule = rules.find(op.function)
        if rule is None:
            self.violation(call.node, f"{op.name} has no derivative rule", rules.remedy(op.function) or _REMEDY)
            return
        try:
            bound = bind(call)
        except BindingError as error:
            what = f"the argument {error.argument!r} of {op.name} has no derivative rule"
            self.violation(call.node, what, "Leave it out, or do the same with other operations.")
            return
        for name, operand in bound.items():
            if name not in rule.wrt and self.is_active(operand) and not _stepwise(rule, name):
                what = f"{op.name} has no derivative with respect to its argument {name!r}"
                self.violation(call.node, what, "Wrap it in stop_gradient(...) if it is meant as a constant.")
                return
        if op.function is np.multiply and bound_twice(bound):
            # x * x, written with one partial.
            x = call.args[0]
            partial = self.snapshots(z.name)(Call(algebra.MULTIPLY, (Const(2), x)))
            self.contribute(x, self.full(self.times(z_bar, partial), z_bar, z))
            return
        operands = dict(bound)
        held = z_bar
        if rule.kind != "elementwise" and not isinstance(z_bar, (Var, Const)):
            held = self.let(self.bar(z.name), z_bar)
        try:
            spliced = splice(rule, operands, z, held, self.fact, self.fresh)
        except UnknownLength:
            what = f"{op.name} of a list whose length is known only at run time"
            self.violation(call.node, what, "Write the list out in the call.")
            return
        renamed = self.snapshots(z.name)
        wanted = [(n, v) for n, v in zip(rule.wrt, spliced.values, strict=True) if self.is_active(bound[n])]
        for name, value in spliced.lets:
            self.let(name, self.tidy(renamed(value)))
        alone = len(wanted) == 1
        if len(wanted) == 2 and bound[wanted[0][0]] == bound[wanted[1][0]] and rule.kind == "bilinear":
            first, second = (self.tidy(renamed(value)) for _, value in wanted)
            if first == second:
                self.contribute(bound[wanted[0][0]], algebra.multiply(Const(2), first))
                return
        for name, value in wanted:
            value = renamed(value)
            operand = bound[name]
            if rule.kind == "elementwise":
                full = self.times(held, value)
                negative = isinstance(full, Call) and full.op == algebra.NEGATE
                if isinstance(full, Call) and negative:
                    full = full.args[0]
                if isinstance(operand, Var) and self.fact(operand).kind in ("list", "tuple"):
                    self.violation(call.node, f"{op.name} of a list or tuple", "Convert it with np.array(...) first.")
                    return
                g = self.unbroadcast(self.full(full, held, z), operand)
                if negative:
                    g = algebra.negate(g)
                self.contribute(operand, g, moved=alone and g == held)
            else:
                if isinstance(operand, Var) and self.fact(operand).kind in ("list", "tuple") and name != rule.variadic:
                    pass
                self.contribute(operand, self.tidy(value))

    def full(self, g: Expr, z_bar: Expr, z: Var) -> Expr:
        """``g`` held in a name that is known to have the shape of ``z``."""
        if isinstance(g, (Var, Const)):
            return g
        if self.fact(g).shape == self.of[z.name].shape:
            return g
        return self.let(self.fresh("~t_bar"), g, replace(self.of[z.name], items=None))

    def is_field(self, call: Call) -> bool:
        """Whether an attribute that arrays also have (``.T``) is that of a container here."""
        return call.op.kind == "attribute" and self.fact(call.args[0]).kind in ("record", "tuple", "list", "dict")

    def field(self, call: Call, z_bar: Expr) -> None:
        whole = call.args[0]
        fact = self.fact(whole)
        if fact.kind not in ("record", "open") or not isinstance(whole, Var):
            what = f"the attribute .{call.op.name} of a value that is differentiated has no derivative rule"
            self.violation(call.node, what, _REMEDY)
            return
        x_bar = self.writable(whole)
        self.emit(Evaluate(Call(_ADD_FIELD, (x_bar, whole, Const(call.op.name), z_bar)), self.origin))

    def kept(self, expr: Expr) -> Expr:
        """An index as the reverse part can read it, whatever is written meanwhile."""
        return self.snapshots()(expr)

    def snapshots(self, target: str = "") -> Callable[[Expr], Expr]:
        """A renaming that makes expressions read copies of what is written in place elsewhere.

        ``target`` is the name that the statement assigns.
        """
        written = self.effects.written - self.effects.private
        names: dict[str, Expr] = {}

        def renamed(expr: Expr) -> Expr:
            if isinstance(expr, Call) and (expr.op.function is np.shape or expr.op.name == "shape"):
                return expr
            if isinstance(expr, Var) and expr.name in written and self.is_overwritten(expr.name):
                if expr.name not in names:
                    copy = self.fresh(base(expr.name))
                    self.of[copy] = self.of[expr.name]
                    made = Call(COPY if self.of[expr.name].kind == "array" else _OWN, (expr,))
                    # The result of the statement itself can be copied only once it is there.
                    (self.after if expr.name == target else self.before).append(Assign(copy, made, self.origin))
                    names[expr.name] = Var(copy)
                return names[expr.name]
            return map_children(expr, renamed)

        if not written:
            return lambda expr: expr
        return renamed

    def is_overwritten(self, name: str) -> bool:
        """Whether the object of ``name`` may be written after the statement at hand."""
        return self.of[name].kind != "scalar" and bool(self.effects.group.get(name, frozenset({name})) & self.later)

    def note_writes(self, block: Iterable[Stmt]) -> None:
        """Note what a block writes, for all that runs before it."""
        for stmt in walk(block):
            self.later |= written_by(stmt)

    # --- calls of the user's functions

    def user_call(self, stmt: Assign, call: Call, z_bar: Expr) -> Stmt:
        if may_write(call.op.function) and any(self.is_buffer(Var(n)) for n in names_in(call)):  # type: ignore[arg-type]
            self.refuse_buffer(call.node)
            return stmt
        bound = self.callees.bind(call)
        active = tuple(name for name, value in bound.items() if self.is_active(value))
        try:
            pair = self.callees.pair(call, active, {name: self.fact(value) for name, value in bound.items()})
        except UnsupportedError as error:
            self.violations += error.violations
            return stmt
        saved = self.fresh(f"{call.op.name.rpartition('.')[2]}_saved")
        # What the callee saves must still be there when it is read.
        renamed = self.snapshots(stmt.target)
        args = tuple([renamed(a) for a in call.args])
        forward = Call(pair.forward, args, tuple([(k, renamed(v)) for k, v in call.kwargs]), call.node)
        if pair.wrt:
            bars = [self.fresh(f"{name}_bar") for name in pair.wrt]
            for name, bar in zip(pair.wrt, bars, strict=True):
                operand = bound[name]
                fact = self.fact(operand)
                self.of[bar] = fact if fact.numeric else replace(fact, shape=None)
            value = Call(pair.reverse, (Var(saved), z_bar))
            if len(bars) == 1:
                self.emit(Assign(bars[0], value, self.origin))
            else:
                self.emit(Unpack(tuple(bars), value, None, self.origin))
            for name, bar in zip(pair.wrt, bars, strict=True):
                self.contribute(bound[name], Var(bar))
        return Unpack((stmt.target, saved), forward, None, stmt.origin)

    # --- control flow

    def nested(self, block: Block, adj: dict[str, Expr]) -> tuple[Block, list[Stmt], dict[str, Expr]]:
        """Reverse an inner block with the adjoints ``adj``: the forward block, the reverse one, the adjoints."""
        outer, outer_before, outer_after, outer_adj = self.out, self.before, self.after, self.adj
        self.out, self.before, self.after, self.adj = [], [], [], dict(adj)
        forward = self.block(block)
        reversed_, after = self.out, self.adj
        self.out, self.before, self.after, self.adj = outer, outer_before, outer_after, outer_adj
        return forward, reversed_, after

    def key(self) -> int:
        self.keys += 1
        return self.keys

    def branch(self, stmt: If) -> Stmt:
        origin = self.origin
        # What the end of an iteration moves into the loop's join names has been there before the branch.
        inside = {n for s in walk((*stmt.then, *stmt.orelse)) for n in writes(s)} - self.heads
        then, then_out, then_adj = self.nested(stmt.then, self.adj)
        orelse, else_out, else_adj = self.nested(stmt.orelse, self.adj)
        self.origin = origin
        names = [n for n in {**then_adj, **else_adj} if n not in inside]
        merged: dict[str, Expr] = {}
        moves: list[tuple[str, Expr, Expr]] = []
        outer = self.out
        for name in names:
            a, b = then_adj.get(name), else_adj.get(name)
            if a == b and a is not None:
                merged[name] = a
                continue
            if a is None:
                self.out = then_out
                a = self.zero(name)
            if b is None:
                self.out = else_out
                b = self.zero(name)
            join = self.bar(name)
            self.of[join] = self.of[name] if self.of[name].numeric else self.named(Fact("open"), join)
            if self.is_owned(a) and self.is_owned(b):
                self.owned.add(join)
            moves.append((join, a, b))
            merged[name] = Var(join)
        self.out = outer
        self.adj = merged
        if moves:
            joins = tuple(m[0] for m in moves)
            then_out.append(Copy(joins, tuple(m[1] for m in moves), origin))
            else_out.append(Copy(joins, tuple(m[2] for m in moves), origin))
        key = self.key()
        test = stmt.test
        if then_out or else_out:
            test = self.condition(stmt.test)
            self.emit(If(test, tuple(then_out), tuple(else_out), origin, key))
        return If(test, then, orelse, origin, key)

    def condition(self, test: Expr) -> Expr:
        """The condition of a branch as the reverse part can test it: once more, or by a name that holds it."""
        if isinstance(test, (Var, Const)) and not set(names_in(test)) & self.effects.written:
            return test
        if is_light(test) and not set(names_in(test)) & self.effects.written:
            if all(name in self.rebuilt for name in names_in(test)) or not self.depth:
                return test
        name = self.fresh("~test")
        self.of[name] = self.fact(test)
        self.before.append(Assign(name, test, self.origin))
        return Var(name)

    def loop(self, stmt: For | While) -> Stmt:
        origin = self.origin
        body_names = {n for s in walk(stmt.body) for n in writes(s)}
        read: dict[str, None] = {}
        for s in walk(stmt.body):
            for expr in _differentiable(s):
                read.update(dict.fromkeys(n for n in carriers(expr) if n in self.active))
        if isinstance(stmt, For):
            for iterable in stmt.iters:
                read.update(dict.fromkeys(n for n in carriers(iterable) if n in self.active))
        read = {n: None for n in read if not self.is_buffer(Var(n))}
        heads = [n for n in dict.fromkeys(loop_heads(stmt.body)) if n in self.active and not self.is_buffer(Var(n))]
        tracked = [n for n in read if n not in body_names] + [h for h in heads]
        if isinstance(stmt, For):
            tracked = [n for n in tracked if n not in stmt.targets]
        stores = any(isinstance(s, (Store, Evaluate)) for s in walk(stmt.body))
        if not stores and not any(n in self.active for n in body_names):
            return stmt
        inner: dict[str, Expr] = {}
        joins: list[tuple[str, str, Expr]] = []
        for name in tracked:
            start = self.adj.get(name)
            if start is None:
                start = self.zero(name)
            elif name not in heads and not self.is_owned(start) and self.of[name].kind == "array":
                # It is added to in each iteration: in place, once it is ours.
                self.adj[name] = start = self.result(name, set())
                if not isinstance(start, Var) or start.name not in self.owned:
                    start = self.let(self.bar(name), start, self.of[name])
                    self.owned.add(start.name)
            join = self.bar(name)
            self.of[join] = self.of[name] if self.of[name].numeric else self.named(Fact("open"), join)
            if self.is_owned(start):
                self.owned.add(join)
            inner[name] = Var(join)
            joins.append((name, join, start))
        untouched = {n: v for n, v in self.adj.items() if n not in inner}
        counter = stmt.counter if isinstance(stmt, For) else None
        needs_index = isinstance(stmt, For) and any(self.is_active(i) for i in stmt.iters)
        if needs_index and counter is None:
            counter = self.fresh("~k")
            self.of[counter] = SCALAR
        counted = self.fresh("~count")
        has_break = any(isinstance(s, Break) for s in _own(stmt.body))
        plain = isinstance(stmt, For) and not has_break and counter is None and len(stmt.iters) == 1
        by_range = plain and (_is_range(stmt) or self.is_sequence(stmt.iters[0]))  # type: ignore[arg-type,union-attr]
        before = set(self.owned)
        self.depth += 1
        outer_heads, self.heads = self.heads, frozenset(heads)
        if by_range:
            self.rebuilt.update(stmt.targets)  # type: ignore[union-attr]
        while True:
            forward, out, moves = self.iteration(stmt, inner, joins, counter if needs_index else None)
            # An adjoint that may be written in place in the next iteration must be owned at the end of this one.
            shared = {join for join, end in moves if join in before and not self.is_owned(end)}
            if not shared:
                break
            before -= shared
            self.owned = set(before)
        self.depth -= 1
        self.heads = outer_heads
        self.origin = origin
        if moves:
            out.append(Copy(tuple(j for j, _ in moves), tuple(e for _, e in moves), origin))
        if not out:
            return (
                replace(stmt, body=forward, counter=counter) if isinstance(stmt, For) else replace(stmt, body=forward)
            )
        if joins:
            self.emit(Copy(tuple(j for _, j, _ in joins), tuple(s for _, _, s in joins), origin))
        self.adj = {**untouched, **{name: Var(join) for name, join, _ in joins}}
        key = self.key()
        if by_range:
            assert isinstance(stmt, For)
            runs = Call(_REVERSED, stmt.iters)
            self.emit(For(stmt.targets, (runs,), tuple(out), None, origin, key))
            return replace(stmt, body=forward, key=key)
        if isinstance(stmt, For) and counter is not None and not has_break and len(stmt.iters) == 1:
            if self.is_sequence(stmt.iters[0]):
                self.of[counter] = SCALAR
                backwards = Call(_REVERSED, (Call(_RANGE, (Call(_LEN, stmt.iters),)),))
                self.emit(For((counter,), (backwards,), tuple(out), None, origin, key))
                return replace(stmt, body=forward, counter=counter, key=key)
        # Count the iterations, and run back from the last of them.
        step = self.fresh("~count")
        self.of[counted] = self.of[step] = SCALAR
        self.before.append(Copy((counted,), (Const(0),)))
        one = Call(algebra.ADD, (Var(counted), Const(1)))
        forward = (Assign(step, one), Copy((counted,), (Var(step),)), *forward)
        runs = Call(_RANGE, (Var(counted),))
        index = counter if counter is not None else self.fresh("~k")
        self.of[index] = SCALAR
        if isinstance(stmt, For):
            if counter is not None:
                runs = Call(_REVERSED, (runs,))
            self.emit(For((index,), (runs,), tuple(out), None, origin, key))
            return replace(stmt, body=forward, counter=counter, key=key)
        self.emit(For((index,), (runs,), tuple(out), None, origin, key))
        return replace(stmt, body=forward, key=key)

    def is_sequence(self, iterable: Expr) -> bool:
        """Whether a loop runs over an array, list or tuple that can be run through again, backwards."""
        name = iterable.name if isinstance(iterable, Var) else ""
        return bool(name) and self.of[name].kind in ("array", "list", "tuple") and name not in self.effects.written

    def iteration(
        self, stmt: For | While, inner: dict[str, Expr], joins: list[tuple[str, str, Expr]], counter: str | None
    ) -> tuple[Block, list[Stmt], list[tuple[str, Expr]]]:
        """Reverse one iteration: the forward body, the reverse one, and the moves at its end."""
        forward, out, after = self.nested(stmt.body, inner)
        outer, outer_adj = self.out, self.adj
        self.out, self.adj = out, after
        if isinstance(stmt, For) and counter is not None:
            for target, iterable in zip(stmt.targets, stmt.iters, strict=True):
                if self.is_buffer(Var(target)):
                    if self.of[target].kind != "array":
                        # An item may be a number, which is no view of the array.
                        self.refuse_buffer(stmt.origin.line)
                    elif target in self.shadows and self.is_buffer(iterable):
                        row = Call(INDEX, (self.shadow(iterable.name), Var(counter)))  # type: ignore[union-attr]
                        forward = (Assign(self.shadows[target], row, stmt.origin), *forward)
                    elif target in self.shadows:
                        self.refuse_buffer(stmt.origin.line)
                    continue
                bar = self.take(target)
                if bar is not None and self.is_active(iterable):
                    self.index(iterable, Var(counter), bar)
        moves: list[tuple[str, Expr]] = []
        for name, join, _ in joins:
            end = after.get(name)
            if end is None:
                end = self.zero(name)
            if end != Var(join):
                moves.append((join, end))
        self.out, self.adj = outer, outer_adj
        return forward, out, moves

    def is_owned(self, bar: Expr) -> bool:
        """Whether nothing else refers to the object of an adjoint."""
        return isinstance(bar, Const) or (isinstance(bar, Var) and bar.name in self.owned)


#: Parameters whose value decides which element goes where, and so has the derivative zero.
_FUNCTIONS = {symbol: function for symbol, function in methods.BINARY.values()}
_SELECTING = frozenset(
    "condition indices indices_or_sections repeats reps shift shape new_shape k n obj source destination".split()
)
_STEPS = {np.full_like: "a", np.heaviside: "x1 x", np.copysign: "x2 y", math.copysign: "y", np.ldexp: "x2 n i"}


def _stepwise(rule: rules.Rule, name: str) -> bool:
    """Whether the result of a rule is a step function of a parameter."""
    return name in _SELECTING or name in _STEPS.get(rule.function, "").split()


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


def bound_twice(bound: Mapping[str, Expr]) -> bool:
    """Whether both operands of an operation are one name."""
    first, *rest = bound.values()
    return isinstance(first, Var) and rest == [first]


def is_light(expr: Expr) -> bool:
    """Whether evaluating ``expr`` again costs about as much as reading a saved value."""
    if isinstance(expr, (Var, Const)):
        return True
    if isinstance(expr, Call):
        if expr.op.kind in ("compare", "bool") or (expr.op.kind == "operator" and expr.op.name in "+-%//"):
            return all(is_light(a) for a in expr.args)
        return expr.op.kind == "attribute" and expr.op.name in ("ndim", "size") and is_light(expr.args[0])
    return False


def _makes_fresh(call: Call) -> bool:
    """Whether a call surely returns an array that nothing else refers to."""
    if call.op.kind == "operator":
        return True
    rule = rules.find(call.op.function)
    return rule is not None and rule.sharing == "fresh" and rule.name.startswith("numpy.")


def _differentiable(stmt: Stmt) -> Iterable[Expr]:
    match stmt:
        case Assign(value=value) | Unpack(value=value):
            yield value
        case Copy(sources=sources):
            yield from sources
        case For(iters=iters):
            yield from iters
        case Store(value=value):
            yield value
        case _:
            return


def _own(block: Block) -> Iterable[Stmt]:
    """The statements of a loop's body that are not inside an inner loop."""
    for stmt in block:
        yield stmt
        if isinstance(stmt, If):
            yield from _own(stmt.then)
            yield from _own(stmt.orelse)


def _is_range(stmt: For) -> bool:
    return (
        stmt.counter is None
        and len(stmt.iters) == 1
        and isinstance(stmt.iters[0], Call)
        and stmt.iters[0].op.function is range
    )
