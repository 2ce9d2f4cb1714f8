"""What the interpreter holds for a value of the program: an object, and what is known of the reference to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


def isa(x: object, kinds: Any) -> bool:
    """Whether an object is of a class; unlike `isinstance` it asks nothing of the object."""
    return issubclass(type(x), kinds)


class NotSupported(BaseException):
    """The interpreter has no adjoint for an operation.

    It is no `Exception`, so that no handler of the program takes it for one of its own.
    """


class Node:
    """The adjoint of a number that an operation made."""

    __slots__ = ("bar",)

    def __init__(self) -> None:
        self.bar: Any = None

    def add(self, g: Any) -> None:
        self.bar = g if self.bar is None else self.bar + g

    def take(self) -> Any:
        """The adjoint, which is zero (None) afterwards."""
        found, self.bar = self.bar, None
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Stop:
    """The mark of a reference to a heap object that was stopped.

    What is read through it is constant, unless it was written after the moment ``time``.
    """

    time: int


@dataclass(slots=True, eq=False)
class Ref:
    """A reference: a number has a `Node` as its mark where it is active, a heap object a `Stop` where it is
    stopped.

    Whether a heap object that is not stopped is active is a matter of its memory and slots.
    """

    object: Any
    mark: Any = None

    @property
    def stop(self) -> Stop | None:
        return self.mark if isa(self.mark, Stop) else None


def is_number(x: Any) -> bool:
    """Whether an object is a number that may have an adjoint: it has no identity, and its adjoint is a value."""
    return isa(x, (float, complex, np.inexact))
