"""What is static of an abstract value, its shape, and the operands that are left, its leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from s2sad.ir.code import Constant, Operand, Value, Variable, codes
from s2sad.transform.known import (
    Abstract,
    Cell,
    Choice,
    Closure,
    Items,
    Known,
    Method,
    NotSpecialisedError,
    Partial,
    Record,
    Row,
    Super,
    is_static,
)
from s2sad.transform.specialiser import State

#: What makes an abstract value of its leaves, one after the other; cells that it makes go into a state.
Rebuild = Callable[[Iterator[Operand], State], Abstract]


@dataclass(frozen=True)
class Inside:
    """A part of the new program whose values and cells cannot be seen from outside, with the cells at its end.

    ``is_value`` and ``is_cell`` say which these are.  With ``constants`` a constant is static.
    """

    state: State
    is_value: Callable[[Value], bool]
    is_cell: Callable[[Cell], bool]
    constants: bool = False


def shape(value: Abstract, inside: Inside, leaves: list[Operand]) -> tuple[Any, Rebuild]:
    """The shape of a value that a part of the program makes, and how to make it again outside; adds its leaves.

    Raises:
        NotSpecialisedError: for a value that cannot be made again.
    """
    if isinstance(value, Constant) and inside.constants:
        return ("constant", type(value.value), repr(value.value)), lambda given, state: value
    if isinstance(value, Value) and not inside.is_value(value):
        return ("outside", id(value)), lambda given, state: value
    if not is_static(value):
        leaves.append(value)  # type: ignore[arg-type]
        return "leaf", lambda given, state: next(given)

    def part(within: Abstract) -> tuple[Any, Rebuild]:
        return shape(within, inside, leaves)

    match value:
        case Known():
            if value.operand is not None and isinstance(value.operand, Value) and inside.is_value(value.operand):
                key, rebuild = part(value.operand)
                return ("known", id(value.value), key), lambda given, state: replace(
                    value, operand=rebuild(given, state)
                )
            return ("known", id(value.value)), lambda given, state: value
        case Row():
            parts = [part(item) for item in value.items]
            return ("row", *(p[0] for p in parts)), lambda given, state: Row(tuple([p[1](given, state) for p in parts]))
        case Method():
            if value.operand is not None and isinstance(value.operand, Value) and inside.is_value(value.operand):
                raise NotSpecialisedError("method")
            function, receiver = part(value.function), part(value.receiver)
            return ("method", function[0], receiver[0]), lambda given, state: replace(
                value, function=function[1](given, state), receiver=receiver[1](given, state)
            )
        case Partial():
            parts = [part(v) for v in (value.function, *value.args, *(v for _, v in value.keywords))]
            names = [name for name, _ in value.keywords]

            def partial(given: Iterator[Operand], state: State) -> Abstract:
                first, *rest = [p[1](given, state) for p in parts]
                split = len(rest) - len(names)
                return Partial(first, tuple(rest[:split]), tuple(zip(names, rest[split:], strict=True)))

            return ("partial", *names, *(p[0] for p in parts)), partial
        case Choice():
            parts = [part(value.test), part(value.then), part(value.orelse)]

            def choice(given: Iterator[Operand], state: State) -> Abstract:
                test, then, orelse = [p[1](given, state) for p in parts]
                return Choice(test, then, orelse)  # type: ignore[arg-type]

            return ("choice", *(p[0] for p in parts)), choice
        case Items():
            return _of_items(value, inside, leaves)
        case Record():
            return _of_record(value, inside, leaves)
        case Closure():
            return _of_closure(value, inside, leaves)
        case Super():
            pass
    raise NotSpecialisedError("shape")


def _of_cell(
    cell: Cell, inside: Inside, leaves: list[Operand]
) -> tuple[Any, Callable[[Iterator[Operand], State], Cell]]:
    if not inside.is_cell(cell):
        return id(cell), lambda given, state: cell
    key, rebuild = shape(inside.state[cell], inside, leaves)

    def again(given: Iterator[Operand], state: State) -> Cell:
        fresh = Cell(cell.name)
        state[fresh] = rebuild(given, state)
        return fresh

    return key, again


def _of_items(value: Items, inside: Inside, leaves: list[Operand]) -> tuple[Any, Rebuild]:
    if not inside.is_cell(value.cell):
        return id(value), lambda given, state: value
    key, again = _of_cell(value.cell, inside, leaves)

    def items(given: Iterator[Operand], state: State) -> Abstract:
        cell = again(given, state)
        cell.items = Items(cell, value.keys)
        return cell.items

    return ("items", value.keys, key), items


def _of_record(value: Record, inside: Inside, leaves: list[Operand]) -> tuple[Any, Rebuild]:
    cells = {name: cell for name, cell in value.fields.items() if cell in inside.state}
    if not any(map(inside.is_cell, cells.values())) and cells:
        return id(value), lambda given, state: value
    made = {name: _of_cell(cell, inside, leaves) for name, cell in cells.items()}
    return ("record", id(value.cls), *((n, c[0]) for n, c in made.items())), lambda given, state: Record(
        value.cls, {name: cell[1](given, state) for name, cell in made.items()}
    )


def _of_closure(value: Closure, inside: Inside, leaves: list[Operand]) -> tuple[Any, Rebuild]:
    seen = [v for made in codes(value.definition.code) for v in (*made.seen, *made.captures) if v in value.env]
    env: list[tuple[Value | Variable, Any, Any]] = []
    for name in dict.fromkeys(seen):
        found = value.env[name]
        if isinstance(found, Cell):
            env.append((name, *_of_cell(found, inside, leaves)))
        else:
            env.append((name, *shape(found, inside, leaves)))
    defaults = {name: shape(v, inside, leaves) for name, v in value.defaults.items()}

    def closure(given: Iterator[Operand], state: State) -> Abstract:
        around: dict[Value | Variable, Any] = {name: again(given, state) for name, _, again in env}
        values = {name: rebuild(given, state) for name, (_, rebuild) in defaults.items()}
        return replace(value, env=around, defaults=values)

    keys = [("env", id(name), key) for name, key, _ in env] + [(name, key) for name, (key, _) in defaults.items()]
    return ("closure", id(value.definition), *keys), closure
