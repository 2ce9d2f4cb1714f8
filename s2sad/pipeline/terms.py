"""What is known of arguments in terms of a callee, and of results in terms of its caller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from s2sad.ir.types import Atom, Dim, Fact, is_symbol, resized

#: The names in the text of a size.
_NAME = re.compile(r"[~^@\w]+\.\d*")


def inward(fact: Fact) -> Fact:
    """A caller's fact in terms of a callee: atoms and sizes are marked, so that the callee has none like them."""
    size = fact.size and _NAME.sub(_marked, str(fact.size)) if fact.size != 1 else 1
    if fact.dims is not None:
        dims = tuple([d if d == 1 else _NAME.sub(_marked, str(d)) for d in fact.dims])
        return replace(resized(fact, dims), size=size)
    shape = fact.shape and frozenset(map(_marked_atom, fact.shape))
    items = None if fact.items is None else tuple((k, inward(f)) for k, f in fact.items)
    return replace(fact, shape=shape, size=size, items=items)


def outward(fact: Fact) -> Fact:
    """A callee's fact in terms of its caller: of the marked atoms and sizes; the callee's own mean nothing there."""
    size = fact.size
    if size is not None and size != 1:
        size = _NAME.sub(_unmarked, str(size)) if _is_marked(str(size)) else None
    items = None if fact.items is None else tuple((k, outward(f)) for k, f in fact.items)
    if fact.dims is not None and all(_is_marked(str(d)) for d in fact.dims):
        dims = tuple([d if d == 1 else _NAME.sub(_unmarked, str(d)) for d in fact.dims])
        return replace(resized(fact, dims), size=size, items=items)
    known = fact.shape is not None and fact.dims is None and all(a.name[0] == "^" for a in fact.shape)
    shape = frozenset(Atom(a.name[1:]) for a in fact.shape or ()) if known else None
    return replace(fact, shape=shape, dims=None, size=size, items=items)


def _marked(name: re.Match[str]) -> str:
    return name[0] if name[0][0] == "@" else f"^{name[0]}"


def _unmarked(name: re.Match[str]) -> str:
    return name[0].removeprefix("^")


def _is_marked(size: str) -> bool:
    return all(name[0] in "^@" for name in _NAME.findall(size))


def _marked_atom(atom: Atom) -> Atom:
    return Atom(f"^{atom.name}", frozenset(map(_marked_atom, atom.below)))


def own_terms(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The facts about the parameters of a function in its own terms."""
    symbols: dict[Dim, Dim] = {}
    return {name: _renamed(fact, name, symbols) for name, fact in facts.items()}


def _renamed(fact: Fact, name: str, symbols: dict[Dim, Dim]) -> Fact:
    """The fact about a parameter in terms of its own: equal sizes stay equal, by whatever expression they are known."""

    def renamed(size: Dim) -> Dim:
        kept = size == 1 or (str(size)[0] == "n" and is_symbol(size))
        return size if kept else symbols.setdefault(size, f"m{len(symbols)}.")

    if fact.dims:
        return resized(fact, tuple(map(renamed, fact.dims)))
    if fact.kind == "scalar" and fact.size is not None:
        return replace(fact, size=renamed(fact.size))
    shape = frozenset({Atom(name)}) if fact.shape and fact.dims is None else fact.shape
    items = None
    if fact.items is not None:
        items = tuple((k, _renamed(f, f"{name}[{k!r}]", symbols)) for k, f in fact.items)
    return replace(fact, shape=shape, items=items)
