"""The statements that are not accepted, and what to write instead."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gast

from s2sad.frontend.scopes import bound_names
from s2sad.ir.nodes import Refusal

Node = Any
_REMEDIES: dict[type, tuple[str, str]] = {
    gast.FunctionDef: (
        "a function defined inside a differentiated function is not supported",
        "Move it to the module.",
    ),
    gast.AsyncFunctionDef: ("an async function is not supported", "Move it to the module."),
    gast.ClassDef: ("a class defined inside a differentiated function is not supported", "Move it to the module."),
    gast.Global: ("a global statement is not supported", "Return the value instead."),
    gast.Nonlocal: ("a nonlocal statement is not supported", "Return the value instead."),
    gast.AsyncFor: ("async for is not supported", "Use a plain loop."),
    gast.AsyncWith: ("async with is not supported", "Move it to the caller."),
}


#: Where statements have blocks.
_BLOCKS = ("body", "handlers", "orelse", "finalbody")


def accepted(body: list[Node]) -> tuple[list[Node], list[Refusal]]:
    """A block without the statements that are not accepted, but with what is inside them: to find all at once."""
    out: list[Node] = []
    refused: list[Refusal] = []

    def inside(block: list[Node]) -> list[Node]:
        rest, found = accepted(block)
        refused.extend(found)
        return rest

    for s in body:
        inner = {f: getattr(s, f) for f in _BLOCKS if getattr(s, f, None)}
        if type(s) in _REMEDIES or type(s).__name__ in ("TryStar", "TypeAlias"):
            default = (f"a {type(s).__name__.lower()} statement is not supported", "Write it with if and loops.")
            refused.append(Refusal(s, *_REMEDIES.get(type(s), default)))
            if not isinstance(s, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
                out += inside([t for block in inner.values() for t in block])
        elif inner:
            s = copy.copy(s)
            for name, block in inner.items():
                setattr(s, name, inside(block) or [gast.copy_location(gast.Pass(), block[0])])
            out.append(s)
        else:
            out.append(s)
    return out, refused


def names_bound(s: Node) -> Iterator[str]:
    """The names that a statement which is not accepted gives a meaning."""
    if isinstance(s, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
        yield s.name
    elif isinstance(s, (gast.Global, gast.Nonlocal)):
        yield from s.names
    elif isinstance(s, (gast.With, gast.AsyncWith)):
        for item in s.items:
            yield from bound_names(item.optional_vars)
