"""Functions that change lists and dicts of their callers, as functions that hand these back.

    def fill(c, x):              ->  def fill(c, x):
        for k in range(4):               c = c.copy()
            c[k] = x ** k                for k in range(4):
                                             c[k] = x ** k
                                         return c

    fill(c, x)                   ->  c = fill(c, x)
    if step(c, x) > 0.0: ...     ->  left, c = step(c, x)
                                     if left > 0.0: ...

Both mean the same where no other name, object or function holds the list or dict, and nothing catches what the function
raises.  A function may then call itself with it, and a loop may run any number of times.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import gast

from s2sad.errors import S2SADError
from s2sad.frontend.alone import Alone, bound_arguments, bound_in, parameters_of
from s2sad.frontend.exposure import ends
from s2sad.frontend.recompile import function_of
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import MADE, ORIGINAL, Source
from s2sad.frontend.trees import head_of, is_starred, new_name, nodes_of

Node = Any
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_GENERATING = (gast.Yield, gast.YieldFrom, gast.Await, gast.AsyncFunctionDef, gast.Global, gast.Nonlocal)


@dataclass
class Handing:
    """The functions that hand back the lists and dicts that they change, by which parameters, and how they are made.

    ``read`` gives the source of a function, ``first`` the function of the user's of which one is a version.  A
    parameter of a caller that would have to be handed back as well is ``wanted``.
    """

    changed: Mapping[types.FunctionType, frozenset[str]]
    read: Callable[[types.FunctionType], Source]
    first: Callable[[types.FunctionType], types.FunctionType]
    #: By function: the one that hands back, in a cell; None where there is none.
    made: dict[types.FunctionType, types.CellType | None] = field(default_factory=dict)
    #: Those that hand back, with the functions of which they are made.
    origins: dict[types.FunctionType, types.FunctionType] = field(default_factory=dict)
    wanted: dict[types.FunctionType, frozenset[str]] = field(default_factory=dict)

    def params(self, function: Any) -> tuple[str, ...]:
        """The parameters that a function hands back."""
        if not isinstance(function, types.FunctionType) or function in self.origins:
            return ()
        return tuple(sorted(self.changed.get(self.first(function), ())))

    def handed_params(self, function: types.FunctionType) -> tuple[str, ...]:
        """The parameters that a function hands back which was made for that."""
        return self.params(self.origins[function]) if function in self.origins else ()

    def surely(self, function: Any) -> tuple[str, ...]:
        """The parameters of a function for lists and dicts that it hands back and does not keep."""
        params = self.params(function)
        return params if params and self.version(function) is not None else ()

    def version(self, function: types.FunctionType) -> types.CellType | None:
        """The function that hands back what another one changes, in a cell; None if there is none.

        While it is made, which may ask for itself, it is taken to be there.
        """
        if function not in self.made:
            before = list(self.made)
            cell = self.made[function] = types.CellType()
            made = self._handing(function)
            if made is None:
                # Those that were made meanwhile may have been made as it was taken to be there.
                for other in [f for f in self.made if f not in before]:
                    del self.made[other]
                self.origins = {m: f for m, f in self.origins.items() if f in self.made}
                self.made[function] = None
            else:
                made.function.__dict__.update({MADE: made, ORIGINAL: function})
                self.origins[made.function] = function
                cell.cell_contents = made.function
        return self.made[function]

    def _handing(self, function: types.FunctionType) -> Source | None:
        """The source of a function that hands back what another one changes."""
        try:
            source = self.read(function)
        except S2SADError:
            return None
        params, node = self.params(function), copy.deepcopy(source.node)
        nodes = nodes_of(node)
        if any(isinstance(n, _GENERATING) for n in nodes) or not set(params) <= set(parameters_of(node)):
            return None
        alone = Alone(node, Resolver(source.function, bound_in(node)).lookup, self.surely, self.read)
        if not all(alone.is_alone(name) for name in params):
            return None
        start = 1 if _is_text(node.body[0]) else 0
        first, last = node.body[min(start, len(node.body) - 1)], node.body[-1]
        own = [_assigned(name, _method(name, "copy"), first) for name in params]
        names: list[Node] = [_name(name) for name in params]
        gives = has_result(node)

        def result(value: Node | None, at: Node) -> Node:
            parts = [value or gast.Constant(None, None), *copy.deepcopy(names)] if gives else copy.deepcopy(names)
            made = parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load())
            return _located(gast.Return(made), at)

        for stmt in [n for n in _own_nodes(node) if isinstance(n, gast.Return)]:
            stmt.value = result(stmt.value, stmt).value
        node.body = [*node.body[:start], *own, *node.body[start:]]
        if not ends(node.body):
            node.body.append(result(None, last))
        node.decorator_list = []
        return replace(source, function=function_of(gast.gast_to_ast(node), source.function, {}), node=node)

    def rewritten(self, source: Source, whole: types.FunctionType) -> tuple[Source, tuple[Guard, ...]]:
        """A function in which calls hand lists and dicts back, and on what that rests.

        It is a version of the function ``whole``.
        """
        resolver = Resolver(source.function, bound_in(source.node))
        called = [resolver.lookup(n.func)[1] for n in nodes_of(source.node) if isinstance(n, gast.Call)]
        if not any(map(self.params, called)):
            return source, ()
        node = copy.deepcopy(source.node)
        rewriting = _Rewriting(self, node, resolver, self.first(whole), whole in self.origins)
        rewriting.block(node.body, False)
        if not rewriting.cells:
            return source, ()
        function = function_of(gast.gast_to_ast(node), source.function, rewriting.cells)
        return replace(source, function=function, node=node), tuple(resolver.guards.values())


class _Handed(NamedTuple):
    """What a call hands back: to which variables, and whether the function has a result too; and that function."""

    names: tuple[str, ...]
    gives: bool
    function: types.CellType
    title: str


class _Rewriting:
    """Rewrites the calls in one function, statement by statement."""

    def __init__(
        self, handing: Handing, node: Node, resolver: Resolver, whole: types.FunctionType, hands_back: bool
    ) -> None:
        self.handing, self.resolver, self.whole = handing, resolver, whole
        self.alone = Alone(node, resolver.lookup, handing.surely, handing.read, hands_back)
        # What holds what is asked of the function as it is written.
        for name in self.alone.uses:
            self.alone.is_alone(name)
        self.own: frozenset[str] = frozenset() if hands_back else frozenset(parameters_of(node))
        self.names = {n.id for n in nodes_of(node) if isinstance(n, gast.Name)} | resolver.globals.keys()
        self.names |= resolver.cells.keys()
        #: Whether other functions may set its variables: those that it defines, or that share them.
        sharing = (*_SCOPES, gast.Global, gast.Nonlocal)
        self.shares = any(isinstance(n, sharing) for n in nodes_of(node) if n is not node)
        self.cells: dict[str, types.CellType] = {}
        #: The names over which the loops around run.
        self.run_over: list[str] = []

    def block(self, body: list[Node], is_caught: bool) -> None:
        """Rewrite the calls in a block, in which what they raise may be caught."""
        out: list[Node] = []
        for stmt in body:
            if isinstance(stmt, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
                out.append(stmt)
                continue
            is_catching = is_caught or isinstance(stmt, (gast.Try, gast.With))
            names = [n for n in nodes_of(stmt.iter) if isinstance(n, gast.Name)] if isinstance(stmt, gast.For) else []
            run_over = [n.id for n in names if self.alone.is_run_over(n)]
            self.run_over += run_over
            for name in ("body", "orelse", "finalbody"):
                if getattr(stmt, name, None):
                    self.block(getattr(stmt, name), is_catching)
            for handler in getattr(stmt, "handlers", []):
                self.block(handler.body, is_caught)
            del self.run_over[len(self.run_over) - len(run_over) :]
            out += [stmt] if is_catching else self.statement(stmt)
        body[:] = out

    def statement(self, stmt: Node) -> list[Node]:
        """A statement, the blocks of which are rewritten, with its own calls rewritten."""
        if any(isinstance(n, gast.NamedExpr) for part in head_of(stmt) for n in nodes_of(part)):
            return [stmt]
        is_whole = isinstance(stmt, (gast.Expr, gast.Assign, gast.AnnAssign, gast.Return))
        # What is added to is read before what is added is computed.
        of_name = isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name) and self.stays(stmt.target.id)
        before: list[Node] = []
        if is_whole or of_name:
            handed = self.handed(stmt.value) if isinstance(stmt.value, gast.Call) else None
            if handed is not None and is_whole:
                if not self.operands(stmt.value, before):
                    return [*before, stmt]
                self.call(stmt.value, handed)
                return [*before, *self.assigned(stmt, stmt.value, handed)]
            if stmt.value is not None:
                stmt.value = self.hoisted(stmt.value, before)
        elif isinstance(stmt, (gast.If, gast.Assert)):
            stmt.test = self.hoisted(stmt.test, before)
        elif isinstance(stmt, gast.For):
            stmt.iter = self.hoisted(stmt.iter, before)
        elif isinstance(stmt, gast.While) and not stmt.orelse:
            test = self.hoisted(stmt.test, before)
            if before:
                leave = gast.If(gast.UnaryOp(gast.Not(), test), [gast.Break()], [])
                stmt.test = _located(gast.Constant(True, None), stmt)
                stmt.body = [*before, _located(leave, stmt), *stmt.body]
                return [stmt]
        return [*before, stmt]

    def assigned(self, stmt: Node, call: Node, handed: _Handed) -> list[Node]:
        """The statements for one of which the value is such a call."""
        name = stmt.targets[0].id if _is_of_one_name(stmt) else new_name("left", self.names)
        made = _located(self.unpacked(call, handed, name), stmt)
        if isinstance(stmt, gast.Expr) or (handed.gives and _is_of_one_name(stmt)):
            return [made]
        stmt.value = _located(_name(name) if handed.gives else gast.Constant(None, None), stmt)
        return [made, stmt]

    def unpacked(self, call: Node, handed: _Handed, name: str) -> Node:
        """The assignment of what a call hands back, and of its result to a variable."""
        targets = [_name(n, gast.Store()) for n in (*([name] if handed.gives else ()), *handed.names)]
        return gast.Assign([targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())], call, None)

    def hoisted(self, node: Node, before: list[Node]) -> Node:
        """An expression without the calls that hand back, which stand in statements ``before`` it.

        What Python evaluates earlier is evaluated earlier still.  Of what runs under a condition nothing is taken.
        """
        if not self.hands_back(node) or not self.operands(node, before):
            return node
        handed = self.handed(node) if isinstance(node, gast.Call) else None
        if handed is None:
            return node
        self.call(node, handed)
        name = new_name("left", self.names)
        before.append(_located(self.unpacked(node, handed, name), node))
        return _located(_name(name) if handed.gives else gast.Constant(None, None), node)

    def operands(self, node: Node, before: list[Node]) -> bool:
        """Take the calls that hand back out of the operands of an expression; False where that is not understood."""
        operands = list(_operands(node))
        holding = [n for n, (_, part) in enumerate(operands) if self.hands_back(part)]
        before_last = operands[: holding[-1] + 1] if holding else []
        if any(place is None for place, _ in before_last):
            return False
        for place, part in before_last:
            if self.hands_back(part):
                made = self.hoisted(part, before)
                if self.hands_back(made):
                    return False
            elif isinstance(part, gast.Constant) or (isinstance(part, gast.Name) and self.stays(part.id)):
                continue
            else:
                left = new_name("left", self.names)
                before.append(_located(gast.Assign([_name(left, gast.Store())], part, None), part))
                made = _located(_name(left), part)
            assert place is not None
            whole, name, number = place
            if number is None:
                setattr(whole, name, made)
            else:
                getattr(whole, name)[number] = made
        return True

    def stays(self, name: str) -> bool:
        """Whether a variable is the same after a call: one that is handed back stands for its list or dict as it is."""
        return self.alone.is_alone(name) or (name in self.resolver.local and not self.shares)

    def hands_back(self, node: Node) -> bool:
        """Whether a call in an expression hands something back."""
        return any(isinstance(n, gast.Call) and self.handed(n) is not None for n in nodes_of(node))

    def handed(self, call: Node) -> _Handed | None:
        """What a call hands back; None if that is nothing."""
        function = self.resolver.lookup(call.func)[1]
        params = self.handing.params(function)
        cell = self.handing.version(function) if params and not is_starred(call) else None
        if cell is None:
            return None
        definition = self.handing.read(function).node
        given = bound_arguments(definition, call)
        if given is None or not all(isinstance(given.get(p), gast.Name) for p in params):
            return None
        names = tuple([given[p].id for p in params])
        direct = [a.id for a in given.values() if isinstance(a, gast.Name)]
        if any(direct.count(n) > 1 or n in self.run_over or not self.alone.is_alone(n) for n in names):
            return None
        if not self.own.isdisjoint(names):
            known = self.handing.wanted.get(self.whole, frozenset())
            self.handing.wanted[self.whole] = known | self.own.intersection(names)
            return None
        title = function.__name__ if function.__name__.isidentifier() else "function"
        return _Handed(names, has_result(definition), cell, title)

    def call(self, call: Node, handed: _Handed) -> None:
        """Let a call be one of the function that hands back."""
        names = [name for name, known in self.cells.items() if known is handed.function]
        if not names:
            names = [new_name(handed.title, self.names)]
            self.cells[names[0]] = handed.function
        call.func = _located(_name(names[0]), call.func)


#: The node that has an operand, the field, and the number in it; None for what is evaluated under a condition.
_Place = tuple[Node, str, int | None] | None


def _operands(node: Node) -> Iterator[tuple[_Place, Node]]:
    """The operands of an expression in the order in which Python evaluates them."""
    match node:
        case gast.BinOp():
            yield from (((node, "left", None), node.left), ((node, "right", None), node.right))
        case gast.UnaryOp():
            yield (node, "operand", None), node.operand
        case gast.Attribute():
            yield (node, "value", None), node.value
        case gast.Subscript():
            yield from (((node, "value", None), node.value), ((node, "slice", None), node.slice))
        case gast.Tuple() | gast.List() | gast.Set():
            yield from ((_unless_starred(node, "elts", n, part), part) for n, part in enumerate(node.elts))
        case gast.Compare():
            yield from (((node, "left", None), node.left), ((node, "comparators", 0), node.comparators[0]))
            yield from ((None, part) for part in node.comparators[1:])
        case gast.BoolOp():
            yield (node, "values", 0), node.values[0]
            yield from ((None, part) for part in node.values[1:])
        case gast.IfExp():
            yield (node, "test", None), node.test
            yield from ((None, part) for part in (node.body, node.orelse))
        case gast.Call():
            if not _is_dotted(node.func):
                yield None, node.func
            yield from ((_unless_starred(node, "args", n, part), part) for n, part in enumerate(node.args))
            yield from (((k, "value", None) if k.arg is not None else None, k.value) for k in node.keywords)
        case _:
            yield from ((None, part) for part in gast.iter_child_nodes(node))


def _unless_starred(node: Node, name: str, number: int, part: Node) -> _Place:
    return None if isinstance(part, gast.Starred) else (node, name, number)


def _is_dotted(node: Node) -> bool:
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name)


def _is_of_one_name(stmt: Node) -> bool:
    return isinstance(stmt, gast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], gast.Name)


def has_result(definition: Node) -> bool:
    """Whether a function returns a value somewhere."""
    return any(isinstance(n, gast.Return) and n.value is not None for n in _own_nodes(definition))


def _own_nodes(node: Node) -> Iterator[Node]:
    """The nodes of a function without those of functions and classes that it makes."""
    for child in gast.iter_child_nodes(node):
        if not isinstance(child, _SCOPES):
            yield child
            yield from _own_nodes(child)


def _is_text(stmt: Node) -> bool:
    return isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant) and isinstance(stmt.value.value, str)


def _name(name: str, context: Node = None) -> Node:
    return gast.Name(name, gast.Load() if context is None else context, None, None)


def _method(name: str, method: str) -> Node:
    return gast.Call(gast.Attribute(_name(name), method, gast.Load()), [], [])


def _assigned(name: str, value: Node, at: Node) -> Node:
    return _located(gast.Assign([_name(name, gast.Store())], value, None), at)


def _located(node: Node, at: Node) -> Node:
    """A new node at the place of another one, with all new nodes inside."""
    for inner in nodes_of(node):
        if getattr(inner, "lineno", None) is None:
            gast.copy_location(inner, at)
    return node
