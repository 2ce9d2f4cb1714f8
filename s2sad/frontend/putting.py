"""What of the module is put into lists and dicts by calls that are not taken apart: ``items.append(G)``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad.frontend.given import given, is_built_in, is_member
from s2sad.frontend.holding import UNKNOWN, names_held, variables_held
from s2sad.frontend.scopes import bound_names
from s2sad.frontend.trees import nodes_of
from s2sad.frontend.writing import alters, special_writing, written_by
from s2sad.runtime.contents import attributes_of, items_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]

#: The classes whose methods change which items an object has, and write into none of them.
_CONTAINERS = (list, dict, set)


def puts(node: Node, lookup: Lookup) -> Iterator[str]:
    """The variables of the module, of those through which arrays are reached, that calls put into containers."""
    nodes = nodes_of(node)
    inner = [n for n in nodes if isinstance(n, gast.comprehension)]
    for call in nodes:
        if not isinstance(call, gast.Call) or not _may_put(call, lookup):
            continue
        parts = [*call.args, *(k.value for k in call.keywords)]
        for generator in inner * len(inner):
            bound = set(bound_names(generator.target))
            if generator.iter not in parts and any(not bound.isdisjoint(names_held(p, lookup)) for p in parts):
                parts.append(generator.iter)
        found = {v for part in parts for v in variables_held(part, lookup)} - {UNKNOWN}
        yield from (v for v in found if _reaches_arrays(lookup(gast.parse(v, mode="eval").body)[1]))


def _may_put(call: Node, lookup: Lookup) -> bool:
    """Whether a call is of what puts an argument into another or its object, or of a method that nobody knows."""
    spec = given(call, lookup).spec
    return bool(spec.stores) if spec is not None else is_built_in(call.func, lookup) and not is_member(call.func.attr)


def only_changes(node: Node, lookup: Lookup) -> bool:
    """Whether what runs inside ``node`` writes no more than which items containers have."""
    for part in nodes_of(node):
        if special_writing(part, lookup):
            return False
        if isinstance(part, gast.Call) and not _is_change(part, lookup):
            if any(written_by(part, lookup)) or alters(part, lookup):
                return False
    return True


def _is_change(call: Node, lookup: Lookup) -> bool:
    """Whether a call is of a method that changes which items a container has."""
    known = given(call, lookup)
    return bool(known.changed()) and getattr(known.function, "__objclass__", None) in _CONTAINERS


def _reaches_arrays(value: Any, depth: int = 3) -> bool:
    """Whether a value is an array, or holds some."""
    held = [*items_of(value), *(attributes_of(value).values() if not callable(value) else ())]
    return isinstance(value, np.ndarray) or (depth > 0 and any(_reaches_arrays(v, depth - 1) for v in held))
