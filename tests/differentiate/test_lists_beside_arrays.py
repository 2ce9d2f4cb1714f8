"""Operators of a list or tuple and what may be an array, or a number that repeats it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

X, W = np.array([0.3, 0.4]), np.array([1.0, 2.0])


def times(x: Any, w: Any) -> Any:
    r = (x[0], x[1] * x[0])
    return np.sum(w * r)


def timed(x: Any, w: Any) -> Any:
    r = [x[0], x[1] * x[0]]
    return np.sum(r * w * w)


def added(x: Any, w: Any) -> Any:
    r = [x[0], x[1] * x[0]]
    return np.sum((r + w) ** 2) + np.sum((w - r) / 3.0)


def of_unknown_shape(x: Any, w: Any) -> Any:
    r = (x[0], x[1] * x[0])
    return np.sum(np.cos(w * np.arange(np.size(r))).reshape(np.shape(r)) * r)


def text(f: Any, wrt: int) -> Any:
    """The gradient that is written for any arguments."""
    space: dict[str, Any] = {}
    exec(grad(f, wrt).source, space)
    return next(value for name, value in space.items() if name.startswith(f"{f.__name__}_grad"))


@pytest.mark.parametrize("f", [times, timed, added, of_unknown_shape])
@pytest.mark.parametrize("wrt", [0, 1])
def test_beside_an_array(f: Any, wrt: int) -> None:
    wanted = numeric_gradient(f, (X, W), wrt)
    np.testing.assert_allclose(grad(f, wrt)(X, W), wanted, rtol=1e-7)
    np.testing.assert_allclose(text(f, wrt)(X, W), wanted, rtol=1e-7)
    tangents = np.array([0.5, -2.0]), np.array([0.3, 1.5])
    np.testing.assert_allclose(jvp(f, (X, W), tangents)[1], richardson_jvp(f, (X, W), tangents), rtol=1e-7)


@pytest.mark.parametrize("f", [times, timed])
def test_beside_a_number_that_repeats(f: Any) -> None:
    with pytest.raises(UndefinedDerivativeError, match="repeated where it might be an array"):
        text(f, 0)(X, 2)


def spread(x: Any, w: Any) -> Any:
    return np.sum(np.array([w[0], *(x * x * w), *np.sin(w)]) ** 2)


@pytest.mark.parametrize("wrt", [0, 1])
def test_the_items_of_what_may_be_an_array(wrt: int) -> None:
    np.testing.assert_allclose(text(spread, wrt)(X, W), numeric_gradient(spread, (X, W), wrt), rtol=1e-7)
