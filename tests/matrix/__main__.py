"""Runs many programs of the matrix and says what became of them."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import multiprocessing
import pathlib
import sys
import time
from collections import Counter, defaultdict

from tests.matrix.build import program
from tests.matrix.judge import FAILURES, judge, shrunk, verdict

_KINDS = ("right", "refused", *FAILURES, "raised", "undecided")


def table(title: str, rows: dict[str, Counter[str]], failing_only: bool) -> None:
    """Counts of verdicts for each value of an axis, the worst first."""
    print(f"\n{title:58s}" + "".join(f"{kind:>10s}" for kind in _KINDS))
    order = sorted(rows, key=lambda row: -sum(rows[row][kind] for kind in FAILURES))
    for row in order:
        if not failing_only or any(rows[row][kind] for kind in FAILURES):
            print(f"{row[:57]!r:58s}" + "".join(f"{rows[row][kind] or '.':>10}" for kind in _KINDS))


def chosen(options: argparse.Namespace) -> list[int]:
    """The indices to run."""
    indices = list(range(options.start, options.start + options.count))
    if options.only:
        indices = [i for i in indices if options.only in program(i).family]
    if options.sample:
        seen: Counter[str] = Counter()
        kept = []
        for index in indices:
            family = program(index).family
            seen[family] += 1
            if seen[family] <= options.sample:
                kept.append(index)
        indices = kept
    return indices


def counted(tally: Counter[str]) -> str:
    """How many programs have had which verdict."""
    return ", ".join(f"{kind}: {tally[kind]}" for kind in _KINDS if tally[kind])


def main() -> int:
    """The exit status is 1 if a program failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__)
    parser.add_argument("--count", type=int, default=24000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help="families whose name contains this")
    parser.add_argument("--sample", type=int, help="so many programs of each family")
    parser.add_argument("--show", type=int, help="print the program of an index with its verdict, and stop")
    parser.add_argument("--shrink", type=int, help="the same for a simpler program with that verdict")
    parser.add_argument("--out", type=pathlib.Path, help="a file for the verdicts, one line of JSON each")
    parser.add_argument("--axes", action="store_true", help="a table for each axis, not of families only")
    parser.add_argument("--mode", default="reverse", choices=("reverse", "forward"))
    options = parser.parse_args()
    decided = functools.partial(verdict, mode=options.mode)
    if options.show is not None or options.shrink is not None:
        shown = program(options.show) if options.shrink is None else shrunk(program(options.shrink))
        print(shown.source, shown.family, shown.axes, judge(shown, options.mode), sep="\n")
        return 0
    indices = chosen(options)
    tally: Counter[str] = Counter()
    rows: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    start = time.perf_counter()
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(options.out.open("w")) if options.out else None
        if options.jobs > 1:
            pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(options.jobs))
            results = pool.imap_unordered(decided, indices, chunksize=20)
        else:
            results = map(decided, indices)
        for index, found in results:
            made = program(index)
            tally[found.kind] += 1
            if not tally.total() % 500:
                print(f"{tally.total()} of {len(indices)}: {counted(tally)}", flush=True)
            rows["family"][made.family][found.kind] += 1
            for axis, value in made.axes:
                rows[axis][value][found.kind] += 1
            if out is not None:
                line = {"index": index, "kind": found.kind, "family": made.family, "axes": dict(made.axes)}
                out.write(json.dumps(line | {"message": found.message, "source": made.source}) + "\n")
    seconds = time.perf_counter() - start
    for axis in rows if options.axes else ("family",):
        table(axis, rows[axis], failing_only=axis not in ("family", "activity", "order", "use"))
    print()
    print(counted(tally))
    print(f"{len(indices)} programs, {len(indices) / seconds:.0f}/s")
    return 1 if any(tally[kind] for kind in FAILURES) else 0


if __name__ == "__main__":
    sys.exit(main())
