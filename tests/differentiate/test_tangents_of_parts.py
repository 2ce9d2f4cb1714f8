"""Tangents of several parts of an array that are written in place, where the types do not say that it is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import jvp
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
