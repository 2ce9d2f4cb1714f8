"""Forward mode through calls that are tried: the tangents of their arguments, and second order through them."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.errors import S2SADError
from s2sad.pushforwards import pushforward
from tests.oracle import richardson_jvp
from tests.random_objects import load
from tests.sources import names_of

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


def computed_in_the_same_try(x: Any) -> Any:
    a = x * 1.0
    for i in range(3):
        try:
            y = a * x[i]
            a = product(y, x[0])
        except ValueError:
            a = x
    return np.sum(a)


def written_copy(x: Any) -> Any:
    a = x * 1.0
    try:
        a = rebound(a, x[2])
        raise ValueError
    except ValueError:
        r = 0.1 * x[0]
    return r + np.sum(np.tanh(a) * x)


@pytest.mark.parametrize("f", [item_as_argument, row_as_argument, computed_in_the_same_try])
def test_an_item_is_given_to_a_call_that_is_tried(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, (X,), (D,)), rtol=1e-8)


@pytest.mark.parametrize("f", [item_as_argument, row_as_argument, written_copy])
def test_second_order(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(hvp(f, (X,), (D,)), richardson_jvp(grad(f), (X,), (D,)), rtol=1e-7)


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
    "y[i] *= {0: 2.0, 2: 3.0}[i] * np.sin(y[i])",
    "y[1:] *= {0: 2.0, 2: x[1:]}[i]",
    "y *= {0: 2.0, 2: x}[i]",
    "y /= {0: 2.0, 2: x}[i] * y",
    "y[:2] **= [2.0, 3.0][i]",
    "m[i] *= x",
    "m *= m[i]",
    "v *= [v, y[1:]][i]",
    "np.multiply(y, [x, y, x * y][i], out=y)",
    "np.sin(y, out=y)\ny[i] *= x[1]",
    "np.copyto(y[:2], v * x[i])",
    "y.fill(x[i])",
    "np.add(x, y, out=m[i])",
    "q.append(x[i] * q[i])",
    "q[i] = x[i] * q[0]",
    "q[i] *= x[i]",
    "q += [x[i]]",
    "r[i] *= x[i]\nr[i] += r[0]",
    "y[[0, i]] *= x[1]",
    "y[y > i] = x[i]",
    "np.putmask(y, y > x[i], x)",
    "d['a'] *= x[i]",
    "d[i] = x[i] * d['a']",
    "y -= v[i]",
    "m.T[i] *= v[0]",
    "m[i] -= m[0, 0] * m[i]",
    "y = y * x[i]\ny[0] *= x[1]",
    "y[0] *= x[1]\ny = y * y[i]",
    "z = y[i] * x\nz *= x[i]\ny[1:] = z[1:]",
    "z = y * x\nscale(y, 0.5)\ns = s + np.sum(z * z)",
    "z = v[0]\nscale(y, s)\ns = s + z * np.sum(v)",
    "s = s + np.sum(y) * scale(y, 0.5) * np.sum(y)",
    "z = m[0] * y\nscale(m, 0.5)\ny[:] = z * m[0]",
    "z = r[0] * x\nscale(r[0], s)\ns = s + np.sum(z) * r[0][2]",
]
HANDLED = ["pass", "y[0] = x[0]", "y = y * 2.0", "break"]
LOOP = """import numpy as np
def scale(q, t):
    q *= t
    return q[0]

def f(x):
    y, m, s = x * 1.0, np.outer(x, x), 0.0
    v, q, r, d = y[1:], [x[0], x[1]], [x * 1.0, x * 2.0], {{"a": x[2]}}
    for i in range(4):
        try:
{tried}
        except LookupError:
            {handled}
        s = s + np.sum(y * y)
    return s + np.sum(y ** 3) + np.sum(m * m) + np.sum(v) + sum(q) ** 2 + np.sum(r[0]) * np.sum(r[1] ** 2) + d["a"]
"""


@pytest.mark.parametrize("number", range(len(WRITTEN)))
def test_writes_that_are_tried(number: int) -> None:
    """What is tried is written before its tangent, which reads what was there before from a copy."""
    tried = textwrap.indent(WRITTEN[number], " " * 12)
    f = load(f"tried_{number}", LOOP.format(tried=tried, handled=HANDLED[number % 4]))["f"]
    value, tangent = jvp(f, (X,), (D,))
    assert value == f(X)
    assert tangent == pytest.approx(richardson_jvp(f, (X,), (D,)), rel=1e-7)


ESCAPING = """
import numpy as np

def f(x):
    m = x * 1.0
    r = 0.0
    for j in range(2):
        try:
            for i in range(3):
                {write}
                {jump}
            else:
                m[0] *= 1.5
        except ValueError:
            r = r + x[j]
        r = r * 0.9 + m[j]
    return np.sum(m * x) * r
"""


@pytest.mark.parametrize("write", ["m[i] *= x[1]", "m = m * x[i]", "r = r + m[i] * x[0]"])
@pytest.mark.parametrize(
    "jump",
    ["break", "if m[i] > 0.7: break", "if j == i:\n                    m[2] *= x[0]\n                    break"],
)
def test_a_loop_that_is_tried_is_left_after_the_tangents(write: str, jump: str) -> None:
    f = load(f"escaping_{write}_{jump[:4]}", ESCAPING.format(write=write, jump=jump))["f"]
    value, tangent = jvp(f, (X,), (D,))
    assert value == f(X)
    assert tangent == pytest.approx(richardson_jvp(f, (X,), (D,)), rel=1e-7)


def changes(t: Any, y: Any) -> None:
    t[0] += y


def item_of_a_tuple(x: Any, t: Any, y: Any) -> Any:
    with contextlib.suppress(TypeError):
        t[0] += y * x[0]
    return t[0][-1] * x[1]


def item_of_a_tuple_in_a_callee(x: Any, t: Any, y: Any) -> Any:
    t = (x * 1.0, 2.0)
    with contextlib.suppress(TypeError):
        changes(t, y * x)
    return np.sum(t[0] * x)


def item_of_a_list_or_tuple(x: Any, t: Any, y: Any) -> Any:
    for u in ((x * 1.0,), [x * 2.0], t):
        try:
            u[0] *= x
        except TypeError:
            x = x * u[0]
    return np.sum(x)


@pytest.mark.parametrize("f", [item_of_a_tuple, item_of_a_tuple_in_a_callee, item_of_a_list_or_tuple])
@pytest.mark.parametrize("t", [(X * 1.0,), ([1.0, 2.0],)])
def test_the_item_of_a_tuple_that_changes_before_the_assignment_raises(f: Any, t: Any) -> None:
    y = np.ones(3) if isinstance(t[0], np.ndarray) or f is not item_of_a_tuple else np.ones(1)
    with pytest.raises(S2SADError, match="item of a tuple is changed in place"):
        jvp(f, (X, t, y), (D, None, None))


def test_the_number_in_a_tuple_that_is_not_replaced() -> None:
    def f(x: Any) -> Any:
        t = (x[0], x * 1.0)
        try:
            t[0] += x[1]
        except TypeError:
            return t[0] * x[2]
        return 0.0

    assert jvp(f, (X,), (D,))[1] == pytest.approx(richardson_jvp(f, (X,), (D,)), rel=1e-7)


def test_the_item_of_a_tuple_that_has_a_name() -> None:
    """What the error says helps."""

    def f(x: Any) -> Any:
        t = (x * 1.0, 2.0)
        a = t[0]
        a += x * x
        return np.sum(t[0] * x)

    assert jvp(f, (X,), (D,))[1] == pytest.approx(richardson_jvp(f, (X,), (D,)), rel=1e-7)


def test_text_of_a_write_that_is_tried() -> None:
    """No more than the part that is written is kept."""

    def f(x: Any, v: Any) -> Any:
        y = x * 1.0
        try:
            y[:2] *= v
        except ValueError:
            y[0] = 0.0
        return y

    text = pushforward(f, 1).compiled((X, X[:2]), (0,)).compiled.text
    assert text.count(".copy()") == text.count("y[:2].copy()") == 1, text


PART_STORES = (
    "w.real = s",
    "w.real = 0.3",
    "c.imag = s",
    "w.T[0] = s",
    "w[1:].real = s",
    "w.flat[0] = s",
    "np.add(w, s, out=w)",
)
IN_TRY = "try:\n        {}\n        {}\n    except ValueError:\n        pass"
RAISED_AFTER = {
    "suppressed": "with contextlib.suppress(ValueError):\n        {}\n        raise ValueError",
    "handled": IN_TRY.format("{}", "raise ValueError"),
    "maybe": IN_TRY.format("{}", "if x[0] > 0.0: raise ValueError"),
    "in a loop": "for _ in range(2):\n        " + IN_TRY.replace("\n", "\n    ").format("{}", "fail(x)"),
}


@pytest.mark.parametrize("tried", RAISED_AFTER)
def test_stores_before_what_raises(tried: str) -> None:
    x, dot = np.array([0.3, 0.5, -1.2]), np.array([1.0, 2.0, -0.5])
    for store in PART_STORES:
        f = names_of(
            "import contextlib\nimport numpy as np\n\ndef fail(x):\n    if x[0] > 0.0:\n        raise ValueError\n\n"
            f"def f(x):\n    s, w, c = x[0] * x[1], x * 1.0, x * 1j\n    {RAISED_AFTER[tried].format(store)}\n"
            "    return np.sum(w * w * x) + np.sum(c.imag ** 3)"
        )["f"]
        found = jvp(f, (x,), (dot,))
        np.testing.assert_allclose(found, (f(x), richardson_jvp(f, (x,), (dot,))), rtol=1e-7, err_msg=store)
