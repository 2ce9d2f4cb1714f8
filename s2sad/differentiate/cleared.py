"""Arrays of which some elements are replaced before anything is made of them: ``y = np.log(x)``, ``y[x <= 0] = 0``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from s2sad.analysis.effects import Effects
from s2sad.differentiate.builder import Builder
from s2sad.differentiate.distinct import is_mask_of
from s2sad.ir.nodes import (
    Assign,
    Block,
    Build,
    Call,
    Const,
    Enter,
    Evaluate,
    Exit,
    Expr,
    Slice,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import blocks, children, names_in, reads, subexpressions, walk, writes
from s2sad.ir.types import same_shape
from s2sad.runtime.items import require_ndarray
from s2sad.runtime.positions import mask_places

#: The kinds of operations that are those of NumPy and Python, and no methods of objects.
_PLAIN = ("function", "operator", "compare", "bool", "index", "attribute")


@dataclass(frozen=True)
class Cleared:
    """The elements of an array that are replaced: where one of some ``masks`` is true, and at constant ``places``."""

    masks: tuple[Var, ...] = ()
    places: tuple[Expr, ...] = ()


def cleared(body: Block, effects: Effects, make: Builder, is_active: Callable[[Expr], bool]) -> dict[str, Cleared]:
    """For the names of new arrays, the elements that are replaced at once.

    What was there has no adjoint: until then only what has no derivative is made of the array.

    Example:
        ``{"y": Cleared((m,), (0,))}`` for ``y = x / s; m = s < 0; y[m] = 0.0; y[0] = s[1]; return np.sum(y)``.
    """
    found: dict[str, Cleared] = {}
    for block in [body, *(inner for stmt in walk(body) for inner in blocks(stmt))]:
        stored = {stmt.base.name for stmt in block if isinstance(stmt, Store) and isinstance(stmt.base, Var)}
        for position, stmt in enumerate(block):
            if not isinstance(stmt, Assign) or not isinstance(stmt.value, Call):
                continue
            if stmt.target in stored and is_active(Var(stmt.target)):
                indices = list(_indices(stmt.target, block[position + 1 :], effects, make, is_active))
                if indices:
                    masks = tuple([index for index in indices if isinstance(index, Var)])
                    places = tuple([index for index in indices if not isinstance(index, Var)])
                    found[stmt.target] = Cleared(masks, places)
    return found


def _indices(
    name: str, rest: Block, effects: Effects, make: Builder, is_active: Callable[[Expr], bool]
) -> Iterator[Expr]:
    """The indices of the stores into an array that come before anything with a derivative is made of it."""
    whole = Var(name)
    group = {name, *effects.group.get(name, ())}
    # What `np.copyto` and `np.putmask` write where their mask is true, and the mask.
    masked: dict[Expr, Expr] = {}
    for stmt in rest:
        match stmt:
            case Store(base=base, index=Const(value=index), value=value) if (
                base == whole and index is Ellipsis and value in masked
            ):
                yield masked[value]
            case Assign(target=target, value=Call(op=op, args=(mask, value, old))) if (
                op.function is np.where and old == whole and group.isdisjoint(names_in(value))
            ):
                known_mask = _mask_of(make, mask, whole, effects)
                if known_mask is None:
                    return
                masked = {Var(target): known_mask}
            case Store(base=base, index=index, value=value, op=None, call=None) if base == whole:
                known = _is_constant(index) or is_mask_of(make, index, whole, effects)
                if not known or not group.isdisjoint(names_in(value)):
                    return
                yield index
            case Evaluate(value=Call(op=op)) if op.function is require_ndarray:
                pass
            case Assign(target=target, value=value) if not is_active(Var(target)) and _is_pure(value):
                pass
            case Assign(target=target, value=value) if (
                target not in group and _is_pure(value, (*_PLAIN, "runtime")) and group.isdisjoint(_elements_of(value))
            ):
                pass
            case Enter() | Exit() | Assign() | Unpack() | Evaluate() | Store() if group.isdisjoint(
                {*writes(stmt), *reads(stmt)}
            ) and masked.keys().isdisjoint(map(Var, reads(stmt))):
                pass
            case _:
                return


def _mask_of(make: Builder, mask: Expr, whole: Var, effects: Effects) -> Expr | None:
    """The mask by which the elements of an array are chosen, if it is a name and has the shape of the array."""
    if isinstance(mask, Call) and mask.op.function is mask_places:
        # Of values that are empty none is written.
        count = mask.args[2] if len(mask.args) > 2 else None
        sized = count.args[0] if isinstance(count, Call) and count.op.function is np.size else whole
        mask = mask.args[1]
        if not all(same_shape(make.fact(part), make.fact(whole)) for part in (mask, sized)):
            return None
    return mask if is_mask_of(make, mask, whole, effects) else None


def _elements_of(value: Expr) -> set[str]:
    """The names of which an expression reads more than the shape."""
    if isinstance(value, Call) and value.op.function is np.shape:
        return set()
    inner = list(children(value))
    return {name for part in inner for name in _elements_of(part)} if inner else set(names_in(value))


def _is_constant(index: Expr) -> bool:
    """Whether an index is written out in numbers."""
    return all(isinstance(part, (Const, Slice, Build)) for part in subexpressions(index))


def _is_pure(value: Expr, kinds: tuple[str, ...] = _PLAIN) -> bool:
    """Whether nothing that an expression calls has effects, as far as that is plain to see."""
    calls = [part.op for part in subexpressions(value) if isinstance(part, Call)]
    return all(op.pure and not op.writes and op.kind in kinds for op in calls)
