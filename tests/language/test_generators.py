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
