"""Specialisation of ``try`` whose handlers all raise: what comes after it comes after its body.

What the body leaves goes through variables of the new program, since nothing that is made in a region is seen after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from s2sad.ir.code import (
    NONE,
    UNSET,
    Code,
    Constant,
    Definition,
    Exit,
    Handlers,
    Operation,
    Place,
    Region,
    Value,
    Variable,
    codes,
    inner,
)
from s2sad.runtime.classes import static_member
from s2sad.transform import finals, presence, sizes
from s2sad.transform.branches import Inside, changed_in, exit_of
from s2sad.transform.cells import State
from s2sad.transform.known import Cell, Kept, NotSpecialisedError, Unsure, is_static
from s2sad.transform.objects import content_of
from s2sad.transform.raised import run_or_raise
from s2sad.transform.regions import breaks, caught_variables
from s2sad.transform.returning_objects import leaving_object
from s2sad.transform.shapes import Again, Rebuild, Shapes
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.surely_tried import RAISES_NOTHING, surely_caught, surely_ends


def try_statement(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A ``try`` of which the rest runs only where its body, and what follows on that, has come to its end."""
    with trying(s):
        return _try_statement(s, op, frame)


def _try_statement(s: Specialiser, op: Operation, frame: Frame) -> Done:
    what: Handlers = op.data
    body, *rest = op.regions
    catching = rest[: len(what.classes) + sum(what.classes)]
    after = rest[len(catching) :]
    bodies = _bodies(what, catching)
    if not what.has_finally:
        handler = surely_caught(s, what, body, catching, frame)
        ended = None if handler is not None else surely_ends(s, what, body, catching, frame)
        end, handler = ended if ended is not None else (None, handler)
        if handler is not None:
            end = s.run(handler, frame)
        elif end is not None and after and end.kind == "yield":
            end = s.run(after[0], frame)
        if end is not None:
            return () if end.kind == "yield" else end
    if what.has_finally and not what.groups:
        return _with_finally(s, op, frame)
    if what.groups:
        return by_memory(s, op, frame)
    if any(r.exit.kind not in ("raise", "never") for r in bodies):
        return leaving_object(s, op, frame, _leaving) if body.exit.kind == "return" else by_memory(s, op, frame)
    if s.expression or (frame.unrolled and any(breaks(r, ("break", "continue")) for r in op.regions)):
        raise NotSpecialisedError("try")
    return _or_by_memory(s, op, frame, lambda: _raising_all(s, op, catching, after, frame))


def _raising_all(s: Specialiser, op: Operation, catching: list[Region], after: list[Region], frame: Frame) -> Done:
    """A ``try`` whose handlers all raise."""
    what: Handlers = op.data
    body, place = op.regions[0], frame.place or op.place
    before = s.state.copied()
    with s.apart() as out:
        written, s.state.written = s.state.written, set()
        end = s.run(body, frame)
        state, written_here = s.state, s.state.wrote(before)
        written |= state.written
        state.written = written
    made = {result for operation in out for result in operation.results}
    changed = changed_in(before, [state])
    # What gets an attribute or item on a way that raises is in no state.
    new = [cell for cell in state.written if cell.record is not None and cell not in before]
    unknown = list(dict.fromkeys([*changed, *written_here, *new]))
    handlers = _handlers(s, what, catching, frame, before, unknown)
    if all(not r.operations and r.exit.kind == "raise" and not r.exit.operands for r in _bodies(what, handlers)):
        # Nothing is done about an exception.
        s.out += out
        s.state = state
        if end.kind == "yield" and after:
            end = s.run(after[0], frame)
        return () if end.kind == "yield" else end
    found = _Left(s, before, state, made, changed) if end.kind == "yield" else None
    exit = exit_of(s, out, state, replace(end, values=()) if found is not None else end)
    loads = found.stored(out, place) if found is not None else []
    data = replace(what, has_else=False)
    s.write(Operation("try", (), (), data, (Region((), tuple(out), exit), *handlers), place))
    if found is None:
        return End("never", (), place)
    for load in loads:
        s.write(load)
    found.restore()
    if not after:
        return ()
    end = s.run(after[0], frame)
    return () if end.kind == "yield" else end


def _with_finally(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A ``try`` with ``finally``."""

    def twice() -> Done:
        ended, after = finals.ends_only(s, op, frame)
        done = _try_statement(s, finals.twice(ended), frame)
        end = done if isinstance(done, End) else s.run(after, frame)
        return () if end.kind == "yield" else end

    return _or_by_memory(s, op, frame, twice)


def _or_by_memory(s: Specialiser, op: Operation, frame: Frame, run: Callable[[], Done]) -> Done:
    """Run a ``try`` in some way, or let it stay where that is not possible.

    Raises:
        NotSpecialisedError: the first of the two that say why not, where neither is.
    """
    mark, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    try:
        return run()
    except NotSpecialisedError as error:
        first = error
    s.back(mark)
    frame.env.clear()
    frame.env.update(env)
    s.used, s.lifted = used, lifted
    try:
        return by_memory(s, op, frame)
    except NotSpecialisedError as error:
        # Lists, dicts and objects of which it is said that they change are made objects by the regions around.
        raise (error if error.cells else first) from None


def _leaving(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A ``try`` whose body returns: where it raises, no more than its own variables has changed, or that is memory."""
    what: Handlers = op.data
    body, *rest = op.regions
    own = {frame.env.get(variable) for variable in s.active[-1].variables}
    while True:
        before, changed = s.state.copied(), dict[Cell, None]()
        with s.apart() as out:
            # How much was written when something else was given another value first.
            first: int | None = None
            for operation in body.operations:
                start, s.state.written = len(out), set()
                if s.operation(operation, frame) is not None:
                    raise NotSpecialisedError("try")
                changed |= dict.fromkeys([*changed_in(before, [s.state]), *s.state.wrote(before)])
                if first is None and not own.issuperset(changed):
                    is_last = operation.kind == "set_attribute" and all(o.kind in RAISES_NOTHING for o in out[start:])
                    first = len(out) if is_last else -1
            end, state = s.ended(body.exit, frame), s.state
        whole = [cell for cell in before.as_a_whole(changed) if cell.whole is not None]
        if not whole:
            break
        s.freeze_all(whole, before)
    is_late = first in (None, len(out)) and all(cell in own or _is_of_object(cell) for cell in changed)
    if not is_late:
        return by_memory(s, op, frame)
    s.state.written.update(changed)
    exit = exit_of(s, out, state, end)
    assigned = [cell for cell in changed if cell in own]
    handlers = _handlers(s, what, rest[: len(what.classes) + sum(what.classes)], frame, before, assigned)
    regions = Region((), tuple(out), exit), *handlers
    s.write(Operation("try", (), (), replace(what, has_else=False), regions, frame.place or op.place))
    for cell in assigned:
        s.state[cell] = UNSET
    return ()


@contextlib.contextmanager
def trying(s: Specialiser) -> Iterator[None]:
    """What is run in the ``with`` stands in a ``try``."""
    around, s.in_try = s.in_try, True
    try:
        yield
    finally:
        s.in_try = around


def by_memory(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A ``try`` or ``with`` that stays: variables that are assigned in it are memory.

    An exception may leave them either way.
    """
    has_finally = False
    if isinstance(op.data, Handlers):
        _bind_names(s, op.data, frame)
        has_finally = op.data.has_finally
    stored = dict.fromkeys(o.data for region in op.regions for o in inner(region) if o.kind == "store")
    place = frame.place or op.place
    cells: dict[Variable, Cell] = {}
    memories: dict[Variable, Variable] = {}
    anew: set[Variable] = set()
    for variable in stored:
        cell = frame.env.get(variable)
        if isinstance(cell, Cell):
            cells[variable] = cell
            memory = s.making.new_memory(cell.name)
            memories[variable] = memory
            value = s.state.get(cell, UNSET)
            if isinstance(value, Unsure):
                if not _is_set_anew(op, variable):
                    raise NotSpecialisedError("unset")
                anew.add(variable)
            elif value is not UNSET:
                s.write(Operation("store", (s.dynamic(value),), (), memory, (), place))
    kept: dict[Cell, Kept] = {}
    before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    while True:
        for variable, memory in memories.items():
            frame.env[variable] = memory
        are_set = [v for v in memories if v not in anew and s.state.get(cells[v], UNSET) is not UNSET]
        held = {cells[v]: Kept(memories[v]) for v in are_set} | kept
        try:
            changed = has_finally and (kept or any(o.kind == "store" for o in inner(op.regions[-1])))
            with _leaving_loop(s, held, bool(changed), place):
                s.rewrite(op, frame)
            break
        except NotSpecialisedError as error:
            more = [cell for cell in error.cells if cell not in kept and _may_be_kept(before[1], cell)]
            new = [cell for cell in error.cells if cell not in kept and _is_new_attribute(before[1], cell)]
            lists = [cell for cell in before[1].as_a_whole(error.cells) if before[1].is_apart(cell)]
            if not more and not lists and not new:
                raise
            kept.update((cell, Kept(s.making.new_memory(cell.name))) for cell in more)
            for cell in new:
                given = s.making.new_memory(f"has_{cell.name}")
                kept[cell] = Kept(s.making.new_memory(cell.name), given=given)
            s.finals.update([one.variable for one in kept.values()] if has_finally else ())
            s.back((list(before[0]), before[1].copied()))
            frame.env.clear()
            frame.env.update(env)
            s.used, s.lifted = used, dict(lifted)
            if lists:
                s.freeze_all(lists, s.state)
                before = s.mark()
            for cell, one in kept.items():
                value = NONE if one.given is not None else s.dynamic(s.state[cell])
                s.write(Operation("store", (value,), (), one.variable, (), place))
                if one.given is not None:
                    s.write(Operation("store", (Constant(False),), (), one.given, (), place))
                s.state[cell] = one
        finally:
            for variable, cell in cells.items():
                frame.env[variable] = cell
    for cell, one in kept.items():
        sure = replace(one, given=None) if _surely_given(op, cell, frame) else one
        s.state[cell] = presence.read(s, sure, cell.name, place)
    for variable, cell in cells.items():
        if s.state.get(cell, UNSET) is not UNSET or _surely_stored(op, variable):
            s.state[cell] = s.emit("load", (), memories[variable], cell.name, place)
        else:
            # It may have no value, and whoever reads it then is told so where it is read.
            s.state[cell] = Kept(memories[variable], is_set=False)
    return ()


@contextlib.contextmanager
def _leaving_loop(s: Specialiser, held: Mapping[Cell, Kept], changed: bool, place: Place | None) -> Iterator[None]:
    """Where the round of a loop ends, or the loop is left, cells are what the memory holds that stands for them.

    With ``changed`` the ``finally`` gives them other values after that, which nothing here can hand on.
    """
    if not s.loops or not held:
        yield
        return
    around = s.loops[-1]

    def leave(end: End) -> Exit:
        if changed:
            raise NotSpecialisedError("try")
        # The cells themselves are written by nothing.
        state, s.state = s.state, State(s.state, set(), s.state.settled)
        for cell, one in held.items():
            s.state[cell] = presence.read(s, one, cell.name, place)
        try:
            return around(end)
        finally:
            s.state = state

    s.loops.append(leave)
    try:
        yield
    finally:
        s.loops.pop()


def _is_of_object(cell: Cell) -> bool:
    """Whether a cell is an attribute, or stands for an object that has got one."""
    return cell.record is not None or cell.is_object


def _may_be_kept(state: State, cell: Cell) -> bool:
    """Whether a variable, or an attribute of an object that the program makes, can be memory for a while."""
    value = state.get(cell, UNSET)
    is_one = cell.whole is None and not cell.is_object
    return is_one and value is not UNSET and not is_static(value)


def _is_new_attribute(state: State, cell: Cell) -> bool:
    """Whether a cell is an attribute that an object of the program has not had yet."""
    record = cell.record
    is_own = record is not None and record.origin is None and record.own is None and record.identity in state
    return is_own and state.get(cell, UNSET) is UNSET


def _surely_stored(op: Operation, variable: Variable) -> bool:
    """Whether a variable surely has a value where a ``try`` comes to its end."""
    ways = _ways(op)
    return bool(ways) and all(any(o.kind == "store" and o.data is variable for o in way) for way in ways)


def _surely_given(op: Operation, cell: Cell, frame: Frame) -> bool:
    """Whether an object surely has an attribute where a ``try`` comes to its end, which has been run."""
    if cell.record is None or static_member(cell.record.cls, "__setattr__") is not object.__setattr__:
        return False
    ways = [[o for o in way if o.kind == "set_attribute" and o.data == cell.name] for way in _ways(op)]
    return bool(ways) and all(any(frame.env.get(o.operands[0]) is cell.record for o in way) for way in ways)  # type: ignore[arg-type]


def _ways(op: Operation) -> list[list[Operation]]:
    """What is surely done on each way that comes to the end of a ``try``; none of a ``with``.

    A manager may swallow what is raised.
    """
    what = op.data
    if not isinstance(what, Handlers):
        return []
    body, *others = op.regions
    catching = len(what.classes) + sum(what.classes)
    last = others[catching:][: what.has_else]
    ways = [(body, *last), *((r,) for r in _bodies(what, others[:catching]) if r.exit.kind == "yield")]
    return [[o for region in way for o in region.operations] for way in ways]


def _is_set_anew(op: Operation, variable: Variable) -> bool:
    """Whether a ``try`` gives a variable a value without looking at the one before, unless it leaves it alone.

    What leaves a loop there leaves it alone.
    """
    body, *others = op.regions
    operations = [o for region in op.regions for o in inner(region)]
    made = [o.data.code if isinstance(o.data, Definition) else o.data for o in operations]
    if any(o.kind == "load" and o.data is variable for o in operations):
        return False
    if any(variable in m.captures for code in made if isinstance(code, Code) for m in codes(code)):
        return False
    left = [r for r in op.regions if breaks(r, ("break", "continue"))]
    stores = [o for r in (body, *left) for o in inner(r) if o.kind == "store" and o.data is variable]
    catching = others[: len(op.data.classes) + sum(op.data.classes)] if isinstance(op.data, Handlers) else []
    if left and not (set(left) <= set(catching) and stores == [*body.operations[-1:]]):
        return False
    return _surely_stored(op, variable)


def _bind_names(s: Specialiser, what: Handlers, frame: Frame) -> None:
    """Let the names of exceptions be variables of the new program."""
    s.making.caught |= caught_variables(s.active[-1]).intersection(what.names)
    for variable in what.names:
        if isinstance(variable, Variable) and variable not in s.making.memory:
            if isinstance(frame.env.get(variable), Cell) or (
                frame.place is not None and variable.name in s.making.taken
            ):
                raise NotSpecialisedError(variable.name)
            s.making.taken.add(variable.name)
            s.making.memory |= {variable}


def _bodies(what: Handlers, catching: list[Region]) -> list[Region]:
    """What the handlers do, without their classes."""
    return [catching[at - 1] for at in finals.handlers_at(what)]


def _handlers(
    s: Specialiser, what: Handlers, catching: list[Region], frame: Frame, before: State, changed: list[Cell]
) -> list[Region]:
    """What the handlers do: they must not read what the body changes, since nobody knows how far it has come."""
    _bind_names(s, what, frame)
    state = s.state
    s.state = before.copied()
    for cell in changed:
        # Of an attribute nobody knows either whether there is one.
        s.state[cell] = Unsure(UNSET) if _is_of_object(cell) else UNSET
    try:
        return [_raising(s, r, frame) if r.exit.kind == "raise" else s.region_again(r, frame) for r in catching]
    finally:
        s.state = state


def _raising(s: Specialiser, region: Region, frame: Frame) -> Region:
    """A handler that raises: what it changes is seen by handlers around it alone, and these do not look at it."""
    with s.apart() as out:
        exit = s.exit(run_or_raise(s, lambda: s.run(region, frame), [], region.exit.place))
    return Region((), tuple(out), exit)


class _Left:
    """What a body leaves in the cells that it changes, and the variables through which that goes."""

    def __init__(self, s: Specialiser, before: State, state: State, made: set[Value], changed: list[Cell]) -> None:
        self.s, self.changed = s, changed
        self.shapes = Shapes(state, Inside(before, made), lambda constant: True)
        self.made = made
        #: The cells with what makes their contents again; of a variable that may have no value, that of its value.
        self.plans: list[tuple[Cell, Rebuild, bool]] = []
        for cell in changed:
            held = content_of(s, state, cell)
            is_variable = isinstance(held, Unsure) and held.given is None
            if isinstance(held, Unsure) and is_variable and not is_static(held.value):
                # It would be read where it may have no value.
                raise NotSpecialisedError("unset")
            value = held.value if isinstance(held, Unsure) and held.given is None else held
            self.plans.append((cell, self.shapes.of(value)[1], is_variable))
        self.results: list[Value] = []

    def stored(self, out: list[Operation], place: Place | None) -> list[Operation]:
        """Write the ends of a body, which store what it leaves; what reads that after it."""
        loads = []
        with self.s.apart() as more:
            leaves = presence.filled(self.s, self.shapes, range(len(self.shapes.leaves)))
        out += more
        for leaf, title in zip(leaves, self.shapes.titles, strict=True):
            variable = self.s.making.new_memory(title)
            out.append(Operation("store", (leaf,), (), variable, (), place))
            self.results.append(Value(title))
            if (fact := sizes.of_leaf(self.s, [leaf])) is not None:
                sizes.note(self.s, self.results[-1], fact)
            loads.append(Operation("load", (), (self.results[-1],), variable, (), place))
        return loads

    def restore(self) -> None:
        """Let the cells hold after the ``try`` what they held at the end of its body."""
        again = Again(iter(self.results), self.s.state, are_filled=True)
        for cell, rebuild, is_variable in self.plans:
            self.s.state[cell] = Unsure(rebuild(again)) if is_variable else rebuild(again)
        self.shapes.settle(again.made, self.s.state)
