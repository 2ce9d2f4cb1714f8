"""Texts that ``+=`` makes longer by what is differentiated: they carry no derivative."""
# ruff: noqa: UP031, UP032

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import jvp
from s2sad.errors import S2SADError
from tests.language.support import case, check_gradient, check_primal
from tests.oracle import richardson_jvp
from tests.sources import function_of

V = np.array([0.7, 1.3])
SAID: list[str] = []
LABEL = "step "


def by_percent(x: Any) -> Any:
    line = "step %d" % 3
    line += " cost %.2f" % x[0]
    SAID.append(line)
    return x[0] ** 2 * x[1]


def by_format(x: Any) -> Any:
    line = "cost"
    line += " {}".format(x[0])
    print(line)
    return x[0] ** 2 * x[1]


def in_a_loop(x: Any) -> Any:
    line, y = LABEL, x[0]
    line += ""
    for i in range(3):
        y = y * x[1]
        line += f" {i}: {y}" if i % 2 else ", " + str(y)
        if y > 0.5:
            line += "!"
    print(line.strip())
    return y


def in_a_helper(x: Any) -> Any:
    def show(i: int, cost: Any) -> None:
        text = "round %d" % i
        if cost:
            text += " | cost %.2f" % cost
        print(text.upper())

    y = x[0]
    for i in range(3):
        y = y * x[1]
        show(i, y)
    return y


def of_its_own_text(x: Any) -> Any:
    text = "%.3f" % x[1]
    other = text.rjust(12)
    other += text
    return x[0] * len(other)


@pytest.mark.parametrize(
    "f", [by_percent, by_format, in_a_loop, in_a_helper, of_its_own_text], ids=lambda f: f.__name__
)
def test_a_text_grows_by_what_is_differentiated(f: Any, capsys: pytest.CaptureFixture[str]) -> None:
    check_primal(case(f, V))
    check_gradient(case(f, V))
    along = np.array([0.3, -1.0])
    capsys.readouterr()
    f(V)
    said = capsys.readouterr().out
    value, dot = jvp(f, (V,), (along,))
    assert capsys.readouterr().out == said
    assert value == f(V)
    np.testing.assert_allclose(dot, richardson_jvp(f, (V,), (along,)), rtol=1e-8)


OTHERS = [
    """
    def f(x, parts):
        parts += "ab"
        return x[0] * len(parts)
    """,
    """
    def f(x, parts):
        text = parts
        text += "ab"
        return x[0] * len(parts) * len(text)
    """,
    """
    def f(x, parts):
        for text in (parts,):
            text += "ab"
        return x[0] * len(parts) * len(text)
    """,
]


@pytest.mark.parametrize("text", OTHERS)
def test_a_list_takes_over_the_letters_of_a_text(text: str) -> None:
    f = function_of(text)
    try:
        value, dot = jvp(f, (V, ["c"]), (np.array([1.0, 0.0]), None))
    except S2SADError:
        return
    assert value == f(V, ["c"])
    np.testing.assert_allclose(dot, value / V[0], rtol=1e-12)
