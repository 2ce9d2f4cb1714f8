"""Whether a piece of source text is the one that a running function was made from.

The text is compiled in surroundings like the function's own, and the two codes
are compared: instructions, names, constants, nested functions.  A file that was
edited since it was imported does not pass.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import copy
import dis
import keyword
import sys
import threading
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from s2sad.runtime.contents import cells_of

#: The compiler's flags of all ``from __future__`` imports.
FUTURE = 0
for _feature in __future__.all_feature_names:
    FUTURE |= getattr(__future__, _feature).compiler_flag


_filters = threading.RLock()


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Keep quiet, while the user's code is compiled once more, about what Python has warned of already."""
    with _filters, warnings.catch_warnings():  # the list of filters is the whole process's
        warnings.simplefilter("ignore")
        yield


def is_source_of(node: ast.FunctionDef | ast.Lambda, function: types.FunctionType) -> types.CodeType | None:
    """Compile a definition; return the code if it is the function's own, wherever its text stands.

    ``name.method(x)`` compiles to other instructions where the module imports
    ``name``.  Which names it imports is not known without parsing it all: most often
    those that are modules, and surely those that the running code treats so.
    """
    running = function.__code__
    for imported in _guesses(running, function.__globals__):
        try:
            compiled = _compile(node, running, imported)
        except (SyntaxError, ValueError):  # an edit has made nonsense of it
            return None
        if _same_function(compiled, running):
            return compiled
    return None


def _guesses(running: types.CodeType, namespace: dict[str, Any]) -> Iterator[set[str]]:
    """Propose the names that the module imports, as far as the code uses them."""
    names = names_in(running)
    yield {name for name in names if issubclass(type(namespace.get(name)), types.ModuleType)}
    imported = names - set(_method_owners(running)) - {"super", "__debug__"}
    yield imported
    if "super" in names:  # super() compiles differently, too, where the module itself mentions the name
        yield imported | {"super"}


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def names_in(code: types.CodeType) -> set[str]:
    """Return all names that code uses, except those of rewritten asserts, which are no identifiers."""
    names: set[str] = set()
    for inner in _nested(code):
        names.update(inner.co_names, inner.co_varnames, inner.co_freevars, inner.co_cellvars)
    return {name for name in names if name.isidentifier() and not keyword.iskeyword(name)}


def _method_owners(code: types.CodeType) -> Iterator[str]:
    """Find the names whose attributes are called as methods, so that they are no imports."""
    for inner in _nested(code):
        owner = None
        for instruction in dis.get_instructions(inner):
            is_method = instruction.opname == "LOAD_METHOD" or "NULL|self" in instruction.argrepr
            if is_method and owner is not None:
                yield owner
            # Two loads may be one instruction, with both names.
            loaded = instruction.argval[-1:] if isinstance(instruction.argval, tuple) else (instruction.argval,)
            loads = "LOAD_" in instruction.opname and loaded and isinstance(loaded[0], str)
            owner = loaded[0] if loads else None


def _compile(node: ast.FunctionDef | ast.Lambda, running: types.CodeType, imported: set[str]) -> types.CodeType:
    """Compile a definition in surroundings like those of the running code.

    They decide which names are closure cells, and how ``__private`` names of a
    class are written.
    """
    bare: ast.stmt
    # Defaults, decorators and annotations are evaluated outside of the function's code.
    if isinstance(node, ast.FunctionDef):
        bare = _function(node.name, _bare_arguments(node.args), node.body)
        made = {node.name}
    else:
        bare = ast.Expr(ast.copy_location(ast.Lambda(_bare_arguments(node.args), node.body), node))
        made = set()
    ast.copy_location(bare, node)
    depth = 2
    owner = enclosing_class(running.co_qualname)
    if owner is not None:
        bare = ast.ClassDef(owner, [], [], [bare], [])
        if sys.version_info >= (3, 12):
            bare.type_params = []
        made = {owner}
        depth = 3
    cells = [name for name in running.co_freevars if name != "__class__"]
    body: list[ast.stmt] = [bare]
    # What is defined here is a global there, unless the running code has it in a cell.
    if made.difference(cells):
        body.insert(0, ast.Global(sorted(made.difference(cells))))
    arguments = ast.arguments([], [ast.arg(name) for name in cells], None, [], [], None, [])
    module = ast.Module([_function("outer", arguments, body)], [])
    if imported:
        module.body.insert(0, ast.Import([ast.alias(name) for name in sorted(imported)]))
    flags = running.co_flags & FUTURE
    ast.fix_missing_locations(module)
    code: types.CodeType = compile(module, running.co_filename, "exec", flags, dont_inherit=True)
    for _ in range(depth):
        code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return code


def _function(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    function = ast.FunctionDef(name, arguments, body, [], None, None)
    if sys.version_info >= (3, 12):
        function.type_params = []
    return function


def _bare_arguments(arguments: ast.arguments) -> ast.arguments:
    def bare(argument: ast.arg | None) -> ast.arg | None:
        return None if argument is None else ast.copy_location(ast.arg(argument.arg), argument)

    def all_bare(group: list[ast.arg]) -> list[ast.arg]:
        return [ast.copy_location(ast.arg(argument.arg), argument) for argument in group]

    return ast.arguments(
        all_bare(arguments.posonlyargs),
        all_bare(arguments.args),
        bare(arguments.vararg),
        all_bare(arguments.kwonlyargs),
        [None] * len(arguments.kwonlyargs),
        bare(arguments.kwarg),
        [],
    )


def enclosing_class(qualname: str) -> str | None:
    """Return the innermost class in which a function stands, by its qualified name."""
    parts = qualname.split(".")
    for index in range(len(parts) - 2, -1, -1):
        if parts[index] != "<locals>" and parts[index + 1] != "<locals>":
            return parts[index]
    return None


def _same_function(found: types.CodeType, running: types.CodeType) -> bool:
    """Whether two codes do the same: instructions, names, constants, nested code."""
    signature = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_freevars")
    if any(getattr(found, field) != getattr(running, field) for field in signature):
        return False
    if any(name.startswith("@py") for name in running.co_names + running.co_varnames):
        return _same_but_asserts(found, running)
    fields = ("co_code", "co_names", "co_varnames", "co_cellvars", "co_exceptiontable")
    if any(getattr(found, field) != getattr(running, field) for field in fields):
        return False
    return len(found.co_consts) == len(running.co_consts) and all(
        map(_same_constant, found.co_consts, running.co_consts)
    )


def _same_constant(found: object, running: object) -> bool:
    if isinstance(found, types.CodeType) and isinstance(running, types.CodeType):
        return found.co_name == running.co_name and _same_function(found, running)
    # repr tells 0.0 from -0.0, 1 from 1.0 and True, and nan is itself; frozensets have no order.
    return type(found) is type(running) and (
        found == running if isinstance(found, frozenset) else repr(found) == repr(running)
    )


def _same_but_asserts(found: types.CodeType, running: types.CodeType) -> bool:
    """Compare with code whose ``assert`` statements pytest has rewritten: by names and constants."""
    own = [name for name in running.co_varnames if not name.startswith("@py")]
    if own != list(found.co_varnames) or not set(found.co_names) <= set(running.co_names) | {"AssertionError"}:
        return False
    return all(
        isinstance(constant, (str, bytes, tuple)) or any(_same_constant(constant, other) for other in running.co_consts)
        for constant in found.co_consts
    )


def same_positions(found: types.CodeType, running: types.CodeType) -> bool:
    """Whether two lambdas of equal code are at the same place (unknown under ``-X no_debug_ranges``)."""
    return all(
        position == other or None in position or None in other
        for position, other in zip(found.co_positions(), running.co_positions(), strict=True)
    )


#: The name of the function around one that is compiled.
_OUTER = "__s2sad_cells__"


def code_of(definition: ast.FunctionDef, filename: str, cells: Sequence[str]) -> types.CodeType:
    """The code of a definition, compiled as if inside a function that has the cells.

    Raises:
        SyntaxError: if it does not compile.
    """
    at: dict[str, Any] = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
    outer = ast.FunctionDef(
        _OUTER,
        ast.arguments([], [ast.arg(name, **at) for name in cells], None, [], [], None, []),
        [ast.Global([definition.name], **at)] * (definition.name not in cells) + [definition],
        [],
        None,
        None,
        **at,
    )
    outer.type_params = []  # type: ignore[attr-defined, unused-ignore]
    with silenced():
        code: types.CodeType = compile(ast.Module([outer], []), filename, "exec", dont_inherit=True)
    for name in (_OUTER, definition.name):
        code = next(
            constant for constant in code.co_consts if isinstance(constant, types.CodeType) and constant.co_name == name
        )
    return code.replace(co_qualname=definition.name)


def function_of(
    node: ast.FunctionDef, original: types.FunctionType, cells: Mapping[str, types.CellType]
) -> types.FunctionType:
    """A function with the global names and cells of another, and further cells.

    If its parameters have default values, these are those of the other one.
    """
    bare = ast.FunctionDef(**{**vars(node), "args": _without_defaults(node.args), "returns": None})
    outer = cells_of(original)
    known = {**outer, **cells}
    code = code_of(bare, original.__code__.co_filename, list(known))
    closure = tuple([known[name] for name in code.co_freevars])
    function = types.FunctionType(code, original.__globals__, node.name, None, closure)
    function.__module__, function.__qualname__ = original.__module__, node.name
    if node.args.defaults:
        function.__defaults__ = original.__defaults__
    if any(node.args.kw_defaults):
        function.__kwdefaults__ = original.__kwdefaults__
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
