"""The parameters of a function, and their default values."""

from __future__ import annotations

import types

from s2sad.frontend.source import Source
from s2sad.ir.nodes import Default


def parameters(source: Source) -> list[tuple[str, bool]]:
    """The parameters of a function and whether each is keyword-only, ``*`` and ``**`` ones left out."""
    arguments = source.node.args
    plain = [(a.id, False) for a in [*arguments.posonlyargs, *arguments.args]]
    return plain + [(a.id, True) for a in arguments.kwonlyargs]


def default_objects(function: types.FunctionType) -> dict[str, object]:
    """The objects that are the default values of a function's parameters, by name."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    # Those that somebody has set may be more than there are parameters: the last ones count.
    given = (function.__defaults__ or ())[-len(names) :] if names else ()
    own = dict(zip(names[len(names) - len(given) :], given, strict=True))
    return {**own, **(function.__kwdefaults__ or {})}


def default_values(function: types.FunctionType) -> dict[str, Default]:
    """The default values of a function's parameters by name."""
    return {name: Default(value) for name, value in default_objects(function).items()}
