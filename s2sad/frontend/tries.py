"""Lower ``with`` and ``try``.

    with m as t: body       enter m as t; body; exit

    try: body               enter; body; exit, except E: raise ...
    except E: raise ...

    try: body               if attempt(E):
    except E: handler           enter; body; exit; rest
    else: rest              else:
                                handler

Which arm of such a branch has run is known once it is over, and the reverse part tests that.  What the body has done
when it raises is known too: a variable that the handler reads, or what comes after it, is assigned by the last
statement of the body, which also writes what the body writes.  A body with more of these is several, each tried by
itself:

    try: y = f(x); z = g(y)     try: y = f(x)
    except E: use(y)            except E: use(y)
                                else:
                                    try: z = g(y)
                                    except E: use(y)

A variable that carries no derivative needs no more than a join name, which each assignment in the body sets, and each
change of the container that it holds.  Where a statement is not whole (a loop, a branch, a call that writes), a
variable of ours says whether it has left something by then, and the handlers refuse if it has:

    try:                            left = False
        with quiet():               try:
            y = f(x)                    with quiet():
            z = g(y)                        y = f(x); left = True; z = g(y)
    except E: use(y)                except E: require_nothing_left(left); use(y)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.errors import S2SADError
from s2sad.frontend.changes import is_moving
from s2sad.frontend.control import ControlFlow, append_move
from s2sad.frontend.dependence import assigned, stored_base
from s2sad.frontend.desugar import Unswallowed
from s2sad.frontend.exposure import Needed, all_raise, needed_by
from s2sad.frontend.given import is_built_in
from s2sad.frontend.managers import bound_value, is_transparent
from s2sad.frontend.opaque import is_plain
from s2sad.frontend.trees import COMPOUND, head_of, nodes_of
from s2sad.frontend.writing import written_in
from s2sad.ir.nodes import HOLDING, Assign, Call, Const, Copy, Enter, Evaluate, Exit, Expr, If, Op, Var
from s2sad.runtime.items import require_nothing_left, require_unswallowed, require_unwritten

Node = Any
#: The classes of which the errors of this package are: where they are caught, these are not.
GUARD = Call(Op("runtime", "S2SADError", S2SADError), ())
_REQUIRE_UNSWALLOWED = Op("runtime", "require_unswallowed", require_unswallowed, pure=False)
_REQUIRE_UNWRITTEN = Op("runtime", "require_unwritten", require_unwritten, pure=False)
_REQUIRE_NOTHING_LEFT = Op("runtime", "require_nothing_left", require_nothing_left, pure=False)
#: What NumPy raises when it has already written.
_LATE = (FloatingPointError, Warning)
#: The variable of ours that says which arm of a branch that is tried runs.
TEST = "~test"
_APART = "Try each statement that may raise by itself."
_AS_STORE = "Write it as a[indices] = values, which NumPy does as a whole."
_IN_A_MANAGER = ("what is differentiated goes into a context manager", "Take it out of the with.")


class Protected(ControlFlow):
    """The part of the lowering that ``with`` and ``try`` are for."""

    #: For each variable that handlers read as of when the body raises, its join name, and for each the version that
    #: this holds; of the statements around.
    tracked: list[tuple[dict[str, str], dict[str, str]]]
    #: The variables of ours that say whether a statement that is tried has left something, and for each which variables
    #: are read once it has raised; of the statements around.
    leaving: list[tuple[str, set[str]]]

    def statement(self, s: Node) -> bool:
        """Lower a statement; returns whether it leaves its loop on every path."""
        raise NotImplementedError

    def statements(self, body: list[Node]) -> bool:
        """Lower a block; returns whether it leaves its loop (ends in ``break`` on every path)."""
        leaves = False
        for s in body:
            self.tracking()
            self.note_left(s, begun=False)
            leaves = self.statement(s)
            if not leaves:
                self.tracking()
                self.note_left(s, begun=True)
        return leaves

    def unswallowed(self, s: Unswallowed) -> None:
        """Lower the call of ``__exit__`` of a manager, which may not keep the exception back."""
        if self.depends(s.value):
            self.violation(s.value, *_IN_A_MANAGER)
            return
        self.emit(Evaluate(Call(_REQUIRE_UNSWALLOWED, (self.ordered(s.value),)), self.origin))

    def with_statement(self, s: Node) -> None:
        """Lower a ``with`` of one manager."""
        (item,) = s.items
        manager, target = item.context_expr, item.optional_vars
        origin = self.origin
        value = bound_value(manager, self.resolver.lookup)
        if value is not None:
            # It does no more than give what it has been given.
            if target is None:
                self.statement(gast.copy_location(gast.Expr(value), value))
            else:
                self.bind(target, self.value(value))
            self.statements(s.body)
            return
        if self.depends(manager):
            self.violation(manager, *_IN_A_MANAGER)
            return
        entered = self.ordered(manager)
        name = None
        if target is not None:
            name = self.fresh(target.id if isinstance(target, gast.Name) else "~t")
        transparent = is_transparent(manager, self.resolver.lookup) and all(
            is_plain(part, self.resolver.lookup) for part in [*manager.args, *(k.value for k in manager.keywords)]
        )
        self.emit(Enter(entered, name, origin, transparent))
        if target is not None and name is not None:
            self.bind_in_order([(target, Var(name))])
        self.statements(s.body)
        self.emit(Exit(origin=origin))

    def try_statement(self, s: Node) -> None:
        """Lower a ``try`` without ``finally``."""
        if s.finalbody:
            self.violation(s, "finally leaves the function or loop here", "Leave it after the try.")
            return
        needed: Needed = needed_by(s)
        classes = [None if h.type is None else h.type for h in s.handlers]
        for node in classes:
            if node is not None and self.depends(node):
                self.violation(node, "the class of an exception depends on what is differentiated", "Name it.")
                return
        if all(map(all_raise, (h.body for h in s.handlers))):
            self.protect(s, needed)
            return
        for handler in s.handlers:
            self.check_exception(handler)
        active = {n for n in needed.after if not self.is_tracked(n, Needed(needed.after, frozenset()))}
        branched = self.branched(s, active)
        if branched is not None:
            self.try_statement(branched)
            return
        parts = list(self.pieces(s.body, active))
        self.attempts(s, parts, needed, active)

    def branched(self, s: Node, active: set[str]) -> Node | None:
        """A ``try`` with a branch that leaves something, as one whose arms are tried each by itself; else None."""
        at = next((i for i, b in enumerate(s.body) if isinstance(b, gast.If) and self.leaves_behind(b, active)), None)
        if at is None:
            return None
        branch, rest = s.body[at], s.body[at + 1 :]
        if rest and not any(map(all_raise, (branch.body, branch.orelse))):
            # What comes after it would be there twice.
            return None

        def tried(arm: list[Node]) -> list[Node]:
            if not all_raise(arm):
                arm = [*arm, *rest]
            whole = gast.Try(body=arm, handlers=s.handlers, orelse=[] if all_raise(arm) else s.orelse, finalbody=[])
            return [self.like(s, whole)] if arm else [*s.orelse]

        name = gast.Name(id=TEST, ctx=gast.Store(), annotation=None, type_comment=None)
        test, caught = branch.test, [v for h in s.handlers for v in self.caught(h.type)]
        if any(v is None or issubclass(ValueError, v) for v in caught):
            # Whether an array counts as true may raise.
            test = gast.Call(func=_named("bool"), args=[test], keywords=[])
        asked = gast.Assign(targets=[name], value=test, type_comment=None)
        arms = gast.If(test=_named(TEST), body=tried(branch.body), orelse=tried(branch.orelse))
        body = [*s.body[:at], gast.copy_location(asked, branch)]
        return self.like(s, gast.Try(body=body, handlers=s.handlers, orelse=[self.like(branch, arms)], finalbody=[]))

    @staticmethod
    def like(s: Node, made: Node) -> Node:
        """A statement in the place of another, with what is known of that."""
        gast.fix_missing_locations(gast.copy_location(made, s))
        if hasattr(s, "needed"):
            made.needed = s.needed
        return made

    def check_exception(self, handler: Node) -> None:
        """Find the handlers that take from an exception an object that may be written or differentiated."""
        if handler.name is None or not self.depends(handler.name):
            return
        for s in handler.body:
            if isinstance(s, (gast.Raise, gast.Expr)):
                continue
            texts = [n for n in nodes_of(s) if isinstance(n, gast.JoinedStr) or _says(n)]
            plain = {id(n) for text in texts for n in nodes_of(text)}
            for node in nodes_of(s):
                if isinstance(node, gast.Name) and node.id == handler.name.id and id(node) not in plain:
                    what = "what an exception holds may depend on what is differentiated"
                    self.violation(node, what, "Hand it on in a variable.")

    # --- handlers that all raise

    def protect(self, s: Node, needed: Needed) -> None:
        """Lower a ``try`` whose handlers all raise: where it comes to its end, its body has."""
        origin = self.origin
        classes = self.classes(s)
        self.emit(Enter(origin=origin))
        joins = self.track({*needed.after, *needed.raising} & self.altered(s.body))
        self.statements(s.body)
        self.tracked.pop()
        env, outer = dict(self.env), self.block
        self.env |= joins
        self.block = []
        self.handlers(s, 0, writes=False)
        handler, self.block, self.env = self.block, outer, env
        self.origin = origin
        self.emit(Exit(classes, tuple(handler), origin))
        self.statements(s.orelse)

    # --- handlers that come to an end

    def attempts(self, s: Node, parts: list[list[Node]], needed: Needed, active: set[str]) -> None:
        """Lower a ``try`` whose body is tried part by part; what comes after the last part is not tried."""
        origin = self.origin
        tried, *rest = parts
        classes = self.classes(s)
        left, what = "", next(filter(None, (self.leaves_behind(part, active) for part in tried)), "")
        if what and not self.is_whole(tried[-1]):
            left = self.fresh("~left")
            self.emit(Copy((left,), (Const(False),), origin))
            self.leaving.append((left, active))
        before, outer = dict(self.env), self.block
        self.block = []
        self.emit(Enter(origin=origin))
        inside = self.altered(tried)
        joins = self.track({n for n in (needed.after | needed.raising) & inside if self.is_tracked(n, needed)})
        self.statements(tried)
        self.tracked.pop()
        if left:
            self.leaving.pop()
        self.emit(Exit(origin=origin, attempt=True))
        if len(rest) > 1:
            self.origin = origin
            self.attempts(s, rest, needed, active)
        else:
            self.statements([*rest[0], *s.orelse])
        env, then = self.env, self.block
        self.env, self.block = {**before, **joins}, []
        if left:
            remedy = _AS_STORE if self.goes_by_item(tried[-1]) else _APART
            self.emit(Evaluate(Call(_REQUIRE_NOTHING_LEFT, (Var(left), Const(what), Const(remedy))), origin))
        self.handlers(s, 0, writes=any(any(self.left_written(part)) for part in tried))
        other, orelse = self.env, self.block
        self.origin = origin
        self.env = dict(before)
        self.join(env, then, other, orelse)
        self.block = outer
        self.emit(If(Call(Op("attempt", "try", pure=False), classes), tuple(then), tuple(orelse), origin))

    def altered(self, body: list[Node]) -> set[str]:
        """The variables of which statements make new versions: they assign them, or change what they hold."""
        return {*assigned(body), *(name for name, _ in self.changes_in(body))}

    def is_tracked(self, name: str, needed: Needed) -> bool:
        """Whether handlers read a variable as of when the body raises by a join name."""
        return name not in needed.after or not self.depends(_named(name))

    def pieces(self, body: list[Node], active: set[str]) -> Iterator[list[Node]]:
        """The parts of a body that are tried one by one, and at last what is not tried, since it cannot raise."""
        end = len(body)
        while end and _cannot_raise(body[end - 1]):
            end -= 1
        part: list[Node] = []
        for s in body[:end]:
            part.append(s)
            if self.leaves_behind(s, active):
                yield part
                part = []
        if part or not end:
            yield part
        yield body[end:]

    def leaves_behind(self, s: Node, needed: set[str]) -> str:
        """The variable in which a statement leaves something that handlers, or what comes after them, may see."""
        named = (name for name in assigned([s]) if name in needed)
        return next(named, "") or next(self.left_written(s), "")

    def note_left(self, s: Node, begun: bool) -> None:
        """Note that a statement leaves something, before it where it may raise when it has, else after it."""
        compound = isinstance(s, COMPOUND)
        for left, active in self.leaving:
            head = head_of(s)
            # An array that a name stands for is changed by an operator at last.
            by_name = isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name)
            written = any(any(self.left_written(part)) for part in ([s.value] if by_name else head))
            at_once = written or (compound and not active.isdisjoint(assigned(head)))
            if (not begun and at_once) or (begun and not compound and self.leaves_behind(s, active)):
                self.emit(Copy((left,), (Const(True),), self.origin))

    def left_written(self, s: Node) -> Iterator[str]:
        """The variables whose objects a statement may write where they may carry derivatives, once for each place."""
        for node in nodes_of(s):
            if isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(node.ctx, (gast.Store, gast.Del)):
                if self.depends(node.value):
                    yield stored_base(node) or "an object"
            elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and self.depends(node.target):
                yield node.target.id
            elif isinstance(node, gast.Call) and (name := self.written_by_call(node)):
                yield name

    def written_by_call(self, call: Node) -> str:
        """A variable whose object a call may write where it may carry a derivative; empty if there is none."""
        # Of what is known at run time only it is checked that it does not.
        names = [] if self.is_met(call) else written_in(call, self.resolver.lookup)
        return next((name for name in names if self.depends(_named(name))), "")

    def is_whole(self, s: Node) -> bool:
        """Whether a statement that leaves something has raised nothing where it has done so."""
        nodes = nodes_of(s)
        if isinstance(s, COMPOUND) or any(isinstance(n, gast.NamedExpr) for n in nodes):
            return False
        targets = getattr(s, "targets", [])
        if any(not isinstance(e, gast.Name) for t in targets for e in getattr(t, "elts", ())):
            return False
        if len(targets) > 1 and not all(isinstance(t, gast.Name) for t in targets):
            return False
        if len(list(self.left_written(s))) > 1:
            return False
        if self.goes_by_item(s):
            return False
        lookup = self.resolver.lookup
        for node in nodes:
            if isinstance(node, gast.Call) and self.written_by_call(node):
                # What one of Python's or NumPy's own writes, it writes at last, but where it compares items meanwhile.
                own = is_built_in(node.func, lookup) or ops.spec_of(lookup(node.func)[1]) is not None
                compares = is_moving(lookup(node.func)[1]) or getattr(node.func, "attr", "") == "sort"
                return own and node is getattr(s, "value", None) and not compares
        return True

    def goes_by_item(self, s: Node) -> bool:
        """Whether NumPy writes item by item, up to the first that has no place: ``np.put``, a store in ``a.flat``."""
        for node in nodes_of(s):
            if isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load):
                if getattr(node.value, "attr", "") == "flat":
                    return True
            if isinstance(node, gast.Call) and self.written_by_call(node):
                if getattr(node.func, "attr", "") == "put" or self.resolver.lookup(node.func)[1] is np.put:
                    return True
        return False

    # --- both

    def classes(self, s: Node) -> tuple[Expr, ...]:
        """The classes that the handlers catch, None for all, after one of our own if they would catch that."""
        found = [Const(None) if h.type is None else self.constant(h.type) for h in s.handlers]
        return (GUARD, *found) if any(self.is_broad(h.type) for h in s.handlers) else tuple(found)

    def is_broad(self, node: Node) -> bool:
        """Whether a handler may catch an error of ours."""
        ours = (S2SADError, *_subclasses(S2SADError))
        return any(value is None or any(issubclass(cls, value) for cls in ours) for value in self.caught(node))

    def is_late(self, node: Node) -> bool:
        """Whether a handler may catch what NumPy raises when it has written."""
        late = (
            value is None or issubclass(value, _LATE) or any(issubclass(cls, value) for cls in _LATE)
            for value in self.caught(node)
        )
        return any(late)

    def caught(self, node: Node) -> Iterator[type | None]:
        """The classes that a handler is for, None for one that is not known."""
        if isinstance(node, gast.Tuple):
            for part in node.elts:
                yield from self.caught(part)
            return
        found, value = (True, BaseException) if node is None else self.resolver.lookup(node)
        yield value if found and isinstance(value, type) else None

    def handlers(self, s: Node, which: int, writes: bool) -> None:
        """Lower the handlers from one on, as branches that ask which one it is.

        Where the body ``writes`` at its end, they look whether it may have before it raised.
        """
        handler, others = s.handlers[which], s.handlers[which + 1 :]
        origin = self.origin

        def run() -> None:
            if handler.name is not None:
                name = self.fresh(handler.name.id)
                made = HOLDING if self.depends(handler.name) else "exception"
                self.emit(Assign(name, Call(Op("exception", made), ()), origin))
                self.env[handler.name.id] = name
            if writes and self.is_late(handler.type):
                self.emit(Evaluate(Call(_REQUIRE_UNWRITTEN, ()), origin))
            self.statements(handler.body)
            if handler.name is not None:
                self.env.pop(handler.name.id, None)

        if not others:
            run()
            return
        test = Call(Op("caught", "caught"), (Const(which),))
        before, outer = dict(self.env), self.block
        arms = []
        for arm in (run, lambda: self.handlers(s, which + 1, writes)):
            self.env, self.block = dict(before), []
            arm()
            arms.append((self.env, self.block))
        (env, then), (other, orelse) = arms
        self.env, self.origin = dict(before), origin
        self.join(env, then, other, orelse)
        self.block = outer
        self.emit(If(test, tuple(then), tuple(orelse), origin))

    def track(self, names: set[str]) -> dict[str, str]:
        """Give variables join names that hold what they are as of any moment."""
        joins = {name: self.fresh(name) for name in sorted(names)}
        self.tracked.append((joins, {}))
        self.unbound.update(join for name, join in joins.items() if self.may_be_unset(name, self.env))
        self.tracking()
        return joins

    def tracking(self) -> None:
        """Set the join names of the variables that have changed."""
        for joins, known in self.tracked:
            moved = {j: self.env[n] for n, j in joins.items() if n in self.env and known.get(n) != self.env[n]}
            if moved:
                append_move(self.block, Copy(tuple(moved), tuple(map(Var, moved.values())), self.origin))
                known |= {n: self.env[n] for n, j in joins.items() if j in moved}


def _cannot_raise(s: Node) -> bool:
    """Whether a statement surely does not raise."""
    if isinstance(s, (gast.Pass, gast.Break)):
        return True
    return isinstance(s, gast.Assign) and isinstance(s.value, gast.Constant) and isinstance(s.targets[0], gast.Name)


def _named(name: str) -> Node:
    return gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None)


def _subclasses(cls: type) -> Iterator[type]:
    subclasses: list[type] = cls.__subclasses__()
    for sub in subclasses:
        yield sub
        yield from _subclasses(sub)


def _says(node: Node) -> bool:
    """Whether an expression makes a text, class or truth value of its operands."""
    texts = ("str", "repr", "isinstance", "print", "type")
    made = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in texts
    return made or isinstance(node, gast.Compare)
