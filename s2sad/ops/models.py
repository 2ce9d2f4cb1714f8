"""Models: short Python for classes and functions of a library whose objects carry derivatives.

    CubicSpline(x, y)(t)    is, to the specialiser, what its model says: an object whose attributes are coefficients,
                            and a method that evaluates them, both operations with rules

A model is followed as if the user had written it.  It does not exist at run time.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

M = TypeVar("M")

_models: dict[int, tuple[Any, Any]] = {}
_modelled: dict[Any, Any] = {}
_structured: set[Any] = set()


def model(original: Any, structured: bool = False) -> Callable[[M], M]:
    """Declare what stands for a class or function of a library, or for one that is given something ``structured``."""

    def declare(made: M) -> M:
        _models[id(original)] = original, made
        _modelled[made] = original
        if structured:
            _structured.add(made)
        return made

    return declare


def model_of(original: Any) -> Any:
    """What stands for a class or function, or None."""
    found = _models.get(id(original))
    return None if found is None else found[1]


def is_structured(made: Any) -> bool:
    """Whether a model stands for its original only where that is given a tuple, function or object of the program's."""
    return made in _structured


def modelled(cls: type) -> type:
    """The class for which a model stands; any other class stands for itself."""
    found = _modelled.get(cls, cls)
    return found if isinstance(found, type) else cls


def names_model(function: types.FunctionType) -> bool:
    """Whether a function names something for which a model stands."""
    names = function.__code__.co_names if _models else ()
    pending = [function.__globals__.get(name) for name in names]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if model_of(value) is not None:
            return True
        if isinstance(value, types.ModuleType) and id(value) not in seen:
            seen.add(id(value))
            # Not by getattr: modules have attributes that are made, with warnings, when they are asked for.
            pending += [vars(value)[n] for n in names if n in vars(value)]
    return False


def is_of_model(function: types.FunctionType) -> bool:
    """Whether a function is a model's."""
    return (function.__module__ or "").startswith("s2sad.ops.scipy.models.")
