"""The machine of specialisation: abstract values, the new program as it is written, regions and functions.

What single kinds of operations do stands in `handlers`: functions of the specialiser, the operation and the frame, that
return the abstract results, how the region ends, or None where the operation is to be written as it is.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import gast

from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Snapshot, Source
from s2sad.ir.code import (
    NONE,
    Code,
    Constant,
    Definition,
    Exit,
    Kind,
    Operand,
    Operation,
    Place,
    Region,
    Value,
    Variable,
)
from s2sad.ir.live import live
from s2sad.ir.types import Fact
from s2sad.ops.models import ObjectModel
from s2sad.transform import choices, later, presence, ranks, references, sizes, typed
from s2sad.transform.cells import Returned, State
from s2sad.transform.existence import (
    chosen,
    freeze,
    named,
    note_returned,
    read_path,
    ready,
    tuple_made,
)
from s2sad.transform.known import (
    Abstract,
    Cell,
    Choice,
    Closure,
    Content,
    Env,
    Home,
    Items,
    Known,
    Late,
    Method,
    NotSpecialisedError,
    Record,
    Referred,
    Row,
    Stream,
    Typed,
    Unsure,
    is_static,
)
from s2sad.transform.making import Making
from s2sad.transform.regions import ROUNDS, breaks, own_variables, used_once
from s2sad.transform.relied import Relied
from s2sad.transform.standing import StandIns, is_reading
from s2sad.transform.varied import Node


@dataclass(frozen=True)
class End:
    """How a region ended: the kind of its exit, and what that hands on.

    A loop that is ``left`` for good hands on nothing, since nobody reads what it carries.
    """

    kind: str
    values: tuple[Abstract, ...] = ()
    place: Place | None = None
    left: bool = False


#: What an operation leaves: abstract results, the end of the region, or nothing known.
Done = tuple[Abstract, ...] | End | None


@dataclass(eq=False)
class Frame:
    """One run of a function: what its values are.

    ``place`` is that of the call where the text is another's than that of the new function.  ``returns`` collects what
    a function returns that is not inlined; ``hands_on`` if what cells hold there is handed on too.
    """

    env: Env
    home: Home
    place: Place | None = None
    owner: tuple[type, Abstract] | None = None
    returns: list[Returned] | None = None
    hands_on: bool = True
    unrolled: bool = False
    #: What is done with what a generator yields, and the calls that led to what is inlined, the innermost first.
    consumer: Consumer | None = None
    calls: tuple[Place, ...] = ()


#: Does something with an item that a generator yields in a frame; returns how the region ends if it ends there.
Consumer = Callable[[Abstract, Frame], End | None]
Handler = Callable[["Specialiser", Operation, Frame], Done]


class Specialiser:
    """Runs functions of a program, which is in a package, over abstract values, and writes down what remains."""

    def __init__(
        self,
        read: Callable[[types.FunctionType], Source],
        handlers: Mapping[str, Handler],
        call_function: Callable[..., Done],
        package: str,
    ) -> None:
        self.read = read
        self.handlers, self.call_function, self.package = handlers, call_function, package
        self.state = State()
        self.out: list[Operation] = []
        self.making: Making
        self.homes: dict[types.FunctionType, Home] = {}
        self.lowered: dict[types.FunctionType, Code] = {}
        self.guards: dict[tuple[Any, ...], Guard] = {}
        #: The functions of the new program, by what they were made of.
        self.lifted: dict[Any, Any] = {}
        #: Functions of the new program that are given to others, by what is static of them, and derivatives of these.
        self.standing: dict[Any, types.CellType] = {}
        self.sources: dict[types.FunctionType, Source] = {}
        #: The classes that the program defines, and the texts of their methods.
        self.local: dict[Any, Closure | None] = {}
        self.finals: set[Variable] = set()  # the memory that a ``finally`` may change
        self.loops: list[Callable[[End], Exit]] = []  # what makes the exits of the loops around what is written
        self.active: list[Code] = []  # the functions that are being run
        self.needless: set[Value] = set()  # results of operations that may be left out where nobody uses them
        self.live: set[Value] = set()  # those that are used by more than what hands them on
        #: Those that are called, tested for truth or raised, and used for nothing else.
        self.called, self.tested, self.raised = set[Value](), set[Value](), set[Value]()
        self.tried = False  # whether what is run now is tried only, and a handler looked for if it surely raises
        self.in_try = False  # whether what is run now stands in a ``try`` or ``with`` that may see what it raises
        #: The items of tuples of the new program.
        self.rows: dict[Value, tuple[Abstract, ...]] = {}
        #: What arguments lead to, as it was read.
        self.reading: dict[Value, tuple[Kind, tuple[Operand, ...], Any, Place | None]] = {}
        #: The slices and constants that values of the new program are surely.
        self.slices, self.constants = dict[Value, slice](), dict[Value, Constant]()
        #: Whether the sizes of arguments are known, and the types of values then, of numbers that are not known apart.
        self.sized = False
        self.types, self.scalars = dict[Value, Fact](), dict[Value, Fact]()
        self.harmless = set[Value]()  # functions that leave lists which they are given as they are
        #: The objects that the new program reads from cells, and lists and dicts as they are now, by identity.
        self.outsiders, self.snapshots = dict[int, Known](), dict[int, Snapshot]()
        #: What stands for values that are objects of a library, and for attributes of values.
        self.foreign: dict[Value | tuple[Value, str], ObjectModel] = {}
        #: What may carry derivatives of the function as it is written, if that is known.
        self.carrying: frozenset[Node] | None = None
        self.stand_ins = StandIns()
        self.named_tuples = set[Value]()  # those that the new program makes: no derivative passes through these
        #: Those that are known to be numbers, arrays of NumPy's own class, exceptions or classes of these; the axes of
        #: arrays where the program has asked for them, the classes of exceptions, objects that are read.
        self.numbers, self.arrays, self.caught = set[Value](), set[Value](), set[Value]()
        self.ranks, self.errors, self.paths = dict[Value, int](), dict[Value, type](), dict[Value, object]()
        #: Results of branches that have a value on some ways only, of operations that may run later than they stand.
        self.partial, self.reads = set[Value](), set[Value]()
        #: Whether something static was taken apart; whether what is written stands where no statement can, and whether
        #: functions that are made do not outlive the operation that they are made for.
        self.used = self.expression = self.at_once = False
        self.inlined, self.relied = 0, Relied()
        #: Functions that call themselves further than they are followed: nothing known ends their recursion.
        self.endless: set[Code] = set()

    # --- texts

    def home(self, function: types.FunctionType) -> Home:
        """The text of a function."""
        if function not in self.homes:
            source = replace(self.read(function), snapshots=self.snapshots)
            # One with imports is read as another function, which has no text of its own.
            self.homes[function] = self.homes[source.function] = Home(source, Resolver(source.function, frozenset()))
        return self.homes[function]

    def code(self, function: types.FunctionType) -> Code:
        """A function as it is written."""
        if function not in self.lowered:
            source = self.home(function).source
            self.lowered[function] = self.lowered[source.function] = lower_function(source.node)
            self.live |= live(self.lowered[function])
            self.called |= used_once(self.lowered[function], ("call",))
            self.tested |= used_once(self.lowered[function], ("if", "choose", "while"))
            self.raised |= used_once(self.lowered[function], ("raise",))
            for name in ("__code__", "__defaults__", "__kwdefaults__"):
                self.guard(Guard(function, name, getattr(function, name)))
        return self.lowered[function]

    def lookup(self, frame: Frame, name: str) -> tuple[bool, Any]:
        """Whether a global name has a value now, and the value."""
        return frame.home.resolver.lookup(gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None))

    def guard(self, guard: Guard) -> None:
        """Note on what the new program rests."""
        self.guards.setdefault(guard.key, guard)

    def outside(self, value: Any, title: str) -> Known:
        """An object that exists, and that the new program reads from a cell of its own."""
        if isinstance(value, type) and value in self.local:
            return Known(value)
        number = id(value)
        if number not in self.outsiders:
            self.outsiders[number] = Known(value, (title,), cell=types.CellType(value))
        return self.outsiders[number]

    # --- values

    def get(self, operand: Operand, frame: Frame) -> Abstract:
        """The abstract value of an operand of the old program."""
        if isinstance(operand, Constant):
            return operand
        found = frame.env.get(operand)
        if found is None or isinstance(found, (Cell, Variable)):
            raise NotSpecialisedError(operand.name)
        found = presence.variable(self, found, operand.name)
        if self.expression and isinstance(found, Choice):
            # Each condition of an expression stands where it is used.
            found = self.stand_ins.chosen.get(found, found)
        return choices.side(self, references.chosen(self, found) if isinstance(found, Referred) else found)

    def handed(self, operand: Operand, frame: Frame) -> Abstract:
        """The abstract value of an operand that is handed on, which is no reading of it."""
        found = frame.env.get(operand) if isinstance(operand, Value) else None
        return found if presence.may_lack(found) or isinstance(found, Referred) else self.get(operand, frame)

    def plain(self, value: Abstract) -> Abstract:
        """A value, or the constant that it surely is."""
        return self.constants.get(value, value) if isinstance(value, Value) else value

    def row(self, value: Abstract) -> tuple[Abstract, ...] | None:
        """The items of a tuple or list, where it is known which these are."""
        if isinstance(value, Items):
            content = self.content(value)
            if content is None or content.keys is not None:
                return None
            return tuple([self.state[slot] for slot in content.slots])
        if isinstance(value, Typed):
            return typed.row(self, value)
        if isinstance(value, Value):
            return self.rows.get(value)
        return value.items if isinstance(value, Row) else None

    def content(self, items: Items) -> Content | None:
        """What a list or dict holds, unless it is an object of the new program."""
        if items.record is not None:
            return presence.fields_of(self, items.record)
        return content if isinstance(content := self.state[items.cell], Content) else None

    def ready(self, value: Abstract) -> Operand | None:
        """The operand that the new program has for a value already."""
        return ready(self, value)

    def dynamic(self, value: Abstract) -> Operand:
        """The operand of the new program for an abstract value."""
        match value:
            case Value() | Constant():
                self.stand_ins.check((value,))
                return value
            case Known() if value.operand is not None:
                return value.operand
            case Known() if value.path:
                return read_path(self, value)
            case Unsure() if not is_static(value.value):
                return self.dynamic(value.value)
            case Late():
                found = self.emit("attribute", (value.receiver,), value.name)
                self.reads.add(found)
                return found
            case Record() | Typed() if (operand := typed.operand_of(self.state, value)) is not None:
                return operand
            case Row():
                return value.operand or tuple_made(self, value)
            case Choice():
                return chosen(self, value)
            case Items() | Closure():
                self.freeze(value)
                content = self.state[value.cell if isinstance(value, Items) else value.identity]
                assert isinstance(content, (Value, Constant))
                self.stand_ins.check((content,))
                return content
            case Method() | Stream() if value.operand is not None:
                return value.operand
            case Method(receiver=Items() | Value() as receiver, function=Known() as function, owner=None):
                return self.dynamic(Late(self.dynamic(receiver), function.value.__name__))
        raise NotSpecialisedError(type(value).__name__)

    def operands(self, values: Sequence[Abstract], place: Place | None) -> tuple[Operand, ...]:
        """The operands of an operation."""
        known = list(map(self.again, values))
        return tuple([read_path(self, v, place) if isinstance(v, Known) and v.path else self.dynamic(v) for v in known])

    def again(self, value: Abstract) -> Abstract:
        """What is read where it is used, or else the value itself."""
        operand = value.operand if isinstance(value, (Known, Method)) else value
        return self.relied.rereads.get(operand, value) if isinstance(operand, Value) else value

    def frame(self, closure: Closure) -> Frame:
        """The frame in which a function of the program is written as it is."""
        return Frame(closure.env, closure.home, None, closure.owner)

    def freeze(self, thing: Items | Closure, changes: bool = False) -> None:
        """Let a function, list or dict be an object of the new program; if it ``changes`` another may stand for it."""
        freeze(self, thing, changes)

    def emit(
        self, kind: Kind, operands: Sequence[Operand], data: Any = None, name: str = "", place: Place | None = None
    ) -> Value:
        """Write an operation of the new program with one result."""
        result = Value(name)
        self.write(Operation(kind, tuple(operands), (result,), data, (), place))
        return result

    def write(self, op: Operation) -> None:
        """Write an operation."""
        self.stand_ins.saw(op)
        self.out.append(op)
        if self.sized and sizes.may_change_list(self, op):
            self.relied.lists = False
        self.relied.wrote(op)

    def named(self, value: Abstract, name: str, place: Place | None) -> Abstract:
        """A value under the name of a variable."""
        return named(self, value, name, place)

    def mark(self) -> tuple[list[Operation], State]:
        """What is written and what cells hold now, for `back`."""
        return list(self.out), self.state.copied()

    def back(self, mark: tuple[list[Operation], State]) -> None:
        """Undo what was done since a mark.  What was read may have been put between what stood there."""
        self.out[:], self.state = mark

    @contextmanager
    def apart(self) -> Iterator[list[Operation]]:
        """What is written in the ``with`` goes into a list of its own; cells hold afterwards what they did before."""
        out, state, ranks = self.out, self.state, self.ranks
        self.out, self.state, self.ranks = [], state.copied(), dict(ranks)
        try:
            yield self.out
        finally:
            self.ranks = ranks
            state.settle(self.state.settled)
            state.refer(self.state.members)
            self.out, self.state = out, state

    @contextmanager
    def writing(self, expression: bool) -> Iterator[None]:
        """Whether what is written in the ``with`` stands in an expression."""
        around, self.expression = self.expression, expression
        try:
            yield
        finally:
            self.expression = around

    # --- regions

    def run(self, region: Region, frame: Frame) -> End:
        """Run the operations of a region, and return how it ends."""
        for operation in region.operations:
            end = self.operation(operation, frame)
            if end is not None:
                return end
        return self.ended(region.exit, frame)

    def ended(self, exit: Exit, frame: Frame) -> End:
        """How a region ends."""
        place = frame.place or exit.place
        if exit.kind != "return":
            return End(exit.kind, tuple([self.handed(o, frame) for o in exit.operands]), place)
        values = [self.get(o, frame) for o in exit.operands]
        if frame.returns is None:
            raise NotSpecialisedError("return")
        token = Value()
        state = presence.returned(self, place or exit.place) if frame.hands_on else self.state.copied()
        frame.returns.append(Returned(token, values[0] if values else NONE, state))
        return End("return", (token,), place or exit.place)

    def operation(self, op: Operation, frame: Frame) -> End | None:
        """Run one operation; how the region ends if nothing comes after it."""
        handler = self.handlers.get(op.kind)
        self.relied.led_to(frame.place or op.place, frame.calls)
        try:
            done = None if handler is None else handler(self, op, frame)
            if done is None:
                self.rewrite(op, frame)
            elif isinstance(done, End):
                return done
            else:
                frame.env.update(zip(op.results, done, strict=True))
        except NotSpecialisedError as error:
            error.note(frame.home.source, op.place)
            raise
        return None

    def rewrite(self, op: Operation, frame: Frame) -> None:
        """Write an operation as it is, with the operands of the new program."""
        called = self.get(op.operands[0], frame) if op.kind == "call" else None
        place, data = frame.place or op.place, op.data
        values = [self.get(o, frame) for o in op.operands]
        shown = sizes.displayed(self, op, values)
        reads = is_reading(op, called, values, self.stand_ins.has_table(self.state, values))
        with self.stand_ins.reading(reads), later.at_once(self, later.is_through(self, called, values)):
            operands = self.operands(sizes.lent(self, called, values), place)
        if isinstance(data, Definition):
            data = replace(data, code=later.code_again(self, data.code, frame))
        elif isinstance(data, Code):
            with later.at_once(self, later.is_gone_through(self, op, frame)):
                data = later.code_again(self, data, frame)
        elif isinstance(data, Variable) and data not in self.making.memory:
            raise NotSpecialisedError(data.name)
        elif op.kind == "global" and not self.making.reads_alike(op.data, frame.home):
            raise NotSpecialisedError(op.data)
        own = own_variables(self.active[-1], op.regions if op.kind == "comprehension" else ())
        with self.making.remembering(own, frame.env), self.writing(self.expression or op.kind in ROUNDS):
            regions = self.regions_again(op, frame)
        results = tuple([Value(r.name) for r in op.results])
        frame.env.update(zip(op.results, results, strict=True))
        with self.stand_ins.reading(reads):
            self.write(replace(op, operands=operands, results=results, data=data, regions=regions, place=place))
        sizes.wrote(self, op, called, operands, results, shown)
        if isinstance(called, Known):
            note_returned(self, called.value, data, operands[1:], results)
        ranks.wrote(self, op, operands, results)

    def region_of(self, region: Region, frame: Frame) -> Region:
        """The whole body of a function."""
        made = self.exit(self.run(region, frame))
        return Region((), tuple(self.out), made)

    def regions_again(self, op: Operation, frame: Frame) -> tuple[Region, ...]:
        """The regions of an operation as they are; what changes in one, as after a return, is an object in all."""
        while op.regions:
            before = self.state.copied()
            regions = tuple([self.region_again(region, frame) for region in op.regions])
            if all(self.state.get(cell) is content for cell, content in before.items()):
                return regions
        return ()

    def region_again(self, region: Region, frame: Frame) -> Region:
        """A region as it is, in which no cell changes that is seen outside."""
        if frame.unrolled and breaks(region, ("break", "continue")):
            raise NotSpecialisedError("loop")
        params = tuple([Value(p.name) for p in region.params])
        while True:
            frame.env.update(zip(region.params, params, strict=True))
            before = self.state
            with self.apart() as out:
                # Also what is changed and then put back can be seen outside, after an exception.
                self.state.written = set()
                made = self.exit(self.run(region, frame))
                written = self.state.wrote(before)
                new = [cell for cell in self.state.written - before.keys() if cell.record is not None]
            if not written:
                return Region(params, tuple(out), made)
            self.freeze_all(written, before, new)

    def freeze_all(self, changed: Collection[Cell], before: State, new: Collection[Cell] = ()) -> None:
        """Let the lists, dicts and functions of cells that change be objects before; else say these and the ``new``."""
        for cell in before.as_a_whole(changed):
            if cell.whole is None or not before.is_apart(cell):
                raise NotSpecialisedError.of_cells([*changed, *new])
            content = self.content(cell.whole) if isinstance(cell.whole, Items) else None
            if content is not None and not self.partial.isdisjoint([self.state[slot] for slot in content.slots]):
                # A display would read items that have no value here.
                raise NotSpecialisedError("unset")
            self.freeze(cell.whole, changes=True)

    def exit(self, end: End, more: Sequence[Abstract] = ()) -> Exit:
        """The exit of a region of the new program; it hands on ``more`` as well."""
        if end.kind in ("continue", "break") and self.loops:
            return self.loops[-1](end)
        return Exit(end.kind, tuple(map(self.dynamic, (*end.values, *more))), end.place)  # type: ignore[arg-type]

    # --- functions

    def settle(
        self, returned: Returned, operands: Callable[[Returned], tuple[Operand, ...]]
    ) -> tuple[list[Operation], tuple[Operand, ...]]:
        """What is to be done at an exit of a function, and what it returns then."""
        with self.apart() as out:
            self.state = returned.state.copied()
            return out, operands(returned)
