"""Functions of SciPy whose models have no derivative for some arguments, called by functions that are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, linalg, signal, stats

from s2sad import S2SADError, grad, jvp

Z = np.abs(np.cos(np.arange(20.0)).reshape(4, 5)) + 0.3


def fitted(z: Any) -> Any:
    return np.sum(stats.boxcox(z[0])[0])


def smoothed(z: Any) -> Any:
    return interpolate.RectBivariateSpline(np.arange(4.0), np.arange(5.0), z, s=1.0).ev(1.3, 1.0)


def of_rows(z: Any) -> Any:
    return np.sum(linalg.convolution_matrix(z, 2) ** 2)


def of_all_rows(z: Any) -> Any:
    return np.sum(linalg.rq(z)[0] ** 2)


def of_an_analog_filter(z: Any) -> Any:
    return np.sum(signal.butter(2, z[0, 0], analog=True, output="sos") ** 2)


@pytest.mark.parametrize("inner", [fitted, smoothed, of_rows, of_all_rows, of_an_analog_filter])
def test_it_is_an_error_and_no_constant(inner: Callable[[Any], Any]) -> None:
    def f(z: Any) -> Any:
        return inner(z) * 2.0

    for function in (inner, f):
        with pytest.raises(S2SADError, match="no rule"):
            grad(function)(Z)
        with pytest.raises(S2SADError, match="no rule"):
            jvp(function, (Z,), (Z,))
