"""Give IR names their Python names.

The versions of one variable get one name again wherever no two of them are needed at the
same time (interference; Chaitin 1982), and a second name (``y_2``) where two are.
Moves between versions with one name vanish.  Temporaries share no names
but with their own saved copies.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from s2sad.ir.needed import Liveness
from s2sad.ir.nodes import Assign, Block, Call, Const, Copy, Effect, Expr, Function, Pop, Push, Stmt, Var
from s2sad.ir.traverse import base, names_in, reads, walk, writes
from s2sad.ir.unset import moves_in, set_first

#: The Python names that temporaries have.
_TEMPORARY = re.compile(r"t(_\d+)?")


def name_all(function: Function, reserved: Iterable[str], other: Mapping[str, str] | None = None) -> dict[str, str]:
    """Choose a Python name for every IR name; none of ``reserved`` (global names that are read).

    A name that the ``other`` half of the same function has too is called as it is there, where that is possible.
    """
    blocks = (*function.body, *(function.reverse or ()))
    order: dict[str, None] = {p.name: None for p in function.params}
    for stmt in walk(blocks):
        order.update(dict.fromkeys((*writes(stmt), *reads(stmt))))
    order.update(dict.fromkeys(names_in(function.result)))
    groups: dict[str, list[str]] = {}
    for name in order:
        groups.setdefault(_group(name), []).append(name)
    names = _Names(function, {n for members in groups.values() if len(members) > 1 for n in members})
    names.taken.update(reserved)
    names.other = other or {}
    names.wanted = {n: names.other[n] for n in order if n in names.other}
    for stem, members in sorted(groups.items(), key=lambda item: (item[0].startswith("~"), "_bar" in item[0])):
        names.choose(stem, members)
    return names.chosen


class _Names:
    """The Python names that are ``chosen`` already, and all that are ``taken``.

    ``wanted`` are those that names should have, ``other`` the names of the other half of the function.
    """

    def __init__(self, function: Function, several: Set[str]) -> None:
        blocks = (*function.body, *(function.reverse or ()))
        self.saved = saved_copies(blocks, blocks)
        self.conflicts = _Interference({**self.saved})
        live = set(names_in(function.result))
        Liveness(self.conflicts.define, several).block(blocks, live)
        for param in function.params:
            self.conflicts.add(param.name, (*live, *(p.name for p in function.params)))
        self.chosen = {p.name: p.public for p in function.params}
        self.taken = set(self.chosen.values())
        self.other: Mapping[str, str] = {}
        self.wanted: dict[str, str] = {}

    def choose(self, stem: str, members: Sequence[str]) -> None:
        """Choose names for those that may share one: the versions of one variable."""
        kept: Set[str] = frozenset()
        if stem == "~t_bar":
            # ``t_bar_2`` is the adjoint of ``t_2`` and of nothing else.
            shown = {**self.other, **self.chosen}
            shown = {n: text for n, text in shown.items() if _TEMPORARY.fullmatch(text)}
            kept = set(map(_bar, shown.values()))
            bars = {_number(n): _bar(text) for n, text in shown.items() if n.startswith("~t.")}
            self.wanted.update((n, bars[number]) for n in members if (number := _number(n)) in bars)
        #: The members of each Python name.
        shared = {self.chosen[name]: [name] for name in members if name in self.chosen}
        # What comes from a tape is first, since it is to be called as it was when it was put there.
        for name in sorted(members, key=lambda n: n not in self.saved):
            if name in self.chosen:
                continue
            liked, conflicts = self.liked(name), self.conflicts
            free = [text for text, others in shared.items() if not any(conflicts.has(name, m) for m in others)]
            if liked not in free:
                free = [text for text in free if text not in kept]
                if name in self.wanted and liked is not None and liked not in self.taken:
                    free = [liked]
                liked = free[0] if free else self.unused(stem, kept)
            assert liked is not None
            self.taken.add(liked)
            shared.setdefault(liked, []).append(name)
            self.chosen[name] = liked

    def liked(self, name: str) -> str | None:
        """The Python name that a name should have, if there is one."""
        like = self.conflicts.likes.get(name, "")
        return self.wanted.get(name) or self.chosen.get(like) or self.wanted.get(like)

    def unused(self, stem: str, kept: Set[str]) -> str:
        """A name that nothing has; that of a temporary stands for none of the other half's either."""
        avoided = self.taken.union(kept, self.wanted.values(), self.other.values() if stem.startswith("~") else ())
        return _unused(base(stem).lstrip("~"), avoided)


def _bar(text: str) -> str:
    """The Python name of the adjoint of a temporary: ``t_bar_2`` of ``t_2``."""
    return f"t_bar{text.removeprefix('t')}"


def _number(name: str) -> str:
    return name.partition(".")[2].rstrip("'")


def saved_copies(pushing: Block, popping: Block) -> dict[str, str]:
    """The names that get values back from tapes, each with the name whose value that was."""
    pushed = {s.tape: s.values for s in walk(pushing) if isinstance(s, Push)}
    pops = [s for s in walk(popping) if isinstance(s, Pop) and s.tape in pushed]
    pairs = [pair for s in pops for pair in zip(s.targets, pushed[s.tape], strict=True)]
    return {target: value.name for target, value in pairs if isinstance(value, Var)}


def with_moved_set(function: Function) -> Function:
    """``function`` with a value for each name that may have none and is moved to what is another name in Python."""
    function = _with_local(function)
    done: set[str] = set()
    while True:
        moves = [(t, s) for t, s in moves_in(function.body) if s in function.unbound]
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

    def __init__(self, likes: dict[str, str]) -> None:
        self.pairs: dict[str, set[str]] = {}
        #: The names that some should share their Python name with.
        self.likes = likes
        #: The names that may share a Python name, and all of them.
        self.groups: dict[str, set[str]] = {}
        self.grouped: set[str] = set()

    def add(self, a: str, others: Iterable[str]) -> None:
        """Note that a name is needed at the same time as some others."""
        others = set(others)
        for name in others - self.grouped:
            self.groups.setdefault(_group(name), set()).add(name)
        self.grouped |= others
        near = self.groups.get(_group(a), set()) & others - {a}
        if near:
            self.pairs.setdefault(a, set()).update(near)
        for b in near:
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
        same = source.name if isinstance(source, Var) else None
        self.add(name, live - {same})
