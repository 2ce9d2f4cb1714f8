"""A module with an array that the functions of another one write."""

from __future__ import annotations

from typing import Any

import numpy as np

BUFFER = np.array([0.2, 0.4, -0.6])


def weighed(x: Any) -> Any:
    """Read the array, and write it."""
    BUFFER[0] *= x[2]
    return np.sum(np.cos(BUFFER) * x)
