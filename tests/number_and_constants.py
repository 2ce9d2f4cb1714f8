"""Checks of programs that are functions of a number, which is differentiated, and of constants.

What is computed is what Python computes, and the derivative is that by differences; or the program is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

MODES = ["reverse", "forward"]
X = 0.5
RECORD = np.dtype([("u", float), ("v", float)])


def constants() -> tuple[float, np.ndarray, np.ndarray, Any]:
    return 0.8, np.array([0.8, 0.4, 0.1]), np.array([(1.0, 2.0), (3.0, 4.0)], RECORD), RECORD


def check_as_python(f: Callable[..., Any], mode: str) -> None:
    value = f(X, *constants())
    given = constants()
    if mode == "reverse":
        got, slope = value_and_grad(f)(X, *given)
    else:
        got, slope = jvp(f, (X, *given), (1.0, None, None, None, None))
    assert got == value
    np.testing.assert_array_equal(given[1], constants()[1])
    assert given[2].tobytes() == constants()[2].tobytes()
    np.testing.assert_allclose(slope, numeric_gradient(lambda x: f(x, *constants()), [X]), rtol=1e-7)


def check_refused_at_its_place(f: Callable[..., Any], mode: str) -> None:
    def derivative() -> Any:
        if mode == "reverse":
            return value_and_grad(f)(X, *constants())
        return jvp(f, (X, *constants()), (1.0, None, None, None, None))

    with pytest.raises(UnsupportedError) as raised:
        derivative()
    assert all(violation.place is not None for violation in raised.value.violations)
