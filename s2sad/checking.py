"""Compare gradients with central differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.api import _signature, grad, vjp
from s2sad.errors import ArgumentError, GradientMismatch


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
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    fields = getattr(type(tree), "__dataclass_fields__", None)
    if fields is not None:
        return type(tree)(**{k: _replaced(getattr(tree, k), leaves) for k in fields})
    return None if tree is None else leaves.pop(0)


def _difference(f: Callable[[float], float], scale: float) -> float:
    """Central differences with two steps of Richardson extrapolation (Numerical Recipes, section 5.7)."""
    steps = [scale * 1e-2 / 2**k for k in range(4)]
    table = [(f(h) - f(-h)) / (2 * h) for h in steps]
    for order in range(1, len(table)):
        weight = 4.0**order
        table = [(weight * b - a) / (weight - 1) for a, b in zip(table, table[1:], strict=False)]
    return table[0]


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("rev",),
    *,
    argnums: int | Sequence[int] | None = None,
    atol: float = 1e-6,
    rtol: float = 1e-6,
    raises: bool = False,
) -> Report:
    """Compare the gradient of ``f`` at ``args`` with central differences.

    A function that returns an array is checked through its sum weighted with fixed random numbers.

    Args:
        f: A function, or what :func:`grad` made of one.
        args: The arguments at which to compare.
        order: 1; higher orders are not supported yet.
        modes: ``("rev",)``; forward mode is not supported yet.
        argnums: Which arguments; by default every argument of floats.
        atol: The absolute error that passes.
        rtol: The error relative to the largest entry of a gradient that passes.
        raises: Raise :class:`GradientMismatch` instead of reporting a wrong gradient.

    Raises:
        ArgumentError: for an order or mode that is not supported.
        GradientMismatch: for a wrong gradient, with ``raises``.

    Example:
        >>> import numpy as np
        >>> from s2sad import check_grads
        >>> def loss(x):
        ...     return np.sum(np.sin(x) ** 2)
        >>> check_grads(loss, (np.ones(3),)).ok
        True
    """
    if order != 1:
        raise ArgumentError(f"check_grads: order={order} is not supported yet, only 1")
    for mode in modes:
        if mode not in ("rev", "reverse"):
            raise ArgumentError(f"check_grads: mode {mode!r} is not supported yet, only 'rev'")
    computed_by = f if hasattr(f, "_goal") else None
    plain: Any = getattr(f, "__wrapped__", f) if computed_by is not None else f
    args = [float(a) if type(a) is int else a for a in args]
    names = tuple(_signature(plain).parameters)
    if argnums is None:
        chosen = [i for i, a in enumerate(args) if _differentiable(a)]
        if computed_by is not None:
            numbers = computed_by.argnums  # type: ignore[attr-defined]
            chosen = [numbers] if isinstance(numbers, int) else list(numbers)
    else:
        chosen = [argnums] if isinstance(argnums, int) else list(argnums)
    value = plain(*args)
    if isinstance(value, (list, tuple, dict)) or np.ndim(value) or np.iscomplexobj(value):
        gradients, project = _pulled(plain, args, value, chosen)
    else:
        gradients = grad(plain, tuple(chosen))(*args)
        project = None
    entries = []
    for number, gradient in zip(chosen, gradients, strict=True):
        entries.append(_compared(plain, args, number, gradient, names[number], project, atol, rtol))
    report = Report(tuple(entries))
    if raises and not report.ok:
        raise GradientMismatch(f"the gradient disagrees with central differences\n{report}")
    return report


def _differentiable(tree: Any) -> bool:
    leaves = _leaves(tree, "")
    return bool(leaves) and all(
        isinstance(x, (float, complex)) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc")
        for _, x in leaves
    )


def _pulled(plain: Any, args: Sequence[Any], value: Any, chosen: list[int]) -> tuple[list[Any], Any]:
    """Gradients of a random weighting of every output."""
    random = np.random.default_rng(0)
    outputs = [x for _, x in _leaves(value, "")]
    weights = [random.standard_normal(np.shape(x)) if np.ndim(x) else float(random.standard_normal()) for x in outputs]
    _, pullback = vjp(plain, *args)
    bars = pullback(_replaced(value, list(weights)))

    def project(result: Any) -> float:
        return float(sum(np.sum(np.real(w * x)) for w, (_, x) in zip(weights, _leaves(result, ""), strict=True)))

    return [bars[i] for i in chosen], project


def _compared(
    plain: Any, args: Sequence[Any], number: int, gradient: Any, name: str, project: Any, atol: float, rtol: float
) -> Entry:
    leaves = _leaves(args[number], name)
    bars = [g for _, g in _leaves(gradient, name)]
    worst = Entry(name, name, 0.0, 0.0, 0.0, 0.0, True)
    values = [x for _, x in leaves]
    scale = max((float(np.max(np.abs(g))) for g in bars if np.size(g)), default=0.0)
    for position, (path, x) in enumerate(leaves):
        for index in np.ndindex(np.shape(x)):

            def at(h: float, x: Any = x, index: Any = index, position: int = position) -> float:
                moved = np.array(x)
                moved[index] += h
                new = list(values)
                new[position] = moved if isinstance(x, np.ndarray) else moved[()]
                result = plain(*args[:number], _replaced(args[number], new), *args[number + 1 :])
                return float(result) if project is None else float(project(result))

            single = np.result_type(x) in (np.float32, np.complex64)
            step = max(1.0, abs(complex(np.asarray(x)[index]))) * (10.0 if single else 1.0)
            expected = _difference(at, step)
            computed = float(np.real(np.asarray(bars[position])[index]))
            error = abs(computed - expected)
            allowed = atol + rtol * max(scale, abs(expected))
            if single:
                allowed = 1e-3 + 1e-2 * max(scale, abs(expected))
            ok = bool(error <= allowed) or (np.isnan(computed) and np.isnan(expected))
            if error > worst.absolute or (not ok and worst.ok):
                spot = path + (f"[{', '.join(map(str, index))}]" if index else "")
                relative = error / abs(expected) if expected else error
                worst = Entry(name, spot, error, relative, computed, expected, ok and worst.ok)
            elif not ok:
                worst = Entry(worst.argument, worst.place, worst.absolute, worst.relative, worst.computed,
                              worst.expected, False)
    return worst
