"""Second derivatives of random programs, by differentiating emitted texts, against differences of the gradients.

python -m tests.differentiate.second_order --count 2000 --seed 0 --level 1 [--jobs 2] [--size 10]
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import re
import warnings
from collections import Counter
from typing import Any

import numpy as np

from s2sad import grad, jvp, vjp
from s2sad.errors import S2SADError
from s2sad.pushforwards import TangentOf
from tests.random_programs import Verdict, generate, load, random_direction
from tests.trees import fresh, leaves, tree_map

#: The modes in which the gradient is differentiated; or in reverse the ``tangent``.
MODES = ("forward", "reverse", "tangent")


def moved(trees: list[Any], ways: list[Any], step: float) -> list[Any]:
    """Arguments moved along their directions."""
    directions = iter([d for _, d in leaves(ways)])
    return [tree_map(lambda x: x + step * next(directions), tree) for tree in trees]


def judge(seed: int, level: int, size: int, mode: str) -> Verdict:
    """Compare the second derivative of a program along a direction with differences of its first."""
    program = generate(seed, level, size)
    if "stop_gradient(" in program.source:
        return Verdict("undecided", "differences of a gradient do not know what is constant in it")
    rng = np.random.default_rng(seed)
    chosen = [program.args[i] for i in program.argnums]
    way = random_direction(rng, chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f = load(program)
            f(*fresh(program.args))
        except Exception as error:
            return Verdict("raised", str(error))
        df = grad(f, program.argnums)

        def slope(step: float) -> float:
            args = list(fresh(program.args))
            for i, value in zip(program.argnums, moved([args[i] for i in program.argnums], way, step), strict=True):
                args[i] = value
            found = [g for _, g in leaves(list(df(*args)))]
            return sum(float(np.sum(g * d)) for g, (_, d) in zip(found, leaves(way), strict=True))

        try:
            slope(0.0)
        except S2SADError:
            return Verdict("refused", "the gradient")
        args = list(fresh(program.args))
        try:
            found = _second(df, f, program, args, way, mode)
        except S2SADError as error:
            return Verdict("refused", str(error).split("error: ", 1)[-1].splitlines()[0])
        h = 2e-3
        middle = slope(0.0)
        right, left = ([(slope(s * h / n) - middle) * n / (s * h) for n in (1, 2, 4)] for s in (1, -1))
        wide, half, narrow = ((a + b) / 2 for a, b in zip(right, left, strict=True))
        first, second = (4 * half - wide) / 3, (4 * narrow - half) / 3
        best = (16 * second - first) / 15
        sides = [(8 * c - 6 * b + a) / 3 for a, b, c in (right, left)]
        error = abs(best - second) + abs(sides[0] - sides[1]) + 1e-9 * abs(middle) / h + 1e-10
    if not np.isfinite(best) or error > 1e-5 * max(1.0, abs(best)):
        return Verdict("undecided")
    if not abs(found - best) <= 1e-5 * max(1.0, abs(best)) + 10 * error:
        return Verdict(
            "failed", f"second derivative {found!r}, differences of the gradient give {best!r} +- {error:.1e}"
        )
    return Verdict("compared")


def _second(df: Any, f: Any, program: Any, args: list[Any], way: list[Any], mode: str) -> float:
    """The second derivative along a direction."""
    directions = [d for _, d in leaves(way)]
    if mode == "forward":
        tangents: list[Any] = [None] * len(args)
        for i, tangent in zip(program.argnums, way, strict=True):
            tangents[i] = tangent
        found = jvp(df, args, tangents)[1]
    elif mode == "tangent":
        made = TangentOf(f, program.argnums, has_aux=False)
        dots = dict(zip(made.dots, way, strict=True))
        value, pullback = vjp(functools.partial(made, **dots), *args, argnums=program.argnums)
        found = pullback(
            tuple(
                [
                    np.asarray(s, np.result_type(v)) if isinstance(v, np.ndarray) else s
                    for s, v in zip((0.0, 1.0), value, strict=True)
                ]
            )
        )
    else:
        value, pullback = vjp(df, *args, argnums=program.argnums)
        given = iter(directions)
        found = pullback(tree_map(lambda _: next(given), value))
    parts = [g for _, g in leaves(list(found))]
    return sum(float(np.sum(g * d)) for g, d in zip(parts, directions, strict=True))


def _judged(task: tuple[int, int, int]) -> list[tuple[int, str, Verdict]]:
    seed, level, size = task
    found = []
    for mode in MODES:
        try:
            found.append((seed, mode, judge(seed, level, size, mode)))
        except Exception as error:
            found.append((seed, mode, Verdict("failed", f"{type(error).__name__}: {error}")))
    return found


def main() -> None:
    """Judge many programs in all modes, and count why they are refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("count", 200), ("seed", 0), ("level", 1), ("size", 8), ("jobs", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    tasks = [(given.seed + n, given.level, 2 + n % (given.size - 1)) for n in range(given.count)]
    kinds: Counter[tuple[str, str]] = Counter()
    causes: dict[tuple[str, str], list[int]] = {}
    with multiprocessing.get_context("fork").Pool(given.jobs, maxtasksperchild=100) as pool:
        for group in pool.imap_unordered(_judged, tasks, chunksize=4):
            for seed, mode, verdict in group:
                kinds[mode, verdict.kind] += 1
                if verdict.kind == "failed":
                    print(seed, mode, verdict.message, flush=True)
                elif verdict.kind == "refused":
                    cause = re.sub(r"\b\w*\d\w*\b|\w+_bar\w*", "N", verdict.message)
                    causes.setdefault((mode, cause), []).append(seed)
    for (mode, cause), seeds in sorted(causes.items(), key=lambda item: (item[0][0], -len(item[1]))):
        print(f"{len(seeds):5} {mode:8} {cause[:110]}  {seeds[:3]}")
    for mode in MODES:
        print(mode, ", ".join(f"{kind}: {n}" for (m, kind), n in sorted(kinds.items()) if m == mode))


if __name__ == "__main__":
    main()
