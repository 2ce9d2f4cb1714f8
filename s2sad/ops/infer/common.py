"""How inference functions read arguments: literals, axes, sizes; and types that many operations share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from s2sad.ir.nodes import Build, Call, Const, Expr
from s2sad.ir.sizes import Dims, as_size, broadcast_dims, is_certain, product
from s2sad.ir.sums import Dim, literal_size
from s2sad.ir.types import OPEN, SCALAR, Atom, Fact, broadcast, scalar, sized, some_item

Look = Callable[[Expr], Fact]
Bound = Mapping[str, Expr]


class Types(Protocol):
    """The type of any expression, and new shapes: ``atom(name, below)``."""

    @property
    def atom(self) -> Callable[..., Atom]: ...

    def __call__(self, expr: Expr, /) -> Fact: ...


Infer = Callable[[Bound, Types], Fact | None]
#: The bound of an expression: a number that no element of it is below, not negative; None where none is known.
Bounded = Callable[[Expr], float | None]
#: The bound of a result, from the operands of a call, their types and their bounds.  Arguments that have no say in it
#: (``axis``) are not among the operands; others are, so that a call with more operands than usual has none.
LowerBound = Callable[[Sequence[Expr], Look, Bounded], float | None]

_LITERAL = object()
#: An array of one axis or more.
SOME_ARRAY = Fact("array", extended=True)


# --- literals, axes, sizes


def literal(expr: Expr | None) -> Any:
    """The value of a literal, of a tuple of them too; else an object that equals nothing."""
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Build) and expr.kind == "tuple":
        values = tuple([literal(i) for i in expr.items])
        return _LITERAL if _LITERAL in values else values
    return _LITERAL


def is_flat(axis: Expr | None, fact: Look) -> bool | None:
    """Whether an argument ``axis`` is None, so that an array is flattened; None where that is not known."""
    value = literal(axis)
    if value is None or type(value) is int:
        return value is None
    known = fact(axis).kind if axis is not None else "none"
    return True if known == "none" else False if known == "scalar" else None


def axis_of(expr: Expr | None, ndim: int) -> int | None:
    """A literal axis, counted from the first."""
    value = literal(expr)
    return value % ndim if type(value) is int and -ndim <= value < ndim else None


def certain(dim: Dim) -> bool:
    """Whether it is known of a size if it is 1."""
    return is_certain(dim)


def flat(dims: Dims) -> Dims | None:
    """The size of all elements in one row."""
    size = product(dims)
    return None if size is None else (size,)


def all_real(*facts: Fact) -> bool:
    """Whether all these numbers, and those in lists and tuples, are real."""
    return all(all_real(*(f for _, f in x.items)) if x.items is not None else x.real for x in facts)


def operands(b: Bound, fact: Look) -> list[Fact]:
    """The types of the arguments that are numbers or arrays, or may be: not None, a text, a dtype or a function."""
    known = [(v, fact(v)) for v in b.values()]
    return [f for v, f in known if f.kind != "none" and not (f.kind == "other" and (f.real or isinstance(v, Const)))]


def operands_real(b: Bound, fact: Look) -> bool:
    """Whether all numbers among the arguments are real."""
    return all_real(*(f for f in operands(b, fact) if f.kind != "record"))


def items_of(fact: Fact) -> list[Fact] | None:
    """The types of the items of a list or tuple."""
    return None if fact.items is None or fact.kind not in ("list", "tuple") else [f for _, f in fact.items]


def ndim_of(fact: Fact) -> int | None:
    """The number of axes of an array, a number, or a list of such."""
    if fact.kind in ("list", "tuple"):
        item = some_item(fact)
        inner = None if item is None else ndim_of(item)
        return None if inner is None else inner + 1
    return fact.ndim if fact.kind in ("array", "scalar") else None


def length_of(fact: Fact) -> int | None:
    """How many sizes or repetitions an argument has; a number counts as one."""
    if fact.kind == "scalar":
        return 1
    items = items_of(fact)
    return None if items is None else len(items)


def array_of(dims: Dims | None, ndim: int | None, real: bool) -> Fact | None:
    """An array of sizes or a number of axes that are known, or not; never a number."""
    if dims is not None:
        return sized(dims, real)
    return Fact("array", None, ndim, real) if ndim else None


def dims_of_shape(shape: Fact, expr: Expr) -> Dims | None:
    """The sizes that a shape argument gives: ``n``, ``len(x)``, ``(n, 1)`` or ``x.shape``; where negative, none."""
    numbers = numbers_of_shape(shape, expr)
    return None if numbers is None else tuple(map(as_size, numbers))


def numbers_of_shape(shape: Fact, expr: Expr) -> Dims | None:
    """The numbers in a shape argument, of which one may be negative."""
    if shape.kind == "tuple":
        if shape.items is None:
            return None
        items = expr.items if isinstance(expr, Build) else (None,) * len(shape.items)
        sizes = [_size(f, e) for (_, f), e in zip(shape.items, items, strict=True)]
        return tuple([s for s in sizes if s is not None]) if all(s is not None for s in sizes) else None
    size = _size(shape, expr)
    return None if size is None else (size,)


def _size(fact: Fact, expr: Expr | None) -> Dim | None:
    if isinstance(expr, Const) and isinstance(expr.value, int) and not isinstance(expr.value, bool):
        return literal_size(expr.value) if expr.value >= 0 else None
    return fact.size


def shaped(g: Fact, shape: Expr, fact: Look) -> Fact:
    """What has the shape ``shape``: that of a name, ``np.shape(x)``, or sizes."""
    if isinstance(shape, Call) and (shape.op.function is np.shape or shape.op.name == "shape"):
        x = fact(shape.args[0])
        return Fact(x.kind if x.kind in ("scalar", "array") else "numeric", x.shape, x.ndim, g.real, dims=x.dims)
    dims = dims_of_shape(fact(shape), shape)
    return sized(dims, g.real) if dims else Fact("numeric", real=g.real)


def shape_of(whole: Fact) -> Fact:
    """The shape of an array: a tuple of sizes."""
    if whole.dims is not None:
        return Fact("tuple", items=tuple((i, scalar(True, d)) for i, d in enumerate(whole.dims)))
    if whole.ndim is None:
        return Fact("tuple", each=SCALAR if whole.kind in ("array", "numeric") else None)
    return Fact("tuple", items=tuple((i, SCALAR) for i in range(whole.ndim)))


# --- types that many operations share


def unknown(b: Bound, fact: Look) -> Fact:
    """Something that is real if all operands are."""
    return Fact("open", real=all_real(*operands(b, fact)))


def elementwise(facts: list[Fact]) -> Fact:
    """What an operation gives that works element by element."""
    dims = broadcast_dims([f.dims for f in facts])
    if dims and all(f.kind in ("scalar", "array") for f in facts):
        return sized(dims, all(f.real for f in facts))
    shape = broadcast([f.shape for f in facts])
    real = all(f.real for f in facts)
    if all(f.kind == "scalar" or (f.kind == "array" and f.ndim == 0) for f in facts):
        return scalar(real)
    if not all(f.kind in ("scalar", "array", "numeric", "open", "list", "tuple") for f in facts):
        return OPEN
    ndims = [f.ndim for f in facts]
    ndim = max(n for n in ndims if n is not None) if all(n is not None for n in ndims) else None
    if any(f.kind in ("list", "tuple") for f in facts):
        return OPEN
    sure = any(f.has_axes for f in facts)
    return Fact("array" if sure else "numeric", shape, ndim, real, extended=sure)


def broadcast_of_all(b: Bound, fact: Look) -> Fact:
    """Of the shape to which all operands broadcast."""
    return elementwise(operands(b, fact))


def chosen(b: Bound, fact: Look) -> Fact:
    """As `broadcast_of_all`, but always an array, one without axes of numbers."""
    whole = broadcast_of_all(b, fact)
    return sized((), whole.real) if whole.kind == "scalar" else whole


def number_or_array(b: Bound, fact: Look) -> Fact:
    """As `broadcast_of_all`, but of what is no number of Python's it may give an array without axes."""
    whole = broadcast_of_all(b, fact)
    python = all(f.real and f.kind == "scalar" and f.precision in ("weak", "float") for f in map(fact, b.values()))
    return whole if python or whole.kind != "scalar" else replace(whole, kind="numeric")


def same_as_first(b: Bound, fact: Look) -> Fact:
    """Of the shape of the first operand; of an array without axes it may be a number."""
    whole = fact(next(iter(b.values())))
    sure = whole.has_axes
    return replace(whole, kind="array" if sure else "numeric", size=None) if whole.numeric else unknown(b, fact)


def same_array(b: Bound, fact: Look) -> Fact:
    """As `same_as_first`, for what gives an array without axes for one."""
    whole = fact(next(iter(b.values())))
    return replace(whole, size=None) if whole.kind == "array" else same_as_first(b, fact)


def real_part(b: Bound, fact: Look) -> Fact:
    """As `same_array`, for what is real of complex numbers, too."""
    return replace(same_array(b, fact), real=True)


def modulus(b: Bound, fact: Look) -> Fact:
    """As `same_as_first`, for what is real of complex numbers, too."""
    found = same_as_first(b, fact)
    return found.but(real=True) if found.numeric else found


def first(b: Bound, fact: Look) -> Fact:
    """Of the type of the first operand."""
    return fact(next(iter(b.values())))


def last(b: Bound, fact: Look) -> Fact:
    """Of the type of the last operand."""
    return fact(list(b.values())[-1])


def row(b: Bound, fact: Look) -> Fact:
    """A tuple of the types of all operands."""
    return fact(next(iter(b.values())))


def a_number(b: Bound, fact: Look) -> Fact:
    """A real number."""
    return SCALAR


def number_of_operands(b: Bound, fact: Look) -> Fact:
    """A number, real if all operands are."""
    return scalar(operands_real(b, fact))


def like(x: Fact, real: bool) -> Fact | None:
    """The adjoint of an array ``x``."""
    if x.kind != "array":
        return None
    return Fact("numeric" if x.ndim == 0 else "array", x.shape, x.ndim, real, dims=x.dims)
