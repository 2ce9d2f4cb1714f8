"""Modules whose functions go through `Code`: to text and back, or run by the interpreter."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad.backend.python.fold import function
from s2sad.frontend.lower_statements import lower_function
from s2sad.ir.code import Code
from s2sad.ir.interpret import interpreted
from s2sad.ir.verify import verify


def functions(tree: Any, syntax: Any) -> Iterator[Any]:
    """The functions of a module and of its classes, in order, without those inside of others."""
    for node in syntax.iter_child_nodes(tree):
        if isinstance(node, (syntax.FunctionDef, syntax.AsyncFunctionDef)):
            yield node
        elif not isinstance(node, syntax.Lambda):
            yield from functions(node, syntax)


def pairs(source: str) -> Iterator[tuple[Any, Any]]:
    """Each function as it is, and as it comes out of `Code`."""
    tree, other = ast.parse(source), gast.parse(source)
    for node, lowered in zip(functions(tree, ast), functions(other, gast), strict=True):
        made = function(verify(lower_function(lowered)))
        bare = ast.parse(ast.unparse(node)).body[0]
        assert isinstance(bare, (ast.FunctionDef, ast.AsyncFunctionDef))
        bare.decorator_list, bare.returns = [], None
        given = bare.args
        for param in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if param is not None:
                param.annotation = None
        given.defaults, given.kw_defaults = [], [None] * len(given.kwonlyargs)
        yield bare, made


def through_text(source: str, change: Callable[[Code], Code] = lambda code: code) -> str:
    """A module with the bodies that come out of `Code`, after a change of each."""
    tree, other = ast.parse(source), gast.parse(source)
    for node, lowered in zip(functions(tree, ast), functions(other, gast), strict=True):
        # As text and back: the text is what counts.
        node.body = ast.parse(ast.unparse(function(verify(change(lower_function(lowered)))))).body[0].body
    return ast.unparse(tree)


def by_interpreter(names: dict[str, Any], source: str) -> int:
    """Let the interpreter run the functions of a module that has been executed; how many these are."""
    count = 0
    for node in functions(gast.parse(source), gast):
        made = names.get(node.name)
        if (
            isinstance(made, types.FunctionType)
            and made.__code__.co_firstlineno <= node.lineno
            and not made.__closure__
        ):
            given = inspect.signature(made).parameters.values()
            defaults = {p.name: p.default for p in given if p.default is not p.empty}
            run = interpreted(verify(lower_function(node)), names, defaults)
            names[node.name] = run
            # Programs read and change what functions hold.
            vars(run).update(vars(made))
            for attribute in ("__defaults__", "__kwdefaults__"):
                setattr(run, attribute, getattr(made, attribute))
            count += 1
    return count
