"""Splice the body of a rule into the adjoint.

A rule's text is parsed once into a template; its parameters are then replaced by
the operands of a call.  Static tests (see :mod:`s2sad.ops.spec`) are
decided from what is known of the operands; an undecided branch is passed over.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from s2sad import ops
from s2sad.frontend.operators import BINARY, UNARY
from s2sad.ir import signs
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, Slice, Var
from s2sad.ir.traverse import map_children, rename
from s2sad.ir.types import Fact
from s2sad.ops.scipy import ROOTS
from s2sad.ops.spec import Rule, length, listed, literal, ndim, real

_STAR = Op("function", "*")


class UnknownLength(Exception):
    """A rule runs over its operands, and how many there are is known only at run time."""


class _Unknown(Exception):
    """A static test cannot be decided."""


@dataclass(frozen=True)
class _Template:
    """The parsed body of a rule: ``steps`` are (test, template), (name, value) or the returned values."""

    steps: tuple[tuple[str, Any, Any], ...]


@functools.cache
def _template(body: Callable[..., Any]) -> _Template:
    text = textwrap.dedent(inspect.getsource(body))
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    return _parse(node.body, {**body.__globals__, **inspect.getclosurevars(body).nonlocals})


def _parse(body: list[ast.stmt], names: Mapping[str, Any]) -> _Template:
    steps: list[tuple[str, Any, Any]] = []
    for s in body:
        match s:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.If(test=test, body=then, orelse=orelse):
                steps.append(("if", test, _parse(then, names)))
                if orelse:
                    return _Template((*steps, *_parse(orelse, names).steps))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                steps.append(("let", name, _expression(value, names)))
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=value):
                held = f"_{len(steps)}"
                steps.append(("let", held, _expression(value, names)))
                for i, element in enumerate(elements):
                    assert isinstance(element, ast.Name)
                    item = Call(Op("index", "[]"), (Var(f"%{held}"), Const(i)))
                    steps.append(("let", element.id, item))
            case ast.Return(value=ast.Tuple(elts=elements)):
                steps.append(("return", None, tuple(_expression(e, names) for e in elements)))
            case ast.Return(value=value) if value is not None:
                steps.append(("return", None, _expression(value, names)))
            case _:
                raise TypeError(f"a rule may not contain: {ast.unparse(s)}")
    return _Template(tuple(steps))


def _expression(node: ast.expr, names: Mapping[str, Any]) -> Expr:
    def sub(e: ast.expr) -> Expr:
        return _expression(e, names)

    match node:
        case ast.Constant(value=value):
            return Const(value)
        case ast.Name(id=name) if isinstance(names.get(name), str) and name not in ("__name__", "__file__"):
            return Const(names[name])
        case ast.Name(id=name):
            return Var(f"%{name}")
        case ast.Attribute(value=ast.Name(id=owner), attr=attr) if owner in names and owner not in ("self",):
            value = getattr(names[owner], attr)
            if isinstance(value, float):
                return Const(value)
            return Call(Op("runtime", f"{owner}.{attr}", value), ())
        case ast.Attribute(value=inner, attr=attr):
            return Call(Op("attribute", attr, ops.function_of("attribute", attr)), (sub(inner),))
        case ast.BinOp(left=left, op=op, right=right):
            return Call(Op("operator", *BINARY[type(op).__name__]), (sub(left), sub(right)))
        case ast.BoolOp(op=op, values=values):
            return Call(Op("bool", "and" if isinstance(op, ast.And) else "or"), tuple(map(sub, values)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Call(Op("bool", "not"), (sub(operand),))
        case ast.UnaryOp(op=op, operand=operand):
            lowered = sub(operand)
            if isinstance(op, ast.USub) and isinstance(lowered, Const):
                return Const(-lowered.value)
            return Call(Op("operator", *UNARY[type(op).__name__]), (lowered,))
        case ast.Compare(left=left, ops=compared, comparators=comparators):
            symbols = " ".join(signs.COMPARE[type(op).__name__] for op in compared)
            return Call(Op("compare", symbols), (sub(left), *map(sub, comparators)))
        case ast.IfExp(test=test, body=then, orelse=orelse):
            return Call(Op("ifexp", "if"), (sub(test), sub(then), sub(orelse)))
        case ast.Subscript(value=inner, slice=index):
            return Call(Op("index", "[]"), (sub(inner), _index(index, names)))
        case ast.Starred(value=ast.Name(id=name)):
            return Call(_STAR, (Var(f"%{name}"),))
        case ast.ListComp(elt=element, generators=[ast.comprehension(target=ast.Name(id=i), iter=run, ifs=[])]):
            # [... for i in range(len(operands))], one item for each operand
            assert isinstance(run, ast.Call)
            assert isinstance(run.args[0], ast.Call)
            return Call(Op("function", f"%{i}"), (sub(element), sub(run.args[0].args[0])))
        case ast.Tuple(elts=elements):
            return Build("tuple", tuple(map(sub, elements)))
        case ast.List(elts=elements):
            return Build("list", tuple(map(sub, elements)))
        case ast.Call(func=func, args=args, keywords=keywords):
            kwargs = tuple((k.arg or "", sub(k.value)) for k in keywords)
            operands = tuple(map(sub, args))
            target = _resolve(func, names)
            text = _text(func, target)
            if target is not None:
                return Call(Op("runtime", text, target), operands, kwargs)
            if isinstance(func, ast.Attribute):
                return Call(
                    Op("method", func.attr, ops.function_of("method", func.attr)), (sub(func.value), *operands), kwargs
                )
    raise TypeError(f"a rule may not contain: {ast.unparse(node)}")


def _text(node: ast.expr, function: Any) -> str:
    """How a function is written in an emitted text: one of a library that a rule has by another name, by its module."""
    text = ast.unparse(node)
    home = str(getattr(function, "__module__", "")).partition("._")[0]
    root = max((name for name, module in ROOTS.items() if f"{home}.".startswith(f"{module}.")), key=len, default="")
    if not isinstance(node, ast.Name) or not root or text == function.__name__:
        return text
    return ".".join((root + home.removeprefix(ROOTS[root]) + "." + function.__name__).split("."))


def _index(node: ast.expr, names: Mapping[str, Any]) -> Expr:
    if isinstance(node, ast.Slice):
        return Slice(*(None if p is None else _expression(p, names) for p in (node.lower, node.upper, node.step)))
    if isinstance(node, ast.Tuple):
        return Build("tuple", tuple(_index(e, names) for e in node.elts))
    return _expression(node, names)


def _resolve(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        builtin = names["__builtins__"]
        builtin = builtin if isinstance(builtin, dict) else vars(builtin)
        return names.get(node.id, builtin.get(node.id))
    if isinstance(node, ast.Attribute):
        owner = _resolve(node.value, names)
        return None if owner is None else getattr(owner, node.attr)
    return None


@dataclass(frozen=True)
class Spliced:
    """A rule's body for one call: named steps, then one value for each name in ``wrt``."""

    lets: tuple[tuple[str, Expr], ...]
    values: tuple[Expr, ...]
    #: Whether the values stand in a tuple, even if there is one.
    displayed: bool = False


def splice(
    rule: Rule,
    bound: Mapping[str, Expr],
    z: Expr,
    z_bar: Expr,
    fact: Callable[[Expr], Fact],
    fresh: Callable[[str], str],
) -> Spliced:
    """Instantiate ``rule`` for the operands ``bound``, the result ``z`` and its adjoint."""
    return _instance(rule.vjp, {"z": z, "z_bar": z_bar, **bound}, bound, fact, fresh)


def splice_jvp(
    rule: Rule,
    bound: Mapping[str, Expr],
    z: Expr,
    dots: Mapping[str, Expr],
    fact: Callable[[Expr], Fact],
    fresh: Callable[[str], str],
) -> Spliced:
    """Instantiate the ``jvp`` of a rule for the operands ``bound``, the result ``z`` and the tangents of operands."""
    assert rule.jvp is not None
    if rule.jvp.__module__.startswith("s2sad.runtime"):
        known = {"z": z, **bound, **{f"{name}_dot": dot for name, dot in dots.items()}}
        op = Op("runtime", rule.jvp.__name__, rule.jvp)
        return Spliced((), (Call(op, tuple([known[p] for p in inspect.signature(rule.jvp).parameters])),))
    return _instance(
        rule.jvp, {"z": z, **bound, **{f"{name}_dot": dot for name, dot in dots.items()}}, bound, fact, fresh
    )


def _instance(
    body: Callable[..., Any],
    operands: dict[str, Expr],
    bound: Mapping[str, Expr],
    fact: Callable[[Expr], Fact],
    fresh: Callable[[str], str],
) -> Spliced:
    """The body of a rule for ``operands``, of which those that are ``bound`` decide the static tests."""
    lets: list[tuple[str, Expr]] = []
    steps = list(_template(body).steps)
    while steps:
        kind, first, second = steps.pop(0)
        if kind == "if":
            try:
                taken = _decide(first, bound, fact)
            except _Unknown:
                taken = False
            if taken:
                steps = list(second.steps)
            continue
        names = {f"%{name}": value for name, value in operands.items()}
        if kind == "let":
            name = fresh("~t")
            lets.append((name, _filled(second, names)))
            operands[first] = Var(name)
            continue
        if isinstance(second, tuple):
            values = tuple(_filled(v, names) for v in second)
        else:
            values = (_filled(second, names),)
        return Spliced(tuple(lets), values, isinstance(second, tuple))
    raise TypeError(f"the rule {body.__name__} does not return")


def _filled(template: Expr, names: dict[str, Expr]) -> Expr:
    return _expanded(rename(template, names))


def _expanded(expr: Expr) -> Expr:
    """Write out starred operands and comprehensions over the operands."""
    if isinstance(expr, Call) and expr.op.kind == "function" and expr.op.name.startswith("%"):
        element, operands = expr.args
        if not isinstance(operands, Build):
            raise UnknownLength
        items = [rename(element, {expr.op.name: Const(i)}) for i in range(len(operands.items))]
        return Build("list", tuple(_expanded(item) for item in items))
    if isinstance(expr, Call) and any(isinstance(a, Call) and a.op == _STAR for a in expr.args):
        args: list[Expr] = []
        for a in expr.args:
            if isinstance(a, Call) and a.op == _STAR:
                inner = a.args[0]
                if not isinstance(inner, Build):
                    raise UnknownLength
                args += inner.items
            else:
                args.append(a)
        return _expanded(Call(expr.op, tuple(args), expr.kwargs))
    expr = map_children(expr, _expanded)
    match expr:
        case Call(op=Op(kind="index"), args=(Build(kind="tuple") as whole, Const(value=int() as place))):
            return whole.items[place]
    return expr


def _decide(test: ast.expr, bound: Mapping[str, Expr], fact: Callable[[Expr], Fact]) -> Any:
    """The value of a static test, or :class:`_Unknown`."""

    def sub(e: ast.expr) -> Any:
        return _decide(e, bound, fact)

    match test:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            given = bound.get(name)
            if isinstance(given, Const):
                return given.value
            if isinstance(given, Build) and given.kind == "tuple" and all(isinstance(i, Const) for i in given.items):
                return tuple(i.value for i in given.items if isinstance(i, Const))
            raise _Unknown
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not sub(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -sub(operand)
        case ast.BoolOp(op=op, values=values):
            unknown = False
            for part in values:
                try:
                    outcome = sub(part)
                except _Unknown:
                    unknown = True
                    continue
                if bool(outcome) is isinstance(op, ast.Or):
                    return outcome
            if unknown:
                raise _Unknown
            return isinstance(op, ast.And)
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]
        ):
            operand_ = bound[name]
            if isinstance(operand_, Const):
                is_none = operand_.value is None
            elif isinstance(operand_, Build) or fact(operand_).kind not in ("open", "other"):
                is_none = not isinstance(operand_, Build) and fact(operand_).kind == "none"
            else:
                raise _Unknown
            return is_none if isinstance(op, ast.Is) else not is_none
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return signs.COMPARED[signs.COMPARE[type(op).__name__]](sub(left), sub(right))
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return tuple(map(sub, elements))
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            if name == "isinstance":
                raise _Unknown
            term = _operand(argument, bound)
            if name == literal.__name__:
                return isinstance(term, Const) and literal(term.value)
            if name == listed.__name__:
                return isinstance(term, Build)
            if term is None:
                raise _Unknown
            known = fact(term)
            if name == ndim.__name__ and known.ndim is not None:
                return known.ndim
            if name == length.__name__ and known.dims:
                # Sizes that have one name are equal.
                return known.dims[0]
            if name == real.__name__ and (
                known.real or (known.kind in ("scalar", "array") and known.shape is not None)
            ):
                return known.real
    raise _Unknown


def _operand(node: ast.expr, bound: Mapping[str, Expr]) -> Expr | None:
    return bound.get(node.id) if isinstance(node, ast.Name) else None
