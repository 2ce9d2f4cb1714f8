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


class Parameters:
    """Gives its values as attributes, and notes which of them were asked for."""

    def __init__(self, **values: Any) -> None:
        self._values = values
        self._asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "twice":
            return 2.0 * self._values["k"]
        if name not in self._values:
            raise AttributeError(name)
        self._asked.append(name)
        return self._values[name]


class Computed:
    def __init__(self, k: Any) -> None:
        self._k = k

    def __getattr__(self, name: str) -> Any:
        return self._k * len(name)


PARAMETERS = Parameters(k=1.5, weights=np.array([1.0, -2.0, 0.5, 3.0]), table={"a": 2.0})


def constant_of_a_backend(x: Any) -> Any:
    k = XP.linspace(0, 1, 4)
    return XP.sum(XP.exp(-XP.pi * k * k) * x) + x[0] * XP.e


def number_given_by_getattr(x: Any) -> Any:
    return np.sum(x**2) * PARAMETERS.k


def array_given_by_getattr(x: Any) -> Any:
    return np.sum(x**2 * PARAMETERS.weights) + PARAMETERS.twice * x[0]


def item_of_a_dict_given_by_getattr(x: Any) -> Any:
    return x[1] * PARAMETERS.table["a"] * x[2]


def with_a_default(x: Any) -> Any:
    scale = PARAMETERS.k if hasattr(PARAMETERS, "missing") else getattr(PARAMETERS, "missing", 3.0)
    return np.sum(x**3) * scale


def made_here(x: Any) -> Any:
    c = Computed(x[0])
    return c.ab * c.abc + Parameters(k=x[1]).twice


def asked_for_in_a_loop(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + v**2 * XP.pi * PARAMETERS.k
    return total


GIVEN = [
    constant_of_a_backend, number_given_by_getattr, array_given_by_getattr, item_of_a_dict_given_by_getattr,
    with_a_default, made_here, asked_for_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", GIVEN, ids=lambda f: f.__name__)
def test_what_getattr_gives(f: Callable[[Any], Any]) -> None:
    PARAMETERS._asked.clear()
    f(X)
    asked = list(PARAMETERS._asked)
    expected = numeric_gradient(f, (X,), 0)
    derivative = grad(f)
    for call in (lambda: derivative(X), lambda: jvp(f, (X,), (X**2,))[1]):
        PARAMETERS._asked.clear()
        found = call()
        wanted = expected if np.ndim(found) else expected @ X**2
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
        assert list(PARAMETERS._asked) == asked
    PARAMETERS._values["k"] = 2.5
    try:
        np.testing.assert_allclose(derivative(X), numeric_gradient(f, (X,), 0), rtol=1e-6, atol=1e-9)
    finally:
        PARAMETERS._values["k"] = 1.5
