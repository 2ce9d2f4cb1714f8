"""What of the module is put into lists and dicts by calls that are not taken apart: ``items.append(G)``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad.frontend.dependence import bound_names
from s2sad.frontend.holding import UNKNOWN, names_held, variables_held
from s2sad.frontend.resolve import Member
from s2sad.frontend.trees import nodes_of
from s2sad.frontend.writing import written_by

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]

#: The methods that change which items a list, dict or set has, and write into none of them; arrays have none of these.
_ITEMS = frozenset(
    "append extend insert pop remove clear reverse update setdefault popitem add discard appendleft __setitem__".split()
)
#: The functions that do the same, or write into an array.
_OPERATORS = (operator.iadd, operator.iconcat, operator.ior, operator.setitem)
#: The classes that have these methods.
_CONTAINERS = (list, dict, set)


def puts(node: Node, lookup: Lookup) -> Iterator[str]:
    """The variables of the module, of those through which arrays are reached, that calls put into containers."""
    nodes = nodes_of(node)
    inner = [n for n in nodes if isinstance(n, gast.comprehension)]
    for call in nodes:
        if not (
            isinstance(call, gast.Call)
            and (_is_change(call, lookup) or any(lookup(call.func)[1] is f for f in _OPERATORS))
        ):
            continue
        parts = [*call.args, *(k.value for k in call.keywords)]
        for generator in inner * len(inner):
            bound = set(bound_names(generator.target))
            if generator.iter not in parts and any(not bound.isdisjoint(names_held(p, lookup)) for p in parts):
                parts.append(generator.iter)
        found = {v for part in parts for v in variables_held(part, lookup)} - {UNKNOWN}
        yield from (v for v in found if _reaches_arrays(lookup(gast.parse(v, mode="eval").body)[1]))


def only_changes(node: Node, lookup: Lookup) -> bool:
    """Whether the calls inside ``node`` write no more than which items containers have."""
    calls = [n for n in nodes_of(node) if isinstance(n, gast.Call)]
    return all(_is_change(call, lookup) or not any(written_by(call, lookup)) for call in calls)


def _is_change(call: Node, lookup: Lookup) -> bool:
    """Whether a call is of a method that changes which items a container has."""
    found, function = lookup(call.func)
    if found:
        return any(function is getattr(t, n, None) for t in _CONTAINERS for n in _ITEMS if hasattr(t, n))
    of_users = isinstance(function, Member)
    return isinstance(call.func, gast.Attribute) and call.func.attr in _ITEMS and not of_users


def _reaches_arrays(value: Any, depth: int = 3) -> bool:
    """Whether a value is an array, or holds some."""
    held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple, set)) else ()
    held = [*held, *getattr(value, "__dict__", {}).values()] if not callable(value) else held
    return isinstance(value, np.ndarray) or (depth > 0 and any(_reaches_arrays(v, depth - 1) for v in held))
