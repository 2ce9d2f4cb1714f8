"""Find the facts about every name of a function, and about expressions.

Facts flow along the statements.  At the head of a loop the fact of a join name is what holds for
all that moves into it.  An atom that is born inside a loop stands for another shape in each
iteration, so it never crosses the back edge: a join name that would carry one gets an atom of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2sad import rules
from s2sad.analysis.facts import (
    COMPLEX,
    OPEN,
    OTHER,
    SCALAR,
    SCALAR_SHAPE,
    UNSET_FACT,
    Atom,
    Dim,
    Dims,
    Fact,
    Kind,
    Shape,
    broadcast,
    broadcast_dims,
    sized,
)
from s2sad.ir.nodes import (
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Expr,
    For,
    Function,
    Global,
    If,
    Pop,
    Slice,
    Unpack,
    Unset,
    Var,
    While,
)
from s2sad.rules.binding import bind
from s2sad.runtime import add, scalar_seed, stop_gradient, unbroadcast, unreduce, zeros


@dataclass(frozen=True)
class Facts:
    """The facts about every name of a function."""

    of: Mapping[str, Fact]
    globals: Mapping[str, Fact]

    def get(self, expr: Expr) -> Fact:
        """The fact about an expression whose names are all known."""
        return evaluate(expr, self.of, self.globals)


def infer(
    function: Function,
    params: Mapping[str, Fact],
    global_fact: Callable[[str], Fact],
    user_call: Callable[[Call, list[Fact]], Fact] | None = None,
) -> Facts:
    """Find the facts about every name of ``function``, given those of its parameters."""
    inference = _Inference(global_fact, user_call)
    for param in function.params:
        inference.of[param.name] = params.get(param.public, OPEN)
    inference.block(function.body)
    if function.reverse is not None:
        inference.block(function.reverse)
    return Facts(inference.of, inference.globals)


class _Globals(dict[str, Fact]):
    def __init__(self, look: Callable[[str], Fact]) -> None:
        self.look = look

    def __missing__(self, text: str) -> Fact:
        self[text] = fact = self.look(text)
        return fact


class _Inference:
    def __init__(
        self, global_fact: Callable[[str], Fact], user_call: Callable[[Call, list[Fact]], Fact] | None
    ) -> None:
        self.of: dict[str, Fact] = {}
        self.globals = _Globals(global_fact)
        self.user_call = user_call
        self.born: list[set[Atom]] = []
        self.joins: dict[str, Fact] = {}

    def atom(self, name: str, below: Shape = frozenset()) -> Atom:
        atom = Atom(name, below)
        for level in self.born:
            level.add(atom)
        return atom

    def fresh(self, fact: Fact, name: str) -> Fact:
        """``fact`` with an atom of its own where its shape is not known."""
        if fact.shape is None and fact.kind in ("array", "numeric", "open"):
            return replace(fact, shape=frozenset({self.atom(name)}))
        return fact

    def value(self, expr: Expr, name: str) -> Fact:
        return self.fresh(evaluate(expr, self.of, self.globals, self.user_call, self.atom), name)

    def block(self, block: Block) -> None:
        for stmt in block:
            match stmt:
                case Assign(target=target, value=value):
                    self.of[target] = self.value(value, target)
                case Copy(targets=targets, sources=sources):
                    incoming = [self.value(s, t) for t, s in zip(targets, sources, strict=True)]
                    for target, fact in zip(targets, incoming, strict=True):
                        self.move(target, fact)
                case Unpack(targets=targets, value=value, star=star):
                    whole = self.value(value, targets[0])
                    for position, target in enumerate(targets):
                        item = OPEN if star is not None else _item(whole, position)
                        self.of[target] = self.fresh(item, target)
                case Pop(targets=targets):
                    for target in targets:
                        self.of[target] = self.fresh(self.of.get(target, OPEN), target)
                case If(then=then, orelse=orelse):
                    self.block(then)
                    self.block(orelse)
                case For() | While():
                    self.loop(stmt)
                case _:
                    pass

    def move(self, target: str, fact: Fact) -> None:
        old = self.of.get(target)
        self.of[target] = fact if old is None else self.meet(old, fact, target)

    def meet(self, a: Fact, b: Fact, name: str) -> Fact:
        if a == b or b == UNSET_FACT:
            return a
        if a == UNSET_FACT:
            return b
        shape = a.shape if a.shape == b.shape else None
        ndim = a.ndim if a.ndim == b.ndim else None
        dims = a.dims if a.dims == b.dims else None
        if a.kind == b.kind:
            kind: Kind = a.kind
        else:
            kind = "numeric" if a.numeric and b.numeric else "open"
        return self.fresh(Fact(kind, shape, ndim, a.real and b.real, dims=dims), f"{name}?")

    def loop(self, stmt: For | While) -> None:
        """Run the body until the facts of its join names hold at its head."""
        heads = [t for s in stmt.body for t in _joined(s)]
        for _ in range(6):
            self.born.append(set())
            if isinstance(stmt, For):
                self.targets(stmt)
            before = {h: self.of.get(h) for h in heads}
            self.block(stmt.body)
            born = self.born.pop()
            stable = True
            for head in heads:
                fact = self.of.get(head)
                if fact is not None and fact.shape is not None and any(_touches(a, born) for a in fact.shape):
                    fact = replace(fact, shape=None, dims=None)
                    fact = self.fresh(fact, f"{head}*")
                    self.of[head] = fact
                stable = stable and fact == before[head]
            if stable:
                return
        for head in heads:
            self.of[head] = self.fresh(OPEN, f"{head}*")
        self.block(stmt.body)

    def targets(self, stmt: For) -> None:
        for target, iterable in zip(stmt.targets, stmt.iters, strict=True):
            if isinstance(iterable, Call) and iterable.op.function is range:
                self.of[target] = SCALAR
                continue
            whole = self.value(iterable, target)
            if whole.items is not None and whole.kind in ("tuple", "list"):
                facts = [f for _, f in whole.items]
                fact = facts[0] if facts else OPEN
                for other in facts[1:]:
                    fact = self.meet(fact, other, target)
                fact = _anonymous(fact)
            elif whole.kind == "array":
                fact = _row(whole)
            else:
                fact = OPEN
            self.of[target] = self.fresh(fact, target)
        if stmt.counter is not None:
            self.of[stmt.counter] = SCALAR


def _anonymous(fact: Fact) -> Fact:
    """A fact about some item: the shape of one item is not that of another."""
    shape = fact.shape if fact.shape == SCALAR_SHAPE else None
    items = None if fact.items is None else tuple((k, _anonymous(f)) for k, f in fact.items)
    return replace(fact, shape=shape, items=items) if fact.dims is None else replace(fact, items=items)


def _row(whole: Fact) -> Fact:
    if whole.dims:
        return _made(whole.dims[1:], whole.real)
    if whole.ndim is None:
        return Fact("numeric", None, None, whole.real)
    if whole.ndim == 1:
        return replace(SCALAR, real=whole.real)
    return Fact("array", None, whole.ndim - 1, whole.real)


def _touches(atom: Atom, born: set[Atom]) -> bool:
    return atom in born or any(_touches(a, born) for a in atom.below)


def _joined(stmt: Any) -> tuple[str, ...]:
    if isinstance(stmt, Copy):
        return stmt.targets
    if isinstance(stmt, If):
        return tuple(t for s in (*stmt.then, *stmt.orelse) for t in _joined(s))
    return ()


def _item(whole: Fact, position: Any) -> Fact:
    if whole.items is not None:
        for key, fact in whole.items:
            if key == position:
                return fact
        if whole.kind == "record" and isinstance(position, int) and position < len(whole.items):
            return whole.items[position][1]
        return OPEN
    return _row(whole) if whole.kind == "array" else OPEN


AtomMaker = Callable[..., Atom]


def evaluate(
    expr: Expr,
    of: Mapping[str, Fact],
    global_facts: Mapping[str, Fact],
    user_call: Callable[[Call, list[Fact]], Fact] | None = None,
    atom: AtomMaker = Atom,
) -> Fact:
    """The fact about an expression, from the facts of its names."""

    def fact(e: Expr) -> Fact:
        return evaluate(e, of, global_facts, user_call, atom)

    match expr:
        case Const(value=value):
            if isinstance(value, Unset):
                return UNSET_FACT
            if isinstance(value, (int, float)):
                return SCALAR
            return COMPLEX if isinstance(value, complex) else OTHER
        case Var(name=name):
            return of.get(name, OPEN)
        case Global(text=text):
            return global_facts[text]
        case Build(kind="dict", items=items):
            pairs = [(k.value, fact(v)) for k, v in zip(items[::2], items[1::2], strict=True) if isinstance(k, Const)]
            return Fact("dict", items=tuple(pairs) if 2 * len(pairs) == len(items) else None)
        case Build(kind=kind, items=items):
            return Fact(kind, items=tuple((i, fact(item)) for i, item in enumerate(items)))
        case Call():
            return _call(expr, fact, user_call, atom)
        case _:
            return OPEN


def _call(
    expr: Call,
    fact: Callable[[Expr], Fact],
    user_call: Callable[[Call, list[Fact]], Fact] | None,
    atom: AtomMaker,
) -> Fact:
    op = expr.op
    function = op.function
    if op.kind == "index":
        return _index(fact(expr.args[0]), expr.args[1], fact, atom)
    if op.kind in ("compare", "bool"):
        facts = [fact(a) for a in expr.args]
        if op.name == "not" or " " in op.name or op.name in ("is", "is not", "in", "not in"):
            return SCALAR
        if op.kind == "bool":
            return SCALAR if all(f.kind == "scalar" for f in facts) else OPEN
        return _elementwise(facts)
    if op.kind == "ifexp":
        first, second = fact(expr.args[1]), fact(expr.args[2])
        return first if first == second else Fact("numeric") if first.numeric and second.numeric else OPEN
    if op.kind == "attribute":
        return _attribute(op.name, fact(expr.args[0]), function)
    if op.kind == "user":
        return user_call(expr, [fact(a) for a in expr.args]) if user_call is not None else OPEN
    if op.kind == "operator" and op.name == "+" and len(expr.args) == 2:
        left, right = fact(expr.args[0]), fact(expr.args[1])
        if left.kind == right.kind and left.kind in ("tuple", "list"):
            if left.items is None or right.items is None:
                return Fact(left.kind)
            both = [f for _, f in (*left.items, *right.items)]
            return Fact(left.kind, items=tuple(enumerate(both)))
    if function is stop_gradient:
        return fact(expr.args[0] if expr.args else dict(expr.kwargs)["x"])
    if function is len:
        dims = fact(expr.args[0]).dims
        return replace(SCALAR, size=dims[0] if dims else None)
    if function in (int, float, round, bool, scalar_seed):
        return SCALAR
    if function is complex:
        return COMPLEX
    if function is unbroadcast:
        return _shaped_like(fact(expr.args[0]), expr.args[1], fact)
    if function is unreduce or function is np.broadcast_to:
        return _shaped_like(fact(expr.args[0]), expr.args[1], fact)
    if function in (np.zeros, np.ones, np.empty, np.full) and expr.args:
        made = _dims_of_shape(fact(expr.args[0]), expr.args[0], fact)
        if made is not None and not any(k == "dtype" for k, _ in expr.kwargs):
            return sized(made, True)
    if function in (zeros, np.zeros_like, np.ones_like, np.empty_like, np.full_like) and len(expr.kwargs) == 0:
        like = fact(expr.args[0])
        if function is zeros:
            return like
        return replace(like, kind="array" if like.kind in ("array", "scalar") else "numeric", items=None)
    if function is add:
        return fact(expr.args[0])
    if op.kind == "inplace":
        return _inplace([fact(a) for a in expr.args], op.name)
    return _ruled(expr, fact, atom)


def _inplace(facts: list[Fact], symbol: str) -> Fact:
    left, right = facts
    if left.kind == "array" and left.ndim != 0:
        return left
    if left.kind == "scalar" and right.kind == "scalar":
        return _elementwise(facts)
    if left.kind == "scalar":
        return _elementwise(facts) if symbol != "@" else OPEN
    return replace(left, ndim=None, items=None) if left.kind == "numeric" else OPEN


def _elementwise(facts: list[Fact]) -> Fact:
    dims = broadcast_dims([f.dims for f in facts])
    if dims and all(f.kind in ("scalar", "array") for f in facts):
        return sized(dims, all(f.real for f in facts))
    shape = broadcast([f.shape for f in facts])
    real = all(f.real for f in facts)
    if all(f.kind == "scalar" or (f.kind == "array" and f.ndim == 0) for f in facts):
        return replace(SCALAR, real=real)
    if not all(f.kind in ("scalar", "array", "numeric", "open", "list", "tuple") for f in facts):
        return OPEN
    ndims = [f.ndim for f in facts]
    ndim = max(n for n in ndims if n is not None) if all(n is not None for n in ndims) else None
    if any(f.kind in ("list", "tuple") for f in facts):
        return Fact("open")
    certain = any(f.kind == "array" and f.ndim != 0 for f in facts)
    open_ = all(f.kind == "open" for f in facts)
    return Fact("array" if certain else "numeric" if not open_ else "numeric", shape, ndim, real)


def _attribute(name: str, whole: Fact, function: object) -> Fact:
    if name in ("ndim", "size", "itemsize", "nbytes"):
        return SCALAR
    if name == "shape":
        count = whole.ndim
        if whole.dims is not None:
            return Fact("tuple", items=tuple((i, replace(SCALAR, size=d)) for i, d in enumerate(whole.dims)))
        return Fact("tuple", items=None if count is None else tuple((i, SCALAR) for i in range(count)))
    if whole.items is not None:
        return _item(whole, name)
    if name == "T" and whole.dims is not None:
        return _made(whole.dims[::-1], whole.real)
    if name in ("T", "mT") and whole.ndim is not None:
        return replace(whole, shape=whole.shape if whole.ndim < 2 else None)
    if name in ("real", "imag") and whole.numeric:
        return replace(whole, real=True)
    return Fact("numeric") if function is not None else OPEN


def _shaped_like(g: Fact, shape: Expr, fact: Callable[[Expr], Fact]) -> Fact:
    if isinstance(shape, Call) and (shape.op.function is np.shape or shape.op.name == "shape"):
        like = fact(shape.args[0])
        kind: Kind = like.kind if like.kind in ("scalar", "array") else "numeric"
        return Fact(kind, like.shape, like.ndim, g.real, dims=like.dims)
    return Fact("numeric", real=g.real)


def _reduce(expr: Call, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    bound = bind(expr)
    whole = fact(bound[next(iter(bound))])
    axis, keepdims = bound.get("axis", Const(None)), bound.get("keepdims", Const(False))
    dims = _reduced(whole.dims, axis, keepdims)
    if dims is not None:
        return _made(dims, whole.real)
    if not isinstance(keepdims, Const):
        return Fact("numeric", real=whole.real)
    if not keepdims.value:
        if isinstance(axis, Const) and axis.value is None:
            return replace(SCALAR, real=whole.real)
        if whole.ndim is None or not isinstance(axis, Const) or not isinstance(axis.value, int):
            return Fact("numeric", real=whole.real)
        if whole.ndim == 1:
            return replace(SCALAR, real=whole.real)
        return Fact("array", None, whole.ndim - 1, whole.real)
    if isinstance(axis, Const) and whole.shape:
        text = ",".join(sorted(a.name for a in whole.shape))
        kept = atom(f"keep({text};{axis.value})", whole.shape)
        return Fact("array" if whole.kind == "array" else "numeric", frozenset({kept}), whole.ndim, whole.real)
    return Fact("array" if whole.kind == "array" else "numeric", None, whole.ndim, whole.real)


def _made(dims: Dims, real: bool) -> Fact:
    """The result of an operation that returns a number where no axis is left."""
    return sized(dims, real) if dims else replace(SCALAR, real=real)


def _reduced(dims: Dims | None, axis: Expr, keepdims: Expr) -> Dims | None:
    """The sizes that a reduction leaves."""
    if dims is None or not isinstance(keepdims, Const):
        return None
    if isinstance(axis, Build) and all(isinstance(i, Const) for i in axis.items):
        axes = [i.value for i in axis.items if isinstance(i, Const)]
    elif isinstance(axis, Const) and isinstance(axis.value, int):
        axes = [axis.value]
    elif axis == Const(None):
        axes = list(range(len(dims)))
    else:
        return None
    if not all(isinstance(a, int) and -len(dims) <= a < len(dims) for a in axes):
        return None
    gone = {a % len(dims) for a in axes}
    if keepdims.value:
        return tuple([1 if i in gone else d for i, d in enumerate(dims)])
    return tuple([d for i, d in enumerate(dims) if i not in gone])


def _dims_of_shape(shape: Fact, expr: Expr, fact: Callable[[Expr], Fact]) -> Dims | None:
    """The sizes that a shape argument gives: ``n``, ``len(x)``, ``(n, 1)`` or ``x.shape``."""
    if shape.kind == "tuple":
        if shape.items is None:
            return None
        items = expr.items if isinstance(expr, Build) else (None,) * len(shape.items)
        sizes = [_size(f, e) for (_, f), e in zip(shape.items, items, strict=True)]
        return tuple([s for s in sizes if s is not None]) if all(s is not None for s in sizes) else None
    size = _size(shape, expr)
    return None if size is None else (size,)


def _size(fact: Fact, expr: Expr | None) -> Dim | None:
    if isinstance(expr, Const) and isinstance(expr.value, int) and not isinstance(expr.value, bool):
        return 1 if expr.value == 1 else f"k{expr.value}" if expr.value >= 0 else None
    return fact.size


def _ruled(expr: Call, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    result = _ruled_in_own_dtype(expr, fact, atom)
    if result.real and (expr.op.name.rpartition(".")[2] == "astype" or any(k == "dtype" for k, _ in expr.kwargs)):
        return replace(result, real=False)
    return result


def _ruled_in_own_dtype(expr: Call, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    function = expr.op.function
    rule = rules.find(function)
    if isinstance(function, np.ufunc) and function.signature is None and not expr.kwargs:
        result = _elementwise([fact(a) for a in expr.args])
        if function in (np.absolute, np.real, np.imag, np.angle, np.floor, np.sign):
            return replace(result, real=True) if function is not np.sign else result
        return result
    if rule is None:
        return OPEN
    if rule.shape == "broadcast":
        result = _elementwise([fact(a) for a in expr.args])
        return replace(result, real=True) if rule.name in ("numpy.real", "numpy.imag", "numpy.angle") else result
    try:
        if rule.shape == "reduce":
            return _reduce(expr, fact, atom)
        bound = bind(expr)
    except TypeError:
        return OPEN
    first = next(iter(bound.values()), None)
    facts = [fact(v) for v in bound.values()]
    real = all(f.real for f in facts if f.kind in ("scalar", "array", "numeric", "open"))
    if rule.shape == "same" and first is not None and facts[0].numeric:
        return replace(facts[0], kind="array" if facts[0].kind == "array" else "numeric", real=facts[0].real)
    if function in (np.matmul, np.dot):
        return _product(facts[0], facts[1], real)
    if function is np.outer and facts[0].dims is not None and facts[1].dims is not None:
        if len(facts[0].dims) == len(facts[1].dims) == 1:
            return sized((*facts[0].dims, *facts[1].dims), real)
    if function is np.transpose and facts[0].dims is not None and bound.get("axes") == Const(None):
        return _made(facts[0].dims[::-1], real)
    if function is np.outer:
        return Fact("array", None, 2, real)
    if function in (np.vdot, np.linalg.det, np.trace) and (function is np.vdot or facts[0].ndim == 2):
        return replace(SCALAR, real=real)
    if getattr(function, "__module__", "") == "math":
        return SCALAR
    return Fact("open", real=real)


def _product(a: Fact, b: Fact, real: bool) -> Fact:
    if a.ndim == 1 and b.ndim == 1:
        return replace(SCALAR, real=real)
    if a.dims and b.dims and len(a.dims) <= 2 and len(b.dims) <= 2:
        return _made((*a.dims[:-1], *b.dims[:-2], *(b.dims[-1:] if len(b.dims) > 1 else ())), real)
    if a.ndim is not None and b.ndim is not None and 0 < a.ndim <= 2 and 0 < b.ndim <= 2:
        return Fact("array", None, a.ndim + b.ndim - 2, real)
    return Fact("numeric", None, None, real)


def _index(whole: Fact, index: Expr, fact: Callable[[Expr], Fact], atom: AtomMaker) -> Fact:
    if whole.kind in ("tuple", "list", "dict", "record"):
        if isinstance(index, Const):
            key = index.value
            if whole.items is not None and isinstance(key, int) and key < 0 and whole.kind != "dict":
                key += len(whole.items)
            return _item(whole, key)
        return OPEN
    if whole.kind == "scalar":
        return OPEN
    parts = index.items if isinstance(index, Build) and index.kind == "tuple" else (index,)
    removed: list[str] = []
    dropped = 0
    added = 0
    basic = True
    exact = True
    for part in parts:
        if isinstance(part, Slice):
            cut = _removed(part)
            exact = exact and cut is not None
            removed.append("" if cut in (None, 0) else str(cut))
        elif isinstance(part, Const) and part.value is None:
            added += 1
            exact = False
        elif isinstance(part, Const) and part.value is Ellipsis:
            exact = False
        elif fact(part).kind == "scalar" and not (isinstance(part, Const) and isinstance(part.value, bool)):
            dropped += 1
            removed.append("i")
        else:
            basic = False
    if not basic:
        return Fact("numeric" if whole.kind != "open" else "open", None, None, whole.real)
    ndim = None if whole.ndim is None else whole.ndim - dropped + added
    if ndim == 0 and dropped == len(parts):
        return replace(SCALAR, real=whole.real)
    if whole.dims is not None:
        dims = _indexed(whole.dims, parts, fact)
        if dims is not None:
            return sized(dims, whole.real)
    kind: Kind = "array" if ndim is not None and ndim > 0 else "numeric" if whole.kind != "open" else "open"
    shape: Shape | None = None
    if exact and whole.shape is not None and len(whole.shape) == 1 and any(isinstance(p, Slice) for p in parts):
        while removed and removed[-1] == "":
            removed.pop()
        (base,) = whole.shape
        shape = whole.shape if not removed else frozenset({atom(f"{base.name}<{','.join(removed)}>")})
    return Fact(kind, shape, ndim, whole.real)


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


def _indexed(dims: Dims, parts: tuple[Expr, ...], fact: Callable[[Expr], Fact]) -> Dims | None:
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
        elif isinstance(part, Slice):
            size = rest.pop(0)
            cut = _removed(part)
            if part.step == Const(-1) and part.lower is None and part.upper is None:
                cut = 0
            if cut is None:
                return None
            out.append(size if cut == 0 else f"{size}-{cut}" if str(size).isalnum() and size != 1 else _never())
            if out[-1] == "":
                return None
        else:
            rest.pop(0)
    return (*out, *rest)


def _never() -> Dim:
    """A size of which nothing is known."""
    return ""
