"""The tangents of operations: rules in forward mode, items, fields, displays and containers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from s2sad.analysis.activity import carriers
from s2sad.differentiate.applied import (
    Applied,
    NotDifferentiableError,
    applied,
    bound_twice,
    in_precision,
    maybe_complex,
)
from s2sad.differentiate.builder import BROADCAST, INDEX, Builder
from s2sad.differentiate.smooth import smoothed
from s2sad.differentiate.splice import splice, splice_jvp
from s2sad.differentiate.stores import CONTAINERS, field_key
from s2sad.differentiate.zero_terms import without_defaults, without_zeros
from s2sad.ir import algebra
from s2sad.ir.nodes import Build, Call, Const, Evaluate, Expr, Op, Opaque, Var
from s2sad.ir.traverse import map_children, names_in
from s2sad.ir.types import same_shape
from s2sad.ops.spec import Rule
from s2sad.runtime import own
from s2sad.runtime.copies import copy_arrays, copy_reachable, copy_together
from s2sad.runtime.items import require_real_operand
from s2sad.runtime.tangents import along, broadcast_like, items_tangent
from s2sad.runtime.zero_tangents import zero_tangent

_ARRAY = Op("runtime", "np.array", np.array)
_REQUIRE_REAL_OPERAND = Op("runtime", "require_real_operand", require_real_operand, pure=False)
_BROADCAST_LIKE = Op("runtime", "broadcast_like", broadcast_like)
_ALONG = Op("runtime", "along", along)
_ITEMS = Op("runtime", "items_tangent", items_tangent)
_ZERO_TANGENT = Op("runtime", "zero_tangent", zero_tangent)
#: How many zeros are written out.
_FEW = 8
_ZEROS_LIKE = Op("runtime", "np.zeros_like", np.zeros_like)
_FLOAT = Op("runtime", "float", float)
#: What makes a copy of a tangent as it does of the value.
COPYING = (own, np.copy, copy_arrays, copy_reachable, copy_together)
#: Methods of containers that hand on what these hold.
_HANDING = ("copy", "values")
#: The tangent zero, inside of an expression that is being made.
_ZERO = Const("zero tangent")


class Tangents:
    """The tangents of names, and of what operations make of them; statements go to a `Builder`.

    ``dots`` has the name of the tangent of each active name; those of names in ``zero`` are zero in this function.
    Names that are ``unbound`` may have no value.
    """

    def __init__(
        self,
        make: Builder,
        dots: dict[str, str],
        zero: frozenset[str] = frozenset(),
        unbound: frozenset[str] = frozenset(),
    ) -> None:
        self.make = make
        self.dots = dots
        self.zero = zero
        self.unbound = unbound

    def is_active(self, expr: Expr) -> bool:
        """Whether an expression has a tangent other than zero."""
        return any(name in self.dots for name in carriers(expr))

    def is_varied(self, expr: Expr) -> bool:
        """Whether the tangent of an expression is not surely zero."""
        return any(name in self.dots and name not in self.zero for name in carriers(expr))

    def merges(self, call: Call) -> bool:
        """Whether an operation is ``|`` of dicts, the only ones among what carries derivatives that have it."""
        given = call.op.kind in ("operator", "inplace") and call.op.name == "|"
        return given and any(not self.make.fact(a).numeric and self.is_active(a) for a in call.args)

    def may_repeat(self, a: Expr, b: Expr) -> bool:
        """Whether one of two factors is a list or tuple, and the other a constant that may be an integer."""
        pairs = ((a, b), (b, a))
        return any(self.make.fact(x).kind in ("list", "tuple") and not self.is_active(y) for x, y in pairs)

    # --- operands

    def of(self, expr: Expr) -> Expr | None:
        """The tangent of an expression; None for zero.

        Raises:
            NotDifferentiableError: if something active goes in where there is no derivative.
        """
        match expr:
            case Var(name=name):
                return Var(self.dots[name]) if name in self.dots else None
            case Build(kind=kind, items=items):
                if not self.is_active(expr):
                    return None
                parts = [i if kind == "dict" and n % 2 == 0 else self.held(i) for n, i in enumerate(items)]
                return Build(kind, tuple(parts))
            case Opaque(refusal=refusal) if refusal is not None and self.is_active(expr):
                raise NotDifferentiableError(refusal.message, refusal.remedy)
            case Call() if self.is_active(expr):
                return self.of_call(expr, expr)
            case _:
                return None

    def held(self, expr: Expr) -> Expr:
        """The tangent of an expression, zeros where it is zero."""
        found = self.of(expr)
        return self.zeros(expr) if found is None else found

    def zeros(self, expr: Expr) -> Expr:
        """Zeros in the structure and shape of a value."""
        if isinstance(expr, Build):
            keyed = expr.kind == "dict"
            items = [i if keyed and not n % 2 else self.zeros(i) for n, i in enumerate(expr.items)]
            return replace(expr, items=tuple(items))
        known = self.make.fact(expr)
        if known.kind == "scalar":
            return Const(0.0)
        if known.kind == "none":
            return Const(None)
        if known.kind in ("list", "dict") and known.items == ():
            return Build(known.kind, ())
        if known.kind in ("list", "tuple") and known.items and len(known.items) <= _FEW:
            if all(item.kind == "scalar" for _, item in known.items):
                return Build(known.kind, (Const(0.0),) * len(known.items))
        surely = known.kind == "array" and known.precision != "" and self.unbound.isdisjoint(names_in(expr))
        return Call(_ZEROS_LIKE if surely else _ZERO_TANGENT, (expr,))

    # --- operations

    def of_call(self, call: Call, z: Expr) -> Expr | None:
        """The tangent of an operation with the result ``z``."""
        op, args = call.op, call.args
        known = self.make.fact(args[0]) if args else None
        if op.kind == "index":
            return self.item(*args)
        if op.kind == "ifexp":
            return Call(op, (args[0], self.held(args[1]), self.held(args[2])))
        inside = known is not None and known.kind in CONTAINERS
        if op.kind == "attribute" and (op.function is None or inside):
            key = field_key(known, op.name) if known is not None and known.kind == "record" else None
            return Call(INDEX, (self.held(args[0]), key)) if key is not None else Call(op, (self.held(args[0]),))
        if op.kind == "change":
            if op.name in ("pop", "moved"):
                return Call(op, (self.held(args[0]), *args[1:]))
            return Call(op, (self.held(args[0]), *args[1:-1], self.held(args[-1])))
        result = self.make.fact(call).kind
        repeats = op.kind == "operator" and op.name == "*" and result == "open" and self.may_repeat(*args)
        if repeats or (op.kind in ("operator", "inplace") and result in ("tuple", "list") and op.name in ("+", "*")):
            # How often a list is repeated has no tangent, be it made of what has one.
            listed = [op.name == "+" or self.make.fact(a).kind in ("tuple", "list") for a in args]
            parts = [self.held(a) if has else a for a, has in zip(args, listed, strict=True)]
            return Call(op, tuple(parts))
        if self.merges(call):
            return Call(op, tuple(map(self.held, args)))
        if op.kind == "method" and op.name == "items" and inside:
            return Call(_ITEMS, (self.held(args[0]),))
        if op.function in COPYING or (inside and op.kind == "method" and op.name in _HANDING):
            return Call(op, tuple(map(self.held, args)), call.kwargs)
        if op.function in (list, tuple):
            made = self.iterated(args[0])
            return None if made is None else Call(op, (made,), call.kwargs)
        return self.ruled(call, z)

    def iterated(self, expr: Expr) -> Expr | None:
        """The tangent of something as the items that a loop over it has; None for zeros.

        A loop over a dict has its keys, which are constants.
        """
        dot = self.of(expr)
        kind = self.make.fact(expr).kind
        if dot is None or kind == "dict":
            return None
        return Call(_ALONG, (dot, expr)) if kind in ("open", "other") else dot

    def items(self, expr: Expr) -> Expr:
        """The tangent of what a list may be extended by, zeros where it is zero."""
        made = self.held(expr)
        return Call(_ALONG, (made, expr)) if self.make.fact(expr).kind in ("open", "other", "dict") else made

    def item(self, whole: Expr, index: Expr) -> Expr | None:
        """The tangent of ``whole[index]``."""
        if (item := algebra.known_item(whole, index)) is not None:
            return self.of(item)
        return Call(INDEX, (self.held(whole), index))

    def ruled(self, call: Call, z: Expr) -> Expr | None:
        """The tangent of an operation by its rule."""
        call, factor = smoothed(call, self.make, self.is_active)
        if factor is not None:
            square = self.ruled(call, z)
            return None if square is None else algebra.multiply(factor, square)
        is_active = self.is_active
        try:
            found = applied(call, self.make.fact, is_active)
        except NotDifferentiableError:
            # The operand that has no derivative may be one whose tangent is zero.
            is_active = self.is_varied
            found = applied(call, self.make.fact, is_active)
        rule, bound = found.rule, found.bound
        for name in maybe_complex(found, self.make.fact):
            self.make.emit(Evaluate(Call(_REQUIRE_REAL_OPERAND, (bound[name], Const(call.op.name))), self.make.origin))
        keys = {n for n in bound if self.consumed(rule, n, bound[n]) == "dict"}  # which are constants
        active = [n for n in rule.wrt if n in bound and n not in keys and is_active(bound[n])]
        if not active:
            return None
        if rule.kind == "linear":
            made: Expr | None = self.linear(call, found)
        elif rule.kind == "bilinear":
            parts = [self.call_with(call, {id(bound[n]): self.held(bound[n])}) for n in active]
            made = parts[0] if bound[active[0]] is not bound[active[-1]] or len(active) == 1 else None
            if made is None:  # x @ x: one name stands for both operands
                made = self.both_sides(call, bound, active)
            elif len(parts) == 2:
                made = algebra.add(*parts)
        else:
            operands = self.as_arrays(call, rule, bound)
            strong = any(self.make.fact(bound[n]).kind == "array" for n in active)
            wide = in_precision(rule, operands, call, strong, self.make.fact)
            if rule.kind == "general":
                made = self.general(rule, wide, bound, active, z)
            else:
                made = self.doubled(call, bound) if wide == bound else None
                made = self.elementwise(call, rule, wide, bound, active, z) if made is None else made
        if made is None:
            return None
        return self.full(self.make.tidy(made), call, z)

    def consumed(self, rule: Rule, name: str, operand: Expr) -> str:
        """The kind of an operand whose items an operation takes; empty of what it takes as a whole."""
        if name not in rule.consumes:
            return ""
        if name == rule.variadic:
            if not isinstance(operand, Build) or len(operand.items) != 1:
                return ""
            operand = operand.items[0]
        return self.make.fact(operand).kind

    def as_arrays(self, call: Call, rule: Rule, bound: Mapping[str, Expr]) -> dict[str, Expr]:
        """The operands, with arrays for lists where NumPy makes them; operators do beside what is surely an array.

        A list may be repeated by a number, and added to what may be a list.
        """
        if call.op.kind == "operator":
            kinds = {self.make.fact(v).kind for v in bound.values()}
            if not (kinds & {"array", "numeric"} or (call.op.name != "*" and "scalar" in kinds)):
                return dict(bound)
        taken = {n: v for n, v in bound.items() if rule.takes_array(n) and not rule.consumes}
        lists = {n: v for n, v in taken.items() if self.make.fact(v).kind in ("list", "tuple")}
        return {**bound, **{n: Call(_ARRAY, (v,)) for n, v in lists.items()}}

    def dot(self, value: Expr, whole: Expr) -> Expr:
        """The tangent of an operand that counts as an array: of a list, an array of its tangents."""
        made = self.held(value)
        # In higher precision it is made wider as well.
        inner = whole.args[0] if isinstance(whole, Call) and whole.op != _ARRAY and whole.args else whole
        listed = isinstance(inner, Call) and inner.op == _ARRAY and inner.args[0] == value
        return Call(_ARRAY, (made,)) if listed else made

    def linear(self, call: Call, found: Applied) -> Expr:
        """The function of the tangents."""
        rule, bound = found.rule, found.bound
        changed: dict[int, Expr] = {}
        for name in rule.wrt:
            operand = bound.get(name)
            if operand is None or operand == Const(None):
                continue
            if self.consumed(rule, name, operand) in ("dict", "open", "other"):
                changed[id(operand)] = Call(_ALONG, (self.held(operand), operand))
            elif name == rule.variadic and isinstance(operand, Build):
                changed.update({id(item): self.held(item) for item in operand.items})
            else:
                changed[id(operand)] = self.held(operand)
        changed.update({id(bound[n]): Const(0.0) for n in rule.offsets if n in bound and n not in rule.wrt})
        return self.call_with(call, changed)

    def call_with(self, call: Call, changed: Mapping[int, Expr]) -> Expr:
        """A call with tangents in the places of some operands, by identity."""
        args = tuple([changed.get(id(a), a) for a in call.args])
        kwargs = tuple([(k, changed.get(id(v), v)) for k, v in call.kwargs])
        op = call.op
        if op.kind == "inplace":
            op = Op("operator", op.name, op.function)
        if op.kind == "operator" and op.name == "-" and len(args) == 1:
            return algebra.negate(args[0])
        return Call(op, args, kwargs)

    def both_sides(self, call: Call, bound: Mapping[str, Expr], active: list[str]) -> Expr:
        """The tangent of a bilinear operation of one name with itself."""
        dot = self.held(bound[active[0]])
        first, second = call.args[:2]
        op = Op("operator", call.op.name, call.op.function) if call.op.kind == "inplace" else call.op
        return algebra.add(
            Call(op, (dot, second, *call.args[2:]), call.kwargs), Call(op, (first, dot, *call.args[2:]), call.kwargs)
        )

    def elementwise(
        self, call: Call, rule: Rule, wide: Mapping[str, Expr], bound: Mapping[str, Expr], active: list[str], z: Expr
    ) -> Expr:
        """The sum of the products of partial derivatives and tangents."""
        total: Expr | None = None
        if not rule.multiplied:
            spliced = splice(rule, wide, z, Const(1.0), self.make.fact, self.make.fresh)
            for name, value in spliced.lets:
                self.make.let(name, self.make.tidy(value))
        for name in active:
            dot = self.dot(bound[name], wide[name])
            if rule.multiplied:
                if not (same_shape(self.make.fact(dot), self.make.fact(call))):
                    dot = self.full(dot, call, z)
                if not isinstance(dot, (Var, Const)):
                    dot = self.make.let(self.make.fresh("~t_dot"), dot)
                spliced = splice(rule, wide, z, dot, self.make.fact, self.make.fresh)
                for held, value in spliced.lets:
                    self.make.let(held, self.make.tidy(value))
            value = spliced.values[rule.wrt.index(name)]
            part = self.make.tidy(value) if rule.multiplied else _product(dot, self.make.tidy(value))
            total = part if total is None else algebra.add(total, part)
        assert total is not None
        made = self.make.fact(call)
        is_number = made.kind == "scalar" and made.real and not rule.broadcasts
        # Functions of one number, as of `math`, take arrays of one element, whose tangents are arrays.
        of_array = is_number and any(self.make.fact(bound[n]).kind == "array" for n in active)
        return Call(_FLOAT, (total,)) if of_array else total

    def doubled(self, call: Call, bound: Mapping[str, Expr]) -> Expr | None:
        """The tangent of ``x * x`` with one partial; None for anything else."""
        if call.op.function is not np.multiply or not bound_twice(bound) or len(call.args) != 2:
            return None
        return _product(self.held(call.args[0]), algebra.multiply(Const(2), call.args[0]))

    def general(
        self, rule: Rule, wide: Mapping[str, Expr], bound: Mapping[str, Expr], active: list[str], z: Expr
    ) -> Expr | None:
        """The body of an explicit ``jvp``."""
        dots: dict[str, Expr] = {}
        for name in rule.wrt:
            operand = bound.get(name, Const(None))
            dots[name] = self.dot(operand, wide[name]) if name in active else _ZERO
            if name in active and self.consumed(rule, name, operand) in ("open", "other"):
                made = dots[name]
                if isinstance(made, Build) and isinstance(operand, Build):
                    dots[name] = replace(made, items=(Call(_ALONG, (made.items[0], operand.items[0])),))
                else:
                    dots[name] = Call(_ALONG, (made, operand))
            if name in active and rule.variadic != name and not isinstance(dots[name], (Var, Const, Build)):
                dots[name] = self.make.let(self.make.fresh("~t_dot"), dots[name])
        materialised = {
            f"{name}_dot": Const(0.0) if (v := bound.get(name, Const(None))) == Const(None) else self.zeros(v)
            for name, dot in dots.items()
            if dot is _ZERO
        }
        marks = {name: Var(f"%zero {name}_dot") if dot is _ZERO else dot for name, dot in dots.items()}
        spliced = splice_jvp(rule, wide, z, marks, self.make.fact, self.make.fresh)
        zeros = {f"%zero {name}": value for name, value in materialised.items()}
        gone: set[str] = set(zeros)
        for name, value in spliced.lets:
            left = without_zeros(value, gone)
            if left is None:
                gone.add(name)
                zeros[name] = self.firm(value, zeros)
            else:
                self.make.let(name, self.make.tidy(self.firm(left, zeros)))
        left_values = [without_zeros(v, gone) for v in spliced.values]
        if not spliced.displayed:
            (only,) = left_values
            return None if only is None else without_defaults(self.firm(only, zeros))
        parts = [Const(0.0) if v is None else without_defaults(self.firm(v, zeros)) for v in left_values]
        return Build("tuple", tuple(parts))

    def firm(self, expr: Expr, zeros: Mapping[str, Expr]) -> Expr:
        """An expression with zeros written out where they could not be left out."""
        if isinstance(expr, Var):
            return zeros.get(expr.name, expr)
        return map_children(expr, lambda e: self.firm(e, zeros))

    def full(self, dot: Expr, call: Call, z: Expr) -> Expr:
        """A tangent in the shape of the result of an operation."""
        result, known = self.make.fact(call), self.make.fact(dot)
        if result.kind not in ("array", "numeric", "open") or same_shape(result, known):
            return dot
        if isinstance(dot, Build):
            return dot
        if result.kind == "array" and not result.has_axes and known.kind == "scalar" and result.ndim is None:
            return Call(_BROADCAST_LIKE, (dot, z))
        if result.kind == "array" and known.kind in ("scalar", "array") and result.shape is not None:
            spread_too_much = isinstance(z, Call)
            if not spread_too_much:
                return Call(BROADCAST, (dot, self.make.shape_of(z)))
        return Call(_BROADCAST_LIKE, (dot, z))


def _product(dot: Expr, partial: Expr) -> Expr:
    """A partial derivative times a tangent, which comes first if it is a temporary that may be a product itself."""
    first = not isinstance(dot, Var) or dot.name.startswith("~")
    return algebra.multiply(dot, partial) if first else algebra.multiply(partial, dot)
