"""Which values are callable, where a branch asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.3, 0.4, 0.9])


def scaled(source: Any, x: Any) -> Any:
    if callable(source):
        return source(x)
    return source * x


class Source:
    def __init__(self, gain: Any, signal: Any) -> None:
        self.gain, self.signal = gain, signal

    def at(self, t: Any) -> Any:
        return self.gain * (self.signal(t) if callable(self.signal) else self.signal)


def asked_of_all_sorts(x: Any) -> Any:
    return scaled(lambda t: t**2 * x[1], x[0]) + scaled(3.0, x[1]) + scaled(x[2], x[0]) + np.sum(scaled(x, x[3]))


def asked_of_an_argument(x: Any, k: Any = 2.0) -> Any:
    return np.sum((k(x) if callable(k) else k * x) ** 2)


def asked_of_attributes(x: Any, q: Any) -> Any:
    return Source(x[0], lambda t: t**2 * x[1]).at(2.0) + np.sum(Source(x[1], q).at(1.0)) * x[2]


@pytest.mark.parametrize("f", [asked_of_all_sorts, asked_of_an_argument, asked_of_attributes])
def test_what_is_callable(f: Callable[..., Any]) -> None:
    args = (X,) if f is asked_of_all_sorts else (X, 2.0) if f is asked_of_an_argument else (X, 2 * X)
    assert np.allclose(grad(f)(*args), numeric_gradient(f, args))
