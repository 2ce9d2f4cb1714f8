"""What objects lead to, as far as a program may see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.runtime.parts import labelled_parts
from tests.oracle import numeric_gradient
from tests.sources import names_of

PROGRAM = """
D = np.array([0.3, -0.2, 0.5])
W = np.array([0.3, -0.2, 0.5])
def cubes(v):
    return np.sum(v**3)
slope = grad(lambda z: z * z)
def f(x):
    W[0] = 2.0
    return {call} * W[0] * x[1]
"""
CALLS = "slope(x[0])", "slope(0.3)", "jvp(cubes, (x,), (D,))[1]", "jvp(grad(cubes), (x,), (D,))[1][0]"


def test_a_derivative_leads_to_its_function() -> None:
    def cube(x: Any) -> Any:
        return x**3

    df = grad(cube)
    df(0.5)
    assert dict(labelled_parts(df)) == {".__wrapped__": cube}


@pytest.mark.parametrize("call", CALLS)
def test_what_is_kept_of_derivatives_shares_nothing(call: str) -> None:
    """Compiled text of an inner derivative holds the arrays of the module, and is no second way to them."""
    x, names = np.array([1.0, 2.0, 0.4]), {"grad": grad, "jvp": jvp}
    plain = names_of(PROGRAM.format(call=call), names)["f"]
    df = grad(names_of(PROGRAM.format(call=call), names)["f"])
    for _ in range(2):
        np.testing.assert_allclose(df(x), numeric_gradient(plain, (x,)), rtol=1e-6)
