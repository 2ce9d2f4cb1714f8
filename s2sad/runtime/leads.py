"""What objects of the outside world lead to: iterators, generators and weak references give out what others have, too.

They are not copied, so that what they give out is the original of what is.
"""

from __future__ import annotations

import contextlib
import gc
import io
import types
import weakref
from typing import Any

import numpy as np

#: What refers to far more than it was given.
_WIDE = (type, types.ModuleType, types.FunctionType)


def referents(x: Any) -> list[Any]:
    """What an object of the outside world holds."""
    if isinstance(x, types.FunctionType):
        cells = [cell.cell_contents for cell in x.__closure__ or () if cell != types.CellType()]
        return [*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    found = gc.get_referents(x)
    return [*found, *(item for held in found if type(held) in (tuple, dict) for item in gc.get_referents(held))]


class HoldingRef(weakref.ref[Any]):
    """A weak reference to the copy of an object, which nothing else may hold: it keeps it alive.

    Example:
        >>> HoldingRef({1.0})()
        {1.0}
    """

    __slots__ = ("held",)

    def __init__(self, x: Any) -> None:
        """Take what it refers to."""
        self.held = x


def weakly(x: Any) -> list[Any] | None:
    """What a plain weak reference leads to; None of any other object, or if that is gone."""
    found = x() if type(x) in (weakref.ref, HoldingRef) else None
    return None if found is None else [found]


def led_to(x: Any) -> list[Any] | None:
    """What an iterator, generator or weak reference leads to; None of any other object.

    Example:
        >>> row = [1.0]
        >>> led_to(iter(row)) == [row], led_to(row)
        (True, None)
    """
    cls = type(x)
    if issubclass(cls, weakref.ref):
        found = x()
        return [] if found is None else [found]
    if cls in weakref.ProxyTypes:
        # A method of a proxy is one of that for which it stands, if that is still there.
        with contextlib.suppress(ReferenceError, AttributeError):
            return [x.__str__.__self__]
        return []
    if cls is types.GeneratorType:
        frame = x.gi_frame
        return (
            [] if frame is None else [*frame.f_locals.values(), *([] if x.gi_yieldfrom is None else [x.gi_yieldfrom])]
        )
    if cls is np.nditer:
        return list(x.operands)
    if cls is np.broadcast:
        return list(x.iters)
    if hasattr(cls, "__next__") and not issubclass(cls, io.IOBase):
        return [held for held in gc.get_referents(x) if not isinstance(held, _WIDE[:2])]
    return None
