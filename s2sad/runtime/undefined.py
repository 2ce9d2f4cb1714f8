"""The tangent of what has no derivative, which is an error once something is computed of it."""

from __future__ import annotations

from typing import Any, NoReturn

from s2sad.errors import S2SADError


class Undefined:
    """A tangent that raises an error where it is used.

    A function with several results, one of which has no derivative, has it beside the tangents of the others: what
    does not use that result is not refused.

    Example:
        >>> from s2sad.errors import UndefinedDerivativeError
        >>> 2.0 * Undefined(UndefinedDerivativeError("no derivative", "Use another."))
        Traceback (most recent call last):
            ...
        s2sad.errors.UndefinedDerivativeError: no derivative
        Use another.
    """

    __slots__ = ("error",)

    def __init__(self, error: S2SADError) -> None:
        self.error = error

    def __repr__(self) -> str:
        return f"<undefined: {str(self.error).partition(chr(10))[0]}>"

    def _refused(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.error.with_traceback(None)

    def __getattr__(self, name: str) -> NoReturn:
        if name[:2] == "__":  # what Python and NumPy look for in any object
            raise AttributeError(name)
        self._refused()


for _name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
):  # fmt: skip
    setattr(Undefined, f"__{_name}__", Undefined._refused)
    setattr(Undefined, f"__r{_name}__", Undefined._refused)
for _name in (
    "neg", "pos", "abs", "bool", "float", "complex", "int", "index", "len", "iter", "getitem", "setitem", "lt", "le",
    "gt", "ge", "array", "array_ufunc", "array_function", "round", "copy", "deepcopy",
):  # fmt: skip
    setattr(Undefined, f"__{_name}__", Undefined._refused)
