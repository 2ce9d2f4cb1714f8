"""The derivatives of callees in the making, and those that were made before and have the same text.

Of a function that is called with other facts, and of the methods that are written out for each of several objects, the
texts may differ in nothing but their names: one of them is kept.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from s2sad.differentiate.known import Pair, TangentCall
from s2sad.pipeline.compiled import Doings
from s2sad.pipeline.writer import Writer


@dataclass
class Callee:
    """A pair in the making: the cells are filled when its text is loaded.

    Once it is ``fixed``, because a call of the function itself rests on it, what it passes does not change.
    """

    names: tuple[str, str]
    cells: tuple[types.CellType, types.CellType]
    pair: Pair | None = None
    fixed: bool = False
    done: bool = False
    doings: Doings | None = None


@dataclass
class CalleeTangent:
    """The tangent of a callee in the making: the cell is filled when its text is loaded.

    Once it is ``fixed``, because a call rests on it, it keeps its name.
    """

    call: TangentCall
    cell: types.CellType
    doings: Doings
    fixed: bool = False
    done: bool = False


def pair_like(callee: Callee, made: Mapping[Any, Callee], writer: Writer) -> Callee | None:
    """One of the pairs that were made before, if it has the same text as this one."""
    for known, other in made.items():
        if known is None or not other.done or other.pair is None:
            continue
        pair = callee.pair and replace(callee.pair, forward=other.pair.forward, reverse=other.pair.reverse)
        if pair == other.pair and all(map(writer.is_same, callee.names, other.names)):
            return other
    return None


def tangent_like(tangent: CalleeTangent, made: Mapping[Any, CalleeTangent], writer: Writer) -> CalleeTangent | None:
    """One of the tangents that were made before, if it has the same text as this one."""
    name = tangent.call.function.name
    for known, other in made.items():
        if known is None or not other.done:
            continue
        call = replace(tangent.call, function=other.call.function)
        if call == other.call and writer.is_same(name, call.function.name):
            return other
    return None
