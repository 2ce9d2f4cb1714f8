"""Which names may share the object of a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from s2sad import ops
from s2sad.analysis.infer import Facts
from s2sad.analysis.sharing import held_operands, keeps_items, may_hold_objects, sharing
from s2sad.analysis.summaries import CallEffects, assumed
from s2sad.frontend.holding import UNKNOWN
from s2sad.ir.nodes import Build, Call, Const, Expr, Global, Opaque, Slice, Var
from s2sad.ir.traverse import subexpressions
from s2sad.ir.types import OBJECTS, reach_of
from s2sad.runtime import stop_gradient
from s2sad.runtime.objects import state_of

#: What the module or nobody known holds, and what the caller holds.
OUTSIDE, CALLER = "<outside>", "<caller>"
#: What follows the name of a variable whose array is read at the start, and by nothing else.
STATE = "()"
#: What follows the name of a variable whose object is held, and surely is no part of what holds it, nor that itself.
HELD = "[]"
#: The kinds of what may hold objects.
HOLDING = ("tuple", "list", "dict", "record", "dataclass", "open", "other")


def sharers(expr: Expr, facts: Facts, calls: Mapping[Call, CallEffects]) -> Iterator[str]:
    """The names whose objects the value of ``expr`` may be, view or hold."""
    match expr:
        case Var(name=name):
            if facts.of.get(name) is None or not facts.of[name].immutable:
                yield name
        case Global():
            fact = facts.get(expr)
            plain = fact.kind == "other" and (fact.real or fact.precision or fact == OBJECTS)
            if fact.kind != "scalar" and not plain:
                yield f"{OUTSIDE}{expr.text}"
        case Const() | Slice():
            return
        case Build(items=items):
            for item in items:
                yield from sharers(item, facts, calls)
        case Opaque(names=names, held=held, variables=variables, call=call):
            if call is not None and call in calls:
                yield from sharers(call, facts, calls)
            else:
                yield from (name for user, name in names if user in held)
                yield from (f"{OUTSIDE}{variable}" for variable in variables)
        case Call(op=op, args=args):
            if facts.get(expr).immutable and op.kind not in ("user", "met"):
                return
            if op.kind == "compare" or (op.kind == "bool" and op.name == "not"):
                return
            if op.kind == "operator" and op.name in ("+", "*") and not facts.get(expr).numeric:
                # Lists and tuples: what they hold is held by both, if it can be written.
                for arg in args:
                    if facts.get(arg).kind in ("list", "tuple", "open") and may_hold_objects(facts.get(arg)):
                        yield from sharers(arg, facts, calls)
                    if op.name == "*" and any(isinstance(part, Call) for part in subexpressions(arg)):
                        # What is made in a display is there several times, and has no name.
                        yield OUTSIDE
                return
            if op.kind == "operator" and op.name == "|" and not facts.get(expr).numeric:
                for arg in args:
                    yield from sharers(arg, facts, calls)
                return
            if op.kind == "met":
                # Whether it is so is checked at run time where it matters.
                for part in () if op.checked else (*args, *(v for _, v in expr.kwargs)):
                    yield from sharers(part, facts, calls)
                if op.checked != "fresh":
                    yield from (OUTSIDE, f"{OUTSIDE}{UNKNOWN}")
                return
            if op.kind == "user":
                known = calls.get(expr) or assumed(expr)
                for name in known.shared:
                    yield from sharers(known.bound[name], facts, calls)
                yield from (f"{OUTSIDE}{owner}" for owner in known.module)
                return
            if op.kind in ("bool", "ifexp"):
                for arg in args:
                    yield from sharers(arg, facts, calls)
                return
            if op.function is state_of:
                yield f"{OUTSIDE}{args[0]}{STATE}"
                return
            constant = op.kind == "attribute" and ops.is_constant_attribute(op.name)
            if constant or sharing(expr, facts.get) == "fresh":
                if keeps_items(expr, facts.get):
                    yield from sharers(args[0], facts, calls)
                return
            if op.kind == "change":
                # A container is the same, and holds what is put into it.
                puts = args[1:] if any(reach_of(facts.get(a)) for a in args[1:-1]) else args[-1:]
                for arg in (args[0], *puts) if op.name not in ("pop", "moved") else args[:1]:
                    yield from sharers(arg, facts, calls)
                return
            if op.kind == "inplace" and op.name in ("+", "|") and facts.get(args[0]).kind in HOLDING:
                # What is added to a container is held by it.
                for arg in args:
                    yield from sharers(arg, facts, calls)
                return
            if op.kind in ("index", "attribute", "inplace"):
                if op.kind == "attribute" and isinstance(args[0], Global):
                    # Functions are plain, what they have as attributes is not.
                    yield f"{OUTSIDE}{args[0].text}"
                yield from sharers(args[0], facts, calls)
                return
            for arg in held_operands(expr):
                yield from sharers(arg, facts, calls)
            if op.kind == "function" and op.function is not stop_gradient and ops.find(op.function) is None:
                # Two of its results may be one object, if it does not make containers.
                if (spec := ops.spec_of(op.function)) is None or spec.makes is None:
                    yield OUTSIDE
