"""What one kernel of the collection consists of: a scalar loss, and arguments of any size for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Kernel:
    """A loss that calls a kernel and weighs every output of it, its arguments, and what of them to differentiate.

    `make_args(*small)` are arguments of which central differences can be taken, `make_args(*large)` those of the
    benchmark. `argnums` are all floating-point inputs, the weights aside.
    """

    loss: Callable[..., Any]
    make_args: Callable[..., tuple[Any, ...]]
    argnums: tuple[int, ...]
    small: tuple[int, ...]
    large: tuple[int, ...]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        return self.loss.__name__.removesuffix("_loss")


def named(*kernels: Kernel) -> dict[str, Kernel]:
    """The kernels by name. Raises ValueError where two have one name."""
    result = {kernel.name: kernel for kernel in kernels}
    if len(result) < len(kernels):
        raise ValueError("two kernels have one name")
    return result


def normal(*shape: int, seed: int = 8) -> np.ndarray:
    """Normally distributed numbers, the same at every call."""
    return np.random.default_rng(seed).standard_normal(shape)


def uniform(*shape: int, low: float = 0.5, high: float = 1.5, seed: int = 9) -> np.ndarray:
    """Uniformly distributed numbers, the same at every call."""
    return np.random.default_rng(seed).uniform(low, high, shape)


def complex_normal(*shape: int, seed: int = 8) -> np.ndarray:
    """Complex numbers with normally distributed parts, the same at every call."""
    real, imaginary = normal(2, *shape, seed=seed)
    return real + 1j * imaginary


def positive_definite(n: int) -> np.ndarray:
    """A symmetric, positive definite, well-conditioned matrix."""
    m = normal(n, n)
    return m @ m.T / n + 2.0 * np.eye(n)
