"""What was compiled for one closure, for another one of the same code: ``lambda t: k * t`` that is made anew each time.

Emitted functions read the cells of the user's closure.  Those of another closure of the same text take their places,
as long as what the compiler has found out of the ones holds of the others.
"""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from s2sad.frontend.resolve import Guard
from s2sad.pipeline import Compiled

#: The function of each code, by identity, for which something was compiled last.
_compiled_for: OrderedDict[int, types.FunctionType] = OrderedDict()
_MANY = 1024


def relative_of(function: types.FunctionType) -> types.FunctionType | None:
    """Another function of the same code, for which something may have been compiled."""
    found = _compiled_for.get(id(function.__code__))
    if found is None or found is function or found.__code__ is not function.__code__:
        return None
    same = found.__globals__ is function.__globals__
    plain = all(f.__defaults__ is None and f.__kwdefaults__ is None for f in (found, function))
    return found if same and plain else None


def note_compiled(function: types.FunctionType) -> None:
    """Remember a function for those that have its code."""
    _compiled_for[id(function.__code__)] = function
    while len(_compiled_for) > _MANY:
        _compiled_for.popitem(last=False)


def rebound(compiled: Compiled, old: types.FunctionType, new: types.FunctionType) -> Compiled | None:
    """What was compiled for ``old``, for ``new``; None if it rests on something that is otherwise there."""
    cells = {id(a): b for a, b in zip(old.__closure__ or (), new.__closure__ or (), strict=True)}
    guards = tuple([_moved(g, cells, old, new) for g in compiled.guards])
    if not all(guard.holds() for guard in guards):
        return None
    functions: dict[str, types.FunctionType] = {}
    made = {id(f): types.CellType() for f in compiled.functions.values()}
    for name, f in compiled.functions.items():
        closure = tuple([cells.get(id(c)) or _own(c, made) or c for c in f.__closure__ or ()])
        functions[name] = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, closure)
        functions[name].__kwdefaults__ = f.__kwdefaults__
        made[id(f)].cell_contents = functions[name]
    return replace(compiled, functions=functions, guards=guards)


def holds(guards: tuple[Guard, ...]) -> Callable[[], bool]:
    """The test of some guards."""
    return lambda: all(guard.holds() for guard in guards)


def _moved(guard: Guard, cells: dict[int, types.CellType], old: types.FunctionType, new: types.FunctionType) -> Guard:
    if id(guard.space) in cells:
        return replace(guard, space=cells[id(guard.space)])
    return replace(guard, space=new) if guard.space is old else guard


def _own(cell: types.CellType, made: dict[int, types.CellType]) -> types.CellType | None:
    """The cell of an emitted function that stands for that of one which it was made from."""
    try:
        return made.get(id(cell.cell_contents))
    except ValueError:
        return None
