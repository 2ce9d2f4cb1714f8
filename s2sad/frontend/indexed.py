"""Subscripts that are other operations: ``np.r_[...]``, ``np.c_[...]``, and those of ``a.flat``.

The first two are calls of functions that join what they are given; an item of ``a.flat`` is one of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad.frontend.given import is_built_in
from s2sad.frontend.resolve import makes_of_index
from s2sad.ir.nodes import Call, Const, Expr, Op, Slice
from s2sad.runtime.indexed import c_, r_
from s2sad.runtime.positions import flat_index, flat_values

Node = Any
_FLAT = Op("runtime", "flat_index", flat_index)
_VALUES = Op("runtime", "flat_values", flat_values)
_ALL = Slice(None, None, None)
_SHAPE = Op("runtime", "np.shape", np.shape)
_ARANGE, _LINSPACE = Op("runtime", "np.arange", np.arange), Op("runtime", "np.linspace", np.linspace)


def makers_as_values(
    nodes: Iterable[Node], lookup: Callable[[Node], tuple[bool, Any]], aliases: Iterable[Node]
) -> Iterator[tuple[Node, str, str]]:
    """Uses of ``np.r_`` and the like as values, not as aliases: what is subscripted later would pass for an array."""
    nodes = list(nodes)
    subscripted = {id(node.value) for node in nodes if isinstance(node, gast.Subscript)} | set(map(id, aliases))
    for node in nodes:
        is_read = isinstance(node, (gast.Name, gast.Attribute)) and isinstance(node.ctx, gast.Load)
        if is_read and id(node) not in subscripted and makes_of_index(lookup(node)[1]):
            yield (
                node,
                "this makes something of an index, and is used here as a value",
                "Subscript it where it is read.",
            )


def indexed_call(
    node: Node,
    lookup: Callable[[Node], tuple[bool, Any]],
    operand: Callable[[Node], Expr],
    atom: Callable[[Expr], Expr],
) -> Call | tuple[str, str]:
    """The call that stands for an index into ``np.r_`` or ``np.c_``; for any other what is wrong, and a remedy.

    Args:
        node: The subscript.
        lookup: What a node means, if it is known.
        operand: What lowers an item.
        atom: What gives the result of a call a name.
    """
    maker = lookup(node.value)[1]
    items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    if maker not in (np.r_, np.c_) or any(isinstance(item, gast.Starred) for item in items):
        text = gast.unparse(node.value).strip()
        return f"{text}[...] has no derivative rule", "Take the items one by one, by constant indices."
    function = r_ if maker is np.r_ else c_
    args = [atom(_range(item, operand)) if isinstance(item, gast.Slice) else operand(item) for item in items]
    return Call(Op("runtime", function.__name__, function), tuple(args), (), node)


def place_of(
    node: Node,
    lookup: Callable[[Node], tuple[bool, Any]],
    operand: Callable[[Node], Expr],
    index_of: Callable[[Node], Expr],
) -> tuple[Expr, Expr]:
    """What has the item that a subscript reads or writes, and under which index; ``a.flat`` itself is all items.

    Args:
        node: The subscript, or that attribute.
        lookup: What a node means, if it is known.
        operand: What lowers an expression to an atom.
        index_of: What lowers an index.
    """
    whole = node if isinstance(node, gast.Attribute) else node.value
    if not (isinstance(whole, gast.Attribute) and whole.attr == "flat" and is_built_in(whole, lookup)):
        return operand(whole), index_of(node.slice)
    base = operand(whole.value)
    index = _ALL if whole is node else index_of(node.slice)
    if isinstance(index, Slice):
        parts = [Const(None) if part is None else part for part in (index.lower, index.upper, index.step)]
        index = Call(Op("function", "slice", slice), tuple(parts), (), node)
    return base, Call(_FLAT, (Call(_SHAPE, (base,)), index), (), node)


def as_many(value: Expr, index: Expr, node: Node) -> Expr:
    """A value as many times as there are places: NumPy begins anew at the end of what is stored in ``a.flat``."""
    if not (isinstance(index, Call) and index.op == _FLAT) or isinstance(value, Const):
        return value
    return Call(_VALUES, (value, *index.args), (), node)


def _range(node: Node, operand: Callable[[Node], Expr]) -> Call:
    """The numbers that a slice stands for, as a call of what NumPy makes them with."""
    step = node.step.value if isinstance(node.step, gast.Constant) else None
    if node.upper is None or (step is None and node.step is not None):
        bounds = [Const(None) if part is None else operand(part) for part in (node.lower, node.upper, node.step)]
        return Call(Op("function", "slice", slice), tuple(bounds), (), node)
    start, stop = Const(0) if node.lower is None else operand(node.lower), operand(node.upper)
    if isinstance(step, complex):
        return Call(_LINSPACE, (start, stop, Const(int(abs(step)))), (), node)
    return Call(_ARANGE, (start, stop, Const(1 if step is None else step)), (), node)
