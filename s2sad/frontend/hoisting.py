"""Take what has an effect out of an expression that is otherwise left whole.

    done = u[0] < step(u)        t = u[0]; t_2 = step(u)
                                 done = t < t_2
    while (e := step(u)) > 1:    while True:
        rest                         e = step(u)
                                     if e > 1: rest
                                     else: break

What Python evaluates before is evaluated before it still.  Of what is evaluated under a condition nothing is taken.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad.frontend.met import calls_at_once, is_unknown, of_constant
from s2sad.frontend.special import classes_led_to
from s2sad.frontend.trees import nodes_of
from s2sad.frontend.writers import Writers
from s2sad.frontend.writing import written_in
from s2sad.ir.nodes import Call, Const, Expr, Op, Var
from s2sad.ops.binding import positional

Node = Any


class Hoisting(Writers):
    """The part of the lowering that knows in which order Python evaluates what has an effect."""

    def unused(self, hint: str) -> str:
        """A variable name like ``hint`` that the function does not use."""
        raise NotImplementedError

    def is_met(self, call: Node) -> bool:
        """Whether a call of a constant is of what is known at run time only, and may carry a derivative."""
        if self.stopping or not self.depends(call) or self.depends(call.func):
            return False
        return is_unknown(call, self.resolver.lookup, self.resolver.local.__contains__)

    def met_call(self, node: Node, hint: str) -> Expr | None:
        """A call of a constant object that has a rule, or of what is known at run time only; None for any other."""
        if (constant := of_constant(node, self.resolver.lookup)) is not None:
            owner, name, member = constant
            receiver, (args, kwargs) = self.operand(owner), self.arguments(node)
            return self.assign(hint, positional(Call(Op("method", name, member), (receiver, *args), kwargs, node)))
        if not self.is_met(node):
            return None
        callee = self.operand(node.func)
        args, kwargs = self.arguments(node, named=True)
        op = Op("met", self.resolver.text(node.func), pure=False)
        return self.assign(hint, Call(op, (callee, *args), kwargs, node))

    def has_effect(self, node: Node) -> bool:
        """Whether evaluating ``node`` may assign a variable or write into what carries a derivative."""
        nodes = nodes_of(node)
        if any(isinstance(n, gast.NamedExpr) for n in nodes):
            return True
        if not any(isinstance(n, gast.Call) for n in nodes):
            return False
        if any(map(self.is_met, calls_at_once(node))):
            return True
        written = set(written_in(node, self.resolver.lookup, surely=True))
        if any(isinstance(n, gast.Name) and n.id in written and self.depends(n) for n in nodes):
            return True
        # What carries a derivative may be written into what exists.
        calls = [n for n in nodes if isinstance(n, gast.Call) and self.depends(n)] if written else []
        return any(next(written_in(call, self.resolver.lookup, surely=True), None) is not None for call in calls)

    def decides(self, node: Node) -> bool:
        """Whether a part of ``node`` has an effect under a condition, or all of it is an assignment."""
        match node:
            case gast.BoolOp():
                return any(self.has_effect(v) for v in node.values[1:])
            case gast.IfExp():
                return self.has_effect(node.body) or self.has_effect(node.orelse)
        return isinstance(node, gast.NamedExpr)

    def test(self, node: Node) -> Expr:
        """The condition of a branch or loop."""
        if not self.has_effect(node):
            return self.constant(node)
        node = _unchained(node)
        if not isinstance(node, gast.BoolOp):
            return self.value(node)
        if not self.decides(node):
            return self.ordered(node)
        first, *rest = node.values
        tail = rest[0] if len(rest) == 1 else gast.copy_location(gast.BoolOp(op=node.op, values=rest), node)
        if isinstance(node.op, gast.And):
            return self.choose(self.test(first), lambda: self.test(tail), lambda: Const(False), "~t")
        return self.choose(self.test(first), lambda: Const(True), lambda: self.test(tail), "~t")

    def ordered(self, node: Node) -> Expr:
        """An expression that carries no derivative; what has an effect in it is evaluated before."""
        with self.taken_out(node) as rest:
            return self.constant(rest)

    def index_of(self, index: Node) -> Expr:
        """What stands between the brackets of a subscript, evaluated once and now."""
        if self.depends(index) and not isinstance(index, (gast.Slice, gast.Tuple)) and self.has_effect(index):
            return self.operand(index)
        with self.taken_out(index) as rest:
            return self.hoisted(self.index(rest))

    @contextlib.contextmanager
    def taken_out(self, node: Node) -> Iterator[Node]:
        """Evaluate what has an effect in an expression, and give the rest of it."""
        names: list[str] = []

        def hoist(part: Node) -> Node:
            if isinstance(part, gast.Constant) or self.resolver.lookup(part)[0]:
                return part
            value = self.operand(part)
            names.append(self.unused("t"))
            self.resolver.local |= {names[-1]}
            self.resolver.owners[f"{names[-1]}."] = frozenset(classes_led_to(part, self.resolver.lookup))
            self.env[names[-1]] = (value if isinstance(value, Var) else self.assign("~t", value)).name
            name = gast.Name(id=names[-1], ctx=gast.Load(), annotation=None, type_comment=None)
            return gast.copy_location(name, part)

        def whole(part: Node) -> bool:
            return self.depends(part) or self.decides(part)

        if self.decides(node):
            yield hoist(node)
        else:
            yield hoisted(node, self.has_effect, whole, hoist) if self.has_effect(node) else node
        for name in names:
            del self.env[name]


def _unchained(node: Node) -> Node:
    """``a < b and b < c`` for ``a < b < c``, if ``b`` is a name."""
    if not isinstance(node, gast.Compare) or len(node.ops) == 1:
        return node
    operands = [node.left, *node.comparators]
    if not all(isinstance(e, gast.Name) for e in operands[1:-1]):
        return node
    pairs = zip(operands, node.ops, operands[1:], strict=False)
    values = [gast.copy_location(gast.Compare(a, [op], [b]), node) for a, op, b in pairs]
    return gast.copy_location(gast.BoolOp(op=gast.And(), values=values), node)


def hoisted(
    node: Node, has_effect: Callable[[Node], bool], whole: Callable[[Node], bool], hoist: Callable[[Node], Node]
) -> Node:
    """``node`` with names for the parts that have an effect and for what is evaluated before them.

    ``hoist`` evaluates a part and gives its name; it gets those that are to be left ``whole`` or cannot be taken apart.
    The result is ``node`` itself where nothing can be taken out: of ``a < b < c`` not from ``c``.
    """
    names: dict[int, Node] = {}

    def take(part: Node) -> None:
        parts = list(_parts(part))
        last = max((i for i, p in enumerate(parts) if has_effect(p)), default=-1)
        if part is not node and (last < 0 or whole(part)):
            names[id(part)] = hoist(part)
        if last < 0 or id(part) in names or (isinstance(part, gast.Compare) and last > 1):
            return
        names.update((id(p), hoist(p)) for p in parts[:last])
        take(parts[last])

    take(node)
    return _with_names(node, names) if names else node


def forever(loop: Node) -> Node:
    """``while test: body`` as a loop that evaluates its condition inside."""
    leave, true = gast.Break(), gast.Constant(value=True, kind=None)
    branch = gast.If(test=loop.test, body=loop.body, orelse=[leave])
    for node in (leave, true, branch):
        gast.copy_location(node, loop)
    return gast.copy_location(gast.While(test=true, body=[branch], orelse=[]), loop)


def _parts(node: Node) -> Iterator[Node]:
    """The parts that an expression evaluates whatever their values are, in order, and the others of a comparison."""
    match node:
        case gast.BinOp():
            yield from (node.left, node.right)
        case gast.UnaryOp():
            yield node.operand
        case gast.Compare():
            yield from (node.left, *node.comparators)
        case gast.BoolOp():
            yield node.values[0]
        case gast.IfExp():
            yield node.test
        case gast.Attribute():
            yield node.value
        case gast.Subscript():
            yield node.value
            yield from _index_parts(node.slice)
        case gast.Slice():
            yield from _index_parts(node)
        case gast.Tuple() | gast.List() if not any(isinstance(e, gast.Starred) for e in node.elts):
            for element in node.elts:
                yield from _index_parts(element)
        case gast.Call() if not any(isinstance(a, gast.Starred) for a in node.args):
            if isinstance(node.func, gast.Attribute):
                yield node.func.value
            yield from node.args
            yield from (k.value for k in node.keywords)


def _index_parts(index: Node) -> Iterator[Node]:
    """The expressions in what may stand between the brackets of a subscript."""
    if isinstance(index, gast.Slice):
        yield from (p for p in (index.lower, index.upper, index.step) if p is not None)
    elif isinstance(index, gast.Tuple):
        yield from _parts(index)
    else:
        yield index


def _with_names(node: Node, names: dict[int, Node]) -> Node:
    if id(node) in names:
        return names[id(node)]
    new = copy.copy(node)
    for field, value in gast.iter_fields(node):
        if isinstance(value, gast.AST):
            setattr(new, field, _with_names(value, names))
        elif isinstance(value, list):
            setattr(new, field, [_with_names(v, names) if isinstance(v, gast.AST) else v for v in value])
    return new
