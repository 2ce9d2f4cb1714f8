"""How many axes the results of functions have of which nothing else is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.analysis.rearranged import Bound, Look, Maker, all_real, is_flat, items_of, literal
from s2sad.ir.types import Fact, scalar, some_item

Rank = Callable[[Bound, Look], int | None]


def _of(rank: Rank) -> Maker:
    """An array of as many axes as ``rank`` says; if that is None, of one or more; if it is 0, a number."""

    def maker(b: Bound, fact: Look) -> Fact | None:
        facts = [f for f in map(fact, b.values()) if f.kind not in ("none", "other")]
        real = all(f.kind != "open" for f in facts) and all_real(*facts)
        ndim = rank(b, fact)
        return scalar(real) if ndim == 0 else Fact("array", None, ndim, real, extended=ndim is None)

    return maker


def _known(rank: Rank) -> Maker:
    """As `_of`, but nothing is known where ``rank`` is not."""
    made = _of(rank)
    return lambda b, fact: None if rank(b, fact) is None else made(b, fact)


def _always(ndim: int) -> Rank:
    return lambda b, fact: ndim


def _same(name: str, least: int = 1) -> Rank:
    """As many as the argument called ``name``, and ``least`` of them."""

    def rank(b: Bound, fact: Look) -> int | None:
        ndim = _ndim(fact(b[name]))
        return None if ndim is None else max(least, ndim)

    return rank


def _along(name: str) -> Rank:
    """As many as the argument called ``name``, or one where it is flattened for want of an axis."""

    def rank(b: Bound, fact: Look) -> int | None:
        ndim, flattened = _same(name)(b, fact), is_flat(b["axis"], fact)
        return 1 if flattened or ndim == 1 else ndim if flattened is not None else None

    return rank


def _most(*names: str) -> Rank:
    """As many as that of the arguments which has most, all of which are known."""

    def rank(b: Bound, fact: Look) -> int | None:
        found = [_ndim(fact(b[name])) for name in names]
        return None if None in found else max(n for n in found if n is not None)

    return rank


def _joined(least: int) -> Rank:
    """As many as that of the arrays in the list ``tup`` which has most, and ``least`` of them."""

    def rank(b: Bound, fact: Look) -> int | None:
        items, whole = items_of(fact(b["tup"])), _ndim(fact(b["tup"]))
        found = [_ndim(f) for f in items] if items is not None else [None if whole is None else whole - 1]
        return None if None in found else max([least, *(n for n in found if n is not None)])

    return rank


def _ndim(fact: Fact) -> int | None:
    """The number of axes of an array, a number, or a list of such."""
    if fact.kind in ("list", "tuple"):
        item = some_item(fact)
        inner = None if item is None else _ndim(item)
        return None if inner is None else inner + 1
    return fact.ndim if fact.kind in ("array", "scalar") else None


def _length(fact: Fact) -> int | None:
    """How many sizes or repetitions an argument has; a number counts as one."""
    if fact.kind == "scalar":
        return 1
    items = items_of(fact)
    return None if items is None else len(items)


def _tile(b: Bound, fact: Look) -> int | None:
    ndim, length = _ndim(fact(b["A"])), _length(fact(b["reps"]))
    return None if ndim is None or length is None else max(ndim, length) or None


def _resize(b: Bound, fact: Look) -> int | None:
    return _length(fact(b["new_shape"])) or None


def _take(b: Bound, fact: Look) -> int | None:
    ndim, places = _ndim(fact(b["a"])), _ndim(fact(b["indices"]))
    flat = is_flat(b["axis"], fact)
    if ndim is None or places is None or flat is None:
        return None
    return places if flat else max(ndim, 1) - 1 + places


def _trace(b: Bound, fact: Look) -> int | None:
    ndim = _ndim(fact(b["a"]))
    return None if ndim is None or ndim < 2 else ndim - 2


def _product(left: int, right: int, own: int) -> Rank:
    """Of a product that sums over ``left`` and ``right`` axes of its operands, with ``own`` left of these."""

    def rank(b: Bound, fact: Look) -> int | None:
        a, v = _ndim(fact(b["x1"])), _ndim(fact(b["x2"]))
        return None if a is None or v is None or a < left or v < right else max(a - left, v - right) + own

    return rank


def _multi_dot(b: Bound, fact: Look) -> int | None:
    items = items_of(fact(b["arrays"])) or []
    ends = [_ndim(f) for f in (*items[:1], *items[-1:])]
    return None if len(items) < 2 or None in ends else sum(n for n in ends if n is not None) - 2


def _cross(b: Bound, fact: Look) -> Fact | None:
    """Of vectors of two components there is one number each: one axis less than of vectors of three."""
    facts = [fact(b["a"]), fact(b["b"])]
    ndim, last = _most("a", "b")(b, fact), all(literal(b[axis]) == -1 for axis in ("axisa", "axisb"))
    sizes = {str(len(items)) if (items := items_of(f)) is not None else f.dims and f.dims[-1] for f in facts}
    if literal(b["axis"]) is None and last and not sizes.isdisjoint(("3", "k3")):
        return None if ndim is None else Fact("array", None, ndim, all_real(*facts))
    return Fact("array", None, None, all_real(*facts), extended=True) if (ndim or 0) > 1 else None


def _tensordot(b: Bound, fact: Look) -> int | None:
    ndims, axes = [_ndim(fact(b[name])) for name in ("a", "b")], fact(b["axes"])
    count: Any = literal(b["axes"])
    pair = items_of(axes)
    if pair is not None and len(pair) == 2:
        count = _length(pair[0])
    if type(count) is not int or None in ndims:
        return None
    return sum(n for n in ndims if n is not None) - 2 * count or None  # otherwise an array without axes


def _linspace(b: Bound, fact: Look) -> int | None:
    most = _most("start", "stop")(b, fact)
    return None if most is None else most + 1


def _meshgrid(b: Bound, fact: Look) -> Fact | None:
    items = items_of(fact(b["xi"])) or []
    return Fact("tuple", items=tuple([(i, Fact("array", None, len(items), all_real(f))) for i, f in enumerate(items)]))


def _qr(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    whole = Fact("array", None, a.ndim, a.real)
    return None if (a.ndim or 0) < 2 else Fact("record", items=(("Q", whole), ("R", whole)))


def _svd(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    if a.ndim is None or a.ndim < 2:
        return None
    whole, values = Fact("array", None, a.ndim, a.real), Fact("array", None, a.ndim - 1, True)
    if literal(b["compute_uv"]) is False:
        return values
    items = (("U", whole), ("S", values), ("Vh", whole))
    return Fact("record", items=items) if literal(b["compute_uv"]) is True else None


def _svdvals(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["x"])
    return None if a.ndim is None or a.ndim < 2 else Fact("array", None, a.ndim - 1, True)


def _sum(b: Bound, fact: Look) -> Fact | None:
    items = items_of(fact(b["iterable"])) or []
    ndims = [f.ndim for f in items if f.kind == "array" and f.ndim]
    if not ndims or len(ndims) < len(items) or literal(b["start"]) != 0:
        return None
    return Fact("array", None, max(ndims), all_real(*items))


def _unstack(b: Bound, fact: Look) -> Fact | None:
    x = fact(b["x"])
    row = Fact("array", None, x.ndim - 1, x.real) if x.ndim is not None and x.ndim > 1 else None
    return row and Fact("tuple", each=row)


RANKS: dict[Any, Maker] = {
    **dict.fromkeys((np.linalg.outer, np.diagflat), _of(_always(2))),
    **dict.fromkeys((np.convolve, np.correlate, np.bincount, np.extract), _of(_always(1))),
    **dict.fromkeys((np.append, np.delete, np.take_along_axis), _of(_along("arr"))),
    np.compress: _of(_along("a")),
    np.block: _of(lambda b, fact: None),
    np.column_stack: _of(_joined(2)),
    np.dstack: _of(_joined(3)),
    np.atleast_1d: _of(_same("ary")),
    np.atleast_2d: _of(_same("ary", 2)),
    np.atleast_3d: _of(_same("ary", 3)),
    np.rot90: _of(_same("m", 2)),
    np.rollaxis: _of(_same("a")),
    np.linalg.pinv: _of(_same("a", 2)),
    **dict.fromkeys((np.ascontiguousarray, np.asfortranarray), _of(_same("a"))),
    np.tile: _known(_tile),
    np.resize: _known(_resize),
    np.take: _known(_take),
    np.trace: _known(_trace),
    np.kron: _known(_most("a", "b")),
    np.cross: _cross,
    np.linalg.cross: _of(_most("x1", "x2")),
    np.linalg.multi_dot: _known(_multi_dot),
    np.tensordot: _known(_tensordot),
    np.linspace: _known(_linspace),
    **dict.fromkeys((np.vecdot, np.linalg.vecdot), _known(_product(1, 1, 0))),
    np.meshgrid: _meshgrid,
    np.linalg.qr: _qr,
    np.linalg.svd: _svd,
    np.linalg.svdvals: _svdvals,
    sum: _sum,
}
if hasattr(np, "matvec"):  # NumPy 2.2
    RANKS |= {np.matvec: _known(_product(2, 1, 1)), np.vecmat: _known(_product(1, 2, 1))}
if hasattr(np, "unstack"):  # NumPy 2.1
    RANKS[np.unstack] = _unstack
