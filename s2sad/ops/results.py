"""What may be said of the result of an operation: its memory and its dtype."""

from __future__ import annotations

from typing import Literal

#: What the result of an operation is:
#:
#: ``fresh``      an object of its own, that shares no memory with an operand
#: ``view``       a view of the memory of its first operand
#: ``maybe_view`` a view of its first operand or a copy of it, with the elements in the same order
#: ``element``    one of the operands, or an item of one
#: ``repeated``   a container of objects that share no memory with an operand, of which two may be one
#: ``unknown``    any of these
Result = Literal["fresh", "view", "maybe_view", "element", "repeated", "unknown"]

#: Of what precision the numbers in the result are, where no argument ``dtype`` says it:
#:
#: ``operands``   that in which NumPy computes with the operands (of a rule: those by which there is a derivative)
#: ``python``     likewise, but what is made of Python's numbers is a number of Python's
#: ``double``     at least double
#: ``array``      that of the first operand if it is an array, else not known
#: ``fill_value`` that of the argument ``fill_value``
#: ``steps``      that of floating-point numbers between the first two operands
#: ``choice``     that of one of the operands, or of their items
#: ``float``      a float of Python's
#: ``whole``      a whole number of Python's
#: ``item``       a number of Python's, a float if the first operand holds floats
#: ``truth``      a truth value, or an array of them
#: ``wide``       double if the first operand is an array, else that of a number of Python's
#: ``inferred``   what the inferred type says
#: ``unknown``    not known
DType = Literal[
    "operands", "python", "double", "array", "fill_value", "steps", "choice", "float", "whole", "item",
    "truth", "wide", "inferred", "unknown",
]  # fmt: skip
