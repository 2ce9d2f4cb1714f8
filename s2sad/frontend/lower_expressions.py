"""Expressions as operations, in the order in which Python evaluates them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad.errors import SourceError
from s2sad.frontend.builder import Builder, place_of
from s2sad.frontend.scopes import bound_names, scope
from s2sad.ir import signs
from s2sad.ir.code import (
    NONE,
    Code,
    CodeKind,
    Constant,
    Definition,
    Exit,
    Operand,
    Operation,
    Parameter,
    Region,
    Value,
    Variable,
)

Node = Any
#: What may change a container while an expression is evaluated.
_RUNNING = (gast.Call, gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)


def expression(b: Builder, node: Node, name: str = "") -> Operand:
    """The value of an expression; what computes it last is called ``name``."""
    lower = _EXPRESSIONS.get(type(node))
    if lower is None:
        raise SourceError(f"{type(node).__name__} is not understood")
    return lower(b, node, name)


def expressions(b: Builder, nodes: list[Node]) -> tuple[Operand, ...]:
    return tuple([expression(b, node) for node in nodes])


def region_of(b: Builder, node: Node) -> Region:
    """An expression that is evaluated only if it comes to that."""
    with b.apart() as branch:
        value = expression(b, node)
    return Region((), branch.operations, Exit("yield", (value,)))


def _constant(b: Builder, node: Node, name: str) -> Operand:
    return Constant(node.value)


def _name(b: Builder, node: Node, name: str) -> Operand:
    return b.read(node.id, node)


def _binary(b: Builder, node: Node, name: str) -> Operand:
    operands = expressions(b, [node.left, node.right])
    return b.emit("binary", operands, signs.BINARY[type(node.op).__name__], name=name, node=node)


def _unary(b: Builder, node: Node, name: str) -> Operand:
    return b.emit("unary", expressions(b, [node.operand]), signs.UNARY[type(node.op).__name__], name=name, node=node)


def _bool(b: Builder, node: Node, name: str) -> Operand:
    kind = "and" if isinstance(node.op, gast.And) else "or"
    first = expression(b, node.values[0])
    regions = tuple([region_of(b, value) for value in node.values[1:]])
    return b.emit(kind, (first,), regions=regions, name=name, node=node)  # type: ignore[arg-type]


def _choose(b: Builder, node: Node, name: str) -> Operand:
    test = expression(b, node.test)
    regions = region_of(b, node.body), region_of(b, node.orelse)
    return b.emit("choose", (test,), regions=regions, name=name, node=node)


def _compare(b: Builder, node: Node, name: str) -> Operand:
    operands = expressions(b, [node.left, node.comparators[0]])
    written = tuple([signs.COMPARE[type(op).__name__] for op in node.ops])
    if len(written) == 1:
        return b.emit("compare", operands, written[0], name=name, node=node)
    regions = tuple([region_of(b, later) for later in node.comparators[1:]])
    return b.emit("chain", operands, written, regions=regions, name=name, node=node)


def _attribute(b: Builder, node: Node, name: str) -> Operand:
    return b.emit("attribute", expressions(b, [node.value]), node.attr, name=name, node=node)


def _item(b: Builder, node: Node, name: str) -> Operand:
    return b.emit("item", expressions(b, [node.value, node.slice]), name=name, node=node)


def _slice(b: Builder, node: Node, name: str) -> Operand:
    parts = [NONE if p is None else expression(b, p) for p in (node.lower, node.upper, node.step)]
    return b.emit("slice", parts, name=name, node=node)


def _display(b: Builder, node: Node, name: str) -> Operand:
    kind = {gast.Tuple: "tuple", gast.List: "list", gast.Set: "set"}[type(node)]
    stars = tuple([isinstance(e, gast.Starred) for e in node.elts])
    return b.emit(kind, _items(b, node.elts, node.elts), stars, name=name, node=node)  # type: ignore[arg-type]


def _items(b: Builder, nodes: list[Node], evaluated: list[Node]) -> list[Operand]:
    """The items of a display or arguments of a call; ``evaluated`` are these and what is evaluated after them.

    A star is run through where it stands: where a call behind it may change what it runs through, into a tuple.
    """
    found: list[Operand] = []
    for i, node in enumerate(nodes):
        star = isinstance(node, gast.Starred)
        value = expression(b, node.value if star else node)
        if star and any(map(_runs_code, evaluated[i + 1 :])):
            value = b.emit("tuple", (value,), (True,), node=node)
        found.append(value)
    return found


def _runs_code(node: Node) -> bool:
    """Whether an expression calls something, suspends the function or assigns a variable."""
    return any(isinstance(part, _RUNNING) for part in gast.walk(node))


def _dict(b: Builder, node: Node, name: str) -> Operand:
    operands: list[Operand] = []
    for i, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
        operands.append(NONE if key is None else expression(b, key))
        operands.append(expression(b, value))
        if key is None and any(_runs_code(part) for part in (*node.keys[i + 1 :], *node.values[i + 1 :]) if part):
            operands[-1] = b.emit("dict", (NONE, operands[-1]), (True,), node=value)
    return b.emit("dict", operands, tuple([key is None for key in node.keys]), name=name, node=node)


def call_arguments(b: Builder, args: list[Node], keywords: list[Node]) -> tuple[list[Operand], tuple[str, ...]]:
    """The arguments of a call (or of a class statement), and how each is passed."""
    values = [keyword.value for keyword in keywords]
    # A star that is alone is run through when the call is made.
    operands = _items(b, args, [*args, *values] if len(args) > 1 else args)
    kinds = ["*" if isinstance(argument, gast.Starred) else "" for argument in args]
    for i, keyword in enumerate(keywords):
        operands.append(expression(b, keyword.value))
        kinds.append(keyword.arg or "**")
        if keyword.arg is None and any(map(_runs_code, values[i + 1 :])):
            operands[-1] = b.emit("dict", (NONE, operands[-1]), (True,), node=keyword.value)
    return operands, tuple(kinds)


def _call(b: Builder, node: Node, name: str) -> Operand:
    function = expression(b, node.func)
    operands, kinds = call_arguments(b, node.args, node.keywords)
    return b.emit("call", (function, *operands), kinds, name=name, node=node)


def _text(b: Builder, node: Node, name: str) -> Operand:
    parts: list[Any] = []
    operands: list[Operand] = []
    for value in node.values:
        if isinstance(value, gast.Constant):
            parts.append(value.value)
            continue
        operands.append(expression(b, value.value))
        if value.format_spec is not None:
            operands.append(_text(b, value.format_spec, ""))
        parts.append((value.conversion, value.format_spec is not None))
    return b.emit("text", operands, tuple(parts), name=name, node=node)


def _walrus(b: Builder, node: Node, name: str) -> Operand:
    value = expression(b, node.value)
    variable = node.target.id
    if variable in b.scope.globals:
        return b.emit("store_global", (value,), variable, name=name, node=node)
    return b.emit("store", (value,), b.memory_of(variable), name=name, node=node)


def _yield(b: Builder, node: Node, name: str) -> Operand:
    values = [] if node.value is None else [node.value]
    return b.emit("yield", expressions(b, values), name=name, node=node)


def _yield_from(b: Builder, node: Node, name: str) -> Operand:
    return b.emit("yield_from", expressions(b, [node.value]), name=name, node=node)


def _await(b: Builder, node: Node, name: str) -> Operand:
    return b.emit("await", expressions(b, [node.value]), name=name, node=node)


# --- comprehensions


def _comprehension(b: Builder, node: Node, name: str) -> Operand:
    kind = {gast.ListComp: "list", gast.SetComp: "set", gast.DictComp: "dict"}[type(node)]
    iterable = expression(b, node.generators[0].iter)
    hidden = {n for g in node.generators for n in bound_names(g.target)}
    taken = scope(gast.GeneratorExp(elt=_element(node), generators=node.generators)).memory
    with b.apart():
        for unset in hidden:
            b.env.pop(unset, None)
        b.env.update({n: Variable(n, captured=True) for n in sorted(hidden & taken)})
        around, b.rounds = b.rounds, b.rounds | hidden
        region = _rounds(b, node, 0)
        b.rounds = around
    awaits = bool(node.generators[0].is_async)
    return b.emit("comprehension", (iterable,), kind, regions=(region,), name=name, node=node, awaits=awaits)


def _element(node: Node) -> Node:
    """What a comprehension makes in each round, as one expression."""
    if not isinstance(node, gast.DictComp):
        return node.elt
    return gast.Tuple(elts=[node.key, node.value], ctx=gast.Load())


def _rounds(b: Builder, node: Node, at: int) -> Region:
    """The rounds of one ``for`` of a comprehension, and what is inside."""
    generator = node.generators[at]
    with b.apart() as branch:
        target = generator.target
        item = Value(target.id if isinstance(target, gast.Name) and b.is_value(target.id) else "")
        assign(b, target, item)
        end = _tested(b, node, at, 0)
    return Region((item,), branch.operations, end)


def _tested(b: Builder, node: Node, at: int, test: int) -> Exit:
    """The conditions of one ``for`` from the given one on; what is inside them goes into regions."""
    generator = node.generators[at]
    if test < len(generator.ifs):
        condition = expression(b, generator.ifs[test])
        with b.apart() as branch:
            end = _tested(b, node, at, test + 1)
        region = Region((), branch.operations, end)
        b.add(Operation("only", (condition,), (), None, (region,), place_of(generator.ifs[test])))
        return Exit("yield")
    if at + 1 < len(node.generators):
        later = node.generators[at + 1]
        iterable = expression(b, later.iter)
        region = _rounds(b, node, at + 1)
        b.add(Operation("each", (iterable,), (), None, (region,), place_of(later.iter), bool(later.is_async)))
        return Exit("yield")
    if isinstance(node, gast.DictComp):
        return Exit("yield", expressions(b, [node.key, node.value]))
    return Exit("yield", (expression(b, node.elt),))


def _generator(b: Builder, node: Node, name: str) -> Operand:
    iterable = expression(b, node.generators[0].iter)
    inner = Builder(scope(node), b)
    given = Value()
    region = _rounds(inner, node, 0)
    awaits = bool(node.generators[0].is_async)
    inner.add(Operation("each", (given,), (), None, (region,), place_of(node), awaits))
    body = Region((), tuple(inner.operations), Exit("return"))
    params = (Parameter(".0", "positional only", given),)
    made = finished(inner, "<genexpr>", "generator", params, body)
    return b.emit("generator", (iterable,), made, name=name, node=node)


def finished(
    inner: Builder,
    name: str,
    kind: CodeKind,
    params: tuple[Parameter, ...],
    body: Region,
    doc: str | None = None,
    awaits: bool = False,
) -> Code:
    """The code that a builder has made."""
    variables = (*inner.variables.values(), *inner.never.values())
    captures, seen = tuple(inner.captures), tuple(inner.seen)
    return Code(name, kind, params, body, variables, captures, seen, doc, inner.scope.generates, awaits)


# --- functions


def given_parameters(inner: Builder, node: Node) -> tuple[Parameter, ...]:
    """The parameters of a function, and what its names mean at its beginning."""
    a = node.args
    groups: list[tuple[Any, list[Node]]] = [
        ("positional only", a.posonlyargs), ("positional", a.args), ("star", [a.vararg]),
        ("by name", a.kwonlyargs), ("double star", [a.kwarg]),
    ]  # fmt: skip
    found: list[Parameter] = []
    for kind, params in groups:
        for param in params:
            if param is None:
                continue
            meaning = inner.env.get(param.id)
            if not isinstance(meaning, Variable):
                inner.env[param.id] = meaning = Value(param.id)
            found.append(Parameter(param.id, kind, meaning))
    return tuple(found)


def defaults_of(b: Builder, node: Node) -> tuple[list[Operand], tuple[str, ...]]:
    """The default values of a function's parameters, and the names of these."""
    a = node.args
    positional = [p.id for p in (*a.posonlyargs, *a.args)]
    names = positional[len(positional) - len(a.defaults) :]
    operands = [expression(b, d) for d in a.defaults]
    for param, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        if default is not None:
            names.append(param.id)
            operands.append(expression(b, default))
    return operands, tuple(names)


def _lambda(b: Builder, node: Node, name: str) -> Operand:
    operands, names = defaults_of(b, node)
    inner = Builder(scope(node), b)
    params = given_parameters(inner, node)
    value = expression(inner, node.body)
    body = Region((), tuple(inner.operations), Exit("return", (value,)))
    made = Definition(finished(inner, "<lambda>", "lambda", params, body), defaults=names)
    return b.emit("lambda", operands, made, name=name, node=node)


# --- targets


def assign(b: Builder, target: Node, value: Operand, chained: bool = False) -> None:
    """Assign a value to a target of any form."""
    match target:
        case gast.Name():
            b.bind(target.id, value, target)
        case gast.Attribute():
            base = expression(b, target.value)
            b.effect("set_attribute", (base, value), target.attr, node=target)
        case gast.Subscript():
            base, index = expressions(b, [target.value, target.slice])
            b.effect("set_item", (base, index, value), node=target)
        case gast.Tuple() | gast.List():
            unpack(b, target, value)
        case _:
            raise SourceError(f"{type(target).__name__} is not understood as a target")


def unpack(b: Builder, target: Node, value: Operand) -> None:
    """Assign the items of a value to the parts of a target, from left to right."""
    parts = [t.value if isinstance(t, gast.Starred) else t for t in target.elts]
    star = next((i for i, t in enumerate(target.elts) if isinstance(t, gast.Starred)), None)
    plain = all(isinstance(t, gast.Name) and b.is_value(t.id) for t in parts)
    distinct = len({t.id for t in parts if isinstance(t, gast.Name)}) == len(parts)
    results = tuple([Value(t.id if plain and distinct else "") for t in parts])
    b.add(Operation("unpack", (value,), results, (len(parts), star), (), place_of(target)))
    for part, result in zip(parts, results, strict=True):
        assign(b, part, result)


_EXPRESSIONS: dict[type, Callable[[Builder, Node, str], Operand]] = {
    gast.Constant: _constant, gast.Name: _name, gast.BinOp: _binary, gast.UnaryOp: _unary, gast.BoolOp: _bool,
    gast.IfExp: _choose, gast.Compare: _compare, gast.Attribute: _attribute, gast.Subscript: _item,
    gast.Slice: _slice, gast.Tuple: _display, gast.List: _display, gast.Set: _display, gast.Dict: _dict,
    gast.Call: _call, gast.JoinedStr: _text, gast.NamedExpr: _walrus, gast.Yield: _yield,
    gast.YieldFrom: _yield_from, gast.Await: _await, gast.ListComp: _comprehension, gast.SetComp: _comprehension,
    gast.DictComp: _comprehension, gast.GeneratorExp: _generator, gast.Lambda: _lambda,
}  # fmt: skip
