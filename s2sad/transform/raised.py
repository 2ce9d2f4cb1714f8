"""Parts of a program that are not followed, and raise when it comes there.

Which way a condition goes is known when the program runs.  So where nothing else helps, an arm is left out that does
something to functions or objects which is not followed, and an error stands in its place:

    if isinstance(p, Point):                        if isinstance(p, Point):
        p = LOOKUP[p](p)               ->               raise UndefinedDerivativeError("...:12: ...")
    else:                                           else:
        ...                                             ...
"""

from __future__ import annotations

from collections.abc import Callable

from s2sad.errors import UndefinedDerivativeError
from s2sad.ir.code import Constant, Place
from s2sad.transform.known import NotSpecialisedError
from s2sad.transform.reasons import refusal
from s2sad.transform.specialiser import End, Specialiser


def run_or_raise(
    s: Specialiser, run: Callable[[], End], refused: list[NotSpecialisedError], place: Place | None
) -> End:
    """Run a part of the program to its end.  One that is not followed raises, if it may, and is noted as ``refused``.

    Raises:
        NotSpecialisedError: if it may not.
    """
    mark, used, lifted = s.mark(), s.used, dict(s.lifted)
    try:
        return run()
    except NotSpecialisedError as error:
        s.relied.has_arms = True
        if not s.relied.may_raise or s.expression:
            raise
        refused.append(error)
    s.back(mark)
    s.used, s.lifted = used, lifted
    words = map(Constant, refusal(refused[-1]))
    operands = s.operands([s.outside(UndefinedDerivativeError, "UndefinedDerivativeError"), *words], place)
    return End("raise", (s.emit("call", operands, ("", ""), place=place),), place)
