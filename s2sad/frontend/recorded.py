"""Statements that record values in a list, set or dict of the module, which the function reads nowhere else.

    HISTORY["loss"].append(float(loss))
    SEEN.add(key)

What is recorded is a constant to whoever reads it later, so that the statement has no adjoint.  That nothing else that
the function reads leads to the list is checked at entry (see `s2sad.pipeline.entry`).
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.trees import nodes_of
from s2sad.frontend.writing import written_in
from s2sad.runtime.classes import own_class
from s2sad.runtime.contents import attributes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: What reads variables whose names are not written there.
_ANY = frozenset(("globals", "vars", "eval", "exec", "__import__"))
#: The methods by which something is put into a list, deque, set or dict.
_ADDING: dict[type, tuple[str, ...]] = {
    list: ("append", "extend", "insert"),
    collections.deque: ("append", "appendleft", "extend"),
    set: ("add",),
}


def recordings(nodes: Sequence[Node], lookup: Lookup, source: Source, *statements: Any) -> dict[int, str]:
    """The statements among ``nodes`` that only record, by identity, each with the variable that has the container.

    A call is one where it stands alone, or in another one of the ``statements``.  Where the program of the ``source``
    reads the container, none is.
    """
    found: dict[int, tuple[str, Node]] = {}
    for node in nodes:
        put = None
        if type(node) in (gast.Expr, *statements) and isinstance(node.value, gast.Call):
            put = _put(node.value, lookup)
        elif isinstance(node, gast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Subscript):
            put = _item_put(node.targets[0], node.value, lookup)
        if put is not None and id(put[1]) not in source.read:
            found[id(node)] = put[0].id, put[0]
    if not found:
        return {}
    roots = {id(root) for _, root in found.values()}
    # Whoever mentions the variable otherwise may read what was recorded, as an attribute of its module too.
    read = {n.id for n in nodes if isinstance(n, gast.Name) and id(n) not in roots}
    read |= {n.attr for n in nodes if isinstance(n, gast.Attribute)}
    read |= {n.value for n in nodes if isinstance(n, gast.Constant) and isinstance(n.value, str)}
    read |= source.mentioned
    if not _ANY.isdisjoint(read):
        return {}
    return {number: name for number, (name, _) in found.items() if name not in read}


def records(source: Source) -> bool:
    """Whether a function has statements that only record, so that it may be a part of another one."""
    code = source.function.__code__
    resolver = Resolver(source.function, frozenset((*code.co_varnames, *code.co_cellvars)))
    # What a lambda returns is not used where it is called for what it records.
    return bool(recordings(nodes_of(source.node), resolver.lookup, source, gast.Return))


@dataclass(frozen=True)
class Path:
    """The classes of what a variable has, and of what some items and attributes of it lead to, one after another."""

    steps: tuple[tuple[bool, Any], ...]

    def __call__(self, value: Any) -> tuple[type, ...]:
        found: list[type] = [type(value)]
        for is_item, key in self.steps:
            try:
                value = value[key] if is_item else attributes_of(value)[key]
            except (LookupError, TypeError):
                break
            found.append(type(value))
        return tuple(found)


def path_of(statement: Node) -> tuple[Node, Path]:
    """The variable that has the container of a recording statement, and the way from there."""
    node = statement.value.func.value if isinstance(statement, gast.Expr) else statement.targets[0].value
    steps: list[tuple[bool, Any]] = []
    while not isinstance(node, gast.Name):
        is_item = isinstance(node, gast.Subscript)
        steps.append((is_item, node.slice.value if is_item else node.attr))
        node = node.value
    return node, Path(tuple(reversed(steps)))


def _put(call: Node, lookup: Lookup) -> tuple[Node, Any] | None:
    """The name of the variable with the container to which a call adds, and that; None if it does something else."""
    if not isinstance(call.func, gast.Attribute) or call.keywords or not _are_plain(call.args, lookup):
        return None
    known, container, root = _held(call.func.value, lookup)
    return (root, container) if known and call.func.attr in _ADDING.get(type(container), ()) else None


def _item_put(target: Node, value: Node, lookup: Lookup) -> tuple[Node, Any] | None:
    """The name of the variable with the list or dict that gets an item, and that; None if something else happens."""
    if isinstance(target.slice, gast.Slice) or not _are_plain([target.slice, value], lookup):
        return None
    known, container, root = _held(target.value, lookup)
    return (root, container) if known and type(container) in (list, dict) else None


def _are_plain(nodes: Sequence[Node], lookup: Lookup) -> bool:
    """Whether expressions write nothing and bind no names."""
    if any(isinstance(n, (gast.NamedExpr, gast.Lambda, gast.Starred)) for node in nodes for n in nodes_of(node)):
        return False
    return not any(any(written_in(node, lookup)) for node in nodes)


def _held(node: Node, lookup: Lookup) -> tuple[bool, Any, Node]:
    """Whether it is known what a path of items and attributes leads to, what that is now, and where the path begins."""
    if isinstance(node, gast.Name):
        return (*lookup(node), node)
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Constant):
        known, whole, root = _held(node.value, lookup)
        if known and type(whole) in (dict, list, tuple, collections.defaultdict):
            try:
                return True, whole[node.slice.value] if type(whole) is not collections.defaultdict else [], root
            except LookupError:
                pass
    if isinstance(node, gast.Attribute):
        known, whole, root = _held(node.value, lookup)
        is_plain = known and own_class(whole) is not None and not isinstance(whole, type)
        if is_plain and node.attr in attributes_of(whole) and not hasattr(type(whole), node.attr):
            return True, attributes_of(whole)[node.attr], root
    return False, None, node
