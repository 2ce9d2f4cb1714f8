"""Structures of numbers and arrays, as users pass and get them: their leaves, and the same structure of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from s2sad.runtime.trees import dataclass_fields, sequence_like, with_fields


def leaves_of(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    """All that is no container and not None, each with what is written after the structure to get it.

    Example:
        >>> leaves_of({"a": 1.0, "b": [2.0, None]})
        [("['a']", 1.0), ("['b'][0]", 2.0)]
    """
    if isinstance(tree, dict):
        return [leaf for k, v in tree.items() for leaf in leaves_of(v, f"{path}[{k!r}]")]
    if isinstance(tree, (list, tuple)):
        return [leaf for i, v in enumerate(tree) for leaf in leaves_of(v, f"{path}[{i}]")]
    fields = dataclass_fields(tree)
    if fields is not None:
        return [leaf for k in fields for leaf in leaves_of(getattr(tree, k), f"{path}.{k}")]
    return [] if tree is None else [(path, tree)]


def with_leaves(tree: Any, leaves: Iterable[Any]) -> Any:
    """The structure ``tree`` with other leaves, as many as it has.

    Example:
        >>> with_leaves({"a": 1.0, "b": [2.0, None]}, "xy")
        {'a': 'x', 'b': ['y', None]}
    """
    left = iter(leaves)

    def made(part: Any) -> Any:
        if isinstance(part, dict):
            return {k: made(v) for k, v in part.items()}
        if isinstance(part, (list, tuple)):
            return sequence_like(part, [made(v) for v in part])
        fields = dataclass_fields(part)
        if fields is not None:
            return with_fields(part, {k: made(getattr(part, k)) for k in fields})
        return None if part is None else next(left)

    return made(tree)
