"""Rewrite early exits so that a block runs from its top to its end.

The adjoint runs statements in reverse order, so what must be known of every
statement is whether it ran.  The rewrites below make that plain:

    if c: return a          if c: result = a
    rest                    else: rest

    if c: continue          if c: pass
    rest                    else: rest

    for ...: return a       returned = False
    rest                    for ...: result = a; returned = True; break
                            if returned: pass
                            else: rest

    if a:                   going = True
        if b: break         if a:
        x                       if b: going = False
    rest                        else: x
                            if going: rest
                            else: break

    for ...: break          broke = False
    else: last              for ...: broke = True; break
                            if broke: pass
                            else: last

    if c: return a, b       if c: first, second = a, b
    return d, e             else: first, second = d, e
                            result = first, second

Afterwards there is no ``return`` or ``continue``, loops have no ``else``, and a ``break``
is the last statement that its iteration runs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

Node = Any
_LOOPS = (gast.For, gast.While)


@dataclass(frozen=True)
class SingleExit:
    """A function's statements with one exit; ``result`` is the name that holds what it returns, ``parts`` its items."""

    body: list[Node]
    result: str
    parts: tuple[str, ...]
    flags: frozenset[str]


@dataclass(frozen=True)
class _Place:
    """How a jump is written where it stands: ``flag`` is set instead of leaving at once."""

    in_loop: bool = False
    broke: str | None = None
    flag: str | None = None
    kinds: tuple[tuple[str, str], ...] = ()


def single_exit(body: list[Node], fresh: Callable[[str], str]) -> SingleExit:
    """Rewrite the body of a function; ``fresh`` makes a name that the function does not use."""
    last = body[-1] if body else None
    ending = gast.Return(value=gast.Constant(value=None, kind=None))
    if last is not None:
        gast.copy_location(ending, last)
    body = body if _always(body) else [*body, ending]
    rewriter = _Rewriter(fresh, _tuple_length(body))
    statements = rewriter.block(body, _Place())
    if rewriter.parts:
        items = [gast.copy_location(_name(part, gast.Load()), body[-1]) for part in rewriter.parts]
        statements.append(_assign(rewriter.result, gast.Tuple(elts=items, ctx=gast.Load()), body[-1]))
    return SingleExit(statements, rewriter.result, rewriter.parts, frozenset(rewriter.flags))


def _tuple_length(body: list[Node]) -> int:
    """How many items the tuple has that each of several ``return`` writes down; 0 where one does not."""
    values = [s.value for s in _returns(body)]
    lengths = {len(v.elts) if isinstance(v, gast.Tuple) and not _is_starred(v) else 0 for v in values}
    return lengths.pop() if len(values) > 1 and len(lengths) == 1 else 0


def _is_starred(value: Node) -> bool:
    return any(isinstance(element, gast.Starred) for element in value.elts)


def _returns(statements: list[Node]) -> Iterator[Node]:
    for s in statements:
        if isinstance(s, gast.Return):
            yield s
        elif isinstance(s, (gast.If, *_LOOPS)):
            yield from _returns([*s.body, *s.orelse])


def _jumps(statements: list[Node]) -> set[str]:
    """The kinds of jump that may leave ``statements``."""
    found: set[str] = set()
    for s in statements:
        if isinstance(s, gast.Return):
            found.add("return")
        elif isinstance(s, gast.Break):
            found.add("break")
        elif isinstance(s, gast.Continue):
            found.add("continue")
        elif isinstance(s, gast.If):
            found |= _jumps(s.body) | _jumps(s.orelse)
        elif isinstance(s, _LOOPS):
            found |= _jumps(s.body) & {"return"}
            found |= _jumps(s.orelse)
    return found


def _always(statements: list[Node]) -> bool:
    """Whether no run of ``statements`` comes to their end by itself."""
    for s in statements:
        if isinstance(s, (gast.Return, gast.Break, gast.Continue, gast.Raise)):
            return True
        if isinstance(s, gast.If) and _always(s.body) and _always(s.orelse):
            return True
        if isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and s.test.value:
            if "break" not in _jumps(s.body):
                return True
    return False


class _Rewriter:
    def __init__(self, fresh: Callable[[str], str], items: int) -> None:
        self.fresh = fresh
        self.result = fresh("result")
        self.parts = tuple([fresh("result") for _ in range(items)])
        self.returned = fresh("returned")
        self.flags = {self.returned}

    def flag(self, hint: str) -> str:
        name = self.fresh(hint)
        self.flags.add(name)
        return name

    def block(self, statements: list[Node], place: _Place) -> list[Node]:
        out: list[Node] = []
        for position, s in enumerate(statements):
            rest = statements[position + 1 :]
            if isinstance(s, gast.Return):
                value = s.value or gast.copy_location(gast.Constant(value=None, kind=None), s)
                out.append(_assign_parts(self.parts, value, s) if self.parts else _assign(self.result, value, s))
                return out + self.leave("return", place, s)
            if isinstance(s, gast.Break):
                return out + self.leave("break", place, s)
            if isinstance(s, gast.Continue):
                return out + self.leave("continue", place, s)
            if isinstance(s, gast.If):
                if _jumps([s]):
                    return out + self.branch(s, rest, place)
                s = _arms(s, self.block(s.body, place), self.block(s.orelse, place))
            if isinstance(s, _LOOPS):
                new, tail = self.loop(s)
                out += new
                if "return" in _jumps(s.body):
                    after = self.block(tail + rest, place)
                    return [*out, _if(self.returned, self.leave("return", place, s), after, s)]
                if tail:
                    return out + self.block(tail + rest, place)
                continue
            out.append(s)
        return out

    def leave(self, kind: str, place: _Place, at: Node) -> list[Node]:
        """The statements that carry out a jump (for ``return``, the result is assigned already)."""
        out: list[Node] = []
        if place.flag is not None:
            out.append(_assign(place.flag, _constant(False), at))
            names = dict(place.kinds)
            if kind in names:
                out.append(_assign(names[kind], _constant(True), at))
            return out
        if not place.in_loop or kind == "continue":
            return out
        if kind == "return":
            out.append(_assign(self.returned, _constant(True), at))
        elif place.broke is not None:
            out.append(_assign(place.broke, _constant(True), at))
        out.append(gast.copy_location(gast.Break(), at))
        return out

    def branch(self, s: Node, rest: list[Node], place: _Place) -> list[Node]:
        if _always(s.body):
            return [_arms(s, self.block(s.body, place), self.block(s.orelse + rest, place))]
        if _always(s.orelse):
            return [_arms(s, self.block(s.body + rest, place), self.block(s.orelse, place))]
        if not rest:
            return [_arms(s, self.block(s.body, place), self.block(s.orelse, place))]
        going = self.flag("going")
        kinds = sorted(_jumps([s]))
        names = tuple((kind, self.flag(f"to_{kind}")) for kind in kinds) if len(kinds) > 1 else ()
        inner = _Place(place.in_loop, place.broke, going, names)
        out = [_assign(going, _constant(True), s)]
        out += [_assign(name, _constant(False), s) for _, name in names]
        out.append(_arms(s, self.block(s.body, inner), self.block(s.orelse, inner)))
        if names:
            exits: list[Node] = []
            for kind, name in names:
                exits = [_if(name, self.leave(kind, place, s), exits, s)]
        else:
            exits = self.leave(kinds[0], place, s)
        out.append(_if(going, self.block(rest, place), exits, s))
        return out

    def loop(self, s: Node) -> tuple[list[Node], list[Node]]:
        """A loop without ``else``, and the statements that its ``else`` becomes."""
        jumps = _jumps(s.body)
        out: list[Node] = []
        if "return" in jumps:
            out.append(_assign(self.returned, _constant(False), s))
        broke = self.flag("broke") if s.orelse and "break" in jumps else None
        if broke is not None:
            out.append(_assign(broke, _constant(False), s))
        new = copy.copy(s)
        new.body = self.block(s.body, _Place(in_loop=True, broke=broke))
        new.orelse = []
        out.append(new)
        return out, [_if(broke, [], s.orelse, s)] if broke is not None else list(s.orelse)


def _constant(value: object) -> Node:
    return gast.Constant(value=value, kind=None)


def _name(name: str, context: Node) -> Node:
    return gast.Name(id=name, ctx=context, annotation=None, type_comment=None)


def _assign_parts(names: tuple[str, ...], value: Node, at: Node) -> Node:
    node = _assign(names[0], value, at)
    targets = [gast.copy_location(_name(name, gast.Store()), node.targets[0]) for name in names]
    node.targets = [gast.copy_location(gast.Tuple(elts=targets, ctx=gast.Store()), node.targets[0])]
    return node


def _assign(name: str, value: Node, at: Node) -> Node:
    target = _name(name, gast.Store())
    node = gast.Assign(targets=[target], value=value, type_comment=None)
    for n in (target, node):
        gast.copy_location(n, at)
        if not isinstance(at, gast.Return):
            n.end_lineno = n.lineno
    if not hasattr(value, "lineno"):
        gast.copy_location(value, at)
    return node


def _if(name: str, body: list[Node], orelse: list[Node], at: Node) -> Node:
    test = gast.copy_location(gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None), at)
    return gast.copy_location(gast.If(test=test, body=body, orelse=orelse), at)


def _arms(s: Node, body: list[Node], orelse: list[Node]) -> Node:
    return gast.copy_location(gast.If(test=s.test, body=body, orelse=orelse), s)
