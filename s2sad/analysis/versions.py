"""The changes of lists and dicts, and the names that hold one container that is changed."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping

from s2sad import ops
from s2sad.analysis.infer import Facts, are_alike
from s2sad.ir.nodes import Assign, Block, Build, Call, Copy, Expr, For, Function, Op, Opaque, Stmt, Store, Var, While
from s2sad.ir.traverse import base, blocks, names_in, reads, walk, writes
from s2sad.ir.types import Fact

_INDEX = Op("index", "[]")


def is_change(value: Expr) -> bool:
    """Whether an expression is a container after a change."""
    return isinstance(value, Call) and value.op.kind == "change"


def changes(block: Iterable[Stmt]) -> Iterator[tuple[str, Call]]:
    """Every change of a container in a block: the name after it, and the operation."""
    for stmt in walk(block):
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "change":
            yield stmt.target, stmt.value


def changed_items(body: Block, iterable: Expr, held: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """The names of what a loop runs over after the changes in its ``body``; ``held`` are `versions`."""
    names = {m for n in _run_over(iterable) for m in held.get(n, ())}
    if names:
        yield from (target for target, _ in changes(body) if target in names)


def _run_over(iterable: Expr) -> Iterator[str]:
    """The names of what is read item by item as a loop runs; of a copy, which is made before, none."""
    if isinstance(iterable, Opaque):
        made = isinstance(iterable.node, (ast.ListComp, ast.Subscript, ast.BinOp))
        named = iterable.node.func if isinstance(iterable.node, ast.Call) else None
        known = ops.spec_of(getattr(builtins, named.id, None)) if isinstance(named, ast.Name) else None
        if not made and not _reads_ahead(known):
            yield from names_in(iterable)
    elif isinstance(iterable, Var):
        yield iterable.name
    elif isinstance(iterable, Call) and iterable.op.kind in ("function", "method"):
        for operand in () if _reads_ahead(ops.spec_of(iterable.op.function)) else iterable.args:
            yield from _run_over(operand)


def _reads_ahead(spec: ops.OpSpec | None) -> bool:
    """Whether an operation reads its operands before a loop over its result begins, and gives something new."""
    if spec is None or spec.own or spec.result == "element":
        return False
    return bool(spec.consumes) or spec.result == "fresh"


def versions(function: Function) -> dict[str, frozenset[str]]:
    """For each name of a container that is changed: the names that may hold that container, sooner or later."""
    block = (*function.body, *(function.reverse or ()))
    linked: dict[str, set[str]] = {}

    def link(a: str, b: str) -> None:
        joined = linked.get(a, {a}) | linked.get(b, {b})
        for name in joined:
            linked[name] = joined

    changed = set()
    for target, call in changes(block):
        changed.add(target)
        for name in names_in(call.args[0]):
            changed.add(name)
            link(target, name)
    if not changed:
        return {}
    for stmt in walk(block):
        if isinstance(stmt, Copy):
            for target, source in zip(stmt.targets, stmt.sources, strict=True):
                if isinstance(source, Var) and base(source.name) == base(target):
                    link(target, source.name)
        elif isinstance(stmt, Assign) and isinstance(stmt.value, Var) and base(stmt.value.name) == base(stmt.target):
            link(stmt.target, stmt.value.name)
    return {name: frozenset(group) for name, group in linked.items() if group & changed}


def augmented_after(function: Function, names: frozenset[str]) -> dict[str, frozenset[str]]:
    """For each of the ``names``: the targets of the augmented assignments that may run once it has its value.

    Example:
        >>> from s2sad.ir.nodes import Const, Op
        >>> bump = Assign("w.2", Call(Op("inplace", "+"), (Var("w.1"), Const(1))))
        >>> body = (Assign("u.1", Var("x.1")), Assign("w.1", Var("u.1")), bump, Assign("r.1", Var("w.2")))
        >>> augmented_after(Function("f", (), body, Var("u.1")), frozenset({"u.1", "r.1"}))
        {'u.1': frozenset({'w.2'})}
    """
    found: dict[str, set[str]] = {}

    def follow(block: Block, given: frozenset[str]) -> frozenset[str]:
        for stmt in block:
            if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace":
                for name in given:
                    found.setdefault(name, set()).add(stmt.target)
            if isinstance(stmt, (For, While)):
                # Another turn may come.
                given |= names.intersection(n for s in walk(stmt.body) for n in writes(s))
            inner = [follow(b, given) for b in blocks(stmt)]
            given = given.union(names.intersection(writes(stmt)), *inner)
        return given

    follow(function.body, names.intersection(p.name for p in function.params))
    return {name: frozenset(targets) for name, targets in found.items()}


def puts_number(stmt: Store, fact: Callable[[Expr], Fact]) -> bool:
    """Whether a store puts a number in the place of another in a list."""
    if stmt.call is not None or fact(stmt.base).kind != "list" or fact(stmt.index).kind != "scalar":
        return False
    return fact(stmt.value).kind == fact(Call(_INDEX, (stmt.base, stmt.index))).kind == "scalar"


def appends(stmt: Stmt) -> bool:
    """Whether a statement is a store after the last item of a list."""
    return isinstance(stmt, Store) and stmt.call is not None and stmt.call.op.function is list.append


def appends_alike(stmt: Store, fact: Callable[[Expr], Fact]) -> bool:
    """Whether a store appends a number or array to a list that surely holds no more than such."""
    return appends(stmt) and are_alike(fact(stmt.base), fact(stmt.value))


def recorded(
    function: Function, group: Mapping[str, frozenset[str]], fact: Callable[[Expr], Fact], lent: Iterable[str] = ()
) -> set[str]:
    """The names of lists, and of what holds them, to which items are appended and which nothing reads.

    What is ``lent``, parameters, the caller may read.
    """
    appended = [stmt for stmt in walk(function.body) if isinstance(stmt, Store) and appends(stmt)]
    bases = {name for stmt in appended for name in names_in(stmt.base)}
    read = {*names_in(function.result), *lent}
    for stmt in walk(function.body):
        match stmt:
            case Store(value=value) if appends(stmt):
                read.update(names_in(value))
            case Assign(target=target, value=Call(op=op, args=(_, key))) if op == _INDEX and target in bases:
                read.update(names_in(key))
            case _:
                read.update(reads(stmt))
    found: set[str] = set()
    for name in bases:
        holders = {m for m in group.get(name, (name,)) if fact(Var(m)).kind in ("list", "tuple", "dict")}
        if holders.isdisjoint(read):
            found |= holders
    return found


def container_stores(
    stmts: Iterable[Stmt], facts: Facts, held: Callable[[], frozenset[str]]
) -> Iterator[tuple[int, str]]:
    """The stores, and augmented assignments of lists, into variables that surely hold a list or dict.

    Numbers that are put into a list that is ``held`` by others are not among them.
    """
    lists: set[str] = set()
    for stmt in stmts:
        match stmt:
            case Assign(target=target, value=Build(kind="list")):
                lists.add(target)
            case Store(base=Var(name=name) as whole, call=None) if not name.startswith("~"):
                if facts.get(whole).kind in ("list", "dict") and not (puts_number(stmt, facts.get) and name in held()):
                    yield stmt.origin.line, name.partition(".")[0]
            case Store(base=Var(name=name) as whole, call=Call(op=Op(kind="method", name="sort"))):
                if facts.get(whole).kind == "list":
                    yield stmt.origin.line, name.partition(".")[0]
            case Assign(target=target, value=Call(op=op, args=(whole, Var(name=name)))) if op.kind == "inplace":
                if facts.get(whole).kind == "list" and op.name == "+" and name.startswith("~") and name in lists:
                    yield stmt.origin.line, target.partition(".")[0]
