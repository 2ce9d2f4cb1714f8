"""Functions that return a list or dict of their caller at some exits, and another one at others."""

import numpy as np
import pytest

from s2sad import value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import function_of
from tests.transform.remaining import check_right_or_refused

CALLEES = {
    "loop": """
        for k in range(3):
            if c[k] > 50.0:
                return [x, x, x]
        c[0] = c[0] * x
        return c""",
    "branch": """
        if x > 50.0:
            return [x, x, x]
        c[0] = c[0] * x
        return c""",
    "pair": """
        for k in range(3):
            if c[k] > 50.0:
                return ([x, x, x], c)[0]
        return c""",
    "inner": """
        own = [c[0], x, c[1]]
        for k in range(3):
            if c[k] > 50.0:
                return [x, x, x]
        c[1] = own[1]
        return own""",
    "part": """
        own = [x, x, x]
        for k in range(3):
            if own[k] > 50.0:
                return [x, x, x]
        KEPT[0] = own
        return own""",
}
USES = [
    "c[0] = 7.0 * x[1]; c[1] = c[1] * d[0]",
    "d[0] = 7.0 * x[1]",
    "d[1] = c[0]; c[0] = 2.0 * x[2]; c[2] = d[0]",
    "same = d is c; c[1] = c[1] * (1.0 + same)",
    "d = keep(c, x[1]); d[2] = x[0]; c[0] = d[2] * x[1]",
    "rows = [d, c]; rows[0][0] = x[2]; c[1] = c[0] * x[1]",
]
PROGRAM = """
KEPT = [None]

def keep(c, x):{callee}

def g(x, n):
    c = {made}
    d = keep(c, x[0])
    {use}
    return sum((k + 1) * c[k] for k in range(3)) + d[0] * d[1]

def f(x):
    return g(x, 2)
"""
X, WAY = np.array([0.3, 0.7, -0.4]), np.array([1.0, -2.0, 0.5])


@pytest.mark.parametrize("made", ["[x[0], 2.0 * x[1], x[2] * x[2]]", "{0: x[0], 1: 2.0 * x[1], 2: x[2] * x[2]}"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("callee", CALLEES)
def test_what_the_caller_has_stays_one_object(callee, use, made):
    f = function_of(PROGRAM.format(callee=CALLEES[callee].replace("\n        ", "\n    "), use=use, made=made))
    check_right_or_refused(f, X, WAY)


def test_it_is_no_refusal_of_all():
    f = function_of(PROGRAM.format(callee=CALLEES["loop"].replace("\n        ", "\n    "), use=USES[1], made="list(x)"))
    np.testing.assert_allclose(value_and_grad(f)(X)[1], numeric_gradient(f, [X]), rtol=1e-7)
