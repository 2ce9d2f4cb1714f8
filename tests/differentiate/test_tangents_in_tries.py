"""Forward mode through calls that are tried: the tangents of their arguments, and second order through them."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import richardson_jvp
from tests.random_objects import load

X = np.array([0.5, 1.2, -0.7])
D = np.array([1.0, -0.5, 0.25])


def product(q: Any, t: Any) -> Any:
    if t > 10.0:
        raise ValueError
    return q * t


def rebound(q: Any, t: Any) -> Any:
    q = q + t
    q[0] = 0.3
    return q


def item_as_argument(x: Any) -> Any:
    a = x * 1.0
    s = 0.0
    for i in range(3):
        try:
            a = product(a, x[i])
        except ValueError:
            s = s + 1.0
        s = s + np.sum(a * a)
    return s


def row_as_argument(x: Any) -> Any:
    m = np.outer(x, x)
    s = 0.0
    for i in range(3):
        try:
            a = product(m[i], x[0])
        except ValueError:
            a = x
        s = s + np.sum(a * x)
    return s


def written_copy(x: Any) -> Any:
    a = x * 1.0
    try:
        a = rebound(a, x[2])
        raise ValueError
    except ValueError:
        r = 0.1 * x[0]
    return r + np.sum(np.tanh(a) * x)


@pytest.mark.parametrize("f", [item_as_argument, row_as_argument])
def test_an_item_is_given_to_a_call_that_is_tried(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, (X,), (D,)), rtol=1e-8)


@pytest.mark.parametrize("f", [item_as_argument, row_as_argument, written_copy])
def test_second_order(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(hvp(f, (X,), (D,)), richardson_jvp(grad(f), (X,), (D,)), rtol=1e-7)


def test_what_is_computed_for_a_call_in_the_same_try_is_refused() -> None:
    def f(x: Any) -> Any:
        a = x * 1.0
        for i in range(3):
            try:
                y = a * x[i]
                a = product(y, x[0])
            except ValueError:
                a = x
        return np.sum(a)

    def computed_before(x: Any) -> Any:
        a = x * 1.0
        for i in range(3):
            y = a * x[i]
            try:
                a = product(y, x[0])
            except ValueError:
                a = x
        return np.sum(a)

    with pytest.raises(UnsupportedError, match=r"a call is tried here after what it is given .*\n.*\n.*\nCompute"):
        jvp(f, (X,), (D,))
    expected = richardson_jvp(computed_before, (X,), (D,))
    np.testing.assert_allclose(jvp(computed_before, (X,), (D,))[1], expected, rtol=1e-8)


#: What is tried in each turn; some of them raise, or need what they write as it was.
WRITTEN = [
    "y[i] = x[i] ** 2",
    "y[i] = y[i] * y[i - 1]",
    "y[i] += x[i] * y[0]",
    "y[0] = x[i] * y[0]\ny[1] = y[0] * y[1]",
    "y[:2] = y[1:] * y[:2]",
    "y[i:] = [x[0], 1.0, 2.0][i] * x[i:]",
    "m[i] = m[i] * x",
    "v[0] = y[0] * v[0]",
    "y[i] = {0: 2.0, 2: 3.0}[i] * np.sin(y[i])",
]
HANDLED = ["pass", "y[0] = x[0]", "y = y * 2.0", "break"]
REFUSED = {4: "parts of which forward mode needs as they were", 6: "parts of which"}
LOOP = """    for i in range({turns}):
        try:
{tried}
        except LookupError:
            {handled}
        s = s + np.sum(y * y)
    return s + np.sum(y ** 3) + np.sum(m * m) + np.sum(v)
"""
MADE = "import numpy as np\ndef f(x):\n    y, m, s = x * 1.0, np.outer(x, x), 0.0\n    v = y[1:]\n"


@pytest.mark.parametrize("number", range(len(WRITTEN)))
def test_stores_that_are_tried(number: int) -> None:
    """What is tried is written before its tangent, which is right, or refused where it needs what was there before."""
    tried = textwrap.indent(WRITTEN[number], " " * 12)
    for handled, turns in itertools.product(HANDLED, (1, 4)):
        f = load(f"tried_{number}", MADE + LOOP.format(tried=tried, handled=handled, turns=turns))["f"]
        if number in REFUSED:
            with pytest.raises(UnsupportedError, match=REFUSED[number]):
                jvp(f, (X,), (D,))
            continue
        value, tangent = jvp(f, (X,), (D,))
        assert value == f(X)
        assert tangent == pytest.approx(richardson_jvp(f, (X,), (D,)), rel=1e-7)
