"""Under the slopes of a trapezoid its density depends on the place, which it does not under the flat part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.transform.remaining import check_both_modes

X, WAY = np.array([1.0, 1.1, 0.9, 1.2, 1.3]), np.array([0.3, -0.2, 0.5, 0.1, -0.4])


@pytest.mark.parametrize("name", ["pdf", "logpdf", "cdf", "logcdf", "sf"])
def test_derivatives(name: str) -> None:
    method = getattr(stats.trapezoid, name)

    def f(v: Any) -> Any:
        return np.sum(method(v[0] * np.array([0.1, 0.15, 1.2]), v[1] * 0.3, v[2] * 0.8, v[3] * 0.01, v[4]))

    check_both_modes(f, X, WAY)
