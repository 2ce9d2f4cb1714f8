"""Give IR names their Python names.

The versions of one variable get one name again wherever no two of them are needed at the
same time (interference; Chaitin 1982), and a second name (``y_2``) where two are.
Moves between versions with one name vanish.  Temporaries share no names
but with their own saved copies.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set
from dataclasses import replace

from s2sad.ir.needed import Liveness
from s2sad.ir.nodes import Assign, Call, Const, Copy, Effect, Expr, Function, Stmt, Var
from s2sad.ir.traverse import base, names_in, reads, walk, writes
from s2sad.ir.unset import set_first


def name_all(function: Function, reserved: Iterable[str]) -> dict[str, str]:
    """Choose a Python name for every IR name; none of ``reserved`` (global names that are read)."""
    blocks = (*function.body, *(function.reverse or ()))
    order: dict[str, None] = {p.name: None for p in function.params}
    for stmt in walk(blocks):
        order.update(dict.fromkeys(writes(stmt)))
        order.update(dict.fromkeys(reads(stmt)))
    order.update(dict.fromkeys(names_in(function.result)))
    groups: dict[str, list[str]] = {}
    for name in order:
        groups.setdefault(_group(name), []).append(name)
    several = {n for members in groups.values() if len(members) > 1 for n in members}
    conflicts = _Interference()
    live = set(names_in(function.result))
    Liveness(conflicts.define, several).block(blocks, live)
    for param in function.params:
        for other in live:
            conflicts.add(param.name, other)
    for a in function.params:
        for b in function.params:
            conflicts.add(a.name, b.name)
    taken = set(reserved)
    fixed = {p.name: p.public for p in function.params}
    taken.update(fixed.values())
    result: dict[str, str] = dict(fixed)
    ordered = sorted(groups.items(), key=lambda item: (item[0].startswith("~"), "_bar" in item[0]))
    for stem, members in ordered:
        colors: list[tuple[str, list[str]]] = [(fixed[name], [name]) for name in members if name in fixed]
        for name in members:
            if name in fixed:
                continue
            free = [c for c in colors if not any(conflicts.has(name, other) for other in c[1])]
            liked = result.get(conflicts.likes.get(name, ""))
            place = next((c for c in free if c[0] == liked), free[0] if free else None)
            if place is None:
                place = (_unused(base(stem).lstrip("~"), taken), [])
                taken.add(place[0])
                colors.append(place)
            place[1].append(name)
            result[name] = place[0]
    return result


def with_moved_set(function: Function) -> Function:
    """``function`` with a value for each name that may have none and is moved to what is another name in Python."""
    function = _with_local(function)
    done: set[str] = set()
    while True:
        moves = [(t, s) for stmt in walk(function.body) if isinstance(stmt, Copy) for t, s in _bare(stmt, function)]
        names = name_all(function, ()) if moves else {}
        missing = {s for t, s in moves if names[t] != names[s]} - done
        if not missing:
            return function
        done |= missing
        function = replace(function, body=set_first(function.body, missing, function.unbound))


def _with_local(function: Function) -> Function:
    """``function`` with its own variables that nothing assigns made local, so that no global of that name is read."""
    blocks = (*function.body, *(function.reverse or ()))
    known = {p.name for p in function.params} | {n for stmt in walk(blocks) for n in writes(stmt)}
    read = dict.fromkeys(n for stmt in walk(blocks) for n in reads(stmt)) | dict.fromkeys(names_in(function.result))
    start: list[Stmt] = []
    for name in read:
        if name not in known and not name.startswith("~"):
            gone = ast.Delete([ast.Name(base(name), ast.Del())])
            start += [Assign(name, Const(None)), Effect(gone, ((base(name), name),))]
    return replace(function, body=(*start, *function.body)) if start else function


def _bare(move: Copy, function: Function) -> list[tuple[str, str]]:
    """The targets and sources of a move of names that may have no value."""
    pairs = zip(move.targets, move.sources, strict=True)
    return [(t, s.name) for t, s in pairs if isinstance(s, Var) and s.name in function.unbound]


def _group(name: str) -> str:
    """The names that may share a Python name: versions of one variable; a temporary and its saved copies."""
    return name.rstrip("'") if name.startswith("~t.") else base(name)


def _unused(stem: str, taken: set[str]) -> str:
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    return name


class _Interference:
    """Which versions of a variable are needed at the same time."""

    def __init__(self) -> None:
        self.pairs: dict[str, set[str]] = {}
        self.likes: dict[str, str] = {}

    def add(self, a: str, b: str) -> None:
        if a != b and _group(a) == _group(b):
            self.pairs.setdefault(a, set()).add(b)
            self.pairs.setdefault(b, set()).add(a)

    def has(self, a: str, b: str) -> bool:
        return b in self.pairs.get(a, ())

    def define(self, name: str, live: Set[str], stmt: Stmt) -> None:
        """``name`` gets a value where ``live`` is needed afterwards."""
        source: Expr | None = None
        if isinstance(stmt, Assign):
            source = stmt.value
            if isinstance(source, Call) and source.op.kind in ("inplace", "change") and isinstance(source.args[0], Var):
                self.likes[name] = source.args[0].name
        elif isinstance(stmt, Copy):
            source = stmt.sources[stmt.targets.index(name)]
        for other in live:
            if Var(other) != source and other != name:
                self.add(name, other)
