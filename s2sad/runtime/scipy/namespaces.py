"""What functions of arrays of several libraries do with NumPy's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def promoted(x: Any, operands: Sequence[Any], floating: bool) -> Any:
    """Return an array of the dtype that all operands are promoted to; of floating-point numbers, if that is asked for.

    >>> promoted(1, (1, np.float32(2.0)), False)
    array(1., dtype=float32)
    """
    given = [o if np.isscalar(o) else np.asarray(o) for o in operands if o is not None]
    dtype = np.result_type(*given)
    if floating and dtype.kind in "biu":
        dtype = np.result_type(dtype, np.float64)
    return np.asarray(x, dtype)
