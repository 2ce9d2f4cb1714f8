"""Bind the arguments of a call to the parameters of its operation."""

from __future__ import annotations

import functools
import inspect
from dataclasses import replace

import numpy as np

from s2sad.ir.nodes import Build, Call, Const, Expr
from s2sad.ops.spec import OpSpec, Rule, spec_of


class BindingError(TypeError):
    """A call uses an argument that its operation does not cover."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        self.argument = argument


#: Options of universal functions that change no value of a result.
_WITHOUT_EFFECT = frozenset(("casting", "order", "subok"))
#: The positional parameters of the methods of universal functions, whose signatures do not have all of them.
_OF_METHODS = {
    "reduce": ("array", "axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
    "outer": ("A", "B"),
}


@functools.cache
def _positions(spec: OpSpec) -> tuple[tuple[str, ...], dict[str, object]]:
    """The names of a function's positional parameters and all default values, as NumPy has them."""
    if not isinstance(spec, Rule) or isinstance(spec.function, np.ufunc):
        return spec.parameters, dict(spec.defaults)
    if isinstance(getattr(spec.function, "__self__", None), np.ufunc):
        return _OF_METHODS[spec.function.__name__], dict(spec.defaults)
    try:
        signature = inspect.signature(spec.function)
    except (ValueError, TypeError):
        return spec.parameters, dict(spec.defaults)
    parameters = signature.parameters.values()
    if spec.variadic is None and any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return spec.parameters, dict(spec.defaults)
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    own = [n for n in spec.parameters if n != spec.variadic]
    for position, name in enumerate(own[: len(names)]):
        # Rules may name positional-only operands as they read best.
        if name not in names and names[position] not in own:
            names[position] = name
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    return tuple(names), defaults


def bind(call: Call) -> dict[str, Expr]:
    """Map each parameter of the operation of ``call`` to its argument, in the operation's order.

    Parameters of a rule that are not given are bound to literals of their default values; those of an operation
    without a rule are left out.

    Raises:
        BindingError: for an argument that the operation does not cover.
    """
    spec = spec_of(call.op.function)
    assert spec is not None
    names, defaults = _positions(spec)
    args = list(call.args)
    bound: dict[str, Expr] = {}
    form = spec.form(call.op.name) if call.op.kind == "method" and spec.forms else None
    if form is not None and form.gathers is not None and (len(args) > 2 or _single(args)):
        bound[form.gathers] = Build("tuple", tuple(args[1:]))
        args = args[:1]
    if spec.variadic is not None:
        leading = spec.parameters.index(spec.variadic)
        bound.update(zip(spec.parameters[:leading], args, strict=False))
        bound[spec.variadic] = Build("tuple", tuple(args[leading:]))
    else:
        if len(args) > len(names):
            raise BindingError(f"number {len(names) + 1}")
        bound.update(zip(names, args, strict=False))
    for name, value in call.kwargs:
        name = spec.aliases.get(name, name)
        bound[form.renamed.get(name, name) if form is not None else name] = value
    for name, value in bound.items():
        if name not in spec.parameters:
            if isinstance(spec.function, np.ufunc) and name in _WITHOUT_EFFECT:
                continue
            default = defaults.get(name)
            if isinstance(value, Const) and (value.value is None or value.value is default):
                continue
            raise BindingError(name)
    out: dict[str, Expr] = {}
    for name in spec.parameters:
        if name in bound:
            out[name] = bound[name]
        elif isinstance(spec, Rule):
            if name not in spec.defaults:
                raise BindingError(name)
            out[name] = Const(spec.defaults[name])
        elif name not in spec.defaults:
            raise BindingError(name)
    return out


def argument(call: Call, name: str) -> Expr | None:
    """What a call gives for the parameter called ``name`` of its function, by name or position; None for nothing."""
    value = dict(call.kwargs).get(name)
    if value is None:
        spec = spec_of(call.op.function)
        names = () if spec is None or isinstance(spec.function, np.ufunc) else _positions(spec)[0]
        position = names.index(name) if name in names else len(call.args)
        value = call.args[position] if position < len(call.args) else None
    return value


def dtype_of(call: Call) -> Expr | None:
    """The expression for the dtype that a call asks for; None where it takes that of its operands."""
    if call.op.name.rpartition(".")[2] == "astype":
        value = dict(call.kwargs).get("dtype", call.args[1] if len(call.args) > 1 else None)
    else:
        value = argument(call, "dtype")
    return None if value == Const(None) else value


def positional(call: Call) -> Call:
    """``call`` with the operands that matter by position, and those before them: ``np.full(3, x[0])``.

    Where one of these is left out the others stay keyword arguments.
    """
    spec = spec_of(call.op.function) if call.kwargs else None
    if spec is None or (isinstance(spec, Rule) and spec.variadic is not None):
        return call
    names = _positions(spec)[0]
    wanted = (spec.parameters[0], *spec.wrt) if isinstance(spec, Rule) else spec.parameters[: spec.leading]
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
