"""Operations of the table: operands, adjoints by the rule, results that are views and results that are not."""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import tests.operations  # noqa: F401
from s2sad.ops.binding import _WITHOUT_EFFECT, places
from s2sad.ops.spec import OpSpec, Rule
from s2sad.runtime.arrays import unbroadcast
from tests.shadows.memory import Token
from tests.shadows.refs import Node, NotSupported, Ref, is_number, isa
from tests.shadows.run import Run, Undo


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where an adjoint goes: a number or the memory of an array."""

    target: Node | Token
    is_complex: bool
    #: Which elements are active, where not all are.
    mask: Any = True

    def add(self, g: Any) -> None:
        if g is None:
            return
        if isa(self.target, Token):
            self.target.add(g if self.mask is True else np.where(self.mask, g, 0.0))
        elif np.ndim(g) == 0:
            self.target.add(np.complex128(g) if self.is_complex else np.float64(np.real(g)))
        else:
            raise NotSupported("an array as the adjoint of a number")


#: Leaves of an operand, those of its items, or None where nothing is active.
Tree = Leaf | list[Any] | None


def tree_of(run: Run, ref: Ref) -> Tree:
    """Where the adjoint of an operand goes; reads the slots of lists and tuples."""
    from tests.shadows.containers import iterate

    x = ref.object
    if isa(ref.mark, Node):
        return Leaf(ref.mark, isa(x, complex))
    if isa(x, np.ndarray):
        mask = run.memory.reads(x, ref.stop)
        if mask is False:
            return None
        if x.dtype.kind not in "fc":
            if run.memory.token(x) and x.dtype.kind == "V":
                raise NotSupported("a structured array as an operand")
            return None
        if _is_overloaded(type(x)):
            raise NotSupported("a class of arrays that overloads operations")
        return Leaf(run.memory.token(x), x.dtype.kind == "c", mask)
    if not run.is_active(ref):
        return None
    if isa(x, (list, tuple)):
        return [tree_of(run, item) for item in iterate(run, ref)]
    raise NotSupported(f"an operand of class {type(x).__name__}")


@functools.cache
def _is_overloaded(cls: type) -> bool:
    names = ("__array_ufunc__", "__array_function__", "__array_wrap__")
    return any(name in vars(base) for base in cls.__mro__ if base.__module__ != "numpy" for name in names)


def give(tree: Tree, g: Any) -> None:
    """Add an adjoint to where it goes."""
    if g is None or tree is None:
        return
    if isa(tree, Leaf):
        tree.add(g)
        return
    for i, part in enumerate(tree):
        give(part, g if isa(g, (int, float)) else g[i])


@functools.cache
def _asks(body: Callable[..., Any]) -> Mapping[str, Any]:
    return inspect.signature(body).parameters


@functools.cache
def _reads(body: Callable[..., Any]) -> frozenset[str]:
    """The operands that the text of a rule reads."""
    return frozenset(i.argval for i in dis.get_instructions(body) if i.opname in ("LOAD_FAST", "LOAD_DEREF"))


def called(body: Callable[..., Any], available: Mapping[str, Any]) -> Any:
    """Call the text of a rule with whichever names it asks for."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for p in _asks(body).values():
        if p.kind is p.VAR_POSITIONAL:
            args += available[p.name]
        elif p.kind is p.KEYWORD_ONLY:
            kwargs[p.name] = available[p.name]
        else:
            args.append(available[p.name])
    with np.errstate(all="ignore"):
        return body(*args, **kwargs)


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """The operands of one call by the names of the rule: what the reverse part needs of them, and where adjoints go."""

    rule: Rule
    values: dict[str, Any]
    trees: dict[str, Tree]

    def adjoints(self, z: Any, z_bar: Any) -> None:
        """The adjoint of the call."""
        rule = self.rule
        z = z.view(np.ndarray) if isa(z, np.ndarray) else z
        found = called(rule.vjp, {**self.values, "z": z, "z_bar": z_bar})
        parts = dict(zip(rule.wrt, found if len(rule.wrt) > 1 else (found,), strict=True))
        for name, tree in self.trees.items():
            g = parts[name]
            if rule.kind == "elementwise":
                with np.errstate(all="ignore"):
                    g = g if rule.multiplied else z_bar * g
                g = unbroadcast(g, np.shape(self.values[name]))
            give(tree, g)


def bind(run: Run, spec: OpSpec, args: list[Ref], kwargs: Mapping[str, Ref]) -> dict[str, Any]:
    """The arguments of a call by the names of the parameters; those of ``*args`` as a list."""
    found: dict[str, Any] = {}
    if spec.variadic is not None:
        before = spec.parameters.index(spec.variadic)
        found.update(zip(spec.parameters[:before], args, strict=False))
        found[spec.variadic] = args[before:]
    else:
        names = places(spec)
        if len(args) > len(names):
            raise NotSupported(f"{spec.name} with {len(args)} arguments")
        found.update(zip(names, args, strict=False))
    found.update({spec.aliases.get(name, name): ref for name, ref in kwargs.items()})
    return found


def bound(run: Run, rule: Rule, given: Mapping[str, Any]) -> Bound | None:
    """The operands of a call of a rule, or None if nothing active goes in."""
    trees: dict[str, Tree] = {}
    for name in rule.wrt:
        operand = given.get(name)
        if isa(operand, list):
            items: Tree = [tree_of(run, ref) for ref in operand]
            trees[name] = items if any(t is not None for t in items) else None  # type: ignore[union-attr]
        elif operand is not None:
            trees[name] = tree_of(run, operand)
    trees = {name: tree for name, tree in trees.items() if tree is not None}
    if not trees:
        for name, operand in given.items():
            inactive = name in rule.steps or name in rule.wrt or isa(operand, list)
            if not inactive and run.is_active(operand):
                raise NotSupported(f"{rule.name} by {name}")
        return None
    values: dict[str, Any] = dict(rule.defaults)
    for name, operand in given.items():
        if name not in rule.parameters:
            if name in _WITHOUT_EFFECT or name in ("like",) or _is_default(name, operand.object):
                continue
            raise NotSupported(f"{rule.name} with {name}")
        if isa(operand, list):
            values[name] = tuple(_saved(ref.object) for ref in operand)
            continue
        if name not in trees and name not in rule.steps and run.is_active(operand):
            raise NotSupported(f"{rule.name} by {name}")
        # Of what a function is linear in, and of what the rule does not read, only the shape matters.
        is_needed = name in _reads(rule.vjp) and not (rule.kind == "linear" and isa(trees.get(name), Leaf))
        values[name] = _saved(operand.object) if is_needed else _stand_in(operand.object)
    if rule.kind == "elementwise":
        # Every partial is evaluated, also those of truth values, which have no minus.
        values = {
            name: x.astype(float) if isa(x, (np.ndarray, np.bool_)) and x.dtype == bool else x
            for name, x in values.items()
        }
    return Bound(rule, values, trees)


def _is_default(name: str, value: Any) -> bool:
    return (name in ("out", "dtype") and value is None) or name == "copy" or (name == "where" and value is True)


def _stand_in(x: Any) -> Any:
    if type(x) is not np.ndarray:
        return _saved(x)
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def _saved(x: Any) -> Any:
    """What the reverse part reads of an operand: arrays as they are then, since stores are undone; items as now."""
    if isa(x, np.ndarray):
        # A class of arrays may have operators of its own, which are not those that the rule means.
        return x if type(x) is np.ndarray else x.view(np.ndarray)
    if type(x) in (list, tuple):
        return type(x)([_saved(item) for item in x])
    if isa(x, (list, tuple)) and not hasattr(x, "_fields"):
        return [_saved(item) for item in x]
    if isa(x, float):
        return np.float64(x) if type(x) is float else x
    if type(x) is complex:
        return np.complex128(x)
    return x


def result(run: Run, z: Any, operation: Bound | None, operands: list[Ref]) -> Ref:
    """A reference to the result of an operation, which is logged unless it is a view."""
    if isa(z, np.ndarray):
        extent = run.memory.extent(z)
        for ref in operands:
            if isa(ref.object, np.ndarray) and run.memory.extent(ref.object) is extent:
                run.used.add("views")
                return Ref(z, ref.mark)
    if operation is None:
        return Ref(z)
    wants_z = "z" in _asks(operation.rule.vjp)
    if isa(z, np.ndarray):
        if z.dtype.kind not in "fc":
            return Ref(z)
        token = run.activate(z)

        def back() -> None:
            if not token.is_zero:
                g = token.take()
                token.release()
                operation.adjoints(z if wants_z else None, g)

        run.log(back if wants_z else _without(token, operation))
        return Ref(z)
    if is_number(z):
        node = Node()

        def back_number() -> None:
            g = node.take()
            if g is not None:
                operation.adjoints(z, g)

        run.log(back_number)
        return Ref(z, node)
    if isa(z, (tuple, list)):
        return several(run, z, operation, operands)
    if isa(z, (bool, int, np.bool_, np.integer)) or z is None:
        return Ref(z)
    raise NotSupported(f"{operation.rule.name} with a result of class {type(z).__name__}")


def _without(token: Token, operation: Bound) -> Callable[[], None]:
    """The adjoint of an operation that does not need its result: the tape holds a token of it."""

    def back() -> None:
        if not token.is_zero:
            g = token.take()
            token.release()
            operation.adjoints(None, g)

    return back


def several(run: Run, z: Any, operation: Bound, operands: list[Ref]) -> Ref:
    """Several results of one operation."""
    items = list(z)
    parts: list[tuple[Any, Any]] = []
    is_view = False
    for item in items:
        if isa(item, np.ndarray):
            extent = run.memory.extent(item)
            arrays = [r for ref in operands for r in _arrays(run, ref)]
            if any(run.memory.extent(a) is extent for a in arrays):
                is_view = True
                continue
        if isa(item, (list, tuple)):
            raise NotSupported(f"{operation.rule.name} with nested results")
        if isa(item, np.ndarray) and item.dtype.kind in "fc":
            parts.append((run.activate(item), item))
        else:
            parts.append((Node() if is_number(item) else None, item))
    if is_view:
        return Ref(z)

    def back() -> None:
        bars, is_zero = [], True
        for part, item in parts:
            g = None
            if isa(part, Token):
                g = None if part.is_zero else part.take()
                part.release()
            elif part is not None:
                g = part.take()
            is_zero &= g is None
            bars.append(np.zeros(np.shape(item), np.result_type(item)) if g is None else g)
        if not is_zero:
            made = type(z)._make(bars) if hasattr(type(z), "_make") else tuple(bars)
            operation.adjoints(z, made)

    run.log(back)
    for i, (part, item) in enumerate(parts):
        if isa(part, Node):
            run.slots.store(z, i, Ref(item, part))
    return Ref(z)


def _arrays(run: Run, ref: Ref) -> list[Any]:
    x = ref.object
    if isa(x, np.ndarray):
        return [x]
    return [a for a in x if isa(a, np.ndarray)] if isa(x, (list, tuple)) else []


def into(run: Run, spec: OpSpec, given: dict[str, Any], target: Ref, native: Callable[[], Any], where: Any) -> Ref:
    """An operation that writes its result into an array, where ``where`` holds."""
    x = target.object
    run.used.add("stores to arrays")
    base = x.view(np.ndarray)
    undo = run.undo(base)
    operation = bound(run, spec, given) if isa(spec, Rule) else None
    if not isa(spec, Rule) and not spec.constant:
        raise NotSupported(f"{spec.name} into an array")
    wrote(run, undo, native)
    log_store(run, base, undo, operation, where)
    return target


def log_store(run: Run, base: Any, undo: Undo, operation: Bound | None, where: Any = True) -> None:
    """Log that an array was overwritten with the result of an operation."""
    if operation is not None and base.dtype.kind in "fc":
        run.activate(base)
    token = run.memory.token(base) if base.dtype.kind in "fc" else None
    where = np.array(where) if where is not True else True
    run.memory.token(base).written(run.memory.clock, ... if where is True else np.broadcast_to(where, base.shape))

    def back() -> None:
        g: Any = None
        if token is not None and not token.is_zero:
            g = token.take()
        z = base.copy() if operation is not None else None
        undo.swap()
        if g is None:
            return
        if where is not True and token is not None:
            token.add(np.where(where, 0.0, g))
            g = np.where(where, g, 0.0)
        if operation is not None:
            operation.adjoints(z, g)

    run.log(back)


def wrote(run: Run, undo: Undo, native: Callable[[], Any]) -> Any:
    """Let a write happen; if it raises, the target has to be as before."""
    try:
        found = native()
    except BaseException:
        before, now = undo.held, undo.target
        is_same = before.tobytes() == now.tobytes() if before.dtype != object else bool(np.all(before == now))
        if not is_same:
            raise NotSupported("a write that failed half done") from None
        raise
    run.wrote(undo)
    return found
