"""What stays as the user wrote it: expressions through which no derivative passes, and calls of functions."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.holding import UNKNOWN, names_held, variables_held
from s2sad.frontend.outs import unchecked_receivers
from s2sad.frontend.putting import only_changes, puts
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.special import class_made, classes_inside, classes_led_to, special_members
from s2sad.frontend.writing import alters, by_method, kept, kept_parts, member_may_write, written_in
from s2sad.ir.nodes import Op, Opaque

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]


def as_it_stands(node: Node, names: Mapping[str, str], lookup: Lookup) -> Opaque:
    """An expression with what it reads, writes and keeps; ``names`` are the IR names of the variables that it reads."""
    written = {names[n]: None for n in written_in(node, lookup) if n in names}
    altering = alters(node, lookup)
    made = class_made(node, lookup)
    stores = {cls for part in kept_parts(node, lookup) for cls in classes_led_to(part, lookup)}
    outer = {UNKNOWN} if special_members(node, lookup) else set()
    return Opaque(
        gast.gast_to_ast(node),
        tuple(names.items()),
        held=tuple(sorted(names.keys() & set(names_held(node, lookup)))),
        variables=tuple(sorted(outer.union(variables_held(node, lookup)))),
        writes=tuple(written),
        alters=altering,
        kept=tuple(sorted(names.keys() & set(kept(node, lookup)))) if written or altering else (),
        receivers=tuple(unchecked_receivers(node, lookup)),
        made=made,
        inner=frozenset() if made is None else classes_inside(made, node, lookup),
        reach=frozenset(classes_led_to(node, lookup)),
        stores=frozenset(stores),
        puts=tuple(sorted(set(puts(node, lookup)))) if written else (),
        changes=bool(written or altering) and only_changes(node, lookup),
    )


def is_plain(node: Node, lookup: Lookup) -> bool:
    """Whether an expression consists of names, constants, displays, arithmetic and calls of pure functions."""
    if isinstance(node, gast.Call):
        found, function = lookup(node.func)
        parts = [*node.args, *(k.value for k in node.keywords)]
        pure = found and ops.is_pure(function) and all(k.arg for k in node.keywords)
        return pure and all(is_plain(part, lookup) for part in parts)
    if isinstance(node, (gast.List, gast.Tuple)):
        return all(is_plain(part, lookup) for part in node.elts)
    if isinstance(node, (gast.BinOp, gast.UnaryOp)):
        parts = [node.left, node.right] if isinstance(node, gast.BinOp) else [node.operand]
        return not special_members(node, lookup) and all(is_plain(part, lookup) for part in parts)
    return isinstance(node, (gast.Name, gast.Constant))


def special_writes(node: Node, lookup: Lookup) -> Iterator[tuple[Node, str]]:
    """What a condition, loop or unpacking runs of classes of the user's that may write: where, and what.

    An iterator may count.
    """
    for name, cls in special_members(node, lookup).items():
        if member_may_write(cls, name, beyond_itself=True):
            place = getattr(node, "iter", None) or getattr(node, "test", None) or getattr(node, "value", node)
            yield place, f"{cls.__qualname__}.{name} may write into an object, and is not followed here"


def replacing_members(call: Node, lookup: Lookup, depends: Callable[[Node], bool]) -> Iterator[tuple[str, type]]:
    """The methods of the user's classes that a known function runs in place of what it does, or that may write.

    What is made an array (``__array__``) is no more than its numbers.  Of an operand that a derivative ``depends`` on
    the types tell, or what runs asks (see `s2sad.pipeline.operands`).
    """
    args = [a for a in call.args if not depends(a)]
    keywords = [k for k in call.keywords if not depends(k.value)]
    others = gast.copy_location(gast.Call(func=call.func, args=args, keywords=keywords), call)
    for name, cls in special_members(others, lookup).items():
        if name != "__array__" or member_may_write(cls, name):
            yield name, cls


def user_operation(call: Node, function: types.FunctionType, resolver: Resolver) -> Op:
    """The operation that is a call of a function with source."""
    writes = by_method(call, function, resolver.lookup)
    return Op("user", resolver.text(call.func), function, pure=False, writes=writes)
