"""What is written after the statement at hand, and copies of what the reverse part reads as it was before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from s2sad import ops
from s2sad.analysis.summaries import MODULE, user_calls
from s2sad.differentiate.builder import COPY, COPY_IN_LAYOUT, Builder
from s2sad.differentiate.known import Known
from s2sad.differentiate.storage import Storage
from s2sad.ir.nodes import Assign, Call, Expr, For, Global, Op, Opaque, Stmt, Store, Var, While
from s2sad.ir.traverse import base, children, loop_heads, map_children, names_in, walk, writes
from s2sad.runtime import own
from s2sad.runtime.linear import layout_order

OWN = Op("runtime", "own", own)


class Later:
    """What may be written once the statement at hand is over, as the reverse part goes from the last to the first.

    ``written`` are the names whose objects may be, ``changed`` those of containers that may change, ``beyond`` those
    that change once all inside the statement is over too.  With ``altered`` objects of the module may be written.
    ``stable`` are the names that are read from a part of an array that nothing writes later.
    """

    def __init__(self, known: Known, make: Builder, storage: Storage) -> None:
        self.make, self.storage, self.effects = make, storage, known.effects
        self.written: set[str] = set(known.effects.exposed)
        self.changed: set[str] = set()
        self.beyond: set[str] = set()
        self.altered = MODULE in known.context.overwritten
        self.stable = set(known.sections.names)
        self.passing = known.effects.passing
        #: The names that may be other objects, or hold others, when the reverse part runs.
        self.moving = self.passing | known.effects.versions.keys()
        #: The names that have a value somewhere, now that what is dead is gone.
        self.present = {p.name for p in known.function.params} | {
            n for s in walk(known.function.body) for n in writes(s)
        }

    @contextmanager
    def across(self, stmt: Stmt) -> Iterator[None]:
        """Go back over a statement: within the context it is the statement at hand, then it is a later one."""
        self.beyond = set(self.changed)
        if isinstance(stmt, (For, While)):
            self.note_writes(stmt)
        written, altering = self.effects.written_by(stmt), self.effects.alters(stmt)
        if isinstance(stmt, (Assign, Store)) and not any(user_calls(stmt)):
            # An augmented assignment or store reads its operands before it writes.
            self.written |= written
        self.changed |= self.effects.changed_by(stmt)
        yield
        self.written |= written
        self.altered |= altering

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
                    self.written.add(name)
            self.changed |= self.effects.changed_by(stmt)
            self.altered |= self.effects.alters(stmt)

    def is_overwritten(self, name: str) -> bool:
        """Whether the object of ``name`` may be written, or the container changed, after the statement at hand."""
        if name in self.changed:
            return True
        if name in self.stable or self.make.of[name].kind == "scalar":
            return False
        return bool(self.effects.group.get(name, frozenset({name})) & self.written)

    def changes(self, expr: Expr) -> bool:
        """Whether an expression may have another value later: it reads what is written, or draws or takes something."""
        if isinstance(expr, Var):
            return expr.name in self.storage.mutable and self.make.of[expr.name].kind != "scalar"
        if isinstance(expr, Global):
            return "." in expr.text or self.make.fact(expr).kind not in ("scalar", "tuple")
        if isinstance(expr, Opaque) or (isinstance(expr, Call) and ops.is_ordered(expr.op.function)):
            return True
        laid_out = isinstance(expr, Call) and expr.op.kind == "attribute" and ops.is_constant_attribute(expr.op.name)
        if isinstance(expr, Call) and (laid_out or ops.measures(expr.op)):
            return any(self.changes(a) and self.make.fact(a).kind != "array" for a in expr.args)
        return any(map(self.changes, children(expr)))

    # --- copies

    def kept(self, expr: Expr) -> Expr:
        """An index as the reverse part can read it, whatever is written meanwhile."""
        return self.snapshots()(expr)

    def snapshots(self, target: str = "") -> Callable[[Expr], Expr]:
        """A renaming that makes expressions read copies of what is written in place elsewhere.

        ``target`` is the name that the statement assigns.
        """
        make, versions = self.make, self.effects.versions
        names: dict[str, Expr] = {}

        def renamed(expr: Expr) -> Expr:
            if isinstance(expr, Call) and (expr.op.function in (np.shape, layout_order) or expr.op.name == "shape"):
                # A container changes its shape, an array neither that nor its layout.
                if versions.keys().isdisjoint(names_in(expr)):
                    return expr
            if isinstance(expr, Var) and expr.name in self.moving and self.is_overwritten(expr.name):
                if expr.name not in names:
                    copy = make.fresh(base(expr.name))
                    make.of[copy] = make.of[expr.name]
                    kind, how = make.of[expr.name].kind, OWN
                    if kind == "array":
                        # What the adjoint of a reshaped array is like depends on its layout.
                        how = COPY_IN_LAYOUT if self.effects.reshapes else COPY
                    elif kind in ("list", "dict") and expr.name not in self.passing:
                        how = COPY
                    made = Assign(copy, Call(how, (expr,)), make.origin)
                    # The result of the statement itself can be copied only once it is there.
                    (make.after if expr.name == target else make.before).append(made)
                    names[expr.name] = Var(copy)
                return names[expr.name]
            return map_children(expr, renamed)

        return renamed if self.moving else lambda expr: expr

    def with_fixed_range(self, loop: For) -> For:
        """A loop over a range whose ends are what they were when it began, whatever is written meanwhile."""
        runs = loop.iters[0]
        if not (isinstance(runs, Call) and any(map(self.changes, runs.args))):
            return loop
        held = self.make.hold
        ends = [held(self.make.fresh("~end"), end) if self.changes(end) else end for end in runs.args]
        return replace(loop, iters=(replace(runs, args=tuple(ends)),))
