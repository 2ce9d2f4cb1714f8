"""What is known of a function that is called, without looking into it."""

from __future__ import annotations

import functools
import inspect
import os
import string
import sys
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.given import given, is_none, is_numpy
from s2sad.runtime.classes import module_of, package_of
from s2sad.runtime.einsum import LETTERS

#: What to do about arguments behind * or **.
ONE_BY_ONE = "Write the arguments one by one."
#: What to do about an array of the module that is written.
OWN_ARRAY = "Pass it as an argument, or take a copy (x.copy())."


def is_of_python(function: types.FunctionType) -> bool:
    """Whether a function is of Python's own library, and not of a module of the user's that is called as one there."""
    module = package_of(function)
    return module in sys.stdlib_module_names and has_text_of_python(function)


def has_text_of_python(function: types.FunctionType) -> bool:
    """Whether the text of a function is one of Python's own, which may have made it of a function of the user's."""
    return function.__code__.co_filename.startswith(_places())


@functools.cache
def _places() -> tuple[str, str]:
    """Where the modules of Python's own library are."""
    return os.path.dirname(os.__file__), "<frozen"


def is_compiled(function: Any) -> bool:
    """Whether a function is of an extension module, neither NumPy's nor Python's own, and is in no table."""
    # Functions of Cython have a class of their own.
    if not isinstance(function, types.BuiltinFunctionType) and "cython" not in type(function).__name__:
        return False
    module = package_of(function) or "builtins"
    return module not in ("numpy", "s2sad", *sys.stdlib_module_names) and ops.spec_of(function) is None


def is_followed(function: types.FunctionType) -> bool:
    """Whether a function without rule is one of the user's."""
    return not (is_numpy(function) or is_of_python(function))


def _not_followed(function: types.FunctionType) -> tuple[str, str] | None:
    """Why a call of a function cannot be taken apart, and what to do about it; None if it can."""
    flags = function.__code__.co_flags
    if flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return "has a parameter with * or **", "Name the parameters of the function, and return what it computes."
    if flags & inspect.CO_GENERATOR:
        remedy = "Run through what it gives once: by for, list, sum, zip or itertools.islice, where it is called."
        return "gives its items later, one by one, to what asks for them", remedy
    if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return "does not run when it is called", "Make it a plain function."
    return None


def misfit(call: Any, function: types.FunctionType) -> str | None:
    """Why Python would not call a function with these arguments, as far as the call shows; None if it would."""
    named = [k.arg for k in call.keywords if k.arg is not None]
    try:
        inspect.signature(function, follow_wrapped=False).bind_partial(*call.args, **dict.fromkeys(named))
    except TypeError as error:
        return str(error)
    return None


def obstacle(call: Any, function: types.FunctionType) -> tuple[str, str] | None:
    """Why a call of a function with source cannot be taken apart, and what to do about it; None if it can."""
    why = _not_followed(function)
    if why is not None:
        return why
    wrong = misfit(call, function)
    return None if wrong is None else (f"cannot be called so: {wrong}", "Give it the arguments that it takes.")


def _axis_label(node: Any) -> Any:
    """The number of an axis, or an ellipsis; None for what is not written out."""
    if isinstance(node, gast.Name) and node.id == "Ellipsis":
        return Ellipsis
    return node.value if isinstance(node, gast.Constant) else None


def with_letters(call: Any, function: object) -> Any:
    """``np.einsum("ab,bc->ac", a, b)`` for ``np.einsum(a, [0, 1], b, [1, 2], [0, 2])``; any other call as it is."""
    count = len(call.args) // 2
    lists = [*call.args[1 : 2 * count : 2], *call.args[2 * count :]]
    if function is not np.einsum or not count or not all(isinstance(x, (gast.List, gast.Tuple)) for x in lists):
        return call
    terms: list[list[Any]] = [[_axis_label(i) for i in x.elts] for x in lists]
    axes = [i for term in terms for i in term if i is not Ellipsis]
    if not all(type(i) is int and 0 <= i < len(LETTERS) for i in axes):
        return call
    # In alphabetical order, as the axes of the result are where none are given for it.
    letters = string.ascii_lowercase if all(i < 26 for i in axes) else LETTERS
    text = ["".join("..." if i is Ellipsis else letters[i] for i in term) for term in terms]
    subscripts = ",".join(text[:count]) + "".join(f"->{term}" for term in text[count:])
    args = [gast.copy_location(gast.Constant(value=subscripts, kind=None), call), *call.args[: 2 * count : 2]]
    return gast.copy_location(gast.Call(func=call.func, args=args, keywords=call.keywords), call)


def dtype_obstacle(
    call: Any, lookup: Callable[[Any], tuple[bool, Any]], depends: Callable[[Any], bool]
) -> tuple[str, str] | None:
    """Why no derivative passes through the dtype that a call asks for, and a remedy; None if it does."""
    known = given(call, lookup)
    dtype = next(iter(known.of(("dtype",))), None)
    if dtype is None or is_none(dtype):
        return None
    casts = known.spec is not None and known.spec.casts
    text = gast.unparse(dtype).strip()
    found, value = (True, dtype.value) if isinstance(dtype, gast.Constant) else lookup(dtype)
    if not found:
        own = isinstance(dtype, gast.Attribute) and dtype.attr == "dtype" and depends(dtype.value)
        # What several operands are promoted to holds what is differentiated if one of them does.
        promoted = isinstance(dtype, gast.Call) and lookup(dtype.func)[1] is np.result_type
        common = promoted and any(map(depends, dtype.args))
        if own or common or casts:
            return None
        return f"the dtype {text} is not known", "Convert the argument before: x.astype(...)."
    try:
        kind = np.dtype(value).kind
    except TypeError:
        kind = "?"
    types = known.spec.function.types if known.spec is not None and isinstance(known.spec.function, np.ufunc) else ()
    if kind == "c" and any(t.endswith("->D") and set(t[:-3]) != {"D"} for t in types):
        return (
            f"with the dtype {text} it takes some operands in other numbers",
            "Convert them before: x.astype(complex).",
        )
    if kind in "fc" or (kind in "iub" and casts):
        return None
    return f"no derivative passes through numbers of dtype {text}", "Compute with floats."


def sparse_product(call: Any, lookup: Callable[[Any], tuple[bool, Any]]) -> Any:
    """``A @ x`` for a call ``A.dot(x)``, where ``A`` is a sparse matrix of SciPy that is known; else None."""
    if call.func.attr != "dot" or len(call.args) != 1 or call.keywords:
        return None
    found, value = lookup(call.func.value)
    if not (found and module_of(type(value)).startswith("scipy.sparse")):
        return None
    return gast.copy_location(gast.BinOp(left=call.func.value, op=gast.MatMult(), right=call.args[0]), call)
