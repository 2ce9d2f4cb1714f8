"""Rules of the modified Bessel function of order zero, and of the window made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.spec import Sample, elementwise, rule, sample
from s2sad.runtime.special import bessel_i1, kaiser_slope

Array = Any


def _bessel_samples() -> Sequence[Sample]:
    return [*sampling.REAL(), sample(np.array([-40.0, -8.3, 0.0, 12.5, 31.0, 95.0]))]


@elementwise(np.i0, samples=sampling.REAL, infer=infer.common.chosen)
def i0(x: Array) -> Array:
    return bessel_i1(x)


@elementwise(bessel_i1, samples=_bessel_samples, dtype="unknown")
def bessel_i1_rule(z: Array, x: Array) -> Array:
    return np.where(x == 0, x + 0.5, np.i0(x) - z / np.where(x == 0, 1, x))


def _windows() -> Sequence[Sample]:
    return [sample(5, 3.5), sample(4, 14.0), sample(1, 2.0), sample(7, np.float64(8.6)), sample(0, 2.0)]


def _kaiser_jvp(beta_dot: Array, z: Array, beta: Array) -> Array:
    return kaiser_slope(z, beta) * beta_dot


@rule(
    np.kaiser,
    wrt=["beta"],
    jvp=_kaiser_jvp,
    samples=_windows,
    infer=infer.axes.with_axes(infer.axes.always(1)),
    dtype="unknown",
)
def kaiser(z: Array, z_bar: Array, M: int, beta: Array) -> Array:
    return np.sum(z_bar * kaiser_slope(z, beta))
