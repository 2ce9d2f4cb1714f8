"""From emitted text to functions.

The functions live in the user's module: their globals *are* the module's
dictionary, and their free variables the user's own closure cells, so that both
are read as they are at each call.  The names of helpers that emitted code needs
are closure cells too, so nothing is ever written into the user's module.

The text is registered in ``linecache``: tracebacks, ``pdb`` and
``inspect.getsource`` show the emitted lines.  Their comments say from which line of the
user's program each comes, which is where a refusal at run time gets its place from.
"""

from __future__ import annotations

import ast
import io
import linecache
import re
import tokenize
import types
import weakref
from collections.abc import Mapping
from typing import Any

from s2sad.errors import Place, S2SADError
from s2sad.frontend.recompile import code_of, silenced

#: A comment behind or above statements with their line, or above a function with that of its definition.
_MARK = re.compile(r"# (?:L|s2sad: .*:)(\d+)\b")

#: The files of the user's functions, by the name of the emitted text.
_homes: dict[str, str] = {}
#: The emitted texts of which no code is left.
_gone: list[tuple[str, tuple[object, ...]]] = []


class LoadError(S2SADError):
    """The emitted text cannot be made into functions: a mistake of the compiler, not of the user's function.

    Example:
        A text with ``def f(x, y=g())``: a default that would have to be evaluated.

    Remedy:
        Please report it, with the function that was differentiated.
    """


def load(
    text: str,
    filename: str,
    namespace: dict[str, Any],
    cells: Mapping[str, types.CellType],
    bindings: Mapping[str, types.CellType],
    home: str = "",
    original: types.FunctionType | None = None,
) -> dict[str, types.FunctionType]:
    """Make the functions that a text defines, without running any of it.

    Args:
        text: Definitions of functions at the top level; imports and strings between them
            are left out.  Defaults must be literals, unless there is an ``original``.
        filename: The name under which tracebacks show the text, as ``<s2sad loss_grad_x 3>``;
            one name must not be in use for two texts at a time.
        namespace: The functions' ``__globals__``: this very dictionary, only read.
        cells: The user's closure cells by name.  ``bindings``: those of helpers.  A name in
            both is the helper's.  A cell may be empty now and filled in later.
        home: The file that the line numbers in the comments of the text mean.
        original: The function whose parameters, with their default values, those in the text are.  What the text
            says of the values is for a file of its own.

    Returns:
        The functions by name, in the order of the text.

    Raises:
        LoadError: for a statement that is neither a function nor an import, a default that
            is no literal, a decorator, or text that does not compile.

    Example:
        >>> functions = load("def f(x): return x + a", "<s2sad f>", {}, {}, {"a": types.CellType(1.0)})
        >>> functions["f"](2.0)
        3.0
    """
    provided: dict[str, types.CellType] = {**cells, **bindings}
    with silenced():
        try:
            tree = ast.parse(text, filename)
        except SyntaxError as error:
            raise LoadError(f"error: the emitted text is not Python: {error}") from error
        definitions = _definitions(tree)
        codes = compiled(definitions, filename, list(provided))
    functions: dict[str, types.FunctionType] = {}
    for definition in definitions:
        code = codes[definition.name]
        closure = tuple(provided[name] for name in code.co_freevars)
        function = types.FunctionType(code, namespace, definition.name, None, closure)
        if definition.args.defaults:
            function.__defaults__ = _defaults(definition) if original is None else original.__defaults__
        if any(default is not None for default in definition.args.kw_defaults):
            function.__kwdefaults__ = _keyword_defaults(definition) if original is None else original.__kwdefaults__
        functions[definition.name] = function
    _register(text, filename, home, [function.__code__ for function in functions.values()])
    return functions


def _definitions(tree: ast.Module) -> list[ast.FunctionDef]:
    definitions = []
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            if statement.decorator_list:
                raise LoadError(f"error: the emitted function {statement.name} has a decorator, which is not run")
            definitions.append(statement)
        elif not isinstance(statement, (ast.Import, ast.ImportFrom)) and not (
            isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        ):
            raise LoadError(f"error: line {statement.lineno} of the emitted text is no function and no import")
    return definitions


def compiled(definitions: list[ast.FunctionDef], filename: str, cells: list[str]) -> dict[str, types.CodeType]:
    """Compile the definitions as if inside a function that has the cells; return the code of each.

    Each gets an outer function of its own, so that the names of the others stay what they
    are in the module unless a cell is given for them.
    """
    try:
        return {definition.name: code_of(definition, filename, cells) for definition in definitions}
    except SyntaxError as error:
        raise LoadError(f"error: the emitted text does not compile: {error}") from error


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise LoadError(f"error: the default {ast.unparse(node)} in the emitted text is no literal") from error


def _defaults(definition: ast.FunctionDef) -> tuple[object, ...] | None:
    return tuple(map(_literal, definition.args.defaults)) or None


def _keyword_defaults(definition: ast.FunctionDef) -> dict[str, Any]:
    pairs = zip(definition.args.kwonlyargs, definition.args.kw_defaults, strict=True)
    return {argument.arg: _literal(default) for argument, default in pairs if default is not None}


# --- linecache ---------------------------------------------------------------


def _register(text: str, filename: str, home: str, codes: list[types.CodeType]) -> None:
    """Show the text under its name for as long as one of the codes lives."""
    _clear()
    _homes[filename] = home
    # No modification time: linecache.checkcache leaves such an entry alone.
    entry = (len(text), None, text.splitlines(keepends=True), filename)
    linecache.cache[filename] = entry
    alive = [None] * len(codes)
    for code in codes:
        weakref.finalize(code, _forget, filename, entry, alive).atexit = False


def _forget(filename: str, entry: tuple[object, ...], alive: list[None]) -> None:
    """Note that one code is gone; with the last one goes the text.

    This runs inside the garbage collector, at any moment of any thread: also while ``linecache`` runs over
    its entries and expects to find them.  So it takes nothing away itself, and takes no lock.
    """
    alive.pop()
    if not alive:
        _gone.append((filename, entry))


def _clear() -> None:
    """Take away the texts of which no code is left."""
    for _ in range(len(_gone)):
        try:
            filename, entry = _gone.pop()
        except IndexError:
            # Another thread has taken the last.
            return
        if linecache.cache.get(filename) is entry:
            linecache.cache.pop(filename, None)
            _homes.pop(filename, None)


# --- from the text back to the user's program --------------------------------


def place_of_frame(frame: types.FrameType) -> Place | None:
    """The statement of the user's program that a frame of emitted code runs."""
    return _place_of(frame.f_code.co_filename, frame.f_lineno)


def _place_of(filename: str, number: int) -> Place | None:
    home = _homes.get(filename)
    line = _marked("".join(linecache.getlines(filename)), number) if home else 0
    if not (home and line):
        return None
    text = linecache.getline(home, line).rstrip()
    return Place(home, line, len(text) - len(text.lstrip()), len(text.encode()), text)


def origin(traceback: types.TracebackType | None) -> Place | None:
    """The statement of the user's program that was running, by the innermost emitted line of a traceback."""
    place = None
    while traceback is not None:
        place = _place_of(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno) or place
        traceback = traceback.tb_next
    return place


def _marked(text: str, number: int) -> int:
    """The line of the user's program that the comments of an emitted text give for its line ``number``, or 0.

    It stands behind the line itself, or in the last comment above it in one of the blocks that it is in; before the
    first of these the line is that of the definition.

    Example:
        >>> _marked("def f(x):\\n    y = x * 2  # L7\\n    # L8: return y\\n    for i in n:\\n        y = 1\\n", 5)
        8
        >>> _marked("# s2sad: gradient of f (model.py:4)\\ndef f_grad_x(x):\\n    x_bar = shadow(x)\\n", 3)
        4
    """
    marks = [(0, 0)]
    start = own = 0  # of the statement at hand: its first line, and its mark
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.start[0] > number and not 0 < start <= number:
            break
        mark = _MARK.match(token.string)
        if mark and token.type == tokenize.COMMENT:
            if start:
                own = int(mark[1])
            else:
                marks.append((token.start[1], int(mark[1])))
        elif token.type == tokenize.NEWLINE:
            if own and start <= number <= token.start[0]:
                marks.append((0, own))
            start = own = 0
        elif token.type in (tokenize.NAME, tokenize.OP) and not start:
            start = token.start[0]
            marks = [m for m in marks if m[0] <= token.start[1]]
    return marks[-1][1]
