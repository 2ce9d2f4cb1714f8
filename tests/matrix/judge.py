"""The verdict on a program: value, gradient, arguments and module state, against Python and differences."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import linecache
import re
import signal
import sys
import traceback
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.matrix.build import Program
from tests.trees import bits, fresh, leaves

#: Verdicts that are failures.
FAILURES = ("value", "gradient", "changed", "effects", "crash", "unplaced")
PATIENCE = 10
_MODULE = "matrix_program"
_PLACED = re.compile(r"\S+:\d+:\d+: error: .+", re.DOTALL)


@dataclass(frozen=True)
class Verdict:
    """What became of a program: right, refused, one of `FAILURES`; raised (by Python itself) or undecided."""

    kind: str
    message: str = ""


class Stopped:
    """`stop_gradient` for differences: what the base run recorded is given back, so that it is constant."""

    def __init__(self) -> None:
        self.record: list[Any] = []
        self.position: int | None = None

    def __call__(self, x: Any, name: str | None = None) -> Any:
        if self.position is None:
            self.record.append(fresh(x))
            return x
        self.position += 1
        return fresh(self.record[self.position - 1])


class Runs:
    """A program as modules, a new one for each run."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.code = compile(program.source, program.filename, "exec")
        self.stopped = Stopped()
        oracle = program.source.replace("from s2sad import stop_gradient\n", "\n")
        self.oracle = self.code if oracle == program.source else compile(oracle, program.filename, "exec")

    def module(self, code: Any) -> dict[str, Any]:
        made = types.ModuleType(_MODULE)
        sys.modules[_MODULE] = made
        names = vars(made)
        if code is not self.code:
            names["stop_gradient"] = self.stopped
        exec(code, names)
        return names

    def at(self, directions: list[Any], step: float) -> float:
        """The value where the differentiated arrays are moved, in place, so that what shares them stays shared."""
        names = self.module(self.oracle)
        args = names["arguments"]()
        for array, direction in zip(differentiated(self.program, args), directions, strict=True):
            array += step * direction
        self.stopped.position = 0
        return float(names["f"](*args))


def differentiated(program: Program, args: Any) -> list[Any]:
    return [leaf for position in program.argnums for _, leaf in leaves(args[position]) if isinstance(leaf, np.ndarray)]


def snapshot(value: Any, seen: dict[int, tuple[int, Any]] | None = None) -> Any:
    """A picture of what can be reached from a value, with what is shared, to compare."""
    seen = {} if seen is None else seen
    if isinstance(value, (int, float, complex, str, bytes, np.generic, type(None))) and type(value).__module__ in (
        "builtins",
        "numpy",
    ):
        return bits(value)
    if id(value) in seen:
        return ("seen", seen[id(value)][0])
    # Held, so that no other object gets its id.
    seen[id(value)] = (len(seen), value)
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        data = [snapshot(v, seen) for v in value.ravel().tolist()] if value.dtype == object else value.tobytes()
        return (kind, value.shape, value.dtype.str, data)
    if isinstance(value, (list, tuple)) or kind == "deque":
        return (kind, [snapshot(v, seen) for v in value], snapshot(getattr(value, "__dict__", None), seen))
    if isinstance(value, dict):
        return (kind, [(str(key), snapshot(v, seen)) for key, v in value.items()])
    if isinstance(value, (set, frozenset)):
        return (kind, sorted(map(str, value)))
    if isinstance(value, types.FunctionType):
        if value.__module__ != _MODULE:
            return (kind, value.__qualname__)
        cells = [snapshot(cell.cell_contents, seen) for cell in value.__closure__ or () if _full(cell)]
        # The compiler keeps its variants with the function.
        own = {n: v for n, v in vars(value).items() if not n.startswith("__s2sad")}
        return (kind, value.__qualname__, snapshot(value.__defaults__, seen), cells, snapshot(own, seen))
    if isinstance(value, type):
        own = value.__module__ == _MODULE
        members = {n: v for n, v in vars(value).items() if not n.startswith("_")} if own else {}
        return (kind, value.__qualname__, snapshot(members, seen))
    if isinstance(value, np.random.Generator):
        return (kind, str(value.bit_generator.state))
    if isinstance(value, bytearray):
        return (kind, bytes(value))
    if type(value).__module__ in (_MODULE, "types"):
        slots = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
        members = dict(object.__getattribute__(value, "__dict__")) if hasattr(value, "__dict__") else {}
        members |= {f.name: getattr(value, f.name) for f in slots if f.name not in members}
        return (kind, snapshot(members, seen))
    return (kind,)


def _full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def state(names: dict[str, Any]) -> Any:
    """What the module and its functions hold after a run."""
    skipped = ("arguments", "__builtins__", "stop_gradient", "__loader__", "__spec__", "__doc__", "__package__")
    return snapshot({n: v for n, v in names.items() if n not in skipped and not isinstance(v, types.ModuleType)})


def _slope(runs: Runs, directions: list[Any]) -> tuple[float, float]:
    """The derivative along directions by Richardson's extrapolation of central differences, and its error."""
    h = 4e-3
    wide, middle, narrow = ((runs.at(directions, h / n) - runs.at(directions, -h / n)) * n / (2 * h) for n in (1, 2, 4))
    first, second = (4 * middle - wide) / 3, (4 * narrow - middle) / 3
    best = (16 * second - first) / 15
    return best, abs(best - second) + 1e-10


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """`PATIENCE` seconds of processor time, no warnings and no printing."""

    def expired(*_: object) -> None:
        raise Expired

    timed = hasattr(signal, "setitimer")
    if timed:
        before = signal.signal(signal.SIGPROF, expired)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


class Expired(BaseException):
    """Not an `Exception`, so that nobody takes it for the program's own."""


def judge(program: Program) -> Verdict:
    """Runs the program and its gradient, and compares."""
    lines = program.source.splitlines(keepends=True)
    linecache.cache[program.filename] = (len(program.source), None, lines, program.filename)
    try:
        with _limited():
            return _judged(program)
    except Expired:
        return Verdict("crash", "took too long")
    finally:
        linecache.cache.pop(program.filename, None)
        sys.modules.pop(_MODULE, None)


def _judged(program: Program) -> Verdict:
    from s2sad import value_and_grad
    from s2sad.errors import ArgumentError, S2SADError, SourceError

    try:
        runs = Runs(program)
        plain = runs.module(runs.code)
        value = plain["f"](*plain["arguments"]())
        expected = state(plain)
        recording = runs.module(runs.oracle)
        runs.stopped.position = None
        recording["f"](*recording["arguments"]())
        names = runs.module(runs.code)
        args = names["arguments"]()
        before = snapshot(args)
        random = np.random.default_rng(program.index)
        directions = [random.standard_normal(np.shape(leaf)) for leaf in differentiated(program, args)]
        best, error = _slope(runs, directions)
    except Exception as problem:
        return Verdict("raised", f"{type(problem).__name__}: {problem}")
    try:
        got, gradients = value_and_grad(names["f"], program.argnums)(*args)
    except S2SADError as problem:
        if snapshot(args) != before:
            return Verdict("changed", f"the arguments, then refused: {problem}")
        placed = isinstance(problem, ArgumentError) or _PLACED.search(str(problem))
        if isinstance(problem, SourceError) or not placed:
            return Verdict("unplaced", f"{type(problem).__name__}: {problem}")
        return Verdict("refused", str(problem).split("error: ", 1)[-1].splitlines()[0])
    except Exception:
        return Verdict("crash", traceback.format_exc())
    if bits(got) != bits(value):
        return Verdict("value", f"value {got!r}, not {value!r}")
    if snapshot(args) != before:
        return Verdict("changed", "the arguments")
    if state(names) != expected:
        return Verdict("effects", "the module's state is not as after one run")
    if not (np.isfinite(best) and error <= 1e-6 * max(1.0, abs(best))):
        return Verdict("undecided", f"{best} +- {error}")
    flat = [leaf for _, leaf in leaves(list(gradients)) if isinstance(leaf, np.ndarray)]
    if [np.shape(g) for g in flat] != [np.shape(d) for d in directions]:
        return Verdict("gradient", f"shapes {[np.shape(g) for g in flat]}")
    along = sum(float(np.sum(g * d)) for g, d in zip(flat, directions, strict=True))
    if not abs(along - best) <= 1e-6 * max(1.0, abs(best)) + 10 * error:
        return Verdict("gradient", f"derivative along a direction {along!r}, differences give {best!r}")
    return Verdict("right")
