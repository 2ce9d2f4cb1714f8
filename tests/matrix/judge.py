"""The verdict on a program: value, gradient, arguments and module state, against Python and differences."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import signal
import sys
import traceback
import types
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.matrix.build import Program, composed, program
from tests.trees import bits, fresh, leaves, tree_map

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
        #: The next of the record; None if the argument is returned, and recorded.
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
        oracle = program.source.replace("from s2sad import stop_gradient\n", "\n")
        self.oracle = self.code if oracle == program.source else compile(oracle, program.filename, "exec")

    def module(self, code: Any, stopped: Stopped | None = None) -> dict[str, Any]:
        made = types.ModuleType(_MODULE)
        sys.modules[_MODULE] = made
        names = vars(made)
        if code is not self.code:
            names["stop_gradient"] = stopped
        exec(code, names)
        return names

    def base(self, calls: int) -> tuple[dict[str, Any], Stopped]:
        """A module after some calls of `f`, and what was stopped in the last of them."""
        stopped = Stopped()
        names = self.module(self.oracle, stopped)
        for _ in range(calls):
            stopped.record.clear()
            names["f"](*names["arguments"]())
        return names, stopped

    def at(self, directions: list[Any], step: float, calls: int, record: list[Any]) -> float:
        """The value of the last of some calls, for which the differentiated arrays are moved.

        They are moved in place, so that what shares them stays shared (unless the program is one of those in which it
        is a constant).
        """
        names, stopped = self.base(calls - 1)
        args = list(names["arguments"]())
        if self.program.apart:
            args[0] = args[0].copy()
        for array, direction in zip(differentiated(self.program, args), directions, strict=True):
            array += step * direction
        stopped.record, stopped.position = record, 0
        return float(names["f"](*args))

    def slope(self, directions: list[Any], calls: int) -> tuple[float, float]:
        """The derivative by Richardson's extrapolation of central differences, and its error.

        On a kink central differences of all sizes agree, but those from the right and from the left do not.
        """
        h = 2e-3
        record = self.base(calls)[1].record if self.oracle is not self.code else []
        value = self.at(directions, 0.0, calls, record)
        right, left = (
            [(self.at(directions, sign * h / n, calls, record) - value) * n / (sign * h) for n in (1, 2, 4)]
            for sign in (1, -1)
        )
        wide, middle, narrow = ((a + b) / 2 for a, b in zip(right, left, strict=True))
        first, second = (4 * middle - wide) / 3, (4 * narrow - middle) / 3
        best = (16 * second - first) / 15
        sides = [(8 * narrow - 6 * middle + wide) / 3 for wide, middle, narrow in (right, left)]
        return best, abs(best - second) + abs(sides[0] - sides[1]) + 1e-10


def differentiated(program: Program, args: Any) -> list[Any]:
    return [leaf for position in program.argnums for _, leaf in leaves(args[position]) if isinstance(leaf, np.ndarray)]


class Picture:
    """What can be reached from a value, with what is shared, as something to compare.

    Random generators are the outside world: effects on them happen, once. They are pictured apart.
    """

    def __init__(self, value: Any) -> None:
        # The objects are held, so that no other gets the id of one.
        self.seen: dict[int, tuple[int, Any]] = {}
        self.outside: list[Any] = []
        self.inside = self.of(value)

    def of(self, value: Any) -> Any:
        if isinstance(value, (int, float, complex, str, bytes, np.generic, type(None))):
            return bits(value)
        if id(value) in self.seen:
            return ("seen", self.seen[id(value)][0])
        self.seen[id(value)] = (len(self.seen), value)
        kind = type(value).__name__
        if isinstance(value, np.ndarray):
            # A subclass may have methods of its own under the names of attributes.
            plain = np.ndarray.view(value, np.ndarray)
            data = [self.of(v) for v in plain.ravel().tolist()] if plain.dtype == object else plain.tobytes()
            return (kind, plain.shape, plain.dtype.str, data)
        if isinstance(value, (list, tuple)):
            return (kind, [self.of(v) for v in value], self.of(getattr(value, "__dict__", None)))
        if isinstance(value, dict):
            return (kind, [(str(key), self.of(v)) for key, v in dict.items(value)])
        if isinstance(value, (set, frozenset)):
            return (kind, sorted(str(self.of(v)) for v in value))
        if isinstance(value, types.FunctionType):
            return (kind, value.__qualname__, self.function(value) if value.__module__ == _MODULE else None)
        if isinstance(value, type):
            own = value.__module__ == _MODULE
            members = {n: v for n, v in vars(value).items() if own and not n.startswith("_")}
            return (kind, value.__qualname__, self.of(members))
        if isinstance(value, np.random.Generator):
            self.outside.append(str(value.bit_generator.state))
        elif isinstance(value, (bytearray, deque)):
            return (kind, [self.of(v) for v in value])
        elif type(value).__module__ in (_MODULE, "types"):
            return (kind, self.instance(value))
        return (kind,)

    def function(self, value: types.FunctionType) -> Any:
        cells = [self.of(cell.cell_contents) for cell in value.__closure__ or () if _full(cell)]
        # The compiler keeps its variants with the function.
        own = {n: v for n, v in vars(value).items() if not n.startswith("__s2sad")}
        return (self.of(value.__defaults__), cells, self.of(own))

    def instance(self, value: Any) -> Any:
        members = dict(object.__getattribute__(value, "__dict__")) if hasattr(value, "__dict__") else {}
        slots = [n for n in getattr(type(value), "__slots__", ()) if hasattr(value, n)]
        return self.of(members | {n: getattr(value, n) for n in slots})


def _full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def state(names: dict[str, Any]) -> Any:
    """What the module and its functions hold after a run."""
    skipped = ("arguments", "__builtins__", "stop_gradient", "__loader__", "__spec__", "__doc__", "__package__")
    picture = Picture({n: v for n, v in names.items() if n not in skipped and not isinstance(v, types.ModuleType)})
    return (picture.inside, picture.outside)


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


def judge(program: Program, mode: str = "reverse") -> Verdict:
    """Runs the program and its gradient, or its tangent in forward mode, and compares."""
    lines = program.source.splitlines(keepends=True)
    linecache.cache[program.filename] = (len(program.source), None, lines, program.filename)
    try:
        with _limited():
            return _judged(program, mode)
    except Expired:
        return Verdict("crash", "took too long")
    finally:
        linecache.cache.pop(program.filename, None)
        sys.modules.pop(_MODULE, None)


def verdict(index: int, mode: str = "reverse") -> tuple[int, Verdict]:
    """The verdict on the program of an index, whatever happens."""
    try:
        return index, judge(program(index), mode)
    except Exception:
        return index, Verdict("crash", f"in the judgement itself: {traceback.format_exc()}")


@dataclass(frozen=True)
class Expected:
    """What one call of the function does, and its derivative along directions with an error."""

    value: Any
    state: Any
    #: What of the arguments is the outside world.
    outside: Any
    slope: tuple[float, float]


def _expected(runs: Runs, directions: list[Any]) -> Iterator[Expected]:
    """What the first and the second call do; if the first changes nothing, their derivatives are one."""
    names = runs.module(runs.code)
    before = state(names)
    slope = None
    for calls in (1, 2):
        args = names["arguments"]()
        value = names["f"](*args)
        after = state(names)
        slope = runs.slope(directions, calls) if slope is None or before != after else slope
        yield Expected(value, after, Picture(args).outside, slope)


def _forward(f: Any, argnums: tuple[int, ...], directions: list[Any]) -> Any:
    """The value of a function and its tangent along the directions, which belong to its arrays in their order."""
    from s2sad import jvp

    def call(*args: Any) -> tuple[Any, Any]:
        given = iter(directions)

        def along(leaf: Any) -> Any:
            return next(given) if isinstance(leaf, np.ndarray) else leaf

        tangents = [tree_map(along, a) if i in argnums else None for i, a in enumerate(args)]
        return jvp(f, args, tangents)

    return call


def _judged(program: Program, mode: str) -> Verdict:
    from s2sad import value_and_grad

    expected: list[Expected] = []
    try:
        runs = Runs(program)
        names = runs.module(runs.code)
        random = np.random.default_rng(program.index)
        moved = differentiated(program, names["arguments"]())
        directions = [random.standard_normal(np.shape(leaf)) for leaf in moved]
        expected.extend(_expected(runs, directions))
    except Exception as problem:
        if not expected:
            return Verdict("raised", f"{type(problem).__name__}: {problem}")
    if mode == "forward":
        df = _forward(names["f"], program.argnums, directions)
    else:
        df = value_and_grad(names["f"], program.argnums)
    verdict = Verdict("right")
    for number, call in enumerate(expected):
        found = _compared(df, names, directions, call)
        if found.kind != "right":
            verdict = Verdict(found.kind, ("", "second call: ")[number] + found.message)
            break
    return verdict


def _compared(df: Any, names: dict[str, Any], directions: list[Any], expected: Expected) -> Verdict:
    from s2sad.errors import ArgumentError, S2SADError, SourceError, UnsupportedError

    args = names["arguments"]()
    before = Picture(args).inside
    try:
        value, found = df(*args)
    except S2SADError as problem:
        if Picture(args).inside != before:
            return Verdict("changed", f"the arguments, then refused: {problem}")
        placed = isinstance(problem, ArgumentError) or _PLACED.search(str(problem))
        known = not isinstance(problem, UnsupportedError) or all(v.place for v in problem.violations)
        if isinstance(problem, SourceError) or not placed or not known:
            return Verdict("unplaced", f"{type(problem).__name__}: {problem}")
        return Verdict("refused", str(problem).split("error: ", 1)[-1].splitlines()[0])
    except Exception:
        return Verdict("crash", traceback.format_exc())
    if bits(value) != bits(expected.value):
        return Verdict("value", f"value {value!r}, not {expected.value!r}")
    if Picture(args).inside != before:
        return Verdict("changed", "the arguments")
    if Picture(args).outside != expected.outside:
        return Verdict("effects", "the arguments of the outside world are not as after one run")
    if state(names) != expected.state:
        return Verdict("effects", "the module's state is not as after one run")
    best, error = expected.slope
    if not (np.isfinite(best) and error <= 1e-6 * max(1.0, abs(best))):
        return Verdict("undecided", f"{best} +- {error}")
    if not isinstance(found, tuple):  # a tangent
        along = float(found)
    else:
        flat = [leaf for _, leaf in leaves(list(found)) if isinstance(leaf, np.ndarray)]
        if [np.shape(g) for g in flat] != [np.shape(d) for d in directions]:
            return Verdict("gradient", f"shapes {[np.shape(g) for g in flat]}")
        along = sum(float(np.sum(g * d)) for g, d in zip(flat, directions, strict=True))
    if not abs(along - best) <= 1e-6 * max(1.0, abs(best)) + 10 * error:
        return Verdict("gradient", f"derivative along a direction {along!r}, differences give {best!r}")
    return Verdict("right")


def shrunk(program: Program) -> Program:
    """A simpler program with the same verdict, one axis after the other."""
    kind = judge(program).kind
    found = program
    while found.choice is not None:
        simpler = (composed(program.index, program.family, c) for c in found.choice.simpler() if c.fits())
        better = next((p for p in simpler if judge(p).kind == kind), None)
        if better is None:
            break
        found = better
    return found
