"""Second derivatives of every operation at its samples, against differences of its gradient.

    python -m tests.ops.orders --jobs 2                        every operation, three samples of each, all modes
    python -m tests.ops.orders --only numpy.linalg --every     all samples of some
    python -m tests.ops.orders --show numpy.linalg.det 3       the program of the third sample, and what became of it

The program returns a weighted sum of the squares of the results, so that its second derivative is not zero where the
operation is linear.  Its gradient is differentiated once more in forward and in reverse mode, its tangent in reverse
mode.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad import grad, jvp, vjp
from s2sad.errors import S2SADError
from s2sad.pushforwards import TangentOf
from tests.ops.forms import FAILURES, Form, Program, direction, program, quiet, rules_once
from tests.oracle import pairing, richardson_jvp, tree_map

#: The modes in which the gradient is differentiated, and the tangent.
MODES = ("forward", "reverse", "tangent")
SAMPLES = 3


def judge(made: Program, modes: Sequence[str] = MODES) -> dict[str, tuple[str, str]]:
    """What became of the second derivative of a program in each mode, and more about it."""
    many = tuple(range(len(made.args)))
    dots = tuple(direction(x, 7 + i) for i, x in enumerate(made.args))
    bars = tuple(direction(x, 70 + i) for i, x in enumerate(made.args))
    df = grad(made.function, many)

    def gradient(*args: Any) -> tuple[Any, ...]:
        return tree_map(np.asarray, df(*args))

    with quiet():
        try:
            first = gradient(*made.args)
        except S2SADError:
            return dict.fromkeys(modes, ("", ""))
        except Exception as error:
            return dict.fromkeys(modes, ("crash", repr(error)))
        try:
            slopes = [pairing(richardson_jvp(gradient, made.args, dots, h), bars) for h in (2e-3, 5e-4)]
        except Exception as error:
            return dict.fromkeys(modes, ("undecided", repr(error)))
        size = 1 + abs(slopes[0]) + abs(pairing(first, bars))
        tolerance = (1e-2 if made.low else 1e-5) * size
        if not np.all(np.isfinite(slopes)) or abs(slopes[0] - slopes[1]) > tolerance * 0.3:
            return dict.fromkeys(modes, ("undecided", f"{slopes}"))
        return {mode: _compared(made, df, mode, dots, bars, slopes[0], tolerance) for mode in modes}


def _compared(
    made: Program, df: Any, mode: str, dots: Any, bars: Any, expected: float, tolerance: float
) -> tuple[str, str]:
    try:
        found = _second(made, df, mode, dots, bars)
    except S2SADError as error:
        return "refused", str(error)
    except Exception as error:
        return "crash", repr(error)
    if not abs(found - expected) <= tolerance:
        return "wrong", f"{found} is not {expected} at {made.args}"
    return "right", ""


def _second(made: Program, df: Any, mode: str, dots: Any, bars: Any) -> float:
    """The derivative, along one direction, of the gradient's product with another."""
    if mode == "forward":
        return pairing(jvp(df, made.args, dots)[1], bars)
    if mode == "reverse":
        value, pullback = vjp(df, *made.args)
        return pairing(pullback(tree_map(_like, value, bars)), dots)
    tangent = TangentOf(made.function, tuple(range(len(made.args))), has_aux=False)
    value, pullback = vjp(functools.partial(tangent, **dict(zip(tangent.dots, bars, strict=True))), *made.args)
    return pairing(pullback(tree_map(_like, value, (0.0, 1.0))), dots)


def _like(value: Any, bar: Any) -> Any:
    return np.asarray(bar, np.result_type(value)) if isinstance(value, (np.ndarray, np.generic)) else bar


@functools.cache
def cases(only: str, every: bool) -> list[tuple[str, int]]:
    """Operations, and the numbers of samples; these are spread over all that an operation has."""
    found = []
    for rule, samples in rules_once(only):
        count = len(samples) if every else min(SAMPLES, len(samples))
        found += [(rule.name, n * len(samples) // count) for n in range(count)]
    return found


def made_of(name: str, number: int) -> Program | None:
    """The program of a sample."""
    rule, samples = next((r, s) for r, s in rules_once(name) if r.name == name)
    try:
        return program(Form(rule, samples[number].args, dict(samples[number].kwargs)), square=True)
    except Exception:  # samples that are no programs: functions among the arguments, for one
        return None


def verdicts(case: tuple[str, int], modes: Sequence[str] = MODES) -> list[tuple[str, int, str, str, str]]:
    """What became of a case in some modes."""
    name, number = case
    made = made_of(name, number)
    if made is None:
        return []
    return [(name, number, mode, *found) for mode, found in judge(made, modes).items()]


def main() -> int:
    """The exit status is 1 if a second derivative is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.ops.orders", description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", action="store_true", help="all samples")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--refused", action="store_true", help="say what was refused too")
    parser.add_argument("--show", nargs=2)
    options = parser.parse_args()
    if options.show:
        made = made_of(options.show[0], int(options.show[1]))
        print(made and made.text, *verdicts((options.show[0], int(options.show[1]))), sep="\n")
        return 0
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    refused: dict[str, set[str]] = defaultdict(set)
    chosen = cases(options.only, options.every)
    pool = multiprocessing.get_context("spawn").Pool(options.jobs) if options.jobs > 1 else None
    for group in pool.imap_unordered(verdicts, chosen, 4) if pool else map(verdicts, chosen):
        for name, number, mode, verdict, more in group:
            tally[mode][verdict] += 1
            if verdict in FAILURES:
                print(f"--- {name} {number} {mode} {verdict}: {more[:500]}", flush=True)
            elif verdict == "refused":
                refused[name].add(mode)
                if options.refused:
                    print(f"--- {name} {number} {mode} refused: {more[:700]}", flush=True)
    for mode in MODES:
        print(mode, ", ".join(f"{kind or 'no program'}: {n}" for kind, n in sorted(tally[mode].items())))
    print("refused:", ", ".join(f"{name} ({' '.join(sorted(m))})" for name, m in sorted(refused.items())))
    return int(any(tally[mode][kind] for mode in MODES for kind in FAILURES))


if __name__ == "__main__":
    raise SystemExit(main())
