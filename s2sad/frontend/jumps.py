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

    with m:                 going = True
        return a            with m:
    rest                        result = a; going = False
                            if going: rest

    try: body               try: body
    finally: last           except: last; raise
                            last

What a context manager does where its ``with`` is left (`Managed`) comes behind the ``try`` likewise.  Afterwards there
is no ``return`` or ``continue``, loops have no ``else``, and a ``break`` is the last statement that its iteration runs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sad.frontend.desugar import Managed
from s2sad.frontend.exposure import note

Node = Any
_LOOPS = (gast.For, gast.While)
#: What jumps leave by a variable that says so, since more than the jump happens there.
_PROTECTED = (gast.With, gast.Try)


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
    rewriter = _Rewriter(fresh, body)
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
        elif isinstance(s, (gast.If, *_LOOPS, *_PROTECTED)):
            yield from _returns([t for block in _blocks(s) for t in block])


def _blocks(s: Node) -> list[list[Node]]:
    """The blocks of a statement."""
    handlers = [h.body for h in getattr(s, "handlers", ())]
    return [s.body, *handlers, getattr(s, "orelse", []), getattr(s, "finalbody", [])]


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
        elif isinstance(s, (gast.If, *_PROTECTED)):
            found = found.union(*map(_jumps, _blocks(s)))
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
        if isinstance(s, gast.With) and _always(s.body):
            return True
        if isinstance(s, gast.Try) and (_always(s.finalbody) or all(map(_always, _ways(s)))):
            return True
        if isinstance(s, gast.While) and isinstance(s.test, gast.Constant) and s.test.value:
            if "break" not in _jumps(s.body):
                return True
    return False


def _ways(s: Node) -> list[list[Node]]:
    """The ways through a ``try``."""
    return [[*s.body, *s.orelse], *(h.body for h in s.handlers)]


class _Rewriter:
    def __init__(self, fresh: Callable[[str], str], body: list[Node]) -> None:
        self.fresh = fresh
        self.whole = body
        items = _tuple_length(body)
        self.result = fresh("result")
        self.parts = tuple([fresh("result") for _ in range(items)])
        self.returned = fresh("returned")
        self.flags = {self.returned}
        #: How many blocks around a statement have something to do when it leaves them.
        self.guarded = 0

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
                if self.guarded and not isinstance(value, gast.Constant):
                    # What is done before the function is left may change the object, so it is held by a name.
                    held = self.fresh("held")
                    out.append(_assign(held, value, s))
                    value = gast.copy_location(_name(held, gast.Load()), s)
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
            if isinstance(s, _PROTECTED):
                if not _jumps([s]):
                    out += self.protected(s, place)
                    continue
                return out + self.left(s, rest, place)
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
        return self.flagged(
            s, rest, place, lambda inner: [_arms(s, self.block(s.body, inner), self.block(s.orelse, inner))]
        )

    def left(self, s: Node, rest: list[Node], place: _Place) -> list[Node]:
        """A ``with`` or ``try`` out of which jumps lead, and what comes after it."""
        plain = place.flag is not None or not (place.in_loop or (getattr(s, "orelse", []) and _jumps(s.body)))
        if plain and (not rest or _always([s])):
            return self.protected(s, place)
        return self.flagged(s, rest, place, lambda inner: self.protected(s, inner))

    def protected(self, s: Node, place: _Place) -> list[Node]:
        """A ``with`` or ``try`` without jumps; what ``finally`` says is done where it raises and where it does not."""
        new = copy.copy(s)
        if isinstance(s, gast.With):
            new.body = self.block(s.body, place)
            return [new]
        if s.finalbody and not _jumps(s.finalbody):
            new.finalbody = []
            last = self.block(s.finalbody, place)
            if isinstance(s, Managed):
                return [*self.inside(new, place), *last]
            again = gast.copy_location(gast.Raise(exc=None, cause=None), s.finalbody[-1])
            handler = gast.copy_location(gast.ExceptHandler(None, None, [*s.finalbody, again]), s.finalbody[0])
            around = gast.copy_location(gast.Try([new] if s.handlers else s.body, [handler], [], []), s)
            return [*self.inside(around, place), *last]
        new.needed = note(s, self.whole, set().union(*(_jumps(h.body) for h in s.handlers)), place.in_loop)
        new.body, new.orelse = self.block(s.body, place), self.block(s.orelse, place)
        if s.orelse and _jumps(s.body):
            # What leaves the body does not come there.
            assert place.flag is not None
            new.orelse = [_if(place.flag, new.orelse, [], s)]
        new.handlers = [copy.copy(h) for h in s.handlers]
        for handler in new.handlers:
            handler.body = self.block(handler.body, place)
        return [new]

    def inside(self, s: Node, place: _Place) -> list[Node]:
        """What `protected` makes of a statement that has something to do when it is left."""
        self.guarded += 1
        try:
            return self.protected(s, place)
        finally:
            self.guarded -= 1

    def flagged(self, s: Node, rest: list[Node], place: _Place, write: Callable[[_Place], list[Node]]) -> list[Node]:
        """A statement whose jumps set variables, as ``write`` writes it, and what comes after it."""
        going = self.flag("going")
        kinds = sorted(_jumps([s]))
        names = tuple((kind, self.flag(f"to_{kind}")) for kind in kinds) if len(kinds) > 1 else ()
        inner = _Place(place.in_loop, place.broke, going, names)
        out = [_assign(going, _constant(True), s)]
        out += [_assign(name, _constant(False), s) for _, name in names]
        out += write(inner)
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
