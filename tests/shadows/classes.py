"""Calls of classes: built-in containers and numbers, and the classes of the program."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import operator
import types
import weakref
from typing import Any

import numpy as np

from s2sad.ops.spec import Rule, spec_of
from tests.shadows import container_methods, containers, objects
from tests.shadows.containers import iterate, method, pack, special
from tests.shadows.library import (
    Handler,
    by_rule,
    called,
    enumerate_,
    filter_,
    map_,
    methodcaller,
    reversed_,
    zip_,
)
from tests.shadows.refs import NotSupported, Ref, is_number, isa
from tests.shadows.rules import bound, result
from tests.shadows.run import Run, is_generated


def _container(kind: Any) -> Handler:
    return lambda run, *xs: pack(run, kind, iterate(run, xs[0]) if xs else [])


def _dict(run: Run, *others: Ref, **named: Ref) -> Ref:
    made = Ref({})
    container_methods.update(run, made, *others, **named)
    return made


def _float(run: Run, *x: Ref) -> Ref:
    if x and special(run, x[0].object, "__float__") is not None:
        return method(run, x[0], "__float__")
    if (x and isa(x[0].object, str)) or not x:
        return Ref(float(*[r.object for r in x]))
    return by_rule(run, float, *x)


def _converted(cls: Any) -> Handler:
    """Whole numbers, truth values and strings: constants."""

    def found(run: Run, *xs: Ref, **kwargs: Ref) -> Ref:
        name = {int: "__int__", bool: "__bool__", str: "__str__"}.get(cls, "")
        if xs and special(run, xs[0].object, name) is not None:
            return method(run, xs[0], name)
        return Ref(cls(*[x.object for x in xs], **{k: v.object for k, v in kwargs.items()}))

    return found


def _truth(run: Run, *x: Ref) -> Ref:
    from tests.shadows.operators import truth

    return Ref(truth(run, x[0]) if x else False)


def _super(run: Run, cls: Ref, ref: Ref) -> Ref:
    made = super(cls.object, ref.object)
    run.through[id(made)] = (made, ref)
    return Ref(made)


def _partial(run: Run, f: Ref, *args: Ref, **kwargs: Ref) -> Ref:
    made = functools.partial(f.object, *[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
    if not isa(f.object, functools.partial):
        for i, ref in enumerate(args):
            run.slots.store(made.args, i, ref)
        for name, ref in kwargs.items():
            run.slots.store(made.keywords, name, ref)
    elif any(run.is_active(r) for r in [f, *args, *kwargs.values()]):
        raise NotSupported("a partial of a partial")
    return Ref(made)


def _namespace(run: Run, **named: Ref) -> Ref:
    made = types.SimpleNamespace(**{k: v.object for k, v in named.items()})
    for name, ref in named.items():
        run.slots.store(vars(made), name, ref)
    return Ref(made)


def _deque(run: Run, *args: Ref, maxlen: Ref = Ref(None)) -> Ref:  # noqa: B008
    made = Ref(collections.deque(maxlen=args[1].object if len(args) > 1 else maxlen.object))
    if args:
        container_methods.call_method(run, made, "extend", [args[0]], {})
    return made


def _memoryview(run: Run, x: Ref) -> Ref:
    made = memoryview(x.object)
    run.through[id(made)] = (made, x)
    return Ref(made, x.mark)


def _numpy_number(cls: Any) -> Handler:
    def found(run: Run, *x: Ref) -> Ref:
        spec = spec_of(cls)
        if spec is not None:
            return by_rule(run, cls, *x)
        if not x or not run.is_active(x[0]):
            return Ref(cls(*[r.object for r in x]))
        if not is_number(x[0].object) and issubclass(cls, np.inexact):
            return by_rule(run, np.asarray, *x, dtype=Ref(cls))
        rule = spec_of(np.positive)
        assert isa(rule, Rule)
        if not is_number(x[0].object) or not issubclass(cls, np.inexact):
            raise NotSupported(f"{cls.__name__}(...) of an array")
        return result(run, cls(x[0].object), bound(run, rule, {"x": x[0]}), [])

    return found


_CLASSES: dict[type, Handler] = {
    list: _container(list), tuple: _container(tuple), set: _container(set), frozenset: _container(frozenset),
    dict: _dict, float: _float, int: _converted(int), str: _converted(str),
    bytes: _converted(bytes), bool: _truth, enumerate: enumerate_,
    zip: zip_, map: map_, filter: filter_, reversed: reversed_, super: _super, functools.partial: _partial,
    memoryview: lambda run, x: _memoryview(run, x), operator.methodcaller: methodcaller,
    types.SimpleNamespace: _namespace, collections.deque: _deque,
}  # fmt: skip


def construct(run: Run, cls: type, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """``cls(*args, **kwargs)``"""
    from tests.shadows.calls import call, native

    if cls is type and len(args) == 1:
        return Ref(type(args[0].object))
    if special(run, cls, "__call__") is not None:
        return call(run, Ref(special(run, cls, "__call__")), [Ref(cls), *args], kwargs)
    if cls in _CLASSES:
        if cls is tuple and len(args) == 1 and type(args[0].object) is tuple:
            return args[0]
        return _CLASSES[cls](run, *args, **kwargs)
    if issubclass(cls, weakref.ref):
        raise NotSupported("a weak reference: the log holds objects longer than the program does")
    if issubclass(cls, np.generic):
        return _numpy_number(cls)(run, *args, **kwargs)
    if spec_of(cls) is not None:
        return by_rule(run, cls, *args, **kwargs)
    if issubclass(cls, BaseException) and not isa(_member(cls, "__init__"), types.FunctionType):
        made = cls(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
        return _with_args(run, made, args)
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and _is_written(cls, "__new__") is None:
        return _named_tuple(run, cls, args, kwargs)
    if cls.__module__.startswith("numpy.") or cls.__module__ in (
        "builtins",
        "numpy",
        "types",
        "collections",
        "functools",
        "operator",
        "itertools",
    ):
        if cls is collections.defaultdict:
            made_dict = Ref(collections.defaultdict(*[a.object for a in args[:1]]))
            container_methods.update(run, made_dict, *args[1:], **kwargs)
            return made_dict
        if cls is collections.OrderedDict:
            made_dict = Ref(collections.OrderedDict())
            container_methods.update(run, made_dict, *args, **kwargs)
            return made_dict
        if cls is object:
            return Ref(object())
        return native(run, cls, args, kwargs)
    if not cls.__flags__ & 1 << 9:  # a class of C
        return native(run, cls, args, kwargs)
    if _member(cls, "__del__") is not None:
        raise NotSupported(f"{cls.__name__} has __del__: the log holds its instances longer than the program does")
    run.adopt(cls)
    own_new = _is_written(cls, "__new__")
    if own_new is not None:
        made_ref = call(run, Ref(own_new), [Ref(cls), *args], kwargs)
    else:
        made_ref = new(run, _built_in_base(cls), [Ref(cls), *args], kwargs)
    if isa(made_ref.object, cls):
        initialiser = _member(cls, "__init__")
        if isa(initialiser, types.FunctionType):
            call(run, Ref(initialiser), [made_ref, *args], kwargs)
        elif not isa(made_ref.object, (tuple, np.ndarray, frozenset, type)):
            if type(made_ref.object).__init__ is object.__init__:
                if (args or kwargs) and own_new is None:
                    raise TypeError(f"{cls.__name__}() takes no arguments")
            else:
                init(run, made_ref, args, kwargs)
    return made_ref


def _member(cls: type, name: str) -> Any:
    found = objects.found_in(cls, name)
    return None if found is None else found[1]


def _is_written(cls: type, name: str) -> Any:
    """A ``__new__`` that the program wrote, or None."""
    found = _member(cls, name)
    f = found.__func__ if isa(found, staticmethod) else found
    return (
        f if isa(f, types.FunctionType) and not is_generated(f) and "namedtuple" not in f.__code__.co_filename else None
    )


def _built_in_base(cls: type) -> type:
    return next(
        base for base in cls.__mro__ if base.__module__ in ("builtins", "numpy", "collections") and base is not cls
    )


def _with_args(run: Run, made: BaseException, args: list[Ref]) -> Ref:
    for i, ref in enumerate(args):
        run.slots.store(made.args, i, ref)
    return Ref(made)


def _named_tuple(run: Run, cls: Any, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    made = cls(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
    given = dict(zip(cls._fields, args, strict=False)) | kwargs
    for i, name in enumerate(cls._fields):
        if name in given:
            run.slots.store(made, i, given[name])
    return Ref(made)


def new(run: Run, base: Any, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """``base.__new__(cls, *args)`` of a built-in class."""
    cls = args[0].object
    rest = args[1:]
    if issubclass(cls, tuple):
        if hasattr(cls, "_fields") and base is not tuple:
            return _named_tuple(run, cls, rest, kwargs)
        refs = list(iterate(run, rest[0])) if rest else []
        return containers.wired(run, tuple.__new__(cls, [r.object for r in refs]), refs)
    if issubclass(cls, (list, dict, set, collections.deque)):
        return Ref(cls.__new__(cls) if _is_written(cls, "__new__") is None else base.__new__(cls))
    if issubclass(cls, BaseException):
        return _with_args(run, base.__new__(cls, *[r.object for r in rest]), rest)
    if issubclass(cls, (np.ndarray, float, int, str, frozenset, complex)):
        refs = [*rest, *kwargs.values()]
        if issubclass(cls, np.ndarray) and any(run.is_active(r) for r in refs):
            z = base.__new__(cls, *[r.object for r in rest], **{k: v.object for k, v in kwargs.items()})
            found = result(run, z, None, refs)
            if not run.is_active(found):
                raise NotSupported("ndarray.__new__ with something active that is no memory of an array")
            return found
        if any(run.is_active(r) for r in refs):
            raise NotSupported(f"{base.__name__}.__new__ with something active")
        return Ref(base.__new__(cls, *[r.object for r in rest], **{k: v.object for k, v in kwargs.items()}))
    if issubclass(cls, type):
        if any(run.is_active(r) for r in [*rest, *kwargs.values()]):
            raise NotSupported("a metaclass with something active")
        return Ref(type.__new__(cls, *[r.object for r in rest], **{k: v.object for k, v in kwargs.items()}))
    return Ref(object.__new__(cls))


def init(run: Run, ref: Ref, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """``__init__`` of a built-in class."""
    x = ref.object
    if isa(x, list):
        list.clear(x)
        run.slots.rename(x, {})
        if args:
            container_methods.extend(run, ref, args[0])
    elif isa(x, dict):
        if isa(x, collections.defaultdict):
            collections.defaultdict.__init__(x, *[a.object for a in args[:1]])
            args = args[1:]
        for other in args:
            # `dict.__init__` does not ask for a `__setitem__` of the class.
            container_methods.update(run, Ref(x), other)
        container_methods.update(run, Ref(x), **kwargs)
    elif isa(x, collections.deque):
        if args:
            container_methods.extend(run, ref, args[0])
    elif isa(x, set):
        for other in args:
            for item in iterate(run, other):
                container_methods.of_set(run, ref, "add", [item])
    elif isa(x, BaseException):
        x.args = tuple([a.object for a in args])
        _with_args(run, x, args)
    return Ref(None)


def dataclass_init(run: Run, f: Any, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """The ``__init__`` that `dataclasses` wrote."""
    ref = args[0]
    cls = type(ref.object)
    given = inspect.signature(f).bind(*args, **kwargs).arguments
    parameters = cls.__dataclass_fields__.values()
    if any(p._field_type is dataclasses._FIELD_INITVAR for p in parameters):  # type: ignore[attr-defined]
        raise NotSupported("a dataclass with variables that only its __init__ sees")
    is_frozen = cls.__dataclass_params__.frozen
    for item in dataclasses.fields(cls):
        if item.init and item.name in given:
            value = given[item.name]
        elif item.default_factory is not dataclasses.MISSING:
            value = called(run, Ref(item.default_factory))
        elif item.init and item.default is not dataclasses.MISSING:
            value = Ref(item.default)
        else:
            continue
        if is_frozen:
            objects.set_raw(run, ref, item.name, value)
        else:
            objects.set_(run, ref, item.name, value)
    if special(run, ref.object, "__post_init__") is not None:
        method(run, ref, "__post_init__")
    return Ref(None)
