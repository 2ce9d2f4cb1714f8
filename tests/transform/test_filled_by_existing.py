"""Lists, dicts and arrays that a function makes of constants and methods of an existing object fill."""

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_both_modes

MADE = [
    "list(range(4))",
    "list(START)",
    "[0.0] * 4",
    "[0.0] * N",
    "[0.0 for _ in range(4)]",
    "dict(enumerate(START))",
    "{k: 0.0 for k in range(4)}",
    "np.zeros(4)",
    "np.array(START)",
    "np.zeros(4) + 1.0",
]
METHODS = ["fill", "add", "through", "twice"]

PROGRAM = """
START = [0.5, 1.5, 2.5, 3.5]
N = 4

class Series:
    def __init__(self):
        self.factors, self.n = [0.1, 0.2, 0.3, 0.4], 4

    def fill(self, eps, c):
        power = 1.0
        for k in range(1, self.n):
            power *= eps
            c[k] = power * self.factors[k]

    def add(self, eps, c):
        for k in range(self.n):
            c[k] = c[k] + eps * self.factors[k]

    def through(self, eps, c):
        self.fill(np.sin(eps), c)
        return c[1] + c[2], eps

    def twice(self, eps, c):
        first, _ = self.through(eps, c)
        c[0] = first
        self.add(first, c)

SERIES = Series()

def f(x):
    c = {made}
    s = x[0]
    for k in range(3):
        SERIES.{method}(s, c)
        s = s + x[1] * c[2]
    return s * x[2] + sum(c[k] * (k + 1) for k in range(4))
"""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("made", MADE)
def test_what_is_made_of_constants_is_filled_by_a_method(made, method):
    program = function_of(PROGRAM.replace("{made}", made).replace("{method}", method))
    check_both_modes(program, np.array([0.3, 0.7, -0.4]), np.array([1.0, -2.0, 0.5]))


KEPT = """
class Box:
    def __init__(self):
        self.rows = [1.0, 2.0]

    def give(self):
        return self.rows

    def fill(self, x, c):
        c[0] = x

BOX = Box()

def f(x):
    c = list([BOX.give()])
    BOX.fill(x[0], c[0])
    return BOX.rows[0] * x[1] + x[2]
"""


def test_a_list_of_the_object_in_a_new_one_is_not_new():
    from s2sad import S2SADError, grad

    program = function_of(KEPT)
    x = np.array([0.3, 0.7, -0.4])
    try:
        got = grad(program)(x)
    except S2SADError:
        return
    np.testing.assert_allclose(got, [0.7, 0.3, 1.0])
