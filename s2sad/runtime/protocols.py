"""The special methods that Python's operators, statements and own functions run, and NumPy's functions.

One table of the language; what a function runs beside is said of its operation (`OpSpec.special`).
"""

from __future__ import annotations

from collections.abc import Iterable


def _methods(names: Iterable[str], *sides: str) -> frozenset[str]:
    return frozenset(f"__{side}{name}__" for side in sides or ("",) for name in names)


#: The operators of two operands that there is an assignment for: ``a += b``.
ASSIGNED = tuple("add sub mul matmul truediv floordiv mod pow lshift rshift and or xor".split())
#: The operators of two operands, from either side and assigned.
BINARY = _methods((*ASSIGNED, "divmod"), "", "r", "i")
IN_PLACE = _methods(ASSIGNED, "i")
UNARY = _methods(("neg", "pos", "abs", "invert"))
#: What NumPy's functions and operators run of an operand.
OF_ARRAYS = _methods(("array_ufunc", "array_function", "array", "array_finalize", "array_wrap"))
#: What NumPy runs where it makes an array of a subclass.
MAKING = _methods(("array_finalize", "array_wrap"))
#: What an operator may run.
OPERATORS = BINARY | UNARY | OF_ARRAYS
COMPARING = _methods("eq ne lt le gt ge contains iter next getitem len".split())
ITERATING = _methods("iter next getitem len".split()) | MAKING
TESTING = _methods(("bool", "len"))
INDEXING = _methods("getitem class_getitem missing index".split()) | MAKING
HASHING = _methods(("hash", "eq"))
PRINTING = _methods("repr str format".split())
CHECKING = _methods(("instancecheck", "subclasscheck"))
#: What no operator, subscript, loop or built-in function of a differentiated function runs.
ADMINISTRATIVE = _methods(
    "class doc new init init_subclass subclasshook dir sizeof reduce reduce_ex getstate setstate getnewargs setattr "
    "delattr".split()
)
#: What the built-in classes that `runtime.classes` knows do not have themselves.
OTHERS = _methods("next bool getattr instancecheck subclasscheck length_hint missing".split())
