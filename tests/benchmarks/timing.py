"""Interleaved timing: every contender once a round, so that a slow spell of the machine falls on all of them alike."""

from __future__ import annotations

import copy
import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from .case import Case, autograd_primal, fresh_function, jax_primal

Thunk = Callable[[], Any]


class WrongGradientError(Exception):
    """A contender's gradient is not the hand-written one."""


@dataclass
class Result:
    """Medians over rounds: microseconds a call, ratios to the hand-written gradient, and milliseconds to build."""

    name: str
    microseconds: dict[str, float] = field(default_factory=dict)
    ratio: dict[str, float] = field(default_factory=dict)
    build_ms: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failed: bool = False


def _calls_per_round(thunk: Thunk, seconds: float) -> int:
    """So many calls take at least `seconds`."""
    n = 1
    while True:
        start = time.perf_counter()
        for _ in range(n):
            thunk()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return n
        n = max(2 * n, math.ceil(1.2 * n * seconds / max(elapsed, 1e-9))) if elapsed > 0.1 * seconds else 4 * n


def interleave(thunks: dict[str, Thunk], rounds: int, seconds: float = 2e-3) -> dict[str, list[float]]:
    """Seconds a call, one figure a round and contender; the order within a round rotates."""
    calls = {name: _calls_per_round(thunk, seconds) for name, thunk in thunks.items()}
    times: dict[str, list[float]] = {name: [] for name in thunks}
    names = list(thunks)
    collected = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for r in range(rounds):
            for name in names[r % len(names) :] + names[: r % len(names)]:
                thunk, n = thunks[name], calls[name]
                start = time.perf_counter()
                for _ in range(n):
                    thunk()
                times[name].append((time.perf_counter() - start) / n)
    finally:
        if collected:
            gc.enable()
    return times


def assert_same(name: str, actual: Any, expected: Any) -> None:
    """`actual` is `expected`, up to rounding. Raises WrongGradientError."""
    pairs = zip(actual, expected, strict=True) if isinstance(expected, tuple) else [(actual, expected)]
    for i, (a, e) in enumerate(pairs):
        if np.shape(a) != np.shape(e):
            raise WrongGradientError(f"{name}: gradient {i} has shape {np.shape(a)}, not {np.shape(e)}")
        scale = float(np.max(np.abs(e), initial=0.0))
        error = float(np.max(np.abs(np.asarray(a) - e), initial=0.0))
        if not error <= 1e-9 * scale + 1e-12:
            raise WrongGradientError(f"{name}: gradient {i}, at most {scale:.3g}, is off by {error:.3g}")


def _bind(function: Callable[..., Any], args: tuple[Any, ...]) -> Thunk:
    """A call without arguments: `partial` adds least, and the same to every contender."""
    return partial(function, *args)


def s2sad_thunk(case: Case, args: tuple[Any, ...]) -> Thunk:
    """The contender that this benchmark is about."""
    from s2sad import grad

    return _bind(grad(case.primal, argnums=case.argnums), args)


def autograd_thunk(case: Case, args: tuple[Any, ...]) -> Thunk:
    """Traces anew at every call: there is nothing to build."""
    import autograd

    return _bind(autograd.grad(autograd_primal(case), case.argnums), args)


def jax_thunk(case: Case, args: tuple[Any, ...]) -> Thunk:
    """Compiled, with the arguments already on JAX's side; a call ends when its result is there."""
    import jax

    df = jax.jit(jax.grad(jax_primal(case), case.argnums))
    jax_args = tuple(jax.numpy.asarray(a) for a in args)
    if isinstance(case.argnums, int):
        return lambda: df(*jax_args).block_until_ready()

    def call() -> Any:
        result = df(*jax_args)
        for g in result:
            g.block_until_ready()
        return result

    return call


def jax_port_thunk(make_port: Callable[[], Callable[..., Any]], case: Case, args: tuple[Any, ...]) -> Thunk:
    """As `jax_thunk`, of a port that is made when it is asked for; whole numbers are constants of the compilation."""
    import jax

    static = tuple(i for i, a in enumerate(args) if isinstance(a, int))
    jax.config.update("jax_enable_x64", True)
    df = jax.jit(jax.grad(make_port(), case.argnums), static_argnums=static)
    jax_args = tuple(a if i in static else jax.numpy.asarray(a) for i, a in enumerate(args))
    return lambda: jax.block_until_ready(df(*jax_args))


def primal_thunk(case: Case, args: tuple[Any, ...]) -> Thunk:
    """With copies of the arguments that the primal writes into: every gradient makes them too."""
    if not case.in_place:
        return _bind(case.primal, args)

    def call() -> Any:
        return case.primal(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])

    return call


OTHERS: dict[str, Callable[[Case, tuple[Any, ...]], Thunk]] = {"autograd": autograd_thunk, "jax": jax_thunk}


def first_call(make: Callable[[], Thunk]) -> tuple[float, Thunk, Any]:
    """Milliseconds by which making a thunk and calling it once is longer than a later call; the thunk; its result."""
    start = time.perf_counter()
    thunk = make()
    result = thunk()
    first = time.perf_counter() - start
    later = math.inf
    for _ in range(3):
        start = time.perf_counter()
        thunk()
        later = min(later, time.perf_counter() - start)
    return 1e3 * (first - later), thunk, result


def build_ms(case: Case, repeats: int) -> float:
    """Milliseconds that it takes to build the gradient of a function never seen before, a median."""
    args = (case.make_small_args or case.make_args)()
    times = []
    for _ in range(repeats):
        unseen = replace(case, primal=fresh_function(case.primal))
        times.append(first_call(partial(s2sad_thunk, unseen, args))[0])
    return statistics.median(times)


def run_case(case: Case, rounds: int, others: Sequence[str], build_repeats: int, seconds: float = 2e-3) -> Result:
    """Check every contender's gradient against the hand-written one, then time them together."""
    result = Result(case.name)
    args = case.make_args()
    assert case.hand is not None
    thunks: dict[str, Thunk] = {"hand": _bind(case.hand, args)}
    expected = thunks["hand"]()
    if case.expert is not None:
        thunks["expert"] = _bind(case.expert, args)
        assert_same("expert", thunks["expert"](), expected)
    before = copy.deepcopy(args)
    try:
        candidate = s2sad_thunk(case, args)
        assert_same("s2sad", candidate(), expected)
        for now, then in zip(args, before, strict=True):
            if not np.array_equal(now, then):
                raise WrongGradientError("s2sad: the caller's arguments have changed")
        thunks["s2sad"] = candidate
    except Exception as error:  # a refusal, a crash or a wrong gradient: a row of the table all the same
        result.failed = True
        result.notes.append(f"s2sad: {type(error).__name__}: {error}")
    for name in others:
        try:
            result.build_ms[name], thunk, first = first_call(partial(OTHERS[name], case, args))
            assert_same(name, first, expected)
            thunks[name] = thunk
        except Exception as error:  # theirs to fail; the note says how
            result.notes.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    thunks["primal"] = primal_thunk(case, args)
    thunks["control"] = _bind(case.hand, args)
    times = interleave(thunks, rounds, seconds)
    for name, seconds_per_call in times.items():
        result.microseconds[name] = 1e6 * statistics.median(seconds_per_call)
        ratios = [t / h for t, h in zip(seconds_per_call, times["hand"], strict=True)]
        result.ratio[name] = statistics.median(ratios)
    if "s2sad" in thunks and build_repeats:
        result.build_ms["s2sad"] = build_ms(case, build_repeats)
    return result
