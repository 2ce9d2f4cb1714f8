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

from collections.abc import Iterable, Mapping
from dataclasses import replace

from s2sad.analysis.activity import carriers
from s2sad.analysis.summaries import user_calls
from s2sad.analysis.versions import changed_items
from s2sad.attempts import noted
from s2sad.differentiate.buffers import HOLDERS
from s2sad.differentiate.builder import INDEX
from s2sad.differentiate.known import Known, Reversed
from s2sad.differentiate.loops import differentiable, is_range, of_loop
from s2sad.differentiate.writes import Writes
from s2sad.errors import UnsupportedError
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
    If,
    Op,
    Opaque,
    Stmt,
    Store,
    Unpack,
    Var,
    While,
)
from s2sad.ir.traverse import (
    base,
    is_attempt,
    is_light,
    loop_heads,
    names_in,
    rename,
    walk,
    with_names,
    writes,
)
from s2sad.ir.types import SCALAR, Atom, Fact

_LEN = Op("runtime", "len", len)
_RANGE = Op("runtime", "range", range)
_REVERSED = Op("runtime", "reversed", reversed)


def reverse(
    known: Known,
    seeds: Iterable[tuple[str, Expr]],
    wrt: Iterable[str],
    seed_facts: Mapping[str, Fact],
    passed: Mapping[str, str],
    views: Iterable[str],
) -> Reversed:
    """Differentiate a function.

    ``seeds`` gives the adjoints of names at the end of the body, ``wrt`` the names whose adjoints at its beginning are
    wanted.  ``passed`` has the shadows that the caller makes, ``views`` the names whose shadows it wants.

    Raises:
        UnsupportedError: with each place through which no derivative can pass.
    """
    made = _Reverse(known)
    made.begin(seeds, seed_facts, passed, views)
    return made.run(tuple(wrt))


class _Reverse(Writes):
    def __init__(self, known: Known) -> None:
        super().__init__(known)
        self.views: tuple[str, ...] = ()
        self.passed: frozenset[str] = frozenset()
        self.keys = 0
        self.rebuilt: set[str] = set()
        self.heads: frozenset[str] = frozenset()

    def begin(
        self,
        seeds: Iterable[tuple[str, Expr]],
        seed_facts: Mapping[str, Fact],
        passed: Mapping[str, str],
        views: Iterable[str],
    ) -> None:
        """Set the adjoints at the end of the function, and the shadows that come from outside or go there."""
        self.of.update(seed_facts)
        self.passed = frozenset(passed)
        for name, bar in passed.items():
            self.shadows.update(dict.fromkeys(self.same.get(name, (name,)), bar))
            self.of[bar] = self.of[name]
        self.views = tuple(views)
        for name in (*passed, *self.views):
            self.shadow(name)
            if self.of[name].kind not in HOLDERS or (name in self.turned and name in self.views):
                self.refuse_buffer(None, name)
        for name, g in seeds:
            if name in self.adj or self.is_buffer(Var(name)):
                self.contribute(Var(name), g)
            else:
                self.adj[name] = g

    def run(self, wrt: tuple[str, ...]) -> Reversed:
        """Reverse the function."""
        for stmt in walk(self.function.body):
            self.refuse_wholes(stmt)
        for read in self.stale:
            self.refuse_stopped((read or self.function.body[-1]).origin.line)
        body = self.block(self.function.body)
        self.origin = NOWHERE
        for param in self.function.params:
            if param.name in self.shadows and param.name not in self.passed:
                # Who calls does not know of it: what it is in the end is the adjoint of the argument.
                bar = self.adj[param.name] = self.shadow(param.name)
                self.owned.add(bar.name)
                body = (Assign(bar.name, self.made_zero(param.name, Var(param.name))), *body)
        given: set[str] = set()
        adjoints = tuple([self.result(name, given) for name in wrt])
        if self.complex:
            adjoints = tuple([self.realised(g, self.of[name]) for g, name in zip(adjoints, wrt, strict=True)])
        refused = self.violations if self.explained else self.violations + self.misused
        if refused or self.refused_calls:
            whole = [v for v in refused if not (v.place and any(map(v.place.is_within, self.refused_calls)))]
            raise UnsupportedError(whole or refused, self.explained, not self.violations)
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
        outward = tuple(self.shadows[n] for n in self.views)
        loose = frozenset(self.shadows[n] for n in self.unbound if n in self.shadows)
        return Reversed(
            body,
            tuple(self.out),
            adjoints,
            self.of,
            self.shadows,
            loose,
            outward,
            frozenset(self.stable),
            self.stored,
            self.complex,
        )

    def block(self, block: Block) -> Block:
        """Reverse a block into ``out``; returns it with what the forward part must add."""
        forward: list[Stmt] = []
        self.note_stored(block)
        for stmt in reversed(block):
            self.beyond = set(self.changed_later)
            if isinstance(stmt, (For, While)):
                self.note_writes(stmt)
            self.origin = getattr(stmt, "origin", self.origin)
            self.line = self.origin.line or self.line
            self.before, self.after = [], []
            written = self.effects.written_by(stmt)
            if isinstance(stmt, (Assign, Store)) and not any(user_calls(stmt)):
                # An augmented assignment or store reads its operands before it writes.
                self.later |= written
            self.changed_later |= self.effects.changed_by(stmt)
            altering = self.effects.alters(stmt)
            self.tried = id(stmt) in self.trying
            stmt = self.statement(stmt)
            self.later |= written
            self.altered_later |= altering
            forward += self.after
            forward.append(stmt)
            forward += reversed(self.before)
        forward.reverse()
        return tuple(forward)

    def statement(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Assign(value=Call(op=op) as call) if op.kind == "met":
                return self.met_call(stmt, call)
            case Assign(target=target, value=Call(op=op) as call) if op.kind == "user":
                return self.user_call(stmt, call, (target,))
            case Unpack(targets=targets, value=Call(op=op) as call, star=None) if op.kind == "user":
                return self.user_call(stmt, call, targets)
            case Evaluate(value=Call(op=op) as call) if op.kind == "user":
                return self.user_call(stmt, call, ())
            case Assign(target=target, value=Call(op=op) as call) if op.kind == "change" and self.is_changed(target):
                self.changed(stmt, call)
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
            case Call(op=op) if op.kind == "index":
                self.index(value.args[0], value.args[1], z_bar)
            case Call() if self.is_active(value):
                self.ruled(value, Var(target), z_bar)
            case _:
                pass
        return stmt

    def nested(self, block: Block, adj: dict[str, Expr]) -> tuple[Block, list[Stmt], dict[str, Expr]]:
        """Reverse an inner block with the adjoints ``adj``: the forward block, the reverse one, the adjoints."""
        outer, outer_before, outer_after, outer_adj = self.out, self.before, self.after, self.adj
        beyond = self.beyond
        self.out, self.before, self.after, self.adj = [], [], [], dict(adj)
        forward = self.block(block)
        reversed_, after, self.beyond = self.out, self.adj, beyond
        self.out, self.before, self.after, self.adj = outer, outer_before, outer_after, outer_adj
        return forward, reversed_, after

    def grows(self, head: str) -> bool:
        """Whether a variable may have another shape in each iteration: one that only its own name stands for."""
        shape = self.of[head].shape
        return shape is None or any(atom.name in (f"{head}*", f"{head}?") for atom in shape)

    def key(self) -> int:
        self.keys += 1
        return self.keys

    def branch(self, stmt: If) -> Stmt:
        asked = stmt.test
        if not (isinstance(asked, Call) and asked.op.kind in ("attempt", "caught")):
            return self.branch_by(stmt, None)
        name = self.fresh("~done" if is_attempt(stmt) else "~caught")
        self.of[name] = SCALAR
        return replace(self.branch_by(noted(stmt, name), Var(name)), test=asked)

    def branch_by(self, stmt: If, known: Expr | None) -> If:
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
                a = self.zero(name, "before")
            if b is None:
                self.out = else_out
                b = self.zero(name, "before")
            join = self.joined(name, a, b)
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
            test = self.condition(stmt.test) if known is None else known
            self.emit(If(test, tuple(then_out), tuple(else_out), origin, key))
        return If(test, then, orelse, origin, key)

    def condition(self, test: Expr) -> Expr:
        """The condition of a branch as the reverse part can test it: once more, or by a name that holds it."""
        if isinstance(test, (Var, Const)) and not set(names_in(test)) & self.mutable:
            return test
        if is_light(test) and not set(names_in(test)) & self.mutable:
            if all(name in self.rebuilt for name in names_in(test)) or not self.depth:
                return test
        name = self.fresh("~test")
        test = self.outcome(test)
        self.of[name] = self.fact(test)
        self.before.append(Assign(name, test, self.origin))
        return Var(name)

    def loop(self, stmt: For | While) -> Stmt:
        origin = self.origin
        body_names = {n for s in walk(stmt.body) for n in writes(s)}
        read: dict[str, None] = {}
        for s in walk(stmt.body):
            for expr in differentiable(s):
                read.update(dict.fromkeys(n for n in carriers(expr) if n in self.active))
        if isinstance(stmt, For):
            for iterable in stmt.iters:
                read.update(dict.fromkeys(n for n in carriers(iterable) if n in self.active))
        read = {n: None for n in read if not self.is_buffer(Var(n))}
        heads = [n for n in dict.fromkeys(loop_heads(stmt.body)) if n in self.active and not self.is_buffer(Var(n))]
        tracked = [n for n in read if n not in body_names] + list(heads)
        if isinstance(stmt, For):
            tracked = [n for n in tracked if n not in stmt.targets]
        stores = any(isinstance(s, (Store, Evaluate)) or self.effects.written_by(s) for s in walk(stmt.body))
        if not stores and not any(n in self.active for n in body_names):
            return stmt
        for iterable in stmt.iters if isinstance(stmt, For) else ():
            changed = list(changed_items(stmt.body, iterable, self.effects.versions))
            if any(n in self.active for n in changed):
                what = f"{base(changed[0])} is changed while this loop runs over it"
                self.violation(origin.line, what, "Run over a copy (x.copy()), or count: for i in range(...).")
        inner: dict[str, Expr] = {}
        joins: list[tuple[str, str, Expr]] = []
        for name in tracked:
            start = self.adj.get(name)
            if start is None:
                start = self.zero(name)
            elif self.is_changed(name):
                self.adj[name] = start = self.of_own(start, name)
            elif name not in heads and not self.is_owned(start) and self.of[name].kind == "array":
                # It is added to in each iteration: in place, once it is ours.
                self.adj[name] = start = self.result(name, set())
                if not isinstance(start, Var) or start.name not in self.owned:
                    start = self.let(self.bar(name), start, replace(self.of[name], real=self.fact(start).real))
                    self.owned.add(start.name)
            join = self.joined(name, start)
            if name in heads and self.grows(name):
                # It is the adjoint of what the iteration ends with, which has another shape.
                self.of[join] = replace(self.of[join], shape=frozenset({Atom(join)}), dims=None)
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
        has_break = any(isinstance(s, Break) for s in of_loop(stmt.body))
        plain = isinstance(stmt, For) and not has_break and counter is None and len(stmt.iters) == 1
        by_range = plain and (is_range(stmt) or self.is_sequence(stmt.iters[0]))  # type: ignore[arg-type,union-attr]
        before = set(self.owned)
        self.depth += 1
        outer_heads, self.heads = self.heads, frozenset(heads)
        if by_range:
            assert isinstance(stmt, For)
            stmt = self.with_fixed_range(stmt)
            self.rebuilt.update(stmt.targets)
        later = set(self.later)
        while True:
            self.later = set(later)
            forward, out, moves = self.iteration(stmt, inner, joins, counter if needs_index else None)
            # An adjoint that may be written in place in the next iteration must be owned at the end of this one.
            shared = {join for join, end in moves if join in before and not self.is_owned(end)}
            # One that is complex at the end of an iteration is so at the beginning of the next.
            complex_ = {join for join, end in moves if self.of[join].real and not self.fact(end).real}
            if not shared and not complex_:
                break
            self.of.update({join: replace(self.of[join], real=False) for join in complex_})
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
        fixed = not self.is_overwritten(name) if name in self.versions else name not in self.mutable
        return bool(name) and self.of[name].kind in ("array", "list", "tuple") and fixed

    def iteration(
        self, stmt: For | While, inner: dict[str, Expr], joins: list[tuple[str, str, Expr]], counter: str | None
    ) -> tuple[Block, list[Stmt], list[tuple[str, Expr]]]:
        """Reverse one iteration: the forward body, the reverse one, and the moves at its end."""
        forward, out, after = self.nested(stmt.body, inner)
        outer, outer_adj = self.out, self.adj
        self.out, self.adj = out, after
        if isinstance(stmt, For):
            for target, iterable in zip(stmt.targets, stmt.iters, strict=True):
                if target in self.shadows and not self.is_active(iterable):
                    self.refuse_stopped(stmt.origin.line)
        if isinstance(stmt, For) and counter is not None:
            for target, iterable in zip(stmt.targets, stmt.iters, strict=True):
                if self.is_buffer(Var(target)):
                    if self.of[target].kind not in HOLDERS:
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
                    self.row(iterable, Var(counter), bar)
        moves: list[tuple[str, Expr]] = []
        for name, join, _ in joins:
            end = after.get(name)
            if end is None:
                end = self.zero(name, "inside")
            if end != Var(join):
                moves.append((join, end))
        self.out, self.adj = outer, outer_adj
        return forward, out, moves
