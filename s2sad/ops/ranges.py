"""Rules of numbers in equal steps, and in equal ratios, between bounds that have a derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.sampling import spread
from s2sad.ops.spec import Sample, linear, rule, sample
from s2sad.runtime.arrays import unbroadcast

Array = Any


def _ranges() -> Sequence[Sample]:
    return [
        sample(0.5, 2.5),
        sample(0.5, 2.5, 7),
        sample(0.5, 2.5, num=5, endpoint=False),
        sample(0.5, 2.5, 1),
        sample(0.5, 2.5, 0),
        sample(numbers(3), numbers(3, seed=1), 4),
        sample(numbers(3), 2.5, 4, axis=-1),
        sample(numbers(2, 1), numbers(3), 4, axis=1),
        sample(complexes(2), complexes(2, seed=1), 3),
        sample(singles(2), singles(2, seed=1), 3),
        sample(0.5, 2.5, 5, retstep=True),
        sample(0.5, 2.5, 5, False, True),
        sample(numbers(3), 2.5, 4, retstep=True),
        sample(0.5, 2.5, 5, dtype=np.float32),
        sample(singles(2), singles(2, seed=1), 3, dtype=float),
    ]


@linear(
    np.linspace,
    wrt=["start", "stop"],
    samples=_ranges,
    infer=infer.creation.linspace,
    dtype="steps",
    gives=(tuple, np.ndarray),
)
def linspace(
    z_bar: Array,
    start: Array,
    stop: Array,
    num: int = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    *,
    axis: int = 0,
) -> tuple[Array, Array]:
    if retstep is False:
        falling = np.linspace(1, 0, num, endpoint, dtype=z_bar.dtype)
        rising = np.linspace(0, 1, num, endpoint, dtype=z_bar.dtype)
        return (
            unbroadcast(np.tensordot(falling, z_bar, (0, axis)), np.shape(start)),
            unbroadcast(np.tensordot(rising, z_bar, (0, axis)), np.shape(stop)),
        )
    falling = np.linspace(1, 0, num, endpoint, dtype=z_bar[0].dtype)
    rising = np.linspace(0, 1, num, endpoint, dtype=z_bar[0].dtype)
    step_bar = z_bar[1] / (num - endpoint)
    return (
        unbroadcast(np.tensordot(falling, z_bar[0], (0, axis)) - step_bar, np.shape(start)),
        unbroadcast(np.tensordot(rising, z_bar[0], (0, axis)) + step_bar, np.shape(stop)),
    )


def _ratios() -> Sequence[Sample]:
    low, high = spread((3,), 0.5, 1.5), spread((3,), 2.0, 3.0)
    return [
        sample(0.5, 2.5, 5),
        sample(0.5, 2.5, num=5, endpoint=False),
        sample(2.5, 0.5),
        sample(-0.5, -2.5, 4),
        sample(low, high, 4),
        sample(low, 2.5, 4, axis=-1),
        sample(low[:, None], high, 4, axis=1),
        sample(0.5, 2.5, 1),
        sample(1 + 1j, 2 - 1j, 4),
        sample(low.astype(np.float32), high.astype(np.float32), 3),
    ]


def _geomspace_jvp(
    start_dot: Array, stop_dot: Array, z: Array, start: Array, stop: Array, num: int, endpoint: bool, axis: int
) -> Array:
    return z * np.linspace(start_dot / start, stop_dot / stop, num, endpoint, axis=axis)


@rule(
    np.geomspace,
    wrt=["start", "stop"],
    jvp=_geomspace_jvp,
    samples=_ratios,
    infer=infer.creation.linspace,
    dtype="steps",
    steps=frozenset({"num"}),
)
def geomspace(
    z: Array, z_bar: Array, start: Array, stop: Array, num: int = 50, endpoint: bool = True, *, axis: int = 0
) -> tuple[Array, Array]:
    falling = np.linspace(1, 0, num, endpoint, dtype=z.dtype)
    rising = np.linspace(0, 1, num, endpoint, dtype=z.dtype)
    return (
        unbroadcast(np.tensordot(falling, z_bar * z, (0, axis)) / start, np.shape(start)),
        unbroadcast(np.tensordot(rising, z_bar * z, (0, axis)) / stop, np.shape(stop)),
    )


def _powers() -> Sequence[Sample]:
    low, high = spread((3,), -0.5, 0.5), spread((3,), 0.6, 1.4)
    return [
        sample(0.5, 1.5, 5),
        sample(0.5, 1.5, num=5, endpoint=False, base=2.0),
        sample(-0.5, 0.5, 4, base=3.5),
        sample(low, high, 4),
        sample(low, 1.5, 4, axis=-1),
        sample(0.5, 1.5, 1),
        sample(0.5, 1.5, 4, base=high + 1.0),
        sample(0.5, low, 4, base=high[:, None] + 1.0),
        sample(0.5, low, 4, base=high[:, None] + 1.0, axis=-1),
        sample(low[:, None], low, 4, base=high + 1.0, axis=1),
        sample(low[:1], 1.5, 4, base=high[:1] + 1.0),
    ]


def _logspace_jvp(
    start_dot: Array,
    stop_dot: Array,
    base_dot: Array,
    z: Array,
    start: Array,
    stop: Array,
    num: int,
    endpoint: bool,
    base: Array,
    axis: int,
) -> Array:
    exponents = np.linspace(start + 0 * base, stop, num, endpoint)
    moved = np.linspace(start_dot + 0 * base, stop_dot, num, endpoint)
    return z * np.moveaxis(np.log(base) * moved + exponents / base * base_dot, 0, axis)


@rule(
    np.logspace,
    wrt=["start", "stop", "base"],
    jvp=_logspace_jvp,
    samples=_powers,
    infer=infer.creation.logspace,
    dtype="steps",
    steps=frozenset({"num"}),
)
def logspace(
    z: Array,
    z_bar: Array,
    start: Array,
    stop: Array,
    num: int = 50,
    endpoint: bool = True,
    base: Array = 10.0,
    *,
    axis: int = 0,
) -> tuple[Array, Array, Array]:
    # The new axis stands first here, and the others are broadcast from the last one on.
    scaled = np.moveaxis(z_bar * z, axis, 0)
    g = scaled * np.log(base)
    falling = np.linspace(1, 0, num, endpoint, dtype=g.real.dtype)
    rising = np.linspace(0, 1, num, endpoint, dtype=g.real.dtype)
    exponents = np.linspace(start + 0 * base, stop, num, endpoint)
    return (
        unbroadcast(np.tensordot(falling, g, (0, 0)), np.shape(start)),
        unbroadcast(np.tensordot(rising, g, (0, 0)), np.shape(stop)),
        unbroadcast(np.sum(scaled * exponents, axis=0) / base, np.shape(base)),
    )
