"""Rules of the cosine and sine transforms of ``scipy.fft`` and ``scipy.fftpack``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import fft

from s2sad.ops import infer
from s2sad.ops.points import numbers, singles
from s2sad.ops.spec import Sample, linear, sample
from s2sad.runtime.scipy.cosines import cosine, cosine_adjoint, cosines, cosines_adjoint

Array = Any

# --- along one axis


def along(*norms: str | None) -> Callable[[], Sequence[Sample]]:
    """Every type, cut off and padded, along any axis, in each normalisation."""

    def samples() -> Sequence[Sample]:
        points = [sample(numbers(5), t, norm=norm) for t in (1, 2, 3, 4) for norm in norms]
        points += [sample(numbers(6), t, n, -1, norms[-1]) for t in (1, 2, 3, 4) for n in (4, 8)]
        points += [sample(numbers(3, 4), t, axis=0) for t in (1, 2, 3, 4)]
        return [*points, sample(numbers(4)), sample(singles(5)), sample(numbers(2, 5, 3), 2, 4, 1, "ortho")]

    return samples


def _declare(name: str) -> None:
    @linear(
        getattr(fft, name),
        wrt=["x"],
        samples=along(None, "ortho", "forward", "backward"),
        infer=infer.scipy.transformed,
        steps=frozenset({"n"}),
        overwrites=("overwrite_x", False),
    )
    def transform(
        z_bar: Array,
        x: Array,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: int | None = None,
    ) -> Array:
        return cosine_adjoint(name, z_bar, np.shape(x), type, axis, norm)


# --- along several axes


def several(*norms: str | None) -> Callable[[], Sequence[Sample]]:
    """Transforms along all axes and some."""

    def samples() -> Sequence[Sample]:
        t = numbers(2, 3, 4)
        points = [sample(numbers(3, 4), kind, norm=norm) for kind in (1, 2, 3, 4) for norm in norms]
        points += [sample(t, 2, s, axes) for s in (None, (3, 5)) for axes in ((0, 2), [-1, 1])]
        return [*points, sample(t), sample(t, 3, (2, 2, 5), None, "ortho"), sample(t, axes=1), sample(singles(2, 3))]

    return samples


def _declare_several(name: str) -> None:
    @linear(
        getattr(fft, f"{name}n"),
        wrt=["x"],
        samples=several(None, "ortho", "forward"),
        infer=infer.scipy.transformed,
        result="unknown",
        overwrites=("overwrite_x", False),
    )
    def transform(
        z_bar: Array,
        x: Array,
        type: int = 2,
        s: Any = None,
        axes: Any = None,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: int | None = None,
    ) -> Array:
        return cosines_adjoint(name, z_bar, np.shape(x), type, s, axes, norm)


for _name in ("dct", "idct", "dst", "idst"):
    _declare(_name)
    _declare_several(_name)

# --- the transposes


def _transposed() -> Sequence[Sample]:
    names = ("dct", "idct", "dst", "idst")
    points = [sample(name, numbers(5), (6,), t) for name in names for t in (1, 2, 3, 4)]
    return [*points, sample("dct", numbers(2, 4), (2, 3), 2, 1, "ortho"), sample("dst", numbers(4, 2), (6, 2), 1, 0)]


@linear(cosine_adjoint, wrt=["g"], samples=_transposed, steps=frozenset({"shape"}), dtype="unknown")
def cosine_adjoint_rule(
    z_bar: Array, name: str, g: Array, shape: Any, type: int = 2, axis: int = -1, norm: Any = None
) -> Array:
    return cosine(name, z_bar, type, np.shape(g)[axis], axis, norm)


@linear(
    cosine,
    wrt=["x"],
    samples=lambda: [sample("dct", numbers(5)), sample("idst", numbers(5, 2), 1, 4, 0, "ortho")],
    steps=frozenset({"n"}),
    dtype="unknown",
)
def cosine_rule(
    z_bar: Array, name: str, x: Array, type: int = 2, n: int | None = None, axis: int = -1, norm: Any = None
) -> Array:
    return cosine_adjoint(name, z_bar, np.shape(x), type, axis, norm)


def _transposed_several() -> Sequence[Sample]:
    return [sample("dct", numbers(2, 3), (2, 4), 2, (2, 3)), sample("idst", numbers(3, 4), (3, 5), 3, (4,), (1,))]


@linear(cosines_adjoint, wrt=["g"], samples=_transposed_several, steps=frozenset({"shape"}), dtype="unknown")
def cosines_adjoint_rule(
    z_bar: Array, name: str, g: Array, shape: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None
) -> Array:
    return cosines(name, z_bar, type, s, axes, norm)


@linear(
    cosines,
    wrt=["x"],
    samples=lambda: [sample("dct", numbers(2, 3)), sample("idst", numbers(3, 4), 3, (5,), (1,), "ortho")],
    dtype="unknown",
)
def cosines_rule(
    z_bar: Array, name: str, x: Array, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None
) -> Array:
    return cosines_adjoint(name, z_bar, np.shape(x), type, s, axes, norm)
