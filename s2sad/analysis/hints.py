"""What a function's text says of its parameters before any call: annotations and use."""

from __future__ import annotations

import inspect
import types
from dataclasses import replace
from typing import Any, Literal

import gast
import numpy as np

from s2sad import ops
from s2sad.errors import S2SADError
from s2sad.frontend.dependence import assigned, stored_base
from s2sad.frontend.given import is_numpy
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import read_source
from s2sad.frontend.trees import nodes_of
from s2sad.ir.types import FLOAT, OPEN, Atom, Fact

Kind = Literal["open", "scalar", "numeric", "array"]
_KINDS: tuple[Kind, ...] = ("open", "scalar", "numeric", "array")


def hinted_facts(function: types.FunctionType) -> dict[str, Fact]:
    """Facts about the parameters of ``function``: of the kind that their annotations name, else as they are used.

    A parameter that is added, multiplied or handed to a NumPy function is a real number or array; one whose
    ``.shape`` is read, or that is sliced or stands beside ``@``, is a real array with axes.  One that is handed to
    another function is what that makes of it.
    """
    facts = {}
    for name, kind in _kinds(function, {}).items():
        shape = frozenset({Atom(name)})
        if kind == "scalar":
            facts[name] = FLOAT
        elif kind == "open":
            facts[name] = replace(OPEN, precision="double")
        else:
            facts[name] = Fact(kind, shape, None, True, precision="double", extended=kind == "array")
    return facts


def _kinds(function: types.FunctionType, seen: dict[types.FunctionType, dict[str, Kind]]) -> dict[str, Kind]:
    """The kind of each parameter; ``seen`` are those of the functions that were looked at before."""
    if function in seen:
        return seen[function]
    source = read_source(function)
    arguments = source.node.args
    names = [a.id for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    found: dict[str, Kind] = seen.setdefault(function, dict.fromkeys(names, "open"))
    resolver = Resolver(function, frozenset(assigned(source.node.body)) | set(names))
    rank = _KINDS.index

    def use(node: Any, kind: Kind) -> None:
        if isinstance(node, gast.Name) and node.id in found and rank(kind) > rank(found[node.id]):
            found[node.id] = kind

    for node in nodes_of(source.node):
        if isinstance(node, gast.BinOp):
            for operand in (node.left, node.right):
                use(operand, "array" if isinstance(node.op, gast.MatMult) else "numeric")
        elif isinstance(node, gast.UnaryOp):
            use(node.operand, "numeric")
        elif isinstance(node, gast.Attribute):
            if ops.attribute(node.attr) is not None or ops.function_of("method", node.attr) is not None:
                use(node.value, "array")
        elif isinstance(node, gast.Subscript):
            index = node.slice
            parts = index.elts if isinstance(index, gast.Tuple) else [index]
            if isinstance(index, gast.Tuple) or any(isinstance(p, gast.Slice) for p in parts):
                use(node.value, "array")
        elif isinstance(node, gast.Call):
            _, called = resolver.lookup(node.func)
            if isinstance(called, types.FunctionType) and not is_numpy(called):
                for operand, kind in _handed(node, called, seen):
                    use(operand, kind)
            elif called is not None and is_numpy(called):
                for operand in node.args[:1]:
                    use(operand, "array" if _is_of_matrices(called) else "numeric")
    for name in (*_containers(source.node), *_without_value(function)):
        if name in found:
            found[name] = "open"
    annotations = getattr(function, "__annotations__", {})
    for name in names:
        if annotations.get(name) in (float, int, "float", "int"):
            found[name] = "scalar"
        elif annotations.get(name) in (np.ndarray, "np.ndarray", "numpy.ndarray"):
            found[name] = "array"
    return found


def _is_of_matrices(function: Any) -> bool:
    return getattr(np.linalg, getattr(function, "__name__", ""), None) is function


def _without_value(function: types.FunctionType) -> list[str]:
    """The parameters that are None by default."""
    return [n for n, p in inspect.signature(function, follow_wrapped=False).parameters.items() if p.default is None]


def _containers(body: Any) -> set[str]:
    """The names of what surely is a list or dict: of which an item is a dict, is named by text or is taken apart."""
    found: set[str] = set()
    items: list[tuple[str | None, Any]] = []
    for node in nodes_of(body):
        if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Constant):
            if isinstance(node.slice.value, str) and (name := stored_base(node)) is not None:
                found.add(name)
        elif isinstance(node, gast.For):
            name = stored_base(node.iter)
            if isinstance(node.target, (gast.Tuple, gast.List)) and name is not None:
                found.add(name)
            items.append((node.target.id if isinstance(node.target, gast.Name) else None, name))
        elif isinstance(node, gast.Assign) and isinstance(node.value, gast.Subscript):
            items += [(t.id, stored_base(node.value)) for t in node.targets if isinstance(t, gast.Name)]
    return found | {whole for item, whole in items if item in found and whole is not None}


def _handed(
    call: Any, function: types.FunctionType, seen: dict[types.FunctionType, dict[str, Kind]]
) -> list[tuple[Any, Kind]]:
    """The arguments of a call, and what the function makes of each."""
    if any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return []
    try:
        kinds = _kinds(function, seen)
        bound = inspect.signature(function, follow_wrapped=False).bind_partial(
            *call.args, **{k.arg: k.value for k in call.keywords}
        )
    except (S2SADError, TypeError, ValueError):
        return []
    return [(value, kinds.get(name, "open")) for name, value in bound.arguments.items()]
