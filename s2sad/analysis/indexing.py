"""The type of what an index gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sad.ir.nodes import (
    Build,
    Call,
    Const,
    Expr,
    Slice,
    Var,
)
from s2sad.ir.sizes import Dims, broadcast_dims, number_of, sliced
from s2sad.ir.sums import Dim, literal_size
from s2sad.ir.types import OPEN, TEXT, Atom, Fact, Kind, Shape, has_objects, item_of, scalar, sized, some_item

AtomMaker = Callable[..., Atom]


def indexing(whole: Fact, index: Expr, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    """The fact about ``whole[index]``."""
    if whole.kind in ("tuple", "list", "dict", "record"):
        if isinstance(index, Const):
            key = index.value
            if whole.items is not None and isinstance(key, int) and key < 0 and whole.kind != "dict":
                key += len(whole.items)
            return item_of(whole, key)
        if isinstance(index, Slice) and whole.kind in ("tuple", "list"):
            taken = _taken(index, len(whole.items)) if whole.items is not None else None
            if whole.items is not None and taken is not None:
                return Fact(whole.kind, items=tuple([(i, whole.items[place][1]) for i, place in enumerate(taken)]))
            return Fact(whole.kind, each=some_item(whole))
        single = whole.kind == "dict" or fact(index).kind == "scalar"
        return some_item(whole) or OPEN if single else OPEN
    if whole.kind in ("scalar", "none", "slice", "dataclass"):
        return OPEN
    if whole.kind == "other":
        return _of_another(whole, index, fact)
    if has_objects(whole):
        keys = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
        return whole.each or OPEN if all(fact(key).kind == "scalar" for key in keys) else shapeless(whole)
    parts = index_parts(index, fact)
    removed: list[str] = []
    dropped = 0
    added = 0
    picking: list[int] = []
    basic = True
    exact = True
    for part in parts:
        if isinstance(part, Slice):
            cut = _removed(part)
            exact = exact and cut is not None
            removed.append("" if cut in (None, 0) else str(cut))
        elif isinstance(part, Fact):
            exact = False
            axes = _axes_picked(part)
            basic = basic and (bool(axes) or part.kind in ("slice", "scalar")) and not part.boolean
            dropped += part.kind == "scalar"
            picking += [axes] if axes else []
        elif isinstance(part, Const) and part.value is None:
            added += 1
            exact = False
        elif isinstance(part, Const) and part.value is Ellipsis:
            exact = False
        elif fact(part).kind == "scalar" and not fact(part).boolean:
            dropped += 1
            removed.append("i")
        elif axes := _axes_picked(fact(part)):
            picking.append(axes)
        else:
            basic = False
    if basic and picking and whole.ndim is not None and len(parts) <= whole.ndim:
        picked = None if whole.dims is None else _picked(whole.dims, parts, fact)
        if picked is not None:
            return sized(picked, whole.real)
        return Fact("array", None, whole.ndim - dropped - len(picking) + max(picking) + added, whole.real)
    if len(parts) == 1 and not isinstance(parts[0], (Slice, Fact)) and (fact(parts[0]).ndim or 0) > 1:
        # Positions or a mask of several axes: either leaves at least one.
        return Fact("array" if whole.kind == "array" else "open", None, None, whole.real)
    masks = any(_is_mask(part, fact) for part in parts)
    if (picking or masks) and whole.kind in ("array", "numeric"):
        # Arrays take arrays for positions, and give one; a single truth value of NumPy's adds an axis.
        return Fact("array", None, None, whole.real, extended=True)
    if not basic or picking:
        return Fact("numeric" if whole.kind != "open" else "open", None, None, whole.real)
    ndim = None if whole.ndim is None else whole.ndim - dropped + added
    if ndim == 0 and dropped == len(parts):
        return scalar(whole.real)
    if whole.dims is not None:
        dims = _indexed(whole.dims, parts, fact)
        if dims is not None:
            return sized(dims, whole.real)
    # A slice takes an axis, and keeps it.
    cut = whole.kind != "open" and any(
        isinstance(p, Slice) or (isinstance(p, Fact) and p.kind == "slice") for p in parts
    )
    kind: Kind = "array" if cut or (ndim is not None and ndim > 0) else "numeric" if whole.kind != "open" else "open"
    shape: Shape | None = None
    if exact and whole.shape is not None and len(whole.shape) == 1 and any(isinstance(p, Slice) for p in parts):
        while removed and removed[-1] == "":
            removed.pop()
        (base,) = whole.shape
        shape = whole.shape if not removed else frozenset({atom(f"{base.name}<{','.join(removed)}>")})
    return Fact(kind, shape, ndim, whole.real, extended=cut)


def shapeless(whole: Fact) -> Fact:
    """What is known of an array of another shape with the same elements, or some of them."""
    return whole.but(shape=None, ndim=None, dims=None, size=None, extended=False)


def _of_another(whole: Fact, index: Expr, fact: Callable[[Expr], Fact]) -> Fact:
    """The fact about ``whole[index]`` of what is no number, array or container: a text, a range, an object."""
    part = index if isinstance(index, Slice) else fact(index)
    if whole.text and whole.each is None:
        return TEXT if isinstance(part, Slice) or part.kind in ("scalar", "slice") else OPEN
    if whole.each is None:
        return OPEN
    # What makes arrays by being indexed, or an item of a range.
    makes_arrays = whole.each.kind in ("array", "numeric")
    single = isinstance(part, Fact) and part.kind == "scalar"
    return whole.each if makes_arrays or single else OPEN


def _taken(part: Slice, length: int) -> range | None:
    """The positions that a slice of literal bounds takes from a list of a length."""
    bounds: list[Any] = [p.value if isinstance(p, Const) else p for p in (part.lower, part.upper, part.step)]
    known = all(b is None or type(b) is int for b in bounds) and bounds[2] != 0
    return range(length)[slice(*bounds)] if known else None


def index_parts(index: Expr, fact: Callable[[Expr], Fact]) -> tuple[Expr | Fact, ...]:
    """The parts of an index; of a tuple or slice that a name holds, the facts about them."""
    if isinstance(index, Build) and index.kind == "tuple":
        return tuple([part for item in index.items for part in _held(item, fact)])
    known = fact(index) if isinstance(index, Var) else None
    if known is not None and known.kind == "tuple" and known.items is not None:
        return tuple([f for _, f in known.items])
    return _held(index, fact)


def _is_mask(part: Expr | Fact, fact: Callable[[Expr], Fact]) -> bool:
    """Whether a part of an index surely is of NumPy's booleans."""
    known = part if isinstance(part, Fact) else fact(part) if isinstance(part, (Var, Call)) else None
    return known is not None and known.boolean == "mask"


def _axes_picked(known: Fact) -> int:
    """How many axes an array of positions, a mask or a list of numbers has that takes one axis; 0 if it is none.

    All such parts of an index together give as many axes as the one of them that has most.
    """
    if known.kind == "array":
        return known.ndim if known.ndim and (known.ndim == 1 or known.boolean is False) else 0
    return int(known.kind == "list" and bool(known.items) and all(f.kind == "scalar" for _, f in known.items or ()))


def _held(item: Expr, fact: Callable[[Expr], Fact]) -> tuple[Expr | Fact, ...]:
    known = fact(item) if isinstance(item, (Var, Call)) else None
    return (known,) if known is not None and known.kind == "slice" else (item,)


def _removed(part: Slice) -> int | None:
    """How many elements ``lower:upper`` leaves out, when both count from the ends of the axis."""
    if part.step is not None and part.step != Const(1):
        return None
    lower = 0 if part.lower is None else part.lower.value if isinstance(part.lower, Const) else None
    upper = 0 if part.upper is None else part.upper.value if isinstance(part.upper, Const) else None
    if not isinstance(lower, int) or not isinstance(upper, int) or lower < 0:
        return None
    if part.upper is not None and upper >= 0:
        return None
    return lower - upper


def _sliced(size: Dim, part: Slice, fact: Callable[[Expr], Fact]) -> Dim | None:
    """The size that a slice leaves of an axis; None where a bound is not known."""
    bounds: list[Dim | None] = []
    for bound in (part.lower, part.upper):
        value = bound.value if isinstance(bound, Const) else None if bound is None else fact(bound).size
        if not isinstance(value, (int, str)) and bound is not None and bound != Const(None):
            return None
        bounds.append(value)
    step = 1 if part.step is None else part.step.value if isinstance(part.step, Const) else None
    step = 1 if step is None and part.step == Const(None) else step
    return sliced(size, bounds[0], bounds[1], step) if type(step) is int and step else None


def _cut(size: Dim, part: Fact) -> Dim | None:
    """The size that a slice of which these facts are known leaves of an axis."""
    bounds = [f for _, f in part.items or ()]
    if not 2 <= len(bounds) <= 3 or any(b.kind != "none" and b.size is None for b in bounds):
        return None
    step = number_of(bounds[2].size) if len(bounds) == 3 else None
    if len(bounds) == 3 and bounds[2].kind != "none" and not step:
        return None
    return sliced(size, bounds[0].size, bounds[1].size, 1 if step is None else step)


def _picked(dims: Dims, parts: tuple[Expr | Fact, ...], fact: Callable[[Expr], Fact]) -> Dims | None:
    """The sizes of ``a[parts]`` for an index of slices, numbers and arrays of positions; None where unknown.

    All positions and numbers together make the axes to which they broadcast, in their place if they stand side by side,
    and else in front.
    """
    taken = [part if isinstance(part, Fact) else fact(part) for part in parts if not isinstance(part, Slice)]
    if any(f.boolean or f.kind not in ("array", "list", "scalar") for f in taken):
        return None
    made = broadcast_dims([_dims_of_positions(f) for f in taken if f.kind != "scalar"])
    sliced_ = [_sliced(dim, part, fact) for dim, part in zip(dims, parts, strict=False) if isinstance(part, Slice)]
    if made is None or None in sliced_:
        return None
    places = [i for i, part in enumerate(parts) if not isinstance(part, Slice)]
    first = places[0] if places[-1] - places[0] == len(places) - 1 else 0
    known = (*(d for d in sliced_ if d is not None), *dims[len(parts) :])
    return (*known[:first], *made, *known[first:])


def _dims_of_positions(known: Fact) -> Dims | None:
    """The sizes of an array of positions, or of a list of them."""
    if known.kind == "array":
        return known.dims
    return None if known.items is None or any(f.boolean for _, f in known.items) else (literal_size(len(known.items)),)


def _indexed(dims: Dims, parts: tuple[Expr | Fact, ...], fact: Callable[[Expr], Fact]) -> Dims | None:
    """The sizes of ``a[parts]`` for an index of numbers, slices, None and one ellipsis; None where unknown."""
    used = sum(not (isinstance(p, Const) and (p.value is None or p.value is Ellipsis)) for p in parts)
    if used > len(dims):
        return None
    out: list[Dim] = []
    rest = list(dims)
    for part in parts:
        if isinstance(part, Const) and part.value is None:
            out.append(1)
        elif isinstance(part, Const) and part.value is Ellipsis:
            whole = len(dims) - used
            out += rest[:whole]
            del rest[:whole]
        elif isinstance(part, Fact) and part.kind == "slice":
            left = _cut(rest.pop(0), part)
            if left is None:
                return None
            out.append(left)
        elif isinstance(part, Slice):
            left = _sliced(rest.pop(0), part, fact)
            if left is None:
                return None
            out.append(left)
        else:
            rest.pop(0)
    return (*out, *rest)
