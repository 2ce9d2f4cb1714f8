"""Lower expressions: what may carry a derivative to named operations, the rest as it stands.

Normal form of an expression that may carry a derivative (written ``x``, ``y``):

* ``x + y``, ``x.sum(axis=0)``, ``x.T``, ``np.sum(x)``, ``x[i]`` become ``t = op(atoms)``;
* ``x and y``, ``a if c else b`` become an ``if`` that moves into a join name;
* displays ``(x, y)``, ``[x, y]``, ``{"k": x}`` become :class:`~s2sad.ir.nodes.Build`.

An expression that cannot carry one stays whole, calls and all; only its local names are renamed.
"""

from __future__ import annotations

import copy
import itertools
import operator
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import gast
import numpy as np

from s2sad import ops
from s2sad.errors import Violation
from s2sad.frontend import operators, unfollowed
from s2sad.frontend.called import ONE_BY_ONE, dtype_obstacle, is_followed, misfit, sparse_product, with_letters
from s2sad.frontend.dependence import free_names
from s2sad.frontend.given import is_built_in, is_numpy, method_op
from s2sad.frontend.holding import UNKNOWN
from s2sad.frontend.indexed import indexed_call, place_of
from s2sad.frontend.opaque import as_it_stands, is_plain, replacing_members, special_writes, user_operation
from s2sad.frontend.outs import is_writing, writing_calls
from s2sad.frontend.resolve import Member, Resolver
from s2sad.frontend.sketches import sketched
from s2sad.frontend.special import replaced_by_members, special_members
from s2sad.frontend.trees import is_starred, nodes_of, one_shape, spread_in
from s2sad.frontend.unroll import unrolled
from s2sad.frontend.writing import is_read, keeping_calls, runs, runs_writing, touched, written_in
from s2sad.ir import signs
from s2sad.ir.nodes import (
    Assign,
    Build,
    Call,
    Const,
    Expr,
    Global,
    Op,
    Opaque,
    Origin,
    Refusal,
    Slice,
    Stmt,
    Var,
)
from s2sad.ir.traverse import is_atom, is_cheap
from s2sad.ops.binding import positional
from s2sad.runtime import stop_gradient
from s2sad.runtime.classes import BUILT_IN_NAMES

Node = Any
_BITWISE = (gast.BitOr, gast.BitAnd, gast.BitXor, gast.LShift, gast.RShift)
_TEXT = "Compute with the numbers themselves, or wrap them in stop_gradient(...)."


class Expressions:
    """The part of the lowering that turns expressions into IR."""

    violations: list[Violation]

    def __init__(self, resolver: Resolver, depends: Callable[[Node], bool]) -> None:
        self.resolver = resolver
        self.depends = depends
        self.env: dict[str, str] = {}
        self.block: list[Stmt] = []
        self.origin = Origin(0, "")
        self.counters: dict[str, int] = {}
        self.callees: dict[int, types.FunctionType] = {}
        self.refusals: list[Refusal] = []
        #: Around how many calls of ``stop_gradient`` the expression at hand is.
        self.stopping = 0
        self.unsure = False
        self.texts: set[str] = set()

    def violation(self, node: Node, message: str, remedy: str) -> None:
        """Note a construct that is not accepted, whatever passes through it."""
        raise NotImplementedError

    def write(self, node: Node, hint: str = "~t", is_used: bool = False) -> Expr | None:
        """Lower a call that writes into an array that may carry a derivative; None for any other expression."""
        raise NotImplementedError

    def met_call(self, node: Node, hint: str) -> Expr | None:
        """A call of a constant object that has a rule, or of what is known at run time only; None for any other."""
        raise NotImplementedError

    def has_effect(self, node: Node) -> bool:
        """Whether evaluating ``node`` may assign a variable or write into what carries a derivative."""
        raise NotImplementedError

    def decides(self, node: Node) -> bool:
        """Whether a part of ``node`` has an effect under a condition, or all of it is an assignment."""
        raise NotImplementedError

    def ordered(self, node: Node) -> Expr:
        """An expression that carries no derivative; what has an effect in it is evaluated before."""
        raise NotImplementedError

    def index_of(self, index: Node) -> Expr:
        """What stands between the brackets of a subscript, evaluated once and now."""
        raise NotImplementedError

    def test(self, node: Node) -> Expr:
        """The condition of a branch or loop."""
        raise NotImplementedError

    def choose(self, test: Expr, then: Callable[[], Expr], orelse: Callable[[], Expr], hint: str) -> Expr:
        """The one value if ``test`` holds, else the other."""
        raise NotImplementedError

    # --- names and statements

    def fresh(self, base: str) -> str:
        """A new IR name, a version of ``base``."""
        number = self.counters.get(base, 0) + 1
        self.counters[base] = number
        return f"{base}.{number}"

    def emit(self, stmt: Stmt) -> None:
        self.block.append(stmt)

    def assign(self, base: str, value: Expr) -> Var:
        """``base = value`` as a new version."""
        target = self.fresh(base)
        if isinstance(value, Const) and isinstance(value.value, (str, bytes)):
            self.texts.add(target)
        self.emit(Assign(target, value, self.origin))
        return Var(target)

    def atom(self, expr: Expr) -> Expr:
        """``expr`` itself where it costs nothing to read again, else a temporary that holds it."""
        if is_atom(expr) and not isinstance(expr, Global):
            return expr
        return self.assign("~t", expr)

    def refused(self, node: Node, message: str, remedy: str) -> Expr:
        """``node`` as it stands; the refusal is raised if a derivative would have to pass through it."""
        return self.assign("~t", self.refused_whole(node, message, remedy))

    def refused_whole(self, node: Node, message: str, remedy: str) -> Expr:
        """As :meth:`refused`, without a statement of its own."""
        refusal = Refusal(node, message, remedy)
        self.refusals.append(refusal)
        opaque = self.opaque(node, refusal)
        return replace(opaque, refusal=refusal, variables=tuple([v for v in opaque.variables if v != UNKNOWN]))

    # --- expressions that carry no derivative

    def constant(self, node: Node) -> Expr:
        """The expression as one nested value, without statements of its own."""
        if not isinstance(node, gast.Call) and self.is_of_users(node):
            return self.opaque(node)
        match node:
            case gast.Constant():
                return Const(node.value)
            case gast.JoinedStr() if self.depends(node):
                return self.refused_whole(node, "no derivative can pass through text", _TEXT)
            case gast.Name():
                return self.name(node)
            case gast.Attribute():
                found, _ = self.resolver.lookup(node)
                if found:
                    return Global(gast.unparse(node).strip())
                if not isinstance(node.value, (gast.Lambda, gast.Await, gast.Yield, gast.YieldFrom)):
                    function = ops.function_of("attribute", node.attr)
                    return Call(Op("attribute", node.attr, function), (self.constant(node.value),), (), node)
            case gast.BinOp():
                symbol, function = operators.BINARY[type(node.op).__name__]
                op = Op("operator", symbol, function)
                return Call(op, (self.constant(node.left), self.constant(node.right)), (), node)
            case gast.UnaryOp():
                if isinstance(node.op, gast.Not):
                    return Call(Op("bool", "not"), (self.constant(node.operand),), (), node)
                return operators.unary(node, self.constant(node.operand))
            case gast.Compare():
                symbols = " ".join(signs.COMPARE[type(op).__name__] for op in node.ops)
                operands = [self.constant(e) for e in (node.left, *node.comparators)]
                return Call(Op("compare", symbols), tuple(operands), (), node)
            case gast.BoolOp():
                name = "and" if isinstance(node.op, gast.And) else "or"
                return Call(Op("bool", name), tuple(self.constant(v) for v in node.values), (), node)
            case gast.IfExp():
                parts = (self.constant(node.test), self.constant(node.body), self.constant(node.orelse))
                return Call(Op("ifexp", "if"), parts, (), node)
            case gast.Subscript():
                return Call(Op("index", "[]"), (self.constant(node.value), self.index(node.slice)), (), node)
            case gast.Tuple() | gast.List() if not any(isinstance(e, gast.Starred) for e in node.elts):
                kind = "tuple" if isinstance(node, gast.Tuple) else "list"
                return Build(kind, tuple(self.constant(e) for e in node.elts))  # type: ignore[arg-type]
            case gast.Dict() if all(k is not None for k in node.keys):
                pairs = zip(node.keys, node.values, strict=True)
                return Build("dict", tuple(self.constant(e) for pair in pairs for e in pair))
            case gast.Call():
                return self.constant_call(node)
        return self.opaque(node)

    def is_of_users(self, node: Node) -> bool:
        """Whether an operation may be one that a class of the user's defines."""
        named = isinstance(node, gast.Attribute) and node.attr in BUILT_IN_NAMES
        return (named and isinstance(self.resolver.lookup(node)[1], Member)) or bool(
            special_members(node, self.resolver.lookup)
        )

    def name(self, node: Node) -> Expr:
        if node.id in self.env:
            return Var(self.env[node.id])
        if node.id in self.resolver.local:
            # Read before any assignment: Python's own UnboundLocalError will say so.
            self.env[node.id] = f"{node.id}.0"
            return Var(self.env[node.id])
        if self.resolver.is_rebound(node.id):
            return self.whole(node)
        return Global(node.id)

    def index(self, node: Node) -> Expr:
        """What stands between the brackets of a subscript."""
        if isinstance(node, gast.Slice):
            return Slice(*(None if p is None else self.constant(p) for p in (node.lower, node.upper, node.step)))
        if isinstance(node, gast.Tuple) and not any(isinstance(e, gast.Starred) for e in node.elts):
            return Build("tuple", tuple(self.index(e) for e in node.elts))
        if isinstance(node, gast.Attribute):
            found, value = self.resolver.lookup(node)
            if found and value is np.newaxis:
                return Const(None)
        return self.constant(node)

    def constant_call(self, node: Node) -> Expr:
        plain = not is_starred(node) and not is_writing(node, self.resolver.lookup)
        if self.is_of_users(node):
            return self.opaque(node)
        found, function = self.resolver.lookup(node.func)
        if function is np.ndarray and operators.has_no_buffer(node):
            function = np.empty
        known = found and (ops.is_pure(function) or ops.is_check(function) or is_numpy(function))
        if plain and known and not runs_writing(node, self.resolver.lookup):
            pure = not (runs(node, self.resolver.lookup) or ops.is_ordered(function))
            op = Op("function", self.resolver.text(node.func), function, pure)
            self.stopping += function is stop_gradient
            args = tuple([self.constant(a) for a in node.args])
            kwargs = tuple([(k.arg, self.constant(k.value)) for k in node.keywords])
            self.stopping -= function is stop_gradient
            return positional(Call(op, args, kwargs, node))
        if plain and is_built_in(node.func, self.resolver.lookup):
            if (function := ops.function_of("method", node.func.attr)) is not None:
                args = tuple([self.constant(a) for a in (node.func.value, *node.args)])
                kwargs = tuple([(k.arg, self.constant(k.value)) for k in node.keywords])
                op = Op("method", node.func.attr, function, pure=not ops.is_ordered(function))
                return positional(Call(op, args, kwargs, node))
        whole = self.opaque(node, followed=True)
        if not is_read(node, self.resolver.lookup) or misfit(node, function) is not None:
            return whole

        def seen(part: Node) -> Expr:
            return self.constant(part) if is_plain(part, self.resolver.lookup) else self.whole(part)

        op = user_operation(node, function, self.resolver)
        kwargs = tuple([(k.arg, seen(k.value)) for k in node.keywords])
        return replace(whole, call=Call(op, tuple([seen(a) for a in node.args]), kwargs, node))

    def opaque(self, node: Node, refused: Refusal | None = None, ended: bool = False, followed: bool = False) -> Opaque:
        """``node`` as it stands, or a call that is ``followed``; if it is ``refused``, that is said of it."""
        if isinstance(node, gast.Call) and self.resolver.is_absent(node.func):
            return replace(self.whole(node), writes=(), kept=(), puts=(), alters=False)
        if any(isinstance(n, gast.NamedExpr) for n in nodes_of(node)):
            self.violation(node, "an assignment expression is not supported here", "Assign on a line of its own.")
        # What a function gets when it is called is not known where it is written down.
        later = {id(n) for f in nodes_of(node) if isinstance(f, gast.Lambda) for n in nodes_of(f)}
        for call in writing_calls(node, self.resolver.lookup):
            if id(call) in later or any(self.depends(n) for n in touched(call, self.resolver.lookup)):
                said = unfollowed.of_writer(call, self.resolver.lookup, self.depends, inside=call is not node)
                self.violation(call, *said)
        if not (self.stopping or refused or ended):
            for call in keeping_calls(node, self.resolver.lookup, self.depends, followed):
                what = f"{gast.unparse(call.func).strip()}(...) may write or keep what is differentiated"
                self.violation(call, what, "Return it instead, or pass stop_gradient(np.copy(...)).")
        for name in written_in(node, self.resolver.lookup, surely=True):
            if self.resolver.holds_arrays(name, node):
                said = unfollowed.of_array(node, name, self.resolver.lookup)
                self.violation(node, *((refused.message, refused.remedy) if refused else said))
        return self.whole(node)

    def check_special_members(self, node: Node) -> None:
        """Find what an operation, condition or loop runs of classes of the user's that may write."""
        for place, what in special_writes(node, self.resolver.lookup):
            self.violation(place, what, "Compute it before, and pass the result.")

    def whole(self, node: Node) -> Opaque:
        """``node`` as it stands, of which it is known that it may stay so."""
        read = {n: self.version(n) for n in free_names(node, frozenset()) if n in self.resolver.local}
        return replace(as_it_stands(node, read, self.resolver.lookup), sketch=sketched(self, node))

    def version(self, variable: str) -> str:
        """The IR name of a local variable here."""
        value = self.name(gast.Name(id=variable, ctx=gast.Load(), annotation=None, type_comment=None))
        assert isinstance(value, Var)
        return value.name

    # --- expressions that may carry a derivative

    def value(self, node: Node, hint: str = "~t") -> Expr:
        """The value of ``node``, named after ``hint``: an atom or a display of atoms if it may carry a derivative."""
        written = self.write(node, hint, is_used=True)
        if written is not None:
            return written if is_atom(written) or isinstance(written, Opaque) else self.assign(hint, written)
        node = unrolled(node, self.resolver.lookup) or node
        if not self.depends(node) and not self.decides(node):
            return self.ordered(node)
        members, unsure = replaced_by_members(node, self.resolver.lookup)
        self.unsure |= unsure
        for member in members.items():
            return self.refused(node, *unfollowed.of_member(*member))
        match node:
            case gast.Name():
                return self.name(node)
            case gast.JoinedStr() | gast.BinOp() if self.is_text(getattr(node, "left", node)):
                return self.refused(node, "no derivative can pass through text", _TEXT)
            case gast.BinOp() if isinstance(node.op, _BITWISE):
                what = f"the operator {operators.BINARY[type(node.op).__name__][0]} has no derivative"
                return self.refused(node, what, "Wrap what is an integer in stop_gradient(...).")
            case gast.Subscript() if not self.depends(node.value):
                made = indexed_call(node, self.resolver.lookup, self.operand, self.atom)
                return self.assign(hint, made) if isinstance(made, Call) else self.refused(node, *made)
            case gast.BinOp():
                symbol, function = operators.BINARY[type(node.op).__name__]
                left = self.operand(node.left)
                right = self.operand(node.right)
                return self.assign(hint, Call(Op("operator", symbol, function), (left, right), (), node))
            case gast.UnaryOp():
                negated = operators.unary(node, self.operand(node.operand))
                return negated if isinstance(negated, Const) else self.assign(hint, negated)
            case gast.BoolOp():
                return self.short_circuit(node, hint)
            case gast.IfExp():
                test = self.test(node.test)
                return self.choose(test, lambda: self.taken(node.body), lambda: self.taken(node.orelse), hint)
            case gast.Attribute():
                whole = self.value(node.value)  # what a function has as attributes is known by its name
                operand = whole if isinstance(whole, Global) else self.atom(whole)
                function = ops.function_of("attribute", node.attr)
                return self.assign(hint, Call(Op("attribute", node.attr, function), (operand,), (), node))
            case gast.Subscript():
                place = place_of(node, self.resolver.lookup, self.operand, self.index_of)
                return self.assign(hint, Call(Op("index", "[]"), place, (), node))
            case gast.Tuple() | gast.List() if not any(isinstance(e, gast.Starred) for e in node.elts):
                kind = "tuple" if isinstance(node, gast.Tuple) else "list"
                return Build(kind, tuple([self.element(e) for e in node.elts]))  # type: ignore[arg-type]
            case gast.Tuple() | gast.List():
                return self.spread(node, hint)
            case gast.Dict() if all(k is not None for k in node.keys):
                items: list[Expr] = []
                for key, item in zip(node.keys, node.values, strict=True):
                    items += [self.hoisted(self.constant(key)), self.element(item)]
                return Build("dict", tuple(items))
            case gast.Call():
                return self.call(node, hint)
            case gast.NamedExpr():
                name = node.target.id
                self.env[name] = self.assign(name, self.atom(self.value(node.value, name))).name
                return Var(self.env[name])
            case gast.ListComp() | gast.GeneratorExp() | gast.SetComp() | gast.DictComp():
                what = "a generator expression" if isinstance(node, gast.GeneratorExp) else "a comprehension"
                return self.refused(
                    node, f"{what} over values that are differentiated is not supported", "Write it as a for loop."
                )
        return self.refused(
            node, "no derivative can pass through this expression", "Write it with supported operations."
        )

    def spread(self, node: Node, hint: str) -> Expr:
        """``[*a, b]``, as ``list(a) + [b]``."""
        kind: Literal["tuple", "list"] = "tuple" if isinstance(node, gast.Tuple) else "list"
        op = Op("runtime", kind, tuple if kind == "tuple" else list)
        total: Expr | None = None
        for starred, elements in itertools.groupby(node.elts, lambda e: isinstance(e, gast.Starred)):
            if starred:
                given = ((self.operand(spread_in(e)), e) for e in elements)
                operands: list[Expr] = [self.assign("~t", Call(op, (o,), (), e)) for o, e in given]
            else:
                operands = [self.atom(Build(kind, tuple([self.element(e) for e in elements])))]
            for operand in operands:
                plus = Call(Op("operator", "+", operator.add), (total or operand, operand), (), node)
                total = operand if total is None else self.assign("~t", plus)
        assert total is not None
        return total

    def is_text(self, node: Node) -> bool:
        """Whether an expression is surely a string or bytes."""
        if isinstance(node, gast.JoinedStr) or (isinstance(node, gast.Name) and self.env.get(node.id) in self.texts):
            return True
        value = node.value if isinstance(node, gast.Constant) else self.resolver.lookup(node)[1]
        return isinstance(value, (str, bytes))

    def taken(self, node: Node) -> Expr:
        """A value that is evaluated under a condition."""
        return self.value(node)

    def operand(self, node: Node) -> Expr:
        return self.atom(self.value(node))

    def element(self, node: Node) -> Expr:
        """An item of a display: an atom, or a nested display of them."""
        value = self.value(node)
        return value if isinstance(value, Build) and self.depends(node) else self.atom(value)

    def hoisted(self, index: Expr) -> Expr:
        """An index whose costly or impure parts are held in temporaries."""
        if isinstance(index, Build) and index.kind == "tuple":
            return Build(index.kind, tuple([self.hoisted(i) for i in index.items]))
        if isinstance(index, Build):
            return self.atom(index)
        if isinstance(index, Slice):
            return Slice(*(None if p is None else self.hoisted(p) for p in (index.lower, index.upper, index.step)))
        return index if is_cheap(index) else self.atom(index)

    def short_circuit(self, node: Node, hint: str) -> Expr:
        first, *rest = node.values
        value = self.operand(first)
        if not rest:
            return value
        tail = rest[0] if len(rest) == 1 else gast.copy_location(gast.BoolOp(op=node.op, values=rest), node)
        if isinstance(node.op, gast.And):
            return self.choose(value, lambda: self.taken(tail), lambda: value, hint)
        return self.choose(value, lambda: value, lambda: self.taken(tail), hint)

    def call(self, node: Node, hint: str) -> Expr:
        text = self.resolver.text(node.func)
        if is_starred(node := one_shape(node)):
            return self.refused(node, f"{text}(...) is called with * or **", ONE_BY_ONE)
        lookup = self.resolver.lookup
        found, function = lookup(node.func)
        if is_writing(node, lookup):
            self.violation(node, *unfollowed.of_writer(node, lookup, self.depends))
            return self.whole(node)
        if (met := self.met_call(node, hint)) is not None:
            return met
        if not found and self.resolver.is_absent(node.func):
            return self.opaque(node)
        if not found and isinstance(node.func, gast.Attribute):
            product = sparse_product(node, lookup)
            return self.method_call(node, hint) if product is None else self.value(product)
        if not found:
            return self.refused(node, *(unfollowed.of_made(node.func, lookup) or unfollowed.of_unknown(text)))
        if function is dict and not node.args:
            return Build("dict", tuple([part for k in node.keywords for part in (Const(k.arg), self.element(k.value))]))
        if any(function is f for f in (list, tuple, dict, copy.copy)) and len(node.args) == 1 and not node.keywords:
            return self.assign(hint, Call(Op("function", text, function), (self.operand(node.args[0]),), (), node))
        if ops.find(function) is None:
            if isinstance(function, types.FunctionType) and is_followed(function) and not ops.remedy(function):
                why = unfollowed.of_function(text, node, function, self.resolver.file)
                if why is not None:
                    return self.refused(node, *why)
                op = user_operation(node, function, self.resolver)
                return self.assign(hint, Call(op, *self.arguments(node, named=True), node))
            return self.refused(node, *unfollowed.of_value(text, function, [k.arg for k in node.keywords if k.arg]))
        pure = not runs(node, lookup)
        if not pure and (why := unfollowed.of_callback(node, text, lookup)) is not None:
            return self.refused(node, *why)
        for member in replacing_members(node, lookup, self.depends):
            return self.refused(node, *unfollowed.of_member(*member))
        if (wrong := self.odd_dtype(node)) is not None:
            return wrong
        call = Call(Op("function", text, function, pure), *self.arguments(with_letters(node, function)), node)
        return self.assign(hint, positional(operators.in_dtype(call, self.assign)))

    def method_call(self, node: Node, hint: str) -> Expr:
        op = method_op(node.func, self.depends, self.resolver.lookup)
        if op is None:
            return self.refused(node, *unfollowed.of_method(node.func, self.resolver.lookup))
        if (wrong := self.odd_dtype(node)) is not None:
            return wrong
        receiver, (args, kwargs) = self.operand(node.func.value), self.arguments(node)
        return self.assign(hint, positional(Call(op, (receiver, *args), kwargs, node)))

    def odd_dtype(self, node: Node) -> Expr | None:
        """A refusal of ``node`` if it computes in a dtype that carries no derivative, or may do so."""
        why = dtype_obstacle(node, self.resolver.lookup, self.depends)
        return None if why is None else self.refused(node, *why)

    def arguments(self, node: Node, named: bool = False) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...]]:
        """The arguments of a call; ``named``, since it may write into them, the containers among them too."""
        args = tuple([self.argument(a, named) for a in node.args])
        return args, tuple([(k.arg, self.argument(k.value, named)) for k in node.keywords])

    def argument(self, node: Node, named: bool = False) -> Expr:
        value = self.value(node)
        if isinstance(value, Build) and self.depends(node):
            return self.assign("~t", value) if named else value
        known = isinstance(value, Global) and isinstance(self.resolver.lookup(node)[1], types.FunctionType)
        return value if known or is_cheap(value) else self.atom(value)
