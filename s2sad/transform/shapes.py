"""The shape of an abstract value, which is its static part, and its leaves, the operands that remain at run time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from s2sad.ir.code import NONE, UNSET, Code, Constant, Operand, Value, Variable, codes
from s2sad.ir.types import Fact
from s2sad.ops.models import ObjectModel
from s2sad.transform.boxes import box_of
from s2sad.transform.cells import State
from s2sad.transform.keys import objects_in, with_objects
from s2sad.transform.known import (
    Abstract,
    Cell,
    Choice,
    Closure,
    Content,
    Env,
    Items,
    Kept,
    Known,
    Method,
    NotSpecialisedError,
    Part,
    Partial,
    Record,
    Referred,
    Row,
    Stream,
    Typed,
    Unsure,
    cell_of,
    is_static,
    is_switch,
    is_whole,
)
from s2sad.transform.presence import as_items
from s2sad.transform.standing import Table
from s2sad.transform.typed import again as again_of
from s2sad.transform.typed import operand_of


@dataclass
class Again:
    """What an abstract value is made of again: leaves, a state for its cells, and what has been made already.

    ``given`` are objects and cells that exist, by number, and ``args`` what a function is given.  Leaves that have no
    value ``are_filled`` with None or not.
    """

    leaves: Iterator[Operand]
    state: State
    made: dict[int, Cell | Record] = field(default_factory=dict)
    given: list[Cell | Record] = field(default_factory=list)
    are_filled: bool = False
    args: Sequence[Operand] = ()


@dataclass(frozen=True, eq=False)
class AsWhole:
    """A value of which the new program is to have an operand, whatever is known of it."""

    value: Abstract


Rebuild = Callable[[Again], Any]
#: What stands for a shape where shapes are compared, and how the value is made again.
Shape = tuple[Any, Rebuild]


@dataclass(eq=False)
class Shapes:
    """The shapes of abstract values of one part of the program, and their leaves.

    Args:
        state: What cells hold.
        is_inside: Whether a value or cell belongs to the part and cannot be seen outside.
        is_kept: Whether a constant is static.
        given: Cells and objects from outside that are known by number.
        known_numbers: The values that are known to be numbers.
        known_arrays: Those that are known to be arrays of NumPy's own class.
        foreign: What stands for those that are objects of a library.
        type_of: The type of a value, where sizes are known.
        tables: The lists that stand for lists of objects.
        fills: Whether leaves that have no value are handed on as None, and so are alike.
        is_asked: Whether nothing is made again: what memory stands for is taken for what it is.
        refer: To what objects are references, if they are no parts of the shape, and what makes their numbers.
        params: The values, by number, that whoever makes these again has given.
        handing: Which of these are no leaves: whoever makes these again has them.
    """

    state: State
    is_inside: Callable[[Value | Cell], bool]
    is_kept: Callable[[Constant], bool]
    given: dict[Cell | Record, int] = field(default_factory=dict)
    known_numbers: Container[Any] = ()
    known_arrays: Container[Any] = ()
    foreign: Mapping[Any, ObjectModel] = field(default_factory=dict)
    type_of: Callable[[Operand], Fact | None] = lambda operand: None
    tables: Mapping[Any, Any] = field(default_factory=dict)
    fills: bool = False
    is_asked: bool = False
    refer: tuple[Any, Callable[[Abstract], Operand]] | None = None
    params: Mapping[Any, int] = field(default_factory=dict)
    handing: Container[int] = ()
    leaves: list[Operand] = field(default_factory=list)
    #: The names under which leaves are known.
    titles: list[str] = field(default_factory=list)
    numbers: dict[Cell | Record, int] = field(default_factory=dict)
    #: The parameters that were met, and the names under which they are known.
    handed: list[tuple[int, str]] = field(default_factory=list)
    #: The leaves, by number, that may have no value, and what says whether they have.
    optional: dict[int, Operand] = field(default_factory=dict)
    #: By what objects are referred to.
    references: dict[Any, None] = field(default_factory=dict)

    def of(self, value: Abstract | AsWhole, title: str = "") -> Shape:
        """The shape of a value, and how to make it again of its leaves, which are added to the list.

        Raises:
            NotSpecialisedError: for a value that cannot be made again.
        """
        if isinstance(value, AsWhole):
            self.leaves.append(value.value)  # type: ignore[arg-type]
            self.titles.append(title)
            return "leaf", lambda again: next(again.leaves)
        if isinstance(value, Constant) and (value is UNSET or self.is_kept(value)):
            return ("constant", type(value.value), repr(value.value)), lambda again: value
        if isinstance(value, Value) and not self.is_inside(value):
            return ("outside", id(value)), lambda again: value
        if isinstance(value, Value) and (at := self.params.get(value)) is not None and at in self.handing:
            self.handed.append((at, title))
            return ("param", at), lambda again: again.args[at]
        if not is_static(value):
            self.leaves.append(value)  # type: ignore[arg-type]
            self.titles.append(title or getattr(value, "name", ""))
            kind: Any = "number" if value in self.known_numbers else "array" if value in self.known_arrays else "leaf"
            kind = ("foreign", id(self.foreign[value])) if value in self.foreign else kind
            if isinstance(rows := self.tables.get(value), Table):
                kind = ("table", rows.key)
                self.references.update({} if rows.references is None else {rows.references: None})
            fact = self.type_of(value)  # type: ignore[arg-type]
            return kind if fact is None else (kind, fact), lambda again: next(again.leaves)
        if self.refer is not None and isinstance(value, (Record, Closure, Choice, Referred)):
            references, number = self.refer
            value = Referred(number(value), references)
        match value:
            case Kept() if self.is_asked:
                return ("kept", value.variable), lambda again: value
            case Referred():
                self.references[value.references] = None
                self.leaves.append(value.number)
                self.titles.append(title or "which")
                return ("reference", id(value.references)), lambda a: Referred(next(a.leaves), value.references)
            case Known():
                if value.operand is None:
                    return ("known", id(value.value)), lambda again: value
                if (at := self.params.get(value.operand)) is not None:
                    return ("known", id(value.value), at), lambda again: replace(value, operand=again.args[at])
                key, rebuild = self.of(value.operand)
                return ("known", id(value.value), key), lambda again: replace(value, operand=rebuild(again))
            case Row():
                key, rebuild = self.several(value.items)
                return ("row", id(value.cls), key), lambda again: Row(rebuild(again), value.cls)
            case Content():
                return self.content(value)
            case Part():
                key, rebuild = self.of(value.whole)
                return ("part", value.key, key), lambda again: Part(rebuild(again), value.key)
            case Method():
                operand = () if value.operand is None else (value.operand,)
                key, rebuild = self.several((value.function, value.receiver, *operand))
                return ("method", id(value.owner), key), lambda again: _method(rebuild(again), value.owner)
            case Partial():
                names = tuple([name for name, _ in value.keywords])
                key, rebuild = self.several((value.function, *value.args, *(v for _, v in value.keywords)))
                return ("partial", names, key), lambda again: _partial(rebuild(again), names)
            case Unsure() if value.given is not None:
                start = len(self.leaves)
                key, rebuild = self.of(value.value, title)
                if not value.is_filled:
                    self.optional.update(dict.fromkeys(range(start, len(self.leaves)), value.given))
                given, whether = self.of(value.given, f"has_{title}")
                filled = value.is_filled
                return ("unsure", filled or self.fills, key, given), lambda a: Unsure(
                    rebuild(a), whether(a), filled or a.are_filled
                )
            case Choice():
                sides = [None if isinstance(side, Constant) else side for side in (value.then, value.orelse)]
                key, rebuild = self.several((value.test, *(side for side in sides if side is not None)))
                return ("choice", sides.index(None) if None in sides else None, key), lambda a: _choice(
                    rebuild(a), value
                )
            case Items() if value.record is None:
                key, rebuild = self.cell(value.cell)
                return ("items", id(value.cls), key), lambda again: _items(rebuild(again), value.cls)
            case Items(record=Record() as record):
                key, rebuild = self.record(record)
                return ("fields", key), lambda again: as_items(again.state, rebuild(again))
            case Stream(sources=(), is_view=False, operand=None, of_structures=False):
                left = self.state[value.cell]
                if isinstance(left, Row) and any(isinstance(item, Cell) for item in left.items):
                    raise NotSpecialisedError("shape")
                key, rebuild = self.cell(value.cell)
                return ("iterator", key), lambda again: Stream(rebuild(again))
            case Record() | Typed() if (read := operand_of(self.state, value)) is not None:
                made_of = value.made_of
                assert made_of is not None
                key, rebuild = self.of(read, title)
                return ("argument", made_of, key), lambda a: again_of(a.state, rebuild(a), made_of)
            case Record() if (held := box_of(self.state, value)) is not None:
                self.leaves.append(held.whole)
                self.titles.append(title)
                return held.of.key, lambda again: held.of.made(again.state, next(again.leaves))
            case Record():
                return self.record(value)
            case Closure():
                env, around = self.env(value.env, {v for made in codes(value.definition.code) for v in sees(made)})
                key, rebuild = self.several(tuple(value.defaults.values()))
                names = tuple(value.defaults)
                own, identity = self.identity(value.identity)

                def function(again: Again) -> Closure:
                    # In the order in which the leaves were found.
                    env = around(again)
                    defaults = dict(zip(names, rebuild(again), strict=True))
                    made = replace(value, env=env, defaults=defaults, identity=identity(again))
                    made.identity.whole = made.identity.whole or made
                    return made

                return ("closure", id(value.definition), env, key, own), function
        raise NotSpecialisedError("shape")

    def several(self, values: tuple[Abstract, ...]) -> Shape:
        """The shape of several values."""
        parts = [self.of(value) for value in values]
        return tuple([key for key, _ in parts]), lambda again: tuple([rebuild(again) for _, rebuild in parts])

    def named(self, values: Sequence[tuple[Abstract | AsWhole, str]]) -> Shape:
        """The shape of several values with names."""
        parts = [self.of(value, title) for value, title in values]
        return tuple([key for key, _ in parts]), lambda again: tuple([rebuild(again) for _, rebuild in parts])

    def env(self, env: Env, names: set[Value | Variable]) -> Shape:
        """The shape of what some names stand for."""
        parts: list[tuple[Value | Variable, Any, Rebuild]] = []
        for name, found in env.items():
            if name in names:
                if isinstance(found, Variable):
                    raise NotSpecialisedError(found.name)
                parts.append((name, *(self.cell(found) if isinstance(found, Cell) else self.of(found, name.name))))
        keys = tuple([(id(name), key) for name, key, _ in parts])
        return keys, lambda again: {name: rebuild(again) for name, _, rebuild in parts}

    def cell(self, cell: Cell) -> Shape:
        """The shape of a cell with what it holds."""
        known = self.number(cell)
        if known is not None:
            return known
        number = self.numbers[cell]
        key, rebuild = self.of(self.state[cell], cell.name)

        def again(context: Again) -> Cell:
            fresh = context.made[number] = Cell(cell.name, item=cell.item)
            context.state[fresh] = rebuild(context)
            return fresh

        name = "" if cell.item or cell.whole is not None else cell.name
        return ("cell", name, key), again

    def content(self, content: Content) -> Shape:
        """The shape of what a list or dict holds."""
        slots = [self.cell(slot) for slot in content.slots]
        is_static = content.factory is None or isinstance(content.factory, Constant)
        more = () if is_static else (self.of(content.factory),)  # type: ignore[arg-type]
        named = [self.of(record) for key in content.keys or () for record in objects_in(key)]
        keys = tuple([key for key, _ in (*slots, *more, *named)])
        most = content.factory if is_static else None

        def again(context: Again) -> Content:
            cells = tuple([rebuild(context) for _, rebuild in slots])
            factory = [rebuild(context) for _, rebuild in more]
            objects = iter([rebuild(context) for _, rebuild in named])
            again_named = content.keys and tuple([with_objects(key, objects) for key in content.keys])
            return Content(cells, again_named, factory=factory[0] if factory else most)

        return ("content", repr(content.keys), repr(most), keys), again

    def identity(self, cell: Cell) -> Shape:
        """The shape of the cell of a function, which is no leaf where the function is no object."""
        if self.state.is_apart(cell) and cell not in self.given and cell not in self.numbers and self.is_inside(cell):
            number = self.numbers[cell] = len(self.numbers)

            def again(context: Again) -> Cell:
                fresh = context.made[number] = Cell(cell.name)
                context.state[fresh] = NONE
                return fresh

            return "apart", again
        return self.cell(cell)

    def record(self, record: Record) -> Shape:
        """The shape of an object with what its attributes hold."""
        known = self.number(record)
        if known is not None:
            return known
        number = self.numbers[record]
        fields = [(name, *self.cell(cell)) for name, cell in record.fields.items() if cell in self.state]
        loose = tuple([name for name, cell in record.fields.items() if cell in record.loose])

        def again(context: Again) -> Record:
            fresh = context.made[number] = Record(
                record.cls,
                origin=record.origin,
                kin=record.kin,
                own=record.own,
                axes=record.axes,
                made_of=record.made_of,
            )
            if record.kin:
                record.kin.append(fresh)
            context.state[fresh.identity] = Constant(None)
            for name, _, rebuild in fields:
                fresh.fields[name] = cell = rebuild(context)
                cell.record = cell.record or fresh
            fresh.loose.update(fresh.fields[name] for name in loose if name in fresh.fields)
            return fresh

        return (
            "record",
            id(record.cls),
            record.own,
            record.axes,
            record.made_of,
            tuple([(name, key) for name, key, _ in fields]),
            loose,
        ), again

    @property
    def settled(self) -> tuple[int, ...]:
        """The objects and cells that may be changed no more, by number."""
        return tuple([n for thing, n in self.numbers.items() if cell_of(thing) in self.state.settled])

    def settle(self, made: Mapping[int, Cell | Record], state: State) -> None:
        """Let what has been made again of settled objects be settled in a state as well."""
        state.settle(cell_of(made[n]) for n in self.settled if n in made)

    def number(self, thing: Cell | Record) -> Shape | None:
        """The shape of a cell or object that is not made again, or has been; else it gets a number."""
        if thing in self.given:
            at = self.given[thing]
            return ("given", at), lambda again: again.given[at]
        if not self.is_inside(cell_of(thing)):
            return ("outside", id(thing)), lambda again: thing
        if thing in self.numbers:
            number = self.numbers[thing]
            return ("made", number), lambda again: again.made[number]
        self.numbers[thing] = len(self.numbers)
        return None


def is_made(value: Abstract) -> bool:
    """Whether a value has functions or objects of the program in it, of which there is no operand."""
    match value:
        case Row(items=items):
            return any(map(is_made, items))
        case Record() | Closure() | Method() | Partial() | Choice() | Referred():
            return True
    return False


def things_of(value: Abstract, state: State) -> set[Cell | Record]:
    """The cells and objects to which a value leads."""
    shapes = replace(apart_from((), state), is_asked=True)
    shapes.of(value)
    return set(shapes.numbers)


def leads_to_number(value: Abstract, state: State) -> bool:
    """Whether a value is, or leads to, a whole number that is known."""
    if not is_static(value):
        return is_whole(value)
    shapes = apart_from((), state)
    try:
        shapes.of(value)
    except NotSpecialisedError:
        return False
    return any(map(is_whole, shapes.leaves))


def apart_from(shared: Collection[Cell | Record], state: State) -> Shapes:
    """What finds the shapes of values of which all is made again but for what is shared."""
    known = {cell_of(thing) for thing in shared}
    return Shapes(state, lambda thing: isinstance(thing, Value) or thing not in known, is_switch)


def exists(thing: Cell | Record) -> bool:
    """Whether an object is one that the program has not made itself."""
    return isinstance(thing, Record) and (thing.origin is not None or thing.own is not None)


def sees(code: Code) -> tuple[Value | Variable, ...]:
    """What a function reads of functions around it."""
    return (*code.seen, *code.captures)


def _choice(parts: Sequence[Any], choice: Choice) -> Choice:
    """A choice of other parts, with the sides that are None as they are."""
    test, *others = parts
    rest = iter(others)
    then, orelse = [side if isinstance(side, Constant) else next(rest) for side in (choice.then, choice.orelse)]
    return Choice(test, then, orelse)


def _method(parts: tuple[Abstract, ...], owner: type | None) -> Method:
    function, receiver, *operand = parts
    return Method(function, receiver, owner, operand[0] if operand else None)  # type: ignore[arg-type]


def _partial(parts: tuple[Abstract, ...], names: tuple[str, ...]) -> Partial:
    function, *rest = parts
    split = len(rest) - len(names)
    return Partial(function, tuple(rest[:split]), tuple(zip(names, rest[split:], strict=True)))


def _items(cell: Cell, cls: type) -> Items:
    if not isinstance(cell.whole, Items):
        cell.whole = Items(cell, cls)
    return cell.whole
