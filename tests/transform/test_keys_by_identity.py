"""Objects whose ``__hash__`` is their identity are keys, whatever their ``__eq__`` says."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient


class Variable:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.slopes: dict[Variable, Any] = {self: 1.0}

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variable) and bool(self.value == other.value)

    def __mul__(self, other: Variable) -> Variable:
        made = Variable(self.value * other.value)
        made.slopes = {}
        for own, factor in ((self, other.value), (other, self.value)):
            for variable, slope in own.slopes.items():
                made.slopes[variable] = made.slopes.get(variable, 0.0) + slope * factor
        return made


class Named:
    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name


def of_itself(x: Any) -> Any:
    variable = Variable(x)
    return sum(slope * v.value for v, slope in variable.slopes.items()) ** 2


def of_products(x: Any) -> Any:
    a, b = Variable(x), Variable(x)
    product = a * b * a
    return product.slopes[a] * 2 + product.slopes[b] * x + len(product.slopes) * x


def in_sets(x: Any) -> Any:
    a, b = Variable(x), Variable(x * x)
    found = {a, b, a}
    return a.value * (b in found) + 5 * x * (Variable(x) in found) + len(found) * x


def equal_objects(x: Any) -> Any:
    a, b = Variable(x), Variable(x)
    held = {a: 2 * x}
    return (held[a] if a == b else 0.0) * (3 if b in held else x)


FUNCTIONS = [of_itself, of_products, in_sets, equal_objects]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_objects_are_keys(function: Any) -> None:
    expected = numeric_gradient(function, (0.7,))
    value, dot = jvp(function, (0.7,), (1.0,))
    assert value == function(0.7)
    assert np.allclose([grad(function)(0.7), dot], expected, rtol=1e-6)


def test_another_hash_is_refused() -> None:
    def looked_up(x: Any) -> Any:
        return {Named("a", x): x}[Named("a", 0.0)] * x

    with pytest.raises(S2SADError):
        grad(looked_up)(0.7)


def test_another_method_is_noticed() -> None:
    class Key:
        def __init__(self, value: Any) -> None:
            self.value = value

        def __hash__(self) -> int:
            return id(self)

        def __eq__(self, other: object) -> bool:
            return True

    def held(x: Any) -> Any:
        a, b = Key(x), Key(2 * x)
        return len({a: x, b: x}) * a.value * b.value

    df = grad(held)
    assert np.isclose(df(0.7), 5.6)
    Key.__hash__ = lambda self: 1  # type: ignore[method-assign, assignment]
    with contextlib.suppress(S2SADError):
        assert np.isclose(df(0.7), 2.8)
