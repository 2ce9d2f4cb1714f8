"""What does each kind of operation: the handlers of the specialiser, by the kinds."""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.code import Operation, Value
from s2sad.transform import (
    array_objects,
    attribute_dicts,
    branches,
    calls,
    comparisons,
    comprehensions,
    connected,
    decorators,
    dict_copies,
    existing,
    foreign,
    generators,
    literals,
    local_classes,
    loops,
    managers,
    objects,
    operators,
    patterns,
    recording,
    selected,
    set_operators,
    sides,
    simple,
    stand_ins,
    subscripts,
    tables,
    tries,
    typed,
    variables,
)
from s2sad.transform.attribute_dicts import as_dict
from s2sad.transform.iteration import iterated
from s2sad.transform.known import Generator, Known, NotSpecialisedError, Record
from s2sad.transform.specialiser import Done, Frame, Handler, Specialiser


def _either(*handlers: Handler) -> Handler:
    """The first of some handlers that knows what an operation does."""

    def handler(s: Specialiser, op: object, frame: Frame) -> Done:
        for one in handlers:
            done = one(s, op, frame)  # type: ignore[arg-type]
            if done is not None:
                return done
        return None

    return handler


def _iterated(inner: Handler) -> Handler:
    """A handler of what runs through its first operand, which is given what the ``__iter__`` of an object returns."""

    def handler(s: Specialiser, op: Operation, frame: Frame) -> Done:
        value = s.get(op.operands[0], frame)
        found = iterated(s, value, op, frame) if isinstance(value, (Known, Record)) else value
        if found is value:
            return inner(s, op, frame)
        held = Value()
        frame.env[held], s.used = found, True
        done = inner(s, replace(op, operands=(held, *op.operands[1:])), frame)
        if done is None:
            raise NotSpecialisedError("iterator")
        return done

    return handler


def _spread(inner: Handler) -> Handler:
    """The stars of a display: of an object the items that a method of it gives, of a generator what it yields."""

    def handler(s: Specialiser, op: Operation, frame: Frame) -> Done:
        operands = list(op.operands)
        for i, (operand, star) in enumerate(zip(op.operands, op.data, strict=True)):
            value = s.get(operand, frame)
            if not star or array_objects.runs_as_arrays_do(value):
                continue
            found = iterated(s, value, op, frame) if isinstance(value, (Known, Record)) else value
            found = generators.listed(s, found, op, frame) if isinstance(found, Generator) else found
            if found is not value:
                operands[i] = held = Value()
                frame.env[held], s.used = found, True
        if operands == list(op.operands):
            return inner(s, op, frame)
        done = inner(s, replace(op, operands=tuple(operands)), frame)
        if done is None:
            raise NotSpecialisedError("iterator")
        return done

    return handler


_ARITHMETIC = _either(
    tables.joined,
    set_operators.operated,
    foreign.operator,
    operators.of_named_tuples,
    simple.arithmetic,
    operators.operator,
)
HANDLERS: dict[str, Handler] = {
    "global": _either(variables.read, patterns.of_module, simple.global_name),
    "load": simple.load,
    "store": simple.store,
    "copy": simple.copy,
    "function": _either(simple.function, decorators.decorated),
    "lambda": simple.function,
    "class": local_classes.local_class,
    "tuple": _spread(simple.tuple_display),
    "list": _spread(simple.list_display),
    "dict": _either(simple.dict_display, dict_copies.display),
    "set": simple.set_display,
    "text": literals.text,
    "slice": literals.span,
    "item": as_dict(
        _either(
            selected.selected,
            typed.item,
            tables.item,
            stand_ins.item,
            subscripts.item,
            tables.item_by_run,
            operators.operator,
        )
    ),
    "unpack": _either(typed.unpack, subscripts.unpack_array, _iterated(_either(generators.unpack, subscripts.unpack))),
    "compare": as_dict(
        _either(tables.searched, comparisons.compare, set_operators.compared, operators.operator),
        attribute_dicts.searched,
    ),
    "unary": _either(operators.of_named_tuples, simple.negation, operators.operator),
    "binary": _ARITHMETIC,
    "inplace": _ARITHMETIC,
    "attribute": _either(
        variables.read,
        recording.begun,
        foreign.attribute,
        local_classes.attribute,
        sides.attribute,
        attribute_dicts.attribute,
        typed.method,
        stand_ins.attribute,
        patterns.attribute,
        objects.attribute,
    ),
    "set_attribute": _either(
        attribute_dicts.set_attribute, variables.store, sides.attribute, objects.set_attribute, existing.changes
    ),
    "set_item": as_dict(
        _either(recording.called, subscripts.set_item, tables.put, operators.put_item, existing.changes)
    ),
    "delete_item": as_dict(_either(subscripts.delete_item, tables.put, operators.put_item, existing.changes)),
    "delete_attribute": existing.changes,
    "store_global": _either(variables.store, existing.changes),
    "delete_global": existing.changes,
    "call": _either(typed.view, tables.changed, tables.call, recording.called, foreign.call, patterns.call, calls.call),
    "comprehension": as_dict(
        _either(
            tables.run_through,
            tables.long_comprehension,
            tables.or_frozen(_iterated(_either(generators.comprehension, comprehensions.comprehension))),
            tables.comprehension,
        )
    ),
    "generator": as_dict(
        _either(
            tables.run_through,
            tables.or_frozen(_iterated(_either(generators.expression, comprehensions.generator))),
        )
    ),
    "each": tables.run_through,
    "decode": tables.decode,
    "yield": generators.yielded,
    "yield_from": generators.yielded_from,
    "if": branches.branch,
    "choose": branches.branch,
    "and": connected.connected,
    "or": connected.connected,
    "for": as_dict(_either(tables.run_through, loops.for_loop)),
    "while": loops.while_loop,
    "try": tries.try_statement,
    "with": managers.with_statement,
}
