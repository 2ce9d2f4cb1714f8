"""Arrays that one statement gives several names, or whose rows it gives names, and that are written then."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.5, 1.2, -0.7])
DOT = np.array([0.3, -0.8, 0.55])

BOUND = {
    "a = b = np.zeros(3)": "made",
    "a = b = x * 2.0": "computed",
    "a = b = made(3)": "of_a_function",
    "a = b = c": "of_a_name",
    "a = b = c[::-1]": "of_a_view",
    "a = b = rows[0] = c * 2.0": "and_stored",
    "a = (b := c + 1.0)": "by_an_expression",
    "a, b = np.zeros((2, 3))": "rows",
    "a, b = c.reshape(1, 3) * np.ones((2, 1))": "computed_rows",
    "a, b = pair = np.outer(x[:2], x)": "rows_and_the_whole",
    "(a, b), c = np.ones((2, 3)), x * 1.0": "rows_in_a_tuple",
}
WRITTEN = {
    "a[0] = x[0] * x[1]": "first",
    "b[1] = x[2] ** 2\n    a *= x[0]": "each",
    "b += a * x": "one_from_the_other",
    "for i in range(3):\n        a[i] = b[i - 1] * x[i] + 0.5": "in_a_loop",
    "if x[0] > 0.0:\n        b[:] = x * x": "in_a_branch",
    "put(a, x[1])\n    put(b[1:], x[2])": "by_a_function",
}
PROGRAM = """def {name}(x):
    c, rows = x * 1.5, np.zeros((2, 3))
    {bound}
    y = a * x
    {written}
    return np.sum(a * y) + np.sum(b * b * x) + np.sum(c * x) + np.sum(rows)
"""


def made(n: int) -> Any:
    return np.ones(n)


def put(out: Any, v: Any) -> None:
    out[0] = v * out[1]


def function(bound: str, written: str) -> Any:
    name = f"{BOUND[bound]}_{WRITTEN[written]}"
    text = PROGRAM.format(name=name, bound=bound, written=written)
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "made": made, "put": put}
    exec(compile(text, file, "exec"), space)
    return space[name]


PROGRAMS = list(itertools.starmap(function, itertools.product(BOUND, WRITTEN)))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Any) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (DOT,))[1], np.sum(expected * DOT), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS[:: len(WRITTEN) + 1], ids=lambda f: f.__name__)
def test_product_with_the_hessian(f: Any) -> None:
    np.testing.assert_allclose(hvp(f, (X,), (DOT,)), richardson_jvp(grad(f), (X,), (DOT,)), rtol=1e-6, atol=1e-8)


def rows(x: Any) -> Any:
    a, b = np.zeros((2, 3))
    a[0] = x[0]
    b[1] = x[1] * a[0]
    return np.sum(b * b)


def test_the_adjoints_of_rows_are_made_like_the_rows() -> None:
    assert "    a_bar, b_bar = np.zeros((2, 3))" in grad(rows).source_for(X)
