"""``stop_gradient``: the identity that every derivative takes for a constant."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def stop_gradient(x: T, name: str | None = None) -> T:
    """Return ``x`` itself; derivatives take it as a constant.

    What feeds only ``x`` needs no derivative rule and no source.  It stops the value, not the
    variable: other names of the same array stay active.

    Args:
        x: Any object, containers included.
        name: Shown in the comments of emitted source.

    Example:
        >>> from s2sad import grad
        >>> stop_gradient([1, 2])
        [1, 2]
    """
    return x
