"""The adjoint of a sum is that of both operands: what iterations add to in place is an object of its own."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient
from tests.sources import function_of

#: What is added comes out of a container, whose adjoint keeps that of the sum until the loop is through.
TAKEN = {
    "popped": ("xs = [x * k for k in range(1, 4)]", "while xs:", "t = xs.pop()"),
    "first": ("xs = [x * k for k in range(1, 4)]", "while xs:", "t = xs.pop(0)"),
    "item": ("xs = [x * k for k in range(1, 4)]", "for k in range(3):", "t = xs[k]"),
    "row": ("xs = np.stack([x, 2 * x, 3 * x])", "for k in range(3):", "t = xs[k]"),
    "run": ("xs = [x * k for k in range(1, 4)]", "for y in xs:", "t = y"),
    "key": ("xs = {k: x * k for k in range(1, 4)}", "for k in list(xs):", "t = xs.pop(k)"),
    "field": ("xs = {'a': x}", "for k in range(3):", "t = xs['a']"),
}
ADDED = ("s = s + t", "s = t + s", "s = s - t", "s += t", "s = np.add(s, t)", "s = t - s", "s = s.T + t.T")
READ = ("s[-2]", "s[:2].prod()", "s[[0, 0]].sum()", "s.max()")


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("read", READ)
def test_gradients(taken: str, read: str) -> None:
    start, loop, take = TAKEN[taken]
    for number, added in enumerate(ADDED[READ.index(read) % 2 :: 2]):
        step = f"out = out + np.sin({read})"
        steps = [take, step, added] if number % 2 else [take, added, step]
        lines = [start, "out = 0.0", "s = s.copy()", loop, *(f"    {line}" for line in steps)]
        f = function_of("def f(x, s):\n    " + "\n    ".join([*lines, "return out + s[0] * s[1]"]))
        args = np.array([0.3, 0.4, 0.5]), np.array([0.12, 0.7, 0.65])
        for argnum, found in enumerate(grad(f, (0, 1))(*args)):
            np.testing.assert_allclose(found, numeric_gradient(f, args, argnum), rtol=1e-7, atol=1e-8, err_msg=added)
