"""Attributes: where one was found, descriptors, properties, and the slots of instances, classes and modules."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from s2sad.ops.spec import Rule, form_of
from tests.shadows import arrays
from tests.shadows.containers import method, special
from tests.shadows.refs import NotSupported, Ref, is_number, isa
from tests.shadows.rules import bound, result
from tests.shadows.run import Run, holder

_CHANGING = ("__dict__", "__class__", "__code__", "__defaults__", "__kwdefaults__", "__bases__")


def found_in(cls: type, name: str) -> tuple[type, Any] | None:
    """The class in which a name is found, and what it is there."""
    for base in cls.__mro__:
        if name in vars(base):
            return base, vars(base)[name]
    return None


def called(run: Run, function: Any, *args: Ref) -> Ref:
    from tests.shadows.calls import call

    return call(run, Ref(function), list(args), {})


def get(run: Run, ref: Ref, name: str) -> Ref:
    """``x.name``"""
    x = ref.object
    if isa(x, types.ModuleType):
        return run.slots.load(vars(x), name, getattr(x, name))
    if isa(x, type):
        return _of_class(run, ref, name)
    if isa(x, super):
        return _of_super(run, ref, name)
    if special(run, x, "__getattribute__") is not None:
        try:
            return method(run, ref, "__getattribute__", Ref(name))
        except AttributeError:
            if special(run, x, "__getattr__") is None:
                raise
            return method(run, ref, "__getattr__", Ref(name))
    return plain(run, ref, name)


def plain(run: Run, ref: Ref, name: str) -> Ref:
    """What `object.__getattribute__` and then ``__getattr__`` give."""
    x = ref.object
    found = found_in(type(x), name)
    member = None if found is None else found[1]
    if isa(member, property):
        if member.fget is None:
            return Ref(getattr(x, name))
        run.used.add("properties, __setattr__")
        return called(run, member.fget, ref)
    if isa(member, types.MemberDescriptorType):
        return run.slots.load(x, name, member.__get__(x), ref.stop)
    if type(member).__name__ == "_tuplegetter":
        return run.slots.load(x, member.__reduce__()[1][0], getattr(x, name), ref.stop)
    if member is not None and special(run, member, "__set__") is not None:
        if special(run, member, "__get__") is not None:
            return method(run, Ref(member), "__get__", ref, Ref(type(x)))
    held = holder(x)
    if isa(held, dict) and held is not x and name in held:
        if not isa(member, types.GetSetDescriptorType):
            return run.slots.load(held, name, held[name], ref.stop)
    if found is not None:
        return _of_member(run, ref, name, *found)
    if special(run, x, "__getattr__") is not None:
        return method(run, ref, "__getattr__", Ref(name))
    return Ref(getattr(x, name), ref.stop)


def _of_member(run: Run, ref: Ref, name: str, base: type, member: Any) -> Ref:
    x = ref.object
    if isa(member, types.FunctionType):
        return Ref(types.MethodType(member, x), ref.stop)
    if isa(member, functools.cached_property):
        value = called(run, member.func, ref)
        set_raw(run, ref, name, value)
        return value
    if special(run, member, "__get__") is not None:
        return method(run, Ref(member), "__get__", ref, Ref(type(x)))
    if isa(member, (staticmethod, classmethod)):
        return Ref(getattr(x, name))
    if isa(x, (np.ndarray, np.generic, float, complex)):
        return _of_array(run, ref, name)
    z = getattr(x, name)
    if hasattr(type(member), "__get__"):
        if is_number(z) and run.is_active(ref):
            raise NotSupported(f"the attribute {name} of an active object of class {type(x).__name__}")
        return Ref(z, ref.stop)
    return run.slots.load(base, name, z, ref.stop)


def _of_array(run: Run, ref: Ref, name: str) -> Ref:
    x = ref.object
    z = getattr(x, name)
    known = form_of("attribute", name)
    if known is not None and isa(known[0], Rule):
        first = known[0].parameters[0]
        return result(run, z, bound(run, known[0], {first: ref}), [ref])
    if isa(z, np.flatiter):
        run.through[id(z)] = (z, ref)
    if name in ("ctypes", "data", "__array_interface__") and run.is_active(ref):
        raise NotSupported(f"the memory of an active array by {name}")
    return Ref(z, None if is_number(z) else ref.stop)


def _of_class(run: Run, ref: Ref, name: str) -> Ref:
    cls = ref.object
    found = found_in(cls, name)
    z = getattr(cls, name)
    if found is None or isa(found[1], (staticmethod, classmethod)) or found[1] is not z:
        return Ref(z)
    return run.slots.load(found[0], name, z, ref.stop)


def _of_super(run: Run, ref: Ref, name: str) -> Ref:
    x = ref.object
    mark = run.through[id(x)][1].mark if id(x) in run.through else None
    mro = x.__self_class__.__mro__
    for base in mro[mro.index(x.__thisclass__) + 1 :]:
        if name in vars(base):
            member = vars(base)[name]
            if isa(member, property):
                return called(run, member.fget, Ref(x.__self__, mark))
            break
    return Ref(getattr(x, name), mark)


def set_(run: Run, ref: Ref, name: str, value: Ref) -> None:
    """``x.name = value``"""
    custom = special(run, ref.object, "__setattr__")
    if custom is not None and not isa(ref.object, type):
        if getattr(getattr(custom, "__code__", None), "co_filename", "") == "<string>":
            setattr(ref.object, name, value.object)  # that of a frozen dataclass, which raises
        else:
            run.used.add("properties, __setattr__")
            method(run, ref, "__setattr__", Ref(name), value)
        return
    set_raw(run, ref, name, value)


def set_raw(run: Run, ref: Ref, name: str, value: Ref) -> None:
    """What `object.__setattr__` does."""
    x = ref.object
    if name in _CHANGING:
        raise NotSupported(f"assigning to {name}")
    if isa(x, np.ndarray) and arrays.set_attribute(run, ref, name, value):
        return
    if isa(x, (type, types.ModuleType)):
        setattr(x, name, value.object)
        run.slots.store(vars(x) if isa(x, types.ModuleType) else x, name, value)
        return
    found = found_in(type(x), name)
    member = None if found is None else found[1]
    if isa(member, property):
        if member.fset is None:
            setattr(x, name, value.object)
        run.used.add("properties, __setattr__")
        called(run, member.fset, ref, value)
        return
    if member is not None and special(run, member, "__set__") is not None:
        method(run, Ref(member), "__set__", ref, value)
        return
    if isa(member, types.MemberDescriptorType):
        member.__set__(x, value.object)
        run.slots.store(x, name, value)
        return
    if type(x).__setattr__ is not object.__setattr__ and special(run, x, "__setattr__") is None:
        setattr(x, name, value.object)
    else:
        object.__setattr__(x, name, value.object)
    run.slots.store(holder(x), name, value)


def delete(run: Run, ref: Ref, name: str) -> None:
    """``del x.name``"""
    x = ref.object
    if special(run, x, "__delattr__") is not None:
        method(run, ref, "__delattr__", Ref(name))
        return
    found = found_in(type(x), name)
    member = None if found is None else found[1]
    if isa(member, property) and member.fdel is not None:
        called(run, member.fdel, ref)
        return
    if member is not None and special(run, member, "__delete__") is not None:
        method(run, Ref(member), "__delete__", ref)
        return
    held = holder(x) if not isa(x, types.ModuleType) else vars(x)
    delattr(x, name) if special(run, x, "__delattr__") is None else object.__delattr__(x, name)
    owner = x if isa(member, types.MemberDescriptorType) else held
    run.slots.store(owner, name, Ref(None))
