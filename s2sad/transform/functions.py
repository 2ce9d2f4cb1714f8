"""From `Code` back to functions and their sources, for the passes and the frontend that read these."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Collection, Mapping
from dataclasses import replace

import gast

from s2sad.backend.python.expressions import UnfoldableError
from s2sad.backend.python.fold import function as tree_of
from s2sad.effects.heap import TooMuch
from s2sad.errors import SourceError
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.recompile import function_of
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import MADE, Source
from s2sad.frontend.trees import nodes_of
from s2sad.ir.code import UNSET, Code, Place, Value
from s2sad.transform.coalesce import coalesced
from s2sad.transform.known import Home, NotSpecialisedError
from s2sad.transform.reads import in_arms, read_late
from s2sad.transform.rename import NameClashError, renamed
from s2sad.transform.unfold import unfolded
from s2sad.transform.varied import varied

#: What may have to become a loop: nodes of the syntax tree, and names of functions.
_LOOPING = (gast.ListComp, gast.DictComp, gast.GeneratorExp)
_NAMES = frozenset(
    "map filter reduce accumulate chain from_iterable product pairwise islice starmap combinations permutations repeat "
    "zip_longest takewhile dropwhile extend ndenumerate flat".split()
)
#: Arguments by which ``max`` and ``min`` call a function.
_KEYWORDS = ("key", "default")
_EXTREMES = ("max", "min")


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
        NotSpecialisedError: if it cannot be written, or is too long.
    """
    original = home.source
    node = _tree(code, reads, original.function)
    node.name = name
    line = original.node.lineno if place is None else place.line
    node.lineno = node.end_lineno = line
    function = compiled_function(node, original.function, cells)
    source = replace(original, function=function, name=name, node=gast.ast_to_gast(node))
    function.__dict__[MADE] = source
    return function, source


def compiled_function(
    node: ast.FunctionDef, original: types.FunctionType, cells: Mapping[str, types.CellType]
) -> types.FunctionType:
    """A function with the global names and cells of another.

    Raises:
        NotSpecialisedError: if Python does not compile it.
    """
    try:
        return function_of(node, original, cells)
    except SyntaxError:
        # Python compiles no more than twenty loops and attempts in one another.
        raise NotSpecialisedError("nested") from None


def same_function(code: Code, home: Home, cells: Mapping[str, types.CellType], reads: Collection[Value]) -> Source:
    """The source of a function whose body has been rewritten."""
    original = home.source
    body = _tree(code, reads, original.function).body
    whole = gast.gast_to_ast(original.node)
    whole.body, whole.decorator_list = body, []
    function = function_of(whole, original.function, cells)
    node = gast.ast_to_gast(whole)
    return replace(original, function=function, node=node)


def with_loops(source: Source, wrt: Collection[str]) -> tuple[Source, tuple[Guard, ...]]:
    """A function with loops for the comprehensions, generator expressions and the like that derivatives go through.

    With it comes what that rests on: what is unfolded may be mentioned no more.

    Args:
        source: The function.
        wrt: The parameters with respect to which it is differentiated.
    """
    if not any(map(_is_looping, nodes_of(source.node))) and not _may_unfold(source.function):
        return source, ()
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
            return source, ()
        body = _tree(made, (), source.function).body
    except (NotSpecialisedError, NameClashError, SourceError):
        return source, ()
    whole = gast.gast_to_ast(source.node)
    whole.body = body
    return replace(source, node=gast.ast_to_gast(whole)), tuple(resolver.guards.values())


def _is_looping(node: gast.AST) -> bool:
    if isinstance(node, gast.keyword):
        return node.arg in _KEYWORDS
    if isinstance(node, gast.Call) and getattr(node.func, "id", "") in _EXTREMES and len(node.args) == 1:
        return isinstance(node.args[0], gast.Call)
    if isinstance(node, gast.Call) and getattr(node.func, "id", "") == "zip":
        return any(isinstance(arg, gast.Starred) for arg in node.args)
    return isinstance(node, _LOOPING) or getattr(node, "id", "") in _NAMES


def _may_unfold(function: types.FunctionType) -> bool:
    """Whether a function mentions names of what is unfolded, or reads `operator` or one of its functions."""
    names = function.__code__.co_names
    if not _NAMES.isdisjoint(names):
        return True
    values = [function.__globals__.get(name) for name in names]
    return any(v is operator or (type(v) is types.BuiltinFunctionType and v.__module__ == "_operator") for v in values)


def _tree(code: Code, reads: Collection[Value], function: types.FunctionType) -> ast.FunctionDef:
    """A function as a ``def`` that stands where ``function`` does."""
    has_slice = "slice" not in function.__globals__ and "slice" not in function.__code__.co_freevars
    try:
        # Variables may change after a comparison was made.
        sunk = in_arms(code, reads)
        made = tree_of(renamed(read_late(coalesced(sunk), reads)), has_slice)
    except (UnfoldableError, NameClashError) as error:
        raise NotSpecialisedError(str(error)) from error
    except TooMuch as error:
        raise NotSpecialisedError("size") from error
    assert isinstance(made, ast.FunctionDef)
    if any(isinstance(node, ast.Constant) and node.value is UNSET.value for node in ast.walk(made)):
        # A part that always raises where it is reached: it uses a variable before that has a value.
        raise NotSpecialisedError("unset")
    return made
