"""Adjoints of arrays that are written in place.

An array that some statement writes, and every name that may share memory with it, is a *buffer*.  Its
adjoint is a *shadow*: an array of zeros that is made where the array is made, aliased where it is aliased
and viewed where it is viewed, so that names that share memory have adjoints that share memory.  (The split of adjoints
into values and buffers is Mooncake.jl's, of rdata and fdata.)

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

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad import ops
from s2sad.analysis.sharing import may_view, sharing
from s2sad.analysis.summaries import user_calls
from s2sad.differentiate.builder import COPY, INDEX, ZEROS_LIKE, Builder, as_value
from s2sad.differentiate.known import Known
from s2sad.differentiate.stores import is_view_index
from s2sad.ir import algebra
from s2sad.ir.nodes import (
    UNSET,
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Expr,
    For,
    Function,
    Global,
    Op,
    Opaque,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import blocks, children, names_in, reads, walk, writes
from s2sad.ir.types import Fact, same_shape
from s2sad.ops.binding import dtype_of
from s2sad.runtime import diagonal_view, imaginary_view, own, part_shadow, shadow, take_out

_SHADOW = Op("runtime", "shadow", shadow)
_PART = Op("runtime", "part_shadow", part_shadow)
_TAKE_OUT = Op("runtime", "take_out", take_out, pure=False)
_DIAGONAL = Op("runtime", "diagonal_view", diagonal_view)
_IMAGINARY = Op("runtime", "imaginary_view", imaginary_view)
_ZEROS = Op("runtime", "np.zeros", np.zeros)
ELLIPSIS = Const(...)
#: The kinds of what can be written in place, or hold what can.
CONTAINERS = ("tuple", "list", "dict", "record", "dataclass")
HOLDERS = ("array", *CONTAINERS)


class Buffers(Builder):
    """The part of reverse mode that keeps the shadows of buffers."""

    def __init__(self, known: Known) -> None:
        super().__init__(known.function, known.facts, known.again)
        self.effects = known.effects
        self.mutable = known.effects.unsteady
        self.active = known.activity.active
        self.sections = known.sections
        self.stable = set(known.sections.names)
        self.stored: dict[str, Expr] = {}
        self.stopped = {
            n
            for n in known.activity.stopped & (known.effects.written - known.effects.private)
            if known.effects.group.get(n, frozenset()) & self.active
        }
        self.definitions = {s.target: s.value for s in walk(known.function.body) if isinstance(s, Assign)}
        self.steady = {n: value for n, value in self.definitions.items() if n not in self.mutable}
        self.at_once = frozenset(self.read_at_once(known.function))
        self.momentary = frozenset(self.read_before_writes(known.function.body))
        self.after: list[Stmt] = []
        self.shadows: dict[str, str] = {}
        self.stale = known.activity.stale
        #: The names that surely hold one container, for each of them.
        self.same: dict[str, frozenset[str]] = {}
        self.turned = self.turned_names(known.context.turned)

    def read_at_once(self, function: Function) -> Iterator[str]:
        """The temporaries that view an array as a shadow may not, and are read before anything is written."""
        uses = Counter(n for s in walk(function.body) for n in reads(s))
        uses.update(names_in(function.result))
        pending = [function.body]
        while pending:
            block = pending.pop()
            held: set[str] = set()
            for stmt in block:
                pending += blocks(stmt)
                calls = any(user_calls(stmt))
                if isinstance(stmt, (Assign, Store)) and not calls:
                    based = set(names_in(stmt.base)) if isinstance(stmt, Store) else self.viewed_by(stmt)
                    yield from held & set(reads(stmt)) - based
                value = stmt.value if isinstance(stmt, Assign) else None
                quiet = isinstance(value, Call) and not calls and value.op.kind != "inplace"
                held = {n for n in held if quiet and uses[n] == 1}
                if quiet and isinstance(stmt, Assign) and stmt.target.startswith("~t.") and uses[stmt.target] == 1:
                    assert isinstance(value, Call)
                    if not mirrors(value):
                        held.add(stmt.target)

    def read_before_writes(self, block: Block) -> Iterator[str]:
        """The temporaries that may be numbers or rows, and are read for the last time before a row would be written."""
        for position, stmt in enumerate(block):
            for inner in blocks(stmt):
                yield from self.read_before_writes(inner)
            for name in writes(stmt) if not _is_inplace(stmt) else ():
                if name.startswith("~t.") and name in self.effects.written and self.of[name].kind not in HOLDERS:
                    made = stmt.value if isinstance(stmt, Assign) else None
                    fresh = isinstance(made, Call) and sharing(made, self.fact) == "fresh"
                    known = self.of[name]
                    fresh = fresh or (isinstance(made, Global) and (known.real or known.precision != ""))  # a dtype
                    if self.is_read_before_writes(name, block[position + 1 :], fresh):
                        yield name

    def is_read_before_writes(self, name: str, after: Block, fresh: bool) -> bool:
        """Whether nothing in a block writes the object of ``name`` before the last statement that reads the name.

        Unless the object is a ``fresh`` one nothing may keep it either.
        """
        group = self.effects.group.get(name, frozenset({name}))
        written = False
        for stmt in after:
            read = any(name in reads(s) for s in walk((stmt,)))
            writing = any(not group.isdisjoint(self.effects.written_by(s)) for s in walk((stmt,)))
            simple = not any(True for _ in blocks(stmt))
            if read and (written or (writing and (_is_inplace(stmt) or not simple))):
                return False
            if not fresh and any(name in reads(s) and not group.isdisjoint(writes(s)) for s in walk((stmt,))):
                # Another name, a view or a container may be read later.
                return False
            written = written or writing
        return True

    def viewed_by(self, stmt: Assign) -> set[str]:
        """What a statement gives another name, makes another view of, or puts into a container."""
        value = stmt.value
        if not isinstance(value, Call):
            return set(names_in(value))
        if self.fact(Var(stmt.target)).kind in HOLDERS and value.args and self.is_view(value):
            return set(names_in(value.args[0]))
        return set()

    def is_buffer(self, expr: Expr) -> bool:
        """Whether an operand is a name whose adjoint is a shadow."""
        if not isinstance(expr, Var):
            return False
        name = expr.name
        if name in self.at_once or name in self.momentary:
            # An item that is read and used at once, be it a number or a row: a value.
            return False
        written = name in self.effects.written and name not in self.effects.private
        return written and (name in self.active or name in self.stopped) and self.of[name].kind != "scalar"

    def note_stored(self, block: Block) -> None:
        """Note which values that a block computes stay in an array."""
        defined = {s.target for s in block if isinstance(s, Assign)}
        for stmt in block:
            if isinstance(stmt, Store) and id(stmt) in self.sections.stores and isinstance(stmt.value, Var):
                plain = stmt.op is None and stmt.call is None and stmt.value.name in defined
                item = Call(INDEX, (stmt.base, stmt.index))
                if plain and self.is_view_index(stmt.index):
                    there, value = self.fact(item), self.fact(stmt.value)
                    alike = there.kind == value.kind and there.real == value.real and same_shape(there, value)
                    exact = there.precision == "double" and value.precision in ("double", "float")
                    if alike and exact and (value.kind == "scalar" or stmt.value.name not in self.mutable):
                        self.stored[stmt.value.name] = item

    def shadow(self, name: str) -> Var:
        """The shadow of a buffer, which its definition will make."""
        if name not in self.shadows:
            new = self.bar(name)
            self.shadows.update(dict.fromkeys(self.same.get(name, (name,)), new))
            fact = self.of[name]
            self.of[new] = fact if fact.numeric else self.named(fact, new)
        return Var(self.shadows[name])

    def define(self, name: str, value: Expr) -> None:
        """Make the shadow of ``name`` right after the statement that makes ``name``."""
        self.after.append(Assign(self.shadows[name], value, self.origin))

    def displayed_shadow(self, value: Build, whole: Expr) -> Expr:
        """The shadow of a display that is ``whole``: the shadows of its items, and zeros in the places of numbers."""
        if value.kind == "dict":
            pairs = zip(value.items[::2], value.items[1::2], strict=True)
            parts = [(key, self.part_shadow(item, Call(INDEX, (whole, key)))) for key, item in pairs]
            return Build("dict", tuple(part for pair in parts for part in pair))
        items = [self.part_shadow(item, Call(INDEX, (whole, Const(i)))) for i, item in enumerate(value.items)]
        return Build("list", tuple(items))

    def part_shadow(self, item: Expr, made: Expr) -> Expr:
        """What stands in the shadow of a display for one item, which is ``made`` once it is there."""
        if isinstance(item, Var) and self.is_buffer(item):
            if item.name in self.stopped:
                self.refuse_stopped(self.origin.line)
            if self.is_turned(item):
                self.refuse_buffer(self.origin.line)
            return self.shadow(item.name)
        if isinstance(item, Build):
            return self.displayed_shadow(item, made)
        if self.is_stopped_part(item, made):
            self.refuse_stopped(self.origin.line)
        return Const(0.0) if self.fact(item).kind == "scalar" else Call(_PART, (made,))

    def is_stopped_part(self, item: Expr, made: Expr) -> bool:
        """Whether an item that is no name may share a buffer with the display that is ``made`` of it.

        Only what is stopped is a constant of an array that is differentiated.
        """
        if isinstance(item, Call) and (ops.is_constant_attribute(item.op.name) or sharing(item, self.fact) == "fresh"):
            return False
        while isinstance(made, Call) and made.args:
            made = made.args[0]
        group = self.effects.group.get(made.name, frozenset()) if isinstance(made, Var) else frozenset(names_in(item))
        return any(n in group and self.is_buffer(Var(n)) for n in names_in(item))

    def made_zero(self, target: str, value: Expr) -> Expr:
        """The shadow of an object that has just been made."""
        if target in self.turned:
            self.refuse_buffer(self.origin.line)
        if isinstance(value, Call) and is_filled(value) and value.args:
            if not self.changes(value.args[0]) and (
                self.of[target].real
                and self.of[target].precision == "double"
                and not value.kwargs
                and len(value.args) <= (2 if value.op.function is np.full else 1)
            ):
                return Call(_ZEROS, value.args[:1])
        if isinstance(value, Call) and value.op.function in (own, np.copy) and isinstance(value.args[0], Var):
            source = value.args[0]
            known = self.of[source.name]
            plain = known.kind == "array" and known.precision != "" and not self.effects.reshapes
            if plain and source.name in self.active:
                return Call(ZEROS_LIKE, (source,))
        return Call(_SHADOW, (Var(target),))

    def gives_its_own(self, value: Expr, targets: tuple[str, ...]) -> bool:
        """Whether an expression without derivative surely gives each target an array that no other name refers to."""
        if not isinstance(value, Opaque) or value.refusal is not None:
            return False
        arrays = all(self.of[t].kind == "array" for t in targets)
        known = self.effects.calls.get(value.call) if value.call is not None else None
        if known is not None and not (known.shared or known.module or known.entangled):
            return arrays
        groups = [self.effects.group.get(t, frozenset({t})) for t in targets]
        apart = len({n for group in groups for n in group}) == sum(map(len, groups))
        near = any(not group.isdisjoint(names_in(value)) for group in groups)
        return apart and not near and arrays

    def changes(self, expr: Expr) -> bool:
        """Whether an expression may have another value later: it reads what is written, or draws or takes something."""
        if isinstance(expr, Var):
            return expr.name in self.mutable and self.of[expr.name].kind != "scalar"
        if isinstance(expr, Global):
            return "." in expr.text or self.fact(expr).kind not in ("scalar", "tuple")
        if isinstance(expr, Opaque):
            return True
        laid_out = isinstance(expr, Call) and expr.op.kind == "attribute" and ops.is_constant_attribute(expr.op.name)
        if isinstance(expr, Call) and (laid_out or ops.measures(expr.op)):
            return any(self.changes(a) and self.fact(a).kind != "array" for a in expr.args)
        return any(map(self.changes, children(expr)))

    def viewed(self, value: Call) -> Expr | None:
        """The shadow of a view, as the same view of a shadow; None for what is not surely a view."""
        first, *rest = value.args
        if not self.is_buffer(first):
            return None
        assert isinstance(first, Var)
        of_shadow = (self.shadow(first.name), *rest)
        if value.op.kind == "index":
            inside = self.of[first.name].kind in CONTAINERS
            return Call(INDEX, of_shadow) if inside or self.is_view_index(rest[0]) else None
        if value.op.kind == "attribute" and self.of[first.name].kind in ("record", "dataclass"):
            key = field_key(self.of[first.name], value.op.name)
            return None if key is None else Call(INDEX, (*of_shadow, key))
        if value.op.function is np.imag:
            return Call(_IMAGINARY, of_shadow)
        if value.op.function is np.real:
            return replace(value, args=of_shadow)
        if value.op.kind == "attribute":
            return replace(value, args=of_shadow) if value.op.name in ("T", "mT") else None
        if may_view(value.op.function) and dtype_of(value) is not None:
            # The dtype decides whether there is a view; what is cast to integers is a constant.
            if self.fact(value).precision not in ("single", "double"):
                return None
        rule = ops.find(value.op.function)
        if value.op.function is np.diag and self.of[first.name].ndim == 2:
            return Call(_DIAGONAL, (*of_shadow, *(v for _, v in value.kwargs)))
        if value.op.function in (np.diagonal, np.linalg.diagonal):
            return Call(_DIAGONAL, of_shadow, value.kwargs) if value.op.function is np.diagonal else None
        if rule is not None and value.op.kind in ("function", "method") and value.op.function is not np.broadcast_to:
            if rule.result in ("view", "maybe_view") or sharing(value, self.fact) == "view":
                return Call(value.op, of_shadow, value.kwargs)
        return None

    def turned_names(self, params: frozenset[str]) -> frozenset[str]:
        """The buffers that are views of the imaginary part of a complex array; ``params`` are those from outside."""
        found = {p.name for p in self.function.params if p.public in params}
        grown = True
        while grown:
            before = len(found)
            for stmt in walk(self.function.body):
                match stmt:
                    case Assign(target=target, value=Call(args=(Var() as first, *_)) as value) if self.is_buffer(first):
                        known = self.of[first.name]
                        # A container may have a field of that name.
                        of_imaginary = value.op.function is np.imag and not known.real and known.kind not in CONTAINERS
                        if of_imaginary or (first.name in found and self.is_view(value)):
                            found.add(target)
                    case Assign(target=target, value=Var(name=name)) if name in found:
                        found.add(target)
                    case Copy(targets=targets, sources=sources):
                        found.update(t for t, s in zip(targets, sources, strict=True) if found & set(names_in(s)))
                    case Unpack(targets=targets, value=value) if found & set(names_in(value)):
                        found.update(targets)
                    case For(targets=targets, iters=iters):
                        found.update(t for t, i in zip(targets, iters, strict=True) if found & set(names_in(i)))
                    case _:
                        pass
            found = {name for name in found if self.is_buffer(Var(name))}
            grown = len(found) > before
        return frozenset(found)

    def is_view(self, value: Call) -> bool:
        """Whether the result of an operation may be its first operand or a view of it."""
        if value.op.kind == "index":
            return self.is_view_index(value.args[1])
        return value.op.kind == "inplace" or (
            value.op.kind not in ("user", "met") and sharing(value, self.fact) != "fresh"
        )

    def adjoint_of(self, whole: Expr, bar: Expr) -> Expr:
        """The adjoint for which the shadow of ``whole``, or a part ``bar`` of it, stands; and the other way round."""
        return algebra.negate(bar) if self.is_turned(whole) else bar

    def is_turned(self, whole: Expr) -> bool:
        """Whether the shadow of a buffer is minus its adjoint."""
        return isinstance(whole, Var) and whole.name in self.turned

    def is_view_index(self, index: Expr) -> bool:
        """Whether indexing an array of several dimensions so surely gives a view."""
        return is_view_index(index, self.fact)

    def settled(self, name: str, at: list[Stmt]) -> Var:
        """The shadow of a container as it is where ``at`` is put into the forward part, whatever it holds later."""
        raise NotImplementedError

    def moved_shadows(self, stmt: Copy) -> Copy:
        """A move of buffers with the moves of their shadows."""
        targets, sources = list(stmt.targets), list(stmt.sources)
        for target, source in zip(stmt.targets, stmt.sources, strict=True):
            if not self.is_buffer(Var(target)):
                continue
            if self.of[target].kind not in HOLDERS:
                self.refuse_buffer(stmt.origin.line, target)
                continue
            if source == UNSET:
                sources.append(UNSET)
            elif self.is_buffer(source):
                assert isinstance(source, Var)
                if source.name in self.stopped and target not in self.stopped:
                    self.refuse_stopped(stmt.origin.line)
                if self.is_turned(source) != self.is_turned(Var(target)):
                    self.refuse_buffer(stmt.origin.line)
                if self.shadow(source.name) == self.shadow(target):
                    continue
                sources.append(self.shadow(source.name))
            else:
                self.refuse_buffer(stmt.origin.line)
                continue
            targets.append(self.shadow(target).name)
        return replace(stmt, targets=tuple(targets), sources=tuple(sources))

    def refuse_buffer(self, node: Any, name: str = "") -> None:
        """Note a use of an array that is written in place for which there is no adjoint."""
        raise NotImplementedError

    def refuse_stopped(self, node: Any) -> None:
        """Note a use of an array after ``stop_gradient`` that makes it one with an array that is differentiated."""
        raise NotImplementedError

    def taken(self, stmt: Store, bar: Var, index: Expr) -> Expr:
        """The adjoint that ``base[index] = value`` takes out of the shadow, where it becomes zero."""
        name = self.fresh("~t_bar")
        if self.fact(stmt.base).kind == "array" and self.is_view_index(index):
            g = self.let(name, self.taken_out(stmt.base, Call(INDEX, (bar, index))))
            self.emit(Store(bar, index, Const(0.0), None, stmt.origin))
            return g
        g = self.let(name, Call(_TAKE_OUT, (bar, as_value(index))))
        return self.adjoint_of(stmt.base, g)

    def taken_out(self, whole: Expr, part: Expr) -> Expr:
        """The adjoint that stands in a ``part`` of the shadow of ``whole``, copied or computed from it."""
        g = self.adjoint_of(whole, part)
        return g if g != part or self.fact(part).kind == "scalar" else Call(COPY, (part,))


def _is_inplace(stmt: Stmt) -> bool:
    return isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace"


def field_key(whole: Fact, name: str) -> Const | None:
    """Where the shadow of a named tuple or dataclass has the part of a field; None where there is none."""
    names = [key for key, _ in whole.items or ()]
    if name not in names:
        return None
    return Const(name if whole.kind == "dataclass" else names.index(name))


def is_filled(call: Call) -> bool:
    """Whether a call makes an array of a shape that its first argument says."""
    spec = ops.spec_of(call.op.function)
    return spec is not None and spec.parameters[:1] == ("shape",) and spec.result == "fresh"


def mirrors(call: Call) -> bool:
    """Whether the same call gives of a shadow the shadow of the result, if that is a view."""
    spec = ops.spec_of(call.op.function)
    return spec is None or spec.mirrors
