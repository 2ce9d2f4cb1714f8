"""Smooth surfaces of ``scipy.interpolate`` through values on a grid that carry derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.models import model
from s2sad.runtime.scipy.surfaces import basis_at
from s2sad.runtime.undefined import require_rule


@model(interpolate.RectBivariateSpline)
class Surface:
    """A surface through the values ``z``, which it is linear in: a spline along each axis."""

    def __init__(self, x: Any, y: Any, z: Any, bbox: Any = None, kx: Any = 3, ky: Any = 3, s: Any = 0) -> None:
        message = "A surface that does not go through its values, or reaches beyond them, has no rule"
        require_rule(bbox is None and s == 0, message, "Leave out s and bbox.")
        self.across = np.array(x, float)
        self.up = np.array(y, float)
        self.heights = np.array(z)
        self.kx = kx
        self.ky = ky

    def __call__(self, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
        if not grid:
            return self.ev(x, y, dx, dy)
        first, second = np.atleast_1d(x), np.atleast_1d(y)
        return (
            basis_at(self.across, self.kx, first, dx)
            @ self.heights
            @ np.transpose(basis_at(self.up, self.ky, second, dy))
        )

    def ev(self, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
        first = basis_at(self.across, self.kx, np.asarray(xi), dx) @ self.heights
        return np.sum(first * basis_at(self.up, self.ky, np.asarray(yi), dy), axis=-1)
