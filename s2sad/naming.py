"""Give IR names their Python names.

The versions of one variable get one name again wherever no two of them are needed at the
same time (interference; Chaitin 1982), and a second name (``y_2``) where two are.
Moves between versions with one name vanish.  Temporaries share no names
but with their own saved copies.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from s2sad.ir.nodes import Assign, Break, Call, Const, Copy, Effect, Enter, Exit, For, Function, If, Stmt, Var, While
from s2sad.ir.traverse import base, is_attempt, names_in, reads, walk, writes
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
    conflicts = _Interference(several)
    live = set(names_in(function.result))
    conflicts.block(blocks, live)
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

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.pairs: dict[str, set[str]] = {}
        self.ends: list[set[str]] = []
        self.likes: dict[str, str] = {}
        #: What the handlers need of what is tried, from outside in; and those of the attempt whose end comes next.
        self.needed: list[set[str]] = []
        self.handling: set[str] = set()

    def add(self, a: str, b: str) -> None:
        if a != b and _group(a) == _group(b):
            self.pairs.setdefault(a, set()).add(b)
            self.pairs.setdefault(b, set()).add(a)

    def has(self, a: str, b: str) -> bool:
        return b in self.pairs.get(a, ())

    def define(self, name: str, live: set[str], source: str | None = None) -> None:
        """``name`` gets a value where ``live`` is needed afterwards."""
        if name in self.names:
            stem = _group(name)
            for other in live.union(*self.needed):
                if other != source and other != name and _group(other) == stem:
                    self.add(name, other)

    def block(self, block: Iterable[Stmt], live: set[str]) -> None:
        """Walk backwards; ``live`` is what is needed after the block, and becomes what is needed before."""
        after: Stmt | None = None
        for stmt in reversed(tuple(block)):
            if isinstance(stmt, Assign) and isinstance(after, Exit):
                # Where the last of what is tried raises, it assigns nothing.
                needed = self.needed.pop()
                self.statement(stmt, live)
                self.needed.append(needed)
            else:
                self.statement(stmt, live)
            after = stmt

    def use(self, names: Iterable[str], live: set[str]) -> None:
        live.update(n for n in names if n in self.names)

    def statement(self, stmt: Stmt, live: set[str]) -> None:
        match stmt:
            case Assign(target=target, value=Call(op=op, args=(left, right))) if op.kind == "inplace":
                live.discard(target)
                self.define(target, live | set(names_in(right)))
                if isinstance(left, Var):
                    self.likes[target] = left.name
                self.use(reads(stmt), live)
            case Assign(target=target, value=Call(op=op, args=(left, *rest))) if op.kind == "change":
                live.discard(target)
                # The operands are there before the change.
                self.define(target, live | ({n for e in rest for n in names_in(e)} - set(names_in(left))))
                if isinstance(left, Var):
                    self.likes[target] = left.name
                self.use(reads(stmt), live)
            case Assign(target=target, value=value):
                live.discard(target)
                self.define(target, live, value.name if isinstance(value, Var) else None)
                self.use(reads(stmt), live)
            case Copy(targets=targets, sources=sources):
                live.difference_update(targets)
                for target, source in zip(targets, sources, strict=True):
                    self.define(target, live | set(targets), source.name if isinstance(source, Var) else None)
                self.use(reads(stmt), live)
            case If(then=then, orelse=orelse):
                other, outer = set(live), self.handling
                self.block(orelse, other)
                self.handling = other if is_attempt(stmt) else outer
                self.block(then, live)
                self.handling = outer
                live |= other
                self.use(reads(stmt), live)
            case For() | While():
                self.loop(stmt, live)
            case Exit(handler=handler, attempt=attempt):
                other = set(self.handling if attempt else ())
                self.block(handler, other)
                self.use(reads(stmt), other)
                self.needed.append(other)
            case Enter():
                live |= self.needed.pop()
                for target in writes(stmt):
                    live.discard(target)
                    self.define(target, live)
                self.use(reads(stmt), live)
            case Break():
                live.clear()
                live |= self.ends[-1]
            case _:
                targets = writes(stmt)
                live.difference_update(targets)
                for target in targets:
                    self.define(target, live | set(targets))
                self.use(reads(stmt), live)

    def loop(self, stmt: For | While, live: set[str]) -> None:
        self.ends.append(set(live))
        if isinstance(stmt, While):
            self.use(reads(stmt), live)
        head = set(live)
        while True:
            body = set(head)
            self.block(stmt.body, body)
            targets = writes(stmt)
            body.difference_update(targets)
            for target in targets:
                self.define(target, body | set(targets) | (self.ends[-1] if isinstance(stmt, For) else set()))
            if isinstance(stmt, While):
                self.use(reads(stmt), body)
            new = head | body
            if new == head:
                break
            head = new
        self.ends.pop()
        live.clear()
        live |= head
        if isinstance(stmt, For):
            self.use(reads(stmt), live)
