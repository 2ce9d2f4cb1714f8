"""Statements that are written as one do what they did one after the other: Python runs both and says so."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.backend.python.tidy import tidied
from s2sad.ir.code import Place
from tests.oracle import numeric_gradient

PROGRAMS = [
    "t, y = f()\no.b = t",
    "t, y = f()\no[y] = t",
    "t, y = f()\ny = t",
    "t, o = f()\no.b = t",
    "y, t = f()\no[y] = t",
    "y, t = f()\ny = t",
    "(t, x), y = f2()\ny = t",
    "(t, x), y = f2()\nx = t",
    "(t, x), y = f2()\no.b = t",
    "t, y, z = f3()\na, z = t",
    "t, y, z = f3()\na, b = t",
    "y, t, z = f4()\ny, b = t",
    "t, *z = f3()\na, z = t",
    "t = f()\no.b = t\no[1] = t",
]


class Log:
    """An object that notes what is done to it."""

    def __init__(self) -> None:
        self.__dict__["log"] = []

    def __setattr__(self, name: str, value: Any) -> None:
        self.log.append((name, value))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.log.append((index, value))


def outcome(text: str) -> dict[str, Any]:
    """What variables hold after a program, but for that of the compiler's, and what an object has noted."""
    log = Log()
    space: dict[str, Any] = {
        "o": log, "y": 7, "f": lambda: (1, 2), "f2": lambda: ((1, 2), 3), "f3": lambda: ((1, 2), 3, 4),
        "f4": lambda: (3, (1, 2), 4),
    }  # fmt: skip
    if "t, o" in text:
        space["f"] = lambda: (1, log)
    exec(text, space)
    hidden = ("t", "__builtins__", "f", "f2", "f3", "f4", "o")
    return {k: v for k, v in space.items() if k not in hidden} | {"log": log.log}


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_one_after_the_other(program: str) -> None:
    body = ast.parse(program).body
    count: Callable[[str], int] = lambda name: program.count(f"= {name}\n") + program.endswith(f"= {name}")  # noqa: E731
    made = ast.unparse(tidied(body, lambda name: count(name) if name == "t" else 0))
    assert outcome(made) == outcome(program), made


#: Statements that get the place of one call when the function that has them is written out where it is called.
ON_ONE_LINE = [
    "a, y = y\nb, y = y",
    "a = y\nb = y",
    "a, b = y\nx, z = y",
    "y = 2\nb = 2",
    "o.b = y\ny = y",
    "a, y = y\nb, z = y",
    "t = y[1]\na = t\nb = t",
    "t = y[1]\na = t\nb = a",
    "t = y[1]\na = t\nb = a\nz = (t,)",
    "t = y[1]\na = t\nb = a\nx = t",
    "t = y[1]\na = t\nb = t\nx = b\nz = (t,)",
]


@pytest.mark.parametrize("program", ON_ONE_LINE)
def test_of_one_line_as_one_after_the_other(program: str) -> None:
    body = ast.parse(program).body
    for statement in body:
        statement.place = Place(1, 0, 1, 9)  # type: ignore[attr-defined]
    read = Counter(n.id for n in ast.walk(ast.parse(program)) if isinstance(n, ast.Name) and type(n.ctx) is ast.Load)
    made = ast.unparse(tidied(body, lambda name: read[name] if name == "t" else 0))
    found, expected = ({"y": (1, (2, 3)), "o": Log()} for _ in range(2))
    exec(made, found)
    exec(program, expected)
    for name in ("a", "b", "x", "y", "z"):
        assert found.get(name) == expected.get(name), made


def test_joined_where_nothing_stands_between() -> None:
    joined = tidied(ast.parse(PROGRAMS[0]).body, lambda name: int(name == "t"))
    assert [ast.unparse(statement) for statement in joined] == ["o.b, y = f()"]


class Filter:
    """Keeps its weights and their history under names that its callers use for other values."""

    def __init__(self, mu: Any) -> None:
        self.mu = mu
        self.w = np.zeros(3)
        self.e = np.zeros(2)

    def run(self, d: Any) -> Any:
        y = np.zeros(len(d))
        self.h = np.zeros((len(d), 3))
        for k in range(len(d)):
            self.h[k, :] = self.w
            y[k] = self.w[0] * self.mu
            self.w += self.mu * d[k]
            self.e = self.e + self.w[:2]
        return y, self.h


D = np.array([1.0, 2.0, 3.0])


def attribute_of_the_callers_name(p: Any) -> Any:
    y, w = Filter(p[0]).run(D)
    return np.sum(y**2) + np.sum(w[-1]) * p[1]


def two_attributes_of_the_callers_names(p: Any) -> Any:
    f = Filter(p[0])
    e, w = f.run(D)
    return np.sum(e**2) + np.sum(w[-1] * f.w) * p[1] + f.e[0]


@pytest.mark.parametrize("f", [attribute_of_the_callers_name, two_attributes_of_the_callers_names])
def test_results_beside_attributes_of_their_names(f: Callable[..., Any]) -> None:
    p = np.array([0.5, 1.3])
    value, gradient = value_and_grad(f)(p)
    assert value == f(p)
    np.testing.assert_allclose(gradient, numeric_gradient(f, (p,), 0), rtol=1e-8)
    assert np.array_equal(grad(f)(p), gradient)
