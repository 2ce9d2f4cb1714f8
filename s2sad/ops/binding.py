"""Bind the arguments of a call to the parameters of its operation."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from s2sad.ir.nodes import Build, Call, Const, Expr
from s2sad.ops.spec import Function, OpSpec, Rule, form_of, spec_of

_NONE = Const(None)
#: What the names of arguments begin with that stand at a position of which nothing is known.
UNNAMED = "number "


class BindingError(TypeError):
    """A call uses an argument that its operation does not cover."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        self.argument = argument


#: Options of universal functions and conversions that change no value of a result.
_WITHOUT_EFFECT = frozenset(("casting", "order", "subok"))


@functools.cache
def _signature(function: Function) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        documented = getattr(function, "__module__", None) == "numpy" and not isinstance(function, type)
        return signature_in(getattr(function, "__doc__", None) or "") if documented else None


def signature_in(text: str) -> inspect.Signature | None:
    r"""The signature with which a text of documentation begins: before 2.4 NumPy's compiled functions have no other.

    Example:
        >>> signature_in("dot(a, b, out=None)\n\nDot product of two arrays.")
        <Signature (a, b, out=None)>
        >>> signature_in("where(condition, [x, y], /)\n\nReturn elements chosen from `x` or `y`.")
    """
    head = text.strip().partition("\n\n")[0]
    try:
        made = ast.parse(f"def {head}: ...").body[0]
        assert isinstance(made, ast.FunctionDef)
        given = made.args
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        of = [(kind, a.arg) for kind, group in zip(kinds, (given.posonlyargs, given.args), strict=True) for a in group]
        defaults = [None] * (len(of) - len(given.defaults)) + given.defaults
        named = [(inspect.Parameter.KEYWORD_ONLY, a.arg) for a in given.kwonlyargs]
        pairs = zip([*of, *named], [*defaults, *given.kw_defaults], strict=True)
        return inspect.Signature([inspect.Parameter(n, kind, default=_literal(value)) for (kind, n), value in pairs])
    except (SyntaxError, ValueError, AssertionError):
        return None


def _literal(default: ast.expr | None) -> object:
    """A default value that is a literal or ``float``."""
    if default is None:
        return inspect.Parameter.empty
    is_class = isinstance(default, ast.Name) and default.id == "float"
    return float if is_class else ast.literal_eval(default)


@functools.cache
def places(spec: OpSpec) -> tuple[str, ...]:
    """The names of what stands by position in a call, ``out`` among them, as far as a position has one of its own.

    Example:
        >>> from s2sad import ops
        >>> places(ops.spec_of(np.dot)), places(ops.spec_of(np.sin))
        (('a', 'b', 'out'), ('x', 'out'))
    """
    if isinstance(getattr(spec.function, "__self__", None), np.ufunc):
        unbound = spec_of(getattr(np.ufunc, spec.function.__name__))
        assert unbound is not None
        return places(unbound)[1:]
    own = tuple([name for name in spec.parameters if name not in spec.by_name])
    if spec.variadic is not None:
        own = own[: own.index(spec.variadic)]
    found = positions(spec.function)
    if found is None:
        return (*own, "out") if isinstance(spec, Rule) and spec.variadic is None else own
    if len(found) < len(own) and (not isinstance(spec, Rule) or _gathers(spec.function)):
        return own
    names = list(found)
    for position, name in enumerate(own[: len(names)]):
        # Rules may name positional-only operands as they read best.
        if name not in names and names[position] not in own:
            names[position] = name
    return tuple([spec.aliases.get(name, name) for name in names])


def spelled(spec: OpSpec | None, name: str) -> str:
    """The keyword by which a function takes what the table of operations calls ``name``: ``output`` for ``out``."""
    known = {} if spec is None else spec.aliases
    return next((alias for alias, own in known.items() if own == name), name)


def _gathers(function: Function) -> bool:
    """Whether a function takes any number of arguments by position."""
    signature = _signature(function)
    return signature is not None and any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())


@functools.cache
def _defaults(spec: OpSpec) -> dict[str, object]:
    """The default values of all parameters of a function, as NumPy has them."""
    signature = _signature(spec.function) if isinstance(spec, Rule) else None
    if signature is None:
        return dict(spec.defaults)
    return {p.name: p.default for p in signature.parameters.values() if p.default is not p.empty}


@functools.cache
def positions(function: Function) -> tuple[str, ...] | None:
    """The names of the parameters that a function of NumPy or Python takes by position; None where it has none."""
    if isinstance(function, np.ufunc):
        return (*[f"x{i}" for i in range(1, function.nin + 1)], *["out"] * function.nout)
    signature = _signature(function)
    parameters = () if signature is None else signature.parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return None if signature is None else tuple(names)


def takes(function: Function, name: str) -> bool:
    """Whether a function is known to have a parameter of this name."""
    signature = _signature(function)
    return signature is not None and name in signature.parameters


def given(call: Call) -> Mapping[str, Expr]:
    """What a call gives for each parameter, by the names that the operation has for them; of what is not known, what
    is given by name.

    It is found once: passes ask again and again.
    """
    if call.given is None:
        object.__setattr__(call, "given", _given(call))
    assert call.given is not None
    return call.given


def _given(call: Call) -> dict[str, Expr]:
    spec = spec_of(call.op.function)
    if spec is None:
        return dict(call.kwargs)
    names, args = places(spec), list(call.args)
    found: dict[str, Expr] = {}
    known = form_of("method", call.op.name) if call.op.kind == "method" else None
    form = None if known is None else known[1]
    if form is not None and form.gathers is not None and (len(args) > 2 or _single(args)):
        found[form.gathers] = Build("tuple", tuple(args[1:]))
        args = args[:1]
    if spec.variadic is not None:
        names = spec.parameters[: spec.parameters.index(spec.variadic)]
        found[spec.variadic] = Build("tuple", tuple(args[len(names) :]))
        args = args[: len(names)]
    found.update(zip(names, args, strict=False))
    for i in range(len(names), len(args)):
        found[f"{UNNAMED}{i + 1}"] = args[i]
    for name, value in call.kwargs:
        found[spec.aliases.get(name, name)] = value
    return found


def bind(call: Call) -> Mapping[str, Expr]:
    """Map each parameter of the operation of ``call`` to its argument, in the operation's order.

    Parameters of a rule that are not given are bound to literals of their default values; those of an operation
    without a rule are left out.

    Raises:
        BindingError: for an argument that the operation does not cover.
    """
    if call.bound is None:
        object.__setattr__(call, "bound", _bound(call))
    assert call.bound is not None
    if isinstance(call.bound, str):
        raise BindingError(call.bound)
    return call.bound


def _bound(call: Call) -> dict[str, Expr] | str:
    """What `bind` finds, or the argument that is not covered."""
    spec = spec_of(call.op.function)
    assert spec is not None
    found = given(call)
    for name, value in found.items():
        if name not in spec.parameters:
            if name in _WITHOUT_EFFECT and (isinstance(spec.function, np.ufunc) or spec.casts):
                continue
            if name == "like" and takes(spec.function, name):
                continue  # an array of NumPy's, as which it makes what it makes without
            default = _defaults(spec).get(name)
            is_text = type(default) is str and value == Const(default)
            same = is_text or (isinstance(value, Const) and value.value is default)
            if not (same or value == _NONE):
                return spelled(spec, name)
    out: dict[str, Expr] = {}
    for name in spec.parameters:
        if name in found:
            out[name] = found[name]
        elif name not in spec.defaults:
            return name
        elif isinstance(spec, Rule):
            out[name] = Const(spec.defaults[name])
    return out


def argument(call: Call, name: str) -> Expr | None:
    """What a call gives for the parameter called ``name`` of its function, by name or position; None for nothing."""
    return given(call).get(name)


def dtype_of(call: Call) -> Expr | None:
    """The expression for the dtype that a call asks for; None where it takes that of its operands."""
    value = given(call).get("dtype")
    return None if value == _NONE else value


def positional(call: Call) -> Call:
    """``call`` with the operands that matter by position, and those before them: ``np.full(3, x[0])``.

    Where one of these is left out the others stay keyword arguments.
    """
    spec = spec_of(call.op.function) if call.kwargs else None
    if spec is None or (isinstance(spec, Rule) and spec.variadic is not None):
        return call
    names = places(spec)
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
