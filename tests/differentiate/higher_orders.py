"""Second and third derivatives of random programs, by differentiating emitted texts, against differences of the order
below.

python -m tests.differentiate.higher_orders --count 2000 --seed 0 --level 1 [--order 3] [--jobs 2] [--size 10]
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import re
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad import grad, jvp, vjp
from s2sad.errors import S2SADError
from s2sad.pushforwards import TangentOf
from tests.program_writer import Program
from tests.random_programs import Verdict, generate, load, random_direction
from tests.trees import fresh, leaves, tree_map

#: The modes in which the gradient is differentiated; or in reverse the ``tangent``.
MODES = ("forward", "reverse", "tangent")
#: Those in which the derivative of the gradient along a direction is.
THIRD = ("forward", "reverse")


def moved(trees: list[Any], ways: list[Any], step: float) -> list[Any]:
    """Arguments moved along their directions."""
    directions = iter([d for _, d in leaves(ways)])
    return [tree_map(lambda x: x + step * next(directions), tree) for tree in trees]


def judge(seed: int, level: int, size: int, order: int = 2) -> dict[str, Verdict]:
    """Compare the derivative of an order of a program, along one direction, with differences of the order below.

    A verdict for each mode in which the order below is differentiated.
    """
    modes = MODES if order == 2 else THIRD
    program = generate(seed, level, size)
    if "stop_gradient(" in program.source:
        return dict.fromkeys(
            modes, Verdict("undecided", "differences of a gradient do not know what is constant in it")
        )
    rng = np.random.default_rng(seed)
    way = random_direction(rng, [program.args[i] for i in program.argnums])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f = load(program)
            f(*fresh(program.args))
        except Exception as error:
            return dict.fromkeys(modes, Verdict("raised", str(error)))
        below = _Below(f, program, way, order)
        try:
            below.slope(0.0)
        except S2SADError:
            return dict.fromkeys(modes, Verdict("refused", "the gradient" if order == 2 else "the second derivative"))
        best, error = _difference(below.slope)
        return {mode: _compared(below, mode, best, error) for mode in modes}


def _difference(slope: Callable[[float], float]) -> tuple[float, float]:
    """The derivative of a function of a step at 0, by extrapolated differences, and what it may be off by.

    Differences of either side that do not meet count as an error: there the function has a kink.
    """
    h = 2e-3
    middle = slope(0.0)
    right, left = ([(slope(s * h / n) - middle) * n / (s * h) for n in (1, 2, 4)] for s in (1, -1))
    wide, half, narrow = ((a + b) / 2 for a, b in zip(right, left, strict=True))
    first, second = (4 * half - wide) / 3, (4 * narrow - half) / 3
    best = (16 * second - first) / 15
    sides = [(8 * c - 6 * b + a) / 3 for a, b, c in (right, left)]
    return best, abs(best - second) + abs(sides[0] - sides[1]) + 1e-9 * abs(middle) / h + 1e-10


def _compared(below: _Below, mode: str, best: float, error: float) -> Verdict:
    try:
        found = below.derivative(mode)
    except S2SADError as refused:
        return Verdict("refused", str(refused).split("error: ", 1)[-1].splitlines()[0])
    except Exception as crash:
        return Verdict("failed", f"{type(crash).__name__}: {crash}")
    if not np.isfinite(best) or error > 1e-5 * max(1.0, abs(best)):
        return Verdict("undecided")
    if not abs(found - best) <= 1e-5 * max(1.0, abs(best)) + 10 * error:
        return Verdict(
            "failed",
            f"derivative of order {below.order} {found!r}, differences of the one below {best!r} +- {error:.1e}",
        )
    return Verdict("compared")


class _Below:
    """What is differentiated once more: the gradient of a program, or with it its derivative along a direction."""

    def __init__(self, f: Any, program: Program, way: list[Any], order: int) -> None:
        self.f, self.program, self.way, self.order = f, program, way, order
        self.function: Any = grad(f, program.argnums)
        if order == 3:
            self.function = self._with_tangent(self.function)

    def slope(self, step: float) -> float:
        """The product of the direction and what is differentiated, a step along the direction."""
        args = list(fresh(self.program.args))
        chosen = [args[i] for i in self.program.argnums]
        for i, value in zip(self.program.argnums, moved(chosen, self.way, step), strict=True):
            args[i] = value
        return self.along(self.function(*args))

    def along(self, result: Any) -> float:
        """The product of the direction and what is differentiated, of a result of the function."""
        found = [g for _, g in leaves(list(result if self.order == 2 else result[1]))]
        return sum(float(np.sum(g * d)) for g, (_, d) in zip(found, leaves(self.way), strict=True))

    def derivative(self, mode: str) -> float:
        """The derivative of that product along the direction."""
        args, argnums = list(fresh(self.program.args)), self.program.argnums
        if mode == "forward":
            tangents: list[Any] = [None] * len(args)
            for i, tangent in zip(argnums, self.way, strict=True):
                tangents[i] = tangent
            return self.along(jvp(self.function, args, tangents)[1])
        function = self.function if mode == "reverse" else self._with_tangent(self.f)
        value, pullback = vjp(function, *args, argnums=argnums)
        if mode == "tangent":
            seeds: Any = tuple([_like(s, v) for s, v in zip((0.0, 1.0), value, strict=True)])
        elif self.order == 3:
            seeds = (tree_map(lambda v: _like(0.0, v), value[0]), self._seed(value[1]))
        else:
            seeds = self._seed(value)
        parts = [g for _, g in leaves(list(pullback(seeds)))]
        return sum(float(np.sum(g * d)) for g, (_, d) in zip(parts, leaves(self.way), strict=True))

    def _with_tangent(self, function: Any) -> Any:
        made = TangentOf(function, self.program.argnums, has_aux=False)
        return functools.partial(made, **dict(zip(made.dots, self.way, strict=True)))

    def _seed(self, value: Any) -> Any:
        given = iter([d for _, d in leaves(self.way)])
        return tree_map(lambda _: next(given), value)


def _like(number: float, value: Any) -> Any:
    """An adjoint of one number for all elements of a value."""
    return np.full(value.shape, number, np.result_type(value)) if isinstance(value, np.ndarray) else number


def _judged(task: tuple[int, int, int], order: int) -> tuple[int, dict[str, Verdict]]:
    try:
        return task[0], judge(*task, order)
    except Exception as error:
        return task[0], dict.fromkeys(
            MODES if order == 2 else THIRD, Verdict("failed", f"{type(error).__name__}: {error}")
        )


def main() -> None:
    """Judge many programs in all modes, and count why they are refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("count", 200), ("seed", 0), ("level", 1), ("size", 8), ("jobs", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--order", type=int, default=2, choices=(2, 3))
    given = parser.parse_args()
    tasks = [(given.seed + n, given.level, 2 + n % (given.size - 1)) for n in range(given.count)]
    kinds: Counter[tuple[str, str]] = Counter()
    causes: dict[tuple[str, str], list[int]] = {}
    with multiprocessing.get_context("fork").Pool(given.jobs, maxtasksperchild=100) as pool:
        for seed, verdicts in pool.imap_unordered(functools.partial(_judged, order=given.order), tasks, chunksize=4):
            for mode, verdict in verdicts.items():
                kinds[mode, verdict.kind] += 1
                if verdict.kind == "failed":
                    print(seed, mode, verdict.message, flush=True)
                elif verdict.kind == "refused":
                    cause = re.sub(r"\b\w*\d\w*\b|\w+_bar\w*", "N", verdict.message)
                    causes.setdefault((mode, cause), []).append(seed)
    for (mode, cause), seeds in sorted(causes.items(), key=lambda item: (item[0][0], -len(item[1]))):
        print(f"{len(seeds):5} {mode:8} {cause[:110]}  {seeds[:3]}")
    for mode in MODES if given.order == 2 else THIRD:
        print(mode, ", ".join(f"{kind}: {n}" for (m, kind), n in sorted(kinds.items()) if m == mode))


if __name__ == "__main__":
    main()
