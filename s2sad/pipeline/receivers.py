"""Check at run time that objects of unknown class have the methods and operators of built-in ones.

    y = CONFIG.scale * x          t = plain(CONFIG.scale, "*")
                                  y = t * x
    n = model.names.index("a")    n = plain(model.names).index("a")
    model.table[0] = 1.0          t = plain(model.table, "__setitem__")
                                  t[0] = 1.0

Attributes such as ``shape`` are taken for no more than attributes then.  Where the facts say what class an object is
of, nothing is checked.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from s2sad import ops
from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import (
    PLAIN_NAME,
    Assign,
    Block,
    Build,
    Call,
    Const,
    Effect,
    Evaluate,
    Expr,
    Function,
    Op,
    Opaque,
    Receiver,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import map_children, map_stmt, names_in, place_of, walk, writes
from s2sad.ops.binding import given
from s2sad.pipeline.met import is_met, reached
from s2sad.pipeline.subclasses import Subclasses
from s2sad.runtime import plain
from s2sad.runtime.classes import module_of
from s2sad.runtime.contractions import SPARSE_PRODUCTS
from s2sad.runtime.items import require_same_numbers
from s2sad.runtime.objects import viewed

PLAIN = Op("runtime", "plain", plain, pure=False)
_SAME_NUMBERS = Op("runtime", "require_same_numbers", require_same_numbers, pure=False)
_STORING, _READING = Const("__setitem__"), Const("__getitem__")
_Node = TypeVar("_Node", bound=ast.AST)
_CHECKED = ("operator", "inplace", "method")


def with_checks(function: Function, facts: Facts, roots: Iterable[str]) -> Function:
    """``function`` with the checks that it needs; ``roots`` are the names of the active parameters.

    What is computed from these is of built-in classes, since that is what rules make.
    """
    return replace(function, body=_Checks(function, facts, roots).block(function.body))


def is_of_library(op: Op) -> bool:
    """Whether an operation is a method of a constant object of SciPy's, of which the class is known by a guard."""
    return op.kind == "method" and module_of(op.function).startswith("scipy.")


class _Checks:
    def __init__(self, function: Function, facts: Facts, roots: Iterable[str]) -> None:
        self.facts = facts
        self.varied = reached(function, roots)
        self.subclasses = Subclasses(function, facts, self.varied)
        names = [n for s in walk(function.body) for n in writes(s) if n.startswith("~t.")]
        self.last = max((int(n.partition(".")[2]) for n in names), default=0)
        assigned = (s.target for s in walk(function.body) if isinstance(s, Assign))
        self.temporaries = frozenset(n for n in assigned if n.startswith("~"))
        #: The temporaries that are checked where they are made.
        self.made: set[str] = set()
        #: Those of which no more is checked there than that stores are those of built-in classes.
        self.stored: set[str] = set()
        #: Those that are operands beside one that varies, and whether of ``*`` and the like or of ``@`` and methods.
        self.operands: dict[str, Const] = {}
        #: The names that are checked on every way to the statement at hand; behind an operator, as such operands.
        self.known: set[str] = set()
        #: What has to be checked before the statement at hand, since derivatives pass through it there.
        self.before: list[Expr] = []

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        known, before = set(self.known), self.before
        self.before = []
        for stmt in block:
            if isinstance(stmt, Effect):
                out.append(self.effect(stmt))
                continue
            if isinstance(stmt, Store) and stmt.call is None:
                self.store(stmt, out)
            checked = map_stmt(stmt, self.expression, self.block)
            out += [Evaluate(check, stmt.origin) for check in self.before]
            self.before.clear()
            if isinstance(checked, (Assign, Evaluate, Unpack)) and checked is not stmt:
                checked = self.flat(checked, out)
            out.append(checked)
        self.known, self.before = known, before
        made = [self.at_once(s) for s in out]
        return tuple(made)

    def store(self, stmt: Store, out: list[Stmt]) -> None:
        """Check the object that a store is into, before it or where it is made."""
        base = stmt.base
        if not isinstance(base, Var) or base.name in self.known | self.made | self.stored or not self.is_unknown(base):
            return
        if base.name in self.temporaries:
            self.stored.add(base.name)
        else:
            out.append(Evaluate(Call(PLAIN, (base, _STORING)), stmt.origin))

    def at_once(self, stmt: Stmt) -> Stmt:
        """A temporary that is to be checked, checked where it is made."""
        if isinstance(stmt, Assign) and stmt.target in self.made | self.stored:
            operand = self.operands.pop(stmt.target, None)
            more = () if stmt.target in self.made else (_STORING,)
            if operand is not None:
                more = (operand,)
            self.made.discard(stmt.target)
            self.stored.discard(stmt.target)
            if is_met(stmt.value):
                # The class of such a result is checked when the call has run.
                return stmt
            return replace(stmt, value=Call(PLAIN, (stmt.value, *more)))
        return stmt

    def flat(self, stmt: Assign | Evaluate | Unpack, out: list[Stmt]) -> Stmt:
        """The checks among the operands of an operation through which a derivative may pass as statements before it."""
        call = stmt.value
        if not isinstance(call, Call) or self.varied.isdisjoint(names_in(call)):
            return stmt

        def named(operand: Expr) -> Expr:
            if not (isinstance(operand, Call) and operand.op is PLAIN):
                return operand
            self.last += 1
            out.append(Assign(f"~t.{self.last}", operand, stmt.origin))
            return Var(f"~t.{self.last}")

        return replace(stmt, value=map_children(call, named))

    def expression(self, expr: Expr) -> Expr:
        if isinstance(expr, Opaque):
            return self.opaque(expr)
        if not isinstance(expr, Call) or expr.op is PLAIN:
            return map_children(expr, self.expression)
        made = self.children(expr)
        kind = expr.op.kind
        if kind == "attribute" and self.is_unknown(expr.args[0]):
            return replace(made, op=Op("field", expr.op.name))
        if kind == "index" and self.may_make(*expr.args):
            self.before.append(Call(PLAIN, (expr.args[0], _READING)))
        if kind == "user" and not self.varied.isdisjoint(names_in(expr)):
            # Of an array that it is given, or of what varies, a callee does not ask what else it may be.
            for operand in (*expr.args, *(value for _, value in expr.kwargs)):
                if isinstance(operand, Var) and self.subclasses.may_be(operand):
                    if self.facts.get(operand).numeric or operand.name in self.varied:
                        self.before.append(Call(PLAIN, (operand, Const("@"))))
        if kind not in _CHECKED or is_of_library(expr.op):
            return made
        if expr.op.function is viewed and expr.args[1:] and not self.varied.isdisjoint(names_in(expr)):
            self.before.append(Call(_SAME_NUMBERS, expr.args))
        if kind != "method" and any(map(self.may_be_none, expr.args)):
            # What raises, of None, is evaluated whoever needs the result.
            made = replace(made, op=replace(expr.op, pure=False))
        count = 1 if kind == "method" else len(expr.args)
        beside = None
        if not self.varied.isdisjoint(names_in(expr)):
            beside = Const("@" if kind == "method" or expr.op.name == "@" else "*")
        args = [self.checked(a, beside) if i < count else a for i, a in enumerate(made.args)]
        if kind == "inplace" and isinstance(args[0], Call) and args[0].op is PLAIN and isinstance(made.args[0], Var):
            # What is written has a name, by which others know it.
            self.before.append(args[0])
            args[0] = made.args[0]
        same = all(a is b for a, b in zip(args, made.args, strict=True))
        return made if same else replace(made, args=tuple(args))

    def children(self, expr: Call) -> Call:
        """An expression with checks inside of its operands, and of those that a rule makes its result from.

        These are checked where another one varies: NumPy's functions leave them to what their class makes of them.
        """
        rule = ops.find(expr.op.function) if expr.op.kind in ("function", "method") else None
        wanted: set[int] = set()
        if rule is not None and not self.varied.isdisjoint(names_in(expr)):
            operands = [operand for name, operand in given(expr).items() if name in rule.wrt]
            wanted = {id(part) for o in operands for part in (o, *(o.items if isinstance(o, Build) else ()))}
        # SciPy's functions, and the rules of these, take sparse matrices.
        sparse = rule is not None and (
            module_of(rule.function).startswith(("scipy.", "s2sad.runtime.scipy.")) or rule.function in SPARSE_PRODUCTS
        )
        beside = Const("@" if sparse else "*")

        def operand(old: Expr) -> Expr:
            if isinstance(old, Build):
                return map_children(old, operand)
            new = self.expression(old)
            return self.checked(new, beside) if id(old) in wanted else new

        made = map_children(expr, operand)
        assert isinstance(made, Call)
        return made

    def may_make(self, whole: Expr, index: Expr) -> bool:
        """Whether what is subscripted may make something of an index that varies, as ``np.r_[x, y]`` does."""
        fact = self.facts.get(whole)
        is_maker = fact.kind == "open" or (fact.kind == "other" and not fact.text)
        return is_maker and self.varied.isdisjoint(names_in(whole)) and not self.varied.isdisjoint(names_in(index))

    def is_unknown(self, operand: Expr) -> bool:
        """Whether nothing is known of an object, which is no result of a rule either."""
        return self.facts.get(operand).kind == "open" and self.varied.isdisjoint(names_in(operand))

    def may_be_none(self, operand: Expr) -> bool:
        """Whether an operand is None or a number or array, as far as is known."""
        fact = self.facts.get(operand)
        return fact.kind == "none" or fact.given is not None

    def checked(self, operand: Expr, beside: Const | None) -> Expr:
        if not (self.is_unknown(operand) or (beside is not None and self.subclasses.may_be(operand))):
            return operand
        if isinstance(operand, Var):
            how = operand.name if beside is None else f"{beside.value}{operand.name}"
            if how in self.known:
                return operand
            self.known |= {how, operand.name}
            if beside is not None and operand.name in self.varied:
                self.before.append(Call(PLAIN, (operand, beside)))
                return operand
            if operand.name in self.temporaries:
                self.made.add(operand.name)
                if beside is not None and self.operands.get(operand.name) != Const("*"):
                    self.operands[operand.name] = beside
                return operand
        if isinstance(operand, Call) and operand.op is PLAIN:
            return operand
        if not self.varied.isdisjoint(names_in(operand)):
            assert beside is not None
            self.before.append(Call(PLAIN, (operand, beside)))
            return operand
        return Call(PLAIN, (operand,) if beside is None else (operand, beside))

    def opaque(self, expr: Opaque) -> Opaque:
        node, found = self.receivers(expr.node, dict(expr.names), expr.receivers)
        return replace(expr, node=node, receivers=(), checks=expr.checks or found) if expr.receivers else expr

    def effect(self, stmt: Effect) -> Effect:
        node, found = self.receivers(stmt.node, dict(stmt.names), stmt.receivers)
        return replace(stmt, node=node, receivers=(), checks=stmt.checks or found) if stmt.receivers else stmt

    def receivers(self, node: _Node, names: dict[str, str], places: tuple[Receiver, ...]) -> tuple[_Node, bool]:
        """The user's text with checks of the receivers of methods at some places, and whether there are any."""
        unknown = set()
        for place, name in places:
            if name not in names or self.facts.of[names[name]].kind == "open":
                unknown.add(place)
        if not unknown:
            return node, False
        node = copy.deepcopy(node)
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and place_of(part.value) in unknown:
                called = ast.Call(ast.Name(PLAIN_NAME, ast.Load()), [part.value], [])
                part.value = ast.copy_location(called, part.value)
        return node, True
