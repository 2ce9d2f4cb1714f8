"""Derivatives of functions of complex numbers on their branch cuts: those of the side that the sign of zero tells."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad

STEP = 1e-6
WEIGHT = 0.3 - 0.8j
ZEROS = (0.0, -0.0)
#: On the real axis and beside it, and on the imaginary one.
ACROSS = [complex(x, y) for x in (2.0, -2.0, 0.3, -0.3) for y in (*ZEROS, 0.5, -0.5)]
UPWARDS = [complex(x, y) for y in (2.0, -2.0, 0.3, -0.3) for x in (*ZEROS, 0.5, -0.5)]
FUNCTIONS = [
    *((f, ACROSS) for f in (np.arcsin, np.arccos, np.arctanh, np.arccosh, np.sqrt, np.log, np.log2, np.log1p)),
    *((f, ACROSS) for f in (cmath.asin, cmath.acos, cmath.atanh, cmath.acosh, cmath.sqrt, cmath.log, cmath.log10)),
    *((f, UPWARDS) for f in (np.arcsinh, np.arctan, cmath.asinh, cmath.atan)),
]


@pytest.mark.parametrize(("f", "points"), FUNCTIONS, ids=lambda part: getattr(part, "__name__", ""))
def test_along_a_cut(f: Callable[..., Any], points: list[complex]) -> None:
    def loss(z: Any) -> Any:
        return (f(z) * WEIGHT).real

    for z in points:
        along_real = points is ACROSS
        steps = [complex(z.real + s, z.imag) if along_real else complex(z.real, z.imag + s) for s in (STEP, -STEP)]
        wanted = (loss(steps[0]) - loss(steps[1])) / (2 * STEP)
        found = grad(loss)(z)
        np.testing.assert_allclose(found.real if along_real else -found.imag, wanted, rtol=1e-7, atol=1e-8)


def test_a_real_number_computed_in_a_complex_dtype() -> None:
    def loss(x: Any) -> Any:
        return np.sum(np.arcsin(x, dtype=complex).imag)

    np.testing.assert_allclose(grad(loss)(np.array([2.0, 3.0])), 1 / np.sqrt([3.0, 8.0]), rtol=1e-12)
