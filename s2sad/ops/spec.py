"""The table of operations: one entry per differentiable function.

A rule is a short Python function.  It runs as it stands (so that a test can
call it), and the compiler *splices* its body into the adjoint, so the text of
a rule is the text that a reader finds in an emitted gradient.

Four classes of rule, after ChainRules.jl and JAX:

``elementwise``
    The body returns the partial derivatives, one for each parameter in
    ``wrt``.  Both modes follow: ``x_bar = unbroadcast(z_bar * partial)`` and
    ``z_dot = sum(partial * x_dot)``.  A body that takes ``z_bar`` returns its
    products with them, since ``0 * inf`` is not what they are at the edge of a
    domain; in forward mode ``x_dot`` takes its place.
``linear``
    The body is the transpose; forward mode is the function of the tangent.
``bilinear``
    The body gives the adjoints of both operands; forward mode is
    ``f(x_dot, y) + f(x, y_dot)``.
``rule``
    An explicit ``vjp`` and ``jvp``.

Parameter names of a body: ``z`` is the result, ``z_bar`` its adjoint, every
other name is a parameter of the function, spelled as NumPy spells it.

A body is straight-line: assignments, then one ``return`` of an expression (or
of a tuple, one item per name in ``wrt``, when there are several).  It may
begin with *static* branches ``if test: return ...``, where the test uses only
``literal(p)``, ``ndim(p)``, ``real(p)``, ``p is None`` and comparisons of literal
parameters.  The compiler takes such a branch where it can prove the test and
falls through where it cannot, so what follows must be right in every case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)
Sharing = Literal["fresh", "view", "maybe"]
Kind = Literal["elementwise", "linear", "bilinear", "general"]


@dataclass(frozen=True)
class Sample:
    """One call ``function(*args, **kwargs)`` at which a rule is tested."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


def sample(*args: Any, **kwargs: Any) -> Sample:
    """Build a :class:`Sample` from the arguments of a call."""
    return Sample(args, kwargs)


Samples = Callable[[], Sequence[Sample]]


@dataclass(frozen=True, eq=False)
class Rule:
    """The derivative of one function.

    ``vjp`` is the body as written: partials for an elementwise rule, or their
    products with ``z_bar`` where it is ``multiplied``, else the adjoints of ``wrt``.
    ``jvp`` is given for a general rule only.  ``sharing`` says whether the result is
    a fresh array, a view of its first argument, or either.  ``shape`` names how the
    result's shape follows from the arguments: ``"broadcast"`` (of all array parameters),
    ``"reduce"`` (``axis`` and ``keepdims``), ``"same"`` (as the first parameter) or
    ``None`` (not known).
    """

    name: str
    function: Function
    kind: Kind
    parameters: tuple[str, ...]
    variadic: str | None
    defaults: dict[str, Any]
    wrt: tuple[str, ...]
    vjp: Function
    jvp: Function | None
    sharing: Sharing
    shape: str | None
    samples: Samples
    multiplied: bool = False


_rules: dict[int, Rule] = {}
_constants: dict[int, Function] = {}


def _parameters(body: Function) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
    """The names of all parameters of ``body`` in order, that of ``*args``, and the default values."""
    # Hundreds of rules are declared at once, and inspect.signature takes longer than all the rest.
    code = body.__code__
    names, given = code.co_varnames, code.co_argcount
    by_name = names[given : given + code.co_kwonlyargcount]
    variadic = names[given + len(by_name)] if code.co_flags & inspect.CO_VARARGS else None
    values: tuple[Any, ...] = body.__defaults__ or ()
    defaults = dict(zip(names[given - len(values) : given], values, strict=True))
    defaults.update(body.__kwdefaults__ or {})
    return (*names[:given], *([] if variadic is None else [variadic]), *by_name), variadic, defaults


def _add(
    function: Function,
    body: Function,
    kind: Kind,
    wrt: Sequence[str] | None,
    samples: Samples,
    jvp: Function | None = None,
    sharing: Sharing = "fresh",
    shape: str | None = None,
) -> Rule:
    names, variadic, defaults = _parameters(body)
    multiplied = kind == "elementwise" and "z_bar" in names
    names = tuple(n for n in names if n not in ("z", "z_bar"))
    if wrt is None:
        wrt = [n for n in names if n not in defaults]
    module = getattr(function, "__module__", None) or "numpy"
    name = f"{module}.{getattr(function, '__name__', body.__name__)}"
    rule = Rule(
        name, function, kind, names, variadic, defaults, tuple(wrt), body, jvp, sharing, shape, samples, multiplied
    )
    if id(function) in _rules or id(function) in _constants:
        raise ValueError(f"{name} already has a rule")
    _rules[id(function)] = rule
    return rule


def elementwise(function: Function, *, samples: Samples, wrt: Sequence[str] | None = None) -> Callable[[F], F]:
    """Declare the partial derivatives of a function that works element by element.

    The decorated body returns one partial for each name in ``wrt`` (by default
    each parameter without a default value), as a tuple when there are several.
    """

    def declare(body: F) -> F:
        _add(function, body, "elementwise", wrt, samples, shape="broadcast")
        return body

    return declare


def linear(
    function: Function,
    *,
    samples: Samples,
    wrt: Sequence[str],
    sharing: Sharing = "fresh",
    shape: str | None = None,
) -> Callable[[F], F]:
    """Declare the transpose of a function that is linear in ``wrt`` (all of them together)."""

    def declare(body: F) -> F:
        _add(function, body, "linear", wrt, samples, None, sharing, shape)
        return body

    return declare


def bilinear(function: Function, *, samples: Samples, wrt: Sequence[str] | None = None) -> Callable[[F], F]:
    """Declare the adjoints of both operands of a function that is linear in each."""

    def declare(body: F) -> F:
        _add(function, body, "bilinear", wrt, samples)
        return body

    return declare


def rule(
    function: Function,
    *,
    jvp: Function,
    samples: Samples,
    wrt: Sequence[str] | None = None,
    sharing: Sharing = "fresh",
    shape: str | None = None,
) -> Callable[[F], F]:
    """Declare a function by its ``vjp`` (the decorated body) and its ``jvp``.

    The ``jvp`` takes one tangent ``p_dot`` for each ``p`` in ``wrt`` and, by name, whichever of
    ``z`` and the parameters it needs.
    """

    def declare(body: F) -> F:
        _add(function, body, "general", wrt, samples, jvp, sharing, shape)
        return body

    return declare


def constant(*functions: Function) -> None:
    """Declare functions whose result has no derivative (integers, booleans, steps, shapes)."""
    for function in functions:
        _constants[id(function)] = function


def find(function: object) -> Rule | None:
    """Return the rule of ``function`` or None.  Functions are found by identity."""
    entry = _rules.get(id(function))
    return entry if entry is not None and entry.function is function else None


def is_constant(function: object) -> bool:
    """Return whether ``function`` was declared to have no derivative."""
    return _constants.get(id(function)) is function and function is not None


def rules() -> Iterable[Rule]:
    """Every rule, in order of declaration."""
    return tuple(_rules.values())


def constants() -> Iterable[Function]:
    """Every function declared constant, in order of declaration."""
    return tuple(_constants.values())


def literal(value: object) -> bool:
    """Static test: ``value`` is a number written in the program, known when it is compiled."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def ndim(value: object) -> int:
    """Static test: the number of dimensions of ``value``."""
    return int(np.ndim(value))  # type: ignore[arg-type]


def real(value: object) -> bool:
    """Static test: ``value`` is not complex."""
    return not np.iscomplexobj(value)  # type: ignore[arg-type]
