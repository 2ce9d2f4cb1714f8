"""What a new program reads at its start: arrays that it writes, and variables of modules that it sets.

See `s2sad.transform.state` and `s2sad.transform.variables`.
"""

from __future__ import annotations

from dataclasses import replace

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import Constant, Operation, Place, Region
from s2sad.runtime.objects import state_of
from s2sad.transform import variables
from s2sad.transform.found import ArrayHeld, Identity, Same, TypeHeld, kind_of
from s2sad.transform.held_whole import is_held, with_changes
from s2sad.transform.known import NotSpecialisedError
from s2sad.transform.relied import Reached, Recorded
from s2sad.transform.specialiser import Specialiser
from s2sad.transform.state import read_along


def with_state(s: Specialiser, body: Region, place: Place | None) -> Region:
    """The body of the new program after it has read its state."""
    with s.apart() as out:
        for reached in s.relied.reached.values():
            _read(s, reached, place)
        for named in s.relied.variables.values():
            if named.is_met:
                variables.read_at_start(s, named, place)
    changed = with_changes(s, body)
    return replace(changed, operations=(*out, *changed.operations))


def _read(s: Specialiser, reached: Reached, place: Place | None) -> None:
    """Read an array from its variable."""
    ways, array = list(reached.ways.values()), reached.array
    for way in ways:
        # Of one that is reached in a single way another call may have another.
        if len(ways) > 1:
            s.guard(Guard(way.space, way.root, Same(array), Identity(way.path)))
        if is_held(reached):
            s.guard(Guard(way.space, way.root, type(array), TypeHeld(way.path)))
        else:
            s.guard(Guard(way.space, way.root, kind_of(array), ArrayHeld(way.path)))
    alike = [way for way in ways if s.making.reads_alike(way.root, way.home)]
    if not alike:
        raise NotSpecialisedError("elsewhere")
    way = alike[0]
    operand = read_along(s, way, place)
    if is_held(reached):
        copied = s.operands([s.outside(type(array), type(array).__name__), operand], place)
        s.write(Operation("call", copied, (reached.operand,), ("",), (), place))
        return
    known = [Constant(array.ndim), Constant(array.dtype.char)]
    operands = s.operands([s.outside(state_of, "state_of"), operand, *known], place)
    s.write(Operation("call", operands, (reached.operand,), ("",) * 3, (), place))
    s.relied.entered.update((Recorded(other.root, other.path), None) for other in alike)
