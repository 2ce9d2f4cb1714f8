"""What runs later than it is made sees what its variables, objects and containers hold then."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import function_of


class Held:
    """An object whose attribute changes."""

    def __init__(self, k: Any) -> None:
        self.k = k

    def times(self, t: Any) -> Any:
        return self.k * t


#: What holds a number, how a function of ``t`` reads it, and how it changes.
HOLDERS = {
    "variable": ("n = a[0]", "t * n", "n = a[1] ** 2"),
    "attribute": ("c = Held(a[0])", "t * c.k", "c.k = a[1] ** 2"),
    "method": ("c = Held(a[0])", "c.times(t)", "c.k = a[1] ** 2"),
    "item": ("b = [a[0], a[1]]", "t * b[0]", "b[0] = a[1] ** 2"),
    "inserted": ("b = [a[0], a[1]]", "t * b[0]", "b.insert(0, a[1] ** 2)"),
    "key": ("b = {'p': a[0]}", "t * b['p']", "b['p'] = a[1] ** 2"),
    "sum": ("b = [a[0]]", "t * sum(b)", "b.append(a[1] ** 2)"),
}
#: What is made of that function, and runs later.
MADE = {
    "expression": "z = ({f} for t in a)",
    "calls": "g = lambda t: {f}\nz = (g(t) for t in a)",
    "map": "z = map(lambda t: {f}, a)",
    "two": "z = map(lambda t, u: {f} + u, a, a)",
    "filter": "z = filter(lambda t: {f} > 0.1, a)",
    "generator": "def made():\n    for t in a:\n        yield {f}\nz = made()",
    "functions": "z = (g(1.0) for g in [lambda s, t=t: s * {f} for t in a])",
    "outer": "z = map(lambda y: y, ({f} for t in a))",
    "pairs": "z = (u * v for u, v in zip(a, map(lambda t: {f}, a)))",
}
#: How it is run through, after the change or between changes.
RUN = {
    "at once": "s = sum(z)\n{change}",
    "after": "{change}\ns = sum(z)",
    "between": "s = 0.0\nfor q in z:\n    s = s + q\n    {change}",
    "half": "it = iter(z)\ns = next(it)\n{change}\ns = s + next(it)",
    "list": "{change}\ns = np.sum(np.array(list(z)))",
}


@pytest.mark.parametrize("made", MADE)
def test_values_and_gradients(made: str) -> None:
    """Each is right or refused; most are accepted, or the comparison would be empty."""
    right, a = 0, np.array([0.3, 0.4, 0.7])
    for holder, run in itertools.product(range(len(HOLDERS)), range(len(RUN))):
        if (holder + run + list(MADE).index(made)) % 3:
            continue
        (start, read, change), way = list(HOLDERS.values())[holder], list(RUN.values())[run]
        text = "\n".join([start, MADE[made].format(f=read), way.format(change=change), "return s * s"])
        f = function_of("def f(a):\n" + "".join(f"    {line}\n" for line in text.splitlines()), {"Held": Held})
        try:
            value, gradient = value_and_grad(f)(a)
        except S2SADError:
            continue
        np.testing.assert_allclose(value, f(a), rtol=1e-14, err_msg=text)
        np.testing.assert_allclose(gradient, numeric_gradient(f, (a,)), rtol=1e-7, atol=1e-9, err_msg=text)
        right += 1
    assert right >= (2 if made == "filter" else 5), right
