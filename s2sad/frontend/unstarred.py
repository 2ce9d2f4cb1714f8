"""Functions with ``*args`` or ``**options``, as they are for calls with so many arguments and these names.

def f(x, *args, **options): ...       f(x, 2.0, w=3.0)

def f(x, args_0, *, w):
    args = (args_0,)
    options = {'w': w}
    ...

An option that has the name of something else that the function reads is no parameter of the same function:

def f(x, *, G): return f_2(x, {'G': G})

def f_2(x, options):
    ...
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2sad.errors import ArgumentError, SourceError
from s2sad.frontend.recompile import function_of, names_in
from s2sad.frontend.source import MADE, ORIGINAL, Source, read_source
from s2sad.frontend.trees import nodes_of

_Made = dict[tuple[Any, ...], types.FunctionType]
_made: weakref.WeakKeyDictionary[types.FunctionType, _Made] = weakref.WeakKeyDictionary()


def has_stars(function: types.FunctionType) -> bool:
    """Whether a function takes any number of arguments, or arguments of any name.

    Example:
        >>> has_stars(lambda *args: args), has_stars(lambda x: x)
        (True, False)
    """
    return bool(function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))


def unstarred(function: types.FunctionType, count: int, names: Sequence[str]) -> types.FunctionType:
    """A function for calls with ``count`` positional arguments and others by ``names``.

    It is the function itself if that takes no such arguments, or has no source.
    """
    if not has_stars(function):
        return function
    params = inspect.signature(function, follow_wrapped=False).parameters.values()
    positional = [p.name for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    own = {p.name for p in params if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    flags = function.__code__.co_flags
    more = max(count - len(positional), 0) if flags & inspect.CO_VARARGS else 0
    # Which of them come first is seen by a loop over the options.
    others = tuple([n for n in dict.fromkeys(names) if n not in own]) if flags & inspect.CO_VARKEYWORDS else ()
    if clashing := [n for n in others if n in positional]:
        message = f"the option {clashing[0]} of {function.__name__} has the name of an argument by position"
        raise ArgumentError(f"{message}\nPass it in a function of its own: lambda x: f(x, **options).")
    known = _made.setdefault(function, {})
    key = function.__code__, more, others
    if key not in known:
        try:
            known[key] = _expanded(function, more, others)
        except SourceError:
            return function
    made = known[key]
    made.__defaults__ = None if more else function.__defaults__
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _expanded(function: types.FunctionType, more: int, others: tuple[str, ...]) -> types.FunctionType:
    source = read_source(function)
    tree: Any = gast.ast_to_gast(gast.gast_to_ast(source.node))
    args = tree.args
    taken = {*names_in(function.__code__), *others}
    extra = list(_names(args.vararg.id, more, taken)) if args.vararg is not None else []
    values = {}
    if args.vararg is not None:
        values[args.vararg.id] = f"({''.join(f'{n}, ' for n in extra)})"
    if args.kwarg is not None:
        values[args.kwarg.id] = f"{{{', '.join(f'{n!r}: {n}' for n in others)}}}"
    if not _hidden(function, tree, others).isdisjoint(others):
        return _calling(source, extra, others, list(values.values()), taken)
    _set_parameters(args, extra, others)
    first = isinstance(tree.body[0], gast.Expr) and isinstance(tree.body[0].value, gast.Constant)
    start = [gast.parse(f"{name} = {value}").body[0] for name, value in values.items()]
    _located(start, source.node)
    tree.body[first:first] = start
    return _made_of(source, tree, function, {})


def _set_parameters(args: Any, extra: Sequence[str], others: Sequence[str]) -> None:
    """Let a function take arguments by these names in place of any number, and of any names."""
    args.args += [gast.Name(id=n, ctx=gast.Param(), annotation=None, type_comment=None) for n in extra]
    args.defaults = [] if extra else args.defaults
    args.kwonlyargs += [gast.Name(id=n, ctx=gast.Param(), annotation=None, type_comment=None) for n in others]
    args.kw_defaults += [None] * len(others)
    args.vararg = args.kwarg = None


def _hidden(function: types.FunctionType, tree: Any, others: Sequence[str]) -> set[str]:
    """What a function reads that parameters of these names would hide: the module's, and what is around it."""
    code = function.__code__
    named = {n.id for n in nodes_of(tree) if isinstance(n, gast.Name)}
    local = {*code.co_varnames, *code.co_cellvars}
    return {n for n in others if (n in named and n not in local) or (tree.args.vararg and n == tree.args.vararg.id)}


def _calling(
    source: Source, extra: Sequence[str], others: Sequence[str], values: list[str], taken: set[str]
) -> types.FunctionType:
    """A function with such parameters that calls one to which the rest is given in a tuple and a dict."""
    function = source.function
    inner: Any = gast.ast_to_gast(gast.gast_to_ast(source.node))
    outer: Any = gast.ast_to_gast(gast.gast_to_ast(source.node))
    given = inner.args
    positional = [p.id for p in (*given.posonlyargs, *given.args)]
    rest = [p for p in (given.vararg, given.kwarg) if p is not None]
    named = [p.id for p in given.kwonlyargs]
    given.args = [*given.posonlyargs, *given.args, *rest, *given.kwonlyargs]
    given.posonlyargs, given.kwonlyargs, given.defaults, given.kw_defaults = [], [], [], []
    given.vararg = given.kwarg = None
    called = _made_of(source, inner, function, {})
    name = next(iter(_names(function.__name__ if function.__name__.isidentifier() else "function", 1, taken)))
    _set_parameters(outer.args, extra, others)
    call: Any = gast.parse(f"{name}({', '.join([*positional, *values, *named])})").body[0]
    outer.body = [gast.Return(call.value)]
    outer.decorator_list = []
    _located(outer.body, source.node)
    return _made_of(source, outer, function, {name: types.CellType(called)})


def _made_of(
    source: Source, tree: Any, function: types.FunctionType, cells: Mapping[str, types.CellType]
) -> types.FunctionType:
    """The function of a definition, for which it stands itself."""
    gast.fix_missing_locations(tree)
    made = function_of(gast.gast_to_ast(tree), function, cells)
    made.__dict__[MADE] = replace(source, function=made, node=tree)
    made.__dict__[ORIGINAL] = function
    return made


def _located(statements: Sequence[Any], at: Any) -> None:
    for statement in statements:
        for part in gast.walk(statement):
            gast.copy_location(part, at)


def _names(stem: str, count: int, taken: set[str]) -> Iterator[str]:
    """New names for so many arguments."""
    for i in range(count):
        name = f"{stem}_{i}"
        while name in taken:
            name += "_"
        taken.add(name)
        yield name
