"""Functions and generators that are made as they are, since nobody knows who runs them, and when.

What they read of objects that the specialiser takes apart is written into them as it is where they are made.  Unless
what they are made for runs them at once, it must not change from then on: its cells are settled (see `State`).
"""

from __future__ import annotations

import functools
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sad.ir.code import Code, Operation, Value, Variable, codes, inner
from s2sad.transform.cells import Returned, State
from s2sad.transform.known import Abstract, Cell, Closure, Items, Known, NotSpecialisedError, Row
from s2sad.transform.regions import defined_once, free_values, settled
from s2sad.transform.shapes import things_of

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Frame, Specialiser

#: Classes that go through what they are made of, and functions that keep what they are given.
_MADE_AT_ONCE = frozenset({list, tuple, set, frozenset, dict, Counter, deque})
_KEEPING = (iter, setattr, np.frompyfunc, np.seterrcall)
#: The packages of functions that call what they are given, and do not keep it.
_PACKAGES = ("builtins", "math", "numpy", "scipy")


class Watched(State):
    """What cells hold, and which cells were ``read``."""

    def __init__(self, content: State, read: set[Cell]) -> None:
        super().__init__(content, content.written, content.settled, content.members)
        self.read = read

    def __getitem__(self, cell: Cell) -> Abstract:
        self.read.add(cell)
        return super().__getitem__(cell)

    def get(self, cell: Cell, default: Any = None) -> Any:
        self.read.add(cell)
        return super().get(cell, default)

    def of(self, other: State) -> State:
        return Watched(other, self.read)


def code_again(s: Specialiser, code: Code, frame: Frame) -> Code:
    """The code of a function, lambda, class or generator that is made as it is."""
    functions = frozenset[Variable]().union(*map(defined_once, s.active)) if code.kind == "generator" else ()
    captured = [v for made in codes(code) for v in made.captures if v not in functions]
    if any(isinstance(frame.env.get(variable), Cell) for variable in captured):
        raise NotSpecialisedError("captured")
    if any(variable not in s.making.memory for variable in code.captures if variable not in functions):
        raise NotSpecialisedError("captured")
    returns: list[Returned] = []
    inside = replace(frame, env=dict(frame.env), returns=returns, hands_on=False, unrolled=False, consumer=None)
    memory, s.making.memory = s.making.memory, s.making.memory | set(code.variables)
    params = []
    for param in code.params:
        target = param.target
        if isinstance(target, Value):
            target = inside.env[param.target] = Value(target.name)
        params.append(replace(param, target=target))
    with s.writing(code.kind in ("lambda", "generator")), _watched(s):
        body = s.region_again(code.body, inside)
    s.making.memory = memory
    body = settled(body, {r.token: s.settle(r, lambda r: (s.dynamic(r.value),)) for r in returns})
    captures = tuple([v for v in code.captures if v not in functions])
    body = replace(body, exit=code.body.exit) if code.kind == "class" else body
    made = replace(code, params=tuple(params), body=body, captures=captures)
    return replace(made, seen=tuple(free_values(made)))


@contextmanager
def at_once(s: Specialiser, is_so: bool) -> Iterator[None]:
    """Whether what is made in the ``with`` is run through before anything else happens."""
    around, s.at_once = s.at_once, s.at_once or is_so
    try:
        yield
    finally:
        s.at_once = around


@contextmanager
def _watched(s: Specialiser) -> Iterator[None]:
    """Settle what is read in the ``with``, which will run nobody knows when."""
    if s.at_once:
        # What it makes in turn may outlive it.
        s.at_once = False
        try:
            yield
        finally:
            s.at_once = True
        return
    around, read = s.state, set[Cell]()
    s.state = Watched(around, read)
    try:
        yield
    finally:
        s.state = around.of(s.state)
        # That an object or function exists is told by a cell without name.
        s.state.settle(c for c in read if c in around and (c.name or c.item or isinstance(c.whole, Items)))


def is_through(s: Specialiser, called: Abstract | None, args: Sequence[Abstract]) -> bool:
    """Whether a function runs the functions that it is given, and does not keep them, nor give back what holds them."""
    if not isinstance(called, Known) or isinstance(called.value, type) or not _is_through(called.value):
        return False
    held = [thing for v in args if isinstance(v, (Items, Row)) for thing in things_of(v, s.state)]
    return not any(isinstance(thing, Cell) and isinstance(thing.whole, Closure) for thing in held)


def _is_through(function: Any) -> bool:
    if isinstance(function, type):
        return function in _MADE_AT_ONCE
    module = getattr(function, "__module__", None)
    is_library = isinstance(module, str) and module.partition(".")[0] in _PACKAGES
    return function is functools.reduce or (is_library and not any(function is f for f in _KEEPING))


def is_gone_through(s: Specialiser, op: Operation, frame: Frame) -> bool:
    """Whether a call of ``sum`` or the like, and nothing else, goes through the result of an operation to its end."""
    return _is_through(called_with(s, op, frame))


def called_with(s: Specialiser, op: Operation, frame: Frame) -> Any:
    """The global function that is called next, with the result of an operation alone, its only use; else None."""
    operations = list(inner(s.active[-1].body))
    users = [o for o in operations if op.result in o.operands]
    if len(users) != 1 or users[0].kind != "call" or len(users[0].operands) != 2:
        return None
    begun = next((i for i, o in enumerate(operations) if op.result in o.results), None)
    if begun is None or any(o.kind != "global" for o in operations[begun + 1 : operations.index(users[0])]):
        return None
    name = next((o.data for o in operations if o.kind == "global" and o.result is users[0].operands[0]), "")
    return s.lookup(frame, name)[1] if name else None
