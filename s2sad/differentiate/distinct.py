"""Indices that name no element of an array twice, so that what they name can be added to in place."""

from __future__ import annotations

import numpy as np

from s2sad.analysis.effects import Effects
from s2sad.analysis.indexing import index_parts
from s2sad.differentiate.builder import Builder
from s2sad.ir.nodes import Call, Const, Expr, Slice, Var
from s2sad.ir.sizes import is_certain
from s2sad.ir.types import Fact, same_shape
from s2sad.runtime.positions import flat_index


def is_distinct(make: Builder, index: Expr) -> bool:
    """Whether an index surely names no element twice."""
    fact = make.fact
    if isinstance(index, Call) and index.op.function is flat_index:
        index = index.args[1]
    parts = index_parts(index, fact)
    others = [p if isinstance(p, Fact) else fact(p) for p in parts if not isinstance(p, (Slice, Const))]
    rows = [fact(p) for p in parts if isinstance(p, Var) and _counts(make.steady.get(p.name))]
    if rows and _is_repeated_by_none(rows[0], others):
        # ``a[np.arange(n), labels]``: one element of each row.
        return all(p.kind == "scalar" or (p.kind == "array" and p.ndim == 1 and not p.boolean) for p in others)
    arrays = [p for p in others if p.kind not in ("slice", "scalar")]
    return not arrays or (arrays == [fact(index)] and is_mask(make, index))


def is_distinct_copy(make: Builder, index: Expr) -> bool:
    """Whether an index surely names no element twice, and what it takes out of an array is a copy."""
    parts = [p for p in index_parts(index, make.fact) if not isinstance(p, Slice)]
    facts = [p if isinstance(p, Fact) else make.fact(p) for p in parts]
    return any(f.kind == "array" and f.ndim for f in facts) and is_distinct(make, index)


def is_mask_of(make: Builder, index: Expr, whole: Expr, effects: Effects) -> bool:
    """Whether an index is the name of an array of truth values that nobody writes, of the shape of an array."""
    if not isinstance(index, Var) or index.name in effects.written or not is_mask(make, index):
        return False
    known, of_whole = make.fact(index), make.fact(whole)
    # NumPy takes no mask of as many axes and another shape.
    return same_shape(known, of_whole) or (known.ndim is not None and known.ndim == of_whole.ndim)


def is_mask(make: Builder, index: Expr) -> bool:
    """Whether an index surely is an array of truth values, which names each element once."""
    made = make.steady.get(index.name) if isinstance(index, Var) else index
    if not isinstance(made, Call) or make.fact(made).boxed:
        return False
    if made.op.kind == "operator" and made.op.name in ("&", "|", "^", "~"):
        return all(is_mask(make, a) for a in made.args)
    return made.op.kind == "compare" or (
        isinstance(made.op.function, np.ufunc) and all(t.endswith("->?") for t in made.op.function.types)
    )


def _counts(expr: Expr | None) -> bool:
    """Whether an expression is ``np.arange(n)``."""
    if not isinstance(expr, Call) or expr.op.function is not np.arange:
        return False
    return len(expr.args) == 1 and not expr.kwargs


def _is_repeated_by_none(rows: Fact, others: list[Fact]) -> bool:
    """Whether no part of an index repeats the numbers of rows, as it would if there is one row alone."""
    if rows.dims is None:
        return False
    (count,) = rows.dims
    return (is_certain(count) and count != 1) or all(p.kind == "scalar" or p.dims == rows.dims for p in others)
