"""Lists, tuples and dicts that exist, one of two objects, and arguments with ``*``: what remains does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient
from tests.transform.remaining import check_gradient, check_same

X = np.array([0.3, 0.7, -0.4])


class Spring:
    def __init__(self, stiffness: float, name: str) -> None:
        self.stiffness = stiffness
        self.name = name

    def energy(self, v: Any) -> Any:
        return 0.5 * self.stiffness * v * v

    @classmethod
    def soft(cls, scale: Any) -> Any:
        return cls(0.1 * scale, "soft")


class Damper(Spring):
    units = {"N": (1.0, 0.0), "kN": (1e-3, 0.5)}  # noqa: RUF012

    def energy(self, v: Any) -> Any:
        return self.stiffness * np.sin(v)

    def scaled(self, v: Any, unit: str) -> Any:
        factor, shift = self.units[unit]
        return v * factor + shift


class System:
    names = ("first", "second")

    def __init__(self, parts: Any, by_name: Any) -> None:
        self.parts = parts
        self.by_name = by_name

    def total(self, x: Any) -> Any:
        return sum(part.energy(v) for part, v in zip(self.parts, x, strict=False))

    def named(self, x: Any) -> Any:
        values = dict(zip(self.names, x, strict=False))
        return sum(self.by_name[name].energy(values[name]) for name in self.names)


PARTS = [Spring(2.0, "a"), Damper(3.0, "b"), Spring(0.5, "c")]
SYSTEM = System(PARTS, {"first": PARTS[0], "second": PARTS[1]})
RATES = [0.5, 1.5, 2.5]
TABLE = {"sin": np.sin, "square": lambda v: v * v}
STEPS = (np.sin, np.tanh)
SOFT, HARD = Spring(0.5, "soft"), Damper(4.0, "hard")


def objects_in_a_list(x: Any) -> Any:
    return SYSTEM.total(x)


def objects_in_a_dict(x: Any) -> Any:
    return SYSTEM.named(x)


def list_of_the_module(x: Any) -> Any:
    total = 0.0
    for number, part in enumerate(PARTS):
        total = total + part.energy(x[number]) * (2.0 if part.name == "b" else 1.0)
    return total


def functions_beside_an_operand(x: Any) -> Any:
    fs = [lambda v, k=k: v * k * x[0] for k in RATES]
    return sum(f(v) for f, v in zip(fs, x, strict=False))


def functions_made_in_a_loop(x: Any) -> Any:
    fs = []
    for rate, v in zip(RATES, x):  # noqa: B905
        fs.append(lambda t, rate=rate, v=v: rate * t * v)
    return sum(f(x[1]) for f in fs)


def functions_in_a_dict(x: Any) -> Any:
    return TABLE["sin"](x[0]) * TABLE["square"](x[1])


def functions_in_a_tuple(x: Any) -> Any:
    y = x[0]
    for step in STEPS:
        y = step(y * x[1])
    return y


def numbers_stay_a_loop(x: Any) -> Any:
    total = 0.0
    for rate in RATES:
        total = total + rate * np.sin(x[0] * rate)
    return total + SOFT.energy(x[1])


def chosen_part(v: Any) -> Any:
    if v > 0.0:
        return SOFT
    return HARD


def one_of_two_objects(x: Any) -> Any:
    part, other = chosen_part(x[0]), chosen_part(x[2])
    return part.energy(x[1]) + other.energy(x[2]) * (2.0 if other.name == "hard" else 3.0) + part.stiffness


def one_of_two_made(x: Any) -> Any:
    part = Spring(x[0], "soft") if x[1] > 0.0 else Damper(x[1], "hard")
    return part.energy(x[2]) * part.stiffness


def spread_operand(x: Any) -> Any:
    part = Spring(*(x * 2.0)[:2])
    return part.energy(x[2]) * part.name


def spread_over_a_function(x: Any) -> Any:
    product = lambda a, b, c: a * b + c  # noqa: E731
    return product(*x) + product(x[1], *x[1:])


def made_by_a_class_method(x: Any) -> Any:
    part = Damper.soft(x[0])
    return part.energy(x[1]) + part.scaled(x[2], "kN")


class Node:
    def __init__(self, number: int, place: Any, fixed: Any = (False, False)) -> None:
        self.number, self.place, self.fixed = number, place, fixed

    @property
    def places(self) -> Any:
        return 2 * self.number, 2 * self.number + 1


def a_tuple_as_default(x: Any) -> Any:
    nodes = {0: Node(0, x[0]), 1: Node(1, x[1], fixed=(True, False))}
    free = [d for n in nodes.values() for d, fixed in zip(n.places, n.fixed, strict=True) if not fixed]
    return sum(d * n.place for n in nodes.values() for d in free) * x[2]


PROGRAMS = [
    objects_in_a_list, objects_in_a_dict, list_of_the_module, functions_beside_an_operand, functions_made_in_a_loop,
    functions_in_a_dict, functions_in_a_tuple, numbers_stay_a_loop, one_of_two_objects, one_of_two_made,
    spread_operand, spread_over_a_function, made_by_a_class_method,
    a_tuple_as_default,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    check_same(f, False)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    check_gradient(f, True)


# --- what changes


MADE: list[Any] = [Spring(2.0, "a")]


def over_a_list_that_changes(x: Any) -> Any:
    return sum(part.energy(v) for part, v in zip(MADE, x, strict=False))


def test_a_list_that_changes_between_calls() -> None:
    derivative = grad(over_a_list_that_changes)
    for part in (Damper(1.5, "b"), Spring(0.3, "c")):
        np.testing.assert_allclose(derivative(X), numeric_gradient(over_a_list_that_changes, [X]), atol=1e-7)
        MADE.append(part)
    np.testing.assert_allclose(derivative(X), numeric_gradient(over_a_list_that_changes, [X]), atol=1e-7)
    MADE[1] = Spring(9.0, "d")
    np.testing.assert_allclose(derivative(X), numeric_gradient(over_a_list_that_changes, [X]), atol=1e-7)
    del MADE[1:]


def replaces() -> None:
    MADE[0] = Damper(5.0, "other")


def while_it_changes(x: Any) -> Any:
    replaces()
    return sum(part.energy(v) for part, v in zip(MADE, x, strict=False))


def test_a_list_that_changes_while_the_function_runs() -> None:
    MADE[:] = [Spring(2.0, "a")]
    wanted = numeric_gradient(while_it_changes, [X])
    MADE[:] = [Spring(2.0, "a")]
    try:
        np.testing.assert_allclose(grad(while_it_changes)(X), wanted, atol=1e-7)
    except S2SADError:
        return


def test_fewer_items_than_known_ones_are_refused_as_it_runs() -> None:
    with pytest.raises(S2SADError, match="as many"):
        grad(functions_beside_an_operand)(X[:2])


SLOPES: dict[str, Any] = {"square": lambda r: r * r, "ratio": lambda r: (r + np.abs(r)) / (1 + np.abs(r))}


class Stepper:
    def __init__(self, n, name):
        self.width = 1.0 / n
        self.apply = SLOPES[name]
        self.time = 0.0

    def pad(self, U):
        return np.concatenate([U[:, :1], U, U[:, -1:]], axis=1)

    def pair(self, W):
        d = np.diff(W, axis=1)
        s = self.apply(d[:, :-1]) * d[:, 1:]
        mid = W[:, 1:-1]
        return mid - 0.5 * s, mid + 0.5 * s

    def step(self, U):
        dt = self.width / np.max(np.abs(U))
        low, high = self.pair(self.pad(U))
        self.time += dt
        return U - dt * (high - low)


def by_a_name_in_a_loop(x):
    total = 0.0
    for name in ("square", "ratio"):
        U = np.stack([x, x * x[0]])
        rule = Stepper(4, name)
        for _ in range(2):
            U = rule.step(U)
        total += np.sum(U**2) + rule.time
    return total


def test_a_loop_over_names_of_functions_is_written_out():
    x = np.array([0.3, 0.7, 1.2])
    expected = numeric_gradient(by_a_name_in_a_loop, (x,))
    np.testing.assert_allclose(grad(by_a_name_in_a_loop)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(by_a_name_in_a_loop, (x,), (x,))[1], expected @ x, rtol=1e-7)
