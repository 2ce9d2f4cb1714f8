"""What elements are made of that nothing picks: zero times an infinite derivative, or a NaN, is zero there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

X = np.array([0.7, 1.1, 1.6, 0.3])
D = np.array([0.3, -0.2, 0.5, 0.9])
HOLED = np.array([1.0, np.nan, 2.0, 0.5])  # what was not measured is NaN
SPEED = np.array([1.0, 0.0, 2.0, 0.5])  # of a ray that is parallel to an axis

OF_NUMBERS = ["np.nansum", "np.nanprod", "np.nanmax", "np.nanmin", "np.nanvar", "np.nanstd", "np.nanmedian"]
MADE_OF_HOLED = ["x * HOLED", "np.sin(x) * HOLED", "np.exp(x) / HOLED"]

PICKING = [
    "np.min(t)",
    "np.amin(np.abs(t)) * x[3]",
    "np.median(t)",
    "np.quantile(t, 0.3)",
    "np.sort(t)[0]",
    "np.partition(t, 1)[0]",
    "np.min(t.reshape(2, 2))",
    "t[2]",
    "t[np.argmin(np.abs(t))]",
    "min(t[0], t[2])",
    "np.sum(t[[0, 2, 3]])",
    "np.sum(t[2:] * x[2:])",
    "np.sum(np.take(t, [0, 3]))",
    "np.sum(np.compress(SPEED > 0, t))",
    "np.sum(np.extract(SPEED > 0, t))",
]
MADE_BY_DIVISION = ["x / SPEED", "np.sin(1.0 / (x * SPEED))", "(x / SPEED) ** 2 - 1.0"]


def _check(text: str) -> None:
    f: Any = function_of(text, {"HOLED": HOLED, "SPEED": SPEED})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the function divides by zero itself
        want = numeric_gradient(f, (X,))
        np.testing.assert_allclose(grad(f)(X), want, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(jvp(f, (X,), (D,))[1], want @ D, rtol=1e-6, atol=1e-7)
        along = numeric_gradient(lambda x: grad(f)(x) @ D, (X,))
        np.testing.assert_allclose(hvp(f, (X,), (D,)), along, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("made", MADE_OF_HOLED)
@pytest.mark.parametrize("function", OF_NUMBERS)
def test_nan_is_left_out(function: str, made: str) -> None:
    _check(f"def f(x):\n    return {function}({made})\n")


ALIKE = [
    "np.nanquantile(t, 0.3)",
    "np.nanpercentile(t, 40.0)",
    "np.nanmax(t.reshape(2, 2))",
    "np.nanmin(np.sort(t)[:3])",
]


@pytest.mark.parametrize("q", ALIKE)
def test_nan_is_left_out_of_quantiles_and_what_is_moved(q: str) -> None:
    _check(f"def f(x):\n    t = x * HOLED * x\n    return {q}\n")


@pytest.mark.parametrize("made", MADE_BY_DIVISION)
@pytest.mark.parametrize("picked", PICKING)
def test_what_is_infinite_is_not_picked(picked: str, made: str) -> None:
    f = function_of(f"def f(x):\n    t = {made}\n    return {picked}\n", {"SPEED": SPEED})
    with np.errstate(all="ignore"):
        if not np.isfinite(numeric_gradient(f, (X,))).all():
            pytest.skip("the infinite element is picked")
    _check(f"def f(x):\n    t = {made}\n    return {picked}\n")


def test_where_nothing_may_be_infinite_no_zeros_are_asked_for() -> None:
    f = function_of("def f(x):\n    t = np.exp(x) * 2.0\n    return np.max(t) + t[1] * 3.0\n")
    df = grad(f)
    df(X)
    assert "!=" not in df.source
