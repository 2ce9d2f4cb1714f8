"""Arrays of which some elements are replaced before anything is made of them: ``y = np.log(x)``, ``y[x <= 0] = 0``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
from s2sad.ir.traverse import blocks, names_in, reads, subexpressions, walk, writes
from s2sad.runtime.items import require_ndarray

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
    for stmt in rest:
        match stmt:
            case Store(base=base, index=index, value=value, op=None, call=None) if base == whole:
                known = _is_constant(index) or is_mask_of(make, index, whole, effects)
                if not known or not group.isdisjoint(names_in(value)):
                    return
                yield index
            case Evaluate(value=Call(op=op)) if op.function is require_ndarray:
                pass
            case Assign(target=target, value=value) if not is_active(Var(target)) and _is_pure(value):
                pass
            case Enter() | Exit() | Assign() | Unpack() | Evaluate() | Store() if group.isdisjoint(
                {*writes(stmt), *reads(stmt)}
            ):
                pass
            case _:
                return


def _is_constant(index: Expr) -> bool:
    """Whether an index is written out in numbers."""
    return all(isinstance(part, (Const, Slice, Build)) for part in subexpressions(index))


def _is_pure(value: Expr) -> bool:
    """Whether nothing that an expression calls has effects, as far as that is plain to see."""
    calls = [part.op for part in subexpressions(value) if isinstance(part, Call)]
    return all(op.pure and not op.writes and op.kind in _PLAIN for op in calls)
