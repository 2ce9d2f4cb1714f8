"""The nodes of the intermediate representation (IR).

A function is a tree of *blocks* (tuples of statements) in static single
assignment form.  Every name is assigned by one statement, with one exception:
a *join* name gets its value from a :class:`Copy` at the end of each arm of an
``If``, before a loop and at the end of its body.  A ``Copy`` is parallel, as a
Python tuple assignment is.  This is structured SSA out of which the moves have
already been made explicit (Cytron et al. 1991; the block arguments of MLIR's
``scf`` dialect serve the same end).

Names are strings ``base.number``; ``base`` is what the person wrote.  Naming
(:mod:`s2sad.naming`) turns them back into Python names at the very end.

Expressions nest.  Where a derivative passes through a call, its operands are
atoms (three-address form): that is what ``frontend.lower`` guarantees.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from s2sad.runtime.moves import moved

OpKind = Literal[
    "function",  # name(args), as the user wrote it
    "runtime",  # name(args), as a rule wrote it
    "operator",  # x + y, -x
    "inplace",  # the value of x after ``x += y``
    "change",  # the container x after ``x.append(y)``, ``x[i] = y`` and the like
    "compare",  # x < y
    "bool",  # x and y, not x
    "ifexp",  # y if x else z
    "method",  # x.name(args)
    "attribute",  # x.name, of an array where the name is that of an attribute of arrays
    "field",  # x.name, of an object of which nothing is known
    "index",  # x[i]
    "user",  # a call of a function that has source
    "met",  # x(args), a call of a constant of which it is known at run time only what it runs
    "attempt",  # the test of a branch: whether what stands between `Enter` and `Exit` in its first arm does not raise
    "caught",  # which handler runs: the test of a branch in the second arm
    "exception",  # the exception that a handler has caught
    "comprehension",  # only in sketches: what the loops of a comprehension give
]

#: The name of an operation of kind ``exception``, where what it gives may hold what parameters carry.
HOLDING = "exception that holds"


@dataclass(frozen=True, slots=True)
class Origin:
    """The statement of the user's program from which an IR statement comes."""

    line: int
    text: str


NOWHERE = Origin(0, "")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an expression has no derivative, and what to do; ``node`` has the place."""

    node: Any = field(compare=False)
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Op:
    """An operation: how it is written and, where known, the function that it applies.

    One that ``writes`` may write whatever its own text says, by a method of an object that it is given.  Of the result
    of a call that is ``met`` at run time it is checked then that it is ``apart`` from what the call is given, or shares
    nothing at all with what was there before: it is ``fresh``.  So is a sum that is checked to join no lists.
    A call that only ``computes`` has no effect, but may not be moved: what it reads is not known.
    """

    kind: OpKind
    name: str
    function: Callable[..., Any] | None = None
    pure: bool = True
    writes: bool = False
    checked: Literal["", "apart", "fresh"] = ""
    computes: bool = False


#: The change of a list of which the items change places.
MOVED = Op("change", "moved", moved)


@dataclass(frozen=True, slots=True)
class Const:
    """A literal."""

    value: Any


class Unset:
    """The value of a name of ours before it is first assigned; it is never read."""

    def __repr__(self) -> str:
        return "unset"


UNSET = Const(Unset())


@dataclass(frozen=True, slots=True)
class Var:
    """A local name."""

    name: str


@dataclass(frozen=True, slots=True)
class Global:
    """A name (dotted) of the module, closure or builtins, read live."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operation applied to operands; ``node`` points at the user's expression."""

    op: Op
    args: tuple[Expr, ...]
    kwargs: tuple[tuple[str, Expr], ...] = ()
    node: Any = field(default=None, compare=False, repr=False)
    inside: Inside = field(default=None, init=False, compare=False, repr=False)
    #: The arguments by the names of their parameters, once `s2sad.ops.binding` has found them, and those that a rule
    #: takes, or the name of one that it does not take.
    given: Mapping[str, Expr] | None = field(default=None, init=False, compare=False, repr=False)
    bound: Mapping[str, Expr] | str | None = field(default=None, init=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Build:
    """A tuple, list or dict display; a dict's items alternate key, value."""

    kind: Literal["tuple", "list", "dict"]
    items: tuple[Expr, ...]
    inside: Inside = field(default=None, init=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """``lower:upper:step`` inside an index."""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None
    inside: Inside = field(default=None, init=False, compare=False, repr=False)


#: What stands in the text of an `Opaque` for the function that checks the class of an object.
PLAIN_NAME = "~plain"
#: The place of an object whose method is called, and its name if it is one.
Receiver = tuple[tuple[int, ...], str]


@dataclass(frozen=True, slots=True)
class Opaque:
    """Any Python expression through which no derivative passes.

    ``names`` maps the local names in ``node`` to IR names, ``held`` are those of them whose object its value may be,
    view or hold, ``variables`` such of the module, ``"?"`` one that is not known.  ``refusal`` says why no
    derivative can pass through it, ``writes`` are the names whose objects its calls may write.  ``call`` is
    there where the whole is a call of a user's function: what is known of its result.  What ``alters`` may write
    into objects of the module; ``kept`` are those of the names whose objects it may put into what it writes, ``puts``
    such variables of the module.  With ``changes`` it writes, or alters, no more than which items containers have.
    ``receivers`` are objects whose methods are taken for those of a built-in class; with ``checks`` the text checks
    the class of some.  ``reach`` are the classes of the user's of which its value, or what that holds, may be; where it
    makes an object, ``made`` is its class, ``inner`` are those of what it holds.  ``stores`` are those of what it may
    put into objects.  ``sketch`` is an expression of the same type, for a comprehension as `comprehension` makes it.
    """

    node: ast.expr = field(compare=False)
    names: tuple[tuple[str, str], ...]
    held: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    refusal: Refusal | None = field(default=None, compare=False)
    writes: tuple[str, ...] = ()
    call: Call | None = field(default=None, compare=False, repr=False)
    alters: bool = False
    kept: tuple[str, ...] = ()
    receivers: tuple[Receiver, ...] = field(default=(), compare=False)
    checks: bool = False
    made: type | None = None
    inner: frozenset[type] = frozenset()
    reach: frozenset[type] = frozenset()
    stores: frozenset[type] = frozenset()
    puts: tuple[str, ...] = ()
    changes: bool = False
    sketch: Call | None = field(default=None, compare=False, repr=False)


Expr = Const | Var | Global | Call | Build | Slice | Opaque
#: What `traverse.subexpressions`, `names_in` and `running` found in an expression, once they were asked.
Inside = tuple[tuple["Expr", ...], tuple[str, ...], tuple["Expr", ...]] | None


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value``."""

    target: str
    value: Expr
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Copy:
    """Parallel moves into join names."""

    targets: tuple[str, ...]
    sources: tuple[Expr, ...]
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Unpack:
    """``a, b = value``; ``star`` is the position of a starred target."""

    targets: tuple[str, ...]
    value: Expr
    star: int | None = None
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Store:
    """``base[index] = value``, or ``base[index] op= value`` with ``op`` an operator symbol.

    A ``call`` is how the user wrote it (``np.copyto(a, b)``): it is what runs, and the rest says what it does to an
    array.  An augmented store by a call is unbuffered (``np.add.at``): an index that repeats counts each time.
    """

    base: Expr
    index: Expr
    value: Expr
    op: str | None = None
    origin: Origin = NOWHERE
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """A statement run for its effect: an expression, ``assert``, ``raise``; what it writes is as in `Opaque`.

    The names in ``keys`` are read for keys of what it writes, or for what is constant.
    """

    node: ast.stmt = field(compare=False)
    names: tuple[tuple[str, str], ...]
    origin: Origin = NOWHERE
    writes: tuple[str, ...] = ()
    alters: bool = False
    kept: tuple[str, ...] = ()
    receivers: tuple[Receiver, ...] = field(default=(), compare=False)
    checks: bool = False
    puts: tuple[str, ...] = ()
    changes: bool = False
    stores: frozenset[type] = frozenset()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A call run for its effect alone; with ``writes``, that is to write into the objects of these names."""

    value: Expr
    origin: Origin = NOWHERE
    writes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Push:
    """``tape.append((names))``."""

    tape: str
    values: tuple[Expr, ...]
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Pop:
    """``targets = tape.pop()``."""

    targets: tuple[str, ...]
    tape: str
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class If:
    """``if test: then else: orelse``; the forward and the reverse statement of a pair have one ``key``."""

    test: Expr
    then: Block
    orelse: Block
    origin: Origin = NOWHERE
    key: int = 0


@dataclass(frozen=True, slots=True)
class For:
    """``for targets in zip(*iters)``, with ``counter`` an enumeration of it.

    With ``unpacked`` there is one iterable, whose items are unpacked into the targets.  A ``strict`` loop raises
    ``ValueError`` where one iterable is longer than another.
    """

    targets: tuple[str, ...]
    iters: tuple[Expr, ...]
    body: Block
    counter: str | None = None
    origin: Origin = NOWHERE
    key: int = 0
    unpacked: bool = False
    strict: bool = False


@dataclass(frozen=True, slots=True)
class While:
    """``while test: body``."""

    test: Expr
    body: Block
    origin: Origin = NOWHERE
    key: int = 0


@dataclass(frozen=True, slots=True)
class Enter:
    """The beginning of what a ``with`` or ``try`` is around: all up to the `Exit` in the same block.

    A ``with`` has a ``manager``, and the name that is ``bound``.  One that is ``transparent`` leaves nothing
    behind where there is nothing inside.
    """

    manager: Expr | None = None
    bound: str | None = None
    origin: Origin = NOWHERE
    transparent: bool = False


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of what an `Enter` began.

    Of a ``try`` whose handlers all raise, ``handler`` is what they do, and ``classes`` are theirs (None: any).  Where
    one does not, the ``try`` is an `If` with an ``attempt`` of the classes as its test: its first arm has what is tried
    and, after an `Exit` that ends an ``attempt``, what comes next if that does not raise, its second arm what the
    handlers do.
    """

    classes: tuple[Expr, ...] = ()
    handler: Block = ()
    origin: Origin = NOWHERE
    attempt: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop; always the last statement that an iteration runs."""

    origin: Origin = NOWHERE


Stmt = Assign | Copy | Unpack | Store | Effect | Evaluate | Push | Pop | If | For | While | Break | Enter | Exit
Block = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: its IR name, and the name and kind of the Python parameter."""

    name: str
    public: str
    keyword_only: bool = False
    default: Default | None = None


@dataclass(frozen=True, slots=True)
class Default:
    """The default value of a parameter."""

    value: Any


@dataclass(frozen=True, slots=True)
class Function:
    """A function with one exit: ``body`` runs, then ``results`` are returned.

    A differentiated function has its reverse part in ``reverse``, which reads the
    names of ``body``.  ``title`` are the comment lines of its header, ``unbound`` the names
    that may have no value where they are read.
    """

    name: str
    params: tuple[Param, ...]
    body: Block
    result: Expr
    file: str = ""
    title: tuple[str, ...] = ()
    reverse: Block | None = None
    unbound: frozenset[str] = frozenset()
