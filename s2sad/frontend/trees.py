"""Questions about the syntax tree of a function."""

from __future__ import annotations

from typing import Any

import gast


def nodes_of(tree: Any) -> list[Any]:
    """A node and all nodes inside, breadth first, as ``ast.walk`` has them.

    A list, and no generators: lowering asks many questions of every node.
    """
    found = [tree]
    for node in found:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                found += [v for v in value if isinstance(v, gast.AST)]
            elif isinstance(value, gast.AST):
                found.append(value)
    return found


def is_starred(call: Any) -> bool:
    """Whether a call has arguments behind ``*`` or ``**``."""
    return any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
