"""Build adjoint statements: names, facts about them, and expressions as a person would write them."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from s2sad.analysis.bounds import SMALLEST, lower_bound
from s2sad.analysis.evaluate import Evaluator
from s2sad.analysis.infer import Facts
from s2sad.differentiate.selections import Selection, picked
from s2sad.ir import algebra
from s2sad.ir.nodes import (
    NOWHERE,
    Assign,
    Build,
    Call,
    Const,
    Expr,
    Function,
    Global,
    Op,
    Origin,
    Slice,
    Stmt,
    Unpack,
    Var,
)
from s2sad.ir.sizes import NOTHING, is_certain
from s2sad.ir.sums import Dim
from s2sad.ir.traverse import base, map_children, names_in, reads, walk, writes
from s2sad.ir.types import Atom, Fact, same_shape
from s2sad.ops.infer.common import axis_of
from s2sad.runtime import add, unbroadcast, unreduce, zeros
from s2sad.runtime.arrays import count

ZEROS_LIKE = Op("runtime", "np.zeros_like", np.zeros_like)
ZEROS = Op("runtime", "zeros", zeros)
ADD = Op("runtime", "add", add)
SUM = Op("runtime", "np.sum", np.sum)
BROADCAST = Op("runtime", "np.broadcast_to", np.broadcast_to)
UNBROADCAST = Op("runtime", "unbroadcast", unbroadcast)
SHAPE = Op("runtime", "np.shape", np.shape)
SHAPE_ATTRIBUTE = Op("attribute", "shape")
COPY = Op("method", "copy", np.copy)
#: A copy that lies in memory as the array does.
COPY_IN_LAYOUT = Op("runtime", "np.copy", np.copy)
INDEX = Op("index", "[]")
LEN = Op("runtime", "len", len)
_SIZE = Op("runtime", "np.size", np.size)
_SIZE_ATTRIBUTE = Op("attribute", "size")
_SLICE = Op("runtime", "slice", slice)
_MAX = Op("runtime", "max", max)
_TEMPORARIES = ("~t", "~t_bar")
#: What follows the number of another name that belongs to the same one.
_PRIME = "'"


class _Types(dict[str, Fact]):
    """The types of names, and of the expressions that were asked for."""

    def evaluator(self, global_facts: Mapping[str, Fact]) -> Evaluator:
        """What finds the types of expressions; it forgets them when a name gets another type."""
        self.expressions = Evaluator(self, global_facts)
        return self.expressions

    def __setitem__(self, name: str, fact: Fact) -> None:
        if name in self and self[name] != fact:
            self.expressions.known.clear()
        super().__setitem__(name, fact)

    def update(self, facts: Mapping[str, Fact]) -> None:  # type: ignore[override]
        for name, fact in facts.items():
            self[name] = fact


class Builder:
    """Emits statements into ``out`` and knows the facts about every name, old and new.

    Statements of the forward part go ``before`` or ``after`` the one at hand.  With ``again`` what is emitted is to be
    differentiated itself.
    """

    def __init__(self, function: Function, facts: Facts, again: bool = False) -> None:
        self.function, self.again = function, again
        self.of = _Types(facts.of)
        self.fact: Callable[[Expr], Fact] = self.of.evaluator(facts.globals)
        self.out: list[Stmt] = []
        self.before: list[Stmt] = []
        self.after: list[Stmt] = []
        self.origin: Origin = NOWHERE
        self.counters: dict[str, int] = {}
        #: How many adjoints temporaries have had.
        self.bars: Counter[str] = Counter()
        self.lazy: dict[str, Expr] = {}
        #: The definitions of names whose value nothing changes, as far as they are known.
        self.steady: dict[str, Expr] = {}
        #: The names whose objects may change while the function runs, and the definitions of the others.
        self.changing: Set[str] = frozenset()
        self.unchanged: Mapping[str, Expr] = {}
        self.broadcasts: dict[str, Expr] = {}
        #: The adjoints that are selections.
        self.selected: dict[str, Selection] = {}
        names: list[str] = [*(p.name for p in function.params), *self.of]
        for stmt in walk((*function.body, *(function.reverse or ()))):
            names += writes(stmt)
            names += reads(stmt)
        for name in names:
            stem, _, number = name.partition(".")
            if stem == "~t_bar":
                self.bars[f"~t.{number.rstrip(_PRIME)}"] += 1
            self.counters[stem] = max(self.counters.get(stem, 0), int(number.rstrip(_PRIME) or 0))
        #: The variables of the function itself; one may be called as our adjoint of another.
        self.variables = frozenset(self.counters)
        #: By their shape: parameters, and what stands for arrays of the module where that has been assigned.
        self.shaped: dict[frozenset[Atom], str] = {}
        self.params = frozenset(p.name for p in function.params)
        #: The names that are assigned in no loop or branch.
        self.outer = self.params.union(*map(writes, function.body))
        for param in function.params:
            self._note_shape(param.name)

    def pass_by(self, stmt: Stmt) -> None:
        """Take note of the arrays of the module, or in an argument, that a statement now behind has given names."""
        if isinstance(stmt, Assign) and (isinstance(stmt.value, Global) or self._is_part(stmt.value)):
            self._note_shape(stmt.target)
        elif isinstance(stmt, Unpack) and stmt.star is None and self._is_part(stmt.value):
            for target in stmt.targets:
                self._note_shape(target)

    def _is_part(self, value: Expr) -> bool:
        """Whether a value is an argument that holds others, or what is in one."""
        while isinstance(value, Call) and value.op.kind in ("index", "attribute"):
            value = value.args[0]
        return isinstance(value, Var) and value.name in self.params and not self.of[value.name].numeric

    def _note_shape(self, name: str) -> None:
        fact = self.of.get(name)
        if fact is not None and fact.shape and fact.numeric:
            self.shaped.setdefault(fact.shape, name)

    def fresh(self, stem: str) -> str:
        """A new name, a version of ``stem``; no temporary has the number of an adjoint that is another's."""
        together = _TEMPORARIES if stem in _TEMPORARIES else (stem,)
        number = max(self.counters.get(s, 0) for s in together) + 1
        self.counters[stem] = number
        return f"{stem}.{number}"

    def bar(self, name: str) -> str:
        """A new name for an adjoint of ``name``; who reads the text again tells lists from numbers by their names."""
        if self.again and name.startswith("~") and self.of[name].kind in ("list", "tuple", "dict"):
            return self.fresh("~items_bar")
        if name.startswith("~t."):
            self.bars[name] += 1
            return f"~t_bar.{name.removeprefix('~t.')}" + _PRIME * (self.bars[name] - 1)
        stem = f"{base(name)}_bar"
        return self.fresh(f"~{stem}" if stem in self.variables else stem)

    def narrow(self, g: Expr) -> Expr:
        """An adjoint as what broadcasts to it, where it is known to be broadcast."""
        g = self.lazy.get(g.name, g) if isinstance(g, Var) else g
        return g.args[0] if isinstance(g, Call) and g.op.function is np.broadcast_to else g

    def emit(self, stmt: Stmt) -> None:
        """Add a statement to what is written."""
        self.out.append(stmt)

    @contextmanager
    def into(self, out: list[Stmt]) -> Iterator[list[Stmt]]:
        """Add the statements that are emitted within the context to ``out``."""
        outer, self.out = self.out, out
        yield out
        self.out = outer

    def hold(self, name: str, value: Expr) -> Var:
        """``name = value`` before the statement at hand, in the forward part."""
        self.of[name] = self.named(self.fact(value), name)
        self.before.append(Assign(name, value, self.origin))
        return Var(name)

    def let(self, name: str, value: Expr, fact: Fact | None = None) -> Var:
        """``name = value``."""
        self.emit(Assign(name, value, self.origin))
        self.of[name] = fact if fact is not None else self.named(self.fact(value), name)
        return Var(name)

    def note_picked(self, bar: Expr | None, rarely: bool) -> None:
        """Note that the adjoint ``bar`` is zero but for elements that have been picked."""
        if isinstance(bar, Var) and self.of[bar.name].kind == "array":
            self.selected[bar.name] = picked(bar, rarely)

    def named(self, fact: Fact, name: str) -> Fact:
        """``fact`` with an atom of its own where its shape is not known."""
        if fact.shape is None and fact.kind in ("array", "numeric", "open"):
            return replace(fact, shape=frozenset({Atom(name)}))
        return fact

    # --- expressions

    def shape_of(self, x: Expr) -> Expr:
        """The shape of ``x``, read from an argument of the same shape where there is one."""
        if self.fact(x).shape == frozenset():
            return Build("tuple", ())
        x = self.of_same_shape(x)
        return Call(SHAPE_ATTRIBUTE if self.fact(x).kind == "array" else SHAPE, (x,))

    def of_same_shape(self, x: Expr) -> Expr:
        """An argument or array of the module that has the shape of ``x``, else the base of a power, else ``x``."""
        stand_in = self.shaped.get(self.fact(x).shape or frozenset())
        if stand_in is not None:
            return Var(stand_in)
        made = self.steady.get(x.name) if isinstance(x, Var) and x.name[0] == "~" else None
        if isinstance(made, Call) and made.op == algebra.POWER and same_shape(self.fact(made.args[0]), self.fact(x)):
            # The derivative of the power needs its base.
            return made.args[0]
        return x

    def size_of(self, x: Expr) -> Expr:
        """The number of elements of an array, read from an argument of the same shape, or with such an axis."""
        dims = self.fact(x).dims
        if dims is not None and len(dims) == 1:
            for param in self.function.params:
                own = self.of[param.name].dims
                if own is not None and dims[0] in own and param.name not in names_in(x):
                    if own.index(dims[0]) == 0:
                        return Call(LEN, (Var(param.name),))
                    return Call(INDEX, (Call(SHAPE_ATTRIBUTE, (Var(param.name),)), Const(own.index(dims[0]))))
        same = self.of_same_shape(x)
        return Call(_SIZE_ATTRIBUTE, (same if self.fact(same).kind == "array" else x,))

    def zeros(self, x: Expr) -> Expr:
        """The zero adjoint of ``x``."""
        fact = self.fact(x)
        if fact.kind == "scalar":
            return Const(0.0)
        if isinstance(x, Var) and x.name not in self.outer:
            # What lives as long as the function need not be saved.
            same = self.of_same_shape(x)
            like = self.fact(same)
            same_dtype = like.precision == fact.precision != "" and like.real == fact.real
            if like.kind == fact.kind == "array" and same_dtype and not like.boxed:
                x = same
        # The zeros of an array that may be of integers are floats.
        return Call(ZEROS_LIKE if fact.kind == "array" and fact.precision != "" else ZEROS, (x,))

    def plain(self, g: Expr, like: Fact) -> Expr:
        """``g`` without its broadcast, where an operand of shape ``like`` makes up for it."""
        if not same_shape(self.fact(g), like):
            return g
        if isinstance(g, Call) and g.op.function is np.broadcast_to:
            return g.args[0]
        return self.lazy.get(g.name, g) if isinstance(g, Var) else g

    def tidy(self, expr: Expr) -> Expr:
        """An adjoint expression as a person would write it, with what is known of its names."""
        expr = map_children(self.lowered(expr), self.tidy)
        if isinstance(expr, Call) and expr.op == algebra.IF and isinstance(expr.args[0], Const):
            return expr.args[1 if expr.args[0].value else 2]
        if isinstance(expr, Call):
            if expr.op.function is np.real and self.fact(expr.args[0]).real and self.fact(expr.args[0]).numeric:
                return expr.args[0]
            if expr.op == algebra.POWER and expr.args[1] == Const(2) and self.fact(expr.args[0]).kind == "scalar":
                if isinstance(expr.args[0], Var):
                    return Call(algebra.MULTIPLY, (expr.args[0], expr.args[0]))
            if expr.op.function in (np.where, np.bitwise_and) and _is_true(expr.args[0 if len(expr.args) == 3 else -1]):
                # No mask was given.
                return expr.args[1 if len(expr.args) == 3 else 0]
            if expr.op.function is np.where and len(expr.args) == 3:
                expr = self.among(expr)
            if expr.op.kind == "runtime" and ("dtype", Const(None)) in expr.kwargs:
                return replace(expr, kwargs=tuple([k for k in expr.kwargs if k != ("dtype", Const(None))]))
            if expr.op == SUM and len(expr.args) == 1 and not expr.kwargs and self.fact(expr.args[0]).kind == "scalar":
                return expr.args[0]
            if expr.op == INDEX and isinstance(expr.args[0], Build) and expr.args[0].kind == "tuple":
                return algebra.known_item(*expr.args) or expr
            if _is_transpose(expr) and self.fact(expr.args[0]).ndim == 2:
                return Call(algebra.MATRIX_TRANSPOSE, expr.args)
            if expr.op == algebra.SUBTRACT and expr.args[1] == Const(0):
                return expr.args[0]
            if expr.op in (algebra.MULTIPLY, algebra.DIVIDE):
                a, b = expr.args
                expr = replace(expr, args=(self.plain(a, self.fact(b)), b))
        if isinstance(expr, Call) and expr.op == algebra.ROOT_QUOTIENT:
            expr = self.over_root(*expr.args)
        expr = algebra.outermost(expr)
        if isinstance(expr, Call) and expr.op == algebra.BY_DIVISOR and self.is_positive(expr.args[2]):
            g, q, b = expr.args
            return algebra.divide(algebra.negate(algebra.multiply(g, q)), b)
        if isinstance(expr, Call) and expr.op == algebra.QUOTIENT:
            a, b = expr.args
            if self.is_positive(b):
                return algebra.divide(a, b)
            # A branch would have no derivative by ``a`` where that is zero.
            short = isinstance(algebra.factor(a), Var) and not self.again
            if short and self.fact(a).kind == self.fact(b).kind == "scalar":
                return algebra.guarded(algebra.factor(a), a, b)
        return expr

    def among(self, choice: Call) -> Call:
        """A choice by a condition of two adjoints, without their broadcasts where another operand has the shape."""
        condition, *values = choice.args
        for i in (0, 1):
            for other in (condition, values[1 - i]):
                values[i] = self.plain(values[i], self.fact(other))
        return replace(choice, args=(condition, *values))

    def over_root(self, a: Expr, b: Expr, x: Expr) -> Expr:
        """The adjoint of the operand ``x`` of a root ``b``: zero where a root of what is never negative vanishes."""
        if self.is_positive(b) or self.lower_bound(x) is None:
            return Call(algebra.QUOTIENT, (a, b))
        if isinstance(a, Const) and self.fact(b).kind == "scalar" and isinstance(b, Var):
            return algebra.guarded(b, a, b)
        return Call(algebra.QUOTIENT_OR_ZERO, (a, b))

    def lower_bound(self, x: Expr) -> float | None:
        """What a value is never below, if that is not negative; see `s2sad.analysis.bounds`."""
        return lower_bound(x, self.steady, self.fact)

    def is_positive(self, x: Expr) -> bool:
        """Whether a value surely has no zeros and is not negative, as a root of what was added to a positive number."""
        return self.fact(x).precision != "" and (self.lower_bound(x) or 0.0) >= SMALLEST

    def times(self, z_bar: Expr, partial: Expr) -> Expr:
        """``z_bar * partial``; the broadcast of a seed is left out where ``partial`` has the full shape."""
        partial = self.tidy(partial)
        if isinstance(z_bar, Var) and z_bar.name in self.lazy and self.of[z_bar.name].shape != self.fact(partial).shape:
            if partial == Const(1):
                return z_bar
            shape = self.broadcasts[z_bar.name]
            return Call(BROADCAST, (algebra.multiply(self.lazy[z_bar.name], partial), shape))
        return algebra.multiply(self.plain(z_bar, self.fact(partial)), partial)

    def plus(self, a: Expr, b: Expr, like: Expr) -> Expr:
        """The sum of two adjoints of ``like``."""
        if not (self.fact(like).numeric or self.of_numbers(a, b)):
            return Call(ADD, (a, b))
        plain = self.plain(b, self.fact(a))
        return algebra.add(a if plain is not b else self.plain(a, self.fact(b)), plain)

    def of_numbers(self, a: Expr, b: Expr) -> bool:
        return self.fact(a).kind in ("scalar", "array") and self.fact(b).kind in ("scalar", "array")

    def unbroadcast(self, g: Expr, x: Expr) -> Expr:
        """``g`` summed over the axes along which ``x`` was broadcast; ``g`` where none can be."""
        target, source = self.fact(x), self.fact(g)
        # An operand is not None.
        target = target.given or target
        if same_shape(target, source) or (source.shape and target.shape and source.shape <= target.shape):
            # What it was broadcast to has no axis that is longer.
            return g
        if target.shape == frozenset():
            return Call(SUM, (g,))
        if source.shape == frozenset():
            return Call(BROADCAST, (g, self.shape_of(x)))
        if target.dims is not None and source.dims is not None:
            extra = len(source.dims) - len(target.dims)
            inner = source.dims[extra:] if extra >= 0 else ()
            kept = [i for i, (t, s) in enumerate(zip(target.dims, inner, strict=False)) if t == 1 and s != 1]
            plain = extra >= 0 and all(itertools.starmap(_fits, zip(target.dims, inner, strict=True)))
            if plain and not extra and not kept:
                return g
            if plain and extra and not kept:
                return Call(SUM, (g,), (("axis", _literal(0 if extra == 1 else tuple(range(extra)))),))
            if plain and kept and not extra:
                axis = kept[0] if len(kept) == 1 else tuple(kept)
                return Call(SUM, (g,), (("axis", _literal(axis)), ("keepdims", Const(True))))
        if target.shape is not None and len(target.shape) == 1:
            (atom,) = target.shape
            if atom.name.startswith("keep(") and atom.below == source.shape:
                axis = ast.literal_eval(atom.name.rpartition(";")[2][:-1])
                return Call(SUM, (g,), (("axis", _literal(axis)), ("keepdims", Const(True))))
        return Call(UNBROADCAST, (g, self.shape_of(x)))

    def untransposed(self, expr: Expr) -> Expr:
        """An expression of the function's names with ``x`` for ``t.T`` where ``t`` is ``x.T``, a matrix."""
        expr = map_children(expr, self.untransposed)
        if not (isinstance(expr, Call) and _is_transpose(expr) and self.fact(expr.args[0]).ndim == 2):
            return expr
        inner = expr.args[0]
        made = self.steady.get(inner.name) if isinstance(inner, Var) else inner
        return made.args[0] if isinstance(made, Call) and _is_transpose(made) else expr

    def lowered(self, expr: Expr) -> Expr:
        """Expand helpers whose arguments are known: ``unreduce`` of a full sum is a broadcast."""
        if isinstance(expr, Call) and expr.op.function is unreduce and len(expr.args) == 4 and not expr.kwargs:
            g, shape, axis, keepdims = expr.args
            inner = self.lazy.get(g.name, g) if isinstance(g, Var) else g
            if isinstance(inner, Call) and inner.op.function is np.broadcast_to:
                inner = inner.args[0]
            if self.fact(inner).kind == "scalar":
                return Call(BROADCAST, (inner, self.short(shape)))
            whole = isinstance(axis, Const) and axis.value is None
            if whole or keepdims == Const(True):
                return Call(BROADCAST, (g, self.short(shape)))
            aligned = self.aligned(g, shape, axis) if keepdims == Const(False) else None
            if aligned is not None:
                return Call(BROADCAST, (aligned, self.short(shape)))
            return Call(expr.op, (g, self.short(shape), axis, keepdims))
        if isinstance(expr, Call) and expr.op.function is count:
            return self.counted(expr)
        if isinstance(expr, Call) and expr.op.function is unbroadcast and isinstance(expr.args[1], Call):
            shape = expr.args[1]
            if shape.op.function is np.shape:
                return self.unbroadcast(self.lowered(expr.args[0]), shape.args[0])
        if isinstance(expr, Call) and expr.op.function is np.shape:
            return self.shape_of(expr.args[0])
        return expr

    def aligned(self, g: Expr, shape: Expr, axis: Expr) -> Expr | None:
        """``g`` with axes of size 1 in place of those that a reduction along ``axis`` took from ``shape``."""
        x = _read_of(shape)
        ndim = None if x is None else self.fact(x).ndim
        reduced = _axes(axis, ndim)
        if not reduced or ndim is None:
            return None
        if reduced == tuple(range(len(reduced))):
            # Broadcasting puts the first ones back.
            return g
        if self.fact(g).ndim != ndim - len(reduced):
            return None
        kept = tuple([Const(None) if i in reduced else algebra.WHOLE for i in range(ndim)])
        return Call(INDEX, (g, Build("tuple", kept)))

    def counted(self, expr: Call) -> Expr:
        """How many elements a reduction adds up: of one axis its size, of all the size of the array, at least 1."""
        shape, axis = expr.args
        x = _read_of(shape)
        if x is None:
            return expr
        ndim = self.fact(x).ndim
        reduced = _axes(axis, ndim)
        if axis == Const(None) or (ndim == 1 and reduced):
            size = self.size_of(x) if self.fact(x).kind == "array" else Call(_SIZE, (x,))
            return size if self.has_elements(x) else Call(_MAX, (size, Const(1)))
        # The adjoint of the result is an array: it may be divided by zero.
        return Call(INDEX, (self.shape_of(x), Const(reduced[0]))) if len(reduced) == 1 else expr

    def has_elements(self, x: Expr) -> bool:
        """Whether an array surely is not empty."""
        dims = self.fact(x).dims
        return dims is not None and all(is_certain(d) and d != NOTHING for d in dims)

    def short(self, shape: Expr) -> Expr:
        if isinstance(shape, Call) and shape.op.function is np.shape:
            return self.shape_of(shape.args[0])
        return shape


def _read_of(shape: Expr) -> Expr | None:
    """The array whose shape an expression reads."""
    return shape.args[0] if isinstance(shape, Call) and shape.op in (SHAPE, SHAPE_ATTRIBUTE) else None


def _axes(axis: Expr, ndim: int | None) -> tuple[int, ...]:
    """The axes that an argument names, in order and counted from the first; none where they are not known."""
    items = axis.items if isinstance(axis, Build) else (axis,)
    found = [axis_of(item, ndim) for item in items] if ndim else []
    return () if None in found else tuple(sorted(i for i in found if i is not None))


def _is_transpose(call: Call) -> bool:
    return call.op.kind == "attribute" and call.op.name == "T"


def _is_true(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value is True


def as_value(index: Expr) -> Expr:
    """An index as an argument of a call: ``slice(1, None)`` for ``1:``."""
    if isinstance(index, Slice):
        bounds = [Const(None) if p is None else p for p in (index.lower, index.upper, index.step)]
        if index.step is None:
            bounds.pop()
            if index.lower is None:
                bounds.pop(0)
        return Call(_SLICE, tuple(bounds))
    if isinstance(index, Build):
        return Build(index.kind, tuple(as_value(i) for i in index.items))
    return index


def _fits(target: Dim, source: Dim) -> bool:
    """Whether an axis of ``target`` size that was broadcast to one of ``source`` size is 1 long, or as long."""
    return target in (1, source) or is_certain(target)


def _literal(value: object) -> Expr:
    if isinstance(value, tuple):
        return Build("tuple", tuple(_literal(v) for v in value))
    return Const(value)
