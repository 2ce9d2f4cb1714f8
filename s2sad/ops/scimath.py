"""Rules of `numpy.emath`, whose functions of real numbers are complex outside of the domain, and of sliding windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Function, Sample, elementwise, linear, sample
from s2sad.runtime.edges import quotient
from s2sad.runtime.linear import untake

Array = Any


def _inside() -> Sequence[Sample]:
    single = singles(2) / 8 + np.float32(0.5)
    return [sample(abs(numbers(3)) / 4 + 0.1), sample(0.3), sample(complexes(2)), sample(single)]


def _outside() -> Sequence[Sample]:
    return [*_inside(), sample(np.array([-0.3, 0.7, 2.5, -1.7])), sample(-1.5)]


def _of(function: Function) -> Function:
    return elementwise(
        function, samples=_outside, dtype="unknown", infer=infer.axes.complex_numbers, complex_adjoints=True
    )


@_of(np.emath.sqrt)
def sqrt(z: Array, z_bar: Array, x: Array) -> Array:
    return quotient(z_bar, 2 * z)


@_of(np.emath.log)
def log(z_bar: Array, x: Array) -> Array:
    return quotient(z_bar, x)


@_of(np.emath.log2)
def log2(z_bar: Array, x: Array) -> Array:
    return quotient(z_bar, x * math.log(2))


@_of(np.emath.log10)
def log10(z_bar: Array, x: Array) -> Array:
    return quotient(z_bar, x * math.log(10))


@_of(np.emath.arcsin)
def arcsin(z: Array, z_bar: Array, x: Array) -> Array:
    return quotient(z_bar, np.cos(z))


@_of(np.emath.arccos)
def arccos(z: Array, z_bar: Array, x: Array) -> Array:
    return -quotient(z_bar, np.sin(z))


@_of(np.emath.arctanh)
def arctanh(z_bar: Array, x: Array) -> Array:
    return z_bar / (1 - x**2)


def _windows() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [
        sample(numbers(5), 3),
        sample(numbers(5), (2,)),
        sample(a, (2, 2)),
        sample(a, 2, 1),
        sample(a, (2, 3), axis=(0, -1)),
        sample(complexes(4), 2),
        sample(singles(4), 4),
    ]


@linear(
    np.lib.stride_tricks.sliding_window_view,
    wrt=["x"],
    samples=_windows,
    result="view",
    mirrors=False,
    steps=frozenset({"window_shape"}),
)
def sliding_window_view(z_bar: Array, x: Array, window_shape: Any, axis: Any = None) -> Array:
    places = np.arange(np.size(x)).reshape(np.shape(x))
    return untake(z_bar, np.shape(x), np.lib.stride_tricks.sliding_window_view(places, window_shape, axis))
