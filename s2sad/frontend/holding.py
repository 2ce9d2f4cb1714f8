"""What the value of an expression may be, view or hold: objects of local names, and of the module's variables."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.called import KNOWN_PURE
from s2sad.frontend.methods import CONSTANT_ATTRIBUTES, DRAWING_METHODS, OWN_METHODS
from s2sad.frontend.outs import given_out, hidden_outs, is_built_in, is_numpy
from s2sad.frontend.special import special_members
from s2sad.ir.types import INDEXED_MAKERS
from s2sad.runtime import stop_gradient

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: Some variable of the module, if any.
UNKNOWN = "?"
#: The values through which no array is reached.
_PLAIN = (
    *(int, float, complex, str, bytes, type(None), type, np.dtype, np.generic, types.ModuleType),
    *INDEXED_MAKERS,
)
_PLAIN_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)

#: Functions without rule whose result is what they are given, or of it.
_HANDING = (stop_gradient, iter, next, reversed, copy.copy)
#: Functions whose ``key`` is called, and is no part of the result.
_ORDERING = (sorted, max, min)
#: Functions that copy unless an argument says otherwise, and those that may give back what they are given.
_MAY_COPY, _MAY_GIVE_BACK = (np.array, np.nan_to_num), (max, min, sum)


def names_held(node: Node, lookup: Lookup) -> Iterator[str]:
    """The names in an expression whose objects its value may be, view or hold: not those whose shape alone is asked."""
    if isinstance(node, gast.Name):
        yield node.id
    elif isinstance(node, gast.Attribute) and node.attr in CONSTANT_ATTRIBUTES and is_built_in(node, lookup):
        return
    elif isinstance(node, gast.Call):
        for part in () if is_fresh(node, lookup) else (node.func, *_handed_on(node, lookup)):
            yield from names_held(part, lookup)
    else:
        for child in gast.iter_child_nodes(node):
            yield from names_held(child, lookup)


def variables_held(node: Node, lookup: Lookup) -> Iterator[str]:
    """The module's variables whose objects a value may be, view or hold; `UNKNOWN` for one that is not known."""
    if isinstance(node, (gast.Name, gast.Attribute)):
        found, value = lookup(node)
        if found:
            if not (isinstance(value, (*_PLAIN, *_PLAIN_CALLABLES)) or is_numpy(value)):
                yield str(gast.unparse(node)).strip()
        elif isinstance(node, gast.Attribute) and not (node.attr in CONSTANT_ATTRIBUTES and is_built_in(node, lookup)):
            if isinstance(lookup(node.value)[1], types.FunctionType):
                yield str(gast.unparse(node)).strip()
            yield from variables_held(node.value, lookup)
    elif isinstance(node, gast.Call):
        yield from _held_by_result(node, lookup)
    else:
        for child in gast.iter_child_nodes(node):
            yield from variables_held(child, lookup)


def is_fresh(call: Node, lookup: Lookup) -> bool:
    """Whether the result of a call surely shares nothing with what the call is given, nor with the module."""
    found, function = lookup(call.func)
    rule = ops.find(function) if found else None
    if function is not copy.deepcopy and (rule is None or rule.result != "fresh" or function in _MAY_GIVE_BACK):
        return False
    if any(k.arg == "copy" for k in call.keywords) or (function in _MAY_COPY and len(call.args) > 1):
        return False
    if special_members(call, lookup) or any(True for _ in (*given_out(call), *hidden_outs(call, lookup))):
        # The result is what a class of the user's makes it, or what is written.
        return False
    # An array of objects holds those that it is made of.
    return not any(_is_object(a, lookup) for a in (*call.args, *(k.value for k in call.keywords)))


def _handed_on(call: Node, lookup: Lookup) -> list[Node]:
    """The arguments of a call that its result may be or hold."""
    function = lookup(call.func)[1]
    ordering = any(function is f for f in _ORDERING)
    return [*call.args, *(k.value for k in call.keywords if not (ordering and k.arg == "key"))]


def _is_object(node: Node, lookup: Lookup) -> bool:
    """Whether an argument asks for an array of objects."""
    value = node.value if isinstance(node, gast.Constant) else lookup(node)[1]
    return value in ("O", "object") if isinstance(value, str) else value is object or value is np.object_


def _held_by_result(call: Node, lookup: Lookup) -> Iterator[str]:
    """What the result of a call may be, view or hold."""
    found, function = lookup(call.func)
    method = call.func if not found and isinstance(call.func, gast.Attribute) else None
    drawn = isinstance(getattr(function, "__self__", None), np.random.RandomState)
    if is_fresh(call, lookup) or (drawn and function.__name__ in DRAWING_METHODS):
        return
    for part in (*_handed_on(call, lookup), *([method.value] if method is not None else [])):
        yield from variables_held(part, lookup)
    if found:
        known = any(function is f for f in _HANDING) or function in KNOWN_PURE or is_numpy(function)
    else:
        own = method is not None and method.attr in OWN_METHODS | DRAWING_METHODS
        known = own and is_built_in(method, lookup)
    if not known:
        yield UNKNOWN
