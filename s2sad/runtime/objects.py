"""Methods of arrays that NumPy has no function for."""

from __future__ import annotations

from typing import Any


def item(a: Any) -> Any:
    """The only element of ``a`` as a Python number: ``a.item()``."""
    return a.item()
