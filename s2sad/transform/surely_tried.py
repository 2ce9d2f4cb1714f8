"""What is tried, and is done at compile time: it surely comes to its end, or surely raises what a handler is for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ir.code import Constant, Handlers, Operation, Region, Value, inner
from s2sad.transform.containers import key_of, position
from s2sad.transform.known import Items, Known, NotSpecialisedError, Row, is_static
from s2sad.transform.objects import has_attribute
from s2sad.transform.specialiser import End, Frame, Specialiser

#: Operations that may be done at compile time, and call nothing.
_KNOWN_AT_ONCE = frozenset({"global", "attribute", "set_attribute", "copy"})
#: Those that may do so and call functions of the program's, or change its lists and dicts.
_KNOWN_BY_CALLS = _KNOWN_AT_ONCE | set("item call store load if set_item delete_item inplace tuple list dict".split())
#: Those that raise nothing.
RAISES_NOTHING = frozenset({"copy", "function", "lambda", "tuple", "list", "slice", "store"})
#: Functions that do no more than look at an array, or copy it.
_LOOKING = (np.array, np.asarray, np.copy, np.shape, np.ndim, np.size)
#: So many operations are tried at most.
_FEW = 8


def surely_ends(
    s: Specialiser, what: Handlers, body: Region, catching: Sequence[Region], frame: Frame
) -> tuple[End, Region | None] | None:
    """Run what is tried, if nothing of it is left to do when the new program runs; its handler, if it surely raises."""
    kinds = {o.kind for o in inner(body)}
    calls = not kinds <= _KNOWN_AT_ONCE
    ends = ("yield", "return", "raise", "never") if calls else ("yield", "return")
    if body.exit.kind not in ends or (calls and not (len(body.operations) <= _FEW and kinds <= _KNOWN_BY_CALLS)):
        return None
    before, env, used, tried = s.mark(), dict(frame.env), s.used, s.tried
    returns = len(frame.returns or ())
    s.tried = True
    try:
        end = s.run(body, frame)
        handler = None
        made = s.out[len(before[0]) :]
        if end.kind == "raise":
            error = end.values[0] if len(end.values) == 1 else None
            cls: Any = error.value if isinstance(error, Known) else s.errors.get(error)  # type: ignore[arg-type]
            handler = _handler_of(s, what, catching, cls, frame) if isinstance(cls, type) else None
        known = all(is_static(s.get(o.operands[0], frame)) for o in body.operations if "attribute" in o.kind)
        left = [o for o in made if not _may_be_left_out(s, o, calls)]
        if known and not left and (end.kind in ("yield", "return") or handler is not None):
            return end, handler
    except NotSpecialisedError:
        pass
    finally:
        s.tried = tried
    s.back(before)
    s.used = used
    frame.env.clear()
    frame.env.update(env)
    if frame.returns is not None:
        del frame.returns[returns:]
    return None


def _may_be_left_out(s: Specialiser, op: Operation, calls: bool) -> bool:
    """Whether an operation raises nothing, so that it makes no difference where it stands; ``calls`` led to it or not.

    A name of the module that is read, and nobody needs, is known; another one may be there or not.
    """
    if not op.results:
        return False
    if calls and (op.kind in RAISES_NOTHING or s.errors.keys() >= {*op.results}):
        return True
    if calls and op.kind in ("attribute", "call") and _only_looks(s, op):
        return True
    return s.needless.issuperset(op.results) and (not calls or op.kind == "global")


def _only_looks(s: Specialiser, op: Operation) -> bool:
    """Whether an operation reads an object of a module, takes a copy of an array of NumPy's own class, or asks for its
    shape."""
    if op.kind == "attribute":
        of_array = op.data in ("shape", "ndim", "size", "dtype") and op.operands[0] in s.arrays
        return of_array or any(known.keys() >= {*op.results} for known in (s.paths, s.relied.rereads))
    function = s.paths.get(op.operands[0])  # type: ignore[arg-type]
    looks = any(function is one for one in _LOOKING) and not any(op.data)
    return looks and len(op.operands) == 2 and op.operands[1] in s.arrays


def surely_caught(
    s: Specialiser, what: Handlers, body: Region, catching: Sequence[Region], frame: Frame
) -> Region | None:
    """The handler of what is tried, if the first operation surely raises what it handles.

    That asks for an attribute that an object does not have, or for a key that is not in a dict.
    """
    error = next((found for op in body.operations[:1] if (found := _raised(s, op, frame)) is not None), None)
    return None if error is None else _handler_of(s, what, catching, error, frame)


def _handler_of(
    s: Specialiser, what: Handlers, catching: Sequence[Region], error: type[BaseException], frame: Frame
) -> Region | None:
    """The handler of an exception of a class; None if there is none, or it asks which exception it is."""
    if what.groups:
        return None
    regions = iter(catching)
    for is_named, name in zip(what.classes, what.names, strict=True):
        caught = s.run(next(regions), frame).values[0] if is_named else Known(BaseException)
        handler = next(regions)
        classes = s.rows.get(caught, (caught,)) if isinstance(caught, Value) else (caught,)
        classes = caught.items if isinstance(caught, Row) else classes
        if not all(isinstance(c, Known) and isinstance(c.value, type) for c in classes):
            return None
        if any(c.value in error.__mro__ for c in classes):  # type: ignore[union-attr, operator]
            s.used = True
            # Nothing is raised when it runs, to be named or raised again.
            is_named = any(o.kind == "load" and o.data is name for o in inner(handler))
            return None if is_named or _raises_again(handler) else handler
    return None


def _raises_again(region: Region) -> bool:
    """Whether a ``raise`` without an exception stands in a region."""
    again = region.exit.kind == "raise" and not region.exit.operands
    return again or any(_raises_again(part) for op in region.operations for part in op.regions)


def _raised(s: Specialiser, op: Operation, frame: Frame) -> type[Exception] | None:
    """What an operation surely raises; None if it may be done."""
    if op.kind == "attribute":
        given = has_attribute(s, s.get(op.operands[0], frame), op.data)
        return AttributeError if isinstance(given, Constant) and not given.value else None
    base = s.get(op.operands[0], frame) if op.kind == "item" else None
    content = s.content(base) if isinstance(base, Items) and base.cls in (dict, OrderedDict) else None
    key = key_of(s, s.plain(s.get(op.operands[1], frame))) if content is not None else None
    return KeyError if content is not None and key is not None and position(content, key.value) is None else None
