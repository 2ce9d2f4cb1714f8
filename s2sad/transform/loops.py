"""Specialisation of loops: over known items they are written out, else they carry what changes in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from s2sad.ir.code import Constant, Operand, Operation, Place, Value, inner
from s2sad.transform import generators
from s2sad.transform.carrying import loop
from s2sad.transform.cells import State
from s2sad.transform.containers import (
    MAPPINGS,
    UNKNOWN,
    elements,
    is_counted,
    is_known,
    is_long,
    is_object_as_well,
    numbered,
)
from s2sad.transform.iteration import iterated
from s2sad.transform.known import Abstract, Cell, Generator, Items, Known, NotSpecialisedError
from s2sad.transform.simple import is_structure
from s2sad.transform.specialiser import Done, Frame, Specialiser
from s2sad.transform.standing import Table
from s2sad.transform.written_out import MOST_ROUNDS, names_of, round_of, tested_out, written_out

#: How many are so few that they are written out where that alone keeps the keys of dicts known.
FEW_ROUNDS = 16


def for_loop(s: Specialiser, op: Operation, frame: Frame) -> Done:
    if op.awaits:
        return None
    iterable = iterated(s, s.get(op.operands[0], frame), op, frame)
    if isinstance(iterable, Generator):
        return generators.for_loop(s, op, iterable, frame)
    if isinstance(iterable, Constant) and s.relied.writes_out:
        iterable = numbered(iterable)
    if is_known(s, iterable) and not is_object_as_well(s, iterable):
        return written_out(s, op, iterable, frame)
    known = is_known(s, iterable)
    row = None if known else elements(s, iterable)
    counts = known or is_counted(s, iterable) or (row if row is not None else _range_of(iterable))
    before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    failed = done = None
    is_poor = False
    try:
        done = loop(s, op, frame)
        made = s.out[len(before[0]) :]
        is_poor = _is_poor(s, before[1], made, is_long(s, iterable)) or (row is not None and _chooses(s, made, frame))
    except NotSpecialisedError as error:
        failed = error
    numbers = iterable.value if isinstance(iterable, Known) and isinstance(iterable.value, range) else range(0)
    if len(numbers) > 1 and (not counts if failed is not None else _frozen_dicts(s, before[1])):
        after = s.mark(), dict(frame.env), s.used, dict(s.lifted)
        for attempt in (_peeled, _few_rounds):
            _undo(s, frame, before, env, used, lifted)
            other = attempt(s, op, numbers, frame)
            if other is not None and not _is_poor(s, before[1], s.out[len(before[0]) :]):
                return other
        _undo(s, frame, *after)
    if failed is None and (not counts or not is_poor):
        s.relied.asks_sizes |= is_poor and _makes_named_tuples(s, s.out[len(before[0]) :])
        return done
    if not counts:
        s.relied.asks_sizes = True
        raise failed or NotSpecialisedError("loop")
    after = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    _undo(s, frame, before, env, used, lifted)
    try:
        return written_out(s, op, numbered(iterable), frame)
    except NotSpecialisedError:
        if failed is not None:
            raise
        _undo(s, frame, *after)
        return done


def _undo(
    s: Specialiser, frame: Frame, before: Any, env: Mapping[Any, Any], used: bool, lifted: Mapping[Any, Any]
) -> None:
    """Let the specialiser and a frame be what they were, as often as there are attempts."""
    s.back((list(before[0]), before[1].copied()))
    frame.env.clear()
    frame.env.update(env)
    s.used, s.lifted = used, dict(lifted)


def _is_poor(s: Specialiser, before: State, out: Sequence[Operation], is_long: bool = False) -> bool:
    """Whether what is written makes functions or named tuples, or needs to know the items of lists and dicts.

    Where a loop ``is_long`` it may fill lists of objects.
    """
    made = {s.state.get(cell): cell for cell in before if before.is_apart(cell) and not s.state.is_apart(cell)}
    if any(
        isinstance(c.whole, Items) and (s.relied.writes_out or c.whole.cls not in (list, dict)) for c in made.values()
    ):
        return True
    if not is_long and any(
        isinstance(s.stand_ins.get(operand), Table) for operand in made if isinstance(operand, Value)
    ):
        return True
    return _makes_named_tuples(s, out) or any(
        o.kind in ("function", "lambda") or (o.kind == "attribute" and o.data in UNKNOWN and o.operands[0] in made)
        for o in _all_of(out)
    )


def _makes_named_tuples(s: Specialiser, out: Sequence[Operation]) -> bool:
    return any(not s.named_tuples.isdisjoint(o.results) for o in _all_of(out))


def _all_of(out: Sequence[Operation]) -> Iterator[Operation]:
    """Operations with all that are inside of them."""
    for operation in out:
        yield operation
        for part in operation.regions:
            yield from inner(part)


def _chooses(s: Specialiser, out: Sequence[Operation], frame: Frame) -> bool:
    """Whether what is written takes functions or classes out of tables that exist, by keys which are not known."""
    tables: set[Operand] = set()
    for op in _all_of(out):
        if op.kind == "global":
            found, value = s.lookup(frame, op.data)
            members = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
            if found and any(is_structure(Known(member)) for member in members):
                tables.update(op.results)
        elif op.kind == "item" and op.operands[0] in tables:
            return True
    return False


def _frozen_dicts(s: Specialiser, before: State) -> set[Cell]:
    """The dicts of known keys that are objects of the new program since then."""
    made = {cell for cell in before if before.is_apart(cell) and not s.state.is_apart(cell)}
    return {c for c in made if isinstance(c.whole, Items) and c.whole.cls in MAPPINGS}


def _peeled(s: Specialiser, op: Operation, numbers: range, frame: Frame) -> Done:
    """A loop whose first round stands before it, since that alone puts keys into dicts; None if that does not help."""
    body = op.regions[0]
    place, before = frame.place or op.place, s.state.copied()
    unrolled, frame.unrolled = frame.unrolled, True
    try:
        frame.env[body.params[0]] = s.named(Constant(numbers[0]), body.params[0].name, place)
        frame.env.update(zip(body.params[1:], [s.handed(o, frame) for o in op.operands[1:]], strict=True))
        end = round_of(s, body, frame, names_of(s, op, body.params[1:]))
        if end.kind != "continue" or end.left:
            return None
        frame.unrolled = unrolled
        operands = [Value(param.name) for param in body.params]
        frame.env.update(zip(operands, (_numbers(s, numbers[1:], frame, place), *end.values), strict=True))
        s.live.update(operands)
        done = loop(s, replace(op, operands=tuple(operands)), frame)
    except NotSpecialisedError:
        return None
    finally:
        frame.unrolled = unrolled
    s.used = True
    return None if _frozen_dicts(s, before) else done


def _few_rounds(s: Specialiser, op: Operation, numbers: range, frame: Frame) -> Done:
    """A short loop written out, if all dicts stay known then; None if that does not help."""
    if len(numbers) > FEW_ROUNDS:
        return None
    before = s.state.copied()
    try:
        done = written_out(s, op, [Constant(number) for number in numbers], frame)
    except NotSpecialisedError:
        return None
    return None if _frozen_dicts(s, before) else done


def _numbers(s: Specialiser, numbers: range, frame: Frame, place: Place | None) -> Known:
    """A range that the new program makes."""
    _, named = s.lookup(frame, "range")
    function = Known(range, ("range",), home=frame.home) if named is range else s.outside(range, "range")
    parts = [numbers.start, numbers.stop, numbers.step][: 2 + (numbers.step != 1)]
    made = s.operands([function, *map(Constant, parts)], place)
    return Known(numbers, (), s.emit("call", made, ("",) * len(parts), place=place))


def _range_of(value: Abstract) -> Sequence[int]:
    """The numbers of a known range, if these are few."""
    if isinstance(value, Known) and isinstance(value.value, range) and len(value.value) <= MOST_ROUNDS:
        return value.value
    return ()


def _never_runs(op: Operation) -> bool:
    """Whether an operation is a ``while`` whose test is surely not true when it is first asked."""
    test = op.regions[0].exit.operands[0] if op.kind == "while" else None
    return isinstance(test, Constant) and not test.value


def while_loop(s: Specialiser, op: Operation, frame: Frame) -> Done:
    before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    failed = done = None
    try:
        done = loop(s, op, frame)
        written = s.out[len(before[0]) :]
        if not _is_poor(s, before[1], written) and not any(map(_never_runs, written)):
            return done
    except NotSpecialisedError as error:
        failed = error
        s.relied.asks_sizes = True
    after = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    _undo(s, frame, before, env, used, lifted)
    try:
        return tested_out(s, op, frame)
    except NotSpecialisedError:
        if failed is not None:
            raise failed from None
        _undo(s, frame, *after)
        return done
