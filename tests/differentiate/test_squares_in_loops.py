"""Squares, in loops and branches, of roots and absolute values that are made before: they are one operation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

X, D = np.array([-0.624, -0.35, 0.5]), np.array([0.3, -0.2, 0.5])
ROOTS = {
    "modulus": "np.abs(x)",
    "root": "np.sqrt(np.exp(x))",
    "norm": "np.linalg.norm(x)",
    "hypot": "np.hypot(x, 2.0)",
    "deviation": "np.std(x)",
    "half": "np.exp(x) ** 0.5",
    "of a number": "math.sqrt(x[0] ** 2 + 1.0)",
}
USES = {
    "sum": "for i in range(3):\n        s = s + i * w ** 2",
    "product": "for i in range(3):\n        s = s * 0.5 + w * w",
    "scaled": "for i in range(2):\n        s = s + 3.0 * w * w",
    "last": "for i in range(2):\n        s = w ** 2",
    "while": "k = 0\n    while k < 2:\n        s = s + np.square(w)\n        k += 1",
    "branch": "if x[0] < 0:\n        s = w ** 2",
    "branch in a loop": "for i in range(2):\n        if i:\n            s = s + w ** 2",
    "two loops": "for i in range(2):\n        for j in range(2):\n            s = s + j * w ** 2",
    "a root of the outer loop": (
        "for i in range(2):\n        v = np.sqrt(np.exp(x) + i)\n"
        "        for j in range(2):\n            s = s + j * v ** 2 + w * v"
    ),
    "comprehension": "s = sum([w ** 2 * i for i in range(3)])",
    "softplus": "for i in range(2):\n        s = s + np.log1p(np.exp(-w)) * i",
}


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_they_have_the_adjoint_of_what_the_root_is_of(use: str, root: str) -> None:
    f: Any = function_of(f"def f(x):\n    w = {root}\n    s = 0.0\n    {use}\n    return np.sum(s)\n", {"math": math})
    want = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), want, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], want @ D, rtol=1e-7, atol=1e-9)
    along = numeric_gradient(lambda x: jvp(f, (x,), (D,))[1], (X,))
    np.testing.assert_allclose(hvp(f, (X,), (D,)), along, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(grad(lambda x: grad(f)(x) @ D)(X), along, rtol=1e-6, atol=1e-8)
