"""Lower branches and loops: where paths meet, values move into join names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import gast

from s2sad.frontend import operators
from s2sad.frontend.definite import read_in_any_case
from s2sad.frontend.dependence import assigned
from s2sad.frontend.given import is_built_in
from s2sad.frontend.hoisting import Hoisting, forever
from s2sad.frontend.holding import names_held
from s2sad.frontend.trees import nodes_of
from s2sad.ir.nodes import (
    UNSET,
    Break,
    Call,
    Const,
    Copy,
    Effect,
    Expr,
    For,
    If,
    Op,
    Slice,
    Stmt,
    Var,
    While,
)
from s2sad.ir.traverse import leaves, walk
from s2sad.ir.unset import required
from s2sad.runtime.objects import remember

Node = Any


class ControlFlow(Hoisting):
    """The part of the lowering that branches and loops are for."""

    #: Names of variables that are ours, not the user's.
    own: frozenset[str] | set[str]
    #: The join names, each with its variable, of the loops around a statement.
    loops: list[list[tuple[str, str]]]
    #: IR names that may have no value, and those that have none before their loop.
    unbound: set[str]
    never: set[str]
    #: Notes a variable of ours that may carry a derivative.
    varied_too: Callable[[str], None]

    def statements(self, body: list[Node]) -> bool:
        """Lower a block; returns whether it leaves its loop (ends in ``break`` on every path)."""
        raise NotImplementedError

    def bind(self, target: Node, value: Expr) -> None:
        """Lower ``target = value``."""
        raise NotImplementedError

    def bind_in_order(self, pairs: Sequence[tuple[Node, Expr]]) -> None:
        """Lower ``target = value`` for each of some targets; a name stands for the name that it gets."""
        for target, value in pairs:
            if isinstance(target, gast.Name) and isinstance(value, Var):
                self.env[target.id] = value.name
            else:
                self.bind(target, value)

    def may_be_unset(self, name: str, env: Mapping[str, str]) -> bool:
        """Whether a variable may have no value where ``env`` has the versions of all."""
        return name not in env or env[name] in self.unbound

    def require_values(self, nodes: Iterable[Node]) -> None:
        """Look whether each variable that is read whenever ``nodes`` are evaluated has a value.

        The derivative may do without the value.
        """
        for name in dict.fromkeys(n for node in nodes for n in read_in_any_case(node)):
            mine = name in self.resolver.local and name not in self.own
            if mine and self.may_be_unset(name, self.env):
                read = gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None)
                if not self.resolver.lookup(read)[0]:
                    version = self.version(name)
                    self.unbound.add(version)
                    self.emit(required(version, self.origin))

    def taken(self, node: Node) -> Expr:
        self.require_values((node,))
        return super().taken(node)

    def copy(self, moves: list[tuple[str, str]]) -> None:
        """Move the present versions of user names into join names."""
        self.emit(Copy(tuple(h for h, _ in moves), tuple(Var(self.env[name]) for _, name in moves), self.origin))

    def branch(self, s: Node) -> bool:
        """Lower an ``if`` statement; returns whether every path through it leaves its loop."""
        test = self.test(s.test)
        origin = self.origin
        before, outer = dict(self.env), self.block
        arms = []
        for body in (s.body, s.orelse):
            self.env, self.block = dict(before), []
            leaves = self.statements(body)
            arms.append((self.env, self.block, leaves))
        (env, then, then_leaves), (other, orelse, else_leaves) = arms
        self.origin = origin
        self.env = dict(before)
        if then_leaves or else_leaves:
            self.env = other if then_leaves else env
        else:
            self.join(env, then, other, orelse)
        self.block = outer
        self.emit(If(test, tuple(then), tuple(orelse), origin))
        return then_leaves and else_leaves

    def join(
        self,
        env: dict[str, str],
        then: list[Any],
        other: dict[str, str],
        orelse: list[Any],
        values: Sequence[tuple[str, Expr, Expr]] = (),
    ) -> None:
        """Move what the two arms of a branch have assigned differently into join names.

        ``values`` are other join names, each with what either arm moves into it.
        """
        names = [n for n in {**env, **other} if env.get(n) != other.get(n)]
        joins = {n: self.fresh(n) for n in names}
        for which, (arm, block) in enumerate(((env, then), (other, orelse))):
            moves: list[tuple[str, Expr]] = [(name, sources[which]) for name, *sources in values]
            moves += [(joins[n], Var(arm[n])) for n in names if n in arm]
            if moves:
                append_move(block, Copy(tuple(t for t, _ in moves), tuple(e for _, e in moves), self.origin))
            self.unbound.update(joins[n] for n in names if self.may_be_unset(n, arm))
        self.env.update({n: v for n, v in env.items() if other.get(n) == v})
        for n in list(self.env):
            if n not in env and n not in other:
                del self.env[n]
        self.env.update(joins)

    def choose(self, test: Expr, then: Callable[[], Expr], orelse: Callable[[], Expr], hint: str) -> Expr:
        """The one value if ``test`` holds, else the other."""
        before, outer = dict(self.env), self.block
        arms = []
        for arm in (then, orelse):
            self.env, self.block = dict(before), []
            arms.append((self.atom(arm()), self.env, self.block))
        (value, env, block), (other_value, other, other_block) = arms
        name = self.fresh(hint)
        self.env = dict(before)
        self.join(env, block, other, other_block, [(name, value, other_value)])
        self.block = outer
        self.emit(If(test, tuple(block), tuple(other_block), self.origin))
        return Var(name)

    def enter(self, s: Node) -> list[tuple[str, str]]:
        """Give every name that a loop assigns a join name, set before the loop."""
        names = list(assigned([s]) | dict.fromkeys(self.changed_in(s)))
        heads = [(n, self.fresh(n)) for n in names]
        entry = [(h, n) for n, h in heads if n in self.env]
        if entry:
            self.copy(entry)
        blank = [h for n, h in heads if n not in self.env and n in self.own]
        if blank:
            # Our own names are never read before they are set; this keeps them movable.
            self.emit(Copy(tuple(blank), tuple(UNSET for _ in blank), self.origin))
        self.never.update(h for n, h in heads if n not in self.env)
        gone = {n.id for n in nodes_of(s) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Del)}
        self.unbound.update(h for n, h in heads if n in gone or self.may_be_unset(n, self.env))
        self.env.update(heads)
        return heads

    def leave(self, heads: list[tuple[str, str]]) -> None:
        """Move what an iteration has assigned into the join names."""
        moves = [(h, n) for n, h in heads if self.env.get(n, h) != h]
        if moves:
            sources = tuple(Var(self.env[n]) for _, n in moves)
            append_move(self.block, Copy(tuple(h for h, _ in moves), sources, self.origin))

    def loop_body(self, s: Node, heads: list[tuple[str, str]], prologue: list[tuple[Node, Expr]]) -> None:
        """Lower the body of a loop, the assignments of ``prologue`` first."""
        self.loops.append(heads)
        self.bind_in_order(prologue)
        origin = self.origin
        if not self.statements(s.body):
            self.origin = origin
            self.leave(heads)
        self.loops.pop()
        self.origin = origin
        self.env.update(heads)
        moved = {target for stmt in walk(self.block) if isinstance(stmt, Copy) for target in stmt.targets}
        for name, head in heads:
            # The name of an exception has no value behind its handler.
            if head in self.never and head not in moved and name not in self.own:
                self.env.pop(name)

    def while_loop(self, s: Node) -> None:
        """Lower a ``while`` loop."""
        s = forever(s) if self.has_effect(s.test) else s
        heads = self.enter(s)
        origin, outer = self.origin, self.block
        test = self.test(s.test)
        self.block = []
        self.loop_body(s, heads, [])
        body, self.block = self.block, outer
        self.emit(While(test, tuple(body), origin))

    def for_loop(self, s: Node) -> None:
        """Lower a ``for`` loop."""
        origin = self.origin
        s = self.dict_entry(s) or self.items_apart(s) or s
        counter, start, streams, strict = self.streams(s.target, s.iter, set(self.moved_in(s)))
        heads = self.enter(s)
        outer = self.block
        self.block = []
        prologue: list[tuple[Node, Expr]] = []
        targets = []
        for target, _ in streams:
            name = self.fresh(target.id if isinstance(target, gast.Name) else "item")
            targets.append(name)
            prologue.append((target, Var(name)))
        count = None
        if counter is not None:
            count = self.fresh(counter.id if isinstance(counter, gast.Name) else "k")
            value: Expr = Var(count)
            if start != Const(0):
                value = Call(Op("operator", "+", operators.BINARY["Add"][1]), (start, value))
            prologue.insert(0, (counter, value))
        self.loop_body(s, heads, prologue)
        body, self.block = self.block, outer
        self.emit(For(tuple(targets), tuple(e for _, e in streams), tuple(body), count, origin, strict=strict))

    def extension(self, s: Node) -> Node | None:
        """``for v in values: h.append(v)`` for ``h.extend(values)`` of what is no display, else None."""
        match s.value:
            case gast.Call(func=gast.Attribute(value=gast.Name() as whole, attr="extend") as method, args=[values]):
                pass
            case _:
                return None
        there, _ = self.resolver.lookup(whole)
        if there or s.value.keywords or isinstance(values, (gast.List, gast.Tuple, gast.Starred)):
            return None
        if not self.depends(values) or not is_built_in(method, self.resolver.lookup):
            return None
        if any(isinstance(node, gast.Name) and node.id == whole.id for node in gast.walk(values)):
            # A list that gets its own items gets those that it has at first.
            return None
        item = _name(self.unused("item"), s)
        self.resolver.local |= {item.id}
        self.varied_too(item.id)
        append = gast.Attribute(value=whole, attr="append", ctx=gast.Load())
        call = gast.Call(func=append, args=[_loaded(item)], keywords=[])
        body = gast.Expr(value=call)
        for node in (append, call, body):
            gast.copy_location(node, s)
        new = gast.For(target=item, iter=values, body=[body], orelse=[], type_comment=None)
        return gast.copy_location(new, s)

    def dict_entry(self, s: Node) -> Node | None:
        """``for k, v in d.items()`` and ``for v in d.values()`` as loops over the keys, else None."""
        call = s.iter
        if not (isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and self.depends(call)):
            return None
        kind = call.func.attr
        if kind not in ("items", "values") or call.args or not is_built_in(call.func, self.resolver.lookup):
            return None
        if kind == "items" and not _pair(s.target):
            return None
        target = s.target.elts[0] if kind == "items" else None
        key = target if isinstance(target, gast.Name) else _name(self.unused("key"), s)
        self.resolver.local |= {key.id}
        value = s.target.elts[1] if kind == "items" else s.target
        whole = call.func.value
        if not isinstance(whole, gast.Name):
            held = _name(self.unused("entries"), s)
            self.resolver.local |= {held.id}
            self.bind(held, self.value(whole, held.id))
            self.varied_too(held.id)
            whole = _loaded(held)
        item = gast.Subscript(value=whole, slice=_loaded(key), ctx=gast.Load())
        first = [gast.Assign(targets=[value], value=item, type_comment=None)]
        if target is not None and target is not key:
            first.insert(0, gast.Assign(targets=[target], value=_loaded(key), type_comment=None))
        for node in (item, *first):
            gast.copy_location(node, s)
        new = gast.For(target=key, iter=whole, body=[*first, *s.body], orelse=[], type_comment=None)
        return gast.copy_location(new, s)

    def items_apart(self, s: Node) -> Node | None:
        """``for pair in zip(x, y)`` as ``for a, b in zip(x, y): pair = a, b``, also in ``enumerate``; else None."""
        first: list[Node] = []

        def apart(target: Node, iterable: Node) -> Node:
            function = self.resolver.lookup(iterable.func)[1] if isinstance(iterable, gast.Call) else None
            if not (function is zip or function is enumerate) or any(
                isinstance(arg, gast.Starred) for arg in iterable.args
            ):
                return target
            count = 2 if function is enumerate else len(iterable.args)
            parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else []
            if len(parts) != count or any(isinstance(part, gast.Starred) for part in parts):
                parts = [_name(self.unused("item"), s) for _ in range(count)]
                made = gast.Tuple(elts=list(map(_loaded, parts)), ctx=gast.Load())
                first.append(gast.Assign(targets=[target], value=made, type_comment=None))
                self.resolver.local |= {part.id for part in parts}
                for part in parts:
                    self.varied_too(part.id)
            if function is enumerate and iterable.args:
                parts = [parts[0], apart(parts[1], iterable.args[0])]
            return gast.Tuple(elts=list(parts), ctx=gast.Store())

        if not self.depends(s.iter):
            return None
        target = apart(s.target, s.iter)
        if not first:
            return None
        body = [gast.fix_missing_locations(gast.copy_location(node, s)) for node in reversed(first)]
        target = gast.fix_missing_locations(gast.copy_location(target, s.target))
        new = gast.For(target=target, iter=s.iter, body=[*body, *s.body], orelse=[], type_comment=None)
        return gast.copy_location(new, s)

    def streams(
        self, target: Node, iterable: Node, moved: AbstractSet[str]
    ) -> tuple[Node | None, Expr, list[tuple[Node, Expr]], bool]:
        """Take ``enumerate`` and ``zip`` over values that may carry a derivative apart; the loop has ``moved`` lists.

        Returns the target of the counter and its start, each target with what it runs over, and whether ``zip`` is
        strict.
        """
        counter: Node | None = None
        start: Expr = Const(0)
        if self.depends(iterable) and isinstance(iterable, gast.Call):
            _, function = self.resolver.lookup(iterable.func)
            if function is enumerate and _pair(target) and iterable.args:
                extra = [*iterable.args[1:], *(k.value for k in iterable.keywords)]
                start = self.atom(self.constant(extra[0])) if extra else Const(0)
                counter, target = target.elts
                iterable = iterable.args[0]
                _, function = self.resolver.lookup(iterable.func) if isinstance(iterable, gast.Call) else (False, None)
            strict = _strictness(iterable) if function is zip and isinstance(iterable, gast.Call) else None
            if strict is not None:
                parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else []
                if len(parts) == len(iterable.args) and not any(isinstance(p, gast.Starred) for p in parts):
                    pairs = [(t, self.iterated(e, moved)) for t, e in zip(parts, iterable.args, strict=True)]
                    return counter, start, pairs, strict
        return counter, start, [(target, self.iterated(iterable, moved))], False

    def iterated(self, node: Node, moved: AbstractSet[str]) -> Expr:
        """What a loop runs over: a range or other expression as it stands, or an atom."""
        if not self.depends(node):
            return self.ordered(node)
        if isinstance(node, gast.Call):
            func = node.func
            _, function = self.resolver.lookup(func)
            if function is reversed and len(node.args) == 1:
                if isinstance(node.args[0], gast.Name) and node.args[0].id in moved:
                    what = f"the loop changes {node.args[0].id}, over which it runs in reverse"
                    return self.refused(node, what, f"Take a copy before: reversed({node.args[0].id}[:]).")
                backwards = Slice(None, None, Const(-1))
                return self.assign("~t", Call(Op("index", "[]"), (self.operand(node.args[0]), backwards), (), node))
            if function is zip or function is enumerate:
                return self.refused(
                    node, "this form of zip or enumerate is not supported", "Unpack it in the loop's target."
                )
        return self.operand(node)

    def remember(self, s: Node) -> None:
        """``remember(thing, "name", value)`` and ``record(container, "method", value)``, as statements.

        An object that outlives the function is given what is a constant from then on.
        """
        thing, _, *values = s.value.args
        is_attribute = self.resolver.lookup(s.value.func)[1] is remember
        made = gast.fix_missing_locations(gast.copy_location(_remembering(s.value, is_attribute), s))
        parts = [self.whole(part) for part in (thing, *values)]
        names = {user: name for part in parts for user, name in part.names}
        held = tuple(name for value in values for name in names_held(value, self.resolver.lookup))
        receivers = tuple(receiver for part in parts[1:] for receiver in part.receivers)
        node = gast.gast_to_ast(made)
        self.emit(Effect(node, tuple(names.items()), self.origin, (), False, held, receivers, changes=True))


def _remembering(call: Node, is_attribute: bool) -> Node:
    """The statement that a call of `remember`, which sets an attribute, or of `record` stands for."""
    thing, name, *values = call.args
    if is_attribute:
        target = gast.Attribute(value=thing, attr=name.value, ctx=gast.Store())
    elif name.value == "__setitem__":
        target = gast.Subscript(value=thing, slice=values[0], ctx=gast.Store())
    else:
        method = gast.Attribute(value=thing, attr=name.value, ctx=gast.Load())
        return gast.Expr(value=gast.Call(func=method, args=values, keywords=[]))
    return gast.Assign(targets=[target], value=values[-1], type_comment=None)


def _strictness(call: Node) -> bool | None:
    """Whether a call of ``zip`` asks for iterables of one length; None if that is not written there."""
    values = [k.value.value for k in call.keywords if k.arg == "strict" and isinstance(k.value, gast.Constant)]
    return bool(values and values[0]) if len(values) == len(call.keywords) else None


def append_move(block: list[Stmt], move: Copy) -> None:
    """Put a move at the end of the path that does not leave the loop."""
    last = block[-1] if block else None
    if isinstance(last, If) and leaves((last,)):
        arms = [list(last.then), list(last.orelse)]
        for arm in arms:
            if not (arm and isinstance(arm[-1], Break)) and not _all_leave(arm):
                append_move(arm, move)
        block[-1] = replace(last, then=tuple(arms[0]), orelse=tuple(arms[1]))
    else:
        block.append(move)


def _all_leave(block: list[Stmt]) -> bool:
    last = block[-1] if block else None
    return isinstance(last, Break) or (
        isinstance(last, If) and _all_leave(list(last.then)) and _all_leave(list(last.orelse))
    )


def _name(name: str, at: Node) -> Node:
    return gast.copy_location(gast.Name(id=name, ctx=gast.Store(), annotation=None, type_comment=None), at)


def _loaded(node: Node) -> Node:
    """A target as an expression."""
    new = gast.Name(id=node.id, ctx=gast.Load(), annotation=None, type_comment=None)
    return gast.copy_location(new, node)


def _pair(target: Node) -> bool:
    return isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == 2
