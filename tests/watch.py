"""Runs programs of the matrix, and random ones, under the watching interpreter.

    python -m tests.watch --matrix 20000 --random 2000 [--start 0] [--jobs 1] [--show matrix:17] [--apart]

The exit status is 1 if something happened that the analysis did not allow.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import gast
import numpy as np

from s2sad.effects.mod_ref import Context, Program
from s2sad.effects.points_to import Function
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.summaries import is_trusted
from s2sad.ir.code import Code
from s2sad.ir.interpret import interpreted
from tests.effects.test_points_to import ARGUMENTS, cases
from tests.matrix.build import program as matrix_program
from tests.program_writer import generate
from tests.trees import fresh
from tests.watching import NotAllowed, Watcher, key_of, reached

_NAME = "watched_program"
#: What the analysis knows of arguments: their classes, that these are built-in ones, or nothing.
Knows = Literal["classes", "plain", "nothing"]


class NotKnown(Exception):
    """An argument holds objects of other than built-in classes, or code that is not known may write what escapes."""


@dataclass
class Outcome:
    """What became of a program: ``right``, ``wrong``, ``crash``, or ``skipped`` for the classes of its arguments."""

    kind: str
    message: str = ""
    steps: int = 0
    #: Whether the analysis of the function knows all that it calls.
    is_closed: bool = False


def executed(source: str) -> dict[str, Any]:
    """The names of a new copy of a module."""
    module = types.ModuleType(_NAME)
    sys.modules[_NAME] = module
    exec(compile(source, f"<{_NAME}>", "exec", dont_inherit=True), vars(module))
    return vars(module)


def every_function(tree: Any) -> Iterator[Any]:
    """The functions of a module and of its classes, then those inside them that are no part of their code."""
    for node in gast.walk(tree):
        if isinstance(node, gast.FunctionDef):
            yield node


class Codes:
    """The code of each function of a module, by name and line."""

    def __init__(self, source: str) -> None:
        self.nodes: dict[tuple[str, int], Any] = {}
        for node in every_function(gast.parse(source)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            self.nodes[node.name, first] = node
        self.made: dict[tuple[str, int], Code] = {}

    def find(self, function: types.FunctionType) -> Code | None:
        key = function.__code__.co_name, function.__code__.co_firstlineno
        if function.__code__.co_filename != f"<{_NAME}>" or key not in self.nodes:
            return None
        if key not in self.made:
            self.made[key] = lower_function(self.nodes[key])
        return self.made[key]


def watched(
    source: str, name: str, args: Any, apart: bool | None = None, knows: Knows = "classes"
) -> tuple[Context, Watcher]:
    """Run a function of a module under the watching interpreter.

    Args:
        source: The text of the module.
        name: The function.
        args: The arguments, or None if the module has a function that makes them.
        apart: Whether the analysis takes arguments for different memory; None if they are.
        knows: What the analysis knows of the arguments.
    """
    found, names, model = Codes(source), executed(source), executed(source)
    names_of_run = names
    program = Program(found.find, trusted=is_trusted if knows == "plain" else None)
    given = fresh(args) if args is not None else names["arguments"]()
    shown = fresh(args) if args is not None else model["arguments"]()
    if apart is None:
        apart = are_apart(given, names)
    if knows == "plain" and not all(_is_built_in(value) for value in reached(list(given), 5000)):
        raise NotKnown
    top = program.analysed(model[name], shown if knows == "classes" else None, apart)
    if knows == "plain" and top.summary.is_open:
        raise NotKnown
    module = program.module(model)
    known = program.analysed(model[name], None).function

    def function(code: Code) -> Function:
        for _, made in program._functions.values():
            if made is not None and made.code is code:
                return made
        return program._inner.get(code) or Function(code, known.names, module)

    watcher = Watcher(program, names_of_run, top, function)
    install(names, found, watcher)
    try:
        names[name](*given)
    except NotAllowed:
        raise
    except Exception as error:
        watcher.error = error
        if isinstance(error, NotImplementedError) or type(error).__module__.startswith("s2sad"):
            raise
    return top, watcher


def install(names: dict[str, Any], found: Codes, watcher: Watcher) -> None:
    """Let the interpreter run the functions of a module and the methods of its classes."""

    def run(function: Any) -> Any:
        code = found.find(function) if isinstance(function, types.FunctionType) else None
        if code is None or "__class__" in function.__code__.co_freevars:
            return function
        values = function.__kwdefaults__ or {}
        params = function.__code__.co_varnames[: function.__code__.co_argcount]
        given = function.__defaults__ or ()
        values = {**dict(zip(params[len(params) - len(given) :], given, strict=True)), **values}
        space = names
        if function.__closure__:
            cells = zip(function.__code__.co_freevars, function.__closure__, strict=True)
            space = {**names, **{name: cell.cell_contents for name, cell in cells}}
        made = interpreted(code, space, values, watcher)
        made.__dict__.update(function.__dict__)
        return made

    for name, value in list(names.items()):
        if isinstance(value, types.FunctionType) and name != "arguments":
            names[name] = run(value)
        elif isinstance(value, type) and value.__module__ == _NAME:
            for member, held in list(vars(value).items()):
                if isinstance(held, types.FunctionType) and member != "__new__":
                    setattr(value, member, run(held))


def are_apart(args: Any, names: dict[str, Any]) -> bool:
    """Whether objects of different arguments share nothing with one another and with the module."""
    seen = {key_of(value) for value in reached([v for k, v in names.items() if k != "__builtins__"], 5000)} - {None}
    for argument in args:
        keys = {key_of(value) for value in reached([argument], 5000)} - {None}
        if keys & seen:
            return False
        seen |= keys
    return True


def _is_built_in(value: object) -> bool:
    return type(value).__module__ in ("builtins", "numpy") and not isinstance(value, (types.FunctionType, type))


def outcome(kind: str, index: int | str, knows: Knows = "classes") -> Outcome:
    """Run one program."""
    try:
        args: Any = None
        if kind == "matrix":
            source = matrix_program(int(index)).source
        elif kind == "text":
            source = f"import numpy as np\n{cases()[str(index)][0]}"
            args = ARGUMENTS.get(str(index)) or (np.array([0.5, 1.2, -0.7]), np.array([0.8, -0.4, 1.5]))
        else:
            made = generate(int(index), 1 if kind == "random1" else 2)
            source, args = made.source, made.args
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            top, watcher = watched(source, "f", args, knows=knows)
        return Outcome("right", "", watcher.steps, not top.summary.is_open)
    except NotKnown:
        return Outcome("skipped")
    except NotAllowed as error:
        return Outcome("wrong", str(error))
    except Exception:
        return Outcome("crash", traceback.format_exc())


def _one(given: tuple[str, int | str, Knows]) -> tuple[str, int | str, Outcome]:
    return *given[:2], outcome(*given)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.watch", description=__doc__)
    parser.add_argument("--matrix", type=int, default=0)
    parser.add_argument("--random", type=int, default=0, help="so many of each of two levels")
    parser.add_argument("--text", action="store_true", help="the programs of tests/effects/effects.txt")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--knows", choices=get_args(Knows), default="classes", help="what is known of the arguments")
    parser.add_argument("--show", help="one program, as matrix:17 or random2:5")
    options = parser.parse_args()
    if options.show:
        kind, _, index = options.show.partition(":")
        if kind != "text":
            made = matrix_program(int(index)) if kind == "matrix" else generate(int(index), int(kind[-1]))
            print(made.source)
        print(outcome(kind, index, options.knows))
        return 0
    numbers = range(options.start, options.start + options.matrix * options.step, options.step)
    work: list[tuple[str, int | str, Knows]] = [("matrix", i, options.knows) for i in numbers]
    work += [("text", name, options.knows) for name in (cases() if options.text else ())]
    for kind in ("random1", "random2"):
        work += [(kind, i, options.knows) for i in range(options.start, options.start + options.random)]
    tally: Counter[str] = Counter()
    start, steps, failures = time.perf_counter(), 0, 0
    with multiprocessing.get_context("spawn").Pool(options.jobs) if options.jobs > 1 else _Nothing() as pool:
        for kind, index, found in pool.imap_unordered(_one, work, chunksize=20) if pool else map(_one, work):
            tally[f"{kind} {found.kind}{' closed' if found.is_closed else ''}"] += 1
            steps += found.steps
            if found.kind not in ("right", "skipped"):
                failures += 1
                if failures <= 30:
                    print(f"{kind}:{index} {found.kind}: {found.message.strip().splitlines()[-1]}", flush=True)
    seconds = time.perf_counter() - start
    print(", ".join(f"{name}: {count}" for name, count in sorted(tally.items())))
    print(f"{len(work)} programs, {steps} operations, {len(work) / seconds:.0f} programs/s")
    return 1 if failures else 0


class _Nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *args: object) -> None:
        return None


if __name__ == "__main__":
    sys.exit(main())
