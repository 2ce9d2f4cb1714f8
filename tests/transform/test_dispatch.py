"""What is called is chosen by a table of classes, by the class of an argument, or by a member of an enumeration."""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.53, 0.71])


class Solver:
    def __init__(self, rate: Any) -> None:
        self.rate, self.last = rate, None

    def run(self, y: Any) -> Any:
        for _ in range(3):
            y = self.step(y)
        return y

    def step(self, y: Any) -> Any:
        return y + 0.1 * self.rate(y)


class TwoSteps(Solver):
    def step(self, y: Any) -> Any:
        now = self.rate(y)
        last, self.last = self.last, now
        return y + 0.1 * (now if last is None else 1.5 * now - 0.5 * last)


SOLVERS: dict[str, Any] = {"one": Solver, "two": TwoSteps}


def made(name: str, rate: Any) -> Any:
    try:
        cls = SOLVERS[name]
    except KeyError:
        raise ValueError(f"no solver {name!r}") from None
    return cls(rate)


def by_a_table(x: Any) -> Any:
    total = 0.0
    for name in ("one", "two"):
        total += np.sum(made(name, lambda y: -x[0] * y).run(x))
    return total


def by_any_of_a_list(x: Any) -> Any:
    return sum(np.sum(cls(lambda y: x[1] - y).run(x)) for cls in [Solver, TwoSteps])


class Call:
    def __init__(self, strike: Any) -> None:
        self.strike = strike


class Put(Call):
    pass


class Digital(Call):
    pass


@functools.singledispatch
def payoff(option: Any, s: Any) -> Any:
    raise NotImplementedError(type(option))


@payoff.register(Call)
def _call(option: Any, s: Any) -> Any:
    return np.maximum(s - option.strike, 0.0)


@payoff.register(Put)
def _put(option: Any, s: Any) -> Any:
    return np.maximum(option.strike - s, 0.0)


HELD = Put(0.6)


def by_the_class(x: Any) -> Any:
    return np.sum(payoff(Call(0.4), x)) + 2.0 * np.sum(payoff(Put(x[1]), x)) + payoff(HELD, x)[0]


def by_a_base_class(x: Any) -> Any:
    return np.sum(payoff(Digital(0.5 * x[0]), x * x))


class Phase(enum.Enum):
    HEAT = "heat"
    COOL = "cool"


class Reactor:
    def __init__(self, heat: Any) -> None:
        self.heat, self.phase = heat, Phase.HEAT

    def advance(self) -> None:
        self.phase = getattr(self, f"when_{self.phase.value}")()

    def when_heat(self) -> Any:
        self.heat = self.heat**2
        return Phase.COOL

    def times_heat(self, v: Any) -> Any:
        return v * self.heat

    def when_cool(self) -> Any:
        self.heat = np.sin(self.heat)
        return Phase.HEAT


def by_an_enumeration(x: Any) -> Any:
    reactor = Reactor(x[0] + x[1])
    reactor.advance()
    reactor.advance()
    return reactor.heat * getattr(reactor, f"times_{reactor.phase.name.lower()}")(x[2])


class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __iter__(self) -> Iterator[Any]:
        yield from (self.a, self.b)

    def __add__(self, other: Any) -> Pair:
        return Pair(*(p + q for p, q in zip(self, other, strict=False)))

    def __rshift__(self, other: Any) -> Any:
        return other & self

    def __and__(self, other: Any) -> Any:
        return Pair(*self, *other) if isinstance(other, float) else self.a * other.b

    def __invert__(self) -> Pair:
        return Pair(self.b, self.a)

    def norm(self) -> Any:
        return math.sqrt(sum(c**2 for c in self))


def of_what_is_run_through(x: Any) -> Any:
    pair = Pair(x[0], x[1]) + ~Pair(x[1], x[2])
    return pair.norm() + (pair >> Pair(*pair)) + math.hypot(*pair)


def of_keys_that_are_words_of_python(x: Any) -> Any:
    nodes = {"in": x[0], "if": x[1] * 2.0}
    nodes["lambda"] = nodes["in"] * nodes["if"]
    return sum(f(nodes["lambda"]) for f in [lambda v: v * x[2], np.sin])


@pytest.mark.parametrize(
    "f",
    [
        by_a_table, by_any_of_a_list, by_the_class, by_a_base_class, by_an_enumeration, of_what_is_run_through,
        of_keys_that_are_words_of_python,
    ],
)  # fmt: skip
def test_right(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, [X])
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(3),))[1], np.sum(expected), rtol=1e-6)


def test_what_is_registered_later_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    df, dt = grad(by_a_base_class), grad(by_a_table)
    before = df(X), dt(X)
    payoff.register(Digital)(lambda option, s: s * option.strike)
    monkeypatch.setitem(SOLVERS, "one", TwoSteps)
    for gradient, old, f in ((df(X), before[0], by_a_base_class), (dt(X), before[1], by_a_table)):
        np.testing.assert_allclose(gradient, numeric_gradient(f, [X]), rtol=1e-6)
        assert not np.allclose(gradient, old)


def powers(x: Any) -> Iterator[Any]:
    total = x
    while True:
        yield total
        total = total * x


def beside_one_that_never_ends(x: Any) -> Any:
    return sum(p * q for p, q in zip(powers(x[0]), Pair(x[1], x[2]), strict=False))


def test_what_never_ends_is_not_run_to_its_end() -> None:
    try:
        gradient = grad(beside_one_that_never_ends)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(gradient, numeric_gradient(beside_one_that_never_ends, [X]), rtol=1e-6)
