"""Integrals of Bessel functions, scaled Airy functions, R_G and limits of distances: second derivatives, and at 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from s2sad import grad, hvp
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.7, 1.3, 0.4])
WAY = np.array([0.3, -0.5, 0.8])

TWICE: dict[str, Callable[..., Any]] = {
    "airye": lambda x: np.sum(special.airye(x)[0] * x + special.airye(x)[3]),
    "airye of negative numbers": lambda x: np.sum(special.airye(x - 1)[2]),
    "elliprg": lambda x: special.elliprg(x[0], x[1], x[2]),
    "itj0y0": lambda x: np.sum(special.itj0y0(x)[0] * special.itj0y0(x)[1]),
    "iti0k0": lambda x: np.sum(special.iti0k0(x)[0] * special.iti0k0(x)[1]),
    "it2j0y0": lambda x: np.sum(special.it2j0y0(x)[0] + special.it2j0y0(x)[1]),
    "it2i0k0": lambda x: np.sum(special.it2i0k0(x)[1]),
    "struve": lambda x: np.sum(special.itstruve0(x) + special.itmodstruve0(x) * special.it2struve0(x)),
    "kolmogorov": lambda x: np.sum(special.kolmogorov(x)),
    "kolmogi": lambda x: np.sum(special.kolmogi(x / 2)),
    "nrdtrimn": lambda x: special.nrdtrimn(x[2], x[0], x[1]),
    "nrdtrisd": lambda x: special.nrdtrisd(x[2], x[0], x[1]),
}


@pytest.mark.parametrize("name", TWICE)
def test_both_derivatives(name: str) -> None:
    f = TWICE[name]
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, [X]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), richardson_jvp(grad(f), [X], [WAY]), rtol=1e-5, atol=1e-7)


def test_integrals_that_are_smooth_at_zero() -> None:
    zero = np.zeros(1)
    with np.errstate(all="ignore"):
        for f, slope in ((special.itj0y0, 1), (special.iti0k0, 1), (special.it2j0y0, 0), (special.it2i0k0, 0)):
            np.testing.assert_allclose(grad(lambda x, f=f: np.sum(f(x)[0]))(zero), slope)
        at_zero = grad(lambda x: special.elliprg(x, 1.3, 0.7))(0.0)
    assert at_zero == pytest.approx(0.25 * special.elliprf(0.0, 1.3, 0.7))


def test_kolmogorovs_limit_is_flat_near_zero() -> None:
    near = np.array([0.0, 0.05, 0.11, 0.2])
    np.testing.assert_allclose(grad(lambda x: np.sum(special.kolmogorov(x)))(near), 0.0, atol=1e-9)
