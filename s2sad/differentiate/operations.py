"""The adjoints of operations: rules, items, fields, unpacking, and calls of functions that have source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from s2sad.analysis.indexing import index_parts
from s2sad.differentiate.adjoints import Adjoints
from s2sad.differentiate.applied import REMEDY, NotDifferentiableError, applied, in_precision, maybe_complex
from s2sad.differentiate.buffers import CONTAINERS, HOLDERS, field_key
from s2sad.differentiate.builder import ADD, INDEX, as_value
from s2sad.differentiate.splice import UnknownLength, splice
from s2sad.ir import algebra
from s2sad.ir.nodes import (
    Build,
    Call,
    Const,
    Evaluate,
    Expr,
    Op,
    Slice,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import names_in
from s2sad.ir.types import Fact
from s2sad.ops.classification import remedy_of_member
from s2sad.runtime import add_at, add_field, add_into_item, joined, packed, starred
from s2sad.runtime.items import add_row, require_arithmetic, require_real, require_real_operand, unrepeated

_ADD_AT = Op("runtime", "add_at", add_at, pure=False)
_ADD_INTO_ITEM = Op("runtime", "add_into_item", add_into_item, pure=False)
_ADD_FIELD = Op("runtime", "add_field", add_field, pure=False)
_ARRAY = Op("runtime", "np.array", np.array)
_PACKED = Op("runtime", "packed", packed)
_JOINED = Op("runtime", "joined", joined)
_REQUIRE_REAL = Op("runtime", "require_real", require_real, pure=False)
_REQUIRE_REAL_OPERAND = Op("runtime", "require_real_operand", require_real_operand, pure=False)
_REQUIRE_ARITHMETIC = Op("runtime", "require_arithmetic", require_arithmetic, pure=False)
_ADD_ROW = Op("runtime", "add_row", add_row, pure=False)
_LIST = Op("runtime", "list", list)
_UNREPEATED = Op("runtime", "unrepeated", unrepeated)
_STARRED = Op("runtime", "starred", starred)


class Operations(Adjoints):
    """The part of reverse mode that knows the adjoint of every operation."""

    def ruled(self, call: Call, z: Var, z_bar: Expr) -> None:
        """The adjoint of an operation with a rule."""
        op = call.op
        if (op.kind == "attribute" and op.function is None) or self.is_field(call):
            self.field(call, z_bar)
            return
        if op.name == "+" and op.kind == "operator" and self.fact(call).kind in ("tuple", "list"):
            for operand, part in zip(call.args, ("head", "tail"), strict=True):
                if self.is_active(operand):
                    first = self.snapshots(z.name)(call.args[0])
                    self.contribute(operand, Call(_JOINED, (z_bar, Const(part), first)))
            return
        if op.name == "*" and op.kind == "operator" and self.fact(call).kind in ("tuple", "list"):
            repeated = call.args[self.fact(call.args[0]).kind == "scalar"]
            self.contribute(repeated, Call(_UNREPEATED, (z_bar, self.snapshots(z.name)(repeated))))
            return
        if op.function in (list, tuple) and self.fact(call.args[0]).kind in ("array", "tuple", "list"):
            items = self.snapshots(z.name)(call.args[0])
            of_array = self.fact(items).kind == "array"
            self.contribute(call.args[0], Call(_PACKED, (items, z_bar)) if of_array else Call(_LIST, (z_bar,)))
            return
        if op.kind == "inplace" and self.fact(call.args[0]).kind in ("list", "tuple"):
            what = f"{op.name}= of a list or tuple that is differentiated"
            self.violation(call.node, what, "Make a new one (x = x + y), or append the items one by one.")
            return
        try:
            found = applied(call, self.fact, self.is_active)
        except NotDifferentiableError as error:
            self.violation(call.node, error.message, error.remedy)
            return
        if self.may_turn_complex(call):
            self.emit(Evaluate(Call(_REQUIRE_REAL, (z,)), self.origin))
        if op.function is np.array and len(call.args) == 1 and not call.kwargs:
            places = dict(self.numbers_in(call.args[0], ()))
            if places and all(isinstance(item, (Var, Const)) for item in places.values()):
                self.contribute_items(places, z, z_bar)
                return
        if op.kind == "operator" and op.name in ("+", "*") and self.may_be_lists(op.name, call.args):
            # A list that is joined or repeated is no array: the type of the result says that it is none.
            self.before.append(Evaluate(Call(_REQUIRE_ARITHMETIC, call.args), self.origin))
        rule, bound = found.rule, found.bound
        for name in maybe_complex(found, self.fact):
            operand = self.snapshots(z.name)(bound[name])
            self.emit(Evaluate(Call(_REQUIRE_REAL_OPERAND, (operand, Const(op.name))), self.origin))
        operands = dict(bound)
        lists = {v: None for v in bound.values() if self.fact(v).kind in ("list", "tuple")}
        arrays = [
            v for v in bound.values() if self.fact(v).kind == "array" or (self.fact(v).numeric and self.is_active(v))
        ]
        if op.kind == "operator" and not arrays:
            if any(map(self.is_active, lists)):
                remedy = "To compute with it, convert it with np.array(...) first."
                remedy = f"To repeat it, write * int(n). {remedy}" if op.name == "*" else remedy
                self.violation(call.node, f"{op.name} of a list or tuple", remedy)
                return
        elif rule.broadcasts:
            # NumPy takes a list for an array; the operators of an adjoint do not.
            made = {v: self.let(self.fresh("~t"), self.snapshots(z.name)(Call(_ARRAY, (v,)))) for v in lists}
            operands = {name: made.get(value, value) for name, value in bound.items()}
        wide = in_precision(rule, operands, call, self.is_strong(z_bar), self.fact)
        if op.function is np.multiply and bound_twice(bound) and operands == bound == wide:
            # x * x, written with one partial.
            x = call.args[0]
            partial = self.snapshots(z.name)(Call(algebra.MULTIPLY, (Const(2), x)))
            self.contribute(x, self.full(self.times(z_bar, partial), z_bar, z))
            return
        held = z_bar if rule.kind == "elementwise" else self.firm(z.name, z_bar)
        if rule.multiplied:
            held = self.plain(z_bar, self.of[z.name])
        several = rule.kind != "elementwise" or (rule.multiplied and not algebra.is_nonzero(held))
        moving = self.effects.passing | self.effects.versions.keys()
        if (several and not isinstance(held, (Var, Const))) or not moving.isdisjoint(names_in(held)):
            # An adjoint that is an array of the forward part is that array as it is by now, unlike the operands.
            held = self.let(self.bar(z.name), held)
        try:
            spliced = splice(rule, wide, z, held, self.fact, self.fresh)
        except UnknownLength:
            what = f"{op.name} of a list whose length is known only at run time"
            self.violation(call.node, what, "Write the list out in the call.")
            return
        renamed = self.snapshots(z.name)
        wanted = [(n, v) for n, v in zip(rule.wrt, spliced.values, strict=True) if self.is_active(bound[n])]
        for name, value in spliced.lets:
            self.let(name, self.tidy(renamed(value)))
        alone = len(wanted) == 1
        if len(wanted) == 2 and bound[wanted[0][0]] == bound[wanted[1][0]] and rule.kind == "bilinear":
            first, second = (self.tidy(renamed(value)) for _, value in wanted)
            if first == second:
                self.contribute(bound[wanted[0][0]], algebra.multiply(Const(2), first))
                return
        for name, value in wanted:
            value = renamed(value)
            operand = bound[name]
            if rule.kind == "elementwise":
                full = self.tidy(value) if rule.multiplied else self.times(held, value)
                negative = isinstance(full, Call) and full.op == algebra.NEGATE
                if isinstance(full, Call) and negative:
                    full = full.args[0]
                g = self.unbroadcast(self.full(full, held, z), operand)
                if negative:
                    g = algebra.negate(g)
                self.contribute(operand, g, moved=alone and g == held)
            else:
                self.contribute(operand, self.tidy(value))

    def may_be_lists(self, symbol: str, operands: tuple[Expr, ...]) -> bool:
        """Whether ``+`` or ``*`` may join lists, or repeat one, where it is not known what they are."""
        known = [self.fact(operand) for operand in operands]
        numbers = ("scalar", "array", "numeric") if symbol == "+" else ("array", "numeric")
        if len(known) != 2 or any(f.kind in numbers or f.precision in ("float", "single", "double") for f in known):
            return False
        return any(f.kind in ("open", "other") for f in known)

    def is_strong(self, g: Expr) -> bool:
        """Whether an adjoint is an array, which does not give way, and not one number broadcast, which is left out."""
        spread = g.name in self.lazy if isinstance(g, Var) else isinstance(g, Call) and g.op.function is np.broadcast_to
        return self.fact(g).kind == "array" and not spread

    def numbers_in(self, whole: Expr, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Expr | None]]:
        """The numbers in a display, by their place; None for what is not surely one, or no display."""
        if isinstance(whole, Build) and whole.kind != "dict":
            for i, item in enumerate(whole.items):
                yield from self.numbers_in(item, (*place, i))
        else:
            yield place, whole if place and self.fact(whole).kind == "scalar" else None

    def contribute_items(self, places: Mapping[tuple[int, ...], Expr | None], z: Var, z_bar: Expr) -> None:
        """The adjoint of an array of numbers: to each of them, what stands in its place."""
        held = self.firm(z.name, z_bar)
        held = held if isinstance(held, Var) else self.let(self.bar(z.name), held)
        for place, item in places.items():
            if item is not None and self.is_active(item):
                index = Const(place[0]) if len(place) == 1 else Build("tuple", tuple(map(Const, place)))
                g = self.let(self.fresh("~t_bar"), Call(INDEX, (held, index)))
                self.contribute(item, self.realised(g, self.fact(item)))

    def may_turn_complex(self, call: Call) -> bool:
        """Whether a power of Python's floats may be complex: that of a negative one, unless the exponent is whole."""
        power = (call.op.name == "**" and call.op.kind in ("operator", "inplace")) or call.op.function is pow
        if not power or len(call.args) != 2 or not self.fact(call).real:
            return False
        base_, exponent = call.args
        whole = isinstance(exponent, Const) and isinstance(exponent.value, int)
        positive = isinstance(base_, Const) and isinstance(base_.value, (int, float)) and base_.value >= 0
        return self.fact(call).kind in ("scalar", "numeric") and not whole and not positive

    def full(self, g: Expr, z_bar: Expr, z: Var) -> Expr:
        """``g`` held in a name that is known to have the shape of ``z``."""
        if isinstance(g, (Var, Const)):
            return g
        known = self.fact(g)
        if known.shape == self.of[z.name].shape:
            return g
        # The adjoint of a real value may be complex on its way to a real argument.
        return self.let(self.fresh("~t_bar"), g, replace(self.of[z.name], items=None, real=known.real))

    def is_field(self, call: Call) -> bool:
        """Whether an attribute that arrays also have (``.T``) is that of a container here."""
        return call.op.kind == "attribute" and self.fact(call.args[0]).kind in CONTAINERS

    def field(self, call: Call, z_bar: Expr) -> None:
        """The adjoint of ``z = whole.name``."""
        whole = call.args[0]
        fact = self.fact(whole)
        key = field_key(fact, call.op.name) if fact.kind in ("record", "dataclass") else None
        if (key is None and fact.kind != "open") or not isinstance(whole, Var):
            what = f"the attribute .{call.op.name} of a value that is differentiated has no derivative rule"
            self.violation(call.node, what, remedy_of_member(call.op.name) or REMEDY)
            return
        x_bar = self.shadow(whole.name) if self.is_buffer(whole) else self.writable(whole)
        if key is not None and self.fact(call).kind == self.fact(z_bar).kind == "scalar":
            self.emit(Store(x_bar, key, z_bar, "+", self.origin))
            return
        if key is not None:
            self.add_to_item(x_bar, key, z_bar, self.fact(call))
            return
        self.emit(Evaluate(Call(_ADD_FIELD, (x_bar, whole, Const(call.op.name), z_bar)), self.origin))

    def index(self, whole: Expr, index: Expr, z_bar: Expr) -> None:
        """The adjoint of ``z = whole[index]``."""
        if isinstance(whole, Build):
            place = index.value if isinstance(index, Const) else None
            if whole.kind != "dict" and type(place) is int and -len(whole.items) <= place < len(whole.items):
                self.contribute(whole.items[place], z_bar)
            else:
                self.refuse_buffer(self.origin.line)
            return
        if not isinstance(whole, Var) or whole.name in self.stopped:
            return
        index = self.kept(index)
        x_bar = self.shadow(whole.name) if self.is_buffer(whole) else self.writable(whole)
        fact = self.of[whole.name]
        item = self.fact(Call(INDEX, (whole, index))) if fact.kind in CONTAINERS else fact
        g = self.realised(self.lazy.get(z_bar.name, z_bar) if isinstance(z_bar, Var) else z_bar, item)
        number = fact.kind in ("list", "tuple", "dict") and item.kind == self.fact(g).kind == "scalar"
        if number or (fact.kind == "array" and self.is_basic(index)):
            g = self.real_as(x_bar if self.is_buffer(whole) else whole, g, item)
            self.emit(Store(x_bar, index, g, "-" if self.is_turned(whole) else "+", self.origin))
        elif self.is_buffer(whole) and fact.kind in CONTAINERS:
            if self.is_turned(whole):
                self.refuse_buffer(self.origin.line)
            self.emit(Evaluate(Call(_ADD_INTO_ITEM, (x_bar, as_value(index), g)), self.origin))
        elif fact.kind in ("list", "tuple", "dict") and self.fact(index).kind in ("scalar", "other"):
            self.add_to_item(x_bar, index, g, item)
        else:
            self.emit(Evaluate(Call(_ADD_AT, (x_bar, as_value(index), self.adjoint_of(whole, g))), self.origin))

    def add_to_item(self, x_bar: Var, key: Expr, g: Expr, item: Fact) -> None:
        """Add ``g`` to an item of the adjoint of a container, which gets another object there."""
        old = Call(INDEX, (x_bar, key))
        known = item.kind == self.fact(g).kind == "array"
        total = Call(algebra.ADD, (old, g)) if known else Call(ADD, (old, g))
        self.emit(Store(x_bar, key, total, None, self.origin))

    def row(self, whole: Expr, counter: Var, bar: Expr) -> None:
        """The adjoint of what a loop over ``whole`` has reached: an item, but of a dict a key."""
        kind = self.fact(whole).kind
        if kind == "open" and isinstance(whole, Var) and not self.is_buffer(whole):
            self.emit(Evaluate(Call(_ADD_ROW, (self.writable(whole), counter, bar)), self.origin))
        elif kind != "dict":
            self.index(whole, counter, bar)

    def is_basic(self, index: Expr) -> bool:
        """Whether an index surely names no element twice."""
        return all(
            isinstance(p, (Slice, Const)) or (p if isinstance(p, Fact) else self.fact(p)).kind in ("slice", "scalar")
            for p in index_parts(index, self.fact)
        )

    def unpack(self, stmt: Unpack, targets: tuple[str, ...], value: Expr) -> None:
        """The adjoint of ``targets = value``."""
        if isinstance(value, Var) and self.is_buffer(value):
            self.unpack_buffer(stmt, targets, value)
            return
        buffers = tuple([t for t in targets if self.is_buffer(Var(t))])
        if buffers and not self.gives_its_own(value, buffers):
            self.refuse_buffer(stmt.origin.line)
            return
        for target in buffers:
            if target in self.shadows:
                self.define(target, self.made_zero(target, value))
        bars = [self.take(t) for t in targets]
        if all(b is None for b in bars):
            return
        if not self.is_active(value):
            return
        parts = tuple(b if b is not None else self.zero(t) for b, t in zip(bars, targets, strict=True))
        whole: Expr = Build("tuple", parts)
        if stmt.star is not None:
            whole = Call(_STARRED, (whole, Const(stmt.star), Const(len(targets))))
        fact = self.fact(value)
        if stmt.star is not None or fact.kind not in ("tuple", "record", "list"):
            whole = Call(_PACKED, (value, whole))
        for part in parts:
            self.owned.difference_update(names_in(part))
        if isinstance(value, Var):
            if isinstance(whole, Build):
                if value.name in self.adj:
                    whole = Call(ADD, (self.adj.pop(value.name), whole))
                else:
                    self.adj[value.name] = whole
                    return
            self.contribute(value, whole)
        else:
            self.contribute(value, whole if isinstance(whole, Build) else self.let(self.fresh("~t_bar"), whole))

    def unpack_buffer(self, stmt: Unpack, targets: tuple[str, ...], value: Var) -> None:
        """The adjoint of ``targets = value`` for an array or container whose adjoint is a shadow."""
        if stmt.star is not None or self.of[value.name].kind not in HOLDERS:
            self.refuse_buffer(stmt.origin.line)
            return
        rows = {t for t in targets if self.is_buffer(Var(t))}
        if any(self.of[t].kind not in HOLDERS for t in rows):
            self.refuse_buffer(stmt.origin.line)
            return
        if any(t in self.shadows for t in rows):
            names = tuple([self.shadows[t] if t in self.shadows else self.fresh("~t_bar") for t in targets])
            self.after.append(Unpack(names, self.shadow(value.name), None, stmt.origin))
        for i, target in enumerate(targets):
            bar = None if target in rows else self.take(target)
            if bar is not None:
                self.index(value, Const(i), bar)


def bound_twice(bound: Mapping[str, Expr]) -> bool:
    """Whether both operands of an operation are one name."""
    first, *rest = bound.values()
    return isinstance(first, Var) and rest == [first]
