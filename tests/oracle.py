"""Derivatives by differences: the tests' measure, which shares no code with what it measures.

Arguments and results are numbers, arrays, or lists, tuples and dicts of them.
Complex ones follow the JAX convention: the gradient ``g`` of a real ``f`` at
``x`` obeys ``df = Re(sum(g * dx))``, without conjugation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

STEP = 2e-3
LEVELS = 4


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Apply ``f`` to the numbers and arrays of ``tree`` and of ``rest``, which have its structure."""
    if isinstance(tree, dict):
        return {k: tree_map(f, v, *(r[k] for r in rest)) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [tree_map(f, v, *(r[i] for r in rest)) for i, v in enumerate(tree)]
        # The results of SciPy's tests have names for their items, and ask for more than these when they are made.
        return tuple.__new__(type(tree), items) if hasattr(tree, "_fields") else type(tree)(items)
    return f(tree, *rest)


def leaves(tree: Any) -> list[Any]:
    """Return the numbers and arrays of ``tree`` in order."""
    found: list[Any] = []
    tree_map(found.append, tree)
    return found


def is_inexact(x: Any) -> bool:
    """Return whether ``x`` is a floating or complex number or array."""
    return isinstance(x, (float, complex, np.ndarray, np.generic)) and np.issubdtype(np.result_type(x), np.inexact)


def widen(x: Any) -> Any:
    """Return ``x`` in double precision; integers and the rest stay as they are."""
    if isinstance(x, (np.ndarray, np.generic)) and is_inexact(x):
        wide = np.complex128 if np.iscomplexobj(x) else np.float64
        return x.astype(wide)
    return x


def pairing(a: Any, b: Any) -> float:
    """Return ``Re(sum(a * b))`` over the numbers of two trees of one structure."""
    total = 0.0
    for x, y in zip(leaves(a), leaves(b), strict=True):
        if is_inexact(x) and is_inexact(y):
            total += float(np.real(np.sum(np.multiply(widen(x), widen(y)))))
    return total


def richardson_jvp(f: Callable[..., Any], args: Sequence[Any], dots: Sequence[Any], step: float = STEP) -> Any:
    """Return the derivative of ``f`` at ``args`` along ``dots``, by central differences.

    The error of ``LEVELS`` halvings of ``step`` is eliminated up to its power
    ``2 * LEVELS``.  A dot of None leaves its argument alone.
    """
    wide = [tree_map(widen, a) for a in args]

    def shift(x: Any, d: Any, h: float) -> Any:
        if not is_inexact(x):
            return x
        if not isinstance(x, np.ndarray):
            return x + h * widen(d)
        moved = x.copy(order="K")  # some functions look at the memory layout
        moved[...] += h * widen(d)
        return moved

    def at(h: float) -> Any:
        moved = [
            a if d is None else tree_map(lambda x, y: shift(x, y, h), a, d) for a, d in zip(wide, dots, strict=True)
        ]
        return f(*moved)

    rows: list[Any] = []
    for level in range(LEVELS):
        h = step / 2**level
        row = [tree_map(lambda p, m, h=h: (widen(p) - widen(m)) / (2 * h) if is_inexact(p) else 0.0, at(h), at(-h))]
        for k in range(level):
            factor = 4.0 ** (k + 1)
            row.append(tree_map(lambda n, o, c=factor: (c * n - o) / (c - 1), row[k], rows[-1][k]))
        rows.append(row)
    return rows[-1][-1]


def numeric_gradient(f: Callable[..., Any], args: Sequence[Any], argnum: int = 0, step: float = STEP) -> Any:
    """Return the gradient of the real scalar ``f`` by ``args[argnum]``, in its structure."""
    target = args[argnum]

    def slope(direction: Any) -> float:
        dots = [direction if i == argnum else None for i in range(len(args))]
        return float(np.real(richardson_jvp(f, args, dots, step)))

    zeros = tree_map(lambda x: np.zeros_like(widen(np.asarray(x))) if is_inexact(x) else 0.0, target)
    flat = leaves(zeros)

    def along(index: int, place: int, value: complex) -> Any:
        direction = [np.array(z) for z in flat]
        direction[index][np.unravel_index(place, direction[index].shape)] = value
        order = iter(direction)
        return tree_map(lambda _: next(order), zeros)

    gradients = []
    for i, x in enumerate(leaves(target)):
        g = np.zeros(np.shape(flat[i]), np.result_type(flat[i]))
        for j, where in enumerate(np.ndindex(g.shape) if is_inexact(x) else ()):
            g[where] = slope(along(i, j, 1.0))
            if np.iscomplexobj(x):
                g[where] -= 1j * slope(along(i, j, 1j))
        gradients.append(g if isinstance(x, np.ndarray) else g[()].item())
    order = iter(gradients)
    return tree_map(lambda _: next(order), target)


numeric_jvp = richardson_jvp


def is_smooth_at(f: Callable[..., Any], x: Any, gradient: Any) -> bool:
    """Whether differences to either side of a point agree with a ``gradient``, and no number is too large there.

    They do not where something is decided otherwise nearby, nor where two numbers that are compared are equal.

    Example:
        >>> is_smooth_at(np.abs, np.array(0.0), 0.0), is_smooth_at(np.abs, np.array(1.0), 1.0)
        (False, True)
    """
    for step in (1e-6, -1e-6):
        steps = step * np.eye(np.size(x)).reshape(-1, *np.shape(x))
        near = np.reshape([(f(x + d) - f(x)) / step for d in steps], np.shape(x))
        if not np.allclose(near, gradient, rtol=1e-3, atol=1e-4):
            return False
    return bool(np.max(np.abs(gradient)) < 1e8)


def complex_step_jvp(f: Callable[..., Any], args: Sequence[Any], dots: Sequence[Any]) -> Any:
    """Return the derivative of a real analytic ``f`` along ``dots`` by a complex step, exact to rounding."""
    h = 1e-30
    moved = [
        a if d is None else tree_map(lambda x, y: x + 1j * h * y if is_inexact(x) else x, a, d)
        for a, d in zip(args, dots, strict=True)
    ]
    return tree_map(lambda z: np.imag(z) / h, f(*moved))
