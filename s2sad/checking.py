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
from s2sad.pushforwards import jvp
from s2sad.structures import leaves_of, with_leaves

_MODES = {"rev": "reverse", "reverse": "reverse", "fwd": "forward", "forward": "forward"}


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


def _copied(tree: Any) -> Any:
    """``tree`` with arrays of its own, for a function may write into what it is given."""
    return with_leaves(tree, [x.copy() if isinstance(x, np.ndarray) else x for _, x in leaves_of(tree, "")])


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
        order: Up to which order.  The second derivatives are those of the gradient, so that ``f`` must return a number;
            beyond, it must be a function of one number too.
        modes: ``"rev"`` for pullbacks, ``"fwd"`` for tangents, or both.
        argnums: Which arguments; by default every argument of floats, or of Python's integers if there is none.
        atol: The absolute error that passes.
        rtol: The error relative to the largest entry of a gradient that passes.
        raises: Raise :class:`GradientMismatch` for a wrong gradient; with False the report says it.

    Returns:
        A report with one entry for each argument, to print; true if every gradient agrees.

    Raises:
        ArgumentError: for an unknown order or mode, or if no argument has floats.
        GradientMismatch: for a wrong gradient, with the report.  It is an ``AssertionError`` too.

    Example:
        >>> import numpy as np
        >>> from s2sad import check_grads
        >>> def loss(x):
        ...     return np.sum(np.sin(x) ** 2)
        >>> check_grads(loss, (np.ones(3),)).ok
        True
    """
    if type(order) is not int or order < 1:
        raise ArgumentError(f"check_grads: order={order!r} is none; there are 1, 2, ...")
    modes = [modes] if isinstance(modes, str) else list(modes)
    for mode in modes:
        if mode not in _MODES:
            raise ArgumentError(f"check_grads: mode {mode!r} is unknown; there are 'rev' and 'fwd'")
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
    entries: list[Entry] = []
    derived = plain
    for level in range(order):
        if level:
            single = len(chosen) == 1 and np.ndim(args[chosen[0]]) == 0
            if level > 1 and not single:
                raise ArgumentError(f"check_grads: order={order} is for functions of one number")
            derived = grad(derived, chosen[0] if single else tuple(chosen))
            names = [f"{name}'" for name in names]
        entries += _entries(derived, args, chosen, modes, names, atol, rtol)
    report = Report(tuple(entries))
    if raises and not report.ok:
        name = getattr(plain, "__qualname__", repr(plain))
        project = _projection(plain(*_copied(args)))
        one, two = (project(plain(*_copied(args))) for _ in range(2))
        repeats = np.isclose(one, two, rtol=1e-12, atol=0.0, equal_nan=True)
        why = "" if repeats else f"\n{name} gives {one!r}, then {two!r}: it draws numbers, or changes what it reads"
        raise GradientMismatch(f"the gradient of {name} differs from its central differences\n{report}{why}")
    return report


def _differentiable(tree: Any) -> bool:
    leaves = leaves_of(tree, "")
    return bool(leaves) and all(
        isinstance(x, (float, complex)) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc")
        for _, x in leaves
    )


def _entries(
    f: Callable[..., Any],
    args: list[Any],
    chosen: list[int],
    modes: Sequence[str],
    names: Sequence[str],
    atol: float,
    rtol: float,
) -> list[Entry]:
    """The comparisons of a function's own derivatives, in each mode, by each argument."""
    project = _projection(f(*_copied(args)))
    found = []
    for mode in modes:
        gradients = _pulled(f, args, chosen) if _MODES[mode] == "reverse" else _pushed(f, args, chosen, project)
        labels = names if len(modes) == 1 else [f"{name} {mode}" for name in names]
        found += [
            _compared(lambda *moved: project(f(*_copied(list(moved)))), args, number, gradient, labels, atol, rtol)
            for number, gradient in zip(chosen, gradients, strict=True)
        ]
    return found


def _weights(value: Any) -> list[Any]:
    """Fixed random weights for the outputs of a function; 1 for a single real number."""
    outputs = [x for _, x in leaves_of(value)]
    if not (isinstance(value, (list, tuple, dict)) or np.ndim(value) or np.iscomplexobj(value)):
        return [1.0]
    random = np.random.default_rng(0)
    return [random.standard_normal(np.shape(x)) if np.ndim(x) else float(random.standard_normal()) for x in outputs]


def _projection(value: Any) -> Callable[[Any], float]:
    """The function that makes one number of a function's result: the real part of its weighted sum."""
    weights = _weights(value)

    def project(result: Any) -> float:
        return float(sum(np.sum(np.real(w * x)) for w, (_, x) in zip(weights, leaves_of(result), strict=True)))

    return project


def _pulled(f: Callable[..., Any], args: list[Any], chosen: list[int]) -> list[Any]:
    """The gradients of the projection of a function, from its pullback."""
    value, pullback = vjp(f, *_copied(args), argnums=chosen)
    return list(pullback(with_leaves(value, _weights(value))))


def _pushed(f: Callable[..., Any], args: list[Any], chosen: list[int], project: Callable[[Any], float]) -> list[Any]:
    """The gradients of the projection of a function, from its tangents along each direction."""
    found = []
    for number in chosen:
        leaves = [x for _, x in leaves_of(args[number])]
        bars = []
        for position, x in enumerate(leaves):
            bar = np.zeros(np.shape(x), complex if np.iscomplexobj(x) else float)
            for index, part in itertools.product(np.ndindex(np.shape(x)), (1, 1j) if np.iscomplexobj(x) else (1,)):
                one = np.zeros(np.shape(x), np.result_type(x))
                one[index] = part
                tangents: list[Any] = [None] * len(args)
                directions = [_as(one if k == position else np.zeros_like(y), y) for k, y in enumerate(leaves)]
                tangents[number] = with_leaves(args[number], directions)
                slope = project(jvp(f, _copied(args), tangents)[1])
                # In the convention of JAX the imaginary part of a gradient is minus the derivative by that part.
                bar[index] += slope if part == 1 else -1j * slope
            bars.append(bar)
        found.append(with_leaves(args[number], bars))
    return found


def _as(d: Any, x: Any) -> Any:
    """A tangent in the form of what it is the tangent of: a number or an array."""
    return d if isinstance(x, np.ndarray) else d[()].item()


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
    leaves = leaves_of(args[number], name)
    bars = [g for _, g in leaves_of(gradient, name)]
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
                return f(*args[:number], with_leaves(args[number], new), *args[number + 1 :])

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
