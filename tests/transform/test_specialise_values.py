"""Constants, defaults, stars, lists and dicts of a program that is specialised."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient
from tests.transform.test_specialise import LOG, X, noted, remains

SCALES = np.array([1.0, 2.0, 3.0])


def applied(f: Any, x: Any, args: Any = (), norm: Any = np.sum, weights: Any = SCALES, **named: Any) -> Any:
    if not isinstance(args, tuple):
        args = (args,)
    return norm(weights * f(x, *args, **named))


def with_defaults_that_exist(x: Any) -> Any:
    return applied(lambda v: v * x[0], x) + applied(lambda v, k: v * k, x, (x[1],))


def without_named(x: Any) -> Any:
    class_of = applied
    return class_of(shifted, x) + class_of(shifted, x, by=x[2])


def shifted(v: Any, by: Any = 0.5) -> Any:
    return v * v + by


def repeated(x: Any, n: int = 2) -> Any:
    steps = [lambda v: v * x[0]] * 3 + [np.sin]
    for step in steps:
        x = step(x)
    return np.sum(x)


def by_number(x: Any) -> Any:
    table = [np.sin, lambda v: v * x[1], np.cos]
    total = 0.0
    for number, f in enumerate(table):
        total = total + np.sum(f(x) * table[number - 1](x))
        if number == len(table) - 1:
            total = total * 2.0
    return total


def decided(x: Any) -> Any:
    def run(v: Any, kind: Any = "plain", times: Any = 2) -> Any:
        if kind not in ("plain", "squared"):
            raise ValueError(kind)
        if isinstance(times, (int, numbers.Number)) and times > 1 and kind in ("squared", noted("a")):
            v = v * v
        return v * times

    return np.sum(run(x) + run(x, "squared") + run(x, kind="squared", times=1.5))


def with_formats(x: Any) -> Any:
    def named(v: Any, digits: int, width: str) -> Any:
        return v * len(f"{1.5:.3f} {2!r:>4}") + len(f"{1.5:{width}}{2.5:.{digits}f}{3.5:{digits}}")

    return np.sum(named(x, 4, ".2f") * x) * len(noted(f"{len(x):03d}"))


PROGRAMS = [
    with_defaults_that_exist, without_named, repeated, by_number, decided, with_formats,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    text, made = remains(f)
    for x in (X, -X, np.array([1.2, 0.1, 0.6])):
        LOG.clear()
        wanted = f(x.copy())
        log = list(LOG)
        LOG.clear()
        assert np.array_equal(made(x.copy()), wanted), text
        assert log == LOG


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    for x in (X, -X, np.array([1.2, 0.1, 0.6])):
        np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, [x]), rtol=1e-6, atol=1e-7)


def test_defaults_are_read_anew() -> None:
    def loss(x: Any) -> Any:
        return applied(lambda v: v * v, x)

    assert np.allclose(grad(loss)(X), 2 * X * SCALES)
    before = applied.__defaults__
    try:
        applied.__defaults__ = ((), np.sum, 2 * SCALES)
        assert np.allclose(grad(loss)(X), 4 * X * SCALES)
    finally:
        applied.__defaults__ = before
