"""What runs of a ``try`` of which the types say whether what it does raises.

    try:                                  # u is a number
        u[abs(u) < 1e-3] = 0.0
    except TypeError:             ->      if abs(u) < 1e-3:
        if abs(u) < 1e-3:                     u = 0.0
            u = 0.0

A number raises a TypeError where an item of it is set, an array does not.  So does ``len(u)``, of a number.  ``u[i]``
with a truth value raises one of Python's numbers, and is an array of one of NumPy's: where an item is set next, both
end in the handler.  Numbers and arrays raise an AttributeError where something is asked for, or set, that they have
not: ``u.fillna(0)``, ``u.name = "power"``.  That a name is missing, no operation says:

    try:                                  # which is there
        x = asarray(x)            ->      x = asarray(x)
    except NameError:
        pass
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from s2sad.analysis.infer import Facts
from s2sad.errors import S2SADError
from s2sad.ir.nodes import (
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Effect,
    Enter,
    Exit,
    Expr,
    Global,
    If,
    Op,
    Slice,
    Stmt,
    Store,
    Var,
)
from s2sad.ir.traverse import subexpressions, walk
from s2sad.ir.types import Fact
from s2sad.optimise.computing import (
    MISSING,
    NOT_RAISED,
    Computes,
    is_number,
    is_plain,
    only_computes,
    only_operates,
)
from s2sad.optimise.outcomes import Classes, has_attribute

#: Functions that raise nothing of real numbers and arrays of them, and those that give truth values.
_ASKING = frozenset({np.isnan, np.isinf, np.isfinite, np.signbit})
_TOTAL = frozenset({abs, np.abs, np.fabs, np.sign})
_COMPARED = ("==", "!=", "<", "<=", ">", ">=")
#: Operators that raise no TypeError of real numbers and arrays of them.
_ARITHMETIC = frozenset({"+", "-", "*", "/"})


def decided_attempt(
    stmt: If, facts: Facts, classes: Classes, values: Mapping[str, Expr], computes: Computes
) -> Block | None:
    """What runs of an attempt; None where the types do not say whether it raises, or it does more than this.

    Args:
        stmt: The branch whose test is the attempt.
        facts: The types of all names.
        classes: The classes that a global name stands for.
        values: What names are assigned, outside of the attempt as well.
        computes: Whether a function of the user's does no more in a call than to compute numbers.
    """
    caught = [_caught(c, classes) for c in stmt.test.args if not _is_own(c)]  # type: ignore[union-attr]
    if all(caught):
        ends = next((at for at, s in enumerate(stmt.then) if isinstance(s, Exit)), 0)
        body, after = stmt.then[1:ends], stmt.then[ends + 1 :]
        plain = isinstance(stmt.then[0], Enter) and stmt.then[0].manager is None
        known = {c for found in caught for c in found or ()}
        # What handlers alone give a value would have none.
        if plain and _joined(stmt.orelse) <= _joined(after):
            if all(issubclass(c, NOT_RAISED) for c in known) and only_computes(body, facts, computes):
                return (*body, *after)
            if all(issubclass(c, MISSING) for c in known) and only_operates(body, facts):
                return (*body, *after)
    may = {error for s in stmt.then if (error := _may_raise(s)) is not None}
    if len(may) != 1:
        return None
    (error,) = may
    which = next((i for i, found in enumerate(caught) if found is None or issubclass(error, found)), None)
    if which is None or any(found is None for found in caught[: which + 1]):
        return None
    narrow = all(found == (error,) for found in caught)
    raising = _Raising(facts, narrow, values)
    before: list[Stmt] = []
    for at, s in enumerate(stmt.then):
        match s:
            case Enter(manager=None) if at == 0:
                continue
            case Exit(attempt=True) if not raising.doubtful:
                return (*before, *stmt.then[at + 1 :]) if narrow else None
            case Assign() | Effect() if raising.surely_raises(s):
                handler = _handler(stmt.orelse, which)
                return None if handler is None else (*before, *handler)
            case Assign(target=target, value=value) if raising.is_safe(value):
                if raising.is_doubtful(value):
                    if not target.startswith("~"):
                        return None
                    raising.doubtful |= {target}
                    continue
                raising.masks |= {target} if raising.is_mask(value) else set()
            case Copy(sources=sources) if all(map(raising.is_safe, sources)):
                pass
            case Store(op=None, call=None) if raising.is_safe(s.value):
                base = facts.get(s.base)
                if is_number(base) and raising.is_index(s.index):
                    handler = _handler(stmt.orelse, which)
                    return None if handler is None else (*before, *handler)
                if not (narrow and not raising.doubtful and _is_array(base) and raising.is_index(s.index, True)):
                    return None
            case _:
                return None
        before.append(s)
    return None


def _measured(s: Stmt) -> Expr | None:
    """That of which a statement asks the length."""
    if isinstance(s, Assign) and isinstance(s.value, Call) and s.value.op.function is len and len(s.value.args) == 1:
        return s.value.args[0]
    return None


def _asked(s: Stmt) -> tuple[Expr, str] | None:
    """Of what a statement asks for a method or other attribute before it does anything else, and the name."""
    match s:
        case Assign(value=Call(op=Op(kind="attribute", name=name), args=(of,))):
            return of, name
        case Effect(node=ast.Expr(value=ast.Attribute(value=ast.Name(id=variable), attr=name))):
            pass
        case Effect(node=ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=variable), attr=name)))):
            pass
        case _:
            return None
    found = dict(s.names).get(variable)
    return None if found is None else (Var(found), name)


def _set(s: Stmt) -> tuple[Expr, str] | None:
    """Of what a statement sets an attribute to a literal, and the name."""
    match s:
        case Assign(value=Call(op=Op(kind="change", name=name), args=(of, Const()))) if name.startswith("."):
            return of, name[1:]
    return None


def _may_raise(s: Stmt) -> type[Exception] | None:
    """The class of exceptions that numbers or arrays may raise in a statement for what they are."""
    if isinstance(s, Store) or _measured(s) is not None:
        return TypeError
    return AttributeError if _asked(s) is not None or _set(s) is not None else None


def may_catch(attempt: If, error: type[Exception], classes: Classes) -> bool:
    """Whether an exception that is raised in an attempt may be caught by a handler of its."""
    caught = [_caught(c, classes) for c in attempt.test.args if not _is_own(c)]  # type: ignore[union-attr]
    return any(found is None or issubclass(error, found) for found in caught)


def _is_own(cls: Expr) -> bool:
    return isinstance(cls, Call) and cls.op.function is S2SADError


def _caught(cls: Expr, classes: Classes) -> tuple[type, ...] | None:
    """The classes of exceptions that a handler catches; None where they are not known."""
    if cls == Const(None):
        return (BaseException,)
    parts = cls.items if isinstance(cls, Build) and cls.kind == "tuple" else (cls,)
    found = [classes(part.text) if isinstance(part, Global) else () for part in parts]
    return tuple([c for group in found for c in group]) if all(found) else None


def _handler(block: Block, which: int) -> Block | None:
    """What the handler does that has a number; None where it asks for the exception, or raises it again."""
    out: list[Stmt] = []
    for s in block:
        if isinstance(s, If) and isinstance(s.test, Call) and s.test.op.kind == "caught":
            inner = _handler(s.then if s.test.args == (Const(which),) else s.orelse, which)
            if inner is None:
                return None
            out += inner
        else:
            out.append(s)
    return None if any(map(_asks, walk(tuple(out)))) else tuple(out)


def _joined(block: Block) -> set[str]:
    """The names that have a value after a branch."""
    return {target for s in block if isinstance(s, Copy) for target in s.targets}


def _asks(s: Stmt) -> bool:
    if isinstance(s, Effect):
        return getattr(s.node, "exc", s.node) is None
    return isinstance(s, Assign) and isinstance(s.value, Call) and s.value.op.kind == "exception"


def _is_array(fact: Fact) -> bool:
    """Whether a value surely is an array of numbers."""
    return fact.kind == "array" and is_plain(fact)


def _has_length(fact: Fact) -> bool:
    """Whether a value surely has a length: it is no array without axes."""
    if fact.owners or fact.boxed:
        return False
    return fact.kind in ("list", "tuple", "dict") or (fact.kind == "array" and fact.ndim not in (None, 0))


class _Raising:
    """Which expressions surely are real and raise nothing, or where handlers are ``narrow``, no TypeError."""

    def __init__(self, facts: Facts, narrow: bool, values: Mapping[str, Expr]) -> None:
        self.facts, self.narrow, self.values = facts, narrow, values
        #: The names of truth values, and arrays of them.
        self.masks: set[str] = set()
        #: The names of what may raise a TypeError, and is real.
        self.doubtful: set[str] = set()

    def surely_raises(self, s: Stmt) -> bool:
        """Whether a statement raises, since what it asks a number or array for is not to be had of it."""
        if (measured := _measured(s)) is not None:
            return is_number(self.facts.get(measured))
        if (asked := _asked(s)) is not None:
            fact = self.facts.get(asked[0])
            return (is_number(fact) or _is_array(fact)) and has_attribute(fact, asked[1]) is False
        if (found := _set(s)) is None:
            return False
        fact = self.facts.get(found[0])
        # An array that has been made by an operator is of NumPy's own class, of which the objects have no others.
        made = self.values.get(found[0].name) if isinstance(found[0], Var) else None
        is_new = isinstance(made, Call) and (made.op.kind == "operator" or isinstance(made.op.function, np.ufunc))
        return (is_number(fact) or (_is_array(fact) and is_new)) and has_attribute(fact, found[1]) is False

    def is_doubtful(self, expr: Expr) -> bool:
        """Whether an expression that is safe otherwise may raise a TypeError."""
        return any(
            (isinstance(e, Var) and e.name in self.doubtful) or self._is_part_of_number(e) for e in subexpressions(expr)
        )

    def _is_part_of_number(self, expr: Expr) -> bool:
        return isinstance(expr, Call) and expr.op.kind == "index" and is_number(self.facts.get(expr.args[0]))

    def is_safe(self, expr: Expr) -> bool:
        if isinstance(expr, (Const, Global, Var)):
            return self.is_real(expr) or self.is_mask(expr)
        if not isinstance(expr, Call) or expr.kwargs:
            return False
        if expr.op.function is len:
            return len(expr.args) == 1 and _has_length(self.facts.get(expr.args[0]))
        if expr.op.kind == "index":
            base, index = expr.args
            if self._is_part_of_number(expr):
                return self.narrow and self.is_real(base) and self.is_mask(index)
            return self.narrow and _is_array(self.facts.get(base)) and self.is_real(base) and self.is_index(index, True)
        if not all(map(self.is_safe, expr.args)):
            return False
        if self.is_mask(expr):
            return True
        if expr.op.kind == "operator" and len(expr.args) == 2:
            return self.narrow and expr.op.name in _ARITHMETIC and all(map(self.is_real, expr.args))
        return expr.op.kind == "function" and expr.op.function in _TOTAL and len(expr.args) == 1

    def is_real(self, expr: Expr) -> bool:
        """Whether an expression is a real number, or an array of real numbers."""
        if isinstance(expr, Const):
            return type(expr.value) in (int, float)
        if isinstance(expr, Var) and expr.name in self.doubtful:
            return True
        if self.is_doubtful(expr):
            # Its type is not known, those of its operands are.
            return all(map(self.is_real, expr.args[:1] if self._is_part_of_number(expr) else expr.args))  # type: ignore[union-attr]
        fact = self.facts.get(expr)
        return fact.numeric and fact.real and is_plain(fact)

    def is_mask(self, expr: Expr) -> bool:
        """Whether an expression whose operands are safe is a truth value, or an array of them."""
        if isinstance(expr, Var):
            value = self.values.get(expr.name)
            return expr.name in self.masks or (value is not None and self.is_mask(value))
        if not isinstance(expr, Call) or expr.kwargs:
            return False
        match expr.op.kind, len(expr.args):
            case "compare", 2:
                return expr.op.name in _COMPARED and all(map(self.is_real, expr.args))
            case "function", 1:
                return expr.op.function in _ASKING and self.is_real(expr.args[0])
            case "operator", _:
                return expr.op.name in ("&", "|", "~") and all(map(self.is_mask, expr.args))
        return False

    def is_index(self, expr: Expr, used: bool = False) -> bool:
        """Whether an index raises nothing of that sort, where it is evaluated or of an array is ``used``."""
        match expr:
            case Const(value=value):
                return value is None or value is ... or type(value) is int
            case Slice(lower=lower, upper=upper, step=step):
                parts = [p for p in (lower, upper, step) if p is not None and p != Const(None)]
                whole = [isinstance(p, Const) and type(p.value) is int for p in parts]
                return all(whole) if used else all(map(self.is_safe, parts))
            case Build(kind="tuple", items=items):
                return all(self.is_index(item, used) for item in items)
        return self.is_safe(expr)
