"""Functions of the new program: a function together with what is static of its arguments and of what it sees.

What such a function captures are further parameters, and what it changes further results (lambda lifting; Johnsson
1985).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from s2sad.ir.code import Code, Constant, Operand, Operation, Parameter, Place, Region, Value, codes
from s2sad.transform.functions import made_function
from s2sad.transform.known import (
    Abstract,
    Cell,
    Env,
    Home,
    Known,
    Method,
    NotSpecialisedError,
    Row,
    is_static,
)
from s2sad.transform.regions import free_values, names_read, regions_in, settled
from s2sad.transform.replace import replaced_in_code
from s2sad.transform.shapes import Inside, Rebuild, shape
from s2sad.transform.specialiser import Done, Frame, Making, Returned, Specialiser, State

Enter = Callable[[Specialiser, Code, Mapping[str, Abstract], Frame, Operation], None]
#: How many attempts there are at a function that calls itself or changes cells.
ATTEMPTS = 4


@dataclass(frozen=True, eq=False)
class Start:
    """A function and what it sees: its code, default values, surroundings, name, and where it is made."""

    code: Code
    defaults: Mapping[str, Abstract]
    env: Env
    home: Home
    owner: tuple[type, Abstract] | None
    name: str
    place: Place | None = None


@dataclass(eq=False)
class Lifted:
    """A function of the new program.

    ``given`` are the parameters that are passed, ``extras`` the cells and values that are passed besides.  It returns
    the ``leaves`` of its result, and the contents of the ``changed`` cells.
    """

    name: str
    given: tuple[str, ...]
    cell: types.CellType = field(default_factory=types.CellType)
    extras: tuple[Cell | Value, ...] = ()
    leaves: int = 1
    changed: tuple[Cell, ...] = ()
    rebuild: Rebuild = lambda given, state: next(given)
    complete: bool = False
    recursive: bool = False
    #: What static cells held.
    assumed: tuple[tuple[Cell, Abstract], ...] = ()


def lift(
    s: Specialiser, start: Start, bound: Mapping[str, Abstract], op: Operation, frame: Frame, enter: Enter
) -> Done:
    """Call a function of the new program, which is made if there is none yet for these arguments."""
    code = start.code
    if code.generates or code.awaits:
        raise NotSpecialisedError("generator")
    key = (code, id(start.env) if start.env else 0, *(_key(bound[p.name], s.state) for p in code.params))
    lifted = s.lifted.get(key)
    if lifted is not None and any(s.state.get(cell) is not content for cell, content in lifted.assumed):
        lifted = None
    if lifted is None:
        lifted = _made(s, key, start, bound, op, enter)
    elif not lifted.complete:
        lifted.recursive = True
    return _called(s, lifted, bound, op, frame)


def _key(value: Abstract, state: State) -> Any:
    """What of an argument a function of the new program depends on."""
    match value:
        case Constant() if value.value is None or isinstance(value.value, (bool, str)):
            return ("constant", value.value)
        case Value() | Constant():
            return "dynamic"
        case Known():
            return ("known", id(value.value)) if callable(value.value) else "dynamic"
        case Row():
            return tuple([_key(item, state) for item in value.items])
        case Method():
            return ("method", _key(value.function, state), _key(value.receiver, state))
    return id(value)


def _is_passed(value: Abstract) -> bool:
    """Whether an argument is an operand that is passed."""
    if isinstance(value, Constant):
        return not (value.value is None or isinstance(value.value, (bool, str)))
    return not is_static(value) or (isinstance(value, Known) and not callable(value.value))


def _made(s: Specialiser, key: Any, start: Start, bound: Mapping[str, Abstract], op: Operation, enter: Enter) -> Lifted:
    """Make a function of the new program."""
    code, home = start.code, start.home
    given = tuple([p.name for p in code.params if _is_passed(bound[p.name])])
    lifted = Lifted(start.name, given)
    outside = s.out, s.state, s.making, s.loops
    known = dict(s.lifted)
    for _ in range(ATTEMPTS):
        # What was made in an attempt may call this with other arguments.
        s.lifted = dict(known)
        s.lifted[key] = lifted
        lifted.recursive = False
        s.making = Making(home, set(home.source.function.__code__.co_freevars) | set(home.source.function.__globals__))
        s.making.taken |= _names(home)
        s.out, s.loops = [], []
        holders: dict[Value, Cell] = {}
        s.state = {}
        for cell, content in outside[1].items():
            if isinstance(content, Value):
                holder = Value(cell.name)
                holders[holder] = cell
                s.state[cell] = holder
            else:
                s.state[cell] = content
        initial = dict(s.state)
        returns: list[Returned] = []
        inside = Frame(dict(start.env), home, None, start.owner, returns)
        params = {p: Value(p) for p in given}
        passed = {**bound, **params}
        s.active.append(code)
        try:
            enter(s, code, passed, inside, op)
            region = s.region_of(code.body, inside)
            made = _finished(s, code, lifted, region, returns, params, holders, initial)
        finally:
            making = s.making
            s.active.pop()
            s.out, s.state, s.making, s.loops = outside
        before = (lifted.extras, lifted.leaves, lifted.changed)
        lifted.extras, lifted.leaves, lifted.changed, lifted.rebuild, new = made
        lifted.assumed = tuple([(c, v) for c, v in outside[1].items() if not isinstance(v, Value)])
        if not lifted.recursive or before == (lifted.extras, lifted.leaves, lifted.changed):
            if lifted.recursive and (lifted.leaves != 1 or lifted.changed):
                raise NotSpecialisedError("recursion")
            function, source = made_function(new, home, making.cells, start.name, start.place)
            s.sources[function] = source
            lifted.cell.cell_contents = function
            lifted.complete = True
            return lifted
    raise NotSpecialisedError("recursion")


def _names(home: Home) -> set[str]:
    code = home.source.function.__code__
    return {*code.co_names, *code.co_varnames, *code.co_cellvars}


def _finished(
    s: Specialiser,
    code: Code,
    lifted: Lifted,
    region: Any,
    returns: Sequence[Returned],
    params: Mapping[str, Value],
    holders: Mapping[Value, Cell],
    initial: State,
) -> tuple[tuple[Cell | Value, ...], int, tuple[Cell, ...], Rebuild, Code]:
    """The function that was written, with what it is given and returns besides."""
    if not returns:
        raise NotSpecialisedError("no return")
    changed = tuple([c for c, v in initial.items() if any(r.state[c] is not v for r in returns)])
    for cell in changed:
        if any(is_static(r.state[cell]) for r in returns) or is_static(initial[cell]):
            raise NotSpecialisedError("changed")
    made_here = _made_in(region) | set(params.values()) | set(holders)
    leaves: list[list[Operand]] = []
    for constants in (True, False):
        ends = [Inside(r.state, made_here.__contains__, lambda cell: cell not in initial, constants) for r in returns]
        leaves = [[] for _ in returns]
        shapes = [shape(r.value, end, flat) for r, end, flat in zip(returns, ends, leaves, strict=True)]
        if len({key for key, _ in shapes}) == 1:
            break
    else:
        raise NotSpecialisedError("results")

    exits: dict[Value, Any] = {}
    for returned, flat in zip(returns, leaves, strict=True):

        def operands(r: Returned, flat: list[Operand] = flat) -> tuple[Operand, ...]:
            whole = [*flat, *(s.dynamic(r.state[cell]) for cell in changed)]
            if len(whole) < 2:
                return tuple(whole)
            return (s.emit("tuple", whole, (False,) * len(whole)),)

        exits[returned.token] = s.settle(returned, operands)
    body = settled(region, exits)
    made = Code(code.name, "function", (), body)
    own = set(params.values())
    free = [value for value in free_values(made) if value not in own]
    extras: list[Cell | Value] = [holders.get(value, value) for value in free]
    kept = [*lifted.extras, *(e for e in extras if e not in lifted.extras)]
    of_cell = {cell: holder for holder, cell in holders.items()}
    taken = names_read(codes(made)) | set(params)
    parameters = [Parameter(p, "positional", value) for p, value in params.items()]
    other: dict[Value, Value] = {}
    for extra in kept:
        target = of_cell[extra] if isinstance(extra, Cell) else extra
        title = stem = target.name or "t"
        number = 2
        while title in taken:
            title, number = f"{stem}_{number}", number + 1
        taken.add(title)
        # A value of the function around is a parameter here, and another value.
        other[target] = Value(title)
        parameters.append(Parameter(title, "positional", other[target]))
    new = replace(replaced_in_code(made, other), params=tuple(parameters))
    return tuple(kept), len(leaves[0]), changed, shapes[0][1], new


def _made_in(region: Region) -> set[Value]:
    """The values that the parts of a region make."""
    found: set[Value] = set()
    for part in regions_in(region):
        found.update(part.params)
        for operation in part.operations:
            found.update(operation.results)
    return found


def _called(s: Specialiser, lifted: Lifted, bound: Mapping[str, Abstract], op: Operation, frame: Frame) -> Done:
    """Call a function of the new program."""
    place = frame.place or op.place
    args: list[Abstract] = [bound[name] for name in lifted.given]
    args += [s.state[extra] if isinstance(extra, Cell) else extra for extra in lifted.extras]
    count = lifted.leaves + len(lifted.changed)
    title = op.results[0].name if op.results and lifted.leaves == count == 1 else ""
    function = Known(lifted, (s.making.refer(lifted.cell, lifted.name),))
    result = s.emit("call", s.operands([function, *args], place), ("",) * len(args), title, place)
    if count < 2:
        results = [result] * count
    else:
        names = ["" for _ in range(lifted.leaves)] + [cell.name for cell in lifted.changed]
        results = [Value(n) for n in names]
        s.out.append(Operation("unpack", (result,), tuple(results), (count, None), (), place))
    leaves = iter(results[: lifted.leaves])
    value = lifted.rebuild(leaves, s.state)
    s.state.update(zip(lifted.changed, results[lifted.leaves :], strict=True))
    return (value,)
