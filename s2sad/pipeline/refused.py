"""What is said of a call when its callee is refused.

A function of the user's is refused where the cause is, with the calls that led there.  One of a library is followed
as a whole or not at all: of its insides no more is said than the place of the first cause, and the error is at the
user's call.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator, Mapping
from dataclasses import replace

from s2sad.errors import Place, S2SADError, UnsupportedError, Violation
from s2sad.frontend.source import Source
from s2sad.frontend.unfollowed import follows_from_made, is_foreign, is_left, is_of_made, is_too_much, of_library
from s2sad.ir.nodes import Call


def of_call(name: str, callee: types.FunctionType, error: S2SADError, place: Place) -> list[Violation]:
    """What is refused of a call, of the function that stands there as ``name``, if the callee is refused."""
    violations = list(error.violations) if isinstance(error, UnsupportedError) else [_of_source(error, place)]
    if is_foreign(callee, place.file):
        inside = violations[0].place
        return [Violation(place, *of_library(name, callee, None if inside == place else inside))]
    return [v if v.place == place else replace(v, calls=tuple(dict.fromkeys((*v.calls, place)))) for v in violations]


def of_callee(call: Call, error: S2SADError, place: Place) -> list[Violation]:
    """What is refused of a call of a function that has source, if that is refused."""
    assert isinstance(call.op.function, types.FunctionType)
    return of_call(call.op.name, call.op.function, error, place)


def with_calls_inlined(error: UnsupportedError, led: Mapping[tuple[str, int], tuple[Place, ...]]) -> UnsupportedError:
    """An error that says as well which calls of functions that were inlined led to what is refused.

    Args:
        error: The error.
        led: These calls by file and line, the innermost first.
    """
    found: list[Violation] = []
    for v in error.violations:
        calls = () if v.place is None else led.get((v.place.file, v.place.line), ())
        found.append(replace(v, calls=tuple(dict.fromkeys((*calls, *v.calls)))))
    return UnsupportedError(found, error.obscure, error.derived, error.undecided)


@contextlib.contextmanager
def with_obstacle(source: Source, perhaps: bool = False) -> Iterator[None]:
    """Say why the functions and objects that a function makes stay as they are in place of what follows from that, and
    beside what follows from it ``perhaps``.

    Raises:
        UnsupportedError: what is raised inside, with that reason.
    """
    try:
        yield
    except UnsupportedError as error:
        if source.obstacle is None or not any(is_of_made(v, perhaps) for v in error.violations):
            raise
        calls = source.obstacle.calls
        others = [v for v in error.violations if not follows_from_made(v) and v.place not in calls]
        raise UnsupportedError([source.obstacle, *others], error.obscure, error.derived, error.undecided) from None


def further(first: UnsupportedError | None, error: UnsupportedError) -> UnsupportedError:
    """What is said where a way has been refused as well that knows more of a function than the ``first`` one.

    What stayed as it was for a reason which is none on that way, is none.
    """
    if first is None:
        return error
    left, more = [{v.place for v in e.violations if is_left(v)} for e in (first, error)]
    is_further = bool(left) and left.isdisjoint(more) and not any(is_too_much(v) for v in error.violations)
    return error if is_further else first


def _of_source(error: S2SADError, place: Place) -> Violation:
    """What is said of a callee without source, at its call."""
    head, *rest = str(error).splitlines()
    return Violation(place, head.partition("error: ")[2] or head, rest[-1] if rest else "")
