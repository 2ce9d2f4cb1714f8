"""The command line: ``s2sad show``, ``s2sad check`` and ``s2sad operations``.

Results go to standard output, errors and whatever the user's own module prints
to standard error.  Exit status: 0 done, 1 a gradient is wrong, 2 bad usage, or a
function that is refused.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import inspect
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from s2sad.errors import ArgumentError, GradientMismatch, Place, S2SADError, located

OK, WRONG, REFUSED, INTERRUPTED = 0, 1, 2, 130
STAGES = ("ir", "activity", "adjoint", "source")

_EXAMPLES = """\
examples:
  s2sad show model.py:loss                      the gradient of loss by its first argument
  s2sad show model.py:loss --wrt w,b            by two arguments, by name
  s2sad show model.py:loss --mode forward       the value and the tangent, for that of an argument
  s2sad show mypackage.model:loss --stage ir    an earlier stage of the compiler
  s2sad show model.py:Model.loss -o gradient.py
  s2sad show model.py:loss --at "x=np.ones(3), w=2.0"      what a call with these arguments runs
  s2sad check model.py:loss --at "x=np.ones(3), w=2.0" --wrt w
  s2sad operations numpy.linalg scipy.special   which functions have a derivative

A target is FILE.py:FUNCTION or package.module:FUNCTION. The expressions of --at are
evaluated in the target's module, where np is NumPy in any case.

exit status: 0 done, 1 a gradient is wrong, 2 bad usage or a refused function
"""


class UsageError(S2SADError):
    """What was asked for on the command line does not exist or does not work."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Args:
        argv: The arguments after the program's name; those of the process by default.

    Example:
        >>> main(["show", "no_such_file.py:loss"])
        2
    """
    try:
        options = _parser().parse_args(argv)
    except SystemExit as end:  # argparse has said why
        return end.code if isinstance(end.code, int) else REFUSED
    try:
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except S2SADError as error:
        text = str(error)
        print(text if "error: " in text.partition("\n")[0] else f"error: {text}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        print("error: this is a mistake of s2sad itself, please report it with the function", file=sys.stderr)
        return REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="s2sad",
        description="Derivatives of NumPy functions, as source code.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"s2sad {_version()}")
    commands = parser.add_subparsers(required=True, metavar="{show,check,operations}")

    show = commands.add_parser("show", help="print the source of a derivative, or an earlier stage")
    show.add_argument("target", metavar="TARGET", help="FILE.py:FUNCTION or package.module:FUNCTION")
    show.add_argument("--wrt", metavar="NAMES", help="arguments to differentiate by, as x,w (default: the first)")
    show.add_argument("--mode", choices=("reverse", "forward"), default="reverse", help="(default: reverse)")
    show.add_argument(
        "--order", type=int, choices=(1, 2), default=1, help="2: the product of the Hessian and a vector (default: 1)"
    )
    show.add_argument("--stage", choices=STAGES, default="source", help="what to print (default: source)")
    show.add_argument("--at", metavar="ARGUMENTS", help='show what this call runs, as "x=np.ones(3), w=2.0"')
    show.add_argument("-o", metavar="OUT.py", dest="output", help="write to a file")
    show.set_defaults(command=_show)

    check = commands.add_parser("check", help="compare a gradient with finite differences")
    check.add_argument("target", metavar="TARGET", help="FILE.py:FUNCTION or package.module:FUNCTION")
    check.add_argument(
        "--at", metavar="ARGUMENTS", required=True, help='the call to check at, as "x=np.ones(3), w=2.0"'
    )
    check.add_argument("--wrt", metavar="NAMES", help="arguments to differentiate by, as x,w (default: the first)")
    check.set_defaults(command=_check)

    listed = commands.add_parser("operations", help="list which functions have a derivative")
    listed.add_argument("modules", metavar="MODULE", nargs="*", help="as numpy.linalg (default: those of NumPy)")
    listed.set_defaults(command=_operations)

    for command in (show, check):
        command.epilog, command.formatter_class = _EXAMPLES, argparse.RawDescriptionHelpFormatter
    return parser


def _version() -> str:
    try:
        return importlib.metadata.version("s2sad")
    except importlib.metadata.PackageNotFoundError:  # run from a source tree
        return str(getattr(importlib.import_module("s2sad"), "__version__", "unknown"))


# --- commands ----------------------------------------------------------------


def _show(options: argparse.Namespace) -> int:
    from s2sad.api import grad
    from s2sad.show import write

    module, found = _find(options.target)
    function = _primal(found)
    if options.mode == "forward" or options.order == 2:
        from s2sad.api import Tangent

        wrt = _wrt(function, options.wrt)
        derivative: Any = Tangent(grad(function, **wrt) if options.order == 2 else function, **wrt)
    elif options.wrt is None and function is not found and hasattr(found, "stages"):
        derivative = found  # as it was decorated
    else:
        derivative = grad(function, **_wrt(function, options.wrt))
    args, kwargs = ((), {}) if options.at is None else _arguments(options.at, function, module)
    if options.stage == "source":
        text = str(derivative.source if options.at is None else derivative.source_for(*args, **kwargs))
    else:
        stages = derivative.stages(*args, **kwargs)
        if options.stage not in stages:
            raise UsageError(f"error: there is no stage {options.stage} here, but {', '.join(stages)}")
        text = str(stages[options.stage])
    text = text.rstrip("\n") + "\n"
    if options.output is None:
        _print(_coloured(text) if options.stage == "source" else text)
        return OK
    output = Path(options.output)
    try:
        write(text, output)
    except ArgumentError as error:
        raise UsageError(f"error: {error}") from error
    except OSError as error:
        raise UsageError(f"error: {output} cannot be written: {error.strerror}") from error
    print(f"wrote {output}", file=sys.stderr)
    return OK


def _operations(options: argparse.Namespace) -> int:
    from s2sad.operations import text

    try:
        _print(text(options.modules))
    except ImportError as error:
        raise UsageError(f"no module {error.name}") from None
    return OK


def _check(options: argparse.Namespace) -> int:
    from s2sad.checking import check_grads

    module, found = _find(options.target)
    function = _primal(found)
    wrt = _wrt(function, options.wrt)
    if options.wrt is None and isinstance(getattr(found, "argnums", None), (int, tuple)):
        wrt = {"argnums": found.argnums}
    if "argnames" in wrt:
        raise UsageError("error: check gives all arguments by position, and --wrt names a keyword-only one")
    arguments, by_name = _arguments(options.at, function, module)
    if by_name:
        raise UsageError(f"error: check gives all arguments by position, and {next(iter(by_name))} is keyword-only")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            report = check_grads(function, arguments, order=1, modes=("rev",), **wrt)
    except GradientMismatch as mismatch:
        _print(f"{mismatch}\n")
        return WRONG
    except S2SADError:
        raise
    except Exception as error:
        raise UsageError(f"error: {options.target} fails at {options.at}\n{_own_lines(error)}") from error
    _print(f"{report}".rstrip("\n") + "\n")
    return OK if report.ok else WRONG


# --- the target --------------------------------------------------------------


def _find(target: str) -> tuple[types.ModuleType, Any]:
    """Import the module of ``FILE.py:FUNC`` or ``package.module:func``, and get the function."""
    where, _, name = target.rpartition(":")
    if not where or not name:
        raise UsageError(f"error: {target} names no function\nWrite FILE.py:FUNCTION or package.module:FUNCTION.")
    is_file = where.endswith(".py") or os.sep in where or os.path.isfile(where)
    module = _load_file(where) if is_file else _import(where)
    found: Any = module
    for index, part in enumerate(name.split(".")):
        if not hasattr(found, part):
            holder = where if index == 0 else ".".join(name.split(".")[:index])
            functions = _functions(found, module.__name__)
            raise UsageError(f"error: {holder} has no function {part!r}\n{_suggestion(part, functions, 'It has')}")
        found = getattr(found, part)
    if not callable(found):
        functions = _functions(module, module.__name__)
        raise UsageError(
            f"error: {name} of {where} is no function, but of type {type(found).__qualname__}\n"
            + _suggestion(name, functions, "It has")
        )
    return module, found


def _load_file(file: str) -> types.ModuleType:
    """Run a file as a module of its own name, its folder first on the path, as ``python FILE`` has it."""
    path = Path(file)
    if not path.is_file():
        problem = "is a folder, no file" if path.is_dir() else "does not exist"
        near = [str(path.with_name(other.name)) for other in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise UsageError(f"error: {file} {problem}\n{_suggestion(file, near, 'There are')}".rstrip())
    path = path.resolve()
    sys.path.insert(0, str(path.parent))
    name = path.stem
    while name in sys.modules:  # a file may be called as a library that is loaded
        name += "_"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
    with _user_code(f"{file} cannot be imported"):
        try:
            code = loader.source_to_code(path.read_bytes(), str(path))
        except OSError as error:
            raise UsageError(f"error: {file} cannot be read: {error.strerror}") from error
        except (SyntaxError, ValueError) as error:
            raise UsageError(f"error: {file} is not Python\n{_own_lines(error)}") from error
        exec(code, module.__dict__)  # not exec_module: that would leave a __pycache__ behind
    return module


def _import(name: str) -> types.ModuleType:
    sys.path.insert(0, os.getcwd())
    with _user_code(f"{name} cannot be imported"):
        return importlib.import_module(name)


@contextlib.contextmanager
def _user_code(problem: str) -> Any:
    """Keep what the user's module prints out of the result, and tell its errors from s2sad's."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (S2SADError, KeyboardInterrupt):
        raise
    except SystemExit as error:
        raise UsageError(f"error: {problem}: it ends the process (sys.exit)\n{_own_lines(error)}") from error
    except BaseException as error:
        raise UsageError(f"error: {problem}\n{_own_lines(error)}") from error


def _own_lines(error: BaseException) -> str:
    """Return the end of a traceback without the frames that are not the user's."""
    inside = str(Path(__file__).parent) + os.sep
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((inside, "<frozen importlib")) and "/importlib/" not in frame.filename
    ]
    lines = traceback.format_list(frames[-3:]) + traceback.format_exception_only(error)
    return "".join(lines).rstrip("\n")


def _functions(holder: object, module: str) -> list[str]:
    """Return the names of the functions that a module or class defines itself."""
    return [
        name
        for name, value in getattr(holder, "__dict__", {}).items()
        if (isinstance(value, types.FunctionType) and value.__module__ == module) or _is_ours(value)
    ]


def _suggestion(name: str, known: Iterable[str], lead: str) -> str:
    known = list(known)
    close = difflib.get_close_matches(name, known, 1)
    if close:
        return f"Did you mean {close[0]}?"
    return f"{lead}: {', '.join(known[:20])}{', ...' if len(known) > 20 else ''}." if known else ""


def _is_ours(value: object) -> bool:
    """Whether a value is an object that s2sad made of a function (``@grad``)."""
    own = type(value).__module__.partition(".")[0] == "s2sad"
    return own and hasattr(value, "__wrapped__")


def _primal(found: Any) -> Any:
    """Return the function inside an object that s2sad's own decorators made."""
    while _is_ours(found):
        found = found.__wrapped__
    return found


# --- arguments ---------------------------------------------------------------


def _wrt(function: Any, names: str | None) -> dict[str, Any]:
    """Turn ``--wrt`` into ``argnums`` (or ``argnames``, for keyword-only ones) of ``grad``."""
    if names is None:
        return {"argnums": 0}
    parameters = _signature(function).parameters
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in parameters:
            hint = _suggestion(name, parameters, "Its arguments are")
            raise UsageError(f"error: {_name(function)} has no argument {name!r} (--wrt)\n{hint}".rstrip())
    if any(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in wanted):
        return {"argnames": tuple(wanted) if len(wanted) > 1 else wanted[0]}
    positions = tuple(list(parameters).index(name) for name in wanted)
    return {"argnums": positions if len(positions) > 1 else positions[0]}


def _signature(function: Any) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        from s2sad.api import grad

        with contextlib.suppress(S2SADError):
            return inspect.signature(grad(function))
        raise UsageError(f"error: {function!r} does not say what its arguments are") from error


def _name(function: Any) -> str:
    """How a message calls a callable."""
    return getattr(function, "__name__", None) or type(function).__name__


def _arguments(text: str, function: Any, module: types.ModuleType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Evaluate ``--at`` in the target's module, and fit it to the function's arguments: those by position, by name."""
    call = _parse_call(text)
    import numpy as np

    namespace = {"np": np, **vars(module)}
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            unpacked = ast.copy_location(ast.List([argument], ast.Load()), argument)
            positional.extend(_evaluate(unpacked, namespace, text))
        else:
            positional.append(_evaluate(argument, namespace, text))
    for keyword in call.keywords:
        if keyword.arg is None:
            unpacked_names = ast.copy_location(ast.Dict([None], [keyword.value]), keyword)
            more = _evaluate(unpacked_names, namespace, text)
        else:
            more = {keyword.arg: _evaluate(keyword.value, namespace, text)}
        for name in more:
            if name in named:
                raise UsageError(f"error: --at gives {name} twice")
        named.update(more)
    signature = _signature(function)
    try:
        bound = signature.bind(*positional, **named)
    except TypeError as error:
        unknown = [name for name in named if name not in signature.parameters]
        hint = _suggestion(unknown[0], signature.parameters, "Its arguments are") if unknown else ""
        hint = hint or f"Its arguments are {signature}."
        raise UsageError(f"error: --at does not fit {_name(function)}: {error}\n{hint}") from error
    for name, parameter in signature.parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY and parameter.default is not parameter.empty:
            bound.arguments.setdefault(name, parameter.default)
    return bound.args, bound.kwargs


def _parse_call(text: str) -> ast.Call:
    form = 'Write them as in a call: --at "x=np.ones(3), w=2.0".'
    try:
        # The line end closes a comment.
        call = ast.parse(f"f({text}\n)", mode="eval").body
        compile(ast.Expression(call), "--at", "eval", dont_inherit=True)  # finds what the parser lets through
    except (SyntaxError, ValueError) as error:
        column = min(max((getattr(error, "offset", None) or 3) - 3, 0), len(text))
        place = Place("--at", 1, column, column + 1, text)
        raise UsageError(located(place, f"no arguments of a call: {getattr(error, 'msg', error)}", form)) from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise UsageError(located(Place("--at", 1, 0, None, text), "no arguments of a call", form))
    return call


def _evaluate(node: ast.expr, namespace: dict[str, Any], text: str) -> Any:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return eval(compile(ast.Expression(node), "<--at>", "eval", dont_inherit=True), namespace)
    except Exception as error:
        # "f(" stands before the text of the first line.
        end = node.end_col_offset - 2 if node.end_col_offset is not None and node.end_lineno == 1 else None
        place = Place("--at", 1, node.col_offset - 2, end, text) if node.lineno == 1 else None
        raise UsageError(located(place, f"{type(error).__name__}: {error}", "")) from error


# --- output ------------------------------------------------------------------


def _coloured(text: str) -> str:
    """Highlight Python on a terminal, where pygments is installed and colours are wanted."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text
    try:
        pygments = importlib.import_module("pygments")
        lexer = importlib.import_module("pygments.lexers").PythonLexer()
        formatter = importlib.import_module("pygments.formatters").TerminalFormatter()
    except ImportError:
        return text
    return str(pygments.highlight(text, lexer, formatter))


def _print(text: str) -> None:
    """Write to standard output; a reader that has gone (``| head``) is no error."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would fail again when Python flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
