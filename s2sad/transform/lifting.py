"""Functions of the new program: a function together with what is static of its arguments and of what it sees.

What such a function captures, and the attributes of objects that it is given, are parameters, and what it changes
further results (lambda lifting; Johnsson 1985).
"""

from __future__ import annotations

import functools
import types
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from s2sad.ir.code import (
    NONE,
    Code,
    Constant,
    Operand,
    Operation,
    Parameter,
    Place,
    Region,
    Value,
    codes,
    regions_in,
)
from s2sad.ir.types import Fact
from s2sad.transform import presence, references, sizes
from s2sad.transform.cells import Returned, State
from s2sad.transform.functions import made_function
from s2sad.transform.held_whole import with_changes
from s2sad.transform.known import (
    Abstract,
    Cell,
    Env,
    Home,
    Known,
    NotSpecialisedError,
    Record,
    Row,
    cell_of,
    is_switch,
    is_whole,
    same,
)
from s2sad.transform.making import Making
from s2sad.transform.objects import content_of
from s2sad.transform.regions import free_values, names_read, names_taken, pruned, settled
from s2sad.transform.replace import replaced_in_code
from s2sad.transform.shapes import Again, AsWhole, Rebuild, Shape, Shapes, sees
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.standing import Table
from s2sad.transform.wholes import as_wholes

Enter = Callable[[Specialiser, Code, Mapping[str, Abstract], Frame, Operation], None]
#: How many attempts there are at a function that calls itself.
ATTEMPTS = 4


class Numbers(Container[Operand]):
    """The operands that are known to be numbers."""

    def __init__(self, s: Specialiser) -> None:
        self.s = s

    def __contains__(self, operand: object) -> bool:
        if isinstance(operand, Constant):
            return isinstance(operand.value, (int, float, complex))
        fact = self.s.scalars.get(operand)  # type: ignore[call-overload]
        return operand in self.s.numbers or (fact is not None and fact.kind == "scalar")


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

    ``taken`` are the leaves of what it is given that it takes.  It returns leaves, of which ``rebuild`` makes the
    result and the contents of the cells ``changed`` and attributes ``created``, which are said by number; ``titles``
    are their names, or None for that of the result, and ``results`` is the shape of what is made of them.
    """

    name: str
    taken: tuple[int, ...]
    cell: types.CellType = field(default_factory=types.CellType)
    titles: tuple[str | None, ...] = (None,)
    changed: tuple[int, ...] = ()
    created: tuple[tuple[int, Any], ...] = ()
    #: The objects that get attributes in an order which is not known.
    loose: frozenset[int] = frozenset()
    results: Any = None
    rebuild: Rebuild = lambda again: (next(again.leaves),)
    complete: bool = False
    recursive: bool = False
    #: The cells and objects that it changes, also where it raises an exception then.
    written: tuple[int, ...] = ()
    #: Those that may be changed no more (see `State`), and whether there are such in what it returns.
    settled: tuple[int, ...] = ()
    gives_settled: bool = False
    #: Which of the leaves that it returns are lists of objects.
    tables: dict[int, Table] = field(default_factory=dict)
    #: The type of its result, and those of the leaves that it returns, where sizes are known.
    fact: Fact | None = None
    facts: tuple[Fact | None, ...] = ()
    #: What it is given, and hands back as it is: its caller has that, under these names.
    handed: Mapping[int, str] = field(default_factory=dict)
    #: Whether it does nothing, but perhaps return one of its arguments.
    idle: bool = False


def lift(
    s: Specialiser, start: Start, bound: Mapping[str, Abstract], op: Operation, frame: Frame, enter: Enter
) -> Done:
    """Call a function of the new program, which is made if there is none yet for what is static."""
    with presence.loaded(s, frame.place or op.place):
        return _lifted(s, start, bound, op, frame, enter)


def _lifted(
    s: Specialiser, start: Start, bound: Mapping[str, Abstract], op: Operation, frame: Frame, enter: Enter
) -> Done:
    code = start.code
    if code.generates or code.awaits:
        raise NotSpecialisedError("generator")
    shapes = Shapes(
        s.state,
        lambda value: True,
        is_fixed if s.relied.fixes else is_switch,
        {},
        Numbers(s),
        s.arrays,
        s.foreign,
        functools.partial(sizes.of, s),
        s.stand_ins,
    )
    args = [shapes.of(_known_structure(s, bound[p.name]), p.name) for p in code.params]
    env = shapes.env(start.env, {v for made in codes(code) for v in sees(made)})
    owner = None if start.owner is None else shapes.of(start.owner[1])
    # It may meet each object that is taken apart, under whatever name.
    objects = [shapes.of(r) for one in _begun(s) for r in one.kin if r.identity in s.state]
    referred = references.handed(s, shapes)
    met = *(k for k, _ in objects), *((number, k) for _, number, (k, _) in referred)
    s.stand_ins.check_others(shapes.leaves)
    key = (
        code,
        start.owner and start.owner[0],
        tuple([k for k, _ in args]),
        env[0],
        owner and owner[0],
        met,
        shapes.settled,
        s.expression,
    )
    lifted = s.lifted.get(key)
    if lifted is None:
        rebuilds = [rebuild for _, rebuild in args], env[1], owner and owner[1], [rebuild for _, rebuild in objects]
        lifted = _made(s, key, start, rebuilds, shapes, op, enter, referred)
    elif not lifted.complete:
        lifted.recursive = True
    return _called(s, lifted, shapes, op, frame)


def _begun(s: Specialiser) -> list[Record]:
    """The objects that are taken apart, which functions of the new program may meet under whatever name."""
    found = [*s.relied.taken.values(), *(reached.record for reached in s.relied.state.values())]
    return [*found, *(named.record for named in s.relied.variables.values())]


def is_fixed(constant: Constant) -> bool:
    """Whether a constant is no parameter of a function that is made for whole numbers which are known."""
    return is_switch(constant) or is_whole(constant)


def _known_structure(s: Specialiser, value: Abstract) -> Abstract:
    """An argument with what is known of it: the items of a tuple, a constant that says what to do."""
    known = s.plain(value)
    if isinstance(known, Constant) and is_switch(known):
        return known
    return Row(s.rows[value]) if isinstance(value, Value) and value in s.rows else value


def _made(
    s: Specialiser,
    key: Any,
    start: Start,
    rebuilds: Any,
    shapes: Shapes,
    op: Operation,
    enter: Enter,
    referred: Sequence[references.Handed],
) -> Lifted:
    """Make a function of the new program."""
    code, home = start.code, start.home
    lifted = Lifted(start.name, tuple(range(len(shapes.leaves))))
    outside = s.out, s.state, s.making, s.loops, s.expression
    in_expression = s.expression
    known = dict(s.lifted)
    kin = [(one.kin, len(one.kin)) for one in _begun(s)]
    for _ in range(ATTEMPTS):
        # What was made in an attempt may call this with other arguments.
        s.lifted = {**known, key: lifted}
        lifted.recursive = False
        s.making, s.expression = Making(home, names_taken(home.source.function, code)), False
        s.out, s.loops, s.state = [], [], State()
        leaves = [Value(title) for title in shapes.titles]
        s.numbers.update(new for new, leaf in zip(leaves, shapes.leaves, strict=True) if leaf in shapes.known_numbers)
        s.arrays.update(new for new, leaf in zip(leaves, shapes.leaves, strict=True) if leaf in shapes.known_arrays)
        for param, leaf in zip(leaves, shapes.leaves, strict=True):
            if isinstance(leaf, Value) and leaf in s.foreign:
                s.foreign[param] = s.foreign[leaf]
            if isinstance(leaf, Value) and leaf in s.stand_ins:
                s.stand_ins[param] = s.stand_ins[leaf]
            if (fact := shapes.type_of(leaf)) is not None:
                sizes.note(s, param, fact)
        again = Again(iter(leaves), s.state, are_filled=True)
        args = [rebuild(again) for rebuild in rebuilds[0]]
        env = rebuilds[1](again)
        owner = None if start.owner is None else (start.owner[0], rebuilds[2](again))
        for rebuild in rebuilds[3]:
            rebuild(again)
        s.state.refer(references.met(referred, again))
        shapes.settle(again.made, s.state)
        initial = s.state.copied()
        s.state.written.clear()
        records = {n: set(r.fields) for n, r in again.made.items() if isinstance(r, Record)}
        returns: list[Returned] = []
        inside = Frame(env, home, None, owner, returns)
        s.active.append(code)
        try:
            enter(s, code, dict(zip([p.name for p in code.params], args, strict=True)), inside, op)
            region = with_changes(s, s.region_of(code.body, inside))
            references.check(initial, s.state)
            own = _Own(leaves, again.made, initial, records, frozenset(shapes.optional), in_expression)
            made = _finished(s, code, region, returns, own)
            written, settled_cells = s.state.wrote(initial), s.state.settled
        except BaseException:
            s.lifted = known
            raise
        finally:
            making = s.making
            s.active.pop()
            s.out, s.state, s.making, s.loops, s.expression = outside
            for same_objects, count in kin:
                # What they are in this function is in no other state.
                del same_objects[count:]
        before = lifted.taken, lifted.results, lifted.changed, lifted.created, lifted.written
        lifted.taken, lifted.titles, lifted.changed, lifted.created, (lifted.results, lifted.rebuild), new = made[:6]
        lifted.tables, lifted.handed, lifted.facts = made[6:]
        lifted.written = tuple([n for n, thing in again.made.items() if cell_of(thing) in written])
        lifted.settled = tuple([n for n, thing in again.made.items() if cell_of(thing) in settled_cells])
        lifted.loose = frozenset(n for n, thing in again.made.items() if isinstance(thing, Record) and thing.loose)
        lifted.gives_settled = not settled_cells <= initial.keys()
        after = lifted.taken, lifted.results, lifted.changed, lifted.created, lifted.written
        if not lifted.recursive or before == after:
            function, source = made_function(new, home, making.cells, s.reads, start.name, start.place)
            whole = home.source.function
            s.sources[function] = replace(source, origin=whole if code is s.code(whole) else None)
            lifted.cell.cell_contents = function
            lifted.fact = sizes.of_all(s, [r.value for r in returns])
            lifted.idle = not new.body.operations and new.body.exit.kind == "return"
            lifted.complete = True
            return lifted
    raise NotSpecialisedError("recursion")


@dataclass(frozen=True)
class _Own:
    """What a function begins with: the leaves that it is given, cells and objects, what cells hold, and attributes.

    The leaves that are ``optional`` may have no value.
    """

    given: Sequence[Value]
    things: Mapping[int, Cell | Record]
    initial: State
    records: Mapping[int, set[str]]
    optional: frozenset[int]
    in_expression: bool


def _finished(
    s: Specialiser, code: Code, region: Region, returns: Sequence[Returned], begun: _Own
) -> tuple[
    tuple[int, ...],
    tuple[str | None, ...],
    tuple[int, ...],
    tuple[tuple[int, Any], ...],
    Any,
    Code,
    dict[int, Table],
    dict[int, str],
    tuple[Fact | None, ...],
]:
    """The function that was written: which leaves it takes, and what it returns besides its result."""
    given, things, initial, records = begun.given, begun.things, begun.initial, begun.records
    # Of attempts that were given up there are returns that are no exits of this region.
    exits_of = {o for part in regions_in(region) if part.exit.kind == "return" for o in part.exit.operands}
    returns = [r for r in returns if r.token in exits_of]
    cells = {n: c for n, c in things.items() if isinstance(c, Cell)}
    changed = tuple([n for n, c in cells.items() if any(not same(r.state[c], initial[c]) for r in returns)])
    created: list[tuple[int, Any]] = []
    for number, names in records.items():
        record = things[number]
        assert isinstance(record, Record)
        new = [n for n, cell in record.fields.items() if n not in names and any(cell in r.state for r in returns)]
        presence.loosen([record.fields[n] for n in new], [r.state for r in returns])
        created += [(number, name) for name in sorted(new, key=list(record.fields).index)]
    numbers = {thing: number for number, thing in things.items()}

    places = [cells[n] for n in changed]
    for number, name in created:
        record = things[number]
        assert isinstance(record, Record)
        places.append(record.fields[name])
    contents = [[content_of(s, r.state, cell) for r in returns] for cell in places]
    contents = [presence.alike(c) if cell.record is not None else c for cell, c in zip(places, contents, strict=True)]
    endings = [
        [(r.value, ""), *((content[at], cell.name) for cell, content in zip(places, contents, strict=True))]
        for at, r in enumerate(returns)
    ]
    own = _made_in(region) | set(given)
    found: list[Shapes] = []
    shapes: list[Shape] = []

    def is_inside(value: Value | Cell) -> bool:
        return value in own if isinstance(value, Value) else value not in initial

    params = {value: at for at, value in enumerate(given)}
    # A call in an expression has one result.
    others = {at for value, at in params.items() if value in s.stand_ins or value in s.foreign}
    handing = frozenset() if begun.in_expression else frozenset(params.values()) - begun.optional - others
    tries = ((True, False), (True, False), (True, False), (False, False), (False, True)) if returns else ()
    for number, (keep, takes_wholes) in enumerate(tries):
        handing = handing if number < 2 else frozenset()

        def shapes_of(keep: bool = keep, handing: frozenset[int] = handing) -> list[Shapes]:
            kept = functools.partial(Shapes, is_inside=is_inside, is_kept=lambda constant: keep, given=numbers)
            more = functools.partial(kept, params=params, handing=handing)
            return [more(r.state, fills=True, tables=s.stand_ins) for r in returns]

        found = shapes_of()
        ends: Sequence[Sequence[tuple[Abstract | AsWhole, str]]] = endings
        ends = as_wholes(endings, shapes_of, initial) if takes_wholes else ends
        shapes = [shape.named(ending) for ending, shape in zip(ends, found, strict=True)]
        if len({key for key, _ in shapes}) == 1:
            break
        counts = [Counter(at for at, _ in shape.handed) for shape in found]
        handing = frozenset(at for at in handing if len({count[at] for count in counts}) == 1)
    else:
        if returns:
            raise NotSpecialisedError("results")

    exits: dict[Value, Any] = {}
    for returned, shape in zip(returns, found, strict=True):

        def operands(r: Returned, shape: Shapes = shape) -> tuple[Operand, ...]:
            s.stand_ins.check_others(shape.leaves)
            with s.stand_ins.reading():
                flat = list(map(s.dynamic, presence.filled(s, shape, range(len(shape.leaves)))))
                return tuple(flat) if len(flat) < 2 else (s.emit("tuple", flat, (False,) * len(flat)),)

        exits[returned.token] = s.settle(returned, operands)
    memory = tuple(sorted(s.making.memory, key=lambda v: v.name))
    made = pruned(Code(code.name, "function", (), settled(region, exits), memory), s.needless)
    free = set(free_values(made))
    if not free <= set(given):
        raise NotSpecialisedError("free")
    taken = tuple([n for n, value in enumerate(given) if value in free])
    taken_names = names_read(codes(made))
    parameters: list[Parameter] = []
    other: dict[Value, Value] = {}
    for n in taken:
        title = stem = given[n].name or "t"
        number = 2
        while title in taken_names:
            title, number = f"{stem}_{number}", number + 1
        taken_names.add(title)
        other[given[n]] = Value(title)
        parameters.append(Parameter(title, "positional", other[given[n]]))
    whole = replace(replaced_in_code(made, other), params=tuple(parameters))
    titles: list[str | None] = list(found[0].titles) if found else []
    if shapes and shapes[0][0][0] == "leaf":
        titles[0] = None
    leaves = enumerate(found[0].leaves if found else ())
    tables = {
        n: held for n, leaf in leaves if isinstance(leaf, Value) and isinstance(held := s.stand_ins.get(leaf), Table)
    }
    handed = dict(reversed(found[0].handed if found else ()))
    rebuilt = shapes[0] if shapes else (None, _never)
    facts = tuple([sizes.of_leaf(s, column) for column in zip(*[shape.leaves for shape in found], strict=True)])
    return taken, tuple(titles), changed, tuple(created), rebuilt, whole, tables, handed, facts


def _never(again: Again) -> tuple[Abstract, ...]:
    """What a function returns that always raises."""
    return (NONE,)


def _made_in(region: Region) -> set[Value]:
    """The values that the parts of a region make."""
    found: set[Value] = set()
    for part in regions_in(region):
        found.update(part.params)
        for operation in part.operations:
            found.update(operation.results)
    return found


def _called(s: Specialiser, lifted: Lifted, shapes: Shapes, op: Operation, frame: Frame) -> Done:
    """Call a function of the new program."""
    if s.expression and len(lifted.titles) != 1:
        raise NotSpecialisedError("expression")
    place = frame.place or op.place
    for at, name in lifted.handed.items():
        leaf = shapes.leaves[at]
        if isinstance(leaf, Value) and not leaf.name:
            shapes.leaves[at] = s.named(leaf, name, place)  # type: ignore[assignment]
    with s.stand_ins.reading():
        args = presence.filled(s, shapes, lifted.taken)
    things = {number: thing for thing, number in shapes.numbers.items()}
    own = op.results[0].name if op.results else ""
    names = [own if title is None else title for title in lifted.titles]
    function = Known(lifted, (s.making.refer(lifted.cell, lifted.name),))
    title = names[0] if len(names) == 1 else ""
    with s.stand_ins.reading():
        call = s.emit("call", s.operands([function, *args], place), ("",) * len(args), title, place)
    if lifted.idle:
        s.needless.add(call)
    s.state.written.update(cell_of(things[n]) for n in lifted.written)
    if lifted.rebuild is _never:
        if s.expression:
            raise NotSpecialisedError("expression")
        return End("raise", (call,), place)
    results = [call][: len(names)]
    if len(names) > 1:
        results = [Value(name) for name in names]
        s.out.append(Operation("unpack", (call,), tuple(results), (len(names), None), (), place))
    s.stand_ins.update({results[n]: held for n, held in lifted.tables.items()})
    order = sorted(things)
    again = Again(iter(results), s.state, {}, [things[n] for n in order], are_filled=True, args=shapes.leaves)
    before = set(s.state)
    value, *contents = lifted.rebuild(again)
    for number, content in zip(lifted.changed, contents, strict=False):
        s.state[things[number]] = content  # type: ignore[index]
    for (number, name), content in zip(lifted.created, contents[len(lifted.changed) :], strict=True):
        record = things[number]
        assert isinstance(record, Record)
        # The other way of a condition may have set the attribute: it has one cell.
        cell = presence.cell_for(s.state, record, name, name if isinstance(name, str) else "")
        s.state[cell] = content
        record.loose.update([cell] if number in lifted.loose else ())
    s.state.settle(cell_of(things[n]) for n in lifted.settled)
    if lifted.gives_settled:
        s.state.settle(cell for cell in s.state if cell not in before)
    for result, fact in zip(results, lifted.facts, strict=False):
        if fact is not None:
            sizes.note(s, result, fact)
    if lifted.fact is not None and isinstance(value, Value):
        sizes.note(s, value, lifted.fact)
    return (value,)
