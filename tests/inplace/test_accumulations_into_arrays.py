"""Accumulations that are given an array for their result, which may be the operand, a part of it, or too long."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient
from tests.sources import function_of

X = np.array([1.0, 2.0, 3.0])
FUNCTIONS = (
    "np.cumsum({}, out={})",
    "np.multiply.accumulate({}, out={})",
    "({}).cumprod(out={})",
    "np.nancumsum({}, out={})",
)
FITTING = [("a", "a"), ("a[1:]", "a[:2]"), ("a[:1]", "a[:1]"), ("a", "b"), ("2 * b + a[0]", "a")]


def written(call: str) -> str:
    return f"def f(x):\n    a, b = x * 1.0, np.zeros(3)\n    {call}\n    return np.sum(a * a) + np.sum(b * b * x)"


@pytest.mark.parametrize("form", FUNCTIONS)
def test_of_the_same_size(form: str) -> None:
    for operand, out in FITTING:
        f = function_of(written(form.format(operand, out)))
        expected = numeric_gradient(f, (X,))
        np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-8, err_msg=f"{operand} {out}")
        np.testing.assert_allclose(jvp(f, (X,), (X,))[1], expected @ X, rtol=1e-8)


@pytest.mark.parametrize("form", FUNCTIONS[:3])
def test_too_long(form: str) -> None:
    # NumPy takes it, as it shares memory with the operand, and reads beyond that.
    f = function_of(written(form.format("a[:1]", "a")))
    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(UndefinedDerivativeError, match="1 numbers is written into an array of 3"):
            derivative(X)
