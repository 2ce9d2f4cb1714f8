"""Exponents that are constant, in what holds values that are differentiated: negative numbers have whole powers."""

from __future__ import annotations

import linecache
import math
import operator
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp

POWERS = ("x ** k", "np.power(x, k)", "np.float_power(x, k)", "math.pow(x, k)", "pow(x, k)", "operator.pow(x, k)")
PROGRAMS = {
    "pairs": """
def f(x, n):
    terms = []
    for k in range(n):
        terms.append((x * k, k))
    total = 0.0
    for c, k in terms:
        total = total + c * POWER
    return total
""",
    "values of a dict": """
def f(x, n):
    terms = {}
    for k in range(n):
        terms[k] = [x * k, k]
    total = 0.0
    for c, k in terms.values():
        total = total + c * POWER
    return total
""",
    "parts of an array": """
def f(x, n):
    total = 0.0
    for k in range(n):
        both = np.array([x * k, k])
        k = both[1]
        total = total + both[0] * POWER
    return total
""",
}


CASES = [("pairs", power) for power in POWERS] + [
    (program, POWERS[0]) for program in ("values of a dict", "parts of an array")
]


@pytest.mark.parametrize(("program", "power"), CASES)
def test_a_whole_power_of_a_negative_number(program: str, power: str) -> None:
    text, name = PROGRAMS[program].replace("POWER", power), f"<{program} {power}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"np": np, "math": math, "operator": operator}
    exec(compile(text, name, "exec"), names)
    f, x, n = names["f"], -1.3, 4
    slope = sum(k * (k + 1) * x**k for k in range(n))
    curvature = sum(k * k * (k + 1) * x ** (k - 1) for k in range(n))
    np.testing.assert_allclose(grad(f)(x, n), slope, rtol=1e-13)
    np.testing.assert_allclose(jvp(f, (x, n), (1.0, None))[1], slope, rtol=1e-13)
    np.testing.assert_allclose(hvp(f, (x, n), (1.0, None)), curvature, rtol=1e-13)
