"""Find the fact about an expression from the facts about its names."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from s2sad import ops
from s2sad.analysis.dtypes import dtype_of, is_of_objects, is_real, may_be_boolean, precision_of
from s2sad.analysis.rearranged import all_real
from s2sad.analysis.results import result, shaped
from s2sad.analysis.shapes import AtomMaker, dims_of_shape, indexing, item_of, made_of, product, reduction
from s2sad.ir.nodes import (
    Build,
    Call,
    Const,
    Expr,
    Global,
    Opaque,
    Unset,
    Var,
)
from s2sad.ir.types import (
    COMPLEX,
    FLOAT,
    NONE,
    OPEN,
    OTHER,
    SCALAR,
    TRUTH,
    UNSET_FACT,
    Atom,
    Fact,
    Kind,
    broadcast,
    broadcast_dims,
    computed,
    either,
    scalar,
    sized,
    some_item,
    timeless,
)
from s2sad.ops.binding import bind
from s2sad.runtime import add, own, scalar_seed, stop_gradient, unbroadcast, unreduce, widened, zeros

#: How many items of a container are told apart when it changes.
_LONGEST = 16


def evaluate(
    expr: Expr,
    of: Mapping[str, Fact],
    global_facts: Mapping[str, Fact],
    user_call: Callable[[Call, Callable[[Expr], Fact]], Fact] | None = None,
    atom: AtomMaker = Atom,
) -> Fact:
    """The fact about an expression, from the facts of its names."""
    if isinstance(expr, Var):
        return of.get(expr.name, OPEN)

    known: dict[int, tuple[Expr, Fact]] = {}

    def fact(e: Expr) -> Fact:
        if isinstance(e, Var):
            return of.get(e.name, OPEN)
        if id(e) not in known:
            # An expression is kept, so that no other comes to be where it was.
            known[id(e)] = (e, evaluate(e, of, global_facts, user_call, atom))
        return known[id(e)][1]

    match expr:
        case Call():
            found = _call(expr, fact, user_call, atom)
            dtype = dtype_of(expr) if found.numeric else None
            if dtype is not None and is_of_objects(dtype, fact):
                return OPEN
            if found.numeric or found.kind == "open":
                truth = found.boolean or (found.numeric and may_be_boolean(expr, fact))
                precision = precision_of(expr, found, fact)
                if truth != found.boolean or precision != found.precision:
                    return replace(found, boolean=truth, precision=precision)
            return found
        case Const(value=value):
            if isinstance(value, Unset):
                return UNSET_FACT
            if isinstance(value, int) and not isinstance(value, bool):
                return scalar(True, 1 if value == 1 else f"k{value}" if value >= 0 else str(value))
            if isinstance(value, (int, float)):
                return TRUTH if isinstance(value, bool) else FLOAT
            return COMPLEX if isinstance(value, complex) else NONE if value is None else OTHER
        case Global(text=text):
            return global_facts[text]
        case Build(kind="dict", items=items):
            pairs = [(k.value, fact(v)) for k, v in zip(items[::2], items[1::2], strict=True) if isinstance(k, Const)]
            return Fact("dict", items=tuple(pairs) if 2 * len(pairs) == len(items) else None)
        case Build(kind=kind, items=items):
            return Fact(kind, items=tuple((i, fact(item)) for i, item in enumerate(items)))
        case Opaque(node=ast.ListComp(elt=element)):
            # Of literals, as in ``[0.0 for _ in x]``.
            number = isinstance(element, ast.Constant) and isinstance(element.value, (int, float))
            return Fact("list", each=SCALAR if number else None)
        case Opaque(call=Call() as call):
            return fact(call)
        case _:
            return OPEN


def _call(
    expr: Call,
    fact: Callable[[Expr], Fact],
    user_call: Callable[[Call, Callable[[Expr], Fact]], Fact] | None,
    atom: AtomMaker,
) -> Fact:
    op = expr.op
    function = op.function
    if op.kind == "index":
        return indexing(fact(expr.args[0]), expr.args[1], fact, atom)
    if op.kind in ("compare", "bool"):
        facts = [fact(a) for a in expr.args]
        if op.name == "not" or " " in op.name or op.name in ("is", "is not", "in", "not in"):
            return SCALAR
        if op.kind == "bool":
            return either(facts) or OPEN if all(f.kind == "scalar" for f in facts) else OPEN
        return _elementwise(facts)
    if op.kind == "ifexp":
        first, second = fact(expr.args[1]), fact(expr.args[2])
        if first.kind == second.kind == "scalar":
            return scalar(first.real and second.real)
        return first if first == second else Fact("numeric") if first.numeric and second.numeric else OPEN
    if op.kind == "attribute":
        return _attribute(op.name, fact(expr.args[0]), function)
    if op.kind == "user":
        return user_call(expr, fact) if user_call is not None else OPEN
    # What is written ``+=`` makes a new tuple.
    made = op.kind == "operator" or (op.kind == "inplace" and fact(expr.args[0]).kind == "tuple")
    if made and len(expr.args) == 2:
        left, right = fact(expr.args[0]), fact(expr.args[1])
        if op.name == "+" and left.kind == right.kind and left.kind in ("tuple", "list"):
            if left.items is None or right.items is None:
                known = [f for f in map(some_item, (left, right)) if f is not None]
                return Fact(
                    left.kind, each=either(known) if len(known) == 2 or () in (left.items, right.items) else None
                )
            both = [f for _, f in (*left.items, *right.items)]
            return Fact(left.kind, items=tuple(enumerate(both)))
        repeated = left if right.kind == "scalar" else right if left.kind == "scalar" else OPEN
        if op.name == "*" and repeated.kind in ("tuple", "list"):
            return Fact(repeated.kind, each=some_item(repeated))
        if left.kind == right.kind == "scalar":
            return scalar(left.real and right.real, computed(op.name, left.size, right.size))
    if function is stop_gradient:
        return fact(expr.args[0] if expr.args else dict(expr.kwargs)["x"])
    if function in (own, widened):
        return fact(expr.args[0])
    if function is slice and expr.args and not expr.kwargs:
        bounds = [fact(a) for a in expr.args]
        if len(bounds) == 1:
            bounds.insert(0, NONE)
        return Fact("slice", items=tuple(enumerate(bounds)))
    copied = (op.kind == "method" and op.name == "copy") or function is own
    if copied and fact(expr.args[0]).kind in ("list", "dict", "tuple", "record", "dataclass"):
        return fact(expr.args[0])
    if function is range:
        return Fact("other", each=SCALAR)
    if function in (enumerate, zip, reversed) and expr.args:
        rows = [_row(fact(a), fact, atom) for a in (expr.args[:1] if function is not zip else expr.args)]
        items = [SCALAR, *rows] if function is enumerate else rows
        each = Fact("tuple", items=tuple(enumerate(items))) if function is not reversed else rows[0]
        # What is run through once, and not indexed.
        return Fact("other", each=each)
    if function in (list, tuple) and len(expr.args) == 1:
        return _listed("list" if function is list else "tuple", fact(expr.args[0]), fact, atom)
    if function in (list, dict) and not expr.args and not expr.kwargs:
        return Fact("list" if function is list else "dict", items=())
    if function is len:
        dims = fact(expr.args[0]).dims if expr.args else None
        return scalar(True, dims[0] if dims else None)
    if function in (int, float, round, bool, scalar_seed):
        return SCALAR if function in (int, bool, round) else FLOAT
    if function is complex:
        return COMPLEX
    if function is abs and len(expr.args) == 1:
        return replace(_elementwise([fact(expr.args[0])]), real=True)
    if function in (max, min, sum) and not expr.kwargs:
        items = [fact(a) for a in expr.args]
        if function is sum or len(items) == 1:
            items = [some_item(items[0]) or OPEN, *items[1:]] if items else []
        if items and all(f.kind == "scalar" for f in items):
            return scalar(all(f.real for f in items))
    if function is unbroadcast:
        return shaped(fact(expr.args[0]), expr.args[1], fact)
    if (function is unreduce or function is np.broadcast_to) and len(expr.args) > 1:
        return shaped(fact(expr.args[0]), expr.args[1], fact)
    if function is np.shape and len(expr.args) == 1:
        return _attribute("shape", fact(expr.args[0]), function)
    if function in (np.zeros, np.ones, np.empty, np.full) and expr.args:
        return _created(expr, fact)
    if function in (zeros, np.zeros_like, np.ones_like, np.empty_like, np.full_like) and expr.args:
        like = fact(expr.args[0])
        if function is zeros:
            return like
        if any(k != "dtype" for k, _ in expr.kwargs) or len(expr.args) > 3:
            return OPEN
        dtype = dtype_of(expr)
        like = replace(like, real=like.real if dtype is None else is_real(dtype, fact))
        return replace(like, kind="array" if like.kind in ("array", "scalar") else "numeric", items=None)
    if function is add:
        return fact(expr.args[0])
    if op.kind == "change":
        return changed(op.name, [fact(a) for a in expr.args], expr.args[1] if len(expr.args) > 1 else None)
    if op.kind == "inplace":
        return _inplace([fact(a) for a in expr.args], op.name)
    return _ruled(expr, fact, atom)


def _listed(kind: Kind, whole: Fact, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    """The fact about ``list(whole)`` or ``tuple(whole)``."""
    if whole.kind in ("list", "tuple"):
        return replace(whole, kind=kind)
    if whole.kind == "array" and whole.ndim:
        return Fact(kind, each=_row(whole, fact, atom))
    return Fact(kind)


def _row(whole: Fact, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    """What holds for all that a loop over a value runs through."""
    if whole.kind == "array" and whole.ndim:
        row = timeless(indexing(whole, Const(0), fact, atom))
        return replace(row, boolean=whole.boolean, precision=whole.precision)
    if whole.kind in ("list", "tuple", "other"):
        return some_item(whole) or OPEN
    return OPEN


def changed(how: str, facts: list[Fact], key: Expr | None) -> Fact:
    """The fact about a container after a change."""
    whole = facts[0]
    if how.startswith(".") and whole.kind == "dataclass" and whole.items is not None:
        new = timeless(facts[1])
        return replace(whole, items=tuple([(k, new if k == how[1:] else f) for k, f in whole.items]))
    if whole.kind not in ("list", "dict"):
        return OPEN
    known = whole.items
    if how == "pop":
        last = known is not None and len(facts) == 1
        return replace(whole, items=known[:-1]) if known and last else Fact(whole.kind, each=some_item(whole))
    new = timeless(facts[-1])
    if known is not None and len(known) < _LONGEST:
        if how == "append":
            return replace(whole, items=(*known, (len(known), new)))
        if how == "[]" and isinstance(key, Const):
            place = key.value
            if whole.kind == "list" and isinstance(place, int) and place < 0:
                place += len(known)
            if any(k == place for k, _ in known):
                return replace(whole, items=tuple([(k, new if k == place else f) for k, f in known]))
            if whole.kind == "dict":
                return replace(whole, items=(*known, (place, new)))
    others = some_item(whole)
    if others is None and known != ():
        return Fact(whole.kind)
    return Fact(whole.kind, each=either([new] if others is None else [others, new]))


def _created(expr: Call, fact: Callable[[Expr], Fact]) -> Fact:
    """The fact about an array that is made from its shape."""
    shape = fact(expr.args[0])
    dtype = dtype_of(expr)
    values = [fact(v) for v in expr.args[1:2] if expr.op.function is np.full]
    values += [fact(v) for k, v in expr.kwargs if k == "fill_value"]
    if dtype is None and any(v.kind in ("none", "other") for v in values):
        return OPEN
    filled = all(v.real for v in values)
    real = filled if dtype is None else is_real(dtype, fact)
    dims = dims_of_shape(shape, expr.args[0], fact)
    if dims is not None:
        return sized(dims, real)
    if shape.kind == "scalar":
        return Fact("array", None, 1, real)
    if shape.kind in ("tuple", "list") and shape.items is not None:
        return Fact("array" if shape.items else "numeric", None, len(shape.items), real)
    return Fact("array", None, None, real)


def _inplace(facts: list[Fact], symbol: str) -> Fact:
    left, right = facts
    if left.kind == "list" and symbol == "+":
        known = [f for f in map(some_item, facts) if f is not None]
        return Fact("list", each=either(known) if right.kind in ("list", "tuple") and len(known) == 2 else None)
    if left.kind == "array" and (left.ndim is not None or left.extended):
        return left
    if left.kind == "scalar" and right.kind == "scalar":
        return _elementwise(facts)
    if left.kind == "scalar":
        return _elementwise(facts) if symbol != "@" else OPEN
    # A number becomes what is added to it, an array stays what it is.
    return Fact("numeric", real=left.real and right.real) if left.kind == "numeric" else OPEN


def _elementwise(facts: list[Fact]) -> Fact:
    dims = broadcast_dims([f.dims for f in facts])
    if dims and all(f.kind in ("scalar", "array") for f in facts):
        return sized(dims, all(f.real for f in facts))
    shape = broadcast([f.shape for f in facts])
    real = all(f.real for f in facts)
    if all(f.kind == "scalar" or (f.kind == "array" and f.ndim == 0) for f in facts):
        return scalar(real)
    if not all(f.kind in ("scalar", "array", "numeric", "open", "list", "tuple") for f in facts):
        return OPEN
    ndims = [f.ndim for f in facts]
    ndim = max(n for n in ndims if n is not None) if all(n is not None for n in ndims) else None
    if any(f.kind in ("list", "tuple") for f in facts):
        return Fact("open")
    certain = any(f.kind == "array" and f.ndim != 0 for f in facts)
    return Fact("array" if certain else "numeric", shape, ndim, real, extended=any(f.has_axes for f in facts))


def _attribute(name: str, whole: Fact, function: object) -> Fact:
    if name in ("ndim", "size", "itemsize", "nbytes"):
        return SCALAR
    if name == "dtype":
        return Fact("other", real=whole.real, boolean=whole.boolean or not whole.numeric)
    if name == "shape":
        count = whole.ndim
        if whole.dims is not None:
            return Fact("tuple", items=tuple((i, scalar(True, d)) for i, d in enumerate(whole.dims)))
        return Fact("tuple", items=None if count is None else tuple((i, SCALAR) for i in range(count)))
    if whole.items is not None:
        return item_of(whole, name)
    if name == "T" and whole.dims:
        return made_of(whole.dims[::-1], whole.real)
    if name in ("T", "mT") and whole.ndim is not None:
        return replace(whole, shape=whole.shape if whole.ndim < 2 else None)
    if name in ("real", "imag") and whole.numeric:
        return replace(whole, real=True)
    return Fact("numeric") if function is not None else OPEN


def _ruled(expr: Call, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    found = _ruled_in_own_dtype(expr, fact, atom)
    dtype = dtype_of(expr) if found.numeric or found.kind == "open" else None
    return found if dtype is None or found.real == is_real(dtype, fact) else replace(found, real=not found.real)


def _ruled_in_own_dtype(expr: Call, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    function = expr.op.function
    if isinstance(function, np.ufunc) and function.signature is None and not expr.kwargs:
        whole = _elementwise([fact(a) for a in expr.args])
        if function in (np.absolute, np.real, np.imag, np.angle, np.floor, np.sign):
            return replace(whole, real=True) if function is not np.sign else whole
        return whole
    rule = ops.find(function)
    try:
        known = result(expr, fact)
    except TypeError:
        return OPEN
    if known is not None or rule is None:
        return known or OPEN
    try:
        if rule.shape == "reduce":
            return reduction(expr, fact, atom)
        bound = bind(expr)
    except TypeError:
        return OPEN
    if rule.shape == "broadcast":
        whole = _elementwise([f for f in map(fact, bound.values()) if f.kind not in ("none", "other")])
        if function is np.where and whole.kind == "scalar":
            return sized((), whole.real)
        return replace(whole, real=True) if rule.name in ("numpy.real", "numpy.imag", "numpy.angle") else whole
    first = next(iter(bound.values()), None)
    facts = [fact(v) for v in bound.values()]
    real = all_real(*(f for f in facts if f.kind not in ("none", "other")))
    if rule.shape == "same" and first is not None and facts[0].numeric:
        # Of an array without axes others make a number.
        sure = facts[0].kind == "array" and (facts[0].ndim != 0 or function in (np.real, np.imag, np.copy, own))
        return replace(facts[0], kind="array" if sure else "numeric", real=facts[0].real)
    if function in (np.matmul, np.dot):
        return product(facts[0], facts[1], real, function is np.matmul)
    if function is np.outer and facts[0].dims is not None and facts[1].dims is not None:
        if len(facts[0].dims) == len(facts[1].dims) == 1:
            return sized((*facts[0].dims, *facts[1].dims), real)
    if function is np.outer:
        return Fact("array", None, 2, real)
    if function in (np.vdot, np.trace) and (function is np.vdot or facts[0].ndim == 2):
        return scalar(real)
    if function is math.prod:
        items = some_item(facts[0]) or OPEN
        return scalar(items.real and facts[-1].real) if items.kind == "scalar" else OPEN
    if getattr(function, "__module__", "") == "math":
        return OPEN if function is getattr(math, "sumprod", None) else SCALAR
    return Fact("open", real=real)
