"""Texts that are known, taken apart: what the program does for each part is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.3])
WAY = np.array([1.0, -0.4])


def by_a_stack(x: Any) -> Any:
    known = {"x": x[0], "y": x[1]}
    binary = {"+": lambda a, b: a + b, "*": lambda a, b: a * b, "^": lambda a, b: a**b}
    unary = {"sin": np.sin, "log": np.log}
    stack: list[Any] = []
    for word in "x y * sin y x ^ + x log + 2 *".split():
        if word in binary:
            b = stack.pop()
            a = stack.pop()
            stack.append(binary[word](a, b))
        elif word in unary:
            stack.append(unary[word](stack.pop()))
        elif word in known:
            stack.append(known[word])
        else:
            stack.append(float(word))
    (result,) = stack
    return result


def terms(x: Any) -> Any:
    found = {}
    for part in "a=1, b=2.5, c=-1".split(sep=","):
        name, _, value = part.partition("=")
        found[name.strip().upper()] = float(value) * x[0]
    return found["A"] * found["B"] + found["C"] * x[1]


def lines(x: Any) -> Any:
    steps = {"grow": lambda v: v * x[1], "shift": lambda v: v + x[0]}
    v = x[0]
    for line in "grow\nshift\ngrow".splitlines():
        v = steps[line](v)
    kind, _, rest = "shift:twice".rpartition(":")
    return steps[kind](v) if rest == "twice" else v


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for word in "up down up".split():
        if word == "up":
            total = total + x[0]
        else:
            total = total * x[1]
    return total


class Temperature:
    units = ("c", "f")

    def __init__(self, degrees: Any, unit: str) -> None:
        self.degrees = float(degrees)
        self.unit = unit.lower()
        if self.unit not in self.units:
            allowed = ", ".join(map(lambda u: f'"{u.upper()}"', self.units))  # noqa: C417
            raise ValueError(f"{unit} is none of {allowed}")

    @property
    def f(self) -> Any:
        return self.degrees if self.unit == "f" else self.degrees * 9 / 5 + 32


def joined(x: Any) -> Any:
    words = "-".join(reversed(["f", "c"]))
    return Temperature(x[0], words[:1]).f * x[1]


@pytest.mark.parametrize("f", [joined, by_a_stack, terms, lines, in_a_loop], ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (WAY,))[1], expected @ WAY, rtol=1e-7, atol=1e-9)
