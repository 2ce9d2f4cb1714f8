"""Adjoints of arrays that are written in place.

The adjoint of a buffer is a *shadow*: an array of zeros that is made where the array is made, aliased where it is
aliased and viewed where it is viewed, so that names that share memory have adjoints that share memory.  (The split of
adjoints into values and buffers is Mooncake.jl's, of rdata and fdata.)

    A = x.copy()        A_bar = np.zeros_like(x)
    row = A[i]          row_bar = A_bar[i]
    A[j] = e            t_bar = A_bar[j].copy()
                        A_bar[j] = 0.0
                        e_bar += t_bar

The adjoint of z = x + iy is x_bar - i y_bar, so that the shadow ``z_bar.imag`` of ``z.imag`` is minus its adjoint, and
so are the views of it: they are *turned*.

Shadows are made in the forward part; those that only the reverse part uses sink into it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from s2sad import ops
from s2sad.analysis.sharing import may_view, sharing
from s2sad.differentiate.builder import COPY, INDEX, ZEROS_LIKE, Builder, as_value
from s2sad.differentiate.distinct import is_distinct_copy
from s2sad.differentiate.known import Known
from s2sad.differentiate.later import Later
from s2sad.differentiate.refusals import Refusals
from s2sad.differentiate.storage import Storage
from s2sad.differentiate.stores import CONTAINERS, field_key, holds, is_dense, is_slice_of_list, is_view_index
from s2sad.ir import algebra
from s2sad.ir.nodes import UNSET, Assign, Build, Call, Const, Copy, Expr, Op, Stmt, Store, Var
from s2sad.ir.traverse import names_in
from s2sad.ir.types import some_item
from s2sad.ops.binding import dtype_of
from s2sad.runtime import diagonal_view, imaginary_view, own, part_shadow, shadow, stop_gradient, take_out
from s2sad.runtime.einsum import einsum_view

_SHADOW = Op("runtime", "shadow", shadow)
_PART = Op("runtime", "part_shadow", part_shadow)
_TAKE_OUT = Op("runtime", "take_out", take_out, pure=False)
_DIAGONAL = Op("runtime", "diagonal_view", diagonal_view)
_IMAGINARY = Op("runtime", "imaginary_view", imaginary_view)
_ZEROS = Op("runtime", "np.zeros", np.zeros)


class Shadows:
    """The shadows of buffers: ``names`` has those that something has asked for, which definitions make."""

    def __init__(self, known: Known, make: Builder, storage: Storage, later: Later, refusals: Refusals) -> None:
        self.make, self.storage, self.later, self.refusals = make, storage, later, refusals
        self.effects, self.active = known.effects, known.activity.active
        self.names: dict[str, str] = {}

    def of(self, name: str) -> Var:
        """The shadow of a buffer, which its definition will make."""
        if name not in self.names:
            new = self.make.bar(name)
            self.names.update(dict.fromkeys(self.storage.same.get(name, (name,)), new))
            fact = self.make.of[name]
            self.make.of[new] = fact if fact.numeric else self.make.named(fact, new)
        return Var(self.names[name])

    def define(self, name: str, value: Expr) -> None:
        """Make the shadow of ``name`` right after the statement that makes ``name``."""
        self.make.after.append(Assign(self.names[name], value, self.make.origin))

    # --- new shadows

    def made_zero(self, target: str, value: Expr) -> Expr:
        """The shadow of an object that has just been made."""
        known = self.make.of[target]
        if target in self.storage.turned:
            self.refusals.refuse_buffer(self.make.origin.line)
        if isinstance(value, Call) and _is_filled(value) and value.args:
            only_shape = not value.kwargs and len(value.args) <= (2 if value.op.function is np.full else 1)
            if only_shape and known.real and known.precision == "double" and not self.later.changes(value.args[0]):
                return Call(_ZEROS, value.args[:1])
        if isinstance(value, Call) and value.op.function in (own, np.copy) and isinstance(value.args[0], Var):
            source = value.args[0]
            known = self.make.of[source.name]
            plain = known.kind == "array" and known.precision != "" and not self.effects.reshapes
            if plain and source.name in self.active:
                return Call(ZEROS_LIKE, (source,))
        known = self.make.of[target]
        is_plain = known.kind == "array" and known.ndim and known.real and known.precision == "double"
        dense = is_plain and known.given is None and is_dense(value, {})
        return Call(ZEROS_LIKE if dense else _SHADOW, (Var(target),))

    def displayed(self, value: Build, whole: Expr) -> Expr:
        """The shadow of a display that is ``whole``: the shadows of its items, and zeros in the places of numbers."""
        if value.kind == "dict":
            pairs = zip(value.items[::2], value.items[1::2], strict=True)
            parts = [(key, self.part(item, Call(INDEX, (whole, key)))) for key, item in pairs]
            return Build("dict", tuple(part for pair in parts for part in pair))
        items = [self.part(item, Call(INDEX, (whole, Const(i)))) for i, item in enumerate(value.items)]
        return Build("list", tuple(items))

    def part(self, item: Expr, made: Expr) -> Expr:
        """What stands in the shadow of a display for one item, which is ``made`` once it is there."""
        if isinstance(item, Var) and self.storage.is_buffer(item):
            if item.name in self.storage.stopped:
                self.refusals.refuse_stopped(self.make.origin.line)
            if self.storage.is_turned(item):
                self.refusals.refuse_buffer(self.make.origin.line)
            return self.of(item.name)
        if isinstance(item, Build):
            return self.displayed(item, made)
        if self.is_stopped_part(item, made):
            self.refusals.refuse_stopped(self.make.origin.line)
        return Const(0.0) if self.make.fact(item).kind == "scalar" else Call(_PART, (made,))

    def is_stopped_part(self, item: Expr, made: Expr) -> bool:
        """Whether an item that is no name may share a buffer with the display that is ``made`` of it.

        Only what is stopped is a constant of an array that is differentiated.
        """
        fresh = isinstance(item, Call) and sharing(item, self.make.fact) == "fresh"
        if isinstance(item, Call) and (ops.is_constant_attribute(item.op.name) or fresh):
            return False
        while isinstance(made, Call) and made.args:
            made = made.args[0]
        group = self.effects.group.get(made.name, frozenset()) if isinstance(made, Var) else frozenset(names_in(item))
        return any(n in group and n in self.storage.buffers for n in names_in(item))

    # --- views and names

    def viewed(self, value: Call) -> Expr | None:
        """The shadow of a view, as the same view of a shadow; None for what is not surely a view."""
        first, *rest = value.args
        if not self.storage.is_buffer(first):
            return None
        assert isinstance(first, Var)
        known, function = self.make.of[first.name], value.op.function
        of_shadow = (self.of(first.name), *rest)
        if value.op.kind == "index":
            is_part = known.kind in CONTAINERS or is_view_index(rest[0], self.make.fact)
            if is_slice_of_list(value, self.make.fact):
                # The slice of a list has numbers of its own.
                is_part = self.holds_arrays(first)
            return Call(INDEX, of_shadow) if is_part else None
        if value.op.kind == "attribute" and known.kind in ("record", "dataclass"):
            key = field_key(known, value.op.name)
            return None if key is None else Call(INDEX, (*of_shadow, key))
        if function is np.imag:
            return Call(_IMAGINARY, of_shadow)
        if function is np.real:
            return replace(value, args=of_shadow)
        if value.op.kind == "attribute":
            return replace(value, args=of_shadow) if value.op.name in ("T", "mT") else None
        if may_view(function) and dtype_of(value) is not None:
            # The dtype decides whether there is a view; what is cast to integers is a constant.
            if self.make.fact(value).precision not in ("single", "double"):
                return None
        if function is np.diag and known.ndim == 2:
            return Call(_DIAGONAL, (*of_shadow, *(v for _, v in value.kwargs)))
        if function in (np.diagonal, np.linalg.diagonal):
            axes = () if function is np.diagonal else (("axis1", Const(-2)), ("axis2", Const(-1)))
            return Call(_DIAGONAL, of_shadow, (*value.kwargs, *axes))
        rule = ops.find(function)
        is_call = value.op.kind in ("function", "method") or function is einsum_view
        if rule is not None and is_call and rule.mirrors:
            if rule.result in ("view", "maybe_view") or sharing(value, self.make.fact) == "view":
                return Call(value.op, of_shadow, value.kwargs)
        return None

    def stopped(self, value: Expr) -> Expr:
        """The shadow of a name for an array that comes from ``stop_gradient``: that of the array."""
        if isinstance(value, Call) and value.op.function is stop_gradient:
            value = value.args[0] if value.args else dict(value.kwargs)["x"]
        if isinstance(value, Var) and self.storage.is_buffer(value):
            return self.of(value.name)
        view = self.viewed(value) if isinstance(value, Call) else None
        if view is None:
            self.refusals.refuse_stopped(self.make.origin.line)
            return Const(0.0)
        return view

    def moved(self, stmt: Copy) -> Copy:
        """A move of buffers with the moves of their shadows."""
        targets, sources = list(stmt.targets), list(stmt.sources)
        for target, source in zip(stmt.targets, stmt.sources, strict=True):
            if target not in self.storage.buffers:
                continue
            if not holds(self.make.of[target]):
                self.refusals.refuse_buffer(stmt.origin.line, target)
                continue
            if source == UNSET:
                sources.append(UNSET)
            elif self.make.fact(source).kind == "none":
                sources.append(Const(None))
            elif isinstance(source, Var) and self.storage.is_buffer(source):
                if source.name in self.storage.stopped and target not in self.storage.stopped:
                    self.refusals.refuse_stopped(stmt.origin.line)
                if self.storage.is_turned(source) != self.storage.is_turned(Var(target)):
                    self.refusals.refuse_buffer(stmt.origin.line)
                if self.of(source.name) == self.of(target):
                    continue
                sources.append(self.of(source.name))
            else:
                self.refusals.refuse_buffer(stmt.origin.line)
                continue
            targets.append(self.of(target).name)
        return replace(stmt, targets=tuple(targets), sources=tuple(sources))

    def settled(self, name: str, at: list[Stmt]) -> Var:
        """The shadow of a container as it is where ``at`` is put into the forward part, whatever it holds later."""
        bar = self.of(name)
        if name not in self.later.changed or name in self.storage.same:
            return bar
        if not self.holds_arrays(Var(name)):
            self.refusals.refuse_buffer(self.make.origin.line)
        copy = self.make.bar(name)
        self.make.of[copy] = self.make.of[bar.name]
        self.names[copy] = copy
        made = Assign(copy, Call(COPY, (bar,)), self.make.origin)
        # What comes after a statement is noted from the last on: the shadow itself is made before its copy.
        at.insert(0 if at is self.make.after else len(at), made)
        return Var(copy)

    def holds_arrays(self, whole: Expr) -> bool:
        """Whether all items of a container are surely arrays, or containers of such."""
        each = some_item(self.make.fact(whole))
        return each is not None and each.kind in ("array", "list", "tuple", "dict")

    # --- what is in a shadow

    def adjoint_of(self, whole: Expr, bar: Expr) -> Expr:
        """The adjoint for which the shadow of ``whole``, or a part ``bar`` of it, stands; and the other way round."""
        return algebra.negate(bar) if self.storage.is_turned(whole) else bar

    def taken(self, stmt: Store, bar: Var, index: Expr) -> Expr:
        """The adjoint that ``base[index] = value`` takes out of the shadow, where it becomes zero."""
        name = self.make.fresh("~t_bar")
        if self.make.fact(stmt.base).kind == "list":
            g = self.make.let(name, Call(INDEX, (bar, index)), self.make.fact(stmt.value))
            self.make.emit(Store(bar, index, Const(0.0), None, stmt.origin))
            return g
        if self.make.fact(stmt.base).kind == "array" and is_view_index(index, self.make.fact):
            g = self.make.let(name, self.taken_out(stmt.base, Call(INDEX, (bar, index))))
            self.make.emit(Store(bar, index, Const(0.0), None, stmt.origin))
            return g
        if self.make.fact(stmt.base).kind == "array" and is_distinct_copy(self.make, index):
            g = self.make.let(name, Call(INDEX, (bar, index)), self.make.fact(Call(INDEX, (stmt.base, index))))
            self.make.emit(Store(bar, index, Const(0.0), None, stmt.origin))
        else:
            part = self.make.fact(Call(INDEX, (stmt.base, index)))
            known = self.make.named(part, name) if part.kind == "array" else None
            g = self.make.let(name, Call(_TAKE_OUT, (bar, as_value(index))), known)
        return self.adjoint_of(stmt.base, g)

    def taken_out(self, whole: Expr, part: Expr) -> Expr:
        """The adjoint that stands in a ``part`` of the shadow of ``whole``, copied or computed from it."""
        g = self.adjoint_of(whole, part)
        return g if g != part or self.make.fact(part).kind == "scalar" else Call(COPY, (part,))


def _is_filled(call: Call) -> bool:
    """Whether a call makes an array of a shape that its first argument says."""
    spec = ops.spec_of(call.op.function)
    return spec is not None and spec.parameters[:1] == ("shape",) and spec.result == "fresh"
