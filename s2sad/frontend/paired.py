"""``zip`` that a variable holds until one loop runs through it, and ``zip`` inside of another: as one in the loop.

    pairs = zip(p, q)                            pairs_2 = p
    for (x, y), z in zip(pairs, r): ...          pairs_3 = q
                                                 for x, y, z in zip(pairs_2, pairs_3, r): ...

    for u, v in zip(zip(p, q), r): ...           for u_2, u_3, v in zip(p, q, r):
                                                     u = (u_2, u_3)
                                                     ...

Such an iterator takes its items as the loop comes to them, so that it may be made there.  It has to stand in the same
block as the loop, and be mentioned nowhere else: a second loop would find nothing left.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.trees import new_name, nodes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
_BLOCKS = ("body", "orelse", "finalbody", "handlers")


def with_pairs_in_loops(source: Source) -> tuple[Source, tuple[Guard, ...]]:
    """A function whose loops run through the ``zip`` that variables hold, and on what that rests."""
    nodes = nodes_of(source.node)
    if sum(isinstance(n, gast.Name) and n.id in ("zip", "enumerate") for n in nodes) < 2 and not _are_held(nodes):
        return source, ()
    names = [n for n in nodes if isinstance(n, gast.Name)]
    local = {n.id for n in names if not isinstance(n.ctx, gast.Load)}
    resolver = Resolver(source.function, frozenset(local))
    used = {n.id for n in names} | local | {*source.function.__globals__, *source.function.__code__.co_freevars}
    pairing = _Pairing(resolver.lookup, Counter(n.id for n in names), used)
    node = copy.deepcopy(source.node)
    node.body = pairing.block(node.body)
    return (replace(source, node=node), tuple(resolver.guards.values())) if pairing.found else (source, ())


def _are_held(nodes: list[Node]) -> bool:
    """Whether a variable is given what ``zip`` or ``enumerate`` makes."""
    values = [n.value for n in nodes if isinstance(n, gast.Assign)]
    called = [v.func for v in values if isinstance(v, gast.Call)]
    return any(isinstance(f, gast.Name) and f.id in ("zip", "enumerate") for f in called)


class _Pairing:
    """Rewrites blocks; ``counts`` says how often each name is mentioned, ``used`` has the names that are taken."""

    def __init__(self, lookup: Lookup, counts: Counter[str], used: set[str]) -> None:
        self.lookup, self.counts, self.used = lookup, counts, used
        self.found = False

    def block(self, body: list[Node]) -> list[Node]:
        """The statements of a block, with what is held moved into the loops among them."""
        out: list[Node] = []
        moved: dict[str, Node] = {}
        for at, s in enumerate(body):
            if self.is_moved(s, body[at + 1 :]):
                made = [gast.copy_location(self.assignment(s.targets[0].id, arg), s) for arg in s.value.args]
                parts = [gast.copy_location(gast.Name(m.targets[0].id, gast.Load(), None, None), s) for m in made]
                moved[s.targets[0].id] = gast.copy_location(gast.Call(s.value.func, parts, []), s.value)
                out += made
                self.found = True
                continue
            for name in _BLOCKS:
                if isinstance(inside := getattr(s, name, None), list) and not hasattr(s, "args"):
                    setattr(s, name, self.block(inside))
            if isinstance(s, gast.For):
                s.iter = _replaced(s.iter, moved)
                self.loop(s)
            out.append(s)
        return out

    def assignment(self, hint: str, value: Node) -> Node:
        """A new variable with a value."""
        return gast.Assign([gast.Name(new_name(hint, self.used), gast.Store(), None, None)], value, None)

    def is_call(self, node: Node, *functions: Any) -> bool:
        """Whether an expression is a call of one of some functions with arguments that are written out."""
        plain = isinstance(node, gast.Call) and not node.keywords and bool(node.args)
        plain = plain and not any(isinstance(a, gast.Starred) for a in node.args)
        return plain and any(self.lookup(node.func)[1] is f for f in functions)

    def is_moved(self, s: Node, rest: list[Node]) -> bool:
        """Whether a statement gives a name to what one loop of the ``rest`` runs through."""
        if not isinstance(s, gast.Assign) or len(s.targets) != 1 or not isinstance(s.targets[0], gast.Name):
            return False
        name = s.targets[0].id
        if self.counts[name] != 2 or not self.is_call(s.value, zip, enumerate):
            return False
        return any(isinstance(loop, gast.For) and self.runs_through(loop.iter, name) for loop in rest)

    def runs_through(self, iterable: Node, name: str) -> bool:
        """Whether a loop over an expression runs through a variable."""
        if isinstance(iterable, gast.Name):
            return bool(iterable.id == name)
        is_pairing = self.is_call(iterable, zip, enumerate)
        return is_pairing and any(self.runs_through(arg, name) for arg in iterable.args)

    def loop(self, loop: Node) -> None:
        """Let a loop run through one ``zip`` where that is given others."""
        iterable, target = loop.iter, loop.target
        if self.is_call(iterable, enumerate) and isinstance(target, gast.Tuple) and len(target.elts) == 2:
            iterable, target = iterable.args[0], target.elts[1]
        if not self.is_call(iterable, zip) or not any(self.is_call(arg, zip) for arg in iterable.args):
            return
        if not _is_row(target, len(iterable.args)):
            return
        made: list[Node] = []
        bound = Counter(n.id for n in nodes_of(loop.target) if isinstance(n, gast.Name))

        def is_apart(arg: Node, part: Node) -> bool:
            # A target that is assigned in the body is assigned after all others.
            alone = isinstance(part, gast.Name) and bound[part.id] == 1
            return self.is_call(arg, zip) and (alone or _is_row(part, len(arg.args)))

        while any(map(is_apart, iterable.args, target.elts)):
            args: list[Node] = []
            targets: list[Node] = []
            for arg, part in zip(iterable.args, target.elts, strict=True):
                if not is_apart(arg, part):
                    args.append(arg)
                    targets.append(part)
                    continue
                args += arg.args
                if not _is_row(part, len(arg.args)):
                    names = [new_name(part.id, self.used) for _ in arg.args]
                    stores, reads = (
                        [gast.copy_location(gast.Name(n, context, None, None), part) for n in names]
                        for context in (gast.Store(), gast.Load())
                    )
                    whole = gast.copy_location(gast.Tuple(reads, gast.Load()), part)
                    made.insert(0, gast.copy_location(gast.Assign([part], whole, None), part))
                    targets += stores
                else:
                    targets += part.elts
            iterable.args, target.elts = args, targets
            self.found = True
        loop.body = [*made, *loop.body]


def _is_row(target: Node, length: int) -> bool:
    """Whether a target takes apart so many items."""
    shown = isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == length
    return shown and not any(isinstance(e, gast.Starred) for e in target.elts)


def _replaced(iterable: Node, moved: dict[str, Node]) -> Node:
    """What a loop runs through, with what stands for variables in their place."""
    if isinstance(iterable, gast.Name):
        return moved.pop(iterable.id, iterable)
    if isinstance(iterable, gast.Call):
        iterable.args = [_replaced(arg, moved) for arg in iterable.args]
    return iterable
