"""Derivatives of functions that are given to functions of SciPy: compiled when they are first called."""

from __future__ import annotations

import functools
import importlib
import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.calls import adjoint_like, forward, pushed

Tree = Any


def arguments(args: Any) -> tuple[Any, ...]:
    """Further arguments of a function as SciPy takes them: a tuple, one that is not in a tuple, or None."""
    if args is None:
        return ()
    return args if isinstance(args, tuple) else (args,)


def spread(args: Any) -> tuple[Any, ...]:
    """As `arguments`, where those in a list are several as well."""
    return tuple(args) if isinstance(args, list) else arguments(args)


@functools.lru_cache(maxsize=256)
def of_tuple(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function with its further arguments, so many, as a tuple; how many ``*args`` are is not known to a compiler.

    Example:
        >>> of_tuple(max, 2)(1.0, (3.0, 2.0))
        3.0
    """
    items = ", ".join(["x", *(f"args[{i}]" for i in range(count))])
    text = f"def of_{count}(x, args):\n    return function({items})\n"
    return made(f"of_{count}", text, f"<arguments in a tuple of {count}>", function=function)


def made(name: str, text: str, file: str, **variables: Any) -> Callable[..., Any]:
    """The function that a text defines, whose source the compiler finds."""
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), variables)
    return variables[name]  # type: ignore[no-any-return]


def has_numbers(x: Tree) -> bool:
    """Whether an argument may have an adjoint other than zero."""
    if isinstance(x, (list, tuple)):
        return any(map(has_numbers, x))
    if isinstance(x, dict):
        return any(map(has_numbers, x.values()))
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fc"
    return isinstance(x, (float, complex, np.inexact)) or hasattr(x, "__dataclass_fields__")


def pulled(
    function: Callable[..., Any], args: Sequence[Any], wanted: Sequence[int]
) -> tuple[Any, Callable[[Any], list[Tree]]]:
    """The value of a call, and the function from its adjoint to those of the ``wanted`` arguments, by position."""
    active = tuple([i for i in wanted if has_numbers(args[i])])
    if not active:
        return function(*args), lambda value_bar: [zero_like(args[i]) for i in wanted]
    value, reverse = forward(function, active, *args)

    def pull(value_bar: Any) -> list[Tree]:
        found = reverse(adjoint_like(value_bar, value))
        bars = dict(zip(active, (found,) if len(active) == 1 else found, strict=True))
        return [adjoint_like(bars[i], args[i]) if i in bars else zero_like(args[i]) for i in wanted]

    return value, pull


def pulled_again(
    function: Callable[..., Any], args: Sequence[Any], dots: Sequence[Any], wanted: Sequence[int], bar: Any
) -> list[Tree]:
    """The adjoints of the ``wanted`` arguments in the tangent of a call, of the adjoint of that tangent.

    The adjoint of ``p`` in ``f(p)`` for an adjoint ``w`` is the derivative of ``w f(p)``.  So its derivative in a
    direction ``c`` is that of ``w f'(p) c``.
    """
    active = tuple([i for i, x in enumerate(args) if has_numbers(x)])
    moved = [tangent_like(dots[i], args[i]) for i in active]
    return pulled(tangent_of(function, len(args), active), (*args, *moved), wanted)[1](bar)


@functools.lru_cache(maxsize=256)
def _both_of(function: Callable[..., Any], count: int, active: tuple[int, ...], time_first: bool) -> Callable[..., Any]:
    names, dots = [f"a{i}" for i in range(count)], [f"d{i}" if i in active else "None" for i in range(count)]
    leading, moving = ["t", "y[:n]"], ["None", "y[n:]"]
    if not time_first:
        leading, moving = leading[::-1], moving[::-1]
    file = f"<a function of {count} and its tangent by {active}, time {'first' if time_first else 'second'}>"
    text = (
        f"def both({', '.join(['t', 'y', *names, *[f'd{i}' for i in active]])}):\n"
        "    n = len(y) // 2\n"
        f"    u, v = jvp(function, ({', '.join([*leading, *names])}), ({', '.join([*moving, *dots])}))\n"
        "    return np.concatenate([np.ravel(np.array(u)), np.ravel(np.array(v))])\n"
    )
    jvp = importlib.import_module("s2sad.pushforwards").jvp
    return made("both", text, file, function=function, jvp=jvp, np=np)


def with_tangent(
    function: Callable[..., Any], args: Sequence[Any], dots: Sequence[Any], time_first: bool
) -> tuple[Callable[..., Any], list[Tree]]:
    """The right-hand side of an equation for states and their tangents, and its arguments behind ``args``.

    Those are ``dots``, the tangents of the arguments of ``function``, as far as these have numbers.
    """
    active = tuple([i for i, x in enumerate(args) if has_numbers(x)])
    return _both_of(function, len(args), active, time_first), [tangent_like(dots[i], args[i]) for i in active]


def moved(function: Callable[..., Any], args: Sequence[Any], dots: Sequence[Any]) -> Tree:
    """The tangent of a call, of those of its arguments; None for one that has none."""
    active = tuple([i for i, x in enumerate(args) if dots[i] is not None and has_numbers(x)])
    given = tuple([tangent_like(dots[i], args[i]) for i in active])
    return pushed(function, active, given, *args)[1] if active else np.zeros(np.shape(function(*args)))


def moved_again(function: Callable[..., Any], args: Sequence[Any], dots: Sequence[Any], further: Sequence[Any]) -> Tree:
    """The tangent, along ``further``, of the tangent of a call along ``dots``, which stay as they are."""
    active = tuple([i for i, x in enumerate(args) if has_numbers(x)])
    held = [tangent_like(dots[i], args[i]) for i in active]
    return moved(tangent_of(function, len(args), active), (*args, *held), (*further, *[None for _ in held]))


def tangent_like(dot: Tree, x: Tree) -> Tree:
    """A tangent in the form of what it is one of."""
    dot = adjoint_like(0.0 if dot is None else dot, x)
    return tuple(dot) if isinstance(x, tuple) else dot


def dots_of(args_dot: Any, args: Any) -> tuple[Tree, ...]:
    """The tangents or adjoints of further arguments as a tuple of as many."""
    if isinstance(args, tuple):
        return tuple(args_dot) if isinstance(args_dot, (list, tuple)) else (0.0,) * len(args)
    return (args_dot,) * len(arguments(args))


@functools.lru_cache(maxsize=256)
def total_of(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The sum of the numbers that a function of a point and of ``count`` further arguments returns.

    Example:
        >>> total_of(np.multiply, 1)(np.array([2.0]), 3.0)
        np.float64(6.0)
    """
    names = ", ".join(["x", *(f"a{i}" for i in range(count))])
    text = f"def total({names}):\n    return np.sum(function({names}))\n"
    return made("total", text, f"<the sum of what a function of {1 + count} returns>", function=function, np=np)


@functools.lru_cache(maxsize=256)
def tangent_of(function: Callable[..., Any], count: int, active: tuple[int, ...]) -> Callable[..., Any]:
    """The tangent of a function of ``count`` arguments by some of them, as a function of the arguments and tangents.

    Example:
        >>> tangent_of(np.multiply, 2, (0,))(2.0, 3.0, 1.0)
        3.0
    """
    names = [f"a{i}" for i in range(count)]
    dots = [f"d{i}" if i in active else "None" for i in range(count)]
    given = ", ".join([*names, *[f"d{i}" for i in active]])
    text = f"def tangent({given}):\n    return jvp(function, ({', '.join(names)},), ({', '.join(dots)},))[1]\n"
    jvp = importlib.import_module("s2sad.pushforwards").jvp
    return made("tangent", text, f"<the tangent of a function of {count} by {active}>", function=function, jvp=jvp)


def loss_slope(function: Callable[..., Any], x: Any, args: Sequence[Any]) -> Callable[..., Any]:
    """The derivative of a loss in its first argument; SciPy takes an array of one number for a loss too."""
    return slope_of(total_of(function, len(args)) if np.ndim(function(x, *args)) else function)


@functools.lru_cache(maxsize=64)
def slope_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of a function in its first argument, as a function of the same arguments."""
    # The compiler is above this module, and is imported when it is needed.
    return importlib.import_module("s2sad.api").grad(function)  # type: ignore[no-any-return]


def is_zero(bar: Tree) -> bool:
    """Whether all numbers in an adjoint are zero.

    Example:
        >>> is_zero([0.0, {"root": 1.0}])
        False
    """
    if isinstance(bar, (list, tuple)):
        return all(map(is_zero, bar))
    return all(map(is_zero, bar.values())) if isinstance(bar, dict) else not np.any(bar)


def no_report() -> UndefinedDerivativeError:
    """What is said where the derivative of a report is asked for."""
    return UndefinedDerivativeError(
        "what a solver reports beside its result has no derivative",
        "Use the first result, or wrap the report in stop_gradient(...).",
    )


def zero_like(x: Tree) -> Tree:
    """The adjoint of an argument on which nothing depends."""
    return adjoint_like(0.0, x)


def packed(tree: Tree, like: Tree) -> np.ndarray:
    """The numbers in an adjoint of ``like``, those of complex ones as two, as a vector.

    Example:
        >>> packed([1.0, [2.0], 0.0], (0.5, [0.5], 3))
        array([1., 2.])
    """
    found: list[np.ndarray] = []
    _numbers(tree, like, found)
    return np.concatenate(found) if found else np.zeros(0)


def _numbers(tree: Tree, like: Tree, found: list[np.ndarray]) -> None:
    if isinstance(like, (list, tuple)):
        for i, item in enumerate(like):
            _numbers(tree[i], item, found)
    elif isinstance(like, dict):
        for key, item in like.items():
            _numbers(tree[key], item, found)
    elif has_numbers(like):
        flat = np.ravel(tree)
        found.append(np.concatenate([flat.real, flat.imag]) if np.iscomplexobj(like) else np.real(flat))


def unpacked(vector: np.ndarray, like: Tree) -> Tree:
    """The adjoint of ``like`` that has these numbers.

    Example:
        >>> unpacked(np.array([1.0, 2.0]), (0.5, [0.5], 3))
        [1.0, [2.0], 0.0]
    """
    return _tree(vector, like, [0])


def _tree(vector: np.ndarray, like: Tree, at: list[int]) -> Tree:
    if isinstance(like, (list, tuple)):
        return [_tree(vector, item, at) for item in like]
    if isinstance(like, dict):
        return {key: _tree(vector, item, at) for key, item in like.items()}
    if not has_numbers(like):
        return zero_like(like)
    size = np.size(like)
    part = vector[at[0] : at[0] + size]
    at[0] += size
    if np.iscomplexobj(like):
        part = part + 1j * vector[at[0] : at[0] + size]
        at[0] += size
    return adjoint_like(part.reshape(np.shape(like)) if np.ndim(like) else part[0].item(), like)


def paired(a: Tree, b: Tree) -> float:
    """The sum of the products of the numbers of an adjoint and a tangent: the real part of it.

    What has no tangent has None in its place.

    Example:
        >>> paired([1.0, [2.0]], (3.0, [0.5]))
        4.0
    """
    if isinstance(a, (list, tuple)):
        return sum([paired(x, y) for x, y in zip(a, b, strict=True)], 0.0) if isinstance(b, (list, tuple)) else 0.0
    if isinstance(a, dict):
        return sum([paired(a[key], b[key]) for key in a], 0.0) if isinstance(b, dict) else 0.0
    return 0.0 if b is None else float(np.real(np.sum(np.multiply(a, b))))


def tangent_by_adjoints(z: Any, adjoints: Callable[[Any], Any], dots: Sequence[Any]) -> Any:
    """The tangent of a result, of the adjoints that each number in it has and the tangents of what they are of."""
    found = np.zeros(np.shape(z))
    for index in np.ndindex(found.shape):
        unit = np.zeros(found.shape)
        unit[index] = 1.0
        bars = adjoints(unit[()])
        found[index] = sum(paired(bar, dot) for bar, dot in zip(bars, dots, strict=True) if dot is not None)
    return found[()]
