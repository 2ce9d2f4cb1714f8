"""What is known of the result of single NumPy functions, and of the helpers of adjoints.

Ufuncs, reductions and products are in `evaluate` and `shapes`; here is what has a shape of its own kind.
Each entry gives the fact from the arguments, or None where they do not settle it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad.analysis.ranks import RANKS
from s2sad.analysis.rearranged import (
    REARRANGED,
    Bound,
    Look,
    Maker,
    all_real,
    array_of,
    axis_of,
    certain,
    is_flat,
    items_of,
    literal,
    ravel,
)
from s2sad.analysis.shapes import dims_of_shape, made_of
from s2sad.ir.nodes import Build, Call, Const, Expr
from s2sad.ir.types import OPEN, SCALAR, Dim, Dims, Fact, Kind, broadcast_dims, scalar, sized
from s2sad.ops.binding import bind
from s2sad.runtime import contractions, linear
from s2sad.runtime.arrays import undiff
from s2sad.runtime.einsum import einsum_adjoint, parse_einsum
from s2sad.runtime.objects import item, unitem


def result(call: Call, fact: Look) -> Fact | None:
    """The fact about ``call`` if it is one of the functions of this module and its arguments settle it.

    Raises:
        BindingError: for an argument that the function does not have.
    """
    made = _MADE.get(id(call.op.function))
    if made is not None:
        return made(bind(call), fact)
    names_and_maker = _UNRULED.get(id(call.op.function))
    if names_and_maker is None:
        return None
    names, maker = names_and_maker
    given = {**dict(zip(names, call.args, strict=False)), **dict(call.kwargs)}
    return maker(given, fact) if len(call.args) <= len(names) and given.keys() <= set(names) else None


def _like(x: Fact, real: bool) -> Fact | None:
    """The adjoint of an array ``x``."""
    return Fact("array", x.shape, x.ndim, real, dims=x.dims) if x.kind == "array" else None


def shaped(g: Fact, shape: Expr, fact: Look) -> Fact:
    """What has the shape ``shape``: that of a name, ``np.shape(x)``, or sizes."""
    if isinstance(shape, Call) and (shape.op.function is np.shape or shape.op.name == "shape"):
        x = fact(shape.args[0])
        kind: Kind = x.kind if x.kind in ("scalar", "array") else "numeric"
        return Fact(kind, x.shape, x.ndim, g.real, dims=x.dims)
    dims = dims_of_shape(fact(shape), shape, fact)
    return sized(dims, g.real) if dims else Fact("numeric", real=g.real)


# --- linear algebra


def _solve(b: Bound, fact: Look) -> Fact | None:
    a, right = fact(b["a"]), fact(b["b"])
    if a.ndim == 2 and right.kind == "array" and right.ndim in (1, 2):
        return replace(right, real=all_real(a, right))
    return None


def _det(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    if a.ndim == 2:
        return scalar(a.real)
    return made_of(a.dims[:-2], a.real) if a.dims and len(a.dims) > 2 else None


def _slogdet(b: Bound, fact: Look) -> Fact | None:
    sign = _det(b, fact)
    return sign and Fact("record", items=(("sign", sign), ("logabsdet", replace(sign, real=True))))


def _eigvalsh(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    return made_of(a.dims[:-1], True) if a.dims and len(a.dims) > 1 else array_of(None, (a.ndim or 1) - 1, True)


def _eigh(b: Bound, fact: Look) -> Fact | None:
    values, a = _eigvalsh(b, fact), fact(b["a"])
    return values and Fact("record", items=(("eigenvalues", values), ("eigenvectors", a)))


def _einsum(b: Bound, fact: Look) -> Fact | None:
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


def _inner(b: Bound, fact: Look) -> Fact | None:
    x, y = fact(b["a"]), fact(b["b"])
    if x.dims and y.dims:
        return made_of((*x.dims[:-1], *y.dims[:-1]), all_real(x, y))
    return scalar(all_real(x, y)) if x.ndim == y.ndim == 1 else None


def _tensordot(b: Bound, fact: Look) -> Fact | None:
    x, y, n = fact(b["a"]), fact(b["b"]), literal(b["axes"])
    if type(n) is not int or x.dims is None or y.dims is None or not 0 <= n <= min(len(x.dims), len(y.dims)):
        return RANKS[np.tensordot](b, fact)
    dims = (*x.dims[: len(x.dims) - n], *y.dims[n:])
    return sized(dims, all_real(x, y)) if dims else None


# --- along an axis


def _scan(b: Bound, fact: Look) -> Fact | None:
    """Of the shape of the argument, or flat where no axis is given."""
    a, flattened = fact(b["a"]), is_flat(b.get("axis"), fact)
    if flattened:
        return ravel(b, fact)
    return a if a.kind == "array" and a.ndim != 0 and (flattened is not None or a.ndim == 1) else None


def _repeat(b: Bound, fact: Look) -> Fact | None:
    """Along an axis, or flat where none is given."""
    a, flattened = fact(b["a"]), is_flat(b["axis"], fact)
    return array_of(None, 1 if flattened or a.ndim == 1 else a.ndim if flattened is not None else None, a.real)


def _argsort(b: Bound, fact: Look) -> Fact | None:
    found = _scan({"axis": Const(-1), **b}, fact) if "a" in b else None
    return found and replace(found, real=True)


def _argmax(b: Bound, fact: Look) -> Fact | None:
    if "a" not in b:
        return None
    return SCALAR if literal(b.get("axis", Const(None))) is None or fact(b["a"]).ndim == 1 else None


def _diff(b: Bound, fact: Look) -> Fact | None:
    a, n = fact(b["a"]), literal(b["n"])
    axis = axis_of(b["axis"], a.ndim or 0) if a.ndim else None
    if a.kind != "array" or axis is None or type(n) is not int or n < 1:
        return None
    if a.dims is None or not certain(a.dims[axis]) or a.dims[axis] == 1:
        return array_of(None, a.ndim, a.real)
    return sized((*a.dims[:axis], f"{a.dims[axis]}-{n}", *a.dims[axis + 1 :]), a.real)


def _same_ndim(name: str) -> Maker:
    def maker(b: Bound, fact: Look) -> Fact | None:
        a = fact(b[name])
        return array_of(None, a.ndim, a.real)

    return maker


# --- joining


def _nested(f: Fact) -> Fact | None:
    """The array of a number, an array or a list of such."""
    if f.kind == "array":
        return f
    if f.kind == "scalar":
        return sized((), f.real)
    items = items_of(f) or []
    rows = {row.dims if row is not None else None for row in map(_nested, items)}
    dims = rows.pop() if len(rows) == 1 else None
    return sized((_count(items), *dims), all_real(f)) if dims is not None else None


def _count(items: Sequence[Fact]) -> Dim:
    return 1 if len(items) == 1 else f"k{len(items)}"


def _of(name: str) -> Maker:
    def maker(b: Bound, fact: Look) -> Fact | None:
        return _nested(fact(b[name])) if literal(b.get("ndmin", Const(0))) == 0 else None

    return maker


#: The result of a function that always makes an array of one axis or more.
_SOME_ARRAY = Fact("array", extended=True)


def _counted(whole: Fact) -> tuple[list[Fact], bool]:
    """The facts about the arrays in a list, one by one, or one for all of them where their number is not known."""
    known = items_of(whole)
    if known is None and whole.kind in ("list", "tuple") and whole.each is not None:
        return [whole.each], False
    return known or [], True


def _concatenate(b: Bound, fact: Look) -> Fact | None:
    items, counted = _counted(fact(b["arrays"]))
    ndim = items[0].ndim if items else None
    axis = axis_of(b["axis"], ndim) if ndim else None
    if not items or not ndim or any(f.kind != "array" or f.ndim != ndim for f in items):
        return _SOME_ARRAY
    flattened, first, real = is_flat(b["axis"], fact), items[0].dims, all_real(*items)
    if flattened is None and ndim > 1:
        return _SOME_ARRAY
    if flattened or not counted:
        return array_of(None, 1 if flattened else ndim, real)
    if axis is None or first is None or any(f.dims is None for f in items):
        return array_of(None, ndim, real)
    rest = [(*f.dims[:axis], *f.dims[axis + 1 :]) for f in items if f.dims]
    parts = [f.dims[axis] for f in items if f.dims]
    if any(r != rest[0] for r in rest) or not all(map(certain, parts)):
        return array_of(None, ndim, real)
    total = "+".join(sorted(map(str, parts))) if len(parts) > 1 else parts[0]
    return sized((*first[:axis], total, *first[axis + 1 :]), real)


def _stack(b: Bound, fact: Look) -> Fact | None:
    items, counted = _counted(fact(b["arrays"]))
    if not items or any(f.ndim is None or f.ndim != items[0].ndim for f in items):
        return _SOME_ARRAY
    first, ndim = items[0].dims, (items[0].ndim or 0) + 1
    axis = axis_of(b["axis"], ndim)
    if not counted or first is None or axis is None or any(f.dims != first for f in items):
        return array_of(None, ndim, all_real(*items))
    return sized((*first[:axis], _count(items), *first[axis:]), all_real(*items))


def _split(b: Bound, fact: Look) -> Fact | None:
    a, sections = fact(b["ary"]), b["indices_or_sections"]
    count = literal(sections)
    places = fact(sections)
    if places.kind in ("list", "tuple") and places.items is not None:
        count = len(places.items) + 1
    if a.kind != "array" or not a.ndim or type(count) is not int or not 0 < count <= 64:
        return None
    return Fact("list", items=tuple((i, Fact("array", None, a.ndim, a.real)) for i in range(count)))


def _side_by_side(b: Bound, fact: Look) -> Fact | None:
    items, _ = _counted(fact(b["tup"]))
    if not items or any(f.kind != "array" or not f.ndim for f in items):
        return _SOME_ARRAY
    return array_of(None, items[0].ndim, all_real(*items))


def _on_top(b: Bound, fact: Look) -> Fact | None:
    items, _ = _counted(fact(b["tup"]))
    if not items or any(f.ndim is None for f in items):
        return _SOME_ARRAY
    return array_of(None, max(items[0].ndim or 0, 2), all_real(*items))


def _diagonal(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    return array_of(None, (a.ndim or 1) - 1, a.real)


# --- made from sizes


def _linspace(b: Bound, fact: Look) -> Fact | None:
    start, stop = fact(b["start"]), fact(b["stop"])
    dims = dims_of_shape(fact(b["num"]), b["num"], fact)
    if start.kind == stop.kind == "scalar":
        return array_of(dims, 1, all_real(start, stop))
    return RANKS[np.linspace](b, fact)


def _eye(b: Bound, fact: Look) -> Fact | None:
    size = b.get("N", b.get("n"))
    dims = dims_of_shape(fact(size), size, fact) if size is not None and len(b) == 1 else None
    return array_of((*dims, *dims) if dims and len(dims) == 1 else None, 2, True)


def _arange(b: Bound, fact: Look) -> Fact | None:
    stop = next(iter(b.values()), Const(None))
    if any(fact(v).kind != "scalar" for v in b.values()):
        return None
    return array_of(dims_of_shape(fact(stop), stop, fact) if len(b) == 1 else None, 1, True)


def _interp(b: Bound, fact: Look) -> Fact | None:
    x = _nested(fact(b["x"]))
    return replace(x, real=fact(b["fp"]).real) if x is not None and x.ndim else None


def _item(b: Bound, fact: Look) -> Fact | None:
    return scalar(fact(b["a"]).real)


# --- adjoints


def _as(name: str) -> Maker:
    """The adjoint of the argument called ``name``."""

    def maker(b: Bound, fact: Look) -> Fact | None:
        return _like(fact(b[name]), _operands_real(b, fact))

    return maker


def _operands_real(b: Bound, fact: Look) -> bool:
    return all_real(*(f for f in map(fact, b.values()) if f.kind not in ("none", "other", "record")))


def _into_shape(b: Bound, fact: Look) -> Fact | None:
    return shaped(fact(b["g"]), b["shape"], fact)


def _einsum_adjoint(b: Bound, fact: Look) -> Fact | None:
    index, operands = literal(b["index"]), b["operands"]
    if not isinstance(operands, Build) or type(index) is not int:
        return None
    return _like(fact(operands.items[index]), _operands_real(b, fact))


def _as_items(name: str) -> Maker:
    """The adjoints of a sequence of arrays."""

    def maker(b: Bound, fact: Look) -> Fact | None:
        items = [_like(f, _operands_real(b, fact)) or OPEN for f in items_of(fact(b[name])) or ()]
        return Fact("list", items=tuple(enumerate(items))) if items else None

    return maker


_CONTRACTIONS = {
    "dot": "a b",
    "matmul": "x1 x2",
    "inner": "a b",
    "tensordot": "a b",
    "kron": "a b",
    "cross": "a b",
    "convolve": "a v",
    "correlate": "a v",
}
_TABLE: dict[Any, Maker] = {
    **REARRANGED,
    **RANKS,
    np.linalg.solve: _solve,
    np.linalg.det: _det,
    np.linalg.slogdet: _slogdet,
    np.linalg.eigvalsh: _eigvalsh,
    np.linalg.eigh: _eigh,
    np.einsum: _einsum,
    np.inner: _inner,
    np.tensordot: _tensordot,
    np.cumsum: _scan,
    np.cumprod: _scan,
    np.nancumsum: _scan,
    np.nancumprod: _scan,
    np.sort: _scan,
    np.diff: _diff,
    np.repeat: _repeat,
    np.pad: _same_ndim("array"),
    np.array: _of("object"),
    np.asarray: _of("a"),
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.diagonal: _diagonal,
    np.hstack: _side_by_side,
    np.vstack: _on_top,
    np.split: _split,
    **dict.fromkeys((np.array_split, np.hsplit, np.vsplit, np.dsplit), _split),
    np.linspace: _linspace,
    np.interp: _interp,
    item: _item,
    unitem: _as("a"),
    undiff: _into_shape,
    einsum_adjoint: _einsum_adjoint,
    linear.unconcatenate: _as_items("arrays"),
    linear.unstack: _as_items("arrays"),
    **{
        getattr(linear, f"un{name}"): _into_shape
        for name in "take take_along_axis delete diagonal trace diag repeat tile pad".split()
    },
    **{
        getattr(contractions, f"{name}_{side}"): _as(operand)
        for name, operands in _CONTRACTIONS.items()
        for side, operand in zip(("left", "right"), operands.split(), strict=True)
    },
}
_MADE: dict[int, Maker] = {id(function): maker for function, maker in _TABLE.items()}
_UNRULED: dict[int, tuple[tuple[str, ...], Maker]] = {
    id(np.ndim): (("a",), lambda b, fact: SCALAR),
    id(np.size): (("a",), lambda b, fact: SCALAR),
    id(np.eye): (("N", "M", "k"), _eye),
    id(np.identity): (("n",), _eye),
    id(np.arange): (("start", "stop", "step"), _arange),
    id(np.argsort): (("a", "axis"), _argsort),
    id(np.argmax): (("a", "axis"), _argmax),
    id(np.argmin): (("a", "axis"), _argmax),
}
