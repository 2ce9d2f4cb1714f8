"""Rules of the products of a sequence with a sliding one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, pairs
from s2sad.ops.spec import Sample, bilinear, sample
from s2sad.runtime.contractions import (
    convolve_left,
    convolve_right,
    correlate_left,
    correlate_right,
)

Array = Any

# --- sliding products ---


def _slides() -> Sequence[Sample]:
    points = pairs(((4,), (3,)), ((2,), (5,)))
    for mode in ("full", "same", "valid"):
        points += [sample(numbers(m), numbers(n, seed=1), mode) for m in range(1, 6) for n in (1, 2, 3, 4)]
        points += [sample(complexes(m), complexes(n, seed=1), mode=mode) for m, n in ((4, 3), (3, 4))]
    return [*points, sample(numbers(3), 2.5)]


@bilinear(np.convolve, wrt=["a", "v"], samples=_slides, infer=infer.axes.with_axes(infer.axes.always(1)))
def convolve(z_bar: Array, a: Array, v: Array, mode: str = "full") -> tuple[Array, Array]:
    return convolve_left(z_bar, a, v, mode), convolve_right(z_bar, a, v, mode)


def _correlations() -> Sequence[Sample]:
    return [point for point in _slides() if np.ndim(point.args[1]) == 1]


@bilinear(np.correlate, wrt=["a", "v"], samples=_correlations, infer=infer.axes.with_axes(infer.axes.always(1)))
def correlate(z_bar: Array, a: Array, v: Array, mode: str = "valid") -> tuple[Array, Array]:
    return correlate_left(z_bar, a, v, mode), correlate_right(z_bar, a, v, mode)
