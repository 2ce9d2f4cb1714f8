"""Members of enumerations as keys of dicts: of numbers, of functions and of methods."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.2])
WAY = np.array([1.0, -0.4])


class Mode(enum.Enum):
    IDLE = 0
    HEAT = 1
    COOL = 2


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1


class Thermostat:
    def __init__(self, gain: Any) -> None:
        self.gain, self.mode = gain, Mode.IDLE

    def idle(self, t: Any) -> Any:
        if t > 1:
            self.mode = Mode.HEAT
        return t * self.gain

    def heat(self, t: Any) -> Any:
        self.mode = Mode.COOL if t > 3 else Mode.IDLE
        return t + self.gain

    def cool(self, t: Any) -> Any:
        self.mode = Mode.IDLE
        return 0.3 * t * t

    def step(self, t: Any) -> Any:
        return {Mode.IDLE: self.idle, Mode.HEAT: self.heat, Mode.COOL: self.cool}[self.mode](t)


def methods_by_member(x: Any) -> Any:
    thermostat, t, total = Thermostat(x[1]), x[0], 0.0
    for _ in range(7):
        t = thermostat.step(t)
        total += t**2
    return total


def functions_by_member(x: Any) -> Any:
    rules = {Mode.IDLE: lambda a: a * x[0], Mode.HEAT: lambda a: a + x[1], Mode.COOL: lambda a: a * a}
    mode, t = Mode.IDLE, x[1]
    for _ in range(4):
        t = rules[mode](t)
        mode = Mode.HEAT if t > 0.5 else Mode.COOL
    return t


def functions_by_pairs(x: Any) -> Any:
    rules = {(Mode.IDLE, 1): lambda a: a * x[0], (Mode.HEAT, 1): lambda a: a + x[1]}
    return rules[Mode.IDLE, 1](x[1]) * rules[(Mode.HEAT, 1)](x[0])


def numbers_by_member(x: Any) -> Any:
    weights = {Mode.IDLE: x[0], Mode.HEAT: x[1], Mode.COOL: x[0] * x[1]}
    total = 0.0
    for mode in Mode:
        total = total + weights[mode] ** 2 * mode.value
    weights[Mode.HEAT] += 2 * x[0]
    return total + weights[Mode.HEAT] ** 2 + sum(weights.values())


def numbers_by_level(x: Any) -> Any:
    weights = {Level.LOW: x[0], Level.HIGH: x[1]}
    weights[Level.HIGH] += 3 * x[0]
    return weights[Level.HIGH] * weights[0] * x[Level.HIGH]  # type: ignore[index]


def levels_as_numbers(x: Any) -> Any:
    return x[0] * Level.HIGH + np.sum(x**Level.HIGH) * x[1] - Level(1) / x[1]


def numbers_that_are_asked_for(x: Any) -> Any:
    found: dict[Mode, Any] = {}
    for mode in Mode:
        if mode is not Mode.COOL:
            found[mode] = x[0] * (mode.value + 1)
    if Mode.COOL in found:
        return found[Mode.COOL]
    return found[Mode.IDLE] * found.get(Mode.HEAT, 3.0) + found.get(Mode.COOL, 7.0) * x[1]


CASES = [
    methods_by_member, functions_by_member, functions_by_pairs, numbers_by_member, numbers_by_level,
    levels_as_numbers,     numbers_that_are_asked_for,
]  # fmt: skip


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (WAY,))[1], expected @ WAY, rtol=1e-7, atol=1e-9)


KEPT = np.array([1.5, 2.5])


class Table(enum.Enum):
    FIRST = KEPT


def writes_into_what_a_member_holds(x: Any) -> Any:
    row = Table.FIRST.value
    row[0] = x[0] * x[1]
    return np.sum(KEPT * x)


def test_what_a_member_holds_is_seen_to_be_written() -> None:
    before = KEPT.copy()
    try:
        found = grad(writes_into_what_a_member_holds)(X)
    except Exception as refused:
        assert "written" in str(refused) or "module" in str(refused)  # noqa: PT017
    else:
        np.testing.assert_allclose(found, [2 * X[0] * X[1], X[0] ** 2 + 2.5], rtol=1e-7)
    KEPT[:] = before


class Gain(enum.Enum):
    HALF = 0.5
    TWICE = 2.0

    def __mul__(self, other: Any) -> Any:
        return self.value * other * other

    def __rmul__(self, other: Any) -> Any:
        return self.value * other + 1.0


class Step(enum.IntEnum):
    ONE = 1
    TWO = 2

    def __rmul__(self, other: Any) -> Any:
        return other * other + int(self)


OPERATORS: list[Callable[[Any], Any]] = [
    lambda x: Gain.TWICE * x[0],
    lambda x: x[0] * Gain.HALF,
    lambda x: sum(gain * x[0] for gain in Gain),
    lambda x: np.sum(x) * Step.TWO,
]


@pytest.mark.parametrize("f", OPERATORS)
def test_operators_of_an_enumeration_are_its_own(f: Callable[..., Any]) -> None:
    for derivative in (lambda: grad(f)(X) @ WAY, lambda: jvp(f, (X,), (WAY,))[1]):
        try:
            found = derivative()
        except S2SADError:
            continue
        np.testing.assert_allclose(found, numeric_gradient(f, (X,)) @ WAY, rtol=1e-7)
