"""The representation of a program in which every operation is explicit, and nothing of its syntax tree is left.

A `Code` is one ``def``, ``lambda``, generator expression or class body.  It is closed: what it reads from outside are
global names and `Variable` objects that it says it captures.  Its body is a `Region`: a list of operations and an exit.

*Values* are in static single assignment form: each is the result of one operation or the parameter of one region, and
is seen by what comes after it in its region and in the regions inside.  Control flow is structured: ``if``, ``for``,
``while`` and the like are operations with regions, as in MLIR's ``scf`` dialect.  What a branch or loop leaves in a
variable is a result of the operation: each region that ends in a ``yield`` exit hands on one operand for each result,
``break`` likewise, and ``continue`` (and the end of a loop's body) hands on one for each value that the loop carries.

A `Variable` that has no single value at each place (an inner function sees it and it is rebound, it is deleted, it is
bound where an exception may leave it either way) is memory: it is read by ``load`` and written by ``store``.

Operations, with what stands in ``data``, in ``[ ]`` the regions, and in ``( )`` the operands in order of evaluation
(`order` says where that is another one):

==================  ==================================================================================================
``global``          a name: the value of a global or built-in variable
``load``            a `Variable`
``store``           a `Variable` (value): has the value as its result where that is used (``:=``)
``delete``          a `Variable`
``store_global``    a name (value)
``delete_global``   a name
``copy``            another name for a value (value)
``unary``           the operator (operand)
``binary``          the operator (left, right)
``inplace``         the operator (left, right): the object that ``left += right`` leaves in ``left``
``compare``         the operator (left, right)
``chain``           operators (first, second) [yield third] ...: ``a < b < c``
``and`` ``or``      (left) [yield right]
``choose``          (test) [yield] [yield]: a conditional expression
``attribute``       a name (object)
``item``            (object, index)
``set_attribute``   a name (object, value)
``set_item``        (object, index, value)
``delete_attribute``  a name (object)
``delete_item``     (object, index)
``slice``           (lower, upper, step), `NONE` where there is none
``tuple`` ``list`` ``set``  for each operand whether it is spread (items...)
``dict``            for each pair whether it is spread (key, value, ...); a spread one has the key `NONE`
``unpack``          how many, and the position of the starred one or None (value): as many results
``call``            for each argument ``""``, ``"*"``, ``"**"`` or its name (function, arguments...)
``text``            parts: strings, and conversion and whether there is a format (value, format?, ...): an f-string
``function``        a `Definition` (decorators, defaults..., annotations...)
``lambda``          a `Definition` (defaults...)
``generator``       a `Code` of one parameter (the first iterable): a generator expression
``class``           a `Definition` (decorators, bases and keywords)
``comprehension``   ``"list"``, ``"set"`` or ``"dict"`` (iterable) [item: ...]
``each``            (iterable) [item: ...]: a further ``for`` of a comprehension
``only``            (test) [...]: an ``if`` of a comprehension
``yield``           (value?)
``yield_from``      (iterable)
``await``           (value)
``import``          module, names (or None), level: as many results, or the module
``assert``          (test) [yield message]?
``if``              (test) [then] [else]
``for``             (iterable, carried...) [item, carried...: body] [else]
``while``           (carried...) [carried...: yield test] [body] [else]: the first region's parameters are seen in all
``try``             handlers (see `Handlers`) [body] [class, value: body]... [else] [finally]
``with``            (manager) [entered: body]
``match``           `Cases` (subject) [yield guard]? [body] ... for each case
``annotate``        a name and the text of its annotation (annotation?): evaluated in the body of a class only
==================  ==================================================================================================

``for``, ``each``, ``comprehension`` and ``with`` may be asynchronous: `Operation.awaits`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "global", "load", "store", "delete", "store_global", "delete_global", "copy",
    "unary", "binary", "inplace", "compare", "chain", "and", "or", "choose",
    "attribute", "item", "set_attribute", "set_item", "delete_attribute", "delete_item", "slice",
    "tuple", "list", "set", "dict", "unpack", "call", "text",
    "function", "lambda", "generator", "class", "comprehension", "each", "only",
    "yield", "yield_from", "await", "import", "assert", "if", "for", "while", "try", "with", "match", "annotate",
]  # fmt: skip

#: How a region ends:
#:
#: ``yield``     its operands are the results of the operation, or what it uses (a test, an item of a comprehension)
#: ``continue``  the operands are what the loop carries into its next round; so ends the body of a loop
#: ``break``     the operands are the results of the loop
#: ``return``    of the `Code`: one operand
#: ``raise``     none, one, or two operands: the exception and its cause
#: ``never``     it ends before: all that leads there returns, raises or goes on for ever
ExitKind = Literal["yield", "continue", "break", "return", "raise", "never"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the source: line, column, and those of its end."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """The result of an operation or a parameter of a region; ``name`` is that of the program, ``""`` if it has none."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant that the source spells out."""

    value: Any


class _Unset:
    def __repr__(self) -> str:
        return "unset"


Operand = Value | Constant
NONE = Constant(None)
#: What a variable is that has no value yet: to use it raises `UnboundLocalError`, to hand it on does not.
UNSET = Constant(_Unset())


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A variable that is memory; ``captured`` if inner functions see it too."""

    name: str
    captured: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One operation, with its results and regions."""

    kind: Kind
    operands: tuple[Operand, ...] = ()
    results: tuple[Value, ...] = ()
    data: Any = None
    regions: tuple[Region, ...] = ()
    place: Place | None = None
    awaits: bool = False

    @property
    def result(self) -> Value:
        """The one result."""
        (value,) = self.results
        return value


@dataclass(frozen=True, slots=True, eq=False)
class Exit:
    """How a region ends."""

    kind: ExitKind
    operands: tuple[Operand, ...] = ()
    place: Place | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Operations in order, and how they end."""

    params: tuple[Value, ...]
    operations: tuple[Operation, ...]
    exit: Exit


CodeKind = Literal["function", "lambda", "generator", "class"]
ParameterKind = Literal["positional only", "positional", "star", "by name", "double star"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: the value it has in the body, or the variable that it is stored in."""

    name: str
    kind: ParameterKind
    target: Value | Variable


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """The body of a function, lambda, generator expression or class.

    ``variables`` are its own variables that are memory, ``captures`` those of the functions around it, ``seen`` the
    values of the functions around that it reads, which do not change while it may run.
    """

    name: str
    kind: CodeKind
    params: tuple[Parameter, ...]
    body: Region
    variables: tuple[Variable, ...] = ()
    captures: tuple[Variable, ...] = ()
    seen: tuple[Value, ...] = ()
    doc: str | None = None
    generates: bool = False
    awaits: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """What makes a function or class: its code, and what its operands are.

    ``defaults`` are the names of the parameters that have one, ``annotations`` those that have one (``"return"`` for
    the result), ``arguments`` those of a class statement as in ``call``.
    """

    code: Code
    decorators: int = 0
    defaults: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Handlers:
    """What the regions of a ``try`` are, after the body: for each handler its class (or none) and body, else, finally.

    ``classes`` says for each handler whether it names a class: a region of its own, since it is evaluated only when an
    exception comes that far.  ``names`` are the variables of ``except ... as name``.
    """

    classes: tuple[bool, ...]
    names: tuple[Variable | str | None, ...]
    has_else: bool
    has_finally: bool
    groups: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of ``match``, with ``parts`` inside it.

    ``value`` (a dotted name or literal in ``data``), ``singleton``, ``sequence``, ``mapping`` (``data``: the keys; it
    binds the rest), ``class`` (``data``: the class and the names of attributes), ``star``, ``as``, ``or``.  ``target``
    is the variable that it binds.
    """

    kind: Literal["value", "singleton", "sequence", "mapping", "class", "star", "as", "or"]
    parts: tuple[Pattern, ...] = ()
    data: Any = None
    target: Variable | str | None = None


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a ``match``: their patterns, and which of them have a guard (a region before that of the body)."""

    patterns: tuple[Pattern, ...]
    guards: tuple[bool, ...]


def order(operation: Operation) -> tuple[Operand, ...]:
    """The operands in order of evaluation.

    Example:
        >>> a, b = Value("a"), Value("b")
        >>> [v.name for v in order(Operation("set_attribute", (a, b), data="x"))]
        ['b', 'a']
    """
    if operation.kind in ("set_attribute", "set_item"):
        return (operation.operands[-1], *operation.operands[:-1])
    return operation.operands


def inner(region: Region) -> Iterator[Operation]:
    """All operations in a region and in the regions inside, not those of other code that it makes."""
    # Of a generator in a generator each item goes through all that are around it.
    pending = [iter(region.operations)]
    while pending:
        for operation in pending[-1]:
            yield operation
            if operation.regions:
                pending.append(itertools.chain.from_iterable(part.operations for part in operation.regions))
                break
        else:
            pending.pop()


def uses(code: Code) -> tuple[frozenset[Operand], frozenset[Operand]]:
    """The values that are called, and those that are used otherwise, here or in a code that is made here."""
    called: set[Operand] = set()
    used: set[Operand] = {value for part in codes(code) for value in part.seen}
    for region in regions_in(code.body):
        used.update(region.exit.operands)
        for operation in region.operations:
            is_call = operation.kind == "call"
            called.update(operation.operands[:1] if is_call else ())
            used.update(operation.operands[1:] if is_call else operation.operands)
    return frozenset(called), frozenset(used)


def regions_in(region: Region) -> Iterator[Region]:
    """A region and all regions inside, not those of other code that it makes."""
    yield region
    for operation in region.operations:
        for part in operation.regions:
            yield from regions_in(part)


def codes(code: Code) -> Iterator[Code]:
    """A code and all that it makes."""
    yield code
    for operation in inner(code.body):
        if isinstance(operation.data, Definition):
            yield from codes(operation.data.code)
        elif isinstance(operation.data, Code):
            yield from codes(operation.data)
