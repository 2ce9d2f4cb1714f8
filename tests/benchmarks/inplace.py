"""Kernels that write in place: the cost of a gradient over that of its primal, JAX beside, and growth with time."""

from __future__ import annotations

import argparse
import copy
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from s2sad.errors import UnsupportedError
from tests.kernels.catalogue import KERNELS as CATALOGUE

from .called import CALLED
from .case import Case
from .jax_ports import PORTS
from .resources import peak_memory
from .tables import geometric_mean, number, progress, summary, table
from .timing import (
    Thunk,
    WrongGradientError,
    assert_same,
    build_ms,
    first_call,
    interleave,
    jax_port_thunk,
    primal_thunk,
    s2sad_thunk,
)

AIM = 1.3  # times the hand-written gradient, geometric mean
CALLED_AIM = "1.15, none above 1.5"  # the same, of kernels that are called for their result
STENCIL_AIM = 4.0  # times the primal, each
STENCILS = (
    "jacobi_1d", "jacobi_2d", "diffusion_steps", "heat_3d", "heat_3d_turns", "fdtd_2d", "horizontal_diffusion",
    "reaction_diffusion", "cavity_flow", "channel_flow",
)  # fmt: skip
GROWTH = {  # sizes by number of time steps
    "jacobi_2d": lambda steps: (50, steps),
    "reaction_diffusion": lambda steps: (1000, steps),
    "cavity_flow": lambda steps: (21, steps, 5),
}
STEPS = (10, 100, 1000)


def assert_slope(case: Case, args: tuple[Any, ...], gradient: Any) -> None:
    """The gradient along one random direction is the central difference. Raises WrongGradientError."""
    argnums = (case.argnums,) if isinstance(case.argnums, int) else case.argnums
    gradients = (gradient,) if isinstance(case.argnums, int) else gradient
    rng = np.random.default_rng(5)
    h = 1e-6
    directions = {i: rng.standard_normal(np.shape(args[i])) * np.abs(args[i]) for i in argnums}

    def value(step: float) -> float:
        moved = [a + step * directions[i] if i in directions else copy.deepcopy(a) for i, a in enumerate(args)]
        return float(case.primal(*moved))

    expected = (value(h) - value(-h)) / (2.0 * h)
    parts = [np.real(g * directions[i]) for i, g in zip(argnums, gradients, strict=True)]
    scale = np.sqrt(sum(float(np.sum(part**2)) for part in parts))
    slope = sum(float(np.sum(part)) for part in parts)
    noise = 1e-15 / h * abs(value(0.0))
    if not abs(slope - expected) <= 1e-4 * (abs(expected) + scale) + 100.0 * noise:
        raise WrongGradientError(f"s2sad: along a direction {slope:.9g}, by differences {expected:.9g}")


def gradient_thunk(case: Case, args: tuple[Any, ...]) -> Thunk:
    """The gradient, called once and found right: against the hand-written one, or else against a difference."""
    thunk = s2sad_thunk(case, args)
    before = copy.deepcopy(args)
    gradient = thunk()
    if case.hand is not None:
        assert_same("s2sad", gradient, case.hand(*args))
    else:
        assert_slope(case, args, gradient)
    for now, then in zip(args, before, strict=True):
        if not np.array_equal(now, then):
            raise WrongGradientError("s2sad: the caller's arguments have changed")
    return thunk


def ratio(times: dict[str, list[float]], over: str, under: str) -> float | None:
    """The median over rounds of one contender's time over another's."""
    if over not in times or under not in times:
        return None
    return statistics.median(a / b for a, b in zip(times[over], times[under], strict=True))


def run_kernel(case: Case, rounds: int, build_repeats: int) -> dict[str, Any]:
    """Times, ratios of times and of peak memory, milliseconds to build; `notes` where there is no gradient."""
    args = case.make_args()
    figures: dict[str, Any] = {"failed": False, "notes": []}
    thunks: dict[str, Thunk] = {"primal": primal_thunk(case, args)}
    try:
        thunks["s2sad"] = gradient_thunk(case, args)
    except Exception as error:  # a row of the table all the same
        figures["failed"] = "refused" if isinstance(error, UnsupportedError) else type(error).__name__
        figures["notes"].append(f"{type(error).__name__}: {error}")
    for name, function in (("hand", case.hand), ("expert", case.expert), ("control", case.hand)):
        if function is not None:
            thunks[name] = partial(function, *args)
    times = interleave(thunks, rounds)
    figures["milliseconds"] = {name: 1e3 * statistics.median(seconds) for name, seconds in times.items()}
    figures["to_primal"] = {name: ratio(times, name, "primal") for name in times}
    figures["to_hand"] = {name: ratio(times, name, "hand") for name in times} if "hand" in times else {}
    peaks = peak_memory(case, [name for name in ("primal", "hand", "s2sad") if name in thunks])
    figures["peak_bytes"] = peaks
    if "s2sad" in thunks and build_repeats:
        figures["build_ms"] = build_ms(case, build_repeats)
    return figures


def kernels(cases: dict[str, Case], options: argparse.Namespace, aim: str) -> dict[str, Any]:
    """Every kernel: gradient over primal, in time and memory, and over the hand-written gradient."""
    rows = [
        [
            "kernel", "primal ms", "gradient ms", "gradient/primal", "memory gradient/primal", "gradient/hand",
            "expert/hand", "hand/primal", "memory hand/primal", "build ms",
        ]
    ]  # fmt: skip
    figures: dict[str, Any] = {}
    for name, case in cases.items():
        progress(name)
        f = figures[name] = run_kernel(case, options.rounds, 0 if options.quick else 3)
        ms, memory = f["milliseconds"], f["peak_bytes"]
        base = max(memory["primal"], 1)
        gradient = f["failed"] or number(ms["s2sad"])
        rows.append(
            [name, number(ms["primal"]), gradient, number(f["to_primal"].get("s2sad"))]
            + [number(memory["s2sad"] / base if "s2sad" in memory else None)]
            + [number(f["to_hand"].get(contender)) for contender in ("s2sad", "expert")]
            + [number(f["to_primal"].get("hand")), number(memory["hand"] / base if "hand" in memory else None)]
            + [number(f.get("build_ms"))]
        )
    progress("")
    print(table(rows))
    done = {name: f["to_primal"]["s2sad"] for name, f in figures.items() if not f["failed"]}
    print(f"{len(done)} of {len(cases)} kernels", end="")
    print(f"; gradient/primal: geometric mean {geometric_mean(list(done.values())):.2f}" if done else "")
    stencils = {name: r for name, r in done.items() if name in STENCILS}
    if stencils:
        s = summary(stencils)
        line = f"vectorised stencils, gradient/primal: worst {s['worst']:.2f} ({s['worst_case']})"
        print(f"{line}, of {len(stencils)}; aim: {STENCIL_AIM}")
    for contender in ("s2sad", "expert", "control"):
        ratios = {name: f["to_hand"][contender] for name, f in figures.items() if contender in f["to_hand"]}
        if ratios:
            s = summary(ratios)
            wanted = f"; aim: {aim}" if contender == "s2sad" else ""
            line = f"{contender}/hand: geometric mean {s['geometric_mean']:.2f}, worst {s['worst']:.2f}"
            print(f"{line} ({s['worst_case']}), of {len(ratios)}{wanted}")
    for name, f in figures.items():
        for note in f["notes"]:
            print(f"note: {name}: {note if f['failed'] != 'refused' else note.splitlines()[0]}")
    return figures


def jax_ports(cases: dict[str, Case], options: argparse.Namespace) -> dict[str, Any]:
    """Kernels on JAX, straightforward and expert port, compile time beside run time, beside the gradient."""
    rows = [
        ["kernel", "gradient ms", "build ms", "jax ms", "compile ms", "expert jax ms", "compile ms", "jax/gradient",
         "expert jax/gradient"]
    ]  # fmt: skip
    figures: dict[str, Any] = {}
    for name in [name for name in PORTS if name in cases]:
        progress(name)
        case = cases[name]
        args = case.make_args()
        thunks: dict[str, Thunk] = {}
        f = figures[name] = {"compile_ms": {}, "failed": False}
        try:
            f["compile_ms"]["s2sad"], thunks["s2sad"], expected = first_call(partial(gradient_thunk, case, args))
        except Exception as error:  # JAX's figures are shown all the same
            f["failed"] = "refused" if isinstance(error, UnsupportedError) else type(error).__name__
            expected = case.hand(*args) if case.hand is not None else None
        for contender, make in zip(("jax", "expert"), PORTS[name], strict=True):
            f["compile_ms"][contender], thunk, gradient = first_call(partial(jax_port_thunk, make, case, args))
            if expected is not None:
                assert_same(contender, gradient, expected)
            thunks[contender] = thunk
        times = interleave(thunks, options.rounds)
        ms = f["milliseconds"] = {contender: 1e3 * statistics.median(seconds) for contender, seconds in times.items()}
        row = [name, f["failed"] or number(ms["s2sad"]), number(f["compile_ms"].get("s2sad"))]
        for contender in ("jax", "expert"):
            row += [number(ms[contender]), number(f["compile_ms"][contender])]
        rows.append(row + [number(ratio(times, contender, "s2sad")) for contender in ("jax", "expert")])
    progress("")
    print(table(rows))
    return figures


def growth(cases: dict[str, Case], options: argparse.Namespace) -> dict[str, Any]:
    """Time and memory of a gradient by number of time steps."""
    rows = [["kernel", "steps", "primal ms", "gradient ms", "gradient us a step", "gradient MB", "kB a step"]]
    figures: dict[str, Any] = {}
    for name in [name for name in GROWTH if name in cases]:
        sizes: Callable[[int], tuple[int, ...]] = GROWTH[name]
        for steps in STEPS:
            progress(f"{name}, {steps} steps")
            kernel = CATALOGUE[name]
            args = kernel.make_args(*sizes(steps))
            case = cases[name]
            thunks = {"primal": primal_thunk(case, args)}
            try:
                thunks["s2sad"] = s2sad_thunk(case, args)
                thunks["s2sad"]()
            except UnsupportedError:
                rows.append([name, str(steps), "-", "refused", "-", "-", "-"])
                continue
            times = interleave(thunks, min(options.rounds, 7))
            ms = {contender: 1e3 * statistics.median(seconds) for contender, seconds in times.items()}
            peak = peak_memory(case, ["s2sad"], args)["s2sad"]
            figures[f"{name} {steps}"] = {"milliseconds": ms, "peak_bytes": peak}
            per_step = 1e3 * ms["s2sad"] / steps
            row = [name, str(steps), number(ms["primal"]), number(ms["s2sad"]), number(per_step)]
            rows.append([*row, number(peak / 1e6), number(peak / 1e3 / steps)])
    progress("")
    print(table(rows))
    return figures


def run(cases: dict[str, Case], options: argparse.Namespace, with_jax: bool) -> tuple[dict[str, Any], bool]:
    """All tables; their figures, and whether a kernel failed."""
    figures: dict[str, Any] = {"kernels": {}}
    if own := {name: case for name, case in cases.items() if name not in CALLED}:
        print(f"\n# kernels that write in place ({options.rounds} rounds)")
        figures["kernels"] |= kernels(own, options, str(AIM))
    if called := {name: case for name, case in cases.items() if name in CALLED}:
        print(f"\n# kernels that write in place, called for their result ({options.rounds} rounds)")
        figures["kernels"] |= kernels(called, options, CALLED_AIM)
    if with_jax and not cases.keys().isdisjoint(PORTS):
        print("\n# kernels on JAX: every store an update, and rewritten by an expert")
        figures["jax"] = jax_ports(cases, options)
    if not cases.keys().isdisjoint(GROWTH):
        print("\n# growth with the number of time steps")
        figures["growth"] = growth(cases, options)
    return figures, any(f["failed"] for f in figures["kernels"].values())
