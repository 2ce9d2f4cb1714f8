"""The state of forward mode: the tangents of names, the statements around the one at hand, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from s2sad.analysis.sharers import sharers
from s2sad.differentiate.builder import Builder
from s2sad.differentiate.known import Known
from s2sad.differentiate.refusals import INTO_STOPPED, INTO_STOPPED_REMEDY, Refusals
from s2sad.differentiate.stores import is_dense
from s2sad.differentiate.tangents import Tangents
from s2sad.ir.nodes import Assign, Build, Call, Expr, Global, Op, Unpack, Var
from s2sad.ir.traverse import base, names_in, walk, writes
from s2sad.ir.types import OPEN
from s2sad.ops.infer.adjoints import tangent_fact
from s2sad.runtime.zero_tangents import viewed_tangents, zero_tangent

_ZERO_TANGENT = Op("runtime", "zero_tangent", zero_tangent)
_VIEWED_TANGENTS = Op("runtime", "viewed_tangents", viewed_tangents)


class State:
    """What is known of a function whose tangents are being written.

    ``make`` writes statements and has the types of names, ``dots`` the name of the tangent of each active name,
    ``refusals`` takes what has no derivative.
    """

    def __init__(self, known: Known, given: Mapping[str, str]) -> None:
        self.known = known
        self.effects = known.effects
        self.active = known.activity.active
        self.make = Builder(known.function, known.facts, known.again)
        self.make.steady = {**known.steady}
        self.make.changing, self.make.unchanged = known.changing, known.unchanged
        self.dots: dict[str, str] = {}
        zero = known.activity.together - known.activity.varied
        self.tangents = Tangents(self.make, self.dots, zero, known.unbound)
        self.refusals = Refusals(known)
        #: Whether the statement at hand is tried: a handler may see what it raises.
        self.tried = False
        #: What the result is, or may share with: callers may write into it, and into its tangent.
        self.returned = {m for n in names_in(known.function.result) for m in self.effects.group.get(n, (n,))}
        #: The names by which something is written.
        self.through = {n for s in walk(known.function.body) for n in self.effects.written_openly(s)}
        # What may share memory with what is written counts as active; a dtype or array of the module is not.
        outside = {s.target for s in walk(known.function.body) if isinstance(s, Assign) and isinstance(s.value, Global)}
        for name in [*given, *(n for s in walk(known.function.body) for n in writes(s))]:
            if name in self.active and name not in self.dots and name not in outside:
                stem = f"{base(name)}_dot"
                dot = given.get(name) or self.make.fresh(f"~{stem}" if stem in self.make.variables else stem)
                self.dots[name] = dot
                fact = tangent_fact(self.make.of[name])
                self.make.of[dot] = fact if fact.numeric else self.make.named(fact, dot)

    def is_buffer(self, name: str) -> bool:
        """Whether a name is active and may stand for an object that is written in place, and that others see."""
        written = name in self.effects.written and name not in self.effects.private
        return name in self.dots and written and self.make.of[name].kind != "scalar"

    def is_written(self, name: str) -> bool:
        """Whether a name is active and may stand for an object that something writes, seen by others or not."""
        return name in self.dots and name in self.effects.written and self.make.of[name].kind != "scalar"

    def is_constant_parameter(self, value: Expr) -> bool:
        """Whether a value is what a parameter without a tangent was given, and nothing writes into that."""
        if not isinstance(value, Var) or value.name not in {p.name for p in self.known.function.params}:
            return False
        return value.name not in self.effects.modified | self.effects.exposed

    def define(self, name: str, value: Expr) -> None:
        """Give the tangent of a name its value."""
        self.make.emit(Assign(self.dots[name], value, self.make.origin))

    def dot_or_dummy(self, name: str) -> str:
        """The name of the tangent of a name, or one that nobody reads."""
        if name in self.dots:
            return self.dots[name]
        dummy = self.make.fresh("~t")
        self.make.of[dummy] = self.make.named(tangent_fact(self.make.of[name]), dummy)
        return dummy

    def zeroed(self, targets: Iterable[str], value: Expr) -> None:
        """Zero tangents for names whose ``value`` is constant: none for numbers; arrays, for what is written later.

        Those have the strides of the values, so that NumPy views and copies both alike.
        """
        written = []
        for target in targets:
            if target not in self.dots:
                continue
            seen = self.is_buffer(target) or target in self.known.activity.together
            if seen or target in self.effects.versions:
                written.append(target)
            else:
                del self.dots[target]
        if not written:
            return
        shared = {n for n in sharers(value, self.known.facts, self.effects.calls) if n in self.dots} - {*written}
        if shared and self.are_zero_here({*shared, *written}, shared):
            sources = Build("tuple", tuple(map(Var, sorted(shared))))
            dots = Build("tuple", tuple([Var(self.dots[n]) for n in sorted(shared)]))
            for target in written:
                zeros = self.tangents.zeros(Var(target))
                self.define(target, Call(_VIEWED_TANGENTS, (Var(target), sources, dots, zeros)))
            return
        if shared and not self.is_only_read(written, value):
            # Its tangent would be zero where it is read, and a part of that of the others where it is written.
            self.refusals.refuse(self.make.origin.line, INTO_STOPPED, INTO_STOPPED_REMEDY)
        groups: dict[frozenset[str], list[str]] = {}
        for target in written:
            groups.setdefault(self.effects.group.get(target, frozenset({target})), []).append(target)
        for first, *others in groups.values():
            if others:
                # They may share memory, and their tangents do where they do.
                together = Call(_ZERO_TANGENT, (Build("tuple", tuple(map(Var, (first, *others)))),))
                self.make.emit(
                    Unpack(tuple([self.dots[t] for t in (first, *others)]), together, None, self.make.origin)
                )
                continue
            like: Expr = value if isinstance(value, Build) else Var(first)
            dense = isinstance(value, Build) or is_dense(value, self.known.definitions)
            dense |= not self.effects.reshapes
            zeros = self.tangents.zeros(like) if dense else Call(_ZERO_TANGENT, (like,))
            if isinstance(value, Call) and value.op.function is np.zeros_like and not value.kwargs:
                # The tangent is made as the value is: the layout of that is another than the one of its operand may be.
                # Of a number or list NumPy makes an array as well.
                of_array = self.make.fact(value.args[0]).kind in ("array", "numeric")
                if of_array and isinstance(zeros, Call) and zeros.op.function is np.zeros_like:
                    zeros = replace(zeros, args=value.args)
            self.define(first, zeros)

    def are_zero_here(self, arrays: Iterable[str], shared: Iterable[str]) -> bool:
        """Whether the tangents of ``shared`` are zero and only the caller may write into them, all being ``arrays``."""
        return self.tangents.zero.issuperset(shared) and all(
            self.make.of[n].kind in ("array", "numeric") for n in arrays
        )

    def is_only_read(self, names: Iterable[str], value: Expr) -> bool:
        """Whether names come from ``stop_gradient``, and nothing is written through them or what shares with them."""
        stopped, exposed = self.known.activity.stopped, self.effects.exposed
        group = {m for n in names for m in self.effects.group.get(n, (n,))}
        if isinstance(value, Call) and value in self.effects.calls and self.effects.calls[value].stopping:
            # Where something is written afterwards, that is refused.
            return group.isdisjoint(exposed)
        return stopped.issuperset(names) and (group & stopped).isdisjoint(self.through | exposed)

    def dropped(self) -> str:
        """A name of ours for a result."""
        name = self.make.fresh("~t")
        self.make.of[name] = self.make.named(OPEN, name)
        return name
