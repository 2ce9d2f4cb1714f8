"""Arrays that a call without derivative returns in a tuple, beside something of which little is known, and written.

Each part that shares nothing with the others is an array of its own; parts that may be one object are written as one.
"""

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import function_of

BESIDE = {
    "objects": "np.array([[None] * n]).T",
    "a list of lists": "[[1.0], [2.0]]",
    "a text": "str(n)",
    "a function": "np.linalg.inv",
}
#: The second array, and whether it may share memory with the first.
SECOND = {"its own": "np.ones((n, n))", "the first": "a", "a view": "a[:1]", "a copy": "a.copy()"}
WRITES = {"scaled": "a *= p[0]", "stored": "a[0] = p", "both": "a[0] = p\n    b *= p[1]", "second": "b[0] = p * p"}

TEXT = """
def made(n):
    if n < 1:
        raise ValueError("n")
    a = np.eye(n) * 3.0
    return {parts}


def loss(p):
    a, beside, b = made(2)
    {write}
    return np.sum(a**2 * b[:1]) + np.sum(b)
"""


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("beside", BESIDE)
def test_gradients_are_right_or_refused(beside, second, write):
    parts = f"a, {BESIDE[beside]}, {SECOND[second]}"
    loss, p = function_of(TEXT.format(parts=parts, write=WRITES[write]), name="loss"), np.array([0.7, -1.2])
    try:
        found = grad(loss)(p)
    except S2SADError:
        assert second in ("the first", "a view")
        return
    np.testing.assert_allclose(found, numeric_gradient(loss, (p,)), rtol=1e-6, atol=1e-8)
