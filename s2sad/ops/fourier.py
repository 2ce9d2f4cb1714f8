"""Rules of `numpy.fft`: the transpose of a transform is a transform.

A real operand of a complex transform gets a complex adjoint, of which the
compiler takes the real part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, ndim, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.fourier import (
    Norm,
    Shape,
    fftn_adjoint,
    hfft_adjoint,
    ifftn_adjoint,
    ihfft_adjoint,
    irfft_adjoint,
    irfftn_adjoint,
    resized,
    rfft_adjoint,
    rfftn_adjoint,
    weighted_bins,
)

Array = Any
Draw = Callable[..., Any]

# --- along one axis ---


def _forms(draw: Draw) -> list[Sample]:
    """Odd and even lengths, cut off and padded to odd and even ones, along any axis, in each normalisation."""
    points = [sample(draw(n)) for n in (2, 5, 6)]
    points += [sample(draw(size), n) for size in (5, 6) for n in (1, 2, 3, 4, 7, 8)]
    points += [sample(draw(3, 4), axis=axis) for axis in (0, 1, -1, -2)]
    points += [sample(draw(2, 5, 3), n, 1, norm) for n in (None, 4, 7) for norm in ("backward", "ortho", "forward")]
    return [*points, sample(draw(5), norm="ortho"), sample(draw(6), 4, norm="forward"), sample(draw(0, 3))]


def _of_real() -> Sequence[Sample]:
    return [sample(numbers(1)), *_forms(numbers), sample(singles(5)), sample(singles(6), 4)]


def _of_complex() -> Sequence[Sample]:
    single = [sample(complexes(5).astype(np.complex64)), sample(complexes(6).astype(np.complex64), 7, norm="ortho")]
    return [*_forms(complexes), sample(numbers(5)), sample(numbers(6), 4), *single, sample(singles(5))]


def _of_any() -> Sequence[Sample]:
    return [sample(complexes(1)), *_of_complex(), *_of_real()]


@linear(
    np.fft.fft, wrt=["a"], samples=_of_any, infer=infer.fourier.whole, complex_adjoints=True, steps=frozenset({"n"})
)
def fft(z_bar: Array, a: Array, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    if n is None and axis == -1 and norm is None:
        return np.fft.fft(z_bar)
    if n is None and norm is None:
        return np.fft.fft(z_bar, axis=axis)
    if n is None:
        return np.fft.fft(z_bar, axis=axis, norm=norm)
    if axis == -1 and norm is None:
        return resized(np.fft.fft(z_bar), np.shape(a)[-1])
    return resized(np.fft.fft(z_bar, axis=axis, norm=norm), np.shape(a)[axis], axis)


@linear(
    np.fft.ifft, wrt=["a"], samples=_of_any, infer=infer.fourier.whole, complex_adjoints=True, steps=frozenset({"n"})
)
def ifft(z_bar: Array, a: Array, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    if n is None and axis == -1 and norm is None:
        return np.fft.ifft(z_bar)
    if n is None and norm is None:
        return np.fft.ifft(z_bar, axis=axis)
    if n is None:
        return np.fft.ifft(z_bar, axis=axis, norm=norm)
    if axis == -1 and norm is None:
        return resized(np.fft.ifft(z_bar), np.shape(a)[-1])
    return resized(np.fft.ifft(z_bar, axis=axis, norm=norm), np.shape(a)[axis], axis)


@linear(np.fft.rfft, wrt=["a"], samples=_of_real, infer=infer.fourier.half, steps=frozenset({"n"}))
def rfft(z_bar: Array, a: Array, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    if n is None and axis == -1 and norm is None:
        return rfft_adjoint(z_bar, np.shape(a))
    return rfft_adjoint(z_bar, np.shape(a), n, axis, norm)


@linear(np.fft.ihfft, wrt=["a"], samples=_of_real, infer=infer.fourier.half, steps=frozenset({"n"}))
def ihfft(z_bar: Array, a: Array, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    if n is None and axis == -1 and norm is None:
        return ihfft_adjoint(z_bar, np.shape(a))
    return ihfft_adjoint(z_bar, np.shape(a), n, axis, norm)


@linear(
    np.fft.irfft,
    wrt=["a"],
    samples=_of_complex,
    infer=infer.fourier.turned_back,
    complex_adjoints=True,
    steps=frozenset({"n"}),
)
def irfft(z_bar: Array, a: Array, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    if axis == -1 and norm is None:
        return irfft_adjoint(z_bar, np.shape(a))
    return irfft_adjoint(z_bar, np.shape(a), axis, norm)


@linear(
    np.fft.hfft,
    ignores_out=True,
    wrt=["a"],
    samples=_of_complex,
    infer=infer.fourier.turned_back,
    complex_adjoints=True,
    steps=frozenset({"n"}),
)
def hfft(z_bar: Array, a: Array, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    if axis == -1 and norm is None:
        return hfft_adjoint(z_bar, np.shape(a))
    return hfft_adjoint(z_bar, np.shape(a), axis, norm)


# --- along several axes ---


def _planes(draw: Draw) -> list[Sample]:
    """What the transforms of two axes and of all of them take alike."""
    a, t = draw(3, 4), draw(2, 3, 5)
    points = [sample(a), sample(t), sample(draw(2, 2)), sample(draw(2, 4, 3))]
    points += [sample(t, s, axes) for s in ((2, 2), (4, 7), (3, -1)) for axes in ((0, 2), (-1, 1), [2, 0])]
    points += [sample(t, axes=axes) for axes in ((0, 1), (2, 0), (1, 1), (-1,))]
    points += [sample(t, (2, 4), (1, 1)), sample(t, (5, 3, 4), (2, 0, 2)), sample(t, axes=(0, 2, 0))]
    points += [sample(t, s, (1, 2), norm) for s in (None, (4, 4)) for norm in ("backward", "ortho", "forward")]
    return points


def _planes_of_real() -> Sequence[Sample]:
    return [*_planes(numbers), sample(singles(2, 3)), sample(singles(2, 3), (2, 4), (0, 1))]


def _planes_of_complex() -> Sequence[Sample]:
    a = complexes(2, 3).astype(np.complex64)
    return [*_planes(complexes), sample(numbers(3, 4)), sample(a), sample(a, (2, 4), (0, 1)), sample(singles(2, 3))]


def _planes_of_any() -> Sequence[Sample]:
    return [*_planes_of_complex(), *_planes_of_real()]


@linear(
    np.fft.fft2,
    wrt=["a"],
    samples=_planes_of_any,
    infer=infer.fourier.along_all,
    result="unknown",
    closer=infer.fourier.memory,
    complex_adjoints=True,
)
def fft2(z_bar: Array, a: Array, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> Array:
    if s is None and axes == (-2, -1) and norm is None:
        return np.fft.fft2(z_bar)
    if s is None and axes == (-2, -1):
        return np.fft.fft2(z_bar, norm=norm)
    if s is None and norm is None:
        return np.fft.fft2(z_bar, axes=axes)
    if s is None:
        return np.fft.fft2(z_bar, axes=axes, norm=norm)
    return fftn_adjoint(z_bar, np.shape(a), s, axes, norm)


@linear(
    np.fft.ifft2,
    ignores_out=True,
    wrt=["a"],
    samples=_planes_of_any,
    infer=infer.fourier.along_all,
    result="unknown",
    closer=infer.fourier.memory,
    complex_adjoints=True,
)
def ifft2(z_bar: Array, a: Array, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> Array:
    if s is None and axes == (-2, -1) and norm is None:
        return np.fft.ifft2(z_bar)
    if s is None and axes == (-2, -1):
        return np.fft.ifft2(z_bar, norm=norm)
    if s is None and norm is None:
        return np.fft.ifft2(z_bar, axes=axes)
    if s is None:
        return np.fft.ifft2(z_bar, axes=axes, norm=norm)
    return ifftn_adjoint(z_bar, np.shape(a), s, axes, norm)


@linear(
    np.fft.fftn,
    wrt=["a"],
    samples=_planes_of_any,
    infer=infer.fourier.along_all,
    result="unknown",
    closer=infer.fourier.memory,
    complex_adjoints=True,
)
def fftn(z_bar: Array, a: Array, s: Any = None, axes: Any = None, norm: Norm = None) -> Array:
    if s is None and axes is None and norm is None:
        return np.fft.fftn(z_bar)
    if s is None and axes is None:
        return np.fft.fftn(z_bar, norm=norm)
    if s is None and norm is None:
        return np.fft.fftn(z_bar, axes=axes)
    if s is None:
        return np.fft.fftn(z_bar, axes=axes, norm=norm)
    return fftn_adjoint(z_bar, np.shape(a), s, axes, norm)


@linear(
    np.fft.ifftn,
    wrt=["a"],
    samples=_planes_of_any,
    infer=infer.fourier.along_all,
    result="unknown",
    closer=infer.fourier.memory,
    complex_adjoints=True,
)
def ifftn(z_bar: Array, a: Array, s: Any = None, axes: Any = None, norm: Norm = None) -> Array:
    if s is None and axes is None and norm is None:
        return np.fft.ifftn(z_bar)
    if s is None and axes is None:
        return np.fft.ifftn(z_bar, norm=norm)
    if s is None and norm is None:
        return np.fft.ifftn(z_bar, axes=axes)
    if s is None:
        return np.fft.ifftn(z_bar, axes=axes, norm=norm)
    return ifftn_adjoint(z_bar, np.shape(a), s, axes, norm)


@linear(np.fft.rfft2, wrt=["a"], samples=_planes_of_real, infer=infer.fourier.with_half(real=False))
def rfft2(z_bar: Array, a: Array, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> Array:
    return rfftn_adjoint(z_bar, np.shape(a), s, axes, norm)


@linear(np.fft.rfftn, wrt=["a"], samples=_planes_of_real, infer=infer.fourier.with_half(real=False))
def rfftn(z_bar: Array, a: Array, s: Any = None, axes: Any = None, norm: Norm = None) -> Array:
    if s is None and axes is None and norm is None:
        return rfftn_adjoint(z_bar, np.shape(a))
    return rfftn_adjoint(z_bar, np.shape(a), s, axes, norm)


@linear(
    np.fft.irfft2,
    ignores_out=True,
    wrt=["a"],
    samples=_planes_of_complex,
    infer=infer.fourier.with_half(real=True),
    complex_adjoints=True,
)
def irfft2(z_bar: Array, a: Array, s: Any = None, axes: Any = (-2, -1), norm: Norm = None) -> Array:
    return irfftn_adjoint(z_bar, np.shape(a), s, axes, norm)


@linear(
    np.fft.irfftn,
    wrt=["a"],
    samples=_planes_of_complex,
    infer=infer.fourier.with_half(real=True),
    complex_adjoints=True,
)
def irfftn(z_bar: Array, a: Array, s: Any = None, axes: Any = None, norm: Norm = None) -> Array:
    if s is None and axes is None and norm is None:
        return irfftn_adjoint(z_bar, np.shape(a))
    return irfftn_adjoint(z_bar, np.shape(a), s, axes, norm)


# --- frequencies ---


def _spacings() -> Sequence[Sample]:
    return [
        *(sample(n, 0.7) for n in (1, 2, 5, 6)),
        sample(4),
        sample(n=5, d=-2.0),
        sample(3, np.array(0.5)),
        sample(4, complexes()[()]),
        sample(3, np.array([[0.5], [1.5]])),
        sample(3, np.float32(0.5)),
    ]


def _frequencies_jvp(d_dot: Array, z: Array, d: Array) -> Array:
    return -z * (d_dot / d)


@rule(
    np.fft.fftfreq,
    wrt=["d"],
    jvp=_frequencies_jvp,
    samples=_spacings,
    infer=infer.fourier.frequencies(whole=True),
    dtype="double",
    steps=frozenset({"n"}),
)
def fftfreq(z: Array, z_bar: Array, n: int, d: Array = 1.0) -> Array:
    if ndim(d) == 0:
        return -np.sum(z_bar * z) / d
    return -unbroadcast(z_bar * z, np.shape(d)) / d


@rule(
    np.fft.rfftfreq,
    wrt=["d"],
    jvp=_frequencies_jvp,
    samples=_spacings,
    infer=infer.fourier.frequencies(whole=False),
    dtype="double",
    steps=frozenset({"n"}),
)
def rfftfreq(z: Array, z_bar: Array, n: int, d: Array = 1.0) -> Array:
    if ndim(d) == 0:
        return -np.sum(z_bar * z) / d
    return -unbroadcast(z_bar * z, np.shape(d)) / d


# --- the helpers of the runtime ---


def _resizings() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [*(sample(a, n, axis) for n in (2, 3, 4, 5) for axis in (0, -1)), sample(complexes(3), 5), sample(a, 4)]


@linear(
    resized,
    wrt=["a"],
    samples=_resizings,
    result="unknown",
    infer=infer.axes.with_known_axes(infer.axes.same("a")),
    steps=frozenset({"n"}),
)
def resized_rule(z_bar: Array, a: Array, n: int, axis: int = -1) -> Array:
    return resized(z_bar, np.shape(a)[axis], axis)


def _halves(draw: Draw, bins: Callable[[int], int], given: bool) -> list[Sample]:
    """What the transposes take that are half transforms or turn these back: ``bins`` says how many of how many."""
    points = []
    for m, n in ((5, 5), (6, 6), (5, 4), (4, 7)):
        extra = (n,) if given else ()
        points += [sample(draw(bins(n)), (m,), *extra), sample(draw(2, bins(n), 3), (2, m, 3), *extra, 1, "ortho")]
    return points


def _bins_and_shapes() -> Sequence[Sample]:
    return _halves(complexes, lambda n: n // 2 + 1, True)


@linear(
    rfft_adjoint,
    wrt=["g"],
    samples=_bins_and_shapes,
    infer=infer.fourier.adjoint(real=True),
    steps=frozenset({"n", "shape"}),
)
def rfft_adjoint_rule(
    z_bar: Array, g: Array, shape: Shape, n: int | None = None, axis: int = -1, norm: Norm = None
) -> Array:
    return np.fft.rfft(np.real(z_bar), n, axis, norm)


@linear(
    ihfft_adjoint,
    wrt=["g"],
    samples=_bins_and_shapes,
    infer=infer.fourier.adjoint(real=True),
    steps=frozenset({"n", "shape"}),
)
def ihfft_adjoint_rule(
    z_bar: Array, g: Array, shape: Shape, n: int | None = None, axis: int = -1, norm: Norm = None
) -> Array:
    return np.fft.ihfft(np.real(z_bar), n, axis, norm)


def _numbers_and_shapes() -> Sequence[Sample]:
    return _halves(numbers, lambda n: n, False)


@linear(
    irfft_adjoint,
    wrt=["g"],
    samples=_numbers_and_shapes,
    infer=infer.fourier.adjoint(real=False),
    steps=frozenset({"shape"}),
)
def irfft_adjoint_rule(z_bar: Array, g: Array, shape: Shape, axis: int = -1, norm: Norm = None) -> Array:
    return np.fft.irfft(z_bar, np.shape(g)[axis], axis, norm)


@linear(
    hfft_adjoint,
    wrt=["g"],
    samples=_numbers_and_shapes,
    infer=infer.fourier.adjoint(real=False),
    steps=frozenset({"shape"}),
)
def hfft_adjoint_rule(z_bar: Array, g: Array, shape: Shape, axis: int = -1, norm: Norm = None) -> Array:
    return np.fft.hfft(z_bar, np.shape(g)[axis], axis, norm)


def _planes_and_shapes(f: Callable[..., Any], draw: Draw) -> Callable[[], Sequence[Sample]]:
    """The arguments of the transpose of ``f`` where ``f`` has those of `_planes`."""

    def samples() -> Sequence[Sample]:
        points = []
        for point in _planes(draw):
            a, *rest = point.args
            z = f(*point.args, **point.kwargs)
            g = numbers(*z.shape) if np.isrealobj(z) else complexes(*z.shape)
            points.append(sample(g, a.shape, *rest, **point.kwargs))
        return points

    return samples


@linear(
    fftn_adjoint,
    wrt=["g"],
    samples=_planes_and_shapes(np.fft.fftn, complexes),
    infer=infer.fourier.adjoint(real=False),
    result="unknown",
    complex_adjoints=True,
    steps=frozenset({"shape"}),
)
def fftn_adjoint_rule(
    z_bar: Array, g: Array, shape: Shape, s: Any = None, axes: Any = None, norm: Norm = None
) -> Array:
    return np.fft.fftn(z_bar, s, axes, norm)


@linear(
    ifftn_adjoint,
    wrt=["g"],
    samples=_planes_and_shapes(np.fft.ifftn, complexes),
    infer=infer.fourier.adjoint(real=False),
    result="unknown",
    complex_adjoints=True,
    steps=frozenset({"shape"}),
)
def ifftn_adjoint_rule(
    z_bar: Array, g: Array, shape: Shape, s: Any = None, axes: Any = None, norm: Norm = None
) -> Array:
    return np.fft.ifftn(z_bar, s, axes, norm)


@linear(
    rfftn_adjoint,
    wrt=["g"],
    samples=_planes_and_shapes(np.fft.rfftn, numbers),
    infer=infer.fourier.adjoint(real=True),
    steps=frozenset({"shape"}),
)
def rfftn_adjoint_rule(
    z_bar: Array, g: Array, shape: Shape, s: Any = None, axes: Any = None, norm: Norm = None
) -> Array:
    return np.fft.rfftn(np.real(z_bar), s, axes, norm)


@linear(
    irfftn_adjoint,
    wrt=["g"],
    samples=_planes_and_shapes(np.fft.irfftn, complexes),
    infer=infer.fourier.adjoint(real=False),
    steps=frozenset({"shape"}),
)
def irfftn_adjoint_rule(
    z_bar: Array, g: Array, shape: Shape, s: Any = None, axes: Any = None, norm: Norm = None
) -> Array:
    return np.fft.irfftn(z_bar, s, axes, norm)


def _bins() -> Sequence[Sample]:
    a = complexes(3, 4)
    return [*(sample(a, n, 2.0, axis) for n in (2, 4, 5, 6, 7) for axis in (0, -1)), sample(complexes(2), 3, 0.5)]


@linear(weighted_bins, wrt=["bins"], samples=_bins, infer=infer.common.same_as_first, steps=frozenset({"n"}))
def weighted_bins_rule(z_bar: Array, bins: Array, n: int, weight: float, axis: int = -1) -> Array:
    return weighted_bins(z_bar, n, weight, axis)
