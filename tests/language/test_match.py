"""``match``, ``del``, ``global`` and assignment expressions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

V = np.array([0.3, -1.2, 2.5])
SCALE = 3.0


def by_value(x: Any, how: str) -> Any:
    match how:
        case "square":
            return x * x
        case "sine" | "sinus":
            y = math.sin(x)
        case _:
            y = 5.0 * x
    return y * x


def by_number(x: Any, n: int) -> Any:
    match n % 3:
        case 0:
            x = x * x
        case 1 if x > 1.0:
            x = 2.0 * x
        case k:
            x = k * x
    return x * x


def by_nothing(x: Any, w: Any) -> Any:
    match w:
        case None:
            return x * x
        case True | False:
            return x
        case float() | int():
            return w * x
    return x**3


def by_sequence(x: Any, items: Any) -> Any:
    match items:
        case []:
            return x
        case [a]:
            return a * x
        case [a, b] if a > b:
            return (a - b) * x * x
        case (a, *rest, b):
            return a * x + b * x * x + len(rest) * x**3
        case _:
            return 7.0 * x


def by_active_sequence(x: Any) -> Any:
    match (x, 2.0 * x):
        case (a, b) if b > 3.0:
            return a * b
        case (a, _):
            return a


def by_mapping(x: Any, options: Any) -> Any:
    match options:
        case {"kind": "power", "n": n}:
            return x**n
        case {"kind": ("linear" | "affine") as kind, **rest}:
            return x * len(kind) + len(rest)
        case {}:
            return x * 0.5
    return -x


@dataclass
class Circle:
    r: float


@dataclass
class Box:
    a: float
    b: float


def by_class(x: Any, shape: Any) -> Any:
    match shape:
        case Circle(r):
            return math.pi * r * r * x
        case Box(a, b=2.0):
            return a * x * x
        case Box(a=a, b=b):
            return a * b * x
    return x


def by_the_first_way(x: Any, pairs: Any) -> Any:
    asked: list[float] = []
    y = x
    for pair in pairs:
        match pair:
            case (a, _) | (_, a) if asked.append(1.0) or a > 0.0:
                y = y * a
            case {"a": a} | {"b": a} if a > 0.0:
                y = y + a * x
            case _:
                y = y * x
    return y * len(asked)


def in_a_loop(x: Any, steps: list[str]) -> Any:
    for step in steps:
        match step:
            case "skip":
                continue
            case "stop":
                break
            case "double":
                x = 2.0 * x
        x = x * x
    return x


def deleted(x: Any) -> Any:
    y = x * x
    z = y * 3.0
    del y
    return z


def deleted_items(x: Any) -> Any:
    weights = [1.0, 2.0, 3.0]
    table = {"a": 1.0, "b": 2.0}
    del weights[0], table["a"]
    items = [x, x * x, x**3]
    del items[1]
    return sum(weights) * x + table["b"] * sum(items)


def global_read(x: Any) -> Any:
    global SCALE  # noqa: PLW0602
    return SCALE * x * x


def chained(x: Any) -> Any:
    if 0.0 < x < (y := 2.0 * x):
        return y * x
    return x


def walrus(v: Any) -> Any:
    total = 0.0
    while (s := np.sum(v * v)) > 1.0:
        v = 0.5 * v
        total = total + s
    return total + (t := s * s) * t


def printed(x: Any) -> Any:
    y = x * x
    print(f"y = {y:.3f}, {x!r}", x, sep="; ")
    assert y > 0.0, f"{y} is not positive"
    label = f"{y:8.2f}"
    return y * len(label)


CASES = [
    *[case(by_value, 1.5, how, wrt=0) for how in ("square", "sinus", "other")],
    *[case(by_number, x, n, wrt=0) for x, n in ((1.5, 3), (1.5, 4), (0.5, 4), (1.5, 5))],
    *[case(by_nothing, 1.5, w, wrt=0) for w in (None, True, 2.0)],
    *[
        case(by_sequence, 1.5, items, wrt=0)
        for items in ([], [2.0], (3.0, 1.0), [1.0, 3.0], [1.0, 0.0, 0.0, 2.0], "text", 3.0, range(4))
    ],
    case(by_active_sequence, 1.6),
    case(by_active_sequence, 1.4),
    *[
        case(by_mapping, 1.5, options, wrt=0)
        for options in ({"kind": "power", "n": 3}, {"kind": "affine", "b": 1}, {"c": 1}, [1])
    ],
    *[case(by_class, 1.5, shape, wrt=0) for shape in (Circle(2.0), Box(3.0, 2.0), Box(3.0, 4.0), None)],
    case(by_the_first_way, 1.5, [(-1.0, 2.0), (2.0, -1.0), {"a": -1.0, "b": 2.0}, {"b": 3.0, "c": 1.0}], wrt=0),
    case(in_a_loop, 0.8, ["double", "skip", "other", "stop", "double"], wrt=0),
    case(deleted, 1.5),
    case(deleted_items, 1.5),
    case(global_read, 1.5),
    case(chained, 1.5),
    case(walrus, V),
    case(printed, 1.5),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
