"""Objects of modules that stand for NumPy: their attributes are functions of NumPy, or modules."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient


class Backend:
    zeros = staticmethod(np.zeros)
    sin = staticmethod(np.sin)
    total = staticmethod(np.sum)


class Shim:
    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name == "_module":
            return self._module
        return getattr(self._module, name)


class Settings:
    def __init__(self) -> None:
        self.xp = np
        self.activation = np.tanh


BACKEND, XP, SETTINGS = Backend(), Shim(np), Settings()


def differences(x: Any) -> Any:
    made = BACKEND.zeros(x.shape)
    made[1:] += BACKEND.sin(x[:-1]) * 2
    made[:-1] -= x[1:]
    return made


def by_static_methods(x: Any) -> Any:
    return BACKEND.total(differences(differences(x)) ** 2)


def by_getattr(x: Any) -> Any:
    made = XP.empty_like(x)
    made[:] = XP.cos(x)
    made[::2] *= x[1]
    return XP.sum(made * XP.linalg.norm(x))


def by_a_module(x: Any) -> Any:
    made = SETTINGS.xp.ones((2, 4))
    made[0] = SETTINGS.activation(x)
    return SETTINGS.xp.sum(made[0] * made)


X = np.array([0.3, -0.7, 1.1, 0.4])


@pytest.mark.parametrize("f", [by_static_methods, by_getattr, by_a_module], ids=lambda f: f.__name__)
def test_what_they_make_is_not_the_modules(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (X**2,))[1], expected @ X**2, rtol=1e-6, atol=1e-9)


def test_another_module_or_function_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        y = np.zeros(2)
        y[0] = XP.sin(x) * SETTINGS.activation(x) * BACKEND.sin(x)
        return y[0] + XP.pi * 0.0

    derivative = grad(f)
    x = 0.7
    assert derivative(x) == pytest.approx(float(numeric_gradient(f, (x,), 0)))
    for target, name, value in (
        (SETTINGS, "activation", np.cos),
        (Backend, "sin", staticmethod(np.exp)),
        (BACKEND, "sin", np.sqrt),
        (XP, "_module", types.SimpleNamespace(sin=np.exp, pi=3.0)),
        (XP, "sin", math.sinh),
    ):
        monkeypatch.setattr(target, name, value)
        assert derivative(x) == pytest.approx(float(numeric_gradient(f, (x,), 0)), rel=1e-6), name


def test_what_is_set_meanwhile_is_read() -> None:
    settings = Settings()

    def f(x: Any) -> Any:
        y = settings.activation(x)
        settings.activation = np.sin
        y = y * settings.activation(x)
        settings.activation = np.tanh
        return y

    assert grad(f)(0.7) == pytest.approx(float(numeric_gradient(f, (0.7,), 0)), rel=1e-6)
