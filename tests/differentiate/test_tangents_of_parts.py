"""Tangents of several parts of an array that are written in place, where the types do not say that it is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import richardson_jvp
from tests.random_objects import load

X = np.array([0.5, 1.2, -0.7, 0.3])
D = np.array([1.0, -0.5, 0.25, 0.4])
#: What gives several parts of ``a``, which is a number at first.
PARTS = [
    "np.split(a, 2)",
    "np.array_split(a, 2)",
    "np.hsplit(a, 2)",
    "np.vsplit(a.reshape(2, 2), 2)",
    "np.split(a, [2])",
    "np.atleast_1d(a, a)",
    "np.unstack(a.reshape(2, 2))",
    "np.broadcast_arrays(a, 1.0)",
    "(a[:2], a[2:])",
    "[a, a[::-1]]",
    "a.reshape(2, 2)",
    "list(a.reshape(2, 2))",
]
TEXT = """import numpy as np
def f(x):
    a = np.mean(x)
    for _ in range(2):
        a = x / (1.5 + a ** 2)
    parts = {parts}
    p, q = parts
    p[...] *= {factor}
    p[0] += x[1]
    return np.sum(np.sin(a)) + np.sum(np.cos(q)) + np.sum(parts[0] ** 2)
"""


@pytest.mark.parametrize("factor", ["q", "x[0]"])
@pytest.mark.parametrize("parts", PARTS)
def test_parts(parts: str, factor: str) -> None:
    f: Any = load("parts", TEXT.format(parts=parts, factor=factor))["f"]
    value, tangent = jvp(f, (X,), (D,))
    assert value == f(X)
    np.testing.assert_allclose(tangent, richardson_jvp(f, (X,), (D,)), rtol=1e-8)


def test_unbuffered_sums() -> None:
    """What is computed of a tangent is computed again after ``np.add.at`` has written into that."""

    def f(x: Any) -> Any:
        y = x * np.mean(x)
        np.add.at(y, [0, 1, 1], np.cos(np.mean(y)))
        return np.sum(np.sin(y) * np.mean(y))

    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, (X,), (D,)), rtol=1e-8)


@pytest.mark.parametrize("then", ["r *= q", "q *= 2.0", "t[1][0] *= 3.0"])
@pytest.mark.parametrize("operand", ["x", "y", "y[::-1]"])
@pytest.mark.parametrize("parts", ["np.divmod({}, 0.47)", "np.divmod({}, np.full((2, 4), 0.47))", "np.modf({})"])
def test_results_with_the_tangent_of_an_operand(parts: str, operand: str, then: str) -> None:
    """The tangent of a remainder is that of the dividend: a write into one is not in the other."""
    body = f"    t = {parts.format(operand)}\n    q, r = t\n    {then}\n    y += x\n"
    result = "    return np.sum(np.sin(y) * x) + np.sum(q * x), r * x\n"
    f: Any = load("parts", f"import numpy as np\ndef f(x):\n    y = 3 * x\n{body}{result}")["f"]
    dot = D.copy()
    _, tangent = jvp(f, (X,), (dot,))
    expected = richardson_jvp(f, (X,), (D,), step=1e-3)
    for found, right in zip(tangent, expected, strict=True):
        assert np.shape(found) == np.shape(right)
        np.testing.assert_allclose(found, right, rtol=1e-7)
    np.testing.assert_array_equal(dot, D)
    gradient = grad(f, has_aux=True)
    np.testing.assert_allclose(jvp(gradient, (X,), (D,))[1][0], richardson_jvp(gradient, (X,), (D,), step=1e-3)[0])


@pytest.mark.parametrize(
    ("parts", "part"),
    [
        ("np.linalg.svd(m)", "t[1]"),
        ("np.linalg.eigh(m + m.T)", "t.eigenvalues"),
        ("np.linalg.qr(m)", "t.R"),
        ("np.linalg.lstsq(m, x, rcond=None)", "t[0]"),
    ],
)
def test_results_of_factorisations_are_written(parts: str, part: str) -> None:
    body = f"    t = {parts}\n    r = {part}\n    r *= x\n    r[0] += x[1]\n    return r * {part}\n"
    head = "import numpy as np\ndef f(x):\n    m = np.outer(x, x) + np.diag([1.0, 2.0, 3.0, 4.0])\n"
    f: Any = load("parts", head + body)["f"]
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, (X,), (D,)), rtol=1e-7, atol=1e-9)
