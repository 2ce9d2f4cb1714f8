"""What a ``try`` with ``finally``, or a ``with``, does at its end, where the function or a loop is left in it.

try:                               left = False
    if found(x):                   try:
        return x                       if found(x):
    y = total(x)                           left, result = True, x
finally:              ->               else:
    STATE["on"] = before                   y = total(x)
                                   except BaseException:
                                       STATE["on"] = before
                                       raise
                                   STATE["on"] = before
                                   if left:
                                       return result
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from s2sad.ir.code import NONE, Constant, Exit, Handlers, Operand, Operation, Region, Value, Variable, inner, regions_in
from s2sad.transform.known import Cell, NotSpecialisedError
from s2sad.transform.regions import leaves, returns
from s2sad.transform.specialiser import Frame, Specialiser

_LEAVING = ("return", "break", "continue")
#: Operations that come to their end at once where one of their regions does, without an ``else``.
_ENDING = ("if", "with", "try")
_LOOPS = ("for", "while")


def at_end(
    s: Specialiser, ways: Sequence[Region], frame: Frame, inside: bool = True, is_sure: bool = True
) -> tuple[list[Region], Region]:
    """Regions that come to their end where the function or a loop is left in them; what is left after that.

    Those that are not left at their end, but ``inside``, may stay.  Where what comes after them may be reached without
    that, nothing ``is_sure``.

    Raises:
        NotSpecialisedError: where a ``finally`` is left, and the like.
    """
    leaving = _Leaving(s, frame, ways, inside)
    ended = [leaving.ended(way, len(way.exit.operands) if way.exit.kind == "yield" else 0) for way in ways]
    is_sure = is_sure and all(way.exit.kind != "yield" for way in ways)
    return [leaving.anew(way) for way in ended[:-1]] + ended[-1:], leaving.after(is_sure)


class _Leaving:
    """How the function or a loop is left: for each way a variable says whether it is that, and some have the values."""

    def __init__(self, s: Specialiser, frame: Frame, ways: Sequence[Region], inside: bool) -> None:
        self.s, self.frame, self.inside = s, frame, inside
        parts = [part for way in ways for part in regions_in(way)]
        made = {v for part in parts for v in (*part.params, *(r for o in part.operations for r in o.results))}
        found: dict[Any, list[Exit]] = {}
        for part in parts:
            found.setdefault((part.exit.kind, len(part.exit.operands)), []).append(part.exit)
        #: The operands, by number, that are made in the regions, or are not the same wherever that way is taken.
        self.own = {
            key: [n for n, held in enumerate(zip(*[e.operands for e in exits], strict=True)) if _vary(held, made)]
            for key, exits in found.items()
        }
        self.exits: dict[Any, tuple[Exit, Variable, dict[int, Variable]]] = {}

    def variable(self, name: str, content: Constant) -> Variable:
        made = Variable(name)
        cell = self.frame.env[made] = Cell(name)
        self.s.state[cell] = content
        return made

    def ended(self, region: Region, count: int) -> Region:
        """A region that comes to its end instead, and hands on some operands there."""
        for at, op in enumerate(region.operations):
            if self.inside and _is_left(op):
                return self._before(region, at, count)
        exit = region.exit
        if exit.kind not in _LEAVING:
            return region
        return Region(region.params, (*region.operations, *self._stores(exit)), Exit("yield", (NONE,) * count))

    def _stores(self, exit: Exit) -> list[Operation]:
        """What notes that a way is taken, and with what values."""
        key = exit.kind, len(exit.operands)
        if key not in self.exits:
            names = {n: o.name if isinstance(o, Value) else "" for n, o in enumerate(exit.operands)}
            held = {n: self.variable(names[n], NONE) for n in self.own[key]}
            self.exits[key] = exit, self.variable("left", Constant(False)), held
        _, flag, held = self.exits[key]
        given: list[tuple[Operand, Variable]] = [(exit.operands[n], v) for n, v in held.items()]
        given.append((Constant(True), flag))
        return [Operation("store", (operand,), (), variable, (), exit.place) for operand, variable in given]

    def anew(self, handler: Region) -> Region:
        """What is done about an exception: what was going to be left before is not."""
        flags = [flag for _, flag, _ in self.exits.values()] if handler.exit.kind == "yield" else []
        stores = [Operation("store", (Constant(False),), (), flag) for flag in flags]
        return replace(handler, operations=(*stores, *handler.operations))

    def _tried(self, op: Operation) -> Operation:
        """An operation in which something is left, with handlers that leave nothing that was going to be left."""
        if op.kind != "try":
            return op
        handlers = handlers_at(op.data)
        return replace(op, regions=tuple([self.anew(r) if n in handlers else r for n, r in enumerate(op.regions)]))

    def _loop(self, loop: Operation) -> Operation:
        """A loop out of which a function returns: it is left instead, with what it carried into that round."""
        *parts, rest = loop.regions
        carried = parts[0].params[loop.kind == "for" :]
        body = self._round(parts[-1], carried)
        ended = self.ended(rest, len(loop.results)) if returns(rest) else rest
        return replace(loop, regions=(*parts[:-1], body, ended))

    def _round(self, region: Region, carried: tuple[Value, ...]) -> Region:
        """A part of the body of a loop that leaves the loop where it returned."""
        out: list[Operation] = []
        for op in region.operations:
            if not any(map(returns, op.regions)):
                out.append(op)
            elif op.kind in _LOOPS:
                out.append(self._loop(op))
                flags = [flag for (kind, _), (_, flag, _) in self.exits.items() if kind == "return"]
                for flag in flags:
                    leaving = Region((), (), Exit("break", carried, op.place))
                    out += _unless(flag, Region((), (), Exit("yield")), 0, leaving).operations
            else:
                _check(op)
                out.append(self._tried(replace(op, regions=tuple([self._round(part, carried) for part in op.regions]))))
        exit = region.exit
        if exit.kind == "return":
            out += self._stores(exit)
            exit = Exit("break", carried, exit.place)
        return Region(region.params, tuple(out), exit)

    def _before(self, region: Region, at: int, count: int) -> Region:
        """Such a region where it is left in one of its operations: the rest is done where it is not."""
        before, op = region.operations[:at], region.operations[at]
        rest = Region((), region.operations[at + 1 :], region.exit)
        if op.kind not in (*_ENDING, *_LOOPS) or (op.kind == "try" and op.data.has_else):
            raise NotSpecialisedError("try")
        _check(op)
        going = [arm for arm in op.regions if arm.exit.kind == "yield"]
        results = tuple([Value() for _ in range(count)])
        if op.kind == "if" and len(going) < 2 and not any(map(leaves, going)):
            arms = [self.ended(_joined(arm, op, rest) if arm in going else arm, count) for arm in op.regions]
            op = replace(op, results=results, regions=tuple(arms))
            return Region(region.params, (*before, op), Exit("yield", results))
        taken = {(part.exit.kind, len(part.exit.operands)) for way in op.regions for part in regions_in(way)}
        if op.kind in _LOOPS:
            op = self._loop(op)
        else:
            op = self._tried(replace(op, regions=tuple([self.ended(part, len(op.results)) for part in op.regions])))
        flags = [flag for key, (_, flag, _) in self.exits.items() if key in taken]
        rest = self.ended(rest, count)
        for flag in flags:
            rest = _unless(flag, rest, count)
        return Region(region.params, (*before, op, *rest.operations), rest.exit)

    def after(self, always: bool) -> Region:
        """What leaves where it is said to be left; ``always`` if it is left in any case."""
        after = Region((), (), Exit("yield"))
        for exit, flag, held in reversed(self.exits.values()):
            loads = {n: Operation("load", (), (Value(v.name),), v, (), exit.place) for n, v in held.items()}
            operands = [loads[n].result if n in loads else o for n, o in enumerate(exit.operands)]
            way = Region((), tuple(loads.values()), replace(exit, operands=tuple(operands)))
            if always:
                after, always = way, False
                continue
            after = _unless(flag, after, 0, way)
        return after


def _check(op: Operation) -> None:
    """Refuse what is left in a ``finally``, which swallows exceptions, or in a ``with`` that may swallow later ones."""
    if op.kind == "try" and op.data.has_finally and leaves(op.regions[-1]):
        raise NotSpecialisedError("try")
    if op.kind == "with" and any(map(_may_raise_after, inner(op.regions[0]))):
        raise NotSpecialisedError("with")


def _may_raise_after(op: Operation) -> bool:
    """Whether something is left in an operation that does more after that."""
    return (op.kind == "with" or (op.kind == "try" and op.data.has_finally)) and _is_left(op)


def _is_left(op: Operation) -> bool:
    """Whether the function, or a loop around an operation, is left in that."""
    if op.kind in _LOOPS:
        return any(map(returns, op.regions)) or leaves(op.regions[-1])
    return any(map(leaves, op.regions))


def _vary(operands: Sequence[Operand], made: Collection[Value]) -> bool:
    """Whether some operands are not one, or made in some regions."""
    return any(o != operands[0] or o in made for o in operands)


def _joined(arm: Region, op: Operation, rest: Region) -> Region:
    """The arm of a branch, and what comes after the branch."""
    given = zip(arm.exit.operands, op.results, strict=True)
    copies = [Operation("copy", (operand,), (result,), None, (), op.place) for operand, result in given]
    return Region(arm.params, (*arm.operations, *copies, *rest.operations), rest.exit)


def _unless(flag: Variable, region: Region, count: int, otherwise: Region | None = None) -> Region:
    """A region that is run unless a variable says otherwise."""
    test, results = Value(flag.name), tuple([Value() for _ in range(count)])
    load = Operation("load", (), (test,), flag)
    first = otherwise or Region((), (), Exit("yield", (NONE,) * count))
    branch = Operation("if", (test,), results, None, (first, region))
    ways: tuple[Operand, ...] = results
    return Region((), (load, branch), Exit("yield", ways))


def ends_only(s: Specialiser, op: Operation, frame: Frame) -> tuple[Operation, Region]:
    """A ``try`` with ``finally`` that comes to its end where it leaves, and what leaves after it.

    Raises:
        NotSpecialisedError: where the ``finally`` leaves, and what `at_end` says.
    """
    if leaves(op.regions[-1]) or (op.data.has_else and leaves(op.regions[0])):
        raise NotSpecialisedError("try")
    regions, places = list(op.regions), handlers_at(op.data)
    # What an ``else`` does comes after the body.
    places.append(len(regions) - 2 if op.data.has_else else 0)
    ways, after = at_end(s, [regions[at] for at in places], frame)
    for at, way in zip(places, ways, strict=True):
        regions[at] = way
    return replace(op, regions=tuple(regions)), after


def handlers_at(what: Handlers) -> list[int]:
    """Where the handlers are among the regions of a ``try``, without their classes."""
    found, at = [], 1
    for named in what.classes:
        found.append(at + named)
        at += named + 1
    return found


def twice(op: Operation) -> Operation:
    """A ``try`` with ``finally`` that does what stands there once it has raised, and once it has come to its end."""
    what: Handlers = op.data
    *tried, last = op.regions
    body = tried[0]
    if len(tried) > 1:
        body = Region((), (replace(op, data=replace(what, has_finally=False), regions=tuple(tried)),), Exit("yield"))
    raised = replace(last, exit=Exit("raise", (), op.place)) if last.exit.kind == "yield" else last
    return replace(op, data=Handlers((False,), (None,), True, False), regions=(body, raised, last))
