"""Objects of the user's that a class has as attributes, and properties of which it is asked whether they are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient
from tests.transform.remaining import check_both_modes

X = np.array([0.3, 0.7, -0.4])
WAY = np.array([1.0, 0.5, -0.7])


class Formulas:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def central(self, f: Any, x: Any, h: Any) -> Any:
        return self.scale * (f(x + h) - f(x - h)) / (2 * h)

    @staticmethod
    def forward(f: Any, x: Any, h: Any) -> Any:
        return (f(x + h) - f(x)) / h


class Rule:
    formulas = Formulas(2.0)

    def __init__(self, method: str, h: Any = 0.1) -> None:
        self.method, self._h = method, h

    @property
    def formula(self) -> Any:
        return getattr(self.formulas, self.method)

    @property
    def h(self) -> Any:
        return self._h

    def __call__(self, f: Any, x: Any) -> Any:
        return self.formula(f, x, self.h if hasattr(self, "h") else 1.0)


class Finer(Rule):
    formulas = Formulas(5.0)


class Bare(Rule):
    def __init__(self, method: str) -> None:
        self.method = method


def by_name(x: Any) -> Any:
    return Rule("central")(np.sin, x[0]) + Finer("central", x[1])(lambda t: t**3 * x[2], x[0])


def by_static_methods(x: Any) -> Any:
    return Rule("forward")(np.sin, x[0]) * Rule.formulas.scale + Rule("forward").formulas.scale * x[1]


def without_what_a_property_reads(x: Any) -> Any:
    return Bare("central")(np.cos, x[0]) * x[1] + x[1] * hasattr(Rule("forward"), "h")


@pytest.mark.parametrize("f", [by_name, by_static_methods, without_what_a_property_reads])
def test_objects_that_classes_have(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


def test_an_object_that_a_class_is_given_later(monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = grad(by_name)
    np.testing.assert_allclose(derivative(X), numeric_gradient(by_name, [X]), rtol=1e-7)
    monkeypatch.setattr(Finer, "formulas", Formulas(-3.0))
    np.testing.assert_allclose(derivative(X), numeric_gradient(by_name, [X]), rtol=1e-7)
    monkeypatch.setattr(Rule.formulas, "scale", 0.5)
    np.testing.assert_allclose(derivative(X), numeric_gradient(by_name, [X]), rtol=1e-7)
