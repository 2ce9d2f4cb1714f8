"""What ``inspect`` says of the parameters of functions that are known: their names, and default values."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import NONE, Constant
from s2sad.transform.containers import items_of
from s2sad.transform.iterators import Given
from s2sad.transform.known import Abstract, Known, Method, Row
from s2sad.transform.specialiser import Done, Specialiser


def argument_names(given: Given) -> Done:
    """``inspect.getfullargspec(...)`` of a method of an object that the program makes, or of a known function."""
    function = _function(given.values[0]) if len(given.values) == 1 and not given.named else None
    if function is None:
        return None
    spec = inspect.getfullargspec(function)
    s = given.s
    defaults = None if spec.defaults is None else [_constant(value) for value in spec.defaults]
    by_name = None if spec.kwonlydefaults is None else {k: _constant(v) for k, v in spec.kwonlydefaults.items()}
    if None in (defaults or ()) or None in (by_name or {}).values() or spec.annotations:
        return None
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        s.guard(Guard(function, name, getattr(function, name)))
    items: list[Abstract] = [
        _texts(s, spec.args), Constant(spec.varargs), Constant(spec.varkw),
        NONE if defaults is None else Row(tuple([d for d in defaults if d is not None])), _texts(s, spec.kwonlyargs),
        NONE if by_name is None else _dict(s, {k: d for k, d in by_name.items() if d is not None}), _dict(s, {}),
    ]  # fmt: skip
    s.used = True
    return (Row(tuple(items), inspect.FullArgSpec),)


def _function(value: Abstract) -> types.FunctionType | None:
    """The function that a value is, or that a method runs, which nothing stands around."""
    if isinstance(value, Method):
        value = value.function
    found: Any = value.value if isinstance(value, Known) else None
    plain = isinstance(found, types.FunctionType) and not hasattr(found, "__wrapped__")
    return found if plain and not hasattr(found, "__signature__") else None


def _constant(value: Any) -> Constant | None:
    return Constant(value) if value is None or type(value) in (int, float, bool, str) else None


def _texts(s: Specialiser, names: list[str]) -> Abstract:
    return items_of(s, [Constant(name) for name in names])


def _dict(s: Specialiser, items: Mapping[str, Constant]) -> Abstract:
    return items_of(s, list(items.values()), tuple(items))
