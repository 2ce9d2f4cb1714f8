"""Loops of the new program, and what they carry: cells that change, leaves of what they replace, lists of objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from s2sad.ir.code import NONE, UNSET, Constant, Exit, Operand, Operation, Region, Value
from s2sad.transform.branches import created
from s2sad.transform.carried import Plan, Structure, may_be_replaced, plan_for
from s2sad.transform.choices import answered, is_none
from s2sad.transform.known import (
    Abstract,
    Cell,
    Content,
    InList,
    Items,
    NotSpecialisedError,
    Unsure,
    same,
)
from s2sad.transform.objects import content_of
from s2sad.transform.references import grown, may_refer
from s2sad.transform.regions import breaks, with_iterable_behind
from s2sad.transform.shapes import is_made
from s2sad.transform.simple import is_number
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.tables import freeze_objects, shape_of, table, table_of
from s2sad.transform.truths import tested


def loop(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A loop, with the cells that change in it as further values that it carries."""
    if frame.unrolled and breaks(op.regions[-1], ("break", "continue")):
        # What its ``else`` leaves is a loop that the new program has not.
        raise NotSpecialisedError("loop")
    unrolled, frame.unrolled = frame.unrolled, False
    cells: list[Cell] = []
    others: set[int | Cell] = set()
    #: What is None or has no value before the loop, by number, and may be no object later.
    filled: set[int] = set()
    plans: dict[int | Cell, Plan] = {}
    depth = len(s.loops)
    try:
        while True:
            # What an attempt has let be a list of the new program is no longer known item by item.
            live = {slot for c in s.state.values() if isinstance(c, Content) for slot in c.slots}
            cells = [c for c in cells if (not c.item or c in live) and not isinstance(s.state.get(c), InList)]
            plans = {at: plan for at, plan in plans.items() if not isinstance(at, Cell) or at in cells}
            before, unseen = s.mark(), set(s.stand_ins.unseen)
            known = {at: plan.copied() for at, plan in plans.items()}
            writing = _Loop(s, op, frame, cells, others, plans, frozenset(filled))
            try:
                done = writing.run()
            except NotSpecialisedError:
                if writing.nones <= filled:
                    raise
                # It may be no object later.
                filled |= writing.nones
                s.back(before)
                continue
            if writing.frozen:
                s.back(before)
                for at in writing.frozen:
                    _freeze_start(s, op, frame, at, cells)
                continue
            if members := grown(writing.before, s.state, unseen):
                s.back(before)
                s.state.refer(members)
                continue
            if writing.filled != filled:
                filled = set(writing.filled)
                s.back(before)
                continue
            if not writing.more and writing.others == others and plans == known:
                for structure in writing.structures.values():
                    structure.settle(cells)
                return done
            s.back(before)
            others = writing.others
            for cell in [c for c in writing.more if s.state.is_apart(c)]:
                s.freeze_all([cell], s.state)
                del writing.more[cell]
            for cell, plan in writing.more.items():
                if isinstance(s.state.get(cell), InList):
                    continue
                s.state[cell] = content_of(s, s.state, cell)
                cells.append(cell)
                if plan is not None:
                    plans[cell] = plan
    finally:
        frame.unrolled = unrolled
        del s.loops[depth:]


def _freeze_start(s: Specialiser, op: Operation, frame: Frame, at: int | Cell, cells: list[Cell]) -> None:
    """Let a list of objects that a loop replaces by such lists of the new program be one before it."""
    if isinstance(at, Cell):
        value = s.state[at]
        cells += [at] if at not in cells else []
    else:
        value = s.handed(op.operands[at + (op.kind == "for")], frame)
    if not isinstance(value, Items) or not freeze_objects(s, value):
        raise NotSpecialisedError("carried")


def _may_be_kept(value: Abstract) -> bool:
    """Whether a value may be carried as an object of the program, if it is one on all ways on which it is something."""
    return value is UNSET or may_refer(value.value if isinstance(value, Unsure) else value)


class _Loop:
    """One attempt to write a loop that carries some cells; ``more`` are those that changed besides.

    What is a number before it is taken to stay one, but for ``others`` of what is carried, by number, and of the cells.
    What is static and carried has to stay what it is, unless there is one of the ``plans`` for it; so has what is None
    or unset, unless it is ``filled`` with what is no object.  Lists of objects of which the length is not known stay
    such lists; those that become one in a round are to be ``frozen`` before.
    """

    def __init__(
        self,
        s: Specialiser,
        op: Operation,
        frame: Frame,
        cells: list[Cell],
        others: set[int | Cell],
        plans: dict[int | Cell, Plan],
        filled: frozenset[int],
    ) -> None:
        self.filled = set(filled)
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
        given = [NONE if is_none(s.plain(v)) else v for v in given]
        given = [v if read else UNSET for v, read in zip(given, self.read, strict=True)]
        held: dict[int | Cell, Abstract] = {**dict(enumerate(given)), **{cell: s.state[cell] for cell in cells}}
        self.rows = {at: shape for at, value in held.items() if (shape := shape_of(s, value)) is not None}
        self.frozen: set[int | Cell] = set()
        names = {at: at.name if isinstance(at, Cell) else self.head[at].name for at in plans}
        self.structures = {at: Structure(s, held[at], plans[at], names[at]) for at in plans if at not in self.rows}
        carried = {*plans, *self.rows}
        lacking = {at for at, v in enumerate(given) if is_none(v) or (v is UNSET and self.read[at])}
        self.nones = lacking - carried - filled
        self.fixed = [
            v if at in self.nones or (may_be_replaced(v) and at not in carried) else None for at, v in enumerate(given)
        ]
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
        s.stand_ins.check([o for o in self.starts if table(s, o) is None])
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
                made.append(self.structures[at].made(own))
                continue
            own.append(value := Value(param.name))
            if at in self.rows:
                made.append(table_of(self.s, value, self.rows[at]))
                continue
            if at in self.numbers:
                self.s.numbers.add(value)
            made.append(Unsure(value) if unsure else value)
        return made

    def cells_fresh(self) -> list[Value]:
        made: list[Value] = []
        for cell in self.cells:
            if cell in self.structures:
                self.s.state[cell] = self.structures[cell].made(made)
                continue
            made.append(value := Value(cell.name))
            if cell in self.rows:
                self.s.state[cell] = table_of(self.s, value, self.rows[cell])
                continue
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
        if at in self.rows:
            return (self.whole(at, value),)
        return map(self.s.dynamic, self.structures[at].carried() if at in self.structures else (value,))

    def held(self) -> list[Operand]:
        """What the cells hold now that are carried, and for attributes that may have no value whether they have."""
        found: list[Operand] = []
        for cell in self.cells:
            held = self.s.state[cell]
            if cell in self.structures:
                found += map(self.s.dynamic, self.structures[cell].leave(held))
                continue
            if cell in self.rows:
                found.append(self.whole(cell, held))
                continue
            found.append(self.s.dynamic(held))
            if cell in self.unsure_cells and cell.record is not None:
                given = held.given if isinstance(held, Unsure) else Constant(held is not UNSET)
                if given is None:
                    raise NotSpecialisedError("unset")
                found.append(given)
        return found

    def whole(self, at: int | Cell, value: Abstract) -> Operand:
        """The list of the new program that a carried list of objects is."""
        found, shape = table(self.s, value), shape_of(self.s, value)
        if found is None or shape is None or shape.key != self.rows[at].key:
            raise NotSpecialisedError("carried")
        return found

    def enter(self, params: Sequence[Value]) -> list[Value]:
        """Let the parameters of a region stand for new values, which are returned."""
        own: list[Value] = []
        self.frame.env.update(zip(params, self.fresh(params, own), strict=True))
        return own + self.cells_fresh()

    def leave(self, end: End) -> Exit:
        """The exit of a part of the loop that hands on what the loop carries."""
        values: list[Abstract] = []
        given = (UNSET,) * len(self.fixed) if end.left else end.values
        for at, (value, fixed, read) in enumerate(zip(given, self.fixed, self.read, strict=True)):
            if at in self.numbers and read and not end.left and not is_number(self.s, value):
                self.others.add(at)
            if at in self.rows:
                values.append(UNSET if end.left else self.whole(at, value))
            elif at in self.structures:
                values += [UNSET] * len(self.structures[at].varying) if end.left else self.structures[at].leave(value)
            elif fixed is None:
                values.append(value if read else UNSET)
            elif not end.left and at in self.nones and not _may_be_kept(value):
                self.filled.add(at)
            elif not end.left and isinstance(fixed, Items) and table(self.s, value) is not None:
                self.frozen.add(at)
            elif not end.left and not same(value, fixed):
                self.plans[at] = plan_for(self.s, self.before, fixed, value)
        self.others.update(c for c in self.cells if c in self.numbers and not is_number(self.s, self.s.state[c]))
        with self.s.stand_ins.reading(bool(self.rows)):
            operands = [*map(self.s.dynamic, values), *self.held()]
        # What is handed on may have become an object of the new program by that.
        self.notice()
        return Exit(end.kind, tuple(operands), end.place)  # type: ignore[arg-type]

    def notice(self) -> None:
        """Note which cells have changed that are not carried."""
        for cell, value in self.before.items():
            if cell not in self.cells and not same(self.s.state[cell], value):
                if isinstance(value, Items) and table(self.s, self.s.state[cell]) is not None:
                    self.frozen.add(cell)
                    continue
                is_object = (is_made(value) or is_none(value)) and is_made(self.s.state[cell])
                self.more[cell] = plan_for(self.s, self.before, value, self.s.state[cell]) if is_object else None
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
                for value in asked.values:
                    if isinstance(value, Items):
                        freeze_objects(s, value)
                asked = replace(asked, values=tuple([tested(s, v, self.op, self.frame) for v in asked.values]))
            with s.stand_ins.reading(any(isinstance(value, Items) for value in asked.values)):
                end = s.exit(asked)
            self.notice()
            regions = [Region(tuple(own), tuple(out), end)]
            state = s.state
            asks = asked.kind == "yield" and isinstance(end.operands[0], Value)
            condition = end.operands[0] if asks else None
            for inside, part in zip((True, False), parts, strict=True):
                answers = {} if condition is None else answered(s, condition, inside)
                with s.apart() as rest, s.relied.within(answers):
                    s.state = state.copied()
                    end = self.part(part, inside)
                regions.append(Region((), tuple(rest), end))
        return regions
