"""Reading and writing the elements of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.ir.apply import INPLACE
from s2sad.ops.spec import Rule, spec_of
from s2sad.runtime.arrays import unbroadcast
from tests.shadows.refs import Node, NotSupported, Ref, is_number, isa
from tests.shadows.rules import bound, give, log_store, tree_of, wrote
from tests.shadows.run import Run

UFUNCS: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.remainder,
    "**": np.power, "@": np.matmul, "<<": np.left_shift, ">>": np.right_shift, "|": np.bitwise_or,
    "^": np.bitwise_xor, "&": np.bitwise_and,
}  # fmt: skip


def is_basic(index: Any) -> bool:
    """Whether an index selects a view."""
    parts = index if isa(index, tuple) else (index,)
    return all(
        p is None or p is ... or (isa(p, (slice, int, np.integer)) and not isa(p, (bool, np.bool_))) for p in parts
    )


def _frozen(index: Any) -> Any:
    if isa(index, tuple):
        return tuple(_frozen(p) for p in index)
    return np.array(index) if isa(index, list) else index


def load(run: Run, ref: Ref, index: Any) -> Ref:
    """``x[index]``"""
    x = ref.object
    z = np.ndarray.__getitem__(x, index)
    return selected(run, ref, z, _frozen(index))


def selected(run: Run, ref: Ref, z: Any, index: Any) -> Ref:
    """A reference to ``z``, which is ``x[index]``: a view, or a copy of some elements."""
    x = ref.object
    extent = run.memory.extent(x)
    if isa(z, np.ndarray) and run.memory.extent(z) is extent:
        run.used.add("views")
        return Ref(z, ref.mark)
    mask = run.memory.reads(x, ref.stop)
    mask = mask if isa(mask, bool) else np.array(np.asarray(mask)[index])
    if not np.any(mask):
        return Ref(z)
    if isa(z, np.void):
        raise NotSupported("a row of a structured array")
    source = run.memory.token(x)
    if not source.has_shadow:
        return Ref(z)
    if isa(z, np.ndarray):
        token = run.activate(z)

        def back() -> None:
            if not token.is_zero:
                g = token.take()
                token.release()
                source.add(g if mask is True else np.where(mask, g, 0.0), index)

        run.log(back)
        return Ref(z)
    node = Node()

    def back_number() -> None:
        g = node.take()
        if g is not None:
            source.add(g, index)

    run.log(back_number)
    return Ref(z, node)


def store(run: Run, ref: Ref, index: Any, value: Ref) -> None:
    """``x[index] = value``"""
    x = ref.object
    base = x.view(np.ndarray)
    run.used.add("stores to arrays")
    if x.dtype == object and run.is_active(value) and (is_number(value.object) or np.ndim(value.object) == 0):
        raise NotSupported("something active in an array of objects")
    tree = tree_of(run, value) if x.dtype.kind in "fc" else None
    if tree is None and x.dtype.kind not in "fcO" and run.is_active(value):
        if x.dtype.kind == "V":
            raise NotSupported("a store into a structured array")
    if is_basic(index):
        parts = index if isa(index, tuple) else (index,)
        part = base[parts if ... in [p for p in parts if p is ...] else (*parts, ...)]
    else:
        part = base
    undo = run.undo(part)
    wrote(run, undo, lambda: base.__setitem__(index, value.object))
    if tree is not None:
        run.activate(base)
    token = run.memory.token(part) if x.dtype.kind in "fc" else None
    shape = np.shape(value.object) if tree is not None else ()
    codes = None
    if part is base:
        # The number of the element that each element of the target comes from, counted from one.
        codes = np.zeros(base.shape, np.intp)
        count = int(np.prod(shape)) if tree is not None else 1
        codes[index] = np.arange(1, count + 1).reshape(shape) if tree is not None else 1
    if x.dtype.kind in "fc":
        run.memory.token(part).written(run.memory.clock, ... if codes is None else codes > 0)

    def back() -> None:
        g: Any = None
        if token is not None and not token.is_zero:
            if codes is None:
                g = token.take()
            else:
                shadow, hit = token.shadow(), codes > 0
                g = np.zeros(int(np.prod(shape)) if tree is not None else 1, shadow.dtype)
                np.add.at(g, codes[hit] - 1, np.conj(shadow[hit]))
                shadow[hit] = 0
                g = g.reshape(shape) if tree is not None else None
        undo.swap()
        if g is not None and tree is not None:
            give(tree, unbroadcast(g, shape))

    run.log(back)


def inplace(run: Run, sign: str, left: Ref, right: Ref) -> Ref:
    """``left op= right`` for an array on the left."""
    x = left.object
    base = x.view(np.ndarray)
    run.used.add("stores to arrays")
    spec = spec_of(UFUNCS[sign])
    assert spec is not None
    given = {"x": left, "y": right}
    if isa(spec, Rule):
        given = dict(zip([p for p in spec.parameters if p not in ("z", "z_bar")], (left, right), strict=False))
    operation = bound(run, spec, given) if isa(spec, Rule) and x.dtype.kind in "fc" else None
    undo = run.undo(base)
    found = wrote(run, undo, lambda: INPLACE[sign](x, right.object))
    if found is not x:
        raise NotSupported("op= of an array that gives another object")
    log_store(run, base, undo, operation)
    return left


def moved(run: Run, ref: Ref, move: Callable[[Any], Any], replay: Callable[[Any, Any], Any], values: list[Ref]) -> Any:
    """A function that puts elements of an array, and of others, at other places in it.

    ``move`` does it; ``replay`` does the same to an array of codes, given the codes of the elements of the values.
    """
    x = ref.object
    base = x.view(np.ndarray)
    run.used.add("stores to arrays")
    undo = run.undo(base)
    trees = [tree_of(run, value) for value in values] if x.dtype.kind in "fc" else [None for _ in values]
    codes = np.arange(x.size).reshape(x.shape)
    starts, stop = [], x.size
    coded = []
    for value in values:
        shape = np.shape(value.object)
        count = int(np.prod(shape))
        coded.append(np.arange(stop, stop + count).reshape(shape))
        starts.append((stop, count, shape))
        stop += count
    before = undo.held
    found = wrote(run, undo, lambda: move(x))
    codes = replay(codes, [*coded, before])
    if run.memory.clock and x.dtype.kind in "fc" and x.size:
        # What is moved is as old as it was.
        token = run.memory.token(base)
        token.written(run.memory.clock, np.zeros(x.shape, bool))
        times = token.times()
        old = np.append(np.asarray(times).ravel(), np.full(stop - x.size, run.memory.clock, np.int16))
        token.written(run.memory.clock)
        np.copyto(np.asarray(token.times()), old[codes])
    if any(tree is not None for tree in trees):
        run.activate(base)
    token = run.memory.token(base) if base.dtype.kind in "fc" else None

    def back() -> None:
        g: Any = None
        if token is not None and not token.is_zero:
            taken = token.take()
            g = np.zeros(stop, taken.dtype)
            np.add.at(g, codes, taken)
        undo.swap()
        if g is None or token is None:
            return
        token.add(g[: base.size].reshape(base.shape))
        for tree, (start, count, shape) in zip(trees, starts, strict=True):
            give(tree, g[start : start + count].reshape(shape))

    run.log(back)
    return found


def ufunc_at(run: Run, ufunc: Any, args: list[Ref]) -> Ref:
    """``np.add.at(a, indices, b)``, and the like of subtraction."""
    a, index, *rest = args
    if ufunc not in (np.add, np.subtract) or len(rest) != 1:
        if any(run.is_active(r) for r in args):
            raise NotSupported(f"numpy.{ufunc.__name__}.at")
        undo = run.undo(a.object.view(np.ndarray))
        wrote(run, undo, lambda: ufunc.at(*[r.object for r in args]))
        run.log(undo.swap)
        return Ref(None)
    base = a.object.view(np.ndarray)
    tree = tree_of(run, rest[0]) if base.dtype.kind in "fc" else None
    undo = run.undo(base)
    wrote(run, undo, lambda: ufunc.at(base, index.object, rest[0].object))
    if tree is not None:
        run.activate(base)
    token = run.memory.token(base) if base.dtype.kind in "fc" else None
    place, shape = _frozen(index.object), np.shape(rest[0].object)

    def back() -> None:
        undo.swap()
        if token is not None and not token.is_zero and tree is not None:
            g = np.conj(token.shadow()[place])
            give(tree, unbroadcast(g if ufunc is np.add else -g, shape))

    run.log(back)
    if a.stop is not None:
        raise NotSupported("ufunc.at through a stopped reference")
    return Ref(None)


# --- functions and methods that write ---


def _argsort(before: Any, axis: Any) -> Any:
    return np.argsort(before, axis=axis, kind="stable")


def written(run: Run, name: str, args: list[Ref], kwargs: dict[str, Ref], native: Callable[..., Any]) -> Ref | None:
    """A function or method that moves elements, or None if it is none of these."""
    ref = args[0]
    raw = {k: v.object for k, v in kwargs.items()}
    if name in ("sort", "partition") and isa(ref.object, np.ndarray):
        axis = args[2 if name == "partition" else 1].object if len(args) > (2 if name == "partition" else 1) else -1
        axis = raw.get("axis", axis)
        kth = args[1].object if name == "partition" else None

        def replay(codes: Any, rest: Any) -> Any:
            order = np.argpartition(rest[-1], kth, axis=axis) if kth is not None else _argsort(rest[-1], axis)
            return np.take_along_axis(codes, order, axis)

        moved(run, ref, lambda x: native(*[a.object for a in args], **raw), replay, [])
        return Ref(None)
    if name not in ("copyto", "put", "putmask", "place", "fill_diagonal", "put_along_axis", "fill"):
        return None
    position = {"copyto": 1, "fill": 1, "fill_diagonal": 1}.get(name, 2)
    key = {"copyto": "src", "fill": "value", "fill_diagonal": "val", "put": "v", "place": "vals"}.get(name, "values")
    value = args[position] if len(args) > position else kwargs[key]
    function = {"fill": np.ndarray.fill}.get(name, getattr(np, name, None))
    assert function is not None

    def replay_store(codes: Any, rest: Any) -> Any:
        codes = codes.astype(float)
        coded = rest[0].astype(float)
        given = [a.object for a in args[1:]]
        named = {k: v for k, v in raw.items() if k != "casting"}
        if len(args) > position:
            given[position - 1] = coded
        else:
            named[key] = coded
        function(codes, *given, **named)
        return codes.astype(np.intp)

    moved(run, ref, lambda x: native(*[a.object for a in args], **raw), replay_store, [value])
    return Ref(None)


def set_attribute(run: Run, ref: Ref, name: str, value: Ref) -> bool:
    """Assign to an attribute of an array; whether it is one of NumPy's."""
    x = ref.object
    if name in ("real", "imag", "flat"):
        if name == "flat":
            moved(
                run, ref, lambda a: setattr(a, "flat", value.object),
                lambda codes, rest: _flat(codes, rest[0]), [value],
            )  # fmt: skip
            return True
        store(run, Ref(getattr(x, name), ref.mark), ..., value)
        return True
    if name in ("shape", "strides", "dtype"):
        if name != "shape" and run.memory.extent(x).is_active:
            raise NotSupported(f"assigning to {name} of an active array")
        old = getattr(x, name)
        setattr(x, name, value.object)
        new = getattr(x, name)
        run.log(lambda: setattr(x, name, old))
        run.undos.append(_Again(x, name, new))  # type: ignore[arg-type]
        return True
    return False


def _flat(codes: Any, values: Any) -> Any:
    codes.flat = values
    return codes


class _Again:
    """An attribute that is set again at the end."""

    is_undone = True

    def __init__(self, x: Any, name: str, value: Any) -> None:
        self.x, self.name, self.value = x, name, value

    def swap(self) -> None:
        setattr(self.x, self.name, self.value)
