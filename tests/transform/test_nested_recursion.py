"""Nested functions that call themselves, named arguments out of dicts, and functions that are looked up there."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, hvp, jvp
from s2sad.transform import calls
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.3, -0.2, 0.5, 1.1])
KNOTS = np.linspace(0.0, 3.0, 4)
PENDULUM = {"g": 9.81, "l": 1.5}
CONFIG: dict[str, Any] = {"method": "midpoint", "dt": 0.1, "parameters": PENDULUM, "fast": True}


def pendulum(y: Any, t: float, g: float = 1.0, l: float = 1.0) -> Any:  # noqa: E741
    return np.array([y[1], -g / l * np.sin(y[0])])


def euler(f: Any, y: Any, t: float, dt: float, **more: Any) -> Any:
    return y + dt * f(y, t, **more)


def midpoint(f: Any, y: Any, t: float, dt: float, **more: Any) -> Any:
    return y + dt * f(y + 0.5 * dt * f(y, t, **more), t + 0.5 * dt, **more)


STEPS = {"euler": euler, "midpoint": midpoint}


def in_a_generator(x: Any) -> Any:
    def basis(i: int, k: int, t: Any) -> Any:
        if k == 0:
            return 1.0 if KNOTS[i] <= t < KNOTS[i + 1] else 0.0
        left = (t - KNOTS[i]) / (KNOTS[i + k] - KNOTS[i]) * basis(i, k - 1, t)
        right = 0.0
        if i + k + 1 < len(KNOTS):
            right = (KNOTS[i + k + 1] - t) / (KNOTS[i + k + 1] - KNOTS[i + 1]) * basis(i + 1, k - 1, t)
        return left + right

    return sum(c * basis(i, 1, 1.3 + 0.1 * x[0]) for i, c in enumerate(x[:3]))


def of_numbers(x: Any) -> Any:
    def factorial(n: int) -> int:
        return 1 if n <= 1 else n * factorial(n - 1)

    return sum(x[k] / factorial(k) for k in range(4))


def in_a_comprehension(x: Any) -> Any:
    def power(v: Any, n: int) -> Any:
        return v if n == 1 else v * power(v, n - 1)

    return np.sum(np.array([power(v, 3) for v in x]))


def returns_a_pair(x: Any) -> Any:
    def go(n: int, a: Any, b: Any) -> Any:
        if n == 0:
            return a, b
        return go(n - 1, a * x[0] + b, b * x[1])

    p, q = go(3, x[2], 1.0)
    return p * q


def sets_a_variable(x: Any) -> Any:
    total = 0.0

    def go(n: int) -> None:
        nonlocal total
        total = total + x[n] ** 2 * (n + 1)
        if n > 0:
            go(n - 1)

    go(2)
    return total


def sets_and_returns(x: Any) -> Any:
    total = 0.0

    def go(n: int, c: Any) -> Any:
        nonlocal total
        if n == 0:
            return c
        total = total + c * x[0]
        r = go(n - 1, c * x[1])
        total = total * r
        return r + total

    return go(3, x[2]) * total


def sets_in_turns(x: Any) -> Any:
    even, odd = 1.0, x[3]

    def first(n: int) -> None:
        nonlocal even
        even = even * x[n] + odd
        if n > 0:
            second(n - 1)

    def second(n: int) -> None:
        nonlocal odd
        odd = odd + even**2
        if n > 0:
            first(n - 1)

    first(3)
    return even * odd


class Sum:
    """A sum that a method adds up by calling itself."""

    def __init__(self) -> None:
        self.value, self.factor = 0.0, 1.0

    def add(self, x: Any, n: int) -> Any:
        self.value = self.value + self.factor * x[n]
        self.factor = self.factor * x[0]
        if n > 0:
            self.add(x, n - 1)
        return self


def sets_attributes(x: Any) -> Any:
    total = Sum().add(x, 2)
    return total.value * total.factor


def creates_an_attribute(x: Any) -> Any:
    total = Sum()

    def go(n: int) -> None:
        total.last = x[n] * total.factor
        total.factor = total.last + 1.0
        if n > 0:
            go(n - 1)

    go(3)
    return total.last * total.factor


def defined_again(x: Any) -> Any:
    def f(n: int) -> Any:
        return x[0] if n == 0 else f(n - 1) * 2.0

    first = [f(1) for _ in range(2)]

    def f(n: int) -> Any:  # type: ignore[no-redef]
        return x[1] if n == 0 else f(n - 1) * 3.0

    return sum(first) + f(1)


def named_arguments(x: Any) -> Any:
    return np.sum(midpoint(pendulum, x[:2], 0.0, 0.1, **PENDULUM))


def by_configuration(x: Any) -> Any:
    step = STEPS[CONFIG["method"]]
    y = x[:2]
    for i in range(3):
        y = step(pendulum, y, i * CONFIG["dt"], CONFIG["dt"], **CONFIG["parameters"])
    return np.sum(y**2) if CONFIG["fast"] else np.sum(y)


def changes_the_configuration(x: Any) -> Any:
    CONFIG["method"] = "euler"
    y = STEPS[CONFIG["method"]](pendulum, x[:2], 0.0, 0.1)
    CONFIG["method"] = "midpoint"
    return np.sum(STEPS[CONFIG["method"]](pendulum, y, 0.0, 0.1))


@pytest.mark.parametrize(
    "f",
    [in_a_generator, of_numbers, in_a_comprehension, named_arguments, by_configuration],
    ids=lambda f: f.__name__,
)
def test_gradients(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)


def cached_results(x: Any) -> Any:
    calls = 0

    @functools.cache
    def cheapest(i: int, j: int) -> Any:
        nonlocal calls
        calls += 1
        if i == 0 or j == 0:
            return x[0] * (i + j + 1)
        return min(cheapest(i - 1, j), cheapest(i, j - 1)) * x[3] + x[2] ** 2

    square = functools.lru_cache(maxsize=None)(lambda v: v * v)
    return cheapest(3, 2) * calls + square(x[1]) * square(x[2]) * square(x[1])


def forgotten_results(x: Any) -> Any:
    @functools.lru_cache(maxsize=2)
    def square(i: int) -> Any:
        return x[i] ** 2

    return square(0) * square(1) * square(2)


def test_a_cache_that_may_forget_is_refused() -> None:
    with pytest.raises(S2SADError, match=r"a cache of limited size(.|\n)*functools\.lru_cache\(maxsize=None\)"):
        grad(forgotten_results)(X)


@pytest.mark.parametrize(
    "f",
    [
        cached_results,
        returns_a_pair,
        sets_a_variable,
        sets_and_returns,
        sets_in_turns,
        sets_attributes,
        creates_an_attribute,
    ],
    ids=lambda f: f.__name__,
)
def test_what_recursion_changes(f: Callable[[Any], Any]) -> None:
    dot = np.array([0.7, -0.3, 0.2, 1.3])
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (dot,))[1], richardson_jvp(f, (X,), (dot,)), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(hvp(f, (X,), (dot,)), richardson_jvp(grad(f), (X,), (dot,)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [defined_again, changes_the_configuration], ids=lambda f: f.__name__)
def test_gradients_are_right_or_refused(f: Callable[[Any], Any]) -> None:
    try:
        found = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)


def test_another_configuration_is_another_program() -> None:
    df = grad(by_configuration)
    for method, fast in (("midpoint", True), ("euler", True), ("euler", False), ("midpoint", True)):
        CONFIG.update(method=method, fast=fast)
        np.testing.assert_allclose(df(X), numeric_gradient(by_configuration, (X,)), rtol=1e-6, atol=1e-9)


def of_unknown_depth(t: Any, a: Any, *, fuel: int = 2) -> Any:
    if fuel <= 0:
        return np.sin(t)
    k = 0
    while k < 2:
        k += 1
        a = np.cos(a * t)
    back = of_unknown_depth(t * a, a + t, fuel=fuel - 1)
    return np.sin(back) + 0.5 * back


def test_a_recursion_that_nothing_known_ends_is_given_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried again from each depth on, a second derivative of it would take minutes."""
    count, run = 0, calls.inlined

    def counted(*args: Any) -> Any:
        nonlocal count
        count += 1
        return run(*args)

    def f(x: Any) -> Any:
        return np.sum(of_unknown_depth(x, x[0] * np.ones(3), fuel=3))

    def g(x: Any) -> Any:
        return np.sum(grad(f)(x) * np.array([1.0, -0.5, 0.2]))

    monkeypatch.setattr(calls, "inlined", counted)
    x = np.array([0.3, 0.4, 0.5])
    with contextlib.suppress(S2SADError):
        np.testing.assert_allclose(grad(g)(x), numeric_gradient(g, (x,)), rtol=1e-7)
    assert count < 300, count
