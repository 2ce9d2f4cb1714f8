"""The special methods that operations run where an operand is of a class of the user's."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.given import is_numpy
from s2sad.frontend.resolve import Member, classes_of
from s2sad.frontend.trees import nodes_of
from s2sad.runtime import protocols, stop_gradient
from s2sad.runtime.classes import BUILT_IN_NAMES, own_class, own_members, runs_python, static_member
from s2sad.runtime.reached import classes_made, classes_reached

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: What functions without source may run of their arguments: anything but the assignments.
_BY_CALLS = BUILT_IN_NAMES - protocols.IN_PLACE
#: What operations that have a derivative may run: they show no object.
_BY_RULES = _BY_CALLS - protocols.PRINTING
#: What methods of texts, lists, dicts and sets run of what they are given: they show it, run through it or compare it.
_BY_METHODS = {
    **dict.fromkeys("format join".split(), protocols.MAKING | protocols.PRINTING | protocols.ITERATING),
    **dict.fromkeys("extend update union intersection".split(), protocols.ITERATING | protocols.HASHING),
    **dict.fromkeys("get setdefault pop index count remove add discard".split(), protocols.MAKING | protocols.HASHING),
}

_HOLDING_NOTHING = (bool, int, float, complex, str, bytes)


def is_constant_call(call: Node, lookup: Lookup) -> bool:
    """Whether a call has no derivative: a class of the user's gives what it likes where no number is asked for."""
    found, function = lookup(call.func)
    spec = ops.spec_of(function) if found else None
    if spec is not None and spec.special and spec.makes is None and special_members(call, lookup):
        return False
    return found and (function is stop_gradient or ops.is_constant(function))


def special_members(node: Node, lookup: Lookup, surely: bool = False) -> dict[str, type]:
    """The special methods of the user's classes that evaluating an operation may run, each with its class.

    With ``surely`` they are those of objects that are known to be of these classes.
    """
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
            operands, names = [*_receiver(node.value, lookup), *_index_parts(node.slice)], protocols.INDEXING
        case gast.Call():
            operands, names = [*node.args, *(k.value for k in node.keywords)], _by_call(node, lookup)
            if names >= protocols.MAKING and not lookup(node.func)[0]:
                operands.append(node.func.value)
        case gast.Attribute():
            return _read_by_functions(node, lookup)
        case gast.comprehension() | gast.For():
            operands, names = _receiver(node.iter, lookup), protocols.ITERATING
        case gast.Dict() | gast.Set():
            keys = node.keys if isinstance(node, gast.Dict) else node.elts
            operands, names = [key for key in keys if key is not None], protocols.HASHING
        case gast.Starred():
            operands, names = [node.value], protocols.ITERATING
        case gast.Assign() if any(isinstance(t, (gast.Tuple, gast.List)) for t in node.targets):
            # A display is no object of a class of the user's, if its items are not run through themselves.
            plain = isinstance(node.value, (gast.Tuple, gast.List)) and all(_is_flat(t) for t in node.targets)
            operands, names = [] if plain else [node.value], protocols.ITERATING
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
    known = _surely_of if surely else _may_be
    classes = {cls for operand in operands for cls in known(operand, lookup)}
    members = [(name, cls) for cls in classes for name in own_members(cls) if name[:2] == "__"]
    return {name: cls for name, cls in sorted(members, key=str) if name in names}


def _receiver(node: Node, lookup: Lookup) -> list[Node]:
    """The object of a subscript or loop, if it may be of a class of the user's; a list that holds such is of none."""
    return [] if isinstance(node, gast.Name) and lookup(node) == (False, frozenset()) else [node]


def replaced_by_members(node: Node, lookup: Lookup) -> tuple[dict[str, type], bool]:
    """The methods of the user's classes that run in place of an operation through which a derivative may pass.

    That an operand of an operator or call, or what is put into a display item by item, may be of such a class is asked
    when it runs; the second item says so.
    """
    if isinstance(node, (gast.Call, gast.List, gast.Tuple)):
        parts = [node] if isinstance(node, gast.Call) else [e for e in node.elts if isinstance(e, gast.Starred)]
        return {}, any(special_members(part, lookup) for part in parts)
    if not isinstance(node, (gast.BinOp, gast.UnaryOp)):
        return special_members(node, lookup), False
    return special_members(node, lookup, surely=True), bool(special_members(node, lookup))


def stored_by_functions(target: Node, lookup: Lookup) -> set[type]:
    """The classes of the user's whose own method a store into an item may run."""
    return {cls for cls in _may_be(target.value, lookup) if "__setitem__" in own_members(cls)}


def _read_by_functions(attribute: Node, lookup: Lookup) -> dict[str, type]:
    """An attribute that a property or the like makes when it is read."""
    found = {}
    for cls in _may_be(attribute.value, lookup):
        name = attribute.attr if static_member(cls, attribute.attr) is not None else "__getattr__"
        member = static_member(cls, name)
        described = hasattr(type(member), "__get__") and not callable(member)
        if member is not None and (name == "__getattr__" or (described and runs_python(member))):
            found[name] = cls
        found.update({n: cls for n in own_members(cls) if n == "__getattribute__" or n in protocols.MAKING})
    return found


def classes_led_to(node: Node, lookup: Lookup) -> Iterator[type]:
    """The classes of the user's of which the value of an expression, or what it holds, may be."""
    match node:
        case gast.Name():
            found, value = lookup(node)
            yield from classes_reached(value) if found else ()
            yield from classes_of(node, lookup)
            yield from _held(node, lookup)
        case gast.Attribute():
            yield from _may_be(node, lookup)
            yield from _held(node, lookup)
        case gast.Call():
            found, made = lookup(node.func)
            spec = ops.spec_of(made) if found else None
            if (found and is_numpy(made)) or (spec is not None and spec.makes in _HOLDING_NOTHING):
                return
            cls = class_made(node, lookup)
            if cls is not None:
                yield cls
            elif isinstance(node.func, gast.Attribute) and not isinstance(made, types.FunctionType):
                yield from classes_led_to(node.func.value, lookup)
            for given in (*node.args, *(k.value for k in node.keywords)):
                yield from classes_led_to(given, lookup)
        case gast.IfExp():
            yield from (*classes_led_to(node.body, lookup), *classes_led_to(node.orelse, lookup))
        case gast.Subscript():
            yield from classes_led_to(node.value, lookup)
        case gast.JoinedStr():
            return
        case _:
            for part in gast.iter_child_nodes(node):
                yield from classes_led_to(part, lookup)


def _may_be(node: Node, lookup: Lookup) -> Iterator[type]:
    """The classes of the user's of which the value of an expression may be; nobody knows more than of attributes."""
    if not isinstance(node, gast.Attribute):
        yield from classes_led_to(node, lookup)
        return
    found, known = lookup(node)
    classes = known.classes if isinstance(known, Member) else known
    if found:
        yield from classes_reached(known)
    elif classes is not None:
        yield from classes
    else:
        yield from classes_led_to(node.value, lookup)


def _held(node: Node, lookup: Lookup) -> Iterable[type]:
    """The classes of the user's of which what the object of a name or attribute holds may be, as far as is known."""
    return lookup(gast.Subscript(value=node, slice=node, ctx=gast.Load()))[1] or ()


def classes_within(node: Node, lookup: Lookup) -> frozenset[type]:
    """The classes of the user's of which anything may be that the names in an expression lead to."""
    names = [name for name in nodes_of(node) if isinstance(name, gast.Name)]
    return frozenset(cls for name in names for cls in classes_led_to(name, lookup))


def _surely_of(node: Node, lookup: Lookup) -> Iterator[type]:
    """The classes of the user's of which a value is known to be."""
    match node:
        case gast.Name():
            yield from classes_of(node, lookup)
        case gast.Subscript() | gast.Starred():
            yield from _surely_of(node.value, lookup)
        case gast.IfExp():
            yield from (*_surely_of(node.body, lookup), *_surely_of(node.orelse, lookup))
        case gast.List() | gast.Tuple() | gast.Set():
            yield from (cls for value in node.elts for cls in _surely_of(value, lookup))
        case gast.BoolOp():
            yield from (cls for value in node.values for cls in _surely_of(value, lookup))
        case gast.Call():
            found, made = lookup(node.func)
            if found and isinstance(made, type) and own_members(made):
                yield made


def class_made(node: Node, lookup: Lookup) -> type | None:
    """The class of the user's of which a call makes an object."""
    found, made = lookup(node.func) if isinstance(node, gast.Call) else (False, None)
    return made if found and isinstance(made, type) and own_class(made) is not None else None


def classes_inside(made: type, call: Node, lookup: Lookup) -> frozenset[type]:
    """The classes of the user's of which what an object holds may be that a call makes."""
    given = (*call.args, *(k.value for k in call.keywords))
    return classes_made(made).union(*(classes_led_to(part, lookup) for part in given))


def _is_flat(target: Node) -> bool:
    """Whether no part of a target is unpacked itself."""
    return not any(isinstance(t, (gast.Tuple, gast.List)) for t in getattr(target, "elts", ()))


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
    if spec is not None and spec.special is not None:
        return spec.special
    return _BY_CALLS if ops.find(function) is None else _BY_RULES
