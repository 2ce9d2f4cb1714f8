"""What is computed from an array that may be one of objects, by a dtype that is computed, has a shape of its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

MADE = {
    "astype": "v = x * 2.0\n    if v.dtype.kind == 'O':\n        dtype = 'O'\n    q = v.astype(dtype)",
    "array": "if len(x) > 7:\n        dtype = object\n    q = np.array(x, dtype=dtype)",
    "list": "q = np.array([x[0], x[1] * x[2], 1.5], dtype=dtype if len(x) < 7 else object)",
}
OPERATIONS = (
    "np.sum(q)", "q.sum()", "q.mean()", "np.max(q)", "np.dot(q, q)", "q @ q[::-1]", "np.linalg.norm(q)", "q[0]",
    "q[1:2]", "q[:, None]", "q.reshape(3, 1)", "np.outer(q, q)", "np.stack([q, q])", "np.concatenate([q, q])[2:5]",
    "np.expand_dims(q, 1)", "np.cumsum(q)[-1]", "np.where(q > 0.0, q, 1.0)[:1]", "np.clip(np.dot(q, q), 0.0, 9.0)",
    "float(np.sum(q))", "np.tile(q, (2, 1))", "q.T.max()", "np.prod(q, keepdims=True)",
)  # fmt: skip


@pytest.mark.parametrize(("made", "operation"), [*itertools.product(MADE, OPERATIONS)])
def test_results_have_their_own_shape(made: str, operation: str) -> None:
    f = function_of(f"""
def made(x, dtype=np.float64):
    {MADE[made]}
    return q

def f(x):
    q = made(x)
    d = {operation}
    return np.sum((q - d * np.sin(q)) ** 2) + np.sum(d)
""")
    x = np.array([0.4, 0.7, 1.1])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (x,), (np.cos(x),))[1], expected @ np.cos(x), rtol=1e-7)
