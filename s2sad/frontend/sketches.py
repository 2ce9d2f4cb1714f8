"""What expressions that stay as they stand are made of, for the types of what they give."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import gast

from s2sad.errors import Violation
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, Var
from s2sad.ops.infer.moments import METHODS

Node = Any
#: The methods that give views of dicts.
VIEWS = ("keys", "values", "items")
#: The methods of lists, tuples and texts that give whole numbers.
COUNTING = ("index", "count", "find")
_KINDS = {gast.ListComp: "list", gast.DictComp: "dict", gast.GeneratorExp: "generator"}


class Lowering(Protocol):
    """What lowers expressions that carry no derivative."""

    env: dict[str, str]
    violations: list[Violation]

    def constant(self, node: Node) -> Expr:
        """An expression as one value."""


def sketched(lowering: Lowering, node: Node) -> Call | None:
    """A comprehension, a view of a dict, or ``d.get(key, default)`` as an expression; None for anything else.

    The arguments of a comprehension are a pair for each loop, of the target and what that runs over, then the element,
    or the key and the value.  The names of targets are in no other expression.
    """
    kind = _KINDS.get(type(node))
    if kind is None:
        return _method(lowering, node)
    with _aside(lowering):
        loops = []
        for loop in node.generators:
            runs = lowering.constant(loop.iter)
            loops.append(Build("tuple", (_target(lowering, loop.target), runs)))
        elements = (node.key, node.value) if kind == "dict" else (node.elt,)
        return Call(Op("comprehension", kind), (*loops, *map(lowering.constant, elements)), (), node)


@contextlib.contextmanager
def _aside(lowering: Lowering) -> Iterator[None]:
    """Within, variables may be bound, and what is not accepted is not noted: that is said of the whole expression."""
    env, violations = lowering.env, lowering.violations
    lowering.env, lowering.violations = dict(env), []
    try:
        yield
    finally:
        lowering.env, lowering.violations = env, violations


def _method(lowering: Lowering, node: Node) -> Call | None:
    """A call of a method of dicts, dates or lists; ``d.get(key)`` gets its default value None."""
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
        return None
    name, args = node.func.attr, node.args
    if name in METHODS or name in COUNTING:
        with _aside(lowering):
            return Call(Op("method", name), (lowering.constant(node.func.value),), (), node)
    if node.keywords:
        return None
    is_get = name == "get" and len(args) in (1, 2)
    if (not is_get and (name not in VIEWS or args)) or any(isinstance(a, gast.Starred) for a in args):
        return None
    with _aside(lowering):
        given = tuple(map(lowering.constant, (node.func.value, *args)))
    return Call(Op("method", name), given if len(given) != 2 or not is_get else (*given, Const(None)), (), node)


def _target(lowering: Lowering, node: Node) -> Expr:
    if isinstance(node, gast.Name):
        lowering.env[node.id] = f"<{node.id}>"
        return Var(lowering.env[node.id])
    if isinstance(node, (gast.Tuple, gast.List)):
        return Build("tuple", tuple([_target(lowering, part) for part in node.elts]))
    return lowering.constant(node)
