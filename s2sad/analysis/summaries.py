"""What a caller knows of a call of a function that has source, and the calls that statements have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from s2sad.analysis.infer import Facts, Put
from s2sad.frontend.holding import UNKNOWN
from s2sad.frontend.writing import may_write
from s2sad.ir.nodes import Build, Call, Effect, Expr, Global, Opaque, Stmt, Store
from s2sad.ir.traverse import expressions, names_in, running, subexpressions
from s2sad.runtime import copy_together
from s2sad.runtime.zero_tangents import zero_tangent


@dataclass(frozen=True)
class Part:
    """One item of the tuple that a call returns.

    ``shared`` are the parameters whose object it may be, view or hold, ``module`` is as for a whole result.  Items of
    the same ``kin`` may share an object that is none of the arguments'.  ``through`` are the parameters from which it
    may take a derivative.
    """

    shared: frozenset[str]
    module: frozenset[str]
    kin: int
    through: frozenset[str]


@dataclass(frozen=True)
class CallEffects:
    """What a call of a function that has source does to what it is given.

    ``bound`` has the operand of each parameter.  ``written`` are the parameters whose object the call may write,
    ``shared`` those whose object the result may be, view or hold, ``linked`` sets of those of which one may
    hold or view another afterwards.  ``module`` are what `Effects.owners` would have of the result.  A call that
    ``reshapes`` may view or copy an array, as its layout in memory has it.  ``changing`` are the parameters whose
    argument may be a container in which something is replaced, ``placed`` those that may be or lead to lists into which
    numbers or arrays are put, with what these are.  With ``entangled`` several results, or parts of one,
    may share an object that is none of the arguments'.  With ``outside`` what is computed from the arguments is
    written into an object that is there before the call and after it, and is none of them; with
    ``overwriting`` an array that is such is written.  A call that is ``altering`` may write into objects of the module
    of which it is not known which they are; ``kept`` are the parameters whose object the module may hold afterwards,
    ``puts`` the variables of the module that the objects of parameters which it writes may hold afterwards.  A call
    that is not ``rewriting`` writes no more of what it is given than which items lists and dicts have.  In one with
    ``met`` there are calls of which it is known at run time only what they run; what is said holds if they are checked,
    where they are given what is computed from the parameters that are ``varied``.  Of a call that is ``partial`` more
    may be known where fewer parameters carry derivatives: where all do, something in it is refused.  ``parts`` says the
    same of each item of a result that is a tuple of so many; None where that is not known.  ``stopping`` are the
    parameters whose object is afterwards also what ``stop_gradient`` gave: the result, or held by another argument or
    the module.  The result may take a derivative from the parameters ``through``, or from any if that is None.
    ``makes`` are the places in the result, 0 if it is no tuple, of lists and dicts that the function has
    made and that nothing else holds.
    """

    bound: Mapping[str, Expr]
    written: frozenset[str]
    shared: frozenset[str]
    linked: tuple[frozenset[str], ...] = ()
    module: frozenset[str] = frozenset({"", UNKNOWN})
    reshapes: bool = True
    changing: frozenset[str] = frozenset()
    entangled: bool = True
    outside: bool = False
    overwriting: bool = False
    altering: bool = True
    kept: frozenset[str] = frozenset()
    puts: tuple[tuple[str, frozenset[str]], ...] = ()
    rewriting: bool = True
    met: bool = False
    partial: bool = False
    varied: frozenset[str] = frozenset()
    parts: tuple[Part, ...] | None = None
    placed: tuple[tuple[str, frozenset[Put]], ...] = ()
    stopping: frozenset[str] = frozenset()
    makes: frozenset[int] = frozenset()
    through: frozenset[str] | None = None

    def joined(self, other: CallEffects) -> CallEffects:
        """The effects of either of two calls that look the same."""
        return CallEffects(
            self.bound,
            self.written | other.written,
            self.shared | other.shared,
            (*self.linked, *other.linked),
            self.module | other.module,
            self.reshapes or other.reshapes,
            self.changing | other.changing,
            self.entangled or other.entangled,
            self.outside or other.outside,
            self.overwriting or other.overwriting,
            self.altering or other.altering,
            self.kept | other.kept,
            (*self.puts, *other.puts),
            self.rewriting or other.rewriting,
            self.met or other.met,
            self.partial or other.partial,
            self.varied | other.varied,
            self.parts if self.parts == other.parts else None,
            (*self.placed, *other.placed),
            self.stopping | other.stopping,
            self.makes & other.makes,
            None if self.through is None or other.through is None else self.through | other.through,
        )

    def entangles(self, items: Collection[int]) -> bool:
        """Whether some of several results, by their places, may share an object that is none of the arguments'."""
        if self.parts is None or not all(i < len(self.parts) for i in items):
            return self.entangled and len(items) > 1
        return len({self.parts[i].kin for i in items}) < len(items)

    def names(self, params: Iterable[str]) -> set[str]:
        """The local names in the operands of some parameters."""
        return {name for p in params for name in names_in(self.bound[p])}


#: The effects of a call of which it is known that it has none.
NO_EFFECTS = CallEffects(
    {},
    frozenset(),
    frozenset(),
    (),
    module=frozenset(),
    reshapes=False,
    entangled=False,
    altering=False,
    rewriting=False,
)

#: The effects of a call of which none has returned yet, whatever its result is.
NO_RESULT = replace(NO_EFFECTS, makes=frozenset(range(64)), through=frozenset())

#: What stands among parameters for the result of a call, and for the objects that the module holds.
RESULT, MODULE = "return", "<module>"

Summaries = Callable[[Call, Facts], CallEffects]


@dataclass(frozen=True)
class Context:
    """What a caller knows of the arguments of a call, by parameter.

    ``same`` are sets of parameters whose arguments may share memory, ``buffers`` those whose arguments the caller
    treats as buffers in any case, ``overwritten`` those whose arguments may be written once the call is over (and
    `RESULT`: so may the result, and `MODULE`: so may what the module holds).  A ``repeated`` call is in a loop, which
    keeps what each call saves.  ``turned`` are those whose shadow is minus the adjoint.  Where a call is ``tried``,
    whether it raises decides what its caller does.  Of several results those that are ``unread`` have no adjoint.
    """

    same: tuple[frozenset[str], ...] = ()
    buffers: frozenset[str] = frozenset()
    overwritten: frozenset[str] = frozenset()
    repeated: bool = False
    turned: frozenset[str] = frozenset()
    tried: bool = False
    unread: frozenset[int] = frozenset()


def user_calls(stmt: Stmt) -> Iterator[Call]:
    """The calls in a statement of functions that have source."""
    for expr in expressions(stmt):
        for inner in running(expr):
            if isinstance(inner, Call):
                yield inner


def constant_calls(stmt: Stmt) -> Iterator[Call]:
    """The calls in a statement of functions that have source which stay as they stand."""
    for expr in expressions(stmt):
        for inner in running(expr):
            if isinstance(inner, Opaque) and inner.call is not None:
                yield inner.call


def written_unseen(stmt: Stmt) -> Iterator[str]:
    """The names whose objects the calls inside an expression that is not taken apart may write."""
    if isinstance(stmt, Effect):
        yield from stmt.writes
    for expr in expressions(stmt):
        for inner in running(expr):
            if isinstance(inner, Opaque):
                yield from inner.writes


def kept_unseen(stmt: Stmt) -> Iterator[str]:
    """The names whose objects what is not taken apart may put into what it writes."""
    if isinstance(stmt, Effect):
        yield from (name for user, name in stmt.names if user in stmt.kept)
    for expr in expressions(stmt):
        for inner in running(expr):
            if isinstance(inner, Opaque) and inner.call is None:
                yield from (name for user, name in inner.names if user in inner.kept)


def call_may_write(call: Call) -> bool:
    """Whether a call of a function that has source may write into what it is given, or into what the module holds."""
    return call.op.writes or may_write(call.op.function)  # type: ignore[arg-type]


def put_unseen(stmt: Stmt) -> Iterator[str]:
    """The variables of the module whose objects what is not taken apart may put into what it writes."""
    if isinstance(stmt, Effect):
        yield from stmt.puts
    for expr in expressions(stmt):
        for inner in running(expr):
            if isinstance(inner, Opaque):
                yield from inner.puts


def only_changes(stmt: Stmt, calls: Mapping[Call, CallEffects]) -> bool:
    """Whether a statement writes no more than which items lists and dicts have."""
    if isinstance(stmt, Store) or (isinstance(stmt, Effect) and not stmt.changes):
        return False
    for expr in expressions(stmt):
        for inner in subexpressions(expr):
            call = inner.call if isinstance(inner, Opaque) else inner
            if isinstance(call, Call) and call.op.kind in ("user", "inplace"):
                if call.op.kind == "inplace" or (calls.get(call) or assumed(call)).rewriting:
                    return False
            elif isinstance(inner, Opaque) and inner.writes and not inner.changes:
                return False
    return True


def bound_operands(call: Call) -> dict[str, Expr]:
    """Map the parameters of the user's function to the arguments of ``call``; what ``*`` gathers is a tuple."""
    signature = inspect.signature(call.op.function, follow_wrapped=False)  # type: ignore[arg-type]
    bound = signature.bind_partial(*call.args, **dict(call.kwargs)).arguments
    for name, value in bound.items():
        if isinstance(value, (tuple, dict)):
            bound[name] = Build("tuple", tuple(value.values() if isinstance(value, dict) else value))
    return bound


def assumed(call: Call, bound: Mapping[str, Expr] | None = None) -> CallEffects:
    """The effects of a call of which nothing is known but whether it may write at all."""
    if bound is None:
        bound = {str(i): operand for i, operand in enumerate((*call.args, *(v for _, v in call.kwargs)))}
    every = frozenset(bound)
    writing = call_may_write(call)
    written = every if writing else frozenset()
    linked = (every,) if writing else ()
    return CallEffects(bound, written, every, linked, changing=written, outside=writing, altering=writing, kept=written)


def alters(stmt: Stmt, calls: Mapping[Call, CallEffects]) -> bool:
    """Whether a statement may write into objects of the module of which it is not known which they are."""
    if isinstance(stmt, Effect) and stmt.alters:
        return True
    for expr in expressions(stmt):
        for inner in running(expr):
            call = inner.call if isinstance(inner, Opaque) else inner
            if isinstance(inner, Opaque) and call is None and inner.alters:
                return True
            if isinstance(call, Call) and call.op.kind == "user" and _call_alters(calls.get(call) or assumed(call)):
                return True
    return False


def _call_alters(known: CallEffects) -> bool:
    """Whether a call may write into objects of the module, be it that it is given them."""
    given = [part for p in known.written for part in subexpressions(known.bound[p])]
    return known.altering or any(isinstance(e, Global) or (isinstance(e, Opaque) and e.variables) for e in given)


def whole_call(value: Expr, calls: Mapping[Call, CallEffects]) -> CallEffects | None:
    """What is known of the call of a function with source that a value is; it may be one without derivative."""
    call = value.call if isinstance(value, Opaque) else value
    return calls.get(call) if isinstance(call, Call) and call.op.kind == "user" else None


def is_entangled(value: Expr, calls: Mapping[Call, CallEffects]) -> bool:
    """Whether several results of a call may share an object that none of its arguments has."""
    if isinstance(value, Opaque):
        return value.call is None or value.call not in calls or calls[value.call].entangled
    if isinstance(value, Call) and any(value.op.function is one for one in (copy_together, zero_tangent)):
        return True
    user = isinstance(value, Call) and value.op.kind == "user"
    return user and (calls.get(value) or assumed(value)).entangled  # type: ignore[arg-type]
