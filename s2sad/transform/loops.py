"""Specialisation of loops: over known items they are written out, else they carry what changes in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from s2sad.ir.code import UNSET, Constant, Exit, Operand, Operation, Place, Region, Value, inner
from s2sad.transform import generators
from s2sad.transform.branches import created
from s2sad.transform.carried import Plan, Structure, may_be_replaced, plan_for
from s2sad.transform.containers import (
    MAPPINGS,
    UNKNOWN,
    elements,
    is_counted,
    is_known,
    is_long,
    is_object_as_well,
    numbered,
)
from s2sad.transform.iteration import iterated
from s2sad.transform.known import (
    Abstract,
    Cell,
    Content,
    Generator,
    Items,
    Known,
    NotSpecialisedError,
    State,
    Unsure,
    same,
)
from s2sad.transform.objects import content_of
from s2sad.transform.regions import breaks, with_iterable_behind
from s2sad.transform.shapes import is_made
from s2sad.transform.simple import is_number, is_structure
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.standing import Table
from s2sad.transform.truths import tested
from s2sad.transform.written_out import MOST_ROUNDS, names_of, round_of, tested_out, written_out

#: How many are so few that they are written out where that alone keeps the keys of dicts known.
FEW_ROUNDS = 16


def for_loop(s: Specialiser, op: Operation, frame: Frame) -> Done:
    if op.awaits:
        return None
    iterable = iterated(s, s.get(op.operands[0], frame), op, frame)
    if isinstance(iterable, Generator):
        return generators.for_loop(s, op, iterable, frame)
    if isinstance(iterable, Constant) and s.relied.writes_out:
        iterable = numbered(iterable)
    if is_known(s, iterable) and not is_object_as_well(s, iterable):
        return written_out(s, op, iterable, frame)
    known = is_known(s, iterable)
    row = None if known else elements(s, iterable)
    counts = known or is_counted(s, iterable) or (row if row is not None else _range_of(iterable))
    before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    failed = done = None
    is_poor = False
    try:
        done = _loop(s, op, frame)
        made = s.out[len(before[0]) :]
        is_poor = _is_poor(s, before[1], made, is_long(s, iterable)) or (row is not None and _chooses(s, made, frame))
    except NotSpecialisedError as error:
        failed = error
    numbers = iterable.value if isinstance(iterable, Known) and isinstance(iterable.value, range) else range(0)
    if len(numbers) > 1 and (not counts if failed is not None else _frozen_dicts(s, before[1])):
        after = s.mark(), dict(frame.env), s.used, dict(s.lifted)
        for attempt in (_peeled, _few_rounds):
            _undo(s, frame, before, env, used, lifted)
            other = attempt(s, op, numbers, frame)
            if other is not None and not _is_poor(s, before[1], s.out[len(before[0]) :]):
                return other
        _undo(s, frame, *after)
    if failed is None and (not counts or not is_poor):
        s.relied.asks_sizes |= is_poor and _makes_named_tuples(s, s.out[len(before[0]) :])
        return done
    if not counts:
        s.relied.asks_sizes = True
        raise failed or NotSpecialisedError("loop")
    after = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    _undo(s, frame, before, env, used, lifted)
    try:
        return written_out(s, op, numbered(iterable), frame)
    except NotSpecialisedError:
        if failed is not None:
            raise
        _undo(s, frame, *after)
        return done


def _undo(
    s: Specialiser, frame: Frame, before: Any, env: Mapping[Any, Any], used: bool, lifted: Mapping[Any, Any]
) -> None:
    """Let the specialiser and a frame be what they were, as often as there are attempts."""
    s.back((list(before[0]), before[1].copied()))
    frame.env.clear()
    frame.env.update(env)
    s.used, s.lifted = used, dict(lifted)


def _is_poor(s: Specialiser, before: State, out: Sequence[Operation], is_long: bool = False) -> bool:
    """Whether what is written makes functions or named tuples, or needs to know the items of lists and dicts.

    Where a loop ``is_long`` it may fill lists of objects.
    """
    made = {s.state.get(cell): cell for cell in before if before.is_apart(cell) and not s.state.is_apart(cell)}
    if any(
        isinstance(c.whole, Items) and (s.relied.writes_out or c.whole.cls not in (list, dict)) for c in made.values()
    ):
        return True
    if not is_long and any(
        isinstance(s.stand_ins.get(operand), Table) for operand in made if isinstance(operand, Value)
    ):
        return True
    return _makes_named_tuples(s, out) or any(
        o.kind in ("function", "lambda") or (o.kind == "attribute" and o.data in UNKNOWN and o.operands[0] in made)
        for o in _all_of(out)
    )


def _makes_named_tuples(s: Specialiser, out: Sequence[Operation]) -> bool:
    return any(not s.named_tuples.isdisjoint(o.results) for o in _all_of(out))


def _all_of(out: Sequence[Operation]) -> Iterator[Operation]:
    """Operations with all that are inside of them."""
    for operation in out:
        yield operation
        for part in operation.regions:
            yield from inner(part)


def _chooses(s: Specialiser, out: Sequence[Operation], frame: Frame) -> bool:
    """Whether what is written takes functions or classes out of tables that exist, by keys which are not known."""
    tables: set[Operand] = set()
    for op in _all_of(out):
        if op.kind == "global":
            found, value = s.lookup(frame, op.data)
            members = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
            if found and any(is_structure(Known(member)) for member in members):
                tables.update(op.results)
        elif op.kind == "item" and op.operands[0] in tables:
            return True
    return False


def _frozen_dicts(s: Specialiser, before: State) -> set[Cell]:
    """The dicts of known keys that are objects of the new program since then."""
    made = {cell for cell in before if before.is_apart(cell) and not s.state.is_apart(cell)}
    return {c for c in made if isinstance(c.whole, Items) and c.whole.cls in MAPPINGS}


def _peeled(s: Specialiser, op: Operation, numbers: range, frame: Frame) -> Done:
    """A loop whose first round stands before it, since that alone puts keys into dicts; None if that does not help."""
    body = op.regions[0]
    place, before = frame.place or op.place, s.state.copied()
    unrolled, frame.unrolled = frame.unrolled, True
    try:
        frame.env[body.params[0]] = s.named(Constant(numbers[0]), body.params[0].name, place)
        frame.env.update(zip(body.params[1:], [s.handed(o, frame) for o in op.operands[1:]], strict=True))
        end = round_of(s, body, frame, names_of(s, op, body.params[1:]))
        if end.kind != "continue" or end.left:
            return None
        frame.unrolled = unrolled
        operands = [Value(param.name) for param in body.params]
        frame.env.update(zip(operands, (_numbers(s, numbers[1:], frame, place), *end.values), strict=True))
        s.live.update(operands)
        done = _loop(s, replace(op, operands=tuple(operands)), frame)
    except NotSpecialisedError:
        return None
    finally:
        frame.unrolled = unrolled
    s.used = True
    return None if _frozen_dicts(s, before) else done


def _few_rounds(s: Specialiser, op: Operation, numbers: range, frame: Frame) -> Done:
    """A short loop written out, if all dicts stay known then; None if that does not help."""
    if len(numbers) > FEW_ROUNDS:
        return None
    before = s.state.copied()
    try:
        done = written_out(s, op, [Constant(number) for number in numbers], frame)
    except NotSpecialisedError:
        return None
    return None if _frozen_dicts(s, before) else done


def _numbers(s: Specialiser, numbers: range, frame: Frame, place: Place | None) -> Known:
    """A range that the new program makes."""
    _, named = s.lookup(frame, "range")
    function = Known(range, ("range",), home=frame.home) if named is range else s.outside(range, "range")
    parts = [numbers.start, numbers.stop, numbers.step][: 2 + (numbers.step != 1)]
    made = s.operands([function, *map(Constant, parts)], place)
    return Known(numbers, (), s.emit("call", made, ("",) * len(parts), place=place))


def _range_of(value: Abstract) -> Sequence[int]:
    """The numbers of a known range, if these are few."""
    if isinstance(value, Known) and isinstance(value.value, range) and len(value.value) <= MOST_ROUNDS:
        return value.value
    return ()


def while_loop(s: Specialiser, op: Operation, frame: Frame) -> Done:
    before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    failed = done = None
    try:
        done = _loop(s, op, frame)
        if not _is_poor(s, before[1], s.out[len(before[0]) :]):
            return done
    except NotSpecialisedError as error:
        failed = error
        s.relied.asks_sizes = True
    after = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    _undo(s, frame, before, env, used, lifted)
    try:
        return tested_out(s, op, frame)
    except NotSpecialisedError:
        if failed is not None:
            raise failed from None
        _undo(s, frame, *after)
        return done


def _loop(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A loop, with the cells that change in it as further values that it carries."""
    if frame.unrolled and breaks(op.regions[-1], ("break", "continue")):
        # What its ``else`` leaves is a loop that the new program has not.
        raise NotSpecialisedError("loop")
    unrolled, frame.unrolled = frame.unrolled, False
    cells: list[Cell] = []
    others: set[int | Cell] = set()
    plans: dict[int | Cell, Plan] = {}
    depth = len(s.loops)
    try:
        while True:
            before = s.mark()
            known = {at: plan.copied() for at, plan in plans.items()}
            writing = _Loop(s, op, frame, cells, others, plans)
            done = writing.run()
            if not writing.more and writing.others == others and plans == known:
                for structure in writing.structures.values():
                    structure.settle(s, cells)
                return done
            s.back(before)
            others = writing.others
            for cell, plan in writing.more.items():
                s.state[cell] = content_of(s, s.state, cell)
                if s.state.is_apart(cell):
                    s.freeze_all([cell], s.state)
                    continue
                cells.append(cell)
                if plan is not None:
                    plans[cell] = plan
            live = {slot for c in s.state.values() if isinstance(c, Content) for slot in c.slots}
            cells = [cell for cell in cells if not cell.item or cell in live]
    finally:
        frame.unrolled = unrolled
        del s.loops[depth:]


class _Loop:
    """One attempt to write a loop that carries some cells; ``more`` are those that changed besides.

    What is a number before it is taken to stay one, but for ``others`` of what is carried, by number, and of the cells.
    What is static and carried has to stay what it is, unless there is one of the ``plans`` for it.
    """

    def __init__(
        self,
        s: Specialiser,
        op: Operation,
        frame: Frame,
        cells: list[Cell],
        others: set[int | Cell],
        plans: dict[int | Cell, Plan],
    ) -> None:
        self.s, self.op, self.frame, self.cells, self.plans = s, op, frame, cells, plans
        self.more: dict[Cell, Plan | None] = {}
        self.others = set(others)
        given = [s.handed(o, frame) for o in op.operands]
        #: What nobody reads is carried as a variable without value.
        self.head = op.regions[0].params[1:] if op.kind == "for" else op.regions[0].params
        groups = zip(
            self.head,
            *([op.results] if op.results else []),
            *([op.regions[1].params] if op.kind == "for" else []),
            strict=True,
        )
        self.read = [any(value in s.live for value in group) for group in groups]
        with s.stand_ins.reading():
            self.iterable: list[Operand] = [s.dynamic(given.pop(0))] if op.kind == "for" else []
        given = [v if read else UNSET for v, read in zip(given, self.read, strict=True)]
        held: dict[int | Cell, Abstract] = {**dict(enumerate(given)), **{cell: s.state[cell] for cell in cells}}
        self.structures = {at: Structure(s, held[at], plan) for at, plan in plans.items()}
        self.fixed = [v if may_be_replaced(v) and at not in plans else None for at, v in enumerate(given)]
        #: What may have no value before the loop may have none in it and after it.
        self.unsure = [v is UNSET or isinstance(v, Unsure) for v in given]
        self.unsure_cells = {cell for cell in cells if s.state[cell] is UNSET or isinstance(s.state[cell], Unsure)}
        self.starts = [o for at, v in enumerate(given) if self.fixed[at] is None for o in self.start(at, v)]
        self.numbers: set[int | Cell] = {i for i, v in enumerate(given) if is_number(s, v)}
        self.numbers |= {cell for cell in cells if is_number(s, s.state[cell])}
        self.numbers -= others
        self.starts += self.held()
        self.before = s.state.copied()

    def run(self) -> Done:
        s, op = self.s, self.op
        regions = self.rounds() if op.kind == "for" else self.tested()
        goes_on = regions[-1].exit.kind == "yield" or any(map(breaks, regions[:-1]))
        results: list[Value] = []
        # One that only the consumer of a generator leaves has no results of its own.
        abstract = self.fresh(op.results or self.head, results)[: len(op.results)]
        if goes_on:
            results += self.cells_fresh()
        else:
            results = []
        s.stand_ins.check(self.starts)
        operands = (*self.iterable, *self.starts)
        place = self.frame.place or op.place
        if self.iterable:
            s.out[:] = with_iterable_behind(s.out, operands[0])
        s.out.append(Operation(op.kind, operands, tuple(results), op.data, tuple(regions), place))
        return tuple(abstract) if goes_on else End("never", (), place)

    def fresh(self, params: Sequence[Value], own: list[Value]) -> list[Abstract]:
        """New values for carried ones; what is fixed is no value of its own."""
        made: list[Abstract] = []
        for at, (param, fixed, unsure) in enumerate(zip(params, self.fixed, self.unsure, strict=True)):
            if fixed is not None:
                made.append(fixed)
                continue
            if at in self.structures:
                made.append(self.structures[at].made(self.s, own))
                continue
            own.append(value := Value(param.name))
            if at in self.numbers:
                self.s.numbers.add(value)
            made.append(Unsure(value) if unsure else value)
        return made

    def cells_fresh(self) -> list[Value]:
        made: list[Value] = []
        for cell in self.cells:
            if cell in self.structures:
                self.s.state[cell] = self.structures[cell].made(self.s, made)
                continue
            made.append(value := Value(cell.name))
            held: Abstract = value
            if cell in self.unsure_cells:
                given = Value(f"has_{cell.name}") if cell.record is not None else None
                made += [] if given is None else [given]
                held = Unsure(value, given)
            self.s.state[cell] = held
            if cell in self.numbers:
                self.s.numbers.add(value)
        return made

    def start(self, at: int, value: Abstract) -> Iterable[Operand]:
        """What is carried for a value that is given before the loop."""
        return self.structures[at].carried() if at in self.structures else (self.s.dynamic(value),)

    def held(self) -> list[Operand]:
        """What the cells hold now that are carried, and for attributes that may have no value whether they have."""
        found: list[Operand] = []
        for cell in self.cells:
            held = self.s.state[cell]
            if cell in self.structures:
                found += map(self.s.dynamic, self.structures[cell].leave(self.s, held))
                continue
            found.append(self.s.dynamic(held))
            if cell in self.unsure_cells and cell.record is not None:
                given = held.given if isinstance(held, Unsure) else Constant(held is not UNSET)
                if given is None:
                    raise NotSpecialisedError("unset")
                found.append(given)
        return found

    def enter(self, params: Sequence[Value]) -> list[Value]:
        """Let the parameters of a region stand for new values, which are returned."""
        own: list[Value] = []
        self.frame.env.update(zip(params, self.fresh(params, own), strict=True))
        return own + self.cells_fresh()

    def leave(self, end: End) -> Exit:
        """The exit of a part of the loop that hands on what the loop carries."""
        self.notice()
        values: list[Abstract] = []
        given = (UNSET,) * len(self.fixed) if end.left else end.values
        for at, (value, fixed, read) in enumerate(zip(given, self.fixed, self.read, strict=True)):
            if at in self.numbers and read and not end.left and not is_number(self.s, value):
                self.others.add(at)
            if at in self.structures:
                values += (
                    [UNSET] * len(self.structures[at].varying) if end.left else self.structures[at].leave(self.s, value)
                )
            elif fixed is None:
                values.append(value if read else UNSET)
            elif not end.left and not same(value, fixed):
                self.plans[at] = plan_for(self.s, fixed, value)
        self.others.update(c for c in self.cells if c in self.numbers and not is_number(self.s, self.s.state[c]))
        operands = [*map(self.s.dynamic, values), *self.held()]
        return Exit(end.kind, tuple(operands), end.place)  # type: ignore[arg-type]

    def notice(self) -> None:
        """Note which cells have changed that are not carried."""
        for cell, value in self.before.items():
            if cell not in self.cells and not same(self.s.state[cell], value):
                is_object = is_made(value) and is_made(self.s.state[cell])
                self.more[cell] = plan_for(self.s, value, self.s.state[cell]) if is_object else None
        self.more.update(dict.fromkeys(created(self.before, [self.s.state])))

    def part(self, region: Region, inside: bool) -> Exit:
        """Run a region of the loop; only ``inside`` is its body."""
        if inside:
            self.s.loops.append(self.leave)
        end = self.s.run(region, self.frame)
        if inside:
            made = self.s.exit(end)
            self.s.loops.pop()
            return made
        return self.leave(end) if end.kind == "yield" else self.s.exit(end)

    def rounds(self) -> list[Region]:
        """The regions of a ``for``."""
        s = self.s
        body, rest = self.op.regions
        with s.apart() as out:
            own = self.enter(body.params[1:])
            item = Value(body.params[0].name)
            self.frame.env[body.params[0]] = item
            end = self.part(body, True)
        first = Region((item, *own), tuple(out), end)
        with s.apart() as out:
            own = self.enter(rest.params)
            end = self.part(rest, False)
        return [first, Region(tuple(own), tuple(out), end)]

    def tested(self) -> list[Region]:
        """The regions of a ``while``."""
        s = self.s
        test, *parts = self.op.regions
        with s.apart() as out:
            own = self.enter(test.params)
            asked = s.run(test, self.frame)
            if asked.kind == "yield":
                asked = replace(asked, values=tuple([tested(s, v, self.op, self.frame) for v in asked.values]))
            self.notice()
            with s.stand_ins.reading(any(isinstance(value, Items) for value in asked.values)):
                end = s.exit(asked)
            regions = [Region(tuple(own), tuple(out), end)]
            state = s.state
            for inside, part in zip((True, False), parts, strict=True):
                with s.apart() as rest:
                    s.state = state.copied()
                    end = self.part(part, inside)
                regions.append(Region((), tuple(rest), end))
        return regions
