"""What is said of calls that are not followed: of what kind the callee is, and what to write instead."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.errors import Place, Violation
from s2sad.frontend.called import ONE_BY_ONE, OWN_ARRAY, misfit, obstacle
from s2sad.frontend.holding import names_held
from s2sad.frontend.outs import written_parts
from s2sad.frontend.source import OURS
from s2sad.frontend.trees import is_starred, nodes_of
from s2sad.frontend.writing import calls_writing, may_write
from s2sad.ops.classification import remedy_of_member
from s2sad.runtime.classes import MEMBERS, package_of
from s2sad.runtime.items import with_keywords

Lookup = Callable[[Any], tuple[bool, Any]]
#: What to do about an operation without rule, and about a call of a library.
CUSTOM = "Write it with supported operations, or wrap the argument in stop_gradient(...)."
OF_LIBRARY = (
    "Write it with operations of NumPy; or, if no derivative should pass, give it a constant copy of each array: "
    "stop_gradient(np.copy(x))."
)
_AGAIN = (
    "Take differences of the gradient, or write the function with operations of NumPy, which have second derivatives."
)
_PASSED = "Call a function by its own name, or one that is constant; pass it what it captures as arguments."
AS_FUNCTION = "Write it as a function of the values that it reads, and call that."
_VALUES = "a function of the values that it reads, and call that."
#: In this package, what derivatives of SciPy's functions are computed by.
_OF_SCIPY = "runtime/scipy"
#: Where installed packages are.
_INSTALLED = ("site-packages", "dist-packages")


#: What is said of functions and objects that a function makes, what may be said for another reason as well, of what is
#: too much to be written out, and what may have to do with them.
_OF_MADE_ALONE = (
    "makes an object of a class", "is a method of an object whose class", "is a function that is known only",
    "a function defined inside", "changes an object that is differentiated", "has a parameter with * or **",
)  # fmt: skip
_OF_MADE = (*_OF_MADE_ALONE, "is the module's, and", "may be an array of the module, and")
_TOO_MUCH = ("items, and they are not followed", "is too long, with its loops", "more loops are in one another than")
_PERHAPS_OF_MADE = (
    "no derivative can pass through this expression", "sees ", "has no derivative rule", "is called with * or **",
)  # fmt: skip


def is_of_made(violation: Violation, perhaps: bool) -> bool:
    """Whether something is refused, or is so ``perhaps``, since functions and objects that a function makes stay as
    they are."""
    said = _OF_MADE + _PERHAPS_OF_MADE if perhaps else _OF_MADE
    return any(words in violation.message for words in said)


def is_left(violation: Violation) -> bool:
    """Whether it says why functions and objects that a function makes stay as they are."""
    return "stay as they are" in violation.message


def is_too_much(violation: Violation) -> bool:
    """Whether something is refused since too much would have to be written out."""
    return any(words in violation.message for words in _TOO_MUCH)


def follows_from_made(violation: Violation) -> bool:
    """Whether something is refused for no other reason than that functions and objects stay as they are."""
    return any(words in violation.message for words in _OF_MADE_ALONE)


def inside_library(file: str) -> str:
    """The path of a file inside the folder of installed packages; empty for a file of the user's own.

    The functions of this package stand for the user's, but for those that stand for functions of Python and NumPy, or
    compute derivatives of SciPy's.

    Example:
        >>> inside_library("/venv/lib/python3.13/site-packages/scipy/special/_logsumexp.py")
        'scipy/special/_logsumexp.py'
    """
    if file.startswith(OURS):
        inside = file[len(OURS) :].replace(os.sep, "/")
        return f"s2sad/{inside}" if inside == "transform/definitions.py" or inside.startswith(_OF_SCIPY) else ""
    parts = file.replace(os.sep, "/").split("/")
    ends = [i for i, part in enumerate(parts) if part in _INSTALLED]
    return "/".join(parts[ends[-1] + 1 :]) if ends else ""


def is_foreign(function: types.FunctionType, file: str) -> bool:
    """Whether a function is of an installed package, and not of the one that the code in ``file`` is of."""
    own, other = (inside_library(f).partition("/")[0] for f in (file, function.__code__.co_filename))
    return bool(other) and own != other


def of_library(text: str, function: object, place: Place | None) -> tuple[str, str]:
    """What is said of a library's function that is refused because of something inside, at a place."""
    where = f" ({inside_library(place.file) or place.file}:{place.line})" if place is not None else ""
    if isinstance(function, types.FunctionType) and _OF_SCIPY in inside_library(function.__code__.co_filename):
        return f"{text} computes a first derivative, and has none itself{where}", ops.remedy(function) or _AGAIN
    what = f"{text} has no derivative rule, and its source cannot be followed as a whole"
    return what + where, ops.remedy(function) or OF_LIBRARY


def of_function(text: str, call: Any, function: types.FunctionType, file: str) -> tuple[str, str] | None:
    """Why a call in ``file`` of a function with source is not taken apart, and a remedy; None if it is."""
    why = obstacle(call, function)
    if why is None:
        return None
    foreign = is_foreign(function, file) and misfit(call, function) is None
    return of_library(text, function, None) if foreign else (f"{text} {why[0]}", why[1])


def of_callback(call: Any, text: str, lookup: Callable[[Any], tuple[bool, Any]]) -> tuple[str, str] | None:
    """Why no derivative passes through a function that calls others, and a remedy; None for one whose rule has theirs.

    Of what is known at run time only the derivative is made then, where it is checked that it writes nothing.
    """
    spec = ops.find(lookup(call.func)[1])
    if spec is None or spec.passes is None:
        return f"{text}(...) that calls a function has no derivative rule", CUSTOM
    if calls_writing(call, lookup):
        return f"{text}(...) calls a function that may write", "Give it a function that returns what it computes."
    return None


def of_member(name: str, cls: type) -> tuple[str, str]:
    """What is said of an operation that a class of the user's defines."""
    return f"no derivative can pass through {cls.__qualname__}.{name}, a method of an object", AS_FUNCTION


def of_method(func: Any, lookup: Lookup) -> tuple[str, str]:
    """What is said of a call of the method ``func`` of an object, the class of which may be known."""
    found, value = lookup(func.value)
    classes = value if isinstance(value, frozenset) and isinstance(func.value, gast.Name) else frozenset()
    owner = type(value) if found else min(classes, key=lambda c: c.__qualname__, default=None)
    name = func.attr
    text, receiver = str(gast.unparse(func)).strip(), str(gast.unparse(func.value)).strip()
    if (why := of_made(func.value, lookup)) is not None:
        return why
    if owner is types.ModuleType:
        what = f"{text}(...) is a function of a module that is known only at run time"
        return what, "Import the module, and call its functions by their own names."
    known = ops.method(name)
    remedy = ops.remedy(known.function) if known is not None and known.ordered else None
    if owner is None and remedy is not None:
        return f"{text}(...), which draws, has no derivative rule", remedy
    if owner is None and name not in MEMBERS:
        what = f"{text}(...) is a method of an object whose class is not known here, and methods are not followed"
        return what, _instead("its class", f"Class.{name}", receiver)
    if owner is None or not _is_users(owner):
        return f"the method {text}(...) has no derivative rule", remedy_of_member(name) or CUSTOM
    return _of_class(text, owner, name, receiver)


def _of_class(text: str, owner: type, name: str, receiver: str) -> tuple[str, str]:
    function = getattr(owner, name, None)
    does = "calls an object" if name == "__call__" else "is a method"
    what = f"{text}(...) {does} of the class {owner.__qualname__}, and methods are not followed"
    if not isinstance(function, types.FunctionType):
        return what, CUSTOM
    if inside_library(function.__code__.co_filename):
        return what, OF_LIBRARY
    if may_write(function):
        return what, f"Write {_VALUES}"
    return what, _instead("the class", f"{owner.__qualname__}.{name}", receiver)


def _instead(whose: str, function: str, receiver: str) -> str:
    return f"Call the function of {whose}, {function}({receiver}, ...), or write {_VALUES}"


def of_value(text: str, value: Any, named: Iterable[str] = ()) -> tuple[str, str]:
    """What is said of a call of something known that has neither rule nor source; ``named`` are its keywords."""
    module = package_of(value)
    remedy = ops.remedy(value)
    if value is with_keywords:
        return "a function that is known only at run time gets what is differentiated behind **", remedy or ONE_BY_ONE
    if (missing := ops.beyond_model(value, named)) is not None:
        return f"the argument {missing!r} of {text} has no derivative rule", remedy or CUSTOM
    if remedy is not None or isinstance(value, np.ufunc) or module == "numpy":
        return f"{text} has no derivative rule", remedy or CUSTOM
    if isinstance(value, type) and _is_users(value):
        what = f"{text}(...) makes an object of a class, through which no derivative passes"
        return what, "Keep the values in variables of their own, or in a tuple, list or dict."
    if _is_users(type(value)):
        return _of_class(text, type(value), "__call__", text)
    return f"{text} has no derivative rule", CUSTOM


def of_compiled(text: str) -> tuple[str, str]:
    """What is said of a call, for its effects, of a function of an extension module."""
    return f"{text}(...) has no source, and may write into what it is given", OF_LIBRARY


def of_unknown(text: str) -> tuple[str, str]:
    """What is said of a call of a local variable, an item or an attribute that may depend on what is differentiated."""
    return f"{text} is a function that is known only at run time, and may depend on what is differentiated", _PASSED


def of_made(made: Any, lookup: Lookup) -> tuple[str, str] | None:
    """What is said of an object that a call of a library's function or class makes; None of anything else."""
    found, maker = lookup(made.func) if isinstance(made, gast.Call) else (False, None)
    return of_value(str(gast.unparse(made.func)).strip(), maker) if found and ops.remedy(maker) else None


def of_writer(call: Any, lookup: Lookup, depends: Callable[[Any], bool], inside: bool = False) -> tuple[str, str]:
    """What is said of a call that writes what is differentiated, or into it, and is not taken apart.

    It stands ``inside`` of an expression, or is a statement of its own.
    """
    text = gast.unparse(call.func).strip()
    if is_starred(call):
        return f"{text}(...) is called with * or **", ONE_BY_ONE
    if inside:
        return f"{text}(...) writes, inside of what is not taken apart", "Put it on a line of its own."
    into = [part for part in written_parts(call, lookup) if lookup(part)[0]]
    if into and not any(map(depends, into)):
        what = f"{text}(...) puts what is differentiated into {gast.unparse(into[0]).strip()}, which is the module's"
        return what, "Return it as well (has_aux=True), or put a constant there: stop_gradient(np.copy(...))."
    if getattr(call.func, "attr", "") == "resize":
        what = f"{text}(...) changes the size of an array, and its adjoint and what shares its memory keep theirs"
        whole = gast.unparse(call.func.value).strip()
        return what, f"Write {whole} = np.resize({whole}, shape), or np.append({whole}, np.zeros(n)) where it grows."
    return f"{text}(...) changes an object that is differentiated", "Make a new object instead."


def of_array(node: Any, name: str, lookup: Lookup) -> tuple[str, str]:
    """What is said of an expression that writes into the module's array ``name``, or calls what may do so."""
    calls = [call for call in nodes_of(node) if isinstance(call, gast.Call)]
    if any(name in names_held(part, lookup) for call in calls for part in written_parts(call, lookup)):
        return f"{name} is the module's, and is written in place", OWN_ARRAY
    given = [call for call in calls if name in names_held(call, lookup)] or calls
    text = f"{gast.unparse(given[-1].func).strip()}(...)" if given else gast.unparse(node).strip()
    return f"{name} is the module's, and {text} may write into it", f"Give it a copy: np.copy({name})."


def _is_users(cls: type) -> bool:
    """Whether a class is written in Python by the user, with a method for calls of its objects or none of its own."""
    return package_of(cls) not in ("builtins", "numpy", "functools", "operator", "types")
