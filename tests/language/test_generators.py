"""Generators that are consumed at once: the program is the one that Python runs, or is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from tests.language import generators
from tests.oracle import numeric_gradient


@pytest.mark.parametrize("program", generators.RIGHT, ids=lambda p: p.__name__)
@pytest.mark.parametrize("x", [0.8, 1.3])
def test_right(program: Callable[[Any], Any], x: float) -> None:
    value, gradient = value_and_grad(program)(x)
    expected = numeric_gradient(program, [x])
    assert value == program(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(program, (x,), (1.0,))[1], expected, rtol=1e-7)


@pytest.mark.parametrize("program", generators.REFUSED, ids=lambda p: p.__name__)
def test_refused(program: Callable[[Any], Any]) -> None:
    with pytest.raises(S2SADError):
        grad(program)(0.8)


def _telling(x: float) -> Any:
    for i in range(2):
        print("yield", i)
        yield x * i
    print("end")


def _in_order(x: float) -> Any:
    made = _telling(x)
    print("made")
    t = 0.0
    for y in made:
        print("round")
        t += y
    return t


def test_order_of_effects(capsys: pytest.CaptureFixture[str]) -> None:
    """The body of a generator runs when it is run through, item by item."""
    _in_order(2.0)
    expected = capsys.readouterr().out
    assert value_and_grad(_in_order)(2.0) == (2.0, 1.0)
    assert capsys.readouterr().out == expected


SCALE, OFFSETS = 5.0, np.array([2.5, 3.5])


def of_another_module(x: float) -> Any:
    total = SCALE * OFFSETS[1]
    for a, b in generators.scaled(x, 3):
        total = total + a * b * SCALE
    return total


def of_another_that_runs_another(x: float) -> Any:
    return sum(a * b for a, b in generators.inner_and_outer(x, 3))


def first_of_one_loop(x: float) -> Any:
    a, b = next(generators.scaled(x, 3))
    return a * b


def first_or_default(x: float) -> Any:
    a, b = next(generators.scaled(x, 3), (x, x))
    c, d = next(generators.scaled(x, 0), (x, x * x))
    return a * b * c + d


FIRST = [of_another_module, of_another_that_runs_another, first_of_one_loop, first_or_default]


@pytest.mark.parametrize("program", FIRST, ids=lambda p: p.__name__)
def test_generators_of_another_module_and_their_first_items(program: Callable[[Any], Any]) -> None:
    test_right(program, 0.8)


def test_variables_of_another_module_are_read_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = grad(of_another_module)
    gradient(0.8)
    monkeypatch.setattr(generators, "SCALE", 7.0)
    monkeypatch.setattr(generators, "OFFSETS", np.array([1.0, 2.0]))
    np.testing.assert_allclose(gradient(0.8), numeric_gradient(of_another_module, [0.8]), rtol=1e-7)


def test_the_first_item_of_none() -> None:
    def f(x: float) -> Any:
        return next(generators.steps(x, 0))

    with pytest.raises(StopIteration):
        grad(f)(0.8)


def test_an_item_after_the_first() -> None:
    def f(x: float) -> Any:
        made = generators.steps(x, 3)
        return next(made) * next(made)

    with pytest.raises(S2SADError):
        grad(f)(0.8)
