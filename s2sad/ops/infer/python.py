"""Python's own functions: containers, iterators, numbers."""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.nodes import Build
from s2sad.ir.sums import sum_of
from s2sad.ir.types import (
    COMPLEX,
    FLOAT,
    NONE,
    OPEN,
    SCALAR,
    Fact,
    Kind,
    either,
    key_of,
    row_of,
    scalar,
    some_item,
    timeless,
)
from s2sad.ops.infer.common import (
    Bound,
    Infer,
    Look,
    all_real,
    dims_of_shape,
    elementwise,
    items_of,
    literal,
    same_as_first,
    unknown,
)


def of_slice(b: Bound, fact: Look) -> Fact | None:
    args = b["args"]
    bounds = [fact(a) for a in args.items] if isinstance(args, Build) else []
    if len(bounds) == 1:
        bounds.insert(0, NONE)
    return Fact("slice", items=tuple(enumerate(bounds))) if bounds else None


def numbers(b: Bound, fact: Look) -> Fact:
    """The whole numbers of a range, which an array can be made of."""
    args = b["args"]
    ends = args.items if isinstance(args, Build) else ()
    dims = dims_of_shape(fact(ends[0]), ends[0]) if len(ends) == 1 else None
    return Fact("other", ndim=1, dims=dims, each=SCALAR)


def row(whole: Fact) -> Fact:
    """What holds for all that a loop over a value runs through."""
    if whole.kind == "array" and whole.ndim:
        return replace(timeless(row_of(whole)), boolean=whole.boolean, precision=whole.precision)
    if whole.kind in ("list", "tuple", "other"):
        return some_item(whole) or OPEN
    return (key_of(whole) if whole.kind == "dict" else whole.each) or OPEN


def enumerated(b: Bound, fact: Look) -> Fact:
    return Fact("other", each=Fact("tuple", items=((0, SCALAR), (1, row(fact(b["iterable"]))))))


def zipped(b: Bound, fact: Look) -> Fact | None:
    args = b["iterables"]
    rows = [row(fact(a)) for a in args.items] if isinstance(args, Build) else []
    # What is run through once, and not indexed.
    return Fact("other", each=Fact("tuple", items=tuple(enumerate(rows)))) if rows else None


def places(b: Bound, fact: Look) -> Fact | None:
    """``np.ndindex(*shape)``, or of one tuple: tuples of numbers, one for each axis."""
    args = b["shape"]
    if not isinstance(args, Build):
        return None
    known = items_of(fact(args.items[0])) if len(args.items) == 1 else None
    count = len(args.items) if known is None else len(known)
    if known is None and any(fact(a).kind != "scalar" for a in args.items):
        return None
    return Fact("other", each=Fact("tuple", items=tuple((i, SCALAR) for i in range(count))))


def backwards(b: Bound, fact: Look) -> Fact:
    return Fact("other", each=row(fact(b["sequence"])))


def listed(kind: Kind) -> Infer:
    """``list(x)`` or ``tuple(x)``."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        if "iterable" not in b:
            return Fact(kind, items=()) if kind == "list" else None
        whole = fact(b["iterable"])
        if whole.kind in ("list", "tuple"):
            return replace(whole, kind=kind)
        held = row(whole)
        return Fact(kind, each=None if held == OPEN else timeless(held))

    return infer


def of_dict(b: Bound, fact: Look) -> Fact | None:
    if not b:
        return Fact("dict", items=())
    whole = fact(b["iterable"])
    return whole if whole.kind == "dict" and not whole.owners else None


def values(b: Bound, fact: Look) -> Fact:
    """The list of what a dict holds."""
    whole = fact(b["d"])
    if whole.items is not None:
        return Fact("list", items=tuple([(n, item) for n, (_, item) in enumerate(whole.items)]))
    return Fact("list", each=some_item(whole))


def keys(b: Bound, fact: Look) -> Fact:
    """The list of the keys of a dict."""
    return Fact("list", each=key(b, fact))


def key(b: Bound, fact: Look) -> Fact:
    """A key of a dict."""
    return key_of(fact(b["d"])) or OPEN


def of_keys(b: Bound, fact: Look) -> Fact:
    """A dict with the keys of another one."""
    return Fact("dict", each=some_item(fact(b["values"])))


def at_keys(b: Bound, fact: Look) -> Fact:
    """The list of what a dict holds at some keys, or zeros."""
    item = some_item(fact(b["bar"]))
    return Fact("list", each=None if item is None else either([item, FLOAT]))


def length(b: Bound, fact: Look) -> Fact:
    dims = fact(b["obj"]).dims
    return scalar(True, dims[0] if dims else None)


def a_float(b: Bound, fact: Look) -> Fact:
    return FLOAT


def a_complex(b: Bound, fact: Look) -> Fact:
    return COMPLEX


def complex_numbers(b: Bound, fact: Look) -> Fact:
    """Complex numbers of the shape of the first operand; of an array without axes it may be a number."""
    return replace(same_as_first(b, fact), real=False)


def two_numbers(b: Bound, fact: Look) -> Fact | None:
    """Two numbers, of numbers."""
    number = replace(SCALAR, precision="")
    pair = Fact("tuple", items=((0, number), (1, number)))
    return pair if all(fact(v).kind == "scalar" for v in b.values()) else None


def absolute(b: Bound, fact: Look) -> Fact:
    return replace(elementwise([fact(b["x"])]), real=True)


def extreme(b: Bound, fact: Look) -> Fact:
    """One of the operands, or of the items of the only one."""
    args = b["args"]
    facts = [fact(a) for a in args.items] if isinstance(args, Build) else []
    items = [_item(facts[0])] if len(facts) == 1 else facts
    return scalar(all(f.real for f in items)) if items and _all_scalars(items) else unknown(b, fact)


def total(b: Bound, fact: Look) -> Fact:
    """The sum of the items, and of the number or array that it starts with."""
    parts = items_of(fact(b["iterable"]))
    if parts == []:
        return fact(b["start"])
    items = [_item(fact(b["iterable"])), fact(b["start"])]
    if _all_scalars(items):
        return scalar(all(f.real for f in items))
    if fact(b["iterable"]).kind == "array" and items[0].has_axes and literal(b["start"]) == 0:
        return items[0]
    parts = parts or []
    ndims = [f.ndim for f in parts if f.kind == "array" and f.ndim]
    if not ndims or len(ndims) < len(parts) or literal(b["start"]) != 0:
        return unknown(b, fact)
    return Fact("array", None, max(ndims), all_real(*parts))


def _item(whole: Fact) -> Fact:
    """What holds for each item, of which there is one or more."""
    if whole.kind == "array":
        return row_of(whole) if whole.dims and (sum_of(whole.dims[0]).least() or 0) > 0 else OPEN
    return some_item(whole) or OPEN


def total_product(b: Bound, fact: Look) -> Fact:
    items = [some_item(fact(b["iterable"])) or OPEN, fact(b["start"])]
    return scalar(all(f.real for f in items)) if items[0].kind == "scalar" else OPEN


def _all_scalars(facts: list[Fact]) -> bool:
    return all(f.kind == "scalar" for f in facts)


def nothing(b: Bound, fact: Look) -> Fact:
    """Something of which nothing is known."""
    return OPEN
