"""Arrays that are None until something is known, and are written in place afterwards."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import function_of

X = np.array([0.7, 1.3, 0.4])
DOT = np.array([1.0, -0.5, 0.3])
WRITERS = (
    "acc += v",
    "acc *= v",
    "acc[1:] = v[1:] * x[0]",
    "acc = changed(acc, v)",
    "acc -= v * acc",
)
WAYS = {
    "loop": """
        acc = None
        for k in range(3):
            v = np.sin(x * (k + 1))
            if acc is None:
                acc = v.copy()
            else:
                {writer}
        result = acc
    """,
    "begun again": """
        acc, last = None, None
        for k in range(4):
            v = np.sin(x * (k + 1))
            if k == 2:
                last, acc = acc, None
            if acc is None:
                acc = np.zeros(3) + x
            {writer}
            if last is not None:
                last *= v
        result = acc + last
    """,
    "branch": """
        acc = None
        v = np.cos(x)
        if x[1] > 1.0:
            acc = x ** 2
        if acc is not None:
            {writer}
        result = v if acc is None else acc
    """,
    "other branch": """
        acc = None
        v = np.cos(x)
        if x[1] > 2.0:
            acc = x ** 2
        if acc is not None:
            {writer}
        result = v if acc is None else acc
    """,
    "raised": """
        acc, v = None, np.cos(x)
        for k in range(2):
            try:
                acc *= 2.0
                {writer}
            except TypeError:
                acc = v * x
        result = acc
    """,
    "callee": """
        acc, v = None, np.cos(x)
        for k in range(3):
            acc = begun(acc, v * k)
            {writer}
        result = acc
    """,
    "attribute": """
        held, v = Held(), np.cos(x)
        for k in range(3):
            if held.acc is None:
                held.acc = np.zeros_like(x)
            acc = held.acc
            acc += x
            {writer}
        result = held.acc
    """,
}
TEXT = """
class Held:
    def __init__(self):
        self.acc = None


def changed(acc, v):
    acc[0] += v[1] * acc[2]
    return acc


def begun(acc, v):
    if acc is None:
        acc = np.ones(3)
    acc += v
    return acc


def f(x):
    {body}
    return np.sum(result ** 2 * x)
"""


@pytest.mark.parametrize(("way", "writer"), list(itertools.product(WAYS, WRITERS)))
def test_none_or_array(way: str, writer: str) -> None:
    body = "\n".join(line[4:] for line in WAYS[way].format(writer=writer).splitlines()).strip()
    f = function_of(TEXT.format(body=body))
    value, gradient = value_and_grad(f)(X)
    want = numeric_gradient(f, [X])
    assert value == f(X)
    np.testing.assert_allclose(gradient, want, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (DOT,))[1], want @ DOT, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("writer", ["acc += x", "acc[0] = x[1]"])
def test_none_is_not_written(writer: str) -> None:
    f = function_of(
        f"def f(x):\n    acc = None\n    if x[0] > 1:\n        acc = x * x\n    {writer}\n    return np.sum(acc)"
    )
    with pytest.raises(TypeError, match="NoneType"):
        grad(f)(X)


SCALARS = (
    "np.isscalar(h)",
    "np.ndim(h) == 0",
    "not hasattr(h, '__len__')",
    "not isinstance(h, np.ndarray)",
)


@pytest.mark.parametrize("test", SCALARS)
@pytest.mark.parametrize(
    "result", ["if scalar:\n        return out[0]\n    return out", "return out.item() if scalar else out"]
)
def test_numbers_as_well_as_arrays(test: str, result: str) -> None:
    """What gives back a number for a number, by a test that has a name."""
    text = f"""
def c(h):
    scalar = {test}
    h = np.atleast_1d(h)
    out = np.empty_like(h)
    low = h < 1.0
    out[low] = h[low] ** 2
    out[~low] = np.exp(-h[~low])
    {result}


def f(x):
    return c(x[0]) * np.sum(c(x)) * c(float(x[1]))
"""
    f: Any = function_of(text)
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    want = numeric_gradient(f, [X])
    np.testing.assert_allclose(gradient, want, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (DOT,))[1], want @ DOT, rtol=1e-7)


def of_a_tuple(x: Any) -> Any:
    """A tuple that is None at first is no array, of which that could be demanded."""
    rows = [[v, v, v] for v in x]
    rows[-2][1:] = [v * x[1] for v in rows[-2][1:]]
    best = None
    for row in rows:
        if best is None or row[0] > best[0]:
            best = (row[0], row[-1])
    return best[0] * best[1]


def test_what_is_else_a_tuple() -> None:
    np.testing.assert_allclose(grad(of_a_tuple)(X), numeric_gradient(of_a_tuple, [X]), rtol=1e-7, atol=1e-10)
