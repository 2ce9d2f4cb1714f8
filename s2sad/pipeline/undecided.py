"""Objects that a program writes, and of which only the run says whether they are arrays.

    u = CONFIG.start(x)             u = CONFIG.start(x)
    u[u < 0] = 0.0                  require_ndarray(u)
                                    u[u < 0] = 0.0

The check decides: whatever follows is differentiated as of an array, and of what class it is need not be looked at.
Where the run has met a number instead, ``require_number(u)`` stands there: ``u += y`` gives the name another number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.differentiate.stores import CONTAINERS
from s2sad.ir.nodes import (
    NOWHERE,
    Assign,
    Block,
    Call,
    Copy,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Op,
    Origin,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import is_attempt, map_children, map_stmt, names_in, walk, writes
from s2sad.ir.types import OPEN, UNSET_FACT
from s2sad.optimise.outcomes import Classes
from s2sad.optimise.raised import may_catch
from s2sad.runtime import plain
from s2sad.runtime.items import require_ndarray, require_number

_ARRAY = Op("runtime", "require_ndarray", require_ndarray, pure=False)
_NUMBER = Op("runtime", "require_number", require_number, pure=False)


def with_required(
    function: Function, names: Set[str], facts: Facts, classes: Classes, numbers: bool = False
) -> Function:
    """``function`` with a check of each of ``names`` where it is assigned, or at the start for a parameter.

    With ``numbers`` those of which no items are written, or only where a TypeError is caught, are required to be
    numbers, not arrays.  ``classes`` says which classes a global name stands for.  What is moved into a
    name that branches or rounds of a loop join is checked before, since moves are the last statements of a block.  What
    is checked already, or surely is what it has to be, or none, is left out; where nothing else is there, it is
    ``function`` itself.
    """
    params = tuple([p.name for p in function.params])
    known = set(_checked(function))
    wanted = names - known - _no_arrays(function, names, facts)
    moved = [s for s in walk(function.body) if isinstance(s, Copy) and _moved(s, wanted, known, facts)]
    if not moved and wanted.isdisjoint((*params, *(n for s in walk(function.body) for n in _assigned(s)))):
        return function

    def checks(assigned: tuple[str, ...], origin: Origin) -> list[Stmt]:
        return [made for n in assigned if n in wanted for made in check(n, Var(n), origin)]

    def check(name: str, value: Expr, origin: Origin) -> list[Stmt]:
        is_number = numbers and name not in arrays
        if facts.get(value).kind == "none" or (is_number and facts.get(value).kind == "scalar"):
            return []
        return [Evaluate(Call(_NUMBER if is_number else _ARRAY, (value,)), origin)]

    arrays = _of_items(function, classes)
    checked = known | wanted

    def surely(expr: Expr) -> Expr:
        match expr:
            case Call(op=Op(function=check), args=(Var(name=name), *_)) if check is plain and name in checked:
                return Var(name)
        return map_children(expr, surely)

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            changed = map_stmt(stmt, surely, in_block)
            match changed:
                case Evaluate(value=Var(name=name)) if name in checked:
                    continue
                case For(targets=targets, body=body):
                    out.append(replace(changed, body=(*checks(targets, stmt.origin), *body)))
                case Copy():
                    moves = _moved(stmt, wanted, known, facts)
                    out += [*(made for t, s in moves for made in check(t, s, stmt.origin)), changed]
                case Assign() | Unpack():
                    out += [changed, *checks(writes(stmt), stmt.origin)]
                case _:
                    out.append(changed)
        return tuple(out)

    start = function.body[0].origin if function.body else NOWHERE
    return replace(function, body=(*checks(params, start), *in_block(function.body)))


def _no_arrays(function: Function, names: Set[str], facts: Facts) -> set[str]:
    """Those of some names that are tuples, lists or dicts, or become one on some way."""
    found = {n for n in names if facts.of.get(n, OPEN).kind in CONTAINERS}
    for stmt in walk(function.body):
        if isinstance(stmt, Copy):
            found.update(t for t, s in zip(stmt.targets, stmt.sources, strict=True) if facts.get(s).kind in CONTAINERS)
    return found


def _assigned(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement assigns, those that are moved aside."""
    return () if isinstance(stmt, Copy) else writes(stmt)


def _moved(stmt: Stmt, wanted: Set[str], known: Set[str], facts: Facts) -> list[tuple[str, Expr]]:
    """What a statement moves into some names, and is to be checked before."""
    if not isinstance(stmt, Copy):
        return []
    moves = [(t, s) for t, s in zip(stmt.targets, stmt.sources, strict=True) if t in wanted]
    done = known | wanted
    # What has no value yet is no array, and is read by nobody; None is not changed in place.
    there = [m for m in moves if facts.get(m[1]) != UNSET_FACT and facts.get(m[1]).kind not in ("array", "none")]
    return [(t, s) for t, s in there if not (isinstance(s, Var) and s.name in done)]


def _of_items(function: Function, classes: Classes) -> set[str]:
    """The names of objects of which items are written where it would not be caught that a number has none."""
    stores = Counter(n for s in walk(function.body) if isinstance(s, Store) for n in names_in(s.base))
    attempts = [s for s in walk(function.body) if isinstance(s, If) and is_attempt(s)]
    caught = [s for attempt in attempts if may_catch(attempt, TypeError, classes) for s in walk(attempt.then)]
    tried = {id(s): s for s in caught if isinstance(s, Store)}
    stores.subtract(n for s in tried.values() for n in names_in(s.base))
    return {n for n, count in stores.items() if count}


def _checked(function: Function) -> Iterator[str]:
    """The names that are checked."""
    for stmt in walk(function.body):
        if isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.op in (_ARRAY, _NUMBER):
            yield from names_in(stmt.value)
