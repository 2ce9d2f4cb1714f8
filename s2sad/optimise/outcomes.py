"""What tests say where that is a matter of the kinds of values, or of texts and truth values that are known."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Build, Call, Const, Expr, Global, Var
from s2sad.ir.types import Fact
from s2sad.ops.models import is_of_model
from s2sad.runtime.classes import decides_plainly, own_class

#: The classes that a global name stands for.
Classes = Callable[[str], tuple[type, ...]]
#: The classes of numbers, those of real ones first.
_REAL: tuple[type, ...] = (bool, int, float, np.bool_, *(np.dtype(c).type for c in "bBhHiIlLqQefdg"))
_NUMBERS: tuple[type, ...] = (*_REAL, complex, *(np.dtype(c).type for c in "FDG"))
#: The classes of arrays that NumPy's own functions make, and others of which nobody sees that an array is of them.
_ARRAYS = (np.ndarray, np.memmap)
#: What ``np.isscalar`` says yes of.
_SCALARS = (np.generic, numbers.Number, str, bytes)
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_UNKNOWN = object()


def outcome(test: Expr, facts: Facts, classes: Classes) -> bool | None:
    """Whether a test holds; None where that is known only at run time."""
    if isinstance(test, Call) and test.op.kind == "bool":
        if test.op.name == "not":
            inner = outcome(test.args[0], facts, classes)
            return None if inner is None else not inner
        ends = test.op.name == "or"
        for arg in test.args:
            found = outcome(arg, facts, classes)
            if found is None or found is ends:
                return found
        return not ends
    if isinstance(test, Call) and test.op.kind == "compare":
        return _compared(test, facts)
    if isinstance(test, Call) and test.op.function is isinstance and len(test.args) == 2 and not test.kwargs:
        return _is_instance(facts.get(test.args[0]), test.args[1], classes)
    if isinstance(test, Call) and test.op.function is np.isscalar and len(test.args) == 1 and not test.kwargs:
        said = {issubclass(cls, _SCALARS) for cls in _classes_of(facts.get(test.args[0]))}
        return said.pop() if len(said) == 1 else None
    if isinstance(test, Call) and test.op.function is hasattr and len(test.args) == 2 and not test.kwargs:
        return has_attribute(facts.get(test.args[0]), _value(test.args[1], facts))
    if isinstance(test, Call) and test.op.function is callable and len(test.args) == 1 and not test.kwargs:
        # None of them is.
        return False if _classes_of(facts.get(test.args[0])) else None
    value = _value(test, facts)
    return None if value is _UNKNOWN else bool(value)


def _value(expr: Expr, facts: Facts) -> Any:
    """None, a text, truth value or whole number that an expression surely is."""
    if isinstance(expr, Const):
        return expr.value if isinstance(expr.value, (str, bool, int, type(None))) else _UNKNOWN
    if isinstance(expr, Call):
        number = whole_number(expr, facts)
        return _UNKNOWN if number is None else number
    if not isinstance(expr, Var):
        return _UNKNOWN
    fact = facts.get(expr)
    if fact.value is not None:
        return fact.value
    return None if fact.kind == "none" else _UNKNOWN


def whole_number(call: Call, facts: Facts) -> int | None:
    """What ``x.ndim``, ``np.ndim(x)``, ``len(x.shape)`` or the length of a tuple is.

    None where nobody knows, or the call is another.
    """
    if len(call.args) != 1 or call.kwargs:
        return None
    (inner,) = call.args
    if call.op.function is len:
        known = facts.get(inner)
        if known.kind == "tuple" and known.items is not None and not known.owners:
            count: int = len(known.items)
            return count
        if isinstance(inner, Call) and (_is_attribute(inner, "shape") or inner.op.function is np.shape):
            return _axes_of(facts.get(inner.args[0]))
        return None
    if call.op.function is np.ndim and facts.get(inner).kind == "scalar":
        return 0
    return _axes_of(facts.get(inner)) if _is_attribute(call, "ndim") or call.op.function is np.ndim else None


def _is_attribute(call: Call, name: str) -> bool:
    return call.op.kind == "attribute" and call.op.name == name


def _axes_of(fact: Fact) -> int | None:
    # Rows of matrices have as many axes as these.
    return fact.ndim if fact.kind == "array" and not fact.owners and not fact.boxed else None


def _compared(test: Call, facts: Facts) -> bool | None:
    left, right = test.args[0], test.args[1]
    a, b = _value(left, facts), _value(right, facts)
    name = test.op.name
    if (
        name in ("==", "!=")
        and len(test.args) == 2
        and (_is_other_dtype(left, b, facts) or _is_other_dtype(right, a, facts))
    ):
        return name == "!="
    if name in ("is", "is not"):
        if b is _UNKNOWN and isinstance(right, Global) and facts.get(right).kind == "other":
            # What is no number or array is none: `x is np.ma.masked`.
            return name == "is not" if _classes_of(facts.get(left)) else None
        if b is not None or not isinstance(left, (Var, Const)):
            return None
        kind = facts.get(left).kind
        if kind in ("open", "other") and a is _UNKNOWN and facts.get(left).plain is None:
            return None
        return (kind == "none") is (name == "is")
    if name in ("in", "not in") and isinstance(right, Build) and isinstance(a, (str, int)):
        members = (
            [_value(item, facts) for item in right.items] if right.kind in ("tuple", "list", "set") else [_UNKNOWN]
        )
        return None if _UNKNOWN in members else (a in members) is (name == "in")
    if _UNKNOWN in (a, b) or len(test.args) != 2 or name not in _COMPARED:
        return None
    if type(a) is not type(b) and name not in ("==", "!="):
        return None
    return _COMPARED[name](a, b)


def _is_other_dtype(dtype: Expr, name: Any, facts: Facts) -> bool:
    """Whether an expression surely is the dtype of floating-point numbers, and none of this name."""
    if not (isinstance(dtype, Call) and _is_attribute(dtype, "dtype") and isinstance(name, str)):
        return False
    fact = facts.get(dtype.args[0])
    try:
        kind = np.dtype(name).kind
    except TypeError:
        return False
    return fact.numeric and fact.precision in ("single", "double") and not fact.owners and kind not in "fc"


def _is_instance(fact: Fact, of: Expr, classes: Classes) -> bool | None:
    """Whether a value is an instance of one of some classes."""
    parts = of.items if isinstance(of, Build) and of.kind == "tuple" else (of,)
    found = [classes(part.text) if isinstance(part, Global) else () for part in parts]
    known, said = _classes_of(fact), set[bool | None]()
    if all(found) and all(is_of_model(cls) for group in found for cls in group):
        # None of their objects exists at run time.
        return False
    if not known or not all(found):
        return None
    for cls in known:
        answers = [_is_subclass(cls, one) for group in found for one in group]
        said.add(True if True in answers else None if None in answers else False)
    return said.pop() if len(said) == 1 else None


def has_attribute(fact: Fact, name: Any) -> bool | None:
    """Whether a number or array has an attribute, which is a matter of its class."""
    if fact.kind not in ("scalar", "array", "numeric", "none") or not isinstance(name, str):
        return None
    said = {hasattr(cls, name) for cls in _classes_of(fact)}
    return said.pop() if len(said) == 1 else None


def _classes_of(fact: Fact) -> tuple[type, ...]:
    """The classes of which a value may be; none where they are not known."""
    if fact.owners or fact.boxed:
        return ()
    if fact.value is not None:
        return (type(fact.value),)
    if fact.plain is not None:
        return (fact.plain,)
    scalars = (_REAL if fact.real else _NUMBERS) if fact.precision else ()
    match fact.kind:
        case "none":
            return (type(None),)
        case "array":
            return _ARRAYS
        case "scalar":
            return scalars
        case "numeric":
            return (*scalars, *_ARRAYS) if scalars else ()
        case "tuple":
            return (tuple,)
        case "list":
            return (list,)
        case "dict":
            return (dict,)
    return ()


def _is_subclass(cls: type, other: type) -> bool | None:
    """Whether what seems to be of a class is of another; it may be of a class of a library that inherits from it."""
    if not decides_plainly(other):
        return None
    if issubclass(cls, other):
        return True
    if type(other) is not type and own_class(other) is not None:
        # The class may be registered with it later.
        return None
    return None if issubclass(other, cls) and other not in _ARRAYS else False
