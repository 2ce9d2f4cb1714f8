"""The verdict on a program that the interpreter differentiates, against differences."""

from __future__ import annotations

import linecache
import signal
import sys
import traceback
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests import random_programs
from tests.matrix import judge as matrix_judge
from tests.matrix.build import program as matrix_program
from tests.program_writer import Program, generate
from tests.shadows.gradient import value_and_grad
from tests.shadows.refs import NotSupported
from tests.shadows.run import Codes, Run
from tests.trees import fresh, leaves, same_bits


@dataclass
class Verdict:
    """What became of a program: right, wrong, undecided, unsupported, crash, or raised (the program itself fails)."""

    kind: str
    message: str = ""
    used: set[str] = field(default_factory=set)


_KINDS = {"value": "wrong", "gradient": "wrong", "changed": "wrong", "effects": "wrong", "refused": "crash",
          "unplaced": "crash"}  # fmt: skip


def of_matrix(index: int) -> Verdict:
    """The verdict on a program of the matrix."""
    program = matrix_program(index)
    return of_module(program)


def of_module(program: Any) -> Verdict:
    lines = program.source.splitlines(keepends=True)
    linecache.cache[program.filename] = (len(program.source), None, lines, program.filename)
    used: list[Run] = []
    try:
        with matrix_judge._limited(), np.errstate(all="ignore"):
            found = _judged(program, used)
    except NotSupported as problem:
        found = Verdict("unsupported", str(problem))
    except matrix_judge.Expired:
        found = Verdict("crash", "took too long")
    finally:
        linecache.cache.pop(program.filename, None)
        sys.modules.pop("matrix_program", None)
    for run in used:
        found.used |= run.used
    return found


def _judged(program: Any, used: list[Run]) -> Verdict:
    try:
        runs = matrix_judge.Runs(program)
        names = runs.module(runs.code)
        random = np.random.default_rng(program.index)
        moved = matrix_judge.differentiated(program, names["arguments"]())
        directions = [random.standard_normal(np.shape(leaf)) for leaf in moved]
        expected = list(matrix_judge._expected(runs, directions))
    except Exception as problem:
        return Verdict("raised", f"{type(problem).__name__}: {problem}")
    df = value_and_grad(names["f"], program.argnums, Codes(program.source, program.filename), used)
    for number, call in enumerate(expected):
        found = matrix_judge._compared(df, names, directions, call)
        if found.kind != "right":
            return Verdict(_KINDS.get(found.kind, found.kind), ("", "second call: ")[number] + found.message)
    return Verdict("right")


def of_random(seed: int, level: int, size: int) -> Verdict:
    """The verdict on a random program."""
    program = generate(seed, level, size)
    used: list[Run] = []
    signal.signal(signal.SIGPROF, random_programs.expired)
    signal.setitimer(signal.ITIMER_PROF, random_programs.PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _of_random(program, used)
    except NotSupported as problem:
        found = Verdict("unsupported", str(problem))
    except random_programs.Expired:
        found = Verdict("crash", "took too long")
    except Exception:
        found = Verdict("crash", traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        linecache.cache.pop(program.filename, None)
    for run in used:
        found.used |= run.used
    return found


def _of_random(program: Program, used: list[Run]) -> Verdict:
    rng = np.random.default_rng(program.seed)
    chosen = [program.args[position] for position in program.argnums]
    ways = [random_programs.random_direction(rng, chosen) for _ in range(2)]
    try:
        f = random_programs.load(program)
        value = f(*fresh(program.args))
        expected: Any = random_programs.directional(program, ways)
    except random_programs.Kink:
        return Verdict("undecided")
    except Exception as error:
        return Verdict("raised", f"{type(error).__name__}: {error}")
    args = fresh(program.args)
    f = random_programs.load(program)
    with np.errstate(all="ignore"):
        got, gradients = value_and_grad(f, program.argnums, Codes(program.source, program.filename), used)(*args)
    if not random_programs.same_bits(got, value):
        return Verdict("wrong", f"value {got!r}, not {value!r}")
    if not same_bits(args, program.args):
        return Verdict("wrong", "the arguments were changed")
    flat = [leaf for _, leaf in leaves(list(gradients))]
    for way, (best, error) in zip(ways, expected, strict=True):
        pairs = zip(flat, leaves(way), strict=True)
        along = sum(float(np.sum(g * d)) for g, (_, d) in pairs)
        if not abs(along - best) <= 1e-6 * max(1.0, abs(best)) + 10 * error:
            if random_programs.largest(program) > 1e9:
                return Verdict("undecided")
            return Verdict("wrong", f"derivative along a direction is {along!r}, differences give {best!r}")
    return Verdict("right")
