"""From `Code` back to functions and their sources, for the passes and the frontend that read these."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Collection, Mapping
from dataclasses import replace

import gast

from s2sad.backend.python.expressions import UnfoldableError
from s2sad.backend.python.fold import function as tree_of
from s2sad.errors import SourceError
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import MADE, Source
from s2sad.frontend.trees import nodes_of
from s2sad.ir.code import Code, Place, Value
from s2sad.load import compiled
from s2sad.transform.coalesce import coalesced
from s2sad.transform.known import Home, NotSpecialisedError
from s2sad.transform.reads import read_late
from s2sad.transform.rename import NameClashError, renamed
from s2sad.transform.unfold import unfolded
from s2sad.transform.varied import varied

#: What may have to become a loop: nodes of the syntax tree, and names of functions.
_LOOPING = (gast.ListComp, gast.DictComp, gast.GeneratorExp)
_NAMES = frozenset(
    "map filter reduce accumulate chain from_iterable product pairwise islice starmap combinations permutations repeat "
    "zip_longest takewhile dropwhile extend".split()
)


def made_function(
    code: Code,
    home: Home,
    cells: Mapping[str, types.CellType],
    reads: Collection[Value],
    name: str,
    place: Place | None,
) -> tuple[types.FunctionType, Source]:
    """A function of the new program, and its source.

    Args:
        code: What it does.
        home: The text that it comes from, whose global names it sees.
        cells: The functions that it calls by names of their own.
        reads: Results of operations that may run later than they stand, see `read_late`.
        name: Its name.
        place: Where it is made or called.

    Raises:
        NotSpecialisedError: if it cannot be written.
    """
    original = home.source
    node = _tree(code, reads)
    node.name = name
    line = original.node.lineno if place is None else place.line
    node.lineno = node.end_lineno = line
    function = _function(node, original.function, cells)
    source = replace(original, function=function, name=name, node=gast.ast_to_gast(node))
    function.__dict__[MADE] = source
    return function, source


def same_function(code: Code, home: Home, cells: Mapping[str, types.CellType], reads: Collection[Value]) -> Source:
    """The source of a function whose body has been rewritten."""
    original = home.source
    body = _tree(code, reads).body
    whole = gast.gast_to_ast(original.node)
    whole.body, whole.decorator_list = body, []
    function = _function(whole, original.function, cells)
    function.__defaults__, function.__kwdefaults__ = original.function.__defaults__, original.function.__kwdefaults__
    node = gast.ast_to_gast(whole)
    return replace(original, function=function, node=node)


def with_loops(source: Source, wrt: Collection[str]) -> Source:
    """A function with loops for the comprehensions, generator expressions and the like that derivatives go through.

    Args:
        source: The function.
        wrt: The parameters with respect to which it is differentiated.
    """
    if not any(isinstance(node, _LOOPING) or getattr(node, "id", "") in _NAMES for node in nodes_of(source.node)):
        if _NAMES.isdisjoint(source.function.__code__.co_names):
            return source
    resolver = Resolver(source.function, frozenset())
    names: dict[str, tuple[bool, object]] = {}

    def lookup(name: str) -> object:
        if name not in names:
            names[name] = resolver.lookup(gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None))
        return names[name][1] if names[name][0] else None

    try:
        code = lower_function(source.node)
        made = unfolded(code, varied(code, wrt), lookup)
        if made is code:
            return source
        body = _tree(made, ()).body
    except (NotSpecialisedError, NameClashError, SourceError):
        return source
    whole = gast.gast_to_ast(source.node)
    whole.body = body
    return replace(source, node=gast.ast_to_gast(whole))


def _tree(code: Code, reads: Collection[Value]) -> ast.FunctionDef:
    try:
        made = tree_of(renamed(read_late(coalesced(code), reads)))
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
