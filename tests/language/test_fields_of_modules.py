"""Fields of named tuples of the module, and of structures of the interpreter such as ``sys.float_info``."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient


class Limits(NamedTuple):
    low: float
    weights: Any
    more: Any = ()


class Shifted(Limits):
    """Its first field reads as an array."""

    @property
    def low(self) -> Any:  # type: ignore[override]
        return WEIGHTS


WEIGHTS = np.array([1.0, 2.0])
LIMITS = Limits(1.5, WEIGHTS, [1.0])
SHIFTED = Shifted(1.0, WEIGHTS)


class Filter:
    def __init__(self, x: Any) -> None:
        self.x, self.likelihood = x, sys.float_info.min

    def step(self, z: Any) -> None:
        self.x = self.x + 0.5 * (z - self.x)
        self.likelihood += np.exp(-0.5 * (z - self.x) ** 2)


def filtered(x: Any) -> Any:
    kept = Filter(x[0])
    for z in (0.5, 0.7):
        kept.step(z * x[1])
    return kept.likelihood * kept.x


def chosen(x: Any) -> Any:
    v = LIMITS.low if x[0] > 3.0 else x[0]
    v += x[1]
    return v * x[0]


def scaled(x: Any) -> Any:
    a = LIMITS.low
    a += x[0]
    a *= LIMITS.low
    return a * x[1]


def unpacked(x: Any) -> Any:
    a, w, _ = LIMITS
    a += x[0]
    return a * np.sum(w * x)


def local(x: Any) -> Any:
    info = sys.float_info
    v = info.max if x[0] > 3.0 else x[0]
    v *= x[1]
    return v * x[0]


@pytest.mark.parametrize("f", [filtered, chosen, scaled, unpacked, local])
def test_numbers_in_fields_are_numbers(f: Any) -> None:
    x = np.array([0.3, 1.4])
    wanted = numeric_gradient(f, [x])
    np.testing.assert_allclose(grad(f)(x), wanted, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (np.array([1.0, 2.0]),))[1], wanted @ [1.0, 2.0], rtol=1e-7)


def of_array(x: Any) -> Any:
    v = LIMITS.weights
    v += x
    return np.sum(v * x)


def of_list(x: Any) -> Any:
    LIMITS.more.append(x[0])
    return LIMITS.more.pop() * x[1]


def of_property(x: Any) -> Any:
    v = SHIFTED.low
    v += x
    return np.sum(v * x)


@pytest.mark.parametrize("f", [of_array, of_list, of_property])
def test_what_fields_hold_is_the_modules(f: Any) -> None:
    with pytest.raises(S2SADError):
        grad(f)(np.array([0.3, 1.4]))
    assert WEIGHTS.tolist() == [1.0, 2.0]
    assert LIMITS.more == [1.0]


def test_another_tuple_is_another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    df, x = grad(scaled), np.array([0.3, 1.4])
    before = df(x)
    monkeypatch.setitem(scaled.__globals__, "LIMITS", Limits(2.5, WEIGHTS))
    np.testing.assert_allclose(df(x), numeric_gradient(scaled, [x]), rtol=1e-7)
    assert not np.allclose(before, df(x))
    number = np.array(1.5)
    monkeypatch.setitem(scaled.__globals__, "LIMITS", Limits(number, WEIGHTS))  # type: ignore[arg-type]
    with pytest.raises(S2SADError):
        df(x)
    assert number == 1.5
