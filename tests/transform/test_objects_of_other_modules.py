"""Objects, containers and tuples of classes of a module that the program reads by the name of the module."""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.sources import function_of, names_of
from tests.transform.remaining import check_both_modes

MODULE = """
from decimal import Decimal

NUMBERS = (int, float, Decimal)

class Box:
    def __init__(self, v):
        self.v = v

    def squared(self):
        return self.v**2

class Model:
    def __init__(self, k, names):
        self.k, self.names = k, names

    def boxed(self, t):
        return Box(self.k * t)

MODEL = Model(3.0, {"u": 0, "v": 1})
MODELS = {"one": Model(1.0, {}), "two": Model(2.0, {})}
"""
PROGRAMS = {
    "a method that makes an object": "settings.MODEL.boxed(x[0]).squared() * x[1]",
    "in a dict": "settings.MODELS['two'].boxed(x[0]).squared() + settings.MODELS['one'].boxed(x[1]).squared()",
    "all of a dict": "sum(m.boxed(x[0]).squared() for m in settings.MODELS.values()) * x[1]",
    "a dict of an object": "settings.MODEL.boxed(x[settings.MODEL.names['v']]).squared() * x[0]",
    "classes in a tuple": "value(settings.Box(x[0])) * x[1]",
    "classes in a tuple of its own": "own(settings.Box(x[0])) * own(3.0)",
}
HELPERS = """
NUMBERS = (float, int)

def value(u):
    if isinstance(u, settings.NUMBERS):
        return 2 * u
    return u.v**2

def own(u):
    return 2 * u if isinstance(u, NUMBERS) else u.v**2
"""
X, WAY = np.array([0.4, 0.7]), np.array([0.5, -1.0])


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType("settings_of_tests")
    module.__dict__.update(names_of(MODULE, {"__name__": module.__name__}))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_they_are_followed(text: str, settings: Any) -> None:
    check_both_modes(function_of(f"{HELPERS}\ndef f(x):\n    return {text}\n", {"settings": settings}), X, WAY)


def test_another_object_is_another_program(settings: Any) -> None:
    text = f"{HELPERS}\ndef f(x):\n    return {PROGRAMS['a method that makes an object']}\n"
    df = grad(function_of(text, {"settings": settings}))
    np.testing.assert_allclose(df(X), [18 * X[0] * X[1], 9 * X[0] ** 2])
    settings.MODEL = settings.Model(1.0, {})
    np.testing.assert_allclose(df(X), [2 * X[0] * X[1], X[0] ** 2])
    settings.MODEL.k = 2.0
    np.testing.assert_allclose(df(X), [8 * X[0] * X[1], 4 * X[0] ** 2])


def test_other_classes_are_another_program(settings: Any) -> None:
    text = f"{HELPERS}\ndef f(x):\n    return {PROGRAMS['classes in a tuple']}\n"
    df = grad(function_of(text, {"settings": settings}))
    np.testing.assert_allclose(df(X), [2 * X[0] * X[1], X[0] ** 2])
    settings.NUMBERS = (str, np.floating, settings.Box)
    settings.Box.__rmul__ = lambda self, u: u * self.v**3
    with contextlib.suppress(S2SADError):
        np.testing.assert_allclose(df(X), [6 * X[0] ** 2 * X[1], 2 * X[0] ** 3])
