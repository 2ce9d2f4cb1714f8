"""Arrays that are made of lists of numbers, and written in place: by the function that makes them, and its caller."""

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient
from tests.sources import function_of

MAKING = {
    "a star": "np.array([0.5, *q])",
    "a list": "np.array(list(q))",
    "a sum of lists": "np.array(list(q) + [0.5])",
    "either": "np.array([0.5, *q]) if len(q) == 3 else np.array(q)",
    "without axes": "np.array(q.sum())",
}
WRITES = {
    "divided": "a /= np.linalg.norm(a) + 1.0",
    "an element": "a[...] = a * q[0]",
    "twice": "a *= q[1]\n    a -= 2.0",
}
TEXT = """
def made(q):
    a = {making}
    {write}
    return a

def f(q):
    total = 0.0
    for _ in range(2):
        a = made(q)
        a *= 3.0
        total = total + np.sum(a**2)
        q = q * np.sum(a)
    return total
"""


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("making", MAKING)
@pytest.mark.parametrize("size", [3, 4])
def test_arrays_of_lists_are_written(size, making, write):
    f, q = function_of(TEXT.format(making=MAKING[making], write=WRITES[write])), np.linspace(0.3, 0.8, size)
    np.testing.assert_allclose(grad(f)(q), numeric_gradient(f, (q,)), rtol=1e-6)
