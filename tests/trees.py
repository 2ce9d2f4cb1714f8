"""Nested structures of floats and arrays, as tests see them: leaves, copies, and comparison bit for bit.

The code is independent of `s2sad`'s own handling of containers, so that a mistake there cannot hide here.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def children(tree: Any) -> list[tuple[str, Any]] | None:
    """The named children of a container, or None for a leaf (`None` is an empty container)."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [(f"[{key!r}]", value) for key, value in tree.items()]
    if isinstance(tree, (tuple, list)):
        return [(f"[{index}]", value) for index, value in enumerate(tree)]
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return [(f".{field.name}", getattr(tree, field.name)) for field in dataclasses.fields(tree)]
    return None


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its path, depth first."""
    inner = children(tree)
    if inner is None:
        yield path, tree
        return
    for name, child in inner:
        yield from leaves(child, path + name)


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same structure with `function` of every leaf."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        return type(tree)((key, tree_map(function, value)) for key, value in tree.items())
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(tree_map(function, value) for value in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(tree_map(function, value) for value in tree)
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        changed = copy.copy(tree)
        for field in dataclasses.fields(tree):
            object.__setattr__(changed, field.name, tree_map(function, getattr(tree, field.name)))
        return changed
    return function(tree)


def fresh(tree: Any) -> Any:
    """A deep copy that keeps every array's strides, and aliases inside it.

    `ravel` and `reshape` give a view of an array or a copy of it by its strides: the copy's must be the same, also
    where they are negative or leave gaps.
    """
    arrays = {id(leaf): _same_layout(leaf) for _, leaf in leaves(tree) if type(leaf) is np.ndarray}
    return copy.deepcopy(tree, arrays)


def _same_layout(array: np.ndarray) -> np.ndarray:
    if array.dtype.hasobject or 0 in array.shape:
        return copy.deepcopy(array)
    start, end = np.lib.array_utils.byte_bounds(array)
    offset = array.__array_interface__["data"][0] - start
    made = np.ndarray(array.shape, array.dtype, bytearray(end - start), offset, array.strides)
    made[...] = array
    made.flags.writeable = array.flags.writeable
    return made


def same_structure(one: Any, two: Any) -> bool:
    """Whether the containers agree, leaves aside."""
    inner_one, inner_two = children(one), children(two)
    if inner_one is None or inner_two is None:
        return inner_one is None and inner_two is None
    if type(one) is not type(two):
        return False
    if [name for name, _ in inner_one] != [name for name, _ in inner_two]:
        return False
    return all(same_structure(a, b) for (_, a), (_, b) in zip(inner_one, inner_two, strict=True))


def bits(leaf: Any) -> Any:
    """What identifies a leaf's value bit for bit: type, shape and bytes; signed zeros and NaN included."""
    if isinstance(leaf, np.ndarray):
        if leaf.dtype == object:
            return ("array", leaf.shape, "object", [bits(item) for item in leaf.ravel().tolist()])
        return ("array", leaf.shape, leaf.dtype.str, np.ndarray.tobytes(leaf))
    if isinstance(leaf, np.generic):
        return ("scalar", leaf.dtype.str, leaf.tobytes())
    if isinstance(leaf, float):
        return ("float", np.float64(leaf).tobytes())
    if isinstance(leaf, complex):
        return ("complex", np.complex128(leaf).tobytes())
    return (type(leaf).__name__, leaf)


def same_bits(one: Any, two: Any) -> bool:
    """Whether two trees agree bit for bit, in structure, types and values."""
    if not same_structure(one, two):
        return False
    return all(bits(a) == bits(b) for (_, a), (_, b) in zip(leaves(one), leaves(two), strict=True))


def arrays(tree: Any) -> list[tuple[str, np.ndarray[Any, Any]]]:
    """The leaves that are arrays."""
    return [(path, leaf) for path, leaf in leaves(tree) if isinstance(leaf, np.ndarray)]
