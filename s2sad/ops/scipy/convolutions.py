"""Rules of the convolutions of ``scipy.signal``: each adjoint is a correlation with the other operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, bilinear, linear, real, rule, sample
from s2sad.runtime.scipy.convolutions import (
    convolved,
    correlate2d_adjoints,
    first2d_adjoint,
    first_adjoint,
    placed2d,
    second2d_adjoint,
    second_adjoint,
)

Array = Any

# --- convolutions


def _pairs() -> Sequence[Sample]:
    shapes = [((5,), (3,)), ((3,), (5,)), ((4,), (4,)), ((6,), (1,)), ((4, 5), (2, 3)), ((3, 3), (3, 2))]
    pairs = [(numbers(*a), numbers(*b, seed=1)) for a, b in shapes]
    points = [sample(x, y, mode) for x, y in pairs for mode in ("full", "same", "valid")]
    points += [sample(x, y) for x, y in pairs[:2]]
    z, w = complexes(5), complexes(2, seed=1)
    return [*points, *(sample(z, w, mode) for mode in ("full", "same", "valid")), sample(z, numbers(3), "same")]


def _pairs_by_method() -> Sequence[Sample]:
    points = list(_pairs())
    x, y = numbers(6), numbers(3, seed=1)
    points += [sample(x, y, mode, method) for mode in ("full", "same", "valid") for method in ("direct", "fft")]
    return [
        *points,
        sample(numbers(), numbers(seed=1)),
        sample(singles(4), singles(2)),
        sample(singles(4), singles(2), "same"),
    ]


@bilinear(signal.convolve, wrt=["in1", "in2"], samples=_pairs_by_method, infer=infer.scipy.convolved)
def convolve(z_bar: Array, in1: Array, in2: Array, mode: str = "full", method: str = "auto") -> tuple[Array, Array]:
    if real(in1) and real(in2) and mode == "full" and method == "auto":
        return signal.convolve(z_bar, np.flip(in2), "valid"), signal.convolve(z_bar, np.flip(in1), "valid")
    return first_adjoint(z_bar, in1, in2, mode, method), second_adjoint(z_bar, in1, in2, mode, method)


def _pairs_along_axes() -> Sequence[Sample]:
    x, y = numbers(3, 4), numbers(3, 2, seed=1)
    points = [sample(x, y, mode, 1) for mode in ("full", "same", "valid")]
    points += [sample(x, numbers(1, 2, seed=1), mode, (1,)) for mode in ("full", "same")]
    return [
        *_pairs(),
        *points,
        sample(x, numbers(2, 2, seed=1), axes=[0, 1]),
        sample(x, numbers(2, 1), "same", axes=-2),
    ]


@bilinear(signal.fftconvolve, wrt=["in1", "in2"], samples=_pairs_along_axes, infer=infer.scipy.convolved)
def fftconvolve(z_bar: Array, in1: Array, in2: Array, mode: str = "full", axes: Any = None) -> tuple[Array, Array]:
    return first_adjoint(z_bar, in1, in2, mode, "fft", axes), second_adjoint(z_bar, in1, in2, mode, "fft", axes)


@bilinear(signal.oaconvolve, wrt=["in1", "in2"], samples=_pairs_along_axes, infer=infer.scipy.convolved)
def oaconvolve(z_bar: Array, in1: Array, in2: Array, mode: str = "full", axes: Any = None) -> tuple[Array, Array]:
    return first_adjoint(z_bar, in1, in2, mode, "fft", axes), second_adjoint(z_bar, in1, in2, mode, "fft", axes)


def _correlate_jvp(
    in1_dot: Array, in2_dot: Array, in1: Array, in2: Array, mode: str = "full", method: str = "auto"
) -> Array:
    left = signal.correlate(in1_dot + np.zeros(np.shape(in1)), in2, mode, method)
    return left + signal.correlate(in1, in2_dot + np.zeros(np.shape(in2)), mode, method)


@rule(
    signal.correlate,
    wrt=["in1", "in2"],
    jvp=_correlate_jvp,
    samples=_pairs_by_method,
    infer=infer.scipy.convolved,
)
def correlate(z_bar: Array, in1: Array, in2: Array, mode: str = "full", method: str = "auto") -> tuple[Array, Array]:
    turned = np.conj(np.flip(in2))
    in2_bar = np.conj(np.flip(second_adjoint(z_bar, in1, turned, mode, method)))
    return first_adjoint(z_bar, in1, turned, mode, method), in2_bar


def _images() -> Sequence[Sample]:
    x, y = numbers(4, 5), numbers(2, 3, seed=1)
    shapes = [((4, 5), (2, 3)), ((3, 3), (3, 3)), ((2, 3), (1, 1)), ((4, 4), (2, 2))]
    # At arrays without elements SciPy divides by zero, but where the boundary is filled.
    points = [sample(numbers(*a), numbers(*b, seed=1), m) for a, b in shapes for m in ("full", "same", "valid")]
    points += [sample(x, y, m, b) for m in ("full", "same", "valid") for b in ("wrap", "symm", "symmetric")]
    points += [sample(y, x, "valid"), sample(x, numbers(3, 3), "same", "symm"), sample(x, y, "full", "fill", 0.7)]
    points += [sample(complexes(3, 3), complexes(2, 2), "same", "wrap")]
    return [*points, sample(complexes(2, 2), complexes(3, 3), "valid")]


def _convolve2d_jvp(
    in1_dot: Array,
    in2_dot: Array,
    in1: Array,
    in2: Array,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
) -> Array:
    left = signal.convolve2d(in1_dot + np.zeros(np.shape(in1)), in2, mode, boundary)
    return left + signal.convolve2d(in1, in2_dot + np.zeros(np.shape(in2)), mode, boundary, fillvalue)


@rule(
    signal.convolve2d,
    wrt=["in1", "in2"],
    jvp=_convolve2d_jvp,
    samples=_images,
    infer=infer.scipy.convolved,
)
def convolve2d(
    z_bar: Array, in1: Array, in2: Array, mode: str = "full", boundary: str = "fill", fillvalue: float = 0
) -> tuple[Array, Array]:
    in2_bar = second2d_adjoint(z_bar, in1, in2, mode, boundary, fillvalue)
    return first2d_adjoint(z_bar, in1, in2, mode, boundary), in2_bar


def _correlate2d_jvp(
    in1_dot: Array,
    in2_dot: Array,
    in1: Array,
    in2: Array,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
) -> Array:
    left = signal.correlate2d(in1_dot + np.zeros(np.shape(in1)), in2, mode, boundary)
    return left + signal.correlate2d(in1, in2_dot + np.zeros(np.shape(in2)), mode, boundary, fillvalue)


@rule(
    signal.correlate2d,
    wrt=["in1", "in2"],
    jvp=_correlate2d_jvp,
    samples=_images,
    infer=infer.scipy.convolved,
)
def correlate2d(
    z_bar: Array, in1: Array, in2: Array, mode: str = "full", boundary: str = "fill", fillvalue: float = 0
) -> tuple[Array, Array]:
    in1_bar, in2_bar = correlate2d_adjoints(z_bar, in1, in2, mode, boundary, fillvalue)
    return in1_bar, in2_bar


# --- the adjoints of convolutions, which are linear in the adjoint and in the other operand


def _shapes() -> Sequence[Sample]:
    """Adjoints, operands and modes."""
    found = []
    for a, b in (((5,), (3,)), ((3,), (5,)), ((4, 5), (2, 3))):
        x, y = numbers(*a), numbers(*b, seed=1)
        shapes = {mode: signal.convolve(x, y, mode).shape for mode in ("full", "same", "valid")}
        found += [sample(numbers(*shape, seed=2), x, y, mode) for mode, shape in shapes.items()]
    x, y = numbers(3, 4), numbers(3, 2, seed=1)
    found.append(sample(numbers(*signal.fftconvolve(x, y, "same", 1).shape), x, y, "same", "fft", 1))
    return [*found, sample(complexes(7), complexes(5), complexes(3), "full", "direct")]


@bilinear(first_adjoint, wrt=["g", "y"], steps={"x"}, samples=_shapes, dtype="unknown")
def first_adjoint_rule(
    z_bar: Array, g: Array, x: Array, y: Array, mode: str = "full", method: str = "auto", axes: Any = None
) -> tuple[Array, Array]:
    return convolved(z_bar, y, mode, method, axes), second_adjoint(g, z_bar, y, mode, method, axes)


@bilinear(second_adjoint, wrt=["g", "x"], steps={"y"}, samples=_shapes, dtype="unknown")
def second_adjoint_rule(
    z_bar: Array, g: Array, x: Array, y: Array, mode: str = "full", method: str = "auto", axes: Any = None
) -> tuple[Array, Array]:
    return convolved(x, z_bar, mode, method, axes), first_adjoint(g, x, z_bar, mode, method, axes)


def _planes() -> Sequence[Sample]:
    x, y, found = numbers(4, 5), numbers(2, 3, seed=1), []
    for mode, boundary in (("full", "fill"), ("same", "fill"), ("valid", "fill"), ("same", "wrap"), ("full", "symm")):
        shape = signal.convolve2d(x, y, mode, boundary).shape
        found.append(sample(numbers(*shape, seed=2), x, y, mode, boundary))
    return found


@bilinear(first2d_adjoint, wrt=["g", "y"], steps={"x"}, samples=_planes, dtype="unknown")
def first2d_adjoint_rule(
    z_bar: Array, g: Array, x: Array, y: Array, mode: str = "full", boundary: str = "fill"
) -> tuple[Array, Array]:
    return signal.convolve2d(z_bar, y, mode, boundary), second2d_adjoint(g, z_bar, y, mode, boundary)


def _second2d_jvp(
    g_dot: Array,
    x_dot: Array,
    g: Array,
    x: Array,
    y: Array,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
) -> Array:
    left = second2d_adjoint(g_dot + np.zeros(np.shape(g)), x, y, mode, boundary, fillvalue)
    return left + second2d_adjoint(g, x_dot + np.zeros(np.shape(x)), y, mode, boundary)


@rule(second2d_adjoint, wrt=["g", "x"], steps={"y"}, jvp=_second2d_jvp, samples=_planes, dtype="unknown")
def second2d_adjoint_rule(
    z_bar: Array, g: Array, x: Array, y: Array, mode: str = "full", boundary: str = "fill", fillvalue: float = 0
) -> tuple[Array, Array]:
    return (
        signal.convolve2d(x, z_bar, mode, boundary, fillvalue),
        first2d_adjoint(g, x, z_bar, mode, boundary),
    )


@linear(
    placed2d,
    wrt=["g"],
    steps={"x", "y"},
    samples=lambda: [sample(numbers(4, 5), numbers(4, 5), numbers(2, 3))],
    dtype="unknown",
)
def placed2d_rule(z_bar: Array, g: Array, x: Array, y: Array) -> Array:
    row, column = np.shape(y)[0] // 2, np.shape(y)[1] // 2
    return z_bar[row : row + np.shape(x)[0], column : column + np.shape(x)[1]]
