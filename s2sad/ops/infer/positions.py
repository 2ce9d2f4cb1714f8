"""Positions of elements: tuples of arrays of integers, one for each axis."""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.nodes import Const
from s2sad.ir.sums import literal_size
from s2sad.ir.types import SCALAR, Fact, sized
from s2sad.ops.infer import common
from s2sad.ops.infer.common import Bound, Infer, Look, dims_of_shape
from s2sad.ops.infer.joining import nested

_POSITIONS = Fact("array", None, 1, real=True)


def along_each_axis(b: Bound, fact: Look) -> Fact | None:
    """Of ``np.nonzero(a)`` and the like: as many as ``a`` has axes."""
    axes = fact(b["a"]).ndim
    return Fact("tuple", items=tuple((i, _POSITIONS) for i in range(axes))) if axes else None


def among(name: str) -> Infer:
    """Whole numbers of the shape of the argument called ``name``: where its elements belong."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        given = fact(b[name])
        x = given if given.kind == "scalar" else nested(given) or given
        return Fact(x.kind, x.shape, x.ndim, True, dims=x.dims) if x.kind == "scalar" or x.has_axes else None

    return infer


def chosen(b: Bound, fact: Look) -> Fact | None:
    """Of ``np.where(condition, x, y)``, or of ``np.where(condition)``, which is ``np.nonzero(condition)``."""
    if b.get("x") == b.get("y") == Const(None):
        return along_each_axis({"a": b["condition"]}, fact)
    return common.chosen(b, fact)


def of_matrix(b: Bound, fact: Look) -> Fact:
    """Rows and columns."""
    return Fact("tuple", items=((0, _POSITIONS), (1, _POSITIONS)))


def found(axes: int) -> Infer:
    """Whole numbers in an array of so many axes, as many as there happen to be."""
    return lambda b, fact: replace(_POSITIONS, ndim=axes)


def in_several(b: Bound, fact: Look) -> Fact | None:
    """Of ``np.unravel_index(indices, shape)``: for each axis of a shape, numbers of the shape of the indices."""
    x, count = fact(b["indices"]), dims_of_shape(fact(b["shape"]), b["shape"])
    if count is None or not (x.kind == "scalar" or x.has_axes):
        return None
    part = Fact(x.kind, x.shape, x.ndim, True, dims=x.dims)
    return Fact("tuple", items=tuple((i, part) for i in range(len(count))))


def of_diagonal(b: Bound, fact: Look) -> Fact | None:
    """Of ``np.diag_indices(n, ndim)``."""
    size, axes = dims_of_shape(fact(b["n"]), b["n"]), common.literal(b.get("ndim", Const(2)))
    if type(axes) is not int:
        return None
    return Fact("tuple", items=tuple((i, sized(size, True) if size else _POSITIONS) for i in range(axes)))


def in_grid(b: Bound, fact: Look) -> Fact | None:
    """Of ``np.indices(dimensions)``: the positions along each axis, one after the other."""
    dims = dims_of_shape(fact(b["dimensions"]), b["dimensions"])
    known = dims is not None and common.literal(b.get("sparse", Const(False))) is False
    return sized((literal_size(len(dims)), *dims), True) if dims is not None and known else None


def of_sorted(b: Bound, fact: Look) -> Fact | None:
    """Of ``np.lexsort(keys)``: of the shape of one key, if that has axes."""
    keys = fact(b["keys"])
    whole = nested(keys) or keys
    if whole.kind != "array" or not whole.ndim or whole.ndim < 2 or common.literal(b.get("axis", Const(-1))) is None:
        return None
    return Fact("array", None, whole.ndim - 1, True, dims=whole.dims[1:] if whole.dims else None)


def count(b: Bound, fact: Look) -> Fact | None:
    """How many elements of a whole array are something."""
    whole = (
        common.literal(b.get("axis", Const(None))) is None and common.literal(b.get("keepdims", Const(False))) is False
    )
    return SCALAR.but(precision="") if whole else None


def rank(b: Bound, fact: Look) -> Fact | None:
    """The rank of one matrix."""
    return SCALAR.but(precision="") if fact(b["A"]).ndim == 2 else None


def members(b: Bound, fact: Look) -> Fact | None:
    """Which elements are in a set: a mask of the shape of these."""
    x = fact(b["element"])
    return (
        Fact(x.kind, x.shape, x.ndim, True, dims=x.dims, boolean="mask") if x.kind == "array" and x.has_axes else None
    )


def joint_set(b: Bound, fact: Look) -> Fact | None:
    """The elements of a set that is made of two arrays, in order."""
    return Fact("array", None, 1, common.all_real(fact(b["ar1"]), fact(b["ar2"])))


def common_set(b: Bound, fact: Look) -> Fact | None:
    """The elements that two arrays have in common, if their positions are not asked for as well."""
    return joint_set(b, fact) if b.get("return_indices", Const(False)) == Const(False) else None


def selected(b: Bound, fact: Look) -> Fact:
    """An array of the shape to which the conditions, the choices and the default broadcast, as of `np.select`."""
    lists = [fact(b["condlist"]).items, fact(b["choicelist"]).items]
    items = [f for found in lists for _, f in found or ()] + [fact(b["default"])]
    whole = common.elementwise(items)
    if None in lists or not all(lists):
        return common.SOME_ARRAY
    return sized((), whole.real) if whole.kind == "scalar" else whole


def by_number(b: Bound, fact: Look) -> Fact:
    """What has the shape to which the numbers and the choices broadcast, as of `np.choose`."""
    items = fact(b["choices"]).items
    if not items:
        return Fact("numeric")
    choices = common.elementwise([f for _, f in items])
    whole = common.elementwise([fact(b["a"]), *(f for _, f in items)])
    return replace(whole, real=choices.real)
