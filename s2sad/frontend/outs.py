"""Which argument of a call of a NumPy function is the array that it writes its result into: ``out``."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad import rules
from s2sad.frontend import methods
from s2sad.frontend.dependence import stored_base
from s2sad.frontend.trees import nodes_of

Node = Any

#: Where ``out`` stands in functions whose signature Python does not know.
_OUT = {id(np.dot): 2, id(np.concatenate): 2}
#: Where it stands in the methods of universal functions.
_OUT_OF_METHODS = {"reduce": 3, "accumulate": 3, "reduceat": 4}


def is_numpy(function: object) -> bool:
    """Whether a function is NumPy's own and free of side effects (``np.random`` is not)."""
    if isinstance(function, np.ufunc):
        return True
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] == "numpy" and not module.startswith("numpy.random")


def is_own(function: object) -> bool:
    """Whether a function is the user's, so that the names of its parameters mean what they mean there."""
    return isinstance(function, types.FunctionType) and not is_numpy(function)


def writes_out(node: Node) -> bool:
    """Whether a call is given something for ``out``."""
    given = [k.value for k in node.keywords if k.arg == "out"]
    return any(not (isinstance(v, gast.Constant) and v.value is None) for v in given)


def out_of(call: Node, function: Any, receivers: int = 0) -> list[Node]:
    """What a call of a NumPy function gives for ``out``, by name or position (``receivers`` are not among ``args``)."""
    named = [k.value for k in call.keywords if k.arg == "out"]
    position = _position(function)
    at = None if position is None else position - receivers
    if isinstance(function, np.ufunc):
        return [*call.args[at:], *named]
    return [*([call.args[at]] if at is not None and at < len(call.args) else []), *named]


def _position(function: Any) -> int | None:
    """The position of the parameter ``out`` of a NumPy function."""
    if isinstance(function, np.ufunc):
        return function.nin
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return _OUT_OF_METHODS.get(function.__name__)
    known = rules.find(function) or rules.is_constant(function) or is_numpy(function)
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


def writing_calls(node: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> Iterator[Node]:
    """The calls inside ``node`` of functions and methods that are known to write into what they are given."""
    for call in nodes_of(node):
        if isinstance(call, gast.Call):
            found, function = lookup(call.func)
            method = not found and isinstance(call.func, gast.Attribute)
            if (
                (writes_out(call) and not is_own(function))
                or (found and id(function) in methods.MUTATING_FUNCTIONS)
                or (found and isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ == "at")
                or (method and call.func.attr in methods.MUTATING_METHODS)
                or any(True for _ in _hidden_in(call, lookup))
            ):
                yield call


def hidden_outs(node: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> Iterator[str]:
    """The local names that the calls inside ``node`` may write: they stand where ``out`` does, or behind ``**``."""
    for call in nodes_of(node):
        if isinstance(call, gast.Call):
            yield from _hidden_in(call, lookup)


def _hidden_in(call: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> Iterator[str]:
    found, function = lookup(call.func)
    receivers = 0
    if not found and isinstance(call.func, gast.Attribute):
        function, receivers = methods.METHODS.get(call.func.attr), 1
    if function is None:
        return
    starred = [a for a in call.args if isinstance(a, gast.Starred)] + [k.value for k in call.keywords if not k.arg]
    if starred and is_numpy(function):
        yield from (n.id for value in starred for n in nodes_of(value) if isinstance(n, gast.Name))
    elif not starred:
        for out in out_of(call, function, receivers):
            for part in out.elts if isinstance(out, (gast.Tuple, gast.List)) else [out]:
                name = stored_base(part)
                if name is not None:
                    yield name


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
