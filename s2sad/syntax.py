"""Parts of Python's syntax tree: operators by their symbols, dotted names, renaming."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from s2sad.ir import signs
from s2sad.ir.nodes import (
    NOWHERE,
    Assign,
    Block,
    Build,
    Call,
    Const,
    Effect,
    Expr,
    For,
    Function,
    Global,
    Op,
    Opaque,
    Slice,
    Stmt,
    Unpack,
    Var,
)
from s2sad.ir.traverse import expressions, subexpressions, walk, writes

_Node = TypeVar("_Node", bound=ast.AST)

OPERATORS: dict[str, ast.operator] = {sign: getattr(ast, name)() for name, sign in signs.BINARY.items()}
UNARY: dict[str, ast.unaryop] = {sign: getattr(ast, name)() for name, sign in signs.UNARY.items()}
#: Signs of two words are one here.
COMPARE: dict[str, ast.cmpop] = {sign.replace(" ", "_"): getattr(ast, name)() for name, sign in signs.COMPARE.items()}


def dotted(text: str) -> ast.expr:
    """A dotted name, or any other expression, as a tree."""
    first, *rest = text.split(".")
    if not all(part.isidentifier() for part in (first, *rest)):
        return ast.parse(text, mode="eval").body
    node: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        node = ast.Attribute(node, part, ast.Load())
    return node


def shortened(text: str) -> str:
    """A comment that is not too long for its line."""
    return text if len(text) <= 100 else text[:97] + "..."


def unmade(stmt: ast.stmt) -> ast.stmt:
    """The call of the method that a ``del`` or a store runs as that statement; any other as it is.

    Example:
        >>> stmt = ast.parse("xs.__delitem__(0)").body[0]
        >>> stmt.value.func.ctx = ast.Del()
        >>> ast.unparse(unmade(stmt))
        'del xs[0]'
    """
    match stmt:
        case ast.Expr(ast.Call(ast.Attribute(value=whole, ctx=ast.Del()), [index])):
            return ast.copy_location(ast.Delete([ast.Subscript(whole, _slices(index), ast.Del())]), stmt)
        case ast.Expr(ast.Call(ast.Attribute(value=whole, ctx=ast.Store()), [index, value])):
            return ast.copy_location(ast.Assign([ast.Subscript(whole, _slices(index), ast.Store())], value), stmt)
    return stmt


def _slices(index: ast.expr) -> ast.expr:
    """An index with ``a:b:c`` for ``slice(a, b, c)``."""
    match index:
        case ast.Call(ast.Name("slice"), [_, _, _] as bounds, []):
            return ast.Slice(*(None if isinstance(b, ast.Constant) and b.value is None else b for b in bounds))
        case ast.Tuple(parts):
            return ast.Tuple([_slices(part) for part in parts], ast.Load())
    return index


class _Renamer(ast.NodeTransformer):
    """Renames free names; what a lambda or comprehension binds stays."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = dict(names)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = self.names.get(node.id, node.id)
        return dotted(name) if "." in name else ast.Name(name, node.ctx)

    def scoped(self, node: Any, bound: set[str]) -> Any:
        outer = self.names
        self.names = {k: v for k, v in outer.items() if k not in bound}
        new = self.generic_visit(node)
        self.names = outer
        return new

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        a = node.args
        own = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
        a.defaults = [self.visit(d) for d in a.defaults]
        bound = {x.arg for x in own if x is not None}
        outer = self.names
        self.names = {k: v for k, v in outer.items() if k not in bound}
        node.body = self.visit(node.body)
        self.names = outer
        return node

    def comprehension(self, node: Any) -> Any:
        node.generators[0].iter = self.visit(node.generators[0].iter)
        bound = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        first = node.generators[0].iter
        node.generators[0].iter = ast.Constant(None)
        new = self.scoped(node, bound)
        new.generators[0].iter = first
        return new

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = comprehension


def renamed(node: _Node, names: Mapping[str, str]) -> _Node:
    """A copy of a tree with its free names called otherwise."""
    new: _Node = _Renamer(names).visit(copy.deepcopy(node))
    return new


POP = Op("change", "pop")
_INDEX = Op("index", "[]")


def taken_by_header(loop: For, is_lone: Callable[[str, Block], bool]) -> tuple[dict[str, Unpack], Block]:
    """The targets of a loop that it takes apart at once, as its header can, and the rest of its body.

    ``for item in pairs: a, b = item`` is ``for a, b in pairs`` where the item ``is_lone``: nothing else reads it.
    """
    found: dict[str, Unpack] = {}
    names, body = set(loop.targets), loop.body
    while body:
        first, *rest = body
        if not isinstance(first, Unpack) or not isinstance(first.value, Var) or first.value.name not in names:
            break
        if first.origin not in (loop.origin, NOWHERE) or not is_lone(first.value.name, loop.body):
            break
        found[first.value.name] = first
        names.update(first.targets)
        body = tuple(rest)
    return found, body


def joined(block: Block, uses: Mapping[str, int]) -> Iterable[Stmt]:
    """A block with ``x = h[-1]; h.pop()`` as ``x = h.pop()``, and ``t = h[i]; t += e; h[i] = t`` as ``h[i] += e``.

    The first is the taking apart of a change, into the item, or the parts of the item, and what is left.
    """
    out: list[Stmt] = []
    for stmt in block:
        made = out[-1] if out else None
        match made, stmt:
            case (
                Unpack(targets=(taken_, rest), value=Call(op=op_) as popped, origin=origin),
                Unpack(targets=parts, value=Var(name=name), star=None),
            ) if op_ == POP and name == taken_ and uses[taken_] == 1 and len(parts) > 1:
                out[-1] = Unpack((*parts, rest), popped, None, origin)
                continue
        if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op == POP:
            at = _taken(out, stmt.value)
            if at is not None:
                taken = out[at]
                out[at] = Unpack((*writes(taken), stmt.target), stmt.value, None, taken.origin)
                continue
        if isinstance(made, Assign) and isinstance(stmt, Assign) and isinstance(stmt.value, Call):
            change = stmt.value
            whole, *place = change.args or (Const(None),)
            operation = made.value
            if change.op.kind == "change" and isinstance(operation, Call) and operation.op.kind == "inplace":
                old, operand = operation.args
                getter = _INDEX if change.op.name == "[]" else Op("attribute", change.op.name[1:])
                item = Call(getter, (whole, *place[:-1]))
                if place[-1:] == [Var(made.target)] and uses[made.target] == 1 and _value_of(old, out) == item:
                    out.pop()
                    if isinstance(old, Var) and uses[old.name] == 1 and writes(out[-1]) == (old.name,):
                        out.pop()
                    how = Op("change", f"{change.op.name} {operation.op.name}")
                    out.append(replace(stmt, value=Call(how, (whole, *place[:-1], operand))))
                    continue
        out.append(stmt)
    return out


def _taken(before: list[Stmt], change: Call) -> int | None:
    """Where the item that a change takes off a container has been read last, with other such reads alone since then."""
    whole, *place = change.args
    item = Call(_INDEX, (whole, *(place or (Const(-1),))))
    for at in reversed(range(len(before))):
        match before[at]:
            case Assign(value=value) if value == item and isinstance(whole, Var):
                return at
            case Assign(value=Call(op=op, args=(Var() as other, *_))) if op in (_INDEX, POP) and other != whole:
                pass
            case Unpack(value=Call(op=op, args=(Var() as other, *_))) if op == POP and other != whole:
                pass
            case _:
                return None
    return None


def _value_of(expr: Expr, before: Iterable[Stmt]) -> Expr:
    """What a name stands for, by the statements before in its block."""
    if not isinstance(expr, Var):
        return expr
    made = [s.value for s in before if isinstance(s, Assign) and s.target == expr.name]
    return made[-1] if made else expr


def is_sliced(expr: Expr) -> bool:
    """Whether an expression surely is a view of an array: by a slice."""
    if not (isinstance(expr, Call) and expr.op.kind == "index"):
        return False
    index = expr.args[1]
    parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
    return all(isinstance(p, (Slice, Const)) for p in parts) and any(isinstance(p, Slice) for p in parts)


def without_minus(expr: Expr) -> Expr | None:
    """``x`` of ``-x``, ``a * b`` of ``-a * b``; None for what has no minus in front."""
    if isinstance(expr, Const):
        value = expr.value
        return Const(-value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0 else None
    if not isinstance(expr, Call) or expr.op.kind != "operator":
        return None
    if expr.op.name == "-" and len(expr.args) == 1:
        return expr.args[0]
    first = without_minus(expr.args[0]) if expr.op.name in ("*", "/") else None
    return None if first is None else Call(expr.op, (first, expr.args[1]))


def globals_read(function: Function) -> set[str]:
    """The global names that a function's text reads."""
    found: set[str] = set()
    for stmt in walk((*function.body, *(function.reverse or ()))):
        for expr in expressions(stmt):
            _globals(expr, found)
        if isinstance(stmt, Effect):
            local = {user for user, _ in stmt.names}
            found |= {n.id for n in ast.walk(stmt.node) if isinstance(n, ast.Name)} - local
    _globals(function.result, found)
    return found


def _globals(expr: Expr, found: set[str]) -> None:
    for e in subexpressions(expr):
        if isinstance(e, Global):
            found.add(e.text.partition(".")[0])
        elif isinstance(e, Call) and e.op.kind in ("function", "user"):
            found.add(e.op.name.partition(".")[0])
        elif isinstance(e, Opaque):
            local = {user for user, _ in e.names}
            found |= {n.id for n in ast.walk(e.node) if isinstance(n, ast.Name)} - local
