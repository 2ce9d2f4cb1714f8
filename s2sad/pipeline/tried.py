"""Checks of stores that are tried: that what raises in one has not written before.

    try: y[0:] /= v                         try: y[0:] /= v
    except ArithmeticError: ...             except ArithmeticError: require_unwritten(); ...

    try: y[:] = values                      try: require_convertible(values); y[:] = values
    except ValueError: ...                  except ValueError: ...

NumPy's floating-point errors and warnings come when it has written, and of a sequence it writes the items before the
first that is no number.  The frontend asks for the first check wherever a handler may catch these; here it goes where
the types say that nothing of the kind is raised, and the second is written where they do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Assign, Block, Call, Evaluate, Exit, Expr, Function, If, Op, Stmt, Store, Var
from s2sad.ir.traverse import blocks, is_attempt, map_stmt, walk, writes
from s2sad.ir.types import Fact
from s2sad.runtime.items import require_convertible, require_unwritten

_REQUIRE_CONVERTIBLE = Op("runtime", "require_convertible", require_convertible, pure=False)
_CONTAINERS = ("list", "tuple", "dict", "record")


def with_tried_checks(function: Function, facts: Facts) -> Function:
    """``function`` with the checks that its stores in ``try`` statements need, and no others."""
    if not any(is_attempt(stmt) for stmt in walk(function.body)):
        return function
    names = [n for s in walk(function.body) for n in writes(s) if n.startswith("~t.")]
    last = max((int(n.partition(".")[2]) for n in names), default=0)

    def with_convertible(stmt: Store) -> Iterator[Stmt]:
        """A store after the check of its value, which has a name then."""
        nonlocal last
        value = stmt.value
        if not isinstance(value, Var):
            last += 1
            value = Var(f"~t.{last}")
            yield Assign(value.name, stmt.value, stmt.origin)
        yield Evaluate(Call(_REQUIRE_CONVERTIBLE, (value,)), stmt.origin)
        yield replace(stmt, value=value)

    def in_block(block: Block) -> Block:
        return tuple([in_attempt(s) if is_attempt(s) else map_stmt(s, lambda e: e, in_block) for s in block])

    def in_attempt(stmt: Stmt) -> Stmt:
        assert isinstance(stmt, If)
        end = next(i for i, s in enumerate(stmt.then) if isinstance(s, Exit) and s.attempt)
        tried, rest = stmt.then[:end], stmt.then[end:]
        late = any(_raises_late(s, facts) for s in tried)
        orelse = stmt.orelse if late else _unchecked(stmt.orelse)
        then = tuple([s for part in tried for s in checked(part)])
        return replace(stmt, then=(*in_block(then), *in_block(rest)), orelse=in_block(orelse))

    def checked(stmt: Stmt) -> Iterator[Stmt]:
        """What is tried, with its check."""
        if isinstance(stmt, Store) and not _is_convertible(stmt, facts):
            yield from with_convertible(stmt)
        else:
            yield stmt

    return replace(function, body=in_block(function.body))


def _is_convertible(stmt: Store, facts: Facts) -> bool:
    """Whether a store surely writes all of its value or nothing."""
    by_itself = stmt.op is not None or stmt.call is not None or _holds_objects(stmt.base, facts)
    return by_itself or facts.get(stmt.value).numeric


def _holds_objects(base: Expr, facts: Facts) -> bool:
    return facts.get(base).kind in _CONTAINERS


def _raises_late(stmt: Stmt, facts: Facts) -> bool:
    """Whether NumPy may raise in a statement when it has written."""
    match stmt:
        case Store() if _holds_objects(stmt.base, facts):
            return False
        case Store(base=base, value=value, op=None, call=None):
            # Only a cast does.
            return not _is_cast_of_nothing(facts.get(base), facts.get(value))
        case Store(base=base, index=index, op=str(), call=None):
            # The result of a number is stored when it is there.
            whole = facts.get(base)
            part = facts.get(Call(Op("index", "[]"), (base, index)))
            return not (part.kind == "scalar" and _is_cast_of_nothing(whole, whole))
        case Store():
            return True
        case Assign(value=Call(op=Op(kind="inplace"), args=(left, *_))):
            return facts.get(left).kind not in ("scalar", *_CONTAINERS)
        case Assign(value=value) | Evaluate(value=value):
            return False
    return any(_raises_late(inner, facts) for block in blocks(stmt) for inner in block)


def _is_cast_of_nothing(whole: Fact, value: Fact) -> bool:
    """Whether numbers go into an array as they are."""
    return whole.precision == "double" and value.numeric and value.real


def _unchecked(handler: Block) -> Block:
    """What the handlers of a ``try`` do, without the check of theirs."""
    out: list[Stmt] = []
    for stmt in handler:
        match stmt:
            case Evaluate(value=Call(op=op)) if op.function is require_unwritten:
                continue
            case If(test=Call(op=Op(kind="caught"))):
                stmt = replace(stmt, then=_unchecked(stmt.then), orelse=_unchecked(stmt.orelse))
        out.append(stmt)
    return tuple(out)
