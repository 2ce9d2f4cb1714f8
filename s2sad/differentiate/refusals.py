"""What is refused of a function: places through which no derivative can pass, and uses of buffers without adjoint."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any

from s2sad.analysis.summaries import written_unseen
from s2sad.differentiate.known import Known
from s2sad.errors import Place, S2SADError, UnsupportedError, Violation
from s2sad.frontend.unfollowed import is_foreign
from s2sad.ir.nodes import HOLDING, Assign, Call, Effect, Expr, Opaque, Stmt
from s2sad.ir.traverse import base, expressions, reads, subexpressions, walk, writes
from s2sad.runtime import stop_gradient

INTO_STOPPED = "stop_gradient(...) of an array that is written in place is a constant here, and not elsewhere"
INTO_STOPPED_REMEDY = "Take a copy of its result (stop_gradient(x).copy())."


class Refusals:
    """Collects what is refused; ``line`` is that of the statement at hand.

    ``buffers`` are the names whose adjoints are shadows.  With ``stopped`` some object that is written in place came
    through ``stop_gradient``.
    """

    def __init__(self, known: Known, buffers: frozenset[str] = frozenset(), stopped: bool = False) -> None:
        self.known, self.buffers, self.stopped = known, buffers, stopped
        self.line = 0
        self.violations: list[Violation] = []
        #: Refused uses of buffers.
        self.misused: list[Violation] = []
        #: Whether these are the consequences of something else that is refused.
        self.explained = False
        #: The calls that are refused with all that is in them.
        self.calls: list[Place] = []
        #: The names of which it is not known whether they are arrays, once that is refused.
        self.unknown: set[str] = set()
        #: Those of them that have to be arrays for the rest to have a derivative.
        self.undecided: set[str] = set()

    def check(self) -> None:
        """Raise what is refused.

        Raises:
            UnsupportedError: with each place, if there is any.
        """
        refused = self.violations if self.explained else self.violations + self.misused
        if refused or self.calls:
            whole = [v for v in refused if not (v.place and any(map(v.place.is_within, self.calls)))]
            raise UnsupportedError(whole or refused, self.explained, not self.violations, self.undecided)

    def refuse(self, node: Any, message: str, remedy: str) -> None:
        """Note a place through which no derivative can pass."""
        self.violations.append(Violation(self.known.place(node or self.line), message, remedy))

    def refuse_text(self) -> None:
        """Note that the statement at hand computes with a text of what is differentiated."""
        self.refuse(None, "no derivative can pass through text", "Compute with the numbers themselves.")

    def refuse_call(self, call: Call, error: S2SADError) -> None:
        """Note a call whose callee is refused."""
        here = self.known.place(call.node)
        # Of a library's function it is not known what it writes either.
        whole = isinstance(call.op.function, types.FunctionType) and is_foreign(call.op.function, here.file)
        derived = isinstance(error, UnsupportedError) and error.derived and not whole
        (self.misused if derived else self.violations).extend(self.known.callees.refused(call, error, here))
        self.calls.append(here)
        self.explained |= whole or not isinstance(error, UnsupportedError) or error.obscure

    def refuse_buffer(self, node: Any, name: str = "") -> None:
        """Note a use of an array that is written in place for which there is no adjoint; ``name`` should be one.

        It is where the ``node`` or line is; without one, at the statement at hand, or where the name is used first.
        """
        body, effects = self.known.function.body, self.known.effects
        what = "an array that is written in place is used here in a way that is not supported"
        remedy = "Take a copy (x.copy()), or make a new array instead of writing into this one."
        if name and self.known.facts.of[name].kind in ("open", "numeric"):
            # One mistake, however many names and statements it shows in: where it is written.
            self.undecided.add(name)
            group = effects.group.get(name, frozenset({name}))
            if not self.unknown.isdisjoint(group):
                return
            self.unknown |= group
            for stmt in walk(body):
                if stmt.origin.line and not group.isdisjoint(into := effects.written_by(stmt)):
                    name, node = next((n for n in writes(stmt) if n in into), name), stmt.origin.line
                    break
            called = "this" if name.startswith("~") else base(name)
            what = f"{called} may be written in place, and it is not known here whether it is an array"
            remedy = (
                "If it is a number, write x = x + y for x += y. Annotate parameters that are arrays (x: np.ndarray),\n"
                "or look at one call (source_for, s2sad show --at). In a call: take a copy, or make a new one."
            )
        used = [s.origin.line for s in walk(body) if name in (*writes(s), *reads(s))]
        place = self.known.place(node or self.line or next(filter(None, used), 0))
        self.misused.append(Violation(place, what, remedy))

    def refuse_stopped(self, node: Any) -> None:
        """Note a use of an array after ``stop_gradient`` that makes it one with an array that is differentiated."""
        if self.stopped:
            self.refuse(node, INTO_STOPPED, INTO_STOPPED_REMEDY)
        else:
            # What holds it is a constant although nothing is stopped.
            self.refuse_buffer(node)

    def refuse_exception(self, target: str, value: Expr, line: int) -> None:
        """Note an exception from which something is read that may be differentiated: its text has no derivative."""
        if isinstance(value, Call) and value.op.name == HOLDING and target in self.known.activity.active:
            what = "what an exception holds may depend on what is differentiated"
            self.refuse(line, what, "Hand it on in a variable.")

    def refuse_wholes(self, stmt: Stmt) -> None:
        """Note what in a statement is not taken apart, and makes or writes a buffer."""
        # A call that may write into a buffer has no adjoint, whatever becomes of its result.
        unseen = not self.buffers.isdisjoint(written_unseen(stmt))
        made = stmt.target if isinstance(stmt, Assign) else ""
        if unseen or made in self.known.effects.written & self.known.activity.active:
            for refusal in [whole.refusal for whole in opaques(stmt) if whole.refusal is not None]:
                self.refuse(refusal.node, refusal.message, refusal.remedy)
                self.explained = True
        if unseen:
            self.refuse_unseen(stmt)

    def refuse_unseen(self, stmt: Stmt) -> None:
        """Note a statement in which calls that are not taken apart may write into an array that is differentiated."""
        wholes: list[Opaque | Effect] = [stmt] if isinstance(stmt, Effect) else []
        for whole in (*wholes, *opaques(stmt)):
            user = next((u for u, n in whole.names if n in whole.writes and n in self.buffers), "")
            if not user:
                continue
            calls = [n for n in ast.walk(whole.node) if isinstance(n, ast.Call)]
            calls = [c for c in calls if any(isinstance(n, ast.Name) and n.id == user for n in ast.walk(c))]
            calls = [c for c in calls if not ast.unparse(c.func).endswith(stop_gradient.__name__)]
            what, remedy = may_write(calls, user)
            place = self.known.place(calls[0] if len(calls) == 1 else stmt.origin.line)
            self.misused.append(Violation(place, what, remedy))


def opaques(stmt: Stmt) -> list[Opaque]:
    """The expressions in a statement that are not taken apart."""
    parts: Iterator[Expr] = (e for whole in expressions(stmt) for e in subexpressions(whole))
    return [e for e in parts if isinstance(e, Opaque)]


def may_write(calls: list[ast.Call], user: str) -> tuple[str, str]:
    """What is said of ``calls`` of which it is not seen what they do to a variable, and the remedy."""
    who = f"{ast.unparse(calls[0].func)}(...)" if len(calls) == 1 else "a call here"
    return f"{who} may write into {user}, which is differentiated", f"Give it a copy: np.copy({user})."
