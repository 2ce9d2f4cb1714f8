"""What is known of a function that is called, without looking into it."""

from __future__ import annotations

import builtins
import inspect
import string
import sys
import sysconfig
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.outs import is_numpy
from s2sad.runtime.einsum import LETTERS

_PURE_BUILTINS = frozenset(
    getattr(builtins, n)
    for n in (
        "abs bool complex dict divmod enumerate float frozenset int isinstance issubclass len list max min pow range "
        "repr reversed round set slice sorted str sum tuple type zip bytes ord chr hash id callable".split()
    )
)


#: What to do about a function that cannot be taken apart.
NAMED = "Name the parameters of the function, and return what it computes."
#: What to do about arguments behind * or **.
ONE_BY_ONE = "Write the arguments one by one."
#: What to do about an array of the module that is written.
OWN_ARRAY = "Pass it as an argument, or take a copy (x.copy())."


def is_of_python(function: types.FunctionType) -> bool:
    """Whether a function is of Python's own library, and not of a module of the user's that is called as one there."""
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    places = (sysconfig.get_path("stdlib"), "<frozen")
    return module in sys.stdlib_module_names and function.__code__.co_filename.startswith(places)


def is_followed(function: types.FunctionType) -> bool:
    """Whether a function without rule is one of the user's, and what it calls itself."""
    library = is_numpy(function) or is_of_python(function)
    return not library and getattr(function, "__wrapped__", None) is None


def not_followed(function: types.FunctionType) -> str | None:
    """Why a call of a function cannot be taken apart; None if it can."""
    flags = function.__code__.co_flags
    if flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return "has a parameter with * or **"
    if flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return "does not run when it is called"
    return None


def misfit(call: Any, function: types.FunctionType) -> str | None:
    """Why Python would not call a function with these arguments, as far as the call shows; None if it would."""
    named = [k.arg for k in call.keywords if k.arg is not None]
    try:
        inspect.signature(function).bind_partial(*call.args, **dict.fromkeys(named))
    except TypeError as error:
        return str(error)
    return None


def obstacle(call: Any, function: types.FunctionType) -> tuple[str, str] | None:
    """Why a call of a function with source cannot be taken apart, and what to do about it; None if it can."""
    why = not_followed(function)
    if why is not None:
        return why, NAMED
    wrong = misfit(call, function)
    return None if wrong is None else (f"cannot be called so: {wrong}", "Give it the arguments that it takes.")


def dtype_argument(call: Any, function: object, receivers: int) -> Any:
    """The node of the argument ``dtype`` of a call, before whose arguments stand ``receivers``; None without one."""
    named = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    rule = ops.find(function)
    if named is not None or rule is None or rule.variadic is not None or "dtype" not in rule.parameters:
        return named
    position = rule.parameters.index("dtype") - receivers
    return call.args[position] if position < len(call.args) else None


class _KnownPure:
    """Functions whose calls have no effect: builtins and whatever has a rule or is declared constant."""

    def __contains__(self, function: object) -> bool:
        try:
            if function in _PURE_BUILTINS:
                return True
        except TypeError:
            return False
        return ops.find(function) is not None or ops.is_constant(function)


#: Functions whose calls have no effect.
KNOWN_PURE = _KnownPure()


def with_letters(call: Any, function: object) -> Any:
    """``np.einsum("ab,bc->ac", a, b)`` for ``np.einsum(a, [0, 1], b, [1, 2], [0, 2])``; any other call as it is."""
    count = len(call.args) // 2
    lists = [*call.args[1 : 2 * count : 2], *call.args[2 * count :]]
    if function is not np.einsum or not count or not all(isinstance(x, (gast.List, gast.Tuple)) for x in lists):
        return call
    terms: list[list[Any]] = [[i.value if isinstance(i, gast.Constant) else None for i in x.elts] for x in lists]
    axes = [i for term in terms for i in term if i is not Ellipsis]
    if not all(type(i) is int and 0 <= i < len(LETTERS) for i in axes):
        return call
    # In alphabetical order, as the axes of the result are where none are given for it.
    letters = string.ascii_lowercase if all(i < 26 for i in axes) else LETTERS
    text = ["".join("..." if i is Ellipsis else letters[i] for i in term) for term in terms]
    subscripts = ",".join(text[:count]) + "".join(f"->{term}" for term in text[count:])
    args = [gast.copy_location(gast.Constant(value=subscripts, kind=None), call), *call.args[: 2 * count : 2]]
    return gast.copy_location(gast.Call(func=call.func, args=args, keywords=call.keywords), call)


#: What makes an array of a dtype that is asked for, and looks at it as it runs.
_CASTS = frozenset(
    "array asarray asanyarray ascontiguousarray asfortranarray astype full full_like zeros_like ones_like".split()
)


def dtype_obstacle(
    call: Any, function: Any, receivers: int, lookup: Callable[[Any], tuple[bool, Any]], depends: Callable[[Any], bool]
) -> tuple[str, str] | None:
    """Why no derivative passes through the dtype that a call asks for, and a remedy; None if it does."""
    dtype = dtype_argument(call, function, receivers)
    if dtype is None or (isinstance(dtype, gast.Constant) and dtype.value is None):
        return None
    text = gast.unparse(dtype).strip()
    found, value = (True, dtype.value) if isinstance(dtype, gast.Constant) else lookup(dtype)
    if not found:
        own = isinstance(dtype, gast.Attribute) and dtype.attr == "dtype" and depends(dtype.value)
        if own or getattr(function, "__name__", "") in _CASTS:
            return None
        return f"the dtype {text} is not known", "Convert the argument before: x.astype(...)."
    try:
        kind = np.dtype(value).kind
    except TypeError:
        kind = "?"
    if kind in "fc" or (kind in "iub" and getattr(function, "__name__", "") in _CASTS):
        return None
    return f"no derivative passes through numbers of dtype {text}", "Compute with floats."
