"""Arrays of which some elements are replaced before anything is made of them: ``y = np.log(x)``, ``y[x <= 0] = 0``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from s2sad.analysis.effects import Effects
from s2sad.differentiate.builder import Builder
from s2sad.differentiate.distinct import is_mask_of
from s2sad.ir.nodes import Assign, Block, Call, Evaluate, Expr, Store, Unpack, Var
from s2sad.ir.traverse import blocks, names_in, reads, subexpressions, walk, writes
from s2sad.runtime.items import require_ndarray

#: The kinds of operations that are those of NumPy and Python, and no methods of objects.
_PLAIN = ("function", "operator", "compare", "bool", "index", "attribute")


def cleared(
    body: Block, effects: Effects, make: Builder, is_active: Callable[[Expr], bool]
) -> dict[str, tuple[Var, ...]]:
    """For the names of new arrays, the masks of the elements that are replaced at once.

    What was there has no adjoint: until then only what has no derivative is made of the array.

    Example:
        ``{"y": (m, n)}`` for ``y = x / s; m = s == 0; y[m] = 0.0; n = np.isnan(y); y[n] = 0.0; return np.sum(y)``.
    """
    found: dict[str, tuple[Var, ...]] = {}
    for block in [body, *(inner for stmt in walk(body) for inner in blocks(stmt))]:
        if not any(isinstance(stmt, Store) for stmt in block):
            continue
        for position, stmt in enumerate(block):
            if isinstance(stmt, Assign) and isinstance(stmt.value, Call) and is_active(Var(stmt.target)):
                masks = tuple(_masks(stmt.target, block[position + 1 :], effects, make, is_active))
                if masks:
                    found[stmt.target] = masks
    return found


def _masks(name: str, rest: Block, effects: Effects, make: Builder, is_active: Callable[[Expr], bool]) -> Iterator[Var]:
    """The masks of the stores into an array that come before anything with a derivative is made of it."""
    whole = Var(name)
    group = {name, *effects.group.get(name, ())}
    for stmt in rest:
        match stmt:
            case Store(base=base, index=Var() as mask, value=value, op=None, call=None) if base == whole:
                if not is_mask_of(make, mask, whole, effects) or not group.isdisjoint(names_in(value)):
                    return
                yield mask
            case Evaluate(value=Call(op=op)) if op.function is require_ndarray:
                pass
            case Assign(target=target, value=value) if not is_active(Var(target)) and _is_pure(value):
                pass
            case Assign() | Unpack() | Evaluate() | Store() if group.isdisjoint({*writes(stmt), *reads(stmt)}):
                pass
            case _:
                return


def _is_pure(value: Expr) -> bool:
    """Whether nothing that an expression calls has effects, as far as that is plain to see."""
    calls = [part.op for part in subexpressions(value) if isinstance(part, Call)]
    return all(op.pure and not op.writes and op.kind in _PLAIN for op in calls)
