"""Smooth surfaces of SciPy's through values on a grid that carry derivatives, by the values and by the points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate

from s2sad import S2SADError, grad, hvp
from tests.ops.test_modelled_functions import as_scipy_has_it, total
from tests.oracle import richardson_jvp

ACROSS, UP = np.arange(4.0), np.array([0.0, 0.5, 1.4, 2.0, 3.0])
Z = np.cos(np.arange(20.0)).reshape(4, 5)


AT: dict[str, Callable[[Any], Any]] = {
    "a point": lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z).ev(1.3, z[0, 0] + 1),
    "a grid": lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z)([0.3, 2.2], np.array([0.3, 1.1, 2.9])),
    "points": lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z).ev(z[0] + 1, z[1] + 1.1, dx=1),
    "degrees": lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z, kx=2, ky=1)(z[0] + 1, 0.7, grid=False),
    "a slope on a grid": lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z)(1.2, 0.7, 0, 1),
    "outside": lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z).ev(z[0, :2] * [-1.0, 3.5], [1.0, 2.0]),
    "a slope outside": lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z).ev(-z[0, 0], 1.0, dx=1),
}


@pytest.mark.parametrize("name", AT)
def test_values_and_both_modes(name: str) -> None:
    as_scipy_has_it(AT[name], Z)


def squares(z: Any) -> Any:
    s = interpolate.RectBivariateSpline(ACROSS, UP, z)
    return np.sum(s.ev(z[0] + 1, z[1] + 1.1, dx=1) ** 2) + s.ev(1.3, z[0, 0] + 1) * z[1, 1]


def on_a_grid(z: Any) -> Any:
    return np.sum(interpolate.RectBivariateSpline(ACROSS, UP, z, kx=2)(z[0, :2] * [-1.0, 3.5], [0.3, 1.1]) ** 2)


@pytest.mark.parametrize("f", [squares, on_a_grid])
def test_second_derivatives(f: Callable[[Any], Any]) -> None:
    way = np.sin(np.arange(20.0)).reshape(4, 5)
    np.testing.assert_allclose(hvp(f, (Z,), (way,)), richardson_jvp(grad(f), [Z], [way]), rtol=1e-5, atol=1e-7)


def test_what_has_no_derivative_is_said() -> None:
    for f in (
        lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z, s=1.0).ev(1.3, 1.0),
        lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z, [0.0, 3.0, 0.0, 3.0]).ev(1.3, 1.0),
        lambda z: interpolate.RectBivariateSpline(ACROSS * z[0, 0], UP, Z).ev(1.3, 1.0),
        lambda z: interpolate.RectBivariateSpline(ACROSS, UP, z).integral(0.0, 1.0, 0.0, 1.0),
    ):
        with pytest.raises(S2SADError):
            grad(total(f))(Z)
