"""Whole numbers that come back beside an array that is differentiated, and say how wide the next pad is."""

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient


def padded(x, p, mode):
    if isinstance(p, int):
        p = (p, p)
    if len(p) == 2:
        return np.pad(x, p, mode), (*p, x.size)
    return padded(x, p[:2], mode)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_a_width_that_a_call_gives_back_has_no_derivative(mode):
    def f(x):
        y, p = padded(x, 1, mode)
        y, _ = padded(y * y, p, mode)
        return np.sum(y * np.arange(y.size))

    x = np.array([0.5, -1.2, 0.7])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose([jvp(f, (x,), (e,))[1] for e in np.eye(3)], expected, rtol=1e-7)
