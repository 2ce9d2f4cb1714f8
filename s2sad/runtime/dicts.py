"""What emitted code does with the items of dicts whose keys are known only when it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def values_of(d: Any) -> list[Any]:
    """Return what a dict holds, in the order of its keys.

    >>> values_of({"a": 1.0, "b": 2.0})
    [1.0, 2.0]
    """
    return list(dict.values(d))


def by_key(d: Any, values: Iterable[Any]) -> dict[Any, Any]:
    """Return a dict with the keys of ``d``, in their order, and some values.

    >>> by_key({"a": 1.0, "b": 2.0}, [3.0, 4.0])
    {'a': 3.0, 'b': 4.0}
    """
    return dict(zip(d, values, strict=True))


def at_keys(bar: Any, keys: Sequence[Any]) -> list[Any]:
    """Return the parts of the adjoint of a dict for what it was made of, zero for what an equal key replaced.

    >>> at_keys({"a": 1.0, 1: 2.0}, ("a", 1, True))
    [1.0, 0.0, 2.0]
    """
    last = {key: place for place, key in enumerate(keys)}
    return [bar[key] if last[key] == place else 0.0 for place, key in enumerate(keys)]


def keys_of(d: Any) -> list[Any]:
    """Return ``list(d)`` of a dict: its keys carry no derivative.

    >>> keys_of({"a": 1.0, "b": 2.0})
    ['a', 'b']
    """
    return list(d)


def sorted_keys(d: Any, *, key: Any = None, reverse: bool = False) -> list[Any]:
    """Return ``sorted(d)`` of a dict.

    >>> sorted_keys({"b": 1.0, "a": 2.0})
    ['a', 'b']
    """
    return sorted(d, key=key, reverse=reverse)


def largest_key(d: Any, *, key: Any = None) -> Any:
    """Return ``max(d)`` of a dict.

    >>> largest_key({"b": 1.0, "a": 2.0}, key={"b": 1.0, "a": 2.0}.get)
    'a'
    """
    return max(d, key=key)


def smallest_key(d: Any, *, key: Any = None) -> Any:
    """Return ``min(d)`` of a dict.

    >>> smallest_key({"b": 1.0, "a": 2.0})
    'a'
    """
    return min(d, key=key)
