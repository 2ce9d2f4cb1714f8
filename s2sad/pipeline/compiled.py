"""A compiled derivative, and the goals for which one is compiled."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from s2sad.differentiate.known import Pair, TangentCall
from s2sad.errors import UnsupportedError
from s2sad.frontend.resolve import Guard

#: A ``call`` is a pair for a call that is met at run time, ``effects`` what such a call does, without derivative.  A
#: ``tangent`` is a function of arguments and their tangents, ``tangent_call`` the same for a call met at run time, and
#: ``tangent_alone`` one that does not return the value.
Goal = Literal[
    "gradient",
    "value_and_gradient",
    "pair",
    "call",
    "copied_call",
    "effects",
    "tangent",
    "tangent_call",
    "tangent_alone",
]
#: For what the sizes of arguments are known as numbers, if they are: for the objects that loops make, and for what
#: lists and dicts hold after each round as well.
Sizes = Literal["", "held", "sizes", "handed", "rounds", "inlined", "raised", "raised rounds"]


@dataclass(frozen=True)
class Doings:
    """What a function does beside computing its result.

    ``written`` are the parameters whose arguments it may write, ``kept`` those that it may keep, ``shared`` those whose
    object the result may be, view or hold; with ``outside`` it may so share with what else there is.  What ``alters``
    may write into objects of the module of which it is not known which they are, other than by changing which items
    lists and dicts have.  With ``nothing`` the result is None.
    """

    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    outside: bool = False
    alters: bool = False
    nothing: bool = False


_MISSING = object()


@dataclass
class Compiled:
    """A compiled derivative: its text, its functions by name, and the guards that it rests on.

    ``pair`` says what goes in and out of the halves of a pair, ``tangent`` the same of the tangent of a function.  With
    ``once``, what a forward part saves serves one run of the reverse part, which changes the shadows in it: who wants
    several copies it.  The arguments of the parameters in ``written`` are copied first.  Sizes of arguments that are
    not known decide which objects the program makes, if it is ``of_sizes``; with ``of_rounds`` it may help to write
    loops out where the run meets a list or an object in place of an array.  A program that ``repeats`` may run again
    from the start: it changes nothing but objects of its own.  One that takes what may be an array for a number, since
    there is no derivative for an array, has the error that says why.
    """

    text: str
    functions: dict[str, types.FunctionType]
    guards: tuple[Guard, ...]
    stages: dict[str, Callable[[], str]] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    once: bool = False
    pair: Pair | None = None
    written: frozenset[str] = frozenset()
    doings: Doings | None = None
    tangent: TangentCall | None = None
    of_sizes: bool = False
    of_rounds: bool = False
    repeats: bool = False
    not_for_arrays: UnsupportedError | None = None

    def __post_init__(self) -> None:
        # A call checks these each time: the common sorts are laid out flat.
        self._names = [
            (g.space, g.name, g.space.get(g.name, _MISSING))
            for g in self.guards
            if g.probe is None and isinstance(g.space, dict)
        ]
        self._codes = [(g.space, g.expected) for g in self.guards if g.name == "__code__"]
        self._others = [
            g for g in self.guards if g.probe is not None or not (isinstance(g.space, dict) or g.name == "__code__")
        ]

    def holds(self) -> bool:
        """Whether every name that was resolved still means the same."""
        for space, name, expected in self._names:
            if space.get(name, _MISSING) is not expected:
                return False
        for function, code in self._codes:
            if function.__code__ is not code:
                return False
        return not self._others or all(guard.holds() for guard in self._others)


def tangent_names(params: Sequence[str], wrt: Sequence[str], read: Collection[str]) -> tuple[str, ...]:
    """The names of the tangents of some parameters, other than those of all parameters, and of what else is ``read``.

    Example:
        >>> tangent_names(("x", "x_dot"), ("x",), {"x_dot_"})
        ('x_dot__',)
    """
    taken, found = {*params, *read}, []
    for name in wrt:
        public = f"{name}_dot"
        while public in taken:
            public += "_"
        taken.add(public)
        found.append(public)
    return tuple(found)
