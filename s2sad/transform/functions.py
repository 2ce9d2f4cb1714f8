"""From `Code` back to functions and their sources, for the passes and the frontend that read these."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Mapping
from dataclasses import replace

import gast

from s2sad.backend.python.expressions import UnfoldableError
from s2sad.backend.python.fold import function as tree_of
from s2sad.frontend.source import MADE, Source
from s2sad.ir.code import Code, Place
from s2sad.load import compiled
from s2sad.transform.coalesce import coalesced
from s2sad.transform.known import Home, NotSpecialisedError
from s2sad.transform.rename import NameClashError, renamed


def made_function(
    code: Code, home: Home, cells: Mapping[str, types.CellType], name: str, place: Place | None
) -> tuple[types.FunctionType, Source]:
    """A function of the new program, and its source.

    Args:
        code: What it does.
        home: The text that it comes from, whose global names it sees.
        cells: The functions that it calls by names of their own.
        name: Its name.
        place: Where it is made or called.

    Raises:
        NotSpecialisedError: if it cannot be written.
    """
    original = home.source
    node = _tree(code)
    node.name = name
    line = original.node.lineno if place is None else place.line
    node.lineno = node.end_lineno = line
    function = _function(node, original.function, cells)
    source = replace(original, function=function, name=name, node=gast.ast_to_gast(node))
    function.__dict__[MADE] = source
    return function, source


def same_function(code: Code, home: Home, cells: Mapping[str, types.CellType]) -> Source:
    """The source of a function whose body has been rewritten."""
    original = home.source
    body = _tree(code).body
    whole = gast.gast_to_ast(original.node)
    whole.body, whole.decorator_list = body, []
    function = _function(whole, original.function, cells)
    function.__defaults__, function.__kwdefaults__ = original.function.__defaults__, original.function.__kwdefaults__
    node = gast.ast_to_gast(whole)
    return replace(original, function=function, node=node)


def _tree(code: Code) -> ast.FunctionDef:
    try:
        made = tree_of(renamed(coalesced(code)))
    except (UnfoldableError, NameClashError) as error:
        raise NotSpecialisedError(str(error)) from error
    assert isinstance(made, ast.FunctionDef)
    return made


def _function(
    node: ast.FunctionDef, original: types.FunctionType, cells: Mapping[str, types.CellType]
) -> types.FunctionType:
    """A function with the global names and cells of another, and further cells."""
    bare = ast.FunctionDef(**{**vars(node), "args": _without_defaults(node.args), "returns": None})
    outer = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    known = {**outer, **cells}
    code = compiled([bare], original.__code__.co_filename, list(known))[node.name]
    closure = tuple([known[name] for name in code.co_freevars])
    function = types.FunctionType(code, original.__globals__, node.name, None, closure)
    function.__module__, function.__qualname__ = original.__module__, node.name
    return function


def _without_defaults(args: ast.arguments) -> ast.arguments:
    """Parameters without annotations, and with any default values where there are some."""
    made = copy.deepcopy(args)
    none = ast.copy_location(ast.Constant(None), ast.Name("_", lineno=1, col_offset=0, end_lineno=1, end_col_offset=0))
    made.defaults = [none for _ in args.defaults]
    made.kw_defaults = [d and none for d in args.kw_defaults]
    for param in [*made.posonlyargs, *made.args, *made.kwonlyargs, made.vararg, made.kwarg]:
        if param is not None:
            param.annotation = None
    return made
