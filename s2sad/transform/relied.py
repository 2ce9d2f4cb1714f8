"""The assumptions of the specialiser about objects that exist at compile time."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from s2sad.frontend.resolve import MISSING
from s2sad.frontend.summaries import code_of
from s2sad.ir.code import Code, Constant, Operand, Operation, Place, Value
from s2sad.transform.known import Home, Known, NotSpecialisedError, Record

#: Operations of which the results vary only if an operand does.
_PURE = frozenset("global attribute item slice unary binary compare tuple list dict text copy call unpack".split())


#: What objects are in lists of the new program.
Items = Literal["leaves", "references", "boxes"]


@dataclass(frozen=True)
class Recording:
    """A statement that puts something into what an attribute has under some ``keys``: the operation that does so."""

    keys: tuple[Any, ...]
    method: str
    by: Operation


@dataclass(frozen=True)
class Recorded:
    """What exists and is written, by the variable of the module, and the attributes and keys that lead from there."""

    root: str
    path: tuple[Any, ...]


@dataclass(frozen=True)
class Way:
    """How an array is reached: the text and its variable, the attributes and keys from there."""

    home: Home
    root: str
    path: tuple[Any, ...]

    @property
    def space(self) -> Any:
        """What has the variable."""
        return self.home.resolver.cells.get(self.root, self.home.resolver.globals)


@dataclass
class Reached:
    """An array of the state: the value that it is in each function of the new program, and the ways that lead to it.

    So it is with a list or dict, of which the value is a copy.
    """

    array: Any
    operand: Value
    record: Record
    ways: dict[Any, Way] = field(default_factory=dict)


@dataclass(eq=False)
class Named:
    """A variable of a module or class that the program sets: an object with one attribute has what it is.

    The ``operand`` is read at the start, if it is no constant then, from the namespace or class ``space``.
    """

    space: Any
    name: str
    record: Record
    operand: Value | None = None
    is_met: bool = False
    is_attribute: bool = False

    @property
    def value(self) -> Any:
        """What it is now."""
        held = vars(self.space) if isinstance(self.space, type) else self.space
        return held.get(self.name, MISSING)


@dataclass
class Relied:
    """What is known of values of the new program that are, or are read from, objects that exist.

    ``invariant`` are the values that depend on nothing that a function is given, ``new`` arrays, lists and dicts that
    nothing else has, ``rereads`` the values that are read wherever they are used, ``following`` says how many functions
    are being run that must change no objects.  ``attributes`` are the names of those attributes that have to be what
    they were at first, ``changing`` those that may change.  ``parted`` are the parameters for objects that are
    taken apart, each with the names of the attributes of which a copy was made.  ``taken`` are the objects that are
    taken apart, ``wanted`` those that would have to be, and ``remembered`` the names of the attributes that are set
    on them, and ``read`` those that are read or set of what is not known, ``looked_up`` those that are read of
    existing objects.

    Lists and dicts to which variables of the text ``keeper`` lead are taken apart; those that the program changes are
    ``kept``, by identity, and the codes ``keeping`` read or change such, and are followed. The parameters
    ``given_numbers`` are numbers. Statements may record in what variables of the text ``home`` lead to;
    ``recordings`` are those of each code that do no more, by the operation that reads the attribute, ``recording``
    those that are being run, by their variables and the operation that puts something there, ``recorded`` the
    containers of those that ran, ``filled`` their operands.
    Texts and switches in lists and dicts are ``constants`` as long as nothing writes into these ``containers``, which
    are known by identity.

    ``state`` are the arrays that exist and are written, by identity, and ``reached`` those to which the program leads;
    a function that ``reads_state`` is followed, and those that were read have been ``entered``.  The ``variables`` of
    modules that it sets are a part of it, by the identity of what has them and their names.

    Nothing may change the ``lists`` and dicts of which the items are known by their types.  The program ``asks_sizes``
    if those of arguments, which are not known, would decide how objects are made, and ``asks_kinds`` where it would
    help to know that they are not None.  A loop ``replaces`` objects by
    others of the same shape if that is allowed, which forbids that they are changed later; if one does, some are
    ``replaced``.  Objects in lists of the new program are their leaves, ``references`` to objects where these are
    ``mixed``, of several shapes, or ``boxes`` where they are changed.
    The program ``writes_out`` loops for the sake of lists and dicts as well, so that their items stay
    known, and so it does with calls if a function ``recurs``.  It ``inlines`` functions that change lists and dicts of
    their callers; ``led`` are the calls of functions that are inlined, by the line of what they led to.  The conditions
    in ``answers`` have been asked by the branches around the place where the new program is written.  Functions are
    made for known whole numbers where it ``fixes`` these.  The new program ``makes_others`` if it makes dicts and lists
    of other classes than the built-in ones, as of `defaultdict`.  Of methods of objects that exist, called with
    constants, it ``follows_makers``, which give objects that may have to be among those that the program makes; some
    were ``followed_makers``.  For the ``unfollowed`` reasons calls stay as they are where the function around does not.
    Arms of conditions that are not followed ``may_raise`` as the program runs; it ``has_arms`` if there are such.
    """

    invariant: set[Value] = field(default_factory=set)
    new: set[Value] = field(default_factory=set)
    rereads: dict[Value, Known] = field(default_factory=dict)
    following: int = 0
    led: dict[int, tuple[Place, ...]] = field(default_factory=dict)
    at: Place | None = None
    attributes: set[str] = field(default_factory=set)
    changing: frozenset[str] = frozenset()
    parted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    taken: dict[int, Record] = field(default_factory=dict)
    wanted: dict[int, Known] = field(default_factory=dict)
    remembered: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    looked_up: set[str] = field(default_factory=set)
    home: Home | None = None
    keeper: Home | None = None
    keeping: frozenset[Code] = frozenset()
    kept: frozenset[int] = frozenset()
    given_numbers: frozenset[str] = frozenset()
    recordings: dict[Code, dict[Operation, Recording]] = field(default_factory=dict)
    constants: bool = True
    containers: set[int] = field(default_factory=set)
    recording: set[tuple[int, Operation]] = field(default_factory=set)
    recorded: dict[Recorded, int] = field(default_factory=dict)
    filled: set[Value] = field(default_factory=set)
    state: dict[int, Reached] = field(default_factory=dict)
    reached: dict[int, Reached] = field(default_factory=dict)
    variables: dict[tuple[int, str], Named] = field(default_factory=dict)
    reads_state: Callable[[types.FunctionType], bool] = lambda function: False
    entered: dict[Recorded, None] = field(default_factory=dict)
    lists: bool = True
    items: Items = "leaves"
    mixed: bool = False
    asks_sizes: bool = False
    asks_kinds: bool = False
    replaces: bool = True
    writes_out: bool = False
    inlines: frozenset[types.FunctionType] = frozenset()
    recurs: bool = False
    fixes: bool = False
    makes_others: bool = False
    follows_makers: bool = True
    followed_makers: bool = False
    replaced: bool = False
    may_raise: bool = False
    has_arms: bool = False
    answers: dict[Operand, bool] = field(default_factory=dict)
    unfollowed: list[NotSpecialisedError] = field(default_factory=list)

    @property
    def meets_state(self) -> bool:
        """Whether the program leads to something of its state."""
        return bool(self.reached) or any(named.is_met for named in self.variables.values())

    @contextmanager
    def fixing(self) -> Iterator[None]:
        """Let functions that are made in the ``with`` be made for the whole numbers which they are given."""
        self.fixes = True
        try:
            yield
        finally:
            self.fixes = False

    def follows(self, function: types.FunctionType) -> bool:
        """Whether a function reads or changes something that exists and that the program changes."""
        return self.reads_state(function) or (bool(self.keeping) and code_of(function) in self.keeping)

    def led_to(self, place: Place | None, calls: tuple[Place, ...]) -> None:
        """Note which calls led to what stands at a place, where the specialiser is."""
        self.at = place or self.at
        if calls and place is not None:
            self.led.setdefault(place.line, calls)

    def wrote(self, op: Operation) -> None:
        """Take notice of an operation of the new program."""
        if op.kind in _PURE and all(isinstance(o, Constant) or o in self.invariant for o in op.operands):
            self.invariant.update(op.results)
            of_new = any(o in self.new for o in op.operands) and self.rereads.keys().isdisjoint(op.operands)
            if op.kind in ("list", "dict") or (of_new and op.kind in ("binary", "copy")):
                self.new.update(op.results)

    @contextmanager
    def within(self, answers: Mapping[Operand, bool]) -> Iterator[None]:
        """Know the answers to some conditions for a while."""
        before, self.answers = self.answers, {**self.answers, **answers}
        try:
            yield
        finally:
            self.answers = before
