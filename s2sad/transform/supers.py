"""What ``super()`` finds: members of the classes after one in the order of resolution."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.frontend.resolve import Guard
from s2sad.ir.code import Constant, Operation
from s2sad.runtime.classes import does_as
from s2sad.transform import array_objects, arrays, presence
from s2sad.transform.classes import static_function
from s2sad.transform.found import MemberAfter
from s2sad.transform.known import Abstract, Cell, Known, Method, NotSpecialisedError, Record, Super
from s2sad.transform.members import of_class
from s2sad.transform.specialiser import Done, End, Frame, Specialiser


def super_of(s: Specialiser, args: Sequence[tuple[str, Abstract]], frame: Frame) -> Done:
    """``super()``, or ``super(Class, self)``."""
    if not args and frame.owner is not None:
        return (Super(*frame.owner),)
    if not args and (owner := _of_function(s, frame)) is not None:
        return (Super(*owner),)
    if len(args) == 2 and isinstance(cls := args[0][1], Known) and isinstance(cls.value, type):
        return (Super(cls.value, args[1][1]),)
    return None


def _of_function(s: Specialiser, frame: Frame) -> tuple[type, Abstract] | None:
    """The class in whose body a function stands that is called by itself, as ``__new__`` is, and its first argument."""
    function = frame.home.source.function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    code = s.active[-1]
    if "__class__" not in cells or code is not s.lowered.get(function) or not code.params:
        return None
    first = code.params[0].target
    held = frame.env.get(first)
    value = s.state.get(held) if isinstance(held, Cell) else held
    cls = cells["__class__"].cell_contents
    return (cls, value) if isinstance(value, (Known, Record)) and isinstance(cls, type) else None


def attribute(s: Specialiser, base: Super, name: str, op: Operation, frame: Frame) -> Done:
    """A method, property or constant that ``super()`` finds."""
    mro = _order(base)
    later = _after(base, mro)
    cls = next((cls for cls in later if name in vars(cls)), None)
    if cls is None:
        if s.expression or name in vars(super):
            raise NotSpecialisedError("expression" if s.expression else name)
        _guard(s, base, mro, name, None)
        place = frame.place or op.place
        error = presence.exception(s, AttributeError, f"'super' object has no attribute {name!r}", place)
        return End("raise", (error,), place)
    found: Any = vars(cls)[name]
    receiver = base.receiver
    if isinstance(found, types.FunctionType):
        _guard(s, base, mro, name, found, cls)
        return (Method(Known(found), receiver, cls),)
    if cls is np.ndarray:
        return _of_arrays(s, base, name, op, frame)
    if cls is object:
        if name not in ("__init__", "__new__", "__setattr__"):
            raise NotSpecialisedError(name)
        _guard(s, base, mro, name, found, cls)
        if name == "__new__":
            return (s.outside(object.__new__, name),)
        return (Method(Known(found), receiver, cls),)
    if does_as(found, property) and isinstance(found.fget, types.FunctionType) and isinstance(receiver, Record):
        _guard(s, base, mro, name, found, cls)
        return s.call_function(s, found.fget, [("", receiver)], op, frame, (cls, receiver))
    if does_as(found, classmethod) and isinstance(found.__func__, types.FunctionType):
        _guard(s, base, mro, name, found, cls)
        given = receiver if isinstance(receiver, Known) else s.outside(mro[0], mro[0].__name__)
        return (Method(Known(found.__func__), given, cls),)
    if hasattr(type(found), "__get__") and not does_as(found, staticmethod):
        raise NotSpecialisedError(name)
    if (static := static_function(found)) is not None:
        _guard(s, base, mro, name, found, cls)
        return (Known(static),)
    if not isinstance(receiver, Record):
        raise NotSpecialisedError(name)
    value = of_class(s, receiver, found, name)
    _guard(s, base, mro, name, found, cls)
    return (value,)


def has(s: Specialiser, base: Super, name: str) -> Constant:
    """Whether ``super()`` finds a member."""
    mro = _order(base)
    cls = next((cls for cls in _after(base, mro) if name in vars(cls)), None)
    _guard(s, base, mro, name, None if cls is None else vars(cls)[name], cls)
    return Constant(cls is not None)


def _guard(s: Specialiser, base: Super, mro: Sequence[type], name: str, found: Any, cls: type | None = None) -> None:
    s.guard(Guard(cls or mro[0], name, found, MemberAfter(mro[0], base.after, name)))


def _after(base: Super, mro: Sequence[type]) -> Sequence[type]:
    """The classes in which is looked.

    Raises:
        NotSpecialisedError: where the class is not among those of the object.
    """
    if base.after not in mro:
        raise NotSpecialisedError("super")
    return mro[mro.index(base.after) + 1 :]


def _order(base: Super) -> Sequence[type]:
    """The order of resolution of the class in which ``super()`` looks.

    Raises:
        NotSpecialisedError: where the class is not known.
    """
    value = base.receiver
    if isinstance(value, Record):
        return value.cls.__mro__
    if isinstance(value, Known):
        is_class = isinstance(value.value, type) and issubclass(value.value, base.after)
        return (value.value if is_class else type(value.value)).__mro__
    raise NotSpecialisedError("super")


def _of_arrays(s: Specialiser, base: Super, name: str, op: Operation, frame: Frame) -> Done:
    """What ``super()`` finds in the class of arrays."""
    if name == "__new__":
        return (s.outside(np.ndarray.__new__, name),)
    if isinstance(base.receiver, Record) and array_objects.is_array(base.receiver):
        return arrays.attribute(s, base.receiver, name, op, frame)
    raise NotSpecialisedError(name)
