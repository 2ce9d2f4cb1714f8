"""Operators, subscripts, displays and strings: they dispatch on the classes that are met."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.ir import signs
from s2sad.ir.apply import BINARY, INPLACE, UNARY, _text
from s2sad.ir.code import Operation
from s2sad.ops.spec import Rule, spec_of
from tests.shadows import arrays, container_methods, containers, objects
from tests.shadows.containers import SEQUENCES, method, special
from tests.shadows.refs import NotSupported, Ref, is_number, isa
from tests.shadows.rules import bound, result
from tests.shadows.run import Run

_NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "|": "or", "^": "xor", "&": "and",
}  # fmt: skip
_COMPARED = {"==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"), "<": ("__lt__", "__gt__"),
             "<=": ("__le__", "__ge__"), ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__")}  # fmt: skip


def truth(run: Run, ref: Ref) -> bool:
    """What ``if`` asks of an object."""
    for name in ("__bool__", "__len__"):
        if special(run, ref.object, name) is not None:
            return bool(method(run, ref, name).object)
    return bool(ref.object)


def applied(run: Run, op: Operation, given: list[Ref]) -> Ref:
    """The result of an operation without regions."""
    match op.kind:
        case "unary":
            return unary(run, op.data, given[0])
        case "binary":
            return binary(run, op.data, *given)
        case "inplace":
            return inplace(run, op.data, *given)
        case "compare":
            return compare(run, op.data, *given)
        case "attribute":
            return objects.get(run, given[0], op.data)
        case "item":
            return item(run, *given)
        case "set_attribute":
            objects.set_(run, given[0], op.data, given[1])
        case "set_item":
            set_item(run, *given)
        case "delete_attribute":
            objects.delete(run, given[0], op.data)
        case "delete_item":
            if special(run, given[0].object, "__delitem__") is not None:
                method(run, given[0], "__delitem__", given[1])
            else:
                containers.delete_item(run, given[0], given[1].object)
        case "slice":
            return Ref(slice(*[g.object for g in given]))
        case "tuple" | "list" | "set":
            refs: list[Ref] = []
            for ref, star in zip(given, op.data, strict=True):
                refs += containers.iterate(run, ref) if star else [ref]
            return containers.pack(run, {"tuple": tuple, "list": list, "set": set}[op.kind], refs)
        case "dict":
            made = Ref({})
            for key, value, spread in zip(given[::2], given[1::2], op.data, strict=True):
                if spread:
                    container_methods.update(run, made, value)
                else:
                    containers.set_item(run, made, key.object, value)
            return made
        case "text":
            return Ref(_text(op, [g.object for g in given]))
        case _:
            raise NotSupported(op.kind)
    return Ref(None)


def item(run: Run, ref: Ref, index: Ref) -> Ref:
    if special(run, ref.object, "__getitem__") is not None:
        return method(run, ref, "__getitem__", index)
    if isa(ref.object, type):
        return Ref(ref.object[index.object])
    return containers.item(run, ref, index.object)


def set_item(run: Run, ref: Ref, index: Ref, value: Ref) -> None:
    if special(run, ref.object, "__setitem__") is not None:
        method(run, ref, "__setitem__", index, value)
    else:
        containers.set_item(run, ref, index.object, value)


def unary(run: Run, sign: str, ref: Ref) -> Ref:
    if sign == "not":
        return Ref(not truth(run, ref))
    name = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[sign]
    if special(run, ref.object, name) is not None:
        return method(run, ref, name)
    z = UNARY[sign](ref.object)
    if sign == "~":
        return Ref(z)
    rule = spec_of(np.negative if sign == "-" else np.positive)
    assert isa(rule, Rule)
    return result(run, z, bound(run, rule, {"x": ref}), [])


def binary(run: Run, sign: str, left: Ref, right: Ref) -> Ref:
    a, b = left.object, right.object
    name = _NAMES[sign]
    ours, theirs = special(run, a, f"__{name}__"), special(run, b, f"__r{name}__")
    if ours is not None or theirs is not None:
        return _dispatched(run, sign, left, right, ours is not None, theirs is not None)
    if isa(a, SEQUENCES) and sign in "+*" and not isa(b, (np.ndarray, np.generic)):
        return container_methods.joined(run, "__add__" if sign == "+" else "__mul__", left, right)
    if isa(b, SEQUENCES) and sign == "*" and not isa(a, (np.ndarray, np.generic)):
        return container_methods.joined(run, "__rmul__", right, left)
    if isa(a, dict) and isa(b, dict) and sign == "|":
        made = container_methods.call_method(run, left, "copy", [], {})
        container_methods.update(run, made, right)
        return made
    z = BINARY[sign](a, b)
    return by_ufunc(run, sign, z, left, right)


def by_ufunc(run: Run, sign: str, z: Any, left: Ref, right: Ref) -> Ref:
    if not (run.is_active(left) or run.is_active(right)):
        return Ref(z)
    if isa(left.object, str):
        return Ref(z)
    spec = spec_of(arrays.UFUNCS[sign])
    if not isa(spec, Rule):
        assert spec is not None
        if spec.constant or not (run.is_active(left) or run.is_active(right)):
            return Ref(z)
        raise NotSupported(f"{sign} of {type(left.object).__name__} and {type(right.object).__name__}")
    names = [p for p in spec.parameters if p not in ("z", "z_bar")]
    return result(run, z, bound(run, spec, dict(zip(names, (left, right), strict=False))), [])


def _dispatched(run: Run, sign: str, left: Ref, right: Ref, ours: bool, theirs: bool) -> Ref:
    a, b = left.object, right.object
    name = _NAMES[sign]
    swapped = theirs and type(b) is not type(a) and issubclass(type(b), type(a))
    if isa(a, (np.ndarray, np.generic)) and theirs and not ours:
        if not is_number(a) and not swapped and getattr(type(b), "__array_ufunc__", 0) is not None:
            raise NotSupported("an operator of an array and an object with operators of its own")
        swapped = True
    for is_right in (True, False) if swapped else (False, True):
        if is_right and theirs and (type(a) is not type(b) or not ours):
            found = method(run, right, f"__r{name}__", left)
        elif not is_right and ours:
            found = method(run, left, f"__{name}__", right)
        elif not is_right and (isa(a, SEQUENCES) or (isa(a, np.ndarray) and not theirs)):
            found = (
                container_methods.joined(run, f"__{name}__", left, right) if isa(a, SEQUENCES) else Ref(NotImplemented)
            )
        elif not is_right and isa(a, np.ndarray):
            z = BINARY[sign](a, b)
            return by_ufunc(run, sign, z, left, right)
        else:
            continue
        if found.object is not NotImplemented:
            return found
    if isa(a, np.ndarray) or isa(b, np.ndarray):
        raise NotSupported("an operator of an array and an object with operators of its own")
    raise TypeError(f"unsupported operand type(s) for {sign}: {type(a).__name__!r} and {type(b).__name__!r}")


def inplace(run: Run, sign: str, left: Ref, right: Ref) -> Ref:
    a = left.object
    name = f"__i{_NAMES[sign]}__"
    if special(run, a, name) is not None:
        found = method(run, left, name, right)
        if found.object is not NotImplemented:
            return found
    elif isa(a, np.ndarray):
        return arrays.inplace(run, sign, left, right)
    elif isa(a, (*SEQUENCES, dict)) and not isa(a, tuple) and hasattr(type(a), name):
        return container_methods.call_method(run, left, name, [right], {})
    elif isa(a, set) and hasattr(type(a), name):
        return Ref(INPLACE[sign](a, right.object), left.mark)
    return binary(run, sign, left, right)


def compare(run: Run, sign: str, left: Ref, right: Ref) -> Ref:
    if sign in ("is", "is not"):
        return Ref(signs.COMPARED[sign](left.object, right.object))
    if sign in ("in", "not in"):
        if special(run, right.object, "__contains__") is not None:
            return Ref(truth(run, method(run, right, "__contains__", left)) is (sign == "in"))
        if special(run, right.object, "__iter__") is not None or id(right.object) in run.running:
            found = any(i.object is left.object or truth(run, compare(run, "==", i, left))
                        for i in containers.iterate(run, right))  # fmt: skip
            return Ref(found is (sign == "in"))
        if special(run, left.object, "__eq__") is not None and not isa(right.object, dict):
            raise NotSupported("in with a comparison of its own")
        return Ref(signs.COMPARED[sign](left.object, right.object))
    ours, theirs = _COMPARED[sign]
    a, b = left.object, right.object
    if special(run, a, ours) is not None or special(run, b, theirs) is not None:
        order = [(left, ours, right), (right, theirs, left)]
        if type(a) is not type(b) and issubclass(type(b), type(a)):
            order.reverse()
        for ref, name, other in order:
            if special(run, ref.object, name) is not None and not _is_generated(special(run, ref.object, name)):
                found = method(run, ref, name, other)
                if found.object is not NotImplemented:
                    return found
    return Ref(signs.COMPARED[sign](a, b))


def _is_generated(function: Any) -> bool:
    return getattr(getattr(function, "__code__", None), "co_filename", "") == "<string>"
