"""Objects whose classes inherit an ``__init__`` that ``dataclasses`` has made, and call it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from s2sad.transform import functions
from s2sad.transform.known import NotSpecialisedError
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.3, 0.4])


@dataclass
class Material:
    stiffness: Any
    density: Any = 2.0
    loads: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.speed = np.sqrt(self.stiffness / self.density) * self.factor()

    def factor(self) -> float:
        return 1.0


class Damped(Material):
    """It has attributes of its own beside the fields."""

    def __init__(self, stiffness: Any, damping: Any) -> None:
        super().__init__(stiffness, density=1.5 + damping)
        self.damping = damping
        self.loads.append(damping * stiffness)

    def factor(self) -> float:
        return 1.25


@dataclass
class Layered(Material):
    """Its own ``__init__`` stays, and fields of its own have the values of the class."""

    layers: int = 3

    def __init__(self, stiffness: Any) -> None:
        Material.__init__(self, density=stiffness**2, stiffness=stiffness)
        self.speed = self.speed * self.layers


class Plain(Layered):
    pass


def by_super(x: Any) -> Any:
    m = Damped(x[0], x[1])
    return m.speed * m.damping + m.loads[0] * m.density


def by_the_name_of_the_class(x: Any) -> Any:
    a, b = Layered(x[0]), Plain(x[2])
    return a.speed + b.speed * a.density + len(b.loads)


@pytest.mark.parametrize("f", [by_super, by_the_name_of_the_class], ids=lambda f: f.__name__)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    value, found = value_and_grad(f)(X)
    expected = numeric_gradient(f, (X,))
    assert value == f(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], expected @ X, rtol=1e-7)


def test_the_default_value_of_a_field_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = value_and_grad(by_the_name_of_the_class)
    before, _ = derivative(X)
    monkeypatch.setattr(Layered, "layers", 5)
    assert derivative(X)[0] == by_the_name_of_the_class(X) != before


def test_what_python_does_not_compile_is_no_function() -> None:
    """Loops that are written out within one another may be more than Python takes."""
    lines = [f"{'    ' * k}while x > {k}:" for k in range(1, 22)]
    tree = ast.parse("\n".join(["def f(x):", *lines, "    " * 22 + "x -= 1.0", "    return x"])).body[0]
    assert isinstance(tree, ast.FunctionDef)
    with pytest.raises(NotSpecialisedError, match="nested"):
        functions.compiled_function(tree, by_super, {})  # type: ignore[arg-type]
