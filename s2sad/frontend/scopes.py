"""Which variables of a function are memory, and which are values.

A variable is memory (see :mod:`s2sad.ir.code`) where its value is not plain from the place at which it is read:

- an inner function sees it, and it is bound more than once, or not surely before that function is made;
- it is deleted, or bound by ``:=``, ``except ... as`` or a pattern;
- it is bound by a comprehension, and read in a round before that binds it: it has the value of an earlier round;
- it is bound where an exception may leave it the one way or the other: in a ``try``, or in a ``with`` if it is read
  outside of that or the ``with`` is in a loop;
- it is a variable of a class body, or of a function that asks for its variables by name (``locals()``, ``exec``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

Node = Any
#: What reads variables by their names.
_REFLECTING = frozenset({"locals", "vars", "eval", "exec", "dir"})
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp)
_COMPOUND = (gast.If, gast.For, gast.AsyncFor, gast.While, gast.With, gast.AsyncWith, gast.Match)
_TRIES = tuple(kind for name in ("Try", "TryStar") if (kind := getattr(gast, name, None)))


@dataclass(frozen=True)
class Scope:
    """The names of a function, lambda, generator expression or class body.

    ``local`` are those that it binds, ``memory`` those of them that are memory, ``captured`` those that inner functions
    see, ``globals`` those declared so, ``outer`` those of functions around it that it binds, ``free`` all those of
    functions around it or of the module that are read or bound in it, and ``rebinds`` those of functions around that it
    or a function in it binds.  It ``generates`` if there is a ``yield`` in it.
    """

    local: frozenset[str]
    memory: frozenset[str]
    captured: frozenset[str]
    globals: frozenset[str]
    outer: frozenset[str]
    free: frozenset[str]
    rebinds: frozenset[str]
    generates: bool


def parameters(node: Node) -> list[Node]:
    """The parameters of a function, in order."""
    a = node.args
    return [p for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if p is not None]


def bound_names(target: Node) -> Iterator[str]:
    """The names that an assignment to a target binds.

    Example:
        >>> list(bound_names(gast.parse("a, (*b, c.d), e[f] = g").body[0].targets[0]))
        ['a', 'b']
    """
    if isinstance(target, gast.Name):
        yield target.id
    elif isinstance(target, (gast.Tuple, gast.List)):
        for element in target.elts:
            yield from bound_names(element)
    elif isinstance(target, gast.Starred):
        yield from bound_names(target.value)


def captures(pattern: Node) -> Iterator[str]:
    """The names that a pattern of ``match`` binds."""
    for node in gast.walk(pattern):
        if isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name is not None:
            yield node.name
        elif isinstance(node, gast.MatchMapping) and node.rest is not None:
            yield node.rest


def scope(node: Node) -> Scope:
    """The names of a function, lambda, generator expression or class.

    Example:
        >>> tree = gast.parse("def f(x):\\n    y = x\\n    return lambda: y + z")
        >>> found = scope(tree.body[0])
        >>> sorted(found.local), sorted(found.memory), sorted(found.free)
        (['x', 'y'], [], ['z'])
    """
    walk = _Walk()
    is_class = isinstance(node, gast.ClassDef)
    if isinstance(node, gast.GeneratorExp):
        # Each round binds them again.
        for generator in node.generators:
            walk.bind_all([*bound_names(generator.target)] * 2, -1)
        walk.is_generator = True
        walk.generators(node, skipped=1)
        walk.memory |= _read_before(node.generators)
    else:
        if not is_class:
            walk.bind_all((p.id for p in parameters(node)), -1)
        for walk.position, statement in enumerate(node.body if isinstance(node.body, list) else [node.body]):
            walk.visit(statement)
    return walk.result(is_class)


def _read_before(generators: list[Node]) -> set[str]:
    """The names that the parts of a comprehension read where they may not yet have bound them."""
    found: set[str] = set()
    bound: set[str] = set()
    for at, generator in enumerate(generators):
        found |= _read_in([generator.iter, generator.target] if at else [generator.target]) - bound
        bound.update(bound_names(generator.target))
        found |= _read_in(generator.ifs) - bound
    return found


def _read_in(nodes: list[Node]) -> set[str]:
    """The names that expressions, and functions that are made in them, read."""
    walk = _Walk()
    walk.visit_all(nodes)
    return {name for name, _ in walk.reads}.union(*(made.free for made in walk.inner))


@dataclass
class _Inner:
    """A function made in a scope: what it takes from outside, and in which statement it is made."""

    free: frozenset[str]
    rebinds: frozenset[str]
    position: int


@dataclass
class _Walk:
    """A walk over one scope."""

    bound: Counter[str] = field(default_factory=Counter)
    #: Of names bound by a statement of the body itself: which.
    first: dict[str, int] = field(default_factory=dict)
    #: Each name that is read, with the ``with`` statements around.
    reads: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    memory: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    inner: list[_Inner] = field(default_factory=list)
    withs: dict[int, tuple[set[str], bool]] = field(default_factory=dict)
    generates: bool = False
    is_generator: bool = False
    # Where the walk is.
    position: int = 0
    depth: int = 0
    loops: int = 0
    tries: int = 0
    around: tuple[int, ...] = ()
    hidden: tuple[frozenset[str], ...] = ()

    def result(self, is_class: bool) -> Scope:
        local = frozenset(self.bound) - self.globals - self.outer
        read = {name for name, _ in self.reads}
        memory = self.memory & local
        captured = {name for made in self.inner for name in made.free & local} if not is_class else set()
        for made in self.inner:
            for name in made.free & captured:
                first = self.first.get(name)
                if name in made.rebinds or self.bound[name] > 1 or first is None or first >= made.position:
                    memory.add(name)
        for number, (names, in_loop) in self.withs.items():
            outside = {name for name, around in self.reads if number not in around}
            memory |= names & local if in_loop else names & local & outside
        if is_class or read & _REFLECTING:
            memory |= local
        rebound = {name for made in self.inner for name in made.rebinds}
        beneath = {name for made in self.inner for name in made.free}
        free = (read | self.outer | self.globals) - local | (beneath if is_class else beneath - local)
        return Scope(
            local,
            frozenset(memory),
            frozenset(captured),
            frozenset(self.globals),
            frozenset(self.outer),
            frozenset(free),
            frozenset(self.outer | (rebound if is_class else rebound - local)),
            self.generates,
        )

    def is_hidden(self, name: str) -> bool:
        return any(name in names for names in self.hidden)

    def bind_all(self, names: Iterable[str], position: int) -> None:
        for name in names:
            self.bound[name] += 1
            self.first.setdefault(name, position)

    def bind(self, name: str) -> None:
        """A name is bound here."""
        if self.is_hidden(name):
            return
        self.bound[name] += 2 if self.loops else 1
        if not self.depth:
            self.first.setdefault(name, self.position)
        if self.tries:
            self.memory.add(name)
        for number in self.around:
            self.withs[number][0].add(name)

    def read(self, name: str) -> None:
        if not self.is_hidden(name):
            self.reads.append((name, self.around))

    def make(self, node: Node) -> None:
        """An inner function or class is made here."""
        found = scope(node)
        free = frozenset(n for n in found.free - found.globals if not self.is_hidden(n))
        self.inner.append(_Inner(free, found.rebinds, self.position))

    def visit_all(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def generators(self, node: Node, skipped: int = 0) -> None:
        """The parts of a comprehension, but for the first iterables."""
        self.visit_all(g.iter for g in node.generators[skipped:])
        for generator in node.generators:
            self.visit_all([generator.target, *generator.ifs])
        parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        self.visit_all(parts)

    def visit(self, node: Node) -> None:
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, gast.Load):
                self.read(node.id)
            else:
                self.bind(node.id)
                if isinstance(node.ctx, gast.Del):
                    self.memory.add(node.id)
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)):
            named = [] if isinstance(node, gast.Lambda) else [*node.decorator_list, node.returns]
            self.visit_all([*named, *node.args.defaults, *node.args.kw_defaults])
            self.visit_all(p.annotation for p in parameters(node))
            if not isinstance(node, gast.Lambda):
                self.bind(node.name)
            self.make(node)
        elif isinstance(node, gast.ClassDef):
            self.visit_all([*node.decorator_list, *node.bases, *(k.value for k in node.keywords)])
            self.bind(node.name)
            self.make(node)
        elif isinstance(node, gast.GeneratorExp):
            self.visit(node.generators[0].iter)
            self.make(node)
            # What ``:=`` binds in it belongs to the function around.
            for name in self.inner[-1].rebinds:
                self.bind(name)
                self.memory.add(name)
        elif isinstance(node, _COMPREHENSIONS):
            self.visit(node.generators[0].iter)
            before = self.hidden
            self.hidden = (*before, frozenset(n for g in node.generators for n in bound_names(g.target)))
            self.generators(node, skipped=1)
            self.hidden = before
        elif isinstance(node, gast.NamedExpr):
            self.visit(node.value)
            if self.is_generator:
                self.outer.add(node.target.id)
                return
            hidden, self.hidden = self.hidden, ()
            self.bind(node.target.id)
            self.hidden = hidden
            self.memory.add(node.target.id)
        elif isinstance(node, gast.Global):
            self.globals.update(node.names)
        elif isinstance(node, gast.Nonlocal):
            self.outer.update(node.names)
        elif isinstance(node, (gast.Import, gast.ImportFrom)):
            for alias in node.names:
                self.bind(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, gast.AnnAssign):
            self.visit_all([node.value, node.target, None if node.simple else node.annotation])
        elif isinstance(node, (*_COMPOUND, *_TRIES)):
            self.depth += 1
            self.compound(node)
            self.depth -= 1
        else:
            if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                self.read(node.target.id)
            self.generates = self.generates or isinstance(node, (gast.Yield, gast.YieldFrom))
            self.visit_all(gast.iter_child_nodes(node))

    def compound(self, node: Node) -> None:
        if isinstance(node, (gast.For, gast.AsyncFor)):
            self.visit(node.iter)
            self.loops += 1
            self.visit_all([node.target, *node.body])
            self.loops -= 1
            self.visit_all(node.orelse)
        elif isinstance(node, gast.While):
            self.loops += 1
            self.visit_all([node.test, *node.body])
            self.loops -= 1
            self.visit_all(node.orelse)
        elif isinstance(node, _TRIES):
            self.tries += 1
            for handler in node.handlers:
                if handler.name is not None:
                    self.memory.add(handler.name.id)
            self.visit_all(gast.iter_child_nodes(node))
            self.tries -= 1
        elif isinstance(node, (gast.With, gast.AsyncWith)):
            number = len(self.withs)
            self.withs[number] = set(), self.loops > 0
            for item in node.items:
                self.visit(item.context_expr)
                before, self.around = self.around, (*self.around, number)
                self.visit_all([item.optional_vars])
                self.around = before
            before, self.around = self.around, (*self.around, number)
            self.visit_all(node.body)
            self.around = before
        elif isinstance(node, gast.Match):
            self.visit(node.subject)
            for case in node.cases:
                for name in captures(case.pattern):
                    self.bind(name)
                    self.memory.add(name)
                for part in gast.walk(case.pattern):
                    if isinstance(part, gast.Name):
                        self.read(part.id)
                        self.memory.add(part.id)
                self.visit_all([case.guard, *case.body])
        else:
            self.visit_all(gast.iter_child_nodes(node))
