"""Products that sum over axes, and linear algebra."""

from __future__ import annotations

from typing import Any

from s2sad.ir.nodes import Build, Const
from s2sad.ir.sizes import Dims, broadcast_dims
from s2sad.ir.sums import exactly, literal_size
from s2sad.ir.types import Fact, made_of, scalar, sized
from s2sad.ops.infer.axes import Rank, most, with_known_axes
from s2sad.ops.infer.common import (
    Bound,
    Infer,
    Look,
    all_real,
    array_of,
    elementwise,
    flat,
    items_of,
    length_of,
    literal,
    ndim_of,
    operands_real,
)
from s2sad.runtime.einsum import parse_einsum


def product(stacked: bool) -> Infer:
    """``a @ b``, or ``np.dot(a, b)``, which is the same unless matrices are ``stacked``."""

    def infer(b: Bound, fact: Look) -> Fact:
        x, y = (fact(v) for v in b.values())
        return _product(x, y, x.real and y.real, stacked)

    return infer


def _product(a: Fact, b: Fact, real: bool, stacked: bool) -> Fact:
    if a.ndim == 1 and b.ndim == 1:
        return scalar(real)
    if not stacked and 0 in (a.ndim, b.ndim):
        return elementwise([a, b])
    if a.dims and b.dims and len(a.dims) <= 2 and len(b.dims) <= 2:
        return made_of((*a.dims[:-1], *b.dims[:-2], *(b.dims[-1:] if len(b.dims) > 1 else ())), real)
    if stacked and a.dims and b.dims and len(a.dims) > 1 and len(b.dims) > 1:
        batch = broadcast_dims([a.dims[:-2], b.dims[:-2]])
        if batch is not None:
            return sized((*batch, a.dims[-2], b.dims[-1]), real)
    if a.ndim and b.ndim:
        if stacked and max(a.ndim, b.ndim) > 2:
            return Fact("array", None, max(a.ndim, b.ndim) - (min(a.ndim, b.ndim) == 1), real)
        return Fact("array", None, a.ndim + b.ndim - 2, real)
    return Fact("numeric", None, None, real)


def outer(b: Bound, fact: Look) -> Fact:
    x, y = (fact(v) for v in b.values())
    real = operands_real(b, fact)
    rows, columns = [None if f.dims is None else f.dims if len(f.dims) == 1 else flat(f.dims) for f in (x, y)]
    known = rows is not None and columns is not None
    return sized((*rows, *columns), real) if known else Fact("array", None, 2, real)  # type: ignore[misc]


def contracted(left: int, right: int, own: int) -> Rank:
    """Of a product that sums over ``left`` and ``right`` axes of its operands, with ``own`` left of these."""

    def rank(b: Bound, fact: Look) -> int | None:
        a, v = ndim_of(fact(b["x1"])), ndim_of(fact(b["x2"]))
        return None if a is None or v is None or a < left or v < right else max(a - left, v - right) + own

    return rank


def chained(b: Bound, fact: Look) -> int | None:
    items = items_of(fact(b["arrays"])) or []
    ends = [ndim_of(f) for f in (*items[:1], *items[-1:])]
    found = None if len(items) < 2 or None in ends else sum(n for n in ends if n is not None) - 2
    return None if found is None or found < 0 else found


def crossed(b: Bound, fact: Look) -> Fact | None:
    """Of vectors of two components there is one number each: one axis less than of vectors of three."""
    facts = [fact(b["a"]), fact(b["b"])]
    ndim, last = most("a", "b")(b, fact), all(literal(b[axis]) == -1 for axis in ("axisa", "axisb"))
    sizes = [len(items) if (items := items_of(f)) is not None else exactly(f.dims[-1]) if f.dims else 0 for f in facts]
    if literal(b["axis"]) is None and last and 3 in sizes:
        outer = broadcast_dims([() if ndim_of(f) == 1 else f.dims and f.dims[:-1] for f in facts])
        if outer is not None and literal(b["axisc"]) == -1:
            return sized((*outer, literal_size(3)), all_real(*facts))
        return None if ndim is None else Fact("array", None, ndim, all_real(*facts))
    return Fact("array", None, None, all_real(*facts), extended=True) if (ndim or 0) > 1 else None


def _tensordot_axes(b: Bound, fact: Look) -> int | None:
    ndims, axes = [ndim_of(fact(b[name])) for name in ("a", "b")], fact(b["axes"])
    count: Any = literal(b["axes"])
    pair = items_of(axes)
    if pair is not None and len(pair) == 2:
        count = length_of(pair[0])
    if type(count) is not int or None in ndims:
        return None
    return sum(n for n in ndims if n is not None) - 2 * count or None  # otherwise an array without axes


def inner(b: Bound, fact: Look) -> Fact | None:
    x, y = fact(b["a"]), fact(b["b"])
    if x.dims and y.dims:
        return made_of((*x.dims[:-1], *y.dims[:-1]), all_real(x, y))
    return scalar(all_real(x, y)) if x.ndim == y.ndim == 1 else None


def tensordot(b: Bound, fact: Look) -> Fact | None:
    x, y, n = fact(b["a"]), fact(b["b"]), literal(b["axes"])
    if type(n) is not int or x.dims is None or y.dims is None or not 0 <= n <= min(len(x.dims), len(y.dims)):
        return with_known_axes(_tensordot_axes)(b, fact)
    dims = (*x.dims[: len(x.dims) - n], *y.dims[n:])
    return sized(dims, all_real(x, y)) if dims else None


def einsum(b: Bound, fact: Look) -> Fact | None:
    subscripts, operands = literal(b["subscripts"]), b["operands"]
    facts = [fact(o) for o in operands.items] if isinstance(operands, Build) else []
    ndims = [f.ndim for f in facts if f.ndim is not None]
    if not isinstance(subscripts, str) or not facts or len(ndims) < len(facts):
        return None
    try:
        terms, output = parse_einsum(subscripts, ndims)
    except ValueError:
        return None
    if not output:
        if b["optimize"] != Const(False):  # then an array without axes may come back
            return None
        return scalar(all_real(*facts))
    sizes: dict[str, list[Dims | None]] = {}
    for term, f in zip(terms, facts, strict=True):
        for letter, dim in zip(term, f.dims or (None,) * len(term), strict=False):
            sizes.setdefault(letter, []).append(None if dim is None else (dim,))
    found = [broadcast_dims(sizes.get(letter, [None])) for letter in output]
    dims = tuple([d[0] for d in found if d])
    return array_of(dims if len(dims) == len(output) else None, len(output), all_real(*facts))


def einsum_of_one(b: Bound, fact: Look) -> Fact | None:
    """That of one operand, as a view."""
    return einsum({**b, "operands": Build("tuple", (b["a"],)), "optimize": Const(False)}, fact)
