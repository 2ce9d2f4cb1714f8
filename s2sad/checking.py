"""Compare gradients with central differences."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.api import Derivative, grad, vjp
from s2sad.errors import ArgumentError, GradientMismatch
from s2sad.runtime.trees import sequence_like, with_fields


@dataclass(frozen=True)
class Entry:
    """One argument's comparison: the worst error, and where it is."""

    argument: str
    place: str
    absolute: float
    relative: float
    computed: float
    expected: float
    ok: bool


@dataclass(frozen=True)
class Report:
    """The outcome of :func:`check_grads`; true when every gradient agrees."""

    entries: tuple[Entry, ...]

    @property
    def ok(self) -> bool:
        """Whether every gradient agrees with its differences."""
        return all(e.ok for e in self.entries)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"{'argument':<12}{'abs error':>12}{'rel error':>12}  worst at"]
        for e in self.entries:
            mark = "ok" if e.ok else f"WRONG: {e.computed:.10g}, differences give {e.expected:.10g}"
            lines.append(f"{e.argument:<12}{e.absolute:>12.2e}{e.relative:>12.2e}  {e.place}  {mark}")
        return "\n".join(lines)


def _leaves(tree: Any, path: str) -> list[tuple[str, Any]]:
    if isinstance(tree, dict):
        return [leaf for k, v in tree.items() for leaf in _leaves(v, f"{path}[{k!r}]")]
    if isinstance(tree, (list, tuple)):
        return [leaf for i, v in enumerate(tree) for leaf in _leaves(v, f"{path}[{i}]")]
    fields = getattr(type(tree), "__dataclass_fields__", None)
    if fields is not None:
        return [leaf for k in fields for leaf in _leaves(getattr(tree, k), f"{path}.{k}")]
    return [] if tree is None else [(path, tree)]


def _replaced(tree: Any, leaves: list[Any]) -> Any:
    """``tree`` with its leaves taken from the front of ``leaves``."""
    if isinstance(tree, dict):
        return {k: _replaced(v, leaves) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [_replaced(v, leaves) for v in tree]
        return sequence_like(tree, items)
    fields = getattr(type(tree), "__dataclass_fields__", None)
    if fields is not None:
        return with_fields(tree, {k: _replaced(getattr(tree, k), leaves) for k in fields})
    return None if tree is None else leaves.pop(0)


def _copied(tree: Any) -> Any:
    """``tree`` with arrays of its own, for a function may write into what it is given."""
    return _replaced(tree, [x.copy() if isinstance(x, np.ndarray) else x for _, x in _leaves(tree, "")])


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("rev",),
    *,
    argnums: int | Sequence[int] | None = None,
    atol: float = 1e-6,
    rtol: float = 1e-6,
    raises: bool = True,
) -> Report:
    """Compare the gradient of ``f`` at ``args`` with central differences.

    A function that returns an array is checked through its sum weighted with fixed random numbers.

    Args:
        f: A function, or what :func:`grad` made of one.
        args: The arguments at which to compare, by position.
        order: 1; higher orders are not supported yet.
        modes: ``("rev",)``; forward mode is not supported yet.
        argnums: Which arguments; by default every argument of floats, or of Python's integers if there is none.
        atol: The absolute error that passes.
        rtol: The error relative to the largest entry of a gradient that passes.
        raises: Raise :class:`GradientMismatch` for a wrong gradient; with False the report says it.

    Returns:
        A report with one entry for each argument, to print; true if every gradient agrees.

    Raises:
        ArgumentError: for an order or mode that is not supported, or if no argument has floats.
        GradientMismatch: for a wrong gradient, with the report.  It is an ``AssertionError`` too.

    Example:
        >>> import numpy as np
        >>> from s2sad import check_grads
        >>> def loss(x):
        ...     return np.sum(np.sin(x) ** 2)
        >>> check_grads(loss, (np.ones(3),)).ok
        True
    """
    if order != 1:
        raise ArgumentError(f"check_grads: order={order!r} is not supported yet, only 1")
    for mode in [modes] if isinstance(modes, str) else modes:
        if mode not in ("rev", "reverse"):
            raise ArgumentError(f"check_grads: mode {mode!r} is not supported yet, only 'rev'")
    plain: Any = f
    if isinstance(f, Derivative):
        plain = f.__wrapped__
        argnums = f.argnums if argnums is None else argnums
    if not isinstance(args, (tuple, list)):
        raise ArgumentError("check_grads: args must be a tuple of arguments, as in check_grads(f, (x,))")
    if argnums is None:
        chosen = [i for i, a in enumerate(args) if _differentiable(a)] or [
            i for i, a in enumerate(args) if type(a) is int
        ]
    else:
        chosen = [int(i) % len(args) for i in ([argnums] if isinstance(argnums, (int, np.integer)) else argnums)]
    if not chosen:
        raise ArgumentError("check_grads: no argument has floats only\nPass floats or arrays of them.")
    args = [float(a) if i in chosen and type(a) is int else a for i, a in enumerate(args)]
    # Says what is wrong with the function or with argnums.
    names = list(grad(plain, tuple(chosen)).__signature__.parameters)
    value = plain(*_copied(args))
    if isinstance(value, (list, tuple, dict)) or np.ndim(value) or np.iscomplexobj(value):
        gradients, project = _pulled(plain, args, value, chosen)
    else:
        gradients, project = grad(plain, tuple(chosen))(*_copied(args)), float
    entries = [
        _compared(lambda *moved: project(plain(*_copied(list(moved)))), args, number, gradient, names, atol, rtol)
        for number, gradient in zip(chosen, gradients, strict=True)
    ]
    report = Report(tuple(entries))
    if raises and not report.ok:
        name = getattr(plain, "__qualname__", repr(plain))
        one, two = (project(plain(*_copied(args))) for _ in range(2))
        repeats = np.isclose(one, two, rtol=1e-12, atol=0.0, equal_nan=True)
        why = "" if repeats else f"\n{name} gives {one!r}, then {two!r}: it draws numbers, or changes what it reads"
        raise GradientMismatch(f"the gradient of {name} differs from its central differences\n{report}{why}")
    return report


def _differentiable(tree: Any) -> bool:
    leaves = _leaves(tree, "")
    return bool(leaves) and all(
        isinstance(x, (float, complex)) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc")
        for _, x in leaves
    )


def _pulled(plain: Any, args: list[Any], value: Any, chosen: list[int]) -> tuple[list[Any], Callable[[Any], float]]:
    """Gradients of a random weighting of every output."""
    random = np.random.default_rng(0)
    outputs = [x for _, x in _leaves(value, "")]
    weights = [random.standard_normal(np.shape(x)) if np.ndim(x) else float(random.standard_normal()) for x in outputs]
    _, pullback = vjp(plain, *_copied(args), argnums=chosen)
    bars = pullback(_replaced(value, list(weights)))

    def project(result: Any) -> float:
        return float(sum(np.sum(np.real(w * x)) for w, (_, x) in zip(weights, _leaves(result, ""), strict=True)))

    return list(bars), project


#: Central differences start from these steps, in turn, until one agrees: a wide one is the most exact,
#: a narrow one stays inside the domain of a logarithm or on one side of a kink.
_STEPS = (1e-3, 1e-5, 1e-7)
_SINGLE_STEPS = (1e-1, 1e-2)


def _difference(f: Callable[[float], float], step: float) -> float:
    """Central differences with Richardson extrapolation (Press et al., Numerical Recipes, section 5.7)."""
    table = [(f(h) - f(-h)) / (2 * h) for h in [step / 2**k for k in range(4)]]
    for order in range(1, len(table)):
        weight = 4.0**order
        table = [(weight * b - a) / (weight - 1) for a, b in itertools.pairwise(table)]
    return float(table[0])


def _compared(
    f: Callable[..., float],
    args: list[Any],
    number: int,
    gradient: Any,
    names: Sequence[str],
    atol: float,
    rtol: float,
) -> Entry:
    """Compare the gradient by one argument, entry by entry."""
    name = names[number] if number < len(names) else f"argument {number}"
    leaves = _leaves(args[number], name)
    bars = [g for _, g in _leaves(gradient, name)]
    values = [x for _, x in leaves]
    scale = max((float(np.max(np.abs(g))) for g in bars if np.size(g)), default=0.0)
    ok, worst = True, Entry(name, name, 0.0, 0.0, 0.0, 0.0, True)
    for position, (path, x) in enumerate(leaves):
        single = np.result_type(x) in (np.float32, np.complex64, np.float16)
        # In the convention of JAX the imaginary part of a gradient is minus the derivative by that part.
        for index, part in itertools.product(np.ndindex(np.shape(x)), (1, 1j) if np.iscomplexobj(x) else (1,)):

            def at(h: float, x: Any = x, index: Any = index, part: Any = part, position: int = position) -> float:
                moved = np.array(x)
                moved[index] += h * part
                new = list(values)
                new[position] = moved if isinstance(x, np.ndarray) else type(x)(moved[()])
                return f(*args[:number], _replaced(args[number], new), *args[number + 1 :])

            bar = np.asarray(bars[position])[index]
            computed = float(np.real(bar)) if part == 1 else float(-np.imag(bar))
            size = max(1.0, abs(complex(np.asarray(x)[index])))
            best: tuple[bool, float, float] | None = None
            for step in _SINGLE_STEPS if single else _STEPS:
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        expected = _difference(at, step * size)
                    except (ArithmeticError, ValueError):  # outside of the domain
                        expected = float("nan")
                error = abs(computed - expected)
                largest = max(scale, abs(expected))
                allowed = max(atol, 1e-3) + max(rtol, 1e-2) * largest if single else atol + rtol * largest
                good = error <= allowed or (np.isnan(computed) and np.isnan(expected)) or computed == expected
                if best is None or good or error < best[1] or np.isnan(best[1]):
                    best = bool(good), float(error), expected
                if good:
                    break
            assert best is not None
            good, error, expected = best
            if (good, -error) < (ok, -worst.absolute) or (ok and not good):
                place = path + (f"[{', '.join(map(str, index))}]" if index else "")
                place += "" if part == 1 else " (imaginary part)"
                relative = error / abs(expected) if expected else error
                worst = Entry(name, place, error, relative, computed, expected, good)
            ok = ok and good
    return worst
