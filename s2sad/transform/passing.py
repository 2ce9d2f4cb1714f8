"""Functions that the program makes and gives to a function of the operation table, which calls them.

What such a function captures is passed to it with the further arguments that the other function takes for it:

    quad(lambda t: g(t, k), 0.0, 1.0)    quad(lambda_, 0.0, 1.0, args=(k,)), where lambda_(t, k) is g(t, k)
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from s2sad import ops
from s2sad.ir.code import NONE, Code, Constant, Operand, Operation, Parameter, Value, codes, regions_in
from s2sad.ops.binding import places
from s2sad.transform.cells import Returned, State
from s2sad.transform.functions import made_function
from s2sad.transform.known import Abstract, Closure, Known, Method, NotSpecialisedError, Partial, Record, Row
from s2sad.transform.lifting import Enter, Start
from s2sad.transform.making import Making
from s2sad.transform.regions import free_values, names_read, names_taken, pruned, settled
from s2sad.transform.replace import replaced_in_code
from s2sad.transform.shapes import Again, Shapes, sees
from s2sad.transform.simple import is_structure
from s2sad.transform.specialiser import Done, Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]
#: Makes a function with what it sees of a function and arguments before the others.
Starting = Callable[[Specialiser, Abstract, Args], tuple[Start, Args] | None]
Binding = Callable[[Specialiser, Code, Mapping[str, Abstract], Args], dict[str, Abstract]]


def passed(
    s: Specialiser,
    known: Known,
    args: Args,
    op: Operation,
    frame: Frame,
    bind: Binding,
    starting: Starting,
    enter: Enter,
) -> Done:
    """A call of a function of the table that is given functions made by the program; None for any other call."""
    spec = ops.find(known.value)
    if spec is None or spec.passes is None or any(kind in ("*", "**") for kind, _ in args):
        return None
    title, leading = spec.passes
    named = [kind or name for (kind, _), name in zip(args, (*places(spec), *[""] * len(args)), strict=False)]
    given = dict(zip(named, [value for _, value in args], strict=True))
    further = _further(s, given.get(title, NONE))
    functions = {n: v for n, v in given.items() if n in (spec.calls or ()) and is_passable(v)}
    made_here = [v for v in functions.values() if is_structure(v) and not isinstance(v, Known)]
    if not made_here and not (functions and any(map(is_structure, further or ()))):
        return None
    if further is None:
        raise NotSpecialisedError("further arguments")
    if leading is None:
        leading = _own_parameters(starting(s, next(iter(functions.values())), []))
    before = [Value("t") for _ in range(leading)]
    starts: dict[str, tuple[Start, dict[str, Abstract]]] = {}
    for name, function in functions.items():
        found = starting(s, function, [("", value) for value in (*before, *further)])
        if found is None:
            raise NotSpecialisedError("function")
        starts[name] = found[0], bind(s, found[0].code, found[0].defaults, found[1])
    layout: list[Operand] = list(before)
    for start, bound in starts.values():
        layout += [leaf for leaf in shapes_of(s, start, bound)[0].leaves if leaf not in layout]
    place = frame.place or op.place
    for name, (start, bound) in starts.items():
        cell = standing(s, start, bound, layout, op, enter)
        given[name] = Known(cell.cell_contents, (s.making.refer(cell, cell.cell_contents.__name__),))
    rest = layout[leading:]
    if rest or title in given:
        given[title] = Row(tuple(rest))
    s.used = True
    positional = [name for (kind, _), name in zip(args, named, strict=True) if not kind]
    by_name = [name for name in given if name not in positional]
    operands = s.operands([known, *(given[n] for n in (*positional, *by_name))], place)
    return (s.emit("call", operands, ("",) * len(positional) + tuple(by_name), place=place),)


def _own_parameters(found: tuple[Start, Args] | None) -> int:
    """How many arguments a function takes by position, beside those that it has.

    Raises:
        NotSpecialisedError: if that is not known.
    """
    if found is None or any(p.kind not in ("positional", "either") for p in found[0].code.params):
        raise NotSpecialisedError("function")
    start, args = found
    return len(start.code.params) - len(args)


def is_passable(value: Abstract) -> bool:
    """Whether a value is a function whose source is followed."""
    if isinstance(value, Method):
        return value.operand is None and isinstance(value.receiver, Record)
    plain = isinstance(value, Known) and isinstance(value.value, types.FunctionType) and not ops.spec_of(value.value)
    return isinstance(value, (Closure, Partial)) or plain


def _further(s: Specialiser, value: Abstract) -> tuple[Abstract, ...] | None:
    """The further arguments of a function; None where it is not known how many."""
    if isinstance(value, Constant):
        return () if value.value is None else (value,)
    row = s.row(value)
    return (value,) if row is None and value in s.numbers else row


def shapes_of(s: Specialiser, start: Start, bound: Mapping[str, Abstract]) -> tuple[Shapes, object, list[object]]:
    """The shapes of what a function is given and sees, their key, and how to make all that again."""
    shapes = Shapes(s.state, lambda value: True, lambda constant: True, {}, s.numbers)
    args = [shapes.of(bound[p.name], p.name) for p in start.code.params]
    env = shapes.env(start.env, {v for made in codes(start.code) for v in sees(made)})
    owner = None if start.owner is None else shapes.of(start.owner[1])
    key = (tuple([k for k, _ in args]), env[0], owner and owner[0])
    return shapes, key, [*(rebuild for _, rebuild in args), env[1], owner and owner[1]]


def standing(
    s: Specialiser, start: Start, bound: Mapping[str, Abstract], layout: Sequence[Operand], op: Operation, enter: Enter
) -> types.CellType:
    """A function of the new program whose parameters stand for the operands in ``layout``, in a cell.

    Raises:
        NotSpecialisedError: for one that changes what it sees.
    """
    shapes, known, rebuilds = shapes_of(s, start, bound)
    where = tuple([layout.index(leaf) for leaf in shapes.leaves])
    key = ("standing", start.code, start.owner and start.owner[0], known, where, len(layout), shapes.settled)
    if key in s.standing:
        return s.standing[key]
    code, home = start.code, start.home
    if code.generates or code.awaits:
        raise NotSpecialisedError("generator")
    outside = s.out, s.state, s.making, s.loops, s.expression
    try:
        s.making, s.expression = Making(home, names_taken(home.source.function, code)), False
        s.out, s.loops, s.state = [], [], State()
        leaves = [Value(title) for title in shapes.titles]
        again = Again(iter(leaves), s.state)
        *args, env = [rebuild(again) for rebuild in rebuilds[:-1]]  # type: ignore[operator]
        owner = None if start.owner is None else (start.owner[0], rebuilds[-1](again))  # type: ignore[operator]
        shapes.settle(again.made, s.state)
        initial = s.state.copied()
        s.state.written.clear()
        returns: list[Returned] = []
        s.active.append(code)
        try:
            inside = Frame(env, home, None, owner, returns)
            enter(s, code, dict(zip([p.name for p in code.params], args, strict=True)), inside, op)
            region = s.region_of(code.body, inside)
        finally:
            s.active.pop()
        if s.state.wrote(initial):
            raise NotSpecialisedError("captured")
        ends = {o for part in regions_in(region) if part.exit.kind == "return" for o in part.exit.operands}
        exits = {r.token: s.settle(r, lambda r: (s.dynamic(r.value),)) for r in returns if r.token in ends}
        made = pruned(Code(code.name, "function", (), settled(region, exits)), s.needless)
        whole = _with_parameters(made, leaves, where, len(layout))
        taken, title, number = {f.cell_contents.__name__ for f in s.standing.values()}, start.name, 2
        while title in taken:
            title, number = f"{start.name}_{number}", number + 1
        function, source = made_function(whole, home, s.making.cells, s.reads, title, start.place)
    finally:
        s.out, s.state, s.making, s.loops, s.expression = outside
    s.sources[function] = source
    s.standing[key] = types.CellType(function)
    return s.standing[key]


def _with_parameters(made: Code, leaves: Sequence[Value], where: Sequence[int], count: int) -> Code:
    """A function in which values that are free are parameters, those of one place the same one."""
    free = set(free_values(made))
    if not free <= set(leaves):
        raise NotSpecialisedError("free")
    taken = names_read(codes(made))
    parameters: list[Parameter] = []
    for at in range(count):
        titles = [leaf.name for leaf, place in zip(leaves, where, strict=True) if place == at and leaf.name]
        stem = title = titles[0] if titles else "unused"
        number = 2
        while title in taken:
            title, number = f"{stem}_{number}", number + 1
        taken.add(title)
        parameters.append(Parameter(title, "positional", Value(title)))
    other = {leaf: parameters[place].target for leaf, place in zip(leaves, where, strict=True)}
    return replace(replaced_in_code(made, other), params=tuple(parameters))
