"""Methods of arrays that NumPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np


def item(a: Any, *args: Any) -> Any:
    """One element of ``a`` as a Python number, ``a.item(*args)``: the only one, or by its position."""
    return a.item(*args)


def unitem(g: Any, a: Any, args: tuple[Any, ...]) -> Any:
    """Transpose of ``a.item(*args)``: ``g`` in zeros like ``a``.

    Example:
        >>> unitem(2.0, np.ones((2, 2)), (-1,))
        array([[0., 0.],
               [0., 2.]])
    """
    a_bar = np.zeros_like(a)
    if len(args) == 1 and not isinstance(args[0], tuple):
        a_bar.flat[args[0]] = g
    else:
        a_bar[args[0] if len(args) == 1 else args or ...] = g
    return a_bar
