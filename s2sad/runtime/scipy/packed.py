"""Transposes of the real transforms of ``scipy.fftpack``, which give real and imaginary parts beside each other.

Of real numbers the bins are ``[y0, Re y1, Im y1, Re y2, ...]``; the last of an even number is real.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.runtime.fourier import irfft_adjoint, resized, rfft_adjoint


def _bins(g: Any, axis: int) -> Any:
    """The conjugates of the complex bins of which the parts are given."""
    g = np.moveaxis(np.real(g), axis, -1)
    n = g.shape[-1]
    bins = np.zeros((*g.shape[:-1], n // 2 + 1), np.result_type(g, np.complex64))
    bins[..., 0] = g[..., 0]
    bins[..., 1:] = g[..., 1::2]
    bins[..., 1 : (n + 1) // 2] -= 1j * g[..., 2::2]
    return np.moveaxis(bins, -1, axis)


def _parts(bins: Any, n: int, axis: int) -> Any:
    """The parts of the conjugates of complex bins."""
    bins = np.moveaxis(bins, axis, -1)
    g = np.zeros((*bins.shape[:-1], n), bins.real.dtype)
    g[..., 0] = bins[..., 0].real
    g[..., 1::2] = bins[..., 1:].real
    g[..., 2::2] = -bins[..., 1 : (n + 1) // 2].imag
    return np.moveaxis(g, -1, axis)


def packed_adjoint(g: Any, shape: tuple[int, ...], n: int | None = None, axis: int = -1) -> Any:
    """Adjoint of ``x``, of ``shape``, given ``g``, that of ``fftpack.rfft(x, n, axis)``."""
    return rfft_adjoint(_bins(g, axis), shape, n, axis)


def unpacked_adjoint(g: Any, shape: tuple[int, ...], n: int | None = None, axis: int = -1) -> Any:
    """Adjoint of ``x``, of ``shape``, given ``g``, that of ``fftpack.irfft(x, n, axis)``."""
    n = g.shape[axis]
    half = (*shape[: axis % len(shape)], n // 2 + 1, *shape[axis % len(shape) + 1 :])
    return resized(_parts(irfft_adjoint(g, half, axis), n, axis), shape[axis], axis)
