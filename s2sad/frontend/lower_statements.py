"""Functions as `Code`: statements as operations, control flow as regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from s2sad.errors import SourceError
from s2sad.frontend.builder import Branch, Builder, place_of
from s2sad.frontend.lower_expressions import (
    assign,
    call_arguments,
    defaults_of,
    expression,
    expressions,
    finished,
    given_parameters,
    region_of,
)
from s2sad.frontend.lower_patterns import bound_variable, pattern_of
from s2sad.frontend.scopes import parameters, scope
from s2sad.ir import signs
from s2sad.ir.code import (
    UNSET,
    Cases,
    Code,
    Constant,
    Definition,
    Exit,
    Handlers,
    Operand,
    Operation,
    Region,
    Value,
    Variable,
)

Node = Any


def lower_function(node: Node, outer: Builder | None = None) -> Code:
    """The code of a ``def``.

    Args:
        node: The function in gast's form of the syntax tree.
        outer: What is known of the function around.

    Raises:
        SourceError: for syntax that is newer than this module.
    """
    inner = Builder(scope(node), outer)
    params = given_parameters(inner, node)
    statements = node.body
    doc = None
    if isinstance(statements[0], gast.Expr) and isinstance(statements[0].value, gast.Constant):
        if isinstance(statements[0].value.value, str):
            doc, statements = statements[0].value.value, statements[1:]
    end = block(inner, statements)
    body = Region((), tuple(inner.operations), end or Exit("return"))
    awaits = isinstance(node, gast.AsyncFunctionDef)
    return finished(inner, node.name, "function", params, body, doc, awaits)


def block(b: Builder, statements: Sequence[Node]) -> Exit | None:
    """Lower statements; how they end, or None if what follows them runs."""
    for node in statements:
        lower = _STATEMENTS.get(type(node))
        if lower is None:
            raise SourceError(f"{type(node).__name__} is not understood")
        end = lower(b, node)
        if end is not None:
            return end
    return None


# --- simple statements


def _expression(b: Builder, node: Node) -> None:
    if not isinstance(node.value, gast.Constant):
        expression(b, node.value)


def _assign(b: Builder, node: Node) -> None:
    first = node.targets[0]
    named = first.id if isinstance(first, gast.Name) and b.is_value(first.id) else ""
    value = expression(b, node.value, named)
    for target in node.targets:
        assign(b, target, value)
        if target is first and named:
            value = b.env[named]  # type: ignore[assignment]


def _annotated(b: Builder, node: Node) -> None:
    if node.value is not None:
        named = node.target.id if isinstance(node.target, gast.Name) and b.is_value(node.target.id) else ""
        assign(b, node.target, expression(b, node.value, named))
    if node.simple:
        # Only in a class is it evaluated.
        operands = (expression(b, node.annotation),) if b.is_class else ()
        b.effect("annotate", operands, (node.target.id, gast.unparse(node.annotation).strip()), node=node)


def _augmented(b: Builder, node: Node) -> None:
    sign, target = signs.BINARY[type(node.op).__name__], node.target
    if isinstance(target, gast.Name):
        named = target.id if b.is_value(target.id) else ""
        left = b.read(target.id, target)
        value = b.emit("inplace", (left, expression(b, node.value)), sign, name=named, node=node)
        b.bind(target.id, value, node)
    elif isinstance(target, gast.Attribute):
        base = expression(b, target.value)
        left = b.emit("attribute", (base,), target.attr, node=target)
        value = b.emit("inplace", (left, expression(b, node.value)), sign, node=node)
        b.effect("set_attribute", (base, value), target.attr, node=node)
    else:
        base, index = expressions(b, [target.value, target.slice])
        left = b.emit("item", (base, index), node=target)
        value = b.emit("inplace", (left, expression(b, node.value)), sign, node=node)
        b.effect("set_item", (base, index, value), node=node)


def _delete(b: Builder, node: Node) -> None:
    for target in node.targets:
        _delete_one(b, target)


def _delete_one(b: Builder, target: Node) -> None:
    match target:
        case gast.Name() if target.id in b.scope.globals:
            b.effect("delete_global", (), target.id, node=target)
        case gast.Name():
            b.effect("delete", (), b.memory_of(target.id), node=target)
        case gast.Attribute():
            b.effect("delete_attribute", expressions(b, [target.value]), target.attr, node=target)
        case gast.Subscript():
            b.effect("delete_item", expressions(b, [target.value, target.slice]), node=target)
        case _:
            for element in target.elts:
                _delete_one(b, element)


def _import(b: Builder, node: Node) -> None:
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        data = (alias.name, None, 0, bool(alias.asname))
        value = b.emit("import", (), data, name=name if b.is_value(name) else "", node=node)
        b.bind(name, value, node)


def _import_from(b: Builder, node: Node) -> None:
    names = [alias.asname or alias.name for alias in node.names]
    plain = all(map(b.is_value, names)) and len(set(names)) == len(names)
    results = tuple([Value(name if plain else "") for name in names])
    data = (node.module or "", tuple([alias.name for alias in node.names]), node.level or 0, False)
    b.add(Operation("import", (), results, data, (), place_of(node)))
    for name, value in zip(names, results, strict=True):
        b.bind(name, value, node)


def _assert(b: Builder, node: Node) -> None:
    test = expression(b, node.test)
    regions = () if node.msg is None else (region_of(b, node.msg),)
    b.add(Operation("assert", (test,), (), None, regions, place_of(node)))


def _nothing(b: Builder, node: Node) -> None:
    return None


# --- exits


def _return(b: Builder, node: Node) -> Exit:
    operands = () if node.value is None else (expression(b, node.value),)
    return Exit("return", operands, place_of(node))


def _raise(b: Builder, node: Node) -> Exit:
    parts = [p for p in (node.exc, node.cause) if p is not None]
    return Exit("raise", expressions(b, parts), place_of(node))


def _break(b: Builder, node: Node) -> Exit:
    return Exit("break", carried(b, b.loops[-1]), place_of(node))


def _continue(b: Builder, node: Node) -> Exit:
    return Exit("continue", carried(b, b.loops[-1]), place_of(node))


def carried(b: Builder, names: Sequence[str]) -> tuple[Operand, ...]:
    """The values that some names have here."""
    return tuple([_value_of(b.env, name) for name in names])


def _value_of(env: Any, name: str) -> Operand:
    value = env.get(name, UNSET)
    assert not isinstance(value, Variable)
    return value  # type: ignore[no-any-return]


# --- branches


def _branch(b: Builder, statements: Sequence[Node]) -> Branch:
    with b.apart() as branch:
        branch.exit = block(b, statements)
    return branch


def joined(b: Builder, branches: Sequence[Branch]) -> tuple[tuple[Region, ...], tuple[Value, ...], Exit | None]:
    """The regions of branches of which one is taken, the results of the operation, and the end if none goes on.

    Names stand for the results from then on.
    """
    going = [branch for branch in branches if branch.exit is None]
    names = [
        name
        for name in dict.fromkeys(name for branch in going for name in branch.env)
        if not isinstance(b.env.get(name), Variable)
        and any(branch.env.get(name, UNSET) is not b.env.get(name, UNSET) for branch in going)
    ]
    regions = tuple(
        [
            Region(
                (), branch.operations, branch.exit or Exit("yield", tuple([_value_of(branch.env, n) for n in names]))
            )
            for branch in branches
        ]
    )
    results = tuple([Value(name) for name in names])
    b.env.update(zip(names, results, strict=True))
    return regions, results, None if going else Exit("never")


def _if(b: Builder, node: Node) -> Exit | None:
    test = expression(b, node.test)
    regions, results, end = joined(b, [_branch(b, node.body), _branch(b, node.orelse)])
    b.add(Operation("if", (test,), results, None, regions, place_of(node)))
    return end


def _match(b: Builder, node: Node) -> Exit | None:
    subject = expression(b, node.subject)
    patterns, guards, branches = [], [], []
    regions: list[Region] = []
    for case in node.cases:
        patterns.append(pattern_of(b, case.pattern))
        guards.append(None if case.guard is None else region_of(b, case.guard))
        branches.append(_branch(b, case.body))
    last = node.cases[-1]
    whole = isinstance(last.pattern, gast.MatchAs) and last.pattern.pattern is None and last.guard is None
    if not whole:
        branches.append(_branch(b, []))
    made, results, end = joined(b, branches)
    for guard, region in zip(guards, made, strict=False):
        regions += [region] if guard is None else [guard, region]
    regions += made[len(guards) :]
    data = Cases(tuple(patterns), tuple([g is not None for g in guards]))
    b.add(Operation("match", (subject,), results, data, tuple(regions), place_of(node)))
    return end


# --- loops


def _bound_in(b: Builder, nodes: Sequence[Node]) -> tuple[str, ...]:
    """The names that statements bind and that are values, in order."""
    found: dict[str, None] = {}
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            found[node.name] = None
        elif isinstance(node, (gast.Import, gast.ImportFrom)):
            found.update(dict.fromkeys(a.asname or a.name.partition(".")[0] for a in node.names))
        elif isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            found[node.id] = None
        elif not isinstance(node, (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)):
            pending += reversed(list(gast.iter_child_nodes(node)))
    return tuple([name for name in found if b.is_value(name)])


def _body(b: Builder, names: tuple[str, ...], statements: Sequence[Node]) -> Exit:
    """Lower the body of a loop."""
    b.loops.append(names)
    end = block(b, statements)
    b.loops.pop()
    return end or Exit("continue", carried(b, names))


def _for(b: Builder, node: Node) -> Exit | None:
    iterable = expression(b, node.iter)
    names = _bound_in(b, [node.target, *node.body, *node.orelse])
    before = carried(b, names)
    single = isinstance(node.target, gast.Name) and b.is_value(node.target.id)
    with b.apart() as round_:
        params = _carry(b, names)
        item = Value(node.target.id if single else "")
        assign(b, node.target, item)
        round_.exit = _body(b, names, node.body)
    with b.apart() as rest:
        last = _carry(b, names)
        rest.exit = block(b, node.orelse)
    regions, results, end = _ended(b, names, rest, round_)
    body = Region((item, *params), round_.operations, round_.exit)
    operands = (iterable, *before)
    awaits = isinstance(node, gast.AsyncFor)
    after = Region(last, rest.operations, regions.exit)
    b.add(Operation("for", operands, results, None, (body, after), place_of(node), awaits))
    return end


def _while(b: Builder, node: Node) -> Exit | None:
    names = _bound_in(b, [node.test, *node.body, *node.orelse])
    before = carried(b, names)
    with b.apart():
        params = _carry(b, names)
        with b.apart() as tested:
            test = expression(b, node.test)
        with b.apart() as round_:
            round_.exit = _body(b, names, node.body)
        with b.apart() as rest:
            rest.exit = block(b, node.orelse)
    if isinstance(test, Constant) and test.value:
        rest.exit = rest.exit or Exit("never")
    regions, results, end = _ended(b, names, rest, round_)
    first = Region(params, tested.operations, Exit("yield", (test,)))
    body = Region((), round_.operations, round_.exit)
    after = Region((), rest.operations, regions.exit)
    b.add(Operation("while", before, results, None, (first, body, after), place_of(node)))
    return end


def _carry(b: Builder, names: tuple[str, ...]) -> tuple[Value, ...]:
    values = tuple([Value(name) for name in names])
    b.env.update(zip(names, values, strict=True))
    return values


def _ended(
    b: Builder, names: tuple[str, ...], rest: Branch, body: Branch
) -> tuple[Region, tuple[Value, ...], Exit | None]:
    """How the part after a loop ends, the results of the loop, and the end if nothing comes after it."""
    goes_on = rest.exit is None or has_break(body)
    end = rest.exit or Exit("yield", tuple([_value_of(rest.env, n) for n in names]))
    results = tuple([Value(name) for name in names]) if goes_on else ()
    if goes_on:
        b.env.update(zip(names, results, strict=True))
    return Region((), (), end), results, None if goes_on else Exit("never")


def has_break(body: Branch) -> bool:
    """Whether a loop's body may leave the loop early."""
    regions = [Region((), body.operations, body.exit or Exit("yield"))]
    for region in regions:
        if region.exit.kind == "break":
            return True
        for operation in region.operations:
            if operation.kind in ("for", "while"):
                regions.append(operation.regions[-1])
            else:
                regions += operation.regions
    return False


# --- try and with


def _try(b: Builder, node: Node) -> Exit | None:
    regions, goes_on = [], False
    body = _branch(b, node.body)
    classes, names = [], []
    handlers: list[Region] = []
    for handler in node.handlers:
        classes.append(handler.type is not None)
        if handler.type is not None:
            handlers.append(region_of(b, handler.type))
        names.append(None if handler.name is None else bound_variable(b, handler.name.id))
        branch = _branch(b, handler.body)
        goes_on = goes_on or branch.exit is None
        handlers.append(_region(branch))
    after = _branch(b, node.orelse) if node.orelse and body.exit is None else None
    final = _branch(b, node.finalbody) if node.finalbody else None
    goes_on = goes_on or (body.exit is None and (after is None or after.exit is None))
    goes_on = goes_on and (final is None or final.exit is None)
    regions = [_region(body), *handlers, *(_region(part) for part in (after, final) if part is not None)]
    groups = isinstance(node, getattr(gast, "TryStar", ()))
    data = Handlers(tuple(classes), tuple(names), after is not None, final is not None, groups)
    b.add(Operation("try", (), (), data, tuple(regions), place_of(node)))
    return None if goes_on else Exit("never")


def _region(branch: Branch) -> Region:
    return Region((), branch.operations, branch.exit or Exit("yield"))


def _with(b: Builder, node: Node) -> Exit | None:
    return _with_items(b, node, 0)


def _with_items(b: Builder, node: Node, at: int) -> Exit | None:
    item = node.items[at]
    manager = expression(b, item.context_expr)
    target = item.optional_vars
    entered = Value(target.id if isinstance(target, gast.Name) and b.is_value(target.id) else "")
    with b.apart() as branch:
        if target is not None:
            assign(b, target, entered)
        last = at + 1 == len(node.items)
        branch.exit = block(b, node.body) if last else _with_items(b, node, at + 1)
    region = Region((entered,), branch.operations, branch.exit or Exit("yield"))
    awaits = isinstance(node, gast.AsyncWith)
    b.add(Operation("with", (manager,), (), target is not None, (region,), place_of(node), awaits))
    # A manager may swallow what was raised inside.
    return None


# --- functions and classes


def _def(b: Builder, node: Node) -> None:
    if getattr(node, "type_params", None):
        raise SourceError("type parameters are not understood")
    operands = [*expressions(b, node.decorator_list)]
    defaults, names = defaults_of(b, node)
    annotated = [p for p in parameters(node) if p.annotation is not None]
    operands += [*defaults, *expressions(b, [p.annotation for p in annotated])]
    annotations = [p.id for p in annotated]
    if node.returns is not None:
        operands.append(expression(b, node.returns))
        annotations.append("return")
    data = Definition(lower_function(node, b), len(node.decorator_list), names, tuple(annotations))
    name = node.name if b.is_value(node.name) else ""
    b.bind(node.name, b.emit("function", operands, data, name=name, node=node), node)


def _class(b: Builder, node: Node) -> None:
    decorators = expressions(b, node.decorator_list)
    operands, kinds = call_arguments(b, node.bases, node.keywords)
    inner = Builder(scope(node), b, is_class=True)
    statements, doc = node.body, None
    if isinstance(statements[0], gast.Expr) and isinstance(statements[0].value, gast.Constant):
        if isinstance(statements[0].value.value, str):
            doc, statements = statements[0].value.value, statements[1:]
    block(inner, statements)
    body = Region((), tuple(inner.operations), Exit("return"))
    code = finished(inner, node.name, "class", (), body, doc)
    name = node.name if b.is_value(node.name) else ""
    data = Definition(code, len(decorators), arguments=kinds)
    b.bind(node.name, b.emit("class", (*decorators, *operands), data, name=name, node=node), node)


_STATEMENTS: dict[type, Callable[[Builder, Node], Exit | None]] = {
    gast.Expr: _expression, gast.Assign: _assign, gast.AnnAssign: _annotated, gast.AugAssign: _augmented,
    gast.Delete: _delete, gast.Import: _import, gast.ImportFrom: _import_from, gast.Assert: _assert,
    gast.Pass: _nothing, gast.Global: _nothing, gast.Nonlocal: _nothing,
    gast.Return: _return, gast.Raise: _raise, gast.Break: _break, gast.Continue: _continue,
    gast.If: _if, gast.Match: _match, gast.For: _for, gast.AsyncFor: _for, gast.While: _while,
    gast.Try: _try, gast.With: _with, gast.AsyncWith: _with,
    gast.FunctionDef: _def, gast.AsyncFunctionDef: _def, gast.ClassDef: _class,
}  # fmt: skip
if hasattr(gast, "TryStar"):
    _STATEMENTS[gast.TryStar] = _try
