"""The calls at which operations are tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sample:
    """One call ``function(*args, **kwargs)`` at which an operation is tested."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


def sample(*args: Any, **kwargs: Any) -> Sample:
    """Build a :class:`Sample` from the arguments of a call."""
    return Sample(args, kwargs)


Samples = Callable[[], Sequence[Sample]]
