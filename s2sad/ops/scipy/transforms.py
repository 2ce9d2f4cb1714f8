"""Rules of ``scipy.fft``: those of `numpy.fft` for the transforms along one axis; cosine and sine transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import fft

from s2sad.ops import fourier, infer
from s2sad.ops.infer.common import Infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, sample
from s2sad.runtime.scipy.cosines import cosine_adjoint

Array = Any
Draw = Callable[..., Any]


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


_TRANSFORMS: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Draw, ...], Infer, bool]] = [
    (fft.fft, fourier.fft, (numbers, complexes), infer.fourier.whole, True),
    (fft.ifft, fourier.ifft, (numbers, complexes), infer.fourier.whole, True),
    (fft.rfft, fourier.rfft, (numbers, singles), infer.fourier.half, False),
    (fft.ihfft, fourier.ihfft, (numbers,), infer.fourier.half, False),
    (fft.irfft, fourier.irfft, (numbers, complexes), infer.fourier.turned_back, True),
    (fft.hfft, fourier.hfft, (numbers, complexes), infer.fourier.turned_back, True),
]

for _function, _body, _draws, _infer, _complex in _TRANSFORMS:
    linear(
        _function,
        wrt=["a"],
        samples=_forms(*_draws),
        infer=_infer,
        complex_adjoints=_complex,
        steps=frozenset({"n"}),
    )(_body)

# --- cosine and sine transforms


def _cosines() -> Sequence[Sample]:
    norms = (None, "ortho", "forward")
    points = [sample(numbers(5), t, norm=norm) for t in (1, 2, 3, 4) for norm in norms]
    points += [sample(numbers(6), t, n, -1, "backward") for t in (1, 2, 3, 4) for n in (4, 8)]
    points += [sample(numbers(3, 4), t, axis=0) for t in (1, 2, 3, 4)]
    return [*points, sample(numbers(4)), sample(singles(5)), sample(numbers(2, 5, 3), 2, 4, 1, "ortho")]


@linear(fft.dct, wrt=["x"], samples=_cosines, infer=infer.scipy.transformed, steps=frozenset({"n"}))
def dct(z_bar: Array, x: Array, type: int = 2, n: int | None = None, axis: int = -1, norm: Any = None) -> Array:
    return cosine_adjoint("dct", z_bar, np.shape(x), type, axis, norm)


@linear(fft.idct, wrt=["x"], samples=_cosines, infer=infer.scipy.transformed, steps=frozenset({"n"}))
def idct(z_bar: Array, x: Array, type: int = 2, n: int | None = None, axis: int = -1, norm: Any = None) -> Array:
    return cosine_adjoint("idct", z_bar, np.shape(x), type, axis, norm)


@linear(fft.dst, wrt=["x"], samples=_cosines, infer=infer.scipy.transformed, steps=frozenset({"n"}))
def dst(z_bar: Array, x: Array, type: int = 2, n: int | None = None, axis: int = -1, norm: Any = None) -> Array:
    return cosine_adjoint("dst", z_bar, np.shape(x), type, axis, norm)


@linear(fft.idst, wrt=["x"], samples=_cosines, infer=infer.scipy.transformed, steps=frozenset({"n"}))
def idst(z_bar: Array, x: Array, type: int = 2, n: int | None = None, axis: int = -1, norm: Any = None) -> Array:
    return cosine_adjoint("idst", z_bar, np.shape(x), type, axis, norm)
