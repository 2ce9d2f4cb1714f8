"""What differentiation takes and returns: functions with what the analyses say of them, derivatives of callees."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Protocol

from s2sad.analysis.activity import Activity
from s2sad.analysis.effects import Effects
from s2sad.analysis.infer import Facts
from s2sad.analysis.sections import Sections
from s2sad.analysis.summaries import Context
from s2sad.errors import Place, S2SADError, Violation
from s2sad.ir.nodes import Assign, Block, Call, Expr, Function, Op
from s2sad.ir.traverse import names_in, walk
from s2sad.ir.types import Fact
from s2sad.runtime.zero_tangents import zero_tangent


@dataclass(frozen=True)
class Pair:
    """The two halves of a callee's derivative, and what they take and return.

    ``wrt`` are the parameters whose adjoints the reverse half returns.  The shadows of others are passed: to the
    forward half by keyword (parameter and keyword), to the reverse half by position.  With a ``count`` there
    are so many results, else one.  Those in ``same`` (positions, each with its parameter) are arrays that the caller
    has itself.  The forward half returns the others, the shadows of those in ``views`` (positions), and what it
    saves, if it ``saves`` anything; the reverse half takes that, the arguments in
    ``again``, the adjoints of the results in ``seeded`` and the shadows.  The adjoints of those in ``real`` surely are
    real, those of others are so unless they are ``complex`` or some seed is.  A ``quiet`` forward half has no effect
    but on the arrays that it is given.  One that works ``by_element`` makes an element of its result of those at the
    same place alone.  The adjoints of the results in ``spread`` may be given as what broadcasts to them.
    """

    forward: Op
    reverse: Op
    wrt: tuple[str, ...]
    forward_shadows: tuple[tuple[str, str], ...] = ()
    reverse_shadows: tuple[str, ...] = ()
    count: int | None = None
    same: tuple[tuple[int, str], ...] = ()
    views: tuple[int, ...] = ()
    seeded: tuple[int, ...] = ()
    saves: bool = True
    again: tuple[str, ...] = ()
    real: tuple[str, ...] = ()
    quiet: bool = False
    complex: bool = False
    by_element: bool = False
    spread: tuple[int, ...] = ()


@dataclass(frozen=True)
class TangentCall:
    """The tangent of a callee, and what it takes and returns.

    ``params`` are the active parameters, each with the name of that for its tangent, which is given by name.  With a
    ``count`` there are so many results, else one.  The function returns them, then the tangents of those in ``active``
    (positions).
    """

    function: Op
    params: tuple[tuple[str, str], ...]
    count: int | None
    active: tuple[int, ...]

    def split(self, out: Any) -> tuple[Any, Any]:
        """The value and its tangent, from what the function returns."""
        if self.count is None and self.active:
            value, value_dot = out
            return value, value_dot
        count = 1 if self.count is None else self.count
        if not count:
            return None, None
        if count + len(self.active) == 1:
            out = (out,)
        results = out[:count]
        constant = [i for i in range(count) if i not in self.active]
        zeros = zero_tangent(tuple([results[i] for i in constant]))
        moved = dict(zip((*self.active, *constant), (*out[count:], *zeros), strict=True))
        parts = [moved[i] for i in range(count)]
        if self.count is None:
            return results[0], parts[0]
        return tuple(results), tuple(parts)


@dataclass(frozen=True)
class CallSite:
    """A call of a function that has source, as far as the derivative of that depends on it.

    ``active`` are the parameters through which a derivative passes, ``facts`` the types of the arguments, ``context``
    is what the callee has to know of them, ``varied`` are those that may carry derivatives, if that matters.
    """

    call: Call
    active: tuple[str, ...]
    facts: Mapping[str, Fact]
    context: Context
    varied: frozenset[str]


class Callees(Protocol):
    """What both modes ask of the pipeline about the functions that are called."""

    def bound_facts(self, call: Call, fact: Callable[[Expr], Fact]) -> dict[str, Fact] | None: ...

    def pair(self, site: CallSite) -> Pair: ...

    def tangent(self, site: CallSite) -> TangentCall: ...

    def refused(self, call: Call, error: S2SADError, place: Place) -> list[Violation]: ...


def sharing_params(bound: Mapping[str, Expr], of: Mapping[str, Fact], effects: Effects) -> tuple[frozenset[str], ...]:
    """The sets of parameters of a call, bound to some operands, that may share an object."""
    same: dict[frozenset[str], set[str]] = {}
    for param, value in bound.items():
        for name in names_in(value):
            if of[name].kind != "scalar":
                same.setdefault(effects.group.get(name, frozenset({name})), set()).add(param)
    return tuple(sorted((frozenset(g) for g in same.values() if len(g) > 1), key=sorted))


@dataclass(frozen=True)
class Known:
    """A function and all that is known of it.

    ``unbound`` are names that may have no value, ``place`` finds a node, ``context`` is what its caller knows,
    ``defaults`` are the numbers that parameters are by default.
    """

    function: Function
    facts: Facts
    effects: Effects
    activity: Activity
    sections: Sections
    unbound: frozenset[str]
    place: Callable[[Any], Place]
    callees: Callees
    context: Context
    #: Whether the derivative is to be differentiated itself: then sums of adjoints are values, and not written in
    #: place, and what is zero where an adjoint is zero is no branch.
    again: bool = False
    defaults: Mapping[str, Expr] = field(default_factory=dict)

    @functools.cached_property
    def definitions(self) -> Mapping[str, Expr]:
        """The values that names are assigned."""
        return {s.target: s.value for s in walk(self.function.body) if isinstance(s, Assign)}

    @functools.cached_property
    def steady(self) -> Mapping[str, Expr]:
        """Those of names whose arrays nobody writes, and the numbers that parameters are by default."""
        unsteady = self.effects.unsteady
        return {**self.defaults, **{n: value for n, value in self.definitions.items() if n not in unsteady}}

    @functools.cached_property
    def changing(self) -> Set[str]:
        """The names whose object may get other contents while the function runs."""
        return self.effects.written | self.effects.altered | self.effects.versions.keys()

    @functools.cached_property
    def unchanged(self) -> Mapping[str, Expr]:
        """The values that the other names are assigned."""
        return {n: value for n, value in self.definitions.items() if n not in self.changing}


def site_of(
    known: Known, call: Call, active: tuple[str, ...], context: Context, fact: Callable[[Expr], Fact]
) -> CallSite:
    """A call in a function of which all is known, with the types of its arguments by ``fact``."""
    facts, summary = known.callees.bound_facts(call, fact), known.effects.calls.get(call)
    assert facts is not None
    varied = summary.varied if summary is not None and summary.met else frozenset()
    return CallSite(call, active, facts, context, varied)


@dataclass(frozen=True)
class Seeds:
    """What the reverse part begins with.

    ``adjoints`` has those of names at the end of the body, ``facts`` the types of the names in them.  ``passed`` has
    the shadows that the caller makes, ``views`` the names whose shadows it wants.
    """

    adjoints: tuple[tuple[str, Expr], ...]
    facts: Mapping[str, Fact]
    passed: Mapping[str, str] = field(default_factory=dict)
    views: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tangential:
    """A function's body with its tangents, and the tangents of the parts of its result that are active.

    ``asked`` are names that may have no value where it is asked of what form their tangents are.
    """

    body: Block
    dots: tuple[Expr, ...]
    facts: Mapping[str, Fact]
    asked: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reversed:
    """The forward part, the reverse part and the adjoint of each name in ``wrt`` (an expression).

    ``shadow_of`` has the shadow of each buffer; in ``unbound`` are those that may have no value, in ``outward`` those
    that a caller is given.  ``stable`` are the names that are read from a part of an array that nothing writes later;
    ``stored`` has the part of an array that holds the value of a name from its definition on.  With ``complex`` the
    adjoint of what is not known to be real may be complex.
    """

    body: Block
    reverse: Block
    adjoints: tuple[Expr, ...]
    facts: Mapping[str, Fact]
    shadow_of: Mapping[str, str]
    unbound: frozenset[str]
    outward: tuple[str, ...]
    stable: frozenset[str]
    stored: Mapping[str, Expr]
    complex: bool

    @property
    def shadows(self) -> frozenset[str]:
        """The names of all shadows."""
        return frozenset(self.shadow_of.values())
