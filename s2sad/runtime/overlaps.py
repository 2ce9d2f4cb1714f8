"""Which arrays and buffers share memory."""

from __future__ import annotations

from typing import Any

import numpy as np

#: How much work an exact answer may be before two arrays are taken to share memory.
_WORK = 1000


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays, or buffers, share memory, or may where that is hard to say."""
    a, b = as_array(a), as_array(b)
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def as_array(x: Any) -> np.ndarray[Any, Any]:
    """The memory of an array or buffer as an array."""
    if isinstance(x, np.ndarray):
        return x
    if isinstance(x, memoryview):
        return np.asarray(x)
    return np.frombuffer(x, np.uint8) if len(x) else np.empty(0)
