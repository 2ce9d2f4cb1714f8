"""Parameters that are numbers are not None: what an object keeps for the last argument is computed."""

import numpy as np

from s2sad import grad
from tests.oracle import numeric_gradient


class Fluid:
    def __init__(self):
        self.last = None

    def update(self, t):
        if self.last == t:
            return
        self.a = np.array([t**2, np.sin(t)])
        self.last = t

    def pressure(self, t):
        self.update(t)
        self.update(t)
        return np.sum(self.a) * t


def pressure(t):
    return Fluid().pressure(t)


def test_what_is_kept_for_the_last_number():
    derivative = grad(pressure)
    np.testing.assert_allclose(derivative(0.7), numeric_gradient(pressure, (0.7,)), rtol=1e-7)
    assert "None" not in derivative.source_for(0.7)
