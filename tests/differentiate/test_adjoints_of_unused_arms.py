"""The adjoint of a variable that an arm which did not run would have read: the number 0.0, until the rest is added.

What is added may be one number for all elements, as of a mean: the sum has the shape of the variable.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import grad, vjp
from tests.oracle import numeric_gradient
from tests.sources import function_of

MADE = {
    "number and zeros": "x[0] + np.zeros(3)",
    "stacked": "np.stack([x[0] * x[1], x[1] ** 2, x[2]])",
    "repeated": "np.repeat(x[2], 3)",
    "product": "np.outer(x[:2], x) @ np.ones(3)",
    "rows": "np.tile(x[1:], (2, 1)).T[0] * x[0]",
    "elementwise": "np.exp(x) * x[0]",
}
READ = ["p.mean()", "np.sum(p)", "2.0 * p.sum() + p[0]", "p.max() + p.mean()", "np.sum(p * p)"]
TEXT = """
import numpy as np
def f(x, bound):
    going = x[0] < 5
    if going:
        p = {made}
        m = {read}
    if going:
        s = m * x[0]
        if x[1] > bound:
            s = s + np.sum(p ** 3)
    else:
        s = x[1]
    return s
"""
CASES = list(itertools.product(MADE, READ))
X = np.array([0.3, 0.4, 0.5])


@pytest.mark.parametrize(("made", "read"), CASES)
def test_what_is_added_has_the_shape_of_the_variable(made, read):
    f = function_of(TEXT.format(made=MADE[made], read=read))
    for bound in (5.0, 0.0):
        expected = numeric_gradient(lambda x, bound=bound: f(x, bound), [X])
        np.testing.assert_allclose(grad(f)(X, bound), expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(vjp(f, X, bound)[1](1.0)[0], expected, rtol=1e-8, atol=1e-10)
