"""Calls of which it is known at run time only what they run: of parameters, items, attributes, methods of objects.

    y = f(x)               of a parameter
    y = ACTIVATIONS[k](x)  of an item
    y = self.act(x)        of an attribute, or a method
    y = PARTIAL(x)         of an object of the module

What is called carries no derivative itself.  Such a call is differentiated when it runs (`s2sad.dispatch`), where it is
checked that it writes into nothing that it is given and keeps nothing of that.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.called import is_followed, sparse_product
from s2sad.frontend.given import is_built_in
from s2sad.frontend.outs import is_writing
from s2sad.frontend.resolve import is_jitted
from s2sad.frontend.scopes import bound_names
from s2sad.frontend.trees import is_starred, nodes_of
from s2sad.frontend.unfollowed import inside_library
from s2sad.runtime.classes import own_class, static_member

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
_INNER = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_FUNCTIONS = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial, np.ufunc)
_AROUND = (types.MethodType, functools.partial, type(functools.cache(len)))


def is_unknown(call: Node, lookup: Lookup, is_local: Callable[[str], bool]) -> bool:
    """Whether it is known at run time only what a call runs."""
    if is_starred(call) or is_writing(call, lookup):
        return False
    if of_constant(call, lookup) is not None:
        return False
    found, function = lookup(call.func)
    if found:
        return is_around(function)
    if isinstance(call.func, gast.Name):
        return is_local(call.func.id)
    if not isinstance(call.func, gast.Attribute):
        return not isinstance(call.func, (gast.Lambda, gast.Constant))
    known, owner = lookup(call.func.value)
    member = static_member(type(owner), call.func.attr)
    if known and is_of_package(member):
        return ops.spec_of(member) is not None
    if isinstance(owner, types.ModuleType) or sparse_product(call, lookup) is not None or _is_of_base(call, lookup):
        return False
    return ops.method(call.func.attr) is None or not is_built_in(call.func, lookup)


def of_constant(call: Node, lookup: Lookup) -> tuple[Node, str, Any] | None:
    """The object that exists, the name and the method of a call of one that has a rule: ``SPLINE(x)``, ``LU.solve(b)``.

    The object is a constant, and the method an operation like a function.
    """
    found, function = lookup(call.func)
    if found and not isinstance(function, _FUNCTIONS) and ops.spec_of(function) is None:
        return _with_rule(call.func, function, "__call__")
    if not found and isinstance(call.func, gast.Attribute):
        found, owner = lookup(call.func.value)
        if found and not isinstance(owner, (type, types.ModuleType)):
            return _with_rule(call.func.value, owner, call.func.attr)
    return None


def _with_rule(node: Node, owner: Any, name: str) -> tuple[Node, str, Any] | None:
    member = static_member(type(owner), name)
    is_method = callable(member) and not isinstance(member, type) and not isinstance(owner, np.ndarray)
    return (node, name, member) if is_method and ops.find(member) is not None else None


def is_around(function: Any) -> bool:
    """Whether a known object runs a function when it is called, and is no function of the operation table itself."""
    if isinstance(function, (type, np.ufunc)) or ops.spec_of(function) is not None:
        return False
    if isinstance(function, types.BuiltinMethodType):
        return ops.find(static_member(type(function.__self__), function.__name__)) is not None
    if isinstance(function, types.FunctionType):
        return False
    if ops.remedy(function) is not None:
        return False
    if isinstance(function, _AROUND) or is_jitted(function):
        return True
    called = static_member(type(function), "__call__")
    if is_of_package(called):
        return ops.spec_of(called) is not None
    return own_class(function) is not None or (isinstance(called, types.FunctionType) and is_followed(called))


def is_of_package(member: Any) -> bool:
    """Whether a member of a class is a function of an installed package."""
    return isinstance(member, types.FunctionType) and bool(inside_library(member.__code__.co_filename))


def _is_of_base(call: Node, lookup: Lookup) -> bool:
    """Whether a call is of a method of a class further up: ``super().forward(x)``."""
    owner = call.func.value
    return isinstance(owner, gast.Call) and lookup(owner.func)[1] is super


def calls_at_once(node: Node) -> Iterator[Node]:
    """The calls that evaluating an expression runs itself."""
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.Call):
            yield part
        if not isinstance(part, _INNER):
            pending.extend(gast.iter_child_nodes(part))


def roots_called(function: Node) -> set[str]:
    """The names of which a function calls what they stand for, an item or attribute of it."""
    found: set[str] = set()
    for call in nodes_of(function):
        root = call.func if isinstance(call, gast.Call) else None
        while isinstance(root, (gast.Attribute, gast.Subscript)):
            root = root.value
        if isinstance(root, gast.Name):
            found.add(root.id)
    return found


def roots_of_called(function: Node) -> set[str]:
    """The names of `roots_called`, and those of which their values are made."""
    found = roots_called(function)
    made = [
        (set(bound_names(target)), node.value)
        for node in nodes_of(function)
        if isinstance(node, (gast.Assign, gast.AnnAssign, gast.NamedExpr)) and node.value is not None
        for target in (node.targets if isinstance(node, gast.Assign) else [node.target])
    ]
    while True:
        values = [value for names, value in made if not names.isdisjoint(found)]
        more = {name.id for value in values for name in nodes_of(value) if isinstance(name, gast.Name)}
        if more <= found:
            return found
        found |= more
