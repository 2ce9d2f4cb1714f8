"""The names of operations, as users write them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.runtime.classes import module_of
from s2sad.runtime.moments import MOMENTS


def operation_name(function: Callable[..., Any], otherwise: str = "") -> str:
    """The public name of the function of an operation: ``numpy.add.reduce``."""
    owner: Any = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"numpy.{owner.__name__}.{function.__name__}"
    name = getattr(function, "__name__", otherwise)
    if isinstance(function, types.BuiltinMethodType) and any(owner is cls for cls in MOMENTS):
        return f"datetime.{owner.__name__}.{name}"
    owner = getattr(function, "__objclass__", None)
    if owner is not None:
        return f"{owner.__name__}.{name}"
    # Universal functions do not say where they are from.
    home = module_of(function) or ("numpy" if getattr(np, name, None) is function else "scipy.special")
    if home.startswith("scipy."):
        home = home.partition("._")[0]
    owner = f"{owner_name(function.__self__)}." if isinstance(function, types.MethodType) else ""
    return f"{home}.{owner}{name}"


def owner_name(owner: object) -> str:
    """The public name of an object whose methods are operations: ``norm`` of ``scipy.stats``."""
    return str(getattr(owner, "name", None) or type(owner).__name__.removesuffix("_gen"))


def key_of(function: object) -> int | tuple[int, int | str]:
    """The identity of a function; of a method of an object, which is a new one at each access, that of both.

    Of ``np.add.reduce`` it is that of ``np.add`` and the name.
    """
    if isinstance(function, types.MethodType):
        return id(function.__self__), id(function.__func__)
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, np.ufunc):
        return id(function.__self__), function.__name__
    if isinstance(function, types.BuiltinMethodType) and any(function.__self__ is cls for cls in MOMENTS):
        return id(function.__self__), function.__name__
    return id(function)
