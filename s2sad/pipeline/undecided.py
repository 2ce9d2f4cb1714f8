"""Objects that a program writes, and of which only the run says whether they are arrays.

    u = CONFIG.start(x)             u = CONFIG.start(x)
    u[u < 0] = 0.0                  require_ndarray(u)
                                    u[u < 0] = 0.0

The check decides: whatever follows is differentiated as of an array.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from s2sad.ir.nodes import NOWHERE, Assign, Block, Call, Copy, Evaluate, For, Function, Op, Origin, Stmt, Unpack, Var
from s2sad.ir.traverse import map_stmt, names_in, walk, writes
from s2sad.runtime.items import require_ndarray

_REQUIRE = Op("runtime", "require_ndarray", require_ndarray, pure=False)


def with_required_arrays(function: Function, names: Set[str]) -> Function:
    """``function`` with a check of each of ``names`` where it is assigned, or at the start for a parameter.

    Names that are checked already are left out; where there are no others, it is ``function`` itself.
    """
    params = tuple([p.name for p in function.params])
    wanted = names & {*params, *(n for s in walk(function.body) for n in writes(s))} - set(_checked(function))
    if not wanted:
        return function

    def checks(assigned: tuple[str, ...], origin: Origin) -> list[Stmt]:
        return [Evaluate(Call(_REQUIRE, (Var(n),)), origin) for n in assigned if n in wanted]

    def in_block(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            changed = map_stmt(stmt, lambda e: e, in_block)
            match changed:
                case For(targets=targets, body=body):
                    out.append(replace(changed, body=(*checks(targets, stmt.origin), *body)))
                case Assign() | Copy() | Unpack():
                    out += [changed, *checks(writes(stmt), stmt.origin)]
                case _:
                    out.append(changed)
        return tuple(out)

    start = function.body[0].origin if function.body else NOWHERE
    return replace(function, body=(*checks(params, start), *in_block(function.body)))


def _checked(function: Function) -> Iterator[str]:
    """The names that are checked."""
    for stmt in walk(function.body):
        if isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.op == _REQUIRE:
            yield from names_in(stmt.value)
