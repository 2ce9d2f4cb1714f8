"""Several arrays at once: pieces of one, grids, arrays that are broadcast together, counts and edges, minima."""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.sizes import Dims
from s2sad.ir.sums import Dim, literal_size
from s2sad.ir.types import OPEN, Fact, item_of, scalar, sized
from s2sad.ops.infer.common import Bound, Look, all_real, elementwise, items_of, literal, operands
from s2sad.ops.infer.dtypes import precision_of_array
from s2sad.ops.infer.joining import nested


def split(b: Bound, fact: Look) -> Fact | None:
    a, sections = fact(b["ary"]), b["indices_or_sections"]
    count = literal(sections)
    places = fact(sections)
    if places.kind in ("list", "tuple") and places.items is not None:
        count = len(places.items) + 1
    part = Fact("array", None, a.ndim, a.real, boolean=a.boolean, precision=a.precision) if a.numeric else OPEN
    if type(count) is int and 0 < count <= 64:
        return Fact("list", items=tuple((i, part) for i in range(count)))
    return Fact("list", each=part)


def unstacked(b: Bound, fact: Look) -> Fact | None:
    x = fact(b["x"])
    return Fact("tuple", each=item_of(replace(x, dims=None), 0)) if x.kind == "array" and x.ndim else None


def grids(b: Bound, fact: Look) -> Fact | None:
    items = items_of(fact(b["xi"])) or []
    sizes = [f.dims[0] if f.dims and len(f.dims) == 1 else None for f in items]
    dims: Dims | None = None
    if None not in sizes and literal(b["sparse"]) is False and literal(b["indexing"]) in ("xy", "ij"):
        dims = tuple([size for size in sizes if size is not None])
        if literal(b["indexing"]) == "xy":
            dims = (*dims[1::-1], *dims[2:])
    made = Fact("array", None, len(items)) if dims is None or not dims else sized(dims, True)
    return Fact("tuple", items=tuple(enumerate(_holding(made, f) for f in items)))


def broadcast_together(b: Bound, fact: Look) -> Fact | None:
    """As many arrays, all of the shape to which the operands broadcast."""
    items = items_of(fact(b["args"])) or []
    arrays = [nested(f) for f in items]
    known = [a for a in arrays if a is not None]
    if len(known) < len(items):
        return None
    whole = elementwise(known)
    made = sized((), True) if whole.kind == "scalar" else whole
    return Fact("tuple", items=tuple(enumerate(_holding(made, f) for f in items)))


def open_mesh(b: Bound, fact: Look) -> Fact | None:
    """As many arrays as operands, with as many axes, of which all but one have one element."""
    items = items_of(fact(b["args"])) or []
    if any(f.kind == "open" for f in items):
        return None
    made = []
    for i, f in enumerate(items):
        size = _length(f)
        dims = None if size is None else (*[1] * i, size, *[1] * (len(items) - i - 1))
        shape = Fact("array", None, len(items)) if dims is None else sized(dims, all_real(f))
        # Of truth values it gives the positions.
        made.append(replace(_holding(shape, f), boolean=False))
    return Fact("tuple", items=tuple(enumerate(made)))


def _length(row: Fact) -> Dim | None:
    """How many numbers a row has, if these are no truth values."""
    if row.kind == "array":
        return row.dims[0] if row.dims and len(row.dims) == 1 and row.boolean is False else None
    numbers = row.items is not None and all(f.kind == "scalar" and f.boolean is False for _, f in row.items)
    return literal_size(len(row.items)) if row.kind in ("list", "tuple") and row.items and numbers else None


def _holding(shape: Fact, numbers: Fact) -> Fact:
    """An array of a shape that holds the numbers of another, or of a list."""
    precision = precision_of_array(numbers)
    return replace(shape, real=all_real(numbers), boolean=numbers.boolean or not numbers.numeric, precision=precision)


def plane(b: Bound, fact: Look) -> Fact:
    """The counts, or sums of weights, in a plane, and the edges along both axes."""
    counts, edges = histogram(b, fact).items or ()
    return Fact("tuple", items=((0, replace(counts[1], ndim=2)), edges, (2, edges[1])))


def histogram(b: Bound, fact: Look) -> Fact:
    """The counts, or sums of weights, and the edges."""
    known = operands(b, fact)
    row = Fact("array", None, 1, all_real(*known), boolean=any(f.boolean or not f.numeric for f in known))
    return Fact("tuple", items=((0, row), (1, row)))


def place_and_more(b: Bound, fact: Look) -> Fact:
    """Where a function is least, how much it is there, and how that was found."""
    place = Fact("array", real=False) if "x0" in b else scalar(False)
    return Fact("tuple", items=((0, place), (1, OPEN), (2, OPEN)))
