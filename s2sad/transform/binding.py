"""The arguments of a call by the parameters of the function, and the default values of these."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence

from s2sad.frontend.parameters import default_objects
from s2sad.ir.code import Code
from s2sad.transform import stars
from s2sad.transform.containers import items_of
from s2sad.transform.known import Abstract, NotSpecialisedError, Row
from s2sad.transform.members import existing_value
from s2sad.transform.specialiser import Specialiser

Args = Sequence[tuple[str, Abstract]]


def defaults_of(s: Specialiser, function: types.FunctionType) -> dict[str, Abstract]:
    """The default values of a function."""
    return {name: existing_value(s, value, name) for name, value in default_objects(function).items()}


def bind(s: Specialiser, code: Code, defaults: Mapping[str, Abstract], args: Args) -> dict[str, Abstract]:
    """The arguments of a call by the names of the parameters."""
    given = [value for kind, value in args if kind == ""]
    named = {kind: value for kind, value in args if kind not in ("", "*", "**", stars.REST)}
    rest = [value for kind, value in args if kind == stars.REST]
    if len(given) + len(named) + len(rest) < len(args) or len(rest) > 1:
        raise NotSpecialisedError("star")
    bound: dict[str, Abstract] = {}
    for param in code.params:
        if param.kind == "star" and rest and not given:
            bound[param.name] = rest.pop()
        elif param.kind == "star":
            bound[param.name], given = Row(tuple(given)), []
        elif param.kind == "double star":
            bound[param.name] = items_of(s, list(named.values()), tuple(named))
            named = {}
        elif given and param.kind in ("positional", "positional only"):
            bound[param.name] = given.pop(0)
        elif param.name in named and param.kind != "positional only":
            bound[param.name] = named.pop(param.name)
        elif param.name in defaults:
            bound[param.name] = defaults[param.name]
        else:
            raise NotSpecialisedError("arguments")
    if rest:
        raise NotSpecialisedError("star")
    if given or named:
        raise NotSpecialisedError("arguments")
    return bound
