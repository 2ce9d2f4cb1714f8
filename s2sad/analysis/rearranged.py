"""What is known of arrays that have the elements of another in another shape, and how arguments are read for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2sad.analysis.shapes import dims_of_shape
from s2sad.ir.nodes import Build, Const, Expr
from s2sad.ir.types import Dim, Dims, Fact, is_symbol, sized

Look = Callable[[Expr], Fact]
Bound = Mapping[str, Expr]
Maker = Callable[[Bound, Look], Fact | None]

_LITERAL = object()


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
    """Whether a size is a symbol or 1: of an expression nobody knows whether it is 1."""
    return str(dim).isalnum()


def flat(dims: Dims) -> Dims | None:
    """The size of all elements in one row."""
    factors = sorted(str(d) for d in dims if d != 1)
    return ("*".join(factors) or 1,) if all(map(certain, dims)) else None


def all_real(*facts: Fact) -> bool:
    """Whether all these numbers, and those in lists and tuples, are real."""
    return all(all_real(*(f for _, f in x.items)) if x.items is not None else x.real for x in facts)


def items_of(fact: Fact) -> list[Fact] | None:
    """The facts about the items of a list or tuple."""
    return None if fact.items is None or fact.kind not in ("list", "tuple") else [f for _, f in fact.items]


def array_of(dims: Dims | None, ndim: int | None, real: bool) -> Fact | None:
    """An array of sizes or a number of axes that are known, or not; never a number."""
    if dims is not None:
        return sized(dims, real)
    return Fact("array", None, ndim, real) if ndim else None


# --- other shapes of the same elements


def _reshape(b: Bound, fact: Look) -> Fact | None:
    a, shape, value = fact(b["a"]), fact(b["shape"]), literal(b["shape"])
    if value in (-1, (-1,)) and (a.numeric or a.kind == "array"):
        return ravel(b, fact)
    dims = dims_of_shape(shape, b["shape"], fact)
    if dims is not None and not all(d == 1 or (is_symbol(d) and str(d)[0] in "nk") for d in dims):
        # One of them may be -1.
        dims = None
    length = len(value) if type(value) is tuple else len(shape.items) if shape.items is not None else None
    return array_of(dims, 1 if shape.kind == "scalar" else length, a.real)


def ravel(b: Bound, fact: Look) -> Fact | None:
    """All elements of ``a`` in one row."""
    a = fact(b["a"])
    return a if a.kind == "array" and a.ndim == 1 else array_of(flat(a.dims) if a.dims else None, 1, a.real)


def _permuted(a: Fact, order: Sequence[int]) -> Fact | None:
    return array_of(None if a.dims is None else tuple([a.dims[i] for i in order]), a.ndim, a.real)


def _transpose(b: Bound, fact: Look) -> Fact | None:
    a, axes = fact(b["a"]), literal(b["axes"])
    if a.ndim is None:
        return None
    if axes is None:
        # Of a number of Python's it makes an array.
        return Fact("numeric", real=a.real) if a.ndim == 0 else a if a.ndim == 1 else _permuted(a, range(a.ndim)[::-1])
    order = [x % a.ndim for x in axes if type(x) is int] if type(axes) is tuple and a.ndim else []
    return _permuted(a, order) if sorted(order) == list(range(a.ndim)) else array_of(None, a.ndim, a.real)


def _matrix_transpose(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["x"])
    return None if a.ndim is None or a.ndim < 2 else _permuted(a, [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2])


def _swapaxes(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    i, j = axis_of(b["axis1"], a.ndim or 0), axis_of(b["axis2"], a.ndim or 0)
    if not a.ndim or i is None or j is None:
        return None
    order = list(range(a.ndim))
    order[i], order[j] = j, i
    return _permuted(a, order)


def _moveaxis(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    i, j = axis_of(b["source"], a.ndim or 0), axis_of(b["destination"], a.ndim or 0)
    if not a.ndim or i is None or j is None:
        return None
    order = [k for k in range(a.ndim) if k != i]
    return _permuted(a, [*order[:j], i, *order[j:]])


def _expand_dims(b: Bound, fact: Look) -> Fact | None:
    a, axis = fact(b["a"]), literal(b["axis"])
    if a.ndim is None or type(axis) is not int or not -a.ndim - 1 <= axis <= a.ndim:
        return None
    at = axis % (a.ndim + 1)
    return array_of(None if a.dims is None else (*a.dims[:at], 1, *a.dims[at:]), a.ndim + 1, a.real)


def _squeeze(b: Bound, fact: Look) -> Fact | None:
    a, axis = fact(b["a"]), literal(b["axis"])
    if a.dims is None or not all(map(certain, a.dims)):
        return None
    axes = range(len(a.dims)) if axis is None else axis if type(axis) is tuple else (axis,)
    if not all(type(i) is int and -len(a.dims) <= i < len(a.dims) for i in axes):
        return None
    gone = {i % len(a.dims) for i in axes}
    dims = tuple([d for i, d in enumerate(a.dims) if d != 1 or i not in gone])
    return sized(dims, a.real) if dims else None


def _triangle(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["m"])
    return a if a.kind == "array" and a.ndim is not None and a.ndim > 1 else None


def _diag(b: Bound, fact: Look) -> Fact | None:
    v, main = fact(b["v"]), literal(b["k"]) == 0
    if v.ndim == 1:
        return array_of((*v.dims, *v.dims) if v.dims and main else None, 2, v.real)
    if v.ndim == 2:
        square = v.dims is not None and v.dims[0] == v.dims[1]
        return array_of(v.dims[:1] if v.dims and square and main else None, 1, v.real)
    return None


REARRANGED: dict[Any, Maker] = {
    np.reshape: _reshape,
    np.ravel: ravel,
    np.transpose: _transpose,
    np.matrix_transpose: _matrix_transpose,
    np.swapaxes: _swapaxes,
    np.moveaxis: _moveaxis,
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.tril: _triangle,
    np.triu: _triangle,
    np.diag: _diag,
}
