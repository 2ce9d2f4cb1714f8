"""Abstract values of the specialiser: operands of the program that it writes, and structures that it knows.

The specialiser runs a program once at compile time. What it computes with is either an operand of the new program
(*dynamic*), or something of which the structure is known and that needs no operation in the new program (*static*): a
function made by the program, an object of the module, an object whose attributes are all accounted for.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import Source
from s2sad.ir.code import Constant, Definition, Operand, Place, Value, Variable

if TYPE_CHECKING:
    from s2sad.transform.composites import Composite


class NotSpecialisedError(Exception):
    """The program does something that is not known at compile time to what would have to be static.

    ``file`` and ``place`` say where, as soon as that is known, ``cells`` those that change where they must not.
    """

    file: str = ""
    place: Place | None = None
    cells: tuple[Cell, ...] = ()

    @classmethod
    def of_cells(cls, cells: Collection[Cell]) -> NotSpecialisedError:
        """The error that some cells change where they must not."""
        made = cls("changed")
        made.cells = tuple(cells)
        return made

    def note(self, source: Source, place: Place | None) -> None:
        """Say where it is in the user's code, if that is not known yet."""
        if self.place is None and place is not None and not source.is_ours:
            self.file, self.place = source.file, place


@dataclass(eq=False)
class Cell:
    """A place whose content changes: a variable that functions share, an attribute, the items of a list.

    What it holds is in the state of the specialiser.  The cell of ``whole``, a list, dict or function, has an operand
    once that is an object of the new program.  One that ``is_object`` stands for an object, and holds nothing.
    One has what memory had when it was read that stands for the cell that it is ``of``.
    """

    name: str
    whole: Items | Closure | None = None
    record: Record | None = None
    item: bool = False
    is_object: bool = False
    of: Cell | None = None


@dataclass(frozen=True, eq=False)
class Home:
    """The text of a function, and what its global names mean."""

    source: Source
    resolver: Resolver


@dataclass(frozen=True, eq=False)
class Known:
    """An object that exists at compile time.

    At run time it is read by its ``path``, a global name of the text ``home`` and attributes, wherever it is used; or
    an ``operand`` has it, which was read under a name and attributes; or a ``cell`` has it, which the functions of the
    new program see under the name of the path.
    """

    value: Any
    path: tuple[str, ...] = ()
    operand: Operand | None = None
    read: tuple[Home, str, tuple[Any, ...]] | None = None
    cell: types.CellType | None = None
    home: Home | None = None


@dataclass(frozen=True, eq=False)
class Unsure:
    """A value that a variable or attribute has on some ways through the program; on others it has none.

    ``given`` says when the program runs whether it has; it is None where nothing does.  One that ``is_filled`` is None
    in the new program where it has none.
    """

    value: Abstract
    given: Operand | None = None
    is_filled: bool = False


@dataclass(frozen=True, eq=False)
class Kept:
    """What an attribute or variable holds while memory of the new program has it.  What ``is_set`` is set there; else
    it is a value again from where it is set.  Another variable says whether an attribute is ``given`` that may not be.
    """

    variable: Variable
    is_set: bool = True
    given: Variable | None = None


@dataclass(frozen=True, eq=False)
class InList:
    """What an attribute holds of an object that is a list of the new program: the item there, which may be one as well.

    ``held`` and ``of`` say what the item and the object are (see `s2sad.transform.boxes`).
    """

    whole: Value
    at: int
    held: Any
    of: Any


@dataclass(frozen=True, eq=False)
class Referred:
    """One of the objects to which a list may refer, by its number there (see `s2sad.transform.references`)."""

    number: Operand
    references: Any


@dataclass(frozen=True, eq=False)
class Late:
    """A method of a built-in class, by its name: what is called, read from its object only after the arguments.

    Of a dict among arguments it says what each item is ``made_of``.
    """

    receiver: Operand
    name: str
    made_of: Composite | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """An item of an operand of the new program, by its number or key, which is read when it is asked for."""

    whole: Value
    key: Any


@dataclass(frozen=True, eq=False)
class Lazy:
    """What makes known items when it is run through, and has not been yet: a generator expression, ``map(f, items)``.

    ``rounds`` runs it; ``cell`` holds None until then, or anything where it ``resumes``: goes on where it was left.
    """

    rounds: Callable[[], Iterator[Abstract]]
    cell: Cell
    resumes: bool = False


@dataclass(frozen=True, eq=False)
class Generator:
    """A generator that has not begun: ``run`` runs it to its end, with what is to be done with each item.

    ``cell`` holds None until then.  Where it ``is_one_loop``, that can be left for good where it yields.  One that
    ``may_catch`` goes on after an exception of what is done with an item.
    """

    run: Callable[..., Any]
    cell: Cell
    is_one_loop: bool
    may_catch: bool = False


@dataclass(frozen=True, eq=False)
class Closure:
    """A function that the program makes."""

    definition: Definition
    is_lambda: bool
    env: Env
    defaults: dict[str, Abstract]
    home: Home
    #: Of a function in the body of a method: the class of the method, and its object.
    owner: tuple[type, Abstract] | None = None
    place: Place | None = None
    #: Holds None as long as the function is no object of the new program.
    identity: Cell = field(default_factory=lambda: Cell(""))


@dataclass(frozen=True, eq=False)
class Method:
    """A function with its first argument, the class in which it was found, and the operand that has both if any."""

    function: Abstract
    receiver: Abstract
    owner: type | None = None
    operand: Operand | None = None


@dataclass(frozen=True, eq=False)
class Partial:
    """A function with its first and some named arguments."""

    function: Abstract
    args: tuple[Abstract, ...]
    keywords: tuple[tuple[str, Abstract], ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """One of two callables, by a condition."""

    test: Operand
    then: Abstract
    orelse: Abstract


@dataclass(frozen=True, eq=False)
class Row:
    """A tuple with known items; ``cls`` is the class of one with named fields.  One that exists is an ``operand``."""

    items: tuple[Abstract, ...]
    cls: type = tuple
    operand: Value | None = None


@dataclass(frozen=True, eq=False)
class Items:
    """A list, dict, set or the like that the program makes; ``cell`` has its `Content` until it is an object.

    The ``__dict__`` of a ``record``, or the list or dict that one stands for, has the cells of its fields for items.
    """

    cell: Cell
    cls: type = list
    record: Record | None = None


@dataclass(frozen=True, eq=False)
class Content:
    """What a list or dict of known structure holds: a cell for each item; a dict or set has ``keys``.

    The new program has a display of the items already if there is an ``operand``: that of the operands ``given``.
    ``factory`` is that of a ``defaultdict``, or says how many items a ``deque`` has at most.
    """

    slots: tuple[Cell, ...]
    keys: tuple[Any, ...] | None = None
    operand: Value | None = None
    given: tuple[Operand, ...] = ()
    factory: Abstract | None = None


@dataclass(frozen=True, eq=False)
class Stream:
    """What runs through known items: an iterator, or a view of a dict, which can be run through again.

    ``cell`` has a `Row` of the items that are left, in which a cell stands for what it holds when it is asked for.
    ``sources`` are lists and dicts that it runs through, with what they held when it was made.  One ``of_structures``
    gives functions and objects, which have to be known; one of keys ``is_keys``.
    """

    cell: Cell
    sources: tuple[tuple[Cell, Abstract], ...] = ()
    is_view: bool = False
    operand: Operand | None = None
    of_structures: bool = False
    is_keys: bool = False


@dataclass(frozen=True, eq=False)
class Coded:
    """What runs through lists of objects that are tuples in the new program; ``decode`` makes its items again."""

    operand: Value
    decode: Callable[[Value], Any]


@dataclass(frozen=True, eq=False)
class Record:
    """An object of a class of the user's, made by the program; its ``identity`` is in the state from then on.

    One of the class `Container` is a list or dict that exists and is taken apart: its items are the fields.

    One that exists has an ``origin``: whatever sets its attributes is done to it as well.  ``kin`` are the same object
    in each function of the new program.  Of an argument ``own`` are the names of the attributes that it has at entry;
    the operand from which they are read is in the field without a name.  ``axes`` is how many one has, if
    known, that is an array (`arrays.py`).  ``made_of`` says what attributes of an argument are, or what it leads to.
    Fields whose cells are ``loose`` came in another order on another way through the program.
    """

    cls: type
    fields: dict[Any, Cell] = field(default_factory=dict)
    identity: Cell = field(default_factory=lambda: Cell("", is_object=True))
    origin: Known | None = None
    kin: list[Record] = field(default_factory=list)
    own: frozenset[str] | None = None
    axes: int | None = None
    made_of: Composite | None = None
    loose: set[Cell] = field(default_factory=set)


class Loose(tuple[Any, ...]):
    """The keys or items of a dict of which the order is not known: nothing may go through them."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        raise NotSpecialisedError("order")


class Container:
    """Stands for the class of lists and dicts that exist and are taken apart."""


@dataclass(frozen=True, eq=False)
class Typed:
    """A list, tuple or dict that an argument is or leads to, of which it is known what its items are."""

    operand: Value
    made_of: Composite

    @property
    def cls(self) -> type:
        """Its class."""
        return self.made_of.cls

    @property
    def is_named(self) -> bool:
        """Whether it is a tuple with named fields."""
        return hasattr(self.cls, "_fields")


@dataclass(frozen=True, eq=False)
class Super:
    """``super()``: the members of a class after one in its order of resolution, for an object."""

    after: type
    receiver: Abstract


Static = (
    Known
    | Unsure
    | Kept
    | InList
    | Referred
    | Late
    | Part
    | Lazy
    | Generator
    | Closure
    | Method
    | Partial
    | Choice
    | Row
    | Items
    | Content
    | Stream
    | Coded
    | Record
    | Typed
    | Super
)
Abstract = Operand | Static
Env = dict[Value | Variable, "Abstract | Cell | Variable"]


#: What ``functools.wraps(f)`` gives for a function made by the program: a decorator that changes no more than names.
WRAPPING = Known(None)


def is_switch(constant: Constant) -> bool:
    """Whether a constant is one that says what to do, rather than a number to compute with."""
    return constant.value is None or isinstance(constant.value, (bool, str))


def is_whole(value: Abstract) -> bool:
    """Whether an abstract value is a whole number that is known."""
    return isinstance(value, Constant) and type(value.value) is int


def is_static(value: Abstract) -> bool:
    """Whether an abstract value has a structure that is known.

    Example:
        >>> is_static(Value("x")), is_static(Row((Value("x"),)))
        (False, True)
    """
    return not isinstance(value, (Value, Constant))


def is_plain(value: Any) -> bool:
    """Whether an object is a constant that can stand in a text."""
    return type(value) in (type(None), bool, int, float, complex, str)


def is_callable(value: Abstract) -> bool:
    """Whether an abstract value is a function or method."""
    if isinstance(value, Choice):
        sides = (value.then, value.orelse)
        return all(not isinstance(s, Constant) and (not isinstance(s, Choice) or is_callable(s)) for s in sides)
    return isinstance(value, (Closure, Method, Partial)) or (isinstance(value, Known) and callable(value.value))


def same(a: Abstract, b: Abstract) -> bool:
    """Whether two abstract values are surely one."""
    if isinstance(a, Known) and isinstance(b, Known):
        return a.value is b.value
    if isinstance(a, Constant) and isinstance(b, Constant):
        return type(a.value) is type(b.value) and repr(a.value) == repr(b.value)
    if isinstance(a, Unsure) and isinstance(b, Unsure):
        return a.value is b.value and a.given is b.given
    if isinstance(a, Row) and isinstance(b, Row):
        return a.cls is b.cls and len(a.items) == len(b.items) and all(map(same, a.items, b.items))
    if isinstance(a, Content) and isinstance(b, Content):
        return a.slots == b.slots and a.keys == b.keys and a.factory is b.factory
    if isinstance(a, Method) and isinstance(b, Method):
        return same(a.function, b.function) and same(a.receiver, b.receiver)
    return a is b


def cell_of(thing: Cell | Record) -> Cell:
    """The cell that stands for a cell or object in the state."""
    return thing.identity if isinstance(thing, Record) else thing


def parts(value: Abstract) -> Iterator[Abstract]:
    """The abstract values of which a static one directly consists, but for those in cells."""
    match value:
        case Row():
            yield from value.items
        case Method():
            yield from (value.function, value.receiver)
        case Partial():
            yield from (value.function, *value.args, *(v for _, v in value.keywords))
        case Choice():
            yield from (value.then, value.orelse)
