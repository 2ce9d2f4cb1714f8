"""Benchmark of emitted gradients against hand-written ones.

    python -m tests.benchmarks                    everything but the kernels that write in place
    python -m tests.benchmarks speed --cases rnn_20x64,euler_1000
    python -m tests.benchmarks build import memory
    python -m tests.benchmarks orders             jvp over primals, hvp over gradients, Hessians beside others
    python -m tests.benchmarks operations         single operations: gradients over functions
    python -m tests.benchmarks --inplace          those kernels: over their primals, beside JAX, and by time steps

Every gradient is checked against the hand-written one, or a difference, before it is timed. A figure is the median
over rounds of the ratio of two times of the same round, all contenders in one process, on one core. The process starts
itself again with the variables below where they are not set: the allocator then keeps freed pages (on a shared virtual
machine, faulting them in again costs more than the arithmetic), and the BLAS stays in one thread. The control, the
hand-written gradient once more, shows how far a figure can be trusted. Exit status 1 if a case fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .tables import number, progress, summary, table

ENVIRONMENT = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "20000000000",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TOP_PAD_": "67108864",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
}
SECTIONS = ("speed", "build", "import", "memory", "orders", "operations")
ROOT = Path(__file__).resolve().parents[2]
GOALS = {"geometric mean": 1.3, "worst": 2.0, "build of 10 statements, ms": 20.0, "import over NumPy, ms": 60.0}


def restart_with_environment(argv: list[str]) -> None:
    """Run again as a module, with ENVIRONMENT set, unless that is so already; then stay on one core.

    The allocator and the BLAS read their variables when they are loaded: call this before NumPy is.
    """
    missing = {name: value for name, value in ENVIRONMENT.items() if os.environ.get(name) != value}
    if (missing and not os.environ.get("S2SAD_BENCH_RESTARTED")) or not __package__:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": path, "S2SAD_BENCH_RESTARTED": "1"}
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, "-m", "tests.benchmarks", *argv], environment)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if missing:
        print(f"warning: not set: {', '.join(missing)}", file=sys.stderr)


def speed(cases: dict[str, Any], options: argparse.Namespace, others: list[str]) -> dict[str, Any]:
    """Time the cases, print their table, and return the figures."""
    from .timing import run_case

    rows = [["case", "primal us", "hand us", "s2sad us", "s2sad/hand"]]
    rows[0] += [f"{name}/hand" for name in ["expert", *others]] + ["build ms"]
    rows[0] += ["jax build ms"] if "jax" in others else []
    figures: dict[str, Any] = {}
    for case in cases.values():
        progress(case.name)
        result = run_case(case, options.rounds, others, 1 if options.quick else 5)
        figures[case.name] = vars(result)
        us, ratio, build = result.microseconds, result.ratio, result.build_ms
        row = [case.name, number(us["primal"]), number(us["hand"]), number(us.get("s2sad")), number(ratio.get("s2sad"))]
        row += [number(ratio.get(name)) for name in ["expert", *others]] + [number(build.get("s2sad"))]
        row += [number(build.get("jax"))] if "jax" in others else []
        rows.append(row)
    progress("")
    print(table(rows))
    summaries: dict[str, Any] = {}
    for name in ["s2sad", *others, "control"]:
        ratios = {case: f["ratio"][name] for case, f in figures.items() if name in f["ratio"]}
        if ratios:
            s = summaries[name] = summary(ratios)
            line = f"{name}/hand: geometric mean {s['geometric_mean']:.2f}, worst {s['worst']:.2f} ({s['worst_case']})"
            if name == "s2sad":
                line += f"; {len(ratios)} of {len(cases)} cases"
                line += f"; aims: {GOALS['geometric mean']} and {GOALS['worst']}"
            print(line)
    for case in cases:
        for note in figures[case]["notes"]:
            print(f"note: {case}: {note}")
    return {"cases": figures, "summary": summaries}


def build(options: argparse.Namespace) -> dict[str, Any]:
    from .resources import build_time

    rows = [["statements", "build ms", "us a statement"]]
    figures: dict[str, Any] = {}
    for statements in (10, 100, 500) if options.quick else (10, 100, 500, 2000):
        repeats = 1 if options.quick else 7 if statements <= 100 else 3
        try:
            t = build_time(statements, repeats)
        except Exception as error:  # the other lengths are worth knowing all the same
            print(f"note: {statements} statements: {type(error).__name__}: {error}")
            figures[str(statements)] = {"failed": True}
            continue
        figures[str(statements)] = {"milliseconds": t.milliseconds, "failed": False}
        rows.append([str(statements), number(t.milliseconds), number(t.per_statement_us)])
    print(table(rows))
    print(f"aim: {GOALS['build of 10 statements, ms']:.0f} ms for ten statements, and linear in length")
    return figures


def import_time(options: argparse.Namespace) -> dict[str, Any]:
    from .resources import import_times

    times = import_times(3 if options.quick else 15)
    aim = GOALS["import over NumPy, ms"]
    print(f"numpy {times['numpy']:.1f} ms; s2sad after it {times['s2sad']:.1f} ms more (aim: {aim:.0f} ms)")
    return times


def memory(cases: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    from .resources import peak_memory

    figures: dict[str, Any] = {}
    rows = [["case", "primal kB", "hand kB", "s2sad kB", "s2sad/hand", "autograd/hand"]]
    wanted = ["primal", "hand", "s2sad"] + ["autograd"] * ("autograd" in contenders(options))
    for name, case in cases.items():
        peaks = figures[name] = peak_memory(case, wanted)
        row = [name] + [number(peaks[c] / 1e3 if c in peaks else None) for c in ("primal", "hand", "s2sad")]
        row += [number(peaks[c] / peaks["hand"] if c in peaks else None) for c in ("s2sad", "autograd")]
        rows.append(row)
    print(table(rows))
    return figures


def contenders(options: argparse.Namespace) -> list[str]:
    wanted = [name for name in ("autograd", "jax") if not getattr(options, f"no_{name}")]
    return [name for name in wanted if find_spec(name) is not None]


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description="Gradients against hand-written ones."
    )
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all if none is named"
    )
    parser.add_argument("--cases", help="names, separated by commas, of cases or kernels")
    parser.add_argument("--rounds", type=int, help="31, or 5 with --quick")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that everything runs")
    parser.add_argument("--inplace", action="store_true", help="the kernels that write into their arrays")
    parser.add_argument("--no-jax", action="store_true")
    parser.add_argument("--no-autograd", action="store_true")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write all figures to this file")
    options = parser.parse_args(argv)
    for section in options.sections:
        if section not in SECTIONS:
            parser.error(f"no section {section!r}: choose from {', '.join(SECTIONS)}")
    if options.rounds is None:
        options.rounds = 5 if options.quick else 31
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if not options.sections:
        options.sections = [] if options.inplace else ["speed"] if options.cases else list(SECTIONS)
    return options


def select(available: dict[str, Any], names: str | None) -> dict[str, Any]:
    return available if names is None else {name: case for name, case in available.items() if name in names.split(",")}


def main(argv: list[str]) -> int:
    options = parse(argv)
    restart_with_environment(argv)

    import numpy as np

    from .called import CALLED
    from .cases import CASES
    from .kernels import KERNELS

    kernels = {**KERNELS, **CALLED}
    unknown = set((options.cases or "").split(",")) - {"", *CASES, *kernels}
    if unknown:
        print(f"no case {', '.join(sorted(unknown))}; there are {', '.join([*CASES, *kernels])}", file=sys.stderr)
        return 2
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, {os.cpu_count()} cores")
    others = contenders(options)
    for name in ("autograd", "jax"):
        if name not in others:
            print(f"note: without {name}")
    figures: dict[str, Any] = {"python": platform.python_version(), "numpy": np.__version__}
    failed = False
    if "speed" in options.sections:
        print(f"\n# gradient against the hand-written one ({options.rounds} rounds)")
        figures["speed"] = speed(select(CASES, options.cases), options, others)
        failed |= any(f["failed"] for f in figures["speed"]["cases"].values())
    if "build" in options.sections:
        print("\n# build time of a straight-line function")
        figures["build"] = build(options)
        failed |= any(f["failed"] for f in figures["build"].values())
    if "import" in options.sections:
        print("\n# import time")
        figures["import"] = import_time(options)
    if "memory" in options.sections:
        print("\n# peak memory of a gradient")
        figures["memory"] = memory(select(CASES, options.cases), options)
        failed |= any("s2sad" not in peaks for peaks in figures["memory"].values())
    if "orders" in options.sections:
        from .orders import orders

        print(f"\n# tangents, products with Hessians, and Hessians ({options.rounds} rounds, best times)")
        figures["orders"] = orders(select(CASES, options.cases), options.rounds, others)
    if "operations" in options.sections:
        from .operations import operations

        print(f"\n# gradient of single operations over the function itself ({options.rounds} rounds)")
        rows, figures["operations"] = operations(options.rounds, others)
        print(table(rows))
    if options.inplace:
        from . import inplace

        figures["inplace"], one_failed = inplace.run(select(kernels, options.cases), options, "jax" in others)
        failed |= one_failed
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
