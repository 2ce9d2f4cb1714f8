"""How the interpreter calls: signatures of functions, and generators that are run to the end or handed on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

from s2sad.ir.code import Code

_KINDS = {
    "positional only": inspect.Parameter.POSITIONAL_ONLY, "positional": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "star": inspect.Parameter.VAR_POSITIONAL, "by name": inspect.Parameter.KEYWORD_ONLY,
    "double star": inspect.Parameter.VAR_KEYWORD,
}  # fmt: skip
Ended = TypeVar("Ended")


class StoppedError(Exception):
    """A `StopIteration` of the program on its way through generators of the interpreter, which Python would replace."""

    def __init__(self, error: StopIteration) -> None:
        super().__init__(error)
        self.error = error


def driven(running: Generator[Any, Any, Any]) -> Any:
    """Run to the end what gives nothing on the way."""
    try:
        next(running)
    except StopIteration as end:
        return end.value
    except StoppedError as stopped:
        raise stopped.error from None
    raise RuntimeError("a yield outside of a generator")


def returning(running: Generator[Any, Any, Ended], result: Callable[[Ended], Any]) -> Generator[Any, Any, Any]:
    """A generator whose result is made of that of another one."""
    try:
        return result((yield from running))
    except StoppedError as stopped:
        raise stopped.error from None


def signature_of(code: Code, defaults: Mapping[str, Any]) -> inspect.Signature:
    """The signature of a function whose parameters have some default values."""
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [inspect.Parameter(p.name, _KINDS[p.kind], default=defaults.get(p.name, empty)) for p in code.params]
    )
