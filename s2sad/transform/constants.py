"""Constant folding: operators and type tests applied to constants and to structures that the specialiser knows."""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.ir.code import UNSET, Constant
from s2sad.ops.models import is_of_model, modelled
from s2sad.runtime.classes import decides_plainly
from s2sad.transform.known import Abstract, Closure, Items, Known, NotSpecialisedError, Record, Row, Typed

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
#: Those that give a real number for real ones as well.
_OF_REALS = {**{sign: _ARITHMETIC[sign] for sign in "+ - * // %".split()}, "/": operator.truediv, "**": operator.pow}
#: What makes arrays of NumPy's own class.
_MAKING_ARRAYS = (np.array, np.asarray, np.zeros, np.ones, np.empty, np.full, np.eye, np.identity)
_MAKING_NEW = (
    *(np.array, np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.arange, np.linspace, np.copy),
    *(np.zeros_like, np.ones_like, np.empty_like, np.full_like, list, dict),
)
_FUNCTION_TYPES = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)
#: The functions of ``math`` that give a real number.
_FUNCTIONS = (
    "acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs fmod fsum "
    "gamma hypot lgamma log log10 log1p log2 pow radians remainder sin sinh sqrt tan tanh"
).split()
#: What gives a number, whatever it is given.
_MAKING_NUMBERS = (float, int, complex, len, *(getattr(math, name) for name in _FUNCTIONS))
#: Arguments by which they may make another one.
_OTHER_CLASSES = frozenset(("subok", "like", "*", "**"))
#: Whole numbers are computed with up to here.
_LARGEST = 1 << 53


def compared(sign: str, left: Abstract, right: Abstract) -> bool | None:
    """What a comparison of two constants gives; None if that is not known."""
    if not isinstance(left, Constant) or not isinstance(right, Constant) or UNSET in (left, right):
        return None
    a, b = left.value, right.value
    numbers = all(isinstance(v, (int, float)) for v in (a, b))
    if sign in ("==", "!="):
        plain = all(isinstance(v, (str, int, float, type(None))) for v in (a, b))
        return bool(_COMPARE[sign](a, b)) if plain else None
    if sign in _COMPARE and (numbers or (isinstance(a, str) and isinstance(b, str))):
        return bool(_COMPARE[sign](a, b))
    if sign in ("in", "not in") and isinstance(a, str) and isinstance(b, str):
        return (a in b) == (sign == "in")
    return None


def is_among(value: Abstract, row: Sequence[Abstract]) -> bool | None:
    """Whether a constant is equal to one of some items; None if that is not known."""
    found = [compared("==", value, item) for item in row]
    if any(found):
        # Items before it are asked first: what they say has no effect, if it is known.
        return True if None not in found[: found.index(True)] else None
    return None if None in found else False


def computed(sign: str, left: Abstract, right: Abstract) -> Constant | None:
    """What an operator gives for two whole numbers or strings; None if that is not known."""
    if not isinstance(left, Constant) or not isinstance(right, Constant):
        return None
    a, b = left.value, right.value
    if sign == "+" and type(a) is str and type(b) is str:
        return Constant(a + b)
    if {type(a), type(b)} - {int, bool} or sign not in _ARITHMETIC or max(abs(a), abs(b)) > _LARGEST:
        return None
    return None if sign in ("//", "%") and b == 0 else Constant(_ARITHMETIC[sign](a, b))


def real_computed(sign: str, left: Abstract, right: Abstract) -> float | None:
    """The real number that is no whole one which an operator gives for two constants; None if that is not known."""
    if not isinstance(left, Constant) or not isinstance(right, Constant):
        return None
    a, b = left.value, right.value
    function = _OF_REALS.get(sign)
    if {type(a), type(b)} - {int, float} or function is None:
        return None
    try:
        found = function(a, b)
    except (ArithmeticError, ValueError):
        return None
    return found if type(found) is float and math.isfinite(found) else None


def shown_constant(function: Callable[[Any], str], value: Abstract) -> Constant | None:
    """The text that ``str`` or ``repr`` gives of a text, switch or whole number that is known."""
    is_known = isinstance(value, Constant) and value is not UNSET and type(value.value) in (str, int, bool, type(None))
    return Constant(function(value.value)) if is_known else None  # type: ignore[union-attr]


def class_of(value: Abstract) -> type | None:
    """The class of a value, if that is known."""
    if isinstance(value, Constant):
        return None if value is UNSET else type(value.value)
    if isinstance(value, (Row, Items)):
        return value.cls
    if isinstance(value, Typed):
        return value.made_of.cls
    if isinstance(value, Record):
        return modelled(value.cls)
    if isinstance(value, Closure):
        return types.FunctionType
    return type(value.value) if isinstance(value, Known) and isinstance(value.value, _FUNCTION_TYPES) else None


def class_seen(value: Abstract, inside: types.FunctionType) -> type | None:
    """The class that a function finds a value to be of; None where that is not known.

    Raises:
        NotSpecialisedError: if a model, in which the function is not, stands for objects of several classes.
    """
    cls = class_of(value)
    if cls is not None and is_of_model(cls) and not is_of_model(inside):
        raise NotSpecialisedError("__class__")
    return cls


def makes_array(function: Any, kinds: Sequence[str]) -> bool:
    """Whether a call gives an array of NumPy's own class, whatever it is given."""
    made = any(function is one for one in _MAKING_ARRAYS)
    return made and kinds[2:].count("") == 0 and _OTHER_CLASSES.isdisjoint(kinds)


def makes_new(function: Any, kinds: Sequence[str]) -> bool:
    """Whether a call gives an array, list or dict that nothing else has.

    Example:
        >>> makes_new(np.zeros, ("",)), makes_new(np.array, ("", "copy")), makes_new(np.asarray, ("",))
        (True, False, False)
    """
    return any(function is one for one in _MAKING_NEW) and "copy" not in kinds


def makes_number(function: Any) -> bool:
    """Whether a call gives a number of Python's, whatever it is given.

    Example:
        >>> makes_number(float), makes_number(abs)
        (True, False)
    """
    return any(function is one for one in _MAKING_NUMBERS)


def is_instance(value: Abstract, classes: Sequence[Abstract], cls: type | None = None) -> bool | None:
    """Whether a value, the class of which may be given, is an instance of one of some classes, if that is known."""
    models = [c.value for c in classes if isinstance(c, Known) and isinstance(c.value, type) and is_of_model(c.value)]
    if models:
        # Of models there are no objects but those that the program makes.
        return isinstance(value, Record) and issubclass(value.cls, tuple(models))
    cls = cls or class_of(value)
    if cls is None or not classes or not all(isinstance(c, Known) and decides_plainly(c.value) for c in classes):
        return None
    if is_of_model(cls):
        return None  # what SciPy has in its place is not known
    return issubclass(cls, tuple([c.value for c in classes if isinstance(c, Known)]))
