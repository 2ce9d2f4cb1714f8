"""Rules of ``scipy.fft``: Fourier transforms along one axis and several, the transpose of each a transform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import fft

from s2sad.ops import infer
from s2sad.ops.infer.common import Infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, constant, linear, sample
from s2sad.runtime.fourier import (
    Norm,
    fftn_adjoint,
    hfft_adjoint,
    ifftn_adjoint,
    ihfft_adjoint,
    irfft_adjoint,
    irfftn_adjoint,
    resized,
    rfft_adjoint,
    rfftn_adjoint,
)

Array = Any
Draw = Callable[..., Any]

#: The option by which an operand becomes working space.
_WORKING = ("overwrite_x", False)


def _of_x(found: Infer) -> Infer:
    """The type of a transform of ``x``, which NumPy calls ``a``."""
    return lambda b, fact: found({**b, "a": b["x"]}, fact)


def _forms(*draws: Draw) -> Callable[[], Sequence[Sample]]:
    """Lengths cut off and padded, along any axis, in each normalisation."""

    def samples() -> Sequence[Sample]:
        points = []
        for draw in draws:
            points += [sample(draw(size), *n) for size in (5, 6) for n in ((), (3,), (4,), (8,))]
            points += [sample(draw(3, 4), axis=0), sample(draw(2, 5, 3), 4, 1, "ortho")]
            points += [sample(draw(2, 4), None, -1, "forward"), sample(draw(2, 4), norm="backward")]
        return points

    return samples


@linear(
    fft.fft,
    wrt=["x"],
    samples=_forms(numbers, complexes),
    infer=_of_x(infer.fourier.whole),
    complex_adjoints=True,
    overwrites=_WORKING,
    steps=frozenset({"n"}),
)
def fft_rule(
    z_bar: Array,
    x: Array,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if n is None and axis == -1 and norm is None:
        return fft.fft(z_bar)
    if n is None:
        return fft.fft(z_bar, axis=axis, norm=norm)
    return resized(fft.fft(z_bar, axis=axis, norm=norm), np.shape(x)[axis], axis)


@linear(
    fft.ifft,
    wrt=["x"],
    samples=_forms(numbers, complexes),
    infer=_of_x(infer.fourier.whole),
    complex_adjoints=True,
    overwrites=_WORKING,
    steps=frozenset({"n"}),
)
def ifft(
    z_bar: Array,
    x: Array,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if n is None and axis == -1 and norm is None:
        return fft.ifft(z_bar)
    if n is None:
        return fft.ifft(z_bar, axis=axis, norm=norm)
    return resized(fft.ifft(z_bar, axis=axis, norm=norm), np.shape(x)[axis], axis)


@linear(
    fft.rfft,
    wrt=["x"],
    samples=_forms(numbers, singles),
    infer=_of_x(infer.fourier.half),
    overwrites=_WORKING,
    steps=frozenset({"n"}),
)
def rfft(
    z_bar: Array,
    x: Array,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if n is None and axis == -1 and norm is None:
        return rfft_adjoint(z_bar, np.shape(x))
    return rfft_adjoint(z_bar, np.shape(x), n, axis, norm)


@linear(
    fft.ihfft,
    wrt=["x"],
    samples=_forms(numbers),
    infer=_of_x(infer.fourier.half),
    overwrites=_WORKING,
    steps=frozenset({"n"}),
)
def ihfft(
    z_bar: Array,
    x: Array,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if n is None and axis == -1 and norm is None:
        return ihfft_adjoint(z_bar, np.shape(x))
    return ihfft_adjoint(z_bar, np.shape(x), n, axis, norm)


@linear(
    fft.irfft,
    wrt=["x"],
    samples=_forms(numbers, complexes),
    infer=_of_x(infer.fourier.turned_back),
    complex_adjoints=True,
    overwrites=_WORKING,
    steps=frozenset({"n"}),
)
def irfft(
    z_bar: Array,
    x: Array,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if axis == -1 and norm is None:
        return irfft_adjoint(z_bar, np.shape(x))
    return irfft_adjoint(z_bar, np.shape(x), axis, norm)


@linear(
    fft.hfft,
    wrt=["x"],
    samples=_forms(numbers, complexes),
    infer=_of_x(infer.fourier.turned_back),
    complex_adjoints=True,
    overwrites=_WORKING,
    steps=frozenset({"n"}),
)
def hfft(
    z_bar: Array,
    x: Array,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if axis == -1 and norm is None:
        return hfft_adjoint(z_bar, np.shape(x))
    return hfft_adjoint(z_bar, np.shape(x), axis, norm)


# --- along several axes


def _planes(*draws: Draw) -> Callable[[], Sequence[Sample]]:
    """What the transforms of two axes and of all of them take alike."""

    def samples() -> Sequence[Sample]:
        points = []
        for draw in draws:
            t = draw(2, 3, 5)
            points += [sample(draw(3, 4)), sample(t), sample(draw(2, 2))]
            points += [sample(t, s, axes) for s in ((2, 2), (4, 7)) for axes in ((0, 2), (-1, 1))]
            points += [sample(t, axes=axes) for axes in ((0, 1), (2, 0))]
            points += [sample(t, s, (1, 2), norm) for s in (None, (4, 4)) for norm in ("backward", "ortho", "forward")]
        return points

    return samples


@linear(
    fft.fft2,
    wrt=["x"],
    samples=_planes(complexes, numbers),
    infer=_of_x(infer.fourier.along_all),
    result="unknown",
    complex_adjoints=True,
    overwrites=_WORKING,
)
def fft2(
    z_bar: Array,
    x: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if s is None and axes == (-2, -1) and norm is None:
        return fft.fft2(z_bar)
    if s is None:
        return fft.fft2(z_bar, axes=axes, norm=norm)
    return fftn_adjoint(z_bar, np.shape(x), s, axes, norm)


@linear(
    fft.fftn,
    wrt=["x"],
    samples=_planes(complexes, numbers),
    infer=_of_x(infer.fourier.along_all),
    result="unknown",
    complex_adjoints=True,
    overwrites=_WORKING,
)
def fftn(
    z_bar: Array,
    x: Array,
    s: Any = None,
    axes: Any = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if s is None and axes is None and norm is None:
        return fft.fftn(z_bar)
    if s is None:
        return fft.fftn(z_bar, axes=axes, norm=norm)
    return fftn_adjoint(z_bar, np.shape(x), s, axes, norm)


@linear(
    fft.ifft2,
    wrt=["x"],
    samples=_planes(complexes, numbers),
    infer=_of_x(infer.fourier.along_all),
    result="unknown",
    complex_adjoints=True,
    overwrites=_WORKING,
)
def ifft2(
    z_bar: Array,
    x: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if s is None and axes == (-2, -1) and norm is None:
        return fft.ifft2(z_bar)
    if s is None:
        return fft.ifft2(z_bar, axes=axes, norm=norm)
    return ifftn_adjoint(z_bar, np.shape(x), s, axes, norm)


@linear(
    fft.ifftn,
    wrt=["x"],
    samples=_planes(complexes, numbers),
    infer=_of_x(infer.fourier.along_all),
    result="unknown",
    complex_adjoints=True,
    overwrites=_WORKING,
)
def ifftn(
    z_bar: Array,
    x: Array,
    s: Any = None,
    axes: Any = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    if s is None and axes is None and norm is None:
        return fft.ifftn(z_bar)
    if s is None:
        return fft.ifftn(z_bar, axes=axes, norm=norm)
    return ifftn_adjoint(z_bar, np.shape(x), s, axes, norm)


@linear(
    fft.rfft2,
    wrt=["x"],
    samples=_planes(numbers, singles),
    infer=_of_x(infer.fourier.with_half(real=False)),
    overwrites=_WORKING,
)
def rfft2(
    z_bar: Array,
    x: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    return rfftn_adjoint(z_bar, np.shape(x), s, axes, norm)


@linear(
    fft.rfftn,
    wrt=["x"],
    samples=_planes(numbers, singles),
    infer=_of_x(infer.fourier.with_half(real=False)),
    overwrites=_WORKING,
)
def rfftn(
    z_bar: Array,
    x: Array,
    s: Any = None,
    axes: Any = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    return rfftn_adjoint(z_bar, np.shape(x), s, axes, norm)


@linear(
    fft.irfft2,
    wrt=["x"],
    samples=_planes(complexes, numbers),
    infer=_of_x(infer.fourier.with_half(real=True)),
    complex_adjoints=True,
    overwrites=_WORKING,
)
def irfft2(
    z_bar: Array,
    x: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    return irfftn_adjoint(z_bar, np.shape(x), s, axes, norm)


@linear(
    fft.irfftn,
    wrt=["x"],
    samples=_planes(complexes, numbers),
    infer=_of_x(infer.fourier.with_half(real=True)),
    complex_adjoints=True,
    overwrites=_WORKING,
)
def irfftn(
    z_bar: Array,
    x: Array,
    s: Any = None,
    axes: Any = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> Array:
    return irfftn_adjoint(z_bar, np.shape(x), s, axes, norm)


# --- shifts


def _shifts() -> Sequence[Sample]:
    points = [sample(numbers(n)) for n in (1, 4, 5)] + [sample(numbers(3, 4)), sample(complexes(2, 3))]
    return [*points, *(sample(numbers(2, 3, 4), axes) for axes in (1, (0, 2), [-1]))]


@linear(fft.fftshift, wrt=["x"], samples=_shifts, infer=infer.scipy.transformed)
def fftshift(z_bar: Array, x: Array, axes: Any = None) -> Array:
    return np.fft.ifftshift(z_bar, axes)


@linear(fft.ifftshift, wrt=["x"], samples=_shifts, infer=infer.scipy.transformed)
def ifftshift(z_bar: Array, x: Array, axes: Any = None) -> Array:
    return np.fft.fftshift(z_bar, axes)


constant(fft.next_fast_len, signature=lambda target, real=False: None)
constant(fft.fftfreq, fft.rfftfreq, signature=lambda n, d=1.0: None)
