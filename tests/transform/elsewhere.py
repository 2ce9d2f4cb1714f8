"""Functions and classes of another module, where names mean other things."""

from __future__ import annotations

from typing import Any

import numpy


def act(v: Any) -> Any:
    return 100.0 * v


def thrice(f: Any, x: Any) -> Any:
    a = f(x) * (2.0 if x[0] > 0 else 3.0)
    b = a * a + f(a) * x
    c = b * a - f(b) * a
    d = c + a * b
    return d * b


class Scale:
    """Scales by a number that it holds, and by what another object says."""

    def __init__(self, k: float, inner: Any = None) -> None:
        self.k = k
        self.inner = inner
        self.__hidden = 2.0
        self.history: list[Any] = []

    def __call__(self, x: Any) -> Any:
        return self.apply(x) + self.__hidden * act(x)

    def apply(self, x: Any) -> Any:
        if self.inner is not None:
            x = self.inner.apply(x)
        y = numpy.tanh(self.k * x)
        z = y * x + self.k
        return z * y + numpy.sin(z) * x

    def remembered(self, x: Any) -> Any:
        self.history.append(x)
        self.last = x
        return x * self.k
