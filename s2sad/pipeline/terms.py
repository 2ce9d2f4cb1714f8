"""What is known of arguments in terms of a callee, and of results in terms of its caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from s2sad.ir.sizes import is_near_arguments
from s2sad.ir.sums import Dim, names_in_size, renamed
from s2sad.ir.types import Atom, Fact, resized


def inward(facts: Mapping[str, Fact]) -> tuple[dict[str, Fact], dict[str, str]]:
    """The facts about the arguments of a call in terms of the callee, and the caller's names for these.

    Atoms and sizes are marked, so that the callee has none like them, and numbered, so that the same is known of the
    arguments of another call if it is the same but for names.

    Example:
        >>> facts, names = inward({"x": Fact("scalar", size="n.1"), "y": Fact("scalar", size="n.1-2")})
        >>> [fact.size for fact in facts.values()], names
        (['^0.', '^0.-2'], {'^0.': 'n.1'})
    """
    marks: dict[str, str] = {}

    def mark(name: str) -> str:
        return marks.setdefault(name, f"^{len(marks)}.")

    given = {parameter: _marked(fact, mark) for parameter, fact in facts.items()}
    return given, {marked: name for name, marked in marks.items()}


def _marked(fact: Fact, mark: Callable[[str], str]) -> Fact:
    size = fact.size and _renamed_size(fact.size, mark)
    if fact.dims is not None:
        return resized(fact, tuple([_renamed_size(d, mark) for d in fact.dims])).but(size=size)
    shape = fact.shape and frozenset([_renamed_atom(atom, mark) for atom in sorted(fact.shape, key=lambda a: a.name)])
    items = None if fact.items is None else tuple([(k, _marked(f, mark)) for k, f in fact.items])
    return fact.but(shape=shape, size=size, items=items)


def outward(fact: Fact) -> Fact:
    """A callee's fact without what is said in the callee's own atoms and sizes, which mean nothing to a caller."""
    size = fact.size if fact.size is None or fact.size == 1 or _is_marked(str(fact.size)) else None
    items = None if fact.items is None else tuple((k, outward(f)) for k, f in fact.items)
    if fact.dims is not None and all(_is_marked(str(d)) for d in fact.dims):
        return resized(fact, fact.dims).but(size=size, items=items)
    known = fact.shape is not None and fact.dims is None and all(a.name[0] == "^" for a in fact.shape)
    return fact.but(shape=fact.shape if known else None, dims=None, size=size, items=items)


def unmarked(fact: Fact, names: Mapping[str, str]) -> Fact:
    """A fact that `outward` gives in terms of the caller, which has ``names`` for atoms and sizes."""
    return _marked(fact, lambda name: names.get(name, name)) if names else fact


def _renamed_size(size: Dim, rename: Callable[[str], str]) -> Dim:
    return renamed(size, lambda name: name if name[0] == "@" else rename(name))


def _renamed_atom(atom: Atom, rename: Callable[[str], str]) -> Atom:
    below = [_renamed_atom(other, rename) for other in sorted(atom.below, key=lambda a: a.name)]
    return Atom(rename(atom.name), frozenset(below))


def _is_marked(size: str) -> bool:
    return all(name[0] in "^@" for name in names_in_size(size))


def own_terms(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The facts about the parameters of a function in its own terms."""
    symbols: dict[Dim, Dim] = {}
    return {name: _renamed(fact, name, symbols) for name, fact in facts.items()}


def _renamed(fact: Fact, name: str, symbols: dict[Dim, Dim]) -> Fact:
    """The fact about a parameter in terms of its own: equal sizes stay equal, by whatever expression they are known."""

    def own(size: Dim) -> Dim:
        # Of others there may be as many as there are calls.
        kept = size == 1 or is_near_arguments(size)
        return size if kept else symbols.setdefault(size, f"m{len(symbols)}.")

    if fact.dims:
        return resized(fact, tuple(map(own, fact.dims)))
    if fact.kind == "scalar" and fact.size is not None:
        return fact.but(size=own(fact.size))
    shape = frozenset({Atom(name)}) if fact.shape and fact.dims is None else fact.shape
    items = None
    if fact.items is not None:
        items = tuple((k, _renamed(f, f"{name}[{k!r}]", symbols)) for k, f in fact.items)
    return fact.but(shape=shape, items=items)
