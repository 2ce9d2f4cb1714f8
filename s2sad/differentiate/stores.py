"""What both modes ask about views, stores and containers: what shares memory, and what is read while it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

import numpy as np

from s2sad import ops
from s2sad.analysis.effects import Effects
from s2sad.analysis.indexing import index_parts
from s2sad.analysis.sharing import sharing
from s2sad.differentiate.builder import INDEX
from s2sad.ir.nodes import Build, Call, Const, Evaluate, Expr, Op, Opaque, Slice, Store, Var
from s2sad.ir.traverse import children, names_in
from s2sad.ir.types import Fact
from s2sad.ops.binding import spelled
from s2sad.runtime import own, shadow
from s2sad.runtime.arrays import share_ties, undiff
from s2sad.runtime.interpolation import interp_values
from s2sad.runtime.linear import undiagonal, untake, untrace
from s2sad.runtime.positions import flat_index, unread
from s2sad.runtime.quantiles import quantile_adjoint, scatter_order

ELLIPSIS = Const(...)
#: The kinds of what can be written in place, or hold what can.
CONTAINERS = ("tuple", "list", "dict", "record", "dataclass")
HOLDERS = ("array", *CONTAINERS)
#: The functions that do not mirror, of whose views shadows are made by other calls.
MIRRORED = (np.real, np.imag, np.diag, np.diagonal)
#: Adjoints that are arrays of their own, whatever they are made of.
_FILLED = (undiagonal, untrace, share_ties, undiff, scatter_order, untake, interp_values, quantile_adjoint)
UNREAD = Op("runtime", "unread", unread, pure=False)
READS_ITS_OUTPUT = "may read from the array that it writes into, in an order that is NumPy's own"


def holds(fact: Fact) -> bool:
    """Whether a value can be written in place, or hold what can, if it is not None."""
    return fact.kind in HOLDERS or may_be_none(fact)


def holds_containers(fact: Fact) -> bool:
    """Whether a list or dict may hold others."""
    held = [fact.each] if fact.items is None else [item for _, item in fact.items]
    return fact.kind in CONTAINERS and any(of is None or of.kind not in ("scalar", "array", "numeric") for of in held)


def may_be_none(fact: Fact) -> bool:
    """Whether a value is None or an array."""
    return fact.given is not None and fact.given.kind == "array"


def is_view_index(index: Expr, fact: Callable[[Expr], Fact]) -> bool:
    """Whether indexing an array of several dimensions so surely gives a view."""
    return all(
        isinstance(p, Slice)
        or (isinstance(p, Fact) and p.kind in ("slice", "scalar") and not p.boolean)
        or (isinstance(p, Const) and not isinstance(p.value, bool))
        or (not isinstance(p, Fact) and fact(p).kind == "scalar" and not (_boolean(p) or fact(p).boolean))
        for p in index_parts(index, fact)
    )


def is_slice_of_list(value: Call, fact: Callable[[Expr], Fact]) -> bool:
    """Whether what an index takes out of a list or tuple may be several items of it."""
    whole, index = value.args
    return fact(whole).kind in ("list", "tuple") and fact(index).kind != "scalar"


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
    out = spelled(known, "out")
    read = list(call.args if out in dict(call.kwargs) else call.args[1:])
    read += [v for name, v in call.kwargs if name not in (out, "arr", "a")]
    sharing = group.get(target.name, frozenset({target.name}))
    placed = function is np.put_along_axis and Const(None) not in read
    return not placed and any(name in sharing for r in read for name in names_in(r))


def check_of_flat(stmt: Store, group: Mapping[str, Set[str]]) -> Evaluate | None:
    """The check that ``a.flat[...] = b`` reads nothing which it writes, if ``b`` may share memory with ``a``."""
    index, base, value = stmt.index, stmt.base, stmt.value
    is_flat = stmt.op is None and isinstance(index, Call) and index.op.function is flat_index
    if not is_flat or not (isinstance(base, Var) and isinstance(value, Var) and value.name in group.get(base.name, ())):
        return None
    return Evaluate(Call(UNREAD, (base, value, index)), stmt.origin)


def is_view(value: Call, fact: Callable[[Expr], Fact]) -> bool:
    """Whether the result of an operation may be its first operand or a view of it."""
    if value.op.kind == "index":
        return is_view_index(value.args[1], fact)
    return value.op.kind == "inplace" or (value.op.kind not in ("user", "met") and sharing(value, fact) != "fresh")


def mirrors(call: Call) -> bool:
    """Whether the same call gives of a shadow the shadow of the result, if that is a view."""
    spec = ops.spec_of(call.op.function)
    return spec is None or spec.mirrors


def makes_fresh(call: Call) -> bool:
    """Whether a call surely returns an array that nothing else refers to."""
    if call.op.kind == "operator" or call.op.function in _FILLED:
        return True
    rule = ops.find(call.op.function)
    return (
        rule is not None and rule.result == "fresh" and (rule.kind == "elementwise" or rule.name.startswith("numpy."))
    )


def is_dense(value: Expr, definitions: Mapping[str, Expr]) -> bool:
    """Whether an array surely fills its memory, without steps back: then ``np.zeros_like`` has its strides."""
    if isinstance(value, Var) and value.name in definitions:
        return is_dense(definitions[value.name], definitions)
    if not isinstance(value, Call):
        return False
    if value.op.function in (own, shadow) and value.args:
        return is_dense(value.args[0], definitions)
    return makes_fresh(value) or value.op.function in (np.copy, np.zeros_like, np.empty_like)


def gives_its_own(value: Expr, targets: tuple[str, ...], effects: Effects, fact: Callable[[Expr], Fact]) -> bool:
    """Whether an expression without derivative surely gives each target an array that no other name refers to."""
    if not isinstance(value, Opaque) or value.refusal is not None:
        return False
    arrays = all(fact(Var(t)).kind == "array" for t in targets)
    known = effects.calls.get(value.call) if value.call is not None else None
    if known is not None and not (known.shared or known.module or known.entangled):
        return arrays
    groups = [effects.group.get(t, frozenset({t})) for t in targets]
    apart = len({n for group in groups for n in group}) == sum(map(len, groups))
    near = any(not group.isdisjoint(names_in(value)) for group in groups)
    return apart and not near and arrays


def field_key(whole: Fact, name: str) -> Const | None:
    """Where the adjoint or tangent of a named tuple or dataclass has the part of a field; None where there is none."""
    names = [key for key, _ in whole.items or ()]
    if name not in names:
        return None
    return Const(name if whole.kind == "dataclass" else names.index(name))


def zeros_of(fact: Fact, open_ended: bool) -> Expr | None:
    """Zeros in the structure of a type: the number 0.0 for each number or array.

    A list or dict of any number of items is 0.0 as a whole if the structure is ``open_ended``; else there is None.
    """
    if fact.kind not in CONTAINERS:
        return Const(0.0)
    if fact.items is None:
        return Const(0.0) if open_ended else None
    parts = [(key, zeros_of(item, open_ended)) for key, item in fact.items]
    known = [(Const(key), zero) for key, zero in parts if zero is not None]
    if len(known) < len(parts):
        return None
    if fact.kind in ("dict", "dataclass"):
        return Build("dict", tuple(part for pair in known for part in pair))
    return Build("list", tuple(zero for _, zero in known))
