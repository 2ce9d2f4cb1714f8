"""Arrays of objects hold arrays, and hand out these, not copies: what is written there others see, or it is refused."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.random_objects import load

#: What makes an array of objects ``q``, with a dtype or without.
MAKERS = [
    "np.empty(2, dtype=object)",
    "np.zeros(2, 'O')",
    "np.full(2, None)",
    "np.array([None, None])",
    "np.array([None] * 2)",
    "np.asarray((None, 1.0))",
    "np.array([{}, {}])",
    "np.repeat(None, 2)",
    "np.tile([None], 2)",
    "np.stack([None, None])",
    "np.empty_like([None, None])",
    "np.where(k[:2] > 0, None, 1.0)",
    "np.zeros(2).astype(object)",
]
#: What is done with it, and what is read of the arrays then.
USES = {
    "constant": "q[0] = k\nb = q[0]\nb[0] = 3.0",
    "active": "q[0] = k\nb = q[0]\nb[0] = x[0]",
    "argument": "q[0] = x\nq[0][0] = 3.0",
    "own": "k = x * 1.0\nq[1] = k\nq[1][1] = 0.3",
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("maker", MAKERS)
def test_right_or_refused(maker: str, use: str) -> None:
    body = textwrap.indent(f"q = {maker}\n{USES[use]}", "    ")
    f = load(f"objects_{maker}_{use}", f"import numpy as np\n\n\ndef f(x, k):\n{body}\n    return np.sum(x * k)\n")["f"]

    def given() -> Any:
        return np.array([0.5, 1.2, -0.7]), np.array([0.8, -0.4, 1.5])

    args, along = given(), np.array([0.3, -1.0, 0.7])
    expected = f(*given()), numeric_gradient(lambda x: f(x, given()[1]), given()[:1])
    for derivative, wanted in (
        (lambda *a: value_and_grad(f)(*a), expected[1]),
        (lambda *a: jvp(f, a, (along, None)), expected[1] @ along),
    ):
        try:
            value, found = derivative(*args)
        except S2SADError:
            continue
        assert value == expected[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
        for one, other in zip(args, given(), strict=True):
            np.testing.assert_array_equal(one, other)
