"""Arrays made of arrays and numbers: stacked, concatenated, in nested lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from s2sad.ir.nodes import Build, Const, Expr
from s2sad.ir.sizes import Dims, agreed, computed
from s2sad.ir.sums import Dim, literal_size
from s2sad.ir.types import Atom, Fact, sized
from s2sad.ops.infer.axes import Rank
from s2sad.ops.infer.common import (
    SOME_ARRAY,
    Bound,
    Infer,
    Look,
    Types,
    all_real,
    array_of,
    axis_of,
    is_flat,
    items_of,
    literal,
    ndim_of,
)


def _counted(whole: Fact) -> tuple[list[Fact], bool]:
    """The facts about the arrays in a list, one by one, or one for all of them where their number is not known."""
    known = items_of(whole)
    if known is None and whole.kind in ("list", "tuple") and whole.each is not None:
        return [_made_of(whole.each)], False
    return [_made_of(f) for f in known or ()], True


def _made_of(f: Fact) -> Fact:
    """An array or number, or the array of a list of such."""
    return (nested(f) if f.kind in ("list", "tuple") else None) or f


def concatenated(b: Bound, fact: Look) -> Fact | None:
    items, counted = _counted(fact(b["arrays"]))
    ndim = items[0].ndim if items else None
    axis = axis_of(b["axis"], ndim) if ndim else None
    if not items or not ndim or any(f.kind != "array" or f.ndim != ndim for f in items):
        return SOME_ARRAY
    flattened, real = is_flat(b["axis"], fact), all_real(*items)
    if flattened is None and ndim > 1:
        return SOME_ARRAY
    if flattened or not counted:
        return array_of(None, 1 if flattened else ndim, real)
    return array_of(None if axis is None else _in_a_row([f.dims for f in items], axis), ndim, real)


def _in_a_row(sizes: Sequence[Dims | None], axis: int) -> Dims | None:
    """The sizes of arrays that lie one after the other along an axis; None where they are not known to fit."""
    total: Dim | None = literal_size(0)
    rest: Dims | None = None
    for place, size in enumerate(sizes):
        others = size and (*size[:axis], *size[axis + 1 :])
        rest = others if place == 0 else agreed(rest, others)
        total = computed("+", total, size[axis]) if size else None
        if rest is None or total is None:
            return None
    return None if rest is None or total is None else (*rest[:axis], total, *rest[axis:])


def stacked(b: Bound, fact: Look) -> Fact | None:
    items, counted = _counted(fact(b["arrays"]))
    if not items or any(f.ndim is None or f.ndim != items[0].ndim for f in items):
        return SOME_ARRAY
    first, ndim = items[0].dims, (items[0].ndim or 0) + 1
    axis = axis_of(b["axis"], ndim)
    if not counted or first is None or axis is None or any(f.dims != first for f in items):
        return array_of(None, ndim, all_real(*items))
    return sized((*first[:axis], _count(items), *first[axis:]), all_real(*items))


def side_by_side(b: Bound, fact: Look) -> Fact | None:
    items, counted = _counted(fact(b["tup"]))
    if not items or any(f.kind != "array" or not f.ndim for f in items):
        return SOME_ARRAY
    ndim = items[0].ndim or 1
    sizes = [f.dims for f in items] if counted and all(f.ndim == ndim for f in items) else [None]
    return array_of(_in_a_row(sizes, min(ndim - 1, 1)), ndim, all_real(*items))


def on_top(b: Bound, fact: Look) -> Fact | None:
    items, counted = _counted(fact(b["tup"]))
    if not items or any(f.ndim is None for f in items):
        return SOME_ARRAY
    ndim = max(items[0].ndim or 0, 2)
    rows = [(1, *f.dims) if f.ndim == 1 and f.dims else f.dims for f in items]
    known = counted and all(d is not None and len(d) == ndim for d in rows)
    return array_of(_in_a_row(rows, 0) if known else None, ndim, all_real(*items))


def _joined_by_index(least: int) -> Infer:
    def infer(b: Bound, fact: Look) -> Fact | None:
        args = b["items"]
        items = [fact(a) for a in args.items] if isinstance(args, Build) else []
        ndims = [1 if f.kind == "slice" else f.ndim if f.kind in ("array", "scalar") else None for f in items]
        known = [n for n in ndims if n is not None]
        if not known or len(known) < len(ndims) or max(known) > 2:
            return SOME_ARRAY
        return array_of(None, max(*known, least), all_real(*[f for f in items if f.kind != "slice"]))

    return infer


#: ``np.r_[...]`` and ``np.c_[...]`` of arrays and numbers.
rows_joined = _joined_by_index(1)
columns_joined = _joined_by_index(2)


# --- lists of numbers


def nested(f: Fact) -> Fact | None:
    """The array of a number, an array or a list of such."""
    if f.kind == "array":
        return f
    if f.kind == "scalar":
        return sized((), f.real)
    if f.kind == "other" and f.ndim == 1:
        return array_of(f.dims, 1, True)
    items = items_of(f) or []
    rows = {row.dims if row is not None else None for row in map(nested, items)}
    dims = rows.pop() if len(rows) == 1 else None
    if dims is not None:
        return sized((_count(items), *dims), all_real(f))
    if f.kind in ("list", "tuple") and f.items is None and f.each is not None and f.each.kind == "scalar":
        return array_of(None, 1, f.each.real)
    # Whatever a list holds, and however long it is, its array has an axis.
    return Fact("array", real=all_real(f), extended=True) if f.kind in ("list", "tuple") else None


def _count(items: Sequence[Fact]) -> Dim:
    return literal_size(len(items))


class AsArrays:
    """The types of expressions, those of some lists and tuples as of the arrays that NumPy makes of these."""

    def __init__(self, types: Types, lists: Sequence[Expr]) -> None:
        self.types, self.lists = types, lists

    @property
    def atom(self) -> Callable[..., Atom]:
        return self.types.atom

    def __call__(self, expr: Expr) -> Fact:
        found = self.types(expr)
        made = nested(found) if found.kind in ("list", "tuple") and expr in self.lists else None
        return found if made is None else made


def array_from(name: str) -> Infer:
    def infer(b: Bound, fact: Look) -> Fact | None:
        made, least = nested(fact(b[name])), literal(b.get("ndmin", Const(0)))
        if least == 0 or made is None:
            return made
        known = type(least) is int and made.ndim is not None
        return array_of(None, max(least, made.ndim or 0), made.real) if known else None

    return infer


def joined(least: int) -> Rank:
    """As many as that of the arrays in the list ``tup`` which has most, and ``least`` of them."""

    def rank(b: Bound, fact: Look) -> int | None:
        items, whole = items_of(fact(b["tup"])), ndim_of(fact(b["tup"]))
        found = [ndim_of(f) for f in items] if items is not None else [None if whole is None else whole - 1]
        return None if None in found else max([least, *(n for n in found if n is not None)])

    return rank


def blocks(b: Bound, fact: Look) -> Fact | None:
    """Of nested lists; of an array that is in no list, a copy."""
    whole = fact(b["arrays"])
    real = all_real(whole) and whole.kind != "open"
    depth, level = 0, [whole]
    while level and all(f.kind == "list" and f.items is not None for f in level):
        depth, level = depth + 1, [item for f in level for item in items_of(f) or ()]
    ndims = [f.ndim if f.kind in ("array", "scalar") else None for f in level]
    known = [n for n in ndims if n is not None]
    ndim = max(depth, *known) if known and len(known) == len(ndims) else None
    return Fact("array", None, ndim, real, extended=ndim is None) if whole.kind == "list" else None
