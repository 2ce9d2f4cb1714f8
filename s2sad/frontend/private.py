"""The names of private members: ``__name`` in the body of a class means ``_Class__name``."""

from __future__ import annotations

from typing import Any

import gast

_NAMES = {
    gast.Name: "id",
    gast.Attribute: "attr",
    gast.FunctionDef: "name",
    gast.ClassDef: "name",
    gast.MatchAs: "name",
    gast.MatchStar: "name",
    gast.MatchMapping: "rest",
}


def private(name: str, cls: str) -> str:
    """A name in the body of a class, as Python spells it out.

    Example:
        >>> private("__k", "_Box"), private("__init__", "Box"), private("__k", "__")
        ('_Box__k', '__init__', '__k')
    """
    owner = cls.lstrip("_")
    if not owner or name[:2] != "__" or name[-2:] == "__" or "." in name:
        return name
    return f"_{owner}{name}"


def spell_out(function: Any, cls: str) -> None:
    """Spell out the private names in a function of a class; its own name stays."""
    for part in (function.args, *function.body):
        _spell_out(part, cls)


def _spell_out(node: Any, cls: str) -> None:
    inner = node.name if isinstance(node, gast.ClassDef) else cls
    field = _NAMES.get(type(node))
    if field is not None and isinstance(name := getattr(node, field), str):
        setattr(node, field, private(name, cls))
    if isinstance(node, (gast.Global, gast.Nonlocal)):
        node.names = [private(name, cls) for name in node.names]
    for name in node._fields:
        value = getattr(node, name, None)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, gast.AST):
                # What a class is made of is evaluated outside of it.
                _spell_out(part, inner if name == "body" else cls)
