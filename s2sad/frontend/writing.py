"""Which calls may write into what they are given.

A function with source is read; one without is taken at its word, with the exception of what is
known to write: ``out=``, ``np.copyto``, ``ufunc.at``, list methods, shuffles.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad import rules
from s2sad.errors import S2SADError
from s2sad.frontend.dependence import bound_names, stored_base
from s2sad.frontend.methods import MUTATING_FUNCTIONS, MUTATING_METHODS
from s2sad.frontend.outs import hidden_outs
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import read_source
from s2sad.frontend.trees import nodes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]

_known: weakref.WeakKeyDictionary[types.FunctionType, tuple[Any, bool]] = weakref.WeakKeyDictionary()


def writes_first(function: object) -> bool:
    """Whether a function writes into its first argument."""
    if id(function) in MUTATING_FUNCTIONS:
        return True
    owner = getattr(function, "__self__", None)
    return isinstance(owner, np.ufunc) and getattr(function, "__name__", "") == "at"


def written_in(node: Node, lookup: Lookup) -> Iterator[str]:
    """The local names whose objects the calls inside ``node`` may write."""
    yield from hidden_outs(node, lookup)
    for call in nodes_of(node):
        if not isinstance(call, gast.Call):
            continue
        arguments = [*call.args, *(k.value for k in call.keywords)]
        for keyword in call.keywords:
            if keyword.arg == "out":
                yield from _bases(keyword.value)
        found, function = lookup(call.func)
        if not found and isinstance(call.func, gast.Attribute) and call.func.attr in MUTATING_METHODS:
            yield from _bases(call.func.value)
            if call.func.attr in ("shuffle",):
                for a in call.args:
                    yield from _bases(a)
        elif found and writes_first(function) and call.args:
            yield from _bases(call.args[0])
        elif found and getattr(function, "__name__", "") == "shuffle":
            for a in call.args:
                yield from _bases(a)
        elif (isinstance(function, types.FunctionType) and may_write(function)) or (
            not found and isinstance(call.func, (gast.Name, gast.Subscript))
        ):
            for a in arguments:
                yield from _bases(a)


def _bases(node: Node) -> Iterator[str]:
    if isinstance(node, (gast.Tuple, gast.List)):
        for element in node.elts:
            yield from _bases(element)
        return
    name = stored_base(node)
    if name is not None:
        yield name
    elif isinstance(node, gast.Call):
        for a in [*node.args, *([node.func.value] if isinstance(node.func, gast.Attribute) else [])]:
            yield from _bases(a)
    elif isinstance(node, gast.IfExp):
        yield from _bases(node.body)
        yield from _bases(node.orelse)
    elif isinstance(node, (gast.BoolOp, gast.Dict)):
        for part in node.values:
            yield from _bases(part)
    elif isinstance(node, (gast.NamedExpr, gast.Starred)):
        yield from _bases(node.value)


def may_write(function: types.FunctionType) -> bool:
    """Whether a function with source may write into an object that it is given or that is global."""
    if (getattr(function, "__module__", None) or "").partition(".")[0] in ("numpy", "math", "s2sad"):
        return False
    found = _known.get(function)
    if found is not None and found[0] is function.__code__:
        return found[1]
    _known[function] = (function.__code__, False)
    answer = _reads_as_writing(function)
    _known[function] = (function.__code__, answer)
    return answer


def _may_hand_on(value: Node, lookup: Lookup) -> bool:
    """Whether the value of an expression may be an object that is known by another name."""
    if isinstance(value, (gast.Constant, gast.BinOp, gast.UnaryOp, gast.Compare)):
        return False
    if isinstance(value, gast.Call):
        rule = rules.find(lookup(value.func)[1])
        return rule is None or rule.sharing != "fresh"
    return True


def _reads_as_writing(function: types.FunctionType) -> bool:
    try:
        node = read_source(function).node
    except S2SADError:
        return False
    params = {a.id for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    assigned = {n.id for n in nodes_of(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
    lookup = Resolver(function, frozenset(params | assigned)).lookup
    handed = set(params)
    for inner in nodes_of(node):
        if isinstance(inner, gast.Assign) and _may_hand_on(inner.value, lookup):
            handed |= {name for target in inner.targets for name in bound_names(target)}
        elif isinstance(inner, gast.For):
            handed |= set(bound_names(inner.target))
    for inner in nodes_of(node):
        if isinstance(inner, (gast.Subscript, gast.Attribute)) and isinstance(inner.ctx, (gast.Store, gast.Del)):
            return True
        if isinstance(inner, gast.AugAssign) and isinstance(inner.target, gast.Name) and inner.target.id in handed:
            return True
    return any(True for _ in written_in(gast.Module(body=node.body, type_ignores=[]), lookup))
