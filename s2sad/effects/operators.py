"""What operators, attributes and special methods do to abstract objects."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sad import ops
from s2sad.effects import supers
from s2sad.effects.objects import (
    ARRAY,
    CONSTANT,
    CONTAINERS,
    DTYPE,
    ITEMS,
    KEYS,
    NOTHING,
    SLICE,
    UNKNOWN,
    Object,
    Objects,
    Plain,
    is_a,
)
from s2sad.ir.code import Operand, Operation
from s2sad.runtime.classes import METHODS, does_as, static_member
from s2sad.runtime.contents import attributes_of

if TYPE_CHECKING:
    from s2sad.effects.points_to import Activation

_NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "|": "or", "^": "xor", "&": "and",
}  # fmt: skip
_COMPARED = {
    "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__eq__"), "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"),
    ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__"), "in": ("", "__contains__"), "not in": ("", "__contains__"),
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
#: By which NumPy would take an object for an array, or run its functions.
_ARRAY_LIKE = ("__array_ufunc__", "__array__", "__array_interface__", "__array_struct__", "__len__", "__buffer__")
_HEAP_TYPE = 1 << 9
#: Attributes of arrays that are the array in another form.
_PARTS = frozenset(("T", "mT", "real", "imag", "flat", "base", "flags", "ctypes", "data"))
_JOINING = (np.r_, np.c_)
#: The attributes of numbers, texts and tuples of them.
_OF_IMMUTABLES = frozenset(n for c in (str, bytes, tuple, int, float, complex, np.float64, np.str_) for n in dir(c))


# --- classes


def is_plain(a: Activation, objects: Iterable[Object]) -> bool:
    """Whether all that can be reached from objects is of built-in classes whose meaning is known."""
    return all(o.is_safe for o in a.heap.reach(objects))


def makes_arrays(o: Object) -> bool:
    """Whether it is ``np.r_`` or ``np.c_``."""
    return any(o.value is made for made in _JOINING)


def joined_arrays(a: Activation, op: Operation, index: Objects) -> Objects:
    """``np.r_[...]``"""
    result = a.site(op, ARRAY)
    return result if is_plain(a, index) else result | a.unknown(op, index)


def special(a: Activation, op: Operation, o: Object, names: Sequence[str], given: Sequence[Objects]) -> Objects:
    """Run the special methods that an object has, each with the object and some operands."""
    if o.is_safe or o is SLICE:
        return NOTHING
    if o.cls is None or not o.cls.__flags__ & _HEAP_TYPE:
        return NOTHING if a.trusts(o.cls) else a.unknown(op, [o], *given)
    found = NOTHING
    for name in names:
        member = static_member(o.cls, name)
        if member is None or member is vars(object).get(name) or member is vars(type).get(name):
            continue
        if not isinstance(member, types.FunctionType):
            return a.unknown(op, [o], *given)
        found |= a.call(op, a.heap.known(member), [frozenset((o,)), *given])
    return found


def hashed(a: Activation, op: Operation, objects: Objects) -> Objects:
    """Use values as keys."""
    found = NOTHING
    for o in a.heap.reach(objects):
        found |= special(a, op, o, ("__hash__", "__eq__"), [objects])
    return found


def indices(a: Activation, op: Operation, objects: Objects) -> Objects:
    """Use values as indices of a sequence."""
    found = NOTHING
    for o in a.heap.reach(objects):
        found |= special(a, op, o, ("__index__",), [])
    return found


def tested(a: Activation, op: Operation, operand: Operand) -> None:
    """Ask whether a value is true."""
    for o in a.of(operand):
        if o.cls in CONTAINERS or o.cls is ARRAY:
            a.ref(op, [o], ITEMS)
        else:
            special(a, op, o, ("__bool__", "__len__"), [])


def class_of(a: Activation, op: Operation, objects: Objects) -> Objects:
    """``type(value)``"""
    found = a.site(op, type)
    for o in objects:
        found |= a.heap.known(o.cls) if o.cls is not None else a.unknown(op, [o])
    return found


# --- operators


def _on_objects(a: Activation, op: Operation, left: Objects, right: Objects, names: tuple[str, str]) -> Objects:
    """What special methods of operands of other than built-in classes give."""
    unsafe = [o for o in left | right if not o.is_safe]
    if not unsafe:
        return NOTHING
    arrays = [o for o in left | right if o.cls is ARRAY]
    for o in unsafe:
        array_like = o.cls is not None and any(static_member(o.cls, name) is not None for name in _ARRAY_LIKE)
        # Arrays leave operators to sparse matrices.
        array_like = array_like and o.cls is not None and ops.object_model_of(o.cls) is None
        if arrays and (array_like or o.cls is None or not o.cls.__flags__ & _HEAP_TYPE):
            return a.unknown(op, left, right)
        if array_like and not (left and right):
            return a.unknown(op, left, right)
    # An array asks the object once for each of its elements, and gives an array of what these give.
    found = a.site(op, ARRAY) if any(o.cls is ARRAY for o in left) else NOTHING
    for objects, other, name in ((left, right, names[0]), (right, left, names[1])):
        for o in objects:
            if name:
                found |= special(a, op, o, (name,), [other])
    return found


def _items_matter(a: Activation, op: Operation, objects: Objects) -> Objects:
    """Operators that work on the items of containers run what these have of their own."""
    if any(o.cls in CONTAINERS for o in objects) and not is_plain(a, objects):
        return a.unknown(op, objects)
    return NOTHING


def binary(a: Activation, op: Operation) -> Objects:
    """``left + right``"""
    left, right = map(a.of, op.operands)
    name = _NAMES[op.data]
    found = _on_objects(a, op, left, right, (f"__{name}__", f"__r{name}__"))
    return found | _built_in(a, op, op.data, left, right)


def _built_in(a: Activation, op: Operation, sign: str, left: Objects, right: Objects) -> Objects:
    """What an operator gives of operands of built-in classes: something new."""
    both = left | right
    if not both:
        return NOTHING
    found = NOTHING
    a.ref(op, both, ITEMS)
    classes = {o.cls for o in both}
    if ARRAY in classes:
        found |= _items_matter(a, op, both) | a.site(op, ARRAY)
    elif sign not in "+*":
        found |= _items_matter(a, op, both)
    for o in both:
        if o.cls in (*CONTAINERS, Plain):
            made = a.site(op, o.cls)
            a.store(made, ITEMS, a.heap.load(o, ITEMS))
            a.store(made, KEYS, a.heap.load(o, KEYS) if o.cls is dict else NOTHING)
            found |= made
        elif o.cls in (type({}.keys()), type({}.items())):
            made = a.site(op, set)
            a.store(made, ITEMS, a.iterate(op, both))
            found |= made
    return found


def inplace(a: Activation, op: Operation) -> Objects:
    """``left += right``"""
    left, right = map(a.of, op.operands)
    name = _NAMES[op.data]
    found: set[Object] = set()
    if any(not o.is_safe for o in left | right):
        found |= _on_objects(a, op, left, right, (f"__i{name}__", f"__r{name}__"))
        found |= _on_objects(a, op, left, NOTHING, (f"__{name}__", "")) if found != {UNKNOWN} else NOTHING
    changed = [o for o in left if o.cls in (ARRAY, list, dict, set, Plain)]
    for o in changed:
        a.mod(op, [o], ITEMS)
        found.add(o)
        if o.cls is Plain:
            a.mod(op, [o], KEYS)
            a.heap.store(o, ITEMS, a.iterate(op, right) | a.load(right, ITEMS))
            a.heap.store(o, KEYS, a.load(right, KEYS))
        elif o.cls is list and op.data == "+":
            a.heap.store(o, ITEMS, a.iterate(op, right))
        elif o.cls is set:
            a.heap.store(o, ITEMS, a.load([r for r in right if r.cls is not ARRAY], ITEMS))
        elif o.cls is dict:
            a.mod(op, [o], KEYS)
            a.store([o], ITEMS, a.load(right, ITEMS))
            a.store([o], KEYS, a.load([r for r in right if r.cls is dict], KEYS))
    rest = left - frozenset(changed)
    if any(o.cls is ARRAY for o in changed):
        found |= _items_matter(a, op, right)
    a.ref(op, left | right, ITEMS)
    # What is no array or container now may be a number.
    return frozenset(found) | _built_in(a, op, op.data, rest, right)


def unary(a: Activation, op: Operation) -> Objects:
    """``-operand``"""
    objects = a.of(op.operands[0])
    if op.data == "not":
        tested(a, op, op.operands[0])
        return NOTHING
    found = NOTHING
    for o in objects:
        if o.cls in (ARRAY, Plain):
            a.ref(op, [o], ITEMS)
            found |= a.site(op, ARRAY)
        else:
            found |= special(a, op, o, (_UNARY[op.data],), [])
    return found


def compare(a: Activation, op: Operation) -> Objects:
    """``left < right``"""
    left, right = map(a.of, op.operands)
    return _compared(a, op, left, right, op.data)


def compared(a: Activation, op: Operation, objects: Objects) -> Objects:
    """The result of a chain of comparisons of some values."""
    return NOTHING.union(*(_compared(a, op, objects, objects, sign) for sign in op.data))


def _compared(a: Activation, op: Operation, left: Objects, right: Objects, sign: str) -> Objects:
    if sign in ("is", "is not"):
        return NOTHING
    both = left | right
    found = _on_objects(a, op, left, right, _COMPARED[sign])
    a.ref(op, both, ITEMS)
    if any(o.cls is dict for o in right):
        a.ref(op, right, KEYS)
    found |= _items_matter(a, op, both)
    if sign in ("in", "not in"):
        lazy = frozenset(o for o in right if not (o.cls in CONTAINERS or o.cls is ARRAY or not o.is_safe))
        if lazy:
            a.iterate(op, lazy)
        without = [o for o in right if not o.is_safe and o.cls is not None]
        if without and not all(static_member(o.cls, "__contains__") for o in without if o.cls is not None):
            found |= a.unknown(op, both)
        return found
    return found | (a.site(op, ARRAY) if any(o.cls is ARRAY for o in both) else NOTHING)


def text(a: Activation, op: Operation) -> Objects:
    """An f-string."""
    for operand in op.operands:
        formatted(a, op, a.of(operand))
    return NOTHING


def formatted(a: Activation, op: Operation, objects: Objects) -> None:
    """Make text of values."""
    for o in a.heap.reach(objects):
        a.ref(op, [o], ITEMS)
        special(a, op, o, ("__format__", "__str__", "__repr__"), [])


def slice_(a: Activation, op: Operation) -> Objects:
    """``lower:upper:step``"""
    held = a.all(op.operands)
    if not held:
        return frozenset((SLICE,))
    made = a.site(op, slice)
    a.store(made, ITEMS, held)
    return made


# --- attributes


def attribute(a: Activation, op: Operation) -> Objects:
    """``object.name``"""
    name, objects = op.data, a.of(op.operands[0])
    if not objects:
        return _of_immutable(a, name)
    return NOTHING.union(*(attribute_of(a, op, o, name) for o in objects))


def _of_immutable(a: Activation, name: str) -> Objects:
    if ops.is_constant_attribute(name) or name in _PARTS or name not in _OF_IMMUTABLES:
        return NOTHING
    return a.heap.method(None, name, name)


#: The methods that change an object as a whole.
OF_WHOLE = ("__init__", "__setstate__")
#: The attributes of classes that are texts, whatever else their bodies and bases say.
_OF_CLASSES = ("__name__", "__qualname__", "__module__")


def attribute_of(a: Activation, op: Operation, o: Object, name: str) -> Objects:
    """An attribute of one object."""
    if o.cls is super and isinstance(o.value, type):
        return supers.attribute(a, op, o, name)
    if o.cls is type and o.kind != "global":
        return NOTHING if name in _OF_CLASSES else a.unknown(op, [o])
    if o.cls is Plain:
        if name in a.program.doubtful:
            return doubted(a, op, o, name)
        if name not in METHODS and name not in OF_WHOLE:
            return a.heap.load(o, name)
        # What is called by the name of a method is one; what is used otherwise may be an attribute of that name.
        return a.heap.method(o, name, name) | (NOTHING if a.only_calls(op) else a.heap.load(o, name))
    if o.cls is not None and name == "__class__" and o.is_safe:
        return class_of(a, op, frozenset((o,)))
    if o.cls is ARRAY:
        if name == "dtype":
            return frozenset((DTYPE,))
        if ops.is_constant_attribute(name) and name != "flags":
            return NOTHING
        method = callable(getattr(ARRAY, name, None)) and name not in _PARTS
        return a.heap.method(o, name, name) if method else frozenset((o,))
    if o.kind == "global" and isinstance(o.value, CONSTANT):
        return _of_constant(a, op, o, name)
    if o.cls is not None and o.is_safe:
        if hasattr(o.cls, name):
            is_method = callable(getattr(o.cls, name))
            return a.heap.method(o, name, name) if is_method else a.heap.stored(o, name)
        # Results with names, attributes of functions.
        if o is DTYPE:
            return NOTHING
        return a.heap.load(o, ITEMS) if o.cls is tuple else a.heap.load(o, name)
    if o.cls is None or not o.cls.__flags__ & _HEAP_TYPE:
        if o.kind == "global" and o.cls is not None:
            if a.heap.plain and name in attributes_of(o.value):
                return a.heap.load(o, name)
            found = ops.spec_of(getattr(o.cls, name, None))
            if found is not None or a.trusts(o.cls):
                return a.heap.method(o, name, name)
        return a.unknown(op, [o])
    return _of_instance(a, op, o, o.cls, name)


def _of_instance(a: Activation, op: Operation, o: Object, cls: type, name: str) -> Objects:
    if not isinstance(static_member(cls, "__getattribute__"), types.WrapperDescriptorType):
        return a.unknown(op, [o])
    member = static_member(cls, name)
    a.ref(op, [o], name)
    if name == "__class__":
        return a.heap.known(cls)
    if name == "__dict__" or any(a.heap.is_stored(base, name) for base in cls.__mro__):
        return a.unknown(op, [o])
    if isinstance(member, types.FunctionType):
        has = o.kind == "param" and o.shape.fields is not None and o.shape.field(name)[0]
        return a.heap.method(o, name, member) | (a.heap.load(o, name) if has else a.heap.stored(o, name))
    if does_as(member, property):
        if not isinstance(member.fget, types.FunctionType):
            return a.unknown(op, [o])
        return a.call(op, a.heap.known(member.fget), [frozenset((o,))])
    if type(member) is functools.cached_property:
        held = a.call(op, a.heap.known(member.func), [frozenset((o,))])
        a.mod(op, [o], name)
        a.heap.store(o, name, held)
        return held | a.heap.load(o, name)
    if does_as(member, staticmethod):
        return a.heap.known(member.__func__) | a.heap.stored(o, name)
    if does_as(member, classmethod):
        (owner,) = a.heap.known(cls)
        return a.heap.method(owner, name, member.__func__) | a.heap.stored(o, name)
    if isinstance(member, types.MemberDescriptorType):
        return a.heap.load(o, name)
    if type(member).__name__ == "_tuplegetter":
        return a.heap.load(o, f"[{member.__reduce__()[1][0]}]")
    if hasattr(member, "__get__"):
        return a.unknown(op, [o])
    found = a.heap.load(o, name)
    if member is not None:
        unseen = frozenset((UNKNOWN,)) if a.heap.is_open and not is_a(member, *CONSTANT) else NOTHING
        return found | unseen | a.heap.known(member, f"{cls.__name__}.{name}")
    getter = static_member(cls, "__getattr__")
    has_own = o.kind == "global" and name in attributes_of(o.value)
    if getter is None or (has_own and a.heap.plain):
        return found
    if isinstance(getter, types.FunctionType):
        return found | a.call(op, a.heap.known(getter), [frozenset((o,)), NOTHING])
    return found | a.unknown(op, [o])


def _of_constant(a: Activation, op: Operation, o: Object, name: str) -> Objects:
    """An attribute of a module, class or function that is known."""
    value, stored = o.value, a.heap.stored(o, name)
    if name == "__doc__" or name in _OF_CLASSES:
        return stored
    if name == "__call__" and isinstance(value, types.FunctionType):
        return frozenset((o,))
    if name.startswith("__") and not isinstance(value, types.ModuleType) and static_member(type(value), name):
        own = static_member(value, name) if isinstance(value, type) else None
        if own is None or own is static_member(object, name):
            return stored | a.unknown(op, [o])
    found: Any
    if isinstance(value, types.ModuleType):
        library = value.__name__.partition(".")[0] in ("numpy", "scipy")
        if name not in vars(value) and not (library and hasattr(value, name)):
            return a.unknown(op, [o])
        found = getattr(value, name) if library else vars(value)[name]
        if not isinstance(found, CONSTANT):
            a.ref(op, [o], name)
            stored |= frozenset((UNKNOWN,)) if a.heap.is_open and not library else NOTHING
        return stored | a.heap.known(found, f"{o.name}.{name}")
    if isinstance(value, type):
        found = static_member(value, name)
        if does_as(found, classmethod):
            return stored | a.heap.method(o, name, found.__func__)
        if does_as(found, staticmethod):
            return stored | a.heap.known(found.__func__)
        if found is None or static_member(type(value), "__getattribute__") is not type.__getattribute__:
            return stored | a.unknown(op, [o])
        a.ref(op, [o], name)
        return stored | a.heap.known(found, f"{o.name}.{name}")
    if isinstance(value, (np.ufunc, types.BuiltinFunctionType)):
        bound = getattr(value, name, None)
        return a.heap.method(o, name, bound, types.BuiltinFunctionType) if callable(bound) else NOTHING
    return stored | a.heap.load(o, name)


def doubted(a: Activation, op: Operation, o: Object, name: str) -> Objects:
    """An attribute of an object that may be of another than a built-in class, so that unknown code runs."""
    a.program.doubted.add(name)
    return a.unknown(op, [o])


def set_attribute(a: Activation, op: Operation) -> Objects:
    """``object.name = value``"""
    set_attribute_of(a, op, a.of(op.operands[0]), op.data, a.of(op.operands[1]))
    return NOTHING


def set_attribute_of(a: Activation, op: Operation, objects: Objects, name: str, held: Objects) -> None:
    """Set an attribute of objects."""
    for o in objects:
        if o.cls is ARRAY:
            a.mod(op, [o], ITEMS)
            if not is_plain(a, held):
                a.unknown(op, [o], held)
            continue
        if o.is_safe:
            if o.cls is Plain and name in a.program.doubtful:
                doubted(a, op, o, name)
            a.mod(op, [o], name)
            a.heap.store(o, name, held)
            continue
        if o.cls is None or not o.cls.__flags__ & _HEAP_TYPE:
            a.unknown(op, [o], held)
            continue
        setter, member = static_member(o.cls, "__setattr__"), static_member(o.cls, name)
        if isinstance(setter, types.FunctionType):
            a.call(op, a.heap.known(setter), [frozenset((o,)), NOTHING, held])
        elif setter not in (object.__setattr__, type.__setattr__, BaseException.__setattr__):
            a.unknown(op, [o], held)
        elif does_as(member, property):
            if isinstance(member.fset, types.FunctionType):
                a.call(op, a.heap.known(member.fset), [frozenset((o,)), held])
        elif isinstance(member, types.MemberDescriptorType) or not hasattr(type(member), "__set__"):
            a.mod(op, [o], name)
            a.heap.store(o, name, held)
        else:
            a.unknown(op, [o], held)


def delete_attribute(a: Activation, op: Operation) -> Objects:
    """``del object.name``"""
    for o in a.of(op.operands[0]):
        own = None if o.cls is None else static_member(o.cls, "__delattr__")
        # The attribute of an object may hide one of its class, which stays; slots are taken out as they are set.
        member = None if o.cls is None else static_member(o.cls, op.data)
        is_raw = isinstance(member, types.MemberDescriptorType) or not hasattr(type(member), "__delete__")
        if own is not object.__delattr__ or not is_raw:
            a.unknown(op, [o])
        a.mod(op, [o], op.data)
    return NOTHING
