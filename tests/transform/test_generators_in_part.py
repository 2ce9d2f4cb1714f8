"""Generators of which some items are taken: by `itertools.islice`, `takewhile`, and beside a sequence by `zip`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of

HEAD = """
def walk(x, log):
    while True:
        yield x
        log.append(1)
        x = np.sin(x) * 1.3

def few(x, log):
    for k in range(3):
        yield x * k
        log.append(2)

def f(x, n=2):
    log = []
    s = 0.0
"""
#: What is done with generators, and how often these have gone on after.
USES = [
    "for v in itertools.islice(walk(x, log), 3):\n        s += v * x",
    "s = sum(itertools.islice(walk(x, log), n)) * x",
    "s = sum(v * v for v in itertools.islice(walk(x, log), n + 1))",
    "s = sum(itertools.islice(walk(x, log), n - 2), x)",
    "for v in itertools.islice(walk(x, log), 1, 4):\n        s += v * x",
    "for k, v in enumerate(itertools.islice(few(x, log), 5)):\n        s += v * (k + x)",
    "for v in itertools.islice(walk(x, log), 4):\n        if len(log) > 1:\n            break\n        s += v * x",
    "for v in itertools.takewhile(lambda v: v * len(log) < 3.0, walk(x, log)):\n        s += v * x",
    "s = x * sum(itertools.takewhile(lambda v: v < 0.5 * n, few(x, log)))",
    "for k, v in zip(range(3), walk(x, log)):\n        s += v * (k + x)",
    "for v, k in zip(walk(x, log), [0.5, x, 2.0]):\n        s += v * k",
    "for v, k in zip(few(x, log), (0.5, x, 2.0, 1.0)):\n        s += v * k",
    "for k, v in zip((x, 2.0, 1.0, 0.2), few(x, log)):\n        s += v * k",
    "s = sum([v * k for k, v in zip(range(4), walk(x, log))])",
    "m = [x]\n    for v, k in zip(walk(x, log), m):\n        s += v * k\n        if len(m) < 4: m.append(3.0)",
    "m = [x]\n    for k, v in zip(m, walk(x, log)):\n        s += v * k\n        if len(m) < 4: m.append(3.0)",
    "w = itertools.islice(walk(x, log), n)\n    x = x * 2.0\n    s = sum(w) * x",
]


@pytest.mark.parametrize("use", USES)
def test_items_are_taken_as_by_python(use: str) -> None:
    f = function_of(f"{HEAD}    {use}\n    return s * (1.0 + len(log))\n", {"itertools": itertools})
    for x in (1.2, 0.4):
        assert grad(f)(x) == pytest.approx(numeric_gradient(f, (x,)), rel=1e-7, abs=1e-9)
        value, tangent = jvp(f, (x,), (0.7,))
        assert value == pytest.approx(f(x), rel=1e-14)
        assert tangent == pytest.approx(richardson_jvp(f, [x], [0.7]), rel=1e-7, abs=1e-9)


def test_what_is_left_is_not_taken_for_the_whole() -> None:
    use = "w = few(x, log)\n    s = sum(itertools.islice(w, 1)) + 2.0 * sum(w)"
    f: Any = function_of(f"{HEAD}    {use}\n    return s * (1.0 + len(log))\n", {"itertools": itertools})
    try:
        found = grad(f)(1.2)
    except Exception as error:
        assert "gives its items later" in str(error)  # noqa: PT017
    else:
        np.testing.assert_allclose(found, numeric_gradient(f, (1.2,)), rtol=1e-7)
