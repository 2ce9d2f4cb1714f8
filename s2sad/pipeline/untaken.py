"""Remove the branches of a function that the types of its arguments decide, before the function is lowered.

    def residual(x, target=None, plot=False):          # called with target=None, plot=False
        if target is None:                             #     target = np.zeros(3)
            target = np.zeros(3)                 ->    #     return x - target
        if plot:
            plt.plot(x)
        return x - target

A branch that cannot run needs no rules, no source and no analysis.  `take_decided` decides tests on the IR, where
more is known; this pass decides those on parameters that still have their arguments' values, so that what they switch
off is never looked at.
"""

from __future__ import annotations

import ast
import copy
import dis
import inspect
import types
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import gast

from s2sad.analysis.infer import Facts
from s2sad.frontend.recompile import function_of
from s2sad.frontend.source import MADE, Source
from s2sad.frontend.trees import nodes_of
from s2sad.ir.nodes import Build, Call, Const, Expr, Global, Op, Var
from s2sad.ir.types import OPEN, Fact
from s2sad.optimise.outcomes import Classes, outcome

Node = Any
#: A test that is not decided.
_UNKNOWN = Var("?")
_ENDS = (gast.Return, gast.Raise, gast.Continue, gast.Break)
_COMPOUND = (gast.For, gast.AsyncFor, gast.While, gast.With, gast.AsyncWith, gast.Try, gast.TryStar, gast.Match)
_SCOPES = (
    gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.FunctionDef, gast.AsyncFunctionDef,
)  # fmt: skip
_COMPARED = {
    gast.Is: "is", gast.IsNot: "is not", gast.Eq: "==", gast.NotEq: "!=", gast.In: "in", gast.NotIn: "not in",
    gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=",
}  # fmt: skip


def decisions(source: Source, facts: Mapping[str, Fact], classes: Classes) -> tuple[tuple[int, bool], ...]:
    """The tests of a function that the types of its arguments decide, by number, each with its outcome.

    Args:
        source: The function.
        facts: The types of its arguments, by parameter.
        classes: The classes that a global name stands for.
    """
    if tested(source).isdisjoint(facts):
        return ()
    tests = _tests(source.node)
    decider = _Decider(source, facts, classes)
    decider.block(source.node.body, set())
    found = [(number, decider.found.get(id(test))) for number, test in enumerate(tests)]
    return tuple([(number, taken) for number, taken in found if taken is not None])


def tested(source: Source) -> frozenset[str]:
    """The parameters of a function that its tests read; none of one whose tests are not decided."""
    if source.function.__code__.co_flags & inspect.CO_GENERATOR:
        return frozenset()
    arguments = source.node.args
    names = {a.id for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    read = {n.id for test in _tests(source.node) for n in nodes_of(test) if isinstance(n, gast.Name)}
    if read.isdisjoint(names) or any(isinstance(n, gast.Name) and n.id == source.name for n in nodes_of(source.node)):
        # A function that calls itself is one function for all its calls.
        return frozenset()
    return frozenset(read & names)


def _tests(tree: Node) -> list[Node]:
    """The tests of branches, in the order of the tree."""
    return [node.test for node in nodes_of(tree) if isinstance(node, (gast.If, gast.IfExp))]


class _Decider:
    """Goes through a function and decides the tests on parameters that still have the values of the arguments."""

    def __init__(self, source: Source, facts: Mapping[str, Fact], classes: Classes) -> None:
        arguments = source.node.args
        params = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self.params = {a.id for a in params} & facts.keys()
        self.types = Facts({**{name: facts[name] for name in self.params}, _UNKNOWN.name: OPEN}, {})
        self.classes = classes
        #: What inner functions may read late is decided for parameters that nothing binds.
        self.rebound = set(_bound(source.node.body))
        code, space = source.function.__code__, source.function.__globals__
        names = {*space, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self.has_isinstance, self.has_callable = "isinstance" not in names, "callable" not in names
        #: The outcomes of tests, by node.
        self.found: dict[int, bool] = {}

    def block(self, statements: list[Node], bound: set[str]) -> None:
        """Decide the tests in a block; ``bound`` are the names that have been bound, and are added to."""
        for statement in statements:
            if isinstance(statement, gast.If):
                self.branch(statement, bound)
            elif isinstance(statement, _COMPOUND):
                bound |= set(_bound([statement]))
                self.parts(statement, bound)
            elif isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
                self.expressions(statement, self.rebound)
                bound.add(statement.name)
            else:
                self.expressions(statement, bound | {n.target.id for n in nodes_of(statement) if _is_walrus(n)})
                bound |= set(_bound([statement]))

    def branch(self, statement: Node, bound: set[str]) -> None:
        self.expressions(statement.test, bound | set(_bound([statement.test])))
        taken = self.decide(statement.test, bound)
        bound |= set(_bound([statement.test]))
        after = set(bound)
        for arm, holds in ((statement.body, True), (statement.orelse, False)):
            if taken in (None, holds):
                inside = set(bound)
                self.block(arm, inside)
                after |= inside
        bound |= after

    def parts(self, statement: Node, bound: set[str]) -> None:
        """The blocks and expressions of a compound statement that binds no more than ``bound``."""
        for _, value in gast.iter_fields(statement):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, gast.stmt):
                    self.block([part], bound)
                elif isinstance(part, (gast.ExceptHandler, gast.match_case)):
                    self.parts(part, bound)
                elif isinstance(part, gast.AST):
                    self.expressions(part, bound)

    def expressions(self, tree: Node, bound: set[str]) -> None:
        """Decide the conditional expressions in a tree."""
        for node in nodes_of(tree):
            if isinstance(node, (gast.IfExp, gast.If)):
                self.decide(node.test, bound | self.rebound if _has_scopes(tree) else bound)

    def decide(self, test: Node, bound: set[str]) -> bool | None:
        """Note the outcome of a test, if the types of the arguments decide it."""
        taken = outcome(self.expression(test, self.params - bound), self.types, self.classes)
        if taken is not None:
            self.found[id(test)] = taken
        return taken

    def expression(self, node: Node, names: set[str]) -> Expr:
        """A test in terms of the parameters, as `outcome` takes it."""
        if isinstance(node, gast.Name):
            return Var(node.id) if node.id in names else _UNKNOWN
        if isinstance(node, gast.Constant):
            return Const(node.value)
        if isinstance(node, (gast.Tuple, gast.List, gast.Set)):
            kind = type(node).__name__.lower()
            return Build(kind, tuple([self.expression(item, names) for item in node.elts]))  # type: ignore[arg-type]
        if isinstance(node, gast.BoolOp):
            name = "and" if isinstance(node.op, gast.And) else "or"
            return Call(Op("bool", name), tuple([self.expression(value, names) for value in node.values]))
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return Call(Op("bool", "not"), (self.expression(node.operand, names),))
        if isinstance(node, gast.Compare) and len(node.ops) == 1:
            operands = self.expression(node.left, names), self.expression(node.comparators[0], names)
            return Call(Op("compare", _COMPARED[type(node.ops[0])]), operands)
        if self.has_isinstance and _is_isinstance(node):
            classes = node.args[1]
            parts = classes.elts if isinstance(classes, gast.Tuple) else [classes]
            found = [Global(gast.unparse(part).strip()) for part in parts]
            of: Expr = found[0] if len(found) == 1 else Build("tuple", tuple(found))
            return Call(Op("function", "isinstance", isinstance), (self.expression(node.args[0], names), of))
        if self.has_callable and isinstance(node, gast.Call) and getattr(node.func, "id", "") == "callable":
            return Call(Op("function", "callable", callable), tuple([self.expression(a, names) for a in node.args]))
        return _UNKNOWN


def _bound(trees: list[Node]) -> Iterator[str]:
    """The names that some parts of a function bind, those of inner functions and comprehensions among them."""
    for node in (node for tree in trees for node in nodes_of(tree)):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            yield node.id
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            yield from node.names
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            yield node.name
        elif isinstance(node, gast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name is not None:
            yield node.name
        elif isinstance(node, gast.MatchMapping) and node.rest is not None:
            yield node.rest


def _has_scopes(tree: Node) -> bool:
    """Whether a tree has functions or comprehensions, whose names are their own."""
    return any(isinstance(node, _SCOPES) for node in nodes_of(tree))


def _is_walrus(node: Node) -> bool:
    return isinstance(node, gast.NamedExpr)


def _is_isinstance(node: Node) -> bool:
    """Whether a node asks for the class of something by names of classes."""
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "isinstance"):
        return False
    if len(node.args) != 2 or node.keywords:
        return False
    classes = node.args[1]
    parts = classes.elts if isinstance(classes, gast.Tuple) else [classes]
    return bool(parts) and all(isinstance(part, (gast.Name, gast.Attribute)) for part in parts)


def without_untaken(source: Source, decided: tuple[tuple[int, bool], ...]) -> types.FunctionType | None:
    """A function without the branches that `decisions` rule out; None where a name would change its meaning."""
    node = copy.deepcopy(source.node)
    tests = _tests(node)
    made = _Taker({id(tests[number]): taken for number, taken in decided}).visit(node)
    original = source.function
    whole = gast.gast_to_ast(made)
    whole.decorator_list = []
    function = function_of(ast.fix_missing_locations(whole), original, {})
    code = original.__code__
    # A local name that is bound in such a branch alone would be read from the module.
    if not _globals_read(function.__code__).isdisjoint((*code.co_varnames, *code.co_cellvars, *code.co_freevars)):
        return None
    function.__dict__[MADE] = replace(source, function=function, node=made)
    return function


class _Taker(gast.NodeTransformer):  # type: ignore[misc]
    """Puts the branch that is taken in place of an ``if`` or conditional expression.

    ``taken`` has the outcomes of tests, by node.
    """

    def __init__(self, taken: Mapping[int, bool]) -> None:
        self.taken = taken

    def visit_If(self, node: Node) -> Any:
        taken = self.taken.get(id(node.test))
        if taken is None:
            return self.generic_visit(node)
        return self.block(node.body if taken else node.orelse)

    def visit_IfExp(self, node: Node) -> Any:
        taken = self.taken.get(id(node.test))
        return self.generic_visit(node) if taken is None else self.visit(node.body if taken else node.orelse)

    def generic_visit(self, node: Node) -> Node:
        for name, value in gast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], gast.stmt):
                # An ``else`` alone may be left out, where it holds no statement.
                block = self.block(value)
                setattr(node, name, block or ([] if name == "orelse" else [gast.copy_location(gast.Pass(), value[0])]))
            elif isinstance(value, list):
                setattr(node, name, [self.visit(v) if isinstance(v, gast.AST) else v for v in value])
            elif isinstance(value, gast.AST):
                setattr(node, name, self.visit(value))
        return node

    def block(self, statements: list[Node]) -> list[Node]:
        """The statements that may run: none behind one that leaves the block."""
        out: list[Node] = []
        for statement in statements:
            made = self.visit(statement)
            out += made if isinstance(made, list) else [made]
            if isinstance(made, list) and out and isinstance(out[-1], _ENDS):
                break
        return out


def _globals_read(code: types.CodeType) -> set[str]:
    """The global names that a function reads, and those inside it."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(_globals_read(c) for c in code.co_consts if isinstance(c, types.CodeType)))
