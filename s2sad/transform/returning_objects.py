"""``try`` whose body returns an array of the user's class, and whose handlers return something else.

    try:                            try:
        return Vector(x)                return ...
    except ValueError:              except ValueError:
        return x                        raise UndefinedDerivativeError(...)

What follows is written for the object, since it would be another program for each of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from s2sad.errors import UndefinedDerivativeError
from s2sad.ir.code import Constant, Exit, Handlers, Operation, Region, Value
from s2sad.transform.array_objects import is_array
from s2sad.transform.known import NotSpecialisedError
from s2sad.transform.specialiser import Done, Frame, Specialiser

_MESSAGE = "an exception is handled here that leads to another result than an object of the class"
_REMEDY = "Catch it where no object of the class is returned otherwise."

Run = Callable[[Specialiser, Operation, Frame], Done]


def leaving_object(s: Specialiser, op: Operation, frame: Frame, run: Run) -> Done:
    """Run such a ``try``, or any other one as ``run`` does."""
    before, env, used, lifted = s.mark(), dict(frame.env), s.used, dict(s.lifted)
    start = len(frame.returns or ())
    failed: NotSpecialisedError | None = None
    done: Done = None
    try:
        done = run(s, op, frame)
    except NotSpecialisedError as error:
        failed = error
    given = [returned.value for returned in (frame.returns or ())[start:]]
    if not any(map(is_array, given)) or (failed is None and all(map(is_array, given))):
        if failed is not None:
            raise failed
        return done
    s.back(before)
    s.used, s.lifted = used, lifted
    frame.env.clear()
    frame.env.update(env)
    del (frame.returns or [])[start:]
    return s.handlers["try"](s, _raising(s, op, frame), frame)


def _raising(s: Specialiser, op: Operation, frame: Frame) -> Operation:
    """A ``try`` of which all handlers that do not raise by themselves do."""
    what: Handlers = op.data
    body, *rest = op.regions
    cls = Value()
    frame.env[cls] = s.outside(UndefinedDerivativeError, UndefinedDerivativeError.__name__)
    regions: list[Region] = []
    parts = iter(rest[: len(what.classes) + sum(what.classes)])
    for is_named in what.classes:
        if is_named:
            regions.append(next(parts))
        handler = next(parts)
        if handler.exit.kind not in ("raise", "never"):
            error = Value()
            made = Operation("call", (cls, Constant(_MESSAGE), Constant(_REMEDY)), (error,), ("", ""), (), op.place)
            handler = Region((), (made,), Exit("raise", (error,), op.place))
        regions.append(handler)
    return replace(op, regions=(body, *regions, *parts, *rest[len(regions) :]))
