"""What the calls of NumPy's and Python's own functions and methods write into: ``out``, or what they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.given import Given, given, is_built_in, is_numpy, is_own
from s2sad.frontend.trees import nodes_of
from s2sad.ir.nodes import Receiver
from s2sad.ir.traverse import place_of
from s2sad.ops.binding import spelled
from s2sad.runtime.classes import BUILT_IN_NAMES

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]


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
        spec = ops.spec_of(function)
        return is_numpy(function) or (spec is not None and spec.makes is not None)
    return is_built_in(node.func, lookup) and ops.function_of("method", node.func.attr) is not None


def writing_calls(node: Node, lookup: Lookup) -> Iterator[Node]:
    """The calls inside ``node`` of functions and methods that are known to write into what they are given."""
    for call in nodes_of(node):
        if isinstance(call, gast.Call) and is_writing(call, lookup):
            yield call


def is_writing(call: Node, lookup: Lookup) -> bool:
    """Whether a call is of a function or method that is known to write into what it is given."""
    return not is_own(lookup(call.func)[1]) and bool(given(call, lookup).written())


def written_parts(call: Node, lookup: Lookup) -> list[Node]:
    """What a call of a function or method that is known to write is given to write into."""
    return given(call, lookup).written()


def without_out(node: Node, known: Given) -> Node:
    """A call as it would be without its argument ``out``."""
    args, keywords = list(node.args), [k for k in node.keywords if k.arg not in ("out", spelled(known.spec, "out"))]
    at = known.names.index("out") if "out" in known.names else len(args)
    later = [(n, v) for n, v in zip(known.names[at:], args[at:], strict=False) if n != "out"]
    keywords = [*(gast.keyword(arg=n, value=v) for n, v in later), *keywords]
    return gast.copy_location(gast.Call(func=node.func, args=args[:at], keywords=keywords), node)
