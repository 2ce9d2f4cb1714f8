"""Options that stand by position where the rule of an operation takes fewer or others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from s2sad import grad, jvp
from tests.oracle import numeric_gradient


def written_result(x: Any) -> Any:
    y, out = x * x, np.zeros(8)
    np.concatenate((x, y), 0, out)
    return np.sum(out * np.arange(8.0))


def about_a_center(x: Any) -> Any:
    return stats.moment(x, 3, axis=0, center=0.3)


def of_what_is_usual(x: Any) -> Any:
    return stats.sem(x, 0, 1, "propagate") + stats.skew(x, 0, True, "propagate")


@pytest.mark.parametrize("f", [written_result, about_a_center, of_what_is_usual], ids=lambda f: f.__name__)
def test_options_by_position(f: Callable[..., Any]) -> None:
    x, v = np.array([0.3, -1.2, 2.5, 0.7]), np.array([1.0, 0.5, -0.2, 0.8])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], expected @ v, rtol=1e-7)
