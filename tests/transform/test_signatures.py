"""What ``inspect`` says of methods of objects that the program makes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient


class Filter:
    def __init__(self, gain, offset=2.0, *, power=3):  # type: ignore[no-untyped-def]
        self.gain, self.offset, self.power = gain, offset, power

    def apply(self, x, scale=1.5):  # type: ignore[no-untyped-def]
        return self.gain * x * scale + self.offset

    def parameters(self) -> Any:
        names = inspect.getfullargspec(self.__init__)[0]  # type: ignore[misc]
        names.pop(0)
        return {name: self.__getattribute__(name) for name in names}


def copied(x: Any) -> Any:
    first = Filter(x, x * x)
    return Filter(**first.parameters()).apply(x)


def by_names(x: Any) -> Any:
    made = Filter(x)
    return sum(getattr(made, name) for name in inspect.getfullargspec(made.__init__).args[1:]) * x  # type: ignore[misc]


def by_defaults(x: Any) -> Any:
    made = Filter(x)
    spec = inspect.getfullargspec(made.apply)
    return made.apply(x, spec.defaults[0]) * len(spec.args)  # type: ignore[index]


def by_keywords_only(x: Any) -> Any:
    spec = inspect.getfullargspec(Filter.__init__)
    return x**2 * spec.kwonlydefaults["power"] * (1 if spec.varargs is None else x)  # type: ignore[index]


FUNCTIONS = [copied, by_names, by_defaults, by_keywords_only]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_names_of_parameters_are_known(function: Any) -> None:
    expected = numeric_gradient(function, (0.7,))
    value, dot = jvp(function, (0.7,), (1.0,))
    assert value == function(0.7)
    assert np.allclose([grad(function)(0.7), dot], expected, rtol=1e-6)
