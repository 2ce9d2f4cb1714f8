"""Positions of elements: tuples of arrays of integers, one for each axis."""

from __future__ import annotations

from s2sad.ir.nodes import Const
from s2sad.ir.types import Fact, sized
from s2sad.ops.infer import common
from s2sad.ops.infer.common import Bound, Infer, Look
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


def selected(b: Bound, fact: Look) -> Fact:
    """An array of the shape to which the conditions, the choices and the default broadcast, as of `np.select`."""
    lists = [fact(b["condlist"]).items, fact(b["choicelist"]).items]
    items = [f for found in lists for _, f in found or ()] + [fact(b["default"])]
    whole = common.elementwise(items)
    if None in lists or not all(lists):
        return common.SOME_ARRAY
    return sized((), whole.real) if whole.kind == "scalar" else whole
