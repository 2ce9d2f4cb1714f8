"""Copies, shallow and deep: new memory and new slots, whose adjoints go to those of the original."""

from __future__ import annotations

import collections
import copy
from typing import Any

import numpy as np

from s2sad.runtime.copies import Reach
from tests.shadows import objects
from tests.shadows.containers import method, special
from tests.shadows.library import handles
from tests.shadows.refs import NotSupported, Ref, is_number, isa
from tests.shadows.run import Run, holder


@handles(copy.copy)
def _copy(run: Run, x: Ref) -> Ref:
    if special(run, x.object, "__copy__") is not None:
        return method(run, x, "__copy__")
    if isa(x.object, np.ndarray):
        return objects.called(run, np.ndarray.copy, x)
    if any(special(run, x.object, n) is not None for n in ("__reduce__", "__reduce_ex__", "__getstate__")):
        raise NotSupported("copy.copy of a class with methods of its own for it")
    made = copy.copy(x.object)
    if made is not x.object:
        _same_slots(run, x.object, made, {})
    return Ref(made, x.mark)


def _same_slots(run: Run, old: Any, new: Any, memo: dict[int, Any]) -> None:
    """The slots of a copy hold what those of the original hold."""
    for a, b in ((old, new), (holder(old), holder(new))):
        known = run.slots.known.get(id(a))
        if known is None or a is b:
            continue
        for key in list(known.marks):
            item = _held(a, key)
            run.slots.store(b, key, run.slots.load(a, key, item))


def _held(x: Any, key: Any) -> Any:
    if isa(x, (list, tuple, dict, collections.deque)):
        return x[key]
    return key if isa(x, (set, frozenset)) else getattr(x, key)


@handles(copy.deepcopy)
def _deepcopy(run: Run, x: Ref, memo: Any = None) -> Ref:
    if is_number(x.object):
        return x
    for part in Reach([x.object]).objects.values():
        if special(run, part, "__deepcopy__") is not None or special(run, part, "__reduce_ex__") is not None:
            raise NotSupported("copy.deepcopy of a class with methods of its own for it")
    known: dict[int, Any] = {}
    made = copy.deepcopy(x.object, known)
    for part in Reach([x.object]).objects.values():
        new = known.get(id(part))
        if new is None or new is part:
            continue
        if isa(part, np.ndarray):
            if run.memory.extent(part).is_active and part.dtype.kind in "fc":
                _copied(run, part, new)
        else:
            _same_slots(run, part, new, known)
    return Ref(made, x.mark)


def _copied(run: Run, old: Any, new: Any) -> None:
    source, target = run.memory.token(old), run.activate(new)

    def back() -> None:
        if not target.is_zero:
            source.add(target.take())
            target.release()

    run.log(back)
