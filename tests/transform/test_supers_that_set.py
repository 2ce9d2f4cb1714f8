"""``super().__init__`` of classes that count their objects, or keep what they were given in their modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient

MADE: dict[str, Any] = {}


class System:
    count = 0

    def __init__(self, gain: Any, name: Any = None) -> None:
        self.gain = gain
        self.name = self.named(name)

    @staticmethod
    def named(name: Any) -> Any:
        if name is None:
            name = f"system[{System.count}]"
            System.count += 1
        return name

    def __call__(self, s: Any) -> Any:
        return self.gain * s**2


class Shifted(System):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        gain, self.shift = args
        super().__init__(gain, **kwargs)

    def __call__(self, s: Any) -> Any:
        return super().__call__(s) + self.shift


class Twice(Shifted):
    def __init__(self, gain: Any, shift: Any) -> None:
        super().__init__(gain, shift, name=None)
        super(Shifted, self).__init__(gain * 2, None)


def made(*args: Any, **kwargs: Any) -> Any:
    return Shifted(*args, **kwargs)


def one(x: Any) -> Any:
    return Shifted(x[0], x[1])(3.0)


def by_factory(x: Any) -> Any:
    return made(x[0], x[1])(3.0) * made(x[1], x[0], name="given")(2.0)


def counted(x: Any) -> Any:
    before = System.count
    a, b = Shifted(x[0], x[1]), Shifted(x[1], x[0])
    return a(2.0) * (System.count - before) + b(1.0)


X = np.array([1.3, 0.7])


@pytest.mark.parametrize(("function", "more"), [(one, 1), (by_factory, 1), (counted, 2)])
def test_objects_that_are_counted(function: Callable[..., Any], more: int) -> None:
    wanted = numeric_gradient(function, (X,))
    before = System.count
    value, found = value_and_grad(function)(X)
    assert System.count == before + more
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_allclose(jvp(function, (X,), (np.array([1.0, -2.0]),))[1], wanted @ [1.0, -2.0], rtol=1e-6)
    assert value == function(X)


class Keeping(System):
    def named(self, name: Any) -> Any:  # type: ignore[override]
        MADE["last"] = self.gain
        return name


class Kept(Keeping):
    def __init__(self, gain: Any) -> None:
        super().__init__(gain)


def kept(x: Any) -> Any:
    Kept(x[0] * 2)
    return MADE["last"] * x[1]


def test_what_a_method_further_up_keeps_is_not_lost():
    value, found = value_and_grad(kept)(X)
    np.testing.assert_allclose(found, numeric_gradient(kept, (X,)), rtol=1e-6)
    assert value == kept(X)
