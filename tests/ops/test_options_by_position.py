"""Options that stand by position where the rule of an operation takes fewer or others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from s2sad import grad, jvp
from s2sad.ops.binding import signature_in
from tests.oracle import numeric_gradient


def written_result(x: Any) -> Any:
    y, out = x * x, np.zeros(8)
    np.concatenate((x, y), 0, out)
    return np.sum(out * np.arange(8.0))


def about_a_center(x: Any) -> Any:
    return stats.moment(x, 3, axis=0, center=0.3)


def of_what_is_usual(x: Any) -> Any:
    return stats.sem(x, 0, 1, "propagate") + stats.skew(x, 0, True, "propagate")


@pytest.mark.parametrize("f", [written_result, about_a_center, of_what_is_usual], ids=lambda f: f.__name__)
def test_options_by_position(f: Callable[..., Any]) -> None:
    x, v = np.array([0.3, -1.2, 2.5, 0.7]), np.array([1.0, 0.5, -0.2, 0.8])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (x,), (v,))[1], expected @ v, rtol=1e-7)


def test_signatures_that_only_the_documentation_has() -> None:
    """Before 2.4 compiled functions of NumPy had no others: what is their default was refused where it is said."""
    text = "array(object, dtype=None, *, copy=True, order='K',\n      like=None)\n\nCreate an array."
    assert str(signature_in(text)) == "(object, dtype=None, *, copy=True, order='K', like=None)"
    assert str(signature_in("zeros(shape, dtype=float)")) == "(shape, dtype=<class 'float'>)"
    assert signature_in("where(condition, [x, y], /)") is None
    assert signature_in("") is None


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.4.0", reason="an array of one axis is no number any more")
@pytest.mark.filterwarnings("ignore:Conversion of an array")
def test_an_array_of_one_element_is_a_number_to_math() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.array([[math.cos(x[1]), 0.0], [0.0, math.atan2(x[0], x[1])]]) ** 2)

    x = np.array([[0.4], [1.2]])
    np.testing.assert_allclose(jvp(f, (x,), (x,))[1], np.sum(numeric_gradient(f, [x]) * x), rtol=1e-7)
