"""Dicts of which two keys are equal, as may be seen in the text or only when it runs: the last value stays."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import S2SADError, grad, hvp
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of
from tests.transform.remaining import check_both_modes

X = np.array([0.3, 0.7, -0.4])
WAY = np.array([1.0, -2.0, 0.5])

DICTS = {
    "literals": "{1: x[0], True: x[1], 2: x[2]}",
    "numbers of two types": "{0.0: x[0], -0.0: x[1]}",
    "parameters": "{a: x[0], b: x[1]}",
    "other parameters": "{a: x[0], a + 1: x[1]}",
    "parameter and literal": "{'z': x[2], a: x[0], 4: x[1]}",
    "size": "{len(x): x[0], 3: x[1]}",
    "test": "{x[0] > 0: x[0], 1.0: x[1]}",
    "tuples": "{(0, a): x[0], (0, b): x[1]}",
    "in a dict": "{'k': {a: x[0], b: x[1]}}['k']",
}
USES = {
    "sum": "sum(v * v for v in d.values())",
    "item": "d[a if a in d else next(iter(d))] ** 2",
    "item that is changed": "d",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("made", DICTS.values(), ids=DICTS)
def test_equal_keys(made: str, use: str) -> None:
    changed = "d[next(iter(d))] *= x[1]" if use == "d" else "pass"
    text = f"""
        def f(x, a=4, b=4):
            d = {made}
            {changed}
            return {use if use != "d" else "sum([v * v for v in d.values()])"}
    """
    f = function_of(text)
    try:
        grad(f)(X)
    except S2SADError:
        pytest.skip("refused")
    check_both_modes(f, X, WAY)


def test_second_derivatives() -> None:
    f = function_of("def f(x, a=4, b=4):\n    d = {a: x[0] * x[1], b: x[1] * x[2]}\n    return sum(d.values()) ** 2")
    expected = richardson_jvp(lambda x: numeric_gradient(f, [x]), [X], [WAY])
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), expected, rtol=1e-5, atol=1e-6)


def test_arrays_under_equal_keys() -> None:
    text = """
        def f(x, a=4, b=4):
            d = {a: x * 2.0, b: x * x}
            d[a][0] *= x[1]
            return np.sum(d[b] * x) + np.sum(d[a])
    """
    check_both_modes(function_of(text), X, WAY)


def test_types_of_equal_keys() -> None:
    text = """
        def f(x):
            d = {1: 2.0, True: x * x}
            y = d[1]
            y[0] = y[1] * 3.0
            return np.sum(d[True])
    """
    check_both_modes(function_of(text), X, WAY)
