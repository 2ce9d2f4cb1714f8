"""Specialisation of ``with``: what a manager that the program makes does stands before, around and after the body.

    with Manager(a) as x: body          x = enter(manager)
                                        try: body
                                        except BaseException as error:
                                            exit(manager, type(error), error, error.__traceback__)
                                            raise
                                        exit(manager, None, None, None)

Where nobody can see what the ``__exit__`` does when the body raises, since no ``try`` is around and it only sets
attributes of its object, there is no ``try``.  The body of a ``with`` of a
function of `contextlib.contextmanager` stands where that function yields.
"""

from __future__ import annotations

import contextlib
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from s2sad.frontend.resolve import Resolver
from s2sad.ir.code import (
    NONE,
    Code,
    Constant,
    Exit,
    Handlers,
    Operand,
    Operation,
    Place,
    Region,
    Value,
    Variable,
    codes,
    inner,
    regions_in,
)
from s2sad.runtime.classes import static_member
from s2sad.transform import generators
from s2sad.transform.existing import guard_member, owner
from s2sad.transform.finals import at_end
from s2sad.transform.known import Abstract, Cell, Generator, Items, Known, Method, NotSpecialisedError, Record
from s2sad.transform.objects import member_call
from s2sad.transform.regions import CHANGING, leaves
from s2sad.transform.simple import is_number
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.tries import by_memory, try_statement, trying

_METHODS = ("__enter__", "__exit__")
#: What is done by an ``__exit__`` that nobody sees but who looks at the object.
_UNSEEN = frozenset({"global", "attribute", "set_attribute", "copy", "tuple", "call"})
_CLOCKS = frozenset({time.perf_counter, time.time, time.monotonic, time.process_time, time.perf_counter_ns})


@dataclass(frozen=True, eq=False)
class Within:
    """What stands for the data of a ``with`` that is inside of others: the calls by which these are left, inner first.

    With each is said whether a loop is between the two, so that ``break`` does not leave that other one.
    """

    is_bound: Any
    calls: tuple[tuple[Operation, bool], ...]


# --- managers that generators make


def around(function: Any, *args: Any, **keywords: Any) -> Any:
    """The manager that a generator function makes which `contextlib.contextmanager` decorates in the program."""
    return contextlib.contextmanager(function)(*args, **keywords)


def of_generator(s: Specialiser, generator: Abstract) -> Record:
    """The manager of which the body stands where a generator yields."""
    record = Record(contextlib._GeneratorContextManager)
    s.state[record.identity] = NONE
    cell = record.fields["gen"] = Cell("gen", None, record)
    s.state[cell] = generator
    return record


# --- statements


def with_statement(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A ``with`` of an object that the program makes; any other one stays."""
    manager = s.get(op.operands[0], frame)
    if not op.awaits and isinstance(manager, Record):
        s.used = True
        if manager.cls is contextlib._GeneratorContextManager:
            return _around_yield(s, op, manager, frame)
        if all(isinstance(static_member(manager.cls, name), types.FunctionType) for name in _METHODS):
            return _by_methods(s, op, manager, frame)
    if isinstance(op.data, Within):
        if any(map(leaves, op.regions)):
            raise NotSpecialisedError("with")
        op = replace(op, data=op.data.is_bound)
    with trying(s):
        return by_memory(s, op, frame)


def _around_yield(s: Specialiser, op: Operation, manager: Record, frame: Frame) -> Done:
    """A ``with`` of what a generator makes: the generator goes on after the body, however that is left."""
    (body,) = op.regions
    generator = s.state[manager.fields["gen"]]
    assert isinstance(generator, Generator)
    (body,), after = at_end(s, [body], frame, is_sure=not generator.may_catch)
    after = _left_by(after, _others(op), at_end=False)

    def each(value: Abstract, inside: Frame) -> End | None:
        frame.env[body.params[0]] = s.named(value, body.params[0].name, frame.place or op.place)
        end = s.run(body, frame)
        return None if end.kind == "yield" else end

    end = generators.run(s, generator, each, around=True)
    end = s.run(after, frame) if end is None else end
    return () if end.kind == "yield" else end


def _by_methods(s: Specialiser, op: Operation, manager: Record, frame: Frame) -> Done:
    """A ``with`` of an object of a class with ``__enter__`` and ``__exit__``."""
    cls, (body,), place = manager.cls, op.regions, op.place
    for name in _METHODS:
        guard_member(s, cls, name)
    call = Operation("call", (), (Value(),), (), (), place)
    done = member_call(s, manager, "__enter__", [], call, frame)
    if not isinstance(done, tuple):
        return done
    entered = body.params[0]
    frame.env[entered] = s.named(done[0], entered.name, frame.place or place)
    function: Any = static_member(cls, "__exit__")
    code, leave = s.code(function), Value()
    frame.env[leave] = Method(Known(function), manager, owner(cls, "__exit__"))
    left = Operation("call", (leave, NONE, NONE, NONE), (Value(),), ("",) * 3, (), place)
    # What a ``finally`` does that is left comes before the manager is left.
    tries = [o for o in inner(body) if o.kind == "try" and o.data.has_finally]
    is_late = any(leaves(region) for o in tries for region in o.regions)
    is_own = manager.origin is None and manager.own is None and not s.in_try
    if is_own and not is_late and _is_unseen(s, code, manager, s.home(function).resolver):
        end = s.run(_left_by(replace(body, params=()), ((left, False), *_others(op))), frame)
        return () if end.kind == "yield" else end
    (last,), after = at_end(s, [replace(body, params=())], frame, is_late or _raises(code))
    tried = replace(_left_by(last, ((left, False), *_others(op)), at_end=False), params=())
    caught, error = _caught(s, code, leave, place, frame)
    base = Value()
    named = Region((), (Operation("global", (), (base,), "BaseException", (), place),), Exit("yield", (base,)))
    after = _left_by(after, _others(op), at_end=False)
    rest = replace(after, operations=(left, *after.operations))
    data = Handlers((True,), (error,), True, False)
    return try_statement(s, Operation("try", (), (), data, (tried, named, caught, rest), place), frame)


def _caught(
    s: Specialiser, code: Code, leave: Value, place: Place | None, frame: Frame
) -> tuple[Region, Variable | None]:
    """What is done with an exception of the body, and the variable in which that is."""
    made: list[Operation] = []

    def emit(kind: Any, *operands: Operand, data: Any = None) -> Value:
        made.append(Operation(kind, operands, (Value(),), data, (), place))
        return made[-1].result

    error, asked = None, _asked_for(code)
    given: list[Operand] = [NONE, NONE, NONE]
    if any(asked):
        error = s.making.new_memory("error")
        s.making.caught.add(error)
        raised = given[1] = emit("load", data=error)
    if asked[0]:
        given[0] = emit("call", emit("global", data="type"), raised, data=("",))
    if asked[2]:
        given[2] = emit("attribute", raised, data="__traceback__")
    result = emit("call", leave, *given, data=("",) * 3)
    if _passes(code):
        return Region((), tuple(made), Exit("raise", (), place)), error
    ways = (Region((), (), Exit("yield")), Region((), (), Exit("raise", (), place)))
    made.append(Operation("if", (result,), (), None, ways, place))
    return Region((), tuple(made), Exit("yield")), error


# --- questions about methods


def _passes(code: Code) -> bool:
    """Whether an ``__exit__`` surely lets exceptions pass: it returns what counts as false."""
    ends = [part.exit for part in regions_in(code.body) if part.exit.kind == "return"]
    return all(isinstance(o, Constant) and not o.value for end in ends for o in end.operands)


def _raises(code: Code) -> bool:
    """Whether a function has a ``raise`` or an ``assert``."""
    return any(part.exit.kind == "raise" for part in regions_in(code.body)) or any(
        op.kind == "assert" for op in inner(code.body)
    )


def _asked_for(code: Code) -> list[bool]:
    """Whether an ``__exit__`` looks at the class of the exception, at it, and at where it was raised."""
    read = {o for made in codes(code) for part in regions_in(made.body) for o in _read(part)}
    asked = [param.target in read for param in code.params[1:]]
    # What a star takes it may look at as a whole.
    return [*asked, *asked[-1:] * 3][:3] if len(asked) < 3 else asked[:3]


def _read(region: Region) -> Iterator[object]:
    yield from region.exit.operands
    for op in region.operations:
        yield from op.operands
        yield op.data if isinstance(op.data, Variable) else None


def _is_unseen(s: Specialiser, code: Code, manager: Record, resolver: Resolver) -> bool:
    """Whether an ``__exit__`` does no more, if an exception comes, than set attributes of its own object."""
    self, known, held = code.params[0].target, dict[object, object](), dict[object, Cell | None]()
    changing, numbers = set[object](), set[object]()
    if not _passes(code) or _raises(code):
        return False
    for op in code.body.operations:
        first = op.operands[0] if op.operands else None
        match op.kind:
            case "global":
                known[op.result] = resolver.globals.get(op.data)
            case "attribute" if isinstance(known.get(first), types.ModuleType):
                known[op.result] = getattr(known[first], op.data, None)
            case "attribute" if op.data in CHANGING and _is_own_list(s, held.get(first)):
                changing.update(op.results)
            case "attribute" | "set_attribute":
                if first is not self or static_member(manager.cls, op.data) is not None:
                    return False
                cell = manager.fields.get(op.data)
                held.update((result, cell) for result in op.results)
                if cell is not None and is_number(s, s.state.get(cell, NONE)):
                    numbers.update(op.results)
            case "inplace" | "binary":
                if op.data not in ("+", "-", "*") or not all(o in numbers or is_number(s, o) for o in op.operands):
                    return False
                numbers.update(op.results)
            case "call":
                function = known.get(first)
                if first in changing:
                    continue
                if not isinstance(function, types.BuiltinFunctionType) or function not in _CLOCKS:
                    return False
                numbers.update(op.results)
            case kind if kind not in _UNSEEN:
                return False
    return True


def _is_own_list(s: Specialiser, cell: Cell | None) -> bool:
    """Whether an attribute holds a list or dict that the program makes."""
    held = None if cell is None else s.state.get(cell)
    return isinstance(held, Items) and s.content(held) is not None


# --- regions


def _others(op: Operation) -> tuple[tuple[Operation, bool], ...]:
    """The calls by which the managers around a ``with`` are left."""
    return op.data.calls if isinstance(op.data, Within) else ()


def _is_leaving(exit: Exit, in_loop: bool) -> bool:
    return exit.kind == "return" or (exit.kind in ("break", "continue") and not in_loop)


def _anew(call: Operation) -> Operation:
    """A call with a result of its own."""
    return replace(call, results=(Value(),))


def _left_by(region: Region, calls: tuple[tuple[Operation, bool], ...], at_end: bool = True) -> Region:
    """A body with the calls that leave managers before each place where these are left.

    The first of them stands also where the body comes to its end, if ``at_end``.  A ``with`` inside is left first.
    """
    operations = []
    for op in region.operations:
        if op.kind == "with":
            operations.append(replace(op, data=Within(getattr(op.data, "is_bound", op.data), (*_others(op), *calls))))
            continue
        loops = [op.kind in ("for", "while")] * len(op.regions)
        if loops and loops[0]:
            # The ``else`` of a loop leaves the one around.
            loops[-1] = False
        inside = [tuple([(call, around or loop) for call, around in calls]) for loop in loops]
        parts = [_left_by(part, given, False) for part, given in zip(op.regions, inside, strict=True)]
        operations.append(replace(op, regions=tuple(parts)) if op.regions else op)
    operations += [_anew(call) for call, in_loop in calls if _is_leaving(region.exit, in_loop)]
    if at_end and region.exit.kind == "yield":
        operations.append(_anew(calls[0][0]))
    return replace(region, operations=tuple(operations))
