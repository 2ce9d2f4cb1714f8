"""Differentiates programs that the compiler refuses by the interpreter, and says what became of them.

    python -m tests.shadows --count 2000 [--start 0] [--all] [--list FILE] [--show matrix:17]

A file of `--list` has one program on each line, in JSON: ``["matrix", 17]`` or ``["random2", 5, message, size]``.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import sys
from collections import Counter
from typing import Any

from tests.matrix.judge import verdict as compiled_verdict
from tests.program_writer import generate
from tests.random_programs import run_one
from tests.shadows.judge import Verdict, of_matrix, of_random


def judged(task: list[Any]) -> Verdict:
    """The verdict on one program."""
    if task[0] == "matrix":
        return of_matrix(task[1])
    return of_random(task[1], int(task[0][-1]), task[3])


def refused(count: int, start: int) -> Any:
    """Programs that the compiler refuses, of the matrix and random ones."""
    numbers = random.Random(start)
    while count > 0:
        index, seed = numbers.randrange(10**7), numbers.randrange(10**7)
        verdict = compiled_verdict(index)[1]
        if verdict.kind == "refused":
            count -= 1
            yield ["matrix", index, verdict.message]
        level = 1 + seed % 2
        found = run_one((seed, level, 2 + seed % 13))[1]
        if found.kind == "refused":
            count -= 1
            yield [f"random{level}", seed, found.message, 2 + seed % 13]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.shadows", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="programs that the compiler accepts too")
    parser.add_argument("--list", type=pathlib.Path, help="the programs, one on each line")
    parser.add_argument("--out", type=pathlib.Path, help="writes a line of JSON for each program")
    parser.add_argument("--show", help="one program, as matrix:17 or random2:5:7")
    options = parser.parse_args()
    if options.show:
        kind, *rest = options.show.split(":")
        if kind == "matrix":
            from tests.matrix.build import program

            print(program(int(rest[0])).source)
            task: list[Any] = [kind, int(rest[0])]
        else:
            print(generate(int(rest[0]), int(kind[-1]), int(rest[1])).source)
            task = [kind, int(rest[0]), "", int(rest[1])]
        found = judged(task)
        print(found.kind, found.message, sorted(found.used))
        return 0
    if options.list:
        tasks: Any = [json.loads(line) for line in options.list.read_text().splitlines()][options.start :]
        tasks = tasks[: options.count]
    elif options.all:
        tasks = (["matrix", options.start + i] for i in range(options.count))
    else:
        tasks = refused(options.count, options.start)
    tally: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with (options.out or pathlib.Path("/dev/null")).open("w") as file:
        for task in tasks:
            found = judged(task)
            tally[found.kind] += 1
            message = found.message.strip().splitlines()[-1][:120] if found.message else ""
            if found.kind in ("wrong", "crash"):
                print(f"{':'.join(map(str, [task[0], task[1], *task[3:]]))} {found.kind}: {message}", flush=True)
            if found.kind == "unsupported":
                reasons[message] += 1
            file.write(json.dumps([*task[:2], found.kind, message, sorted(found.used), *task[2:3]]) + "\n")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(tally.items())))
    for message, count in reasons.most_common(25):
        print(f"{count:6d}  {message}")
    return 1 if tally["wrong"] or tally["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
