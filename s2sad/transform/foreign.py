"""Objects of a library that carry no derivative, and meet what does: ``c * K`` of a sparse matrix that is constant.

    c * K @ x       is, to the specialiser,     Sparse(c * entries(K), of_constant(K)) @ x

What stands for such an object (`s2sad.ops.models.ObjectModel`) is made where an operator or a method asks for it.
Anything else is done to the object itself, as it is written.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from s2sad import ops
from s2sad.effects.objects import Shape
from s2sad.ir.code import Code, Operand, Operation, Parameter, Value
from s2sad.ir.types import Fact
from s2sad.ops.models import ObjectModel
from s2sad.runtime.contents import attributes_of
from s2sad.transform import operators
from s2sad.transform.composites import Composite, composites_of, shapes_of
from s2sad.transform.existing import is_constant
from s2sad.transform.given_functions import functions_among
from s2sad.transform.instances import changed_by
from s2sad.transform.known import Abstract, Known, Late, NotSpecialisedError, Record
from s2sad.transform.objects import member_call
from s2sad.transform.simple import is_number
from s2sad.transform.specialiser import Done, Frame, Specialiser
from s2sad.transform.varied import varied


@dataclass(frozen=True)
class Given:
    """What is known of the arguments of a function.

    ``held`` has the arguments, by an empty name, and attributes of them that are such objects, with their classes, by
    parameter; ``carrying`` are the parameters that may carry derivatives, if that is known.  ``functions`` has the
    types of those in which functions are known.  ``composites`` says of which objects of the user's arguments are made,
    and ``shapes`` says it to the points-to analysis.
    """

    held: Mapping[str, tuple[tuple[str, type], ...]] = field(default_factory=dict)
    carrying: tuple[str, ...] | None = None
    functions: Mapping[str, Fact] = field(default_factory=dict)
    composites: Mapping[str, Composite] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)


NOTHING = Given()


def given_of(facts: Mapping[str, Fact], carrying: tuple[str, ...]) -> Given:
    """What is known by the types of arguments."""
    held = {name: fact.library for name, fact in facts.items() if fact.library}
    composites = composites_of(facts)
    shapes = shapes_of(facts) if composites else {}
    return Given(held, carrying, functions_among(facts), composites, shapes)


def attributes_among(value: Any, function: types.FunctionType) -> tuple[tuple[str, type], ...]:
    """The attributes of an argument that are objects for which a model stands, and that a function does not set."""
    held = {name: type(v) for name, v in attributes_of(value).items() if ops.object_model_of(type(v)) is not None}
    stored = changed_by(function, type(value)).stored if held else ()
    return tuple([(name, cls) for name, cls in held.items() if name not in stored])


def meets_model(value: Any) -> bool:
    """Whether a value is an object for which a model stands, or a function that makes such objects."""
    return ops.object_model_of(type(value)) is not None or ops.maker_model_of(value) is not None


def begin(s: Specialiser, code: Code, params: Sequence[Parameter], given: Given) -> None:
    """Take notice of what is known of the arguments for the parameters of the new function."""
    s.carrying = None if given.carrying is None else varied(code, given.carrying)
    for param in params:
        for name, cls in given.held.get(param.name, ()):
            found = ops.object_model_of(cls)
            assert found is not None
            if isinstance(param.target, Value):
                s.foreign[(param.target, name) if name else param.target] = found


def operator(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An operator of such an object and a value that may carry a derivative, or of two such objects."""
    values = [s.get(o, frame) for o in op.operands]
    found = [s.foreign.get(v) if isinstance(v, Value) else None for v in values]
    of_objects = next((model for model in found if model is not None), None)
    if of_objects is None or op.kind != "binary":
        return None
    place = frame.place or op.place
    others = [(v, o) for v, o, model in zip(values, op.operands, found, strict=True) if model is None]
    scales = op.data in of_objects.scaling and bool(others)
    if op.data in of_objects.joining if not others else scales and is_number(s, s.plain(others[0][0])):
        made = s.emit("binary", s.operands(values, place), op.data, op.result.name, place)
        s.foreign[made] = of_objects
        return (made,)
    if not others or not _may_carry(s, *others[0], frame):
        return None
    if not (op.data in of_objects.joining if isinstance(others[0][0], Record) else scales):
        return None
    held = [Value() for _ in values]
    frame.env.update((h, _stand_in(s, v, op, frame)) for h, v in zip(held, values, strict=True))
    return operators.operator(s, replace(op, operands=tuple(held)), frame)


def _may_carry(s: Specialiser, value: Abstract, operand: Operand, frame: Frame) -> bool:
    """Whether a value, that of an operand of the old program, may carry a derivative, as far as is known."""
    is_own = frame.place is None and len(s.active) == 1
    return not is_constant(s, value) and not (is_own and s.carrying is not None and operand not in s.carrying)


def _stand_in(s: Specialiser, value: Abstract, op: Operation, frame: Frame) -> Abstract:
    """The object of the model for one that exists; any other value itself."""
    found = s.foreign.get(value) if isinstance(value, Value) else None
    if found is None:
        return value
    done = s.call_function(s, found.make, [("", value)], op, frame, None)
    if not isinstance(done, tuple):
        raise NotSpecialisedError("model")
    return done[0]


def attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """An attribute of such an object that is another one, or a method of it."""
    base = s.get(op.operands[0], frame)
    if isinstance(base, Record) and op.data not in base.fields and "" in base.fields:
        base = s.state[base.fields[""]]
    if not isinstance(base, Value):
        return None
    found, place = s.foreign.get((base, op.data)), frame.place or op.place
    if found is None and base in s.foreign:
        if op.result in s.called:
            return (Late(base, op.data),)
        found = s.foreign[base] if op.data in s.foreign[base].keeping else None
    if found is None:
        return None
    made = s.emit("attribute", (base,), op.data, place=place)
    s.foreign[made] = found
    return (made,)


def call(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A call that makes such an object, or of a method of one."""
    called = s.get(op.operands[0], frame)
    values = [s.get(o, frame) for o in op.operands[1:]]
    given = zip(values, op.operands[1:], strict=True)
    known = all(v in s.foreign or not _may_carry(s, v, o, frame) for v, o in given)
    if isinstance(called, Known):
        makes = ops.maker_model_of(called.value)
        return _kept(s, makes, called, values, op, frame) if makes is not None and known else None
    found = s.foreign.get(called.receiver) if isinstance(called, Late) and isinstance(called.receiver, Value) else None
    if found is None or not isinstance(called, Late):
        return None
    if called.name in found.keeping and known:
        return _kept(s, found, called, values, op, frame)
    if known or called.name not in found.methods or any("*" in kind for kind in op.data):
        return None
    record = _stand_in(s, called.receiver, op, frame)
    assert isinstance(record, Record)
    return member_call(s, record, called.name, list(zip(op.data, values, strict=True)), op, frame)


def _kept(
    s: Specialiser, model: ObjectModel, called: Abstract, values: Sequence[Abstract], op: Operation, frame: Frame
) -> Done:
    """Write a call as it is, of which the result is such an object."""
    place = frame.place or op.place
    made = s.emit("call", s.operands([called, *values], place), op.data, op.result.name, place)
    s.foreign[made] = model
    return (made,)
