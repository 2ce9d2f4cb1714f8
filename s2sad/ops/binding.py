"""Bind the arguments of a call to the parameters of its rule."""

from __future__ import annotations

import functools
import inspect
from dataclasses import replace

import numpy as np

from s2sad.ir.nodes import Build, Call, Const, Expr
from s2sad.ops.spec import Rule, find
from s2sad.runtime import stop_gradient

#: Methods that also take a sequence as separate arguments, and the parameter that gathers them.
_GATHERING = {"reshape": "shape", "transpose": "axes"}
_RENAMED = {"clip": {"min": "a_min", "max": "a_max"}}


class BindingError(TypeError):
    """A call uses an argument that its rule does not cover."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        self.argument = argument


@functools.cache
def _positions(rule: Rule) -> tuple[tuple[str, ...], dict[str, object]]:
    """The names of a function's positional parameters and all default values, as NumPy has them."""
    if isinstance(rule.function, np.ufunc):
        return rule.parameters, rule.defaults
    try:
        signature = inspect.signature(rule.function)
    except (ValueError, TypeError):
        return rule.parameters, rule.defaults
    parameters = signature.parameters.values()
    if rule.variadic is None and any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return rule.parameters, rule.defaults
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    own = [n for n in rule.parameters if n != rule.variadic]
    for position, name in enumerate(own[: len(names)]):
        # Rules may name positional-only operands as they read best.
        if name not in names and names[position] not in own:
            names[position] = name
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    return tuple(names), defaults


def bind(call: Call) -> dict[str, Expr]:
    """Map each parameter of the rule of ``call`` to its argument, in the rule's order.

    Parameters that are not given are bound to literals of their default values.

    Raises:
        BindingError: for an argument that the rule does not cover.
    """
    rule = find(call.op.function)
    assert rule is not None
    names, defaults = _positions(rule)
    args = list(call.args)
    bound: dict[str, Expr] = {}
    if call.op.kind == "method" and call.op.name in _GATHERING and (len(args) > 2 or _single(args)):
        bound[_GATHERING[call.op.name]] = Build("tuple", tuple(args[1:]))
        args = args[:1]
    if rule.variadic is not None:
        leading = rule.parameters.index(rule.variadic)
        bound.update(zip(rule.parameters[:leading], args, strict=False))
        bound[rule.variadic] = Build("tuple", tuple(args[leading:]))
    else:
        if len(args) > len(names):
            raise BindingError(f"number {len(names) + 1}")
        bound.update(zip(names, args, strict=False))
    renamed = _RENAMED.get(call.op.name, {}) if call.op.kind == "method" else {}
    for name, value in call.kwargs:
        bound[renamed.get(name, name)] = value
    for name, value in bound.items():
        if name not in rule.parameters:
            default = defaults.get(name)
            if isinstance(value, Const) and (value.value is None or value.value is default):
                continue
            raise BindingError(name)
    out: dict[str, Expr] = {}
    for name in rule.parameters:
        if name in bound:
            out[name] = bound[name]
        elif name in rule.defaults:
            out[name] = Const(rule.defaults[name])
        else:
            raise BindingError(name)
    return out


#: The first parameters of functions without a rule that make arrays.
_MAKERS: dict[int, tuple[str, ...]] = {
    **dict.fromkeys(map(id, (np.zeros, np.ones, np.empty)), ("shape",)),
    **dict.fromkeys(map(id, (np.zeros_like, np.ones_like)), ("a",)),
    id(np.empty_like): ("prototype",),
    id(np.arange): ("start", "stop", "step"),
    id(stop_gradient): ("x",),
}


def positional(call: Call) -> Call:
    """``call`` with the operands that matter by position, and those before them: ``np.full(3, x[0])``.

    Where one of these is left out the others stay keyword arguments.
    """
    rule = find(call.op.function) if call.kwargs else None
    names = wanted = _MAKERS.get(id(call.op.function), ())
    if rule is not None and rule.variadic is None:
        names, wanted = _positions(rule)[0], (rule.parameters[0], *rule.wrt)
    given = dict(call.kwargs)
    last = max((i for i, name in enumerate(names) if name in given and name in wanted), default=-1)
    moved = names[len(call.args) : last + 1]
    if not moved or not given.keys() >= set(moved):
        return call
    rest = tuple([(name, value) for name, value in call.kwargs if name not in moved])
    return replace(call, args=(*call.args, *(given[name] for name in moved)), kwargs=rest)


def _single(args: list[Expr]) -> bool:
    """Whether ``x.reshape(n)`` has its one argument as a number."""
    return len(args) == 2 and isinstance(args[1], Const) and isinstance(args[1].value, int)
