"""Attributes of classes that are classes (``dtype = float``, ``layer = Dense``), and objects whose attributes are what
a ``try`` computes where its handlers name exceptions of modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import linalg

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([[0.3, 0.7], [-0.4, 1.1]])


class Doubling:
    dtype: Any = float

    def __init__(self, a: Any) -> None:
        self.a = a

    def value(self) -> Any:
        return self.a * 2.0


class Squaring(Doubling):
    dtype = np.int64

    def value(self) -> Any:
        return self.a**2


class Holding:
    make: Any = Doubling
    kind = np.float32

    def __init__(self, a: Any) -> None:
        self.part = self.make(a)

    def value(self) -> Any:
        return self.part.value() * (3.0 if isinstance(self.part, self.make) else 5.0) + np.zeros(2, self.kind).size


class Together:
    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.dtype = Squaring.dtype if all(p.dtype == Squaring.dtype for p in parts) else Doubling.dtype

    def value(self) -> Any:
        scale = 2.0 if self.dtype is float else 3.0
        return sum(p.value() for p in self.parts) * scale


class Normal:
    def __init__(self, cov: Any) -> None:
        self.count = 0
        try:
            self.root = np.linalg.cholesky(cov)
        except (linalg.LinAlgError, np.linalg.LinAlgError):
            raise ValueError("not positive") from None

    def value(self) -> Any:
        return np.sum(np.log(np.diag(self.root))) + self.count


class Telling(Normal):
    def __init__(self, cov: Any) -> None:
        self.root = cov
        try:
            self.root = cov * 2.0
            self.root = linalg.cholesky(cov)
        except linalg.LinAlgError:
            raise ValueError(f"not positive: {self.root[0, 0]:.1f}") from None
        self.count = 1


def positive(x: Any) -> Any:
    return x @ x.T + np.eye(2)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "made": lambda x: Holding(x[0, 0] * x[1, 1]).value(),
    "compared": lambda x: Together(Doubling(x[0, 0]), Squaring(x[0, 1])).value(),
    "of-all": lambda x: Together(Squaring(x[0, 0]), Squaring(x[0, 1])).value(),
    "tried": lambda x: Normal(positive(x)).value(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_differences(name: str) -> None:
    function = PROGRAMS[name]
    np.testing.assert_allclose(grad(function)(X), numeric_gradient(function, [X]), rtol=1e-7)


def test_a_class_that_is_replaced_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = grad(PROGRAMS["made"])
    found(X)
    monkeypatch.setattr(Holding, "make", Squaring)
    np.testing.assert_allclose(found(X), numeric_gradient(PROGRAMS["made"], [X]), rtol=1e-7)


def test_what_is_raised() -> None:
    with pytest.raises(ValueError, match="not positive"):
        grad(lambda x: Normal(-positive(x)).value())(X)


def test_a_handler_that_tells_of_the_object() -> None:
    with pytest.raises(ValueError, match=f"not positive: {-2 * positive(X)[0, 0]:.1f}"):
        grad(lambda x: Telling(-positive(x)).value())(X)
