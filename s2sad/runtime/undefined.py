"""What has no derivative: its tangent, which is an error once something is computed of it, and errors of models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from s2sad.errors import S2SADError, UndefinedDerivativeError


def require_rule(there: bool, message: str, remedy: str) -> None:
    """Raise an error unless the derivative of a function that a model stands for is known for its arguments.

    A model does so by a call, and not by ``raise``: what never returns has no result that depends on its arguments, and
    the function itself, which does return, would be a constant.

    Example:
        >>> require_rule(True, "no derivative", "Use another.")
    """
    if not there:
        raise UndefinedDerivativeError(message, remedy)


class Undefined:
    """A tangent that raises an error where it is used.

    A function with several results, one of which has no derivative, has it beside the tangents of the others: what
    does not use that result is not refused.  Attributes of the result that are ``constant`` have zero for a tangent.

    Example:
        >>> from s2sad.errors import UndefinedDerivativeError
        >>> 2.0 * Undefined(UndefinedDerivativeError("no derivative", "Use another."))
        Traceback (most recent call last):
            ...
        s2sad.errors.UndefinedDerivativeError: no derivative
        Use another.
    """

    __slots__ = ("constant", "error")

    def __init__(self, error: S2SADError, constant: frozenset[str] = frozenset()) -> None:
        self.error = error
        self.constant = constant

    def __repr__(self) -> str:
        return f"<undefined: {str(self.error).partition(chr(10))[0]}>"

    def _refused(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.error.with_traceback(None)

    def __getattr__(self, name: str) -> float:
        if name[:2] == "__":  # what Python and NumPy look for in any object
            raise AttributeError(name)
        return 0.0 if name in self.constant else self._refused()


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


#: What moves elements, or counts them.
_OF_SHAPES = frozenset({
    np.shape, np.ndim, np.size, np.transpose, np.swapaxes, np.moveaxis, np.reshape, np.ravel, np.squeeze, np.flip,
    np.expand_dims, np.take, np.broadcast_to,
})  # fmt: skip


class PartlyUndefined(Undefined):
    """A tangent of an array of which some elements have none: their columns and rows may be taken, and the others used.

    Example:
        >>> from s2sad.errors import UndefinedDerivativeError
        >>> error = UndefinedDerivativeError("no derivative", "Use the ends.")
        >>> dot = PartlyUndefined(error, np.arange(6.0).reshape(2, 3), np.array([True, False, True]))
        >>> dot[:, -1], dot.T[0], dot[1][0]
        (array([2., 5.]), array([0., 3.]), np.float64(3.0))
    """

    __slots__ = ("defined", "values")

    def __init__(self, error: S2SADError, values: np.ndarray, defined: np.ndarray) -> None:
        super().__init__(error)
        self.values, self.defined = values, np.broadcast_to(defined, values.shape)

    def _part(self, values: Any, defined: Any) -> Any:
        return values if np.all(defined) else PartlyUndefined(self.error, np.asarray(values), np.asarray(defined))

    def __getitem__(self, key: Any) -> Any:
        return self._part(self.values[key], self.defined[key])

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self.values))])

    def __len__(self) -> int:
        return len(self.values)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        values, *rest = args
        if values is not self or func not in _OF_SHAPES:
            self._refused()
        if func in (np.shape, np.ndim, np.size):
            return func(self.values, *rest, **kwargs)
        return self._part(func(self.values, *rest, **kwargs), func(self.defined, *rest, **kwargs))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.values.shape

    @property
    def T(self) -> Any:
        """The transpose."""
        return self._part(self.values.T, self.defined.T)
