"""Lists of the shadows of lists and arrays, of which items are read once the list has been changed.

    t_bar = [[0.0, 0.0], [0.0, 0.0]]        t_bar = [[0.0, 0.0], [0.0, 0.0]]
                                            kept = list(t_bar)
    if ...:                                 if ...:
        t_bar.pop(0)                            t_bar.pop(0)
    ...                                     ...
    t_bar_2 = t_bar[0]                      t_bar_2 = kept[0]

An item is what it was, whatever list holds it: it is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.differentiate.adjoints import LIST
from s2sad.ir.nodes import Assign, Block, Call, Expr, Function, If, Op, Stmt, Var
from s2sad.ir.traverse import base, children, map_children, map_stmt, names_in, walk, writes

#: What is changed in place, so that all who have it see what is added to it.
_HELD = ("list", "array", "dict")


def with_kept_rows(
    function: Function, stale: Iterable[tuple[str, Stmt]], shadows: Set[str], facts: Facts, fresh: Callable[[str], str]
) -> Function:
    """``function`` with a list of its own for the items that ``stale`` statements of its reverse part read.

    That is done for the ``shadows`` that get their value in the function itself or a branch, and of which no more is
    read than items that are changed in place; where others are stale it is ``function`` itself.
    """
    found = list(stale)
    names = {name for name, _ in found}
    places = {name: at for at, stmt in enumerate(function.body) for name in _given(stmt) if name in names}
    if places.keys() != names or not names <= shadows or not all(_reads_items(name, s, facts) for name, s in found):
        return function
    kept = {name: fresh(base(name)) for name in sorted(names)}
    old = {id(stmt) for _, stmt in found}
    body: list[Stmt] = []
    for at, stmt in enumerate(function.body):
        body.append(stmt)
        body += [Assign(kept[n], Call(LIST, (Var(n),)), stmt.origin) for n in sorted(names) if places[n] == at]

    def renamed(expr: Expr) -> Expr:
        return Var(kept[expr.name]) if isinstance(expr, Var) and expr.name in kept else map_children(expr, renamed)

    def in_block(block: Block) -> Block:
        return tuple([map_stmt(s, renamed if id(s) in old else lambda e: e, in_block) for s in block])

    return replace(function, body=tuple(body), reverse=in_block(function.reverse or ()))


def _given(stmt: Stmt) -> set[str]:
    """The names that a statement, or a branch, gives a value."""
    return {n for s in walk((stmt,)) for n in writes(s)} if isinstance(stmt, If) else set(writes(stmt))


def _reads_items(name: str, stmt: Stmt, facts: Facts) -> bool:
    """Whether a statement reads no more of a list than an item that is changed in place."""
    if not isinstance(stmt, Assign) or name == stmt.target:
        return False

    def in_expr(expr: Expr) -> bool:
        match expr:
            case Call(op=Op(kind="index"), args=(Var(name=whole), at)) if whole == name:
                return facts.get(expr).kind in _HELD and name not in names_in(at)
            case Var(name=other):
                return other != name
        return all(map(in_expr, children(expr)))

    return in_expr(stmt.value)
