"""Functions that are run where they are called: their parameters stand for the arguments, and an exit ends the call."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from s2sad.ir.code import NONE, UNSET, Code, Operation, Region, Value, Variable, codes, regions_in
from s2sad.transform import branches
from s2sad.transform.known import Abstract, Cell, NotSpecialisedError, Record
from s2sad.transform.lifting import Start
from s2sad.transform.regions import both_go_on, caught_variables, is_part_of_expression, returns, shared_variables
from s2sad.transform.simple import truth
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.truths import tested


def inlined(
    s: Specialiser, start: Start, bound: Mapping[str, Abstract], op: Operation, frame: Frame
) -> tuple[Done, bool]:
    """Run a function where it is called; whether that was possible."""
    code = start.code
    s.inlined += 1
    elsewhere = start.home.source.file != s.making.home.source.file
    place = frame.place or op.place if elsewhere else None
    led = frame.calls if elsewhere or op.place is None else (op.place, *frame.calls)
    inside = Frame(dict(start.env), start.home, place, start.owner, calls=led)
    start_of, state = len(s.out), s.state.copied()
    enter(s, code, bound, inside, op)
    s.active.append(code)
    try:
        done = _tail(s, code.body.operations, 0, code.body, inside)
    finally:
        s.active.pop()
    if not s.expression or all(map(is_part_of_expression, s.out[start_of:])):
        return done, True
    del s.out[start_of:]
    s.state = state
    return None, False


def enter(s: Specialiser, code: Code, bound: Mapping[str, Abstract], inside: Frame, op: Operation) -> None:
    """Let the parameters of a function stand for the arguments."""
    shared = shared_variables(code, lambda name: s.lookup(inside, name)[1], s.relied.writes_out)
    for variable in code.variables:
        if variable in shared:
            inside.env[variable] = Cell(variable.name)
            s.state[inside.env[variable]] = UNSET  # type: ignore[index]
        elif variable not in s.making.memory and variable not in caught_variables(code):
            # What is assigned in a ``with``, and the like, is memory of the function that this one becomes a part of.
            inside.env[variable] = s.making.new_memory(variable.name)
    uses = Counter(
        o for made in codes(code) for part in regions_in(made.body) for p in part.operations for o in p.operands
    )
    uses.update(o for made in codes(code) for part in regions_in(made.body) for o in part.exit.operands)
    for param in code.params:
        value = bound[param.name]
        if isinstance(param.target, Value):
            if isinstance(value, Value) and not value.name and uses[param.target] > 1:
                value = s.named(value, param.name, inside.place or op.place)
            inside.env[param.target] = value
            continue
        cell = inside.env.get(param.target)
        if isinstance(cell, Variable):
            s.write(Operation("store", (s.dynamic(value),), (), cell, (), inside.place or op.place))
            continue
        if not isinstance(cell, Cell):
            raise NotSpecialisedError(param.name)
        s.state[cell] = s.named(value, param.name, inside.place or op.place)


#: What follows the end of a region that yields.
After = Callable[[Sequence[Abstract]], Done]


def _tail(
    s: Specialiser, operations: Sequence[Operation], at: int, region: Region, frame: Frame, after: After | None = None
) -> Done:
    """Run the rest of a function that is inlined, from one operation of a region on."""
    for number in range(at, len(operations)):
        op = operations[number]
        if op.kind == "if" and any(map(returns, op.regions)):
            return _forked(s, op, frame, functools.partial(_go_on, s, op, operations, number + 1, region, frame, after))
        end = s.operation(op, frame)
        if end is not None:
            return end
    exit = region.exit
    values = [s.get(o, frame) for o in exit.operands]
    if exit.kind == "return":
        return (values[0] if values else NONE,)
    if exit.kind == "yield" and after is not None:
        return after(values)
    return End(exit.kind, tuple(values), frame.place or exit.place)


def _go_on(
    s: Specialiser,
    op: Operation,
    operations: Sequence[Operation],
    at: int,
    region: Region,
    frame: Frame,
    after: After | None,
    values: Sequence[Abstract],
) -> Done:
    """Run what comes after an ``if`` that left some values."""
    frame.env.update(zip(op.results, values, strict=True))
    return _tail(s, operations, at, region, frame, after)


def _forked(s: Specialiser, op: Operation, frame: Frame, after: After) -> Done:
    """An ``if`` of which an arm returns: what comes after it belongs to the other arm."""

    def arm(part: Region) -> Done:
        return _tail(s, part.operations, 0, part, frame, after)

    def ended(part: Region) -> End:
        done = arm(part)
        return done if isinstance(done, End) else End("yield", done or ())

    test = s.get(op.operands[0], frame)
    test = tested(s, test, op, frame)
    known = truth(s, test)
    if known is not None:
        return arm(op.regions[0 if known else 1])
    if isinstance(test, Record):
        raise NotSpecialisedError("truth")
    if both_go_on(op):
        raise NotSpecialisedError("condition")
    arms = [functools.partial(ended, part) for part in op.regions]
    return branches.fork(s, s.dynamic(test), arms, [""], frame.place or op.place)
