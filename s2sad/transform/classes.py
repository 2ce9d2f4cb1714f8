"""Which classes of the user's are no more than their attributes and methods, and which are tuples with named fields."""

from __future__ import annotations

import abc
import collections
import collections.abc
import functools
import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.frontend.resolve import Guard, is_jitted
from s2sad.runtime.classes import does_as, own_class, static_member
from s2sad.transform.dict_classes import is_attribute_dict
from s2sad.transform.known import Abstract, Row

#: Special methods that change what making an object, or reading and setting its attributes, means.
_ODD = (
    "__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__", "__get__", "__set__",
    "__class_getitem__", "__array__", "__array_ufunc__", "__array_function__",
)  # fmt: skip
#: What gives objects that the program makes the attributes that they lack, and what sets those that they get.
GETTER, SETTER = "__getattr__", "__setattr__"
#: What makes an object of a class, before ``__init__`` gives it attributes.
MAKER = "__new__"

#: What reads and sets an attribute that ``__slots__`` names.
SLOT = types.MemberDescriptorType
#: What a class of tuples with named fields must not say otherwise.
_OF_TUPLES = {*dir(tuple), *_ODD, "_replace", "_fields"} - {"__doc__", "__repr__"}
#: The operators that a tuple with named fields may define.
OPERATORS = frozenset(
    f"__{reflected}{name}__"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    for reflected in ("", "r")
) | {"__neg__", "__pos__"}
_NAMED = collections.namedtuple("_NAMED", "")
#: What reads a field of such a tuple.
_GETTER = type(vars(collections.namedtuple("_", "a"))["a"])


#: Bases of Python's own of which all that they give objects is written in Python, if they give any.
_BASES: tuple[Any, ...] = (
    abc.ABC, typing.Generic, typing.Protocol, *(getattr(collections.abc, name) for name in collections.abc.__all__),
)  # fmt: skip
#: What makes a class of a class statement, and changes nothing of what its objects do.
_METACLASSES = (type, abc.ABCMeta, type(typing.Protocol))


#: What a class of classes may say for itself, beside methods with names of their own: how a class is made.
_MAKING = {
    "__new__", "__init__", "__prepare__", "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__",
    "__annotations__", "__static_attributes__", "__firstlineno__",
}  # fmt: skip


def _only_makes_classes(meta: type) -> bool:
    """Whether a class of classes does no more than make them: it does not say how they make objects, and whose."""
    own = [base for base in meta.__mro__ if base not in (*_METACLASSES, object)]
    names = {name for base in own for name in vars(base) if name[:2] == name[-2:] == "__"}
    return issubclass(meta, type) and names <= _MAKING


def is_simple(cls: type, *but: str) -> bool:
    """Whether objects of a class are no more than their attributes and the methods of the class, ``but`` for some."""
    if not _only_makes_classes(type(cls)) or own_class(cls) is None or getattr(cls, "__abstractmethods__", None):
        return False
    for base in cls.__mro__[:-1]:
        if any(base is known for known in _BASES):
            continue
        odd = [vars(base)[name] for name in _ODD if name in vars(base) and name not in but]
        if own_class(base) is None or not all(map(is_generated, odd)):
            return False
        if not all(map(_is_plain_member, vars(base).items())):
            return False
    return True


#: Members of arrays that a subclass may not define, since functions of NumPy ask for them.
_ARRAY_PROTOCOL = (
    "__array__", "__array_ufunc__", "__array_function__", "__array_priority__", "__array_interface__",
    "__array_struct__", "__buffer__", "__reduce__", "shape", "ndim", "size", "dtype", "strides", "base", "data",
    "flags", "itemsize", "nbytes",
)  # fmt: skip


def is_array_class(cls: type) -> bool:
    """Whether a class is the user's own of arrays, the objects of which are an array, attributes and methods."""
    if type(cls) is not type or own_class(cls) is None or np.ndarray not in cls.__mro__:
        return False
    own = [base for base in cls.__mro__[:-1] if base is not np.ndarray]
    if any(b in _BASES or own_class(b) is None for b in own):
        return False
    odd = {*_ODD, *_ARRAY_PROTOCOL} - {MAKER}
    return all(odd.isdisjoint(vars(b)) and all(map(_is_plain_member, vars(b).items())) for b in own)


def is_quiet_array_class(value: object) -> bool:
    """Whether a value is such a class which is not told of the objects that NumPy makes."""
    name = "__array_finalize__"
    is_class = isinstance(value, type) and is_array_class(value)
    return is_class and static_member(value, name) is static_member(np.ndarray, name)  # type: ignore[arg-type]


def is_followed_class(cls: type) -> bool:
    """Whether objects of a class are taken apart."""
    return is_simple(cls, GETTER, SETTER, MAKER) or is_array_class(cls) or is_attribute_dict(cls)


def _is_plain_member(named: tuple[str, Any]) -> bool:
    name, member = named
    if isinstance(member, (types.FunctionType, types.GetSetDescriptorType, SLOT)) or name in (
        "__dict__",
        "__weakref__",
        "__slots__",
        "__match_args__",
    ):
        return True
    if does_as(member, staticmethod, classmethod, property):
        return True
    if type(member) in (functools.cached_property, functools.partialmethod):
        return isinstance(member.func, types.FunctionType)
    if type(member) is functools.singledispatchmethod or own_getter(member) is not None:
        return True
    descriptor = any(hasattr(type(member), name) for name in ("__get__", "__set__", "__delete__", "__set_name__"))
    return not descriptor or isinstance(member, (type, np.ufunc))


def own_getter(member: Any) -> types.FunctionType | None:
    """What gives an attribute for a descriptor of the user's own that is asked only; None of any other member."""
    cls = type(member)
    if isinstance(member, type) or any(own_class(base) is None for base in cls.__mro__[:-1]):
        return None
    getter = static_member(cls, "__get__")
    is_set = any(static_member(cls, name) is not None for name in ("__set__", "__delete__"))
    return getter if isinstance(getter, types.FunctionType) and not is_set else None


def is_named_tuple(cls: type) -> bool:
    """Whether a class of the user's is that of a tuple with named fields, and does all else as tuples do."""
    if type(cls) is not type or own_class(cls) is None or not issubclass(cls, tuple):
        return False
    *own, base = cls.__mro__[: cls.__mro__.index(tuple)]
    new = static_member(base, "__new__")
    new = getattr(new, "__func__", new)
    if (
        not hasattr(base, "_field_defaults")
        or not is_generated(new)
        or not all(type(static_member(cls, name)) is _GETTER for name in vars(base)["_fields"])
    ):
        return False
    if not are_same(new.__defaults__ or (), vars(base)["_field_defaults"].values()):
        return False
    changed = {name for name, member in vars(base).items() if isinstance(member, types.FunctionType)}
    changed -= set(vars(_NAMED))
    return (_OF_TUPLES - OPERATORS).isdisjoint(changed.union(*map(vars, own))) and all(
        all(map(_is_plain_member, vars(b).items())) for b in own
    )


def has_operators(value: Abstract) -> bool:
    """Whether a value is a tuple with named fields whose class defines operators."""
    if not isinstance(value, Row) or value.cls is tuple:
        return False
    return any(isinstance(static_member(value.cls, name), types.FunctionType) for name in OPERATORS)


def own_setter(cls: type) -> types.FunctionType | None:
    """The function of a class that sets the attributes of its objects; None where Python does."""
    setter = static_member(cls, SETTER)
    return setter if isinstance(setter, types.FunctionType) and not is_generated(setter) else None


def are_same(first: Iterable[Any], second: Iterable[Any]) -> bool:
    """Whether two rows have the same objects."""
    return [id(v) for v in first] == [id(v) for v in second]


def is_generated(function: Any) -> bool:
    """Whether ``dataclasses`` or ``collections.namedtuple`` has made a method."""
    return isinstance(function, types.FunctionType) and function.__code__.co_filename == "<string>"


@dataclass(frozen=True)
class _Behaviour:
    """The members of a class by which its objects do something, and what they inherit."""

    cls: type

    def __call__(self, value: Any) -> Any:
        mro = self.cls.__mro__
        return mro, [
            [named for named in vars(base).items() if hasattr(type(named[1]), "__get__")]
            for base in mro
            if own_class(base) is not None
        ]


def behaviour_of(cls: type) -> Guard:
    """The guard that objects of a class of the user's do what they do now."""
    behaviour = _Behaviour(cls)
    return Guard(cls, "__mro__", behaviour(None), behaviour)


def static_function(member: Any) -> types.FunctionType | None:
    """The function of a static method, or the one that Numba compiles; None of anything else."""
    function: Any = member.__func__ if does_as(member, staticmethod) else None
    function = function.py_func if is_jitted(function) else function
    return function if isinstance(function, types.FunctionType) else None


def name_of(function: Any, otherwise: str = "function") -> str:
    """The name of a function in the new program."""
    name: str = getattr(function, "__name__", "")
    return name if name.isidentifier() else otherwise
