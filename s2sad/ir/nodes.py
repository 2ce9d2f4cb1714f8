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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

OpKind = Literal[
    "function",  # name(args), as the user wrote it
    "runtime",  # name(args), as a rule wrote it
    "operator",  # x + y, -x
    "inplace",  # the value of x after ``x += y``
    "compare",  # x < y
    "bool",  # x and y, not x
    "ifexp",  # y if x else z
    "method",  # x.name(args)
    "attribute",  # x.name
    "index",  # x[i]
    "user",  # a call of a function that has source
]


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
    """An operation: how it is written and, where known, the function that it applies."""

    kind: OpKind
    name: str
    function: Callable[..., Any] | None = None
    pure: bool = True


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


@dataclass(frozen=True, slots=True)
class Build:
    """A tuple, list or dict display; a dict's items alternate key, value."""

    kind: Literal["tuple", "list", "dict"]
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """``lower:upper:step`` inside an index."""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(frozen=True, slots=True)
class Opaque:
    """Any Python expression through which no derivative passes.

    ``names`` maps the local names in ``node`` to IR names.  ``pure`` is true when evaluating it
    can have no effect that anybody sees.  ``refusal`` says why no derivative can pass through it,
    ``writes`` are the names whose objects its calls may write.
    """

    node: ast.expr = field(compare=False)
    names: tuple[tuple[str, str], ...]
    pure: bool = False
    refusal: Refusal | None = field(default=None, compare=False)
    writes: tuple[str, ...] = ()


Expr = Const | Var | Global | Call | Build | Slice | Opaque


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
    """``base[index] = value``, or ``base[index] op= value`` with ``op`` an operator symbol."""

    base: Expr
    index: Expr
    value: Expr
    op: str | None = None
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True)
class Effect:
    """A statement run for its effect: an expression, ``assert``, ``raise``."""

    node: ast.stmt = field(compare=False)
    names: tuple[tuple[str, str], ...]
    origin: Origin = NOWHERE
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A call run for its effect alone."""

    value: Expr
    origin: Origin = NOWHERE


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

    With ``unpacked`` there is one iterable, whose items are unpacked into the targets.
    """

    targets: tuple[str, ...]
    iters: tuple[Expr, ...]
    body: Block
    counter: str | None = None
    origin: Origin = NOWHERE
    key: int = 0
    unpacked: bool = False


@dataclass(frozen=True, slots=True)
class While:
    """``while test: body``."""

    test: Expr
    body: Block
    origin: Origin = NOWHERE
    key: int = 0


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop; always the last statement that an iteration runs."""

    origin: Origin = NOWHERE


Stmt = Assign | Copy | Unpack | Store | Effect | Evaluate | Push | Pop | If | For | While | Break
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
    names of ``body``.  ``title`` are the comment lines of its header.
    """

    name: str
    params: tuple[Param, ...]
    body: Block
    result: Expr
    file: str = ""
    title: tuple[str, ...] = ()
    reverse: Block | None = None


def base(name: str) -> str:
    """The Python name that an IR name is a version of."""
    return name.partition(".")[0]


def children(expr: Expr) -> Iterator[Expr]:
    """The direct subexpressions, in order of evaluation."""
    if isinstance(expr, Call):
        yield from expr.args
        for _, value in expr.kwargs:
            yield value
    elif isinstance(expr, Build):
        yield from expr.items
    elif isinstance(expr, Slice):
        for part in (expr.lower, expr.upper, expr.step):
            if part is not None:
                yield part


def names_in(expr: Expr) -> Iterator[str]:
    """Every local name that ``expr`` reads, in order, with repeats."""
    if isinstance(expr, Var):
        yield expr.name
    elif isinstance(expr, Opaque):
        for _, name in expr.names:
            yield name
    else:
        for child in children(expr):
            yield from names_in(child)


def map_children(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """``expr`` with ``f`` applied to each direct subexpression; the same object where nothing changes."""
    if isinstance(expr, Call):
        args = tuple([f(a) for a in expr.args])
        kwargs = tuple([(k, f(v)) for k, v in expr.kwargs]) if expr.kwargs else ()
        if all(a is b for a, b in zip(args, expr.args, strict=True)) and all(
            v is w for (_, v), (_, w) in zip(kwargs, expr.kwargs, strict=True)
        ):
            return expr
        return Call(expr.op, args, kwargs, expr.node)
    if isinstance(expr, Build):
        return Build(expr.kind, tuple([f(i) for i in expr.items]))
    if isinstance(expr, Slice):
        parts = [None if p is None else f(p) for p in (expr.lower, expr.upper, expr.step)]
        return Slice(*parts)
    return expr


def rename(expr: Expr, names: dict[str, Expr]) -> Expr:
    """Replace local names by expressions; inside :class:`Opaque` only by other names."""
    if isinstance(expr, Var):
        return names.get(expr.name, expr)
    if isinstance(expr, Opaque):
        renamed = []
        for user, name in expr.names:
            new = names.get(name)
            renamed.append((user, new.name if isinstance(new, Var) else name))
        written = [new.name if isinstance(new := names.get(n), Var) else n for n in expr.writes]
        return Opaque(expr.node, tuple(renamed), expr.pure, expr.refusal, tuple(written))
    return map_children(expr, lambda e: rename(e, names))


def expressions(stmt: Stmt) -> Iterator[Expr]:
    """The expressions that a statement itself evaluates (not those of its blocks)."""
    match stmt:
        case Assign(value=value) | Unpack(value=value) | Evaluate(value=value):
            yield value
        case Copy(sources=sources):
            yield from sources
        case Store(base=target, index=index, value=value):
            yield value
            yield target
            yield index
        case Effect(names=names):
            for _, name in names:
                yield Var(name)
        case Push(tape=tape, values=values):
            yield Var(tape)
            yield from values
        case Pop(tape=tape):
            yield Var(tape)
        case If(test=test) | While(test=test):
            yield test
        case For(iters=iters):
            yield from iters
        case _:
            pass


def reads(stmt: Stmt) -> Iterator[str]:
    """Every local name that a statement itself reads (not those of its blocks)."""
    for expr in expressions(stmt):
        yield from names_in(expr)


def writes(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself assigns."""
    match stmt:
        case Assign(target=target):
            return (target,)
        case Copy(targets=targets) | Unpack(targets=targets) | Pop(targets=targets):
            return targets
        case For(targets=targets, counter=counter):
            return targets if counter is None else (*targets, counter)
        case _:
            return ()


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    match stmt:
        case If(then=then, orelse=orelse):
            return then, orelse
        case For(body=body) | While(body=body):
            return (body,)
        case _:
            return ()


def map_stmt(stmt: Stmt, f: Callable[[Expr], Expr], g: Callable[[Block], Block]) -> Stmt:
    """A statement with ``f`` applied to its expressions and ``g`` to its blocks."""
    match stmt:
        case Assign(value=value):
            new = f(value)
            return stmt if new is value else replace(stmt, value=new)
        case Unpack(value=value) | Evaluate(value=value):
            return replace(stmt, value=f(value))
        case Copy(sources=sources):
            return replace(stmt, sources=tuple([f(s) for s in sources]))
        case Store(base=target, index=index, value=value):
            return replace(stmt, value=f(value), base=f(target), index=f(index))
        case Effect(names=names):
            renamed = []
            for user, name in names:
                new = f(Var(name))
                renamed.append((user, new.name if isinstance(new, Var) else name))
            return replace(stmt, names=tuple(renamed))
        case Push(values=values):
            return replace(stmt, values=tuple([f(v) for v in values]))
        case If(test=test, then=then, orelse=orelse):
            return replace(stmt, test=f(test), then=g(then), orelse=g(orelse))
        case While(test=test, body=body):
            return replace(stmt, test=f(test), body=g(body))
        case For(iters=iters, body=body):
            return replace(stmt, iters=tuple([f(i) for i in iters]), body=g(body))
        case _:
            return stmt


def walk(block: Iterable[Stmt]) -> Iterator[Stmt]:
    """Every statement of a block and of the blocks inside, in order of the text."""
    for stmt in block:
        yield stmt
        for inner in blocks(stmt):
            yield from walk(inner)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """``expr`` and everything inside, outermost first."""
    yield expr
    for child in children(expr):
        yield from subexpressions(child)


def is_atom(expr: Expr) -> bool:
    """A name or a literal: what can be read again at no cost."""
    return isinstance(expr, (Var, Const, Global))


def leaves(block: Block) -> bool:
    """Whether some path through a block ends in ``break``."""
    if not block:
        return False
    last = block[-1]
    return isinstance(last, Break) or (isinstance(last, If) and (leaves(last.then) or leaves(last.orelse)))


def loop_heads(body: Block) -> Iterator[str]:
    """The join names that the end of an iteration sets: those that the next one begins with."""
    tail = [s for s in body[-2:] if not isinstance(s, Break)]
    if tail and isinstance(tail[-1], Copy):
        yield from tail[-1].targets
    elif tail and isinstance(tail[-1], If) and leaves(tail[-1:]):  # type: ignore[arg-type]
        yield from loop_heads(tail[-1].then)
        yield from loop_heads(tail[-1].orelse)


def with_names(block: Block, names: dict[str, str]) -> Block:
    """A block in which some names are called otherwise, where they are set and where they are read."""
    variables: dict[str, Expr] = {old: Var(new) for old, new in names.items()}

    def in_stmt(stmt: Stmt) -> Stmt:
        stmt = map_stmt(stmt, lambda e: rename(e, variables), lambda b: with_names(b, names))
        match stmt:
            case Assign(target=target) if target in names:
                return replace(stmt, target=names[target])
            case Copy(targets=targets) | Unpack(targets=targets) | Pop(targets=targets) | For(targets=targets):
                return replace(stmt, targets=tuple([names.get(t, t) for t in targets]))
        return stmt

    return tuple([in_stmt(s) for s in block])
