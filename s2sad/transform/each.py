"""Functions of one object, where it is one of two by a condition: they give one of two results."""

from __future__ import annotations

import copy
import dataclasses
import functools
import types
from collections.abc import Sequence
from typing import Any

from s2sad.ir.code import Operation
from s2sad.ops.subclasses import outcome_of
from s2sad.runtime.classes import package_of
from s2sad.transform import presence
from s2sad.transform.array_objects import may_be_array
from s2sad.transform.branches import fork
from s2sad.transform.choices import is_none
from s2sad.transform.containers import computed
from s2sad.transform.iterators import Given
from s2sad.transform.known import Abstract, Choice, Known
from s2sad.transform.specialiser import Done, End, Frame, Specialiser

#: Functions of one object that are those of each of some objects where it is one of these.
_OF_ONE = (dataclasses.replace, dataclasses.asdict, dataclasses.astuple, copy.copy, copy.deepcopy)


def takes_each(values: Sequence[Abstract], function: Any) -> bool:
    """Whether a function of one object is given one of some objects, or one that may be None."""
    return bool(values) and isinstance(values[0], Choice) and any(function is one for one in _OF_ONE)


def of_arrays(s: Specialiser, known: Known, args: Sequence[tuple[str, Abstract]], op: Operation, frame: Frame) -> Done:
    """What a function of NumPy's gives for each side of an argument that may be an object of a subclass of arrays.

    None of one that takes such objects for arrays, and of any other function.
    """
    function = known.value
    at = next((n for n, (_, value) in enumerate(args) if may_be_array(value)), None)
    is_numpys = package_of(function) == "numpy" or isinstance(function, types.MethodDescriptorType)
    if at is None or not is_numpys or outcome_of(function) == "plain":
        return None
    choice = args[at][1]
    assert isinstance(choice, Choice)
    kinds, values = tuple([kind for kind, _ in args]), [value for _, value in args]

    def arm(side: Abstract) -> End:
        return End("yield", (computed(s, "call", kinds, [known, *values[:at], side, *values[at + 1 :]], op, frame),))

    arms = [functools.partial(arm, side) for side in (choice.then, choice.orelse)]
    return fork(s, choice.test, arms, [result.name for result in op.results], frame.place or op.place)


def of_each(given: Given, function: Any) -> Done:
    """What such a function gives for each side."""
    s, place = given.s, given.frame.place or given.op.place
    choice = given.values[0]
    assert isinstance(choice, Choice)

    def arm(side: Abstract) -> End:
        if is_none(side) and dataclasses.replace is function:
            message = "replace() should be called on dataclass instances"
            return End("raise", (presence.exception(s, TypeError, message, place),), place)
        args = (Known(function, (function.__name__,)), side, *given.values[1:], *given.named.values())
        kinds = (*("" for _ in given.values), *given.named)
        return End("yield", (computed(s, "call", kinds, args, given.op, given.frame),))

    arms = [functools.partial(arm, side) for side in (choice.then, choice.orelse)]
    return fork(s, choice.test, arms, [result.name for result in given.op.results], place)
