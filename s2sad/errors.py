"""Every error that s2sad raises, and how an error that has a place is written.

All of them derive from :class:`S2SADError`, so ``except S2SADError`` catches
what s2sad refuses and nothing else.  A message says what is wrong, where, and
what to do about it; where a source line is to blame it reads like a compiler's::

    model.py:7:9: error: np.frombuffer has no derivative rule
        x = np.frombuffer(A)
            ^~~~~~~~~~~~~~~~
    Write it with supported operations, or wrap the argument in stop_gradient(...).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A stretch of one source line.

    ``line`` counts from 1.  ``column`` and ``end_column`` count from 0 in UTF-8
    bytes, as the ``ast`` module's ``col_offset`` does; ``end_column`` is ``None``
    where the construct goes on in the next line.  ``text`` is the whole line with
    its indentation, without the line end (empty if it is not known).
    """

    file: str
    line: int
    column: int
    end_column: int | None
    text: str

    def is_within(self, other: Place) -> bool:
        """Whether this is a part of another stretch of the same line."""
        end, outer = (sys.maxsize if p.end_column is None else p.end_column for p in (self, other))
        same = (self.file, self.line) == (other.file, other.line)
        return same and self != other and other.column <= self.column and end <= outer

    def __str__(self) -> str:
        """Return ``file:line:column``, with the column counted from 1 in characters."""
        return f"{_short(self.file)}:{self.line}:{_characters(self.text, self.column) + 1}"


@dataclass(frozen=True)
class Violation:
    """One thing that s2sad refuses: where (if known), what, and what to do about it.

    ``calls`` are the calls that led there from the function that is differentiated, the innermost first.
    """

    place: Place | None
    message: str
    remedy: str
    calls: tuple[Place, ...] = ()

    def __str__(self) -> str:
        """Return the message as :func:`located` writes it."""
        return located(self.place, self.message, self.remedy, self.calls)


def located(place: Place | None, message: str, remedy: str, calls: Iterable[Place] = ()) -> str:
    """Write a message in the form of a compiler's, with source line, caret, the calls that led there, and remedy.

    Example:
        >>> print(located(Place("model.py", 3, 11, 17, "    return eig(x)"), "no rule for eig", "Declare one."))
        model.py:3:12: error: no rule for eig
            return eig(x)
                   ^~~~~~
        Declare one.
    """
    lines = [f"{place}: error: {message}" if place is not None else f"error: {message}"]
    if place is not None and place.text.strip():
        lines += _excerpt(place)
    lines += [f"called from {call}: {_clipped(call.text.strip())}" for call in calls]
    if remedy:
        lines.append(remedy)
    return "\n".join(lines)


def _excerpt(place: Place) -> list[str]:
    """Return the source line, moved to four spaces of indentation, and the underline below it."""
    text = place.text.rstrip()
    shown = text.lstrip()
    indentation = len(text) - len(shown)
    start = max(_characters(text, place.column) - indentation, 0)
    end = len(shown) if place.end_column is None else _characters(text, place.end_column) - indentation
    width = max(min(end, len(shown)) - start, 1)
    # A tab stays a tab, so that the caret stands below its character however wide a tab is shown.
    margin = "".join("\t" if character == "\t" else " " for character in shown[:start])
    return ["    " + shown, "    " + margin + "^" + "~" * (width - 1)]


def _clipped(text: str) -> str:
    """Return a line, cut short if it is long."""
    return text if len(text) <= 80 else text[:77] + "..."


def _characters(text: str, column: int) -> int:
    """Convert a column in UTF-8 bytes into one in characters."""
    if text.isascii():
        return column
    return len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))


def _short(file: str) -> str:
    """Return the path of a file below the working directory without that directory."""
    try:
        inside = os.path.join(os.getcwd(), "")
    except OSError:  # the working directory has been removed
        return file
    return file[len(inside) :] if file.startswith(inside) and len(file) > len(inside) else file


class S2SADError(Exception):
    """Base class of all errors of s2sad.

    Example:
        ``try: df = grad(f)(x)`` / ``except S2SADError as error: print(error)``.
    """


class UnsupportedError(S2SADError):
    """The function does something that s2sad cannot differentiate exactly.

    ``violations`` has everything that is refused in one function and what it
    calls: sorted by place, each once, whatever calls lead there.  Nothing of the function was run.

    Example:
        ``grad(f)`` of ``def f(x): return np.frombuffer(x).sum()``.

    Remedy:
        Each violation names its own.  In general: write the statement in the
        accepted language, or wrap what is constant in ``stop_gradient(...)``.
    """

    violations: tuple[Violation, ...]
    #: Whether it is not known either what the function writes: what is refused of its callers may follow from that.
    obscure: bool
    #: Whether all of it may follow from what is refused of a caller.
    derived: bool
    #: The names in the function's IR that have to be arrays, of which the types do not say whether they are.
    undecided: frozenset[str]
    #: Whether the sizes of the arguments, where they are known, may help.
    of_sizes: bool = False
    #: Whether it may help to write loops out, so that the items of lists and dicts are known.
    of_rounds: bool = False
    #: Whether it may help to let functions hand back the lists and dicts of their callers that they change.
    of_handing: bool = False
    #: Whether it may help to let conditions raise, as the program runs, where they lead to what is not followed.
    of_arms: bool = False
    #: Whether it may help to inline functions, as they change lists and dicts of their callers.
    of_inlining: bool = False
    #: Whether it may help to copy lists and dicts that exist and change at unknown places.
    of_held: bool = False
    #: Whether it may help to take what is changed as a whole, and may be an array or a number, for a number.
    of_numbers: bool = False

    def __init__(
        self,
        violations: Iterable[Violation],
        obscure: bool = False,
        derived: bool = False,
        undecided: Iterable[str] = (),
    ) -> None:
        """Take the violations in any order, repetitions included."""
        self.obscure, self.derived, self.undecided = obscure, derived, frozenset(undecided)
        found: dict[tuple[Place | None, str, str], Violation] = {}
        for violation in sorted(violations, key=lambda v: (_order(v), *map(_line, v.calls))):
            found.setdefault((violation.place, violation.message, violation.remedy), violation)
        self.violations = tuple(found.values())
        super().__init__(self.violations)  # so that the error pickles and copies

    def __str__(self) -> str:
        """Return all violations, an empty line between two of them."""
        return "\n\n".join(str(violation) for violation in self.violations)


def _line(place: Place) -> tuple[str, int, int]:
    return (place.file, place.line, place.column)


def _order(violation: Violation) -> tuple[bool, str, int, int, str]:
    """Sort by file, line and column; what has no place comes last."""
    place = violation.place
    if place is None:
        return (True, "", 0, 0, violation.message)
    return (False, *_line(place), violation.message)


class SourceError(S2SADError):
    """There is no Python source to differentiate, or not the one that is running.

    Example:
        ``grad(str.upper)`` (a C function), ``grad(dict)`` (a class), a function made by
        ``exec``, or a file that was edited after its module was imported.

    Remedy:
        Write a plain function around the callable, or import the module again.
    """


class ArgumentError(S2SADError, TypeError):
    """What was asked for, or the value of an argument, does not fit.

    Example:
        ``grad(f, argnums=3)`` of a function of two arguments, ``grad(f,
        argnames="v")`` of one that has no ``v``, ``grad(f)(np.arange(3))``: an array
        of integers has no gradient.

    Remedy:
        Name an argument that exists; convert integers with ``x.astype(float)``.
    """


class NonScalarError(ArgumentError):
    """The result that is to be differentiated is not a scalar.

    Example:
        ``grad(np.sin)`` at an array: the result has the shape of the argument.

    Remedy:
        Reduce it (``np.sum``, ``np.mean``), or take ``vjp``.
    """


class GradientMismatch(S2SADError, AssertionError):
    """A derivative differs from the differences of the function itself.

    Example:
        ``check_grads(f, (x,))`` at a kink of ``f``, or where a rule has a wrong sign.

    Remedy:
        The message names the argument and the entry that is furthest off.  Look at
        the rule behind it; at a kink of the function, check at another point.
    """


class UndefinedDerivativeError(S2SADError):
    """The run took a way for which there is no derivative, found only as it ran.

    ``place`` is the statement of the function of which a derivative was running; the
    call of the derivative fills it in.

    Example:
        ``grad(lambda a: np.sum(np.linalg.eigh(a)[1]))`` at the unit matrix: vectors of a
        repeated eigenvalue have no derivative.

    Remedy:
        The message names its own; the remedies of :class:`UnsupportedError` apply.
    """

    place: Place | None = None

    def __init__(self, message: str, remedy: str = "") -> None:
        """Take what is wrong, and what to do about it."""
        super().__init__(message, remedy)

    def __str__(self) -> str:
        """Return the message as :func:`located` writes it; without a place, its text alone."""
        message, remedy = self.args
        if self.place is None:
            return f"{message}\n{remedy}" if remedy else str(message)
        return located(self.place, message, remedy)
