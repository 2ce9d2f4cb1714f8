"""Elements that several selections leave out, and second derivatives of what is left out at the edge of a domain."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, vjp
from s2sad.runtime.edges import by_divisor
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of

#: Two of these leave out the first element, where what they select from is infinite, or not defined nearby.
TWO = [
    "np.sum(np.minimum(e, 5.0)) + np.sum(np.where(x > 0.3, e, 0.0))",
    "np.sum(np.minimum(e, 5.0) ** 2 * np.where(x > 0.3, e, 0.0))",
    "np.sum(np.where(x > 0.5, e, 0.0) * np.where(x > 0.3, e, 1.0))",
    "np.sum(np.where(x > 0.5, e, 0.0) * np.where(x > 0.3, e, 1.0)) + np.sum(np.clip(e, -3.0, 3.0) * x**3)",
    "np.sum(e[x > 0.3] ** 2) + np.sum(np.where(x > 0.5, e, 0.0))",
    "np.sum(e[x > 0.3]) + e[2] ** 2 + e[1]",
    "np.sum(e[1:] ** 2 * x[1:])",
    "np.sum(np.select([x > 0.5, x > 0.3], [e, 2 * e], 0.0)) - np.sum(np.where(x < 0.3, 0.0, e * e))",
]
INFINITE = ["1 / x**2", "3.0 + 1 / x**4", "1 / np.abs(x) + x", "(x + 1) ** 2 / x**2"]
X = np.array([0.0, 0.4, 1.7])
WAY = np.array([1.0, -2.0, 0.7])

#: What has no derivative at 0, or an infinite one.
EDGES = [
    "np.sqrt(x)", "x**0.3", "x**p", "np.float_power(x, 0.5)", "np.arccosh(1 + x)", "np.sqrt(np.sqrt(x))",
    "np.sin(np.sqrt(x))", "x * np.sqrt(x)", "np.cbrt(x)", "1 / np.sqrt(x)", "np.arccos(1 - x)", "np.sqrt(x) ** p",
]  # fmt: skip
LEFT_OUT = [
    "np.maximum(e, 0.9) ** 3", "np.clip(e, 0.9, 1.0) ** 2", "np.where(x > 0.3, e**2, 1.0)", "(e**2)[x > 0.3]",
    "np.select([x > 0.3], [e**2], 2.0)", "np.where(x > 0.3, e, x) ** 2", "np.minimum(-e, -0.9) ** 2",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("whole", "inner"), list(itertools.product(TWO, INFINITE)))
def test_what_two_selections_leave_out_gives_no_nan(whole: str, inner: str) -> None:
    f = function_of(f"def f(x):\n    e = {inner}\n    return {whole}\n")
    expected = np.append(0.0, numeric_gradient(lambda rest: f(np.append(0.0, rest)), [X[1:]]))
    slopes = richardson_jvp(lambda rest: grad(f)(np.append(0.0, rest))[1:], [X[1:]], [WAY[1:]])
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    assert jvp(f, (X,), (WAY,))[1] == pytest.approx(expected @ WAY)
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), np.append(0.0, slopes), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("edge", "whole"), list(itertools.product(EDGES, LEFT_OUT)))
def test_second_derivatives_of_what_is_left_out_at_an_edge_give_no_nan(edge: str, whole: str) -> None:
    if edge.startswith("1 /"):
        whole = whole.replace("np.maximum(e, 0.9)", "np.minimum(e, 1.5)").replace(
            "np.minimum(-e, -0.9)", "np.maximum(-e, -1.5)"
        )
    f = function_of(f"def f(x, p=0.5):\n    e = {edge}\n    return np.sum({whole})\n")
    df = grad(f)
    slopes = richardson_jvp(df, [X[1:]], [WAY[1:]], step=1e-3)
    expected = np.append(2.0 * WAY[0] if "e, x)" in whole else 0.0, slopes)
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(vjp(df, X)[1](WAY)[0], expected, rtol=1e-6, atol=1e-9)


def test_what_a_quotient_has_of_its_divisor() -> None:
    g, q, b = np.array([2.0, np.inf, 0.0, np.nan]), np.array([3.0, 0.0, np.inf, 0.0]), np.array([4.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(by_divisor(g, q, b), [-1.5, 0.0, 0.0, np.nan])
    assert by_divisor(2.0, 3.0, 4.0) == -1.5
    assert by_divisor(2.0, 0.0, 0.0) == by_divisor(0.0, 3.0, 0.0) == 0.0
    for made in (by_divisor(0.0, np.ones(2, "f4"), np.zeros(2, "f4")), by_divisor(1.0, 0.0, np.float32(0.0))):
        assert made.dtype == np.float32
        assert not np.any(made)
    with pytest.raises(ZeroDivisionError):
        by_divisor(1.0, 1.0, 0.0)
    with pytest.warns(RuntimeWarning):
        np.testing.assert_array_equal(by_divisor(np.ones(2), np.array([1.0, 0.0]), np.zeros(2)), [-np.inf, 0.0])
