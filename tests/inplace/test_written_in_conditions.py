"""Calls in conditions and other expressions that are no results, and write what varies into what already exists."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient
from tests.random_objects import load

X, K = np.array([0.5, 1.2, -0.7]), np.array([0.8, -0.4, 1.5])

KEPT = ("KEPT.append(a)", "KEPT[-1]"), ("KEPT.append([a])", "KEPT[-1][0]"), ("pass", "a")
WRITERS = (
    "put({q}, np.sin(x[1]))",
    "put_later(v=np.sin(x[1]), **{{'q': {q}}})",
    "(lambda q: put(q, x[1]))({q})",
)
USES = (
    "if {call} is not None:\n        r = r + 1.0",
    "r = r + (0.0 if {call} is None else 1.0)",
    "r = r + (1.0 if x[0] > 0.0 and {call} is not None else 2.0)",
    "for _ in range(len([{call}])):\n        r = r + 1.0",
)
PROGRAM = """
import numpy as np

KEPT = []

def put(q, v):
    q[0] = v

def put_later(q, v):
    put(q, v)
    return 1.0

def f(x, k):
    a = k.copy()
    r = a * x
    {kept}
    {use}
    r = np.sum(r * r)
    return r + np.sum(np.sin(a) * x)
"""


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("writer", WRITERS)
def test_right_or_refused(writer: str, use: str) -> None:
    for kept, reached in KEPT:
        text = PROGRAM.format(kept=kept, use=use.format(call=writer.format(q=reached)))
        f = load("written_in_condition", text)["f"]
        try:
            # It is compiled while the containers are empty.
            found = grad(f)(X, K)
        except UnsupportedError:
            continue
        np.testing.assert_allclose(found, numeric_gradient(f, (X, K)), atol=1e-8, err_msg=text)
