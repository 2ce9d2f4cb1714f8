"""Lists that are kept as they are for the reverse part, of which arrays are made whose layout counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad import grad
from tests.oracle import numeric_gradient


def stacked_in_turns(x: Any, s: Any) -> Any:
    for r in s:
        rows = []
        for _ in range(3):
            x[1:] = np.arctan(x[1:] * r)
            rows.append(x.copy())
        path = np.stack(rows)
        flat = np.empty(16)
        flat[:12] = path.flatten()
        x = flat[12:]
        path[...] *= r
        flat[12:] = path[1] * r
    return np.sum(x * x)


def test_a_list_is_kept_as_a_list() -> None:
    x, s = np.array([0.7, 1.2, -0.4, 0.9]), np.array([0.5, 0.7])
    expected = numeric_gradient(lambda x, s: stacked_in_turns(x.copy(), s), (x, s), 1)
    np.testing.assert_allclose(grad(stacked_in_turns, argnums=1)(x, s), expected, rtol=1e-7)
