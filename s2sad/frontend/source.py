"""From a function object to the source text that it runs, and its syntax tree.

:func:`read_source` finds the text of a function in its file (or notebook cell,
through ``linecache``), parses that text alone, and *compiles it again to
compare it with the code that is running*: a text that was edited since is never
differentiated.  All nodes keep the line numbers and columns of the original
file, so that every later message can point at it.

The text of an indented function is not dedented, which would change the
columns and the strings of several lines; it is parsed below an ``if 1:``.
"""

from __future__ import annotations

import ast
import inspect
import io
import linecache
import os
import re
import tokenize
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import gast

from s2sad import ops
from s2sad.errors import Place, SourceError, Violation, located
from s2sad.frontend.private import spell_out
from s2sad.frontend.recompile import FUTURE, enclosing_class, is_source_of, names_in, same_positions, silenced
from s2sad.runtime.classes import module_of

_UNUSUAL = {
    inspect.CO_GENERATOR: "a generator function",
    inspect.CO_COROUTINE: "an async function",
    inspect.CO_ITERABLE_COROUTINE: "an async function",
    inspect.CO_ASYNC_GENERATOR: "an async generator function",
}

#: The folder of this package, be it installed or not.
OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
#: The attribute of functions made by the compiler in which their source is.
MADE = "__s2sad_source__"
#: That of functions made for calls of others, in which the other one is.
ORIGINAL = "__s2sad_original__"
_COMPILED_TYPES = {
    *("ufunc", "method_descriptor", "wrapper_descriptor", "method-wrapper", "cython_function_or_method"),
    "_ArrayFunctionDispatcher",
}


@dataclass(frozen=True)
class Snapshot:
    """A list or dict that exists, a copy of it as it is when a program is compiled, and the text that makes one.

    The ``text`` reads the variable ``root`` of a ``namespace``.  The ``value`` is held so that no other object gets its
    identity.
    """

    value: Any
    copied: Any
    namespace: Mapping[str, Any]
    root: str
    text: str


@dataclass(frozen=True, eq=False)
class Source:
    """A function with its text and tree.

    ``node`` is a ``gast.FunctionDef``, for a lambda as well (with one ``return``),
    and its positions are those of the file.  ``name`` is an identifier: the name in
    the ``def`` statement, or ``lambda_``.  ``lines`` are the lines of the file
    from ``first_line`` on (decorators included) to the function's last one.
    """

    function: types.FunctionType
    name: str
    file: str
    first_line: int
    lines: tuple[str, ...]
    node: gast.FunctionDef
    #: Why functions and objects that it makes stay as they are, if they do.
    obstacle: Violation | None = None
    #: The function that it is a version of, with some arguments known.
    origin: Any = None
    #: The lists and dicts that it is compiled for, by their identity.
    snapshots: Mapping[int, Snapshot] = field(default_factory=dict, compare=False)
    #: The names that functions made for it mention, and the lists and dicts that its program reads, by their identity.
    mentioned: frozenset[str] = field(default=frozenset(), compare=False)
    read: frozenset[int] = field(default=frozenset(), compare=False)

    @property
    def is_ours(self) -> bool:
        """Whether it stands for a function of Python or a library, in a file of this package."""
        return self.file.startswith(OURS)

    def line(self, number: int) -> str:
        """Return one line of the file without its end."""
        index = number - self.first_line
        if 0 <= index < len(self.lines):
            return self.lines[index]
        # Of a function that has been inlined.
        return linecache.getline(self.file, number).rstrip("\r\n")

    def place(self, node: gast.AST | int) -> Place:
        """Return where a node stands; for one without a position, where what is in it does; or where a line is."""
        if isinstance(node, int):
            number = node or self.node.lineno
            text = self.line(number)
            return Place(self.file, number, len(text) - len(text.lstrip()), len(text.rstrip()), text)
        found = next((inner for inner in gast.walk(node) if getattr(inner, "lineno", None) is not None), self.node)
        line: int = found.lineno
        end: int | None = found.end_col_offset if found.end_lineno == line else None
        return Place(self.file, line, found.col_offset, end, self.line(line))


def read_source(function: Callable[..., Any], generators: bool = False) -> Source:
    """Read, check and parse the source of a plain Python function or lambda.

    The function itself is read, never what it wraps (``__wrapped__``): a decorator
    may do anything.  Decorators in the text are what made other objects of it, and
    are ignored.

    Args:
        function: A function object: global, nested, a method taken from its class,
            or a lambda (several on one line are told apart by their columns).
        generators: Whether it may be a generator function.

    Raises:
        SourceError: if it is not such a function, if it has no source, or if the
            source on disk is not the one that runs.

    Example:
        >>> from s2sad.errors import located
        >>> read_source(located).name
        'located'
    """
    plain = _plain_function(function, generators)
    made = plain.__dict__.get(MADE)
    if isinstance(made, Source):
        return made
    code = plain.__code__
    file = code.co_filename
    texts = _texts(plain)
    if not texts:
        raise SourceError(_no_source(plain))
    for lines in texts:
        try:
            with silenced():
                found = _find_lambda(plain, lines) if code.co_name == "<lambda>" else _find_def(plain, lines)
        except RecursionError as error:
            raise SourceError(
                _at(code, f"{_called(plain)} nests expressions deeper than Python's recursion limit")
                + "\nSplit the long expression into several statements."
            ) from error
        if found is not None:
            node, last = found
            owner = enclosing_class(code.co_qualname)
            if owner is not None and any(f"_{owner.lstrip('_')}__" in name for name in names_in(code)):
                spell_out(node, owner)
            first = code.co_firstlineno
            name = node.name
            text = tuple(line.rstrip("\r\n") for line in lines[first - 1 : last])
            return Source(plain, name, file, first, text, node)
    raise SourceError(
        _at(code, f"the source of {_called(plain)} is not the code that is running")
        + "\nThe file has been edited since it was imported, or an import hook rewrote the function."
        + " Import the module again (importlib.reload), or restart Python."
    )


# --- what is a plain function ------------------------------------------------


def _plain_function(function: object, generators: bool) -> types.FunctionType:
    """Return the argument if it is a Python function with ordinary calls, or say what it is."""
    if not isinstance(function, types.FunctionType):
        refuse(function)
    for flag, what in _UNUSUAL.items():
        if function.__code__.co_flags & flag and not (generators and flag == inspect.CO_GENERATOR):
            raise SourceError(
                _at(function.__code__, f"{_called(function)} is {what}, which has no derivative")
                + "\nWrite it as a plain function that returns its result."
            )
    return function


def refuse(function: object) -> NoReturn:
    """Say what an object is that has no source: `s2sad.callables` finds the function in one that has."""
    what, remedy = _explain(function)
    raise SourceError(f"error: {_called(function)} has no Python source to differentiate: it is {what}\n{remedy}")


def _explain(function: object) -> tuple[str, str]:
    """Say what a callable is that is not a Python function, and what to do with it."""
    if isinstance(function, type):
        return "a class", "Differentiate a function that makes the object and returns a number."
    if isinstance(function, (classmethod, property)):
        return f"a {type(function).__name__} object", "Differentiate the function inside it (.__func__ or .fget)."
    if isinstance(function, types.BuiltinFunctionType) or type(function).__name__ in _COMPILED_TYPES:
        remedy = ops.remedy(function) or "Write it with supported operations."
        return "a built-in (C) function without derivative rule", remedy
    if not callable(function):
        return f"not callable, but an object of class {type(function).__qualname__}", "Pass a function."
    return (
        f"an object of class {type(function).__qualname__}, the code of which is not known",
        "Write a function of your own that computes the same.",
    )


def _called(function: object) -> str:
    """Return the name by which a message calls a callable."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not isinstance(name, str):
        return f"{type(function).__qualname__} object"
    if isinstance(function, types.FunctionType):
        return name
    module = module_of(function)
    return f"{module}.{name}" if module not in ("", "builtins") else name


def _at(code: types.CodeType, message: str) -> str:
    line = linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
    column = len(line.encode()) - len(line.lstrip().encode())
    return located(Place(code.co_filename, code.co_firstlineno, column, None, line), message, "")


def _no_source(function: types.FunctionType) -> str:
    code = function.__code__
    where = f"{code.co_filename}:{code.co_firstlineno}"
    remedy = "Put the function into a file, or into a notebook cell: s2sad reads its text."
    if code.co_filename.startswith("<"):
        reason = "it was made by exec or typed at a prompt"
    else:
        reason = "that file cannot be read"
    return f"error: {_called(function)} ({where}) has no source text: {reason}\n{remedy}"


# --- its text ----------------------------------------------------------------


def _texts(function: types.FunctionType) -> list[list[str]]:
    """Return the lines of the function's file as they are now, then as they were read before."""
    file = function.__code__.co_filename
    before: list[str] = []
    entry = linecache.cache.get(file)
    if entry is not None and len(entry) == 4:
        before = entry[2]
    linecache.checkcache(file)
    now = linecache.getlines(file, function.__globals__)
    if not now and file.startswith("<frozen "):
        # Of the modules in the interpreter those of the library have a file nevertheless.
        now = linecache.getlines(function.__globals__.get("__file__") or "")
    return [lines for lines in (now, before if before is not now else []) if lines]


def _parse(lines: Sequence[str], first: int, flags: int, file: str) -> ast.stmt | None:
    """Parse lines that hold one statement, at any indentation; its positions are the file's."""
    indented = lines[0][:1] in " \t\f"
    text = ("if 1:\n" if indented else "") + "".join(lines)
    try:
        tree = compile(text, file, "exec", ast.PyCF_ONLY_AST | flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    body: list[ast.stmt] = tree.body
    if indented and isinstance(body[0], ast.If):
        body = body[0].body
    if len(body) != 1:
        return None
    ast.increment_lineno(body[0], first - 1 - indented)
    return body[0]


def _find_def(function: types.FunctionType, lines: list[str]) -> tuple[gast.FunctionDef, int] | None:
    """Return the ``def`` statement at the function's first line and its last line, if that is what runs."""
    code = function.__code__
    first = code.co_firstlineno
    for block in _blocks(code, lines):
        node = _parse(block, first, code.co_flags & FUTURE, code.co_filename)
        if isinstance(node, ast.FunctionDef):
            if node.name != code.co_name or is_source_of(node, function) is None:
                return None
            return gast.ast_to_gast(node), node.end_lineno or first
    return None


def _blocks(code: types.CodeType, lines: list[str]) -> Iterator[list[str]]:
    """Propose the lines of a definition: by indentation, which is quick, then by its tokens.

    Indentation alone is misled by a string or bracket that goes on in a line
    further left.  Such a text does not parse, so nothing wrong comes of it.
    """
    start = code.co_firstlineno - 1
    header = re.compile(rf"[ \t\f]*def[ \t]+{re.escape(code.co_name)}\b")
    found = next((index for index in range(start, len(lines)) if header.match(lines[index])), None)
    if found is None and start >= len(lines):
        return
    if found is not None:
        margin = _indentation(lines[start])
        end = found + 1
        while end < len(lines) and (_indentation(lines[end]) > margin or lines[end].lstrip()[:1] in ("", "#")):
            end += 1
        yield lines[start:end]
    count = _length_by_tokens(lines[start:])
    if count:
        yield lines[start : start + count]


def _indentation(line: str) -> int:
    line = line.expandtabs()
    return len(line) - len(line.lstrip())


def _length_by_tokens(lines: list[str]) -> int:
    """Return how many lines the definition at the start of these lines has."""
    depth = outside = last = 0
    header = body = False
    starts_line = True
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline):
            if token.type in (tokenize.COMMENT, tokenize.NL):
                continue
            if token.type == tokenize.INDENT:
                body = body or header
                depth += 1
            elif token.type == tokenize.DEDENT:
                depth -= 1
            elif token.type == tokenize.NEWLINE:
                last = token.end[0]
                starts_line = True
            elif starts_line:
                if header and (not body or depth <= outside):
                    return last
                if not header and token.string in ("def", "async"):
                    header, outside = True, depth
                starts_line = False
    except (tokenize.TokenError, SyntaxError):  # what follows the function need not be whole
        pass
    return last if header else 0


# --- lambdas -----------------------------------------------------------------


def name_of(function: types.FunctionType, defined: str) -> str:
    """The name of a function that is ``defined`` under another, if its decorator has given it that of what it wraps."""
    name = function.__name__
    return name if hasattr(function, "__wrapped__") and name.isidentifier() else defined


def _find_lambda(function: types.FunctionType, lines: list[str]) -> tuple[gast.FunctionDef, int] | None:
    """Return the lambda that the function comes from as a ``def``, and its last line."""
    code = function.__code__
    for candidates in (_cut_lambdas, _all_lambdas):
        for node in candidates(code, lines):
            compiled = is_source_of(node, function)
            if compiled is not None and same_positions(compiled, code):
                return _as_def(gast.ast_to_gast(node)), node.end_lineno or code.co_firstlineno
    return None


def _cut_lambdas(code: types.CodeType, lines: list[str]) -> Iterator[ast.Lambda]:
    """Parse from each ``lambda`` on the code's first line up to where its code ends.

    This leaves out the statement around it, which may start many lines above.
    Brackets around the lambda's body are not in the positions of its code, so they
    may lack their ends.
    """
    first = code.co_firstlineno
    ends = [(end, column) for _, end, _, column in code.co_positions() if end is not None and column is not None]
    if not ends or max(ends)[0] > len(lines) or first > len(lines):
        return
    end_line, end_column = max(ends)
    text = [line.encode() for line in lines[first - 1 : end_line]]
    text[-1] = text[-1][:end_column]
    for match in re.finditer(rb"\blambda\b", text[0]):
        head = b"(\n" + b" " * match.start() + text[0][match.start() :]
        for closing in range(1, 6):
            cut = b"".join([head, *text[1:], b"\n", b")" * closing])
            try:
                flags = ast.PyCF_ONLY_AST | code.co_flags & FUTURE
                tree = compile(cut, code.co_filename, "eval", flags, dont_inherit=True)
            except (SyntaxError, ValueError):
                continue
            if isinstance(tree.body, ast.Lambda):
                yield ast.increment_lineno(tree.body, first - 2)
            break


def _all_lambdas(code: types.CodeType, lines: list[str]) -> Iterator[ast.Lambda]:
    """Parse the whole file: slow, but right wherever a lambda can stand."""
    try:
        flags = ast.PyCF_ONLY_AST | code.co_flags & FUTURE
        tree = compile("".join(lines), code.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            yield node


def _as_def(node: gast.Lambda) -> gast.FunctionDef:
    """Rewrite ``lambda x: e`` as ``def lambda_(x): return e``."""
    result = gast.copy_location(gast.Return(node.body), node.body)
    return gast.copy_location(gast.FunctionDef("lambda_", node.args, [result], [], None, None, []), node)
