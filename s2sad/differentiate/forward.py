"""Forward mode: from a function to its tangent.

``forward`` puts the tangent of each active statement beside it (Griewank and Walther, "Evaluating Derivatives", 2008,
section 3.1): the tangent of a name ``x`` is another name ``x_dot``, assigned where ``x`` is.

    y = np.sin(x) * w        y = np.sin(x) * w
                             y_dot = np.cos(x) * x_dot * w

The tangent of an array that is written in place is an array that is written in the same places, and a view of it the
same view of that; the tangent of a container has the same structure.  A name that is not active has no tangent:
it counts as zero, and zeros are made only where something needs them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace

from s2sad.analysis.sharers import sharers
from s2sad.analysis.sharing import sharing
from s2sad.analysis.summaries import user_calls, written_unseen
from s2sad.differentiate.applied import NotDifferentiableError
from s2sad.differentiate.known import Known, Tangential
from s2sad.differentiate.refusals import INTO_STOPPED, INTO_STOPPED_REMEDY, may_write, opaques
from s2sad.differentiate.statements import user_call_of
from s2sad.differentiate.tangent_calls import met_call, user_call
from s2sad.differentiate.tangent_state import State
from s2sad.differentiate.tangent_writes import augmented, owned, store
from s2sad.differentiate.tried_tangents import apart, can_keep, is_item, is_light_index, kept, unseen, writes_in_place
from s2sad.ir.nodes import (
    UNSET,
    Assign,
    Block,
    Break,
    Build,
    Call,
    Copy,
    Effect,
    Evaluate,
    Exit,
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
    blocks,
    is_attempt,
    map_children,
    map_stmt,
    names_in,
    reads,
    rename,
    walk,
    writes,
)
from s2sad.ir.types import item_of
from s2sad.ops.infer.adjoints import tangent_fact
from s2sad.runtime.shadows import require_shared_alike


def forward(known: Known, given: Mapping[str, str]) -> Tangential:
    """Put tangents into a function.

    Args:
        known: The function and what the analyses say of it.
        given: The names of the tangents of parameters, by those of the parameters.

    Raises:
        UnsupportedError: with each place through which no derivative can pass.
    """
    return _Forward(State(known, given)).run()


_REQUIRE_SHARED_ALIKE = Op("runtime", "require_shared_alike", require_shared_alike, pure=False)


class _Forward:
    def __init__(self, state: State) -> None:
        self.state, self.make = state, state.make
        self.tangents, self.refusals = state.tangents, state.refusals
        #: Names that may have no value where it is asked of what form their tangents are.
        self.asked: set[str] = set()
        #: Temporaries that are items or views, which tangents read as such while nothing is written.
        self.read: dict[str, Expr] = {}
        names = {n for s in walk(state.known.function.body) for n in writes(s)}
        names.update(p.name for p in state.known.function.params)
        #: The variables that have more than one value.
        self.again = {name for name, count in Counter(map(base, names)).items() if count > 1}

    def run(self) -> Tangential:
        function = self.state.known.function
        self.state.tried = self.state.known.context.tried
        body = self.block(function.body)
        for read in self.state.known.activity.stale:
            self.refusals.refuse((read or function.body[-1]).origin.line, INTO_STOPPED, INTO_STOPPED_REMEDY)
        result = function.result
        last: list[Stmt] = []
        self.make.out = last
        parts = result.items if isinstance(result, Build) else (result,)
        dots = tuple([self.tangents.held(p) for p in parts if not self.state.active.isdisjoint(names_in(p))])
        self.refusals.check()
        return Tangential((*body, *last), dots, self.make.of, frozenset(self.asked))

    def refuse_unseen(self, stmt: Stmt) -> None:
        """Refuse writes into active objects of which the tangent would not hear."""
        for name in written_unseen(stmt):
            if name in self.state.active:
                wholes: list[Opaque | Effect] = [*([stmt] if isinstance(stmt, Effect) else ()), *opaques(stmt)]
                calls = [n for w in wholes if name in w.writes for n in ast.walk(w.node) if isinstance(n, ast.Call)]
                self.refusals.refuse(stmt.origin.line, *may_write(calls, base(name)))
        held = [name for name in writes(stmt) if name in self.state.dots]
        stopped = self.state.known.activity.stopped.intersection(self.handed_on(stmt)) if held else ()
        if any(not self.state.effects.group.get(name, frozenset()).isdisjoint(held) for name in stopped):
            # Its tangent in a container would be none of the array's own.
            self.refusals.refuse(stmt.origin.line, INTO_STOPPED, INTO_STOPPED_REMEDY)
        openly, written = self.state.effects.written_openly(stmt), self.state.effects.written_by(stmt)
        for name in written:
            group = self.state.effects.group.get(name, frozenset())
            # Into what may be the module's only constants are written; what the statement gives a name comes later.
            elsewhere = frozenset() if name in openly else written.union(writes(stmt))
            if name not in self.state.active and not self.state.active.isdisjoint(group - elsewhere):
                what, remedy = INTO_STOPPED, INTO_STOPPED_REMEDY
                if unknown := next((e for e in opaques(stmt) if e.alters), None):
                    what = (
                        f"{ast.unparse(unknown.node)} may write into anything, {base(min(group & self.state.active))}"
                    )
                    what += " too, which forward mode has no tangent for"
                    remedy = "Call it before, outside of what is differentiated, or use reverse mode."
                self.refusals.refuse(stmt.origin.line, what, remedy)

    def handed_on(self, stmt: Stmt) -> Iterable[str]:
        """The names whose objects a statement may give another name, or put somewhere."""
        if isinstance(stmt, (Assign, Unpack, Store)) and not any(user_calls(stmt)):
            return sharers(stmt.value, self.state.known.facts, self.state.effects.calls)
        return reads(stmt)

    def attempt(self, stmt: If) -> If:
        """A ``try`` with tangents, those of what is tried after it as far as they can be, so that no handler sees what
        they raise."""
        return replace(stmt, then=self.block(stmt.then, True), orelse=self.block(stmt.orelse))

    def block(self, block: Block, attempted: bool = False) -> Block:
        """A block with the tangents of its statements; one that is ``attempted`` begins with what is tried."""
        out: list[Stmt] = []
        late: list[Stmt] = []
        self.read = {}
        around = self.state.tried
        self.state.tried |= attempted
        for stmt in block:
            if attempted and isinstance(stmt, Exit) and stmt.attempt:
                attempted, self.state.tried = False, around
                out += [stmt, *(unseen(late) if around else late)]
                late = []
                continue
            outer = self.make.before, self.make.after, self.make.out, self.make.origin
            self.make.before, self.make.after = [], []
            self.make.out = self.make.after
            self.make.origin = getattr(stmt, "origin", self.make.origin)
            self.refusals.line = self.make.origin.line or self.refusals.line
            given = stmt
            try:
                self.refuse_unseen(stmt)
                stmt = self.statement(stmt)
            except NotDifferentiableError as error:
                value = getattr(stmt, "value", None)
                node = (
                    value.refusal.node if isinstance(value, Opaque) and value.refusal else getattr(value, "node", None)
                )
                self.refusals.refuse(node if node is not None else stmt.origin.line, error.message, error.remedy)
            # A call with its tangent is none of the user's any more.
            self.note_read(given)
            if self.state.tried:
                # Tangents come after what is tried, which may have written there.
                self.read = {}
            if block is self.state.known.function.body:
                self.make.pass_by(given)
            if self.state.tried:
                if late and self.is_flushed(stmt, late):
                    # Taking the items of tangents raises nothing that taking those of values has not raised.
                    out, late = [*out, *(late if all(map(is_item, late)) else unseen(late))], []
                if self.is_flushed(stmt, self.make.before) or not can_keep(self.state, given, stmt, late):
                    before, later = apart(self.state, self.make.before)
                    out += [*unseen(late), *unseen(before), stmt]
                    late = [*later, *self.make.after]
                else:
                    made, late = kept(self.state, given, stmt, late)
                    out += [*made, stmt]
            else:
                if self.is_replaced(stmt):
                    self.make.before, self.make.after = [*self.make.before, *self.make.after], []
                before, after = (list(map(self.with_reads, part)) for part in (self.make.before, self.make.after))
                out += [*before, stmt, *after]
            self.make.before, self.make.after, self.make.out, self.make.origin = outer
        out += unseen(late)
        self.state.tried = around
        return tuple(out)

    def is_flushed(self, stmt: Stmt, late: list[Stmt]) -> bool:
        """Whether tangents have to be computed before a statement: it reads them, branches, breaks, or moves values."""
        if isinstance(stmt, Break) or any(True for _ in blocks(stmt)):
            return True
        if not {n for s in late for n in writes(s)}.isdisjoint(reads(stmt)):
            return True
        if any(map(writes_in_place, late)) and not set(reads(stmt)).isdisjoint(self.state.dots.values()):
            # What a call is given may share memory with what they write.
            return True
        return isinstance(stmt, Copy) and not {n for s in late for n in reads(s)}.isdisjoint(stmt.targets)

    def is_replaced(self, stmt: Stmt) -> bool:
        """Whether the tangent of what a statement assigns stands better before it: the variable had a value before."""
        if not isinstance(stmt, Assign) or base(stmt.target) not in self.again or stmt.target.startswith("~"):
            return False
        return not any(stmt.target in reads(s) for s in self.make.after)

    def statement(self, stmt: Stmt) -> Stmt:
        if (called := user_call_of(stmt)) is not None:
            return user_call(self.state, *called)
        match stmt:
            case Assign(target=target, value=Call(op=Op(kind="met")) as call):
                return met_call(self.state, stmt, target, call)
            case Assign(target=target, value=Call(op=Op(kind="inplace")) as call) if target in self.state.dots:
                augmented(self.state, target, call)
            case Assign(target=target, value=value) if target in self.state.dots:
                self.assign(target, value)
            case Copy():
                return self.moves(stmt)
            case Unpack(targets=targets, value=value) if (whole := self.tangents.iterated(value)) is not None:
                self.make.emit(replace(stmt, targets=tuple(map(self.state.dot_or_dummy, targets)), value=whole))
            case Unpack(targets=targets, value=value):
                self.state.zeroed(targets, value)
            case If() if is_attempt(stmt):
                return self.attempt(stmt)
            case If(then=then, orelse=orelse):
                return replace(stmt, then=self.block(then), orelse=self.block(orelse))
            case While(body=body):
                return replace(stmt, body=self.block(body))
            case For():
                return self.loop(stmt)
            case Store():
                store(self.state, stmt)
            case _:
                pass
        return stmt

    def note_read(self, stmt: Stmt) -> None:
        """Note a temporary that is an item or view, and forget those of what a statement may write."""
        if any(True for _ in blocks(stmt)) or any(user_calls(stmt)):
            self.read = {}
        elif written := {m for n in self.state.effects.written_by(stmt) for m in self.state.effects.group.get(n, (n,))}:
            self.read = {n: e for n, e in self.read.items() if written.isdisjoint(names_in(e))}
        match stmt:
            case Assign(target=target, value=Call(op=Op(kind="index"), args=(Var() as whole, index))) if (
                target.startswith("~t") and self.make.fact(whole).kind == "array" and is_light_index(index)
            ):
                self.read[target] = map_children(stmt.value, lambda e: rename(e, self.read))

    def with_reads(self, stmt: Stmt) -> Stmt:
        """A statement about tangents that reads items and views of arrays where they are."""
        if not self.read:
            return stmt
        return map_stmt(stmt, lambda e: rename(e, self.read), lambda b: b)

    def assign(self, target: str, value: Expr) -> None:
        if value == UNSET:
            self.state.define(target, UNSET)
            return
        self.refusals.refuse_exception(target, value, self.make.origin.line)
        tangents = self.tangents
        whole = isinstance(value, Call) and (tangents.is_active(value) or tangents.merges(value))
        dot = tangents.of_call(value, Var(target)) if whole and isinstance(value, Call) else tangents.of(value)
        if dot is None:
            self.state.zeroed([target], value)
        else:
            if isinstance(value, Call) and value.op.function is deepcopy and self.state.is_written(target):
                self.check_copied(value.args[0])
            self.state.define(target, owned(self.state, target, value, dot))

    def check_copied(self, whole: Expr) -> None:
        """Check that what is one object in a container of which a copy is written has one tangent."""
        if self.make.fact(whole).kind not in ("array", "numeric", "scalar"):
            check = Call(_REQUIRE_SHARED_ALIKE, (self.tangents.held(whole), whole))
            self.make.emit(Evaluate(check, self.make.origin))

    def moves(self, stmt: Copy) -> Copy:
        """Moves into join names with those of tangents."""
        targets, sources = list(stmt.targets), list(stmt.sources)
        for target, source in zip(stmt.targets, stmt.sources, strict=True):
            if target not in self.state.dots:
                continue
            if source == UNSET:
                dot: Expr | None = UNSET
            else:
                dot = self.tangents.of(source)
            if dot is None and isinstance(source, Var) and source.name in self.state.known.unbound:
                if self.make.of[source.name].kind != "scalar":
                    self.asked.add(source.name)
            is_array = self.state.is_buffer(target) and self.make.fact(source).kind not in ("scalar", "none")
            if dot is None and is_array and not self.state.is_constant_parameter(source):
                self.refusals.refuse(stmt.origin.line, INTO_STOPPED, "Take a copy of it first.")
            targets.append(self.state.dots[target])
            sources.append(self.tangents.zeros(source) if dot is None else dot)
        return replace(stmt, targets=tuple(targets), sources=tuple(sources))

    def loop(self, stmt: For) -> Stmt:
        """A loop that runs over tangents beside what it runs over."""
        pairs = [(t, i) for t, i in zip(stmt.targets, stmt.iters, strict=False)] if not stmt.unpacked else []
        dots, tangents = self.state.dots, self.tangents
        active = any(map(tangents.is_active, stmt.iters)) and any(t in dots for t in stmt.targets)
        if not active:
            body = self.block(stmt.body)
            for i, target in enumerate(stmt.targets):
                self.check_items(target, stmt.iters[0 if stmt.unpacked else i], stmt)
            starts = [Assign(dots[t], tangents.zeros(Var(t)), stmt.origin) for t in stmt.targets if t in dots]
            return replace(stmt, body=(*starts, *body))
        if stmt.unpacked:
            item, dot = self.make.fresh("~item"), self.make.fresh("~item_dot")
            (runs,) = stmt.iters
            self.make.of[item] = self.make.named(item_of(self.make.fact(runs), 0), item)
            self.make.of[dot] = self.make.named(tangent_fact(self.make.of[item]), dot)
            first = Unpack(stmt.targets, Var(item), None, stmt.origin)
            second = Unpack(tuple(map(self.state.dot_or_dummy, stmt.targets)), Var(dot), None, stmt.origin)
            body = (first, second, *self.block(stmt.body))
            both = (runs, self.tangents.held(runs))
            return replace(stmt, targets=(item, dot), iters=both, body=body, unpacked=False)
        targets, iters = list(stmt.targets), list(stmt.iters)
        zeros: list[Stmt] = []
        for target, runs in pairs:
            if target not in self.state.dots:
                continue
            along = self.tangents.iterated(runs)
            if along is None:
                self.check_items(target, runs, stmt)
                zeros.append(Assign(self.state.dots[target], self.tangents.zeros(Var(target)), stmt.origin))
            else:
                targets.append(self.state.dots[target])
                iters.append(along)
        return replace(stmt, targets=tuple(targets), iters=tuple(iters), body=(*zeros, *self.block(stmt.body)))

    def check_items(self, target: str, runs: Expr, stmt: For) -> None:
        """Refuse a loop that writes into items of something constant, of which other names may be parts."""
        if self.state.is_buffer(target) and not (isinstance(runs, Call) and sharing(runs, self.make.fact) == "fresh"):
            what = f"{base(target)} is written in place, and what the loop has it from is constant here"
            self.refusals.refuse(stmt.origin.line, what, f"Write into a copy: np.copy({base(target)}).")
