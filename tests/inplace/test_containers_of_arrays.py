"""Lists, dicts and tuples that hold arrays which are written, the same one twice or one that is also held elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, stop_gradient, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4, 0.5, 0.6, 0.7])


def item_of_a_list_of_buffers(x: Any) -> Any:
    """The adjoint of an item goes into the array that has other names, not into a new one."""
    b = np.full(5, 0.7)
    b[1:3] = x[::3]
    held = [b, b, 0.3]
    k = round(x[0] * 0 + 1)
    b[2] *= np.sum(held[k])
    return np.mean(b)


def item_of_a_display(x: Any) -> Any:
    """An item that is taken of a display at once."""
    p = [np.sin(x), np.cos(x)]
    p[0][0] *= 2.0
    q = (0.3, p)[1]
    q[1][1] = 0.5
    return np.sum(p[0]) * np.sum(p[1])


def comprehension_of_buffers(x: Any) -> Any:
    """A short list of new arrays."""
    bufs = [np.zeros(5) for _ in range(2)]
    for i in range(3):
        bufs[i % 2][...] = bufs[1 - i % 2] * x + i * x
    return np.sum(bufs[0] * bufs[1])


def starred(x: Any) -> Any:
    """A starred name is a list of what the display has there."""
    a, *rest, b = x * 2, x * 3, np.sin(x), x[0]
    rest[0][1] *= b
    return np.sum(a) * np.sum(rest[0]) + np.sum(rest[1])


def keywords_of_dict(x: Any) -> Any:
    """``dict(u=..., v=...)`` is a display."""
    s = dict(u=x * 2, v=np.sin(x))  # noqa: C408
    s["u"][0] = s["v"][1]
    return np.sum(s["u"] * s["v"])


@pytest.mark.parametrize(
    "f",
    [item_of_a_list_of_buffers, item_of_a_display, comprehension_of_buffers, starred, keywords_of_dict],
    ids=lambda f: f.__name__,
)
def test_value_and_gradient(f: Callable[[Any], Any]) -> None:
    value, gradient = value_and_grad(f)(X)
    assert value == f(X.copy())
    np.testing.assert_allclose(gradient, numeric_gradient(lambda a: f(a.copy()), (X,), 0), rtol=1e-7, atol=1e-9)


def container_argument(p: Any) -> Any:
    """The items of a container argument are known once it is copied."""
    p["w"][0] *= p["b"]
    return np.sum(p["w"] ** 2)


def test_container_argument() -> None:
    w = np.array([1.0, 2.0, 3.0])
    gradient = grad(container_argument)({"w": w, "b": 2.0})
    np.testing.assert_allclose(gradient["w"], [8.0, 4.0, 6.0])
    assert gradient["b"] == pytest.approx(4.0)
    np.testing.assert_array_equal(w, [1.0, 2.0, 3.0])


def stopped_in_a_container(x: Any) -> Any:
    y = x * 2.0
    z = stop_gradient(y)
    held = [z, y]
    held[1][0] = 0.5
    return np.sum(held[0])


def _twice(x: Any) -> Any:
    y = x * 2.0
    return y.reshape(5, 1), y


def results_that_share_memory(x: Any) -> Any:
    w, t = _twice(x)
    w[::1] *= x[0]
    return np.mean(t)


def _listed(x: Any) -> Any:
    y = x * 2.0
    return [y, y]


def list_of_one_array_twice(x: Any) -> Any:
    w = _listed(x)
    w[1][0] *= x[0]
    return np.mean(w[0])


def test_a_constant_in_a_container() -> None:
    np.testing.assert_array_equal(grad(stopped_in_a_container)(X), np.zeros_like(X))


@pytest.mark.parametrize(
    "f",
    [
        results_that_share_memory,
        list_of_one_array_twice,
    ],
    ids=lambda f: f.__name__,
)
def test_refused_and_not_wrong(f: Callable[[Any], Any]) -> None:
    with pytest.raises((UnsupportedError, UndefinedDerivativeError), match=r":\d+:\d+: error") as refusal:
        grad(f)(X)
    assert isinstance(refusal.value, S2SADError)
