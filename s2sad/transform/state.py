"""Arrays of modules, closures and existing objects that a program writes in place: its state.

    G[0] = x[1]                     t = state_of(G)
    return np.sum(G * x)            t[0] = x[1]
                                    return np.sum(t * x)

Each is read once, at the start (`s2sad.transform.entered`), and is a value of the new program from then on, which
functions that read it are given like an argument.  So derivatives go through it as through any other array; what is
written stays written.  This holds as long as nothing reads the array in another way, which `s2sad.frontend.touched`
says of what remains to run as it stands, and nothing else that exists has its memory, which is checked at entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from s2sad.frontend.touched import State
from s2sad.ir.code import Constant, Operand, Place, Value
from s2sad.transform.found import Key
from s2sad.transform.known import Cell, Home, Known, NotSpecialisedError, Record
from s2sad.transform.relied import Reached, Way

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser


def begin(s: Specialiser, state: State) -> None:
    """Let each array that the program writes be a value from its start."""
    for number, (name, array) in state.arrays.items():
        operand, record = Value(name), Record(type(array))
        record.kin.append(record)
        cell = record.fields[""] = Cell(name, None, record)
        s.state[record.identity], s.state[cell] = Constant(None), operand
        if isinstance(array, np.ndarray):
            s.arrays.add(operand)
        s.needless.add(operand)
        s.relied.state[number] = Reached(array, operand, record)
    s.relied.reads_state = state.is_read_by


def variable(s: Specialiser, value: Any, home: Home, name: str) -> Value | None:
    """The value that stands for an array which a variable has; None for what is not written."""
    return _found(s, value, Way(home, name, ()))


def part(s: Specialiser, value: Any, base: Known, step: Any) -> Value | None:
    """The value that stands for an array which an attribute or item has; None for what is not written."""
    if base.read is not None:
        home, root, path = base.read
        return _found(s, value, Way(home, root, (*path, step)))
    if base.home is not None and base.path:
        return _found(s, value, Way(base.home, base.path[0], (*base.path[1:], step)))
    return None


def _found(s: Specialiser, value: Any, way: Way) -> Value | None:
    reached = s.relied.state.get(id(value))
    if reached is None or reached.array is not value or way.home.resolver.is_rebound(way.root):
        return None
    s.relied.reached[id(value)] = reached
    reached.ways[id(way.space), way.root, way.path] = way
    s.used = True
    for record in reached.record.kin:
        if record.identity in s.state:
            operand = s.state[record.fields[""]]
            assert isinstance(operand, Value)
            return operand
    raise NotSpecialisedError("elsewhere")


def read_along(s: Specialiser, way: Way, place: Place | None) -> Operand:
    """Read what is found along a way."""
    found: Operand = s.emit("global", (), way.root, place=place)
    for step in way.path:
        if isinstance(step, Key):
            found = s.emit("item", (found, Constant(step.key)), place=place)
        else:
            found = s.emit("attribute", (found,), step, place=place)
    return found
