"""What a gradient costs beside its run time: building it, importing the package, and memory."""

from __future__ import annotations

import copy
import os
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .case import Case, load_fresh
from .timing import OTHERS, Thunk, WrongGradientError, first_call, primal_thunk, s2sad_thunk

ROOT = Path(__file__).resolve().parents[2]

# one period of a straight-line program whose values stay of order one however long it gets;
# {p} is the last value, {q} the one before
_PATTERN = (
    "np.sin({p}) + 0.5 * x",
    "np.exp(-{p} * {p})",
    "{p} * x + 0.25 * {q}",
    "np.tanh({p}) - {q} / 2.0",
    "np.sqrt(1.0 + {p} ** 2) * {q}",
)


def straight_line_source(statements: int) -> str:
    """A module with a function `f(x)` of so many statements, the `return` included."""
    lines = ["import numpy as np", "", "", "def f(x):", "    v0 = x * x"]
    for i in range(1, statements - 1):
        expression = _PATTERN[i % len(_PATTERN)].format(p=f"v{i - 1}", q=f"v{max(i - 2, 0)}")
        lines.append(f"    v{i} = {expression}")
    lines.append(f"    return np.sum(v{statements - 2})")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class BuildTime:
    """Milliseconds, a median, and what that is a statement."""

    statements: int
    milliseconds: float

    @property
    def per_statement_us(self) -> float:
        return 1e3 * self.milliseconds / self.statements


def _gradient_thunk(f: Callable[..., Any], x: np.ndarray) -> Thunk:
    from s2sad import grad

    return partial(grad(f), x)


def build_time(statements: int, repeats: int) -> BuildTime:
    """First call less second call of the gradient of a straight-line function, written to a file anew each time.

    Raises WrongGradientError if the gradient is not the derivative along a direction (central difference).
    """
    x = np.array([0.3, 0.5, 0.7])
    direction = np.array([0.6, -0.4, 0.5])
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            path = Path(folder, f"straight_{statements}_{repeat}.py")
            path.write_text(straight_line_source(statements), encoding="utf-8")
            f = load_fresh(str(path)).f
            milliseconds, _, gradient = first_call(partial(_gradient_thunk, f, x))
            times.append(milliseconds)
            h = 1e-5
            expected = (f(x + h * direction) - f(x - h * direction)) / (2.0 * h)
            if not abs(gradient @ direction - expected) <= 1e-5 * float(np.max(np.abs(gradient))) + 1e-7:
                raise WrongGradientError(f"{statements} statements: {gradient @ direction} and not {expected}")
    return BuildTime(statements, statistics.median(times))


def _import_ms(first: str, second: str) -> float:
    """Milliseconds that `second` takes in a new interpreter that has run `first`."""
    code = f"import time\n{first}\nstart = time.perf_counter()\n{second}\nprint(time.perf_counter() - start)"
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return 1e3 * float(done.stdout)


def import_times(repeats: int) -> dict[str, float]:
    """Medians in milliseconds: NumPy alone, and the package when NumPy is there already."""
    contenders = {"numpy": ("pass", "import numpy"), "s2sad": ("import numpy", "import s2sad")}
    for first, second in contenders.values():
        _import_ms(first, second)  # byte code gets written, files get into memory
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, (first, second) in contenders.items():
            times[name].append(_import_ms(first, second))
    return {name: statistics.median(values) for name, values in times.items()}


def peak_bytes(thunk: Thunk) -> int:
    """Most memory that the call held at one time beyond what was held before, NumPy's arrays included."""
    thunk()  # built, and every cache filled
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        thunk()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def peak_memory(case: Case, contenders: Sequence[str], args: tuple[Any, ...] | None = None) -> dict[str, int]:
    """Peak bytes by contender. JAX is not among them: its memory is not Python's, and can't be seen from here."""
    args = case.make_args() if args is None else args
    makers: dict[str, Callable[[], Thunk]] = {
        "primal": lambda: primal_thunk(case, copy.deepcopy(args)),
        "hand": lambda: partial(case.hand, *args),
        "s2sad": lambda: s2sad_thunk(case, args),
        "autograd": lambda: OTHERS["autograd"](case, args),
    }
    result: dict[str, int] = {}
    for name in contenders:
        try:
            result[name] = peak_bytes(makers[name]())
        except Exception as error:  # shown where the figure would be
            print(f"  {name}: {type(error).__name__}: {error}")
    return result
