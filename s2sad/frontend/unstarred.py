"""Functions with ``*args`` or ``**options``, as they are for calls with so many arguments and these names.

def f(x, *args, **options): ...       f(x, 2.0, w=3.0)

def f(x, args_0, *, w):
    args = (args_0,)
    options = {'w': w}
    ...
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2sad.errors import SourceError
from s2sad.frontend.recompile import function_of
from s2sad.frontend.source import MADE, ORIGINAL, read_source

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
    others = tuple(sorted(set(names) - own)) if flags & inspect.CO_VARKEYWORDS else ()
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
    node = gast.gast_to_ast(source.node)
    tree: Any = gast.ast_to_gast(node)
    args = tree.args
    taken = {*function.__code__.co_varnames, *function.__code__.co_names, *others}
    start = []
    if args.vararg is not None:
        extra = list(_names(args.vararg.id, more, taken))
        args.args += [gast.Name(id=n, ctx=gast.Param(), annotation=None, type_comment=None) for n in extra]
        args.defaults = [] if more else args.defaults
        start.append(f"{args.vararg.id} = ({''.join(f'{n}, ' for n in extra)})")
    if args.kwarg is not None:
        args.kwonlyargs += [gast.Name(id=n, ctx=gast.Param(), annotation=None, type_comment=None) for n in others]
        args.kw_defaults += [None] * len(others)
        start.append(f"{args.kwarg.id} = {{{', '.join(f'{n!r}: {n}' for n in others)}}}")
    args.vararg = args.kwarg = None
    first = isinstance(tree.body[0], gast.Expr) and isinstance(tree.body[0].value, gast.Constant)
    for at, text in enumerate(start):
        statement = gast.parse(text).body[0]
        for part in gast.walk(statement):
            gast.copy_location(part, source.node)
        tree.body.insert(at + first, statement)
    gast.fix_missing_locations(tree)
    made = function_of(gast.gast_to_ast(tree), function, {})
    made.__dict__[MADE] = replace(source, function=made, node=tree)
    made.__dict__[ORIGINAL] = function
    return made


def _names(stem: str, count: int, taken: set[str]) -> Iterator[str]:
    """New names for so many arguments."""
    for i in range(count):
        name = f"{stem}_{i}"
        while name in taken:
            name += "_"
        taken.add(name)
        yield name
