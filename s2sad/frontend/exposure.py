"""Which variables of the body of a ``try`` are read once it has raised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sad.frontend.dependence import assigned
from s2sad.frontend.scopes import bound_names
from s2sad.frontend.trees import nodes_of

Node = Any


@dataclass(frozen=True)
class Needed:
    """The variables whose values as of the exception are read: by handlers that come to an end or what runs after
    these, and by handlers that raise."""

    after: frozenset[str]
    raising: frozenset[str]


def needed_by(s: Node) -> Needed:
    """What `note` has found out about a ``try``."""
    found = getattr(s, "needed", None)
    names = frozenset(assigned(s.body))
    return found if isinstance(found, Needed) else Needed(names, names)


def note(s: Node, body: list[Node], jumps: set[str], in_loop: bool) -> Needed:
    """Find what is read of the variables that the body of a ``try`` assigns or changes, once it has raised.

    Args:
        s: The statement.
        body: The function in which it stands.
        jumps: The kinds of jump in its handlers.
        in_loop: Whether it may run again.
    """
    names = {*assigned(s.body), *_changed(s.body)}
    within = {id(n) for b in s.body for n in nodes_of(b)}
    outside = {n.id for b in body for n in nodes_of(b) if id(n) not in within and _is_read(n)}
    if in_loop:
        outside |= exposed(s.body)
    late: set[str] = set()
    for b in body:
        for n in nodes_of(b):
            if isinstance(n, gast.Try):
                late |= {m.id for f in n.finalbody for m in nodes_of(f) if _is_read(m)}
    after: set[str] = set()
    raising: set[str] = set()
    for handler in s.handlers:
        if all_raise(handler.body):
            raising |= exposed(handler.body)
            continue
        after |= exposed(handler.body)
        returns = ends(handler.body) and jumps <= {"return"}
        after |= (late if returns else outside) - sure(handler.body)
    return Needed(frozenset(after & names), frozenset(raising & names))


def exposed(block: Iterable[Node]) -> set[str]:
    """The names that a block reads before it surely assigns them."""
    found: set[str] = set()
    known: set[str] = set()
    for s in block:
        found |= {n.id for n in nodes_of(s) if _is_read(n)} - known
        if isinstance(s, gast.AugAssign):
            found |= set(bound_names(s.target)) - known
        known |= sure([s])
    return found


def sure(block: Iterable[Node]) -> set[str]:
    """The names that a block surely assigns if it comes to its end."""
    found: set[str] = set()
    for s in block:
        if isinstance(s, gast.Assign):
            found |= {name for t in s.targets for name in bound_names(t)}
        elif isinstance(s, (gast.AnnAssign, gast.AugAssign)) and s.value is not None:
            found |= set(bound_names(s.target))
        elif isinstance(s, gast.If):
            found |= sure(s.body) & sure(s.orelse)
        elif isinstance(s, gast.With):
            found |= sure(s.body)
    return found


def all_raise(block: list[Node]) -> bool:
    """Whether a block surely raises where it would come to its end."""
    last = block[-1] if block else None
    if isinstance(last, gast.If):
        return all_raise(last.body) and all_raise(last.orelse)
    return isinstance(last, gast.Raise)


def ends(block: list[Node]) -> bool:
    """Whether a block surely returns or raises."""
    last = block[-1] if block else None
    if isinstance(last, gast.If):
        return ends(last.body) and ends(last.orelse)
    return isinstance(last, (gast.Raise, gast.Return))


def _changed(body: Iterable[Node]) -> Iterator[str]:
    """The variables of which statements may change what they hold: a container that is changed is a new version."""
    for node in (n for s in body for n in nodes_of(s)):
        whole = node.func.value if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) else None
        if isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(node.ctx, (gast.Store, gast.Del)):
            whole = node.value
        if isinstance(whole, gast.Name):
            yield whole.id


def _is_read(node: Node) -> bool:
    return isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load)
