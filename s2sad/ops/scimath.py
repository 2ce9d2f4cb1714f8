"""Rules of `numpy.emath`, whose functions of real numbers are complex outside of the domain; windows and strides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Function, Sample, elementwise, linear, rule, sample
from s2sad.runtime.edges import quotient
from s2sad.runtime.linear import untake
from s2sad.runtime.strides import strided, unstrided

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


def _powers() -> Sequence[Sample]:
    x = np.array([-0.3, 0.7, 2.5, -1.7])
    return [
        sample(abs(numbers(3)) / 4 + 0.1, 2.5),
        sample(x, 1.7),
        sample(x, np.array([2.0, 0.4, -1.3, 1.0])),
        sample(-1.5, 0.5),
        sample(complexes(2), 1.5),
        sample(singles(2) / 8 + np.float32(0.5), np.float32(1.5)),
    ]


def _pair_of(function: Function) -> Function:
    return elementwise(
        function, samples=_powers, dtype="unknown", infer=infer.axes.complex_numbers, complex_adjoints=True
    )


@_pair_of(np.emath.power)
def power(z: Array, z_bar: Array, x: Array, p: Array) -> tuple[Array, Array]:
    by_exponent = np.where(np.equal(x, 0), 0, z * np.emath.log(np.where(np.equal(x, 0), 1, x)))
    return z_bar * p * np.emath.power(x, np.subtract(p, 1)), z_bar * by_exponent


@_pair_of(np.emath.logn)
def logn(z: Array, z_bar: Array, n: Array, x: Array) -> tuple[Array, Array]:
    base = np.emath.log(n)
    return -quotient(z_bar * z, n * base), quotient(z_bar, x * base)


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


def _strided() -> Sequence[Sample]:
    # A copy of an array in another layout or precision has other strides, and memory beyond it would be read.
    a = numbers(3, 4)
    return [
        sample(numbers(5), (3, 3), (8, 8)),
        sample(numbers(5), shape=(2, 2), strides=(16, 8)),
        sample(a, (2, 3, 2, 2), (32, 8, 32, 8)),
        sample(a, None, a.strides),
        sample(numbers(3), (0, 2), (8, 8)),
        sample(complexes(4), (3, 2), (16, 16)),
    ]


def _strided_jvp(x_dot: Array, x: Array, shape: Any = None, strides: Any = None) -> Array:
    return strided(x_dot, x, shape, strides)


@rule(
    np.lib.stride_tricks.as_strided,
    wrt=["x"],
    jvp=_strided_jvp,
    samples=_strided,
    result="view",
    mirrors=False,
    steps=frozenset({"shape", "strides"}),
    infer=infer.shaping.with_strides,
)
def as_strided(
    z_bar: Array, x: Array, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Array:
    return unstrided(z_bar, x, shape, strides)
