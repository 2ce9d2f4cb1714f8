"""Complex numbers between real ones: adjoints of real values are real, those of complex values are complex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient


def _stacked(z: Any) -> Any:
    return np.sum(np.abs(np.vstack([z, 2 * z]) * np.array([1j, 2.0])) ** 2)


def _in_columns(z: Any) -> Any:
    return np.abs(np.vdot(np.column_stack([z, z * 1j]), np.column_stack([z, z]))) ** 2


@pytest.mark.parametrize("f", [_stacked, _in_columns])
def test_a_list_of_complex_arrays_is_not_real(f: Callable[..., Any]) -> None:
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
    np.testing.assert_allclose(grad(f)(z), numeric_gradient(f, (z,), 0), rtol=1e-6)
