"""What is known of a store, and of the call that does it, in both modes: views, parts, and what is read meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

import numpy as np

from s2sad import ops
from s2sad.analysis.indexing import index_parts
from s2sad.differentiate.builder import INDEX
from s2sad.ir.nodes import Call, Const, Expr, Slice, Store, Var
from s2sad.ir.traverse import children, names_in
from s2sad.ir.types import Fact

READS_ITS_OUTPUT = "may read from the array that it writes into, in an order that is NumPy's own"


def is_view_index(index: Expr, fact: Callable[[Expr], Fact]) -> bool:
    """Whether indexing an array of several dimensions so surely gives a view."""
    return all(
        isinstance(p, Slice)
        or (isinstance(p, Fact) and p.kind in ("slice", "scalar") and not p.boolean)
        or (isinstance(p, Const) and not isinstance(p.value, bool))
        or (not isinstance(p, Fact) and fact(p).kind == "scalar" and not (_boolean(p) or fact(p).boolean))
        for p in index_parts(index, fact)
    )


def _boolean(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.op.kind in ("compare", "bool")


def takes_part(stmt: Store, call: Call) -> bool:
    """Whether a call that writes is given ``base[index]``, which may be a copy of that part of the array."""
    return Call(INDEX, (stmt.base, stmt.index)) in children(call)


def reads_what_it_writes(call: Call, target: Var, group: Mapping[str, Set[str]]) -> bool:
    """Whether a call may read elements that it has already written; ``group`` has the names that may share memory."""
    function = call.op.function
    known = ops.spec_of(function)
    of_ufunc = isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc)
    if function is None or of_ufunc or (known is not None and known.reads_first):
        return False
    read = list(call.args if "out" in dict(call.kwargs) else call.args[1:])
    read += [v for name, v in call.kwargs if name not in ("out", "arr", "a")]
    sharing = group.get(target.name, frozenset({target.name}))
    placed = function is np.put_along_axis and Const(None) not in read
    return not placed and any(name in sharing for r in read for name in names_in(r))
