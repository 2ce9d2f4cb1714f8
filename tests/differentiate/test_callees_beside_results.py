"""Calls that are met at run time in one branch, beside results of known ones in another: forward mode follows both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of


class Tool:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def sin(self, t: Any) -> Any:
        return self.scale * np.sin(t)


class Box:
    tool, sin = Tool(2.0), np.sin


CALLS = ["BOX.tool.sin(t)", "BOX.sin(t)"]


@pytest.mark.parametrize(
    ("call", "symbolic"), [*((c, True) for c in CALLS), *((c, False) for c in (*CALLS, "symbols.sin(t)"))]
)
def test_branches(call: str, symbolic: bool) -> None:
    f = function_of(
        f"""
        def is_symbol(t):
            return SYMBOLIC and not isinstance(t, str)

        def sin(t):
            if is_symbol(t):
                return {call}
            else:
                return np.cos(t) * t

        def f(x):
            s, c = sin(x[0]), sin(x + 1.0)
            return np.sum(np.array([[s, -s], [s * s, x[1]]]) * x[:2]) + np.sum(c * c)
        """,
        {"BOX": Box(), "SYMBOLIC": symbolic},
    )
    x = np.array([0.4, 0.7, 1.1])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (np.cos(x),))[1], expected @ np.cos(x), rtol=1e-7)
