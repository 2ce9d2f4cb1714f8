"""The verifier of the IR: what every stage may rely on.

Run after each stage when the environment variable ``S2SAD_CHECK`` is set, as the tests do.
"""

from __future__ import annotations

import os
from collections import Counter

from s2sad.ir.nodes import Block, Break, Copy, Exit, For, Function, If, Stmt, While
from s2sad.ir.traverse import names_in, reads, walk, writes

ENABLED = bool(os.environ.get("S2SAD_CHECK"))


class MalformedError(AssertionError):
    """The IR breaks one of its rules: a mistake of the compiler."""


def check(function: Function, stage: str) -> Function:
    """Return ``function`` if it is well formed.

    * A name that is not a join name is assigned by one statement (in each of the two parts:
      a loop of the reverse part sets the index of its twin again).
    * Every name that is read is a parameter or is assigned somewhere, but for versions 0, which others set or nobody.
    * ``break`` stands at the end of its path through a loop, and nothing follows a branch that leaves.

    Raises:
        MalformedError: with the stage and the names at fault.
    """
    parts = [function.body] if function.reverse is None else [function.body, function.reverse]
    known = {p.name for p in function.params}
    for part in parts:
        plain = Counter(n for s in walk(part) if not isinstance(s, Copy) for n in writes(s))
        joins = {n for s in walk(part) if isinstance(s, Copy) for n in s.targets}
        twice = sorted(n for n, count in plain.items() if count > 1 or n in joins)
        if twice:
            raise MalformedError(f"after {stage}: assigned twice: {', '.join(twice)}")
        known |= set(plain) | joins
        _leaves_last(part, stage, in_loop=False)
    used = {n for part in parts for s in walk(part) for n in reads(s)} | set(names_in(function.result))
    missing = sorted(n for n in used - known if not n.endswith(".0"))
    if missing:
        raise MalformedError(f"after {stage}: read but never assigned: {', '.join(missing)}")
    return function


def checked(function: Function, stage: str) -> Function:
    """The function, verified if ``S2SAD_CHECK`` is set."""
    return check(function, stage) if ENABLED else function


def _leaves_last(block: Block, stage: str, in_loop: bool) -> None:
    for position, stmt in enumerate(block):
        last = position == len(block) - 1
        if _leaves(stmt) and not (last and in_loop):
            raise MalformedError(f"after {stage}: a break that is not at the end of its path")
        if isinstance(stmt, If):
            _leaves_last(stmt.then, stage, in_loop)
            _leaves_last(stmt.orelse, stage, in_loop)
        elif isinstance(stmt, (For, While)):
            _leaves_last(stmt.body, stage, in_loop=True)
        elif isinstance(stmt, Exit):
            _leaves_last(stmt.handler, stage, in_loop=False)


def _leaves(stmt: Stmt) -> bool:
    if isinstance(stmt, If):
        return any(_leaves(s) for s in (*stmt.then, *stmt.orelse))
    return isinstance(stmt, Break)
