"""Imports that may fail, or of which it is not known what they find."""

from __future__ import annotations

import importlib
from typing import Any


def imported(module: str, name: str = "") -> Any:
    """What ``import module`` or ``from module import name`` finds.

    Example:
        >>> imported("math", "pi")
        3.141592653589793
    """
    if not name:
        return importlib.import_module(module)
    # Python's own statement looks for a module too, and says what is wrong.
    space: dict[str, Any] = {}
    exec(f"from {module} import {name}", space)
    return space[name]
