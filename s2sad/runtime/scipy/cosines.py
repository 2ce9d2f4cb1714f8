"""Transposes of the cosine and sine transforms of ``scipy.fft``.

With ``norm="ortho"`` the matrix of a transform is orthogonal, so that its transpose is its inverse.  Without, types 2
and 3 are each other's transposes, and types 1 and 4 their own, up to a factor for the elements that stand at the edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft

from s2sad.runtime.fourier import resized

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_NORMS = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def cosine_adjoint(
    name: str, g: Any, shape: tuple[int, ...], type: int = 2, axis: int = -1, norm: str | None = None
) -> Any:
    """Adjoint of ``x``, of ``shape``, in ``fft.name(x, type, n, axis, norm)``: dct, idct, dst or idst."""
    if name[0] == "i":
        # The inverse is the transform of the other type with the other factor.
        return cosine_adjoint(name[1:], g, shape, _INVERSE[type], axis, _NORMS[norm])
    transform: Callable[..., Any] = getattr(fft, name)
    if norm == "ortho":
        x_bar = getattr(fft, f"i{name}")(g, type, axis=axis, norm=norm)
        return resized(x_bar, shape[axis], axis)
    edges: list[int] = []
    if name == "dct":
        edges = {1: [0, -1], 2: [0], 3: [0], 4: []}[type]
    elif type in (2, 3):
        edges = [-1]
    factor = np.ones(g.shape[axis], g.real.dtype)
    factor[edges] = 2
    factor = np.expand_dims(factor, tuple(range(1, g.ndim - axis % g.ndim)))
    if type == 1:
        x_bar = transform(g * factor, 1, axis=axis, norm=norm) / factor
    elif type == 2:
        x_bar = transform(g * factor, 3, axis=axis, norm=norm)
    else:
        x_bar = transform(g, _INVERSE[type], axis=axis, norm=norm) / factor
    return resized(x_bar, shape[axis], axis)


def without_factor(norm: str | None) -> str | None:
    """The norm of an inverse of ``scipy.fft`` that has the factor of a transform with this norm."""
    return _NORMS[norm]


def cosine(name: str, x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """``fft.name(x, type, n, axis, norm)``: dct, idct, dst or idst."""
    return getattr(fft, name)(x, type, n, axis, norm)


# --- along several axes: they are the transforms along one of them after the other


def cosines(name: str, x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """``fft.dctn(x, type, s, axes, norm)`` for the name "dct", and so on."""
    return getattr(fft, f"{name}n")(x, type, s, axes, norm)


def cosines_adjoint(
    name: str, g: Any, shape: tuple[int, ...], type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None
) -> Any:
    """Adjoint of ``x``, of ``shape``, given that of `cosines`."""
    if axes is None:
        axes = range(-len(shape if s is None else np.atleast_1d(s)), 0)
    for axis in np.atleast_1d(axes):
        g = cosine_adjoint(name, g, shape, type, int(axis), norm)
    return g
