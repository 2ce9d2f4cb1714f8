"""Rules of ``scipy.fftpack``: the transforms of ``scipy.fft`` under other names, and real ones in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import fftpack

from s2sad.ops import infer
from s2sad.ops.infer.common import Infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.scipy.cosines import along, several
from s2sad.ops.spec import Sample, constant, linear, operation, sample
from s2sad.runtime.fourier import fftn_adjoint, ifftn_adjoint, resized
from s2sad.runtime.scipy.cosines import cosine_adjoint, cosines_adjoint, without_factor
from s2sad.runtime.scipy.packed import packed_adjoint, unpacked_adjoint

Array = Any
Transform = Callable[..., Any]

_WORKING = ("overwrite_x", False)


def _of_x(found: Infer) -> Infer:
    """The type of a transform of ``x``, with what NumPy calls ``a`` and ``s``."""
    return lambda b, fact: found({**b, "a": b["x"], **({"s": b["shape"]} if "shape" in b else {})}, fact)


# --- Fourier transforms


def _forms() -> Sequence[Sample]:
    points = [sample(draw(size), *n) for draw in (numbers, complexes) for size in (5, 6) for n in ((), (3,), (8,))]
    return [*points, sample(numbers(3, 4), axis=0), sample(complexes(2, 5, 3), 4, 1)]


def _declare(transform: Transform) -> Callable[[Transform], Transform]:
    return linear(
        transform,
        wrt=["x"],
        samples=_forms,
        infer=_of_x(infer.fourier.whole),
        complex_adjoints=True,
        overwrites=_WORKING,
        steps=frozenset({"n"}),
    )


@_declare(fftpack.fft)
def fft(z_bar: Array, x: Array, n: int | None = None, axis: int = -1, overwrite_x: bool = False) -> Array:
    return resized(np.fft.fft(z_bar, axis=axis), np.shape(x)[axis], axis)


@_declare(fftpack.ifft)
def ifft(z_bar: Array, x: Array, n: int | None = None, axis: int = -1, overwrite_x: bool = False) -> Array:
    return resized(np.fft.ifft(z_bar, axis=axis), np.shape(x)[axis], axis)


def _planes() -> Sequence[Sample]:
    t = numbers(2, 3, 5)
    points = [sample(t, s, axes) for s in (None, (2, 2), (4, 7)) for axes in ((0, 2), (-1, 1))]
    return [*points, sample(numbers(3, 4)), sample(complexes(3, 4))]


def _declare_several(transform: Transform) -> Callable[[Transform], Transform]:
    return linear(
        transform,
        wrt=["x"],
        samples=_planes,
        infer=_of_x(infer.fourier.along_all),
        result="unknown",
        complex_adjoints=True,
        overwrites=_WORKING,
    )


@_declare_several(fftpack.fft2)
def fft2(z_bar: Array, x: Array, shape: Any = None, axes: Any = (-2, -1), overwrite_x: bool = False) -> Array:
    return fftn_adjoint(z_bar, np.shape(x), shape, axes)


@_declare_several(fftpack.fftn)
def fftn(z_bar: Array, x: Array, shape: Any = None, axes: Any = None, overwrite_x: bool = False) -> Array:
    return fftn_adjoint(z_bar, np.shape(x), shape, axes)


@_declare_several(fftpack.ifft2)
def ifft2(z_bar: Array, x: Array, shape: Any = None, axes: Any = (-2, -1), overwrite_x: bool = False) -> Array:
    return ifftn_adjoint(z_bar, np.shape(x), shape, axes)


@_declare_several(fftpack.ifftn)
def ifftn(z_bar: Array, x: Array, shape: Any = None, axes: Any = None, overwrite_x: bool = False) -> Array:
    return ifftn_adjoint(z_bar, np.shape(x), shape, axes)


# --- real ones, with the parts of the bins beside each other


def _real_forms() -> Sequence[Sample]:
    points = [sample(numbers(size), *n) for size in (1, 2, 5, 6) for n in ((), (3,), (4,), (8,))]
    return [*points, sample(numbers(3, 4), axis=0), sample(numbers(2, 5, 3), 4, 1), sample(singles(5))]


def _declare_real(transform: Transform) -> Callable[[Transform], Transform]:
    return linear(
        transform,
        wrt=["x"],
        samples=_real_forms,
        infer=infer.scipy.transformed,
        overwrites=_WORKING,
        steps=frozenset({"n"}),
        real_only=True,
    )


@_declare_real(fftpack.rfft)
def rfft(z_bar: Array, x: Array, n: int | None = None, axis: int = -1, overwrite_x: bool = False) -> Array:
    return packed_adjoint(z_bar, np.shape(x), n, axis)


@_declare_real(fftpack.irfft)
def irfft(z_bar: Array, x: Array, n: int | None = None, axis: int = -1, overwrite_x: bool = False) -> Array:
    return unpacked_adjoint(z_bar, np.shape(x), n, axis)


def _transposed() -> Sequence[Sample]:
    points = [sample(numbers(n), (m,), n) for n in (4, 5) for m in (3, 4, 5, 6)]
    return [*points, sample(numbers(2, 4), (2, 3), 4, 1), sample(numbers(4, 2), (3, 2), 4, 0)]


@linear(packed_adjoint, wrt=["g"], samples=_transposed, steps=frozenset({"shape", "n"}), dtype="unknown")
def packed_adjoint_rule(z_bar: Array, g: Array, shape: Any, n: int | None = None, axis: int = -1) -> Array:
    return fftpack.rfft(z_bar, n, axis)


@linear(unpacked_adjoint, wrt=["g"], samples=_transposed, steps=frozenset({"shape", "n"}), dtype="unknown")
def unpacked_adjoint_rule(z_bar: Array, g: Array, shape: Any, n: int | None = None, axis: int = -1) -> Array:
    return fftpack.irfft(z_bar, np.shape(g)[axis], axis)


constant(without_factor, signature=lambda norm: None)

# --- cosine and sine transforms: without a norm those called inverse have no factor either


def _declare_cosine(transform: Transform) -> Callable[[Transform], Transform]:
    return linear(
        transform,
        wrt=["x"],
        samples=along(None, "ortho", "backward", "forward"),
        infer=infer.scipy.transformed,
        steps=frozenset({"n"}),
        overwrites=_WORKING,
    )


@_declare_cosine(fftpack.dct)
def dct(
    z_bar: Array,
    x: Array,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
) -> Array:
    return cosine_adjoint("dct", z_bar, np.shape(x), type, axis, norm)


@_declare_cosine(fftpack.idct)
def idct(
    z_bar: Array,
    x: Array,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
) -> Array:
    return cosine_adjoint("idct", z_bar, np.shape(x), type, axis, without_factor(norm))


@_declare_cosine(fftpack.dst)
def dst(
    z_bar: Array,
    x: Array,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
) -> Array:
    return cosine_adjoint("dst", z_bar, np.shape(x), type, axis, norm)


@_declare_cosine(fftpack.idst)
def idst(
    z_bar: Array,
    x: Array,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: Any = None,
    overwrite_x: bool = False,
) -> Array:
    return cosine_adjoint("idst", z_bar, np.shape(x), type, axis, without_factor(norm))


def _declare_cosines(transform: Transform) -> Callable[[Transform], Transform]:
    return linear(
        transform,
        wrt=["x"],
        samples=several(None, "ortho"),
        infer=infer.scipy.transformed,
        result="unknown",
        overwrites=_WORKING,
    )


@_declare_cosines(fftpack.dctn)
def dctn(
    z_bar: Array,
    x: Array,
    type: int = 2,
    shape: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
) -> Array:
    return cosines_adjoint("dct", z_bar, np.shape(x), type, shape, axes, norm)


@_declare_cosines(fftpack.idctn)
def idctn(
    z_bar: Array,
    x: Array,
    type: int = 2,
    shape: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
) -> Array:
    return cosines_adjoint("idct", z_bar, np.shape(x), type, shape, axes, without_factor(norm))


@_declare_cosines(fftpack.dstn)
def dstn(
    z_bar: Array,
    x: Array,
    type: int = 2,
    shape: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
) -> Array:
    return cosines_adjoint("dst", z_bar, np.shape(x), type, shape, axes, norm)


@_declare_cosines(fftpack.idstn)
def idstn(
    z_bar: Array,
    x: Array,
    type: int = 2,
    shape: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: bool = False,
) -> Array:
    return cosines_adjoint("idst", z_bar, np.shape(x), type, shape, axes, without_factor(norm))


# --- the others

_PERIODIC = "multiply the bins of np.fft.fft by its symbol, and take np.fft.ifft"

for _name in (
    "diff",
    "tilbert",
    "itilbert",
    "hilbert",
    "ihilbert",
    "cs_diff",
    "cc_diff",
    "sc_diff",
    "ss_diff",
    "shift",
):
    operation(getattr(fftpack, _name), remedy=_PERIODIC)
