"""The special methods that operations run where an operand is of a class of the user's."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.resolve import classes_of
from s2sad.runtime import protocols
from s2sad.runtime.classes import BUILT_IN_NAMES, own_members, runs_python, static_member

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: What functions without source may run of their arguments: anything but the assignments.
_BY_CALLS = BUILT_IN_NAMES - protocols.IN_PLACE
#: What methods of texts, lists, dicts and sets run of what they are given: they show it, run through it or compare it.
_BY_METHODS = {
    **dict.fromkeys("format join".split(), protocols.MAKING | protocols.PRINTING | protocols.ITERATING),
    **dict.fromkeys("extend update union intersection".split(), protocols.ITERATING | protocols.HASHING),
    **dict.fromkeys("get setdefault pop index count remove add discard".split(), protocols.MAKING | protocols.HASHING),
}


def special_members(node: Node, lookup: Lookup) -> dict[str, type]:
    """The special methods of the user's classes that evaluating an operation may run, each with its class."""
    match node:
        case gast.BinOp():
            operands, names = [node.left, node.right], protocols.OPERATORS
            if isinstance(node.op, gast.Mod):
                names = names | protocols.PRINTING
        case gast.AugAssign():
            # What is added to a list is run through.
            operands, names = [node.value], protocols.ITERATING
        case gast.UnaryOp():
            operands = [node.operand]
            names = protocols.TESTING if isinstance(node.op, gast.Not) else protocols.OPERATORS
        case gast.Compare():
            operands, names = [node.left, *node.comparators], protocols.COMPARING
        case gast.Subscript():
            operands, names = [node.value, *_index_parts(node.slice)], protocols.INDEXING
        case gast.Call():
            operands, names = [*node.args, *(k.value for k in node.keywords)], _by_call(node, lookup)
            if names >= protocols.MAKING and not lookup(node.func)[0]:
                operands.append(node.func.value)
        case gast.Attribute():
            return _read_by_functions(node, lookup)
        case gast.comprehension() | gast.For():
            operands, names = [node.iter], protocols.ITERATING
        case gast.Dict() | gast.Set():
            keys = node.keys if isinstance(node, gast.Dict) else node.elts
            operands, names = [key for key in keys if key is not None], protocols.HASHING
        case gast.Starred():
            operands, names = [node.value], protocols.ITERATING
        case gast.Assign() if any(isinstance(t, (gast.Tuple, gast.List)) for t in node.targets):
            operands, names = [node.value], protocols.ITERATING
        case gast.Assign():
            stored = [t.slice for t in node.targets if isinstance(t, gast.Subscript)]
            operands, names = [part for index in stored for part in _index_parts(index)], protocols.HASHING
        case gast.FormattedValue():
            operands, names = [node.value], protocols.PRINTING
        case gast.If() | gast.While() | gast.IfExp() | gast.Assert():
            operands, names = [node.test], protocols.TESTING
        case gast.BoolOp():
            operands, names = node.values, protocols.TESTING
        case _:
            return {}
    if not names:
        return {}
    classes = {cls for operand in operands for cls in _classes_of_value(operand, lookup)}
    members = [(name, cls) for cls in classes for name in own_members(cls) if name[:2] == "__"]
    return {name: cls for name, cls in sorted(members, key=str) if name in names}


def stored_by_functions(target: Node, lookup: Lookup) -> set[type]:
    """The classes of the user's whose own method a store into an item may run."""
    return {cls for cls in _classes_of_value(target.value, lookup) if "__setitem__" in own_members(cls)}


def _read_by_functions(attribute: Node, lookup: Lookup) -> dict[str, type]:
    """An attribute that a property or the like makes when it is read."""
    found = {}
    for cls in _classes_of_value(attribute.value, lookup):
        name = attribute.attr if static_member(cls, attribute.attr) is not None else "__getattr__"
        member = static_member(cls, name)
        described = hasattr(type(member), "__get__") and not callable(member)
        if member is not None and (name == "__getattr__" or (described and runs_python(member))):
            found[name] = cls
        found.update({n: cls for n in own_members(cls) if n == "__getattribute__" or n in protocols.MAKING})
    return found


def _classes_of_value(node: Node, lookup: Lookup) -> Iterator[type]:
    """The classes of the user's of which a value is known to be; what attributes are is asked when it runs."""
    match node:
        case gast.Name():
            yield from classes_of(node, lookup)
        case gast.Subscript():
            yield from _classes_of_value(node.value, lookup)
        case gast.IfExp():
            yield from (*_classes_of_value(node.body, lookup), *_classes_of_value(node.orelse, lookup))
        case gast.List() | gast.Tuple() | gast.Set():
            yield from (cls for value in node.elts for cls in _classes_of_value(value, lookup))
        case gast.Starred():
            yield from _classes_of_value(node.value, lookup)
        case gast.BoolOp():
            yield from (cls for value in node.values for cls in _classes_of_value(value, lookup))
        case gast.Call():
            found, made = lookup(node.func)
            if found and isinstance(made, type) and own_members(made):
                yield made


def _index_parts(index: Node) -> list[Node]:
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    bounds = [(p.lower, p.upper, p.step) if isinstance(p, gast.Slice) else (p,) for p in parts]
    return [b for group in bounds for b in group if b is not None]


def _by_call(call: Node, lookup: Lookup) -> frozenset[str]:
    """What a call may run of its arguments, if it is of a function of Python's or NumPy's that is not looked into."""
    found, function = lookup(call.func)
    spec = ops.spec_of(function) if found else None
    if not found and isinstance(call.func, gast.Attribute):
        return _BY_METHODS.get(call.func.attr, protocols.MAKING)
    if not found or (spec is None and isinstance(function, types.FunctionType)):
        return frozenset()
    return _BY_CALLS if spec is None or spec.special is None else spec.special
