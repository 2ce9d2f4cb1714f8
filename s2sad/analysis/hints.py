"""What a function's text says of its parameters before any call: annotations and use."""

from __future__ import annotations

import types
from typing import Any

import gast
import numpy as np

from s2sad.analysis.facts import OPEN, SCALAR, Atom, Fact
from s2sad.frontend.methods import ATTRIBUTES, CONSTANT_ATTRIBUTES, METHODS
from s2sad.frontend.source import read_source


def hinted_facts(function: types.FunctionType) -> dict[str, Fact]:
    """Facts about the parameters of ``function``: of the kind that their annotations name, else as they are used.

    A parameter that is added, multiplied or handed to a NumPy function is a real number or array; one whose
    ``.shape`` is read, or that is sliced or stands beside ``@``, is a real array.
    """
    source = read_source(function)
    arguments = source.node.args
    names = [a.id for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    numbers: set[str] = set()
    arrays: set[str] = set()

    def name_of(node: Any) -> str:
        return node.id if isinstance(node, gast.Name) else ""

    for node in gast.walk(source.node):
        if isinstance(node, gast.BinOp):
            found = arrays if isinstance(node.op, gast.MatMult) else numbers
            found.update((name_of(node.left), name_of(node.right)))
        elif isinstance(node, gast.UnaryOp):
            numbers.add(name_of(node.operand))
        elif isinstance(node, gast.Attribute):
            if node.attr in CONSTANT_ATTRIBUTES or node.attr in ATTRIBUTES or node.attr in METHODS:
                arrays.add(name_of(node.value))
        elif isinstance(node, gast.Subscript):
            index = node.slice
            parts = index.elts if isinstance(index, gast.Tuple) else [index]
            if isinstance(index, gast.Tuple) or any(isinstance(p, gast.Slice) for p in parts):
                arrays.add(name_of(node.value))
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
            if function.__globals__.get(name_of(node.func.value)) is np:
                numbers.update(name_of(a) for a in node.args[:1])
    annotations = getattr(function, "__annotations__", {})
    facts = {}
    for name in names:
        kind = annotations.get(name)
        shape = frozenset({Atom(name)})
        if kind in (float, int, "float", "int"):
            facts[name] = SCALAR
        elif kind in (np.ndarray, "np.ndarray", "numpy.ndarray") or name in arrays:
            facts[name] = Fact("array", shape, None, True)
        elif name in numbers:
            facts[name] = Fact("numeric", shape, None, True)
        else:
            facts[name] = OPEN
    return facts
