"""What the value of an expression may be, view or hold: objects of local names, and of the module's variables."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.given import given, is_built_in, is_member, is_numpy
from s2sad.frontend.special import special_members
from s2sad.ops.spec import OpSpec
from s2sad.runtime.classes import ARRAY_MAKERS

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: Some variable of the module, if any.
UNKNOWN = "?"
#: The values through which no array is reached.
_PLAIN = (
    *(int, float, complex, str, bytes, type(None), type, np.dtype, np.generic, types.ModuleType),
    *ARRAY_MAKERS,
)
_PLAIN_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)


def names_held(node: Node, lookup: Lookup) -> Iterator[str]:
    """The names in an expression whose objects its value may be, view or hold: not those whose shape alone is asked."""
    if isinstance(node, gast.Name):
        yield node.id
    elif isinstance(node, gast.JoinedStr) or (isinstance(node, gast.Attribute) and _is_number(node, lookup)):
        return
    elif isinstance(node, gast.Call):
        for part in () if is_fresh(node, lookup) else (node.func, *_handed_on(node, lookup)):
            yield from names_held(part, lookup)
    else:
        for child in gast.iter_child_nodes(node):
            yield from names_held(child, lookup)


def _is_number(attribute: Node, lookup: Lookup) -> bool:
    """Whether an attribute says how an array is laid out, as ``shape`` does, and holds nothing of it."""
    return ops.is_constant_attribute(attribute.attr) and is_built_in(attribute, lookup)


def variables_held(node: Node, lookup: Lookup) -> Iterator[str]:
    """The module's variables whose objects a value may be, view or hold; `UNKNOWN` for one that is not known."""
    if isinstance(node, (gast.Name, gast.Attribute)):
        found, value = lookup(node)
        if found:
            if not (isinstance(value, (*_PLAIN, *_PLAIN_CALLABLES)) or is_numpy(value)):
                yield str(gast.unparse(node)).strip()
        elif isinstance(node, gast.Attribute) and not _is_number(node, lookup):
            if isinstance(lookup(node.value)[1], types.FunctionType):
                yield str(gast.unparse(node)).strip()
            yield from variables_held(node.value, lookup)
    elif isinstance(node, gast.Call):
        yield from _held_by_result(node, lookup)
    elif not isinstance(node, gast.JoinedStr):
        for child in gast.iter_child_nodes(node):
            yield from variables_held(child, lookup)


def is_fresh(call: Node, lookup: Lookup) -> bool:
    """Whether the result of a call surely shares nothing with what the call is given, nor with the module."""
    known = given(call, lookup)
    if known.spec is None or known.spec.result != "fresh" or not lookup(call.func)[0]:
        return False
    if known.of(("copy",)) or special_members(call, lookup) or known.outs():
        # The result is what is asked for, what a class of the user's makes it, or what is written.
        return False
    # An array of objects holds those that it is made of.
    return not any(_is_object(a, lookup) for a in (*call.args, *(k.value for k in call.keywords)))


def _handed_on(call: Node, lookup: Lookup) -> list[Node]:
    """The arguments of a call that its result may be or hold: not the function by which items are ordered."""
    ordering = _is_ordering(given(call, lookup).spec)
    return [*call.args, *(k.value for k in call.keywords if not (ordering and k.arg == "key"))]


def _is_ordering(spec: OpSpec | None) -> bool:
    """Whether what an operation calls does no more than say in which order things are."""
    return spec is not None and spec.calls is not None and "key" in spec.calls


def _is_object(node: Node, lookup: Lookup) -> bool:
    """Whether an argument asks for an array of objects."""
    value = node.value if isinstance(node, gast.Constant) else lookup(node)[1]
    return value in ("O", "object") if isinstance(value, str) else value is object or value is np.object_


def _held_by_result(call: Node, lookup: Lookup) -> Iterator[str]:
    """What the result of a call may be, view or hold."""
    found, function = lookup(call.func)
    if is_fresh(call, lookup):
        return
    method = call.func if not found and isinstance(call.func, gast.Attribute) else None
    for part in (*_handed_on(call, lookup), *([method.value] if method is not None else [])):
        yield from variables_held(part, lookup)
    if found:
        spec = ops.callee(function)
        known = is_numpy(function) or (spec is not None and (not spec.calls or _is_ordering(spec)))
    else:
        known = method is not None and is_built_in(method, lookup) and is_member(method.attr)
    if not known:
        yield UNKNOWN
