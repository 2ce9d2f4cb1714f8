"""Calls of which it is known at run time only what they run.

The compiler is imported when the first one runs, and differentiates what that call runs (`s2sad.dispatch`).

    y, f_reverse = forward(f, (0,), x, t)     f(x, t), and its reverse function with respect to x
    x_bar = f_reverse(y_bar)
    y = unchanging(f, (0,), x, t)             f(x, t), where its derivative is not needed
    y, y_dot = pushed(f, (0,), (x_dot,), x, t)    f(x, t), and its tangent

``active`` are the positions and names of the arguments that carry derivatives.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.runtime.trees import conform, dataclass_fields, zeros

Reverse = Callable[[Any], Any]
_enter: Callable[..., Any] | None = None


def _entry() -> Callable[..., Any]:
    global _enter
    if _enter is None:
        _enter = importlib.import_module("s2sad.dispatch").enter
    return _enter


def forward(function: Any, active: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Reverse]:
    """The value of a call, and the function from the adjoint of the value to those of the active arguments."""
    return (_enter or _entry())(function, active, args, kwargs, "call", "")  # type: ignore[no-any-return]


def forward_copied(function: Any, active: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Reverse]:
    """As `forward`, where what the call reads or returns may be written before the reverse function runs."""
    return (_enter or _entry())(function, active, args, kwargs, "copied_call", "")  # type: ignore[no-any-return]


def forward_apart(function: Any, active: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Reverse]:
    """As `forward_copied`, for a value that may share nothing with the arguments, which are written later."""
    return (_enter or _entry())(function, active, args, kwargs, "copied_call", "apart")  # type: ignore[no-any-return]


def forward_fresh(function: Any, active: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Reverse]:
    """As `forward_copied`, for a value that is written later: it may share nothing with what was there before."""
    return (_enter or _entry())(function, active, args, kwargs, "copied_call", "fresh")  # type: ignore[no-any-return]


def unchanging(function: Any, active: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    """The value of a call that may neither write into what it is given nor keep it."""
    return (_enter or _entry())(function, active, args, kwargs, "effects", "")


def unchanging_apart(function: Any, active: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    """As `unchanging`, for a value that may share nothing with the arguments, which are written later."""
    return (_enter or _entry())(function, active, args, kwargs, "effects", "apart")


def unchanging_fresh(function: Any, active: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    """As `unchanging`, for a value that is written later: it may share nothing with what was there before."""
    return (_enter or _entry())(function, active, args, kwargs, "effects", "fresh")


def checked(function: Any, active: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    """The value of a call of which it is known what it does, as far as the calls in it do no more."""
    return (_enter or _entry())(function, active, args, kwargs, "effects", "known")


def pushed(function: Any, active: tuple[Any, ...], dots: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    """The value of a call and its tangent, for the tangents ``dots`` of the active arguments."""
    return (_enter or _entry())(function, active, args, kwargs, "tangent_call", "", dots)


def pushed_apart(function: Any, active: tuple[Any, ...], dots: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    """As `pushed`, for a value that may share nothing with the arguments, which are written later."""
    return (_enter or _entry())(function, active, args, kwargs, "tangent_call", "apart", dots)


def pushed_fresh(function: Any, active: tuple[Any, ...], dots: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
    """As `pushed`, for a value that is written later: it may share nothing with what was there before."""
    return (_enter or _entry())(function, active, args, kwargs, "tangent_call", "fresh", dots)


def adjoint_like(g: Any, x: Any) -> Any:
    """The adjoint ``g`` in the form that the adjoint of ``x`` has: real where that is real, in its shape and precision.

    Example:
        >>> adjoint_like(0.0, (1.0, [2.0]))
        [0.0, [0.0]]
    """
    t = type(x)
    if t is float:
        return g if type(g) is float else float(np.sum(np.real(g)))
    if isinstance(x, np.ndarray):
        return conform(g, x) if x.dtype.kind in "fc" else zeros(x)
    if isinstance(x, (complex, np.complexfloating)):
        return g if isinstance(g, (complex, float)) else complex(np.sum(g))
    if isinstance(x, np.floating):
        return np.real(g) if np.ndim(g) == 0 else np.sum(np.real(g))
    zero = isinstance(g, float)
    if isinstance(x, (list, tuple)):
        return [adjoint_like(0.0 if zero else g[i], item) for i, item in enumerate(x)]
    if isinstance(x, dict):
        return {key: adjoint_like(0.0 if zero else g[key], item) for key, item in dict.items(x)}
    fields = dataclass_fields(x)
    if fields is not None:
        return {name: adjoint_like(0.0 if zero else g[name], getattr(x, name)) for name in fields}
    return 0.0


def again(saved: Any) -> Any:
    """What a forward half saved, with tapes that may be consumed, and shadows of containers that may be added to.

    A list or dict that it holds twice is one here too.

    Example:
        >>> tape = [1.0]
        >>> first, second = again((tape, tape))
        >>> first is second, first is tape
        (True, False)
    """
    return _again(saved, {})


def _again(saved: Any, made: dict[int, Any]) -> Any:
    if id(saved) in made:
        return made[id(saved)]
    if type(saved) is list:
        items = made[id(saved)] = []
        items += [_again(item, made) for item in saved]
        return items
    if type(saved) is dict:
        entries = made[id(saved)] = {}
        entries.update((key, _again(item, made)) for key, item in saved.items())
        return entries
    return tuple([_again(item, made) for item in saved]) if type(saved) is tuple else saved
