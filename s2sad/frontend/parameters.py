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


def default_values(function: types.FunctionType) -> dict[str, Default]:
    """The default values of a function's parameters by name."""
    code = function.__code__
    given = function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    values = dict(zip(names[len(names) - len(given) :], given, strict=True))
    return {name: Default(value) for name, value in {**values, **(function.__kwdefaults__ or {})}.items()}
