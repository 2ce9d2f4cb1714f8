"""Specialisation of conditions: ``if``, conditional expressions, ``and`` and ``or``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from s2sad.ir.code import UNSET, Constant, Exit, Kind, Operand, Operation, Place, Region, Value
from s2sad.transform import choices, presence, ranks, sizes
from s2sad.transform.array_objects import is_array, may_be_array
from s2sad.transform.boxes import boxed
from s2sad.transform.cells import State
from s2sad.transform.coded import put_into_lists, rows_of_arms
from s2sad.transform.existing import is_existing
from s2sad.transform.known import (
    Abstract,
    Cell,
    Choice,
    Content,
    Items,
    Kept,
    NotSpecialisedError,
    Record,
    Referred,
    Row,
    Typed,
    Unsure,
    cell_of,
    is_callable,
    is_static,
    same,
)
from s2sad.transform.objects import content_of
from s2sad.transform.raised import run_or_raise
from s2sad.transform.references import are_there, may_refer, numbered, references_of
from s2sad.transform.regions import breaks, is_expression
from s2sad.transform.shapes import Again, Rebuild, Shapes, apart_from, exists, is_made, things_of
from s2sad.transform.simple import truth
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.tables import table_of
from s2sad.transform.truths import tested

Arm = Callable[[], End]


def branch(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An ``if`` or a conditional expression."""
    test = s.get(op.operands[0], frame)
    test = tested(s, test, op, frame)
    known = truth(s, test)
    if known is not None:
        end = s.run(op.regions[0 if known else 1], frame)
        return _named(s, end.values, op, frame) if end.kind == "yield" else end
    if frame.unrolled and any(breaks(region, ("break", "continue")) for region in op.regions):
        raise NotSpecialisedError("loop")
    if isinstance(test, Record):
        raise NotSpecialisedError("truth")
    if isinstance(test, Choice):
        test = choices.asked(s, test, functools.partial(truth, s), frame.place or op.place)
    arms = [lambda region=region: s.run(region, frame) for region in op.regions]
    names = [r.name if r in s.live else None for r in op.results]
    with s.stand_ins.reading(isinstance(test, (Items, Value))):
        condition = s.dynamic(test)
    if (asked := ranks.asked(s, condition)) is None:
        return fork(s, condition, arms, names, frame.place or op.place, op.kind)
    array, number, holds = asked
    at = 0 if holds else 1
    arms[at] = functools.partial(_with_axes, s, array, number, arms[at])
    done = fork(s, condition, arms, names, frame.place or op.place, op.kind)
    if op.regions[1 - at].exit.kind in ("raise", "never"):
        ranks.note(s, array, number)
    return done


def _with_axes(s: Specialiser, array: Value, number: int, arm: Arm) -> End:
    """An arm in which an array has a number of axes."""
    s.ranks[array] = number
    return arm()


def _named(s: Specialiser, values: Sequence[Abstract], op: Operation, frame: Frame) -> tuple[Abstract, ...]:
    place = frame.place or op.place
    return tuple([s.named(value, result.name, place) for value, result in zip(values, op.results, strict=True)])


def created(before: State, states: Sequence[State]) -> list[Cell]:
    """The cells of attributes that some states have and the objects, which exist already, did not have before."""
    new = dict.fromkeys(cell for state in states for cell in state if cell not in before)
    found = [cell for cell in new if cell.record is not None and cell.record.identity in before]
    presence.loosen(found, states)
    return found


def changed_in(before: State, states: Sequence[State]) -> list[Cell]:
    """The cells that hold something else in some states than before, with attributes that were not there then."""
    kept = [cell for cell, value in before.items() if any(not same(state[cell], value) for state in states)]
    return kept + created(before, states)


def fork(
    s: Specialiser,
    test: Operand,
    arms: Sequence[Arm],
    names: Sequence[str | None],
    place: Place | None,
    kind: Kind = "if",
) -> tuple[Abstract, ...] | End:
    """Write an ``if`` of two arms; what it leaves, or how the region ends if no arm goes on.

    A value without name is used by nobody.
    """
    while True:
        before = s.state.copied()
        decided = presence.decided(s, test)
        ran: list[tuple[list[Operation], End, State]] = []
        refused: list[NotSpecialisedError] = []
        for arm, held in zip(arms, decided, strict=True):
            s.state.settled = before.settled  # and not what another arm has settled
            with s.apart() as out, s.relied.within(choices.answered(s, test, not ran)):
                dict.update(s.state, held)
                end = run_or_raise(s, arm, refused, place)
                ran.append((out, end, s.state))
        if refused and all(end.kind in ("raise", "never") for _, end, _ in ran):
            raise refused[0]
        ended = zip(decided, ran, strict=True)
        presence.undecided(before, [(held, state) for held, (_, end, state) in ended if end.kind == "yield"])
        going = [(end, state) for _, end, state in ran if end.kind == "yield"]
        changed = changed_in(before, [state for _, state in going])
        whole = [c for c in changed if before.is_apart(c) and not _are_alike([state[c] for _, state in going])]
        in_lists = put_into_lists(changed, before, [state for _, state in going])
        if not whole and not in_lists:
            break
        s.state.settled = before.settled
        s.freeze_all(whole, before)
        for record in in_lists:
            boxed(s, record, place)
    s.state.settle(cell for _, _, state in ran for cell in state.settled)
    if not going:
        _write(s, "if", test, [(out, exit_of(s, out, state, end)) for out, end, state in ran], [], place)
        return End("never", (), place)
    mark = s.mark()
    joining = _Joining(s, test, before, [(end, state, _results(out)) for out, end, state in ran if end.kind == "yield"])
    columns = [[end.values[i] for end, _ in going] for i in range(len(names))]
    abstract = [
        UNSET if name is None else joining.value(column, name) for column, name in zip(columns, names, strict=True)
    ]
    contents = [joining.content([content_of(s, state, cell) for _, state in going], cell) for cell in changed]
    if joining.objects:
        s.back(mark)
        s.freeze_all(joining.objects, before)
        return fork(s, test, arms, names, place, kind)
    joining.finish()
    results = joining.results
    written: list[tuple[list[Operation], Exit]] = []
    at = 0
    for out, end, state in ran:
        if end.kind == "yield":
            end = replace(end, values=tuple(joining.handed[at]))
            at += 1
        with s.stand_ins.reading(joining.has_rows):
            written.append((out, exit_of(s, out, state, end)))
    plain = (kind == "choose" or s.expression) and len(results) == 1
    plain = plain and all(exit.kind == "yield" and is_expression(out, exit) for out, exit in written)
    _write(s, "choose" if plain else "if", test, written, results, place)
    for cell, content in zip(changed, contents, strict=True):
        # An arm may have settled it after it has changed it.
        dict.__setitem__(s.state, cell, content)
        s.state.written.add(cell)
    return tuple(abstract)


def _are_alike(contents: Sequence[Abstract]) -> bool:
    """Whether lists or dicts have as many items, or the same keys, in each arm."""
    first = contents[0]
    return isinstance(first, Content) and all(
        isinstance(c, Content)
        and len(c.slots) == len(first.slots)
        and c.keys == first.keys
        and c.factory is first.factory
        for c in contents
    )


def _results(out: Sequence[Operation]) -> set[Value]:
    """The values that operations make and that can be seen after them."""
    return {result for operation in out for result in operation.results}


def exit_of(s: Specialiser, out: list[Operation], state: State, end: End) -> Exit:
    """The exit of a region that has been written."""
    with s.apart() as more:
        s.state = state.copied()
        made = s.exit(end)
    out += more
    return made


def _write(
    s: Specialiser,
    kind: Kind,
    test: Operand,
    arms: Sequence[tuple[list[Operation], Exit]],
    results: Sequence[Value],
    place: Place | None,
) -> None:
    regions = tuple([Region((), tuple(out), exit) for out, exit in arms])
    s.out.append(Operation(kind, (test,), tuple(results), None, regions, place))


class _Joining:
    """What values are after the arms that go on; ``results`` of the ``if`` are made for what they hand on."""

    def __init__(
        self, s: Specialiser, test: Operand, before: State, arms: Sequence[tuple[End, State, set[Value]]]
    ) -> None:
        self.s, self.test = s, test
        self.parts = [(state, Inside(before, made)) for _, state, made in arms]
        self.arms = self.shapes()
        #: The cells and objects of an arm that one of two functions has for itself.
        self.taken: list[set[Cell | Record]] = [set() for _ in arms]
        self.is_fixed = _is_fixed(s, test)
        #: What has been made again of each arm.
        self.made: dict[int, Cell | Record] = {}
        self.results: list[Value] = []
        self.handed: list[list[Abstract]] = [[] for _ in arms]
        #: The cells of lists and dicts made before that have to be objects by then, since results may be one of them.
        self.objects: dict[Cell, None] = {}
        self.has_rows = False  # whether some of it are lists of objects

    def shapes(self) -> list[Shapes]:
        return [Shapes(state, inside, lambda constant: False) for state, inside in self.parts]

    def again(self, rebuild: Rebuild, leaves: Sequence[Operand], made: dict[int, Cell | Record]) -> Abstract:
        """A value of an arm, made again after it."""
        value: Abstract = rebuild(Again(iter(leaves), self.s.state, made))
        return value

    def result(self, values: Sequence[Abstract], name: str = "") -> Value:
        """A result that has one of some values."""
        made = Value(name)
        self.results.append(made)
        if (fact := sizes.of_leaf(self.s, values)) is not None:
            sizes.note(self.s, made, fact)
        for handed, value, (state, inside) in zip(self.handed, values, self.parts, strict=True):
            handed.append(value)
            held = things_of(value, state) if is_static(value) else ()
            apart = [
                t for t in held if isinstance(t, Cell) and isinstance(t.whole, Items) and inside.before.is_apart(t)
            ]
            self.objects.update(dict.fromkeys(apart))
        return made

    def value(self, values: list[Abstract], name: str) -> Abstract:
        """What is one value in each arm."""
        if any(isinstance(value, Kept) for value in values):
            raise NotSpecialisedError("unset")
        if any(value is UNSET or isinstance(value, Unsure) for value in values):
            return self.unsure(values, name, checked=False)
        if (rows := rows_of_arms(self.s, values, [(state, inside.before) for state, inside in self.parts])) is not None:
            wholes, shape, known_before = rows
            self.objects.update(dict.fromkeys(known_before))
            self.has_rows = True
            return table_of(self.s, self.result(wholes, name), shape)
        known = list(map(self.s.plain, values))
        if all(map(choices.is_none, known)):
            return known[0]
        if not any(map(is_static, values)):
            is_one = isinstance(values[0], Constant) and all(same(values[0], other) for other in values)
            return values[0] if is_one else self.result(values, name)
        if self.s.relied.items == "references" and all(map(may_refer, known)):
            joined = self.referred(known, name)
            if joined is not None:
                return joined
        trial = [replace(arm, leaves=[], titles=[], numbers=dict(arm.numbers)) for arm in self.arms]
        shapes = [arm.of(v) for v, arm in zip(values, trial, strict=True)]
        if len({key for key, _ in shapes}) == 1:
            self.arms = trial
            self.check_apart([set(arm.numbers) for arm in trial])
            columns = [
                self.result(column, _title(column)) for column in zip(*[arm.leaves for arm in trial], strict=True)
            ]
            return self.again(shapes[0][1], columns, self.made)
        merged = self.merged(values) if all(map(_is_merged, values)) else None
        if merged is not None:
            return merged
        if len(values) == 2 and all(is_callable(v) or isinstance(v, Record) or is_existing(v) for v in values):
            return self.choice(values)
        if (row := self.row(values)) is not None:
            return row
        if len(values) == 2 and any(map(is_static, values)) and all(map(choices.is_object_or_none, known)):
            return self.choice(known)
        if len(values) == 2 and all(is_array(v) or may_be_array(v) or isinstance(v, Value) for v in known):
            return self.choice(values)
        return self.result(values, name)

    def referred(self, values: list[Abstract], name: str) -> Abstract | None:
        """One of several objects that there are before the branch, by its number if one has a number already."""
        if not all(are_there(inside.before, value) for value, (_, inside) in zip(values, self.parts, strict=True)):
            return None
        found = (references_of(self.s, value) for value in values)
        if (references := next((known for known in found if known is not None), None)) is not None:
            numbers = [numbered(self.s, references, value) for value in values]
            self.s.numbers.add(number := self.result(numbers, name))
            return Referred(number, references)
        return self.choice(values) if len(values) == 2 else None

    def row(self, values: Sequence[Abstract]) -> Row | None:
        """One of several tuples with as many items."""
        rows = [value for value in values if isinstance(value, Row)]
        if len(rows) < len(values) or len({(row.cls, len(row.items)) for row in rows}) > 1:
            return None
        columns = zip(*[row.items for row in rows], strict=True)
        return Row(tuple([self.value(list(column), "") for column in columns]), rows[0].cls)

    def merged(self, values: Sequence[Abstract]) -> Abstract | None:
        """One of several objects of one shape, of which none may be changed later, since it is a copy.

        None if they have no shape that is the same.
        """
        if not self.s.relied.replaces:
            return None
        states = [state for state, _ in self.parts]
        try:
            things = [things_of(value, state) for value, state in zip(values, states, strict=True)]
            for shared in (set.intersection(*things), set[Cell | Record]()):
                shapes = [apart_from(shared, state) for state in states]
                found = [shape.of(value) for shape, value in zip(shapes, values, strict=True)]
                if len({key for key, _ in found}) == 1:
                    break
            else:
                return None
        except NotSpecialisedError:
            return None
        if any(shape.optional for shape in shapes) or any(map(exists, shapes[0].numbers)):
            return None
        columns = [self.leaf(column) for column in zip(*[shape.leaves for shape in shapes], strict=True)]
        before = set(self.s.state)
        made = self.again(found[0][1], columns, {})
        copies = [cell for cell in self.s.state if cell not in before]
        self.s.state.settle([*copies, *(cell_of(thing) for shape in shapes for thing in shape.numbers)])
        self.s.relied.replaced = self.s.used = True
        return made

    def leaf(self, column: Sequence[Operand]) -> Operand:
        """One of some operands; one that is the same in each arm, and known after them, is that."""
        first, inside = column[0], self.parts[0][1]
        is_one = all(same(first, other) for other in column) and not (isinstance(first, Value) and inside(first))
        return first if is_one else self.result(column, _title(column))

    def finish(self) -> None:
        """Let what was made again of what may be changed no more stay what it is as well."""
        for arm in self.arms:
            arm.settle(self.made, self.s.state)

    def unsure(self, values: list[Abstract], name: str, checked: bool) -> Unsure:
        """What has a value in some arms only; ``checked`` where the new program would not find that out by itself."""
        given = [v.given if isinstance(v, Unsure) else Constant(v is not UNSET) for v in values]
        lacking = [v for v in values if isinstance(v, Unsure)]
        values = [v.value if isinstance(v, Unsure) else v for v in values]
        parts = [number for number, value in enumerate(values) if is_static(value)]
        known = self.result(given, f"has_{name}") if (checked or parts) and None not in given else None  # type: ignore[arg-type]
        if not parts:
            return Unsure(self.result(values, name), known)
        is_filled = all(unsure.is_filled for unsure in lacking)
        if is_filled and known is not None and len(parts) == len(values) and all(map(may_refer, values)):
            return Unsure(self.value(values, name), known, True)
        if known is None or len(parts) > 1 or any(v is not UNSET for n, v in enumerate(values) if n not in parts):
            raise NotSpecialisedError("unset")
        return Unsure(self.apart(values, parts[0], self.shapes(), UNSET, name), known)

    def apart(
        self, values: Sequence[Abstract], number: int, arms: Sequence[Shapes], other: Constant, name: str = ""
    ) -> Abstract:
        """The value of one arm, made again of leaves that are ``other`` after the other arms.

        Leaves without a name get that of the variable, so that what may have no value is handed on under one name: to
        move it to another would raise.
        """
        _, rebuild = arms[number].of(values[number])
        self.check_apart([set(arm.numbers) for arm in self.arms])
        self.check_apart([set(arm.numbers) if at == number else set() for at, arm in enumerate(arms)])
        self.taken[number] |= set(arms[number].numbers)
        columns = []
        for leaf in arms[number].leaves:
            column: list[Abstract] = [other] * len(values)
            column[number] = leaf
            columns.append(self.result(column, _title([leaf]) or name))
        if other is UNSET:
            self.s.partial.update(columns)
        own: dict[int, Cell | Record] = {}
        made = self.again(rebuild, columns, own)
        arms[number].settle(own, self.s.state)
        return made

    def content(self, values: list[Abstract], cell: Cell) -> Abstract:
        """What a cell holds; of a list or dict that has other items in each arm, a new place for each."""
        first, name = values[0], cell.name
        if cell.record is not None and any(value is UNSET or isinstance(value, Unsure) for value in values):
            return self.unsure(values, name, checked=True)
        if not isinstance(first, Content) or not _are_alike(values):
            return self.value(values, name)
        contents = [value for value in values if isinstance(value, Content)]
        slots = []
        for column in zip(*[content.slots for content in contents], strict=True):
            slot = column[0]
            if any(other is not slot for other in column) or slot not in self.s.state:
                slot = Cell(slot.name, item=True)
                held = [state[cell] for (state, _), cell in zip(self.parts, column, strict=True)]
                self.s.state[slot] = self.value(held, slot.name)
            slots.append(slot)
        return Content(tuple(slots), first.keys, factory=first.factory)

    def choice(self, values: list[Abstract]) -> Choice:
        """One of two functions."""
        arms = self.shapes()
        made = [
            v if choices.is_none(v) else self.apart(values, number, arms, Constant(False))
            for number, v in enumerate(values)
        ]
        self.check_apart([set(arm.numbers) for arm in self.arms])
        if not self.is_fixed:
            # What the test says may be another thing by then.
            self.test, self.is_fixed = self.result([Constant(True), Constant(False)]), True
        return Choice(self.test, made[0], made[1])

    def check_apart(self, things: Sequence[set[Cell | Record]]) -> None:
        """What belongs to one of two functions must be no part of anything else."""
        if any(own & others for own, others in zip(self.taken, things, strict=True)):
            raise NotSpecialisedError("shared")


def _is_merged(value: Abstract) -> bool:
    """Whether a value is an object or tuple of which the parts may be chosen one by one."""
    if isinstance(value, Typed):
        return value.is_named
    return isinstance(value, (Record, Row)) and (is_made(value) or (isinstance(value, Row) and value.cls is not tuple))


def _is_fixed(s: Specialiser, test: Operand) -> bool:
    """Whether a test surely says the same when it is asked again: nobody can change its value."""
    made = next((op for op in reversed(s.out) if test in op.results), None)
    if made is None:
        return isinstance(test, Constant)
    if made.kind in ("compare", "chain"):
        return not made.result.name or made.data in ("is", "is not", "in", "not in")
    return made.kind == "unary" and made.data == "not"


class Inside:
    """Whether a value or cell is made in an arm."""

    def __init__(self, before: State, made: set[Value]) -> None:
        self.before, self.made = before, made

    def __call__(self, thing: Value | Cell) -> bool:
        return thing in self.made if isinstance(thing, Value) else thing not in self.before


def _title(leaves: Sequence[Operand]) -> str:
    return next((leaf.name for leaf in leaves if isinstance(leaf, Value) and leaf.name), "")
