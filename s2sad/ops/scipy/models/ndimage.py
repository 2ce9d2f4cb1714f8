"""Filters of ``scipy.ndimage`` that are made of others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from s2sad.ops.models import model


@model(ndimage.morphological_gradient)
def morphological_gradient(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, *, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, axes: Any = None,
) -> Any:  # fmt: skip
    most = ndimage.grey_dilation(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return most - ndimage.grey_erosion(input, size, footprint, structure, None, mode, cval, origin, axes=axes)


@model(ndimage.morphological_laplace)
def morphological_laplace(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, *, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, axes: Any = None,
) -> Any:  # fmt: skip
    most = ndimage.grey_dilation(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    least = ndimage.grey_erosion(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return most + least - 2 * np.asarray(input)


@model(ndimage.white_tophat)
def white_tophat(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, *, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, axes: Any = None,
) -> Any:  # fmt: skip
    least = ndimage.grey_erosion(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    opened = ndimage.grey_dilation(least, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return np.asarray(input) - opened


@model(ndimage.black_tophat)
def black_tophat(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, *, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, axes: Any = None,
) -> Any:  # fmt: skip
    most = ndimage.grey_dilation(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    closed = ndimage.grey_erosion(most, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return closed - np.asarray(input)
