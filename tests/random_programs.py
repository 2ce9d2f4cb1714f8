"""Random programs over the accepted language, and the judgement of their gradients.

    python -m tests.random_programs --count 20000 --seed 0 --jobs 2 --out /some/folder [--level 2] [--mode forward]

`generate(seed)` writes a small module: helper functions and a function `f` of floats, arrays and containers of them
that returns a scalar. All operations are smooth or bounded, so that central differences mean something; where a kink or
a branch boundary is near, the differences of several step sizes disagree and the program is counted as undecided.
Level 1 is the language of values; level 2 adds stores, views, aliases, swaps and callees that write.

A program passes if the compiled gradient agrees with the differences in random directions and the value bit for bit,
or if it is refused by an `S2SADError` that says where. Everything else is a failure.

`stop_gradient` is handled in the oracle by replay: the base run records what each call returned, and a perturbed run
gets the recorded objects again, so that they are constants by construction.
"""

from __future__ import annotations

import argparse
import contextlib
import linecache
import multiprocessing
import pathlib
import re
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from tests.program_writer import Program, generate
from tests.trees import fresh, leaves, same_bits, tree_map


class Kink(Exception):
    """The oracle cannot decide: a branch or a kink is within a step."""


def load(program: Program, stop_gradient: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The program's `f`; its text is registered with `linecache`, so that `inspect` finds it without a file."""
    source = program.source
    namespace: dict[str, Any] = {"__name__": "tests.random_programs.generated"}
    if stop_gradient is not None:
        source = source.replace("from s2sad import stop_gradient\n", "\n")
        namespace["stop_gradient"] = stop_gradient
    else:
        lines = source.splitlines(keepends=True)
        linecache.cache[program.filename] = (len(source), None, lines, program.filename)
    exec(compile(source, program.filename, "exec"), namespace)
    f = namespace["f"]
    assert callable(f)
    return f


class Replay:
    """`stop_gradient` for the oracle: records in the base run, and gives back the record in all others."""

    def __init__(self) -> None:
        self.record: list[Any] = []
        self.position: int | None = None

    def __call__(self, x: Any, name: str | None = None) -> Any:
        if self.position is None:
            self.record.append(fresh(x))
            return x
        if self.position >= len(self.record):
            raise Kink
        kept = self.record[self.position]
        self.position += 1
        return fresh(kept)


def shifted(tree: Any, direction: Any, step: float) -> Any:
    moves = iter([leaf for _, leaf in leaves(direction)])
    return tree_map(lambda leaf: leaf + step * next(moves), tree)


def random_direction(rng: np.random.Generator, tree: Any) -> Any:
    return tree_map(
        lambda leaf: rng.standard_normal(np.shape(leaf)) if np.ndim(leaf) else float(rng.standard_normal()), tree
    )


def directional(program: Program, directions: list[Any]) -> list[tuple[float, float]]:
    """Derivatives along the directions with error estimates, by Richardson's extrapolation of central differences.

    Three step sizes give two extrapolations; where these disagree, a kink or branch is near, and `Kink` is raised.
    On a kink itself (the maximum of a row of exact zeros) central differences of all sizes agree, but the derivatives
    from the right and from the left, extrapolated likewise, do not.
    Reference: Press et al., Numerical Recipes, section 5.7 (Ridders' method).
    """
    replay = Replay()
    f = load(program, replay)
    chosen = [program.args[position] for position in program.argnums]

    def at(direction: Any, step: float) -> float:
        args = list(fresh(program.args))
        for position, argument in zip(program.argnums, shifted(chosen, direction, step), strict=True):
            args[position] = argument
        replay.position = 0
        return float(f(*args))

    value = float(f(*fresh(program.args)))
    results = []
    for direction in directions:
        h = 1e-3
        right, left = ([(at(direction, s * h / k) - value) * k / (s * h) for k in (1, 2, 4)] for s in (1, -1))
        wide, middle, narrow = ((a + b) / 2 for a, b in zip(right, left, strict=True))
        first, second = (4 * middle - wide) / 3, (4 * narrow - middle) / 3
        best = (16 * second - first) / 15
        sides = [(8 * narrow - 6 * middle + wide) / 3 for wide, middle, narrow in (right, left)]
        # The last step loses what the value itself is rounded by.
        rounding = 8 * np.finfo(float).eps * abs(value) / h
        error = abs(best - second) + abs(sides[0] - sides[1]) + rounding + 1e-10
        if not np.isfinite(best) or error > 1e-6 * max(1.0, abs(best)):
            raise Kink
        if abs(best) * h > 1e3:
            # What is a sine of such a value turns many times within a step, unseen.
            raise Kink
        results.append((best, error))
    return results


def largest(program: Program) -> float:
    """The largest number that a variable of the program holds at the end of a function.

    Beside one of 1e13 a step of 1e-3 is rounded away, and differences do not see what it changes.
    """
    found = [0.0]

    def traced(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != program.filename:
            return None
        if event == "return":
            numbers = [np.asarray(leaf) for _, leaf in leaves(list(frame.f_locals.values()))]
            found.extend(float(np.max(np.abs(x), initial=0.0)) for x in numbers if x.dtype.kind in "ifc")
        return traced

    f = load(program)
    before = sys.gettrace()
    sys.settrace(traced)
    try:
        f(*fresh(program.args))
    finally:
        sys.settrace(before)
    return max(found)


@dataclass(frozen=True)
class Verdict:
    """What became of one program: compared, refused, undecided, raised (the program itself fails), or failed."""

    kind: str
    message: str = ""


PATIENCE = 20
LOCATED = re.compile(r".+:\d+:\d+: error: .+\n.*\S.*\n\s*\^", re.MULTILINE)


class Misshapen(Exception):
    """A gradient has not the shape of its argument."""


def compiled(f: Callable[..., Any], program: Program, args: list[Any], ways: list[Any], mode: str) -> tuple[Any, Any]:
    """The value of a program, and its derivatives along some directions by what has been compiled."""
    from s2sad import jvp, value_and_grad

    if mode == "reverse":
        value, gradients = value_and_grad(f, program.argnums)(*args)
        flat = [leaf for _, leaf in leaves(list(gradients))]
        chosen = [program.args[position] for position in program.argnums]
        for (path, leaf), gradient in zip(leaves(chosen), flat, strict=True):
            if np.shape(leaf) != np.shape(gradient):
                raise Misshapen(f"gradient{path} has shape {np.shape(gradient)}, argument {np.shape(leaf)}")
        pairs = [zip(flat, leaves(way), strict=True) for way in ways]
        return value, [sum(float(np.sum(g * d)) for g, (_, d) in pair) for pair in pairs]
    found = []
    for way in ways:
        tangents = [None] * len(args)
        for position, tangent in zip(program.argnums, way, strict=True):
            tangents[position] = tangent
        value, along = jvp(f, args, tangents)
        found.append(float(along))
    return value, found


def judge(program: Program, directions: int = 2, mode: str = "reverse") -> Verdict:
    """Compares the compiled derivative of a program with differences along random directions."""
    from s2sad.errors import ArgumentError, S2SADError, SourceError

    rng = np.random.default_rng(program.seed)
    chosen = [program.args[position] for position in program.argnums]
    ways = [random_direction(rng, chosen) for _ in range(directions)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expected: list[tuple[float, float]] | None
            try:
                f = load(program)
                value = f(*fresh(program.args))
                expected = directional(program, ways)
            except Kink:
                expected = None
            except Exception as error:
                return Verdict("raised", f"{type(error).__name__}: {error}")
            args = fresh(program.args)
            try:
                got_value, slopes = compiled(f, program, args, ways, mode)
            except Misshapen as error:
                return Verdict("failed", str(error))
            except S2SADError as error:
                # What is wrong with the arguments or the loss has no place in the source.
                located = isinstance(error, ArgumentError) or LOCATED.search(str(error))
                if isinstance(error, SourceError) or not located:
                    return Verdict("failed", f"refused without a place: {error}")
                return Verdict("refused", str(error).split("error: ", 1)[-1].splitlines()[0])
            except Exception as error:
                if not isinstance(error, RuntimeWarning):
                    return Verdict("failed", traceback.format_exc())
                if expected is None:
                    # The slope of a root at zero is infinite, and NumPy says so.
                    return Verdict("undecided")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    # It may be that of a constant, which goes nowhere.
                    got_value, slopes = compiled(f, program, args := fresh(program.args), ways, mode)
        if not same_bits(got_value, value):
            return Verdict("failed", f"value {got_value!r}, not {value!r}")
        if not same_bits(args, program.args):
            return Verdict("failed", "the arguments were changed")
        if expected is None:
            return Verdict("undecided")
        for along, (best, error) in zip(slopes, expected, strict=True):
            if not abs(along - best) <= 1e-6 * max(1.0, abs(best)) + 10 * error:
                if largest(program) > 1e9:
                    return Verdict("undecided")
                return Verdict(
                    "failed", f"derivative along a direction is {along!r}, differences give {best!r} +- {error:.1e}"
                )
        return Verdict("compared")
    finally:
        linecache.cache.pop(program.filename, None)


def shrink(program: Program, mode: str = "reverse") -> tuple[Program, Verdict]:
    """A smaller program of the same kind of failure: the same generator at smaller sizes, over nearby seeds."""
    best, verdict = program, judge(program, mode=mode)
    for size in range(1, program.size):
        for seed in range(program.seed, program.seed + 40):
            smaller = generate(seed, program.level, size)
            found = judge(smaller, mode=mode)
            if found.kind == "failed" and found.message.splitlines()[-1][:25] == verdict.message.splitlines()[-1][:25]:
                return smaller, found
    return best, verdict


def report(program: Program, verdict: Verdict) -> str:
    """A failing program as a module that can be run: the text, the arguments, and what went wrong."""
    args = ", ".join(repr(argument) for argument in program.args)
    message = "\n".join(f"# {line}" for line in verdict.message.splitlines())
    return (
        f"# seed {program.seed}, level {program.level}, size {program.size}\n{message}\n{program.source}\n\n"
        f'if __name__ == "__main__":\n    from numpy import array\n\n    from s2sad import value_and_grad\n\n'
        f"    df = value_and_grad(f, {program.argnums})\n    print(df.source)\n    print(df({args}))\n"
    )


class Expired(BaseException):
    """Not an `Exception`: neither the oracle nor the compiler may take it for the program's own."""


def expired(*_: object) -> None:
    raise Expired("the program and its gradient took too long")


def run_one(task: tuple[int, int, int], mode: str = "reverse") -> tuple[Program, Verdict]:
    """One program, judged within `PATIENCE` seconds of processor time (where the system has alarms)."""
    seed, level, size = task
    program = generate(seed, level, size)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, expired)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        return program, judge(program, mode=mode)
    except Expired:
        return program, Verdict("failed", traceback.format_exc())
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)


def counted(tally: Counter[str]) -> str:
    """How many programs have had which verdict."""
    return ", ".join(f"{kind}: {count}" for kind, count in sorted(tally.items()))


def main(argv: list[str] | None = None) -> int:
    """Runs many programs; the exit status is 1 if one failed."""
    parser = argparse.ArgumentParser(description="Compare gradients of random programs with central differences.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--level", type=int, default=1, choices=(1, 2))
    parser.add_argument("--size", type=int, default=0, help="statements per program; 0: between 2 and 14")
    parser.add_argument("--mode", default="reverse", choices=("reverse", "forward"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="folder for failing programs")
    parser.add_argument("--show", action="store_true", help="print the program of the seed and stop")
    options = parser.parse_args(argv)
    tasks = [
        (seed, options.level, options.size or 2 + seed % 13)
        for seed in range(options.seed, options.seed + options.count)
    ]
    if options.show:
        program = generate(*tasks[0])
        print(program.source, program.args, program.argnums)
        return 0
    tally: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    start = time.perf_counter()
    with contextlib.ExitStack() as stack:
        if options.jobs > 1:
            pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(options.jobs))
            results = pool.imap_unordered(partial(run_one, mode=options.mode), tasks, chunksize=20)
        else:
            results = map(partial(run_one, mode=options.mode), tasks)
        for program, verdict in results:
            tally[verdict.kind] += 1
            if not tally.total() % 250:
                print(f"{tally.total()} of {options.count}: {counted(tally)}", flush=True)
            if verdict.kind == "refused":
                refusals[verdict.message] += 1
            if verdict.kind == "raised" and not tally["raised"] % 50:
                print("the program itself:", verdict.message)
            if verdict.kind == "failed":
                failures[verdict.message.splitlines()[-1][:100]] += 1
                print(f"failed: seed {program.seed}, size {program.size}", flush=True)
                if options.out:
                    options.out.mkdir(parents=True, exist_ok=True)
                    name = f"failure_{program.level}_{program.seed}_{program.size}.py"
                    (options.out / name).write_text(report(program, verdict))
    seconds = time.perf_counter() - start
    print(counted(tally))
    for title, counts in (("refusals", refusals), ("failures", failures)):
        for message, count in counts.most_common(15):
            print(f"  {title} {count:6d}  {message}")
    print(f"{options.count / seconds:.0f} programs/s")
    return 1 if tally["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
