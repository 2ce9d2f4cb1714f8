"""Numbers for the samples of rules: the same at each call, of any sign, distinct."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.ops.spec import Sample, sample


def numbers(*shape: int, seed: int = 0) -> Any:
    """Return a real array of ``shape``.

    Example:
        >>> numbers(2, 3).shape
        (2, 3)
    """
    return np.random.default_rng([seed, 1, *shape]).normal(size=shape)


def complexes(*shape: int, seed: int = 0) -> Any:
    """Return a complex array of ``shape``."""
    return numbers(*shape, seed=seed) + 1j * numbers(*shape, seed=seed + 100)


def singles(*shape: int, seed: int = 0) -> Any:
    """Return a real array of ``shape`` in single precision."""
    return numbers(*shape, seed=seed).astype(np.float32)


def pairs(*shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> list[Sample]:
    """Return pairs of real operands of the shapes, and of complex ones and of single precision of the first two."""
    points = [sample(numbers(*a), numbers(*b, seed=1)) for a, b in shapes]
    points += [sample(complexes(*a), complexes(*b, seed=1)) for a, b in shapes[:2]]
    points += [sample(singles(*a), singles(*b, seed=1)) for a, b in shapes[:2]]
    return points
