"""``np.r_[...]`` and ``np.c_[...]``, as calls of functions that join what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad.ir.nodes import Call, Const, Expr, Op
from s2sad.runtime.indexed import c_, r_

Node = Any


def indexed_call(
    node: Node, lookup: Callable[[Node], tuple[bool, Any]], operand: Callable[[Node], Expr]
) -> Call | tuple[str, str]:
    """The call that stands for an index into ``np.r_`` or ``np.c_``; for any other what is wrong, and a remedy.

    Args:
        node: The subscript.
        lookup: What a node means, if it is known.
        operand: What lowers an item.
    """
    maker = lookup(node.value)[1]
    items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    if maker not in (np.r_, np.c_) or any(isinstance(item, gast.Starred) for item in items):
        text = gast.unparse(node.value).strip()
        return f"{text}[...] has no derivative rule", "Take the items one by one, by constant indices."
    function = r_ if maker is np.r_ else c_
    args = [_range(item, operand) if isinstance(item, gast.Slice) else operand(item) for item in items]
    return Call(Op("runtime", function.__name__, function), tuple(args), (), node)


def _range(node: Node, operand: Callable[[Node], Expr]) -> Call:
    bounds = [Const(None) if part is None else operand(part) for part in (node.lower, node.upper, node.step)]
    return Call(Op("function", "slice", slice), tuple(bounds), (), node)
