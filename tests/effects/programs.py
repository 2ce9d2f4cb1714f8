"""Programs to analyse, as text."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import gast
import numpy as np

from s2sad.effects.mod_ref import Context, Program
from s2sad.frontend.lower_statements import lower_function
from s2sad.ir.code import Code
from s2sad.ir.verify import verify
from tests.rewriting import functions


def executed(source: str) -> dict[str, Any]:
    """The names of a module."""
    names: dict[str, Any] = {"np": np, "__name__": "model"}
    exec(compile(source, "<model>", "exec", dont_inherit=True), names)
    return names


def program(source: str) -> Program:
    """What analyses the functions of a module, which are found by where they stand."""
    codes: dict[tuple[str, int], Code] = {}
    for node in functions(gast.parse(source), gast):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        codes[node.name, first] = verify(lower_function(node))

    def find(function: types.FunctionType) -> Code | None:
        return codes.get((function.__name__, function.__code__.co_firstlineno))

    return Program(find)


def analysed(source: str, args: Sequence[Any] | None = None, apart: bool = False) -> Context:
    """The analysis of the function ``f`` of a module."""
    found = executed(source)["f"]
    return program(source).analysed(found, args, apart)
