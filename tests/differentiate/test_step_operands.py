"""What depends on an argument by steps alone carries no derivative: truth values and integers are written."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

MADE = {
    "full_like": "np.full_like(x, False, dtype=bool)",
    "full_like of integers": "np.full_like(x, 0, dtype=int)",
    "where": "np.where(x > 0.5, True, False)",
    "where of integers": "np.where(x > 0.5, 2, -1)",
    "select": "np.select([x > 2.0, x > 1.0], [2, 1], 0)",
}
WRITTEN = {
    "call": "np.greater_equal(np.abs(x), 1.5, where=~np.isnan(x), out=m)",
    "part": "m[1:] = x[1:] > 0.2",
    "mask": "m[x > 0.2] = 0",
    "loop": "for i in range(len(x)):\n    m[i] = x[i] > 1.0",
}


@pytest.mark.parametrize(("made", "written"), [*itertools.product(MADE, WRITTEN)])
def test_arrays_of_steps_are_written(made: str, written: str) -> None:
    write = WRITTEN[written].replace("\n", "\n            ")
    f = function_of(f"""
        def f(x):
            m = {MADE[made]}
            {write}
            return np.sum(np.where(m, np.sin(x), x * x) * np.copysign(x, m - 0.5))
    """)
    x = np.array([-0.4, 0.3, 1.2, 1.8])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7, atol=1e-9)
    dot: Any = np.cos(x)
    np.testing.assert_allclose(jvp(f, (x,), (dot,))[1], expected @ dot, rtol=1e-7)
