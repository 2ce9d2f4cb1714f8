"""Which local names may carry a derivative: a quick answer from the syntax alone.

The answer ignores the order of statements, so it says yes too often and never too
seldom.  Lowering uses it to leave all other expressions whole; the exact
question is :mod:`s2sad.analysis.activity`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.scopes import bound_names
from s2sad.frontend.trees import nodes_of

Node = Any
_WITHOUT = (gast.Compare, gast.Constant)


def stored_base(target: Node) -> str | None:
    """The local name whose object ``target`` (``a[i]``, ``a.b[i]``) writes into."""
    while isinstance(target, (gast.Subscript, gast.Attribute, gast.Starred)):
        target = target.value
    return target.id if isinstance(target, gast.Name) else None


def assigned(statements: Iterable[Node]) -> dict[str, None]:
    """Every name that ``statements`` bind, in order of appearance; comprehensions have scopes of their own."""
    nodes = [node for s in statements for node in nodes_of(s)]
    inner = {id(n) for node in nodes if isinstance(node, gast.comprehension) for n in nodes_of(node.target)}
    stored = [n for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Del))]
    return dict.fromkeys([n.id for n in stored if id(n) not in inner])


def free_names(node: Node, bound: frozenset[str]) -> Iterator[str]:
    """The names that ``node`` reads from around it (not those that a lambda or comprehension binds)."""
    if isinstance(node, gast.Name):
        if node.id not in bound:
            yield node.id
    elif isinstance(node, gast.Lambda):
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            yield from free_names(default, bound)
        arguments = node.args
        own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        yield from free_names(node.body, bound | {a.id for a in own if a is not None})
    elif isinstance(node, (gast.ListComp, gast.SetComp, gast.GeneratorExp, gast.DictComp)):
        inner: set[str] = set()
        for generator in node.generators:
            yield from free_names(generator.iter, bound | inner)
            inner |= set(bound_names(generator.target))
            for condition in generator.ifs:
                yield from free_names(condition, bound | inner)
        values = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        for value in values:
            yield from free_names(value, bound | inner)
    else:
        for child in gast.iter_child_nodes(node):
            yield from free_names(child, bound)


class Dependence:
    """Answers whether an expression may depend on the active parameters.

    ``constant_call`` says of a call whether its result has no derivative whatever the
    arguments (``stop_gradient``, ``len``, ``np.argmax``); ``plain`` of what is subscripted whether it only picks
    an item (``np.r_[x, y]`` does not).  ``local`` are the names of the function's own variables,
    ``written`` gives those whose objects a call itself surely or maybe writes.  A called expression that is
    ``ruled`` writes no others; any other function may, but for a call that is ``met`` at run time, where that is
    checked.  ``built_in`` says of an attribute or method whether it is that of a built-in class,
    ``fresh`` of a called expression whether its result shares nothing, ``keys`` of a call what it is given for keys,
    which carry no derivative.  Nothing writes into what the variables ``unchanging`` hold.  ``function`` says which
    object is called, if that is known.
    """

    def __init__(
        self,
        body: list[Node],
        roots: Iterable[str],
        constant_call: Callable[[Node], bool],
        plain: Callable[[Node], bool],
        local: Iterable[str],
        written: Callable[[Node], Iterable[str]] = lambda node: (),
        ruled: Callable[[Node], bool] = lambda node: False,
        built_in: Callable[[Node], bool] = lambda node: True,
        met: Callable[[Node], bool] = lambda node: False,
        fresh: Callable[[Node], bool] = lambda node: False,
        keys: Callable[[Node], list[Node]] = lambda node: [],
        unchanging: Collection[str] = (),
        function: Callable[[Node], object] = lambda call: None,
    ) -> None:
        self.constant_call = constant_call
        self.plain = plain
        self.ruled = ruled
        self.built_in = built_in
        self.met = met
        self.fresh = fresh
        self.keys = keys
        self.unchanging = unchanging
        self.function = function
        self.local = frozenset(local)
        self.names = set(roots)
        flows: list[tuple[set[str], Node]] = []
        stored: set[str] = set()
        numbers: set[int] = set()
        together: list[set[str]] = []
        nodes = [node for s in body for node in nodes_of(s)]
        items = {name for n in nodes if isinstance(n, gast.comprehension) for name in bound_names(n.target)}
        known = self.local | items
        for node in nodes:
            if isinstance(node, gast.Assign):
                bases = [self.bases(t, stored) for t in node.targets]
                pairs = [pair for target in node.targets for pair in pairs_of(target, node.value)]
                flows += [(self.bases(target, stored), value) for target, value in pairs]
                if len(bases) > 1:
                    together.append(set().union(*bases))
            elif isinstance(node, (gast.AugAssign, gast.AnnAssign, gast.NamedExpr)) and node.value is not None:
                flows.append((self.bases(node.target, stored), node.value))
                if isinstance(node, gast.AugAssign):
                    stored.update(bound_names(node.target))
                    if not isinstance(node.op, (gast.Add, gast.BitOr)):
                        # Of lists and sets alone the items are taken over.
                        numbers.add(id(node.value))
            elif isinstance(node, (gast.For, gast.comprehension)):
                flows += [(self.bases(t, stored), value) for t, value in self.run_over(node.target, node.iter)]
            elif isinstance(node, gast.withitem) and node.optional_vars is not None:
                flows.append((self.bases(node.optional_vars, stored), node.context_expr))
            elif isinstance(node, gast.Try):
                # Those that raise again hand nothing on.
                named = [h for h in node.handlers if h.name is not None and not isinstance(h.body[-1], gast.Raise)]
                flows += [({h.name.id}, value) for h in named for value in _in_exceptions(node.body)]
            elif isinstance(node, gast.Call):
                into = set() if met(node) else (set(written(node)) & known).difference(unchanging)
                stored |= into
                flows += self.written_by_call(node, into)
        sharing = [names | (self.shared(value) & known) for names, value in flows if id(value) not in numbers]
        groups = _groups([*sharing, *together], stored)
        while True:
            before = len(self.names)
            for names, value in flows:
                if not names <= self.names and self.depends(value):
                    self.names |= names
            for group in groups:
                if group & self.names:
                    self.names |= group
            if len(self.names) == before:
                return

    def run_over(self, target: Node, iterable: Node) -> Iterator[tuple[Node, Node]]:
        """The parts of a loop's target with what each runs over: ``x, y in zip(a, b)`` is ``x in a`` and ``y in b``."""
        parts = target.elts if isinstance(target, (gast.Tuple, gast.List)) else []
        args = iterable.args if isinstance(iterable, gast.Call) else []
        function = self.function(iterable) if args and parts else None
        if function is enumerate and len(parts) == 2:
            # No derivative passes through a counter.
            parts, args, function = parts[1:], args[:1], zip
        is_starred = any(isinstance(part, gast.Starred) for part in (*parts, *args))
        if function is zip and len(parts) == len(args) and not is_starred:
            for part, arg in zip(parts, args, strict=True):
                yield from self.run_over(part, arg)
        else:
            yield target, iterable

    def written_by_call(self, node: Node, into: set[str]) -> list[tuple[set[str], Node]]:
        """A call may write what it gets into its other arguments, into its receiver, and into the names ``into``."""
        if self.constant_call(node) or self.met(node):
            return []
        values = self.given(node)
        receiver = node.func.value if isinstance(node.func, gast.Attribute) else None
        objects = [v for v in [*values, receiver] if v is not None and self.shared(v)]
        names = set().union(*map(self.shared, objects)) & self.local
        flows = [(into, v) for v in [*values, receiver] if into and v is not None]
        if self.ruled(node.func):
            return flows
        return [*flows, *((names, v) for v in values)] if names and len(values) + (receiver is not None) > 1 else flows

    def given(self, call: Node) -> list[Node]:
        """What a call is given, but for keys."""
        keys = self.keys(call)
        values = [*call.args, *(k.value for k in call.keywords)]
        return [v for v in values if all(v is not key for key in keys)] if keys else values

    def depends(self, node: Node) -> bool:
        """Whether the value of ``node`` may depend on the active parameters."""
        if isinstance(node, gast.Name):
            return node.id in self.names
        if isinstance(node, _WITHOUT):
            return False
        if isinstance(node, gast.Attribute):
            return not self.is_constant(node) and self.depends(node.value)
        if isinstance(node, gast.Subscript):
            return self.depends(node.value) or (not self.plain(node.value) and self.depends(node.slice))
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return False
        if isinstance(node, (gast.ListComp, gast.SetComp, gast.GeneratorExp)):
            return self.depends(node.elt)
        if isinstance(node, gast.DictComp):
            return self.depends(node.value)
        if isinstance(node, gast.IfExp):
            return self.depends(node.body) or self.depends(node.orelse)
        if isinstance(node, gast.Call):
            if self.constant_call(node):
                return False
            func = node.func
            known = ops.method(func.attr) if isinstance(func, gast.Attribute) else None
            if known is not None and known.constant and self.depends(func.value) and self.built_in(func):
                return False
            return self.depends(func) or any(map(self.depends, self.given(node)))
        return any(self.depends(child) for child in gast.iter_child_nodes(node))

    def shared(self, value: Node) -> set[str]:
        """The local names whose objects the value of an expression may share."""
        if isinstance(value, gast.Name):
            return set() if value.id in self.unchanging else {value.id}
        if isinstance(value, gast.Attribute) and self.is_constant(value):
            return set()
        if isinstance(value, (gast.Subscript, gast.Attribute, gast.Starred)):
            return self.shared(value.value)
        if isinstance(value, (gast.Tuple, gast.List, gast.Set)):
            return set().union(*(self.shared(element) for element in value.elts))
        if isinstance(value, gast.Dict):
            return set().union(*(self.shared(element) for element in value.values))
        if isinstance(value, gast.IfExp):
            return self.shared(value.body) | self.shared(value.orelse)
        if isinstance(value, gast.BoolOp):
            return set().union(*(self.shared(v) for v in value.values))
        if isinstance(value, gast.BinOp) and _displays(value):
            return self.shared(value.left) | self.shared(value.right)
        if isinstance(value, gast.NamedExpr):
            return self.shared(value.target) | self.shared(value.value)
        if isinstance(value, (gast.ListComp, gast.SetComp, gast.GeneratorExp, gast.DictComp)):
            found = self.shared(value.value if isinstance(value, gast.DictComp) else value.elt)
            for part in reversed(value.generators):
                if found & set(bound_names(part.target)):
                    found |= self.shared(part.iter)
            return found
        if isinstance(value, gast.Call):
            if self.fresh(value.func):
                return set()
            parts = [*value.args, *(k.value for k in value.keywords)]
            if isinstance(value.func, gast.Attribute) and not self.met(value):
                # What is met gives nothing of its object that is written later.
                parts.append(value.func.value)
            return set().union(*(self.shared(p) for p in parts))
        return set()

    def bases(self, target: Node, stored: set[str]) -> set[str]:
        """The names that a target binds or writes into; the latter are added to ``stored``."""
        if isinstance(target, (gast.Tuple, gast.List)):
            return set().union(*(self.bases(element, stored) for element in target.elts))
        if isinstance(target, (gast.Subscript, gast.Attribute)):
            found = self.shared(target.value)
            stored |= found
            return found
        return set(bound_names(target))

    def is_constant(self, node: Node) -> bool:
        """Whether an attribute is one of those of arrays that carry no derivative, such as ``shape``."""
        return isinstance(node, gast.Attribute) and ops.is_constant_attribute(node.attr) and self.built_in(node)


def _in_exceptions(body: list[Node]) -> Iterator[Node]:
    """What an exception may hold that statements raise, or what they call: arguments, and keys that are not found."""
    for node in (n for s in body for n in nodes_of(s)):
        if isinstance(node, gast.Raise) and node.exc is not None:
            yield node.exc
        elif isinstance(node, gast.Call):
            yield from (*node.args, *(k.value for k in node.keywords))
        elif isinstance(node, gast.Subscript):
            yield node.slice


def pairs_of(target: Node, value: Node) -> Iterator[tuple[Node, Node]]:
    """The parts of a target with what each is assigned: ``a, b = x, y`` is ``a = x`` and ``b = y``."""
    both = (target, value)
    shown = all(isinstance(n, (gast.Tuple, gast.List)) for n in both)
    if (
        shown
        and len(target.elts) == len(value.elts)
        and not any(isinstance(e, gast.Starred) for n in both for e in n.elts)
    ):
        for part, item in zip(target.elts, value.elts, strict=True):
            yield from pairs_of(part, item)
    else:
        yield target, value


def _displays(value: Node) -> bool:
    """Whether an operand of ``+`` or ``*`` is a display, which is joined or repeated."""
    if isinstance(value, gast.BinOp):
        return isinstance(value.op, (gast.Add, gast.Mult)) and (_displays(value.left) or _displays(value.right))
    return isinstance(value, (gast.List, gast.Tuple, gast.ListComp))


def _groups(sharing: list[set[str]], stored: set[str]) -> list[set[str]]:
    """The sets of names that may share an object which is written into."""
    group_of: dict[str, set[str]] = {}
    for names in sharing:
        joined: set[str] = set()
        for name in names:
            group = group_of.setdefault(name, {name})
            if group is not joined:
                # The smaller one moves, so that no name moves often.
                small, joined = sorted((group, joined), key=len)
                joined |= small
                group_of.update(dict.fromkeys(small, joined))
    return list({id(group): group for group in (group_of.get(n, {n}) for n in sorted(stored))}.values())
