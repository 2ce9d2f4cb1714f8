"""The ways to write an operation other than a call of its function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s2sad.ops.results import Result


@dataclass(frozen=True)
class Form:
    """A method or attribute of arrays that is an operation: the array is its first operand.

    Its other arguments are those of the function, and so is its result, where nothing else is said.
    """

    #: That of the function where it is empty.
    name: str = ""
    kind: Literal["method", "attribute"] = "method"
    #: The parameter that gathers separate arguments: ``x.reshape(2, 3)``.
    gathers: str | None = None
    result: Result | None = None
    #: Whether what is assigned to the attribute is written into the array.
    assigned: bool = False
    #: Whether there is no function for it: the operation is the method itself.
    own: bool = False


#: The method that is called as the function is.
METHOD = (Form(),)
#: The attribute that is called as the function is.
ATTRIBUTE = (Form(kind="attribute"),)
#: A method that no function does.
MEMBER = (Form(own=True),)
