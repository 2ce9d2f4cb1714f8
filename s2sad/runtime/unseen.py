"""The errors of derivatives that are computed where the program tries something."""

from __future__ import annotations

from types import TracebackType

from s2sad.errors import S2SADError, UndefinedDerivativeError


class Unseen:
    """Makes an error of ours of any that is raised inside, so that no handler of the program takes it for its own."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, cls: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, Exception) and not isinstance(error, S2SADError):
            said = f"the derivative of what is tried here raises a {type(error).__name__} ({error})"
            raise UndefinedDerivativeError(said, "Differentiate where it exists.") from error


_UNSEEN = Unseen()


def unseen() -> Unseen:
    """A context manager that makes an error of ours of any that is raised inside.

    Example:
        >>> with unseen():
        ...     1.0 / 0.0
        Traceback (most recent call last):
        ...
        s2sad.errors.UndefinedDerivativeError: the derivative of what is tried here raises a ZeroDivisionError ...
    """
    return _UNSEEN
