"""Arrays made from a shape, from another array's shape, or from numbers in equal steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from s2sad.ir.nodes import Const
from s2sad.ir.types import OPEN, Fact, Kind, precision_of_dtype, scalar, sized
from s2sad.ops.infer.axes import most, with_known_axes
from s2sad.ops.infer.common import Bound, Look, all_real, array_of, dims_of_shape, length_of, literal, shape_of
from s2sad.ops.infer.dtypes import is_real
from s2sad.ops.infer.joining import nested


def filled(b: Bound, fact: Look) -> Fact | None:
    """Of a shape: zeros, ones, or one value."""
    shape, dtype = fact(b["shape"]), b.get("dtype", Const(None))
    values = [fact(b["fill_value"])] if "fill_value" in b else []
    if dtype == Const(None) and any(v.kind in ("none", "other") for v in values):
        return None
    real = all(v.real for v in values) if dtype == Const(None) else is_real(dtype, fact)
    dims = dims_of_shape(shape, b["shape"])
    if dims is not None:
        return sized(dims, real)
    if shape.kind == "scalar":
        return Fact("array", None, 1, real)
    if shape.kind in ("tuple", "list") and shape.items is not None:
        return Fact("array" if shape.items else "numeric", None, len(shape.items), real)
    return Fact("array", None, None, real)


def filled_like(b: Bound, fact: Look) -> Fact | None:
    """Of the shape of another array, or of another shape."""
    whole, dtype = fact(next(iter(b.values()))), b.get("dtype", Const(None))
    if whole.kind in ("list", "tuple", "other"):
        whole = nested(whole) or whole
    real = whole.real if dtype == Const(None) else is_real(dtype, fact)
    if b.get("shape", Const(None)) != Const(None):
        other = filled({"shape": b["shape"]}, fact)
        return other and replace(other, real=real, boolean=whole.boolean)
    kind: Kind = "array" if whole.kind in ("array", "scalar") else "numeric"
    return replace(whole, kind=kind, real=real, items=None, size=None)


def linspace(b: Bound, fact: Look) -> Fact | None:
    step = literal(b.get("retstep", Const(False)))
    if step is True:
        points = linspace({**b, "retstep": Const(False)}, fact)
        width = with_known_axes(most("start", "stop"))(b, fact)
        return points and width and Fact("tuple", items=((0, points), (1, width)))
    if step is not False:
        return OPEN
    start, stop = fact(b["start"]), fact(b["stop"])
    dims = dims_of_shape(fact(b["num"]), b["num"])
    if start.kind == stop.kind == "scalar":
        return array_of(dims, 1, all_real(start, stop))
    return _with_one_axis_more(b, fact)


def logspace(b: Bound, fact: Look) -> Fact | None:
    """As `linspace`; an array of bases is broadcast with the ends."""
    base = fact(b["base"]) if "base" in b else None
    number = base is None or (base.kind == "scalar" and base.real)
    return linspace(b, fact) if number else _with_one_axis_more(b, fact)


def _one_more(b: Bound, fact: Look) -> int | None:
    found = most(*({"start", "stop", "base"} & set(b)))(b, fact)
    return None if found is None else found + 1


_with_one_axis_more = with_known_axes(_one_more)


def eye(b: Bound, fact: Look) -> Fact | None:
    size = b.get("N", b.get("n"))
    others = [v for name, v in b.items() if name not in ("N", "n", "dtype")]
    dims = dims_of_shape(fact(size), size) if size is not None and not others else None
    return array_of((*dims, *dims) if dims and len(dims) == 1 else None, 2, True)


def arange(b: Bound, fact: Look) -> Fact | None:
    given = [v for v in b.values() if v != Const(None)]
    if b.get("dtype", Const(None)) != Const(None) or any(fact(v).kind != "scalar" for v in given):
        return None
    return array_of(dims_of_shape(fact(given[0]), given[0]) if len(given) == 1 else None, 1, True)


def interpolated(b: Bound, fact: Look) -> Fact | None:
    given = fact(b["x"])
    x = given if given.kind == "scalar" else nested(given)
    number = x is not None and x.kind == "scalar"
    return replace(x, real=fact(b["fp"]).real, size=None, value=None) if x is not None and (x.ndim or number) else None


def drawn(b: Bound, fact: Look) -> Fact | None:
    """What a generator draws, where its size is given: an array of real numbers."""
    size = fact(b["size"])
    dims = dims_of_shape(size, b["size"])
    count = length_of(size)
    return array_of(dims or None, count, True) if count else None


def shape(b: Bound, fact: Look) -> Fact:
    return shape_of(fact(b["a"]))


def nested_list(b: Bound, fact: Look) -> Fact | None:
    """``a.tolist()``."""
    a = fact(b["a"])
    return Fact("list", each=scalar(a.real)) if a.kind == "array" and a.ndim == 1 else None


def viewed(b: Bound, fact: Look) -> Fact | None:
    """``a.view()``, of the same elements; of another dtype there are more or fewer."""
    return fact(b["a"]) if fact(b["kind"]).kind == "none" else None


def item(b: Bound, fact: Look) -> Fact | None:
    whole = fact(b["a"])
    # That of an array of texts or dates is no number.
    of_numbers = whole.kind != "other" and (whole.real or whole.precision != "")
    return scalar(whole.real) if of_numbers else None


def with_axes(b: Bound, fact: Look) -> Fact | None:
    """An array with the number of axes ``ndim`` of a dtype."""
    ndim, dtype = literal(b["ndim"]), literal(b["dtype"])
    if not (isinstance(ndim, int) and isinstance(dtype, str)):
        return None
    known = array_of(None, ndim, np.dtype(dtype).kind != "c")
    return known and replace(known, precision=precision_of_dtype(np.dtype(dtype)), boolean=dtype == "?")
