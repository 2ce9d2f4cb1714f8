"""Functions among the arguments that may write what they are given: they are known when a derivative is compiled.

def march(u, update, n):            march(x * x, smooth, 3) is compiled with ``smooth`` for ``update``
    for i in range(n):
        update(u)

Others are met when the program runs, and one derivative serves all of them.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from s2sad.frontend.called import is_followed
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.writing import may_write
from s2sad.ir.code import Value
from s2sad.ir.types import Fact
from s2sad.transform.existing import is_container, name_of
from s2sad.transform.known import Abstract, Home, Known
from s2sad.transform.specialiser import Frame, Specialiser

#: The classes of functions some of which are known.
FUNCTIONS = (types.FunctionType, np.ufunc)


def is_known(value: Any) -> bool:
    """Whether an argument is a function that is known when a derivative is compiled.

    Universal functions write into their last argument or ``out``, if they are given one.

    Example:
        >>> def clear(u): u[0] = 0.0
        >>> is_known(clear), is_known(lambda u: 2 * u), is_known(np.add), is_known(len)
        (True, False, True, False)
    """
    if type(value) is np.ufunc:
        return True
    return type(value) is types.FunctionType and is_followed(value) and may_write(value)


def with_functions(value: Any, fact: Fact) -> Fact:
    """The type of an argument with the functions in it that are known."""
    if is_known(value):
        return fact.but(function=value)
    if fact.items is None or type(value) not in (tuple, list, dict):
        return fact
    items = tuple([(key, with_functions(value[key], held)) for key, held in fact.items])
    return fact.but(items=items) if any(a is not b for (_, a), (_, b) in zip(items, fact.items, strict=True)) else fact


def functions_among(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The types of those arguments that are such functions, or hold some, by parameter."""
    return {name: fact for name, fact in facts.items() if any(functions_in(fact))}


def functions_in(fact: Fact) -> Iterator[Callable[..., Any]]:
    """The functions that are known of an argument."""
    if fact.function is not None:
        yield fact.function
    for _, item in fact.items or ():
        yield from functions_in(item)


def begin(s: Specialiser, frame: Frame, home: Home, given: Mapping[Value, tuple[str, Fact]]) -> None:
    """Let the values of parameters be the functions that are known of them."""
    for operand, (name, fact) in given.items():
        found = _known(s, home, name, operand, fact)
        if found is None:
            continue
        s.used = True
        frame.env.update({target: found for target, value in frame.env.items() if value is operand})
        for cell, value in list(s.state.items()):
            if value is operand:
                s.state[cell] = found


def _known(s: Specialiser, home: Home, name: str, operand: Value, fact: Fact) -> Abstract | None:
    """What a value is of which the type is known; None where too little is."""
    if fact.function is not None:
        return s.outside(fact.function, name_of(fact.function, name))
    held = _skeleton(fact)
    if not is_container(held):
        return None
    # What is known of its items is that of a variable of a module, where the type has said it already.
    space = types.FunctionType(_nothing.__code__, {name: held})
    return Known(held, (), operand, (Home(home.source, Resolver(space, frozenset())), name, ()))


def _skeleton(fact: Fact) -> Any:
    """A container of some type with the functions that are known, and numbers for all else."""
    if fact.function is not None or fact.items is None or not any(functions_in(fact)):
        return fact.function or 0.0
    items = {key: _skeleton(item) for key, item in fact.items}
    return items if fact.kind == "dict" else tuple(items.values()) if fact.kind == "tuple" else list(items.values())


def _nothing() -> None: ...
