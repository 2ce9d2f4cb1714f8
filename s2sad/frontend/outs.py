"""What the calls of NumPy's and Python's own functions and methods write into: ``out``, or what they change."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend import methods
from s2sad.frontend.resolve import Member
from s2sad.frontend.trees import nodes_of
from s2sad.ir.nodes import Receiver
from s2sad.ir.traverse import place_of
from s2sad.runtime.classes import BUILT_IN_NAMES

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]

#: Where ``out`` stands in functions whose signature Python does not know.
_OUT = {id(np.dot): 2, id(np.concatenate): 2}
#: Where it stands in the methods of universal functions.
_OUT_OF_METHODS = {"reduce": 3, "accumulate": 3, "reduceat": 4}
#: Where it stands in the methods of random generators.
_OUT_OF_DRAWING = {"random": 2, "standard_normal": 2, "standard_exponential": 3, "standard_gamma": 3}


def is_numpy(function: object) -> bool:
    """Whether a function is NumPy's own, or an operation of SciPy's, and free of side effects.

    ``np.random`` and vectorized functions are not.
    """
    if isinstance(function, (np.ufunc, np.vectorize)):
        return isinstance(function, np.ufunc)
    module = getattr(function, "__module__", None) or ""
    if module.partition(".")[0] == "scipy":
        known = ops.spec_of(function)
        return known is not None and not (known.calls or known.stores or known.writes or known.ordered)
    return module.partition(".")[0] == "numpy" and not module.startswith("numpy.random")


def is_own(function: object) -> bool:
    """Whether a function is the user's, so that the names of its parameters mean what they mean there."""
    return isinstance(function, types.FunctionType) and not is_numpy(function)


def is_built_in(func: Node, lookup: Lookup) -> bool:
    """Whether what is called is a method, and that of a built-in class if the class of the object has it at all."""
    found, function = lookup(func)
    return not found and isinstance(func, gast.Attribute) and not isinstance(function, Member)


def unchecked_receivers(node: Node, lookup: Lookup) -> Iterator[Receiver]:
    """The objects in an expression whose methods are taken for those of a built-in class without it being known."""
    for call in nodes_of(node):
        func = call.func if isinstance(call, gast.Call) else None
        if func is not None and is_built_in(func, lookup) and func.attr in BUILT_IN_NAMES:
            if not lookup(func.value)[0] and not _makes_built_in(func.value, lookup):
                yield place_of(func.value), func.value.id if isinstance(func.value, gast.Name) else ""


def _makes_built_in(node: Node, lookup: Lookup) -> bool:
    """Whether the value of an expression surely is of a built-in class."""
    if isinstance(node, (gast.Constant, gast.JoinedStr, gast.List, gast.Tuple, gast.Dict, gast.Set, gast.ListComp)):
        return True
    if not isinstance(node, gast.Call):
        return False
    found, function = lookup(node.func)
    if found:
        return is_numpy(function) or function in (str, list, tuple, dict, set, float, sorted)
    return is_built_in(node.func, lookup) and node.func.attr in methods.METHODS


def out_of(call: Node, function: Any, receivers: int = 0) -> list[Node]:
    """What a call of a NumPy function gives for ``out``, by name or position (``receivers`` are not among ``args``)."""
    return [*_placed_out(call, function, receivers), *given_out(call)]


def _placed_out(call: Node, function: Any, receivers: int) -> list[Node]:
    """What stands where ``out`` does among the arguments of a call."""
    position = _position(function)
    if position is None:
        return []
    at = position - receivers
    placed = call.args[at:] if isinstance(function, np.ufunc) else call.args[at : at + 1]
    return [p for p in placed if not is_none(p)]


def is_none(node: Node) -> bool:
    """Whether ``node`` is ``None`` as it is written."""
    return isinstance(node, gast.Constant) and node.value is None


def _position(function: Any) -> int | None:
    """The position of the parameter ``out`` of a NumPy function."""
    if isinstance(function, np.ufunc):
        return function.nin
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return _OUT_OF_METHODS.get(function.__name__)
    known = ops.find(function) or ops.is_constant(function) or is_numpy(function)
    return _position_by_name(function) if known else None


@functools.cache
def _position_by_name(function: Any) -> int | None:
    names = _positional(function)
    return names.index("out") if "out" in names else _OUT.get(id(function))


def parameters(function: Any) -> list[str]:
    """The names of all parameters of a function, or none where Python does not know them."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _positional(function: Any) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def writing_calls(node: Node, lookup: Lookup) -> Iterator[Node]:
    """The calls inside ``node`` of functions and methods that are known to write into what they are given."""
    for call in nodes_of(node):
        if isinstance(call, gast.Call) and is_writing(call, lookup):
            yield call


def is_writing(call: Node, lookup: Lookup) -> bool:
    """Whether a call is of a function or method that is known to write into what it is given."""
    given = [] if is_own(lookup(call.func)[1]) else given_out(call)
    return any(True for _ in (*given, *changed(call, lookup), *hidden_outs(call, lookup)))


def written_parts(call: Node, lookup: Lookup) -> list[Node]:
    """What a call of a function or method that is known to write is given to write into."""
    return [*given_out(call), *changed(call, lookup), *hidden_outs(call, lookup)]


def changed(call: Node, lookup: Lookup) -> list[Node]:
    """What a call changes because that is the purpose of the function or method."""
    found, function = lookup(call.func)
    if is_built_in(call.func, lookup) and call.func.attr in methods.MUTATING_METHODS:
        return [call.func.value, *(call.args if call.func.attr == "shuffle" else [])]
    if found and (writes_first(function) or function is next):
        # An iterator may give the same array once more, with other contents.
        return call.args[:1] or [k.value for k in call.keywords]
    return list(call.args) if found and getattr(function, "__name__", "") == "shuffle" else []


def writes_first(function: object) -> bool:
    """Whether a function writes into its first argument."""
    if id(function) in methods.MUTATING_FUNCTIONS:
        return True
    owner = getattr(function, "__self__", None)
    return isinstance(owner, np.ufunc) and getattr(function, "__name__", "") == "at"


def given_out(call: Node) -> list[Node]:
    """What a call is given by the name ``out``."""
    given = [k.value for k in call.keywords if k.arg == "out"]
    return [v for v in given if not is_none(v)]


def hidden_outs(call: Node, lookup: Lookup) -> Iterator[Node]:
    """What a call of a NumPy function may write into that is not named ``out``.

    It stands where ``out`` does, or behind ``**``, or an option asks that an argument be used as working space.
    """
    found, function = lookup(call.func)
    receivers = 0
    if isinstance(function, Member):
        return
    drawing = not found or isinstance(getattr(function, "__self__", None), np.random.Generator)
    if drawing and isinstance(call.func, gast.Attribute) and call.func.attr in _OUT_OF_DRAWING:
        place = _OUT_OF_DRAWING[call.func.attr]
        yield from [a for a in call.args[place : place + 1] if not is_none(a)]
        yield from [a for a in call.args if isinstance(a, gast.Starred)]
        yield from [k.value for k in call.keywords if not k.arg]
        return
    if not found and isinstance(call.func, gast.Attribute):
        function, receivers = methods.METHODS.get(call.func.attr), 1
    if function is None:
        return
    starred = [a for a in call.args if isinstance(a, gast.Starred)] + [k.value for k in call.keywords if not k.arg]
    if starred:
        yield from starred if is_numpy(function) else ()
        return
    for out in _placed_out(call, function, receivers):
        yield from out.elts if isinstance(out, (gast.Tuple, gast.List)) else [out]
    option, harmless = methods.OVERWRITING_OPTIONS.get(id(function), ("", None))
    names = parameters(function) if option else []
    given = dict(zip(names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords}
    if option in given and not (isinstance(given[option], gast.Constant) and given[option].value is harmless):
        yield given[names[0]]
    yield from _overwritten(call, function)


def _overwritten(call: Node, function: Any) -> Iterator[Node]:
    """What a call lets a function of SciPy use as working space: ``a`` where it says ``overwrite_a=True``."""
    if (getattr(function, "__module__", None) or "").partition(".")[0] != "scipy":
        return
    given = dict(zip(_positional(function), call.args, strict=False)) | {k.arg: k.value for k in call.keywords}
    for option, value in given.items():
        name = (option or "").removeprefix("overwrite_")
        if name != option and not (isinstance(value, gast.Constant) and value.value is False):
            yield from [v for k, v in given.items() if k is not None and k.lower() == name]


def without_out(node: Node, function: Any, receivers: int) -> Node:
    """A call as it would be without its argument ``out``."""
    args, keywords = list(node.args), [k for k in node.keywords if k.arg != "out"]
    position = _position(function)
    if position is not None and position - receivers < len(args):
        names = [] if isinstance(function, np.ufunc) else _positional(function)[position + 1 :]
        later = args[position - receivers + 1 :]
        keywords = [*(gast.keyword(arg=n, value=v) for n, v in zip(names, later, strict=False)), *keywords]
        args = args[: position - receivers]
    return gast.copy_location(gast.Call(func=node.func, args=args, keywords=keywords), node)
