"""Where a name in the text of a code does not hold the value that is meant: the code is gone through in order.

A state says for each name what it holds: values for sure, and what may have been bound to it last.  After branches it
holds for sure what it holds after each of them; a loop is gone through until nothing changes.  A value that an inner
function sees is *pinned*: its name must hold it for ever, since the function reads it when it runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from s2sad.effects.heap import Effort
from s2sad.ir.code import (
    UNSET,
    Cases,
    Code,
    Definition,
    Handlers,
    Operand,
    Operation,
    Region,
    Value,
    Variable,
    codes,
)
from s2sad.ir.live import compared_with, live
from s2sad.transform.text_scopes import Binder, TextScope, TextScopes

_NOTHING: frozenset[Value] = frozenset()


@dataclass(frozen=True)
class Clash:
    """Something whose name stands for something else where it is used, and what the name was bound to instead.

    ``used`` is a value, a variable, or the name of a global variable.
    """

    used: Value | Variable | str
    instead: tuple[Binder, ...]


@dataclass(frozen=True)
class _Held:
    """What a name holds: ``sure`` it does, ``last`` what may have been bound to it last, ``pinned`` what it must."""

    sure: frozenset[Value] = _NOTHING
    last: frozenset[Value] = _NOTHING
    pinned: frozenset[Value] = _NOTHING


_Key = tuple[TextScope, str]
#: How many names the states have in all that the searches for clashes in one code go through.
MOST = 200_000
#: None where nothing runs.  A name that is not there is not bound.
_State = dict[_Key, _Held] | None


def effort_of_one_code() -> Effort:
    """How much may be gone through until a code has no clashes."""
    return Effort(MOST)


def clashes(code: Code, alone: frozenset[Value | Variable] = frozenset(), effort: Effort | None = None) -> list[Clash]:
    """The clashes of names in a code and in all that it makes.

    Args:
        code: The code.
        alone: What has a name that nothing else has.
        effort: How many names in the states of its regions may be gone through.

    Raises:
        TooMuch: if there are more.
    """
    scopes = TextScopes(code)
    found = _Found(scopes, alone, live(code), effort or effort_of_one_code())
    found.shared_names()
    for made in codes(code):
        _Flow(found, made).run()
    return list(found.clashes)


@dataclass
class _Found:
    """The scopes of a code, and the clashes found so far."""

    scopes: TextScopes
    alone: frozenset[Value | Variable]
    live: frozenset[Value]
    effort: Effort
    clashes: dict[Clash, None] = field(default_factory=dict)

    @functools.cached_property
    def places(self) -> dict[Binder, int]:
        """Where values and variables come in the text; which of them gets which name depends on that alone."""
        return {binder: place for place, binder in enumerate(self.scopes.of)}

    def ordered(self, binders: Iterable[Binder]) -> list[Binder]:
        """What binds names, by name and then as it comes in the text."""
        return sorted(binders, key=lambda b: (str(getattr(b, "name", b)), self.places.get(b, -1)))

    def clash(self, used: Value | Variable | str, instead: Iterable[Binder]) -> None:
        self.clashes[Clash(used, tuple(self.ordered(set(instead))))] = None

    def resolve(self, used: Value | Variable | str, scope: TextScope) -> bool:
        """Check that a name means what it should where it stands, by the scopes alone."""
        name = used if isinstance(used, str) else used.name
        meant = scope.resolve(name)
        if isinstance(used, str):
            right = meant is None or name in meant.declared
        elif isinstance(used, Variable) and used not in self.scopes.written and used not in self.scopes.fixed:
            return True
        else:
            right = meant is self.scopes.of.get(used, meant)
        if not right:
            self.clash(used, meant.bound.get(name, ()) if meant else ())
        return right

    def shared_names(self) -> None:
        """Variables that are memory have names of their own, and so has what is declared global."""
        rounds = self.scopes.of_rounds.values()
        for scope in (*self.scopes.of_code.values(), *rounds):
            for name, binders in scope.bound.items():
                memory = [b for b in binders if isinstance(b, Variable)]
                others = [b for b in binders if isinstance(b, Value)]
                if name in scope.declared:
                    self.clash(name, [*memory, *others])
                elif memory and len(memory) + len(others) > 1:
                    kept = next((b for b in (*memory, *others) if b in self.scopes.fixed), memory[0])
                    for other in binders:
                        if other is not kept and not isinstance(other, str):
                            self.clash(other, (kept,))


@dataclass
class _Ends:
    """What a region's ends lead to: targets of their operands (None: they are used), and the states that come there."""

    yields: tuple[Value, ...] | None = None
    continues: tuple[Value, ...] = ()
    breaks: tuple[Value, ...] = ()
    yielded: list[_State] = field(default_factory=list)
    continued: list[_State] = field(default_factory=list)
    broken: list[_State] = field(default_factory=list)

    def inside(self, yields: tuple[Value, ...] | None = None) -> _Ends:
        """The ends of a region inside that is no loop."""
        return replace(self, yields=yields, yielded=[])


class _Flow:
    """Goes through one code in order."""

    def __init__(self, found: _Found, code: Code) -> None:
        self.found = found
        self.code = code
        self.of = found.scopes.of
        self.scope = found.scopes.of_code[code]
        self.within = {self.scope}
        self.state: _State = {}
        #: The states at the heads of loops when they were gone through last.
        self.heads: dict[int, _State] = {}

    def run(self) -> None:
        for param in self.code.params:
            if isinstance(param.target, Value):
                self.bind(param.target)
        self.region(self.code.body, _Ends())

    # --- names

    def use(self, operand: Operand | Variable | str) -> None:
        """A name is read here."""
        if isinstance(operand, Value):
            if not operand.name or operand not in self.of:
                return
            if self.found.resolve(operand, self.scope):
                self.check_held(operand)
        elif isinstance(operand, Variable):
            self.found.resolve(operand, self.scope)
            unbound = operand not in self.found.scopes.written and operand not in self.found.scopes.fixed
            if unbound and self.state is not None and (self.scope, operand.name) in self.state:
                # It is read to raise an error.
                self.found.clash(operand, ())
        elif isinstance(operand, str):
            self.found.resolve(operand, self.scope)

    def check_held(self, value: Value) -> None:
        if self.of[value] in self.within and self.state is not None:
            held = self.state.get((self.of[value], value.name), _Held())
            if value not in held.sure:
                self.found.clash(value, held.last)

    def bind(self, value: Value) -> None:
        """The name of a value gets that value."""
        if not value.name or self.state is None:
            return
        key = self.of[value], value.name
        pinned = self.state.get(key, _Held()).pinned
        for other in self.found.ordered(pinned - {value}):
            assert isinstance(other, Value)
            self.found.clash(other, (value,))
        only = frozenset((value,))
        self.state[key] = _Held(only, only, pinned - only)

    def move(self, targets: Sequence[Value], operands: Sequence[Operand]) -> None:
        """Targets that are used get values, all at once; those of the same name are left alone."""
        pairs = [pair for pair in zip(targets, operands, strict=True) if pair[0] in self.found.live]
        for _, operand in pairs:
            self.use(operand)
        if self.state is None:
            return
        bound = []
        for target, operand in pairs:
            if not target.name:
                continue
            if operand is UNSET:
                key = self.of[target], target.name
                if key not in self.state or target in self.found.alone:
                    self.also(target)
            elif isinstance(operand, Value) and operand.name == target.name:
                self.also(target)
            else:
                bound.append(target)
        for target in bound:
            self.bind(target)

    def also(self, value: Value) -> None:
        """The name of a value holds it besides what it held."""
        assert self.state is not None
        key = self.of[value], value.name
        held = self.state.get(key, _Held())
        self.state[key] = replace(held, sure=held.sure | {value}, last=held.last or frozenset((value,)))

    def pin(self, code: Code) -> None:
        """An inner function sees values from here on."""
        for value in code.seen:
            if not value.name or value not in self.of:
                continue
            # Whether it has that name where it is read, is seen there.
            self.check_held(value)
            if self.of[value] in self.within and self.state is not None:
                key = self.of[value], value.name
                held = self.state.get(key, _Held())
                self.state[key] = replace(held, pinned=held.pinned | {value})

    # --- regions

    def region(self, region: Region, ends: _Ends) -> None:
        """Go through a region; afterwards the state is that at its end, where that goes on."""
        self.found.effort.spend(len(self.state or ()))
        for value in region.params:
            self.bind(value)
        for op in region.operations:
            self.operation(op, ends)
        end = region.exit
        places = {
            "yield": (ends.yields, ends.yielded),
            "continue": (ends.continues, ends.continued),
            "break": (ends.breaks, ends.broken),
        }
        if end.kind not in places:
            for operand in end.operands:
                self.use(operand)
            self.state = None
            return
        targets, states = places[end.kind]
        if targets is not None:
            self.move(targets, end.operands)
        else:
            for operand in end.operands:
                self.use(operand)
        states.append(self.state)
        if end.kind != "yield":
            self.state = None

    def branch(self, region: Region, ends: _Ends, start: _State) -> _State:
        """Go through a region that begins in a state; the state after it."""
        self.state = _copied(start)
        self.region(region, ends)
        return self.state

    def operation(self, op: Operation, ends: _Ends) -> None:
        special: Callable[[Operation, _Ends], None] | None = getattr(self, f"_{op.kind}", None)
        if special is not None:
            special(op, ends)
            return
        for operand in op.operands:
            self.use(operand)
        if isinstance(op.data, Variable) or op.kind in ("global", "store_global", "delete_global"):
            self.use(op.data)
        elif isinstance(op.data, Code):
            self.pin(op.data)
        elif isinstance(op.data, Definition):
            self.pin(op.data.code)
        # What is in the regions may be evaluated or not.
        for region in op.regions:
            before = _copied(self.state)
            self.region(region, ends.inside())
            self.state = _joined([before, self.state])
        for result in op.results:
            self.bind(result)

    def _choose(self, op: Operation, ends: _Ends) -> None:
        self.use(op.operands[0])
        start = self.state
        self.state = _joined([self.branch(region, ends.inside(), start) for region in op.regions])
        self.bind(op.result)

    def _if(self, op: Operation, ends: _Ends) -> None:
        self.use(op.operands[0])
        start, inside = self.state, ends.inside(op.results)
        for region in op.regions:
            self.branch(region, inside, start)
        self.state = _joined(inside.yielded)

    def _inplace(self, op: Operation, ends: _Ends) -> None:
        left, right = op.operands
        self.use(left)
        self.use(right)
        # ``x = left; x += right``
        if op.result.name and isinstance(right, Value) and right.name == op.result.name:
            if not (isinstance(left, Value) and left.name == op.result.name):
                self.found.clash(right, (op.result,))
        self.bind(op.result)

    def _for(self, op: Operation, ends: _Ends) -> None:
        body, rest = op.regions
        item, *carried = body.params
        self.move(carried, op.operands[1:])
        self.use(op.operands[0])
        inside = _Ends(None, tuple(carried), op.results)

        def round_() -> None:
            self.bind(item)
            self.region(replace(body, params=()), inside)

        head = self.repeated(body, round_, inside)
        after = ends.inside(op.results)
        self.state = _copied(head)
        self.move(rest.params, carried)
        self.region(replace(rest, params=()), after)
        self.state = _joined([*after.yielded, *inside.broken])

    def _while(self, op: Operation, ends: _Ends) -> None:
        test, body, rest = op.regions
        self.move(test.params, op.operands)
        inside = _Ends(None, test.params, op.results)
        tested: list[_State] = []

        def round_() -> None:
            self.region(replace(test, params=()), ends.inside())
            tested.append(_copied(self.state))
            self.region(body, inside)

        self.repeated(body, round_, inside)
        after = ends.inside(op.results)
        self.branch(rest, after, _joined(tested))
        self.state = _joined([*after.yielded, *inside.broken])

    def repeated(self, body: Region, round_: Callable[[], None], ends: _Ends) -> _State:
        """Go through a loop until nothing changes; the state at its head.

        States only grow from one round of the loop around it to the next, so that it goes on from where it was then:
        loops in loops would take twice as long with each.
        """
        head = _joined([self.state, self.heads.get(id(body))])
        while True:
            self.state = _copied(head)
            round_()
            again = _joined([head, *ends.continued])
            if again == head:
                self.heads[id(body)] = head
                return head
            head = again

    def _with(self, op: Operation, ends: _Ends) -> None:
        self.use(op.operands[0])
        start, inside = _copied(self.state), ends.inside(op.results)
        self.region(op.regions[0], inside)
        # What was raised inside may have been swallowed.
        self.state = self.interrupted(start, op.regions, inside.yielded)

    def _try(self, op: Operation, ends: _Ends) -> None:
        assert isinstance(op.data, Handlers)
        regions, start, inside = list(op.regions), _copied(self.state), ends.inside()
        body = regions.pop(0)
        whole = self.branch(body, inside, start)
        failed = self.interrupted(start, [body], [whole])
        count = len(op.data.names) + sum(op.data.classes)
        for region in regions[:count]:
            self.branch(region, inside, failed)
        regions = regions[count:]
        if op.data.has_else:
            self.branch(regions.pop(0), inside, whole)
        self.state = self.interrupted(start, op.regions[: -1 if op.data.has_finally else None], inside.yielded)
        if op.data.has_finally:
            self.region(regions[0], ends.inside())

    def interrupted(self, start: _State, regions: Sequence[Region], ended: Sequence[_State]) -> _State:
        """The state after regions that may have been left anywhere."""
        state = _joined([start, *ended])
        if state is not None:
            for value in _bound(regions):
                if value.name:
                    held = state.get((self.of[value], value.name), _Held())
                    state[self.of[value], value.name] = replace(held, sure=_NOTHING, last=held.last | {value})
        return state

    def _match(self, op: Operation, ends: _Ends) -> None:
        assert isinstance(op.data, Cases)
        self.use(op.operands[0])
        for first in compared_with(op.data):
            self.use(first)
        regions, inside = list(op.regions), ends.inside(op.results)
        for guarded in op.data.guards:
            before = _copied(self.state)
            if guarded:
                self.region(regions.pop(0), ends.inside())
                before = _joined([before, self.state])
            self.branch(regions.pop(0), inside, before)
            self.state = before
        # Without a last region there is a case that takes all.
        if regions:
            self.region(regions[0], inside)
        self.state = _joined(inside.yielded)

    # --- comprehensions

    def _comprehension(self, op: Operation, ends: _Ends) -> None:
        self.use(op.operands[0])
        around, self.scope = self.scope, self.found.scopes.of_rounds[op]
        self.within.add(self.scope)
        if self.state is not None:
            self.state = {key: held for key, held in self.state.items() if key[0] is not self.scope}
        self.rounds(op.regions[0])
        self.within.discard(self.scope)
        self.scope = around
        self.bind(op.result)

    def rounds(self, region: Region) -> None:
        ends = _Ends()
        self.state = self.repeated(region, lambda: self.round(region, ends), ends)

    def round(self, region: Region, ends: _Ends) -> None:
        self.region(region, _Ends())
        ends.continued.append(self.state)

    def _each(self, op: Operation, ends: _Ends) -> None:
        self.use(op.operands[0])
        self.rounds(op.regions[0])

    def _only(self, op: Operation, ends: _Ends) -> None:
        self.use(op.operands[0])
        before = _copied(self.state)
        self.region(op.regions[0], _Ends())
        self.state = _joined([before, self.state])


def _copied(state: _State) -> _State:
    return None if state is None else dict(state)


def _joined(states: Sequence[_State]) -> _State:
    """The state where several come together; a name that is bound in some only holds nothing for sure."""
    going = [state for state in states if state is not None]
    if len(going) <= 1:
        return dict(going[0]) if going else None
    out: dict[_Key, _Held] = {}
    for key in dict.fromkeys(key for state in going for key in state):
        held = [state.get(key, _Held()) for state in going]
        out[key] = _Held(
            frozenset.intersection(*[h.sure for h in held]),
            frozenset.union(*[h.last for h in held]),
            frozenset.union(*[h.pinned for h in held]),
        )
    return out


def _bound(regions: Sequence[Region]) -> Iterable[Value]:
    """The values that regions bind, those of comprehensions aside."""
    for region in regions:
        yield from region.params
        for op in region.operations:
            yield from op.results
            if op.kind != "comprehension":
                yield from _bound(op.regions)
