"""The state of reverse mode: parts with one duty each, which the handlers of statements and operations use."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from s2sad.attempts import tried
from s2sad.differentiate.adjoints import Adjoints
from s2sad.differentiate.builder import Builder
from s2sad.differentiate.cleared import cleared
from s2sad.differentiate.known import Known
from s2sad.differentiate.later import Later
from s2sad.differentiate.refusals import Refusals
from s2sad.differentiate.shadows import Shadows
from s2sad.differentiate.storage import storage_of
from s2sad.ir.nodes import Assign, Block, Call, Const, Expr, Op, Var
from s2sad.ir.traverse import blocks


class State:
    """What is known of a function whose adjoint is being written.

    ``make`` writes statements and has the types of names, ``storage`` says how the adjoint of each name is kept,
    ``shadows`` and ``adjoints`` have them, ``later`` says what is written after the statement at hand, ``refusals``
    takes what has no derivative, and ``block`` reverses a block.
    """

    def __init__(self, known: Known, block: Callable[[State, Block], Block]) -> None:
        self.known, self.block = known, block
        self.effects, self.sections = known.effects, known.sections
        self.make = Builder(known.function, known.facts, known.again)
        # The reverse part comes after all of them.
        for stmt in known.function.body:
            self.make.pass_by(stmt)
        self.storage = storage_of(known, self.make.fact)
        self.make.steady = {**self.storage.steady}
        self.make.changing, self.make.unchanged = known.changing, known.unchanged
        stops = bool(known.effects.stops or self.storage.stopped)
        self.refusals = Refusals(known, self.storage.buffers, stops)
        self.later = Later(known, self.make, self.storage)
        self.shadows = Shadows(known, self.make, self.storage, self.later, self.refusals)
        self.adjoints = Adjoints(known, self.make, self.storage, self.later, self.refusals, self.shadows)
        #: The statements of which it is seen whether they raise; whether the one at hand is.
        self.trying = tried(known.function.body)
        self.tried = False
        #: The elements of new arrays that are replaced at once.
        self.cleared = cleared(known.function.body, known.effects, self.make, self.adjoints.is_active)
        #: The names of the items that changes of containers take out, by the names of what is left.
        self.popped = {target: tuple(names) for target, names in _popped(known.function.body)}
        #: In how many loops the statement at hand is, and what the innermost of them moves into at its end.
        self.depth = 0
        self.heads: frozenset[str] = frozenset()
        #: The targets of loops over ranges, which have their values in the reverse part too.
        self.rebuilt: set[str] = set()
        self.keys = 0

    def key(self) -> int:
        """A number that a statement of the forward part and its reverse share."""
        self.keys += 1
        return self.keys


def _popped(block: Block) -> Iterator[tuple[str, list[str]]]:
    """What is left of each container that an item is popped off in a block, with the names that the item has there."""
    items: dict[tuple[str, Expr], list[str]] = {}
    for stmt in block:
        match stmt:
            case Assign(target=target, value=Call(op=Op(kind="index"), args=(Var(name=whole), key))):
                items.setdefault((whole, key), []).append(target)
            case Assign(target=target, value=Call(op=Op(kind="change", name="pop"), args=(Var(name=whole), *key))):
                if names := items.get((whole, key[0] if key else Const(-1))):
                    yield target, names
            case _:
                pass
        for inner in blocks(stmt):
            yield from _popped(inner)
