"""The functions among the arguments of operations without code, which may call them in any order with any of the rest.

``sorted(rows, key=f)`` calls ``f``; what is not known in more detail (a function of another library that is trusted to
change nothing by itself) may call all functions that it can reach, and these may lead to it again. Each is called once
in a round of the analysis: what one gives may be given to all others, and the rounds go on until nothing grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2sad.effects.objects import NOTHING, Object, Objects
from s2sad.ir.code import Operation

if TYPE_CHECKING:
    from s2sad.effects.points_to import Activation


@dataclass
class _Callback:
    given: Objects = NOTHING
    result: Objects = NOTHING
    #: The round in which the function was called last, and whether that call goes on.
    round: int = 0
    is_busy: bool = False


class Callbacks:
    """What such functions were given and have given back, in the analysis of one code."""

    def __init__(self) -> None:
        self._made: dict[tuple[Operation, Object], _Callback] = {}
        self._round = 0
        #: Whether something has grown after it was used.
        self.has_grown = False

    def start(self) -> None:
        """Begin a round."""
        self._round += 1
        self.has_grown = False

    def call(self, a: Activation, op: Operation, function: Object, given: Objects) -> Objects:
        """Call a function with any of some objects, and of those that the operation gave it before."""
        callback = self._made.setdefault((op, function), _Callback())
        is_known = given <= callback.given
        callback.given |= given
        if callback.is_busy or (is_known and callback.round == self._round):
            self.has_grown = self.has_grown or not is_known
            return callback.result
        callback.round, callback.is_busy = self._round, True
        found = a.call(op, frozenset((function,)), (), spread=callback.given)
        callback.is_busy = False
        if not found <= callback.result:
            callback.result |= found
            self.has_grown = True
        return callback.result
