"""Models: short Python for classes and functions of a library whose objects carry derivatives.

    CubicSpline(x, y)(t)    is, to the specialiser, what its model says: an object whose attributes are coefficients,
                            and a method that evaluates them, both operations with rules

A model is followed as if the user had written it.  It does not exist at run time.
"""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from s2sad.ops.names import key_of
from s2sad.runtime.classes import MODELS, module_of

M = TypeVar("M")
Given = Literal["varied", "varied parts", "structured", "functions", "anything"]

_models: dict[int | tuple[int, int | str], tuple[Any, Any]] = {}
_modelled: dict[Any, Any] = {}
#: The objects of which methods have models, by their identity.
_owners: dict[int, object] = {}
_given: dict[Any, Given] = {}
_class_methods: dict[tuple[type, str], Any] = {}


@dataclass(frozen=True, eq=False)
class ObjectModel:
    """What stands for an object of some classes of a library that carries no derivative where it meets what does.

    ``make`` gives the model's object for it, which operators that are ``scaling`` ask for, and some ``methods``.
    Objects of these classes are what the functions ``makers`` give, the attributes and methods ``keeping`` of such an
    object, and the operators ``joining`` of two.  Methods of these classes that are ``reading`` change nothing.
    """

    classes: tuple[type, ...]
    make: Callable[..., Any]
    makers: tuple[Any, ...]
    keeping: frozenset[str]
    joining: frozenset[str]
    scaling: frozenset[str]
    methods: frozenset[str]
    reading: frozenset[str]


_of_objects: list[ObjectModel] = []


def object_model(found: ObjectModel) -> None:
    """Declare what stands for objects of some classes."""
    _of_objects.append(found)


def object_model_of(cls: Any) -> ObjectModel | None:
    """What stands for objects of a class, or None."""
    return next((m for m in _of_objects if isinstance(cls, type) and issubclass(cls, m.classes)), None)


def maker_model_of(function: Any) -> ObjectModel | None:
    """What stands for the objects that a function of a library makes, or None."""
    return next((m for m in _of_objects if any(function is maker for maker in m.makers)), None)


def model(original: Any, given: Given = "varied") -> Callable[[M], M]:
    """Declare what stands for a class or function of a library where that is given something of a kind.

    That is something that varies; or something structured: a tuple, function or object of the program's; or a function
    whose source is followed.  Tuples are taken apart for models of functions that are given structured things or varied
    parts.
    """

    def declare(made: M) -> M:
        _models[key_of(original)] = original, made
        _modelled[made] = original
        if isinstance(original, types.MethodType):
            _owners[id(original.__self__)] = original.__self__
        _given[made] = given
        return made

    return declare


def class_method_model(cls: type, name: str) -> Callable[[M], M]:
    """Declare what stands for a class method where it is called on one class: ``Polynomial.fit``."""

    def declare(made: M) -> M:
        _class_methods[cls, name] = made
        return made

    return declare


def class_method_model_of(cls: Any, name: str) -> Any:
    """What stands for a class method of a class, or None."""
    return _class_methods.get((cls, name)) if isinstance(cls, type) else None


def model_of(original: Any) -> Any:
    """What stands for a class or function, or None."""
    found = _models.get(key_of(original))
    return None if found is None else found[1]


def has_modelled_methods(value: object) -> bool:
    """Whether there are models of methods of an object."""
    return id(value) in _owners


def stands_where_given(made: Any) -> Given:
    """Of what kind something has to be that an original is given, for its model to stand for it."""
    return _given[made]


def beyond_model(original: Any, names: Iterable[str]) -> str | None:
    """The first name of an argument that an original takes, and the model of it does not."""
    made = model_of(original)
    known = () if made is None else inspect.signature(made).parameters
    return next((name for name in names if made is not None and name not in known), None)


def modelled(cls: type) -> type:
    """The class for which a model stands; any other class stands for itself."""
    found = _modelled.get(cls, cls)
    return found if isinstance(found, type) else cls


def names_model(function: types.FunctionType) -> bool:
    """Whether a function names something for which a model stands."""
    names = function.__code__.co_names if _models else ()
    pending = [function.__globals__.get(name, getattr(builtins, name, None)) for name in names]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if model_of(value) is not None:
            return True
        if has_modelled_methods(value):
            pending += [getattr(value, n) for n in names if hasattr(type(value), n)]
        elif isinstance(value, types.ModuleType) and id(value) not in seen:
            seen.add(id(value))
            # Not by getattr: modules have attributes that are made, with warnings, when they are asked for.
            pending += [vars(value)[n] for n in names if n in vars(value)]
    return False


def is_of_model(made: types.FunctionType | type) -> bool:
    """Whether a function or class is a model's."""
    return module_of(made).startswith(MODELS)
